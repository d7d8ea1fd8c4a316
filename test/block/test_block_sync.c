/* SPDX-License-Identifier: Apache-2.0 */
/* Syncs that stop everything, on random graphs: every order that somebody relies on is known to the
 * sequencer, there are as few full syncs as any order of issue allows where they cost much, and
 * stacks stay within their memories.  The checks here walk the order of issue on their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/block.h"
#include "fsched/program.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/sync_kit.h"
#include "model/access.h"

#include "kit/context.h"

enum { MAX_QUEUES = 64 };

/* What is changed in the target after the graph was made. */
typedef enum twist { COUNT_SOME = 1, COUNT_ALL = 2, STACKS = 4 } twist;

static void make_block(fsched_graph *g, unsigned twists, uint64_t seed) {
  fs_target *t = &g->target;
  t->sync = FS_SYNC_BLOCK;
  t->frontier_capacity = 1 + seed % 6;
  for (uint32_t q = 0; q < t->n_queues; q++) {
    t->queue[q].counting =
        (twists & COUNT_ALL) != 0 || ((twists & COUNT_SOME) != 0 && (seed >> q & 1) != 0);
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if ((twists & STACKS) != 0 && fs_memory_bounded(&t->memory[m])) {
      t->memory[m].stack = t->memory[m].placement == FSCHED_CONTIGUOUS;
    }
  }
}

/* Returns FSCHED_OK with a schedule on which the pass has run. */
static fs_status compile(const fsched_graph *g, fsched_schedule **s) {
  FS_TRY(fs_kit_synchronised(ctx, g, FS_SYNC_BLOCK, s));
  FS_TRY(fs_block_run(ctx, (*s)->schedule, (*s)->sync, fs_sync_again));
  return fs_frontiers_run(ctx, (*s)->schedule, (*s)->sync);
}

/* --- the sequencer --- */

typedef struct block_sync_sequencer {
  const fsched_schedule *s;
  const fs_sync *y;
  uint64_t seed;
  uint32_t *command_at; /* by place in the order of issue */
  uint32_t *queue;      /* per command */
  uint32_t known[MAX_QUEUES], issued[MAX_QUEUES];
  uint32_t *known_at; /* per command and queue: what is known when the command is issued */
} block_sync_sequencer;

static void check_shape(block_sync_sequencer *q) {
  const fs_sync *y = q->y;
  uint32_t n = y->n_commands;
  memset(q->command_at, 0xFF, n * sizeof *q->command_at);
  for (uint32_t i = 0; i < q->s->schedule->n_queues; i++) {
    for (uint32_t c = y->queue_command0[i]; c < y->queue_command0[i + 1]; c++) {
      q->queue[c] = i;
      if (y->issue[c] >= n || q->command_at[y->issue[c]] != FS_NONE ||
          (c > y->queue_command0[i] && y->issue[c] < y->issue[c - 1])) {
        ck_abort_msg("the order of issue is none");
      }
      q->command_at[y->issue[c]] = c;
    }
  }
  for (uint32_t i = 1; i < y->n_stops; i++) {
    const fs_stop *a = &y->stop[i - 1];
    const fs_stop *b = &y->stop[i];
    bool full = a->queue == FS_NONE;
    if (a->at > b->at || (a->at == b->at && !full && a->queue >= b->queue)) {
      ck_abort_msg("stops %u and %u are out of order", i - 1, i);
    }
  }
}

static void pass_stops(block_sync_sequencer *q, uint32_t at, uint32_t *stop) {
  const fs_sync *y = q->y;
  for (; *stop < y->n_stops && y->stop[*stop].at == at; ++*stop) {
    fs_stop s = y->stop[*stop];
    for (uint32_t i = 0; s.queue == FS_NONE && i < q->s->schedule->n_queues; i++) {
      q->known[i] = q->issued[i];
    }
    if (s.queue == FS_NONE) {
      continue;
    }
    if (!q->s->schedule->graph->target.queue[s.queue].counting || s.keep >= q->issued[s.queue]) {
      ck_abort_msg("the stop at %u counts what it cannot", at);
    }
    uint32_t epoch = q->issued[s.queue] - s.keep;
    if (epoch <= q->known[s.queue]) {
      ck_abort_msg("the stop at %u tells nothing new", at);
    }
    q->known[s.queue] = epoch;
  }
}

/* Members of a gang follow each other, with no stop between them. */
static void walk(block_sync_sequencer *q) {
  const fs_sync *y = q->y;
  uint32_t stop = 0;
  memset(q->known, 0, sizeof q->known);
  memset(q->issued, 0, sizeof q->issued);
  for (uint32_t at = 0; at < y->n_commands; at++) {
    uint32_t c = q->command_at[at];
    uint32_t before = stop;
    pass_stops(q, at, &stop);
    uint32_t item = y->command_item[c];
    bool member = at > 0 && y->command_item[q->command_at[at - 1]] == item;
    if (member && stop != before) {
      ck_abort_msg("a stop inside of a gang");
    }
    if (!member) {
      for (uint32_t i = y->item_command0[item]; i < y->item_command0[item + 1]; i++) {
        uint32_t other = y->issue[y->item_command[i]];
        if (other < at || other >= at + (y->item_command0[item + 1] - y->item_command0[item])) {
          ck_abort_msg("a gang is not issued together");
        }
      }
    }
    memcpy(q->known_at + (size_t)c * q->s->schedule->n_queues, q->known,
           q->s->schedule->n_queues * sizeof *q->known);
    q->issued[q->queue[c]]++;
  }
  ck_assert_uint_eq(stop, y->n_stops);
}

/* Checks that each command of `from` is known to be over before each of `to` starts. */
static void check_order(const block_sync_sequencer *q, uint32_t from, uint32_t to) {
  const fs_sync *y = q->y;
  for (uint32_t j = y->item_command0[to]; j < y->item_command0[to + 1]; j++) {
    uint32_t c = y->item_command[j];
    for (uint32_t i = y->item_command0[from]; i < y->item_command0[from + 1]; i++) {
      uint32_t source = y->item_command[i];
      uint32_t on = q->queue[source];
      uint32_t epoch = source - y->queue_command0[on] + 1;
      bool fifo = on == q->queue[c] && source < c;
      if (!fifo && q->known_at[(size_t)c * q->s->schedule->n_queues + on] < epoch) {
        ck_abort_msg("seed %llu: item %u may start before %u is over", (unsigned long long)q->seed,
                     to, from);
      }
    }
  }
}

static void check_orders(const block_sync_sequencer *q) {
  const fsched_graph *g = q->s->schedule->graph;
  const fs_sync *y = q->y;
  for (uint32_t to = 0; to < q->s->schedule->n_items; to++) {
    for (uint32_t i = to < g->n_ops ? g->pred0[to] : 0; to < g->n_ops && i < g->pred0[to + 1];
         i++) {
      check_order(q, g->pred[i], to);
    }
    for (uint32_t i = y->data0[to]; i < y->data0[to + 1]; i++) {
      check_order(q, y->data[i], to);
    }
  }
  for (uint32_t i = 0; i < y->n_control; i++) {
    check_order(q, y->control_from[i], y->control_to[i]);
  }
}

/* Checks points: they contain only what is known, in the end all of it, never the own queue, and
 * always something new. */
static void check_points(const block_sync_sequencer *q) {
  const fs_sync *y = q->y;
  uint32_t heard[MAX_QUEUES], *point0;
  fs_wait *point;
  fs_arena arena;
  fs_arena_init(&arena, q->s->schedule->ctx);
  ck_assert_int_eq(fs_sync_points(y, &arena, &point0, &point), FSCHED_OK);
  for (uint32_t on = 0; on < q->s->schedule->n_queues; on++) {
    memset(heard, 0, sizeof heard);
    for (uint32_t c = y->queue_command0[on]; c < y->queue_command0[on + 1]; c++) {
      for (uint32_t i = point0[c]; i < point0[c + 1]; i++) {
        fs_wait w = point[i];
        if (w.axis >= q->s->schedule->n_queues || w.axis == on || w.epoch <= heard[w.axis] ||
            (i > point0[c] && w.axis <= point[i - 1].axis)) {
          ck_abort_msg("point %u:%u of command %u", w.axis, w.epoch, c);
        }
        heard[w.axis] = w.epoch;
      }
      for (uint32_t r = 0; r < q->s->schedule->n_queues; r++) {
        if (r != on && heard[r] != q->known_at[(size_t)c * q->s->schedule->n_queues + r]) {
          ck_abort_msg("command %u has heard of %u:%u", c, r, heard[r]);
        }
      }
    }
  }
  fs_arena_release(&arena);
}

/* Returns how many other known entries come before the queue's where there is no room for all. */
static uint32_t larger(const uint32_t *known, uint32_t n_queues, uint32_t own, uint32_t queue) {
  uint32_t n = 0;
  for (uint32_t r = 0; r < n_queues; r++) {
    n += r != own && (known[r] > known[queue] || (known[r] == known[queue] && r < queue));
  }
  return n;
}

/* Checks frontiers: they contain the latest of what is known of other queues, as many as there is
 * room for, and the own epoch.  For gangs they may name collectives. */
static void check_frontiers(const block_sync_sequencer *q) {
  const fs_sync *y = q->y;
  uint32_t n_queues = q->s->schedule->n_queues;
  for (uint32_t c = 0; q->s->schedule->n_gangs == 0 && c < y->n_commands; c++) {
    const uint32_t *known = q->known_at + (size_t)c * n_queues;
    uint32_t own = q->queue[c], at = y->frontier0[c];
    bool left_out = false;
    for (uint32_t r = 0; r < n_queues; r++) {
      uint32_t epoch = r == own ? c - y->queue_command0[own] + 1 : known[r];
      bool fits = r == own || larger(known, n_queues, own, r) + 1 <
                                  q->s->schedule->graph->target.frontier_capacity;
      left_out = left_out || (epoch > 0 && !fits);
      if (epoch > 0 && fits) {
        ck_assert_uint_lt(at, y->frontier0[c + 1]);
        ck_assert_uint_eq(y->frontier[at].axis, r);
        ck_assert_uint_eq(y->frontier[at++].epoch, epoch);
      }
    }
    ck_assert_uint_eq(at, y->frontier0[c + 1]);
    ck_assert_uint_eq(y->tainted[c], left_out);
  }
}

static void check_result(const fsched_schedule *s, uint64_t seed) {
  const fs_sync *y = s->sync;
  ck_assert_uint_le(s->schedule->n_queues, MAX_QUEUES);
  block_sync_sequencer q = {.s = s, .y = y, .seed = seed};
  q.command_at = calloc(y->n_commands + 1, sizeof *q.command_at);
  q.queue = calloc(y->n_commands + 1, sizeof *q.queue);
  q.known_at =
      calloc((size_t)(y->n_commands + 1) * (s->schedule->n_queues + 1), sizeof *q.known_at);
  check_shape(&q);
  walk(&q);
  check_orders(&q);
  check_points(&q);
  check_frontiers(&q);
  uint32_t full = 0;
  for (uint32_t i = 0; i < y->n_stops; i++) {
    full += y->stop[i].queue == FS_NONE;
  }
  ck_assert_uint_eq(full, y->n_full);
  fs_status status = fsched_verify_schedule(ctx, s->schedule->graph, s);
  ck_assert_msg(status == FSCHED_OK, "seed %llu: %s", (unsigned long long)seed,
                fsched_diag_count(ctx) == 0
                    ? "?"
                    : fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->message);
  free(q.command_at);
  free(q.queue);
  free(q.known_at);
}

/* --- random graphs --- */

typedef struct block_sync_totals {
  uint64_t graphs, full, counting, before, after;
  uint64_t placed; /* graphs whose stacks were within their memories */
} block_sync_totals;

static void run_seed(const fs_gen_params *params, unsigned twists, block_sync_totals *sum) {
  fsched_graph *g;
  fsched_schedule *s = NULL;
  ck_assert_int_eq(fs_gen_graph(ctx, params, &g), FSCHED_OK);
  make_block(g, g->target.implicit_queues ? twists & STACKS : twists, params->seed * 77 + 5);
  fs_status status = compile(g, &s);
  if (status == FSCHED_OK) {
    check_result(s, params->seed);
    sum->graphs++;
    sum->full += s->sync->n_full;
    sum->counting += s->sync->n_stops - s->sync->n_full;
    sum->before += s->sync->makespan_before;
    sum->after += s->schedule->makespan;
    sum->placed += s->sync->n_stacks > 0;
  } else {
    ck_assert_int_eq(status, FSCHED_INFEASIBLE);
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

static void show(const char *what, const block_sync_totals *t) {
  if (getenv("FSCHED_SHOW") != NULL) {
    (void)fprintf(stderr, "%s: %llu graphs (%llu stacks), %llu full, %llu counting, %llu -> %llu\n",
                  what, (unsigned long long)t->graphs, (unsigned long long)t->placed,
                  (unsigned long long)t->full, (unsigned long long)t->counting,
                  (unsigned long long)t->before, (unsigned long long)t->after);
  }
}

START_TEST(random_graphs)
{
  static const unsigned twists[] = {0, COUNT_SOME, COUNT_ALL, STACKS, STACKS | COUNT_SOME};
  block_sync_totals sum = {0};
  for (uint64_t seed = 0; seed < 400; seed++) {
    fs_gen_params params = fs_gen_any(seed, 60);
    params.class_gangs = seed % 3 == 0;
    run_seed(&params, twists[seed % 5], &sum);
  }
  show("any", &sum);
  ck_assert_uint_gt(sum.graphs, 350);
  ck_assert_uint_gt(sum.full, 1000);
  ck_assert_uint_gt(sum.counting, 100);
}
END_TEST

START_TEST(random_gangs)
{
  block_sync_totals sum = {0};
  for (uint64_t seed = 0; seed < 150; seed++) {
    fs_gen_params params = {.seed = seed,
                            .n_ops = 40,
                            .n_queues = 3 + (uint32_t)(seed % 4),
                            .n_memories = 1,
                            .tightness = 1.5,
                            .backing = true,
                            .gangs = true,
                            .inplace = true,
                            .io = true,
                            .concurrency = seed % 5 == 0};
    run_seed(&params, seed % 2 == 0 ? COUNT_SOME : STACKS, &sum);
  }
  show("gangs", &sum);
  ck_assert_uint_gt(sum.full, 500);
}
END_TEST

START_TEST(random_tight)
{
  block_sync_totals sum = {0};
  for (uint64_t seed = 0; seed < 100; seed++) {
    fs_gen_params params = fs_gen_tight(seed, 60);
    run_seed(&params, seed % 2 == 0 ? STACKS : STACKS | COUNT_ALL, &sum);
  }
  show("tight", &sum);
  ck_assert_uint_gt(sum.graphs, 90);
}
END_TEST

/* There is room for a stack, and now and then not quite. */
START_TEST(random_stacks)
{
  block_sync_totals sum = {0};
  for (uint64_t seed = 0; seed < 200; seed++) {
    fs_gen_params params = {.seed = seed,
                            .n_ops = 30,
                            .n_queues = 2 + (uint32_t)(seed % 5),
                            .n_memories = 1 + (uint32_t)(seed % 2),
                            .align = (uint64_t)1 << seed % 7,
                            .tightness = 2 + (double)(seed % 9),
                            .backing = seed % 4 != 0,
                            .io = true,
                            .gangs = seed % 3 == 0,
                            .scratch = seed % 3 == 1,
                            .inplace = true,
                            .inouts = seed % 2 == 0,
                            .ats = seed % 5 == 0,
                            .zero_sizes = seed % 7 == 0,
                            .zero_times = seed % 6 == 0,
                            .concurrency = seed % 8 == 0,
                            .versions = true};
    run_seed(&params, seed % 2 == 0 ? STACKS : STACKS | COUNT_SOME, &sum);
  }
  show("stacks", &sum);
  ck_assert_uint_gt(sum.placed, 50);
  ck_assert_uint_lt(sum.placed, sum.graphs);
}
END_TEST

/* --- where syncs cost much, as few full syncs as any order of issue allows --- */

enum { TINY = 9, TINY_QUEUES = 4 };

typedef struct block_sync_tiny {
  const fsched_schedule *s;
  bool before[TINY][TINY]; /* whether one must be over before the other */
  uint32_t left[TINY_QUEUES];
  uint32_t order[TINY], n;
  uint32_t least;
} block_sync_tiny;

/* Counts the syncs of a whole order of issue: each is as late as possible, which is best for a
 * given order. */
static uint32_t count_syncs(const block_sync_tiny *t) {
  uint32_t syncs = 0;
  uint32_t latest = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    for (uint32_t k = latest; k < i; k++) {
      uint32_t a = t->order[k];
      uint32_t b = t->order[i];
      uint32_t on = t->s->schedule->queue[a];
      if (t->before[a][b] && on != t->s->schedule->queue[b] &&
          !t->s->schedule->graph->target.queue[on].counting) {
        syncs++;
        latest = i;
        break;
      }
    }
  }
  return syncs;
}

/* Tries all interleavings of the queues in which nothing is issued before what it depends on. */
static void interleave(block_sync_tiny *t) {
  const fs_sync *y = t->s->sync;
  if (t->n == t->s->schedule->n_items) {
    uint32_t syncs = count_syncs(t);
    t->least = syncs < t->least ? syncs : t->least;
    return;
  }
  for (uint32_t q = 0; q < t->s->schedule->n_queues; q++) {
    uint32_t c = y->queue_command0[q] + t->left[q];
    if (c == y->queue_command0[q + 1]) {
      continue;
    }
    uint32_t item = y->command_item[c];
    bool ready = true;
    for (uint32_t i = 0; i < t->s->schedule->n_items; i++) {
      bool out = false;
      for (uint32_t k = 0; k < t->n; k++) {
        out = out || t->order[k] == i;
      }
      ready = ready && (out || !t->before[i][item]);
    }
    if (ready) {
      t->left[q]++;
      t->order[t->n++] = item;
      interleave(t);
      t->n--;
      t->left[q]--;
    }
  }
}

static void fill_before(block_sync_tiny *t) {
  const fsched_graph *g = t->s->schedule->graph;
  const fs_sync *y = t->s->sync;
  for (uint32_t to = 0; to < g->n_ops; to++) {
    for (uint32_t i = g->pred0[to]; i < g->pred0[to + 1]; i++) {
      t->before[g->pred[i]][to] = true;
    }
  }
  for (uint32_t i = 0; i < y->n_control; i++) {
    t->before[y->control_from[i]][y->control_to[i]] = true;
  }
}

START_TEST(fewest)
{
  uint32_t seen = 0;
  uint64_t syncs = 0;
  for (uint64_t seed = 0; seed < 600; seed++) {
    fs_gen_params params = {.seed = seed,
                            .n_ops = 3 + (uint32_t)(seed % (TINY - 2)),
                            .n_queues = 1 + (uint32_t)(seed % TINY_QUEUES),
                            .n_classes = 1 + (uint32_t)(seed % 2),
                            .window = 2 + (uint32_t)(seed % 5),
                            .afters = true,
                            .resources = seed % 4 == 0,
                            .concurrency = seed % 7 == 0};
    fsched_graph *g;
    fsched_schedule *s = NULL;
    ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
    make_block(g, seed % 3 == 0 ? COUNT_SOME : 0, seed);
    g->target.sync_cost = FSCHED_MAX_TIME;
    ck_assert_int_eq(compile(g, &s), FSCHED_OK);
    check_result(s, seed);
    block_sync_tiny t = {.s = s, .least = UINT32_MAX};
    fill_before(&t);
    interleave(&t);
    ck_assert_msg(t.least == s->sync->n_full, "seed %llu: %u full syncs where %u are enough",
                  (unsigned long long)seed, s->sync->n_full, t.least);
    seen += s->sync->n_full > 1;
    syncs += s->sync->n_full;
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(seen, 60);
  ck_assert_uint_gt(syncs, 250);
}
END_TEST

/* --- the whole compiler --- */

/* Everything is compiled and verified, the stream too. */
START_TEST(compiled)
{
  uint32_t right = 0;
  for (uint64_t seed = 1000; seed < 1200; seed++) {
    fs_gen_params params = fs_gen_any(seed, 50);
    params.tightness = seed % 3 == 0 ? 12 : params.tightness;
    fsched_graph *g;
    ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
    unsigned count = g->target.implicit_queues || seed % 2 == 0 ? 0 : COUNT_SOME;
    make_block(g, count | (seed % 3 == 0 ? STACKS : 0), seed * 77 + 5);
    fsched_compile_options o = {.size = sizeof o, .verify = 1};
    fsched_schedule *s;
    fsched_program *p;
    fs_status status = fsched_compile(ctx, g, &o, &s, &p);
    ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "seed %llu: %s",
                  (unsigned long long)seed,
                  fsched_diag_count(ctx) == 0
                      ? "?"
                      : fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->message);
    right += status == FSCHED_OK;
    fsched_program_destroy(p);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(right, 190);
}
END_TEST

/* --- memory runs out --- */

static void fail_after(fsched_context *own, fs_budget *budget, const fsched_graph *g, long left,
                       bool *done) {
  fsched_schedule *s = NULL;
  budget->left = 1 << 30;
  ck_assert_int_eq(fs_kit_synchronised(own, g, FS_SYNC_BLOCK, &s), FSCHED_OK);
  budget->left = left;
  fs_status status = fs_block_run(own, s->schedule, s->sync, fs_sync_again);
  budget->left = 1 << 30;
  *done = status == FSCHED_OK;
  if (!*done) {
    ck_assert_int_eq(status, FSCHED_SYSTEM);
  }
  fsched_schedule_destroy(s);
}

/* Places found, and places kept.  Each of the first allocations fails, then every second one, and
 * so on, as the search makes many that are alike. */
static void fail_each(double tightness) {
  fs_budget budget = {.left = 1 << 30};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *own;
  fsched_graph *g;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  fs_gen_params params = {.seed = 3,
                          .n_ops = 14,
                          .n_queues = 4,
                          .n_memories = 2,
                          .tightness = tightness,
                          .backing = true,
                          .gangs = true,
                          .io = true};
  ck_assert_int_eq(fs_gen_graph(own, &params, &g), FSCHED_OK);
  make_block(g, STACKS | COUNT_SOME, 5);
  bool done = false;
  long n = 0;
  for (; !done; n += 1 + n / 100) {
    fail_after(own, &budget, g, n, &done);
    fsched_diag_clear(own);
  }
  ck_assert_int_gt(n, 20);
  fsched_graph_destroy(g);
  fsched_context_destroy(own);
  ck_assert_int_eq(budget.blocks, 0);
}

START_TEST(no_memory)
{
  fail_each(1.3);
  fail_each(30);
}
END_TEST

FS_SUITE(block_sync, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, random_graphs, random_gangs, random_tight, random_stacks, fewest, compiled,
           no_memory);
}
