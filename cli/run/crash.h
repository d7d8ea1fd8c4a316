/* SPDX-License-Identifier: Apache-2.0 */
/* The last word of a program that a kernel of a module has ended: by a signal (a fault, the end of
 * its stack, abort) or by exit.  One line names the op; then the process ends by that signal, or
 * with status 6.  What a kernel does by _exit is beyond that. */
#ifndef FS_CLI_CRASH_H
#define FS_CLI_CRASH_H

#include <stdbool.h>

#include "fsched/exec.h"

/* From now on, in this process; `json`: the line is an object. */
void fs_crash_watch(bool json);
/* For fsched_device_options.kernel_runs. */
void fs_crash_kernel(void *user, const fsched_kernel_run *run);

#endif
