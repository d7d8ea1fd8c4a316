/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses in stack memories for an order of issue. */
#ifndef FS_BLOCK_PLACE_H
#define FS_BLOCK_PLACE_H

#include "block/plan.h"

typedef struct fs_block_places {
  uint64_t *address; /* per residency; in memories that are not placed, the schedule's */
  uint64_t *peak;    /* per memory that was placed: the end of its highest place */
  bool *fits;        /* per memory: a stack memory whose peak is within the capacity */
  uint32_t *where;   /* per memory that does not fit: a place in the order of issue at which a full
                        sync may let it reclaim, or FS_NONE */
} fs_block_places;

/* Places the memories of `loose` (per memory) for a plan.  A residency holds its place from its
 * first to its last access in the plan's order; given content holds it from the very start, kept
 * content to the very end.  An in-place output shares the place of its input.  The arrays live in
 * `arena`.  Requires a filled plan.
 * Complexity: O(accesses), and O((residencies + stops) log) for each memory of `loose`.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_block_place(fsched_context *ctx, fs_arena *arena, const fs_orders *o,
                         const fs_accesses *acc, const bool *loose, const fs_block_plan *p,
                         fs_block_places *out) FS_MUST_USE;

#endif
