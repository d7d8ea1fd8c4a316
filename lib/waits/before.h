/* SPDX-License-Identifier: Apache-2.0 */
/* The items that each item of a schedule has to come after: by edges of the graph, by the data of
 * copies, and by control edges. */
#ifndef FS_WAITS_BEFORE_H
#define FS_WAITS_BEFORE_H

#include "model/lags.h"
#include "model/sync.h"

typedef struct fs_before {
  fsched_context *ctx;
  fs_lags lags;
  /* By position in the order of issue: predecessors as positions, descending, without repeats
   * (CSR), and the number of successors. */
  uint32_t *pred0;
  FS_VEC(uint32_t) pred;
  FS_VEC(uint32_t)
  edge; /* the edge of the graph of which some members count alone; FS_NONE: all
         * members do */
  uint32_t *successors;
} fs_before;

/* Arrays live in `arena`; release it after a failure too.  Requires the positions and edges that
 * lib/ctrledge makes.
 * Complexity: O(items + edges, sorted), and what fs_lags_find takes.  Errors: FSCHED_SYSTEM. */
fs_status fs_before_collect(fsched_context *ctx, fs_arena *arena, const fs_sync *sync,
                            fs_before *out) FS_MUST_USE;
void fs_before_release(fs_before *b);

/* The members that the i-th of all predecessors concerns.  Requires a predecessor. */
static inline fs_lag fs_before_lag(const fs_before *b, uint32_t i) {
  FS_ASSERT_SLOW(i < b->edge.n);
  uint32_t edge = b->edge.at[i];
  return edge == FS_NONE ? (fs_lag){FS_LAG_ALL, FS_LAG_ALL} : b->lags.lag[edge];
}

#endif
