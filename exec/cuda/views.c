/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/cuda/views.h"

#include "model/stream/views.h"

_Static_assert(sizeof(((fs_cuda_view *)NULL)->shape) == FSCHED_MAX_DIMS * sizeof(uint64_t),
               "as many dimensions");
_Static_assert(sizeof(fsched_kernel_view) == 96, "what fsched-run(1) says of it");

const fs_stream_view *fs_cuda_view_of(const fs_stream *s, fs_cuda_args args, uint32_t i) {
  assert(fs_cuda_args_known(s, args) && i < args.n_args);
  if (args.loops) {
    return s->n_loop_views == 0 ? NULL : fs_stream_loop_view_of(s, args.arg0 + i);
  }
  return s->n_views == 0 ? NULL : fs_stream_view_of(s, args.arg0 + i);
}

uint32_t fs_cuda_count_views(const fs_stream *s, fs_cuda_args args) {
  uint32_t n = 0;
  assert(fs_cuda_args_known(s, args));
  for (uint32_t i = 0; i < args.n_args; i++) {
    n += fs_cuda_view_of(s, args, i) != NULL;
  }
  return n;
}

uint64_t fs_cuda_point_params(const fs_stream *s, fs_cuda_args args, const void *block,
                              uint32_t block_words, uint64_t *word, void **param) {
  assert(fs_cuda_args_known(s, args));
  uint64_t used = args.n_args;
  for (uint32_t i = 0; i < args.n_args; i++) {
    const fs_stream_view *v = fs_cuda_view_of(s, args, i);
    *param++ = &word[i];
    if (v != NULL) {
      fsched_kernel_view shape = fs_kernel_view(v);
      memcpy(&word[used], &shape, sizeof shape);
      *param++ = &word[used];
      used += FS_CUDA_VIEW_WORDS;
    }
  }
  if (block_words > 0) {
    memcpy(&word[used], block, (size_t)block_words * 8);
    *param = &word[used];
  }
  return used + block_words;
}

/* The record of a view; innermost elements that touch become one. */
static fs_cuda_view make_record(const fs_stream_view *v, uint64_t span) {
  fs_cuda_view out = {.element = v->element, .span = span, .n_dims = v->n_dims};
  for (; out.n_dims > 0 && v->stride[out.n_dims - 1] == out.element; out.n_dims--) {
    out.element *= v->shape[out.n_dims - 1];
  }
  for (uint32_t d = 0; d < out.n_dims; d++) {
    out.shape[d] = v->shape[d];
    out.stride[d] = v->stride[d];
  }
  return out;
}

static uint64_t bytes_of(const fs_cuda_view *v) {
  uint64_t n = v->element;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    n *= v->shape[d];
  }
  return n;
}

void fs_cuda_call_views(const fs_stream *s, fs_cuda_args args, fs_cuda_call *call,
                        fs_cuda_view *room) {
  fs_cuda_arg *arg = (fs_cuda_arg *)(call + 1);
  assert((const uint8_t *)room >= (const uint8_t *)(arg + call->n_args + call->n_scratch));
  assert(args.n_args == call->n_args);
  for (uint32_t i = 0; i < args.n_args; i++) {
    const fs_stream_view *v = fs_cuda_view_of(s, args, i);
    if (v != NULL) {
      *room = make_record(v, arg[i].length);
      arg[i].length = bytes_of(room);
      arg[i].view = (uint64_t)((const uint8_t *)room - (const uint8_t *)call);
      room++;
    }
  }
}
