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

/* How many of these args are views.  Requires args of the stream.  O(args log views). */
uint32_t fs_cuda_count_views(const fs_stream *s, fs_stream_member args);
/* Writes the records of those of a call's args that are views to `room`, which lies behind the
 * call, and makes their lengths, so far from the first byte to behind the last one, those of their
 * elements.  Requires args of the stream, `room` of as many records as there are views. */
void fs_cuda_call_views(const fs_stream *s, fs_stream_member args, fs_cuda_call *call,
                        fs_cuda_view *room);

#endif
