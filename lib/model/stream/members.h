/* SPDX-License-Identifier: Apache-2.0 */
/* Gangs whose members have args of their own. */
#ifndef FS_STREAM_MEMBERS_H
#define FS_STREAM_MEMBERS_H

#include "model/stream/stream.h"

/* How many arg lists the command's op has for its members: 0 for a copy, and where there is one
 * list for all. */
static inline uint32_t fs_command_members(const fs_stream *s, const fs_stream_command *c) {
  FS_ASSERT_SLOW(!fs_command_has_op(c) || c->target < s->n_ops);
  return fs_command_has_op(c) ? s->ops[c->target].n_members : 0;
}
/* How often the op's kernel is called, and the args of a call: one for each member that has args of
 * its own, else one with all args. */
static inline uint32_t fs_op_calls(const fs_stream_op *op) {
  return op->n_members == 0 ? 1 : op->n_members;
}
/* Requires a call of an op of the stream. */
static inline fs_stream_member fs_op_call_args(const fs_stream *s, const fs_stream_op *op,
                                               uint32_t call) {
  FS_ASSERT_SLOW(call < fs_op_calls(op));
  return op->n_members == 0 ? (fs_stream_member){op->arg0, op->n_args}
                            : s->members[op->member0 + call];
}
/* The same of an op of a loop's body. */
static inline uint32_t fs_loop_op_calls(const fs_stream_loop_op *op) {
  return op->n_members == 0 ? 1 : op->n_members;
}
static inline fs_stream_member fs_loop_op_call_args(const fs_stream *s, const fs_stream_loop_op *op,
                                                    uint32_t call) {
  FS_ASSERT_SLOW(call < fs_loop_op_calls(op));
  return op->n_members == 0 ? (fs_stream_member){op->arg0, op->n_args}
                            : s->loop_members[op->member0 + call];
}
/* Which member of its op a command is.  O(log queues).  Requires a command whose op has members. */
uint32_t fs_stream_member_of(const fs_stream *s, uint32_t command);
/* The args that a command runs with: its member's, or the op's.  Requires a command that runs an
 * op. */
fs_stream_member fs_stream_args_of(const fs_stream *s, uint32_t command);

#endif
