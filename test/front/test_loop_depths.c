/* SPDX-License-Identifier: Apache-2.0 */
/* Depths that are chosen: no other ones that fit make the loop shorter, at no greater interval, as
 * all of them say that are given one after the other. */
#include <stdio.h>
#include <string.h>

#include "fsched/compile.h"
#include "kit/gen.h"
#include "kit/quick.h"
#include "kit/status.h"
#include "kit/turn.h"
#include "model/graph.h"
#include "model/handle.h"
#include "model/loop_report.h"

#include "kit/context.h"

enum { MOST_OPS = 3, GRAPHS = 150, SLOT = 64 };

typedef struct depths_op {
  uint32_t queue, time, latency, slots; /* slots: of 64 bytes, of what it begins */
  uint32_t reads;                       /* ops before, as bits */
} depths_op;

typedef struct depths_loop {
  uint32_t n, trip, capacity; /* capacity: in slots */
  const char *sync;
  depths_op op[MOST_OPS];
} depths_loop;

static depths_loop random_loop(uint64_t seed, const char *sync) {
  static const uint32_t trips[] = {1, 2, 3, 3, 4, 5, 6, 8, 12, 1000};
  fs_rng rng = {seed};
  depths_loop x = {.n = 2 + fs_rng_below(&rng, MOST_OPS - 1), .sync = sync};
  uint32_t queues = 1 + fs_rng_below(&rng, 3), latencies = fs_rng_below(&rng, 3);
  x.trip = trips[fs_rng_below(&rng, sizeof trips / sizeof trips[0])];
  for (uint32_t i = 0; i < x.n; i++) {
    depths_op *o = &x.op[i];
    o->queue = fs_rng_below(&rng, queues);
    o->time = 1 + fs_rng_below(&rng, 8);
    o->latency = o->time + (fs_rng_below(&rng, 3) < latencies ? 1 + fs_rng_below(&rng, 9) : 0);
    o->slots = 1 + fs_rng_one_in(&rng, 4);
    o->reads = fs_rng_below(&rng, 1u << i);
    x.capacity += o->slots;
  }
  x.capacity += fs_rng_below(&rng, 6);
  return x;
}

/* depth: per op, of what it begins; NULL: they are to be chosen. */
static void put_loop(const depths_loop *x, const uint32_t *depth, fs_text *t) {
  fs_text_printf(t,
                 "fsched: 1\ntarget:\n  queues: [{name: q0}, {name: q1}, {name: q2}]\n"
                 "  memories: [{name: m, capacity: %u}]\n%s"
                 "ops:\n  - loop: lp\n    trip: %u\n",
                 x->capacity * SLOT, x->sync, x->trip);
  for (uint32_t i = 0; depth != NULL && i < x->n; i++) {
    fs_text_printf(t, "%sb%u: {depth: %u}%s", i == 0 ? "    buffers: {" : ", ", i, depth[i],
                   i + 1 == x->n ? "}\n" : "");
  }
  fs_text_puts(t, "    ops:\n");
  for (uint32_t i = 0; i < x->n; i++) {
    const depths_op *o = &x->op[i];
    fs_text_printf(t, "      - {name: o%u, on: q%u, time: %u, latency: %u, args: [", i, o->queue,
                   o->time, o->latency);
    for (uint32_t k = 0; k < i; k++) {
      if ((o->reads >> k & 1) != 0) {
        fs_text_printf(t, "{in: b%u}, ", k);
      }
    }
    fs_text_printf(t, "{out: b%u, size: %u}]}\n", i, o->slots * SLOT);
  }
  fs_text_add(t, "", 1);
  ck_assert(!t->failed);
}

typedef struct depths_result {
  uint64_t span, bytes, barriers;
  fs_loop_ticks ii;
} depths_result;

/* Plans the loop, and compiles it if its depths are to be chosen; false: it does not fit. */
static bool plan(const depths_loop *x, const uint32_t *depth, depths_result *out) {
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  fsched_read_options read = {.size = sizeof read};
  fsched_schedule *s = NULL;
  fsched_graph *g = NULL;
  fs_text t;
  fs_text_init(&t, ctx);
  put_loop(x, depth, &t);
  fsched_status status = fsched_graph_parse(ctx, "depths.yaml", t.at, strlen(t.at), &read, &g);
  if (status == FSCHED_OK && depth == NULL) {
    ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  }
  if (status == FSCHED_OK) {
    ck_assert_uint_eq(g->n_rolled, 1);
    const fs_loop_report *r = g->rolled[0].report;
    *out = (depths_result){.span = r->span, .ii = r->ii};
    for (uint32_t i = 0; i < g->rolled[0].loop.n_guards; i++) {
      out->barriers += g->rolled[0].loop.guard[i].depth;
    }
    for (uint32_t v = 0; v < r->n_slots; v++) {
      ck_assert(r->slots[v].given == (depth != NULL) || x->trip == 1);
      out->bytes += r->slots[v].bytes * g->rolled[0].loop.ring[v].depth;
    }
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fs_text_drop(&t);
  fsched_diag_clear(ctx);
  return status == FSCHED_OK;
}

/* The next depths, as numbers of so many digits; false: there are none. */
static bool next_depths(const depths_loop *x, uint32_t *depth) {
  uint32_t most = x->trip < x->capacity ? x->trip : x->capacity;
  for (uint32_t i = 0; i < x->n; i++) {
    if (++depth[i] <= most) {
      return true;
    }
    depth[i] = 1;
  }
  return false;
}

static bool have_room(const depths_loop *x, const uint32_t *depth) {
  uint32_t slots = 0;
  for (uint32_t i = 0; i < x->n; i++) {
    slots += depth[i] * x->op[i].slots;
  }
  return slots <= x->capacity;
}

static bool is_more(fs_loop_ticks a, fs_loop_ticks b) { return a.num * b.den > b.num * a.den; }

typedef struct depths_count {
  uint32_t longer, worse; /* loops that others make shorter; of which some are longer */
} depths_count;

/* Compares what is chosen with all depths that need no more barriers. */
static void check_loop(const depths_loop *x, depths_count *n) {
  depths_result chosen, other;
  uint32_t depth[MOST_OPS];
  uint64_t least = UINT64_MAX;
  bool worse = false;
  ck_assert(plan(x, NULL, &chosen));
  for (uint32_t i = 0; i < x->n; i++) {
    depth[i] = 1;
  }
  do {
    if (have_room(x, depth) && plan(x, depth, &other)) {
      bool same = !is_more(other.ii, chosen.ii) && other.barriers <= chosen.barriers;
      least = same && other.span < least ? other.span : least;
      worse = worse || other.span > chosen.span;
    }
  } while (next_depths(x, depth));
  ck_assert_msg(chosen.span <= least + least / 16, "%llu for %llu", (unsigned long long)chosen.span,
                (unsigned long long)least);
  n->longer += chosen.span > least;
  n->worse += worse;
}

/* Plans of all depths would take too long, so a few loops may be missed. */
static void check_loops(const char *sync) {
  depths_count n = {0};
  for (uint32_t k = 0; k < GRAPHS; k++) {
    depths_loop x = random_loop(fs_turn() * GRAPHS + k, sync);
    check_loop(&x, &n);
  }
  ck_assert_uint_le(n.longer, 1);
  fs_assert_seen(n.worse, GRAPHS / 4);
}

START_TEST(spans_are_least)
{ check_loops(""); }
END_TEST

START_TEST(spans_with_barriers_are_least)
{ check_loops("  sync: barrier\n  barriers: {count: 200}\n"); }
END_TEST

/* As few slots as the interval needs take 43: the first op of iteration 1 waits for the slot of
 * iteration 0, for the latency of what reads that. */
START_TEST(slots_fill_the_ends)
{
  depths_loop x = {3, 3, 6, "", {{0, 2, 2, 1, 0}, {0, 5, 9, 1, 1}, {0, 6, 6, 1, 2}}};
  depths_result chosen, fewest;
  const uint32_t depth[] = {1, 2, 1};
  ck_assert(plan(&x, depth, &fewest) && plan(&x, NULL, &chosen));
  ck_assert_uint_eq(fewest.span, 43);
  ck_assert_uint_eq(chosen.span, 39);
  ck_assert(!is_more(chosen.ii, fewest.ii));
  ck_assert_uint_eq(chosen.bytes, 5 * SLOT);
}
END_TEST

/* The same loop, with an op beside it: where the memory is bounded, that may need the room. */
START_TEST(slots_stay_few_beside_others)
{
  static const struct {
    const char *capacity;
    uint64_t span;
  } memory[] = {{", capacity: 4096", 43}, {"", 39}};
  char text[1024];
  (void)snprintf(
      text, sizeof text,
      "fsched: 1\ntarget: {queues: [{name: q}, {name: c}], memories: [{name: m%s}]}\n"
      "ops:\n- {name: a, on: c, time: 1, args: [{out: k, size: 128}]}\n"
      "- loop: lp\n  trip: 3\n  ops:\n"
      "  - {name: o0, on: q, time: 2, args: [{out: b0, size: 64}]}\n"
      "  - {name: o1, on: q, time: 5, latency: 9, args: [{in: b0}, {out: b1, size: 64}]}\n"
      "  - {name: o2, on: q, time: 6, args: [{in: b1}, {out: b2, size: 64}]}\n",
      memory[_i].capacity);
  fsched_graph *g = NULL;
  ck_fs(ctx, fsched_graph_parse(ctx, "beside.yaml", text, strlen(text), NULL, &g));
  ck_assert_uint_eq(g->rolled[0].report->span, memory[_i].span);
  fsched_graph_destroy(g);
}
END_TEST

/* The fewest slots leave room for what is used behind the loop, one more would drive it out. */
START_TEST(slots_take_no_place_that_costs)
{
  static const char text[] =
      "fsched: 1\ntarget:\n  queues: [{name: q}, {name: c}]\n"
      "  memories: [{name: m, capacity: 384, backing: s,"
      " spill: {on: c, write: {fixed: 20}, read: {fixed: 20}}}, {name: s}]\n"
      "ops:\n- {name: a, on: q, time: 1, args: [{out: k, size: 128}]}\n"
      "- loop: lp\n  trip: 3\n  ops:\n"
      "  - {name: o0, on: q, time: 2, after: [a], args: [{out: b0, size: 64}]}\n"
      "  - {name: o1, on: q, time: 5, latency: 9, args: [{in: b0}, {out: b1, size: 64}]}\n"
      "  - {name: o2, on: q, time: 6, args: [{in: b1}, {out: b2, size: 64}]}\n"
      "- {name: z, on: q, time: 1, after: [lp], args: [{in: k}]}\n";
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  fsched_schedule *s = NULL;
  fsched_graph *g = NULL;
  ck_fs(ctx, fsched_graph_parse(ctx, "place.yaml", text, strlen(text), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  ck_assert_uint_eq(s->schedule->n_copies, 0);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(loop_depths, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 2, slots_stay_few_beside_others);
  FS_TESTS(t, spans_are_least, spans_with_barriers_are_least, slots_fill_the_ends,
           slots_take_no_place_that_costs);
}
