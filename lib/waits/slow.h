/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of commands where each tells of its own end, as with barriers, and some are slow.
 *
 * Without slow commands a queue is over up to a command when that one is.  A slow command lets the
 * queue go on before it is over, and a barrier that it updates tells of nobody else: so of a queue
 * it may be known that its 5th command is over while the 3rd, a slow one, still runs.  So in exact
 * clocks each slow command has an axis of its own, behind those of the queues, whose epoch of 1
 * says that it is over; and an epoch of a queue's axis tells of the quick commands up to there
 * alone, which are over one after the other.  Behind these there is an axis for each queue that
 * counts its first slow commands known to be over, so that nobody has to look at them again.
 *
 * An entry of a stored frontier still tells of all commands of a queue up to an epoch: the last one
 * up to which all are known. */
#ifndef FS_WAITS_SLOW_H
#define FS_WAITS_SLOW_H

#include "model/sync.h"
#include "waits/clock.h"

typedef struct fs_slow_axes {
  bool any; /* else each queue is over in the order of its commands, and has one axis */
  const fs_sync *sync;
  uint32_t n_queues, n;   /* slow commands */
  uint32_t *axis;         /* per command: that of a slow one, or FS_NONE */
  uint32_t *slow0, *slow; /* CSR per queue: its slow commands, ascending */
} fs_slow_axes;

/* Requires commands that are numbered.  `apart`: each command tells of its own end.  The arrays
 * live in `arena`.  Errors: FSCHED_SYSTEM.  O(commands). */
fs_status fs_slow_find(fs_arena *arena, const fs_sync *sync, bool apart,
                       fs_slow_axes *out) FS_MUST_USE;

/* The axes of clocks. */
static inline uint32_t fs_slow_count_axes(const fs_slow_axes *s) {
  return s->any ? 2 * s->n_queues + s->n : s->n_queues;
}
/* The entry of a clock that says that a command is over.  Requires a command, and where no command
 * is slow its queue. */
static inline fs_clock_entry fs_slow_entry(const fs_slow_axes *s, uint32_t command,
                                           uint32_t queue) {
  assert(queue < s->n_queues && command >= s->sync->queue_command0[queue]);
  if (s->any && s->axis[command] != FS_NONE) {
    return (fs_clock_entry){s->axis[command], 1};
  }
  return (fs_clock_entry){queue, command - s->sync->queue_command0[queue] + 1};
}
/* Counts the first slow commands of each queue that are known to be over in *clock, anew. Requires
 * a clock that is referred to.  O(queues with slow commands, and the commands that are counted). */
fs_status fs_slow_settle(const fs_slow_axes *s, fs_clocks *c, fs_clock *clock) FS_MUST_USE;
/* The epoch up to which all commands of a queue are known to be over.  Requires a queue, and a
 * clock that is settled. */
uint32_t fs_slow_known(const fs_slow_axes *s, const fs_clocks *c, fs_clock clock, uint32_t queue);

#endif
