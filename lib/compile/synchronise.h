/* SPDX-License-Identifier: Apache-2.0 */
/* The passes from a schedule to its waits, for callers outside the pipeline. */
#ifndef FS_COMPILE_SYNCHRONISE_H
#define FS_COMPILE_SYNCHRONISE_H

#include "model/handle.h"

/* Control edges and waits of a schedule that was read from a file.  Requires (unchecked: the
 * caller has verified it) that it is right (fsched_verify_schedule).  Requires no synchronisation
 * yet; the handle then owns it.  Errors: FSCHED_SYSTEM. */
fs_status fs_schedule_synchronise(fsched_schedule *s) FS_MUST_USE;
/* An fs_sync_fn; frontiers are left to fs_frontiers_run.  Requires that control edges and waits
 * were made before.  Errors: FSCHED_SYSTEM. */
fs_status fs_sync_again(fs_schedule *s, fs_sync *sync, const fs_reuse *reuse) FS_MUST_USE;

#endif
