/* SPDX-License-Identifier: Apache-2.0 */
/* Control edges: the orderings that reuse of memory, resources and concurrency lanes needs. */
#ifndef FS_CTRLEDGE_H
#define FS_CTRLEDGE_H

#include "model/sync.h"

/* `reuse` says which reuse to order; NULL: all reuse.
 * Fills the control_*, lane, position and data arrays of `sync` (arena initialised, schedule set).
 * Requires an order of all items, and a `sync` that has nothing of it, or with lanes_stay all of
 * it.  Complexity: O((n + E) log n).  Errors: FSCHED_SYSTEM. */
fs_status fs_ctrledge_run(fsched_context *ctx, const fs_schedule *s, const fs_reuse *reuse,
                          fs_sync *sync) FS_MUST_USE;

#endif
