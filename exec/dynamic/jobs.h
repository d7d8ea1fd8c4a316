/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: what a task of the workers is made of, from its submission to its end.  Each is one block,
 * with the args and views of its members, the scratch, the parameters and the name.
 * Small blocks are kept for further jobs. */
#ifndef FS_DYNAMIC_JOBS_H
#define FS_DYNAMIC_JOBS_H

#include "exec/dynamic/workers.h"

typedef struct fs_task_job {
  struct fs_task_job *next, *previous; /* for the user */
  size_t bytes;
  fs_dynamic_task task; /* for the user */
  size_t traced;        /* for the user */
  uint32_t kernel, n_members;
  bool group, once;
  fsched_kernel_arg *arg;     /* of all members, one after the other; the calls point to them, */
  fsched_kernel_view *view;   /* to their views (NULL: all are ranges), */
  fsched_kernel_arg *scratch; /* and to what all members share */
  fsched_kernel_call *call;   /* of each member, the first one alone with `once` */
  fsched_kernel_call only;
} fs_task_job;

/* Blocks that are not used, by their size in steps of FS_JOB_STEP bytes; at most FS_JOB_KEPT. */
enum { FS_JOB_STEP = 128, FS_JOB_SIZES = 8, FS_JOB_KEPT = 8192 };
typedef struct fs_task_jobs {
  fsched_context *ctx;
  fs_task_job *unused[FS_JOB_SIZES + 1];
  uint32_t n_unused;
} fs_task_jobs;
void fs_task_jobs_release(fs_task_jobs *jobs);

/* Makes the job of a task; where its args are is filled in later.  Errors: FSCHED_BAD_INPUT: values
 * out of place, too large a block of parameters; FSCHED_SYSTEM.  All reported. */
fs_status fs_task_job_make(fs_task_jobs *jobs, const fs_workers_task *task,
                           fs_task_job **out) FS_MUST_USE;
/* Fills in where args and scratch are, once the task is submitted: `where` is what the engine tells
 * of them, `heap` where each of the heaps begins.  Requires the task of the job. */
void fs_task_job_fill(fs_task_job *job, const fs_workers_task *task, unsigned char *const *heap,
                      const fs_dynamic_where *where);
void fs_task_job_drop(fs_task_jobs *jobs, fs_task_job *job);

#endif
