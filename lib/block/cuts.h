/* SPDX-License-Identifier: Apache-2.0 */
/* Where to cut an order of issue by syncs, when queues are given. */
#ifndef FS_BLOCK_CUTS_H
#define FS_BLOCK_CUTS_H

#include "block/problem.h"

/* Gives phases to the items of `order`, which are consecutive in it, so that the sum of the phases'
 * lengths and of the syncs' cost is least; a length is the work of the busiest queue.  Phases of
 * more than STEPS / items + 1 items are not tried.
 * Requires an order in which edges go forward, and queues; the answer's own order may be `order`.
 * Complexity: O(edges + items + STEPS).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_cut(fsched_context *ctx, const fs_block_problem *p, const uint32_t *order,
                       fs_block_answer *a) FS_MUST_USE;

#endif
