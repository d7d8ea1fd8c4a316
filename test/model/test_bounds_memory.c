/* SPDX-License-Identifier: Apache-2.0 */
/* The bound by what memories hold: it is never above the optimum of small graphs (found by trying
 * all schedules, or, where buffers are spilled, above some schedule), and is as large as it should
 * be. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fsched/verify.h"
#include "kit/exhaust.h"
#include "kit/fail_each.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "model/bounds/bounds.h"
#include "model/handle.h"
#include "model/kinds.h"

#include "kit/context.h"

enum { MAX_OPS = 5, TEXT = 4096 };

typedef struct bounds_memory_maker {
  fs_rng rng;
  char text[TEXT];
  size_t n;
  bool spills;
  uint32_t n_buffers;
  uint32_t size[16];
  bool written[16]; /* or given */
} bounds_memory_maker;

static void put(bounds_memory_maker *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(bounds_memory_maker *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  k->n += (size_t)vsnprintf(k->text + k->n, TEXT - k->n, format, args);
  va_end(args);
  ck_assert_uint_lt(k->n, TEXT);
}

static uint32_t below(bounds_memory_maker *k, uint32_t n) { return fs_rng_below(&k->rng, n); }
static bool one_in(bounds_memory_maker *k, uint32_t n) { return fs_rng_one_in(&k->rng, n); }

static void put_target(bounds_memory_maker *k) {
  static const char *const placement[] = {"contiguous", "contiguous", "counted"};
  put(k, "fsched: 1\nname: r\ntarget:\n  queues: [{name: a}%s%s]\n",
      one_in(k, 3) ? "" : ", {name: b}", k->spills ? ", {name: c, class: copy}" : "");
  const char *placed = placement[below(k, 3)];
  put(k, "  memories:\n    - {name: m, capacity: %u, placement: %s", 4 + below(k, 5), placed);
  if (k->spills) {
    uint32_t read = below(k, 3), write = below(k, 3);
    put(k, ", backing: s, spill: {on: %s, write: {fixed: %u}, read: {fixed: %u}}",
        one_in(k, 3) ? "compute" : "copy", write, read);
  }
  put(k, "}\n    - {name: n, capacity: %u}\n    - {name: s}\n", 4 + below(k, 3));
}

static void put_buffers(bounds_memory_maker *k, uint32_t n_ops) {
  static const char *const io[] = {"input", "constant", "state"};
  put(k, "buffers:\n");
  for (uint32_t i = 0; i < 2; i++) {
    k->size[i] = below(k, 4);
    k->written[i] = true;
    put(k, "  - {name: b%u, size: %u, io: %s}\n", i, k->size[i], io[below(k, 3)]);
  }
  for (uint32_t i = 2; i < 2 + n_ops; i++) {
    k->size[i] = below(k, 4);
    const char *memory = one_in(k, 5) ? ", memory: n" : "";
    put(k, "  - {name: b%u, size: %u%s%s}\n", i, k->size[i], one_in(k, 5) ? ", io: output" : "",
        memory);
  }
  k->n_buffers = 2 + n_ops;
}

/* Writes an op that reads some of the buffers so far, perhaps in place, and has an output of its
 * own. */
static void put_op(bounds_memory_maker *k, uint32_t op) {
  uint32_t out = op + 2, over = FS_NONE;
  put(k, "  - name: o%u\n    time: %u\n    args:\n", op, below(k, 4));
  for (uint32_t i = 0; i < out; i++) {
    if (!one_in(k, i < 2 ? 3 : 2)) {
      continue;
    }
    bool inout = i >= 2 && one_in(k, 6);
    put(k, "      - {%s: b%u}\n", inout ? "inout" : "in", i);
    over = !inout && k->size[i] == k->size[out] && one_in(k, 2) ? i : over;
  }
  put(k, "      - {out: b%u}\n", out);
  if (over != FS_NONE) {
    put(k, "    inplace: {b%u: b%u}\n", out, over);
  }
  if (one_in(k, 3)) {
    put(k, "    scratch: {m: %u}\n", 1 + below(k, 3));
  }
}

/* Returns NULL when an op does not fit. */
static fsched_graph *random_graph(fsched_context *own, uint64_t seed, bool spills) {
  static bounds_memory_maker k;
  k = (bounds_memory_maker){.rng = {seed}, .spills = spills};
  fsched_graph *g = NULL;
  uint32_t n_ops = 1 + below(&k, MAX_OPS);
  put_target(&k);
  put_buffers(&k, n_ops);
  put(&k, "ops:\n");
  for (uint32_t op = 0; op < n_ops; op++) {
    put_op(&k, op);
  }
  fs_status status = fsched_graph_parse(own, "r", k.text, k.n, NULL, &g);
  ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "seed %u: %s\n%s",
                (unsigned)seed, fs_test_diags(own), k.text);
  fsched_diag_clear(own);
  return g;
}

static fs_lower_bounds bounds_of(const fsched_graph *g) {
  fs_lower_bounds bounds;
  ck_fs(ctx, fs_graph_lower_bounds(ctx, g, &bounds));
  return bounds;
}

static fs_tick others(const fs_lower_bounds *b) {
  return fs_max(fs_max(b->critical_path, b->queue_work), fs_max(b->resource_work, b->copy_work));
}

/* Whether there is a schedule that is no longer than the limit: 1, 0, or -1 when this is not
 * decided. */
static int possible(const fsched_graph *g, fs_tick limit) {
  fs_exhaust e = fs_exhaust_search(g, limit, limit, 20000);
  return e.known ? e.found : -1;
}

START_TEST(never_above_the_optimum)
{
  unsigned known_not = 0, memory_decides = 0, tight = 0;
  for (uint64_t seed = 0; seed < 4000; seed++) {
    fsched_graph *g = random_graph(ctx, seed, false);
    if (g != NULL) {
      fs_lower_bounds b = bounds_of(g);
      int shorter = b.all == 0 ? 0 : possible(g, b.all - 1);
      ck_assert_msg(shorter != 1, "seed %u: bound %u (memory %u), but there is a shorter schedule",
                    (unsigned)seed, (unsigned)b.all, (unsigned)b.memory_work);
      known_not += shorter == 0;
      if (b.memory_work > others(&b)) {
        memory_decides++;
        tight += possible(g, b.all) == 1;
      }
      fsched_graph_destroy(g);
    }
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_ge(known_not, 2000);
  ck_assert_msg(memory_decides >= 60 && tight >= 30, "%u, tight %u", memory_decides, tight);
}
END_TEST

/* Returns the length of the shortest of some schedules. */
static fs_tick shortest(const fsched_graph *g) {
  fs_tick best = FS_TICK_NONE;
  for (int policy = 0; policy < FS_N_EVICTS; policy++) {
    fsched_compile_options o = {
        .size = sizeof o, .evict = (fsched_evict)policy, .seed = (uint64_t)policy};
    fsched_schedule *s;
    if (fsched_compile(ctx, g, &o, &s, NULL) == FSCHED_OK) {
      ck_fs(ctx, fsched_verify_schedule(ctx, g, s));
      best = fs_min(best, s->schedule->makespan);
      fsched_schedule_destroy(s);
    }
    fsched_diag_clear(ctx);
  }
  return best;
}

START_TEST(never_above_a_schedule)
{
  unsigned memory_decides = 0, tight = 0;
  for (uint64_t seed = 0; seed < 2500; seed++) {
    fsched_graph *g = random_graph(ctx, seed, true);
    if (g != NULL) {
      fs_lower_bounds b = bounds_of(g);
      fs_tick best = shortest(g);
      ck_assert_msg(b.all <= best, "seed %u: bound %u (memory %u), a schedule of %u",
                    (unsigned)seed, (unsigned)b.all, (unsigned)b.memory_work, (unsigned)best);
      memory_decides += b.memory_work > others(&b);
      tight += b.memory_work > others(&b) && b.memory_work == best;
      fsched_graph_destroy(g);
    }
    fsched_diag_clear(ctx);
  }
  ck_assert_msg(memory_decides >= 30 && tight >= 8, "%u, tight %u", memory_decides, tight);
}
END_TEST

/* These graphs are larger and tight, with everything that the generator can make. */
START_TEST(never_above_a_large_schedule)
{
  for (uint64_t seed = 0; seed < 40; seed++) {
    fsched_graph *g;
    fs_gen_params p = _i ? fs_gen_tight(seed, 30) : fs_gen_any(seed, 40);
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    fs_lower_bounds b = bounds_of(g);
    fs_tick best = shortest(g);
    ck_assert_msg(b.all <= best, "seed %u: bound %u, a schedule of %u", (unsigned)seed,
                  (unsigned)b.all, (unsigned)best);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}
END_TEST

/* For rectangles in a strip the bound is at least the area over the width. */
START_TEST(strip_packing)
{
  for (uint64_t seed = 0; seed < 50; seed++) {
    static bounds_memory_maker k;
    k = (bounds_memory_maker){.rng = {seed}};
    uint64_t area = 0, width = 10 + below(&k, 20);
    put(&k, "fsched: 1\nname: s\ntarget:\n  memories: [{name: m, capacity: %u}]\nops:\n",
        (unsigned)width * 1000);
    for (uint32_t i = 0, n = 5 + below(&k, 40); i < n; i++) {
      uint32_t w = 1 + below(&k, (uint32_t)width), h = 1 + below(&k, 9);
      put(&k, "  - {name: o%u, time: %u, scratch: {m: %u}}\n", i, h, w * 1000);
      area += (uint64_t)w * h;
    }
    fsched_graph *g;
    ck_fs(ctx, fsched_graph_parse(ctx, "s", k.text, k.n, NULL, &g));
    fs_lower_bounds b = bounds_of(g);
    ck_assert_uint_ge(b.memory_work, fs_ceil_div(area, width));
    ck_assert_uint_le(b.memory_work, shortest(g));
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}
END_TEST

static const struct {
  const char *what, *memory, *rest;
  fs_tick bound;
} known[] = {
    {"scratch", "capacity: 10",
     "ops:\n  - {name: a, time: 3, scratch: {m: 6}}\n  - {name: b, time: 4, scratch: {m: 5}}\n"
     "  - {name: c, time: 4, scratch: {m: 5}}\n",
     (18 + 20 + 20 + 2) / 10},
    {"sizes with a common divisor", "capacity: 10",
     "ops: [{name: a, time: 3, scratch: {m: 6}}, {name: b, time: 4, scratch: {m: 6}}]\n", 7},
    {"a version is held between its ops", "capacity: 4",
     "ops:\n  - {name: p, time: 2, args: [{out: x, size: 4}]}\n"
     "  - {name: q, time: 5, after: [p]}\n"
     "  - {name: r, time: 1, after: [q], args: [{in: x}]}\n"
     "  - {name: s, time: 3, scratch: {m: 4}}\n",
     2 + 5 + 1 + 3},
    {"readers one after the other", "capacity: 4",
     "ops:\n  - {name: p, time: 2, args: [{out: x, size: 4}]}\n"
     "  - {name: q, time: 5, args: [{in: x}]}\n"
     "  - {name: r, time: 1, after: [q], args: [{in: x}]}\n"
     "  - {name: s, time: 3, scratch: {m: 4}}\n",
     2 + 5 + 1 + 3},
    {"readers at one time", "capacity: 4",
     "ops:\n  - {name: p, time: 2, args: [{out: x, size: 4}]}\n"
     "  - {name: q, time: 5, args: [{in: x}]}\n  - {name: r, time: 5, args: [{in: x}]}\n"
     "  - {name: s, time: 3, scratch: {m: 4}}\n",
     2 + 5 + 3},
    {"a kept version stays", "capacity: 4",
     "buffers: [{name: x, size: 4, io: output}]\n"
     "ops:\n  - {name: p, time: 2, args: [{out: x}]}\n  - {name: q, time: 5, after: [p]}\n"
     "  - {name: s, time: 3, scratch: {m: 4}}\n",
     2 + 5 + 3},
    {"given content is there from 0", "capacity: 4",
     "buffers: [{name: x, size: 4, io: input}]\n"
     "ops:\n  - {name: q, time: 5}\n  - {name: p, time: 2, after: [q], args: [{in: x}]}\n"
     "  - {name: s, time: 3, scratch: {m: 4}}\n",
     5 + 2 + 3},
    {"state lessens the capacity", "capacity: 8",
     "buffers: [{name: x, size: 4, io: state}]\n"
     "ops:\n  - {name: a, time: 5, scratch: {m: 4}}\n  - {name: b, time: 6, scratch: {m: 4}}\n",
     5 + 6},
    {"heads and tails", "capacity: 4",
     "ops:\n  - {name: h, time: 7}\n  - {name: a, time: 5, after: [h], scratch: {m: 3}}\n"
     "  - {name: b, time: 6, after: [h], scratch: {m: 2}}\n"
     "  - {name: t, time: 9, after: [a, b]}\n",
     7 + (15 + 12 + 1) / 4 + 9},
    {"parts in series", "capacity: 3",
     "ops:\n  - {name: a, time: 1, scratch: {m: 2}}\n  - {name: b, time: 1, scratch: {m: 2}}\n"
     "  - {name: c, time: 1, after: [a, b]}\n"
     "  - {name: d, time: 1, after: [c], scratch: {m: 2}}\n"
     "  - {name: e, time: 1, after: [c], scratch: {m: 2}}\n",
     2 + 1 + 2},
    {"in place", "capacity: 8",
     "ops:\n  - {name: p, time: 2, args: [{out: x, size: 4}]}\n"
     "  - {name: q, time: 5, args: [{in: x}, {out: y, size: 4}], inplace: {y: x}}\n"
     "  - {name: r, time: 1, args: [{in: y}]}\n  - {name: s, time: 6, scratch: {m: 8}}\n",
     (2 + 5 + 1 + 12) / 2},
    {"not in place", "capacity: 8",
     "ops:\n  - {name: p, time: 2, args: [{out: x, size: 4}]}\n"
     "  - {name: q, time: 5, args: [{in: x}, {out: y, size: 4}]}\n"
     "  - {name: r, time: 1, args: [{in: y}]}\n  - {name: s, time: 6, scratch: {m: 8}}\n",
     (2 + 5 + 5 + 1 + 12 + 1) / 2},
    {"a read comes first",
     "capacity: 4, backing: b, spill: {on: x, write: {fixed: 9}, read: {fixed: 3}}",
     "buffers: [{name: x, size: 4, io: input}]\n"
     "ops:\n  - {name: p, time: 2, args: [{in: x}]}\n  - {name: s, time: 6, scratch: {m: 4}}\n",
     3 + 2 + 6},
    {"a write-back comes last",
     "capacity: 4, backing: b, spill: {on: x, write: {fixed: 9}, read: {fixed: 3}}",
     "buffers: [{name: x, size: 4, io: output}]\n"
     "ops:\n  - {name: p, time: 2, args: [{out: x}]}\n  - {name: s, time: 6, scratch: {m: 4}}\n",
     2 + 9 + 6},
    {"gone for less than the copies take",
     "capacity: 4, backing: b, spill: {on: x, write: {fixed: 2}, read: {fixed: 3}}",
     "ops:\n  - {name: p, time: 2, args: [{out: x, size: 4}]}\n"
     "  - {name: q, time: 4, after: [p]}\n"
     "  - {name: r, time: 1, after: [q], args: [{in: x}]}\n"
     "  - {name: s, time: 7, scratch: {m: 4}}\n",
     2 + 4 + 1 + 7},
    {"gone for longer",
     "capacity: 4, backing: b, spill: {on: x, write: {fixed: 2}, read: {fixed: 1}}",
     "ops:\n  - {name: p, time: 2, args: [{out: x, size: 4}]}\n"
     "  - {name: q, time: 4, after: [p]}\n"
     "  - {name: r, time: 1, after: [q], args: [{in: x}]}\n"
     "  - {name: s, time: 7, scratch: {m: 4}}\n",
     2 + (2 + 1) + 1 + 7},
    {"what is in the store needs no write",
     "capacity: 4, backing: b, spill: {on: x, write: {fixed: 2}, read: {fixed: 1}}",
     "buffers: [{name: x, size: 4, io: input}]\n"
     "ops:\n  - {name: p, time: 2, args: [{in: x}]}\n"
     "  - {name: q, time: 4, after: [p]}\n"
     "  - {name: r, time: 1, after: [q], args: [{in: x}]}\n"
     "  - {name: s, time: 7, scratch: {m: 4}}\n",
     1 + 2 + 1 + 1 + 7},
    {"the first of two writers",
     "capacity: 4, backing: b, spill: {on: x, write: {fixed: 9}, read: {fixed: 1}}",
     "ops:\n  - {name: p, time: 2, args: [{out: x, size: 4}]}\n"
     "  - {name: q, time: 4, after: [p]}\n"
     "  - {name: r, time: 1, after: [q], args: [{inout: x}]}\n"
     "  - {name: s, time: 7, scratch: {m: 4}}\n",
     2 + 4 + 1 + 7},
    {"sizes that have to be rounded", "capacity: 281474976710656",
     "ops:\n  - {name: a, time: 1000000, scratch: {m: 281474976710655}}\n"
     "  - {name: b, time: 1000000, scratch: {m: 281474976710654}}\n",
     2000000},
};

START_TEST(known_bounds)
{
  char text[TEXT];
  fsched_graph *g;
  (void)snprintf(text, sizeof text,
                 "fsched: 1\nname: k\ntarget:\n"
                 "  queues: [{name: q0}, {name: q1}, {name: q2}, {name: x, class: copy}]\n"
                 "  memories: [{name: m, %s}, {name: b}]\n%s",
                 known[_i].memory, known[_i].rest);
  fs_status status = fsched_graph_parse(ctx, "k", text, strlen(text), NULL, &g);
  ck_assert_msg(status == FSCHED_OK, "%s: %s", known[_i].what, fs_test_diags(ctx));
  fs_lower_bounds b = bounds_of(g);
  fs_tick bound = strcmp(known[_i].what, "parts in series") == 0 ? b.series : b.memory_work;
  ck_assert_msg(bound == known[_i].bound, "%s: %u, expected %u", known[_i].what, (unsigned)bound,
                (unsigned)known[_i].bound);
  ck_assert_uint_ge(b.all, bound);
  fsched_graph_destroy(g);
}
END_TEST

/* Six versions of a third of the memory each are held for 22 ticks (528 units in all), or leave for
 * 10 ticks of the one queue that copies, and are held for 10 ticks less: L ticks let L / 10 of them
 * leave, so 528 - 4 L <= 12 L.  A window that had neither would be of 24 ticks. */
START_TEST(copies_take_time)
{
  char text[TEXT];
  int n = snprintf(text, sizeof text,
                   "fsched: 1\nname: k\ntarget:\n"
                   "  queues: [{name: q0}, {name: q1}, {name: q2}, {name: x, class: copy}]\n"
                   "  memories:\n    - {name: m, capacity: 12, backing: b, spill: {on: x, write: "
                   "{fixed: 5}, read: {fixed: 5}}}\n    - {name: b}\nops:\n");
  for (int i = 0; i < 6; i++) {
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  - {name: p%d, args: [{out: v%d, size: 4}]}\n"
                  "  - {name: q%d, time: 20, after: [p%d]}\n"
                  "  - {name: r%d, after: [q%d], args: [{in: v%d}]}\n",
                  i, i, i, i, i, i, i);
  }
  fsched_graph *g;
  ck_fs(ctx, fsched_graph_parse(ctx, "k", text, (size_t)n, NULL, &g));
  ck_assert_uint_eq(bounds_of(g).memory_work, 33);
  fsched_graph_destroy(g);
}
END_TEST

/* In figure-10 both the graph and its bounds are known. */
START_TEST(in_the_statistics)
{
  fsched_graph *g = fs_golden_graph(ctx, "figure-10");
  fsched_schedule *s;
  char *text;
  size_t n;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  ck_fs(ctx, fsched_schedule_stats_json(ctx, s, &text, &n));
  const char *bounds = strstr(text, "\"bounds\": {\"critical_path\": ");
  ck_assert_ptr_nonnull(bounds);
  ck_assert_ptr_nonnull(strstr(bounds, "\"memory\": "));
  ck_assert_ptr_nonnull(strstr(bounds, "\"relaxation\": null}"));
  fsched_text_free(ctx, text, n);
  s->schedule->relaxation = 5;
  ck_fs(ctx, fsched_schedule_stats_json(ctx, s, &text, &n));
  ck_assert_ptr_nonnull(strstr(text, "\"relaxation\": 5}"));
  fsched_text_free(ctx, text, n);
  s->schedule->has_bounds = false;
  ck_fs(ctx, fsched_schedule_stats_json(ctx, s, &text, &n));
  ck_assert_ptr_nonnull(strstr(text, "\"bounds\": null"));
  fsched_text_free(ctx, text, n);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

static fsched_status bound_with(fsched_context *own, fs_budget *budget, long left) {
  fs_lower_bounds bounds;
  fsched_graph *g = random_graph(own, 5, true);
  ck_assert_ptr_nonnull(g);
  budget->left = left;
  fs_status status = fs_graph_lower_bounds(own, g, &bounds);
  fsched_graph_destroy(g);
  return status;
}

START_TEST(no_memory)
{ fs_fail_each(bound_with, 1); }
END_TEST

FS_SUITE(bounds_memory, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, never_above_the_optimum, never_above_a_schedule, strip_packing, copies_take_time,
           in_the_statistics, no_memory);
  FS_LOOPS(t, 0, 2, never_above_a_large_schedule);
  FS_LOOPS(t, 0, sizeof known / sizeof *known, known_bounds);
}
