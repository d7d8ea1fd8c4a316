/* SPDX-License-Identifier: Apache-2.0 */
/* Gives new starts to a schedule whose queues keep their order.
 *
 * Requires new starts per item that respect queue order, edges of the graph, copies' data and all
 * control edges of `sync` (`from` ends before `to` starts), and an order of all items in which
 * these hold and starts never decrease.
 * Ensures: starts, ends, order, the times of residencies and the makespan are updated, and so are
 * the parts of `sync` that depend on the order (position, the order of control edges).  Commands
 * keep their ids, and places their addresses.  The result is a schedule as in lib/model/schedule.h.
 * Complexity: O((items + control edges + accesses) log). */
#ifndef FS_RETIME_H
#define FS_RETIME_H

#include "model/sync.h"

fs_status fs_retime(fsched_context *ctx, fs_schedule *s, fs_sync *sync, const fs_tick *start,
                    const uint32_t *order) FS_MUST_USE;

#endif
