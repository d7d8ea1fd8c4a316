/* SPDX-License-Identifier: Apache-2.0 */
/* Phases have as few full syncs a step as any order of issue, which brute force over all orders and
 * shifts tells, and of whatever copies as few as the worst cycle of orders, of all that there are;
 * and the order that is chosen is no worse than that of the plan. */
#include "kit/issue_judge.h"
#include "kit/turn.h"
#include "modulo/body_gen.h"
#include "modulo/issue.h"
#include "modulo/modulo.h"
#include "modulo/phases.h"
#include "modulo/repeat.h"
#include "modulo/stops/circle.h"

#include "kit/context.h"

enum { OPS = 4, SHIFTS = 4 };

typedef struct phase_case {
  fs_body b;
  fs_modulo_plan plan;
  fs_modulo_edge *want;
  uint32_t n_wants, n; /* n: nodes */
  bool counting[FS_BODY_QUEUES], possible;
} phase_case;

/* Draws a body of up to so many ops, and makes a plan of so many copies, or more where rings want
 * more. */
static void draw_case(phase_case *x, uint64_t seed, uint32_t most, uint32_t copies, bool every) {
  fs_body_params g = {.seed = seed, .n = 2 + (uint32_t)(seed % (most - 1)), .whole = true};
  fs_modulo_plan one;
  fs_rng rng = {seed};
  g.gangs = seed % 5 == 0;
  g.open = seed % 2 == 0;
  g.room = seed % 6 == 0 ? 20 : 0;
  g.lanes = seed % 7 == 0;
  g.every = every;
  x->n = g.n * copies;
  fs_body_draw(&g, &x->b);
  for (uint32_t q = 0; q < FS_BODY_QUEUES; q++) {
    x->counting[q] = fs_rng_one_in(&rng, 4);
  }
  const fs_modulo_options o = {.steps = 1 << 14, .copies = 1};
  ck_fs(ctx, fs_modulo_schedule(ctx, &own_arena, &x->b.p, &o, &one));
  x->possible = false;
  if (one.found.is == FS_YES) {
    ck_fs(ctx, fs_modulo_repeat(&own_arena, &x->b.p, &one, copies, &x->plan));
    ck_fs(ctx,
          fs_modulo_wants(ctx, &own_arena, &x->b.p, &x->plan, &x->want, &x->n_wants, &x->possible));
  }
}

/* The queues of a node, one bit each. */
static uint32_t queues_of(const phase_case *x, uint32_t node) {
  uint32_t set = 0, op = node % x->b.p.n;
  for (uint32_t i = x->b.eligible0[op]; i < x->b.eligible0[op + 1]; i++) {
    set |= 1u << x->b.eligible[i];
  }
  return x->b.gang[op] ? set : 1u << x->plan.queue[node];
}

static bool needs_full(const phase_case *x, const fs_modulo_edge *e) {
  uint32_t from = queues_of(x, e->from);
  return (from & queues_of(x, e->to)) == 0 && !x->counting[__builtin_ctz(from)];
}

/* The fewest full syncs of an order with shifts; UINT32_MAX if it does not keep what is wanted. */
static uint32_t fewest_of(const phase_case *x, const uint32_t *place, const uint32_t *shift) {
  static fs_circle_arc arc[4096];
  uint32_t n = 0, out[OPS], k;
  for (uint32_t w = 0; w < x->n_wants; w++) {
    const fs_modulo_edge *e = &x->want[w];
    int64_t copies = (int64_t)(e->from / x->b.p.n) - (int64_t)(e->to / x->b.p.n);
    int64_t steps = (e->distance + copies) / x->plan.copies + shift[e->to] - shift[e->from];
    int64_t length = steps * x->n + place[e->to] - (int64_t)place[e->from];
    if (length <= 0) {
      return UINT32_MAX;
    }
    if (needs_full(x, e)) {
      arc[n++] = (fs_circle_arc){place[e->from], (uint64_t)length};
    }
  }
  ck_fs(ctx, fs_circle_stab(ctx, x->n, arc, n, out, &k));
  return k;
}

static uint32_t brute_force(const phase_case *x) {
  uint32_t least = UINT32_MAX, orders = 1, shifts = 1;
  for (uint32_t i = 0; i < x->n; i++) {
    orders *= x->n;
    shifts *= SHIFTS;
  }
  for (uint32_t o = 0; o < orders; o++) {
    uint32_t place[OPS], shift[OPS], used = 0;
    for (uint32_t i = 0, rest = o; i < x->n; i++, rest /= x->n) {
      place[i] = rest % x->n;
      used |= 1u << place[i];
    }
    for (uint32_t s = 0; s < shifts && used + 1 == 1u << x->n; s++) {
      for (uint32_t i = 0, rest = s; i < x->n; i++, rest /= SHIFTS) {
        shift[i] = rest % SHIFTS;
      }
      uint32_t k = fewest_of(x, place, shift);
      least = k < least ? k : least;
    }
  }
  return least;
}

static uint32_t least_phases(const phase_case *x, fs_modulo_plan *to) {
  bool possible = false;
  uint32_t k = 0;
  while (!possible && k < FS_PHASES_MOST) {
    ck_fs(ctx, fs_modulo_phase(ctx, &own_arena, &x->b.p, &x->plan, x->want, x->n_wants, x->counting,
                               ++k, NULL, to, &possible));
  }
  ck_assert(possible);
  return k;
}

/* Few ops in one copy, and two ops in two. */
START_TEST(fewest)
{
  static phase_case x;
  uint32_t n = 0, several = 0;
  for (uint64_t k = 0; k < 60; k++) {
    uint64_t seed = (fs_turn() * 10 + (uint64_t)_i) * 60 + k;
    uint32_t copies = 1 + k % 3 / 2;
    draw_case(&x, seed, OPS / copies, copies, false);
    if (x.possible) {
      fs_modulo_plan phased;
      uint32_t least = least_phases(&x, &phased), brute = brute_force(&x);
      uint32_t place[OPS];
      for (uint32_t i = 0; i < x.n; i++) {
        place[i] = (uint32_t)(phased.start[i] % phased.period);
      }
      ck_assert_msg(brute == least || (brute == 0 && least == 1), "seed %lu: %u, but %u are enough",
                    (unsigned long)seed, least, brute);
      ck_assert_uint_eq(fewest_of(&x, place, phased.shift), brute);
      several += brute > copies;
      n++;
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(n, 30);
  fs_assert_seen(several, 0);
}
END_TEST

/* --- cycles --- */

/* Full syncs over iterations, of a cycle. */
typedef struct cycle_ratio {
  uint64_t full, iterations;
} cycle_ratio;

/* Walks on along orders of ops to those that are not behind the first, once each, and notes the
 * cycle that needs most. */
static void walk_cycles(const phase_case *x, uint32_t first, uint32_t at, uint32_t seen,
                        cycle_ratio so_far, cycle_ratio *worst) {
  for (uint32_t w = 0; w < x->n_wants; w++) {
    const fs_modulo_edge *e = &x->want[w];
    cycle_ratio to = {so_far.full + needs_full(x, e), so_far.iterations + e->distance};
    if (e->from != at || e->to < first || (seen >> e->to & 1) != 0) {
      continue;
    }
    if (e->to == first) {
      ck_assert(to.iterations > 0);
      bool more = to.full * worst->iterations > worst->full * to.iterations;
      *worst = more ? to : *worst;
    } else {
      walk_cycles(x, first, e->to, seen | 1u << e->to, to, worst);
    }
  }
}

static bool goes_far_back(const fs_body *b) {
  bool far = false;
  for (uint32_t i = 0; i < b->p.n_rings && !far; i++) {
    for (uint32_t k = b->reader0[i]; k < b->reader0[i + 1]; k++) {
      far = far || b->reader[k].back > 1;
    }
  }
  return far;
}

/* With u copies, a step needs u times what the worst cycle needs, rounded up; and no more, where
 * what several iterations read on entry asks for nothing else. */
START_TEST(by_cycles)
{
  static phase_case x;
  uint32_t n = 0, fewer = 0;
  for (uint64_t k = 0; k < 30; k++) {
    uint64_t seed = (fs_turn() * 10 + (uint64_t)_i) * 30 + k;
    cycle_ratio worst = {0, 1};
    uint32_t least[5] = {0};
    draw_case(&x, seed, 7, 1, false);
    for (uint32_t op = 0; x.possible && op < x.n; op++) {
      walk_cycles(&x, op, op, 0, (cycle_ratio){0, 0}, &worst);
    }
    for (uint32_t copies = 1; x.possible && copies <= 4; copies++) {
      fs_modulo_plan phased;
      draw_case(&x, seed, 7, copies, false);
      least[copies] = least_phases(&x, &phased);
      uint64_t need = (copies * worst.full + worst.iterations - 1) / worst.iterations;
      need += need == 0;
      ck_assert_uint_ge(least[copies], need);
      ck_assert_msg(goes_far_back(&x.b) || least[copies] == need,
                    "seed %lu, %u copies: %u, but %lu are enough", (unsigned long)seed, copies,
                    least[copies], (unsigned long)need);
      fewer += least[copies] < copies * least[1];
      n += !goes_far_back(&x.b);
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(n, 40);
  fs_assert_seen(fewer, 5);
}
END_TEST

/* Rings have the depths that were given, and their slots fit. */
static void check_depths(const phase_case *x, const fs_rolled_loop *r, uint32_t *deeper) {
  uint64_t bytes = 0, before = 0;
  for (uint32_t v = 0; v < r->n_rings; v++) {
    before += x->plan.depth[v] * x->b.ring[v].size;
    ck_assert(x->b.ring[v].depth == 0 || x->b.ring[v].depth == r->ring[v].depth);
    bytes += r->ring[v].depth * x->b.ring[v].size;
    *deeper += r->ring[v].depth > x->plan.depth[v];
  }
  ck_assert(x->b.p.n_memories == 0 || bytes <= before || bytes <= x->b.capacity[0]);
}

static uint64_t total_of(const fs_rolled_loop *r, uint64_t span, uint64_t trip, uint64_t cost) {
  uint64_t full = 0;
  for (uint32_t i = 0; i < r->n_stops; i++) {
    full += r->stop[i].queue == FS_NONE;
  }
  return span + full * fs_issued_steps(r, trip) * cost;
}

/* With copies and depths as planned only the order is chosen: no better than with all. */
static void check_as_planned(const phase_case *x, fs_issue_options o, uint64_t best) {
  fs_modulo_plan kept = x->plan;
  fs_rolled_loop loop;
  fs_issued_time t;
  bool possible;
  o.as_planned = true;
  ck_fs(ctx, fs_modulo_issue(ctx, &own_arena, &x->b.p, &kept, &o, &loop, &t, &possible));
  ck_assert(possible);
  ck_assert(fs_issue_is_right(&loop, o.trip));
  ck_assert_uint_eq(loop.copies, x->plan.copies);
  ck_assert_mem_eq(kept.depth, x->plan.depth, x->b.p.n_rings * sizeof *kept.depth);
  ck_assert_uint_ge(total_of(&loop, t.span, o.trip, o.cost), best);
}

START_TEST(chosen)
{
  static phase_case x;
  uint32_t better = 0, deeper = 0, copies = 0;
  for (uint64_t k = 0; k < 60; k++) {
    uint64_t seed = (fs_turn() * 10 + (uint64_t)_i) * 60 + k, trip = 20, cost = 2;
    draw_case(&x, seed, 9, 1, k % 4 == 0);
    if (x.possible) {
      const fs_issue_options o = {x.counting, trip, cost, false};
      fs_modulo_plan kept = x.plan;
      fs_rolled_loop plain, other;
      fs_issued_time t, best;
      bool possible;
      ck_fs(ctx, fs_modulo_issued(ctx, &own_arena, &x.b.p, &x.plan, x.counting, &plain, &possible));
      ck_fs(ctx, fs_issued_run(ctx, &plain, x.b.time, x.b.latency, trip, &t));
      ck_fs(ctx, fs_modulo_issue(ctx, &own_arena, &x.b.p, &kept, &o, &other, &best, &possible));
      ck_assert(possible);
      ck_assert(fs_issue_is_right(&other, trip));
      uint64_t before = total_of(&plain, t.span, trip, cost);
      uint64_t now = total_of(&other, best.span, trip, cost);
      ck_assert_uint_le(now, before);
      better += now < before;
      copies += other.copies > 1;
      check_depths(&x, &other, &deeper);
      check_as_planned(&x, o, now);
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(better, 5);
  fs_assert_seen(deeper, 0);
  fs_assert_seen(copies, 0);
}
END_TEST

FS_SUITE(phases, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, 2, fewest, by_cycles, chosen);
}
