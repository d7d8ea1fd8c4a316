/* SPDX-License-Identifier: Apache-2.0 */
/* Whole compilations for targets with barriers, compared with plain checks: barriers give the
 * orders that the waits gave, the machine can follow the order of issue, new orders hold in time,
 * and frontiers are those of a closure by brute force. */
#include <stdlib.h>
#include "kit/quick.h"

#include "base/context.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "model/handle.h"

#include "kit/context.h"

#define NEED(seed, what) \
  if (!(what))           \
  ck_abort_msg("seed %llu: %s", (unsigned long long)(seed), #what)

/* A compiled graph, and its closure, computed plainly. */
typedef struct barrier_pass_subject {
  uint64_t seed;
  const fsched_graph *g;
  const fsched_schedule *s;
  const fs_sync *y;
  uint32_t *queue; /* per command */
  uint32_t *clock; /* per command n_queues epochs: what is over before it starts */
  bool *complete;  /* per command n_barriers: what is complete before it starts */
  uint32_t *at;    /* per command: position of its item */
} barrier_pass_subject;

static void open_subject(barrier_pass_subject *t, uint64_t seed, const fsched_schedule *s) {
  const fs_sync *y = s->sync;
  *t = (barrier_pass_subject){.seed = seed, .g = s->schedule->graph, .s = s, .y = y};
  t->queue = malloc((y->n_commands + 1) * sizeof *t->queue);
  t->at = malloc((y->n_commands + 1) * sizeof *t->at);
  t->clock = calloc((size_t)y->n_commands * s->schedule->n_queues + 1, sizeof *t->clock);
  t->complete = calloc((size_t)y->n_commands * y->n_barriers + 1, sizeof *t->complete);
  for (uint32_t q = 0; q < s->schedule->n_queues; q++) {
    for (uint32_t c = y->queue_command0[q]; c < y->queue_command0[q + 1]; c++) {
      t->queue[c] = q;
      t->at[c] = y->position[y->command_item[c]];
    }
  }
}

static void close_subject(barrier_pass_subject *t) {
  free(t->queue);
  free(t->at);
  free(t->clock);
  free(t->complete);
}

static uint32_t *row(const barrier_pass_subject *t, uint32_t command) {
  return t->clock + (size_t)command * t->s->schedule->n_queues;
}
static bool *complete(const barrier_pass_subject *t, uint32_t command) {
  return t->complete + (size_t)command * t->y->n_barriers;
}

static void raise(const barrier_pass_subject *t, uint32_t *mine, const uint32_t *other) {
  for (uint32_t k = 0; k < t->s->schedule->n_queues; k++) {
    mine[k] = (uint32_t)fs_max(mine[k], other[k]);
  }
}

/* Whatever is over or complete when command d begins is so before c. */
static void learn_begin(const barrier_pass_subject *t, uint32_t c, uint32_t d) {
  raise(t, row(t, c), row(t, d));
  for (uint32_t b = 0; b < t->y->n_barriers; b++) {
    complete(t, c)[b] = complete(t, c)[b] || complete(t, d)[b];
  }
}

/* Whatever is over with command d is over before c. */
static void learn(const barrier_pass_subject *t, uint32_t c, uint32_t d) {
  uint32_t q = t->queue[d], epoch = d - t->y->queue_command0[q] + 1;
  learn_begin(t, c, d);
  row(t, c)[q] = (uint32_t)fs_max(row(t, c)[q], epoch);
}

/* Every producer of every barrier that the command waits for has begun. */
static void learn_barriers(const barrier_pass_subject *t, uint32_t c) {
  const fs_sync *y = t->y;
  for (uint32_t w = y->barrier_wait0[c]; w < y->barrier_wait0[c + 1]; w++) {
    complete(t, c)[y->barrier_wait[w]] = true;
  }
  for (uint32_t d = 0; d < y->n_commands; d++) {
    for (uint32_t u = y->barrier_update0[d]; u < y->barrier_update0[d + 1]; u++) {
      for (uint32_t w = y->barrier_wait0[c]; w < y->barrier_wait0[c + 1]; w++) {
        if (y->barrier_wait[w] == y->barrier_update[u]) {
          NEED(t->seed, t->at[d] < t->at[c]);
          NEED(t->seed, t->s->schedule->end[y->command_item[d]] <=
                            t->s->schedule->start[y->command_item[c]]);
          learn_begin(t, c, d);
        }
      }
    }
  }
}

/* A command that updates only complete barriers is over. */
static void learn_whole(const barrier_pass_subject *t, uint32_t c) {
  const fs_sync *y = t->y;
  for (uint32_t d = 0; d < y->n_commands; d++) {
    bool all = y->barrier_update0[d] < y->barrier_update0[d + 1];
    for (uint32_t u = y->barrier_update0[d]; u < y->barrier_update0[d + 1]; u++) {
      all = all && complete(t, c)[y->barrier_update[u]];
    }
    if (all) {
      learn(t, c, d);
    }
  }
}

static void close_order(const barrier_pass_subject *t) {
  const fs_sync *y = t->y;
  for (uint32_t i = 0; i < t->s->schedule->n_items; i++) {
    uint32_t item = t->s->schedule->order[i];
    for (uint32_t k = y->item_command0[item]; k < y->item_command0[item + 1]; k++) {
      uint32_t c = y->item_command[k];
      if (c > y->queue_command0[t->queue[c]]) {
        NEED(t->seed, t->at[c - 1] < i);
        learn(t, c, c - 1);
      }
      learn_barriers(t, c);
      learn_whole(t, c);
    }
  }
}

/* Whether all members of an item are over before command c. */
static bool over(const barrier_pass_subject *t, uint32_t item, uint32_t c) {
  const fs_sync *y = t->y;
  for (uint32_t k = y->item_command0[item]; k < y->item_command0[item + 1]; k++) {
    uint32_t d = y->item_command[k], q = t->queue[d];
    if (row(t, c)[q] < d - y->queue_command0[q] + 1) {
      return false;
    }
  }
  return true;
}

/* Checks that edges of the graph, copies' data and control edges hold, by barriers and in time. */
static void check_order(const barrier_pass_subject *t, uint32_t from, uint32_t to) {
  const fs_sync *y = t->y;
  NEED(t->seed, t->s->schedule->end[from] <= t->s->schedule->start[to]);
  for (uint32_t k = y->item_command0[to]; k < y->item_command0[to + 1]; k++) {
    NEED(t->seed, over(t, from, y->item_command[k]));
  }
}

static void check_orders(const barrier_pass_subject *t) {
  const fs_sync *y = t->y;
  for (uint32_t op = 0; op < t->g->n_ops; op++) {
    for (uint32_t e = t->g->pred0[op]; e < t->g->pred0[op + 1]; e++) {
      check_order(t, t->g->pred[e], op);
    }
  }
  for (uint32_t i = 0; i < t->s->schedule->n_items; i++) {
    for (uint32_t e = y->data0[i]; e < y->data0[i + 1]; e++) {
      check_order(t, y->data[e], i);
    }
  }
  uint32_t added = 0;
  for (uint32_t e = 0; e < y->n_control; e++) {
    uint32_t from = y->control_from[e], to = y->control_to[e];
    check_order(t, from, to);
    added += y->control_why[e] == FS_WHY_BARRIER;
    NEED(t->seed, e == 0 || y->position[y->control_to[e - 1]] < y->position[to] ||
                      (y->control_to[e - 1] == to &&
                       y->position[y->control_from[e - 1]] < y->position[from]));
    for (uint32_t k = to < t->g->n_ops ? t->g->pred0[to] : 0;
         y->control_why[e] == FS_WHY_BARRIER && to < t->g->n_ops && k < t->g->pred0[to + 1]; k++) {
      NEED(t->seed, t->g->pred[k] != from);
    }
  }
  NEED(t->seed, added == y->barrier_added);
}

/* --- the machine --- */

static uint32_t demand(const barrier_pass_subject *t, uint32_t item) {
  return item < t->g->n_ops && t->g->op_slots != NULL ? t->g->op_slots[item] : 1;
}

static void check_lists(const barrier_pass_subject *t, uint64_t *slots, uint32_t *producers,
                        uint32_t *consumers) {
  const fs_sync *y = t->y;
  for (uint32_t c = 0; c < y->n_commands; c++) {
    uint64_t mine = 0;
    for (uint32_t u = y->barrier_update0[c]; u < y->barrier_update0[c + 1]; u++) {
      uint32_t b = y->barrier_update[u];
      NEED(t->seed, b < y->n_barriers && y->barrier_update_slots[u] > 0);
      NEED(t->seed, u == y->barrier_update0[c] || y->barrier_update[u - 1] < b);
      slots[b] += y->barrier_update_slots[u];
      mine += y->barrier_update_slots[u];
      producers[b]++;
    }
    NEED(t->seed, mine <= demand(t, y->command_item[c]));
    for (uint32_t w = y->barrier_wait0[c]; w < y->barrier_wait0[c + 1]; w++) {
      NEED(t->seed, y->barrier_wait[w] < y->n_barriers);
      NEED(t->seed, w == y->barrier_wait0[c] || y->barrier_wait[w - 1] < y->barrier_wait[w]);
      consumers[y->barrier_wait[w]]++;
    }
  }
  for (uint32_t b = 0; b < y->n_barriers; b++) {
    NEED(t->seed, producers[b] > 0 && consumers[b] > 0);
    NEED(t->seed, y->barrier_slots == FS_NONE || slots[b] <= y->barrier_slots);
    NEED(t->seed, y->barrier_physical[b] < y->barriers_used);
  }
  NEED(t->seed, y->barriers_used <= y->barrier_bound);
  NEED(t->seed, y->barriers_least == FS_NONE || y->barriers_used <= y->barriers_least);
}

/* Runs items one after the other in the order of issue: each has to find its barriers mapped. */
static void run_machine(const barrier_pass_subject *t, uint32_t *left) {
  const fs_sync *y = t->y;
  uint32_t *use = calloc(y->barriers_used + 1u, sizeof *use); /* of each physical barrier */
  /* The barrier that it is now. */
  uint32_t *holds = malloc((y->barriers_used + 1u) * sizeof *holds);
  fs_tick *freed = calloc(y->barriers_used + 1u, sizeof *freed); /* start of its last consumer */
  memset(holds, 0xFF, (y->barriers_used + 1u) * sizeof *holds);
  for (uint32_t i = 0; i < t->s->schedule->n_items; i++) {
    uint32_t item = t->s->schedule->order[i];
    for (uint32_t k = y->item_command0[item]; k < y->item_command0[item + 1]; k++) {
      uint32_t c = y->item_command[k];
      for (uint32_t u = y->barrier_update0[c]; u < y->barrier_update0[c + 1]; u++) {
        uint32_t b = y->barrier_update[u], p = y->barrier_physical[b];
        if (holds[p] != b) {
          NEED(t->seed, holds[p] == FS_NONE || left[holds[p]] == 0);
          NEED(t->seed, y->barrier_use[b] == use[p]);
          use[p]++;
          holds[p] = b;
        }
        NEED(t->seed, freed[p] <= t->s->schedule->start[item]);
      }
    }
    for (uint32_t k = y->item_command0[item]; k < y->item_command0[item + 1]; k++) {
      uint32_t c = y->item_command[k];
      for (uint32_t w = y->barrier_wait0[c]; w < y->barrier_wait0[c + 1]; w++) {
        uint32_t b = y->barrier_wait[w];
        NEED(t->seed, holds[y->barrier_physical[b]] == b && left[b] > 0);
        left[b]--;
        if (left[b] == 0) {
          freed[y->barrier_physical[b]] = t->s->schedule->start[item];
        }
      }
    }
  }
  free(use);
  free(holds);
  free(freed);
}

static void check_machine(const barrier_pass_subject *t) {
  uint32_t n = t->y->n_barriers + 1;
  uint64_t *slots = calloc(n, sizeof *slots);
  uint32_t *producers = calloc(n, sizeof *producers);
  uint32_t *consumers = calloc(n, sizeof *consumers);
  check_lists(t, slots, producers, consumers);
  run_machine(t, consumers);
  free(slots);
  free(producers);
  free(consumers);
}

/* --- frontiers --- */

/* The gang whose op has that epoch on its axis. */
static uint32_t gang_item(const barrier_pass_subject *t, fs_wait e) {
  for (uint32_t op = 0; op < t->g->n_ops; op++) {
    if (t->s->schedule->op_gang[op] == e.axis - t->s->schedule->n_queues &&
        t->y->item_gang_epoch[op] == e.epoch) {
      return op;
    }
  }
  ck_abort_msg("no such gang");
  return 0;
}

/* Entries agree with the exact clock, and contain all of it unless the frontier is tainted. */
static void check_frontier(const barrier_pass_subject *t, uint32_t c, uint32_t *clock,
                           uint32_t *said) {
  const fs_sync *y = t->y;
  uint32_t n = t->s->schedule->n_queues, known = 0;
  memcpy(clock, row(t, c), n * sizeof *clock);
  clock[t->queue[c]] = c - y->queue_command0[t->queue[c]] + 1;
  memset(said, 0, n * sizeof *said);
  for (uint32_t f = y->frontier0[c]; f < y->frontier0[c + 1]; f++) {
    fs_wait e = y->frontier[f];
    NEED(t->seed, f == y->frontier0[c] || y->frontier[f - 1].axis < e.axis);
    if (e.axis < n) {
      said[e.axis] = (uint32_t)fs_max(said[e.axis], e.epoch);
      continue;
    }
    uint32_t item = gang_item(t, e);
    for (uint32_t k = y->item_command0[item]; k < y->item_command0[item + 1]; k++) {
      uint32_t d = y->item_command[k], q = t->queue[d];
      said[q] = (uint32_t)fs_max(said[q], d - y->queue_command0[q] + 1);
    }
  }
  for (uint32_t q = 0; q < n; q++) {
    known += clock[q] > 0;
    NEED(t->seed, said[q] <= clock[q] && (y->tainted[c] || said[q] == clock[q]));
  }
  uint32_t entries = y->frontier0[c + 1] - y->frontier0[c];
  NEED(t->seed, said[t->queue[c]] == clock[t->queue[c]]);
  NEED(t->seed, entries <= t->g->target.frontier_capacity);
  NEED(t->seed, !y->tainted[c] || entries == t->g->target.frontier_capacity);
  NEED(t->seed, !y->tainted[c] || known > entries);
}

static void check_frontiers(const barrier_pass_subject *t) {
  const fs_sync *y = t->y;
  uint32_t *clock = malloc((t->s->schedule->n_queues + 1u) * sizeof *clock);
  uint32_t *said = malloc((t->s->schedule->n_queues + 1u) * sizeof *said);
  uint32_t tainted = 0, largest = 0;
  for (uint32_t c = 0; c < y->n_commands; c++) {
    check_frontier(t, c, clock, said);
    tainted += y->tainted[c];
    largest = (uint32_t)fs_max(largest, y->frontier0[c + 1] - y->frontier0[c]);
    NEED(t->seed, y->signal[c] == 0 && y->scope[c] == FS_SCOPE_QUEUE);
  }
  NEED(t->seed, tainted == y->frontier_tainted && largest == y->frontier_largest);
  NEED(t->seed, y->n_signals == 0);
  NEED(t->seed, y->waits_edges == y->waits_same_queue + y->waits_dominated + y->waits_emitted);
  NEED(t->seed, y->waits_emitted == y->wait0[y->n_commands]);
  free(clock);
  free(said);
}

static void check_all(const fsched_schedule *s, uint64_t seed) {
  barrier_pass_subject t;
  open_subject(&t, seed, s);
  NEED(seed, t.y->kind == FS_SYNC_BARRIER && s->schedule->makespan >= t.y->makespan_before);
  NEED(seed, s->schedule->status == (s->schedule->makespan == s->schedule->lower_bound
                                         ? FS_SCHEDULE_OPTIMAL
                                         : FS_SCHEDULE_FEASIBLE));
  fs_status status = fsched_verify_schedule(ctx, t.g, s);
  ck_assert_msg(status == FSCHED_OK, "seed %llu: %s", (unsigned long long)seed, fs_test_diags(ctx));
  close_order(&t);
  check_orders(&t);
  check_machine(&t);
  check_frontiers(&t);
  close_subject(&t);
}

/* --- random graphs --- */

static fsched_graph *graph(const fs_gen_params *params, fs_rng *r) {
  static const uint32_t slots[] = {FS_NONE, 1, 2, 4, 256};
  fsched_graph *g;
  ck_fs(ctx, fs_gen_graph(ctx, params, &g));
  g->target.barrier_slots = slots[fs_rng_below(r, 5)];
  g->target.frontier_capacity = fs_rng_one_in(r, 2) ? 16 : 1 + fs_rng_below(r, 4);
  if (fs_rng_one_in(r, 2)) {
    ck_fs(ctx, fs_new(&g->arena, &g->op_slots, g->n_ops));
    for (uint32_t op = 0; op < g->n_ops; op++) {
      g->op_slots[op] = fs_rng_one_in(r, 3) ? 1 + fs_rng_below(r, 6) : 1;
    }
  }
  return g;
}

/* Twice the largest need of an op. */
static uint32_t enough(const fsched_graph *g) {
  uint64_t most = 1;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t k = g->op_gang[op];
    uint64_t members = k == FS_NONE ? 1 : g->gang_queue0[k + 1] - g->gang_queue0[k];
    uint64_t slots = members * (g->op_slots == NULL ? 1 : g->op_slots[op]);
    most = fs_max(most, fs_ceil_div(slots, g->target.barrier_slots));
  }
  return (uint32_t)(2 * most);
}

typedef struct barrier_pass_tally {
  uint32_t made, refused, delayed, added, tainted;
} barrier_pass_tally;

static void compile_one(const fsched_graph *g, fsched_compile_options *o, uint64_t seed,
                        barrier_pass_tally *sum) {
  fsched_schedule *s;
  fsched_program *program;
  fs_status status = fsched_compile(ctx, g, o, &s, &program);
  if (status == FSCHED_OK) {
    const fs_sync *y = s->sync;
    NEED(seed, y->barrier_bound == o->barriers);
    NEED(seed,
         o->barriers != FSCHED_BARRIERS_AUTO || (y->barrier_added == 0 && y->barrier_gates == 0 &&
                                                 s->schedule->makespan == y->makespan_before));
    check_all(s, seed);
    sum->made++;
    sum->delayed += s->schedule->makespan > y->makespan_before;
    sum->added += y->barrier_added;
    sum->tainted += y->frontier_tainted;
    fsched_program_destroy(program);
    fsched_schedule_destroy(s);
    return;
  }
  bool published = o->barrier_method == FSCHED_BARRIERS_PUBLISHED;
  ck_assert_msg(status == FSCHED_INFEASIBLE, "seed %llu: %s", (unsigned long long)seed,
                fs_test_diags(ctx));
  const char *code = fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->code;
  NEED(seed, strcmp(code, "too-few-barriers") == 0 ||
                 (published && strcmp(code, "barrier-deadlock") == 0));
  NEED(seed, published || o->barriers < enough(g));
  sum->refused++;
  fsched_diag_clear(ctx);
}

static barrier_pass_tally compile_seeds(uint64_t from, uint64_t to, fsched_barrier_method method) {
  barrier_pass_tally sum = {0};
  for (uint64_t seed = from; seed < to; seed++) {
    fs_rng r = {seed};
    fs_gen_params p = seed % 4 == 0 ? fs_gen_tight(seed, 40) : fs_gen_any(seed, 60);
    p.n_queues = p.n_queues == 1 ? 3 : p.n_queues;
    p.class_gangs = seed % 3 == 0;
    fsched_graph *g = graph(&p, &r);
    uint32_t few = 1 + fs_rng_below(&r, 3), many = 2 + fs_rng_below(&r, 7);
    const uint32_t counts[] = {few, many, enough(g), FSCHED_BARRIERS_AUTO};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
      fsched_compile_options o = {.size = sizeof o,
                                  .effort = FS_QUICK,
                                  .verify = 1,
                                  .barriers = counts[i],
                                  .barrier_method = method};
      if (counts[i] != FSCHED_BARRIERS_AUTO || method == FSCHED_BARRIERS_BEST) {
        compile_one(g, &o, seed, &sum);
      }
    }
    fsched_graph_destroy(g);
  }
  return sum;
}

static void random_part(uint64_t from) {
  barrier_pass_tally sum = compile_seeds(from, from + 60, FSCHED_BARRIERS_BEST);
  ck_assert_uint_gt(sum.made, 150);
  ck_assert_uint_gt(sum.refused, 3);
  ck_assert_uint_gt(sum.delayed, 10);
  ck_assert_uint_gt(sum.added, 10);
  ck_assert_uint_gt(sum.tainted, 100);
}

START_TEST(random_graphs)
{ random_part(1 + 60 * (uint64_t)_i); }
END_TEST

/* The published method makes a program that can be run, or says why not. */
START_TEST(published)
{
  barrier_pass_tally sum = compile_seeds(1, 61, FSCHED_BARRIERS_PUBLISHED);
  ck_assert_uint_gt(sum.made, 3);
  ck_assert_uint_gt(sum.refused, 10);
}
END_TEST

/* --- single cases --- */

static void refused(const fsched_graph *g, fsched_compile_options o, fs_status status,
                    const char *text) {
  o.size = sizeof o;
  fsched_schedule *s;
  fsched_program *p;
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_compile(ctx, g, &o, &s, &p), status);
  ck_assert_ptr_null(s);
  ck_assert_ptr_null(p);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->message, text);
}

static const char few[] =
    "fsched: 1\n"
    "name: few\n"
    "target:\n"
    "  queues: [{name: a}, {name: b, class: other}]\n"
    "  sync: barrier\n"
    "  barriers: {count: 2, slots: 4}\n"
    "ops:\n"
    "  - {name: u, slots: 9}\n"
    "  - {name: v, on: other, after: [u]}\n";

START_TEST(needs_more_than_there_are)
{
  fsched_graph *g = fs_parse(few);
  fsched_compile_options o = {.verify = 1};
  refused(g, o, FSCHED_INFEASIBLE, "op 'u' needs at least 3 barriers of 4 slots, 2 given");
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->code, "too-few-barriers");
  ck_assert_str_eq(d->hint, "6 are enough in any case");
  ck_assert_uint_eq(d->line, 8);
  fsched_schedule *s;
  o.size = sizeof o;
  o.barriers = 3;
  fsched_diag_clear(ctx);
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  ck_assert_uint_eq(s->sync->barriers_used, 3);
  ck_assert_uint_eq(s->sync->barrier_bound, 3);
  ck_assert_uint_eq(s->sync->barrier_slots, 4);
  check_all(s, 0);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* There is a way: e waits for u, and v knows of it by its queue. */
START_TEST(no_way_was_found)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: a}, {name: b}, {name: c}]\n"
      "  sync: barrier\n"
      "ops:\n"
      "  - {name: u, on: a}\n"
      "  - {name: v, on: b, after: [u]}\n"
      "  - {name: w, on: c, after: [v]}\n");
  fsched_compile_options o = {.barriers = 1};
  refused(g, o, FSCHED_INFEASIBLE,
          "no way was found with 1 barrier: op 'v' needs 1 barrier beside 1 that others hold until "
          "it has started");
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(bad_options)
{
  fsched_graph *g = fs_parse(few);
  refused(g, (fsched_compile_options){.barrier_method = (fsched_barrier_method)2}, FSCHED_USAGE,
          "'barrier_method' is 2, no fsched_barrier_method");
  refused(g, (fsched_compile_options){.barriers = (uint32_t)INT32_MAX + 1}, FSCHED_USAGE,
          "'barriers' is above 2147483647");
  refused(g,
          (fsched_compile_options){.barriers = FSCHED_BARRIERS_AUTO,
                                   .barrier_method = FSCHED_BARRIERS_PUBLISHED},
          FSCHED_USAGE, "the published barrier method needs a number of barriers");
  static const fs_sync_kind without[] = {FS_SYNC_TIMELINE, FS_SYNC_BLOCK};
  for (int i = 0; i < 2; i++) {
    g->target.sync = without[i];
    refused(g, (fsched_compile_options){.barrier_method = FSCHED_BARRIERS_PUBLISHED}, FSCHED_USAGE,
            "the published barrier method is for targets with barriers");
  }
  g->target.queue[0].counting = true;
  refused(g, (fsched_compile_options){.barriers = 3}, FSCHED_USAGE,
          "queue 'a' is counting, which takes 'sync: block', not barriers");
  g->target.queue[0].counting = false;
  g->target.sync = FS_SYNC_BARRIER;
  g->target.barrier_count = 0;
  refused(g, (fsched_compile_options){.barriers = 0}, FSCHED_BAD_INPUT,
          "'sync: barrier' needs a number of barriers");
  /* Callers that were built before there were barriers pass a shorter struct; what lies behind it
   * is not read. */
  g->target.sync = FS_SYNC_TIMELINE;
  fsched_compile_options o = {.barriers = 1, .barrier_method = (fsched_barrier_method)2};
  o.size = FS_SIZE_UP_TO(fsched_compile_options, dump_user);
  fsched_schedule *s;
  fsched_diag_clear(ctx);
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  ck_assert_int_eq(s->sync->kind, FS_SYNC_TIMELINE);
  ck_assert_ptr_null(s->sync->issue);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* The links are u -> v -> y -> z and u -> w, with w after y on its queue; there are two
 * barriers. */
START_TEST(published_deadlock)
{
  static const char yaml[] =
      "fsched: 1\n"
      "name: deadlock\n"
      "target: {queues: [{name: p, class: p}, {name: q, class: q}]}\n"
      "ops:\n"
      "  - {name: u, on: p}\n"
      "  - {name: v, on: q, after: [u]}\n"
      "  - {name: y, on: p, after: [v]}\n"
      "  - {name: z, on: q, after: [y]}\n"
      "  - {name: w, on: p, after: [u]}\n"
      "  - {name: x, on: q, after: [w]}\n";
  fsched_graph *g = fs_parse(yaml);
  fsched_compile_options o = {.size = sizeof o,
                              .effort = FS_QUICK,
                              .verify = 1,
                              .barriers = 2,
                              .barrier_method = FSCHED_BARRIERS_PUBLISHED};
  barrier_pass_tally sum = {0};
  compile_one(g, &o, 0, &sum);
  o.barrier_method = FSCHED_BARRIERS_BEST;
  compile_one(g, &o, 0, &sum);
  ck_assert_uint_ge(sum.made, 1);
  fsched_graph_destroy(g);
}
END_TEST

/* Two ops run at once and there is one barrier, so one is late, which its given start forbids. */
START_TEST(a_given_start_cannot_be_late)
{
  static const char yaml[] =
      "fsched: 1\n"
      "name: late\n"
      "target:\n"
      "  queues: [{name: a, class: a}, {name: b, class: b},\n"
      "           {name: c, class: c}, {name: d, class: d}]\n"
      "  sync: barrier\n"
      "  barriers: {count: 1, slots: 1}\n"
      "ops:\n"
      "  - {name: u, on: a, start: 0}\n"
      "  - {name: v, on: b, start: 0}\n"
      "  - {name: x, on: c, after: [u]}\n"
      "  - {name: y, on: d, after: [v]}\n";
  fsched_graph *g = fs_parse(yaml);
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  fsched_schedule *s;
  ck_assert_int_eq(fsched_compile(ctx, g, &o, &s, NULL), FSCHED_INFEASIBLE);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "no-schedule");
  o.barriers = 2;
  fsched_diag_clear(ctx);
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  ck_assert_uint_eq(s->schedule->makespan, 2);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  fs_gen_params p = fs_gen_tight(7, 30);
  p.gangs = true;
  fs_status status = FSCHED_SYSTEM;
  long made = 0;
  for (long n = 0; status != FSCHED_OK; n += 1 + n / 300) {
    fs_budget budget = {.left = 1L << 40};
    fsched_context_options co = {
        .size = sizeof co, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *c;
    fsched_graph *g;
    fsched_schedule *s;
    fsched_program *program;
    ck_assert_int_eq(fsched_context_create(&co, &c), FSCHED_OK);
    ck_fs(c, fs_gen_graph(c, &p, &g));
    fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1, .barriers = 2};
    budget.left = n;
    status = fsched_compile(c, g, &o, &s, &program);
    ck_assert_msg(status == FSCHED_OK || status == FSCHED_SYSTEM, "allocation %ld: %d: %s", n,
                  status, fs_test_diags(c));
    ck_assert(status == FSCHED_OK || fsched_diag_errors(c) > 0);
    made += s != NULL;
    budget.left = 1L << 40;
    fsched_program_destroy(program);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_context_destroy(c);
    ck_assert_int_eq(budget.blocks, 0);
  }
  ck_assert_int_eq(made, 1);
}
END_TEST

FS_SUITE(barrier_pass, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 4, random_graphs);
  FS_TESTS(t, published, published_deadlock, needs_more_than_there_are, no_way_was_found,
           bad_options, a_given_start_cannot_be_late, every_allocation_may_fail);
}
