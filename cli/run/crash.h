/* SPDX-License-Identifier: Apache-2.0 */
/* The last message of a program that the kernel of a module ends: by a signal (a fault, a stack
 * overflow, abort), by exit or by quick_exit.  One line names the op, or, if the thread runs no op,
 * all ops whose kernels run; then the process ends by that signal, or with status 6.  A kernel that
 * calls _exit is not noticed.  A child made by fork may end in any way without a message, but if
 * the kernel returns in it, the child is reported and ended. */
#ifndef FS_CLI_CRASH_H
#define FS_CLI_CRASH_H

#include <stdbool.h>

#include "fsched/exec.h"

/* Watches this process from now on; `json`: the line is a JSON object. */
void fs_crash_watch(bool json);
/* The calling thread, which may be a kernel's, gets a stack for signals. */
void fs_crash_thread(void);
/* For fsched_device_options.kernel_runs; `run` is NULL when the kernel has returned. */
void fs_crash_kernel(void *user, const fsched_kernel_run *run);

#endif
