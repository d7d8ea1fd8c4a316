/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for an answer of small measure. */
#ifndef FS_BLOCK_SEARCH_H
#define FS_BLOCK_SEARCH_H

#include "block/problem.h"

/* `phase`: the phases of the schedule's own queues with the fewest syncs.  Requires an answer with
 * room.  Ensures that `best` is filled, and its measure no more than that of `phase`.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_block_search(fsched_context *ctx, const fs_block_problem *p, const uint32_t *phase,
                          fs_block_answer *best) FS_MUST_USE;

#endif
