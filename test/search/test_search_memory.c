/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of graphs whose memories spill, against the least makespan of tiny ones, which a search
 * through all states of the memory finds: no bound is above it, no schedule is below it, and what
 * is called optimal is it. */
#include <stdio.h>
#include <string.h>

#include "ilp/spill_search.h"
#include "kit/fail_each.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/bounds/bounds.h"
#include "model/handle.h"
#include "problem/relaxed/relaxed.h"
#include "search/search.h"
#include "search/tiny_spills.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

typedef struct spill_tally {
  unsigned known, raised, proven;
} spill_tally;

static fs_tick relaxed_bound(const fsched_graph *g, fs_tick bound) {
  fs_problem *p;
  ck_fs(ctx, fs_problem_relax(ctx, g, 4 * bound, bound, &p));
  if (p != NULL) {
    ck_fs(ctx, fs_problem_destructive_bound(p, &bound));
  }
  fs_problem_destroy(p);
  return bound;
}

static void tiny_case(uint64_t seed, spill_tally *sum) {
  static tiny_script script;
  uint32_t states;
  fs_lower_bounds bounds;
  fsched_graph *g = fs_tiny_graph(&script, seed);
  fs_tick least = g == NULL ? FS_TICK_NONE : fs_spill_search(g, &states);
  if (least == FS_TICK_NONE) {
    fsched_graph_destroy(g);
    return;
  }
  unsigned long long id = seed;
  ck_fs(ctx, fs_graph_lower_bounds(ctx, g, &bounds));
  ck_assert_msg(bounds.all <= least, "seed %llu: the bound %llu is above %llu\n%s", id,
                (unsigned long long)bounds.all, (unsigned long long)least, script.text);
  fs_tick relaxed = relaxed_bound(g, bounds.all);
  ck_assert_msg(relaxed <= least, "seed %llu: the relaxed bound %llu is above %llu\n%s", id,
                (unsigned long long)relaxed, (unsigned long long)least, script.text);
  fsched_compile_options o = {.size = sizeof o,
                              .refine = FSCHED_REFINE_SEARCH,
                              .node_limit = 400,
                              .effort = FSCHED_EFFORT(0)};
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  fs_tick found = s->schedule->makespan, bound = s->schedule->lower_bound;
  ck_fs(ctx, fs_verify_schedule(ctx, g, s->schedule, NULL));
  ck_assert_msg(bound <= least && found >= least, "seed %llu: %llu to %llu, but %llu is least\n%s",
                id, (unsigned long long)bound, (unsigned long long)found, (unsigned long long)least,
                script.text);
  sum->known++;
  sum->raised += bound > bounds.all;
  sum->proven += bound == found && bound > bounds.all;
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

START_TEST(never_above_the_least)
{
  spill_tally sum = {0};
  for (uint64_t i = 0; i < 60; i++) {
    tiny_case(fs_turn() << 16 | i, &sum);
  }
  fs_assert_seen(sum.known, 50);
  fs_assert_seen(sum.raised, 12);
  fs_assert_seen(sum.proven, 5);
}
END_TEST

/* What an op in between forces: v leaves before x and returns behind it, as x takes all but one
 * unit. Then y, which takes all, runs before or behind all of that. */
static const struct {
  const char *what, *rest;
  fs_tick bound;
} forced[] = {
    {"copies around an op", "", 1 + 2 + 5 + 3 + 1},
    {"a second op that leaves no room", "  - {name: y, time: 4, scratch: {m: 8}}\n",
     1 + 2 + 5 + 3 + 1 + 4},
    {"what a reader finds is stored",
     "  - {name: z, time: 2, scratch: {m: 7}, after: [r]}\n"
     "  - {name: s, time: 1, after: [z], args: [{in: v}]}\n",
     1 + 2 + 5 + 3 + 1 + 2 + 3 + 1},
    {"what a writer leaves is not",
     "  - {name: u, time: 1, after: [r], args: [{inout: v}]}\n"
     "  - {name: z, time: 2, scratch: {m: 7}, after: [u]}\n"
     "  - {name: s, time: 1, after: [z], args: [{in: v}]}\n",
     1 + 2 + 5 + 3 + 1 + 1 + 2 + 2 + 3 + 1},
    {"what is written over is not read",
     "  - {name: z, time: 2, scratch: {m: 7}, after: [r]}\n"
     "  - {name: s, time: 1, after: [z], args: [{out_existing: v}]}\n",
     1 + 5 + 1 + 2 + 1},
};

START_TEST(forced_copies)
{
  char text[TINY_TEXT];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\nname: k\ntarget:\n  queues: [{name: a}, {name: b}, {name: c, class: "
                 "copy}]\n  memories:\n    - {name: m, capacity: 8, backing: far, spill: {on: c, "
                 "write: {fixed: 2}, read: {fixed: 3}}}\n    - {name: far}\nops:\n"
                 "  - {name: w, time: 1, args: [{out: v, size: 2}]}\n"
                 "  - {name: x, time: 5, scratch: {m: 7}, after: [w]}\n"
                 "  - {name: r, time: 1, after: [x], args: [{in: v}]}\n%s",
                 forced[_i].rest);
  fsched_graph *g = fs_parse(text);
  ck_assert_msg(relaxed_bound(g, 8) == forced[_i].bound, "%s: %llu, expected %llu", forced[_i].what,
                (unsigned long long)relaxed_bound(g, 8), (unsigned long long)forced[_i].bound);
  fsched_graph_destroy(g);
}
END_TEST

static fsched_status relax_with(fsched_context *own, fs_budget *budget, long left) {
  fsched_graph *g;
  fs_problem *p;
  fs_gen_params params = fs_gen_tight(3, 12);
  ck_assert_int_eq(fs_gen_graph(own, &params, &g), FSCHED_OK);
  budget->left = left;
  fs_status status = fs_problem_relax(own, g, 1000, 1, &p);
  ck_assert((p == NULL) == (status != FSCHED_OK));
  fs_problem_destroy(p);
  fsched_graph_destroy(g);
  return status;
}

START_TEST(relaxed_without_memory)
{ fs_fail_each(relax_with, 1); }
END_TEST

/* What is found of the relaxed problem is no schedule, and is not told as one. */
static void hear(void *user, const fsched_refine_state *state) {
  fs_tick *least = user;
  *least = state->incumbent < *least ? state->incumbent : *least;
}

START_TEST(tells_of_schedules)
{
  enum {
    FIRST = 50
  }; /* among those from here on the order of the first schedule is better than it */
  uint32_t heard = 0;
  for (uint64_t k = 0; k < 20; k++) {
    fs_gen_params params = fs_gen_tight(k < 10 ? FIRST + k : fs_turn() * 10 + k - 10, 14);
    fsched_graph *g;
    fs_tick least = FS_TICK_NONE;
    ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
    fsched_compile_options o = {.size = sizeof o,
                                .refine = FSCHED_REFINE_SEARCH,
                                .node_limit = 400,
                                .refine_news = hear,
                                .refine_user = &least};
    fsched_schedule *s;
    ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
    ck_assert_uint_ge(least, fsched_schedule_makespan(s));
    heard += least == fsched_schedule_makespan(s);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(heard, 4);
}
END_TEST

/* A refinement of many ops is never longer than what is compiled without one. */
START_TEST(no_longer_than_plain)
{
  for (uint64_t i = 0; i < 8; i++) {
    fs_gen_params p = {.seed = fs_turn() << 16 | i,
                       .n_ops = 210 + (uint32_t)i * 20,
                       .n_queues = 3 + (uint32_t)i % 3,
                       .n_classes = 1,
                       .n_memories = 1,
                       .max_size = 1000,
                       .window = 16,
                       .tightness = 1 + 0.5 * (double)(i % 3),
                       .backing = true};
    fsched_compile_options o = {.size = sizeof o};
    fsched_graph *g;
    fsched_schedule *plain, *refined;
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    ck_fs(ctx, fsched_compile(ctx, g, &o, &plain, NULL));
    o.refine = FSCHED_REFINE_SEARCH;
    o.node_limit = 400;
    ck_fs(ctx, fsched_compile(ctx, g, &o, &refined, NULL));
    ck_fs(ctx, fs_verify_schedule(ctx, g, refined->schedule, NULL));
    ck_assert_uint_le(refined->schedule->makespan, plain->schedule->makespan);
    fsched_schedule_destroy(plain);
    fsched_schedule_destroy(refined);
    fsched_graph_destroy(g);
  }
}
END_TEST

FS_SUITE(search_memory, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, never_above_the_least, relaxed_without_memory, tells_of_schedules,
           no_longer_than_plain);
  FS_LOOPS(t, 0, sizeof forced / sizeof forced[0], forced_copies);
}
