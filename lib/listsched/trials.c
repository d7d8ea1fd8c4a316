/* SPDX-License-Identifier: Apache-2.0 */
/* Trials.  The planned order decides as much as the rule of eviction: upward rank serves graphs
 * that wait for their critical path, program and frugal order those that wait for memory.  The
 * first run is that of the order for which the estimate is least; it always ends.  Then come an
 * order that was given (of loops, by their plans), all other policies (those that keep all queues
 * near the first op that has not started save most where one class of queues has less to do than
 * another), and then neighbours of the best run so far: an order that differs a little at random
 * and, half of the time, another habit or two of placing and prefetching: where memory is scarce,
 * or the graph a chain, these decide more than the order.  The next trial starts from a run that is
 * as good as the best.  The least makespan wins, then the fewest bytes copied, then the first.
 *
 * A trial is given up as soon as it cannot be as short as the best run any more: the longest path
 * from an op that starts, or the work that is left for a class of queues, ends too late.  So poor
 * plans cost little, and a good one is found in a large graph at the price of little more than a
 * run.
 *
 * How much is tried is counted in steps of runs (engine.h), which take about the same time each.
 * At the usual effort trials are begun until they have taken
 *
 *    trial_steps + square root of (TRIAL_ROOT * steps of the first run)
 *
 * steps, so a small graph is tried for a fixed time, and the larger a graph is, the fewer runs fit
 * into its time: their number falls smoothly, and at 1,000,000 ops it is still more than one.  Each
 * level of effort doubles that, the lowest is the first run alone, and what reaches the lower bound
 * of the makespan ends the trials.  Of up to 6 ops, trials end when they have tried nearly all. */
#include "listsched/trials.h"

#include "base/limit.h"
#include "base/progress.h"
#include "listsched/fitting.h"

enum { N_PLANS = 3, N_POLICIES = 4 * N_PLANS, N_LAST = 9 };
enum { NEAR = 8, AHEAD = 20, TRIAL_ROOT = 10000000 };

/* Policy k has plan k % N_PLANS. */
static const fs_policy policies[N_POLICIES] = {
    {.name = "rank", .plan = fs_plan_rank},
    {.name = "program", .plan = fs_plan_program},
    {.name = "memory", .plan = fs_plan_memory},
    {.name = "rank-ahead", .plan = fs_plan_rank, .ahead = AHEAD},
    {.name = "program-ahead", .plan = fs_plan_program, .ahead = AHEAD},
    {.name = "memory-ahead", .plan = fs_plan_memory, .ahead = AHEAD},
    {.name = "rank-strict", .plan = fs_plan_rank, .strict = true},
    {.name = "program-strict", .plan = fs_plan_program, .strict = true},
    {.name = "memory-strict", .plan = fs_plan_memory, .strict = true},
    {.name = "rank-opposite", .plan = fs_plan_rank, .opposite = true},
    {.name = "program-opposite", .plan = fs_plan_program, .opposite = true},
    {.name = "memory-opposite", .plan = fs_plan_memory, .opposite = true},
};

/* For graphs of which those find no schedule.  Policy k has plan k % N_PLANS, or an order of its
 * own. */
static const fs_policy resorts[N_LAST] = {
    {.name = "rank-by-amount", .plan = fs_plan_rank, .by_amount = true},
    {.name = "program-by-amount", .plan = fs_plan_program, .by_amount = true},
    {.name = "memory-by-amount", .plan = fs_plan_memory, .by_amount = true},
    {.name = "fitting", .in_order = true},
    {.name = "fitting-by-amount", .by_amount = true},
    {.name = "fitting-in-order-by-amount", .in_order = true, .by_amount = true},
    {.name = "rank-in-order", .plan = fs_plan_rank, .in_order = true, .by_amount = true},
    {.name = "program-in-order", .plan = fs_plan_program, .in_order = true, .by_amount = true},
    {.name = "memory-in-order", .plan = fs_plan_memory, .in_order = true, .by_amount = true},
};

typedef struct trial_search {
  fs_trials *t;
  fs_engine e;
  fs_arena *plans;
  uint32_t *position[N_PLANS], *op_at[N_PLANS]; /* NULL: not made yet */
  uint64_t first_steps, budget;                 /* steps of the first run; of all trials */
  uint64_t copy_bytes;                          /* of the best run */
  uint32_t *best_position;                      /* its order, and below its policy */
  fs_policy best;
  bool contiguous; /* some bounded memory has addresses */
} trial_search;

static fs_tick run_makespan(const fs_engine *e) {
  assert(e->n_done == e->g->n_ops);
  fs_tick last = 0;
  for (uint32_t op = 0; op < e->g->n_ops; op++) {
    last = fs_max(last, e->op_end[op]);
  }
  for (size_t c = 0; c < e->copy.n; c++) {
    last = fs_max(last, e->copy_end.at[c]);
  }
  return last;
}

static uint64_t run_copy_bytes(const fs_engine *e) {
  uint64_t sum = 0;
  for (size_t c = 0; c < e->copy.n; c++) {
    sum += fs_version_size(e->g, e->copy.at[c].version);
  }
  return sum;
}

static fs_status make_plan(trial_search *s, uint32_t k) {
  assert(k < N_PLANS);
  if (s->op_at[k] != NULL) {
    return FSCHED_OK;
  }
  const fsched_graph *g = s->t->g;
  uint32_t *position, *op_at;
  FS_TRY(fs_new(s->plans, &position, g->n_ops));
  FS_TRY(fs_new(s->plans, &op_at, g->n_ops));
  FS_SCRATCH(scratch, s->t->ctx);
  FS_TRY(policies[k].plan(s->t->ctx, g, &scratch, s->t->options->seed, position));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    op_at[position[op]] = op;
  }
  s->position[k] = position;
  s->op_at[k] = op_at;
  return FSCHED_OK;
}

/* Keeps the run if it is the best one; of an equally good run keeps the order, from which the next
 * trial goes on. */
static fs_status keep_if_better(trial_search *s) {
  assert(s->e.n_done == s->e.g->n_ops);
  fs_trials *t = s->t;
  fs_tick makespan = run_makespan(&s->e);
  uint64_t bytes = run_copy_bytes(&s->e);
  if (t->schedule != NULL && (makespan > t->schedule->makespan ||
                              (makespan == t->schedule->makespan && bytes > s->copy_bytes))) {
    return FSCHED_OK;
  }
  s->best = *s->e.policy;
  if (t->g->n_ops > 0) {
    memcpy(s->best_position, s->e.position, t->g->n_ops * sizeof *s->best_position);
  }
  if (t->schedule != NULL && makespan == t->schedule->makespan && bytes == s->copy_bytes) {
    return FSCHED_OK;
  }
  fs_schedule_destroy(t->schedule);
  t->schedule = NULL;
  s->copy_bytes = bytes;
  return fs_engine_schedule(t->ctx, &s->e, makespan, &t->schedule);
}

static uint64_t square_root(uint64_t x) {
  uint64_t root = 0;
  for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1) {
    root += (root + bit) * (root + bit) <= x ? bit : 0;
  }
  return root;
}

/* The steps of trials, after a first run that took that many. */
static uint64_t trial_budget(const fs_trials *t, uint64_t first_steps) {
  uint32_t effort = t->options->effort;
  uint64_t most = UINT64_MAX / TRIAL_ROOT;
  uint64_t steps = fs_trial_steps_of(t->ctx) + square_root(TRIAL_ROOT * fs_min(first_steps, most));
  return effort == 0                    ? 0
         : effort < FSCHED_EFFORT_USUAL ? steps >> (FSCHED_EFFORT_USUAL - effort)
                                        : steps << (effort - FSCHED_EFFORT_USUAL);
}

/* The first run and its trials are each a half of the progress. */
static void tell_progress(trial_search *s) {
  uint64_t n = s->t->g->n_ops;
  uint64_t spent = s->t->steps - s->first_steps;
  fs_progress_at(s->t->ctx, n + (s->budget == 0 ? 0 : n * fs_min(spent, s->budget) / s->budget));
}

static fs_status run_engine(trial_search *s, bool explain) {
  bool infeasible = true, found;
  fs_status status = fs_engine_run(&s->e, explain, &infeasible);
  found = status == FSCHED_OK && !infeasible && !s->e.given_up;
  if (found && s->e.policy->by_amount) {
    uint64_t nodes = fs_limits_of(s->t->ctx)->place_nodes >> (s->t->options->effort == 0 ? 3 : 0);
    status = fs_engine_find_addresses(&s->e, s->t->schedule == NULL ? nodes : 0, &found);
  }
  s->t->runs++;
  s->t->steps += s->e.steps;
  if (s->t->runs == 1) {
    s->first_steps = s->e.steps;
    s->budget = trial_budget(s->t, s->first_steps);
  }
  tell_progress(s);
  return status == FSCHED_OK && found ? keep_if_better(s) : status;
}

static fs_status run_order(trial_search *s, const fs_policy *policy, const uint32_t *position,
                           const uint32_t *op_at, bool explain) {
  const fs_schedule *best = s->t->schedule;
  FS_TRY(fs_engine_begin(&s->e, policy, position, op_at));
  s->e.limit = best == NULL ? FS_TICK_NONE : best->makespan;
  s->e.options = s->t->options;
  s->e.runs = s->t->runs;
  s->e.hears_progress = s->t->runs == 0;
  return run_engine(s, explain);
}

static fs_status try_policy(trial_search *s, uint32_t k, bool explain) {
  assert(k < N_POLICIES);
  FS_TRY(make_plan(s, k % N_PLANS));
  fs_policy policy = policies[k];
  policy.evict = s->t->options->evict;
  policy.near = NEAR;
  return run_order(s, &policy, s->position[k % N_PLANS], s->op_at[k % N_PLANS], explain);
}

/* Without a schedule the trials go on: another policy may find one. */
static bool trials_ended(const trial_search *s) {
  const fs_trials *t = s->t;
  fs_tick best = t->schedule == NULL ? FS_TICK_NONE : t->schedule->makespan;
  if (t->options->stop != NULL && t->options->stop(t->options->user, t->runs, best)) {
    return true;
  }
  return t->schedule != NULL && (t->schedule->makespan <= t->options->lower_bound ||
                                 t->steps - s->first_steps >= s->budget);
}

/* The policy of the best run; half of the time with one or two other habits. */
static fs_policy vary(const trial_search *s, uint64_t trial) {
  assert(s->t->schedule != NULL);
  static const uint32_t nears[] = {NEAR, 1, 3, 20};
  uint64_t r = fs_plan_random(s->t->options->seed, trial);
  fs_policy p = s->best;
  for (uint64_t changes = r % 4 < 2 ? 0 : r % 4 - 1; changes > 0; changes--) {
    r /= 4;
    uint64_t habit = r % 5;
    r /= 5;
    p.in_turn ^= habit == 0;
    p.opposite ^= habit == 1;
    p.strict ^= habit == 2;
    p.reads_high ^= habit == 3;
    p.near = habit == 4 ? nears[r % 4] : p.near;
  }
  p.in_order = p.in_order && r % 2 != 0;
  return p;
}

static fs_status try_neighbour(trial_search *s, uint64_t trial, uint32_t *position,
                               uint32_t *op_at) {
  const fsched_graph *g = s->t->g;
  FS_SCRATCH(scratch, s->t->ctx);
  FS_TRY(fs_plan_neighbour(s->t->ctx, g, &scratch, s->best_position,
                           s->t->options->seed + trial + 1, position));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    op_at[position[op]] = op;
  }
  fs_policy policy = vary(s, trial);
  return run_order(s, &policy, position, op_at, false);
}

/* Few ops have few orders, each with few habits: twice as many trials as there are of these try
 * nearly all. */
static uint64_t most_neighbours(uint32_t n) {
  enum { FEW = 6, HABITS = 64 };
  uint64_t orders = 1;
  for (uint32_t k = 2; k <= fs_min(n, FEW); k++) {
    orders *= k;
  }
  return n > FEW ? UINT64_MAX : 2 * HABITS * orders;
}

static fs_status try_neighbours(trial_search *s) {
  uint32_t n = s->t->g->n_ops;
  uint64_t most = most_neighbours(n);
  uint32_t *position, *op_at;
  FS_TRY(fs_new(s->plans, &position, n));
  FS_TRY(fs_new(s->plans, &op_at, n));
  bool any = n > 1 && s->t->schedule != NULL;
  for (uint64_t trial = 0; any && trial < most && !trials_ended(s); trial++) {
    FS_TRY(try_neighbour(s, trial, position, op_at));
  }
  return FSCHED_OK;
}

/* The plan to begin with: the one of the least estimate; upward rank if no op needs a bounded
 * memory. */
static fs_status choose_plan(trial_search *s, uint32_t *best) {
  fs_tick least = FS_TICK_NONE;
  *best = 0;
  for (uint32_t k = 0; k < N_PLANS && s->e.any_bounded; k++) {
    FS_TRY(make_plan(s, k));
    FS_SCRATCH(scratch, s->t->ctx);
    fs_tick guess;
    FS_TRY(fs_plan_estimate(s->t->ctx, s->t->g, &scratch, s->op_at[k], &guess));
    if (guess < least) {
      least = guess;
      *best = k;
    }
  }
  return FSCHED_OK;
}

/* The order that was given, if there is one, near the first op that has not started and not. */
static fs_status try_given(trial_search *s) {
  const uint32_t *position = s->t->options->position;
  uint32_t *op_at, n = s->t->g->n_ops;
  if (position == NULL || s->t->options->effort == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(s->plans, &op_at, n));
  for (uint32_t op = 0; op < n; op++) {
    assert(position[op] < n);
    op_at[position[op]] = op;
  }
  fs_policy policy = {.name = "given", .plan = NULL, .evict = s->t->options->evict, .near = NEAR};
  for (uint32_t ahead = 0; ahead < 2 && !trials_ended(s); ahead++) {
    policy.ahead = ahead * AHEAD;
    FS_TRY(run_order(s, &policy, position, op_at, false));
  }
  return FSCHED_OK;
}

/* An order in which the ops fit one at a time; none: *fits is FS_NO. */
static fs_status find_fitting(trial_search *s, uint32_t *position, uint32_t *op_at,
                              fs_decision *fits) {
  FS_SCRATCH(scratch, s->t->ctx);
  FS_TRY(fs_plan_fitting(&s->e, &scratch, position, fits));
  for (uint32_t op = 0; op < s->t->g->n_ops && fits->is == FS_YES; op++) {
    op_at[position[op]] = op;
  }
  return FSCHED_OK;
}

/* Where no policy has found a schedule: ops claim in an order in which they fit; and room is
 * counted, and addresses are found for all at once (of given starts problem/settled does that). */
static fs_status find_any(trial_search *s) {
  uint32_t *position, *op_at;
  fs_decision fits;
  bool by_amount = s->contiguous && s->t->g->op_start == NULL;
  FS_TRY(fs_new(s->plans, &position, s->t->g->n_ops));
  FS_TRY(fs_new(s->plans, &op_at, s->t->g->n_ops));
  FS_TRY(find_fitting(s, position, op_at, &fits));
  for (uint32_t k = 0; k < N_LAST && fits.is != FS_NO && s->t->schedule == NULL; k++) {
    bool own = resorts[k].plan == NULL;
    if (trials_ended(s) || (resorts[k].by_amount && !by_amount) || (own && fits.is != FS_YES)) {
      continue;
    }
    fs_policy policy = resorts[k];
    policy.evict = s->t->options->evict;
    policy.near = NEAR;
    FS_TRY(own ? FSCHED_OK : make_plan(s, k % N_PLANS));
    FS_TRY(run_order(s, &policy, own ? position : s->position[k % N_PLANS],
                     own ? op_at : s->op_at[k % N_PLANS], false));
  }
  return FSCHED_OK;
}

/* Says why there is no schedule. */
static fs_status explain(trial_search *s) {
  bool told = s->t->schedule != NULL || s->t->options->silent || trials_ended(s);
  return told ? FSCHED_OK : try_policy(s, N_POLICIES - 1, true);
}

static bool any_contiguous(const fsched_graph *g) {
  bool any = false;
  for (uint32_t m = 0; m < g->target.n_memories && !any; m++) {
    const fs_memory *memory = &g->target.memory[m];
    any = fs_memory_bounded(memory) && fs_placement_has_addresses(memory->placement);
  }
  return any;
}

static fs_status search_plans(trial_search *s) {
  uint32_t first;
  s->contiguous = any_contiguous(s->t->g);
  FS_TRY(fs_new(s->plans, &s->best_position, s->t->g->n_ops));
  FS_TRY(choose_plan(s, &first));
  fs_progress_total(s->t->ctx, 2 * (uint64_t)s->t->g->n_ops);
  FS_TRY(try_policy(s, first, false));
  FS_TRY(try_given(s));
  for (uint32_t k = 0; k < N_POLICIES && !trials_ended(s); k++) {
    if (k != first) {
      FS_TRY(try_policy(s, k, false));
    }
  }
  if (s->t->schedule == NULL) {
    FS_TRY(find_any(s));
    FS_TRY(explain(s));
  }
  return try_neighbours(s);
}

fs_status fs_trials_run(fs_trials *t) {
  assert(t->schedule == NULL && t->runs == 0);
  FS_SCRATCH(plans, t->ctx);
  FS_SCRATCH(arena, t->ctx);
  trial_search s = {.t = t, .plans = &plans};
  fs_status status = fs_engine_prepare(&s.e, t->ctx, &arena, t->g);
  status = status == FSCHED_OK ? search_plans(&s) : status;
  fs_engine_release(&s.e);
  if (t->schedule != NULL) {
    t->schedule->trial_runs = t->runs;
    t->schedule->trial_steps = t->steps;
  }
  return status;
}
