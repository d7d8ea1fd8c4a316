/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which the ops of a program are evaluated without queues: program order.  With raw
 * hazards, `after` may name a later op, which overwrites bytes that this op reads.  Then the order
 * follows the edges, and places each op as early as program order allows.
 *
 * Requires a program without races, so that all such orders have one result; a program with a cycle
 * of edges gets any order.
 * Ensures: *order lists all ops, in `arena`, or is NULL for program order.
 * Errors: FSCHED_SYSTEM.  Complexity: O((args + edges) log args). */
#ifndef FS_EXEC_REFERENCE_ORDER_H
#define FS_EXEC_REFERENCE_ORDER_H

#include "base/mem.h"
#include "model/stream/stream.h"

fs_status fs_reference_order(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                             uint32_t **order) FS_MUST_USE;

#endif
