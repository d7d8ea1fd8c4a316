/* SPDX-License-Identifier: Apache-2.0 */
/* The makespan and the cost of the syncs together: against a brute force over orders of issue,
 * queues and syncs, and against the plans with the fewest syncs on the list scheduler's queues. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/block.h"
#include "block/phases.h"
#include "block/plan.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/sync_kit.h"

#include "kit/context.h"

static fsched_schedule *compile(const fsched_graph *g) {
  fsched_schedule *s;
  ck_assert_int_eq(fs_kit_synchronised(ctx, g, FS_SYNC_BLOCK, &s), FSCHED_OK);
  ck_assert_int_eq(fs_block_run(ctx, s->schedule, s->sync, fs_sync_again), FSCHED_OK);
  ck_assert_int_eq(fs_frontiers_run(ctx, s->schedule, s->sync), FSCHED_OK);
  ck_assert_int_eq(fsched_verify_schedule(ctx, g, s), FSCHED_OK);
  return s;
}

static fs_tick total_of(const fsched_schedule *s) {
  return fs_sync_total(s->schedule->makespan, s->sync->n_full,
                       s->schedule->graph->target.sync_cost);
}

/* --- brute force --- */

enum { MOST_OPS = 6, MOST_QUEUES = 4 };

/* Ops are issued one by one.  Before each there may be a full sync; the sequencer passes it when
 * all that was issued is over.  An op may follow what it depends on if that is over by a full sync,
 * or on the same queue, or on a counting queue, for which a counting sync waits. */
typedef struct brute_force {
  const fsched_graph *g;
  fs_tick end[MOST_OPS];
  uint32_t queue[MOST_OPS];
  bool issued[MOST_OPS], over[MOST_OPS]; /* over: by a full sync */
  fs_tick best;
} brute_force;

typedef struct brute_machine {
  fs_tick now, makespan, free_at[MOST_QUEUES];
  uint32_t n, syncs;
} brute_machine;

static bool is_gang(const brute_force *b, uint32_t op) { return b->g->op_gang[op] != FS_NONE; }

static bool counts(const brute_force *b, uint32_t op) {
  const fs_target *t = &b->g->target;
  if (!is_gang(b, op)) {
    return t->queue[b->queue[op]].counting;
  }
  bool all = true;
  uint32_t gang = b->g->op_gang[op];
  for (uint32_t i = b->g->gang_queue0[gang]; i < b->g->gang_queue0[gang + 1]; i++) {
    all = all && t->queue[b->g->gang_queue[i]].counting;
  }
  return all;
}

/* Waits for what the op depends on; false if nothing tells that this is over. */
static bool meet_needs(const brute_force *b, uint32_t op, brute_machine *m) {
  for (uint32_t i = b->g->pred0[op]; i < b->g->pred0[op + 1]; i++) {
    uint32_t from = b->g->pred[i];
    bool in_line = !is_gang(b, from) && !is_gang(b, op) && b->queue[from] == b->queue[op];
    if (b->over[from] || in_line) {
      continue;
    }
    if (!counts(b, from)) {
      return false;
    }
    m->now = fs_max(m->now, b->end[from]);
  }
  return true;
}

static void issue_rest(brute_force *b, const brute_machine *m);

static void issue(brute_force *b, const brute_machine *before, uint32_t op, const uint32_t *queue,
                  uint32_t n) {
  brute_machine m = *before;
  b->queue[op] = queue[0];
  if (!meet_needs(b, op, &m)) {
    return;
  }
  fs_tick start = m.now;
  for (uint32_t i = 0; i < n; i++) {
    start = fs_max(start, m.free_at[queue[i]]);
  }
  b->end[op] = start + b->g->op_time[op];
  for (uint32_t i = 0; i < n; i++) {
    m.free_at[queue[i]] = b->end[op];
  }
  m.makespan = fs_max(m.makespan, b->end[op]);
  m.n++;
  b->issued[op] = true;
  issue_rest(b, &m);
  b->issued[op] = false;
}

static bool is_ready(const brute_force *b, uint32_t op) {
  bool ready = !b->issued[op];
  for (uint32_t i = b->g->pred0[op]; i < b->g->pred0[op + 1]; i++) {
    ready = ready && b->issued[b->g->pred[i]];
  }
  return ready;
}

static void issue_next(brute_force *b, const brute_machine *m) {
  const fs_target *t = &b->g->target;
  for (uint32_t op = 0; op < b->g->n_ops; op++) {
    if (!is_ready(b, op)) {
      continue;
    }
    if (is_gang(b, op)) {
      uint32_t first = b->g->gang_queue0[b->g->op_gang[op]];
      issue(b, m, op, &b->g->gang_queue[first], b->g->gang_queue0[b->g->op_gang[op] + 1] - first);
      continue;
    }
    uint32_t d = b->g->op_domain[op];
    for (uint32_t i = t->domain_queue0[d]; i < t->domain_queue0[d + 1]; i++) {
      issue(b, m, op, &t->domain_queue[i], 1);
    }
  }
}

static void issue_rest(brute_force *b, const brute_machine *m) {
  fs_tick measure = m->makespan + m->syncs * b->g->target.sync_cost;
  if (measure >= b->best) {
    return;
  }
  if (m->n == b->g->n_ops) {
    b->best = measure;
    return;
  }
  issue_next(b, m);
  if (m->n == 0) {
    return;
  }
  bool over[MOST_OPS];
  brute_machine after = *m;
  memcpy(over, b->over, sizeof over);
  memcpy(b->over, b->issued, sizeof over);
  after.now = after.makespan;
  after.syncs++;
  issue_next(b, &after);
  memcpy(b->over, over, sizeof over);
}

static fs_tick brute_least(const fsched_graph *g) {
  brute_force b = {.g = g, .best = FS_TICK_NONE};
  brute_machine m = {0};
  issue_rest(&b, &m);
  return b.best;
}

static fsched_graph *small_graph(uint64_t seed) {
  static const fs_tick costs[] = {1, 0, 1, 3, 1, 8, 1, 30};
  fs_gen_params params = {.seed = seed,
                          .n_ops = 1 + (uint32_t)(seed % MOST_OPS),
                          .n_queues = 1 + (uint32_t)(seed / 7 % MOST_QUEUES),
                          .n_classes = 1 + (uint32_t)(seed / 3 % 2),
                          .window = 1 + (uint32_t)(seed % 5),
                          .gangs = seed % 5 == 0,
                          .zero_times = seed % 9 == 0,
                          .afters = true,
                          .sync = FSCHED_SYNC_BLOCK,
                          .counting = seed % 4 == 0};
  fsched_graph *g;
  ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
  g->target.sync_cost = costs[seed / 2 % (sizeof costs / sizeof costs[0])];
  return g;
}

typedef struct brute_totals {
  uint32_t graphs, equal, with_syncs;
  double excess; /* of those that are not equal */
} brute_totals;

static void compare_with_brute(uint64_t seed, brute_totals *sum) {
  fsched_graph *g = small_graph(seed);
  fsched_schedule *s = compile(g);
  fs_tick least = brute_least(g);
  fs_tick got = total_of(s);
  ck_assert_msg(got >= least, "seed %llu: %llu is less than the least, %llu",
                (unsigned long long)seed, (unsigned long long)got, (unsigned long long)least);
  sum->graphs++;
  sum->equal += got == least;
  sum->with_syncs += s->sync->n_full > 0;
  if (got != least) {
    sum->excess += (double)(got - least) / (double)fs_max(least, 1);
  }
  if (got != least && getenv("FSCHED_SHOW") != NULL) {
    (void)fprintf(stderr, "seed %llu: %llu, least %llu\n", (unsigned long long)seed,
                  (unsigned long long)got, (unsigned long long)least);
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

START_TEST(least)
{
  brute_totals sum = {0};
  for (uint64_t seed = 0; seed < 300; seed++) {
    compare_with_brute(seed, &sum);
  }
  uint32_t rest = sum.graphs - sum.equal;
  ck_assert_msg(sum.equal * 10 >= sum.graphs * 9, "%u of %u", sum.equal, sum.graphs);
  ck_assert_msg(rest == 0 || sum.excess <= 0.1 * rest, "%u above by %f", rest, sum.excess);
  ck_assert_uint_gt(sum.with_syncs, 60);
}
END_TEST

/* --- never above the fewest syncs on the queues of the list schedule --- */

static fs_tick fewest_measure(const fsched_graph *g) {
  fsched_schedule *s;
  fs_accesses acc;
  fs_orders orders;
  fs_tick fewest = FS_TICK_NONE;
  ck_assert_int_eq(fs_kit_synchronised(ctx, g, FS_SYNC_BLOCK, &s), FSCHED_OK);
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  ck_assert_int_eq(fs_accesses_collect(ctx, s->schedule, FS_SYNC_BLOCK, &arena, &arena, &acc),
                   FSCHED_OK);
  ck_assert_int_eq(fs_orders_find(ctx, &arena, s->schedule, s->sync, &acc, &orders), FSCHED_OK);
  for (uint32_t rule = 0; rule < FS_PHASE_RULES; rule++) {
    fs_block_plan plan = {0};
    ck_assert_int_eq(fs_new(&arena, &plan.phase, s->schedule->n_items), FSCHED_OK);
    ck_assert_int_eq(fs_phases_assign(ctx, &orders, (fs_phase_rule)rule, plan.phase), FSCHED_OK);
    ck_assert_int_eq(fs_block_plan_fill(ctx, &arena, &orders, NULL, 0, &plan), FSCHED_OK);
    fewest = fs_min(fewest, fs_sync_total(plan.makespan, plan.n_full, g->target.sync_cost));
  }
  fs_arena_release(&arena);
  fsched_schedule_destroy(s);
  return fewest;
}

/* Spills, counted memories, resources, gangs, state, ranges, implicit queues: whatever there is. */
START_TEST(never_above_the_fewest)
{
  static const fs_tick costs[] = {1, 0, 4, 40, FSCHED_MAX_TIME};
  uint32_t less = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    fs_gen_params params = seed % 3 == 0 ? fs_gen_odd(seed, 40) : fs_gen_any(seed, 40);
    params.sync = FSCHED_SYNC_BLOCK;
    params.counting = seed % 4 == 0 && params.n_queues > 0;
    fsched_graph *g;
    ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
    g->target.sync_cost = costs[seed % (sizeof costs / sizeof costs[0])];
    fs_tick before = fewest_measure(g);
    fsched_schedule *s = compile(g);
    ck_assert_msg(total_of(s) <= before, "seed %llu: %llu, and was %llu", (unsigned long long)seed,
                  (unsigned long long)total_of(s), (unsigned long long)before);
    less += total_of(s) < before;
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(less, 150);
}
END_TEST

/* --- examples --- */

START_TEST(examples)
{
  static const struct {
    const char *file, *cost;
    fs_tick makespan; /* at most */
    uint32_t syncs;
  } cases[] = {
      {"examples/scenarios/fork-join.yaml", "sync_cost=1", 23, 4},
      {"examples/scenarios/fork-join.yaml", "sync_cost=100", 38, 0},
      {"examples/pipeline/graph.yaml", "sync_cost=1", 30000, 9},
      {"examples/pipeline/graph.yaml", "sync_cost=1000000", 54000, 8},
      {"examples/tiles/graph.yaml", "sync_cost=1", 1452, 12},
      {"examples/training/graph.yaml", "sync_cost=1", 132000, 20},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *const set[] = {"sync=block", cases[i].cost};
    fsched_read_options o = {.size = sizeof o, .target_overrides = set, .n_target_overrides = 2};
    fsched_graph *g;
    ck_assert_int_eq(fsched_graph_read(ctx, cases[i].file, &o, &g), FSCHED_OK);
    fsched_schedule *s = compile(g);
    ck_assert_msg(s->schedule->makespan <= cases[i].makespan, "%s: %llu", cases[i].file,
                  (unsigned long long)s->schedule->makespan);
    ck_assert_msg(s->sync->n_full <= cases[i].syncs, "%s: %u syncs", cases[i].file,
                  s->sync->n_full);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
}
END_TEST

FS_SUITE(block_cost, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, least, never_above_the_fewest, examples);
}
