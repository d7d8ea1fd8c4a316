/* SPDX-License-Identifier: Apache-2.0 */
/* Moves single items between phases while that shortens the phases. */
#ifndef FS_BLOCK_REFINE_H
#define FS_BLOCK_REFINE_H

#include "block/orders.h"

/* Requires and ensures a phase per item as fs_phases_assign gives; the sum over the phases of the
 * longest queue in each does not grow.  Does nothing if phases times queues are too many.
 * Complexity: O(edges + items * (64 + queues)) a round, of which there are at most six.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_phases_refine(fsched_context *ctx, const fs_orders *o, uint32_t *phase) FS_MUST_USE;

#endif
