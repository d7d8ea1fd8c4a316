/* SPDX-License-Identifier: Apache-2.0 */
/* The carrier (carrier.h) whose workers are processes.
 *
 * All share one mapping (mapping.h): the memory of the user, and a mailbox for each worker.  What
 * the scheduler knows stays here.  A worker sleeps on a futex of its mailbox until a member comes,
 * and tells of its end by an event descriptor; one thread of this process waits for that, and for
 * the deaths of workers on their pidfds.
 *
 * Workers are forked while this process has one thread, so that all kernels are there; else each is
 * a program of its own (serve.h), which has the built-in kernels and those of modules.
 *
 * A worker that dies fails the member that it had.  One that was forked is lost; for another one a
 * new one is started, unless it died before it was ready.  A worker ends when this process does.
 *
 * Needs Linux 5.3 (pidfd_open).  No handler of signals is set, and no child waited for but these.
 */
#ifndef FS_DYNAMIC_PROCESS_H
#define FS_DYNAMIC_PROCESS_H

#include "exec/dynamic/carrier/carrier.h"

typedef struct fs_process_options {
  bool spawns;         /* also where workers could be forked */
  const char *program; /* path of the workers' program; NULL: fsched-worker, beside this program or
                          in PATH */
} fs_process_options;

/* Errors, reported: FSCHED_USAGE: functions of the application, and workers cannot be forked;
 * FSCHED_REPLAY: a kernel cannot be opened; FSCHED_SYSTEM: no memory, no threads, no processes. */
fs_status fs_carrier_processes(fsched_context *ctx, const fs_carrier_options *options,
                               const fs_process_options *process, fs_carrier **out) FS_MUST_USE;

#endif
