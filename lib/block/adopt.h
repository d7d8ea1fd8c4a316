/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a schedule the queues and times of an answer, and takes them back. */
#ifndef FS_BLOCK_ADOPT_H
#define FS_BLOCK_ADOPT_H

#include "block/problem.h"

/* What an answer changes in a schedule. */
typedef struct fs_saved_schedule {
  fs_tick *start, *end, *res_begin, *res_end;
  uint64_t *res_address, *res_size;
  uint32_t *queue, *order;
  uint32_t *res_version, *res_op, *res_memory;
  uint32_t *arg_residency, *scratch_residency, *copy_residency, *copy_store;
  fs_tick makespan;
} fs_saved_schedule;

/* The arrays live in `arena`.  Requires an order of all items.  Errors: FSCHED_SYSTEM. */
fs_status fs_schedule_save(fs_arena *arena, const fs_schedule *s,
                           fs_saved_schedule *out) FS_MUST_USE;
/* Requires what fs_schedule_save gave for this schedule. */
void fs_schedule_restore(fs_schedule *s, const fs_saved_schedule *from);

/* Puts queues, starts and order of an answer into the schedule.  The lanes and control edges of
 * `sync` stay right, its commands do not.  Requires a filled answer, and control edges that hold
 * for any queues.  Complexity: O((items + control edges + accesses) log).
 * Errors: FSCHED_SYSTEM. */
fs_status fs_block_adopt(fsched_context *ctx, fs_schedule *s, fs_sync *sync,
                         const fs_block_answer *a) FS_MUST_USE;

/* Items by start, those of equal starts as in `order`.  Requires an order of n items, and room.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_block_by_start(fsched_context *ctx, const uint32_t *order, const fs_tick *start,
                            uint32_t n, uint32_t *out) FS_MUST_USE;

#endif
