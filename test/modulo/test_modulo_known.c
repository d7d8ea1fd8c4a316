/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies whose interval is known, larger ones whose plans are run, and what is beyond a limit. */
#include <stdio.h>

#include "kit/shared_facts.h"
#include "kit/turn.h"
#include "modulo/body_gen.h"
#include "modulo/brute.h"
#include "modulo/least.h"
#include "modulo/modulo.h"
#include "modulo/plain.h"
#include "modulo/problem/ratio.h"

#include "kit/context.h"

static fs_modulo_plan plan_with(const fs_modulo_problem *p, const fs_modulo_options *o) {
  fs_modulo_plan plan;
  ck_fs(ctx, fs_modulo_schedule(ctx, &own_arena, p, o, &plan));
  return plan;
}

/* A load and a use on queues of their own, and a ring between them. */
static fs_modulo_plan load_and_use(uint32_t latency, uint32_t occupancy, uint32_t use,
                                   uint32_t depth) {
  static const uint32_t eligible0[] = {0, 1, 2}, eligible[] = {0, 1}, reader0[] = {0, 1};
  static const fs_modulo_reader reader = {1, 0};
  static const fs_modulo_edge edge = {0, 1, 0};
  static const uint64_t capacity = FS_UNBOUNDED;
  fs_tick time[] = {occupancy, use}, latencies[] = {latency, use};
  fs_modulo_ring ring = {.writer = 0, .memory = 0, .size = 1, .depth = depth};
  fs_modulo_problem p = {.n = 2, .n_queues = 2, .n_edges = 1, .n_rings = 1, .n_memories = 1};
  p.time = time;
  p.latency = latencies;
  p.eligible0 = eligible0;
  p.eligible = eligible;
  p.edge = &edge;
  p.ring = &ring;
  p.reader0 = reader0;
  p.reader = &reader;
  p.capacity = &capacity;
  fs_modulo_plan plan = plan_with(&p, &(fs_modulo_options){0});
  ck_assert_int_eq(plan.found.is, FS_YES);
  ck_assert(plan.proven && plan.shortest && plan.least_memory);
  fs_modulo_check(&p, &plan);
  return plan;
}

START_TEST(facts)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  if (file == NULL) {
    return;
  }
  char line[4096];
  uint32_t seen = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned latency, occupancy, use, depth, num, den, least;
    if (sscanf(line, "mod lat=%u occ=%u C=%u D=%u II_num=%u II_den=%u D_min=%u", &latency,
               &occupancy, &use, &depth, &num, &den, &least) != 7) {
      continue;
    }
    fs_modulo_plan plan = load_and_use(latency, occupancy, use, depth);
    ck_assert_int_eq(plan.ii.num, num);
    ck_assert_int_eq(plan.ii.den, den);
    bool ring = num > den * (use > occupancy ? use : occupancy);
    ck_assert_int_eq(plan.limited_by, ring ? FS_MODULO_BY_RING : FS_MODULO_BY_QUEUES);
    plan = load_and_use(latency, occupancy, use, 0);
    ck_assert_int_eq(plan.ii.num, use > occupancy ? use : occupancy);
    ck_assert_uint_eq(plan.depth[0], least);
    seen++;
  }
  (void)fclose(file);
  ck_assert_uint_eq(seen, 13);
}
END_TEST

/* Three ops of one tick on two queues. */
static fs_modulo_plan three_on_two(uint32_t copies) {
  static const uint32_t eligible0[] = {0, 2, 4, 6}, eligible[] = {0, 1, 0, 1, 0, 1};
  static const fs_tick time[] = {1, 1, 1};
  fs_modulo_problem p = {.n = 3, .n_queues = 2};
  p.time = p.latency = time;
  p.eligible0 = eligible0;
  p.eligible = eligible;
  fs_modulo_plan plan = plan_with(&p, &(fs_modulo_options){.copies = copies});
  ck_assert(plan.proven);
  fs_modulo_check(&p, &plan);
  return plan;
}

START_TEST(roles_alternate)
{
  fs_modulo_plan plan = three_on_two(1);
  ck_assert_int_eq(plan.ii.num, 2);
  ck_assert_int_eq(plan.ii.den, 1);
  ck_assert_int_eq(plan.limited_by, FS_MODULO_BY_ROLES);
  plan = three_on_two(4);
  ck_assert_uint_eq(plan.copies, 2);
  ck_assert_int_eq(plan.ii.num, 3);
  ck_assert_int_eq(plan.ii.den, 2);
  ck_assert_int_eq(plan.limited_by, FS_MODULO_BY_QUEUES);
}
END_TEST

/* Ops of 4, 6 and 2 ticks on three queues, the last one reads what the first one writes. */
static fs_modulo_plan three_with_rings(uint64_t capacity) {
  static const uint32_t eligible0[] = {0, 3, 6, 9}, eligible[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  static const uint32_t reader0[] = {0, 1, 1, 1};
  static const fs_tick time[] = {4, 6, 2};
  static const fs_modulo_edge edge = {0, 2, 0};
  static const fs_modulo_reader reader = {2, 0};
  static const fs_modulo_ring ring[] = {
      {.writer = 0, .size = 8}, {.writer = 1, .size = 4}, {.writer = 2, .size = 8}};
  fs_modulo_problem p = {.n = 3, .n_queues = 3, .n_edges = 1, .n_rings = 3, .n_memories = 1};
  p.time = p.latency = time;
  p.eligible0 = eligible0;
  p.eligible = eligible;
  p.edge = &edge;
  p.ring = ring;
  p.reader0 = reader0;
  p.reader = &reader;
  p.capacity = &capacity;
  fs_modulo_plan plan = plan_with(&p, &(fs_modulo_options){0});
  fs_modulo_check(&p, &plan);
  return plan;
}

/* Two copies take turns, if both have slots. */
START_TEST(copies_that_fit)
{
  for (uint64_t capacity = 32; capacity < 50; capacity++) {
    fs_modulo_plan plan = three_with_rings(capacity);
    ck_assert_int_eq(plan.ii.num, 4);
    ck_assert_uint_eq(plan.copies, 2);
    ck_assert(plan.proven);
  }
  fs_modulo_plan plan = three_with_rings(20);
  ck_assert_int_eq(plan.ii.num, 6);
  ck_assert(plan.proven); /* no ring can have a second slot */
  ck_assert_int_eq(plan.limited_by, FS_MODULO_BY_MEMORY);
}
END_TEST

/* Ops of 4 ticks that take 2 and 1 of two lanes: one after the other, but of two iterations those
 * that take 1 can run together. */
static fs_modulo_plan wide_and_narrow(uint32_t copies) {
  static const uint32_t eligible0[] = {0, 1, 2}, eligible[] = {0, 1}, lanes = 2, use0[] = {0, 1, 2};
  static const fs_tick time[] = {1, 1}, latency[] = {4, 4};
  static const fs_modulo_use use[] = {{0, 2}, {0, 1}};
  fs_modulo_problem p = {.n = 2, .n_queues = 2, .n_resources = 1, .lanes = &lanes};
  p.time = time;
  p.latency = latency;
  p.eligible0 = eligible0;
  p.eligible = eligible;
  p.use0 = use0;
  p.use = use;
  fs_modulo_plan plan = plan_with(&p, &(fs_modulo_options){.copies = copies});
  ck_assert(plan.proven);
  fs_modulo_check(&p, &plan);
  return plan;
}

START_TEST(lanes_alternate)
{
  fs_modulo_plan plan = wide_and_narrow(1);
  ck_assert_int_eq(plan.ii.num, 8);
  ck_assert_int_eq(plan.ii.den, 1);
  ck_assert_int_eq(plan.limited_by, FS_MODULO_BY_RESOURCE);
  plan = wide_and_narrow(2);
  ck_assert_uint_eq(plan.copies, 2);
  ck_assert_int_eq(plan.ii.num, 13); /* they begin one tick apart, on their queue */
  ck_assert_int_eq(plan.ii.den, 2);
}
END_TEST

/* What takes two lanes excludes all others, which exclude each other by their queue. */
START_TEST(queue_and_lanes)
{
  static const uint32_t eligible0[] = {0, 1, 2, 3}, eligible[] = {0, 1, 1}, lanes = 2;
  static const uint32_t use0[] = {0, 1, 2, 3};
  static const fs_tick time[] = {5, 3, 3}, latency[] = {5, 3, 4};
  static const fs_modulo_use use[] = {{0, 2}, {0, 1}, {0, 1}};
  fs_modulo_problem p = {.n = 3, .n_queues = 2, .n_resources = 1, .lanes = &lanes};
  p.time = time;
  p.latency = latency;
  p.eligible0 = eligible0;
  p.eligible = eligible;
  p.use0 = use0;
  p.use = use;
  fs_modulo_plan plan = plan_with(&p, &(fs_modulo_options){0});
  ck_assert(plan.proven);
  fs_modulo_check(&p, &plan);
  ck_assert_int_eq(plan.ii.num, 11); /* the op of latency 4 ends beside the other one */
  ck_assert_int_eq(plan.bounds.resource.num, 11);
  ck_assert_int_eq(plan.limited_by, FS_MODULO_BY_RESOURCE);
  ck_assert_uint_eq(plan.limited_index, 0);
}
END_TEST

/* Plans of copies are run, and no interval is below the bounds or above that of one copy.  In the
 * first turn shown, a plan of copies could have a shorter makespan with more memory than there is.
 */
START_TEST(copies)
{
  uint32_t several = 0;
  for (uint64_t k = 0; k < 30; k++) {
    static fs_body b;
    fs_body_params g = {.n = 3 + k % 12, .classes = 1};
    g.seed = (_i == 0 ? 16178765 : fs_turn()) * 30 + k;
    g.open = k % 3 == 0;
    g.room = k % 6 == 0 ? 16 : 0;
    g.held_back = k % 4 == 0;
    g.lanes = k % 2 == 1 && g.n < 7;
    fs_body_draw(&g, &b);
    fs_modulo_plan one = plan_with(&b.p, &(fs_modulo_options){.copies = 1, .quick = true});
    fs_modulo_plan plan = plan_with(&b.p, &(fs_modulo_options){0});
    if (plan.found.is == FS_YES) {
      fs_modulo_check(&b.p, &plan);
      ck_assert(!fs_modulo_less(one.ii, plan.ii));
      ck_assert(!fs_modulo_less(plan.ii, plan.bounds.resource));
      ck_assert(!fs_modulo_less(plan.ii, plan.bounds.recurrence));
      several += plan.copies > 1;
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(several, 0);
}
END_TEST

/* Nearly all bodies of 20 to 30 ops are proven, those of one copy in any case, and their plans
 * hold. */
START_TEST(bodies_of_thirty)
{
  uint32_t proven = 0, of_copies = 0;
  for (uint64_t k = 0; k < 20; k++) {
    static fs_body b;
    fs_body_params g = {.seed = (fs_turn() * 10 + (uint64_t)_i) * 20 + k, .n = 20 + k % 11};
    g.held_back = k % 2 == 0;
    fs_body_draw(&g, &b);
    fs_modulo_plan plan = plan_with(&b.p, &(fs_modulo_options){.steps = 1 << 22});
    fs_modulo_options one = {.steps = 1 << 22, .copies = 1, .quick = true};
    ck_assert_int_eq(plan.found.is, FS_YES);
    fs_modulo_check(&b.p, &plan);
    of_copies += plan.proven;
    proven += plan_with(&b.p, &one).proven;
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(proven, 18);
  fs_assert_seen(of_copies, 11);
}
END_TEST

/* Bodies whose least interval fills all queues of a class, which was only found where these take
 * turns. */
START_TEST(queues_take_turns)
{
  static const uint64_t seeds[] = {10, 18, 21, 41, 71, 98, 103, 127};
  for (size_t k = 0; k < 2 * sizeof seeds / sizeof *seeds; k++) {
    static fs_body b;
    fs_body_params g = {.seed = seeds[k / 2], .n = 20 + (uint32_t)seeds[k / 2] % 11};
    g.held_back = k % 2 == 1;
    fs_body_draw(&g, &b);
    fs_modulo_plan plan = plan_with(&b.p, &(fs_modulo_options){.steps = 1 << 24, .quick = true});
    ck_assert_int_eq(plan.found.is, FS_YES);
    fs_modulo_check(&b.p, &plan);
    ck_assert_msg(plan.proven && plan.copies > 1, "seed %lu", (unsigned long)g.seed);
    ck_assert_int_eq(plan.ii.num, plan.bounds.resource.num);
    ck_assert_int_eq(plan.ii.den, plan.bounds.resource.den);
    fs_arena_release(&own_arena);
  }
}
END_TEST

/* Where memory limits, the plan fits and says so. */
START_TEST(memory_limits)
{
  uint32_t limited = 0;
  for (uint64_t k = 0; k < 20; k++) {
    static fs_body b;
    fs_body_params g = {.seed = fs_turn() * 20 + k, .n = 12 + k % 8, .open = true};
    fs_modulo_options quick = {.copies = 1, .quick = true};
    fs_body_draw(&g, &b);
    fs_modulo_plan free = plan_with(&b.p, &quick);
    ck_assert_int_eq(free.found.is, FS_YES);
    b.capacity[0] = free.bytes[0] * (10 + k % 6) / 16;
    fs_modulo_plan plan = plan_with(&b.p, &quick);
    ck_assert(plan.found.is != FS_YES || !fs_modulo_less(plan.ii, free.ii));
    if (plan.found.is == FS_YES) {
      fs_modulo_check(&b.p, &plan);
      ck_assert(fs_modulo_less(free.ii, plan.ii) == (plan.limited_by == FS_MODULO_BY_MEMORY));
    }
    limited += plan.limited_by == FS_MODULO_BY_MEMORY;
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(limited, 0);
}
END_TEST

/* The search finds and proves the least interval without the bounds, too. */
START_TEST(without_bounds)
{
  for (uint64_t k = 0; k < 300; k++) {
    static fs_body b;
    fs_body_params g = {.seed = fs_turn() * 300 + k, .n = 2 + k % 7};
    g.held_back = k % 4 == 0;
    g.classes = k % 2 == 0 ? 3 : 0;
    fs_body_draw(&g, &b);
    fs_modulo_plan plan = plan_with(&b.p, &(fs_modulo_options){.copies = 1, .quick = true});
    fs_modulo_body body;
    fs_modulo_choice choice;
    fs_decision fits;
    ck_fs(ctx, fs_modulo_body_make(ctx, &own_arena, &b.p, 1, NULL, &body, &fits));
    ck_fs(ctx, fs_modulo_choice_new(&own_arena, &body, &choice));
    fs_modulo_least least = {.body = &body, .lower = {1, 3}, .steps = 1 << 27};
    ck_fs(ctx, fs_modulo_least_period(ctx, &least, &choice));
    ck_assert(least.found.is == FS_YES && least.proven);
    ck_assert_msg(choice.period.num == plan.ii.num && choice.period.den == plan.ii.den,
                  "seed %lu: %ld/%ld, not %ld/%ld", (unsigned long)g.seed, (long)choice.period.num,
                  (long)choice.period.den, (long)plan.ii.num, (long)plan.ii.den);
    fs_arena_release(&own_arena);
  }
}
END_TEST

/* Beyond a limit nothing is claimed. */
START_TEST(limits)
{
  static fs_body b;
  for (uint64_t seed = 0; seed < 60; seed++) {
    fs_body_params g = {.seed = seed, .n = 4 + seed % 20, .held_back = seed % 2 == 0};
    fs_body_draw(&g, &b);
    fs_modulo_plan full = plan_with(&b.p, &(fs_modulo_options){.copies = 1, .quick = true});
    ck_assert(full.proven);
    for (uint64_t steps = 1; steps < 1 << 22; steps *= 4) {
      fs_modulo_options o = {.steps = steps, .copies = 1, .quick = true};
      fs_modulo_plan plan = plan_with(&b.p, &o);
      ck_assert_int_ne(plan.found.is, FS_NO);
      if (plan.found.is == FS_YES) {
        ck_assert(!fs_modulo_less(plan.ii, full.ii));
        ck_assert(!plan.proven || !fs_modulo_less(full.ii, plan.ii));
      }
    }
    fs_modulo_plan plan = plan_with(&b.p, &(fs_modulo_options){.ops = g.n - 1});
    ck_assert_int_eq(plan.found.is, FS_NOT_DECIDED);
    b.latency[0] = UINT64_C(1) << 62; /* numbers that are too large */
    plan = plan_with(&b.p, &(fs_modulo_options){0});
    ck_assert_int_eq(plan.found.is, FS_NOT_DECIDED);
    fs_arena_release(&own_arena);
  }
}
END_TEST

/* A load, and a use of several slots that are given back at once. */
static fs_modulo_problem *load_many(uint32_t every, uint32_t depth) {
  static const uint32_t eligible0[] = {0, 1, 2}, eligible[] = {0, 1}, reader0[] = {0, 1};
  static const fs_modulo_reader reader = {1, 0};
  static const fs_modulo_edge edge = {0, 1, 0};
  static const uint64_t capacity = FS_UNBOUNDED;
  static const fs_tick time[] = {3, 2};
  static fs_modulo_ring ring;
  static fs_modulo_problem p;
  ring = (fs_modulo_ring){.writer = 0, .size = 1, .depth = depth, .every = every};
  p = (fs_modulo_problem){.n = 2, .n_queues = 2, .n_edges = 1, .n_rings = 1, .n_memories = 1};
  p.time = p.latency = time;
  p.eligible0 = eligible0;
  p.eligible = eligible;
  p.edge = &edge;
  p.ring = &ring;
  p.reader0 = reader0;
  p.reader = &reader;
  p.capacity = &capacity;
  return &p;
}

/* However many copies that takes, the plan is that of one, in turn, if steps run out. */
START_TEST(many_given_back)
{
  for (uint32_t every = 2; every <= FS_MODULO_COPIES; every++) {
    for (uint32_t depth = 0; depth <= every + 1; depth += every + 1) {
      fs_modulo_problem *p = load_many(every, depth);
      fs_modulo_plan plan = plan_with(p, &(fs_modulo_options){.steps = 1 << 12});
      ck_assert_int_eq(plan.found.is, FS_YES);
      ck_assert_uint_eq(plan.copies, every);
      ck_assert_int_eq(plan.ii.num, 3 * plan.ii.den);
      ck_assert(plan.proven);
      fs_modulo_check(p, &plan);
      fs_arena_release(&own_arena);
    }
  }
}
END_TEST

/* Plans of random ones are right, too, where the search of all copies has few steps. */
START_TEST(given_back_with_few_steps)
{
  static fs_body b;
  uint32_t found = 0, several = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    fs_body_params g = {.seed = fs_turn() * 100 + seed, .n = 2 + seed % 6, .every = true};
    g.held_back = seed % 2 == 0;
    g.most_depth = 8;
    fs_body_draw(&g, &b);
    uint32_t unit = fs_modulo_unit(&b.p);
    if (unit > 1 && unit <= FS_MODULO_COPIES) {
      fs_modulo_plan plan = plan_with(&b.p, &(fs_modulo_options){.steps = 1 << 14, .quick = true});
      ck_assert_int_ne(plan.found.is, FS_NO);
      if (plan.found.is == FS_YES) {
        fs_modulo_check(&b.p, &plan);
        found++;
      }
      several++;
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(found, several / 4);
}
END_TEST

/* What was found of bounds stays with the plan that is made without a search. */
START_TEST(bounds_stay)
{
  fs_modulo_problem *p = load_many(1, 0);
  fs_modulo_plan plan = plan_with(p, &(fs_modulo_options){.steps = 1});
  plan.found = fs_not_decided();
  ck_fs(ctx, fs_modulo_plain(&own_arena, p, &plan));
  ck_assert_int_eq(plan.bounds.resource.num, 3);
  ck_assert_int_eq(plan.bounds.resource.den, 1);
  ck_assert_int_eq(plan.ii.num, 5);
}
END_TEST

/* The largest ratio of the cycles through `first` and later nodes, along all of them; false: one
 * has no distance. */
static bool walk_cycles(const fs_ratio_edge *edge, uint32_t m, uint32_t first, uint32_t at,
                        uint32_t seen, int64_t weight, int64_t distance, fs_modulo_ratio *most) {
  for (uint32_t e = 0; e < m; e++) {
    if (edge[e].from != at || edge[e].to < first) {
      continue;
    }
    int64_t w = weight + edge[e].weight, d = distance + edge[e].distance;
    if (edge[e].to == first) {
      if (d <= 0) {
        return false;
      }
      *most = fs_modulo_greater(*most, fs_modulo_ratio_of(w, d));
    } else if ((seen >> edge[e].to & 1) == 0 &&
               !walk_cycles(edge, m, first, edge[e].to, seen | 1u << edge[e].to, w, d, most)) {
      return false;
    }
  }
  return true;
}

START_TEST(ratios_along_all_cycles)
{
  fs_rng r = {fs_turn()};
  uint32_t endless = 0;
  for (uint32_t round = 0; round < 2000; round++) {
    enum { MOST = 16 };
    fs_ratio_edge edge[MOST];
    uint32_t n = 1 + fs_rng_below(&r, 7), m = fs_rng_below(&r, MOST);
    for (uint32_t e = 0; e < m; e++) {
      edge[e] = (fs_ratio_edge){fs_rng_below(&r, n), fs_rng_below(&r, n), 1, 0};
      edge[e].weight += fs_rng_below(&r, 20);
      edge[e].distance = (int64_t)fs_rng_below(&r, 5) - (fs_rng_one_in(&r, 8) ? 1 : 0);
    }
    fs_modulo_ratio most = {0, 1};
    bool ends = true;
    for (uint32_t i = 0; i < n; i++) {
      ends = ends && walk_cycles(edge, m, i, i, 1u << i, 0, 0, &most);
    }
    fs_ratio_cycle cycle;
    ck_fs(ctx, fs_modulo_cycle(ctx, &own_arena, n, edge, m, &cycle));
    ck_assert(cycle.endless == !ends);
    ck_assert(!ends || (cycle.ratio.num == most.num && cycle.ratio.den == most.den));
    endless += cycle.endless;
    fs_arena_release(&own_arena);
  }
  ck_assert(endless > 0 && endless < 1900);
}
END_TEST

FS_SUITE(modulo_known, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_TESTS(t, facts, roles_alternate, queues_take_turns, copies_that_fit, lanes_alternate,
           queue_and_lanes, memory_limits, without_bounds, limits, many_given_back,
           given_back_with_few_steps, bounds_stay, ratios_along_all_cycles);
  FS_LOOPS(t, 0, 2, copies);
  FS_LOOPS(t, 0, 10, bodies_of_thirty);
}
