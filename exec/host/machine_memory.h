/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process can have: the least of the machine's memory, the limits of its
 * control groups (version 1 and 2, each up to the root), and its own limits on address space and
 * data.  A value that cannot be read counts as no limit. */
#ifndef FS_EXEC_MACHINE_MEMORY_H
#define FS_EXEC_MACHINE_MEMORY_H

#include "base/base.h"

/* Bytes; 2^36 when no limit is known. */
uint64_t fs_machine_memory(void);
/* The same with /proc and /sys below `root`, a path without a slash at its end. */
uint64_t fs_machine_memory_at(const char *root);

#endif
