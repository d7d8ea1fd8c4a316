/* SPDX-License-Identifier: Apache-2.0 */
/* Both goals are searched downwards: the makespan between the longest path and that of the plan, by
 * halves, and then by the smallest unit; the bytes of open rings from those of the plan. */
#include "modulo/goals.h"

#include "base/saturate.h"
#include "modulo/problem/ratio.h"
#include "modulo/settle.h"

typedef struct goal_finder {
  fsched_context *ctx;
  fs_arena *arena, scratch;
  fs_modulo_goals *goals;
  fs_modulo_choice *best, next;
  fs_modulo_plan *plan;
} goal_finder;

/* The longest path of arcs alone, over all copies. */
static fs_status least_makespan(goal_finder *f, int64_t *makespan) {
  const fs_modulo_body *b = f->goals->body;
  fs_ratio_edge *edge;
  int64_t *start;
  FS_TRY(fs_new(&f->scratch, &edge, b->n_arcs));
  FS_TRY(fs_new(&f->scratch, &start, b->n));
  for (uint32_t k = 0; k < b->n_arcs; k++) {
    const fs_modulo_arc *a = &b->arc[k];
    edge[k] = (fs_ratio_edge){a->from, a->to, a->delay, a->distance};
    if (a->from / b->p->n != a->to / b->p->n) {
      edge[k] = (fs_ratio_edge){a->from, a->from, 1, b->distances + b->total};
    }
  }
  fs_modulo_potentials(b->n, edge, b->n_arcs, f->best->period, start);
  *makespan = 0;
  for (uint32_t i = 0; i < b->n; i++) {
    int64_t end = start[i] + b->latency[i] * f->best->period.den;
    *makespan = end > *makespan ? end : *makespan;
  }
  return FSCHED_OK;
}

static bool fits(const fs_modulo_problem *p, const uint64_t *bytes) {
  bool all = true;
  for (uint32_t m = 0; m < p->n_memories; m++) {
    all = all && bytes[m] <= p->capacity[m];
  }
  return all;
}

/* Asks for a plan; with FS_YES it is the best.  A body of copies may have depths that nothing
 * limits: a plan of it that overfills memory is none. */
static fs_status ask_goals(goal_finder *f, int64_t makespan, uint64_t bytes, fs_decision *found) {
  fs_modulo_goals *goals = f->goals;
  fs_modulo_question q = {f->best->period, makespan, goals->memory, bytes, 0};
  q.steps = goals->steps - fs_min(goals->steps, goals->taken);
  FS_TRY(fs_modulo_fixed(f->ctx, goals->body, &q, &f->next, found, &goals->taken));
  if (found->is == FS_YES) {
    fs_modulo_plan next = *f->plan;
    FS_TRY(fs_modulo_settle(f->ctx, f->arena, goals->body, &f->next, &next));
    if (!fits(goals->body->p, next.bytes)) {
      *found = fs_not_decided();
      return FSCHED_OK;
    }
    fs_modulo_choice_copy(goals->body, f->best, &f->next);
    *f->plan = next;
  }
  return FSCHED_OK;
}

static fs_status shorten_makespan(goal_finder *f) {
  int64_t low;
  fs_decision found;
  FS_TRY(least_makespan(f, &low));
  bool refuted = true; /* what is below low */
  while (low < f->plan->makespan) {
    int64_t middle = low + (f->plan->makespan - low) / 2;
    FS_TRY(ask_goals(f, middle, FS_UNBOUNDED, &found));
    if (found.is != FS_YES) {
      refuted &= found.is == FS_NO;
      low = middle + 1;
    }
  }
  f->plan->shortest = refuted;
  return FSCHED_OK;
}

/* Bytes of the open rings of the plan. */
static uint64_t open_bytes(const goal_finder *f) {
  const fs_modulo_body *b = f->goals->body;
  uint64_t bytes = 0;
  for (uint32_t r = 0; r < b->n_open; r++) {
    const fs_modulo_ring *ring = &b->p->ring[b->open[r]];
    if (ring->memory != FS_NONE) {
      uint64_t own = fs_multiply_most(ring->size, f->plan->depth[b->open[r]]);
      bytes = fs_add_most(bytes, own);
    }
  }
  return bytes;
}

static fs_status save_memory(goal_finder *f) {
  fs_decision found = fs_decided_by(true);
  while (found.is == FS_YES && open_bytes(f) > 0) {
    FS_TRY(ask_goals(f, f->plan->makespan, open_bytes(f) - 1, &found));
  }
  f->plan->least_memory = found.is != FS_NOT_DECIDED && f->plan->shortest;
  return FSCHED_OK;
}

static fs_status improve_plan(goal_finder *f) {
  FS_TRY(fs_modulo_choice_new(&f->scratch, f->goals->body, &f->next));
  FS_TRY(shorten_makespan(f));
  return f->goals->body->copies == 1 ? save_memory(f) : FSCHED_OK;
}

fs_status fs_modulo_improve(fsched_context *ctx, fs_arena *arena, fs_modulo_goals *goals,
                            fs_modulo_choice *best, fs_modulo_plan *plan) {
  assert(plan->found.is == FS_YES);
  goal_finder f = {.ctx = ctx, .arena = arena, .goals = goals, .best = best, .plan = plan};
  goals->taken = 0;
  fs_arena_init(&f.scratch, ctx);
  fs_status status = improve_plan(&f);
  fs_arena_release(&f.scratch);
  return status;
}
