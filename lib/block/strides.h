/* SPDX-License-Identifier: Apache-2.0 */
/* Where to cut an order of issue by syncs, when queues are given and lengths of phases are not the
 * work of the busiest queue: with counting queues, gangs, and plan orders. */
#ifndef FS_BLOCK_STRIDES_H
#define FS_BLOCK_STRIDES_H

#include "block/problem.h"

/* As fs_block_cut (cuts.h), but phases are walked as the machine walks them, so that their lengths
 * are the true ones if the answer keeps `order` in them.  Phases of more than STEPS / items + 1
 * items are not tried.
 * Complexity: O(items + STEPS * (predecessors an item)).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_stride(fsched_context *ctx, const fs_block_problem *p, const uint32_t *order,
                          fs_block_answer *a) FS_MUST_USE;

#endif
