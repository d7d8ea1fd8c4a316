/* SPDX-License-Identifier: Apache-2.0 */
/* Control edges: the orderings that reuse of memory, resources and concurrency lanes needs. */
#ifndef FS_CTRLEDGE_H
#define FS_CTRLEDGE_H

#include "ctrledge/segments.h"
#include "model/sync.h"

/* What control edges rest on and no address changes, of one schedule and kind of sync. */
typedef struct fs_ctrledge_basis {
  fs_arena results; /* what a sync has of it */
  fs_arena scratch; /* the rest */
  fs_accesses acc;
  fs_segments segs;
  fs_lags lags;
  const fs_tick *over;              /* per item: when what it holds is free */
  uint32_t *in_memory0, *in_memory; /* CSR: segments by memory */
} fs_ctrledge_basis;

/* Requires an order of all items; `reuse` as below.  Complexity: O(n + E).  Errors: FSCHED_SYSTEM;
 * release in any case. */
fs_status fs_ctrledge_prepare(fsched_context *ctx, const fs_schedule *s, fs_sync_kind kind,
                              const fs_reuse *reuse, fs_ctrledge_basis *out) FS_MUST_USE;
/* Positions and data become those of the sync; then the basis serves for nothing but its release.
 * Requires a basis on which fs_ctrledge_run_on has run for this sync. */
void fs_ctrledge_hand_over(fs_ctrledge_basis *b, fs_sync *sync);
void fs_ctrledge_release(fs_ctrledge_basis *b);

/* As fs_ctrledge_run, on a basis of the schedule, whose addresses may have changed.  Positions and
 * data are those of the basis. */
fs_status fs_ctrledge_run_on(fsched_context *ctx, const fs_schedule *s, const fs_reuse *reuse,
                             const fs_ctrledge_basis *b, fs_sync *sync) FS_MUST_USE;

/* `reuse` says which reuse to order; NULL: all reuse.
 * Fills the control_*, lane, position and data arrays of `sync` (arena initialised, schedule set).
 * Requires an order of all items, and a `sync` that has nothing of it, or with lanes_stay all of
 * it.  Complexity: O((n + E) log n).  Errors: FSCHED_SYSTEM. */
fs_status fs_ctrledge_run(fsched_context *ctx, const fs_schedule *s, const fs_reuse *reuse,
                          fs_sync *sync) FS_MUST_USE;

#endif
