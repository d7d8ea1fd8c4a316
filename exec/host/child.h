/* SPDX-License-Identifier: Apache-2.0 */
/* A child process that a kernel has made by fork and returned in.  It has this one thread, which
 * runs in the middle of what is its parent's: there is nothing to go back to, and nobody to tell.
 */
#ifndef FS_EXEC_CHILD_H
#define FS_EXEC_CHILD_H

#include <stdint.h>

/* Ends the process, by _exit with FSCHED_REPLAY, if it is not the one of that birth (process.h). */
void fs_child_end(uint64_t birth);

#endif
