/* SPDX-License-Identifier: Apache-2.0 */
/* Local search: moves single items between queues and phases. */
#ifndef FS_BLOCK_MOVES_H
#define FS_BLOCK_MOVES_H

#include "block/problem.h"

/* Moves items of a filled answer while that lessens the sum of the phases' lengths (the work of the
 * busiest queue of each) and of the syncs' cost, or evens out loads at no cost, and fills the
 * answer anew.  Does nothing if phases times queues are too many.  Requires a filled answer.
 * Complexity: O(edges + items * places * log queues) a round; a place is a queue in a phase; no
 * more than ROUNDS rounds and STEPS steps.  Errors: FSCHED_SYSTEM. */
fs_status fs_block_move(fsched_context *ctx, const fs_block_problem *p,
                        fs_block_answer *a) FS_MUST_USE;

#endif
