/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of byte ranges [lo, hi) that belong to ops, possibly overlapping: who wrote or read which
 * part of a buffer.  All sets share one pool of nodes.  A set is a tree balanced by height and
 * ordered by (lo, op, hi), in which every node knows the largest hi below it (an interval tree).
 * Its depth is at most 1.45 log2(n + 2) whatever the offsets, and the ranges alone decide what is
 * found and in which order, not the tree's shape or the ids that were free.
 *
 * Complexity: O(log n) per range added and per range found; the recursion is O(log n) deep. */
#ifndef FS_RANGES_H
#define FS_RANGES_H

#include "base/mem.h"

typedef struct fs_range_node {
  uint64_t lo, hi;
  uint64_t max_hi; /* largest hi of the node and its subtrees */
  uint32_t op;
  uint32_t left, right;
  uint32_t height; /* height of the subtree; 1 for a leaf */
} fs_range_node;

typedef struct fs_ranges {
  fsched_context *ctx;
  FS_VEC(fs_range_node) node;
  uint32_t free; /* first free node; free nodes are linked by `left` */
} fs_ranges;

/* Requires a context. */
void fs_ranges_init(fs_ranges *r, fsched_context *ctx);
void fs_ranges_release(fs_ranges *r);

/* An empty set is FS_NONE.  Requires a set of `r`. */
void fs_ranges_clear(fs_ranges *r, uint32_t *set);
/* Requires lo < hi.  A range that the set already has for `op` is not added again. */
fs_status fs_ranges_add(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi,
                        uint32_t op) FS_MUST_USE;
/* Makes room, so that the next n calls of fs_ranges_add cannot fail.  Requires that there are fewer
 * than 2^32 - 1 ranges. */
static inline FS_MUST_USE fs_status fs_ranges_reserve(fs_ranges *r, size_t n) {
  assert(r->node.n + n < FS_NONE);
  return fs_vec_ensure(r->ctx, &r->node, r->node.n + n);
}
/* Takes a range out that was added.  Requires that the set has just this range for `op`. */
void fs_ranges_remove(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi, uint32_t op);
/* Appends the ops of all ranges that overlap [lo, hi), in order of (lo, op); *covered is the number
 * of bytes of [lo, hi) that lie in some range.  Requires lo < hi. */
fs_status fs_ranges_find(const fs_ranges *r, uint32_t set, uint64_t lo, uint64_t hi, fs_ids *ops,
                         uint64_t *covered) FS_MUST_USE;
/* Cuts [lo, hi) out of all ranges (see below) and adds it for `op`.  Fast when exactly this range
 * is in the set, as when tiles are written again and again.  Requires lo < hi.  Requires
 * (unchecked: O(n)) a set of disjoint ranges. */
fs_status fs_ranges_replace(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi,
                            uint32_t op) FS_MUST_USE;
/* Cuts [lo, hi) out of all ranges; the parts on either side stay.  Requires lo < hi. */
fs_status fs_ranges_cut(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi) FS_MUST_USE;

#endif
