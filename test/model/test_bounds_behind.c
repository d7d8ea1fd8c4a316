/* SPDX-License-Identifier: Apache-2.0 */
/* The bound by what is read behind a moment, or written before one: never above the least makespan,
 * which a search through all states of the memory finds, and as large as it should be. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ilp/spill_search.h"
#include "kit/fail_each.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/bounds/bounds.h"
#include "model/schedule.h"

#include "kit/context.h"

enum { TEXT = 4096 };

typedef struct behind_script {
  fs_rng rng;
  char text[TEXT];
  size_t n;
} behind_script;

static void put(behind_script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(behind_script *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  s->n += (size_t)vsnprintf(s->text + s->n, TEXT - s->n, format, args);
  va_end(args);
  ck_assert_uint_lt(s->n, TEXT);
}

static uint32_t from_one(behind_script *s, uint32_t most) {
  return 1 + fs_rng_below(&s->rng, most);
}

static bool one_in(behind_script *s, uint32_t n) { return fs_rng_one_in(&s->rng, n); }

static fs_lower_bounds bounds_of(const fsched_graph *g) {
  fs_lower_bounds b;
  ck_fs(ctx, fs_graph_lower_bounds(ctx, g, &b));
  return b;
}

static fsched_graph *graph_of(const behind_script *s) {
  fsched_graph *g;
  fs_status status = fsched_graph_parse(ctx, "t", s->text, s->n, NULL, &g);
  ck_assert_msg(status == FSCHED_OK, "%s\n%s", fs_test_diags(ctx), s->text);
  return g;
}

static void put_target(behind_script *s, uint32_t capacity) {
  put(s, "fsched: 1\nname: t\ntarget:\n  queues: [{name: q}%s, {name: d, class: copy}]\n",
      one_in(s, 4) ? "" : ", {name: r}");
  put(s, "  memories:\n    - {name: m, capacity: %u, placement: %s, backing: far, spill: {on: %s, ",
      capacity, one_in(s, 2) ? "counted" : "contiguous", one_in(s, 8) ? "compute" : "copy");
  put(s, "write: {fixed: %u}, read: {fixed: %u}}}\n    - {name: far}\n", 1 + from_one(s, 2),
      1 + from_one(s, 2));
}

/* Ops that read what is given come behind one or two others, or those that write what is kept
 * before them; now and then an op that reads and writes, or that does not wait for one of the
 * others. */
static fsched_graph *random_graph(behind_script *s, uint64_t seed) {
  *s = (behind_script){.rng = {seed}};
  uint32_t largest = 0, sum = 0, size[3], waits = from_one(s, 2), users = 3;
  bool reads = one_in(s, 2), both = one_in(s, 6);
  for (uint32_t b = 0; b < users; b++) {
    size[b] = from_one(s, 4);
    sum += size[b];
    largest = (uint32_t)fs_max(largest, both && b > 0 ? size[b] + size[b - 1] : size[b]);
  }
  put_target(s, largest + fs_rng_below(&s->rng, sum > largest ? sum - largest : 1));
  put(s, "buffers:\n");
  for (uint32_t b = 0; b < users; b++) {
    put(s, "  - {name: b%u, size: %u, io: %s}\n", b, size[b],
        one_in(s, 8) ? "state"
        : reads      ? "input"
                     : "output");
  }
  put(s, "ops:\n");
  for (uint32_t k = 0; reads && k < waits; k++) {
    put(s, "  - {name: w%u, on: compute, time: %u}\n", k, 2 + from_one(s, 4));
  }
  for (uint32_t b = 0; b < users; b++) {
    put(s, "  - {name: u%u, on: compute, time: %u, args: [{%s: b%u}", b,
        from_one(s, one_in(s, 2) ? 1 : 3),
        !reads && one_in(s, 2) ? "out"
        : reads                ? "in"
                               : "out_existing",
        b);
    put(s, both && b > 0 ? ", {in: b%u}]" : "]", b - 1);
    put(s, reads ? ", after: [w0%s]}\n" : "}\n", waits > 1 && !one_in(s, 3) ? ", w1" : "");
  }
  for (uint32_t k = 0; !reads && k < waits; k++) {
    put(s, "  - {name: w%u, on: compute, time: %u, after: [u0, u1%s]}\n", k, 2 + from_one(s, 4),
        one_in(s, 4) ? "" : ", u2");
  }
  return graph_of(s);
}

START_TEST(never_above_the_least)
{
  static behind_script s;
  uint32_t known = 0, raised = 0, near = 0;
  for (uint64_t i = 0; i < 400; i++) {
    uint32_t states;
    fsched_graph *g = random_graph(&s, fs_turn() << 16 | i);
    fs_lower_bounds b = bounds_of(g);
    fs_tick least = fs_spill_search(g, &states);
    if (least != FS_TICK_NONE) {
      ck_assert_msg(b.all <= least, "bound %llu, but %llu is possible\n%s",
                    (unsigned long long)b.all, (unsigned long long)least, s.text);
      known++;
      bool more = b.memory_work > fs_max(b.critical_path, b.queue_work);
      raised += more;
      near += more && b.memory_work + 1 >= least;
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, 300);
  fs_assert_seen(raised, 40);
  fs_assert_seen(near, 8);
}
END_TEST

/* Queues q0 to q2 compute, x copies: a read takes three ticks, a write four. */
static const struct {
  const char *what, *memory, *rest;
  fs_tick bound;
} known[] = {
    {"two of four reads are early", "capacity: 4",
     "buffers:\n  - {name: a, size: 2, io: input}\n  - {name: b, size: 2, io: input}\n"
     "  - {name: c, size: 2, io: input}\n  - {name: d, size: 2, io: input}\n"
     "ops:\n  - {name: w, time: 10}\n"
     "  - {name: o, time: 1, after: [w], args: [{in: a}]}\n"
     "  - {name: p, time: 1, after: [w], args: [{in: b}]}\n"
     "  - {name: q, time: 1, after: [w], args: [{in: c}]}\n"
     "  - {name: r, time: 1, after: [w], args: [{in: d}]}\n",
     10 + 2 * 3 + 1},
    {"part of a read is early", "capacity: 4",
     "buffers:\n  - {name: a, size: 3, io: input}\n  - {name: b, size: 3, io: input}\n"
     "  - {name: c, size: 3, io: input}\n"
     "ops:\n  - {name: w, time: 10}\n"
     "  - {name: o, time: 1, after: [w], args: [{in: a}]}\n"
     "  - {name: p, time: 1, after: [w], args: [{in: b}]}\n"
     "  - {name: q, time: 1, after: [w], args: [{in: c}]}\n",
     10 + 3 * 3 - (3 + 1) + 1},
    {"a tail", "capacity: 2",
     "buffers:\n  - {name: a, size: 2, io: input}\n  - {name: b, size: 2, io: input}\n"
     "ops:\n  - {name: w, time: 10}\n"
     "  - {name: o, time: 1, after: [w], args: [{in: a}]}\n"
     "  - {name: p, time: 1, after: [w], args: [{in: b}]}\n"
     "  - {name: z, time: 5, after: [o, p]}\n",
     10 + 3 + 1 + 5},
    {"half of the writes are late", "capacity: 4",
     "buffers:\n  - {name: a, size: 2, io: output}\n  - {name: b, size: 2, io: output}\n"
     "  - {name: c, size: 2, io: output}\n  - {name: d, size: 2, io: output}\n"
     "ops:\n  - {name: o, time: 1, args: [{out: a}]}\n  - {name: p, time: 1, args: [{out: b}]}\n"
     "  - {name: q, time: 1, args: [{out: c}]}\n  - {name: r, time: 1, args: [{out: d}]}\n"
     "  - {name: w, time: 10, after: [o, p, q, r]}\n",
     1 + 2 * 4 + 10},
    {"ops that come before take their queues", "capacity: 2",
     "buffers:\n  - {name: a, size: 2, io: input}\n  - {name: b, size: 2, io: input}\n"
     "ops:\n  - {name: v, time: 2}\n"
     "  - {name: w1, time: 5, after: [v]}\n  - {name: w2, time: 5, after: [v]}\n"
     "  - {name: w3, time: 5, after: [v]}\n  - {name: w4, time: 5, after: [v]}\n"
     "  - {name: w5, time: 5, after: [v]}\n  - {name: w6, time: 5, after: [v]}\n"
     "  - {name: o, time: 1, after: [w1, w2, w3, w4, w5, w6], args: [{in: a}]}\n"
     "  - {name: p, time: 1, after: [w1, w2, w3, w4, w5, w6], args: [{in: b}]}\n",
     2 + 10 + 3 + 1},
    {"all fits", "capacity: 4",
     "buffers:\n  - {name: a, size: 2, io: input}\n  - {name: b, size: 2, io: input}\n"
     "ops:\n  - {name: w, time: 10}\n"
     "  - {name: o, time: 1, after: [w], args: [{in: a}]}\n"
     "  - {name: p, time: 1, after: [w], args: [{in: b}]}\n",
     10 + 1},
};

START_TEST(known_bounds)
{
  behind_script s = {.n = 0};
  put(&s,
      "fsched: 1\nname: k\ntarget:\n"
      "  queues: [{name: q0}, {name: q1}, {name: q2}, {name: x, class: copy}]\n  memories:\n"
      "    - {name: m, %s, backing: far, spill: {on: x, write: {fixed: 4}, read: {fixed: 3}}}\n"
      "    - {name: far}\n%s",
      known[_i].memory, known[_i].rest);
  fsched_graph *g = graph_of(&s);
  fs_lower_bounds b = bounds_of(g);
  fs_tick bound = known[_i].bound;
  ck_assert_msg(b.all == bound, "%s: %u, expected %u", known[_i].what, (unsigned)b.all,
                (unsigned)bound);
  fsched_graph_destroy(g);
}
END_TEST

static fsched_status bound_with(fsched_context *own, fs_budget *budget, long left) {
  static const char text[] =
      "fsched: 1\nname: k\ntarget:\n  queues: [{name: q}, {name: x, class: copy}]\n  memories:\n"
      "    - {name: m, capacity: 2, backing: far, spill: {on: x, write: {fixed: 4}, read: {fixed: "
      "3}}}\n    - {name: far}\n"
      "buffers: [{name: a, size: 2, io: input}, {name: b, size: 2, io: input}]\nops:\n"
      "  - {name: w, time: 10}\n  - {name: o, time: 1, after: [w], args: [{in: a}]}\n"
      "  - {name: p, time: 1, after: [w], args: [{in: b}]}\n";
  fsched_graph *g;
  fs_lower_bounds b;
  ck_fs(own, fsched_graph_parse(own, "k", text, sizeof text - 1, NULL, &g));
  budget->left = left;
  fs_status status = fs_graph_lower_bounds(own, g, &b);
  fsched_graph_destroy(g);
  return status;
}

START_TEST(no_memory)
{ fs_fail_each(bound_with, 1); }
END_TEST

FS_SUITE(bounds_behind, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, never_above_the_least, no_memory);
  FS_LOOPS(t, 0, sizeof known / sizeof *known, known_bounds);
}
