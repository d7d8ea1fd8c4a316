/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of a problem's items in which all edges go forward. */
#ifndef FS_BLOCK_SORTS_H
#define FS_BLOCK_SORTS_H

#include "block/problem.h"

typedef enum fs_block_sort {
  FS_SORT_PLANNED,
  FS_SORT_HEAD,       /* by the longest path to the item, in ticks */
  FS_SORT_TAIL,       /* by the longest path from it, the longest first */
  FS_SORT_EARLY_STEP, /* as HEAD, counted in items */
  FS_SORT_LATE_STEP,  /* as TAIL, counted in items */
  FS_BLOCK_SORTS
} fs_block_sort;

/* Items whose key is equal keep their planned order.  Requires room for all items, and a sort.
 * Complexity: O(items + edges).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_sort_items(fsched_context *ctx, const fs_block_problem *p, fs_block_sort sort,
                              uint32_t *order) FS_MUST_USE;

/* Items before each on the longest path to it; with `late` as many as it can have without making
 * the longest path of all longer.  *n is one more than the largest.  Requires room for all items.
 * Complexity: O(items + edges).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_count_steps(fsched_context *ctx, const fs_block_problem *p, bool late,
                               uint32_t *step, uint32_t *n) FS_MUST_USE;

#endif
