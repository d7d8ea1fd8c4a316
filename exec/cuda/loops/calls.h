/* SPDX-License-Identifier: Apache-2.0 */
/* What an instance of a loop is for the device: its call, its launch, and how long it is held back.
 * Streams and graphs both run instances so.
 *
 * An instance has one call, but of an op whose members have args of their own one for each: an
 * instance at hand then stands for the call of the member that its command is. */
#ifndef FS_EXEC_CUDA_LOOP_CALLS_H
#define FS_EXEC_CUDA_LOOP_CALLS_H

#include "exec/cuda/cuda.h"
#include "model/stream/members.h"

/* Makes room for one instance at a time, and for how long ops are held back.  Requires a stream
 * with loops, and the most loops around an op.  O(commands and args in loops). */
fs_status fs_cuda_calls_make(fs_instance *x, uint32_t depth) FS_MUST_USE;
/* Which of its op's calls each command in a loop is.  O(commands in loops). */
fs_status fs_cuda_calls_number(fs_arena *arena, const fs_stream *s, uint32_t **call_of) FS_MUST_USE;
/* Whether the members of an instance's op run side by side, each with a call of its own.  Requires
 * an instance of the stream. */
static inline bool fs_cuda_calls_apart(const fs_stream *s, const fs_loop_instance *at) {
  assert(at->op < s->n_loop_ops);
  return s->loop_ops[at->op].n_members > 1;
}
/* Whether it is the last call of its instance, in the order of commands.  Requires room. */
static inline bool fs_cuda_call_last(const fs_instance *x, const fs_loop_instance *at) {
  assert(x->loops.call_of != NULL);
  return x->loops.call_of[at->loop_command] + 1 == fs_loop_op_calls(&x->s->loop_ops[at->op]);
}
/* Adds the digest of a call, and with the last one that of its instance to that of its outermost
 * loop.  Calls of an instance come one after the other.  Requires room. */
void fs_cuda_call_over(fs_instance *x, const fs_loop_instance *at, uint64_t digest);
/* Writes an instance's call, which puts its digest at that address, into x->loops.call_bytes.
 * Requires that the slot's host memory is there. */
void fs_cuda_call_write(fs_instance *x, const fs_loop_instance *at, fs_cu_address digest,
                        fs_cuda_call *call);
/* The launch of an instance whose call is at that address, for the memories that are built for.  It
 * lasts until the next one.  Requires an op that is no loop. */
void fs_cuda_call_launch(fs_instance *x, const fs_loop_instance *at, fs_cu_address call,
                         fs_cuda_launch *out);
/* The launch that adds up what the instance has written; as above.  False: it is not wanted. */
bool fs_cuda_call_digest(fs_instance *x, fs_cu_address call, fs_cuda_launch *out);
/* The launch that holds the instance back; as above.  False: nothing does. */
bool fs_cuda_call_pace(fs_instance *x, const fs_loop_instance *at, fs_cuda_launch *out);

#endif
