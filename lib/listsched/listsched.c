/* SPDX-License-Identifier: Apache-2.0 */
/* The list scheduler's entry: runs the engine under one or more policies and keeps the best run.
 *
 * What was repaired in the published loop (Kundeti, the feasible schedule generator): it goes on
 * while anything is active, spilled or in flight; it starts with all sources; spill reads are
 * scheduled like any item; fresh ops may start beside resident buffers; outputs are written back
 * once; the makespan is the largest end.  A published run evicts least recently used versions; the
 * default evicts the one whose next use is farthest in the planned order.
 *
 * The planned order decides as much as the eviction rule: upward rank serves graphs that wait for
 * their critical path, program and frugal order those that wait for memory.  Graphs of up to
 * PORTFOLIO_LIMIT ops and args in bounded memory are run under all policies; the least makespan
 * wins, then the fewest bytes copied, then the first in the list.  Larger ones are run once, under
 * the order that brings the fewest bytes back in; the others only if it fails.
 *
 * Then small graphs are tried further from the best run so far, in an order that differs a little
 * at random, and half of the time with another habit or two of placing and prefetching: where
 * memory is scarce, or the graph a chain, they decide more than the order.  The next trial starts
 * from a run that is as good as the best. */
#include <stdio.h>

#include "base/progress.h"
#include "listsched/engine.h"

enum {
  PORTFOLIO_LIMIT = 40000, /* ops and args */
  N_PLANS = 3,
  N_POLICIES = 3 * N_PLANS,
  MOST_TRIALS = 400,
  TRIAL_SIZE = 100000,        /* ops and args in all trials together */
  TRIAL_SIZE_BOUNDED = 40000, /* the same for bounded memories, where a run costs more */
  NEAR = 8
};

/* Policy k has plan k % N_PLANS. */
static const fs_policy policies[N_POLICIES] = {
    {.name = "rank", .plan = fs_plan_rank},
    {.name = "program", .plan = fs_plan_program},
    {.name = "memory", .plan = fs_plan_memory},
    {.name = "rank-strict", .plan = fs_plan_rank, .strict = true},
    {.name = "program-strict", .plan = fs_plan_program, .strict = true},
    {.name = "memory-strict", .plan = fs_plan_memory, .strict = true},
    {.name = "rank-opposite", .plan = fs_plan_rank, .opposite = true},
    {.name = "program-opposite", .plan = fs_plan_program, .opposite = true},
    {.name = "memory-opposite", .plan = fs_plan_memory, .opposite = true},
};

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

static fs_status fill_items(fs_schedule *s, const fs_engine *e) {
  assert(e->order.n == s->graph->n_ops + e->copy.n);
  uint32_t n_ops = s->graph->n_ops;
  s->n_copies = (uint32_t)e->copy.n;
  s->n_items = n_ops + s->n_copies;
  FS_TRY(fs_new(&s->arena, &s->start, s->n_items));
  FS_TRY(fs_new(&s->arena, &s->end, s->n_items));
  FS_TRY(fs_new(&s->arena, &s->queue, s->n_items));
  FS_TRY(fs_new(&s->arena, &s->order, s->n_items));
  FS_TRY(fs_new(&s->arena, &s->copy_kind, s->n_copies));
  FS_TRY(fs_new(&s->arena, &s->copy_version, s->n_copies));
  FS_TRY(fs_new(&s->arena, &s->copy_residency, s->n_copies));
  FS_TRY(fs_new(&s->arena, &s->copy_store, s->n_copies));
  for (uint32_t i = 0; i < n_ops; i++) {
    s->start[i] = e->op_start[i];
    s->end[i] = e->op_end[i];
    s->queue[i] = e->op_queue[i];
  }
  for (uint32_t c = 0; c < s->n_copies; c++) {
    s->start[n_ops + c] = e->copy_start.at[c];
    s->end[n_ops + c] = e->copy_end.at[c];
    s->queue[n_ops + c] = e->copy_queue.at[c];
    s->copy_kind[c] = e->copy.at[c].kind;
    s->copy_version[c] = e->copy.at[c].version;
    s->copy_residency[c] = e->copy.at[c].residency;
    s->copy_store[c] = e->copy.at[c].store;
  }
  assert(e->order.n == s->n_items);
  if (s->n_items > 0) {
    memcpy(s->order, e->order.at, s->n_items * sizeof *s->order);
  }
  return FSCHED_OK;
}

static fs_status fill_residencies(fs_schedule *s, const fs_engine *e) {
  uint32_t n = s->n_residencies = (uint32_t)e->residency.n;
  FS_TRY(fs_new(&s->arena, &s->res_version, n));
  FS_TRY(fs_new(&s->arena, &s->res_op, n));
  FS_TRY(fs_new(&s->arena, &s->res_memory, n));
  FS_TRY(fs_new(&s->arena, &s->res_address, n));
  FS_TRY(fs_new(&s->arena, &s->res_size, n));
  FS_TRY(fs_new(&s->arena, &s->res_begin, n));
  FS_TRY(fs_new(&s->arena, &s->res_end, n));
  for (uint32_t r = 0; r < n; r++) {
    const fs_residency_record *from = &e->residency.at[r];
    s->res_version[r] = from->version;
    s->res_op[r] = from->op;
    s->res_memory[r] = from->memory;
    s->res_address[r] = from->address;
    s->res_size[r] = from->size;
    s->res_begin[r] = from->begin;
    s->res_end[r] = from->end == FS_TICK_NONE ? s->makespan : from->end;
  }
  uint32_t n_scratch = s->graph->op_scratch0[s->graph->n_ops];
  FS_TRY(fs_new(&s->arena, &s->arg_residency, s->graph->n_args));
  FS_TRY(fs_new(&s->arena, &s->scratch_residency, n_scratch));
  memcpy(s->arg_residency, e->arg_residency, s->graph->n_args * sizeof *s->arg_residency);
  memcpy(s->scratch_residency, e->scratch_residency, n_scratch * sizeof *s->scratch_residency);
  return FSCHED_OK;
}

static fs_status fill_queues(fs_schedule *s, const fs_engine *e) {
  assert(s->graph->target.implicit_queues || e->n_queues == s->graph->target.n_queues);
  s->n_queues = e->n_queues;
  FS_TRY(fs_new(&s->arena, &s->queue_name, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    if (!s->graph->target.implicit_queues) {
      s->queue_name[q] = s->graph->target.queue[q].name;
      continue;
    }
    char name[16];
    int n = snprintf(name, sizeof name, "q%u", (unsigned)q);
    s->queue_name[q] = fs_arena_strndup(&s->arena, name, (size_t)n);
    if (s->queue_name[q] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  return FSCHED_OK;
}

static fs_status fill_all(fs_schedule *s, const fs_engine *e) {
  FS_TRY(fill_items(s, e));
  FS_TRY(fill_residencies(s, e));
  return fill_queues(s, e);
}

static fs_status fill_schedule(fsched_context *ctx, const fs_engine *e, fs_schedule **out) {
  fs_schedule *s;
  FS_TRY(fs_schedule_create(ctx, e->g, &s));
  s->makespan = run_makespan(e);
  s->status = FS_SCHEDULE_FEASIBLE;
  fs_status status = fill_all(s, e);
  if (status != FSCHED_OK) {
    fs_schedule_destroy(s);
    return status;
  }
  *out = s;
  return FSCHED_OK;
}

typedef struct plan_search {
  fsched_context *ctx;
  const fsched_graph *g;
  const fs_listsched_options *options;
  fs_arena *plans;
  uint32_t *position[N_PLANS], *op_at[N_PLANS]; /* NULL: not made yet */
  fs_schedule *schedule;                        /* the best so far */
  uint64_t copy_bytes;
  uint32_t *best_position; /* its order, and below its policy */
  fs_policy best;
  uint64_t runs; /* begun so far: each has n_ops units of progress */
} plan_search;

static fs_status make_plan(plan_search *s, uint32_t k) {
  assert(k < N_PLANS);
  if (s->op_at[k] != NULL) {
    return FSCHED_OK;
  }
  uint32_t *position, *op_at;
  FS_TRY(fs_new(s->plans, &position, s->g->n_ops));
  FS_TRY(fs_new(s->plans, &op_at, s->g->n_ops));
  FS_SCRATCH(scratch, s->ctx);
  FS_TRY(policies[k].plan(s->ctx, s->g, &scratch, s->options->seed, position));
  for (uint32_t op = 0; op < s->g->n_ops; op++) {
    op_at[position[op]] = op;
  }
  s->position[k] = position;
  s->op_at[k] = op_at;
  return FSCHED_OK;
}

/* Keeps the run if it is the best one; of an equally good run keeps the order, from which the next
 * trial goes on. */
static fs_status keep_if_better(plan_search *s, const fs_engine *e) {
  assert(e->n_done == e->g->n_ops);
  fs_tick makespan = run_makespan(e);
  uint64_t bytes = run_copy_bytes(e);
  if (s->schedule != NULL && (makespan > s->schedule->makespan ||
                              (makespan == s->schedule->makespan && bytes > s->copy_bytes))) {
    return FSCHED_OK;
  }
  s->best = *e->policy;
  memcpy(s->best_position, e->position, s->g->n_ops * sizeof *s->best_position);
  if (s->schedule != NULL && makespan == s->schedule->makespan && bytes == s->copy_bytes) {
    return FSCHED_OK;
  }
  fs_schedule_destroy(s->schedule);
  s->schedule = NULL;
  s->copy_bytes = bytes;
  return fill_schedule(s->ctx, e, &s->schedule);
}

static fs_status run_engine(plan_search *s, fs_engine *e, bool explain) {
  bool infeasible = true;
  FS_TRY(fs_engine_run(e, explain, &infeasible));
  return infeasible ? FSCHED_OK : keep_if_better(s, e);
}

static fs_status run_order(plan_search *s, const fs_policy *policy, const uint32_t *position,
                           const uint32_t *op_at, bool explain) {
  FS_SCRATCH(scratch, s->ctx);
  fs_engine e = {.ctx = s->ctx, .progress_base = s->runs++ * s->g->n_ops};
  fs_status status = fs_engine_init(&e, s->ctx, &scratch, s->g, policy, position, op_at);
  status = status == FSCHED_OK ? run_engine(s, &e, explain) : status;
  fs_engine_release(&e);
  fs_progress_at(s->ctx, s->runs * s->g->n_ops);
  return status;
}

static fs_status try_policy(plan_search *s, uint32_t k, bool explain) {
  assert(k < N_POLICIES);
  FS_TRY(make_plan(s, k % N_PLANS));
  fs_policy policy = policies[k];
  policy.evict = s->options->evict;
  policy.near = NEAR;
  return run_order(s, &policy, s->position[k % N_PLANS], s->op_at[k % N_PLANS], explain);
}

static bool bound_reached(const plan_search *s) {
  return s->schedule != NULL && s->schedule->makespan <= s->options->lower_bound;
}

/* The policy of the best run; half of the time with one or two other habits. */
static fs_policy vary(const plan_search *s, uint32_t trial) {
  assert(s->schedule != NULL);
  static const uint32_t nears[] = {NEAR, 1, 3, 20};
  uint64_t r = fs_plan_random(s->options->seed, trial);
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
  return p;
}

static fs_status try_neighbour(plan_search *s, uint32_t trial, uint32_t *position,
                               uint32_t *op_at) {
  uint32_t n = s->g->n_ops;
  uint32_t spread = n >> (1 + trial % 4); /* half of the ops, a quarter, ... */
  FS_SCRATCH(scratch, s->ctx);
  FS_TRY(fs_plan_neighbour(s->ctx, s->g, &scratch, s->best_position, spread,
                           s->options->seed + trial + 1, position));
  for (uint32_t op = 0; op < n; op++) {
    op_at[position[op]] = op;
  }
  fs_policy policy = vary(s, trial);
  return run_order(s, &policy, position, op_at, false);
}

static bool any_bounded(const fsched_graph *g) {
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    if (fs_memory_bounded(&g->target.memory[m])) {
      return true;
    }
  }
  return false;
}

static uint64_t graph_size(const fsched_graph *g) { return (uint64_t)g->n_ops + g->n_args; }

static uint32_t most_trials(const fsched_graph *g) {
  uint64_t size = any_bounded(g) ? TRIAL_SIZE_BOUNDED : TRIAL_SIZE;
  return g->n_ops < 2 ? 0 : (uint32_t)fs_min(MOST_TRIALS, size / graph_size(g));
}

static fs_status try_neighbours(plan_search *s) {
  uint32_t n = s->g->n_ops;
  uint32_t trials = most_trials(s->g);
  uint32_t *position, *op_at;
  FS_TRY(fs_new(s->plans, &position, n));
  FS_TRY(fs_new(s->plans, &op_at, n));
  for (uint32_t trial = 0; trial < trials && s->schedule != NULL && !bound_reached(s); trial++) {
    FS_TRY(try_neighbour(s, trial, position, op_at));
  }
  return FSCHED_OK;
}

/* The plan that brings the fewest bytes back in; upward rank if it needs none. */
static fs_status choose_plan(plan_search *s, uint32_t *best) {
  uint64_t least = UINT64_MAX;
  for (uint32_t k = 0; k < N_PLANS && least > 0; k++) {
    FS_TRY(make_plan(s, k));
    FS_SCRATCH(scratch, s->ctx);
    uint64_t bytes = 0;
    FS_TRY(fs_plan_traffic(s->g, &scratch, s->op_at[k], &bytes));
    if (bytes < least) {
      least = bytes;
      *best = k;
    }
  }
  return FSCHED_OK;
}

/* Is this the last plan to try?  Then the engine reports why it fails. */
static bool last_chance(const plan_search *s, uint32_t k) {
  return s->schedule == NULL && k == N_POLICIES - 1 && !s->options->silent;
}

static fs_status try_policies(plan_search *s) {
  bool bounded = any_bounded(s->g);
  uint32_t first = 0;
  FS_TRY(fs_new(s->plans, &s->best_position, s->g->n_ops));
  if (bounded && graph_size(s->g) > PORTFOLIO_LIMIT) {
    FS_TRY(choose_plan(s, &first));
  }
  bool all = bounded && graph_size(s->g) <= PORTFOLIO_LIMIT;
  fs_progress_total(s->ctx, ((uint64_t)(all ? N_POLICIES : 1) + most_trials(s->g)) * s->g->n_ops);
  FS_TRY(try_policy(s, first, false));
  for (uint32_t k = 0; k < N_POLICIES; k++) {
    if (k != first && !bound_reached(s) && (all || s->schedule == NULL)) {
      FS_TRY(try_policy(s, k, last_chance(s, k)));
    }
  }
  return try_neighbours(s);
}

fs_status fs_listsched_run(fsched_context *ctx, const fsched_graph *g,
                           const fs_listsched_options *options, fs_schedule **out) {
  assert(g->topo != NULL || g->n_ops == 0);
  FS_SCRATCH(plans, ctx);
  plan_search s = {.ctx = ctx, .g = g, .options = options, .plans = &plans};
  fs_status status = try_policies(&s);
  if (status != FSCHED_OK) {
    fs_schedule_destroy(s.schedule);
    return status;
  }
  *out = s.schedule;
  return s.schedule == NULL ? FSCHED_INFEASIBLE : FSCHED_OK;
}
