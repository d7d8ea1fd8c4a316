/* SPDX-License-Identifier: Apache-2.0 */
/* Placement of rectangles with known times: small instances are compared with all placements,
 * larger ones are checked by the conditions, and some have a known answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "placement/placement_kit.h"
#include "placement/private.h"

#include "kit/context.h"

enum { MOST = 400 };

/* A problem with its arrays. */
typedef struct sample {
  fs_placement p;
  uint64_t size[MOST], given[MOST];
  fs_tick begin[MOST], end[MOST];
  uint32_t pair_a[MOST], pair_b[MOST];
  fs_tick pair_from[MOST], pair_to[MOST];
} sample;

static void start(sample *s) {
  *s = (sample){.p = {.capacity = FS_UNBOUNDED}};
  s->p.size = s->size;
  s->p.begin = s->begin;
  s->p.end = s->end;
  s->p.pair_a = s->pair_a;
  s->p.pair_b = s->pair_b;
  s->p.pair_from = s->pair_from;
  s->p.pair_to = s->pair_to;
}

static void add(sample *s, uint64_t size, fs_tick begin, fs_tick end) {
  s->size[s->p.n] = size;
  s->begin[s->p.n] = begin;
  s->end[s->p.n] = end;
  s->given[s->p.n++] = UINT64_MAX;
}

/* ---- an independent definition of what is right */

static bool meet(const sample *s, uint32_t a, uint32_t b) {
  bool instant_a = s->begin[a] == s->end[a], instant_b = s->begin[b] == s->end[b];
  if (instant_a || instant_b) {
    uint32_t x = instant_a ? a : b, y = instant_a ? b : a;
    return !(instant_a && instant_b) && s->begin[y] < s->begin[x] && s->begin[x] < s->end[y];
  }
  return s->begin[a] < s->end[b] && s->begin[b] < s->end[a];
}

static bool may_coincide(const sample *s, uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < s->p.n_pairs; k++) {
    bool this =
        (s->pair_a[k] == a && s->pair_b[k] == b) || (s->pair_a[k] == b && s->pair_b[k] == a);
    fs_tick from = s->begin[a] > s->begin[b] ? s->begin[a] : s->begin[b];
    fs_tick to = s->end[a] < s->end[b] ? s->end[a] : s->end[b];
    if (this && s->size[a] == s->size[b] && from >= s->pair_from[k] && to <= s->pair_to[k]) {
      return true;
    }
  }
  return false;
}

static bool conflict(const sample *s, uint32_t a, uint32_t b, const uint64_t *address) {
  bool apart = address[a] + s->size[a] <= address[b] || address[b] + s->size[b] <= address[a];
  return s->size[a] > 0 && s->size[b] > 0 && !apart && meet(s, a, b) &&
         !(address[a] == address[b] && may_coincide(s, a, b));
}

/* Returns the highest end; UINT64_MAX when something is wrong. */
static uint64_t judge(const sample *s, const uint64_t *address) {
  uint64_t peak = 0;
  for (uint32_t a = 0; a < s->p.n; a++) {
    if (s->p.given != NULL && s->given[a] != UINT64_MAX && address[a] != s->given[a]) {
      return UINT64_MAX;
    }
    if (s->size[a] > 0 && address[a] + s->size[a] > peak) {
      peak = address[a] + s->size[a];
    }
    for (uint32_t b = 0; b < a; b++) {
      if (conflict(s, a, b, address)) {
        return UINT64_MAX;
      }
    }
  }
  return peak;
}

/* Finds the least peak up to `most` by trying all addresses; UINT64_MAX: there is none. */
static uint64_t least_peak(const sample *s, uint32_t k, uint64_t *address, uint64_t peak,
                           uint64_t most) {
  if (k == s->p.n) {
    return peak;
  }
  uint64_t best = UINT64_MAX;
  bool given = s->p.given != NULL && s->given[k] != UINT64_MAX;
  for (uint64_t at = given ? s->given[k] : 0; at + s->size[k] <= most; at++) {
    bool fits = true;
    address[k] = at;
    for (uint32_t b = 0; b < k && fits; b++) {
      fits = !conflict(s, k, b, address);
    }
    if (fits) {
      uint64_t top = s->size[k] == 0 || at + s->size[k] < peak ? peak : at + s->size[k];
      uint64_t found = least_peak(s, k + 1, address, top, most);
      if (found < best) {
        best = found;
        most = found - 1 < most && found > 0 ? found - 1 : most;
      }
    }
    if (given || s->size[k] == 0) {
      break;
    }
  }
  return best;
}

/* ---- random ones */

static void random_sample(sample *s, unsigned long seed, uint32_t most) {
  fs_rng r = {seed * 77 + 5};
  start(s);
  uint32_t n = 2 + fs_rng_below(&r, most - 1);
  for (uint32_t i = 0; i < n; i++) {
    fs_tick begin = fs_rng_below(&r, 8);
    fs_tick end = begin + (fs_rng_one_in(&r, 6) ? 0 : 1 + fs_rng_below(&r, 5));
    add(s, fs_rng_one_in(&r, 12) ? 0 : 1 + fs_rng_below(&r, 4), begin, end);
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
static void check_capacity(sample *s, uint64_t least, unsigned long seed, uint64_t capacity,
                           uint32_t *unproven) {
  uint64_t address[MOST], peak;
  bool found, proven;
  s->p.capacity = capacity;
  ck_assert_int_eq(fs_test_place(ctx, &s->p, false, address, &peak, &found, &proven), FSCHED_OK);
  if (found && (judge(s, address) == UINT64_MAX || peak > capacity || judge(s, address) > peak)) {
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
    sample s;
    uint64_t address[MOST], peak, bound;
    bool found, proven;
    random_sample(&s, seed, 6);
    s.p.nodes = 100000;
    uint64_t least = least_peak(&s, 0, address, 0, 20);
    ck_assert_int_eq(fs_placement_bound(ctx, &s.p, &bound), FSCHED_OK);
    if (bound > least) {
      ck_abort_msg("seed %lu: bound %lu, peak %lu", seed, (unsigned long)bound,
                   (unsigned long)least);
    }
    ck_assert_int_eq(fs_test_place(ctx, &s.p, true, address, &peak, &found, &proven), FSCHED_OK);
    ck_assert(!found || judge(&s, address) <= peak);
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
static bool check_search(sample *s, unsigned long seed, uint64_t least) {
  uint32_t other0[MOST], other[MOST], n = 0;
  uint8_t together[MOST];
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  for (uint32_t i = 0; i < s->p.n; i++) {
    other0[i] = n;
    for (uint32_t k = 0; k < s->p.n; k++) {
      if (k != i && meet(s, i, k)) {
        together[n] = may_coincide(s, i, k);
        other[n++] = k;
      }
    }
  }
  other0[s->p.n] = n;
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
    uint64_t nodes = 10000000, address[MOST], below = turn % 2;
    fs_decision fits;
    if (below <= least) {
      ck_assert_int_eq(turn < 2 ? fs_parcel_search(&c, least - below, &nodes, address, &fits)
                                : fs_parcel_niches(&c, least - below, &nodes, address, &fits),
                       FSCHED_OK);
      if (fits.is != (below ? FS_NO : FS_YES) || (!below && judge(s, address) > least)) {
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
    sample s;
    uint64_t address[MOST];
    bool sorted = true;
    random_sample(&s, seed, 6);
    for (uint32_t i = 0; i < s.p.n; i++) { /* in order of begin, and none of size or length 0 */
      s.size[i] += s.size[i] == 0;
      s.end[i] += s.end[i] == s.begin[i];
      sorted = sorted && (i == 0 || s.begin[i - 1] <= s.begin[i]);
    }
    uint64_t least = least_peak(&s, 0, address, 0, 20);
    if (sorted && least != UINT64_MAX) {
      searched++;
      both += check_search(&s, seed, least);
    }
  }
  ck_assert_uint_gt(searched, 100);
  ck_assert_uint_gt(both, 20);
}
END_TEST

/* ---- larger ones, and two algorithms */

/* Rectangles by begin that fill a capacity: `columns` ticks with long ones, and one in each tick
 * for what they leave.  Every second sample leaves some of it at some ticks; in the others no gap
 * is allowed at all. */
static void filled_sample(sample *s, unsigned long seed, uint32_t columns, uint64_t capacity) {
  fs_rng r = {seed * 131 + 7};
  uint64_t left[MOST], size[MOST];
  fs_tick begin[MOST], end[MOST];
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
  start(s);
  for (fs_tick k = 0; k < columns; k++) {
    for (uint32_t i = 0; i < n; i++) {
      if (begin[i] == k) {
        add(s, size[i], begin[i], end[i]);
      }
    }
  }
}

/* Asks both searches whether a placement within the capacity exists; of many rectangles the second
 * alone. */
static void ask_both(sample *s, uint64_t capacity, fs_decision *fits, unsigned long seed) {
  static const uint8_t together[MOST * 16] = {0};
  uint32_t other0[MOST], other[MOST * 16], n = 0;
  uint64_t open[MOST], address[MOST];
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  for (uint32_t i = 0; i < s->p.n; i++) {
    open[i] = UINT64_MAX;
    other0[i] = n;
    for (uint32_t k = 0; k < s->p.n; k++) {
      if (k != i && meet(s, i, k)) {
        other[n++] = k;
      }
    }
  }
  other0[s->p.n] = n;
  fs_parcel c = {.ctx = ctx,
                 .arena = &arena,
                 .n = s->p.n,
                 .size = s->size,
                 .begin = s->begin,
                 .end = s->end,
                 .given = open,
                 .other0 = other0,
                 .other = other,
                 .together = (uint8_t *)together};
  for (int niches = s->p.n > 40; niches < 2; niches++) {
    uint64_t nodes = 3000000;
    ck_assert_int_eq(niches ? fs_parcel_niches(&c, capacity, &nodes, address, &fits[niches])
                            : fs_parcel_search(&c, capacity, &nodes, address, &fits[niches]),
                     FSCHED_OK);
    ck_assert_msg(fits[niches].is != FS_YES || judge(s, address) <= capacity, "seed %lu", seed);
  }
  fs_arena_release(&arena);
}

START_TEST(niches_are_exact)
{
  uint32_t none = 0;
  for (unsigned long seed = 1; seed <= 1500; seed++) {
    sample s;
    uint64_t address[MOST], bound;
    fs_decision fits[2];
    filled_sample(&s, seed, 5 + seed % 2, 8);
    ck_assert_int_eq(fs_placement_bound(ctx, &s.p, &bound), FSCHED_OK);
    ck_assert(seed % 2 == 0 || bound == 8);
    for (uint64_t capacity = 7; capacity < 10; capacity++) {
      bool exists = least_peak(&s, 0, address, 0, capacity) != UINT64_MAX;
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
  for (unsigned long seed = 1; seed <= 200; seed++) {
    sample s;
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
  ck_assert_uint_gt(decided, 350);
  ck_assert_uint_gt(none, 5);
  ck_assert_uint_gt(fit, 100);
}
END_TEST

/* Cuts columns by capacity into pieces, some of which are left out: a placement is known. */
static void cut_sample(sample *s, unsigned long seed, uint32_t pieces, uint32_t columns,
                       uint32_t capacity) {
  fs_rng r = {seed * 733 + 1};
  uint64_t size[MOST] = {capacity};
  fs_tick begin[MOST] = {0}, end[MOST] = {columns};
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
  start(s);
  for (fs_tick k = 0; k < columns; k++) {
    for (uint32_t i = 0; i < n; i++) {
      if (begin[i] == k && (i + seed) % 5 != 0) {
        add(s, size[i], begin[i], end[i]);
      }
    }
  }
}

START_TEST(cut_ones_are_placed)
{
  uint32_t placed = 0;
  for (unsigned long seed = 1; seed <= 400; seed++) {
    sample s;
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
    sample s;
    uint64_t address[MOST], peak, bound, greedy = 0;
    bool found, proven;
    fs_rng r = {seed};
    start(&s);
    for (uint32_t i = 0; i < 150; i++) {
      fs_tick begin = fs_rng_below(&r, 400);
      fs_tick end = begin + fs_rng_below(&r, 60);
      add(&s, 16 * (1 + fs_rng_below(&r, 50)), begin, end);
    }
    ck_assert_int_eq(fs_placement_bound(ctx, &s.p, &bound), FSCHED_OK);
    for (int searched = 0; searched < 2; searched++) {
      s.p.nodes = searched ? 2000 : 0;
      ck_assert_int_eq(fs_test_place(ctx, &s.p, true, address, &peak, &found, &proven), FSCHED_OK);
      ck_assert(found);
      ck_assert_uint_eq(judge(&s, address), peak);
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
  sample s;
  uint64_t address[MOST], peak;
  bool found, proven;
  start(&s);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    add(&s, known[i][0], known[i][1], known[i][2]);
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
  start(&s);
  for (size_t i = 0; i < sizeof full / sizeof full[0]; i++) {
    add(&s, full[i][0], full[i][1], full[i][2]);
  }
  s.p.nodes = 1000;
  ck_assert_int_eq(fs_test_place(ctx, &s.p, true, address, &peak, &found, &proven), FSCHED_OK);
  ck_assert(found && proven && peak == 7);
  s.p.capacity = 6;
  ck_assert_int_eq(fs_test_place(ctx, &s.p, false, address, &peak, &found, &proven), FSCHED_OK);
  ck_assert(!found && proven);
  start(&s); /* nothing at all */
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
    sample s;
    uint64_t address[MOST], peak, bound;
    bool found, proven;
    fs_rng r = {seed};
    start(&s);
    for (uint32_t i = 0; i < 12; i++) {
      fs_tick begin = fs_rng_below(&r, 20);
      fs_tick end = begin + 1 + fs_rng_below(&r, 12);
      add(&s, 1 + fs_rng_below(&r, 9), begin, end);
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
  sample s;
  uint64_t address[MOST], peak;
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
  FS_TESTS(t, small_ones_are_exact, search_is_exact, niches_are_exact, searches_agree,
           cut_ones_are_placed, many_are_placed, larger_ones_are_right, known_ones, gaps_are_proven,
           too_many_conflicts, memory_fails_cleanly);
}
