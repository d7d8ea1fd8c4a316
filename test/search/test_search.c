/* SPDX-License-Identifier: Apache-2.0 */
/* The search engine against all orders of small graphs, tried one by one on a table of ticks: no
 * makespan is below the least one, nothing that is called optimal is above it, and no bound is. */
#include <stdio.h>

#include "fsched/compile.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/bounds/bounds.h"
#include "model/handle.h"
#include "search/search.h"
#include "search/small_case.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

/* ---- searches */

static fs_tick list_bound(const fsched_graph *g) {
  fs_lower_bounds bounds;
  ck_fs(ctx, fs_graph_lower_bounds(ctx, g, &bounds));
  return bounds.all;
}

/* Searches from no schedule at all; the result is verified. */
static fs_schedule *search_alone(const fsched_graph *g, uint64_t seed, uint64_t nodes) {
  fs_search_options o = {.seed = seed, .node_limit = nodes};
  fs_schedule *s = NULL;
  ck_fs(ctx, fs_search_run(ctx, g, &o, list_bound(g), &s));
  ck_assert_ptr_nonnull(s);
  ck_fs(ctx, fs_verify_schedule(ctx, g, s, NULL));
  return s;
}

START_TEST(as_all_orders)
{
  unsigned n = 300, proven = 0;
  for (unsigned i = 0; i < n; i++) {
    uint64_t seed = fs_turn() << 16 | i;
    fs_rng r = {seed};
    search_case c = fs_small_case(&r, MOST_OPS, 6);
    unsigned least = fs_small_least(&c);
    fsched_graph *g = fs_small_graph(&c);
    fs_schedule *s = search_alone(g, i, 2000);
    ck_assert_msg(s->makespan >= least * c.tick, "seed %llu: %llu is below %u",
                  (unsigned long long)seed, (unsigned long long)s->makespan, least);
    ck_assert_msg(s->lower_bound <= least * c.tick, "seed %llu: the bound %llu is above %u",
                  (unsigned long long)seed, (unsigned long long)s->lower_bound, least);
    ck_assert_msg(s->makespan == least * c.tick, "seed %llu: %llu where %u is least",
                  (unsigned long long)seed, (unsigned long long)s->makespan, least);
    proven += s->makespan == s->lower_bound;
    fs_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(proven, n * 95 / 100);
}
END_TEST

/* Whatever a graph has, the search gives a right schedule, which is no longer than the one to begin
 * with, and the same one each time. */
static void search_twice(unsigned long seed, unsigned *shorter) {
  fs_gen_params params = fs_gen_any(seed, seed % 4 == 0 ? 40 : 12);
  fsched_graph *g;
  uint64_t makespan[3] = {0}, bound;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  for (unsigned k = 0; k < 3; k++) {
    fsched_compile_options o = {.size = sizeof o, .verify = 1, .effort = FSCHED_EFFORT(0)};
    o.refine = k == 0 ? FSCHED_REFINE_NONE : FSCHED_REFINE_SEARCH;
    o.node_limit = k == 0 ? 0 : 60;
    fsched_schedule *s;
    fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
    ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "seed %lu: %s", seed,
                  fs_test_diags(ctx));
    if (status == FSCHED_OK) {
      makespan[k] = fsched_schedule_makespan(s);
      bound = fsched_schedule_lower_bound(s);
      ck_assert_uint_le(bound, makespan[k]);
      fsched_schedule_destroy(s);
    }
    fsched_diag_clear(ctx);
  }
  ck_assert_msg(makespan[1] == makespan[2], "seed %lu", seed);
  ck_assert_msg(makespan[0] == 0 || (makespan[1] != 0 && makespan[1] <= makespan[0]), "seed %lu",
                seed);
  *shorter += makespan[1] < makespan[0];
  fsched_graph_destroy(g);
}

START_TEST(any_graph)
{
  unsigned shorter = 0;
  for (unsigned long i = 0; i < 150; i++) {
    search_twice((unsigned long)(fs_turn() << 16 | i), &shorter);
  }
  fs_assert_seen(shorter, 0);
}
END_TEST

/* ---- schedules that orders cannot tell */

static uint32_t add_user(fsched_builder *b, unsigned i, uint64_t time, uint32_t resource,
                         uint64_t amount) {
  uint32_t op;
  char name[16];
  (void)snprintf(name, sizeof name, "op%u", i);
  fsched_op_desc d = {.size = sizeof d, .name = name, .has_time = 1, .time = time};
  ck_fs(ctx, fsched_builder_op(b, &d, &op));
  ck_fs(ctx, fsched_builder_use(b, op, resource, amount));
  return op;
}

/* Amounts that are rounded where orders are evaluated: there, no two ops fit together. */
START_TEST(learns_amounts_of_many_bits)
{
  const uint64_t half = UINT64_C(1) << 39;
  search_case c = {.n = 5, .capacity = {8, 1, 1, 1}}; /* with 3 and 5 for half - 1 and half + 1 */
  fsched_builder *b;
  fsched_graph *g;
  uint32_t r;
  ck_fs(ctx, fsched_builder_create(ctx, "bits", &b));
  ck_fs(ctx, fsched_builder_resource(b, "r", 2 * half, &r));
  for (unsigned i = 0; i < c.n; i++) {
    bool longer = i < 2;
    c.time[i] = longer ? 3 : 2;
    c.need[i][0] = longer ? 3 : 5;
    (void)add_user(b, i, c.time[i], r, longer ? half - 1 : half + 1);
  }
  ck_fs(ctx, fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  fs_schedule *s = search_alone(g, 0, 1000);
  ck_assert_uint_eq(s->makespan, fs_small_least(&c));
  ck_assert_uint_eq(s->makespan, s->lower_bound);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Starts of small ops beside one that is very long: the search comes to its end. */
START_TEST(ends_with_long_ops)
{
  enum { SMALL = 40 };
  for (unsigned i = 0; i < 8; i++) {
    fs_rng rng = {fs_turn() << 16 | i};
    fsched_builder *b;
    fsched_graph *g;
    uint32_t r, op[SMALL];
    ck_fs(ctx, fsched_builder_create(ctx, "long", &b));
    ck_fs(ctx, fsched_builder_resource(b, "r", 10, &r));
    for (unsigned k = 0; k < SMALL; k++) {
      op[k] = add_user(b, k, 1 + fs_rng_below(&rng, 10), r, 1 + fs_rng_below(&rng, 6));
      for (unsigned before = k < 8 ? 0 : k - 8; before < k; before++) {
        if (fs_rng_one_in(&rng, 5)) {
          ck_fs(ctx, fsched_builder_after(b, op[k], op[before]));
        }
      }
    }
    uint32_t last = add_user(b, SMALL, UINT64_C(1) << 40, r, 1);
    for (unsigned k = 0; k < SMALL; k++) {
      ck_fs(ctx, fsched_builder_after(b, last, op[k]));
    }
    ck_fs(ctx, fsched_builder_finish(b, &g));
    fsched_builder_destroy(b);
    fs_schedule *s = search_alone(g, i, 2000);
    ck_assert(s->makespan == s->lower_bound || s->search_nodes == 2000);
    fs_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* A memory that cannot spill, and is short, is no graph for orders alone: they would be of
 * schedules that do not fit.  A strip of which the heuristic needs more than the least height. */
START_TEST(strips_fit)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\ntarget: {memories: [{name: m, capacity: 10, placement: contiguous}]}\nops:\n"
      "  - {name: a, time: 3, scratch: {m: 4}}\n  - {name: b, time: 3, scratch: {m: 6}}\n"
      "  - {name: c, time: 2, scratch: {m: 5}}\n  - {name: d, time: 2, scratch: {m: 5}}\n"
      "  - {name: e, time: 4, scratch: {m: 3}}\n  - {name: f, time: 2, scratch: {m: 7}}\n"
      "  - {name: h, time: 2, scratch: {m: 7}}\n");
  fs_schedule *s = search_alone(g, 0, 300);
  ck_assert_uint_eq(s->makespan, 9);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- limits and news */

static fsched_graph *hard_graph(void) {
  fs_gen_params params = {.seed = 3, .n_ops = 200, .resources = true, .n_queues = 0, .max_time = 9};
  fsched_graph *g;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  return g;
}

typedef struct search_news {
  volatile int stop;
  uint64_t incumbent, bound;
  unsigned calls;
} search_news;

static void hear(void *user, const fsched_refine_state *state) {
  search_news *n = user;
  ck_assert_uint_le(state->bound, state->incumbent);
  ck_assert(n->calls == 0 || state->incumbent <= n->incumbent);
  ck_assert_uint_ge(state->bound, n->bound);
  n->incumbent = state->incumbent;
  n->bound = state->bound;
  n->calls++;
  n->stop = 1; /* at the first news */
}

START_TEST(stops_and_tells)
{
  fsched_graph *g = hard_graph();
  search_news n = {0};
  fs_search_options o = {.stop = &n.stop, .news = hear, .user = &n};
  fs_schedule *s = NULL;
  ck_fs(ctx, fs_search_run(ctx, g, &o, 0, &s));
  ck_assert_uint_ge(n.calls, 1);
  ck_assert_ptr_nonnull(s);
  ck_assert_uint_eq(s->makespan, n.incumbent);
  ck_assert_int_eq(s->refine_end, FS_REFINE_END_STOPPED);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Nodes are counted, and more of them never give a longer schedule. */
START_TEST(ends_by_nodes)
{
  fsched_graph *g = hard_graph();
  uint64_t before = UINT64_MAX;
  for (uint64_t nodes = 1; nodes <= 1000; nodes *= 10) {
    fs_schedule *s = search_alone(g, 0, nodes);
    ck_assert_uint_le(s->makespan, before);
    ck_assert_uint_le(s->search_nodes, nodes);
    ck_assert(s->makespan == s->lower_bound || s->refine_end == FS_REFINE_END_NODES);
    before = s->makespan;
    fs_schedule_destroy(s);
  }
  fsched_graph_destroy(g);
}
END_TEST

/* ---- the choice by counts */

/* Was the schedule of so many ops, one after the other, looked at by a refinement? */
static bool auto_refines(uint32_t n) {
  fsched_builder *b;
  fsched_graph *g;
  fsched_schedule *s;
  double *seconds = calloc(fsched_pass_count(), sizeof *seconds);
  bool refined = false;
  ck_fs(ctx, fsched_builder_create(ctx, "g", &b));
  for (uint32_t i = 0; i < n; i++) {
    char name[20];
    (void)snprintf(name, sizeof name, "o%u", i);
    fsched_op_desc op = {.size = sizeof op, .name = name, .has_time = 1, .time = 1};
    uint32_t id;
    ck_fs(ctx, fsched_builder_op(b, &op, &id));
  }
  ck_fs(ctx, fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  fsched_compile_options o = {.size = sizeof o,
                              .refine = FSCHED_REFINE_AUTO,
                              .effort = FSCHED_EFFORT(0),
                              .pass_seconds = seconds};
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  for (uint32_t k = 0; k < fsched_pass_count(); k++) {
    refined = refined || (strcmp(fsched_pass_name(k), "refine") == 0 && seconds[k] > 0);
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  free(seconds);
  return refined;
}

START_TEST(auto_counts_ops)
{
  ck_assert(auto_refines(3));
  ck_assert(auto_refines(FSCHED_AUTO_OPS));
  ck_assert(!auto_refines(FSCHED_AUTO_OPS + 1));
}
END_TEST

FS_SUITE(search, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, as_all_orders, any_graph, strips_fit, learns_amounts_of_many_bits, ends_with_long_ops,
           stops_and_tells, ends_by_nodes, auto_counts_ops);
}
