/* SPDX-License-Identifier: Apache-2.0 */
/* A child process that a kernel has made by fork, and in which the kernel has returned.  The child
 * has one thread, which is in the middle of its parent's work: it has no caller to go back to, and
 * no core to report to. */
#ifndef FS_EXEC_CHILD_H
#define FS_EXEC_CHILD_H

#include <stdint.h>

/* Ends the process, by _exit with FSCHED_REPLAY, if its birth (process.h) is another one. */
void fs_child_end(uint64_t birth);

#endif
