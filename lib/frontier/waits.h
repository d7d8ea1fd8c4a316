/* SPDX-License-Identifier: Apache-2.0 */
/* Commands, epochs, waits, signals, scopes and stored frontiers from a schedule and its control
 * edges. */
#ifndef FS_WAITS_H
#define FS_WAITS_H

#include "sync.h"

/* Requires fs_ctrledge_run.  Fills the rest of `sync`.
 * Complexity: O((commands + edges) * axes known).  Errors: FSCHED_SYSTEM. */
fs_status fs_waits_run(fsched_context *ctx, const fsched_schedule *s, fs_sync *sync) FS_MUST_USE;

#endif
