/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in small cases with known answers, in all graphs of four items, and what is refused. */
#include <stdlib.h>

#include "barrier/barrier_machine.h"
#include "kit/budget.h"
#include "kit/suite.h"

typedef struct barrier_fixture {
  fsched_context *ctx;
  fs_arena arena;
  fs_bm m;
  fs_barriers b;
  fs_barrier_stuck stuck;
} barrier_fixture;

static void set_up(barrier_fixture *f, uint32_t n_queues, uint64_t n_slots) {
  ck_assert_int_eq(fsched_context_create(NULL, &f->ctx), FSCHED_OK);
  fs_arena_init(&f->arena, f->ctx);
  fs_bm_init(&f->m, n_queues, n_slots);
}

static void tear_down(barrier_fixture *f) {
  fs_arena_release(&f->arena);
  fs_bm_free(&f->m);
  fsched_context_destroy(f->ctx);
}

static void expect_fine(const fs_bm *m, const fs_barriers *b, int runs) {
  const char *fault = fs_bm_check(&m->p, b);
  fs_rng r = {7};
  for (int i = 0; i < runs && fault == NULL; i++) {
    fault = fs_bm_run(&m->p, b, i % 2 == 0 ? FS_BM_ANY : FS_BM_TIMES, &r);
  }
  if (fault != NULL) {
    ck_abort_msg("bound %u: %s", m->p.bound, fault);
  }
}

static void assign(barrier_fixture *f, uint32_t bound) {
  fs_barrier_problem *p = fs_bm_plan(&f->m, bound);
  ck_assert_int_eq(fs_barriers_assign(f->ctx, &f->arena, p, &f->b), FSCHED_OK);
  expect_fine(&f->m, &f->b, 20);
}

static void publish(barrier_fixture *f, uint32_t bound) {
  fs_barrier_problem *p = fs_bm_plan(&f->m, bound);
  ck_assert_int_eq(fs_barriers_published(f->ctx, &f->arena, p, &f->b, &f->stuck), FSCHED_OK);
}

/* Adds one item per letter of `queues` ('0' to '9'), each of time one; links are pairs of letters
 * a, b, ... */
static void items(barrier_fixture *f, const char *queues, const char *links) {
  for (; *queues != '\0'; queues++) {
    fs_bm_item_add(&f->m, (uint32_t)(*queues - '0'), 1, 1);
  }
  for (; *links != '\0'; links += links[2] == ' ' ? 3 : 2) {
    fs_bm_link_add(&f->m, (uint32_t)(links[0] - 'a'), (uint32_t)(links[1] - 'a'));
  }
}

/* Adds an item of so many slots, and one on another queue that waits for it. */
static void large_item(barrier_fixture *f, uint32_t slots) {
  fs_bm_item_add(&f->m, 0, 1, slots);
  fs_bm_item_add(&f->m, 1, 1, 1);
  fs_bm_link_add(&f->m, 0, 1);
}

/* Adds n items on queues of their own, each taking `more` longer than the one before, and one that
 * waits for all. */
static void fan_in(barrier_fixture *f, uint32_t n, uint32_t time, uint32_t more) {
  for (uint32_t i = 0; i < n; i++) {
    fs_bm_item_add(&f->m, i, time + i * more, 1);
  }
  fs_bm_item_add(&f->m, n, time, 1);
  for (uint32_t i = 0; i < n; i++) {
    fs_bm_link_add(&f->m, i, n);
  }
}

/* --- counter-examples to the published construction --- */

START_TEST(a_star_needs_one_barrier)
{
  barrier_fixture f;
  set_up(&f, 11, 4);
  fs_bm_item_add(&f.m, 0, 1, 1);
  for (uint32_t i = 1; i <= 10; i++) {
    fs_bm_item_add(&f.m, i, 1, 1);
    fs_bm_link_add(&f.m, 0, i);
  }
  assign(&f, 4);
  ck_assert_uint_eq(f.b.n, 1);
  ck_assert_uint_eq(f.b.used, 1);
  ck_assert_uint_eq(f.b.n_added, 0);
  ck_assert_uint_eq(f.b.makespan, 2); /* all leaves run at once, which is allowed */
  tear_down(&f);
}
END_TEST

/* The links are a -> b -> c -> d and a -> e, with e after c on its queue. */
START_TEST(edges_between_consecutive_owners_deadlock)
{
  barrier_fixture f;
  set_up(&f, 4, 4);
  items(&f, "01232", "ab bc cd ae");
  publish(&f, 2);
  ck_assert_uint_gt(f.stuck.n, 0);
  fs_rng r = {1};
  ck_assert_str_eq(fs_bm_run(&f.m.p, &f.b, FS_BM_ANY, &r), "deadlock");
  assign(&f, 2);
  ck_assert_uint_le(f.b.used, 2);
  tear_down(&f);
}
END_TEST

START_TEST(sharing_across_a_wait_deadlocks)
{
  barrier_fixture f;
  set_up(&f, 3, 256);
  items(&f, "0120", "ab bc cd");
  fs_barrier_problem *p = fs_bm_plan(&f.m, 2);
  /* Commands are, by queue: a d | b | c; a and c share barrier 0. */
  uint32_t wait0[] = {0, 0, 1, 2, 3};
  uint32_t wait[] = {0, 0, 1};
  uint32_t update0[] = {0, 1, 1, 2, 3};
  uint32_t update[] = {0, 1, 0};
  uint32_t ones[] = {1, 1, 1};
  uint32_t physical[] = {0, 1};
  uint32_t use[] = {0, 0};
  fs_barriers shared = {.n = 2,
                        .physical = physical,
                        .use = use,
                        .wait0 = wait0,
                        .wait = wait,
                        .update0 = update0,
                        .update = update,
                        .slots = ones,
                        .used = 2};
  fs_rng r = {1};
  ck_assert_str_eq(fs_bm_run(p, &shared, FS_BM_ANY, &r), "deadlock");
  for (uint32_t bound = 2; bound < 5; bound++) {
    assign(&f, bound);
    ck_assert_uint_eq(f.b.n, 3);
  }
  tear_down(&f);
}
END_TEST

/* --- sharing --- */

START_TEST(shared_where_all_is_ordered_already)
{
  barrier_fixture f;
  set_up(&f, 3, 8);
  items(&f, "0112", "ac ad bd"); /* c after b on queue 1 */
  assign(&f, FS_NONE);
  ck_assert_uint_eq(f.b.n, 1);
  ck_assert_uint_eq(f.b.least, 1);
  ck_assert_uint_eq(f.b.n_added, 0);
  tear_down(&f);
}
END_TEST

START_TEST(joins_fill_slots)
{
  barrier_fixture f;
  set_up(&f, 11, 4);
  fan_in(&f, 10, 1, 1);
  assign(&f, FS_NONE);
  ck_assert_uint_eq(f.b.n, 3);
  ck_assert_uint_eq(f.b.least, 3);
  tear_down(&f);
}
END_TEST

START_TEST(more_slots_than_a_barrier_has)
{
  barrier_fixture f;
  set_up(&f, 2, 8);
  large_item(&f, 20);
  assign(&f, 6);
  ck_assert_uint_eq(f.b.n, 3);
  ck_assert_uint_eq(f.b.wait0[2] - f.b.wait0[1], 3);
  ck_assert_uint_eq(f.b.slots[0] + f.b.slots[1] + f.b.slots[2], 20);
  assign(&f, 3); /* nothing follows, so three are enough */
  tear_down(&f);
}
END_TEST

START_TEST(members_of_a_gang_share)
{
  barrier_fixture f;
  set_up(&f, 3, 3);
  fs_bm_item_add(&f.m, 0, 2, 2);
  fs_bm_member_add(&f.m, 1);
  fs_bm_item_add(&f.m, 2, 1, 1);
  fs_bm_link_add(&f.m, 0, 1);
  assign(&f, 4); /* four slots in barriers of three */
  ck_assert_uint_eq(f.b.n, 2);
  ck_assert_uint_eq(f.b.wait0[3] - f.b.wait0[2], 2);
  tear_down(&f);
}
END_TEST

START_TEST(waits_that_others_imply_go)
{
  barrier_fixture f;
  set_up(&f, 3, 8);
  items(&f, "012", "ab ac bc");
  assign(&f, FS_NONE);
  ck_assert_uint_eq(f.b.n, 2);
  ck_assert_uint_eq(f.b.wait0[3] - f.b.wait0[2], 1);
  tear_down(&f);
}
END_TEST

/* --- bounds --- */

START_TEST(a_chain_needs_two)
{
  barrier_fixture f;
  set_up(&f, 3, 8);
  items(&f, "012", "ab bc");
  fs_barrier_problem *p = fs_bm_plan(&f.m, 1);
  ck_assert_int_eq(fs_barriers_assign(f.ctx, &f.arena, p, &f.b), FSCHED_INFEASIBLE);
  ck_assert_uint_eq(f.b.short_item, 1);
  ck_assert_uint_eq(f.b.short_need, 1);
  ck_assert_uint_eq(f.b.short_held, 1);
  assign(&f, 2);
  ck_assert_uint_eq(f.b.n_added, 0);
  tear_down(&f);
}
END_TEST

START_TEST(one_item_needs_more_than_there_are)
{
  barrier_fixture f;
  set_up(&f, 2, 4);
  large_item(&f, 13);
  fs_barrier_problem *p = fs_bm_plan(&f.m, 3);
  ck_assert_int_eq(fs_barriers_assign(f.ctx, &f.arena, p, &f.b), FSCHED_INFEASIBLE);
  ck_assert_uint_eq(f.b.short_item, 0);
  ck_assert_uint_eq(f.b.short_need, 4);
  ck_assert_uint_eq(f.b.short_held, 0);
  tear_down(&f);
}
END_TEST

START_TEST(one_barrier_in_turns)
{
  barrier_fixture f;
  set_up(&f, 2, 1);
  items(&f, "010101", "ab cd ef"); /* first a -> b, then c -> d on the same queues */
  assign(&f, 1);
  ck_assert_uint_eq(f.b.n, 3);
  ck_assert_uint_eq(f.b.used, 1);
  tear_down(&f);
}
END_TEST

START_TEST(no_items_and_no_waits)
{
  barrier_fixture f;
  set_up(&f, 1, 1);
  assign(&f, 1);
  ck_assert_uint_eq(f.b.n, 0);
  items(&f, "00", "ab");
  assign(&f, 1);
  ck_assert_uint_eq(f.b.n, 0);
  assign(&f, FS_NONE);
  ck_assert_uint_eq(f.b.least, 0);
  publish(&f, 1);
  ck_assert_uint_eq(f.stuck.n, 0);
  tear_down(&f);
}
END_TEST

/* There are 15 producers of one slot and a join.  With four barriers three producers run at a time,
 * since the fourth barrier has to tell that all earlier ones are over. */
START_TEST(absorbing_keeps_all_but_one_busy)
{
  barrier_fixture f;
  set_up(&f, 16, 1);
  fan_in(&f, 15, 10, 0);
  assign(&f, 4);
  ck_assert_uint_le(f.b.makespan, 60);
  assign(&f, 16);
  ck_assert_uint_eq(f.b.makespan, 20);
  ck_assert_uint_eq(f.b.n_added, 0);
  tear_down(&f);
}
END_TEST

/* Physical barriers that are handed over need no new orders where the plan takes turns anyway. */
START_TEST(gates_need_no_orders)
{
  barrier_fixture f;
  set_up(&f, 4, 1);
  items(&f, "0123", "ab cd");
  f.m.item[2].time = 9;
  f.m.item[3].time = 9;
  fs_barrier_problem *p = fs_bm_plan(&f.m, 1);
  fs_tick start[] = {0, 1, 5, 14};
  p->start = start;
  ck_assert_int_eq(fs_barriers_assign(f.ctx, &f.arena, p, &f.b), FSCHED_OK);
  expect_fine(&f.m, &f.b, 20);
  ck_assert_uint_eq(f.b.n_added, 0);
  ck_assert_uint_eq(f.b.n_gates, 1);
  ck_assert_uint_eq(f.b.makespan, 23);
  tear_down(&f);
}
END_TEST

/* --- every graph of four items --- */

enum { SMALL = 4, LINKS = 6, QUEUES = 3 };

static void small_graph(barrier_fixture *f, uint32_t graph, uint32_t queues, uint64_t n_slots) {
  fs_bm_init(&f->m, QUEUES, n_slots);
  for (uint32_t i = 0; i < SMALL; i++, queues /= QUEUES) {
    fs_bm_item_add(&f->m, queues % QUEUES, i % 3, 1);
  }
  for (uint32_t v = 1, k = 0; v < SMALL; v++) {
    for (uint32_t u = 0; u < v; u++, k++) {
      if ((graph >> k & 1) != 0) {
        fs_bm_link_add(&f->m, u, v);
      }
    }
  }
}

static void small_bounds(barrier_fixture *f, uint32_t least) {
  for (uint32_t bound = 1; bound <= 3; bound++) {
    fs_barrier_problem *p = fs_bm_plan(&f->m, bound);
    fs_status status = fs_barriers_assign(f->ctx, &f->arena, p, &f->b);
    if (status == FSCHED_INFEASIBLE && bound == 1) {
      continue;
    }
    if (status != FSCHED_OK || (least <= bound && f->b.n_added > 0)) {
      ck_abort_msg("bound %u, least %u: status %d, %u added", bound, least, (int)status,
                   f->b.n_added);
    }
    expect_fine(&f->m, &f->b, 4);
  }
}

START_TEST(all_small_graphs)
{
  barrier_fixture f;
  set_up(&f, 1, 1);
  uint32_t n_stuck = 0;
  for (uint32_t graph = 0; graph < 1 << LINKS; graph++) {
    for (uint32_t queues = 0; queues < 81; queues++) {
      small_graph(&f, graph, queues, 1 + (graph + queues) % 2);
      fs_barrier_problem *p = fs_bm_plan(&f.m, FS_NONE);
      ck_assert_int_eq(fs_barriers_assign(f.ctx, &f.arena, p, &f.b), FSCHED_OK);
      expect_fine(&f.m, &f.b, 2);
      if (f.b.used != f.b.least || f.b.n_added > 0 || f.b.n_gates > 0) {
        ck_abort_msg("unbounded, but not free of cost");
      }
      small_bounds(&f, f.b.least);
      publish(&f, 2);
      fs_rng r = {queues};
      if ((f.stuck.n == 0) != (fs_bm_run(&f.m.p, &f.b, FS_BM_ANY, &r) == NULL)) {
        ck_abort_msg("graph %u, queues %u: stuck %u", graph, queues, f.stuck.n);
      }
      n_stuck += f.stuck.n > 0;
      fs_arena_release(&f.arena);
      fs_bm_free(&f.m);
    }
  }
  ck_assert_uint_gt(n_stuck, 100);
  ck_assert_uint_lt(n_stuck, 64 * 81 - 100);
  fs_bm_init(&f.m, 1, 1);
  tear_down(&f);
}
END_TEST

/* --- the published construction --- */

START_TEST(published_cycle)
{
  barrier_fixture f;
  set_up(&f, 2, 1);
  items(&f, "01", "ab");
  publish(&f, 1); /* b waits for the only barrier but updates none, so nobody waits for b */
  ck_assert_uint_eq(f.stuck.n, 0);
  ck_assert_uint_eq(f.b.n, 1);
  tear_down(&f);
  set_up(&f, 3, 1);
  items(&f, "012", "ab bc");
  publish(&f, 1);
  ck_assert_uint_eq(f.stuck.n, 1); /* b waits for the barrier that it has to take over */
  ck_assert_uint_eq(f.stuck.command[0], 1);
  ck_assert_int_eq(f.stuck.kind[0], FS_STUCK_MAPPED);
  ck_assert_uint_eq(f.stuck.barrier[0], 1);
  tear_down(&f);
}
END_TEST

/* The construction's results can be run where it reports nothing as stuck. */
START_TEST(published_at_random)
{
  uint32_t n_stuck = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    barrier_fixture f;
    set_up(&f, 1, 1);
    fs_rng r = {seed + 1};
    uint32_t n = 5 + fs_rng_below(&r, 30);
    fs_bm_random(&f.m, &r, n, 1 + fs_rng_below(&r, 6), 1, 1, UINT32_MAX, false);
    publish(&f, 1 + fs_rng_below(&r, 12));
    const char *fault = fs_bm_run(&f.m.p, &f.b, FS_BM_ANY, &r);
    if (f.stuck.n == 0) {
      expect_fine(&f.m, &f.b, 5);
    } else if (fault == NULL || strcmp(fault, "deadlock") != 0) {
      ck_abort_msg("seed %u: stuck, but %s", (unsigned)seed, fault == NULL ? "runs" : fault);
    }
    n_stuck += f.stuck.n > 0;
    tear_down(&f);
  }
  ck_assert_uint_gt(n_stuck, 20);
  ck_assert_uint_lt(n_stuck, 200);
}
END_TEST

/* --- without rows for all queues at once --- */

START_TEST(many_queues)
{
  barrier_fixture f;
  enum { N = 6000 };
  set_up(&f, N, 2);
  for (uint32_t i = 0; i < N; i++) {
    fs_bm_item_add(&f.m, i, 1, 1);
  }
  for (uint32_t i = 40; i < N; i++) {
    fs_bm_link_add(&f.m, i - 40 + i % 3, i);
  }
  fs_barrier_problem *p = fs_bm_plan(&f.m, 6);
  ck_assert_int_eq(fs_barriers_assign(f.ctx, &f.arena, p, &f.b), FSCHED_OK);
  expect_fine(&f.m, &f.b, 1);
  ck_assert_uint_gt(f.b.n_added, 0);
  tear_down(&f);
}
END_TEST

/* Half of the items update one barrier, and at first the other half waits for it: the work for a
 * wait must not go through all producers.  If it did, the time limit of the case would show it. */
START_TEST(many_wait_for_many)
{
  barrier_fixture f;
  enum { N = 120000 };
  set_up(&f, 2, UINT32_MAX);
  for (uint32_t i = 0; i < 2 * N; i++) {
    fs_bm_item_add(&f.m, i / N, 0, 1);
  }
  for (uint32_t i = 0; i < N; i++) {
    fs_bm_link_add(&f.m, i, N + i);
  }
  fs_barrier_problem *p = fs_bm_plan(&f.m, 8);
  ck_assert_int_eq(fs_barriers_assign(f.ctx, &f.arena, p, &f.b), FSCHED_OK);
  ck_assert_uint_eq(f.b.n, 1);
  ck_assert_uint_eq(f.b.wait0[2 * N], 1);
  tear_down(&f);
}
END_TEST

/* --- memory --- */

static long survive(const fs_barrier_problem *p, bool published) {
  for (long n = 0;; n++) {
    fs_budget budget = {.left = n};
    fsched_context_options options = {
        .size = sizeof options, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *ctx;
    if (fsched_context_create(&options, &ctx) != FSCHED_OK) {
      continue;
    }
    fs_arena arena;
    fs_arena_init(&arena, ctx);
    fs_barriers b;
    fs_barrier_stuck stuck;
    fs_status status = published ? fs_barriers_published(ctx, &arena, p, &b, &stuck)
                                 : fs_barriers_assign(ctx, &arena, p, &b);
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    fs_arena_release(&arena);
    fsched_context_destroy(ctx);
    ck_assert_int_eq(budget.blocks, 0);
    if (status == FSCHED_OK) {
      return n;
    }
  }
}

START_TEST(nth_allocation_fails)
{
  fs_bm m;
  fs_rng r = {3};
  fs_bm_random(&m, &r, 60, 6, 2, 2, 4, true);
  ck_assert_int_gt(survive(fs_bm_plan(&m, 2), false), 20);
  ck_assert_int_gt(survive(fs_bm_plan(&m, FS_NONE), false), 20);
  ck_assert_int_gt(survive(fs_bm_plan(&m, 5), true), 5);
  fs_bm_free(&m);
}
END_TEST

FS_SUITE(barrier, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, a_star_needs_one_barrier, edges_between_consecutive_owners_deadlock,
           sharing_across_a_wait_deadlocks, shared_where_all_is_ordered_already, joins_fill_slots,
           more_slots_than_a_barrier_has, members_of_a_gang_share, waits_that_others_imply_go,
           a_chain_needs_two, one_item_needs_more_than_there_are, one_barrier_in_turns,
           no_items_and_no_waits, absorbing_keeps_all_but_one_busy, gates_need_no_orders,
           all_small_graphs, published_cycle, published_at_random, many_queues,
           nth_allocation_fails);
  t = fs_case(s, NULL);
  tcase_set_timeout(t, 20);
  FS_TESTS(t, many_wait_for_many);
}
