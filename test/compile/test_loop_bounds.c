/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds of graphs with loops that stay loops hold for their unrolling: a schedule of that is
 * never shorter.  Where there are few instances they are those of the unrolled graph, and never
 * those of loops that are one op. */
#include <stdio.h>
#include <string.h>

#include "kit/nest_gen.h"
#include "kit/quick.h"
#include "kit/turn.h"
#include "model/handle.h"

#include "kit/context.h"

/* The bounds of a graph as text, and the makespan of its schedule; whether it is right. */
typedef struct bounded_makespan {
  fs_lower_bounds bounds;
  fs_tick makespan, lower_bound;
} bounded_makespan;

static bool compile_read(const char *text, const fsched_read_options *r, fsched_refine refine,
                         bounded_makespan *out) {
  fsched_compile_options o = {
      .size = sizeof o, .effort = FS_QUICK, .refine = refine, .verify = 1, .node_limit = 100};
  fsched_graph *g = NULL;
  fsched_schedule *s = NULL;
  bool right = fsched_graph_parse(ctx, "bounds", text, strlen(text), r, &g) == FSCHED_OK &&
               fsched_compile(ctx, g, &o, &s, NULL) == FSCHED_OK;
  if (right) {
    const fs_schedule *x = s->schedule;
    *out = (bounded_makespan){x->bounds, x->makespan, x->lower_bound};
    ck_assert_int_eq(x->status == FS_SCHEDULE_OPTIMAL, x->lower_bound == x->makespan);
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return right;
}

static bool compile_text(const char *text, bool unroll, fsched_refine refine,
                         bounded_makespan *out) {
  fsched_read_options r = {.size = sizeof r, .unroll = unroll};
  return compile_read(text, &r, refine, out);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 20 };
#else
enum { GRAPHS = 120 };
#endif

/* Counts those whose loops and unrolling are both right. */
static uint32_t count_bounded(uint64_t part, void (*generate)(uint64_t, fs_text *)) {
  uint32_t right = 0, equal = 0; /* the orders of slots given back at once do not count */
  for (uint64_t k = 0; k < GRAPHS; k++) {
    fs_text t;
    bounded_makespan loops, flat;
    fs_text_init(&t, ctx);
    generate((fs_turn() * 10 + part) * GRAPHS + k, &t);
    fs_text_add(&t, "", 1);
    ck_assert(!t.failed);
    if (compile_text(t.at, true, FSCHED_REFINE_NONE, &flat) &&
        compile_text(t.at, false, FSCHED_REFINE_NONE, &loops)) {
      right++;
      ck_assert_uint_eq(loops.lower_bound, loops.bounds.all);
      ck_assert_msg(loops.lower_bound <= flat.makespan, "%llu above %llu\n%s",
                    (unsigned long long)loops.lower_bound, (unsigned long long)flat.makespan, t.at);
      ck_assert_uint_le(loops.lower_bound, flat.lower_bound);
      equal += loops.lower_bound == flat.lower_bound;
    }
    fs_text_drop(&t);
  }
  fs_assert_seen(4 * equal, 3 * right);
  return right;
}

START_TEST(random_loops)
{
  fs_assert_seen(count_bounded(0, fs_loop_gen), GRAPHS / 5);
  fs_assert_seen(count_bounded(1, fs_nest_gen), GRAPHS / 20);
}
END_TEST

/* Two ops wait for each other's slots; one before them is for the second alone, so the first can
 * run at once. */
static const char *load_use(uint32_t trip) {
  static char text[1024];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\n"
                 "target: {queues: [{name: dma}, {name: mma}]}\n"
                 "buffers: [{name: acc, size: 64, io: output}]\n"
                 "ops:\n"
                 "- {name: init, on: mma, time: 6, args: [{out: acc}]}\n"
                 "- loop: l\n"
                 "  trip: %u\n"
                 "  ops:\n"
                 "  - {name: load, on: dma, time: 4, args: [{out: x, size: 64}]}\n"
                 "  - {name: use, on: mma, time: 3, args: [{in: x}, {inout: acc}]}\n",
                 (unsigned)trip);
  return text;
}

/* The plan of the loop as an op would be later, if it began behind the first op. */
START_TEST(known_loop)
{
  bounded_makespan loops, flat;
  for (uint32_t trip = 1; trip < 40; trip++) {
    ck_assert(compile_text(load_use(trip), true, FSCHED_REFINE_NONE, &flat));
    ck_assert(compile_text(load_use(trip), false, FSCHED_REFINE_NONE, &loops));
    fs_tick least = 4 * (fs_tick)trip + 3;
    least = least < 6 + 3 * (fs_tick)trip ? 6 + 3 * (fs_tick)trip : least;
    ck_assert_uint_eq(flat.makespan, least);
    ck_assert_uint_eq(loops.lower_bound, least);
  }
}
END_TEST

/* What a search proves of loops that are ops is no bound of their unrolling. */
START_TEST(refined)
{
  bounded_makespan loops;
  ck_assert(compile_text(load_use(9), false, FSCHED_REFINE_ILP, &loops));
  ck_assert_uint_eq(loops.lower_bound, 4 * 9 + 3);
}
END_TEST

/* Long loops have the bound of their work. */
START_TEST(long_loops)
{
  bounded_makespan loops, flat;
  for (uint32_t trip = 510; trip < 520; trip++) { /* 1,024 instances lie between */
    ck_assert(compile_text(load_use(trip), true, FSCHED_REFINE_NONE, &flat));
    ck_assert(compile_text(load_use(trip), false, FSCHED_REFINE_NONE, &loops));
    ck_assert_uint_le(loops.lower_bound, flat.makespan);
    ck_assert_uint_eq(loops.lower_bound, 4 * (fs_tick)trip + (trip <= 512 ? 3 : 0));
  }
  ck_assert(compile_text(load_use(1000000000), false, FSCHED_REFINE_NONE, &loops));
  ck_assert_uint_eq(loops.lower_bound, 4000000000);
}
END_TEST

/* Gangs, resources, classes and loops in loops count as often as they run. */
START_TEST(long_work)
{
  static const char format[] =
      "fsched: 1\n"
      "target: {queues: [{name: a, class: c}, {name: b, class: c}, {name: d, class: e}],"
      " resources: [{name: r, capacity: 2}]}\n"
      "ops:\n"
      "- loop: l\n"
      "  trip: %u\n"
      "  ops:\n"
      "  - {name: p, on: c, time: %u}\n"
      "  - {name: q, on: c, time: 4}\n"
      "  - {name: g, on: [a, d], time: 1}\n"
      "  - loop: k\n"
      "    trip: 7\n"
      "    ops:\n"
      "    - {name: u, on: d, time: %u, uses: {r: 2}}\n";
  static const struct {
    uint32_t p, u;
    fs_tick work;
  } of[] = {{30, 1, 17500}, {3, 3, 22000}, {3, 1, 8000}};
  char text[1024];
  bounded_makespan loops;
  for (uint32_t i = 0; i < sizeof of / sizeof *of; i++) {
    (void)snprintf(text, sizeof text, format, 1000U, (unsigned)of[i].p, (unsigned)of[i].u);
    ck_assert(compile_text(text, false, FSCHED_REFINE_NONE, &loops));
    ck_assert_uint_eq(loops.lower_bound, of[i].work);
  }
}
END_TEST

/* A loop, or one in another one, writes all that is there of an output, and of what a later loop
 * has on entry. */
static const char *write_then_read(const char *trip, bool nested) {
  static char text[1024];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\n"
                 "target: {queues: [{name: a}, {name: b}]}\n"
                 "buffers: [{name: y, size: 8, io: output}, {name: x, size: 8}]\n"
                 "ops:\n"
                 "- loop: o\n"
                 "  trip: %u\n"
                 "  ops:\n"
                 "  - loop: k\n"
                 "    trip: %s\n"
                 "    ops:\n"
                 "    - {name: write, on: a, time: 5, args: [{out: x}, {out: y}]}\n"
                 "  - loop: l\n"
                 "    trip: 3\n"
                 "    ops:\n"
                 "    - {name: read, on: b, args: [{in: x, distance: 1}]}\n"
                 "- loop: m\n"
                 "  trip: {param: other, min: 2, max: 600}\n"
                 "  ops:\n"
                 "  - {name: idle, on: b, time: 0}\n",
                 nested ? 2U : 1U, trip);
  return text;
}

static void check_trips(const char *param, uint32_t trip, bool nested, const char *value) {
  const char *const params[] = {value};
  char number[16];
  bounded_makespan same, open;
  (void)snprintf(number, sizeof number, "%u", (unsigned)trip);
  ck_assert(compile_text(write_then_read(number, nested), false, FSCHED_REFINE_NONE, &same));
  fsched_read_options r = {.size = sizeof r, .params = params, .n_params = value == NULL ? 0 : 1};
  ck_assert_msg(compile_read(write_then_read(param, nested), &r, FSCHED_REFINE_NONE, &open),
                "%s: %s", param, value == NULL ? "no value" : value);
  ck_assert_uint_eq(open.lower_bound, same.lower_bound);
  ck_assert_uint_ge(open.lower_bound, (nested ? 10 : 5) * (fs_tick)trip);
  ck_assert_uint_le(open.lower_bound, open.makespan);
}

/* Bounds are those of the most trips that a parameter may give, or of those that its value gives;
 * loops that take one parameter have the range that they share. */
START_TEST(trips_of_parameters)
{
  for (int nested = 0; nested < 2; nested++) {
    check_trips("{param: n, min: 1, max: 1}", 1, nested, NULL);
    check_trips("{param: n, min: 1, max: 3}", 3, nested, NULL);
    check_trips("{param: n, min: 1, max: 3}", 1, nested, "n=1");
    check_trips("{param: n, max: 3}", 2, nested, "n=2");
    check_trips("{param: other, min: 1, max: 3000}", 600, nested, NULL);
    check_trips("{param: n, min: 1, max: 5000}", 5000, nested, NULL);
    check_trips("{param: n, min: 1, max: 5000}", 4999, nested, "n=4999");
  }
}
END_TEST

static bool refuses(const char *text, const char *value) {
  const char *const params[] = {value};
  fsched_read_options r = {.size = sizeof r, .params = params, .n_params = value == NULL ? 0 : 1};
  fsched_graph *g;
  bool refused = fsched_graph_parse(ctx, "trips", text, strlen(text), &r, &g) == FSCHED_BAD_INPUT;
  fsched_diag_clear(ctx);
  return refused;
}

/* What may run 0 times writes nothing. */
START_TEST(no_trips_write_nothing)
{
  for (int nested = 0; nested < 2; nested++) {
    ck_assert(refuses(write_then_read("{param: n, max: 3}", nested), NULL));
    ck_assert(refuses(write_then_read("{param: n, max: 3}", nested), "n=0"));
    ck_assert(refuses(write_then_read("{param: n, max: 0}", nested), NULL));
  }
}
END_TEST

FS_SUITE(loop_bounds, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_TESTS(t, random_loops, known_loop, refined, long_loops, long_work, trips_of_parameters,
           no_trips_write_nothing);
}
