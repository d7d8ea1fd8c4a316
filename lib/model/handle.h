/* SPDX-License-Identifier: Apache-2.0 */
/* What users hold of a compiled schedule: fsched_schedule of fsched/compile.h.  Stages know nothing
 * of it: they are given the schedule, and the synchronisation that they need or fill. */
#ifndef FS_HANDLE_H
#define FS_HANDLE_H

#include "model/sync.h"

struct fsched_schedule {
  fs_schedule *schedule;
  fs_sync *sync; /* NULL: the schedule was read from a file */
};

/* A handle that owns both.  Errors: FSCHED_SYSTEM, and they stay the caller's. */
fs_status fs_handle_create(fs_schedule *schedule, fs_sync *sync, fsched_schedule **out) FS_MUST_USE;

#endif
