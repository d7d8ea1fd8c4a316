/* SPDX-License-Identifier: Apache-2.0 */
/* The orders that a body has to keep, from what its args mean.
 *
 * For two accesses of which one writes and which touch the same bytes in some two iterations, the
 * one that comes first in program order of the unrolled loop has to be over before the other
 * starts.  Let the first be of op a and the other of op b, `distance` iterations later: 0 at least,
 * or 1 if a does not stand before b.
 *
 * - With a ring, both touch version f in iterations f + back of each, so at one distance.  Of the
 *   version on entry there is more: all iterations below `back` touch it, at all distances up to
 *   that of iteration 0.
 * - Without one, ranges that move alike overlap at an interval of distances.  Both begin in the
 *   buffer, so where they overlap, they do so before it ends.
 *   Where one is a strided view, it is looked at each of these distances whether they have bytes in
 *   common, unless that takes too long: then they count as if they had.
 * - Ranges that move unlike each other, with this loop or one around, count as overlapping always,
 * unless all that the one touches in all iterations of all loops lies apart from all that the other
 * does.
 *
 * - Where runs are joined, all of that is of a run.  Of two runs, all of one comes first on a
 * queue; on different queues all iterations count as overlapping, unless all bytes lie apart.
 *
 * An order at a distance is one at all greater distances that are whole rounds of copies above
 * (verify/loop/loop.h).  So of an interval as many distances as there are copies say all, and
 * nothing that is not needed: but that readers of the version on entry are held as if all
 * iterations were below `back`, which matters with several copies alone.
 * Complexity: O(accesses^2 copies). */
#include "verify/stream/loops/parts.h"

enum { MOST_LOOKS = 1 << 25 }; /* at runs of two views, in all distances */

/* Distances from `low` to `high`; none if low > high. */
typedef struct distance_range {
  int64_t low, high;
} distance_range;

static int64_t floor_of(int64_t a, int64_t b) {
  assert(b > 0);
  return a / b - (a % b < 0);
}

static const fs_stream_loop_arg *arg_of(const fs_vloop *x, const fs_vbody_access *a) {
  return &x->v->s->loop_args[a->arg];
}

/* Whether ranges overlap; one without bytes counts as if it had one. */
static bool overlap(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length) {
  return a < b + fs_max(b_length, 1) && b < a + fs_max(a_length, 1);
}

/* The bytes of an arg, `way` bytes behind where it is in iteration 0; one without bytes counts as
 * if it had one.  All are moved by BIAS, so that none is below 0. */
#define BIAS (INT64_C(1) << 61)
static fs_view_runs runs_of(const fs_vloop *x, const fs_stream_loop_arg *a, int64_t way) {
  uint64_t low = (uint64_t)(BIAS + (int64_t)a->offset + way);
  bool coarse;
  return fs_vloop_runs(x->v->s, a, (fs_vbytes){low, low + fs_max(a->length, 1)}, &coarse);
}

static bool is_view(const fs_vloop *x, const fs_stream_loop_arg *a) {
  return fs_stream_loop_view_of(x->v->s, (uint32_t)(a - x->v->s->loop_args)) != NULL;
}

/* Whether they have bytes in common, the second one moved so far. */
static bool meets(const fs_vloop *x, const fs_stream_loop_arg *a, const fs_stream_loop_arg *b,
                  int64_t way) {
  if (!is_view(x, a) && !is_view(x, b) && way == 0) {
    return overlap(a->offset, a->length, b->offset, b->length);
  }
  fs_view_runs m = runs_of(x, a, 0), n = runs_of(x, b, way);
  return fs_view_overlap(&m, &n, NULL) != FS_OVERLAP_NONE;
}

static uint64_t count_runs(const fs_view_runs *v) {
  uint64_t n = 1;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    n *= v->shape[d]; /* they are at most FS_VIEW_STEPS */
  }
  return n;
}

static fs_status add_order(const fs_vloop *x, const fs_vbody_access *a, const fs_vbody_access *b,
                           int64_t distance, fs_vorders *out) {
  assert(distance >= 0 && distance <= FS_LOOP_NUMBER);
  fs_vorder o = {{a->member, b->member, (uint32_t)distance}, arg_of(x, a)->buffer, a->arg, b->arg};
  return fs_vec_push(x->v->ctx, out, o);
}

/* Adds orders at all distances of a range.  Beyond the largest number there is none; those at
 * smaller distances say more. */
static fs_status add_orders(const fs_vloop *x, const fs_vbody_access *a, const fs_vbody_access *b,
                            distance_range r, fs_vorders *out) {
  int64_t most = (int64_t)FS_LOOP_NUMBER - x->l->copies;
  if (r.low > r.high) {
    return FSCHED_OK;
  }
  if (r.low > most) {
    r = (distance_range){most, INT64_MAX};
  }
  for (int64_t d = r.low; d <= r.high && d < r.low + x->l->copies; d++) {
    FS_TRY(add_order(x, a, b, d, out));
  }
  return FSCHED_OK;
}

/* Adds orders at those distances of a range at which the accesses meet, as many as say all. */
static fs_status add_meetings(const fs_vloop *x, const fs_vbody_access *a, const fs_vbody_access *b,
                              distance_range r, fs_vorders *out) {
  const fs_stream_loop_arg *m = arg_of(x, a), *n = arg_of(x, b);
  fs_view_runs i = runs_of(x, m, 0), k = runs_of(x, n, 0);
  uint64_t looks = r.low <= r.high ? (uint64_t)r.high - (uint64_t)r.low + 1 : 0;
  if (m->step == 0) {
    return meets(x, m, n, 0) ? add_orders(x, a, b, r, out) : FSCHED_OK;
  }
  if (looks > MOST_LOOKS / (count_runs(&i) * count_runs(&k))) {
    return add_orders(x, a, b, r, out);
  }
  for (int64_t copy = 0; copy < x->l->copies; copy++) {
    int64_t d = r.low + copy;
    while (d <= r.high && !meets(x, m, n, m->step * d)) {
      d += x->l->copies;
    }
    FS_TRY(d <= r.high ? add_orders(x, a, b, (distance_range){d, d}, out) : FSCHED_OK);
  }
  return FSCHED_OK;
}

/* The distances at which ranges with one step overlap: those d with
 * -length of b < offset of b - offset of a + step * d < length of a. */
static distance_range alike(const fs_stream_loop_arg *a, const fs_stream_loop_arg *b) {
  int64_t apart = (int64_t)b->offset - (int64_t)a->offset, step = a->step;
  int64_t la = (int64_t)fs_max(a->length, 1), lb = (int64_t)fs_max(b->length, 1);
  if (step == 0) {
    bool meet = overlap(a->offset, a->length, b->offset, b->length);
    return meet ? (distance_range){INT64_MIN, INT64_MAX} : (distance_range){0, -1};
  }
  if (step > 0) {
    return (distance_range){floor_of(-lb - apart, step) + 1, floor_of(la - apart - 1, step)};
  }
  return (distance_range){floor_of(apart - la, -step) + 1, floor_of(lb + apart - 1, -step)};
}

/* The bytes that an arg touches in all iterations of all loops around; all, if that is not known.
 */
static fs_vbytes reach(const fs_vloop *x, const fs_stream_loop_arg *a) {
  fs_vbytes hull = fs_vloop_hull(x, a, x->l->trip - 1);
  uint64_t limit = fs_vloop_limit(x->v->s, x->l, a);
  int64_t down = 0, up = 0;
  if (x->inner && !fs_vloop_moves(x->v->s, x->l, a->own, &down, &up)) {
    return (fs_vbytes){0, limit};
  }
  hull.low -= fs_min(hull.low, (uint64_t)-down);
  hull.high = fs_min(hull.high + (uint64_t)up, limit);
  return hull;
}

/* Whether some bytes of the one are of the other, whichever the iterations. */
static bool reaches_meet(const fs_vloop *x, const fs_stream_loop_arg *a,
                         const fs_stream_loop_arg *b) {
  fs_vbytes m = reach(x, a), n = reach(x, b);
  return overlap(m.low, m.high - m.low, n.low, n.high - n.low);
}

static bool moves_alike(const fs_vloop *x, const fs_stream_loop_arg *a,
                        const fs_stream_loop_arg *b) {
  return a->step == b->step && fs_vloop_alike(x->v->s, x->l, a->own, b->own);
}

/* The distances at which accesses without rings overlap, where views count as all that lies between
 * their ends. */
static distance_range meeting(const fs_vloop *x, const fs_stream_loop_arg *a,
                              const fs_stream_loop_arg *b) {
  if (moves_alike(x, a, b)) {
    return alike(a, b);
  }
  return reaches_meet(x, a, b) ? (distance_range){INT64_MIN, INT64_MAX} : (distance_range){0, -1};
}

/* Orders from a to b, of one ring.  Those with its writer are the ring's own. */
static fs_status order_ringed(const fs_vloop *x, const fs_vbody_access *a, const fs_vbody_access *b,
                              int64_t least, fs_vorders *out) {
  const fs_stream_loop_arg *m = arg_of(x, a), *n = arg_of(x, b);
  int64_t apart = (int64_t)n->back - m->back;
  uint64_t trips = fs_vloop_all_trips(x);
  if (fs_tag_begins(m->tag) || fs_tag_begins(n->tag) || !meets(x, m, n, 0)) {
    return FSCHED_OK;
  }
  if (apart >= least && n->back < trips) {
    FS_TRY(add_order(x, a, b, apart, out));
  }
  int64_t most = m->back > 0 ? (int64_t)fs_min(n->back, trips) - 1 : -1;
  return add_orders(x, a, b, (distance_range){least, most}, out);
}

/* Orders from a to b. */
static fs_status order_pair(const fs_vloop *x, const fs_vbody_access *a, const fs_vbody_access *b,
                            fs_vorders *out) {
  const fs_stream_loop_arg *m = arg_of(x, a), *n = arg_of(x, b);
  int64_t least = a->member >= b->member, most = (int64_t)x->l->trip - 1;
  if (m->buffer != n->buffer || !(a->writes || b->writes)) {
    return FSCHED_OK;
  }
  if (m->ring != FS_NONE) {
    return order_ringed(x, a, b, least, out);
  }
  distance_range r = meeting(x, m, n);
  r.low = r.low < least ? least : r.low;
  r.high = r.high < most ? r.high : most;
  bool look = moves_alike(x, m, n) && (is_view(x, m) || is_view(x, n));
  FS_TRY(look ? add_meetings(x, a, b, r, out) : add_orders(x, a, b, r, out));
  if (x->l->joined == 0 || fs_vloop_on_one_queue(x, a->member, b->member) ||
      !reaches_meet(x, m, n)) {
    return FSCHED_OK;
  }
  return add_orders(x, a, b, (distance_range){1, (int64_t)fs_vloop_all_trips(x) - 1}, out);
}

/* The member of its op whose arg it is. */
static uint32_t member_of(const fs_vloop *x, const fs_vbody_access *a) {
  const fs_stream_loop_op *o = fs_vloop_op(x, a->member);
  uint32_t m = 0;
  while (m + 1 < o->n_members && x->v->s->loop_members[o->member0 + m + 1].arg0 <= a->arg) {
    m++;
  }
  return m;
}

/* Whether two accesses of one iteration may touch the same bytes.  Of a ring, two values may be the
 * one on entry, or lie in one slot. */
static bool may_meet(const fs_vloop *x, const fs_stream_loop_arg *a, const fs_stream_loop_arg *b) {
  if (a->buffer != b->buffer) {
    return false;
  }
  if (a->ring != FS_NONE) {
    uint32_t apart = a->back > b->back ? a->back - b->back : b->back - a->back;
    return ((a->back > 0 && b->back > 0) || apart % x->v->s->rings[a->ring].depth == 0) &&
           meets(x, a, b, 0);
  }
  return moves_alike(x, a, b) ? meets(x, a, b, 0) : reaches_meet(x, a, b);
}

void fs_vloop_members(fs_vloop *x) {
  assert(x->access != NULL || x->n_accesses == 0);
  for (uint32_t i = 0; i < x->n_accesses; i++) {
    const fs_vbody_access *a = &x->access[i];
    for (uint32_t k = i + 1; k < x->n_accesses && x->access[k].member == a->member; k++) {
      const fs_vbody_access *b = &x->access[k];
      if ((a->writes || b->writes) && member_of(x, a) != member_of(x, b) &&
          may_meet(x, arg_of(x, a), arg_of(x, b))) {
        FS_LOOP_WRONG(x, FS_DIAG_VERIFY_CONFLICT,
                      "loop %.60s: op %.60s: a member writes what another one accesses", x->name,
                      fs_vloop_op_name(x, a->member));
      }
    }
  }
}

static fs_status order_afters(const fs_vloop *x, fs_vorders *out) {
  for (uint32_t member = 0; member < x->l->n_ops; member++) {
    const fs_stream_loop_op *o = fs_vloop_op(x, member);
    for (uint32_t i = o->after0; i < o->after0 + o->n_afters; i++) {
      const fs_stream_loop_after *a = &x->v->s->loop_afters[i];
      if (a->distance < x->l->trip) {
        fs_vorder order = {{a->op - x->l->op0, member, a->distance}, FS_NONE, FS_NONE, FS_NONE};
        FS_TRY(fs_vec_push(x->v->ctx, out, order));
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_vloop_orders(fs_vloop *x, fs_vorders *out) {
  assert(x->access != NULL || x->n_accesses == 0);
  for (uint32_t i = 0; i < x->n_accesses; i++) {
    for (uint32_t k = 0; k < x->n_accesses; k++) {
      FS_TRY(order_pair(x, &x->access[i], &x->access[k], out));
    }
  }
  return order_afters(x, out);
}
