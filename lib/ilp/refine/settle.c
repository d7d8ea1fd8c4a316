/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose starts are all given: only addresses are open, and a lower highest address is
 * better.  First lib/placement searches; where it proves nothing and rectangles are few, the strip
 * packing model follows, with the peak as its objective. */
#include "ilp/refine/refine_private.h"
#include "placement/placement.h"

bool fs_refine_settles(const fsched_graph *g) {
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

typedef struct settler {
  fs_refiner *r;
  fs_problem *p;
  fs_arena *arena;
  fs_answer answer;
  fs_tick *begin, *end; /* per residency */
  uint32_t *member;     /* residencies of one memory */
  bool proven;          /* no peak can be lower */
} settler;

static fs_status take_times(settler *s) {
  fs_problem *p = s->p;
  FS_TRY(fs_new(s->arena, &s->answer.start, p->n_items));
  FS_TRY(fs_new_zero(s->arena, &s->answer.address, p->n_residencies));
  FS_TRY(fs_new_zero(s->arena, &s->begin, p->n_residencies));
  FS_TRY(fs_new_zero(s->arena, &s->end, p->n_residencies));
  FS_TRY(fs_new(s->arena, &s->member, p->n_residencies));
  for (uint32_t i = 0; i < p->n_items; i++) {
    s->answer.start[i] = s->r->g->op_start[i];
    s->answer.makespan = fs_max(s->answer.makespan, s->answer.start[i] + p->time[i]);
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    s->begin[r] = p->res_begin0[r] == p->res_begin0[r + 1] ? 0 : FS_TICK_NONE;
    for (uint32_t k = p->res_begin0[r]; k < p->res_begin0[r + 1]; k++) {
      s->begin[r] = fs_min(s->begin[r], s->answer.start[p->res_begin[k]]);
    }
    s->end[r] = p->res_to_end[r] ? s->answer.makespan : s->begin[r];
    for (uint32_t k = p->res_end0[r]; k < p->res_end0[r + 1]; k++) {
      uint32_t item = p->res_end[k];
      s->end[r] = fs_max(s->end[r], s->answer.start[item] + p->time[item]);
    }
  }
  return FSCHED_OK;
}

/* Gathers the rectangles of one memory for lib/placement. */
static fs_status gather_rects(settler *s, uint32_t memory, fs_placement *out) {
  const fs_problem *p = s->p;
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
      from[pairs] = s->answer.start[op];
      to[pairs++] = s->answer.start[op] + p->time[op];
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
                        .capacity = s->r->g->target.memory[memory].capacity};
  return FSCHED_OK;
}

static bool asked_to_stop(void *user) {
  fs_refiner *r = user;
  return fs_refiner_done(r);
}

static fs_status place_memory(settler *s, uint32_t memory, bool *found) {
  assert(memory < s->p->graph->target.n_memories);
  fs_placement q;
  uint64_t *address, peak = 0;
  bool least;
  fs_decision exists;
  FS_TRY(gather_rects(s, memory, &q));
  FS_TRY(fs_new(s->arena, &address, q.n));
  q.nodes = s->r->o->node_limit != 0 ? s->r->o->node_limit : fs_limits_of(s->r->ctx)->settle_nodes;
  q.stop = asked_to_stop;
  q.user = s->r;
  FS_TRY(fs_placement_run(s->r->ctx, &q, true, address, &peak, &exists, &least));
  *found = exists.is == FS_YES;
  for (uint32_t k = 0; *found && k < q.n; k++) {
    s->answer.address[s->member[k]] = address[k];
  }
  fs_refiner_tell(s->r);
  s->proven = s->proven && least;
  return FSCHED_OK;
}

static fs_status offer(settler *s) {
  fs_schedule *schedule;
  const char *why;
  bool taken;
  FS_TRY(fs_answer_schedule(s->p, &s->answer, &schedule, &why));
  return schedule == NULL ? FSCHED_OK : fs_refiner_offer(s->r, schedule, &taken);
}

static fs_status solve_model(settler *s, const fs_pack_model *t) {
  int64_t *value;
  fs_answer *answer;
  fs_solver_result result;
  bool start;
  FS_TRY(fs_new_zero(s->arena, &value, fs_pack_model_of(t)->var.n));
  FS_TRY(fs_pack_model_point(t, &s->answer, value, &start));
  s->r->silent = true;
  FS_TRY(fs_refiner_solve(s->r, fs_pack_model_of(t), start, 0, value, &result));
  if (!result.found) {
    return FSCHED_OK;
  }
  FS_TRY(fs_pack_model_answer(t, s->p, value, &answer));
  s->answer.address = answer->address;
  return offer(s);
}

/* Solves the model of one memory with few rectangles. */
static fs_status solve_memory(settler *s, uint32_t memory) {
  fs_pack_options o = {
      .peak = true, .peak_memory = memory, .max_terms = fs_limits_of(s->r->ctx)->model_terms};
  fs_pack_model *t;
  FS_TRY(fs_pack_model_build(s->p, &o, &t));
  if (t == NULL) {
    return FSCHED_OK;
  }
  fs_status status = solve_model(s, t);
  fs_pack_model_destroy(t);
  return status;
}

static fs_status settle_memories(settler *s) {
  uint32_t memories = 0, last = 0;
  bool all = true;
  FS_TRY(take_times(s));
  for (uint32_t m = 0; m < s->r->g->target.n_memories; m++) {
    const fs_memory *memory = &s->r->g->target.memory[m];
    if (fs_memory_bounded(memory) && fs_placement_has_addresses(memory->placement)) {
      bool found;
      FS_TRY(place_memory(s, m, &found));
      all = all && found;
      memories++;
      last = m;
    }
  }
  if (!all) {
    return FSCHED_OK;
  }
  FS_TRY(offer(s));
  bool small = memories == 1 && s->p->n_residencies <= fs_limits_of(s->r->ctx)->settle_rectangles;
  return small && !s->proven && !fs_refiner_done(s->r) ? solve_memory(s, last) : FSCHED_OK;
}

fs_status fs_refine_settle(fs_refiner *r) {
  assert(fs_refine_settles(r->g));
  FS_SCRATCH(arena, r->ctx);
  settler s = {.r = r, .proven = true, .arena = &arena};
  fs_tick horizon = 0;
  for (uint32_t op = 0; op < r->g->n_ops; op++) {
    horizon = fs_max(horizon, r->g->op_start[op] + r->g->op_time[op]);
  }
  FS_TRY(fs_problem_from_graph(r->ctx, r->g, horizon, r->bound, &s.p));
  fs_status status = settle_memories(&s);
  fs_problem_destroy(s.p);
  return status;
}
