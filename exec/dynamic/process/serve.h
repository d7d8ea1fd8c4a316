/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is a worker, from its first step to its end. */
#ifndef FS_DYNAMIC_SERVE_H
#define FS_DYNAMIC_SERVE_H

#include "exec/dynamic/carrier/kernels.h"
#include "exec/dynamic/process/mapping.h"

/* Exit statuses of workers besides 0: it could not begin, which its outbox says more of; its
 * mailbox was damaged. */
enum { FS_WORKER_UNREADY = 121, FS_WORKER_DAMAGED = 122 };
/* The descriptors that the program gets; its args are the number of the worker and its host's id.
 */
enum { FS_WORKER_MAPPING_FD = 3, FS_WORKER_BELL_FD = 4 };

typedef struct fs_worker_post {
  fs_shared_mapping mapping;
  uint32_t worker;
  int bell;     /* the event descriptor that tells of ends */
  int64_t host; /* the process that it works for, by its id */
} fs_worker_post;

/* Makes the process a worker: closes what it does not need, resets signals, lets libraries use one
 * thread (OMP_NUM_THREADS and the like, unless they are set), and ends with its host from now on.
 * False: it could not; its outbox says why.  Requires a worker of the mapping, and a process with
 * one thread. */
bool fs_worker_settle(const fs_worker_post *post);
/* Runs what comes, until it is told to end; leaves by _exit.  Requires a settled process. */
_Noreturn void fs_worker_serve(fsched_context *ctx, const fs_worker_post *post,
                               const fs_opened_kernels *kernels);
/* Says why a worker cannot begin, and leaves. */
_Noreturn void fs_worker_give_up(const fs_worker_post *post, const char *why);
/* The same, where a kernel of the table is not there. */
_Noreturn void fs_worker_lack_kernel(const fs_worker_post *post, const char *why);

#endif
