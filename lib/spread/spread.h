/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses apart: queues that are independent of each other do not take each other's places where
 * the capacity allows it.
 *
 * Whoever finds a schedule takes the room that fits best.  In the plan that costs nothing; but the
 * stream must hold for all durations, so the item that takes a place waits for all that used it
 * before, and a queue may so wait for one that it has nothing to do with.  This pass gives the
 * residencies of contiguous memories new addresses, at the times that they have: bytes whose last
 * users are known to be over anyway, else bytes that nobody has used, else those of the fewest
 * users.  So it takes more of a memory only where that leaves out a wait.
 *
 * Where syncs stop everything, queues do not wait for each other, and nothing changes. */
#ifndef FS_SPREAD_H
#define FS_SPREAD_H

#include "model/access.h"
#include "model/kinds.h"
#include "model/sync.h"

/* Whether fs_spread_run looks for addresses at all: *may is false where queues do not wait for each
 * other, no residency is in a memory whose addresses may change, or the limit of steps is too low
 * for one walk over the items.  O(residencies).  Errors: FSCHED_SYSTEM. */
fs_status fs_spread_may(fsched_context *ctx, const fs_schedule *s, fs_sync_kind kind,
                        bool *may) FS_MUST_USE;

/* *found: there are other addresses, with few orders of reuse as far as this search knows orders
 * (those of resources and lanes it does not); they are then in address[], which has room for all
 * residencies.  Those of states stay, and all in memories that are backing stores or are placed by
 * other rules.  The schedule is only read.  Requires an order of all items, accesses of this
 * schedule, and that fs_spread_may allows it.
 * Complexity: O((items + edges) * queues + residencies * pieces of their memories), up to a limit
 * of steps (limit.h): beyond it nothing is found.  Determinism: a function of the schedule.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_spread_run(fsched_context *ctx, const fs_schedule *s, const fs_accesses *acc,
                        uint64_t *address, bool *found) FS_MUST_USE;

/* Counts the control edges of reuse that order what neither queues nor edges, nor other control
 * edges, order; the count ends once it is above `most`.  Requires the positions of control edges.
 * O((items + edges) * queues). Errors: FSCHED_SYSTEM. */
fs_status fs_spread_count(fsched_context *ctx, const fs_schedule *s, const fs_sync *y,
                          uint64_t most, uint64_t *orders) FS_MUST_USE;

#endif
