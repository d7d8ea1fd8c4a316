/* SPDX-License-Identifier: Apache-2.0 */
/* The least that memories must hold, and the precondition, which refuses graphs for which memories
 * are too small.  All schedules are tried (exhaust.h): no peak is below the least, and nothing that
 * the precondition refuses is possible.  What it accepts has a schedule wherever the memory
 * spills. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/verify.h"
#include "kit/exhaust.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "model/bounds/bounds.h"
#include "model/handle.h"
#include "problem/problem.h"

#include "kit/context.h"

enum { MAX_OPS = 4, MEMORIES = 2, TEXT = 4096, STEPS = 200000, LARGE = 1000 };

typedef struct memory_bounds_maker {
  fs_rng rng;
  char text[TEXT];
  size_t n;
  bool spills, raw, instants; /* `instants`: some ops take no time */
  uint32_t n_buffers;
  uint32_t size[16];
  bool far[16]; /* in the second memory */
} memory_bounds_maker;

static void put(memory_bounds_maker *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(memory_bounds_maker *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  k->n += (size_t)vsnprintf(k->text + k->n, TEXT - k->n, format, args);
  va_end(args);
  ck_assert_uint_lt(k->n, TEXT);
}

static uint32_t below(memory_bounds_maker *k, uint32_t n) { return fs_rng_below(&k->rng, n); }
static bool one_in(memory_bounds_maker *k, uint32_t n) { return fs_rng_one_in(&k->rng, n); }

static void put_target(memory_bounds_maker *k) {
  static const char *const name[MEMORIES] = {"m", "n"};
  put(k, "fsched: 1\nname: r\nhazards: %s\ntarget:\n", k->raw ? "raw" : "sequential");
  put(k, "  queues: [{name: a}, {name: b}, {name: c, class: copy}]\n  memories:\n");
  for (uint32_t m = 0; m < MEMORIES; m++) {
    const char *placed = !k->instants && one_in(k, 4) ? "counted" : "contiguous";
    put(k, "    - {name: %s, capacity: %u, align: %u, placement: %s%s}\n", name[m], LARGE,
        1 + below(k, 2), placed,
        k->spills ? ", backing: s, spill: {on: copy, write: {fixed: 1}, read: {fixed: 1}}" : "");
  }
  put(k, "    - {name: s}\nbuffers:\n");
}

static void put_buffer(memory_bounds_maker *k, const char *io) {
  uint32_t b = k->n_buffers++;
  k->far[b] = one_in(k, 5);
  put(k, "  - {name: b%u, size: %u, memory: %s%s}\n", b, k->size[b], k->far[b] ? "n" : "m", io);
}

/* Writes two buffers that are given, and the output of each op. */
static void put_buffers(memory_bounds_maker *k, uint32_t n_ops) {
  for (uint32_t i = 0; i < 2; i++) {
    k->size[i] = below(k, 4);
    put_buffer(k, one_in(k, 2) ? ", io: input" : ", io: constant");
  }
  for (uint32_t op = 0; op < n_ops; op++) {
    k->size[2 + op] = one_in(k, 2) ? k->size[1 + op] : below(k, 4);
    put_buffer(k, one_in(k, 5) ? ", io: output" : "");
  }
}

/* Writes an op that reads some of the buffers so far, perhaps in place, and has an output of its
 * own. */
static void put_op(memory_bounds_maker *k, uint32_t op) {
  uint32_t out = op + 2, over = FS_NONE;
  uint32_t time = k->instants && one_in(k, 3) ? 0 : 1 + below(k, 2);
  put(k, "  - name: o%u\n    on: %s\n    time: %u\n    args:\n", op,
      one_in(k, 5) ? "[a, b]" : "compute", time);
  for (uint32_t i = 0; i < out; i++) {
    if (!one_in(k, i + 1 == out ? 1 : 4)) {
      continue;
    }
    bool existing = k->raw && i >= 2 && one_in(k, 3), inout = i >= 2 && one_in(k, 6);
    put(k, "      - {%s: b%u}\n", existing ? "out_existing" : inout ? "inout" : "in", i);
    bool fits = !existing && !inout && k->size[i] == k->size[out] && k->far[i] == k->far[out];
    over = fits && !one_in(k, 4) ? i : over;
  }
  put(k, "      - {out: b%u}\n", out);
  if (over != FS_NONE) {
    put(k, "    inplace: {b%u: b%u}\n", out, over);
  }
  if (one_in(k, 4)) {
    put(k, "    scratch: {m: %u}\n", below(k, 4));
  }
}

static void make(memory_bounds_maker *k, uint64_t seed, bool spills) {
  *k = (memory_bounds_maker){
      .rng = {seed}, .spills = spills, .raw = seed % 4 == 0, .instants = seed % 3 == 0};
  uint32_t n_ops = 1 + below(k, MAX_OPS);
  put_target(k);
  put_buffers(k, n_ops);
  put(k, "ops:\n");
  for (uint32_t op = 0; op < n_ops; op++) {
    put_op(k, op);
  }
}

/* Returns the graph with these capacities, or NULL when it is refused. */
static fsched_graph *parse(const memory_bounds_maker *k, const uint64_t *capacity) {
  char text[MEMORIES][32];
  const char *override[MEMORIES];
  for (uint32_t m = 0; m < MEMORIES; m++) {
    (void)snprintf(text[m], sizeof text[m], "%s=%u", m == 0 ? "m" : "n", (unsigned)capacity[m]);
    override[m] = text[m];
  }
  fsched_read_options o = {
      .size = sizeof o, .memory_overrides = override, .n_memory_overrides = MEMORIES};
  fsched_graph *g = NULL;
  fs_status status = fsched_graph_parse(ctx, "r", k->text, k->n, &o, &g);
  ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "%s\n%s", fs_test_diags(ctx),
                k->text);
  fsched_diag_clear(ctx);
  return g;
}

/* Is there any schedule at all? 1, 0, or -1 when this is not decided. */
static int possible(fsched_graph *g, const uint64_t *capacity) {
  fs_tick all = 0;
  for (uint32_t m = 0; m < MEMORIES; m++) {
    g->target.memory[m].capacity = capacity[m];
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    all += g->op_time[op];
  }
  fs_exhaust e = fs_exhaust_search(g, all, all, STEPS);
  return e.known ? e.found : -1;
}

/* FSCHED_KNOWN=N in the environment asks for N graphs. */
static uint64_t wanted(uint64_t usual) {
  const char *text = getenv("FSCHED_KNOWN");
  uint64_t n = text == NULL ? 0 : strtoull(text, NULL, 10);
  return n == 0 ? usual : n;
}

typedef struct memory_bounds_tally {
  unsigned refuted, tight, in_place;
} memory_bounds_tally;

/* One memory has a little less than the bound, and then the bound; the other memory is large. */
static void check_memory(const memory_bounds_maker *k, uint64_t seed, uint32_t m,
                         memory_bounds_tally *n) {
  uint64_t plenty[MEMORIES] = {LARGE, LARGE}, bound[MEMORIES + 1], capacity[MEMORIES];
  fsched_graph *g = parse(k, plenty);
  ck_assert_ptr_nonnull(g);
  ck_fs(ctx, fs_memory_lower_bounds(ctx, g, bound));
  memcpy(capacity, plenty, sizeof capacity);
  capacity[m] = fs_max(bound[m], 1);
  fsched_graph *fits = parse(k, capacity);
  ck_assert_msg(fits != NULL, "seed %u: memory %u of %u is refused, the bound\n%s", (unsigned)seed,
                m, (unsigned)bound[m], k->text);
  fsched_graph_destroy(fits);
  n->tight += possible(g, capacity) == 1;
  n->in_place += g->op_inplace0[g->n_ops] > 0;
  for (uint64_t less = bound[m] > 4 ? bound[m] - 4 : 1; less < bound[m]; less++) {
    capacity[m] = less;
    int found = possible(g, capacity);
    ck_assert_msg(found != 1, "seed %u: bound %u of memory %u, but %u do\n%s", (unsigned)seed,
                  (unsigned)bound[m], m, (unsigned)less, k->text);
    ck_assert_ptr_null(parse(k, capacity));
    n->refuted += found == 0;
  }
  fsched_graph_destroy(g);
}

START_TEST(no_smaller_peak)
{
  static memory_bounds_maker k;
  memory_bounds_tally n = {0};
  for (uint64_t seed = 0; seed < wanted(1500); seed++) {
    make(&k, seed, false);
    for (uint32_t m = 0; m < MEMORIES; m++) {
      check_memory(&k, seed, m, &n);
    }
    fsched_diag_clear(ctx);
  }
  ck_assert_msg(n.refuted > 2000 && n.tight > 1000 && n.in_place > 500,
                "refuted %u, tight %u, in place %u", n.refuted, n.tight, n.in_place);
}
END_TEST

/* The shortest schedule in the smallest memories is not below any bound, and lies in all
 * windows. */
static bool check_shortest(const memory_bounds_maker *k, uint64_t seed) {
  uint64_t plenty[MEMORIES] = {LARGE, LARGE}, bound[MEMORIES + 1];
  fsched_graph *g = parse(k, plenty);
  fs_problem *p;
  fs_lower_bounds b;
  fs_decision possible;
  fs_tick destructive = 0;
  ck_fs(ctx, fs_memory_lower_bounds(ctx, g, bound));
  for (uint32_t m = 0; m < MEMORIES; m++) {
    g->target.memory[m].capacity = fs_max(bound[m], 1);
  }
  fs_exhaust e = fs_exhaust_search(g, 0, 10, STEPS);
  if (e.known && e.found) {
    ck_fs(ctx, fs_graph_lower_bounds(ctx, g, &b));
    ck_assert_msg(b.all <= e.best, "seed %u: bound %u, but %u do\n%s", (unsigned)seed,
                  (unsigned)b.all, (unsigned)e.best, k->text);
    ck_fs(ctx, fs_problem_from_graph(ctx, g, e.best, 0, &p));
    ck_assert_msg(p != NULL, "seed %u: no problem\n%s", (unsigned)seed, k->text);
    ck_fs(ctx, fs_problem_tighten(p, &possible));
    ck_assert_msg(possible.is != FS_NO, "seed %u: impossible\n%s", (unsigned)seed, k->text);
    ck_fs(ctx, fs_problem_destructive_bound(p, &destructive));
    ck_assert_uint_le(destructive, e.best);
    fs_problem_destroy(p);
  }
  fsched_graph_destroy(g);
  return e.known && e.found;
}

START_TEST(nothing_possible_is_refused)
{
  static memory_bounds_maker k;
  unsigned found = 0;
  for (uint64_t seed = 0; seed < wanted(1500); seed++) {
    make(&k, seed, false);
    found += check_shortest(&k, seed);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(found, 500);
}
END_TEST

/* What the precondition accepts has a schedule wherever it spills. */
START_TEST(fitting_is_enough)
{
  static memory_bounds_maker k;
  unsigned spilled = 0;
  for (uint64_t seed = 0; seed < wanted(3000); seed++) {
    uint64_t plenty[MEMORIES] = {LARGE, LARGE}, bound[MEMORIES + 1];
    fsched_compile_options o = {.size = sizeof o};
    fsched_schedule *s;
    make(&k, seed, true);
    fsched_graph *g = parse(&k, plenty);
    ck_fs(ctx, fs_memory_lower_bounds(ctx, g, bound));
    fsched_graph_destroy(g);
    bound[0] = fs_max(bound[0], 1);
    bound[1] = fs_max(bound[1], 1);
    g = parse(&k, bound);
    ck_assert_ptr_nonnull(g);
    fs_status status = fsched_compile(ctx, g, &o, &s, NULL);
    ck_assert_msg(status == FSCHED_OK, "seed %u: %s\n%s", (unsigned)seed, fs_test_diags(ctx),
                  k.text);
    ck_fs(ctx, fsched_verify_schedule(ctx, g, s));
    spilled += s->schedule->n_copies > 0;
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(spilled, 1000);
}
END_TEST

/* The largest sum, at any tick, over the ops that run. */
static uint64_t largest_sum(const uint32_t (*op)[3], uint32_t n) {
  uint64_t largest = 0;
  for (uint32_t tick = 0; tick < 40; tick++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
      sum += op[i][0] <= tick && tick < op[i][0] + op[i][1] ? op[i][2] : 0;
    }
    largest = fs_max(largest, sum);
  }
  return largest;
}

/* The starts of ops with scratch are given, so nothing is left to choose. */
START_TEST(given_starts)
{
  static memory_bounds_maker k;
  for (uint64_t seed = 0; seed < wanted(300); seed++) {
    uint32_t op[8][3];
    uint64_t bound[1];
    k = (memory_bounds_maker){.rng = {seed}};
    put(&k,
        "fsched: 1\nname: r\ntarget:\n  memories: [{name: m, capacity: 100, align: 2}]\nops:\n");
    uint32_t n = 1 + below(&k, 8);
    for (uint32_t i = 0; i < n; i++) {
      op[i][0] = below(&k, 30);
      op[i][1] = 1 + below(&k, 9);
      op[i][2] = 2 * (1 + below(&k, 5));
      put(&k, "  - {name: o%u, start: %u, time: %u, scratch: {m: %u}}\n", i, op[i][0], op[i][1],
          op[i][2] - below(&k, 2));
    }
    fsched_graph *g;
    ck_fs(ctx, fsched_graph_parse(ctx, "r", k.text, k.n, NULL, &g));
    ck_fs(ctx, fs_memory_lower_bounds(ctx, g, bound));
    ck_assert_uint_eq(bound[0], largest_sum(op, n));
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}
END_TEST

FS_SUITE(memory_bounds, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, getenv("FSCHED_KNOWN") == NULL ? 60 : 36000);
  FS_TESTS(t, no_smaller_peak, nothing_possible_is_refused, fitting_is_enough, given_starts);
}
