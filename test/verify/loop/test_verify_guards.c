/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of loops: what the verifier says of them, beside a machine whose barriers have parities
 * alone, in all of its executions. */
#include "kit/guard_judge.h"
#include "kit/turn.h"
#include "verify/loop/draw.h"

#include "kit/context.h"

enum { LOOPS = 400, MOST_TRIP = 5 };

/* A loop with guards. */
typedef struct guarded_loop {
  fs_loop_draw d;
  fs_rolled_guard guard[FS_DRAW_MEMBERS];
  uint32_t producer[FS_DRAW_MEMBERS], n_producers;
  fs_rolled_check check[FS_DRAW_WAITS];
  fs_rolled_wait wait[FS_DRAW_WAITS];
  uint32_t guard_of[FS_DRAW_MEMBERS];
} guarded_loop;

/* Each op that is waited for has a guard; now and then two share one. */
static void draw_guards(guarded_loop *g, fs_rng *rng) {
  fs_rolled_loop *r = &g->d.r;
  bool named[FS_DRAW_MEMBERS] = {false};
  for (uint32_t w = 0; w < r->n_waits; w++) {
    named[r->command[r->wait[w].command].member] = true;
  }
  for (uint32_t m = 0; m < g->d.rules.n_members; m++) {
    bool shared = r->n_guards > 0 && fs_rng_one_in(rng, 4);
    if (!named[m]) {
      continue;
    }
    if (!shared) {
      g->guard[r->n_guards++] =
          (fs_rolled_guard){.depth = 1 + fs_rng_below(rng, 4), .producer0 = g->n_producers};
    }
    g->guard_of[m] = r->n_guards - 1;
    g->guard[r->n_guards - 1].n_producers++;
    g->producer[g->n_producers++] = m;
  }
  r->guarded = true;
  r->guard = g->guard;
  r->producer = g->producer;
}

static bool has_check(const guarded_loop *g, const fs_rolled_command *k, fs_rolled_check x) {
  bool found = false;
  for (uint32_t i = k->check0; i < k->check0 + k->n_checks; i++) {
    found = found || (g->check[i].guard == x.guard && g->check[i].distance == x.distance);
  }
  return found;
}

static uint32_t first_command(const fs_rolled_loop *r, uint32_t member, uint32_t copy) {
  uint32_t c = 0;
  while (r->command[c].member != member || r->command[c].copy != copy) {
    c++;
  }
  return c;
}

/* The waits become checks, and these wait for all producers. */
static void draw_checks(guarded_loop *g) {
  fs_rolled_loop *r = &g->d.r;
  uint32_t n_waits = 0;
  for (uint32_t c = 0; c < r->n_commands; c++) {
    fs_rolled_command *k = &r->command[c];
    k->check0 = r->n_checks;
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
      uint32_t guard = g->guard_of[r->command[r->wait[w].command].member];
      fs_rolled_check x = {guard, r->wait[w].distance};
      if (!has_check(g, k, x)) {
        g->check[r->n_checks++] = x;
        k->n_checks++;
      }
    }
  }
  for (uint32_t c = 0; c < r->n_commands; c++) {
    fs_rolled_command *k = &r->command[c];
    k->wait0 = n_waits;
    for (uint32_t i = k->check0; i < k->check0 + k->n_checks; i++) {
      const fs_rolled_guard *x = &g->guard[g->check[i].guard];
      uint32_t d = g->check[i].distance;
      for (uint32_t p = x->producer0; p < x->producer0 + x->n_producers; p++) {
        uint32_t copy = (k->copy + 16 * r->copies - d) % r->copies;
        g->wait[n_waits++] = (fs_rolled_wait){first_command(r, g->producer[p], copy), d};
      }
    }
    k->n_waits = n_waits - k->wait0;
  }
  r->n_waits = n_waits;
  r->wait = g->wait;
  r->check = g->check;
}

static void draw_loop(uint64_t seed, guarded_loop *g) {
  fs_rng rng = {seed};
  *g = (guarded_loop){.n_producers = 0};
  fs_loop_draw_any(seed, &g->d);
  g->d.rules.n_orders = g->d.rules.n_lanes = g->d.r.n_rings = 0;
  g->d.rules.trip = 1 + fs_rng_below(&rng, MOST_TRIP);
  draw_guards(g, &rng);
  draw_checks(g);
}

typedef struct guard_counts {
  uint32_t right, wrong, turns, late, spurious;
} guard_counts;

/* Whether some check is for a phase of which the one after the next is there before it. */
static bool looks_far(const guarded_loop *g) {
  bool far = false;
  for (uint32_t i = 0; i < g->d.r.n_checks; i++) {
    far = far || g->check[i].distance > g->guard[g->check[i].guard].depth;
  }
  return far;
}

static void judge_loop(uint64_t seed, guard_counts *n) {
  guarded_loop g;
  fs_loop_fault fault;
  draw_loop(seed, &g);
  ck_fs(ctx, fs_verify_loop(ctx, &g.d.r, &g.d.rules, &fault));
  fs_guard_verdict verdict = fs_guard_judge(&g.d.r, g.d.rules.trip);
  if (verdict == FS_GUARDS_LARGE || g.d.r.n_guards == 0) {
    return;
  }
  ck_assert_int_ne(fault.kind, FS_LOOP_MALFORMED);
  ck_assert_int_ne(fault.kind, FS_LOOP_SAID);
  if (fault.kind == FS_LOOP_RIGHT) {
    ck_assert_msg(verdict == FS_GUARDS_RIGHT, "seed %lu: accepted", (unsigned long)seed);
    n->right++;
  } else if (fault.kind == FS_LOOP_GUARD) {
    bool shared = g.guard[fault.which].n_producers > 1; /* the order may be of no matter */
    n->spurious += verdict == FS_GUARDS_RIGHT && !shared && !looks_far(&g);
    n->wrong++;
  }
  n->turns += fault.kind == FS_LOOP_TURN && verdict != FS_GUARDS_RIGHT;
  n->late += verdict == FS_GUARDS_STUCK && fault.kind != FS_LOOP_DEADLOCK;
}

START_TEST(as_the_machine)
{
  guard_counts n = {0};
  for (uint64_t k = 0; k < LOOPS; k++) {
    judge_loop((fs_turn() * 4 + (uint64_t)_i) * LOOPS + k, &n);
  }
  fs_assert_seen(n.right, LOOPS / 16);
  fs_assert_seen(n.wrong, LOOPS / 16);
  fs_assert_seen(n.late, LOOPS / 16);
  ck_assert_uint_le(n.spurious, LOOPS / 100); /* right, but no order that is looked at says so */
}
END_TEST

/* Runs that are joined, over which barriers count on: what is accepted is right, however long they
 * are. */
START_TEST(joined_as_the_machine)
{
  enum { LONGEST = 3 };
  uint32_t accepted = 0, refused = 0, alone = 0;
  for (uint64_t k = 0; k < LOOPS; k++) {
    guarded_loop g;
    fs_loop_fault fault;
    uint64_t seed = (fs_turn() * 4 + (uint64_t)_i) * LOOPS + k + 1000000;
    draw_loop(seed, &g);
    ck_fs(ctx, fs_verify_loop(ctx, &g.d.r, &g.d.rules, &fault));
    bool single = fault.kind == FS_LOOP_RIGHT;
    g.d.rules.joined = true;
    ck_fs(ctx, fs_verify_loop(ctx, &g.d.r, &g.d.rules, &fault));
    bool mine = fault.kind == FS_LOOP_RIGHT, right = g.d.r.n_guards > 0;
    for (uint64_t run = g.d.r.copies; run <= LONGEST && right; run += g.d.r.copies) {
      fs_guard_verdict verdict = fs_guard_judge_joined(&g.d.r, g.d.rules.trip, run);
      right = verdict == FS_GUARDS_RIGHT;
      ck_assert_msg(!mine || right || verdict == FS_GUARDS_LARGE, "seed %lu, runs of %lu: accepted",
                    (unsigned long)seed, (unsigned long)run);
    }
    accepted += mine && g.d.r.n_guards > 0;
    refused += !mine && single && right;
    alone += single && !right && g.d.r.n_guards > 0;
  }
  fs_assert_seen(accepted, LOOPS / 16);
  fs_assert_seen(alone, 0); /* right in one run, wrong in several */
  ck_assert_uint_le(refused, LOOPS / 20);
}
END_TEST

FS_SUITE(verify_guards, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 4, as_the_machine, joined_as_the_machine);
}
