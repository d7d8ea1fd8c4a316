/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in kernels, and the pseudo-random content that they use.
 *
 * A kernel is a pure function of its name, its values and the bytes of its `in` and `inout` args
 * to the bytes of its `out`, `inout` and `out_existing` args.  `mix` reads all inputs before it
 * writes, so that an output may take the place of an input. */
#ifndef FS_EXEC_KERNEL_H
#define FS_EXEC_KERNEL_H

#include "fsched/graph.h"
#include "fsched/kernel.h"
#include "model/stream/members.h"

typedef fsched_kernel_arg fs_kernel_arg;
typedef fsched_kernel_call fs_kernel_call; /* of scratch args, only data and length are used */

typedef enum fs_builtin { FS_BUILTIN_MIX, FS_BUILTIN_NOP, FS_BUILTIN_COPY, FS_BUILTINS } fs_builtin;

/* How many args only read, write, and do both. */
typedef struct fs_tag_counts {
  uint32_t ins, written, read_too;
} fs_tag_counts;
void fs_count_tag(fs_tag_counts *counts, unsigned tag);
/* Counts args of the stream. */
fs_tag_counts fs_count_tags(const fs_stream *s, fs_stream_member args);

/* FS_BUILTINS when no built-in kernel has that name.  Requires a name. */
fs_builtin fs_builtin_find(const char *name);
/* The shape of a view of a stream.  Requires at most FSCHED_MAX_DIMS dimensions. */
fsched_kernel_view fs_kernel_view(const fs_stream_view *v);
/* The shapes of an op's or member's args, of which `room` has one each; NULL: all are ranges.
 * Requires args of the stream. */
const fsched_kernel_view *fs_kernel_views(const fs_stream *s, fs_stream_member args,
                                          fsched_kernel_view *room);
/* The same of args of loops' ops. */
const fsched_kernel_view *fs_kernel_loop_views(const fs_stream *s, fs_stream_member args,
                                               fsched_kernel_view *room);
/* NULL if the kernel can be called with these args, else a description of the args that it wants.
 * Requires a kernel of the list. */
const char *fs_builtin_refusal(fs_builtin kernel, const fs_tag_counts *args);

/* Runs the kernel.  Requires a kernel of the list. */
void fs_builtin_run(fs_builtin kernel, const fs_kernel_call *call);
/* Digest of the present content of the args that the kernel has written; nop writes none.  Requires
 * a kernel of the list, or FS_BUILTINS for another one. */
uint64_t fs_builtin_digest(fs_builtin kernel, const fs_kernel_call *call);

/* Hash of n bytes; depends on every byte and its position.  It does not resist an adversary. */
uint64_t fs_hash_bytes(uint64_t seed, const void *data, uint64_t n);
/* Fills n bytes with words that depend on seed and position. */
void fs_fill_bytes(uint64_t seed, void *data, uint64_t n);
/* The seed with which mix begins for an op of that name and these parameters. */
uint64_t fs_kernel_seed(const char *op, const void *params, uint64_t n_params);
/* The same for a member with args of its own, from the op's seed. */
uint64_t fs_member_seed(uint64_t seed, uint32_t member);
/* Fills in the given content of the buffer of that name. */
void fs_fill_given(const char *buffer, void *data, uint64_t n);
/* The same for bytes [begin, end) alone, at their offsets from `data`.  Requires begin <= end. */
void fs_fill_given_range(const char *buffer, void *data, uint64_t begin, uint64_t end);

#endif
