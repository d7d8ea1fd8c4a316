/* SPDX-License-Identifier: Apache-2.0 */
/* Placement of rectangles with known times: small instances are compared with all placements,
 * larger ones are checked by the conditions, and some have a known answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/budget.h"
#include "kit/gen.h"
#include "placement/placement_kit.h"
#include "placement/private.h"

#include "kit/context.h"

/* ---- random ones */

static void random_sample(fs_rects *s, unsigned long seed, uint32_t most) {
  fs_rng r = {seed * 77 + 5};
  fs_rects_start(s);
  uint32_t n = 2 + fs_rng_below(&r, most - 1);
  for (uint32_t i = 0; i < n; i++) {
    fs_tick begin = fs_rng_below(&r, 8);
    fs_tick end = begin + (fs_rng_one_in(&r, 6) ? 0 : 1 + fs_rng_below(&r, 5));
    fs_rects_add(s, fs_rng_one_in(&r, 12) ? 0 : 1 + fs_rng_below(&r, 4), begin, end);
  }
  for (uint32_t k = 0; k < fs_rng_below(&r, 4); k++) { /* one begins where the other ends */
    uint32_t a = fs_rng_below(&r, n), b = fs_rng_below(&r, n);
    if (a != b && s->end[a] > s->begin[a] + 1) {
      s->begin[b] = s->end[a] - 1 - (s->end[a] > s->begin[a] + 2 && fs_rng_one_in(&r, 2));
      s->end[b] = s->end[a] + fs_rng_below(&r, 3);
      s->size[b] = s->size[a];
      s->pair_a[s->p.n_pairs] = a;
      s->pair_b[s->p.n_pairs] = b;
      s->pair_from[s->p.n_pairs] = s->begin[b];
      s->pair_to[s->p.n_pairs++] = s->end[a] - fs_rng_one_in(&r, 8);
    }
  }
  if (fs_rng_one_in(&r, 4)) {
    s->p.given = s->given;
    s->given[fs_rng_below(&r, n)] = fs_rng_below(&r, 4);
    s->given[fs_rng_below(&r, n)] = 2 + fs_rng_below(&r, 5);
  }
}

/* With a capacity a placement is found if there is one, and what is found is one. */
static void check_capacity(fs_rects *s, uint64_t least, unsigned long seed, uint64_t capacity,
                           uint32_t *unproven) {
  uint64_t address[FS_MOST_RECTS], peak;
  bool found, proven;
  s->p.capacity = capacity;
  ck_assert_int_eq(fs_test_place(ctx, &s->p, false, address, &peak, &found, &proven), FSCHED_OK);
  if (found && (fs_rects_judge(s, address) == UINT64_MAX || peak > capacity ||
                fs_rects_judge(s, address) > peak)) {
    ck_abort_msg("seed %lu: no placement within %lu", seed, (unsigned long)capacity);
  }
  if (!found && proven && least <= capacity) {
    ck_abort_msg("seed %lu: one of peak %lu is said not to be", seed, (unsigned long)least);
  }
  *unproven += !found && !proven;
  ck_assert(!found || least <= capacity);
}

START_TEST(small_ones_are_exact)
{
  uint32_t unproven = 0, proofs = 0, pairs = 0, given = 0, none = 0;
  for (unsigned long seed = 1; seed <= 4000; seed++) {
    fs_rects s;
    uint64_t address[FS_MOST_RECTS], peak, bound;
    bool found, proven;
    random_sample(&s, seed, 6);
    s.p.nodes = 100000;
    uint64_t least = fs_rects_least_peak(&s, 0, address, 0, 20);
    ck_assert_int_eq(fs_placement_bound(ctx, &s.p, &bound), FSCHED_OK);
    if (bound > least) {
      ck_abort_msg("seed %lu: bound %lu, peak %lu", seed, (unsigned long)bound,
                   (unsigned long)least);
    }
    ck_assert_int_eq(fs_test_place(ctx, &s.p, true, address, &peak, &found, &proven), FSCHED_OK);
    ck_assert(!found || fs_rects_judge(&s, address) <= peak);
    if (found ? peak < least || (proven && peak != least) : proven && least != UINT64_MAX) {
      ck_abort_msg("seed %lu: peak %lu, proven %d, least %lu", seed, (unsigned long)peak, proven,
                   (unsigned long)least);
    }
    proofs += proven;
    pairs += s.p.n_pairs > 0;
    given += s.p.given != NULL;
    none += least == UINT64_MAX;
    for (uint64_t capacity = 3; capacity < 14; capacity += 2) {
      check_capacity(&s, least, seed, capacity, &unproven);
    }
  }
  ck_assert_uint_gt(proofs, 3900);
  ck_assert_uint_lt(unproven, 100);
  ck_assert_uint_gt(pairs, 1000);
  ck_assert_uint_gt(given, 800);
  ck_assert_uint_gt(none, 20);
}
END_TEST

/* Tests the searches on their own, which small instances hardly ever need: they find the least
 * peak, and prove that there is none below.  Returns whether both were asked. */
static bool check_search(fs_rects *s, unsigned long seed, uint64_t least) {
  uint32_t other0[FS_MOST_RECTS], other[FS_MOST_RECTS];
  uint8_t together[FS_MOST_RECTS];
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_rects_list_conflicts(s, other0, other, together);
  fs_parcel c = {.ctx = ctx,
                 .arena = &arena,
                 .n = s->p.n,
                 .size = s->size,
                 .begin = s->begin,
                 .end = s->end,
                 .given = s->given,
                 .other0 = other0,
                 .other = other,
                 .together = together};
  bool plain = s->p.n_pairs == 0 && s->p.given == NULL;
  for (int turn = 0; turn < (plain ? 4 : 2); turn++) {
    uint64_t nodes = 10000000, address[FS_MOST_RECTS], below = turn % 2;
    fs_decision fits;
    if (below <= least) {
      ck_assert_int_eq(turn < 2 ? fs_parcel_search(&c, least - below, &nodes, address, &fits)
                                : fs_parcel_niches(&c, least - below, &nodes, address, &fits),
                       FSCHED_OK);
      if (fits.is != (below ? FS_NO : FS_YES) || (!below && fs_rects_judge(s, address) > least)) {
        ck_abort_msg("seed %lu: peak %lu, turn %d: found %d", seed, (unsigned long)least, turn,
                     fits.is);
      }
    }
  }
  fs_arena_release(&arena);
  return plain;
}

START_TEST(search_is_exact)
{
  uint32_t searched = 0, both = 0;
  for (unsigned long seed = 1; seed <= 4000; seed++) {
    fs_rects s;
    uint64_t address[FS_MOST_RECTS];
    bool sorted = true;
    random_sample(&s, seed, 6);
    for (uint32_t i = 0; i < s.p.n; i++) { /* in order of begin, and none of size or length 0 */
      s.size[i] += s.size[i] == 0;
      s.end[i] += s.end[i] == s.begin[i];
      sorted = sorted && (i == 0 || s.begin[i - 1] <= s.begin[i]);
    }
    uint64_t least = fs_rects_least_peak(&s, 0, address, 0, 20);
    if (sorted && least != UINT64_MAX) {
      searched++;
      both += check_search(&s, seed, least);
    }
  }
  ck_assert_uint_gt(searched, 100);
  ck_assert_uint_gt(both, 20);
}
END_TEST

/* Of more than are searched, other orders than that of begin are tried. */
START_TEST(many_are_placed)
{
  enum { N = 3000 };
  uint64_t *size = malloc(N * sizeof *size), *address = malloc(N * sizeof *address), peak, bound;
  fs_tick *begin = malloc(N * sizeof *begin), *end = malloc(N * sizeof *end);
  bool found, proven;
  fs_rng r = {17};
  for (uint32_t i = 0; i < N; i++) {
    begin[i] = fs_rng_below(&r, N);
    end[i] = begin[i] + (1u << fs_rng_below(&r, 12));
    size[i] = 64 * (1 + (1u << fs_rng_below(&r, 10)));
  }
  fs_placement p = {.n = N, .size = size, .begin = begin, .end = end, .capacity = FS_UNBOUNDED};
  p.nodes = 100;
  for (int few = 0; few < 2; few++) {
    fs_limits limits = fs_limits_usual;
    limits.conflicts = few ? 1 : limits.conflicts; /* they are not listed */
    fs_limits_set(ctx, &limits);
    ck_assert_int_eq(fs_placement_bound(ctx, &p, &bound), FSCHED_OK);
    ck_assert_int_eq(fs_test_place(ctx, &p, true, address, &peak, &found, &proven), FSCHED_OK);
    ck_assert(found);
    ck_assert_uint_le(peak, bound + bound / 25);
    for (uint32_t a = 0; a < N; a++) {
      ck_assert_uint_le(address[a] + size[a], peak);
      for (uint32_t b = a + 1; b < N; b++) {
        if (begin[a] < end[b] && begin[b] < end[a] && address[a] < address[b] + size[b] &&
            address[b] < address[a] + size[a]) {
          ck_abort_msg("%u and %u overlap", a, b);
        }
      }
    }
  }
  fs_limits_set(ctx, &fs_limits_usual);
  free(size);
  free(address);
  free(begin);
  free(end);
}
END_TEST

/* There are many rectangles, placed greedily alone and with a search; no peak is below the
 * bound. */
START_TEST(larger_ones_are_right)
{
  for (unsigned long seed = 1; seed <= 60; seed++) {
    fs_rects s;
    uint64_t address[FS_MOST_RECTS], peak, bound, greedy = 0;
    bool found, proven;
    fs_rng r = {seed};
    fs_rects_start(&s);
    for (uint32_t i = 0; i < 150; i++) {
      fs_tick begin = fs_rng_below(&r, 400);
      fs_tick end = begin + fs_rng_below(&r, 60);
      fs_rects_add(&s, 16 * (1 + fs_rng_below(&r, 50)), begin, end);
    }
    ck_assert_int_eq(fs_placement_bound(ctx, &s.p, &bound), FSCHED_OK);
    for (int searched = 0; searched < 2; searched++) {
      s.p.nodes = searched ? 2000 : 0;
      ck_assert_int_eq(fs_test_place(ctx, &s.p, true, address, &peak, &found, &proven), FSCHED_OK);
      ck_assert(found);
      ck_assert_uint_eq(fs_rects_judge(&s, address), peak);
      ck_assert_uint_ge(peak, bound);
      ck_assert(!searched || peak <= greedy);
      for (uint32_t i = 0; i < s.p.n; i++) {
        ck_assert_uint_eq(address[i] % 16, 0);
      }
      greedy = peak;
    }
    ck_assert_uint_le(peak, bound + bound / 5);
  }
}
END_TEST

/* There are five of 4 in a memory of 12, where the greedy orders on their own may be misled. */
START_TEST(known_ones)
{
  static const uint64_t known[][3] = {{4, 0, 3}, {4, 3, 9}, {4, 0, 9}, {4, 9, 21}, {4, 0, 21}};
  fs_rects s;
  uint64_t address[FS_MOST_RECTS], peak;
  bool found, proven;
  fs_rects_start(&s);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    fs_rects_add(&s, known[i][0], known[i][1], known[i][2]);
  }
  s.p.capacity = 12;
  s.p.nodes = 100;
  ck_assert_int_eq(fs_test_place(ctx, &s.p, false, address, &peak, &found, &proven), FSCHED_OK);
  ck_assert(found && proven);
  ck_assert_uint_eq(peak, 12);
  s.p.capacity = 11;
  ck_assert_int_eq(fs_test_place(ctx, &s.p, false, address, &peak, &found, &proven), FSCHED_OK);
  ck_assert(!found && proven);
  /* Eight fill 6 at all times, and fit in no way. */
  static const uint64_t full[][3] = {{4, 0, 1}, {2, 0, 4}, {3, 1, 2}, {1, 1, 5},
                                     {1, 2, 4}, {2, 2, 6}, {3, 4, 5}, {4, 5, 6}};
  fs_rects_start(&s);
  for (size_t i = 0; i < sizeof full / sizeof full[0]; i++) {
    fs_rects_add(&s, full[i][0], full[i][1], full[i][2]);
  }
  s.p.nodes = 1000;
  ck_assert_int_eq(fs_test_place(ctx, &s.p, true, address, &peak, &found, &proven), FSCHED_OK);
  ck_assert(found && proven && peak == 7);
  s.p.capacity = 6;
  ck_assert_int_eq(fs_test_place(ctx, &s.p, false, address, &peak, &found, &proven), FSCHED_OK);
  ck_assert(!found && proven);
  fs_rects_start(&s); /* nothing at all */
  ck_assert_int_eq(fs_test_place(ctx, &s.p, true, address, &peak, &found, &proven), FSCHED_OK);
  ck_assert(found && proven);
  ck_assert_uint_eq(peak, 0);
}
END_TEST

/* Rectangles with given addresses are in the way, so that the bound is often not reached: the
 * search proves that. */
START_TEST(gaps_are_proven)
{
  uint32_t above = 0;
  for (unsigned long seed = 1; seed <= 300; seed++) {
    fs_rects s;
    uint64_t address[FS_MOST_RECTS], peak, bound;
    bool found, proven;
    fs_rng r = {seed};
    fs_rects_start(&s);
    for (uint32_t i = 0; i < 12; i++) {
      fs_tick begin = fs_rng_below(&r, 20);
      fs_tick end = begin + 1 + fs_rng_below(&r, 12);
      fs_rects_add(&s, 1 + fs_rng_below(&r, 9), begin, end);
    }
    s.p.given = s.given;
    s.given[0] = 7;
    s.end[0] = s.begin[0] + 8;
    s.p.nodes = 1000000;
    ck_assert_int_eq(fs_placement_bound(ctx, &s.p, &bound), FSCHED_OK);
    ck_assert_int_eq(fs_test_place(ctx, &s.p, true, address, &peak, &found, &proven), FSCHED_OK);
    ck_assert_msg(found && proven, "seed %lu", seed);
    above += peak > bound;
  }
  ck_assert_uint_gt(above, 5);
}
END_TEST

/* There are so many conflicts that they are not listed. */
START_TEST(too_many_conflicts)
{
  enum { N = 4000 };
  uint64_t *size = malloc(N * sizeof *size), *address = malloc(N * sizeof *address), peak, sum = 0;
  fs_tick *begin = malloc(N * sizeof *begin), *end = malloc(N * sizeof *end);
  bool found, proven;
  for (uint32_t i = 0; i < N; i++) {
    size[i] = 1 + i % 7;
    begin[i] = i;
    end[i] = i + 3000;
    sum += i < 3000 ? size[i] : 0;
  }
  fs_placement p = {.n = N, .size = size, .begin = begin, .end = end, .capacity = FS_UNBOUNDED};
  ck_assert_int_eq(fs_test_place(ctx, &p, true, address, &peak, &found, &proven), FSCHED_OK);
  ck_assert(found);
  ck_assert_uint_le(peak, sum + sum / 4);
  for (uint32_t a = 0; a < N; a++) {
    for (uint32_t b = a + 1; b < N && begin[b] < end[a]; b++) {
      if (address[a] < address[b] + size[b] && address[b] < address[a] + size[a]) {
        ck_abort_msg("%u and %u overlap", a, b);
      }
    }
  }
  free(size);
  free(address);
  free(begin);
  free(end);
}
END_TEST

START_TEST(memory_fails_cleanly)
{
  fs_rects s;
  uint64_t address[FS_MOST_RECTS], peak;
  bool found, proven;
  random_sample(&s, 8, 30);
  s.p.nodes = 50;
  for (long left = 1;; left++) {
    fs_budget budget = {.left = left};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    if (fsched_context_create(&o, &own) != FSCHED_OK) {
      continue;
    }
    fs_status status = fs_test_place(own, &s.p, true, address, &peak, &found, &proven);
    ck_assert(status == FSCHED_OK || fsched_diag_errors(own) == 1);
    fsched_context_destroy(own);
    ck_assert_int_eq(budget.blocks, 0);
    if (status == FSCHED_OK) {
      ck_assert_int_gt(left, 2);
      break;
    }
    ck_assert_int_eq(status, FSCHED_SYSTEM);
  }
}
END_TEST

FS_SUITE(placement, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, small_ones_are_exact, search_is_exact, many_are_placed, larger_ones_are_right,
           known_ones, gaps_are_proven, too_many_conflicts, memory_fails_cleanly);
}
