/* SPDX-License-Identifier: Apache-2.0 */
/* fsched_verify_schedule for stages and the pipeline, which have no handle of the schedule. */
#ifndef FS_VERIFY_SCHEDULE_VERIFY_H
#define FS_VERIFY_SCHEDULE_VERIFY_H

#include "model/sync.h"

/* Proves that the schedule is right for the graph and, unless `sync` is NULL, that it keeps the
 * control edges of `sync`.  Errors and complexity as of fsched_verify_schedule. */
fs_status fs_verify_schedule(fsched_context *ctx, const fsched_graph *graph,
                             const fs_schedule *schedule, const fs_sync *sync) FS_MUST_USE;
/* Whether the schedule is right for its graph; nothing is reported but a lack of memory. */
fs_status fs_schedule_is_right(fsched_context *ctx, const fs_schedule *s, bool *right) FS_MUST_USE;
/* The units of progress that fs_verify_schedule counts. */
uint64_t fs_verify_schedule_work(const fs_schedule *s);

#endif
