/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of modules that hang in loops, and instances that wait for each other. */
#ifndef FS_EXEC_CUDA_LOOP_WATCH_H
#define FS_EXEC_CUDA_LOOP_WATCH_H

#include "exec/cuda/cuda.h"

/* Makes what the watch of a slot needs.  Requires n_streams. */
fs_status fs_cuda_loops_watch_make(fs_instance *x) FS_MUST_USE;
/* Notes that a record's instance is over. */
void fs_cuda_loops_over(fs_instance *x, const fs_cuda_record *record);
/* Tells the core which instances wait for each other, and poisons.  Requires a walk at its end with
 * instances left, and what its instances have in common.  Returns false. */
bool fs_cuda_loop_stuck(fs_instance *x, fs_loop_walk *walk, const fs_loop_instance *like);

#endif
