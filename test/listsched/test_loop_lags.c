/* SPDX-License-Identifier: Apache-2.0 */
/* What is before and behind a loop overlaps with those of its queues that do not need it: in plans,
 * and in streams, where queues wait for themselves. */
#include <string.h>

#include "fsched/program.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/mutate/mutate.h"
#include "listsched/listsched.h"
#include "model/lags.h"
#include "model/stream/stream.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

#define TARGET(memory)                                                                        \
  "fsched: 1\ntarget: {queues: [{name: p}, {name: q}, {name: r}], memories: [{name: m" memory \
  "}]}\nops:\n"
/* Eight loads on p, each of which is used on q. */
#define LOOP(name, load, use)                                                                     \
  "- loop: " name "\n  trip: 8\n  buffers: {" name                                                \
  "s: {depth: 3}}\n  ops:\n"                                                                      \
  "  - {name: load_" name ", on: p, time: 10, args: [" load "{out: " name                         \
  "s, size: 8}]}\n"                                                                               \
  "  - {name: use_" name ", on: q, time: 10, args: [{in: " name "s}, " use "{out_existing: " name \
  ", size: 8}]}\n"
#define TABLE "- {name: table, on: r, time: 10, args: [{out: tab, size: 8}]}\n"
#define BEHIND(args) "- {name: behind, on: r, time: 50, args: [" args "{out: t, size: 8}]}\n"

/* Each begins with the ops of the graph that are looked at, op 0 and op 1. */
static const char used_late[] = TARGET("") TABLE LOOP("l", "", "{in: tab}, ");
static const char made_early[] =
    TARGET("") LOOP("l", "{out_existing: sum, size: 8}, ", "") BEHIND("{in: sum}, ");
static const char two_loops[] = TARGET("") LOOP("l", "", "") LOOP("k", "", "{in: l}, ");
static const char overwritten[] =
    TARGET("") TABLE LOOP("l", "{in: tab}, ", "") BEHIND("{inout: tab}, ");
static const char in_short_memory[] = TARGET(", capacity: 40") TABLE LOOP("l", "", "{in: tab}, ");
static const char used_at_once[] = TARGET("") TABLE LOOP("l", "{in: tab}, ", "");
static const char made_late[] = TARGET("") LOOP("l", "", "") BEHIND("{in: l}, ");

static fs_schedule *schedule(const fsched_graph *g) {
  fs_listsched_options o = {.effort = FSCHED_EFFORT_USUAL};
  fs_schedule *s = NULL;
  ck_fs(ctx, fs_listsched_run(ctx, g, &o, &s));
  ck_fs(ctx, fs_verify_schedule(ctx, g, s, NULL));
  return s;
}

/* `last`: the op whose start is looked at, of which that in the plan is `start`. */
typedef struct lag_case {
  const char *text;
  uint32_t last;
  fs_tick start, makespan;
} lag_case;

static const lag_case cases[] = {{used_late, 1, 0, 90},       {made_early, 1, 80, 130},
                                 {two_loops, 1, 80, 170},     {overwritten, 2, 90, 140},
                                 {in_short_memory, 1, 0, 90}, {used_at_once, 1, 10, 100},
                                 {made_late, 1, 90, 140}};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(known_times)
{
  const lag_case *c = &cases[_i];
  fsched_graph *g = fs_parse(c->text);
  ck_assert_uint_gt(g->n_rolled, 0);
  fs_schedule *s = schedule(g);
  ck_assert_uint_eq(s->start[c->last], c->start);
  ck_assert_uint_eq(s->makespan, c->makespan);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* The queue that makes what is read behind the loop takes no time, and ends at 0. */
START_TEST(ends_at_once)
{
  fsched_graph *g = fs_parse(TARGET(
      "") "- loop: l\n  trip: 6\n  ops:\n"
          "  - {name: s, on: q, time: 0, args: [{out: r, size: 16}]}\n"
          "  - {name: t, on: p, time: 7, args: [{out: z, size: 8}]}\n"
          "- {name: o, on: q, time: 4, args: [{in: r}, {out: x, size: 8}]}\n");
  fs_schedule *s = schedule(g);
  ck_assert_uint_eq(s->start[1], 0);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Moves all that starts from an op's start on. */
static void move(fs_schedule *s, uint32_t op, fs_tick by) {
  s->start[op] -= by;
  s->end[op] -= by;
  s->makespan = s->lower_bound = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    s->makespan = fs_max(s->makespan, s->end[i]);
  }
}

/* A tick earlier, something would be used before it is there. */
START_TEST(earlier_is_refused)
{
  const lag_case *c = &cases[_i];
  fsched_graph *g = fs_parse(c->text);
  fs_schedule *s = schedule(g);
  if (c->start > 0) {
    move(s, c->last, 1);
  } else { /* the table comes later instead */
    move(s, 0, (fs_tick)-1);
  }
  ck_assert_int_eq(fs_verify_schedule(ctx, g, s, NULL), FSCHED_WRONG);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code,
                   c->start > 0 ? "verify-precedence" : "verify-order");
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

static fsched_program *compile(const char *text) {
  fsched_graph *g = fs_parse(text);
  fsched_program *p = NULL;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  ck_fs(ctx, fsched_verify_program(ctx, p, g));
  fsched_graph_destroy(g);
  return p;
}

static const fs_stream_command *first_on(const fs_stream *s, uint32_t queue) {
  return &s->commands[s->queues[queue].command0];
}

/* The load of the loop needs no table; only its use waits. */
START_TEST(one_queue_waits)
{
  fsched_program *p = compile(used_late);
  const fs_stream *s = &p->view;
  const fs_stream_command *use = first_on(s, 1);
  ck_assert_uint_eq(first_on(s, 0)->n_waits, 0);
  ck_assert_uint_eq(use->n_waits, 1);
  ck_assert_uint_eq(s->waits[use->wait0].axis, 2);
  fsched_program_destroy(p);
}
END_TEST

/* What reads the sum waits for the queue that makes it, and not for the other. */
START_TEST(one_queue_is_awaited)
{
  fsched_program *p = compile(made_early);
  const fs_stream_command *behind = first_on(&p->view, 2);
  ck_assert_uint_eq(behind->n_waits, 1);
  ck_assert_uint_eq(p->view.waits[behind->wait0].axis, 0);
  ck_assert_uint_eq(behind->start, 80);
  fsched_program *q = fs_mutant_copy(p);
  ((fs_stream_wait *)(uintptr_t)q->view.waits)[behind->wait0].axis = 1; /* the use's queue */
  fs_mutant_repair(q);
  ck_assert_int_eq(fsched_verify_program(ctx, q, NULL), FSCHED_WRONG);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "verify-edge");
  fs_mutant_free(q);
  fsched_program_destroy(p);
}
END_TEST

/* Loops on the same queues follow one another by these. */
START_TEST(loops_in_turn_wait_for_nothing)
{
  fsched_program *p = compile(two_loops);
  ck_assert_uint_eq(p->view.n_waits, 0);
  fsched_program_destroy(p);
}
END_TEST

/* What an `after` is for is not known, so it is for all queues. */
START_TEST(after_is_for_all_queues)
{
  fsched_program *p = compile(TARGET("") LOOP(
      "l", "{out_existing: sum, size: 8}, ",
      "") "- {name: behind, on: r, time: 50, after: [l], args: [{in: sum}, "
          "{out: t, size: 8}]}\n");
  const fs_stream_command *behind = first_on(&p->view, 2);
  ck_assert_uint_ge(p->view.waits[behind->wait0].axis, 3);
  ck_assert_uint_eq(behind->start, 90);
  fsched_program_destroy(p);
}
END_TEST

/* `slow` reads v; the load does, too, and nothing orders them; `x` comes after the load alone, and
 * is the last to read v.  What takes its place comes after all three. */
START_TEST(places_are_left_by_all)
{
  fsched_program *p = compile(
      "fsched: 1\ntarget: {queues: [{name: p}, {name: q}, {name: r}, {name: t}], "
      "memories: [{name: m, capacity: 104}]}\nops:\n"
      "- {name: v, on: t, time: 1, args: [{out: v, size: 64}]}\n"
      "- {name: slow, on: r, time: 9, args: [{in: v}, {out: w, size: 8}]}\n"
      "- loop: l\n  trip: 4\n  buffers: {s: {depth: 1}}\n  ops:\n"
      "  - {name: load, on: p, time: 3, args: [{in: v}, {out: s, size: 8}, {out_existing: u, "
      "size: 8}]}\n"
      "  - {name: use, on: q, time: 3, args: [{in: s}, {in: w}, {out_existing: y, size: 8}]}\n"
      "- {name: x, on: t, time: 1, args: [{in: u}, {in: v}, {out: a, size: 8}]}\n"
      "- {name: z, on: t, time: 1, args: [{out: b, size: 64}]}\n");
  ck_assert_uint_gt(p->view.n_waits, 0);
  fsched_program_destroy(p);
}
END_TEST

START_TEST(members_are_known)
{
  fsched_graph *g = fs_parse(overwritten);
  fs_lags lags;
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_lags_find(&arena, g, &lags));
  uint32_t in = fs_lags_edge(g, 0, 1), out = fs_lags_edge(g, 1, 2), past = fs_lags_edge(g, 0, 2);
  ck_assert_uint_eq(lags.lag[in].to, 1);
  ck_assert_uint_eq(lags.lag[in].from, FS_LAG_ALL);
  ck_assert_uint_eq(lags.lag[out].from, 1);
  ck_assert_uint_eq(fs_lags_delay(&lags, in, 1), 10);
  ck_assert_uint_eq(fs_lags_delay(&lags, out, 2), 80);
  ck_assert(past == FS_NONE || !fs_lags_some(&lags, past));
  ck_assert_uint_eq(fs_lags_edge(g, 2, 1), FS_NONE);
  fs_arena_release(&arena);
  fsched_graph_destroy(g);
}
END_TEST

/* What is explained is what the stream has. */
START_TEST(explained)
{
  static const char *const name = "behind";
  fsched_program *p = compile(made_early);
  char *text;
  size_t n;
  ck_fs(ctx, fsched_program_explain(ctx, p, NULL, &name, 1, &text, &n));
  ck_assert_ptr_nonnull(strstr(text, "p:1  run l  data of sum"));
  ck_assert_ptr_nonnull(strstr(text, "80 = ops 80 + copies 0 + gaps 0"));
  ck_assert_ptr_null(strstr(text, "nothing: the stream is wrong"));
  fsched_text_free(ctx, text, n);
  fsched_program_destroy(p);
}
END_TEST

FS_SUITE(loop_lags, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, CASES, known_times, earlier_is_refused);
  FS_TESTS(t, ends_at_once, one_queue_waits, one_queue_is_awaited, loops_in_turn_wait_for_nothing,
           after_is_for_all_queues, places_are_left_by_all, members_are_known, explained);
}
