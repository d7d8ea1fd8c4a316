/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that the learner decides: the answers of trying all addresses, on small random
 * rectangles some of which may share their places. */
#include "kit/gen.h"
#include "placement/placement_kit.h"
#include "search/spill/private.h"

#include "kit/context.h"

/* Some begin where another one is still there, and may have its place until that ends. */
static void random_rects(fs_rects *s, uint64_t seed, uint32_t most, uint32_t pairs) {
  fs_rng state = {seed}, *r = &state;
  fs_rects_start(s);
  uint32_t n = 2 + fs_rng_below(r, most - 1);
  for (uint32_t i = 0; i < n; i++) {
    fs_tick begin = fs_rng_below(r, 6);
    fs_rects_add(s, 1 + fs_rng_below(r, 4), begin, begin + 1 + fs_rng_below(r, 6));
  }
  for (uint32_t b = 1; b < n && s->p.n_pairs < pairs; b++) {
    uint32_t a = fs_rng_below(r, b);
    if (fs_rng_one_in(r, 2) && s->end[a] > s->begin[a] + 1) {
      s->begin[b] = s->end[a] - 1;
      s->end[b] = s->end[a] + fs_rng_below(r, 5);
      s->size[b] = s->size[a];
      s->pair_a[s->p.n_pairs] = a;
      s->pair_b[s->p.n_pairs] = b;
      s->pair_to[s->p.n_pairs++] = FS_TICK_NONE;
    }
  }
}

static fs_decided decide(const fs_rects *s, uint64_t capacity, uint64_t *address) {
  uint64_t conflicts = 100000, work = 0;
  fs_placement q = s->p;
  fs_decision exists;
  q.capacity = capacity;
  ck_fs(ctx, fs_spills_decide(ctx, &q, &conflicts, &work, address, &exists));
  return exists.is;
}

START_TEST(as_all_addresses)
{
  uint32_t shared = 0, none = 0, open = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    fs_rects s;
    uint64_t address[FS_MOST_RECTS];
    random_rects(&s, seed, 7, 4);
    uint64_t least = fs_rects_least_peak(&s, 0, address, 0, 30);
    ck_assert_uint_ne(least, UINT64_MAX);
    for (uint64_t capacity = least - 1; capacity <= least; capacity++) {
      fs_decided is = decide(&s, capacity, address);
      ck_assert_msg(is != (capacity < least ? FS_YES : FS_NO), "seed %llu: %llu is least",
                    (unsigned long long)seed, (unsigned long long)least);
      ck_assert(is != FS_YES || fs_rects_judge(&s, address) <= capacity);
      open += is == FS_NOT_DECIDED;
      none += is == FS_NO;
      shared += is == FS_YES && s.p.n_pairs > 0;
    }
  }
  ck_assert_uint_eq(open, 0); /* four choices are all asked for */
  ck_assert_uint_gt(none, 2000);
  ck_assert_uint_gt(shared, 500);
}
END_TEST

/* More choices than are asked for say nothing unless there are addresses. */
START_TEST(many_choices)
{
  uint32_t open = 0;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    fs_rects s;
    uint64_t address[FS_MOST_RECTS];
    random_rects(&s, seed, 8, 8);
    uint64_t least = fs_rects_least_peak(&s, 0, address, 0, 34);
    ck_assert_uint_ne(decide(&s, least, address), FS_NO);
    open += decide(&s, least - 1, address) == FS_NOT_DECIDED;
    ck_assert_uint_ne(decide(&s, least - 1, address), FS_YES);
  }
  ck_assert_uint_gt(open, 0);
}
END_TEST

/* Without conflicts left nothing is decided. */
START_TEST(without_conflicts)
{
  fs_rects s;
  uint64_t address[FS_MOST_RECTS], conflicts = 0, work = 0;
  fs_decision exists;
  random_rects(&s, 3, 7, 0);
  s.p.capacity = 1;
  ck_fs(ctx, fs_spills_decide(ctx, &s.p, &conflicts, &work, address, &exists));
  ck_assert_int_eq(exists.is, FS_NOT_DECIDED);
}
END_TEST

/* So many bytes the learner does not count. */
START_TEST(too_many_bytes)
{
  fs_rects s;
  uint64_t address[FS_MOST_RECTS];
  fs_rects_start(&s);
  for (uint32_t i = 0; i < 3; i++) {
    fs_rects_add(&s, UINT64_C(1) << 60, 0, 1);
  }
  ck_assert_int_eq(decide(&s, UINT64_C(3) << 60, address), FS_NOT_DECIDED);
}
END_TEST

FS_SUITE(spill_places, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, as_all_addresses, many_choices, without_conflicts, too_many_bytes);
}
