/* SPDX-License-Identifier: Apache-2.0 */
/* The last word of a program that a kernel of a module has ended: by a signal (a fault, the end of
 * its stack, abort), by exit or by quick_exit.  One line names the op, or all ops whose kernels run
 * if a thread does it that runs none; then the process ends by that signal, or with status 6.  What
 * a kernel does by _exit is beyond that.  A child by fork may end as it likes, in silence; but one
 * in which the kernel returns is named, and ended. */
#ifndef FS_CLI_CRASH_H
#define FS_CLI_CRASH_H

#include <stdbool.h>

#include "fsched/exec.h"

/* From now on, in this process; `json`: the line is an object. */
void fs_crash_watch(bool json);
/* For fsched_device_options.kernel_runs; `run` is NULL in a child that is about to end. */
void fs_crash_kernel(void *user, const fsched_kernel_run *run);

#endif
