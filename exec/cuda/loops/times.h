/* SPDX-License-Identifier: Apache-2.0 */
/* When instances of loops run, for traces: of those that are shown (model/shown.h), each of them is
 * between two events.  Their number does not depend on how often loops run.  Where times are not
 * wanted there are none, and nothing is looked up. */
#ifndef FS_EXEC_CUDA_LOOP_TIMES_H
#define FS_EXEC_CUDA_LOOP_TIMES_H

#include "exec/cuda/cuda.h"

/* Makes the events that the invocation at hand may need; on streams none is recorded yet.  False:
 * poisoned.  Requires that it wants times of instances. */
bool fs_cuda_times_make(fs_instance *x) FS_MUST_USE;
/* A graph is made anew, in which no event is recorded yet. */
void fs_cuda_times_clear(fs_instance *x);
/* A run of a loop begins, in that instance; NULL: it is in none.  O(commands of the loop around).
 */
void fs_cuda_times_enter(fs_instance *x, const fs_stream_loop *loop,
                         const fs_loop_instance *around);
/* The pair of events of an instance; FS_NONE: it is not shown.  Of each instance this is asked
 * once, in the order in which the queues of its loop come to it.  O(commands of the loop). */
uint32_t fs_cuda_times_take(fs_instance *x, const fs_loop_instance *at);
/* Of a run of a loop whose runs are joined, and of members with args of their own: the pair of the
 * part that a command is, which fs_cuda_times_take was asked for last; FS_NONE: it is not shown. */
static inline uint32_t fs_cuda_times_part(const fs_instance *x, uint32_t loop_command) {
  return x->built.instances ? x->loops.times.slot[loop_command] : FS_NONE;
}
/* The events of a pair: the first one is to be recorded when the instance begins, the second one
 * when it ends.  Requires a pair that there is room for. */
static inline fs_cu_event fs_cuda_times_event(const fs_instance *x, uint32_t pair, bool end) {
  assert(pair < x->loops.times.n);
  return x->loops.times.event[2 * (size_t)pair + end];
}
/* Where a thread notes one of the times of a pair, in place of its event.  Requires a pair that
 * there is room for. */
static inline uint64_t *fs_cuda_times_noted(const fs_instance *x, uint32_t pair, bool end) {
  assert(pair < x->loops.times.n);
  return &x->loops.times.noted[2 * (size_t)pair + end];
}
/* Records an event of a pair on a stream, unless the pair is FS_NONE.  False: poisoned. */
bool fs_cuda_times_record(fs_instance *x, uint32_t pair, bool end, fs_cu_stream stream) FS_MUST_USE;

#endif
