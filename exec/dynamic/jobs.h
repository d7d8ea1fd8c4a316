/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: what a task of the workers is made of, from its submission to its end.  Each is one block,
 * with the calls of its members, their args and views, the scratch, the parameters and the name. */
#ifndef FS_DYNAMIC_JOBS_H
#define FS_DYNAMIC_JOBS_H

#include "exec/dynamic/workers.h"

typedef struct fs_task_job {
  struct fs_task_job *next, *previous; /* for the user */
  size_t bytes;
  uint32_t kernel, n_members;
  fs_dynamic_task task;       /* for the user */
  size_t traced;              /* for the user */
  fsched_kernel_call *call;   /* of each member */
  fs_dynamic_where *where;    /* room for what the engine tells of the args, values left out, and
                                 of the scratch */
  fsched_kernel_arg *scratch; /* of all members */
} fs_task_job;

/* Makes the job of a task; where its args are is filled in later.  Errors: FSCHED_BAD_INPUT: values
 * out of place, too large a block of parameters; FSCHED_SYSTEM.  All reported. */
fs_status fs_task_job_make(fsched_context *ctx, const fs_workers_task *task,
                           fs_task_job **out) FS_MUST_USE;
/* Fills in where args and scratch are, once the task is submitted; `heap` is where each of the
 * heaps begins.  Requires the task of the job. */
void fs_task_job_fill(fs_task_job *job, const fs_dynamic *e, const fs_workers_task *task,
                      unsigned char *const *heap);
void fs_task_job_drop(fsched_context *ctx, fs_task_job *job);

#endif
