/* SPDX-License-Identifier: Apache-2.0 */
/* fsched_verify_schedule for stages and the pipeline, which hold no handle of the schedule. */
#ifndef FS_VERIFY_SCHEDULE_VERIFY_H
#define FS_VERIFY_SCHEDULE_VERIFY_H

#include "model/sync.h"

/* Proves the schedule right for the graph, and that it keeps the control edges of `sync`, where
 * that is not NULL.  Errors and complexity as of fsched_verify_schedule. */
fs_status fs_verify_schedule(fsched_context *ctx, const fsched_graph *graph,
                             const fs_schedule *schedule, const fs_sync *sync) FS_MUST_USE;
/* Units of progress that it counts. */
uint64_t fs_verify_schedule_work(const fs_schedule *s);

#endif
