/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/settled/settled.h"

#include "placement/placement.h"

bool fs_settles(const fsched_graph *g) {
  for (uint32_t op = 0; op < g->n_ops; op++) {
    if (g->op_start == NULL || g->op_start[op] == FS_TICK_NONE) {
      return false;
    }
  }
  uint32_t contiguous = 0;
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    const fs_memory *memory = &g->target.memory[m];
    if (fs_memory_bounded(memory)) {
      if (fs_memory_spills(memory)) {
        return false;
      }
      contiguous += fs_placement_has_addresses(memory->placement);
    }
  }
  return g->n_ops > 0 && contiguous > 0;
}

fs_status fs_settled_extent(const fs_schedule *s, uint64_t *sum) {
  assert(s->graph != NULL);
  uint64_t *extent;
  FS_SCRATCH(arena, s->ctx);
  *sum = 0;
  FS_TRY(fs_new_zero(&arena, &extent, (size_t)s->graph->target.n_memories + 1));
  fs_schedule_extents(s, extent);
  for (uint32_t m = 0; m < s->graph->target.n_memories; m++) {
    *sum += extent[m];
  }
  return FSCHED_OK;
}

typedef struct settler {
  fs_settled *out;
  const fsched_graph *g;
  const fs_settling *o;
  fsched_context *ctx;
  fs_arena *arena;
  fs_tick *begin, *end; /* per residency */
  uint32_t *member;     /* residencies of one memory */
} settler;

static fs_status take_times(settler *s) {
  const fs_problem *p = s->out->problem;
  fs_answer *a = &s->out->answer;
  FS_TRY(fs_new(s->arena, &a->start, p->n_items));
  FS_TRY(fs_new_zero(s->arena, &a->address, p->n_residencies));
  FS_TRY(fs_new_zero(s->arena, &s->begin, p->n_residencies));
  FS_TRY(fs_new_zero(s->arena, &s->end, p->n_residencies));
  FS_TRY(fs_new(s->arena, &s->member, p->n_residencies));
  for (uint32_t i = 0; i < p->n_items; i++) {
    a->start[i] = s->g->op_start[i];
    a->makespan = fs_max(a->makespan, a->start[i] + p->time[i]);
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    s->begin[r] = p->res_begin0[r] == p->res_begin0[r + 1] ? 0 : FS_TICK_NONE;
    for (uint32_t k = p->res_begin0[r]; k < p->res_begin0[r + 1]; k++) {
      s->begin[r] = fs_min(s->begin[r], a->start[p->res_begin[k]]);
    }
    s->end[r] = p->res_to_end[r] ? a->makespan : s->begin[r];
    for (uint32_t k = p->res_end0[r]; k < p->res_end0[r + 1]; k++) {
      uint32_t item = p->res_end[k];
      s->end[r] = fs_max(s->end[r], a->start[item] + p->time[item]);
    }
  }
  return FSCHED_OK;
}

/* Gathers the rectangles of one memory for lib/placement. */
static fs_status gather_rects(settler *s, uint32_t memory, fs_placement *out) {
  const fs_problem *p = s->out->problem;
  const fs_tick *start = s->out->answer.start;
  uint64_t *size;
  fs_tick *begin, *end;
  uint32_t *index, n = 0;
  FS_TRY(fs_new(s->arena, &size, p->n_residencies));
  FS_TRY(fs_new(s->arena, &begin, p->n_residencies));
  FS_TRY(fs_new(s->arena, &end, p->n_residencies));
  FS_TRY(fs_new_none(s->arena, &index, p->n_residencies));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (p->res_memory[r] == memory) {
      s->member[n] = r;
      index[r] = n;
      size[n] = p->res_size[r];
      begin[n] = s->begin[r];
      end[n++] = s->end[r];
    }
  }
  uint32_t *a, *b, pairs = 0;
  fs_tick *from, *to;
  FS_TRY(fs_new(s->arena, &a, p->n_coincide));
  FS_TRY(fs_new(s->arena, &b, p->n_coincide));
  FS_TRY(fs_new(s->arena, &from, p->n_coincide));
  FS_TRY(fs_new(s->arena, &to, p->n_coincide));
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    uint32_t op = p->coincide_op[k];
    if (p->res_memory[p->coincide_in[k]] == memory) {
      a[pairs] = index[p->coincide_in[k]];
      b[pairs] = index[p->coincide_out[k]];
      from[pairs] = start[op];
      to[pairs++] = start[op] + p->time[op];
    }
  }
  *out = (fs_placement){.n = n,
                        .size = size,
                        .begin = begin,
                        .end = end,
                        .n_pairs = pairs,
                        .pair_a = a,
                        .pair_b = b,
                        .pair_from = from,
                        .pair_to = to,
                        .capacity = s->g->target.memory[memory].capacity};
  return FSCHED_OK;
}

static fs_status place_memory(settler *s, uint32_t memory) {
  assert(memory < s->g->target.n_memories);
  fs_settled *out = s->out;
  fs_placement q;
  uint64_t *address, peak = 0;
  bool least;
  fs_decision exists;
  FS_TRY(gather_rects(s, memory, &q));
  FS_TRY(fs_new(s->arena, &address, q.n));
  q.nodes = s->o->nodes;
  q.stop = s->o->stop;
  q.user = s->o->user;
  FS_TRY(fs_placement_run(s->ctx, &q, s->o->lowest, address, &peak, &exists, &least));
  out->found = out->found && exists.is == FS_YES;
  out->least = out->least && least;
  for (uint32_t k = 0; out->found && k < q.n; k++) {
    out->answer.address[s->member[k]] = address[k];
  }
  return FSCHED_OK;
}

static fs_status place_memories(settler *s) {
  fs_settled *out = s->out;
  FS_TRY(take_times(s));
  out->found = out->least = true;
  for (uint32_t m = 0; m < s->g->target.n_memories && out->found; m++) {
    const fs_memory *memory = &s->g->target.memory[m];
    if (fs_memory_bounded(memory) && fs_placement_has_addresses(memory->placement)) {
      FS_TRY(place_memory(s, m));
      out->n_memories++;
      out->memory = m;
    }
  }
  return FSCHED_OK;
}

fs_status fs_settle(fsched_context *ctx, const fsched_graph *g, const fs_settling *o,
                    fs_arena *arena, fs_settled *out) {
  assert(fs_settles(g));
  *out = (fs_settled){0};
  settler s = {.out = out, .g = g, .o = o, .ctx = ctx, .arena = arena};
  fs_tick horizon = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    horizon = fs_max(horizon, g->op_start[op] + g->op_time[op]);
  }
  FS_TRY(fs_problem_from_graph(ctx, g, horizon, o->lower_bound, &out->problem));
  return out->problem == NULL ? FSCHED_OK : place_memories(&s);
}

fs_status fs_settled_schedule(fs_settled *s, fs_schedule **schedule) {
  assert(s->found);
  const char *why;
  return fs_answer_schedule(s->problem, &s->answer, schedule, &why);
}

void fs_settled_release(fs_settled *s) {
  assert(s != NULL);
  fs_problem_destroy(s->problem);
  s->problem = NULL;
}
