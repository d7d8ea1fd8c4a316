/* SPDX-License-Identifier: Apache-2.0 */
/* The least length of lanes, beside all orders in which ops can be put into them. */
#include "kit/gen.h"
#include "kit/turn.h"
#include "modulo/strip/strip.h"

#include "kit/context.h"

enum { BODIES = 400, MOST = 7 };

typedef struct strip_case {
  uint32_t lanes, n;
  fs_strip_op op[MOST];
} strip_case;

static void draw_strip(fs_rng *r, strip_case *c) {
  c->lanes = 2 + fs_rng_below(r, FS_STRIP_LANES - 1);
  c->n = 1 + fs_rng_below(r, MOST);
  for (uint32_t i = 0; i < c->n; i++) {
    c->op[i] = (fs_strip_op){1 + fs_rng_below(r, c->lanes - 1), 1 + fs_rng_below(r, 9)};
  }
}

/* Where the last op ends if each starts, in this order, as early as there are lanes for all of it.
 */
static uint64_t end_in_order(const strip_case *c, const uint32_t *order) {
  uint32_t taken[10 * MOST] = {0};
  uint64_t end = 0;
  for (uint32_t k = 0; k < c->n; k++) {
    uint32_t op = order[k], need = c->op[op].need;
    uint64_t start = 0, free = 0;
    for (uint64_t t = 0; free < (uint64_t)c->op[op].hold; t++) {
      bool room = taken[t] + need <= c->lanes;
      start = room && free > 0 ? start : t + !room;
      free = room ? free + 1 : 0;
    }
    for (uint64_t t = start; t < start + (uint64_t)c->op[op].hold; t++) {
      taken[t] += need;
    }
    end = start + (uint64_t)c->op[op].hold > end ? start + (uint64_t)c->op[op].hold : end;
  }
  return end;
}

/* The least end of all orders of ops from the k-th on. */
static uint64_t least_end(const strip_case *c, uint32_t *order, uint32_t k) {
  uint64_t best = k == c->n ? end_in_order(c, order) : UINT64_MAX;
  for (uint32_t i = k; i < c->n; i++) {
    uint32_t moved = order[k];
    order[k] = order[i];
    order[i] = moved;
    uint64_t end = least_end(c, order, k + 1);
    best = end < best ? end : best;
    order[i] = order[k];
    order[k] = moved;
  }
  return best;
}

static uint64_t least_of(const strip_case *c, uint64_t steps) {
  int64_t length;
  ck_fs(ctx, fs_strip_least(ctx, c->lanes, c->op, c->n, steps, &length));
  return (uint64_t)length;
}

START_TEST(as_all_orders)
{
  fs_rng r = {fs_turn()};
  uint32_t more = 0; /* than the work fills */
  for (uint32_t k = 0; k < BODIES; k++) {
    strip_case c;
    uint32_t order[MOST];
    uint64_t work = 0;
    draw_strip(&r, &c);
    for (uint32_t i = 0; i < c.n; i++) {
      order[i] = i;
      work += (uint64_t)c.op[i].hold * c.op[i].need;
    }
    uint64_t want = least_end(&c, order, 0);
    ck_assert_uint_eq(least_of(&c, UINT64_MAX), want);
    ck_assert_uint_le(least_of(&c, 3), want);
    more += want > (work + c.lanes - 1) / c.lanes;
  }
  fs_assert_seen(more, BODIES / 10);
}
END_TEST

/* The work fills three lanes of 18 ticks, but these ops don't. */
START_TEST(work_that_does_not_fill_lanes)
{
  static const fs_strip_op op[] = {{1, 2}, {1, 4}, {1, 5}, {1, 13}, {2, 6}, {2, 4}, {2, 2}, {2, 3}};
  int64_t length;
  ck_fs(ctx, fs_strip_least(ctx, 3, op, sizeof op / sizeof *op, 1 << 16, &length));
  ck_assert_int_eq(length, 19);
}
END_TEST

FS_SUITE(strip, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_TESTS(t, as_all_orders, work_that_does_not_fill_lanes);
}
