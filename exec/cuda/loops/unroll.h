/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in a CUDA graph, which has nodes for every call of every instance. */
#ifndef FS_EXEC_CUDA_LOOP_UNROLL_H
#define FS_EXEC_CUDA_LOOP_UNROLL_H

#include "exec/cuda/graph.h"

enum { FS_CUDA_UNROLLED = 16384 }; /* the most calls in a graph, and runs of loops in loops */

/* Refuses, as FSCHED_USAGE, loops that have more, and those whose trips are parameters.
 * O(loops + their ops). */
fs_status fs_cuda_unroll_check(fsched_context *ctx, const fs_stream *s) FS_MUST_USE;
/* Counts the calls and lists those that the watch looks at, with room for them.  Requires what
 * fs_cuda_unroll_check has accepted, and a slot's walks.
 * Errors: FSCHED_REPLAY when instances wait for each other, told to ctx. */
fs_status fs_cuda_unroll_make(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
/* Writes the calls of all instances to where the host stages them. */
void fs_cuda_unroll_calls(fs_instance *x);
/* Makes room for adding loops to a graph.  False: poisoned. */
bool fs_cuda_unroll_begin(fs_cuda_graph_maker *m) FS_MUST_USE;
/* Begins the part that a queue of the stream has in a loop, behind what is at hand; adds all
 * instances of the loop, once its parts have begun; begins what comes behind a part.  Loops come in
 * the order of items, and all of them do.  False: poisoned.  Require room; the second one a command
 * that is a loop.  O(instances and their waits). */
bool fs_cuda_unroll_enter(fs_cuda_graph_maker *m, uint32_t queue) FS_MUST_USE;
bool fs_cuda_unroll_add(fs_cuda_graph_maker *m, uint32_t command) FS_MUST_USE;
bool fs_cuda_unroll_leave(fs_cuda_graph_maker *m, uint32_t queue) FS_MUST_USE;
/* The most nodes that an instance can come after.  O(commands in loops). */
uint32_t fs_cuda_unroll_most_after(const fs_stream *s);

#endif
