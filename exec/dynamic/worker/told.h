/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker says, on standard error, of a child process that a kernel has made by fork and in
 * which it returns: the child has no one to tell, and ends.  Only what may be called there is. */
#ifndef FS_DYNAMIC_WORKER_TOLD_H
#define FS_DYNAMIC_WORKER_TOLD_H

#include <sys/types.h>

#include "fsched/exec.h"

/* The kernel of a program that the worker runs. */
typedef struct fs_told_kernel {
  const fsched_kernel_run *runs; /* NULL: none */
  pid_t process;                 /* in which it has begun */
} fs_told_kernel;

/* As the option kernel_runs; `user` is an fs_told_kernel. */
void fs_told_kernel_runs(void *user, const fsched_kernel_run *run);
/* The same of a task that is no op of a program, in its child. */
void fs_told_task_returns(const fsched_kernel_call *call);

#endif
