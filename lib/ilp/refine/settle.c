/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose starts are all given.  First lib/placement searches for lower peaks; where it proves
 * nothing and rectangles are few, the strip packing model follows, with the peak as its
 * objective. */
#include "ilp/refine/refine_private.h"

static bool asked_to_stop(void *user) {
  fs_refiner *r = user;
  return fs_refiner_done(r);
}

static fs_status offer(fs_refiner *r, fs_settled *s) {
  fs_schedule *schedule;
  bool taken;
  FS_TRY(fs_settled_schedule(s, &schedule));
  return schedule == NULL ? FSCHED_OK : fs_refiner_offer(r, schedule, &taken);
}

static fs_status solve_model(fs_refiner *r, fs_settled *s, fs_arena *arena,
                             const fs_pack_model *t) {
  int64_t *value;
  fs_answer *answer;
  fs_solver_result result;
  bool start;
  FS_TRY(fs_new_zero(arena, &value, fs_pack_model_of(t)->var.n));
  FS_TRY(fs_pack_model_point(t, &s->answer, value, &start));
  r->silent = true;
  FS_TRY(fs_refiner_solve(r, fs_pack_model_of(t), start, 0, value, &result));
  if (!result.found) {
    return FSCHED_OK;
  }
  FS_TRY(fs_pack_model_answer(t, s->problem, value, &answer));
  s->answer.address = answer->address;
  return offer(r, s);
}

/* Solves the model of one memory with few rectangles. */
static fs_status solve_memory(fs_refiner *r, fs_settled *s, fs_arena *arena) {
  fs_pack_options o = {
      .peak = true, .peak_memory = s->memory, .max_terms = fs_limits_of(r->ctx)->model_terms};
  fs_pack_model *t;
  FS_TRY(fs_pack_model_build(s->problem, &o, &t));
  if (t == NULL) {
    return FSCHED_OK;
  }
  fs_status status = solve_model(r, s, arena, t);
  fs_pack_model_destroy(t);
  return status;
}

static fs_status use_settled(fs_refiner *r, fs_settled *s, fs_arena *arena) {
  fs_refiner_tell(r);
  if (!s->found) {
    return FSCHED_OK;
  }
  FS_TRY(offer(r, s));
  bool small = s->n_memories == 1 &&
               s->problem->n_residencies <= fs_limits_of(r->ctx)->settle_rectangles;
  return small && !s->least && !fs_refiner_done(r) ? solve_memory(r, s, arena) : FSCHED_OK;
}

fs_status fs_refine_settle(fs_refiner *r) {
  assert(fs_settles(r->g));
  FS_SCRATCH(arena, r->ctx);
  fs_settled s;
  fs_settling o = {.lower_bound = r->bound,
                   .nodes = r->o->node_limit != 0 ? r->o->node_limit
                                                  : fs_limits_of(r->ctx)->settle_nodes,
                   .lowest = true,
                   .stop = asked_to_stop,
                   .user = r};
  fs_status status = fs_settle(r->ctx, r->g, &o, &arena, &s);
  if (status == FSCHED_OK) {
    status = use_settled(r, &s, &arena);
  }
  fs_settled_release(&s);
  return status;
}
