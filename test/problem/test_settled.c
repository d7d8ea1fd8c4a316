/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose starts are all given: which they are, and that their addresses are found for all ops
 * at once where the list scheduler finds none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/fail_each.h"
#include "listsched/listsched.h"
#include "model/handle.h"
#include "problem/settled/settled.h"

#include "kit/context.h"

enum { TEXT = 1200 };

static const char ops[] =
    "  - {name: a, start: 3, time: 5, scratch: {m: 2}}\n"
    "  - {name: b, start: 5, time: 5, scratch: {m: 4}}\n"
    "  - {name: c, start: 1, time: 5, scratch: {m: 1}}\n"
    "  - {name: d, start: 7, time: 3, scratch: {m: 2}}\n";

static void put_graph(char *text, const char *target, const char *last) {
  (void)snprintf(text, TEXT,
                 "fsched: 1\nname: k\ntarget:\n%s"
                 "ops:\n%s  - {name: e, %stime: 6, scratch: {m: 4}}\n",
                 target, ops, last);
}

static const struct {
  const char *what, *target, *last;
  bool settles;
} which[] = {
    {"all is given", "  memories: [{name: m, capacity: 12}]\n", "start: 3, ", true},
    {"one start is open", "  memories: [{name: m, capacity: 12}]\n", "", false},
    {"no memory is bounded", "  memories: [{name: m}]\n", "start: 3, ", false},
    {"amounts have no addresses", "  memories: [{name: m, capacity: 13, placement: counted}]\n",
     "start: 3, ", false},
    {"a memory spills",
     "  queues: [{name: p, class: compute}, {name: q, class: copy}]\n  memories:\n"
     "    - {name: m, capacity: 12, backing: far, spill: {on: q, write: {fixed: 1}, read: {fixed: "
     "1}}}\n    - {name: far}\n",
     "start: 3, ", false},
};

START_TEST(which_settle)
{
  char text[TEXT];
  put_graph(text, which[_i].target, which[_i].last);
  fsched_graph *g = fs_parse(text);
  ck_assert_msg(fs_settles(g) == which[_i].settles, "%s", which[_i].what);
  fsched_graph_destroy(g);
}
END_TEST

/* The sum of 12 at one time is the capacity: the list scheduler, op by op, does not place it. */
static fsched_status compile_with(fsched_context *own, fs_budget *budget, long left,
                                  fsched_refine refine) {
  char text[TEXT];
  fsched_graph *g;
  fsched_schedule *s = NULL;
  put_graph(text, which[0].target, which[0].last);
  ck_assert_int_eq(fsched_graph_parse(own, "g", text, strlen(text), NULL, &g), FSCHED_OK);
  fsched_compile_options o = {.size = sizeof o, .refine = refine, .verify = 1};
  fs_listsched_options alone = {.silent = true};
  fs_schedule *none_found = NULL;
  ck_assert_int_eq(fs_listsched_run(own, g, &alone, &none_found), FSCHED_INFEASIBLE);
  budget->left = left;
  fsched_status status = fsched_compile(own, g, &o, &s, NULL);
  budget->left = budget->left < 0 ? budget->left : 1000000;
  if (status == FSCHED_OK) {
    uint64_t extent;
    fs_settled settled;
    fs_arena arena;
    fs_settling none = {.nodes = 0};
    ck_assert_int_eq(fs_settled_extent(s->schedule, &extent), FSCHED_OK);
    ck_assert_uint_eq(extent, 12);
    ck_assert_uint_eq(fsched_schedule_makespan(s), 10);
    fs_arena_init(&arena, own);
    ck_assert_int_eq(fs_settle(own, g, &none, &arena, &settled), FSCHED_OK);
    ck_assert_uint_eq(settled.n_memories, 1);
    fs_settled_release(&settled);
    fs_arena_release(&arena);
    fsched_schedule_destroy(s);
  }
  fsched_graph_destroy(g);
  return status;
}

static fsched_status compile_plainly(fsched_context *own, fs_budget *budget, long left) {
  return compile_with(own, budget, left, FSCHED_REFINE_NONE);
}

static fsched_status compile_searching(fsched_context *own, fs_budget *budget, long left) {
  return compile_with(own, budget, left, FSCHED_REFINE_SEARCH);
}

START_TEST(placed_at_once)
{
  fs_fail_each(compile_plainly, 1);
  fs_fail_each(compile_searching, 1);
}
END_TEST

/* What lives at one time does not fit: there is no problem, and no answer. */
START_TEST(does_not_fit)
{
  char text[TEXT];
  fs_settled s;
  fs_arena arena;
  fs_settling o = {.nodes = 100, .lowest = true};
  put_graph(text, "  memories: [{name: m, capacity: 11}]\n", "start: 3, ");
  fsched_graph *g = fs_parse(text);
  ck_assert(fs_settles(g));
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_settle(ctx, g, &o, &arena, &s));
  ck_assert(!s.found && !s.least);
  fs_settled_release(&s);
  fs_arena_release(&arena);
  fsched_compile_options none = {.size = sizeof none};
  fsched_schedule *schedule;
  ck_assert_int_eq(fsched_compile(ctx, g, &none, &schedule, NULL), FSCHED_INFEASIBLE);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(settled, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, sizeof which / sizeof which[0], which_settle);
  FS_TESTS(t, placed_at_once, does_not_fit);
}
