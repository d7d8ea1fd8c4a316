/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers instead of waits, for targets with sync: barrier.
 *
 * Requires fs_ctrledge_run and fs_waits_run with sync->kind FS_SYNC_BARRIER: the waits are the
 * orders that barriers have to give.
 * Ensures: the rest of the barrier part of `sync` is filled; new orders are control edges
 * (FS_WHY_BARRIER), and where there are new orders or gates, the schedule has new times
 * (lib/model/retime.h).  Frontiers and the counts of waits are unchanged.
 * Errors: FSCHED_INFEASIBLE, reported, when the bound cannot be kept (barrier.h), an op with a
 * given start would be late, or the published method would deadlock; FSCHED_SYSTEM. Complexity:
 * that of fs_barriers_assign. */
#ifndef FS_BARRIER_PASS_H
#define FS_BARRIER_PASS_H

#include "model/sync.h"

typedef struct fs_barrier_options {
  uint32_t bound; /* physical barriers, at least 1; FS_BARRIERS_AUTO: as few as need no new order */
  uint32_t slots; /* of each, at least 1; FS_NONE: without limit */
  bool published; /* use the published construction, for comparison; requires a bound */
} fs_barrier_options;

fs_status fs_barrier_run(fsched_context *ctx, fs_schedule *s, const fs_barrier_options *options,
                         fs_sync *sync) FS_MUST_USE;

#endif
