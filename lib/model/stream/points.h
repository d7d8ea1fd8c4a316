/* SPDX-License-Identifier: Apache-2.0 */
/* The predecessors of each command beyond queue order, for every kind of sync, as waits for epochs
 * of queue and collective axes.  They serve code that walks a stream or replays it on timelines.
 *
 *   timeline  the stream's own waits;
 *   barrier   the last producer per queue of all barriers that the command waits for, even if that
 *             producer updates other barriers too, as a machine waits for whole commands; and,
 *             separately, gates: commands that must have started before this one (the last
 *             consumers per queue of the barriers that had its barriers' physical ids before);
 *   block     the epochs that the syncs since the queue's previous command have waited for and that
 *             the queue has not waited for before.
 *
 * A point says that all commands of a queue up to an epoch are over, so where commands are slow,
 * and barriers tell of one alone, it may ask for more than the machine does.
 *
 * Points that the order of the command's own queue implies are left out; points that contradict it
 * are included.
 *
 * Requires a stream that fs_stream_check has accepted.
 * Complexity: O(commands + waits), barrier O((waits + updates) * queues) at most, block
 * O(commands * queues) at most. */
#ifndef FS_STREAM_POINTS_H
#define FS_STREAM_POINTS_H

#include "base/mem.h"
#include "model/stream/stream.h"

typedef struct fs_points {
  const uint32_t *point0;      /* CSR per command, n_commands + 1 */
  const fs_stream_wait *point; /* ascending by axis */
  const uint32_t *gate0;       /* CSR per command; all empty unless barrier */
  const uint32_t *gate;        /* commands that start no later, ascending */
} fs_points;

/* The arrays live in `arena`, or are the stream's.  Errors: FSCHED_SYSTEM. */
fs_status fs_stream_points_find(fs_arena *arena, const fs_stream *s, fs_points *out) FS_MUST_USE;

#endif
