/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in kernels, and the pseudo-random content they are made of.
 *
 * A kernel is a pure function of its name, its values and the bytes of its `in` and `inout` args
 * to the bytes of its `out`, `inout` and `out_existing` args.  `mix` reads everything before it
 * writes anything, so that an output may take the place of an input. */
#ifndef FS_EXEC_KERNEL_H
#define FS_EXEC_KERNEL_H

#include "fsched/graph.h"
#include "fsched/kernel.h"
#include "model/stream/stream.h"

typedef fsched_kernel_arg fs_kernel_arg;
typedef fsched_kernel_call fs_kernel_call; /* of scratch data and length alone count */

typedef enum fs_builtin { FS_BUILTIN_MIX, FS_BUILTIN_NOP, FS_BUILTIN_COPY, FS_BUILTINS } fs_builtin;

/* FS_BUILTINS when there is none of that name.  Requires a name. */
fs_builtin fs_builtin_find(const char *name);
/* Whether the kernel can be called with these args; NULL, or what it wants instead.  Requires a
 * kernel of the list. */
const char *fs_builtin_refusal(fs_builtin kernel, const fs_stream_arg *args, uint32_t n_args);

/* Runs the kernel.  Requires a kernel of the list. */
void fs_builtin_run(fs_builtin kernel, const fs_kernel_call *call);
/* Digest of what is now in the args that the kernel has written; nop writes nothing.  Requires a
 * kernel of the list, or FS_BUILTINS for another one. */
uint64_t fs_builtin_digest(fs_builtin kernel, const fs_kernel_call *call);

/* Hash of n bytes; every byte and its position count.  Not for adversaries. */
uint64_t fs_hash_bytes(uint64_t seed, const void *data, uint64_t n);
/* Fills n bytes with words that depend on seed and position. */
void fs_fill_bytes(uint64_t seed, void *data, uint64_t n);
/* With which mix begins, for an op of that name. */
uint64_t fs_kernel_seed(const char *op);
/* Given content of the buffer of that name. */
void fs_fill_given(const char *buffer, void *data, uint64_t n);
/* Its bytes [begin, end), in their places from `data` on.  Requires begin <= end. */
void fs_fill_given_range(const char *buffer, void *data, uint64_t begin, uint64_t end);

#endif
