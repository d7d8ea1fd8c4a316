/* SPDX-License-Identifier: Apache-2.0 */
/* The fewest places that meet all arcs of a circle, compared with brute force. */
#include "kit/gen.h"
#include "kit/turn.h"
#include "modulo/stops/circle.h"

#include "kit/context.h"

enum { MOST = 12, ARCS = 8 };

/* Whether an arc is met by a set of places, one bit each: by walking along it. */
static bool is_met(uint32_t n, const fs_circle_arc *arc, uint32_t set) {
  for (uint64_t k = 1; k <= arc->length; k++) {
    if ((set >> ((arc->from + k) % n) & 1) != 0) {
      return true;
    }
  }
  return false;
}

static bool all_met(uint32_t n, const fs_circle_arc *arc, uint32_t n_arcs, uint32_t set) {
  bool met = true;
  for (uint32_t i = 0; i < n_arcs && met; i++) {
    met = is_met(n, &arc[i], set);
  }
  return met;
}

static uint32_t fewest(uint32_t n, const fs_circle_arc *arc, uint32_t n_arcs) {
  uint32_t least = n;
  for (uint32_t set = 0; set < 1u << n; set++) {
    uint32_t k = (uint32_t)__builtin_popcount(set);
    least = k < least && all_met(n, arc, n_arcs, set) ? k : least;
  }
  return least;
}

static uint32_t stab(uint32_t n, const fs_circle_arc *arc, uint32_t n_arcs, uint32_t *set) {
  uint32_t place[MOST], k;
  ck_fs(ctx, fs_circle_stab(ctx, n, arc, n_arcs, place, &k));
  *set = 0;
  for (uint32_t i = 0; i < k; i++) {
    ck_assert_uint_lt(place[i], n);
    ck_assert(i == 0 || place[i - 1] < place[i]);
    *set |= 1u << place[i];
  }
  return k;
}

START_TEST(brute_force)
{
  fs_rng rng = {fs_turn() * 4 + (uint64_t)_i};
  uint32_t several = 0;
  for (uint32_t round = 0; round < 1000; round++) {
    fs_circle_arc arc[ARCS];
    uint32_t n = 1 + fs_rng_below(&rng, MOST - 1), n_arcs = fs_rng_below(&rng, ARCS + 1), set;
    for (uint32_t i = 0; i < n_arcs; i++) {
      arc[i].from = fs_rng_below(&rng, n);
      arc[i].length = 1 + fs_rng_below(&rng, fs_rng_one_in(&rng, 8) ? 3 * n : (n + 2) / 3 + 1);
    }
    uint32_t k = stab(n, arc, n_arcs, &set);
    ck_assert(all_met(n, arc, n_arcs, set));
    ck_assert_uint_eq(k, fewest(n, arc, n_arcs));
    several += k > 2;
    for (uint32_t i = 0; i < n_arcs; i++) {
      for (uint32_t a = 0; a < n; a++) {
        ck_assert(fs_circle_meets(n, &arc[i], a) == is_met(n, &arc[i], 1u << a));
      }
    }
  }
  fs_assert_seen(several, 50);
}
END_TEST

/* One sync after the other, by the latest ends from a place of one's own choice, takes three. */
START_TEST(a_wrong_start_takes_more)
{
  const fs_circle_arc arc[] = {{0, 3}, {2, 3}, {4, 3}};
  uint32_t set;
  ck_assert_uint_eq(stab(6, arc, 3, &set), 2);
  ck_assert_uint_eq(stab(6, arc, 0, &set), 0);
  ck_assert_uint_eq(stab(6, &(fs_circle_arc){5, 1000}, 1, &set), 1);
}
END_TEST

FS_SUITE(circle, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 4, brute_force);
  FS_TESTS(t, a_wrong_start_takes_more);
}
