/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules as answers of problems, and back.  Whatever the list scheduler makes of random graphs
 * comes back as it was, and is verified; wrong answers are refuted, and nothing is reported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/gen.h"
#include "listsched/listsched.h"
#include "problem/problem.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

/* Returns NULL when there is no schedule. */
static fs_schedule *schedule(const fsched_graph *g) {
  fs_listsched_options o = {0};
  fs_schedule *s = NULL;
  fs_status status = fs_listsched_run(ctx, g, &o, &s);
  ck_assert(status == FSCHED_OK || status == FSCHED_INFEASIBLE);
  return s;
}

/* The answer must be a right schedule that is as long as the first. */
static void check_answer(fs_problem *p, const fs_answer *a, const fs_schedule *s, const char *what,
                         unsigned long seed) {
  fs_schedule *t;
  const char *why;
  ck_assert_int_eq(fs_answer_schedule(p, a, &t, &why), FSCHED_OK);
  ck_assert_msg(t != NULL, "seed %lu, %s: %s", seed, what, why);
  ck_assert_ptr_null(why);
  ck_assert_int_eq(fs_verify_schedule(p->ctx, p->graph, t, NULL), FSCHED_OK);
  ck_assert_uint_eq(t->makespan, s->makespan);
  ck_assert_uint_eq(t->n_copies, s->n_copies);
  fs_answer *again;
  ck_assert_int_eq(fs_answer_of_schedule(p, t, &again), FSCHED_OK);
  ck_assert_ptr_nonnull(again);
  ck_assert_mem_eq(again->start, a->start, p->n_items * sizeof *a->start);
  fs_schedule_destroy(t);
}

/* Counts in n the schedules, those with copies, and those that a problem of the graph has, too. */
static void check_round(unsigned long seed, uint32_t max_ops, uint32_t n[3]) {
  fs_gen_params params = fs_gen_any(seed, max_ops);
  fsched_graph *g;
  ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
  fs_schedule *s = schedule(g);
  if (s != NULL) {
    fs_problem *p;
    fs_answer *a;
    ck_assert_int_eq(fs_problem_from_schedule(ctx, s, &p), FSCHED_OK);
    ck_assert_int_eq(fs_answer_of_schedule(p, s, &a), FSCHED_OK);
    ck_assert_ptr_nonnull(a);
    check_answer(p, a, s, "all given", seed);
    a->choice = NULL;
    check_answer(p, a, s, "queues to be found", seed);
    n[0]++;
    n[1] += s->n_copies > 0;
    fs_problem *q;
    ck_assert_int_eq(fs_problem_from_graph(ctx, g, s->makespan, 0, &q), FSCHED_OK);
    if (q != NULL) {
      ck_assert_int_eq(fs_answer_of_schedule(q, s, &a), FSCHED_OK);
      if (a != NULL) {
        n[2]++;
        check_answer(q, a, s, "of the graph", seed);
      }
    }
    fs_problem_destroy(q);
    fs_problem_destroy(p);
  }
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(schedules_come_back)
{
  uint32_t n[3] = {0};
  for (unsigned long seed = 1; seed <= 600; seed++) {
    check_round(seed, seed % 5 == 0 ? 60 : 14, n);
  }
  ck_assert_uint_gt(n[0], 400);
  ck_assert_uint_gt(n[1], 100);
  ck_assert_uint_gt(n[2], 50);
}
END_TEST

/* ---- answers that are wrong, and queues to be found */

typedef struct problem_answer_fixture {
  fsched_context *ctx;
  fsched_graph *g;
  fs_problem *p;
} problem_answer_fixture;

static problem_answer_fixture make(const char *body) {
  problem_answer_fixture f;
  char text[4096];
  (void)snprintf(text, sizeof text, "fsched: 1\nname: f\n%s", body);
  f.ctx = fs_new_context();
  fs_status status = fsched_graph_parse(f.ctx, "test.yaml", text, strlen(text), NULL, &f.g);
  ck_assert_msg(status == FSCHED_OK, "%s", fs_first_message(f.ctx));
  ck_assert_int_eq(fs_problem_from_graph(f.ctx, f.g, 1000, 0, &f.p), FSCHED_OK);
  ck_assert_ptr_nonnull(f.p);
  return f;
}

static void drop(problem_answer_fixture *f) {
  ck_assert_uint_eq(fsched_diag_count(f->ctx), 0);
  fs_problem_destroy(f->p);
  fsched_graph_destroy(f->g);
  fsched_context_destroy(f->ctx);
}

/* With `why` NULL the answer is right, else this is how the reason begins. */
static void check_starts(problem_answer_fixture *f, fs_tick *start, const char *wanted) {
  fs_answer a = {.start = start};
  fs_schedule *s;
  const char *why;
  ck_assert_int_eq(fs_answer_schedule(f->p, &a, &s, &why), FSCHED_OK);
  if (wanted == NULL) {
    ck_assert_msg(s != NULL, "%s", why);
    ck_assert_int_eq(fs_verify_schedule(f->ctx, f->g, s, NULL), FSCHED_OK);
  } else {
    ck_assert_ptr_null(s);
    ck_assert_msg(strncmp(why, wanted, strlen(wanted)) == 0, "%s", why);
  }
  fs_schedule_destroy(s);
}

START_TEST(wrong_answers)
{
  problem_answer_fixture f = make(
      "target: {queues: [{name: q}, {name: r, class: k}], resources: [{name: w, "
      "capacity: 3}]}\n"
      "ops:\n  - {name: a, time: 2}\n  - {name: b, time: 2, after: [a]}\n"
      "  - {name: c, on: k, time: 3, uses: {w: 2}}\n"
      "  - {name: d, time: 1, uses: {w: 2}}\n");
  check_starts(&f, (fs_tick[]){0, 2, 0, 4}, NULL);
  check_starts(&f, (fs_tick[]){0, 1, 0, 4}, "no queue is free for op b at 1");
  check_starts(&f, (fs_tick[]){3, 0, 0, 5}, "op b at 0 starts before the end at 5 of op a");
  check_starts(&f, (fs_tick[]){0, 3, 0, 2}, "op d at 2 needs 2 of w, where 2 of 3 are in use");
  check_starts(&f, (fs_tick[]){0, FS_TICK_NONE, 0, 4}, "op b has no start");
  drop(&f);
  f = make("target: {queues: [{name: q}]}\nops: [{name: a, start: 3}]\n");
  check_starts(&f, (fs_tick[]){3}, NULL);
  check_starts(&f, (fs_tick[]){2}, "op a at 2 has the given start 3");
  drop(&f);
  f = make(
      "target: {memories: [{name: m, capacity: 10}]}\n"
      "ops: [{name: a, size: 6}, {name: b, size: 6}]\n");
  check_starts(&f, (fs_tick[]){0, 1}, NULL);
  check_starts(&f, (fs_tick[]){0, 0}, "no addresses were found in memory m: there are none");
  drop(&f);
}
END_TEST

/* Items without a length stand between others, not inside of them; gangs take all of their
 * queues. */
START_TEST(instants_and_gangs)
{
  problem_answer_fixture f = make(
      "target: {queues: [{name: q0}, {name: q1}]}\n"
      "ops:\n  - {name: a, time: 4}\n  - {name: z, time: 0}\n"
      "  - {name: b, time: 4}\n  - {name: y, time: 0, after: [z]}\n");
  check_starts(&f, (fs_tick[]){0, 2, 4, 3}, NULL);
  check_starts(&f, (fs_tick[]){0, 4, 0, 4}, NULL);
  check_starts(&f, (fs_tick[]){0, 2, 0, 4}, "no queue is free for op z at 2");
  drop(&f);
  f = make(
      "target: {queues: [{name: q0}, {name: q1}, {name: q2}]}\n"
      "ops:\n  - {name: g, on: [q0, q1], time: 2}\n  - {name: a, time: 2}\n"
      "  - {name: b, on: q1, time: 1}\n  - {name: c, time: 3}\n"
      "  - {name: h, on: [q0, q1], time: 0}\n");
  check_starts(&f, (fs_tick[]){0, 0, 2, 2, 2}, NULL);
  check_starts(&f, (fs_tick[]){3, 0, 0, 0, 3}, NULL);
  check_starts(&f, (fs_tick[]){0, 0, 1, 2, 2}, "no queue");
  check_starts(&f, (fs_tick[]){0, 0, 2, 1, 2}, "no queue");
  check_starts(&f, (fs_tick[]){0, 0, 2, 2, 1}, "no queue");
  drop(&f);
}
END_TEST

/* c0 may use q0 or q1, and c1 q1 or q2, so the first guesses have to be taken back. */
START_TEST(chains_of_choices)
{
  problem_answer_fixture f = make(
      "target: {queues: [{name: q0, class: a}, {name: q1, class: a}, {name: q2, "
      "class: b}]}\n"
      "ops:\n  - {name: x, on: a, time: 8}\n  - {name: y, on: a, time: 3}\n"
      "  - {name: z, on: q0, time: 4}\n  - {name: w, on: a, time: 2}\n"
      "  - {name: v, on: q1, time: 1}\n");
  check_starts(&f, (fs_tick[]){0, 0, 3, 7, 9}, NULL);
  check_starts(&f, (fs_tick[]){4, 0, 0, 2, 12}, "no queue was found");
  drop(&f);
}
END_TEST

/* A schedule with other copies than the problem's is no answer. */
START_TEST(other_copies)
{
  uint32_t none = 0;
  for (unsigned long seed = 1; seed <= 40; seed++) {
    fs_gen_params params = fs_gen_tight(seed, 12);
    fsched_graph *g;
    fs_problem *p;
    fs_answer *a;
    ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
    fs_schedule *s = schedule(g);
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(fs_problem_from_graph(ctx, g, s->makespan, 0, &p), FSCHED_OK);
    if (p != NULL) {
      ck_assert_int_eq(fs_answer_of_schedule(p, s, &a), FSCHED_OK);
      ck_assert(a == NULL || p->n_copies == s->n_copies);
      none += a == NULL;
    }
    fs_problem_destroy(p);
    fs_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(none, 10);
}
END_TEST

FS_SUITE(problem_answer, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, schedules_come_back, wrong_answers, instants_and_gangs, chains_of_choices,
           other_copies);
}
