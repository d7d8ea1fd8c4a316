/* SPDX-License-Identifier: Apache-2.0 */
/* The naive scheduler: the verifier accepts its schedules of random graphs. */

#include "kit/gen.h"
#include "kit/naive.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

static void check_naive(const fs_gen_params *p) {
  fsched_graph *g;
  fs_schedule *s;
  ck_assert_int_eq(fs_gen_graph(ctx, p, &g), FSCHED_OK);
  ck_assert_int_eq(fs_naive_schedule(ctx, g, &s), FSCHED_OK);
  fs_tick sum = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    sum += s->end[i] - s->start[i];
  }
  ck_assert_uint_eq(s->makespan, sum);
  ck_assert_msg(fs_verify_schedule(ctx, g, s, NULL) == FSCHED_OK, "seed %llu: %s",
                (unsigned long long)p->seed, fsched_diag_get(ctx, 0)->message);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(random_graphs)
{
  for (uint64_t seed = 0; seed < 400; seed++) {
    fs_gen_params p = fs_gen_any(seed, 150);
    p.class_gangs = seed % 2 == 0;
    check_naive(&p);
  }
}
END_TEST

START_TEST(no_store)
{
  fs_gen_params p = {.seed = 1, .n_ops = 20, .n_queues = 2, .n_memories = 1};
  fsched_graph *g;
  fs_schedule *s = NULL;
  ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
  ck_assert_int_eq(fs_naive_schedule(ctx, g, &s), FSCHED_INFEASIBLE);
  ck_assert_ptr_null(s);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(naive, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, random_graphs, no_store);
}
