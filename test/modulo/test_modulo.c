/* SPDX-License-Identifier: Apache-2.0 */
/* The interval of small bodies: by brute force, by known facts, by running the plan. */
#include <stdio.h>

#include "kit/shared_facts.h"
#include "kit/turn.h"
#include "modulo/body_gen.h"
#include "modulo/brute.h"
#include "modulo/modulo.h"

#include "kit/context.h"

static fs_modulo_plan plan_of(const fs_modulo_problem *p, uint32_t copies, bool quick) {
  fs_modulo_options o = {.copies = copies, .quick = quick};
  fs_modulo_plan plan;
  ck_fs(ctx, fs_modulo_schedule(ctx, &own_arena, p, &o, &plan));
  return plan;
}

static void must_not_be(const fs_modulo_problem *p, fs_brute_wish wish, uint64_t seed,
                        const char *what) {
  if (fs_modulo_brute(p, &wish)) {
    ck_abort_msg("seed %lu: there is a plan %s", (unsigned long)seed, what);
  }
}

/* A plan that is found is run, and nothing is better; where there is none, brute force finds
 * none. */
static void compare_with_brute(const fs_body_params *g) {
  static fs_body b;
  int64_t total = 1;
  fs_body_draw(g, &b);
  fs_modulo_plan plan = plan_of(&b.p, 1, g->seed % 2 == 0);
  for (uint32_t i = 0; i < g->n; i++) {
    total += (int64_t)b.latency[i];
  }
  fs_brute_wish wish = {{total, 1}, true, -1, FS_UNBOUNDED};
  ck_assert_int_ne(plan.found.is, FS_NOT_DECIDED);
  if (plan.found.is == FS_YES) {
    ck_assert_msg(plan.proven, "seed %lu: not proven", (unsigned long)g->seed);
    fs_modulo_check(&b.p, &plan);
    wish.ii = plan.ii;
  }
  must_not_be(&b.p, wish, g->seed, "of a lesser interval");
  fs_arena_release(&own_arena);
}

START_TEST(as_brute_force)
{
  for (uint64_t k = 0; k < 50; k++) {
    fs_body_params g = {.seed = (fs_turn() * 50 + k) * 10 + (uint64_t)_i, .n = 2 + k % 6};
    g.whole = k % 3 == 0;
    compare_with_brute(&g);
  }
}
END_TEST

/* Shallow rings between few queues keep many intervals above all bounds. */
START_TEST(shallow_rings_as_brute_force)
{
  for (uint64_t k = 0; k < 100; k++) {
    fs_body_params g = {.seed = (fs_turn() * 100 + k) * 10 + (uint64_t)_i, .n = 4 + k % 3};
    g.classes = 2 + (uint32_t)k % 2;
    g.most_queues = 1;
    g.most_depth = 1 + (uint32_t)k % 2;
    compare_with_brute(&g);
  }
}
END_TEST

START_TEST(open_depths_as_brute_force)
{
  for (uint64_t k = 0; k < 25; k++) {
    fs_body_params g = {.seed = (fs_turn() * 25 + k) * 10 + (uint64_t)_i, .n = 2 + k % 4};
    g.open = true;
    g.room = 6 + (uint32_t)k % 8;
    compare_with_brute(&g);
  }
}
END_TEST

START_TEST(lanes_as_brute_force)
{
  for (uint64_t k = 0; k < 25; k++) {
    fs_body_params g = {.seed = (fs_turn() * 25 + k) * 10 + (uint64_t)_i, .n = 2 + k % 5};
    g.lanes = true;
    g.gangs = k % 3 == 0;
    compare_with_brute(&g);
  }
}
END_TEST

START_TEST(held_back_as_brute_force)
{
  for (uint64_t k = 0; k < 25; k++) {
    fs_body_params g = {.seed = (fs_turn() * 25 + k) * 10 + (uint64_t)_i, .n = 2 + k % 5};
    g.held_back = true;
    g.lanes = k % 3 == 0;
    g.gangs = k % 5 == 0;
    g.open = k % 4 == 0;
    g.room = g.open ? 8 + (uint32_t)k % 8 : 0;
    compare_with_brute(&g);
  }
}
END_TEST

/* Among plans of the least interval none is shorter, and of these none takes less memory. */
START_TEST(goals_as_brute_force)
{
  for (uint64_t k = 0; k < 25; k++) {
    static fs_body b;
    fs_body_params g = {.seed = (fs_turn() * 25 + k) * 10 + (uint64_t)_i, .n = 2 + k % 3};
    g.open = true;
    g.room = 24;
    g.held_back = k % 5 == 0;
    fs_body_draw(&g, &b);
    fs_modulo_plan plan = plan_of(&b.p, 1, false);
    if (plan.found.is == FS_NO) {
      continue;
    }
    ck_assert(plan.shortest && plan.least_memory);
    fs_modulo_check(&b.p, &plan);
    fs_brute_wish wish = {plan.ii, false, plan.makespan - 1, FS_UNBOUNDED};
    must_not_be(&b.p, wish, g.seed, "of a shorter makespan");
    wish.makespan++;
    if (plan.bytes[0] > 0) {
      wish.bytes = plan.bytes[0] - 1;
      must_not_be(&b.p, wish, g.seed, "of less memory");
    }
    fs_arena_release(&own_arena);
  }
}
END_TEST

FS_SUITE(modulo, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, 10, as_brute_force, shallow_rings_as_brute_force, open_depths_as_brute_force,
           lanes_as_brute_force, held_back_as_brute_force, goals_as_brute_force);
}
