/* SPDX-License-Identifier: Apache-2.0 */
/* Strided views for kernels on a device.
 *
 * Our own kernels find a record in their call for each arg that is a view; a kernel of a module
 * gets a fsched_kernel_view by value, as a parameter of its own behind the arg's address. */
#ifndef FS_EXEC_CUDA_VIEWS_H
#define FS_EXEC_CUDA_VIEWS_H

#include "exec/cuda/kernels/call.h"
#include "exec/host/kernel.h"

/* The words that the description of a view takes among the parameters of a module's kernel. */
enum { FS_CUDA_VIEW_WORDS = sizeof(fsched_kernel_view) / 8 };

/* Args of the stream, or of its loops' ops. */
typedef struct fs_cuda_args {
  uint32_t arg0, n_args;
  bool loops;
} fs_cuda_args;

static inline bool fs_cuda_args_known(const fs_stream *s, fs_cuda_args args) {
  uint32_t n = args.loops ? s->n_loop_args : s->n_args;
  return args.arg0 <= n && args.n_args <= n - args.arg0;
}

/* The view of the i-th of these args, or NULL: a range.  Requires an arg of them. */
const fs_stream_view *fs_cuda_view_of(const fs_stream *s, fs_cuda_args args, uint32_t i);
/* How many of these args are views.  Requires args of the stream.  O(args log views). */
uint32_t fs_cuda_count_views(const fs_stream *s, fs_cuda_args args);
/* Says where the parameters of a module's kernel are: the args in order, each view with its
 * description behind it, and the block of parameters, if it has one.  `word` has the args; the
 * descriptions and then the block are written behind them.  `param` has a pointer for each of them.
 * Returns the words used. */
uint64_t fs_cuda_point_params(const fs_stream *s, fs_cuda_args args, const void *block,
                              uint32_t block_words, uint64_t *word, void **param);
/* Writes the records of those of a call's args that are views to `room`, which lies behind the
 * call, and makes their lengths, so far from the first byte to behind the last one, those of their
 * elements.  Requires args of the stream, `room` of as many records as there are views. */
void fs_cuda_call_views(const fs_stream *s, fs_cuda_args args, fs_cuda_call *call,
                        fs_cuda_view *room);

#endif
