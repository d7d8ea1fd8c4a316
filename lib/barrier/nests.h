/* SPDX-License-Identifier: Apache-2.0 */
/* The physical barriers of loops that stay loops, numbered from 0.
 *
 * A nest is a loop that is in no other one, with those in it; its guards have barriers side by
 * side, which are their own while it runs.  Nests share barriers where the waits say that all
 * commands of the one are complete before any of the other starts: no order is added for that. */
#ifndef FS_BARRIER_NESTS_H
#define FS_BARRIER_NESTS_H

#include "model/sync.h"

typedef struct fs_barrier_nests {
  uint64_t held;   /* barriers of all of them */
  uint64_t *first; /* per loop of the graph that stays one: its first barrier */
} fs_barrier_nests;

/* pred: per wait of `sync`, the item that is waited for.  The result lives in `arena`.
 * Each nest is put, in the order of the schedule, at the first place that no nest has with which it
 * may run at once.  Requires waits.
 * Complexity: O(nests * (nests log nests + commands + waits)), of which the second factor is
 * limited: beyond that nests count as not ordered.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_barrier_nests_place(fs_arena *arena, const fs_schedule *s, const fs_sync *sync,
                                 const uint32_t *pred, fs_barrier_nests *out) FS_MUST_USE;

#endif
