/* SPDX-License-Identifier: Apache-2.0 */
/* Trips that each invocation gives: its own, however many overlap; and what is refused. */
#include "exec/context/exec_case.h"

/* y = a + 6 + 3 n, where a slot of two holds what iterations hand on. */
static const char graph[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}]}\n"
    "buffers: [{name: a, size: 8, io: input}, {name: y, size: 8, io: output}]\n"
    "ops:\n"
    "  - {name: begin, on: p, args: [{in: a}, {value: 5}, {out: s, size: 8}], " KIT_KERNEL("add") "}\n"
    "  - loop: L\n"
    "    trip: {param: n, min: 0, max: 500}\n"
    "    ops:\n"
    "      - {name: step, on: q, args: [{in: s, distance: 1}, {value: 3}, {out: s}], "
    KIT_KERNEL("add") "}\n"
    "  - {name: last, on: p, args: [{in: s}, {value: 1}, {out: y}], " KIT_KERNEL("add") "}\n";

/* The inner loop runs m times in each of n iterations: y = a + 6 + 3 n m. */
static const char nest[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}]}\n"
    "buffers: [{name: a, size: 8, io: input}, {name: y, size: 8, io: output}]\n"
    "ops:\n"
    "  - {name: begin, on: p, args: [{in: a}, {value: 5}, {out: s, size: 8}], " KIT_KERNEL("add") "}\n"
    "  - loop: outer\n"
    "    trip: {param: n, min: 0, max: 9}\n"
    "    ops:\n"
    "      - {name: show, on: q, args: [{in: s}, {value: 0}, {out: t, size: 8}], " KIT_KERNEL("add") "}\n"
    "      - loop: inner\n"
    "        trip: {param: m, min: 0, max: 7}\n"
    "        ops:\n"
    "          - {name: step, on: q, args: [{in: s, distance: 1}, {value: 3}, {out: s}], "
    KIT_KERNEL("add") "}\n"
    "  - {name: last, on: p, args: [{in: s}, {value: 1}, {out: y}], " KIT_KERNEL("add") "}\n";

enum { RUNS = 64 };

typedef struct trips_run {
  uint64_t a, y;
  fsched_trips trips[3];
  fsched_binding binding[2];
} trips_run;

static fsched_exec *exec;
static fsched_program *program;
static fsched_entry *entry;

static void open_program(const char *text, uint32_t in_flight) {
  exec = kit_exec(ctx, device, NULL, in_flight);
  program = kit_compile(ctx, text);
  fsched_diag_clear(ctx);
  entry = kit_load(ctx, exec, program);
}

static void close_program(void) {
  fsched_exec_destroy(exec);
  fsched_program_destroy(program);
}

static void count_end(void *user, fsched_cause cause) {
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  (void)kit_count_one(user);
}

static void ask(trips_run *r, uint64_t a, uint32_t n_trips) {
  r->a = a;
  r->binding[0] = (fsched_binding){.buffer = "a", .data = &r->a, .bytes = sizeof r->a};
  r->binding[1] = (fsched_binding){.buffer = "y", .data = &r->y, .bytes = sizeof r->y};
  fsched_invocation i = {.size = sizeof i, .bindings = r->binding, .n_bindings = 2};
  i.trips = r->trips;
  i.n_trips = n_trips;
  i.callback = count_end;
  i.user = &entered;
  ck_fs(ctx, fsched_invoke(ctx, entry, &i));
}

static void await_runs(uint64_t n) {
  ck_assert_int_eq(kit_await(entered.timeline, n), FSCHED_CAUSE_NONE);
}

START_TEST(each_its_own)
{
  static trips_run run[RUNS];
  open_program(graph, 1 + (uint32_t)_i);
  for (uint64_t k = 0; k < RUNS; k++) {
    run[k].trips[0] = (fsched_trips){"n", k * 37 % 501};
    ask(&run[k], k, 1);
  }
  await_runs(RUNS);
  for (uint64_t k = 0; k < RUNS; k++) {
    ck_assert_uint_eq(run[k].y, k + 6 + 3 * (k * 37 % 501));
  }
  close_program();
}
END_TEST

START_TEST(each_its_own_in_nests)
{
  static trips_run run[RUNS];
  open_program(nest, 1 + (uint32_t)_i);
  for (uint64_t k = 0; k < RUNS; k++) {
    run[k].trips[0] = (fsched_trips){"m", k % 8};
    run[k].trips[1] = (fsched_trips){"n", k / 8 % 10};
    ask(&run[k], k, 2);
  }
  await_runs(RUNS);
  for (uint64_t k = 0; k < RUNS; k++) {
    ck_assert_uint_eq(run[k].y, k + 6 + 3 * (k % 8) * (k / 8 % 10));
  }
  close_program();
}
END_TEST

START_TEST(what_is_not_said)
{
  static trips_run run[3];
  open_program(nest, 1);
  ask(&run[0], 1, 0);
  run[1].trips[0] = (fsched_trips){"m", 2};
  ask(&run[1], 1, 1);
  run[2].trips[0] = (fsched_trips){"n", 4};
  run[2].trips[1] = (fsched_trips){"m", 2};
  run[2].trips[2] = (fsched_trips){"n", 5};
  ask(&run[2], 1, 3);
  await_runs(3);
  ck_assert_uint_eq(run[0].y, 7 + 3 * 9 * 7); /* as often as possible */
  ck_assert_uint_eq(run[1].y, 7 + 3 * 9 * 2);
  ck_assert_uint_eq(run[2].y, 7 + 3 * 5 * 2); /* the last one counts */
  close_program();
}
END_TEST

START_TEST(refused_trips)
{
  fsched_trips t = {"n", 501};
  fsched_invocation i = {.size = sizeof i, .n_trips = 1, .trips = &t};
  open_program(graph, 1);
  kit_refused(ctx, fsched_invoke(ctx, entry, &i), FSCHED_USAGE, "exec",
              "'n' is 501, and the program takes 0 to 500");
  t = (fsched_trips){"k", 1};
  kit_refused(ctx, fsched_invoke(ctx, entry, &i), FSCHED_USAGE, "exec",
              "no loop of the program takes its trips from 'k'");
  t.param = NULL;
  kit_refused(ctx, fsched_invoke(ctx, entry, &i), FSCHED_USAGE, "exec",
              "no loop of the program takes its trips from ''");
  i.trips = NULL;
  kit_refused(ctx, fsched_invoke(ctx, entry, &i), FSCHED_USAGE, "exec",
              "the invocation has trips, but no array of them");
  close_program();
}
END_TEST

FS_SUITE(exec_trips, s) {
  TCase *t = fs_case(s, fs_test_device);
  FS_LOOPS(t, 0, 4, each_its_own, each_its_own_in_nests);
  FS_TESTS(t, what_is_not_said, refused_trips);
}
