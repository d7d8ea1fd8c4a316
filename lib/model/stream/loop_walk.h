/* SPDX-License-Identifier: Apache-2.0 */
/* The instances of a loop in an order that its queues and waits allow, one after the other.  The
 * commands of a gang come at once, as one of them. */
#ifndef FS_LOOP_WALK_H
#define FS_LOOP_WALK_H

#include "base/mem.h"
#include "model/stream/stream.h"

typedef struct fs_loop_walk {
  const fs_stream *s;
  const fs_stream_loop *loop;
  uint64_t trip;          /* iterations of this walk */
  uint64_t *step, *steps; /* per queue of the loop: the present one, and how many there are */
  uint32_t *at;           /* per queue: the command within the step */
  uint64_t *done;         /* per command of the loop: its iterations so far */
  uint32_t *members;      /* per command of the stream's loops: the commands of its gang, or 1 */
  uint32_t queue;         /* the queue that goes on */
  uint64_t left;          /* instances that have not come */
} fs_loop_walk;

/* Makes room for walks over any loop of a stream.  Requires a stream that fs_stream_check has
 * accepted.  Errors: FSCHED_SYSTEM. */
fs_status fs_loop_walk_make(fs_arena *arena, const fs_stream *s, fs_loop_walk *out) FS_MUST_USE;
/* Begins a walk over so many iterations of a loop.  O(its commands). */
void fs_loop_walk_begin(fs_loop_walk *w, const fs_stream_loop *loop, uint64_t trip);
/* The next instance: a command of the stream's loop_commands, and its iteration.  False: there is
 * none, or, if some are left, those wait for each other.  O(commands) at most, and O(1) on the
 * average where queues wait seldom.  Requires a walk that has begun. */
bool fs_loop_walk_next(fs_loop_walk *w, uint32_t *command, uint64_t *iteration);

/* An instance that waits for ever, and the one that it waits for, which is of the same run of the
 * loop; `on` is FS_NONE where it waits for another member of its gang. */
typedef struct fs_loop_stuck {
  uint32_t command, on;
  uint64_t iteration, on_iteration;
} fs_loop_stuck;
/* Requires a walk that has come to its end with instances left.  O(commands). */
fs_loop_stuck fs_loop_walk_stuck(fs_loop_walk *w);

#endif
