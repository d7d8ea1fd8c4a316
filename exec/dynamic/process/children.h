/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of workers: their beginning, and their end as it is found. */
#ifndef FS_DYNAMIC_CHILDREN_H
#define FS_DYNAMIC_CHILDREN_H

#include <sys/types.h>

#include "exec/dynamic/process/serve.h"

typedef struct fs_worker_child {
  pid_t pid;
  int pidfd; /* -1: there is no process */
} fs_worker_child;

/* Whether this process has one thread; if that cannot be found out, it has more. */
bool fs_child_can_fork(void);
/* 0, or an errno. */
int fs_child_fork(fsched_context *ctx, const fs_worker_post *post, const fs_opened_kernels *kernels,
                  fs_worker_child *out);
/* Starts a program; without a '/' it is looked for in PATH.  0, or an errno. */
int fs_child_spawn(const fs_worker_post *post, const char *program, fs_worker_child *out);
/* Waits for the end of a child, and describes it: "has been killed by signal 9".  Requires a
 * process. */
void fs_child_reap(fs_worker_child *c, char *text, size_t room);
/* Kills it; it is still to be reaped.  Nothing happens where there is none. */
void fs_child_kill(const fs_worker_child *c);

#endif
