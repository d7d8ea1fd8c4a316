/* SPDX-License-Identifier: Apache-2.0 */
/* The search by niches of the skyline: small ones are compared with all placements, larger ones
 * with the search in order of addresses, others have a known placement. */
#include <stdlib.h>
#include <string.h>

#include "kit/gen.h"
#include "kit/turn.h"
#include "placement/placement_kit.h"
#include "placement/private.h"

#include "kit/context.h"

/* Rectangles by begin that fill a capacity: `columns` ticks with long ones, and one in each tick
 * for what they leave.  Every second sample leaves some of it at some ticks; in the others no gap
 * is allowed at all. */
static void filled_sample(fs_rects *s, unsigned long seed, uint32_t columns, uint64_t capacity) {
  fs_rng r = {seed * 131 + 7};
  uint64_t left[FS_MOST_RECTS], size[FS_MOST_RECTS];
  fs_tick begin[FS_MOST_RECTS], end[FS_MOST_RECTS];
  uint32_t n = 0;
  for (uint32_t k = 0; k < columns; k++) {
    left[k] = capacity;
  }
  for (uint32_t tries = 0; tries < 3 * columns; tries++) {
    fs_tick from = fs_rng_below(&r, columns - 1), to = from + 2 + fs_rng_below(&r, 3);
    uint64_t most = 1 + fs_rng_below(&r, (uint32_t)capacity / 2);
    to = to > columns ? columns : to;
    for (fs_tick k = from; k < to; k++) {
      most = left[k] < most ? left[k] : most;
    }
    for (fs_tick k = from; k < to && most > 0; k++) {
      left[k] -= most;
    }
    size[n] = most;
    begin[n] = from;
    end[n] = to;
    n += most > 0;
  }
  for (uint32_t k = 0; k < columns; k++) {
    uint64_t free = seed % 2 == 0 ? fs_rng_below(&r, 3) : 0;
    size[n] = left[k] - (free < left[k] ? free : left[k]);
    begin[n] = k;
    end[n] = k + 1;
    n += size[n] > 0;
  }
  fs_rects_start(s);
  for (fs_tick k = 0; k < columns; k++) {
    for (uint32_t i = 0; i < n; i++) {
      if (begin[i] == k) {
        fs_rects_add(s, size[i], begin[i], end[i]);
      }
    }
  }
}

/* Asks both searches whether a placement within the capacity exists; of many rectangles the second
 * alone. */
static void ask_both(fs_rects *s, uint64_t capacity, fs_decision *fits, unsigned long seed) {
  uint8_t together[FS_MOST_RECTS * 32];
  uint32_t other0[FS_MOST_RECTS], other[FS_MOST_RECTS * 32];
  uint64_t open[FS_MOST_RECTS], address[FS_MOST_RECTS];
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  for (uint32_t i = 0; i < s->p.n; i++) {
    open[i] = UINT64_MAX;
  }
  fs_rects_list_conflicts(s, other0, other, together);
  fs_parcel c = {.ctx = ctx,
                 .arena = &arena,
                 .n = s->p.n,
                 .size = s->size,
                 .begin = s->begin,
                 .end = s->end,
                 .given = open,
                 .other0 = other0,
                 .other = other,
                 .together = together};
  for (int niches = s->p.n > 40; niches < 2; niches++) {
    uint64_t nodes = 3000000;
    ck_assert_int_eq(niches ? fs_parcel_niches(&c, capacity, &nodes, address, &fits[niches])
                            : fs_parcel_search(&c, capacity, &nodes, address, &fits[niches]),
                     FSCHED_OK);
    ck_assert_msg(fits[niches].is != FS_YES || fs_rects_judge(s, address) <= capacity, "seed %lu",
                  seed);
  }
  fs_arena_release(&arena);
}

START_TEST(niches_are_exact)
{
  uint32_t none = 0;
  for (unsigned long seed = 1; seed <= 1500; seed++) {
    fs_rects s;
    uint64_t address[FS_MOST_RECTS], bound;
    fs_decision fits[2];
    filled_sample(&s, seed, 5 + seed % 2, 8);
    ck_assert_int_eq(fs_placement_bound(ctx, &s.p, &bound), FSCHED_OK);
    ck_assert(seed % 2 == 0 || bound == 8);
    for (uint64_t capacity = 7; capacity < 10; capacity++) {
      bool exists = fs_rects_least_peak(&s, 0, address, 0, capacity) != UINT64_MAX;
      none += capacity == 8 && !exists;
      ask_both(&s, capacity, fits, seed);
      ck_assert_msg(fits[0].is == (exists ? FS_YES : FS_NO) && fits[1].is == fits[0].is,
                    "seed %lu, capacity %lu: %d, %d and %d", seed, (unsigned long)capacity, exists,
                    fits[0].is, fits[1].is);
    }
  }
  ck_assert_uint_gt(none, 5);
}
END_TEST

START_TEST(searches_agree)
{
  uint32_t decided = 0, none = 0, fit = 0;
  for (unsigned long seed = 1; seed <= 800; seed++) {
    fs_rects s;
    filled_sample(&s, fs_turn() * 1000 + seed, 6 + seed % 6, 12);
    for (uint64_t capacity = 12; capacity < 14; capacity++) {
      fs_decision fits[2];
      ask_both(&s, capacity, fits, seed);
      bool both = fits[0].is != FS_NOT_DECIDED && fits[1].is != FS_NOT_DECIDED;
      ck_assert_msg(!both || fits[0].is == fits[1].is, "seed %lu, capacity %lu", seed,
                    (unsigned long)capacity);
      decided += both;
      none += both && fits[0].is == FS_NO;
      fit += both && fits[0].is == FS_YES;
    }
  }
  ck_assert_uint_gt(decided, 1400);
  ck_assert_uint_gt(none, 5);
  ck_assert_uint_gt(fit, 400);
}
END_TEST

/* Cuts columns by capacity into pieces, some of which are left out: a placement is known. */
static void cut_sample(fs_rects *s, unsigned long seed, uint32_t pieces, uint32_t columns,
                       uint32_t capacity) {
  fs_rng r = {seed * 733 + 1};
  uint64_t size[FS_MOST_RECTS] = {capacity};
  fs_tick begin[FS_MOST_RECTS] = {0}, end[FS_MOST_RECTS] = {columns};
  uint32_t n = 1;
  while (n < pieces) {
    uint32_t i = fs_rng_below(&r, n);
    bool upright = fs_rng_one_in(&r, 2);
    uint64_t length = upright ? end[i] - begin[i] : size[i];
    if (length < 2) {
      continue;
    }
    uint64_t cut = 1 + fs_rng_below(&r, (uint32_t)length - 1);
    size[n] = upright ? size[i] : size[i] - cut;
    begin[n] = upright ? begin[i] + cut : begin[i];
    end[n] = end[i];
    size[i] = upright ? size[i] : cut;
    end[i] = upright ? begin[n] : end[i];
    n++;
  }
  fs_rects_start(s);
  for (fs_tick k = 0; k < columns; k++) {
    for (uint32_t i = 0; i < n; i++) {
      if (begin[i] == k && (i + seed) % 5 != 0) {
        fs_rects_add(s, size[i], begin[i], end[i]);
      }
    }
  }
}

START_TEST(cut_ones_are_placed)
{
  uint32_t placed = 0;
  for (unsigned long seed = 1; seed <= 400; seed++) {
    fs_rects s;
    fs_decision fits[2] = {{FS_NOT_DECIDED}, {FS_NOT_DECIDED}};
    bool large = seed % 4 == 0;
    cut_sample(&s, fs_turn() * 1000 + seed, large ? 100 : 18 + seed % 12, large ? 40 : 12, 24);
    ask_both(&s, 24, fits, seed);
    ck_assert_msg(fits[0].is != FS_NO && fits[1].is != FS_NO, "seed %lu: %d, %d", seed, fits[0].is,
                  fits[1].is);
    placed += fits[1].is == FS_YES;
  }
  ck_assert_uint_gt(placed, 380);
}
END_TEST

/* A gap has to be left below some rectangle in a column that is chosen early. */
static const struct {
  uint64_t capacity, rect[10][3]; /* size, begin, end */
} gaps[] = {
    {10, {{6, 0, 1}, {3, 0, 3}, {2, 1, 4}, {4, 1, 2}, {3, 2, 5}, {1, 2, 3}, {4, 3, 4}, {6, 4, 5}}},
    {9, {{3, 0, 3}, {5, 0, 1}, {2, 1, 4}, {3, 1, 2}, {2, 2, 5}, {1, 2, 3}, {4, 3, 4}, {6, 4, 5}}},
    {11,
     {{7, 0, 1},
      {3, 0, 3},
      {5, 1, 2},
      {2, 1, 4},
      {2, 2, 5},
      {3, 2, 3},
      {6, 3, 4},
      {5, 4, 5},
      {3, 4, 5}}},
    {9,
     {{6, 0, 2},
      {3, 0, 1},
      {3, 1, 3},
      {3, 2, 5},
      {1, 2, 4},
      {1, 3, 6},
      {5, 4, 7},
      {2, 5, 6},
      {4, 6, 7}}},
    {10,
     {{3, 0, 2},
      {7, 0, 1},
      {5, 1, 4},
      {2, 2, 6},
      {3, 2, 3},
      {1, 3, 6},
      {1, 3, 5},
      {1, 4, 6},
      {6, 5, 7},
      {4, 6, 7}}},
};

START_TEST(gaps_are_left)
{
  fs_rects s;
  fs_decision fits[2];
  fs_rects_start(&s);
  for (uint32_t i = 0; i < 10 && gaps[_i].rect[i][0] > 0; i++) {
    fs_rects_add(&s, gaps[_i].rect[i][0], gaps[_i].rect[i][1], gaps[_i].rect[i][2]);
  }
  ask_both(&s, gaps[_i].capacity, fits, (unsigned long)_i);
  ck_assert(fits[0].is == FS_YES && fits[1].is == FS_YES);
}
END_TEST

FS_SUITE(niches, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_LOOPS(t, 0, sizeof gaps / sizeof gaps[0], gaps_are_left);
  FS_TESTS(t, niches_are_exact, searches_agree, cut_ones_are_placed);
}
