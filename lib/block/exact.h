/* SPDX-License-Identifier: Apache-2.0 */
/* The best answer to a small problem, by dynamic programming over sets of items. */
#ifndef FS_BLOCK_EXACT_H
#define FS_BLOCK_EXACT_H

#include "block/problem.h"

enum { FS_EXACT_ITEMS = 12, FS_EXACT_QUEUES = 64 };

/* Is the problem small and plain enough? */
bool fs_block_exact_can(const fs_block_problem *p);
/* Gives queues and phases of the least measure, of equal ones those with the fewest syncs.  If the
 * division of a phase among queues is not settled within a number of nodes, the best one that was
 * found is taken.  Requires a problem that is small and plain enough, and an answer with room.
 * Complexity: O(3^items), and at most 2^items * NODES.  Errors: FSCHED_SYSTEM. */
fs_status fs_block_exact(fsched_context *ctx, const fs_block_problem *p,
                         fs_block_answer *a) FS_MUST_USE;

#endif
