/* SPDX-License-Identifier: Apache-2.0 */
/* What a target says that commands cost: `launch` lengthens them, and by `wait` an op is planned
 * later than the end of a predecessor on other queues. */
#include "fsched/compile.h"
#include "kit/gen.h"
#include "listsched/listsched.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

static fs_schedule *scheduled(const fsched_graph *g) {
  fs_listsched_options o = {.evict = FSCHED_EVICT_FARTHEST};
  fs_schedule *s = NULL;
  fs_status status = fs_listsched_run(ctx, g, &o, &s);
  ck_assert_msg(status == FSCHED_OK, "%s", fs_first_message(ctx));
  status = fs_verify_schedule(ctx, g, s, NULL);
  ck_assert_msg(status == FSCHED_OK, "%s", fs_first_message(ctx));
  return s;
}

static bool share_queue(const fs_schedule *s, uint32_t a, uint32_t b) {
  uint32_t n, m;
  const uint32_t *of_a = fs_item_queues(s, a, &n), *of_b = fs_item_queues(s, b, &m);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < m; k++) {
      if (of_a[i] == of_b[k]) {
        return true;
      }
    }
  }
  return false;
}

/* The edges between ops that share no queue; each of them lasts a wait. */
static uint64_t hops(const fs_schedule *s, fs_tick wait) {
  const fsched_graph *g = s->graph;
  uint64_t n = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
      if (!share_queue(s, g->pred[i], op)) {
        n++;
        ck_assert_uint_ge(s->start[op], s->end[g->pred[i]] + wait);
      }
    }
  }
  return n;
}

/* Schedules with a wait keep it on every edge, and have fewer edges between queues where it is
 * dear. */
START_TEST(waits_are_planned)
{
  uint64_t cheap = 0, dear = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    fs_gen_params p = fs_gen_any(seed, 60);
    p.sync = FSCHED_SYNC_TIMELINE, p.counting = false;
    fsched_graph *g;
    ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
    fs_schedule *s = scheduled(g);
    cheap += hops(s, 0);
    fs_schedule_destroy(s);
    static const fs_tick waits[] = {1, 7, 1000};
    for (size_t i = 0; i < 3; i++) {
      g->target.wait = waits[i];
      s = scheduled(g);
      uint64_t n = hops(s, waits[i]);
      dear += waits[i] == 1000 ? n : 0;
      fs_schedule_destroy(s);
    }
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(cheap, 1000);
  ck_assert_uint_lt(dear * 10, cheap * 9);
}
END_TEST

static fs_tick makespan_of(const char *target, const char *ops) {
  char text[512];
  (void)snprintf(text, sizeof text, "fsched: 1\ntarget: {%s}\nops: [%s]\n", target, ops);
  fsched_graph *g = fs_parse(text);
  fs_schedule *s = scheduled(g);
  fs_tick makespan = s->makespan;
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  return makespan;
}

/* A fork of two ops of 10 ticks: on two queues the join waits for one of them. */
#define FORK                                                                         \
  "{name: a, time: 1}, {name: b, time: 10, after: [a]}, {name: c, time: 10, after: " \
  "[a]}, {name: d, time: 1, after: [b, c]}"
START_TEST(a_fork_pays_while_waits_are_cheap)
{
  static const char two[] = "queues: [{name: x}, {name: y}], wait: ";
  static const struct {
    const char *wait;
    fs_tick makespan;
  } cases[] = {{"0", 12}, {"1", 13}, {"4", 16}, {"9", 21}, {"10", 22}, {"1000000", 22}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char target[100];
    (void)snprintf(target, sizeof target, "%s%s", two, cases[i].wait);
    ck_assert_uint_eq(makespan_of(target, FORK), cases[i].makespan);
    (void)snprintf(target, sizeof target, "concurrency: 2, wait: %s", cases[i].wait);
    ck_assert_uint_eq(makespan_of(target, FORK), cases[i].makespan);
  }
  /* Syncs that stop everything leave nothing to wait for. */
  ck_assert_uint_eq(makespan_of("queues: [{name: x}, {name: y}], sync: block, wait: 9", FORK), 12);
}
END_TEST

/* A gang meets a predecessor on any of its queues. */
START_TEST(gangs_wait)
{
  static const char queues[] = "queues: [{name: x}, {name: y}, {name: z, class: k}], wait: 5";
  ck_assert_uint_eq(makespan_of(queues, "{name: a, on: x}, {name: g, on: [x, y], after: [a]}"), 2);
  ck_assert_uint_eq(makespan_of(queues, "{name: a, on: z}, {name: g, on: [x, y], after: [a]}"), 7);
  ck_assert_uint_eq(makespan_of(queues, "{name: g, on: [x, y]}, {name: a, on: y, after: [g]}"), 2);
  ck_assert_uint_eq(makespan_of(queues, "{name: g, on: [x, y]}, {name: a, on: z, after: [g]}"), 7);
}
END_TEST

START_TEST(launches_lengthen)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\n"
      "target:\n"
      "  launch: {copy: 3, slow: 7}\n"
      "  queues: [{name: x}, {name: y, class: slow}, {name: z, class: copy}]\n"
      "  memories: [{name: m, capacity: 9, backing: d, spill: {on: z, write: {fixed: 1, rate: 3},\n"
      "              read: {fixed: 2, rate: 4, per: 6}}}, {name: d}]\n"
      "ops: [{name: a, time: 5}, {name: b, on: slow, time: 0}, {name: c, on: y}, {name: d, on: "
      "z},\n"
      "      {name: e, on: [x, y], time: 2}]\n");
  static const fs_tick times[] = {5, 7, 8, 4, 9};
  for (uint32_t op = 0; op < 5; op++) {
    ck_assert_uint_eq(g->op_time[op], times[op]);
  }
  ck_assert_uint_eq(fs_spill_write_time(&g->target.memory[0], 7), 1 + 3 + 3);
  ck_assert_uint_eq(fs_spill_read_time(&g->target.memory[0], 7), 2 + 3 + 11); /* 42 / 4, up */
  fs_schedule_destroy(scheduled(g));
  fsched_graph_destroy(g);
  ck_assert_uint_eq(makespan_of("launch: 4", "{name: a, time: 5}"), 9);
  ck_assert_uint_eq(makespan_of("launch: 4, queues: [{name: x}]", "{name: a}, {name: b}"), 10);
}
END_TEST

FS_SUITE(costs, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, waits_are_planned, a_fork_pays_while_waits_are_cheap, gangs_wait, launches_lengthen);
}
