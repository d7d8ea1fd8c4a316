/* SPDX-License-Identifier: Apache-2.0 */
/* New starts for a schedule whose queues keep their order.
 *
 * Requires new starts per item that respect queue order, edges of the graph, copies' data and all
 * control edges of `sync` (from over before to starts), and an order of all items in which these
 * hold and starts never decrease.
 * Ensures: starts, ends, order, the times of residencies and the makespan are the new ones; what of
 * `sync` depends on the order (position, the order of control edges) is made anew; commands keep
 * their ids, places their addresses.  The result is a schedule as lib/model/schedule.h says.
 * Complexity: O((items + control edges + accesses) log). */
#ifndef FS_RETIME_H
#define FS_RETIME_H

#include "model/sync.h"

fs_status fs_retime(fsched_context *ctx, fs_schedule *s, fs_sync *sync, const fs_tick *start,
                    const uint32_t *order) FS_MUST_USE;

#endif
