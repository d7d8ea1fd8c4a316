/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of the refinement:
 *
 *   all starts are given               settle: addresses with a lower extent
 *   the model of the whole graph fits  attempt: one model, solved as far as the limits allow
 *   else                               slide: models of windows, the rest fixed
 *
 * The best schedule and the best bound are kept at every moment, so that any end (limits, the
 * caller's stop, a solver that fails) leaves a result at least as good as the given one. */
#include <stdio.h>

#include "base/warnings.h"
#include "ilp/refine/refine_private.h"

static bool bound_reached(const fs_refiner *r) {
  return r->best != NULL && r->best->makespan <= r->bound;
}

static bool out_of_time(const fs_refiner *r) {
  uint64_t end = r->soon_ns != 0 ? r->soon_ns : r->deadline_ns;
  return end != 0 && fs_now_ns() >= end;
}

/* Without a limit of time the work is limited instead, equally on every machine. */
static bool worked_enough(const fs_refiner *r) {
  return r->deadline_ns == 0 && r->searches >= fs_limits_of(r->ctx)->searches;
}

bool fs_refiner_done(const fs_refiner *r) {
  return (r->o->stop != NULL && __atomic_load_n(r->o->stop, __ATOMIC_RELAXED) != 0) ||
         r->fault[0] != '\0' || out_of_time(r) || worked_enough(r) ||
         (bound_reached(r) && !fs_settles(r->g));
}

/* `found`: a makespan that the running solver can reach; `nodes`: its nodes so far. */
static void tell(fs_refiner *r, fs_tick found, uint64_t nodes) {
  if (r->o->news == NULL || r->best == NULL) {
    return;
  }
  fsched_refine_state state = {.size = sizeof state,
                               .incumbent = fs_min(r->best->makespan, found),
                               .bound = r->bound,
                               .nodes = r->nodes + nodes,
                               .seconds = 1e-9 * (double)(fs_now_ns() - r->begin_ns)};
  r->o->news(r->o->user, &state);
}

void fs_refiner_tell(fs_refiner *r) { tell(r, FS_TICK_NONE, 0); }

void fs_refiner_raise(fs_refiner *r, fs_tick bound) { r->bound = fs_max(r->bound, bound); }

static fs_status lower_extent(const fs_refiner *r, const fs_schedule *s, bool *lower) {
  uint64_t old, new;
  FS_TRY(fs_settled_extent(r->best, &old));
  FS_TRY(fs_settled_extent(s, &new));
  *lower = new < old;
  return FSCHED_OK;
}

fs_status fs_refiner_offer(fs_refiner *r, fs_schedule *s, bool *taken) {
  assert(s != NULL && s->graph == r->g);
  bool better = r->best == NULL || s->makespan < r->best->makespan;
  fs_status status = FSCHED_OK;
  if (!better && s->makespan == r->best->makespan && fs_settles(r->g)) {
    status = lower_extent(r, s, &better);
  }
  *taken = better && status == FSCHED_OK;
  fs_schedule_destroy(*taken ? r->best : s);
  r->best = *taken ? s : r->best;
  return status;
}

/* Takes the findings of a running solver; its solutions are used when it has ended. */
static void on_news(void *user, const fs_solver_result *so_far) {
  fs_refiner *r = user;
  bool bounded = so_far->bounded && so_far->bound > 0;
  bool relaxed = bounded && so_far->first_bound > 0; /* the last may have come with the first */
  if (relaxed && r->relaxation == 0 && (r->asked != 0 || (r->exact && !r->silent))) {
    /* a model with a horizon knows nothing of longer schedules */
    fs_tick most = r->asked == 0 ? FS_TICK_NONE : r->asked + 1;
    r->relaxation = fs_min((fs_tick)so_far->first_bound, most);
  }
  if (bounded && r->exact && !r->silent) {
    fs_refiner_raise(r, (fs_tick)so_far->bound);
  }
  bool found = !r->silent && so_far->found && so_far->objective >= 0;
  tell(r, found ? (fs_tick)so_far->objective : FS_TICK_NONE, so_far->nodes);
}

/* The node limit is lower for larger models, as their nodes take longer. */
uint64_t fs_refiner_node_limit(const fs_refiner *r, const fs_model *m) {
  enum { TERMS = 2000000, FEWEST = 10 };
  if (r->o->node_limit != 0 || r->o->time_limit_ns != 0) {
    return r->o->node_limit;
  }
  uint64_t nodes = TERMS / (1 + (m == NULL ? 0 : m->term.n));
  return fs_min(FSCHED_NODE_LIMIT, fs_max(FEWEST, nodes));
}

fs_status fs_refiner_solve(fs_refiner *r, const fs_model *m, bool start, uint64_t nodes,
                           int64_t *value, fs_solver_result *result) {
  assert(!m->open && !m->large);
  fs_solver_options o = {.command = r->command,
                         .deadline_ns = r->soon_ns != 0 ? r->soon_ns : r->deadline_ns,
                         .node_limit = nodes != 0 ? nodes : fs_refiner_node_limit(r, m),
                         .stop = r->o->stop,
                         .news = on_news,
                         .user = r};
  r->any = true;
  r->searches++;
  FS_TRY(fs_solver_run(r->ctx, m, &o, start, value, result));
  r->nodes += result->nodes;
  r->cut = r->cut || (result->status == FS_SOLVER_LIMIT && nodes == 0);
  if (result->status == FS_SOLVER_FAILED && r->fault[0] == '\0') {
    (void)snprintf(r->fault, sizeof r->fault, "%s", result->reason);
  }
  return FSCHED_OK;
}

/* Takes the schedule that a given solution of the first model stands for. */
static fs_status take_solution(fs_refiner *r, fs_attempt *a) {
  const fs_model *m = fs_attempt_model(a);
  const char *name = r->o->solution_name == NULL ? "solution" : r->o->solution_name;
  if (m == NULL) {
    return fs_fail(r->ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "there is no model that '%s' could be a solution of", name);
  }
  FS_SCRATCH(arena, r->ctx);
  int64_t *value;
  fs_schedule *s = NULL;
  const char *why = NULL;
  fs_decision exists;
  bool taken = false;
  FS_TRY(fs_new_zero(&arena, &value, m->var.n));
  FS_TRY(fs_solution_read(r->ctx, m, name, r->o->solution, r->o->solution_length, value));
  uint64_t broken = fs_model_broken(m, value);
  if (broken != FS_NONE) {
    bool bound = broken >= FS_MODEL_BOUND;
    return fs_fail(r->ctx, FSCHED_WRONG, FS_DIAG_SOLUTION_WRONG, FS_NOWHERE, NULL,
                   "'%s' is no solution of the model: it breaks %s '%s'", name,
                   bound ? "the bounds of" : "row",
                   bound ? m->var.at[broken - FS_MODEL_BOUND].name : m->row.at[broken].name);
  }
  FS_TRY(fs_attempt_schedule(a, value, &s, &why, &exists));
  if (s == NULL) {
    return fs_fail(r->ctx, FSCHED_WRONG, FS_DIAG_SOLUTION_WRONG, FS_NOWHERE, NULL,
                   "'%s' gives no schedule: %s", name, why == NULL ? "no addresses" : why);
  }
  if (r->best != NULL && s->makespan > r->best->makespan) {
    fs_report(r->ctx, FSCHED_WARNING, FS_DIAG_REFINE, FS_NOWHERE, NULL,
              "'%s' has makespan %llu and is not used: the heuristic schedule has %llu", name,
              (unsigned long long)s->makespan, (unsigned long long)r->best->makespan);
  }
  return fs_refiner_offer(r, s, &taken);
}

/* The model that chooses spills is expensive: its relaxation alone may take all of the time. */
enum { LARGE_TERMS = 30000 };
static bool large(const fs_attempt *a) { return fs_attempt_model(a)->term.n > LARGE_TERMS; }

/* Tries the model with the given copies first, then the one that chooses what is spilled. */
static fs_status plain_first(fs_refiner *r, fs_attempt *spill) {
  fs_attempt a;
  fs_status status = fs_attempt_choose(r->ctx, r->g, r->best, r->bound, r->o->refine, false, r, &a);
  if (status == FSCHED_OK && fs_attempt_model(&a) != NULL) {
    r->soon_ns = fs_refiner_soon(r);
    status = fs_attempt_run(r, &a);
    r->soon_ns = 0;
  }
  fs_attempt_release(&a);
  return status == FSCHED_OK && !fs_refiner_done(r) ? fs_attempt_run(r, spill) : status;
}

static fs_status run_refiner(fs_refiner *r) {
  bool settles = fs_settles(r->g) && r->o->solution == NULL;
  if (settles) {
    return fs_refine_settle(r);
  }
  if (bound_reached(r) && r->o->solution == NULL) {
    return FSCHED_OK;
  }
  fs_attempt a;
  fs_refiner *stops = r->o->solution == NULL ? r : NULL; /* else it has to be the model of --emit */
  fs_status status =
      fs_attempt_choose(r->ctx, r->g, r->best, r->bound, r->o->refine, true, stops, &a);
  if (status == FSCHED_OK) {
    if (r->o->solution != NULL) {
      status = take_solution(r, &a);
    } else if (a.spill != NULL && large(&a)) {
      status = plain_first(r, &a);
    } else if (fs_attempt_model(&a) != NULL || a.possible.is == FS_NO) {
      status = fs_attempt_run(r, &a);
    } else if (r->best != NULL) {
      r->slid = true;
      status = fs_refine_slide(r);
    }
  }
  fs_attempt_release(&a);
  return status;
}

static bool is_late(const fs_refiner *r) {
  return r->deadline_ns != 0 && fs_now_ns() >= r->deadline_ns;
}

static bool is_stopped(const fs_refiner *r) {
  return r->o->stop != NULL && __atomic_load_n(r->o->stop, __ATOMIC_RELAXED) != 0;
}

/* Why the refinement has ended, although something may be left to gain. */
static fs_refine_end end_of(const fs_refiner *r) {
  if (r->best->makespan <= r->bound || fs_settles(r->g) || r->o->solution != NULL) {
    return FS_REFINE_END_NONE;
  }
  return r->fault[0] != '\0' ? FS_REFINE_END_FAULT
         : is_stopped(r)     ? FS_REFINE_END_STOPPED
         : is_late(r)        ? FS_REFINE_END_TIME
         : worked_enough(r)  ? FS_REFINE_END_SEARCHES
         : !r->any           ? (fs_graph_wait(r->g) != 0 ? FS_REFINE_END_WAIT : FS_REFINE_END_SIZE)
         : r->slid           ? FS_REFINE_END_WINDOWS
         : r->cut            ? FS_REFINE_END_NODES
                             : FS_REFINE_END_COPIES;
}

static void warn(const fs_refiner *r) {
  bool late = is_late(r);
  bool stopped = is_stopped(r);
  if (r->fault[0] != '\0') {
    fs_report(r->ctx, FSCHED_WARNING, FS_DIAG_REFINE, FS_NOWHERE,
              r->best == NULL ? NULL : "the schedule is the best one known without it",
              "the refinement ended early: %s", r->fault);
  } else if (r->best == NULL) {
    fs_report(r->ctx, FSCHED_WARNING, FS_DIAG_REFINE, FS_NOWHERE, NULL,
              late || stopped ? "the refinement was stopped before it found a schedule"
                              : "the refinement found no schedule within its limits");
  } else if (!r->any && r->best->makespan > r->bound && !fs_settles(r->g) &&
             r->o->solution == NULL && !stopped) {
    fs_report(
        r->ctx, FSCHED_WARNING, FS_DIAG_REFINE, FS_NOWHERE,
        !late && fs_graph_wait(r->g) != 0
            ? "windows and the model of spills do not know the target's wait: --set wait=0"
            : NULL,
        late ? "nothing was refined: the time limit was too short for any model"
             : "nothing was refined: every model of this graph is too large, or gains nothing");
  }
}

/* The graph with the queues that a schedule has chosen for its gangs, in the arena. */
static fs_status choose_gangs(const fsched_graph *g, const fs_schedule *s, fs_arena *arena,
                              fsched_graph *out) {
  *out = *g;
  out->gangs_open = false;
  out->n_gangs = s->n_gangs;
  FS_TRY(fs_new(arena, &out->gang_queue0, (size_t)s->n_gangs + 1));
  FS_TRY(fs_new(arena, &out->gang_queue, s->gang_queue0[s->n_gangs]));
  FS_TRY(fs_new(arena, &out->gang_members, s->n_gangs));
  FS_TRY(fs_new(arena, &out->op_gang, g->n_ops));
  memcpy(out->gang_queue0, s->gang_queue0, (s->n_gangs + (size_t)1) * sizeof *s->gang_queue0);
  memcpy(out->gang_queue, s->gang_queue, s->gang_queue0[s->n_gangs] * sizeof *s->gang_queue);
  memcpy(out->op_gang, s->op_gang, g->n_ops * sizeof *s->op_gang);
  for (uint32_t k = 0; k < s->n_gangs; k++) {
    out->gang_members[k] = s->gang_queue0[k + 1] - s->gang_queue0[k];
  }
  return FSCHED_OK;
}

/* Makes the schedule of a graph with chosen gangs one of the graph that it was made from. */
static fs_status return_gangs(const fsched_graph *g, fs_schedule *s) {
  FS_SCRATCH(arena, s->ctx);
  uint32_t *member0, *member;
  s->graph = g;
  FS_TRY(fs_graph_members(g, &arena, &member0));
  FS_TRY(fs_new(&arena, &member, member0[g->n_ops]));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t n = member0[op + 1] - member0[op];
    if (n > 0) {
      memcpy(member + member0[op], s->gang_queue + s->gang_queue0[s->op_gang[op]],
             n * sizeof *member);
    }
  }
  return fs_schedule_set_gangs(s, member0, member);
}

typedef struct chosen_news {
  fsched_refine_fn news;
  void *user;
  fs_tick bound;
} chosen_news;

static void tell_of_chosen(void *user, const fsched_refine_state *state) {
  const chosen_news *to = user;
  fsched_refine_state s = *state;
  s.bound = fs_min(s.bound, to->bound);
  to->news(to->user, &s);
}

/* A graph whose gangs leave a choice keeps that of the schedule: other queues might do better, so
 * what the models prove is no bound. */
static fs_status refine_chosen(fsched_context *ctx, const fsched_graph *g,
                               const fs_refine_options *o, fs_tick bound, fs_schedule **schedule) {
  if (*schedule == NULL) {
    fs_report(ctx, FSCHED_WARNING, FS_DIAG_REFINE, FS_NOWHERE, NULL,
              "nothing was refined: no schedule has chosen the queues of gangs");
    return FSCHED_OK;
  }
  FS_SCRATCH(arena, ctx);
  fsched_graph chosen;
  FS_TRY(choose_gangs(g, *schedule, &arena, &chosen));
  (*schedule)->graph = &chosen;
  fs_refine_options options = *o;
  chosen_news news = {o->news, o->user, bound};
  if (o->news != NULL) {
    options.news = tell_of_chosen;
    options.user = &news;
  }
  fs_status status = fs_refine_run(ctx, &chosen, &options, bound, schedule);
  if (*schedule == NULL) {
    return status;
  }
  fs_schedule *s = *schedule;
  fs_status returned = return_gangs(g, s);
  s->lower_bound = fs_min(bound, s->makespan);
  s->relaxation = 0;
  bool open = s->makespan > bound && !fs_settles(g) && o->solution == NULL;
  if (open && s->refine_end == FS_REFINE_END_NONE) {
    s->refine_end = FS_REFINE_END_GANGS;
  }
  return status != FSCHED_OK ? status : returned;
}

fs_status fs_refine_run(fsched_context *ctx, const fsched_graph *g, const fs_refine_options *o,
                        fs_tick bound, fs_schedule **schedule) {
  assert(o != NULL && (*schedule == NULL || (*schedule)->graph == g));
  if (g->gangs_open) {
    return refine_chosen(ctx, g, o, bound, schedule);
  }
  fs_refiner r = {.ctx = ctx, .g = g, .o = o, .best = *schedule, .bound = bound};
  r.before = *schedule == NULL ? 0 : (*schedule)->makespan;
  r.begin_ns = fs_now_ns();
  r.deadline_ns = o->time_limit_ns == 0 ? 0 : r.begin_ns + o->time_limit_ns;
  uint64_t runs = *schedule == NULL ? 0 : (*schedule)->trial_runs;
  uint64_t steps = *schedule == NULL ? 0 : (*schedule)->trial_steps;
  FS_SCRATCH(arena, ctx);
  r.command = o->solver != NULL ? o->solver : fs_solver_default(&arena);
  fs_status status = r.command == NULL ? FSCHED_SYSTEM : run_refiner(&r);
  *schedule = r.best;
  FS_TRY(status);
  if (r.best != NULL) {
    r.best->lower_bound = fs_min(r.bound, r.best->makespan);
    r.best->search_nodes = r.nodes;
    r.best->relaxation = r.relaxation;
    r.best->refined_from = r.before;
    r.best->refine_end = end_of(&r);
    r.best->trial_runs = runs;
    r.best->trial_steps = steps;
  }
  warn(&r);
  return FSCHED_OK;
}

fs_status fs_refine_model(fsched_context *ctx, const fsched_graph *g, const fs_schedule *s,
                          fs_tick bound, fsched_refine refine, bool mps, char **text,
                          size_t *length) {
  fs_attempt a;
  FS_SCRATCH(arena, ctx);
  fsched_graph chosen;
  fs_schedule of_chosen;
  if (g->gangs_open && s == NULL) {
    return fs_fail(ctx, FSCHED_INFEASIBLE, FS_DIAG_NO_MODEL, FS_NOWHERE, NULL,
                   "there is no model: no schedule has chosen the queues of gangs");
  }
  if (g->gangs_open) {
    FS_TRY(choose_gangs(g, s, &arena, &chosen));
    of_chosen = *s;
    of_chosen.graph = g = &chosen;
    s = &of_chosen;
  }
  fs_status status = fs_attempt_choose(ctx, g, s, bound, refine, true, NULL, &a);
  const fs_model *m = status == FSCHED_OK ? fs_attempt_model(&a) : NULL;
  if (status == FSCHED_OK && m == NULL) {
    status =
        fs_fail(ctx, FSCHED_INFEASIBLE, FS_DIAG_NO_MODEL, FS_NOWHERE, NULL,
                a.possible.is == FS_NO ? "there is no model: propagation leaves some op no start"
                                       : "the model of this graph is too large to be written");
  }
  if (status == FSCHED_OK) {
    status = mps ? fs_model_mps(m, text, length) : fs_model_lp(m, text, length);
  }
  fs_attempt_release(&a);
  return status;
}
