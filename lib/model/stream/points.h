/* SPDX-License-Identifier: Apache-2.0 */
/* What comes before each command beyond queue order, whatever the kind of sync: as waits for epochs
 * of queue and collective axes, for those who walk a stream or replay it on timelines.
 *
 *   timeline  the stream's own waits;
 *   barrier   the last producer per queue of all barriers that the command waits for, even if that
 *             updates others too: a machine of whole commands can wait for no less; and, apart,
 *             what the machine holds it back for: commands that must have started before it does
 *             (the last consumer per queue of what its barriers' physical ids held before);
 *   block     what the syncs since the queue's previous command have waited for: epochs that the
 *             queue has not waited for before.
 *
 * What the order of the command's own queue gives is left out; what contradicts it is there.
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
