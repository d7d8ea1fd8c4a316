/* SPDX-License-Identifier: Apache-2.0 */
/* One model of the whole graph: which one it is, and what its solution means.
 *
 *   memories that spill, and few ops   the model that chooses what is spilled
 *   --refine pack                      strip packing, where rectangles are few
 *   else                               time-indexed
 *
 * Only the time-indexed model knows of the target's wait; targets with one get no other.
 *
 * Contiguous memories are first modelled as amounts, a relaxation: its bounds hold, and usually its
 * times have addresses.  When they have none, the model is made again with an order of addresses
 * for each pair; the bounds that were proven stay.
 *
 * Before the model with the known schedule as its horizon, a model asks whether there is a schedule
 * as short as the lower bound: with that horizon windows are narrow and the model is small.  The
 * answer "none" raises the bound by one tick, which is tried next; a schedule is an optimum. */
#include "ilp/refine/refine_private.h"

/* One question gets at most a quarter of the nodes and of the time that is left; one about a strip
 * gets half. */
enum { PROBE_PART = 4, STRIP_PART = 2 };

static size_t terms(const fsched_context *ctx) { return (size_t)fs_limits_of(ctx)->model_terms; }

/* The horizon where no schedule is known: one item runs after the other. */
static fs_tick serial(const fsched_graph *g) {
  fs_tick sum = 0, latest = 0, wait = fs_graph_wait(g);
  for (uint32_t op = 0; op < g->n_ops; op++) {
    sum += g->op_time[op] + wait;
    if (g->op_start != NULL && g->op_start[op] != FS_TICK_NONE) {
      latest = fs_max(latest, g->op_start[op]);
    }
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    const fs_memory *m = fs_version_home(g, v);
    if (fs_version_spills(g, v)) {
      sum += fs_spill_read_time(m, fs_version_size(g, v));
      sum += fs_spill_write_time(m, fs_version_size(g, v));
    }
  }
  return latest + sum;
}

static bool any_spills(const fsched_graph *g) {
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    if (fs_memory_bounded(&g->target.memory[m]) && fs_memory_spills(&g->target.memory[m])) {
      return true;
    }
  }
  return false;
}

static bool any_contiguous(const fs_problem *p) {
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (fs_placement_has_addresses(p->graph->target.memory[p->res_memory[r]].placement)) {
      return true;
    }
  }
  return false;
}

/* Does the schedule have copies that the graph alone does not require? */
static fs_status has_spills(fsched_context *ctx, const fs_schedule *s, bool *yes) {
  uint8_t *role;
  FS_SCRATCH(arena, ctx);
  *yes = false;
  FS_TRY(fs_schedule_copy_roles(s, &arena, &role));
  for (uint32_t c = 0; c < s->n_copies; c++) {
    *yes = *yes || role[c] == FS_ROLE_SPILL_WRITE || role[c] == FS_ROLE_SPILL_READ;
  }
  return FSCHED_OK;
}

/* Are there too many possible starts for a time-indexed model?  Then none is made, and propagation
 * does not narrow the windows either. */
static bool many_starts(const fs_problem *p) {
  uint64_t n = 0, most = fs_limits_of(p->ctx)->starts;
  for (uint32_t i = 0; i < p->n_items && n <= most; i++) {
    fs_tick busy = p->head[i] + p->time[i] + p->tail[i];
    n += 1 + p->horizon - fs_min(p->horizon, busy);
  }
  return n > most;
}

/* With a wait every queue of every op counts: are these too many to list? */
static bool many_queues(const fsched_context *ctx, const fsched_graph *g) {
  const fs_target *t = &g->target;
  uint64_t n = 0, most = fs_limits_of(ctx)->starts;
  for (uint32_t op = 0; op < g->n_ops && n <= most; op++) {
    uint32_t d = g->op_domain[op];
    n += d == FS_NONE ? 1 : t->domain_queue0[d + 1] - t->domain_queue0[d];
  }
  return n > most;
}

static fs_status build_time(fs_attempt *a, fs_time_places places) {
  fs_time_options o = {.places = places, .max_terms = terms(a->problem->ctx)};
  fs_time_model_destroy(a->time);
  a->time = NULL;
  a->places = places;
  if (many_starts(a->problem)) {
    return FSCHED_OK;
  }
  return fs_time_model_build(a->problem, &o, &a->time);
}

static fs_status build_model(fs_attempt *a, fsched_refine refine) {
  if (fs_refine_packs(refine)) {
    fs_pack_options o = {.max_terms = terms(a->problem->ctx)};
    bool many = a->problem->n_items + (uint64_t)a->problem->n_residencies >
                fs_limits_of(a->problem->ctx)->pack_spans;
    return many ? FSCHED_OK : fs_pack_model_build(a->problem, &o, &a->pack);
  }
  return build_time(a, FS_TIME_AMOUNTS);
}

static bool asked_to_stop(void *user) { return fs_refiner_done(user); }

static fs_status make_problem(fsched_context *ctx, const fsched_graph *g, const fs_schedule *from,
                              fs_tick horizon, fs_tick bound, uint64_t steps, fs_refiner *r,
                              fs_attempt *a) {
  bool spills = false;
  if (from != NULL) {
    FS_TRY(has_spills(ctx, from, &spills));
  }
  if (spills) {
    FS_TRY(fs_problem_from_schedule(ctx, from, &a->problem));
  } else {
    FS_TRY(fs_problem_from_graph(ctx, g, horizon, bound, &a->problem));
  }
  if (a->problem == NULL) { /* without spills, some residencies do not fit at one time */
    return FSCHED_OK;
  }
  a->exact = a->problem->exact;
  a->problem->steps = steps;
  a->problem->stop = r == NULL ? NULL : asked_to_stop;
  a->problem->user = r;
  if (a->problem->n_items <= fs_limits_of(ctx)->few_items || !many_starts(a->problem)) {
    FS_TRY(fs_problem_tighten(a->problem, &a->possible));
  }
  return FSCHED_OK;
}

fs_status fs_attempt_choose(fsched_context *ctx, const fsched_graph *g, const fs_schedule *from,
                            fs_tick bound, fsched_refine refine, bool spill, fs_refiner *r,
                            fs_attempt *a) {
  *a = (fs_attempt){0};
  fs_tick horizon = from == NULL ? serial(g) : from->makespan, wait = fs_graph_wait(g);
  if (wait != 0 && (g->target.implicit_queues || many_queues(ctx, g))) {
    return FSCHED_OK;
  }
  if (spill && any_spills(g) && wait == 0 && g->n_ops <= fs_limits_of(ctx)->spill_ops) {
    FS_TRY(fs_spill_model_build(ctx, g, horizon, terms(ctx), &a->spill));
    a->exact = true;
    if (a->spill != NULL) {
      return FSCHED_OK;
    }
  }
  FS_TRY(make_problem(ctx, g, from, horizon, bound, 0, r, a));
  return a->problem == NULL || a->possible.is == FS_NO ? FSCHED_OK : build_model(a, refine);
}

void fs_attempt_release(fs_attempt *a) {
  fs_time_model_destroy(a->time);
  fs_pack_model_destroy(a->pack);
  fs_spill_model_destroy(a->spill);
  fs_problem_destroy(a->problem);
  *a = (fs_attempt){0};
}

const fs_model *fs_attempt_model(const fs_attempt *a) {
  const fs_model *m = a->spill != NULL  ? fs_spill_model_of(a->spill)
                      : a->pack != NULL ? fs_pack_model_of(a->pack)
                      : a->time != NULL ? fs_time_model_of(a->time)
                                        : NULL;
  return m == NULL || m->large ? NULL : m; /* solvers compute in doubles */
}

fs_status fs_attempt_schedule(fs_attempt *a, const int64_t *value, fs_schedule **out,
                              const char **why, fs_decision *exists) {
  *out = NULL;
  *why = NULL;
  *exists = fs_not_decided();
  if (a->spill != NULL) {
    return fs_spill_model_schedule(a->spill, value, out, exists);
  }
  fs_answer *answer;
  FS_TRY(a->pack != NULL ? fs_pack_model_answer(a->pack, a->problem, value, &answer)
                         : fs_time_model_answer(a->time, a->problem, value, &answer));
  FS_TRY(fs_answer_schedule(a->problem, answer, out, why));
  *exists = *out != NULL ? fs_decided_by(true) : fs_not_decided();
  return FSCHED_OK;
}

static fs_status point(const fs_attempt *a, const fs_schedule *s, int64_t *value, bool *fits) {
  *fits = false;
  if (s == NULL) {
    return FSCHED_OK;
  }
  if (a->spill != NULL) {
    return fs_spill_model_point(a->spill, s, value, fits);
  }
  fs_answer *answer;
  FS_TRY(fs_answer_of_schedule(a->problem, s, &answer));
  if (answer == NULL) {
    return FSCHED_OK;
  }
  return a->pack != NULL ? fs_pack_model_point(a->pack, answer, value, fits)
                         : fs_time_model_point(a->time, answer, value, fits);
}

/* Takes over what has been proven of the model. */
static void learn(fs_refiner *r, const fs_attempt *a, const fs_solver_result *result) {
  if (!a->exact) {
    return;
  }
  if (result->bounded && result->bound > 0) {
    fs_refiner_raise(r, (fs_tick)result->bound);
  }
  if (result->status == FS_SOLVER_OPTIMAL && result->objective > 0) {
    fs_refiner_raise(r, (fs_tick)result->objective);
  }
}

/* Solves the model once; *schedule is NULL when no addresses are found for the solution. */
static fs_status solve_model(fs_refiner *r, fs_attempt *a, fs_arena *arena, bool *found,
                             fs_schedule **schedule, fs_decision *exists, int64_t **value) {
  const fs_model *m = fs_attempt_model(a);
  fs_solver_result result;
  const char *why;
  bool start;
  *schedule = NULL;
  *exists = fs_not_decided();
  FS_TRY(fs_new_zero(arena, value, m->var.n));
  FS_TRY(point(a, r->best, *value, &start));
  FS_ASSERT_SLOW(!start || fs_model_broken(m, *value) == FS_NONE);
  r->exact = a->exact;
  FS_TRY(fs_refiner_solve(r, m, start, 0, *value, &result));
  learn(r, a, &result);
  *found =
      result.found &&
      (r->best == NULL || (result.objective >= 0 && (fs_tick)result.objective < r->best->makespan));
  return *found ? fs_attempt_schedule(a, *value, schedule, &why, exists) : FSCHED_OK;
}

/* Makes the model of the same problem again, with addresses. */
static fs_status with_addresses(fs_attempt *a) {
  bool scratch_only = true;
  for (uint32_t r = 0; r < a->problem->n_residencies; r++) {
    scratch_only = scratch_only && a->problem->res_op[r] != FS_NONE;
  }
  if (scratch_only) {
    FS_TRY(build_time(a, FS_TIME_POSITIONS));
  }
  return a->time == NULL || !scratch_only ? build_time(a, FS_TIME_PAIRS) : FSCHED_OK;
}

static fs_status run_rounds(fs_refiner *r, fs_attempt *a, fs_arena *arena) {
  for (uint32_t round = 0; round < fs_limits_of(r->ctx)->forbid_rounds && !fs_refiner_done(r);
       round++) {
    fs_schedule *s;
    bool found = false, taken;
    fs_decision exists;
    int64_t *value;
    FS_TRY(solve_model(r, a, arena, &found, &s, &exists, &value));
    if (s != NULL) {
      return fs_refiner_offer(r, s, &taken);
    }
    if (!found) {
      return FSCHED_OK;
    }
    if (a->spill != NULL) {
      a->exact = a->exact && exists.is == FS_NO; /* else the forbidden point may be a schedule */
      FS_TRY(fs_spill_model_forbid(a->spill, value));
    } else if (a->time != NULL && a->places == FS_TIME_AMOUNTS && any_contiguous(a->problem)) {
      FS_TRY(with_addresses(a));
    } else {
      return FSCHED_OK;
    }
    if (fs_attempt_model(a) == NULL) {
      return FSCHED_OK;
    }
  }
  return FSCHED_OK;
}

static uint64_t part_of_time(const fs_refiner *r, uint64_t part) {
  uint64_t now = fs_now_ns(), end = r->soon_ns != 0 ? r->soon_ns : r->deadline_ns;
  return end == 0 || now >= end ? end : now + (end - now) / part;
}

uint64_t fs_refiner_soon(const fs_refiner *r) { return part_of_time(r, PROBE_PART); }

/* The steps of propagation for one horizon: a few horizons take a small part of the time limit on a
 * usual machine.  The number depends on the limit and not on the clock. */
static uint64_t worth(const fs_refiner *r) {
  enum { STEPS_PER_MS = 8000, MOST_MS = 60000 };
  return r->o->time_limit_ns == 0
             ? 0
             : STEPS_PER_MS * (1 + fs_min(r->o->time_limit_ns / 1000000, MOST_MS));
}

static fs_status ask_solver(fs_refiner *r, fs_attempt *a, uint64_t nodes, bool *open) {
  const fs_model *m = fs_attempt_model(a);
  int64_t *value;
  fs_solver_result result;
  fs_schedule *s = NULL;
  const char *why;
  fs_decision exists;
  bool taken;
  FS_SCRATCH(arena, r->ctx);
  FS_TRY(fs_new_zero(&arena, &value, m->var.n));
  FS_TRY(fs_refiner_solve(r, m, false, nodes, value, &result));
  if (result.status == FS_SOLVER_INFEASIBLE) {
    fs_refiner_raise(r, r->asked + 1);
    *open = false;
  } else if (result.found) {
    FS_TRY(fs_attempt_schedule(a, value, &s, &why, &exists));
    return s != NULL ? fs_refiner_offer(r, s, &taken) : FSCHED_OK;
  }
  return FSCHED_OK;
}

/* Asks whether there is a schedule of makespan `horizon`.  *open: the search did not find out. */
static fs_status ask(fs_refiner *r, fs_attempt *a, fs_tick horizon, bool *open) {
  uint64_t nodes = fs_refiner_node_limit(r, fs_attempt_model(a)), outer = r->soon_ns;
  uint64_t part = a->pack != NULL ? STRIP_PART : PROBE_PART;
  r->soon_ns = part_of_time(r, part);
  r->silent = true;
  r->asked = horizon;
  fs_status status = ask_solver(r, a, nodes == 0 ? 0 : 1 + nodes / part, open);
  r->soon_ns = outer;
  r->asked = 0;
  r->silent = false;
  return status;
}

/* Makes the model of a question; for strips that of positions, which needs a narrow horizon. */
static fs_status build_question(fs_attempt *a, fsched_refine refine) {
  if (fs_refine_packs(refine) && fs_problem_is_strip(a->problem)) {
    fs_pack_options o = {.positions = true, .max_terms = terms(a->problem->ctx)};
    FS_TRY(fs_pack_model_build(a->problem, &o, &a->pack));
  }
  return a->pack != NULL ? FSCHED_OK : build_time(a, FS_TIME_AMOUNTS);
}

static fs_status probe(fs_refiner *r, bool *open) {
  fs_attempt a = {0};
  fs_tick horizon = r->bound;
  fs_status status = make_problem(r->ctx, r->g, NULL, horizon, r->bound, worth(r), r, &a);
  *open = true;
  if (status == FSCHED_OK && a.possible.is == FS_NO && a.exact) {
    fs_refiner_raise(r, horizon + 1);
    *open = false;
  } else if (status == FSCHED_OK && a.exact) {
    status = build_question(&a, r->o->refine);
    if (status == FSCHED_OK && fs_attempt_model(&a) != NULL) {
      status = ask(r, &a, horizon, open);
    }
  }
  fs_attempt_release(&a);
  return status;
}

/* Asks for the lower bound, and then for the next makespans, while the questions are answered. */
static fs_status probe_up(fs_refiner *r) {
  uint64_t most = r->deadline_ns == 0 ? fs_limits_of(r->ctx)->probes : UINT64_MAX;
  bool open = false;
  for (uint64_t n = 0; n < most && !open && !fs_refiner_done(r) && r->best != NULL; n++) {
    FS_TRY(probe(r, &open));
    fs_refiner_tell(r);
  }
  return FSCHED_OK;
}

fs_status fs_attempt_run(fs_refiner *r, fs_attempt *a) {
  assert(a->problem != NULL || a->spill != NULL || a->possible.is == FS_NO);
  if (a->possible.is == FS_NO) { /* no schedule is within the horizon, so none is known */
    return FSCHED_OK;
  }
  if (a->problem != NULL && a->exact) {
    fs_tick bound;
    uint64_t outer = r->soon_ns;
    a->problem->steps = worth(r);
    r->soon_ns = fs_refiner_soon(r);
    fs_status bounded = fs_problem_destructive_bound(a->problem, &bound);
    r->soon_ns = outer;
    FS_TRY(bounded);
    fs_refiner_raise(r, bound);
    fs_refiner_tell(r);
  }
  if (a->problem != NULL && a->exact) {
    FS_TRY(probe_up(r));
  }
  FS_SCRATCH(arena, r->ctx);
  return run_rounds(r, a, &arena);
}
