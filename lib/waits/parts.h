/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of commands whose slots are split over several barriers.
 *
 * To a waiting command, such a command is as many producers as it updates barriers: it is over when
 * all of them are complete.  When only some are known to be complete, it is known only to have
 * begun.  A queue knows that a barrier is complete when a command of it waits for the barrier, or
 * for another one of which a producer knew it when it began.
 *
 * So besides its clock each queue, and each barrier for those who wait for it, has a list: the
 * complete barriers of which a part of some command is not known to be over.  As soon as all parts
 * of a barrier's commands are, it leaves the list, for the clock says as much. */
#ifndef FS_FRONTIER_PARTS_H
#define FS_FRONTIER_PARTS_H

#include "model/sync.h"
#include "waits/slow.h"

typedef FS_VEC(uint32_t) fs_part_list;

typedef struct fs_parts {
  fsched_context *ctx;
  const fs_sync *sync;
  fs_clocks *clocks;
  const fs_slow_axes *slow;
  uint32_t n_queues;
  uint32_t *queue;        /* per command */
  uint32_t *part0, *part; /* CSR per barrier: the commands that update others besides */
  fs_part_list *known;    /* per queue: barriers */
  fs_part_list *brought;  /* per barrier: barriers that its producers knew to be complete */
  uint32_t *mark, stamp;  /* per barrier */
} fs_parts;

/* Release it after a failure too.  Requires commands that are numbered, and their barriers. */
fs_status fs_parts_init(fs_parts *t, fsched_context *ctx, fs_arena *arena, const fs_slow_axes *slow,
                        fs_clocks *clocks) FS_MUST_USE;
void fs_parts_release(fs_parts *t);

/* Requires a command. */
static inline bool fs_parts_split(const fs_sync *y, uint32_t command) {
  assert(command < y->n_commands);
  return y->barrier_update0[command + 1] - y->barrier_update0[command] > 1;
}
/* The command waits for its barriers, whose clocks are in *clock by now: raises it by the split
 * commands that are known to be over.  Requires a command. */
fs_status fs_parts_learn(fs_parts *t, uint32_t command, fs_clock *clock) FS_MUST_USE;
/* After fs_parts_learn: the command hands its queue's list on to the barriers that it updates.
 * Requires a command. */
fs_status fs_parts_hand_on(fs_parts *t, uint32_t command) FS_MUST_USE;
/* Drops the list of a barrier that no command waits for any more.  Requires a barrier. */
void fs_parts_forget(fs_parts *t, uint32_t barrier);

#endif
