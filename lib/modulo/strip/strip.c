/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths are tried one by one, from that which the work fills.  A strip is filled from its
 * beginning: an op starts there, or where another one ends, as all others could move up.  So a
 * state is the place that has been reached, what is left, and how far each lane is taken from there
 * on, in ascending order.  At each place an op of those left starts, or the lanes that are free
 * stay so until the next end.  What stays empty is limited; with little of that, few states are
 * left.
 *
 * States that led to nothing are remembered with the least place where they did, as far as there is
 * room: they lead to nothing behind it, either. */
#include "modulo/strip/strip.h"

#include "base/context.h"

enum { KNOWN = 1 << 14 }; /* states that are remembered */

typedef struct strip_state {
  uint64_t left; /* ops, as bits */
  int64_t at;
  int64_t taken[FS_STRIP_LANES]; /* per lane, ascending: from `at` on; the first is 0 */
} strip_state;

typedef struct strip_known {
  uint64_t left, taken;
  int64_t at;
} strip_known;

typedef struct strip_search {
  uint32_t lanes, n;
  fs_strip_op op[FS_STRIP_OPS]; /* descending by need, then hold */
  int64_t work, length;
  uint64_t steps;
  strip_known *known;
} strip_search;

static uint64_t packed(const strip_search *s, const strip_state *x) {
  uint64_t out = 0;
  for (uint32_t i = 0; i < s->lanes; i++) {
    out = out << 16 | (uint64_t)x->taken[i];
  }
  return out;
}

static strip_known *known_state(const strip_search *s, const strip_state *x, uint64_t taken) {
  uint64_t hash = (x->left * UINT64_C(0x9e3779b97f4a7c15) ^ taken) * UINT64_C(0xbf58476d1ce4e5b9);
  return &s->known[hash >> 50 & (KNOWN - 1)];
}

/* Goes on to the next end, if all lanes are taken here. */
static void move_up(const strip_search *s, strip_state *x) {
  int64_t by = x->taken[0];
  x->at += by;
  for (uint32_t i = 0; i < s->lanes; i++) {
    x->taken[i] -= by;
  }
}

/* Lets lanes that are free take so long, the first `n` of them. */
static void take_lanes(const strip_search *s, strip_state *x, uint32_t n, int64_t hold) {
  for (; n > 0; n--) {
    uint32_t i = 0;
    for (; i + 1 < s->lanes && x->taken[i + 1] < hold; i++) {
      x->taken[i] = x->taken[i + 1];
    }
    x->taken[i] = hold;
  }
  move_up(s, x);
}

static uint32_t free_lanes(const strip_search *s, const strip_state *x) {
  uint32_t n = 0;
  while (n < s->lanes && x->taken[n] == 0) {
    n++;
  }
  return n;
}

/* What has been left empty so far. */
static int64_t emptiness(const strip_search *s, const strip_state *x) {
  int64_t filled = s->work, reached = (int64_t)s->lanes * x->at;
  for (uint64_t left = x->left; left != 0; left &= left - 1) {
    const fs_strip_op *o = &s->op[__builtin_ctzll(left)];
    filled -= (int64_t)o->need * o->hold;
  }
  for (uint32_t i = 0; i < s->lanes; i++) {
    reached += x->taken[i];
  }
  return reached - filled;
}

/* Whether an op may start here; of those that are equal just the first. */
static bool may_start(const strip_search *s, const strip_state *x, uint32_t i, uint32_t lanes) {
  const fs_strip_op *o = &s->op[i];
  bool again = i > 0 && (x->left >> (i - 1) & 1) != 0 && s->op[i - 1].need == o->need &&
               s->op[i - 1].hold == o->hold;
  return o->need <= lanes && x->at + o->hold <= s->length && !again;
}

/* Whether what is left fits; true, too, where steps run out. */
static bool fits_from(strip_search *s, strip_state x) {
  if (x.left == 0 || s->steps == 0) {
    return true;
  }
  s->steps--;
  uint64_t taken = packed(s, &x);
  strip_known *known = known_state(s, &x, taken);
  bool seen = known->left == x.left && known->taken == taken && known->at <= x.at;
  if (seen || emptiness(s, &x) > (int64_t)s->lanes * s->length - s->work) {
    return false;
  }
  uint32_t lanes = free_lanes(s, &x);
  for (uint64_t left = x.left; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left);
    if (may_start(s, &x, i, lanes)) {
      strip_state next = x;
      next.left &= ~(UINT64_C(1) << i);
      take_lanes(s, &next, s->op[i].need, s->op[i].hold);
      if (fits_from(s, next)) {
        return true;
      }
    }
  }
  if (lanes < s->lanes) {
    strip_state next = x;
    take_lanes(s, &next, lanes, x.taken[lanes]);
    if (fits_from(s, next)) {
      return true;
    }
  }
  *known = (strip_known){x.left, taken, x.at};
  return false;
}

/* Keeps the order of ops. */
static void add_op(strip_search *s, fs_strip_op o) {
  uint32_t i = s->n++;
  for (; i > 0 && (s->op[i - 1].need < o.need ||
                   (s->op[i - 1].need == o.need && s->op[i - 1].hold < o.hold));
       i--) {
    s->op[i] = s->op[i - 1];
  }
  s->op[i] = o;
  s->work += (int64_t)o.need * o.hold;
}

/* The length that the work fills is the first one. */
static void find_length(strip_search *s) {
  strip_state begin = {0, 0, {0}};
  int64_t lanes = s->lanes;
  begin.left = s->n == 64 ? UINT64_MAX : (UINT64_C(1) << s->n) - 1;
  for (s->length = (s->work + lanes - 1) / lanes;; s->length++) {
    memset(s->known, 0, KNOWN * sizeof *s->known);
    if (fits_from(s, begin)) {
      return;
    }
  }
}

fs_status fs_strip_least(fsched_context *ctx, uint32_t lanes, const fs_strip_op *op, uint32_t n,
                         uint64_t steps, int64_t *length) {
  assert(lanes >= 2 && lanes <= FS_STRIP_LANES);
  assert(n > 0 && n <= FS_STRIP_OPS);
  FS_SCRATCH(scratch, ctx);
  strip_search s = {.lanes = lanes, .steps = steps};
  FS_TRY(fs_new_zero(&scratch, &s.known, KNOWN));
  for (uint32_t i = 0; i < n; i++) {
    assert(op[i].need > 0 && op[i].need < lanes);
    assert(op[i].hold > 0 && op[i].hold <= FS_STRIP_LONGEST);
    add_op(&s, op[i]);
  }
  find_length(&s);
  *length = s.length;
  return FSCHED_OK;
}
