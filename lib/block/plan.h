/* SPDX-License-Identifier: Apache-2.0 */
/* An order of issue with its syncs and planned times. */
#ifndef FS_BLOCK_PLAN_H
#define FS_BLOCK_PLAN_H

#include "block/orders.h"

typedef struct fs_block_plan {
  uint32_t *phase; /* per item: number of full syncs before it, without those in `extra` */
  uint32_t *order; /* items in order of issue */
  uint32_t *at;    /* per item: place of its first command; the others follow */
  fs_tick *start;  /* per item */
  fs_tick makespan;
  uint32_t n_stops, n_full;
  fs_stop *stop;
  uint32_t *full; /* places of the full syncs, ascending */
} fs_block_plan;

/* Requires phases (orders.h).  Fills the rest in `arena`: items by phase, then by planned time; a
 * full sync before each phase and at each place in `extra` (ascending, places of first commands);
 * counting syncs for the remaining needs.  No stop lies between members of a gang.
 * Complexity: O(items + needs + edges + stops).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_plan_fill(fsched_context *ctx, fs_arena *arena, const fs_orders *o,
                             const uint32_t *extra, uint32_t n_extra, fs_block_plan *p) FS_MUST_USE;

/* Fills issue and stop of the synchronisation from a plan.  Requires a filled plan.  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_block_plan_store(const fs_block_plan *p, fs_sync *y) FS_MUST_USE;

#endif
