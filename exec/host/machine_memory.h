/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process can have: the least of what the machine has, what the control groups
 * that it is in allow (version 1 and 2, each up to the root), and its own limits on address space
 * and data.  What cannot be read counts as no limit. */
#ifndef FS_EXEC_MACHINE_MEMORY_H
#define FS_EXEC_MACHINE_MEMORY_H

#include "base/base.h"

/* Bytes; 2^36 when nothing is known. */
uint64_t fs_machine_memory(void);
/* The same with /proc and /sys below `root`, a name without a slash at its end. */
uint64_t fs_machine_memory_at(const char *root);

#endif
