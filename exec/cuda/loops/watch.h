/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of modules that hang in loops, and instances that wait for each other. */
#ifndef FS_EXEC_CUDA_LOOP_WATCH_H
#define FS_EXEC_CUDA_LOOP_WATCH_H

#include "exec/cuda/cuda.h"

/* Makes what the watch of a slot needs.  Requires n_streams. */
fs_status fs_cuda_loops_watch_make(fs_instance *x) FS_MUST_USE;
/* What runs when an instance does. */
fs_running fs_cuda_loop_running(const fs_instance *x, const fs_loop_instance *at);
/* Notes that the instance of a record of the slot is over. */
void fs_cuda_loops_over(fs_instance *x, const fs_cuda_record *record);

enum { FS_CUDA_STUCK_TEXT = 800 };
/* Says which instances wait for each other.  Requires a walk at its end with instances left, and
 * what those have in common. */
void fs_cuda_loop_stuck_text(const fs_instance *x, fs_loop_walk *walk, const fs_loop_instance *like,
                             char text[FS_CUDA_STUCK_TEXT]);

#endif
