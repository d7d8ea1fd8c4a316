/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses for rectangles whose times are known: the static allocation of memory.
 *
 * A rectangle has a size, a lifetime [begin, end) and the alignment of its memory; two whose
 * lifetimes overlap may not overlap in addresses, unless they are declared to coincide.  A lifetime
 * of zero length conflicts with those that enclose it.
 *
 * Greedy placements in several orders; if they do not do, and `nodes` allows, an exact search: of
 * rectangles that are all open and may not share by niches of the skyline (niche.c), of others by a
 * branch and bound in order of addresses (search.c), both over normal positions, with a limit of
 * nodes; at last the greedy placements are improved.  So the result is the same on every machine.
 * The dynamic storage allocation problem is NP-hard (Garey and Johnson, SR2): a question that is
 * not settled within the limits (limit.h) is not decided. */
#ifndef FS_PLACEMENT_H
#define FS_PLACEMENT_H

#include "base/limit.h"
#include "base/mem.h"

typedef struct fs_placement {
  uint32_t n;
  const uint64_t *size; /* multiples of the alignment; size 0 may lie anywhere; the sum of all
                         * sizes is below 2^63 */
  const fs_tick *begin, *end;
  const uint64_t *given; /* fixed addresses; UINT64_MAX: open; NULL: all are open */
  /* Pairs that may have the same address: only then may they overlap while [from, to). */
  uint32_t n_pairs;
  const uint32_t *pair_a, *pair_b;
  const fs_tick *pair_from, *pair_to;
  uint64_t capacity; /* FS_UNBOUNDED: the lowest peak that is found */
  uint64_t nodes;    /* of the search; 0: greedy alone */
  bool quick;        /* greedy placements are not improved, before the search or behind it */
  bool (*stop)(
      void *user); /* called now and then: true ends the search as if the nodes were used up */
  void *user;
} fs_placement;

/* *exists: is there a placement within the capacity?  If FS_YES, address[] is filled, *peak is the
 * highest address used, and *least says whether it is proven that no placement has a lower one.
 * With `lowest` the search goes on for a lower peak within the capacity until that is proven or the
 * nodes are used up.  Requires lifetimes that do not end before they begin, and pairs of
 * rectangles.
 * Complexity: greedy O(n^2) at worst, n log n for few overlaps.  Errors: FSCHED_SYSTEM. */
fs_status fs_placement_run(fsched_context *ctx, const fs_placement *p, bool lowest,
                           uint64_t *address, uint64_t *peak, fs_decision *exists,
                           bool *least) FS_MUST_USE;
/* The largest sum of sizes that live at one time: no placement has a lower peak.  Requires
 * lifetimes that do not end before they begin, and pairs of rectangles.  O(n log n). */
fs_status fs_placement_bound(fsched_context *ctx, const fs_placement *p,
                             uint64_t *bound) FS_MUST_USE;

#endif
