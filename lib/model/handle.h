/* SPDX-License-Identifier: Apache-2.0 */
/* The users' handle of a compiled schedule: fsched_schedule of fsched/compile.h.  Stages do not see
 * it: they get the schedule, and the synchronisation that they need or fill. */
#ifndef FS_HANDLE_H
#define FS_HANDLE_H

#include "model/sync.h"

struct fsched_schedule {
  fs_schedule *schedule;
  fs_sync *sync; /* NULL: the schedule was read from a file */
};

/* Makes a handle that owns both.  Errors: FSCHED_SYSTEM; the caller then still owns both. */
fs_status fs_handle_create(fs_schedule *schedule, fs_sync *sync, fsched_schedule **out) FS_MUST_USE;

#endif
