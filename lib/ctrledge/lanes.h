/* SPDX-License-Identifier: Apache-2.0 */
/* Allotment of a counted amount as unit intervals of [0, capacity), so that "two owners had the
 * same unit" gives the orderings that keep the sum within the capacity for any durations.
 *
 * A holder takes its amount at its turn, in pieces if need be, and gives it back at its end.  It
 * takes, in this order, units whose last holder is known to be over when the new one starts (the
 * same queue, a predecessor), units never used, and units given back earliest; so few orderings are
 * added.  Amounts up to 2^48: pieces, not units, are counted. */
#ifndef FS_LANES_H
#define FS_LANES_H

#include "model/access.h"

typedef struct fs_holder {
  fs_tick begin, end;
  uint32_t turn;     /* position of the item that begins it; 0 for what is there from the start */
  uint32_t last_use; /* position of its last item */
  uint64_t amount;   /* above 0 */
  uint32_t head;     /* its first item; FS_NONE: none, or several unordered */
  uint32_t tail;     /* its last item; the same */
} fs_holder;

typedef struct fs_lane_piece {
  uint32_t holder;
  uint64_t low, high;
} fs_lane_piece;

typedef struct fs_lane_sink {
  void *user;
  /* `later` got units that `earlier` had last; a pair may come several times. */
  fs_status (*contact)(void *user, uint32_t earlier, uint32_t later);
  /* The units of a holder in ascending order; adjacent pieces are joined. */
  fs_status (*piece)(void *user, fs_lane_piece piece);
} fs_lane_sink;

/* `holder` in order of (begin, turn).  Requires holders in order of begin and turn, with amounts
 * above 0.  Complexity: O(n log n + pieces); the number of pieces stays near that of the holders at
 * work.  Errors: FSCHED_SYSTEM, also (reported as internal) when the amounts do not fit. */
fs_status fs_lanes_allot(fsched_context *ctx, const fs_schedule *s, const fs_accesses *acc,
                         uint64_t capacity, const fs_holder *holder, uint32_t n,
                         const fs_lane_sink *sink) FS_MUST_USE;

#endif
