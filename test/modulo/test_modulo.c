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
  fs_brute_wish wish = {.ii = {total, 1}, .less = true, .makespan = -1, .bytes = FS_UNBOUNDED};
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

/* Writers that run ahead as rings say. */
START_TEST(ahead_as_brute_force)
{
  for (uint64_t k = 0; k < 50; k++) {
    fs_body_params g = {.seed = (fs_turn() * 50 + k) * 10 + (uint64_t)_i, .n = 2 + k % 5};
    g.classes = 1 + (uint32_t)k % 2;
    g.most_queues = 1 + (uint32_t)k % 3;
    g.most_depth = 3;
    g.whole = k % 3 == 0;
    g.ahead = true;
    compare_with_brute(&g);
  }
}
END_TEST

/* Slots that are given back several at once: plans that are found are run. */
START_TEST(returns_are_kept)
{
  uint32_t several = 0;
  for (uint64_t k = 0; k < 40; k++) {
    static fs_body b;
    fs_body_params g = {.seed = (fs_turn() * 40 + k) * 10 + (uint64_t)_i, .n = 2 + k % 6};
    g.whole = k % 3 == 0;
    g.held_back = k % 2 == 0;
    g.ahead = k % 4 == 0;
    g.most_queues = g.ahead ? 1 : 3; /* else the search may leave open how far they are ahead */
    g.every = true;
    fs_body_draw(&g, &b);
    fs_modulo_plan plan = plan_of(&b.p, 0, k % 2 == 0);
    if (plan.found.is == FS_YES) {
      ck_assert_uint_eq(plan.copies % fs_modulo_unit(&b.p), 0);
      fs_modulo_check(&b.p, &plan);
      several += fs_modulo_unit(&b.p) > 1;
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(several, 0);
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
    if (g.n == 6) { /* with more queues there is too much to try */
      g.most_queues = 2;
    }
    if (k % 12 == 11) {
      g.n = 7;
      g.most_queues = g.most_depth = 1;
      g.classes = 3;
    }
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
    g.most_queues = g.lanes ? 2 : 3;
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
    fs_brute_wish wish = {.ii = plan.ii, .makespan = plan.makespan - 1, .bytes = FS_UNBOUNDED};
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

/* The body of u iterations as a body of its own: copy c of op i is op c * n + i.  Rings of given
 * depths become edges; false: one would be of a later iteration. */
static bool unroll_rings(const fs_modulo_problem *p, uint32_t u, fs_body *out) {
  for (uint32_t x = 0; x < u * p->n_rings; x++) {
    const fs_modulo_ring *ring = &p->ring[x / u];
    uint32_t c = x % u, every = ring->every > 0 ? ring->every : 1;
    for (uint32_t k = p->reader0[x / u]; k <= p->reader0[x / u + 1]; k++) {
      bool own = k == p->reader0[x / u + 1];
      uint32_t op = own ? ring->writer : p->reader[k].op, back = own ? 0 : p->reader[k].back;
      if (ring->depth < back || out->p.n_edges + 2 > FS_BODY_EDGES) {
        return false;
      }
      uint32_t at = c + ring->depth - back;
      out->edge[out->p.n_edges++] =
          (fs_modulo_edge){c * p->n + op, at % u * p->n + ring->writer, at / u};
      at = c + ring->depth + 1 - every - back; /* the first that takes slots given back at once */
      if (!own && every > 1 && (at + every * u - ring->depth) % every == 0) {
        out->edge[out->p.n_edges++] =
            (fs_modulo_edge){c * p->n + op, at % u * p->n + ring->writer, at / u};
      }
    }
  }
  return out->p.n_edges + p->n_rings * 8 <= FS_BODY_EDGES;
}

/* Iterations of writers in place that read what is there on entry come before that which writes
 * over it. */
static void unroll_entries(const fs_modulo_problem *p, uint32_t u, fs_body *out) {
  for (uint32_t r = 0; r < p->n_rings; r++) {
    uint32_t last = p->ring[r].depth - 1, writer = p->ring[r].writer;
    for (uint32_t i = 0; p->ring[r].in_place && i < last; i++) {
      out->edge[out->p.n_edges++] =
          (fs_modulo_edge){i % u * p->n + writer, last % u * p->n + writer, last / u - i / u};
    }
  }
}

static bool unroll_body(const fs_body *b, uint32_t u, fs_body *out) {
  const fs_modulo_problem *p = &b->p;
  uint32_t queues = p->eligible0[p->n], uses = p->use0[p->n];
  *out = *b;
  out->p.n = u * p->n;
  out->p.n_edges = out->p.n_rings = 0;
  for (uint32_t c = 0; c < u; c++) {
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t op = c * p->n + i;
      out->time[op] = b->time[i];
      out->latency[op] = b->latency[i];
      out->gang[op] = b->gang[i];
      out->eligible0[op + 1] = c * queues + p->eligible0[i + 1];
      out->use0[op + 1] = c * uses + p->use0[i + 1];
    }
    memcpy(out->eligible + c * queues, p->eligible, queues * sizeof *p->eligible);
    memcpy(out->use + c * uses, p->use, uses * sizeof *p->use);
    for (uint32_t e = 0; e < p->n_edges; e++) {
      uint32_t at = c + p->edge[e].distance;
      out->edge[out->p.n_edges++] =
          (fs_modulo_edge){c * p->n + p->edge[e].from, at % u * p->n + p->edge[e].to, at / u};
    }
  }
  out->p.time = out->time;
  out->p.latency = out->latency;
  out->p.gang = p->gang == NULL ? NULL : out->gang;
  out->p.eligible0 = out->eligible0;
  out->p.eligible = out->eligible;
  out->p.edge = out->edge;
  out->p.use0 = out->use0;
  out->p.use = out->use;
  if (!unroll_rings(p, u, out)) {
    return false;
  }
  unroll_entries(p, u, out);
  return true;
}

/* What is proven for a body of copies is so by brute force over the unrolled body; whether that was
 * asked. */
static bool compare_copies_of(uint32_t copies, const fs_body *b, const fs_modulo_plan *plan,
                              const bool *turns, uint64_t seed) {
  static fs_body unrolled;
  if (plan->found.is != FS_YES || !plan->proven || !unroll_body(b, copies, &unrolled)) {
    return false;
  }
  fs_modulo_ratio period = fs_modulo_ratio_of(plan->ii.num * copies, plan->ii.den);
  fs_brute_wish wish = {period, true, -1, FS_UNBOUNDED, b->p.n, turns};
  must_not_be(&unrolled.p, wish, seed, "of copies, of a lesser interval");
  return true;
}

static bool compare_copies(const fs_body *b, const fs_modulo_plan *plan, const bool *turns,
                           uint64_t seed) {
  if (!compare_copies_of(plan->copies, b, plan, turns, seed)) {
    return false;
  }
  fs_modulo_check(&b->p, plan);
  return true;
}

START_TEST(copies_as_brute_force)
{
  uint32_t several = 0;
  for (uint64_t k = 0; k < 60; k++) {
    static fs_body b;
    uint32_t u = 2 + (uint32_t)k % 2;
    fs_body_params g = {.seed = (fs_turn() * 60 + k) * 10 + (uint64_t)_i, .n = 5 - u};
    g.classes = 1;
    g.whole = k % 3 > 0;
    g.most_depth = 6;
    g.lanes = k % 8 > 5;
    g.most_queues = g.lanes ? 2 : 3;
    fs_body_draw(&g, &b);
    fs_modulo_plan plan = plan_of(&b.p, u, true);
    bool asked = compare_copies(&b, &plan, NULL, g.seed);
    uint32_t most = g.lanes ? plan.copies : u; /* with lanes there is too much to try */
    for (uint32_t other = 1; asked && other <= most; other++) { /* proven: of all so many */
      (void)compare_copies_of(other, &b, &plan, NULL, g.seed);
    }
    several += asked && plan.copies == u;
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(several, 0);
}
END_TEST

/* Values in place of those of several iterations ago: with copies, iterations between overlap. */
START_TEST(in_place_as_brute_force)
{
  uint32_t several = 0;
  for (uint64_t k = 0; k < 40; k++) {
    static fs_body b;
    uint32_t u = 2 + (uint32_t)k % 2;
    fs_body_params g = {.seed = (fs_turn() * 40 + k) * 10 + (uint64_t)_i, .n = 5 - u};
    g.classes = 1 + (uint32_t)k % 2;
    g.whole = k % 3 > 0;
    g.held_back = k % 5 == 0;
    g.in_place = true;
    fs_body_draw(&g, &b);
    fs_modulo_plan plan = plan_of(&b.p, u, true);
    bool asked = compare_copies(&b, &plan, NULL, g.seed);
    for (uint32_t other = 1; asked && other <= u && !g.held_back; other++) {
      (void)compare_copies_of(other, &b, &plan, NULL, g.seed);
    }
    several += asked && plan.copies > 1;
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(several, 0);
}
END_TEST

/* Slots that are given back several at once take copies of the body. */
START_TEST(returns_as_brute_force)
{
  uint32_t several = 0;
  for (uint64_t k = 0; k < 40; k++) {
    static fs_body b;
    bool turns[FS_BRUTE_OPS] = {false};
    fs_body_params g = {.seed = (fs_turn() * 40 + k) * 10 + (uint64_t)_i, .n = 2 + k % 3};
    g.most_queues = 2;
    g.most_depth = 3;
    g.whole = k % 2 == 0;
    g.every = true;
    fs_body_draw(&g, &b);
    for (uint32_t r = 0; r < b.p.n_rings; r++) {
      for (uint32_t x = b.reader0[r]; b.ring[r].every > 1 && x <= b.reader0[r + 1]; x++) {
        turns[x == b.reader0[r + 1] ? b.ring[r].writer : b.reader[x].op] = true;
      }
    }
    uint32_t u = fs_modulo_unit(&b.p);
    if (u > 1 && u * g.n <= FS_BRUTE_OPS) {
      fs_modulo_plan plan = plan_of(&b.p, 0, true);
      several += compare_copies(&b, &plan, turns, g.seed);
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(several, 0);
}
END_TEST

/* Whether depths of rings r and those behind it that fit have a plan of so many copies with a
 * lesser interval; the others are in the copy of the body. */
static bool fitting_has_less(fs_body *b, uint32_t r, uint32_t u, fs_modulo_ratio ii) {
  static fs_body unrolled;
  uint64_t bytes = 0;
  bool less = false;
  for (uint32_t k = 0; k < r; k++) {
    bytes += b->ring[k].depth * b->ring[k].size;
  }
  if (bytes > b->capacity[0]) {
    return false;
  }
  if (r == b->p.n_rings) {
    fs_brute_wish wish = {
        fs_modulo_ratio_of(ii.num * u, ii.den), true, -1, FS_UNBOUNDED, b->p.n, NULL};
    return unroll_body(b, u, &unrolled) && fs_modulo_brute(&unrolled.p, &wish);
  }
  b->ring[r].depth = fs_modulo_least_depth(&b->p, r);
  for (uint32_t most = b->ring[r].depth + 2 * u; b->ring[r].depth < most && !less;) {
    less = fitting_has_less(b, r + 1, u, ii);
    b->ring[r].depth++;
  }
  return less;
}

/* Where memory is short: the interval is least over all copies and depths that fit, and proven. */
START_TEST(fitting_copies_as_brute_force)
{
  uint32_t several = 0;
  for (uint64_t k = 0; k < 60; k++) {
    static fs_body b, given;
    fs_body_params g = {.seed = (fs_turn() * 60 + k) * 10 + (uint64_t)_i, .n = 2 + k % 2};
    uint32_t most = g.n == 2 ? 3 : 2;
    g.classes = 1;
    g.open = g.whole = true;
    g.room = 6 + (uint32_t)k % 8;
    fs_body_draw(&g, &b);
    fs_modulo_plan plan = plan_of(&b.p, most, k % 4 == 0);
    if (plan.found.is != FS_YES || b.p.n_rings == 0 ||
        !fs_modulo_less(plan.bounds.resource, plan.bounds.roles)) {
      fs_arena_release(&own_arena);
      continue;
    }
    fs_modulo_check(&b.p, &plan);
    bool less = false;
    for (uint32_t u = 1; u <= most && !less; u++) {
      given = b;
      given.p.ring = given.ring;
      less = fitting_has_less(&given, 0, u, plan.ii);
    }
    ck_assert_msg(plan.proven, "seed %lu: not proven", (unsigned long)g.seed);
    ck_assert_msg(!less, "seed %lu: there is less", (unsigned long)g.seed);
    several += plan.copies > 1;
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(several, 0);
}
END_TEST

/* Draws depths; whether they fit. */
static bool draw_depths(fs_rng *r, fs_body *b) {
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < b->p.n_rings; k++) {
    b->ring[k].depth = fs_modulo_least_depth(&b->p, k) + fs_rng_below(r, 3);
    bytes += b->ring[k].depth * b->ring[k].size;
  }
  b->p.ring = b->ring;
  return bytes <= b->capacity[0];
}

/* Where memory is short, no depths that fit are better, if they are given, than those that are
 * chosen, with copies and without. */
START_TEST(given_depths_are_no_better)
{
  uint32_t asked = 0, open = 0;
  for (uint64_t k = 0; k < 20; k++) {
    static fs_body b, given;
    fs_body_params g = {.seed = (fs_turn() * 20 + k) * 10 + (uint64_t)_i, .n = 3 + k % 4};
    g.classes = 1 + (uint32_t)k % 3;
    g.open = true;
    g.whole = k % 2 == 0;
    g.room = 8 + (uint32_t)k % 12;
    fs_rng r = {g.seed};
    fs_body_draw(&g, &b);
    fs_modulo_plan chosen = plan_of(&b.p, 4, true);
    open += chosen.found.is == FS_YES && !chosen.proven; /* then nothing is said of others */
    for (uint32_t t = 0; t < 20 && chosen.found.is == FS_YES && chosen.proven; t++) {
      given = b;
      if (draw_depths(&r, &given)) {
        fs_modulo_plan plan = plan_of(&given.p, 4, true);
        ck_assert_msg(plan.found.is != FS_YES || !fs_modulo_less(plan.ii, chosen.ii),
                      "seed %lu: given depths are better", (unsigned long)g.seed);
        asked++;
      }
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(asked, 0);
  ck_assert_uint_le(open, 2);
}
END_TEST

FS_SUITE(modulo, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, 10, as_brute_force, shallow_rings_as_brute_force, open_depths_as_brute_force,
           lanes_as_brute_force, held_back_as_brute_force, goals_as_brute_force,
           copies_as_brute_force, in_place_as_brute_force, ahead_as_brute_force, returns_are_kept,
           returns_as_brute_force, fitting_copies_as_brute_force, given_depths_are_no_better);
}
