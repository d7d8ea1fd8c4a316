/* SPDX-License-Identifier: Apache-2.0 */
/* In which order the ops of a program are evaluated when there are no queues: in program order.
 * With raw hazards `after` may name an op that comes later, and overwrites what this one reads:
 * then in an order of the edges, in which each op comes as soon as program order lets it.
 *
 * Requires a program without races, so that all such orders have one result; of one whose edges
 * go in a circle, any order.
 * Ensures: *order has all ops, in `arena`, or is NULL for program order.
 * Errors: FSCHED_SYSTEM.  Complexity: O((args + edges) log args). */
#ifndef FS_EXEC_REFERENCE_ORDER_H
#define FS_EXEC_REFERENCE_ORDER_H

#include "base/mem.h"
#include "model/stream/stream.h"

fs_status fs_reference_order(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                             uint32_t **order) FS_MUST_USE;

#endif
