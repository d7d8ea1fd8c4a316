/* SPDX-License-Identifier: Apache-2.0 */
/* How long a loop takes on a target of block syncs, where a sequencer issues its commands. */
#ifndef FS_ISSUED_H
#define FS_ISSUED_H

#include "model/rolled.h"

typedef struct fs_issued_time {
  uint64_t span;     /* of all iterations, from the first start to the last end; ticks */
  uint64_t num, den; /* of many iterations each takes num / den ticks */
} fs_issued_time;

/* Follows the sequencer over up to 2^14 commands; of a longer run the rest goes on as these repeat
 * themselves, or else as the last half of them did.  `time` and `latency` are of members.
 * Requires an issued loop.
 * Complexity: O((2^14 + commands * shifts) * (1 + stops / commands * queues)).
 * Errors: FSCHED_SYSTEM. */
fs_status fs_issued_run(fsched_context *ctx, const fs_rolled_loop *r, const uint64_t *time,
                        const uint64_t *latency, uint64_t trip, fs_issued_time *out) FS_MUST_USE;

/* As fs_rolled_follow, of an issued loop. */
fs_status fs_issued_follow(fs_arena *arena, const fs_rolled_loop *r, const uint64_t *time,
                           const uint64_t *latency, uint64_t trip,
                           fs_rolled_starts *out) FS_MUST_USE;

/* The steps in which some command of an issued loop runs an iteration: the first so many.
 * Complexity: O(commands). */
uint64_t fs_issued_steps(const fs_rolled_loop *r, uint64_t trip);

#endif
