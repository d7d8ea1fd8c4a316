/* SPDX-License-Identifier: Apache-2.0 */
/* Phases by the number of items on the longest path, so that no edge lies inside of a phase. */
#ifndef FS_BLOCK_LEVELS_H
#define FS_BLOCK_LEVELS_H

#include "block/problem.h"

typedef enum fs_block_level_rule {
  FS_LEVELS_EARLY,        /* by the path to the item, on the schedule's queues */
  FS_LEVELS_LATE,         /* by the path from it */
  FS_LEVELS_EARLY_CHOSEN, /* as EARLY, and queues are chosen: in each phase the longest item first,
                             on the least loaded queue */
  FS_LEVELS_LATE_CHOSEN,  /* as LATE, and queues are chosen in the same way */
  FS_LEVEL_RULES
} fs_block_level_rule;

/* Fills an answer.  Where queues are not open, or phases times queues are too many, those of the
 * schedule are taken by all rules.  Requires a rule, and an answer with room.
 * Complexity: O(items + edges), and O((items + CELLS) log) where queues are chosen.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_block_level(fsched_context *ctx, const fs_block_problem *p, fs_block_level_rule rule,
                         fs_block_answer *a) FS_MUST_USE;

#endif
