/* SPDX-License-Identifier: Apache-2.0 */
/* What pictures, traces and explanations say of an op beside its times and queues: how many bytes
 * of parameters its kernel gets, its strided views, and in loops its members.
 *
 *     3 bytes of parameters; in a as 8x8 of 4 by 64x4; member 1 out_existing c as 2x3 by 8x1 + 32i
 */
#ifndef FS_DRAW_PARTS_H
#define FS_DRAW_PARTS_H

#include "model/graph.h"
#include "model/stream/stream.h"

/* So many views of an op are written out; the others are counted. */
enum { FS_PARTS_LISTED = 8 };

/* The text, in the arena; *out is NULL if there is nothing to say.  Complexity: O(args).  Requires
 * an op of the graph.  Errors: FSCHED_SYSTEM. */
fs_status fs_parts_of_graph(fs_arena *arena, const fsched_graph *g, uint32_t op,
                            const char **out) FS_MUST_USE;
/* The same of an op of a stream.  Complexity: O(args log views).  Requires an op of the stream. */
fs_status fs_parts_of_stream(fs_arena *arena, const fs_stream *s, uint32_t op,
                             const char **out) FS_MUST_USE;

/* The same of ops of loops that stay loops, where views may move with the iterations: of the body
 * of one of the graph's rolled ones, and of one of the stream's loop_ops.  Requires such an op. */
fs_status fs_parts_of_body(fs_arena *arena, const fsched_graph *g, uint32_t loop, uint32_t op,
                           const char **out) FS_MUST_USE;
fs_status fs_parts_of_loop_op(fs_arena *arena, const fs_stream *s, uint32_t op,
                              const char **out) FS_MUST_USE;

#endif
