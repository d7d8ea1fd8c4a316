/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of dynamic runs, in the form of those of replays (trace.h): one process, a thread for each
 * queue, and a slice for each member of a task.  Nothing was planned, so there are no arrows.
 *
 * Ensures what trace.h says of slices: they last a nanosecond at least, and those of a queue do not
 * overlap.  O(n log n) for n members. */
#ifndef FS_TRACE_TASKS_H
#define FS_TRACE_TASKS_H

#include "base/context.h"

typedef struct fs_trace_task {
  const char *name;
  uint32_t queue, member;
  bool group;          /* it is a member of a group */
  uint64_t begin, end; /* ns; below 2^63 */
} fs_trace_task;

typedef struct fs_trace_task_list {
  const char *program;
  uint32_t n_queues, n;
  const char *const *queue;  /* their names */
  const fs_trace_task *task; /* of each queue in the order of their begins */
} fs_trace_task_list;

/* The text is released with fsched_text_free.  Times count from the first begin.  Requires queues,
 * if there are tasks.  Errors: FSCHED_SYSTEM. */
fs_status fs_trace_tasks(fsched_context *ctx, const fs_trace_task_list *list, char **text,
                         size_t *length) FS_MUST_USE;

#endif
