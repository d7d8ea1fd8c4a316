/* SPDX-License-Identifier: Apache-2.0 */
/* Where to cut an order by syncs, when queues are to be chosen too. */
#ifndef FS_BLOCK_GROUPS_H
#define FS_BLOCK_GROUPS_H

#include "block/problem.h"

enum { FS_GROUP_QUEUES = 64 };

/* Can queues be chosen by groups? */
bool fs_block_groups_can(const fs_block_problem *p);
/* Gives queues and phases to the items of `order`, which are consecutive in it, so that the sum of
 * the phases' lengths and of the syncs' cost is least, and fills the answer.  A phase's groups,
 * which edges connect, are put on the least loaded eligible queue, the longest first.  Phases are
 * as long as a number of steps allows.  Requires an order in which edges go forward, and that
 * queues can be chosen by groups. Complexity: O(edges + STEPS).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_group(fsched_context *ctx, const fs_block_problem *p, const uint32_t *order,
                         fs_block_answer *a) FS_MUST_USE;

#endif
