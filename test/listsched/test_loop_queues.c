/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose queues are entered and left on their own: schedules are shorter for that, never
 * longer, and the verifier knows when a queue is taken. */
#include <string.h>

#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/mutate/mutate.h"
#include "kit/turn.h"
#include "listsched/listsched.h"
#include "model/stream/stream.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

static fs_schedule *schedule(const fsched_graph *g, bool whole) {
  fs_listsched_options o = {.effort = FSCHED_EFFORT_USUAL, .whole_loops = whole, .silent = true};
  fs_schedule *s = NULL;
  fs_status status = fs_listsched_run(ctx, g, &o, &s);
  ck_assert(status == FSCHED_OK || status == FSCHED_INFEASIBLE);
  if (s != NULL) {
    ck_fs(ctx, fs_verify_schedule(ctx, g, s, NULL));
  }
  return s;
}

static fs_tick makespan_of(const fsched_graph *g, bool whole) {
  fs_schedule *s = schedule(g, whole);
  fs_tick makespan = s == NULL ? FS_TICK_NONE : s->makespan;
  fs_schedule_destroy(s);
  return makespan;
}

/* A load and a use on two queues, in a loop of three iterations. */
#define LOOP(name, load, use)                                                       \
  "- loop: " name "\n  trip: 3\n  buffers: {" load                                  \
  "s: {depth: 3}}\n  ops:\n"                                                        \
  "  - {name: " load ", on: p, time: 4, args: [{out: " load                         \
  "s, size: 8}]}\n"                                                                 \
  "  - {name: " use ", on: q, time: 4, args: [{in: " load "s}, {out_existing: " use \
  "s, size: "                                                                       \
  "8}]}\n"
#define TARGET "fsched: 1\ntarget: {queues: [{name: p}, {name: q}], memories: [{name: m}]}\n"

static const char in_turn[] =
    TARGET "ops:\n" LOOP("first", "a", "b") LOOP("second", "c", "d")
    "- {name: last_p, on: p, time: 1, args: [{out: s, size: 8}]}\n"
    "- {name: last_q, on: q, time: 1, after: [first], args: [{out: t, size: 8}]}\n";

START_TEST(known_times)
{
  fsched_graph *g = fs_parse(in_turn);
  ck_assert_uint_eq(g->n_rolled, 2);
  fs_schedule *s = schedule(g, false);
  ck_assert_uint_eq(s->makespan, 29);
  ck_assert_uint_eq(s->start[1], 12); /* while the uses of the first loop go on */
  ck_assert_uint_eq(s->start[2], 24);
  ck_assert_uint_eq(s->start[3], 28);
  fs_item_part part = fs_item_part_on(s, 1, 1);
  ck_assert_uint_eq(part.begin, 16);
  ck_assert_uint_eq(part.end, 28);
  fs_schedule_destroy(s);
  ck_assert_uint_eq(makespan_of(g, true), 33);
  fsched_graph_destroy(g);
}
END_TEST

static void move(fs_schedule *s, uint32_t item, fs_tick by) {
  s->start[item] -= by;
  s->end[item] -= by;
  s->makespan = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    s->makespan = fs_max(s->makespan, s->end[i]);
  }
}

/* Each queue is taken from its part's begin to that part's end, and no longer. */
START_TEST(earlier_is_refused)
{
  fsched_graph *g = fs_parse(in_turn);
  for (uint32_t item = 1; item < 4; item++) {
    fs_schedule *s = schedule(g, false);
    move(s, item, 1);
    s->lower_bound = 0;
    ck_assert_int_eq(fs_verify_schedule(ctx, g, s, NULL), FSCHED_WRONG);
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "verify-queue-overlap");
    fsched_diag_clear(ctx);
    fs_schedule_destroy(s);
  }
  fsched_graph_destroy(g);
}
END_TEST

/* The command on a queue that an op has. */
static uint32_t command_of(const fs_stream *s, uint32_t queue, uint32_t op) {
  uint32_t c = s->queues[queue].command0;
  while (s->commands[c].target != op) {
    c++;
  }
  return c;
}

/* Programs have the planned times of each queue, which are those of the graph's plan. */
START_TEST(programs_tell)
{
  static const uint64_t times[2][2] = {{0, 12}, {4, 16}};
  fsched_graph *g = fs_parse(in_turn);
  fsched_program *p;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  ck_fs(ctx, fsched_verify_program(ctx, p, g));
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t c = command_of(&p->view, i / 2, 0);
    const uint64_t *time = i % 2 == 0 ? &p->view.commands[c].start : &p->view.commands[c].end;
    ck_assert_uint_eq(*time, times[i / 2][i % 2]);
    for (int by = -1; by <= 1; by += 2) {
      fsched_program *q = fs_mutant_copy(p);
      fs_stream_command *wrong = (fs_stream_command *)(uintptr_t)&q->view.commands[c];
      *(i % 2 == 0 ? &wrong->start : &wrong->end) += (uint64_t)(int64_t)by;
      ck_assert_int_eq(fsched_verify_program(ctx, q, g), FSCHED_WRONG);
      fsched_diag_clear(ctx);
      fs_mutant_free(q);
    }
  }
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* What comes before the loop on its second queue has time until its part there begins. */
START_TEST(enters_beside_others)
{
  fsched_graph *g =
      fs_parse(TARGET "ops:\n- {name: before, on: q, time: 4, args: [{out: s, size: 8}]}\n" LOOP(
          "loop", "a", "b"));
  fs_schedule *s = schedule(g, false);
  ck_assert_uint_eq(s->start[0], 0);
  ck_assert_uint_eq(s->start[1], 0);
  ck_assert_uint_eq(s->makespan, 16);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

static void add_op(fs_text *t, fs_rng *rng, const char *indent, uint32_t n, uint32_t i,
                   bool reads) {
  fs_text_printf(t, "%s- {name: o%u_%u, on: q%u, time: %u, args: [", indent, n, i,
                 fs_rng_below(rng, 3), 1 + fs_rng_below(rng, 6));
  if (reads) {
    fs_text_printf(t, "{in: b%u_%u}, ", n, i - 1);
  }
  if (fs_rng_below(rng, 3) == 0 && n > 0) { /* what an item before has begun last */
    fs_text_printf(t, "{in: r%u}, ", fs_rng_below(rng, n));
  }
}

/* An op, or a loop of ops in a row, each of which reads what the one before has begun. */
static void add_item(fs_text *t, fs_rng *rng, uint32_t n) {
  if (fs_rng_below(rng, 2) == 0) {
    add_op(t, rng, "", n, 0, false);
    fs_text_printf(t, "{out: r%u, size: 8}]}\n", n);
    return;
  }
  uint32_t ops = 2 + fs_rng_below(rng, 2);
  fs_text_printf(t, "- loop: l%u\n  trip: %u\n  ops:\n", n, 1 + fs_rng_below(rng, 5));
  for (uint32_t i = 0; i < ops; i++) {
    add_op(t, rng, "  ", n, i, i > 0);
    if (i + 1 < ops) {
      fs_text_printf(t, "{out: b%u_%u, size: 8}]}\n", n, i);
    } else {
      fs_text_printf(t, "{out_existing: r%u, size: 8}]}\n", n);
    }
  }
}

static fsched_graph *random_graph(uint64_t seed) {
  fs_text t;
  fs_rng rng = {seed};
  uint32_t n = 3 + fs_rng_below(&rng, 5);
  fs_text_init(&t, ctx);
  fs_text_printf(&t,
                 "fsched: 1\ntarget: {queues: [{name: q0}, {name: q1}, {name: q2}], "
                 "memories: [{name: m, capacity: %u}]}\nops:\n",
                 fs_rng_below(&rng, 2) == 0 ? 4096 : 192 + 8 * n);
  for (uint32_t i = 0; i < n; i++) {
    add_item(&t, &rng, i);
  }
  fs_text_add(&t, "", 1);
  ck_assert(!t.failed);
  fsched_read_options o = {.size = sizeof o};
  fsched_graph *g = NULL;
  fs_status status = fsched_graph_parse(ctx, "random", t.at, t.n - 1, &o, &g);
  ck_assert_msg(status == FSCHED_OK, "%s\n%s", fs_test_diags(ctx), t.at);
  fsched_diag_clear(ctx);
  fs_text_drop(&t);
  return g;
}

START_TEST(never_longer)
{
  enum { GRAPHS = 300 };
  uint32_t seen = 0, shorter = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    fsched_graph *g = random_graph(fs_turn() * GRAPHS + k);
    fs_tick whole = makespan_of(g, true), apart = makespan_of(g, false);
    ck_assert_msg(apart <= whole, "graph %llu: %llu, with loops as a whole %llu",
                  (unsigned long long)k, (unsigned long long)apart, (unsigned long long)whole);
    shorter += apart < whole;
    seen += g->n_rolled > 0;
    fsched_graph_destroy(g);
  }
  fs_assert_seen(seen, GRAPHS * 3 / 4);
  fs_assert_seen(shorter, GRAPHS / 5);
}
END_TEST

FS_SUITE(loop_queues, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, known_times, earlier_is_refused, programs_tell, enters_beside_others, never_longer);
}
