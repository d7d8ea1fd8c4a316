/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/issue.h"

#include "base/saturate.h"
#include "modulo/ahead.h"
#include "modulo/phases.h"

enum { TRIED = 3, DEEPEST = 1 << 20 }; /* numbers of phases; slots, as if there were no limit */

typedef struct issue_choice {
  fsched_context *ctx;
  fs_arena *arena;
  const fs_modulo_problem *p;
  const fs_issue_options *o;
  fs_rolled_loop loop;
  fs_issued_time time;
  fs_modulo_plan plan;
  uint64_t total;
  bool any;
} issue_choice;

static uint64_t count_full(const fs_rolled_loop *r) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < r->n_stops; i++) {
    n += r->stop[i].queue == FS_NONE;
  }
  return n;
}

/* Makes the loop of a plan, and keeps it if it is better. */
static fs_status try_issue(issue_choice *x, const fs_modulo_plan *plan, bool *possible) {
  fs_rolled_loop loop;
  fs_issued_time time;
  FS_TRY(fs_modulo_issued(x->ctx, x->arena, x->p, plan, x->o->counting, &loop, possible));
  if (!*possible) {
    return FSCHED_OK;
  }
  FS_TRY(fs_issued_run(x->ctx, &loop, x->p->time, x->p->latency, x->o->trip, &time));
  uint64_t syncs = fs_multiply_most(fs_issued_steps(&loop, x->o->trip), count_full(&loop));
  uint64_t total = fs_add_most(time.span, fs_multiply_most(syncs, x->o->cost));
  if (!x->any || total < x->total || (total == x->total && loop.n_stops < x->loop.n_stops)) {
    x->loop = loop;
    x->time = time;
    x->plan = *plan;
    x->total = total;
    x->any = true;
  }
  return FSCHED_OK;
}

static fs_status find_phase(issue_choice *x, const fs_modulo_plan *plan, const bool *counting,
                            uint32_t k, uint64_t *phase, fs_modulo_plan *to, bool *found) {
  fs_modulo_edge *want;
  uint32_t n;
  FS_TRY(fs_modulo_wants(x->ctx, x->arena, x->p, plan, &want, &n, found));
  if (*found) {
    FS_TRY(fs_modulo_phase(x->ctx, x->arena, x->p, plan, want, n, counting, k, phase, to, found));
    *found = *found && fs_modulo_ahead_kept(x->p, to);
  }
  return FSCHED_OK;
}

/* Small bodies are worth more trials. */
static uint32_t most_trials(const issue_choice *x) {
  return x->p->n <= FS_ROLLED_EXACT ? TRIED : 1;
}

/* Tries phases; `counting` as for fs_modulo_phase. */
static fs_status try_phases(issue_choice *x, const fs_modulo_plan *plan, const bool *counting) {
  for (uint32_t k = 1, tried = 0; k <= FS_PHASES_MOST && tried < most_trials(x); k++) {
    fs_modulo_plan phased;
    bool found, made;
    FS_TRY(find_phase(x, plan, counting, k, NULL, &phased, &found));
    if (found) {
      FS_TRY(try_issue(x, &phased, &made));
      tried++;
    }
  }
  return FSCHED_OK;
}

/* --- deeper rings --- */

static fs_status copy_depths(const issue_choice *x, const fs_modulo_plan *plan,
                             fs_modulo_plan *to) {
  *to = *plan;
  FS_TRY(fs_new(x->arena, &to->depth, x->p->n_rings));
  for (uint32_t v = 0; v < x->p->n_rings; v++) {
    to->depth[v] = plan->depth[v];
  }
  return FSCHED_OK;
}

/* Whether the slots of all rings fit. */
static bool depths_fit(const issue_choice *x, const fs_modulo_plan *plan) {
  bool fit = true;
  for (uint32_t m = 0; m < x->p->n_memories && fit; m++) {
    uint64_t bytes = 0;
    for (uint32_t v = 0; v < x->p->n_rings; v++) {
      const fs_modulo_ring *r = &x->p->ring[v];
      bytes = fs_add_most(bytes, r->memory == m ? fs_multiply_most(plan->depth[v], r->size) : 0);
    }
    fit = bytes <= x->p->capacity[m];
  }
  return fit;
}

/* The depth with which a version lives until all of its readers' phases are over, k a step. */
static uint64_t depth_for(const issue_choice *x, uint32_t ring, const uint64_t *phase, uint32_t k) {
  const fs_modulo_problem *p = x->p;
  uint64_t depth = 1, begin = phase[p->ring[ring].writer];
  for (uint32_t i = p->reader0[ring]; i < p->reader0[ring + 1]; i++) {
    uint64_t end = phase[p->reader[i].op] + 1, back = p->reader[i].back;
    depth = fs_max(depth, back + (end > begin ? fs_ceil_div(end - begin, k) : 0));
  }
  return depth;
}

/* Tries k full syncs a step with open rings as deep as that takes, if it fits. */
static fs_status try_deeper(issue_choice *x, const fs_modulo_plan *plan, uint32_t k) {
  fs_modulo_plan deep, phased;
  uint64_t *phase;
  bool found, made;
  FS_TRY(fs_new(x->arena, &phase, x->p->n));
  FS_TRY(copy_depths(x, plan, &deep));
  for (uint32_t v = 0; v < x->p->n_rings; v++) {
    deep.depth[v] = x->p->ring[v].depth == 0 ? DEEPEST : plan->depth[v];
  }
  FS_TRY(find_phase(x, &deep, NULL, k, phase, &phased, &found));
  for (uint32_t v = 0; v < x->p->n_rings && found; v++) {
    const fs_modulo_ring *r = &x->p->ring[v];
    uint64_t depth = r->depth == 0 ? depth_for(x, v, phase, k) : plan->depth[v];
    found = depth < DEEPEST && (depth <= x->o->trip || depth <= plan->depth[v]) &&
            (r->depth > 0 || r->most == 0 || depth <= r->most);
    deep.depth[v] = found ? (uint32_t)depth : 0;
  }
  if (found && depths_fit(x, &deep)) {
    FS_TRY(find_phase(x, &deep, NULL, k, NULL, &phased, &found));
    return found ? try_issue(x, &phased, &made) : FSCHED_OK;
  }
  return FSCHED_OK;
}

static fs_status try_depths(issue_choice *x, const fs_modulo_plan *plan) {
  bool any = false;
  for (uint32_t v = 0; v < x->p->n_rings; v++) {
    any = any || x->p->ring[v].depth == 0;
  }
  for (uint32_t k = 1; any && k <= most_trials(x); k++) {
    FS_TRY(try_deeper(x, plan, k));
  }
  return FSCHED_OK;
}

static bool any_counts(const issue_choice *x) {
  bool any = false;
  for (uint32_t q = 0; q < x->p->n_queues && !any; q++) {
    any = x->o->counting[q];
  }
  return any;
}

fs_status fs_modulo_issue(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                          fs_modulo_plan *plan, const fs_issue_options *options,
                          fs_rolled_loop *out, fs_issued_time *time, bool *possible) {
  assert(plan->found.is == FS_YES && plan->copies > 0);
  issue_choice x = {.ctx = ctx, .arena = arena, .p = p, .o = options};
  FS_TRY(try_issue(&x, plan, possible));
  if (!*possible) {
    return FSCHED_OK;
  }
  if (plan->copies == 1 && count_full(&x.loop) > 0) {
    FS_TRY(try_phases(&x, plan, options->counting));
    FS_TRY(any_counts(&x) ? try_phases(&x, plan, NULL) : FSCHED_OK);
    FS_TRY(try_depths(&x, plan));
  }
  *out = x.loop;
  *time = x.time;
  *plan = x.plan;
  return FSCHED_OK;
}
