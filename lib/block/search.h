/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for answers of small measure. */
#ifndef FS_BLOCK_SEARCH_H
#define FS_BLOCK_SEARCH_H

#include "block/problem.h"

/* Answers of different makespans or numbers of syncs, the best first. */
typedef struct fs_block_answers {
  uint32_t n, most;
  fs_block_answer *at; /* `most` with room */
} fs_block_answers;

/* Makes room for `most` answers.  Requires most > 0.  Errors: FSCHED_SYSTEM. */
fs_status fs_block_answers_new(fs_arena *arena, const fs_block_problem *p, uint32_t most,
                               fs_block_answers *out) FS_MUST_USE;

/* `phase`: the phases of the schedule's own queues with the fewest syncs.  Requires room.  Ensures
 * that there is an answer, all are filled, and the measure of the first is no more than that of
 * `phase`.  Errors: FSCHED_SYSTEM. */
fs_status fs_block_search(fsched_context *ctx, const fs_block_problem *p, const uint32_t *phase,
                          fs_block_answers *best) FS_MUST_USE;

#endif
