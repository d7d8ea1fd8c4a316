/* SPDX-License-Identifier: Apache-2.0 */
/* Control edges: the orderings that reuse of memory, resources and concurrency lanes needs. */
#ifndef FS_CTRLEDGE_H
#define FS_CTRLEDGE_H

#include "sync.h"

/* Memories that sync->loose names take part only where an output takes its input's place.
 * With sync->lanes_stay lanes and edges that are there stay, and edges of places are added.
 * Fills the control_*, lane, position and data arrays of `sync` (arena initialised, schedule set).
 * Complexity: O((n + E) log n).  Errors: FSCHED_SYSTEM. */
fs_status fs_ctrledge_run(fsched_context *ctx, const fsched_schedule *s, fs_sync *sync) FS_MUST_USE;

#endif
