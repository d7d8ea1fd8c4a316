/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of random graphs, run on a machine that has few of them and whose commands take any
 * time. */
#include <stdlib.h>

#include "barrier/barrier_machine.h"

#include "kit/context.h"

enum { GRAPHS = 2000, RUNS = 20 };

static void expect_fine(const fs_bm *m, uint64_t seed, const char *fault) {
  if (fault != NULL) {
    ck_abort_msg("seed %llu, %u items, %u queues, bound %u: %s", (unsigned long long)seed,
                 m->n_items, m->n_queues, m->p.bound, fault);
  }
}

static void one_graph(uint64_t seed) {
  fs_rng r = {seed * 0x9E3779B97F4A7C15u + 1};
  fs_bm m;
  uint32_t bound = 2 + fs_rng_below(&r, 7);
  uint32_t n_slots = fs_rng_one_in(&r, 3) ? 1 + fs_rng_below(&r, 3) : 1 + fs_rng_below(&r, 256);
  uint32_t n_items = fs_rng_one_in(&r, 8) ? 10 + fs_rng_below(&r, 491) : 10 + fs_rng_below(&r, 91);
  uint32_t most_demand = n_slots * (1 + fs_rng_below(&r, bound / 2));
  bool gangs = most_demand > 1 && fs_rng_one_in(&r, 3);
  uint32_t n_edges = 1 + fs_rng_below(&r, 3), n_queues = 1 + fs_rng_below(&r, 16);
  fs_bm_random(&m, &r, n_items, n_queues, n_edges, most_demand, n_slots, gangs);
  if (seed % 2 == 0) {
    fs_bm_slow(&m, &r);
  }
  fs_barrier_problem *p = fs_bm_plan(&m, bound);
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_barriers b;
  if (fs_barriers_assign(ctx, &arena, p, &b) != FSCHED_OK) {
    expect_fine(&m, seed, "no barriers");
  }
  expect_fine(&m, seed, fs_bm_check(p, &b));
  for (uint32_t i = 0; i < RUNS; i++) {
    expect_fine(&m, seed, fs_bm_run(p, &b, i % 2 == 0 ? FS_BM_TIMES : FS_BM_ANY, &r));
  }
  if (n_items < 60) {
    char *closure = fs_bm_closure(&m);
    expect_fine(&m, seed, fs_bm_check_added(&m, closure, &b));
    free(closure);
  }
  fs_arena_release(&arena);
  fs_bm_free(&m);
}

static void graphs(uint64_t first) {
  for (uint64_t seed = first; seed < first + GRAPHS / 4; seed++) {
    one_graph(seed);
  }
  fsched_diag_clear(ctx);
}

START_TEST(every_duration)
{ graphs((uint64_t)_i * (GRAPHS / 4)); }
END_TEST

FS_SUITE(barrier_random, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 300);
  FS_LOOPS(t, 0, 4, every_duration);
}
