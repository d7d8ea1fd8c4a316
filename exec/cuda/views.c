/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/cuda/views.h"

#include "model/stream/views.h"

_Static_assert(sizeof(((fs_cuda_view *)NULL)->shape) == FSCHED_MAX_DIMS * sizeof(uint64_t),
               "as many dimensions");
_Static_assert(sizeof(fsched_kernel_view) == 96, "what fsched-run(1) says of it");

uint32_t fs_cuda_count_views(const fs_stream *s, fs_stream_member args) {
  uint32_t n = 0;
  assert(args.arg0 <= s->n_args && args.n_args <= s->n_args - args.arg0);
  for (uint32_t i = 0; i < args.n_args && s->n_views > 0; i++) {
    n += fs_stream_view_of(s, args.arg0 + i) != NULL;
  }
  return n;
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

void fs_cuda_call_views(const fs_stream *s, fs_stream_member args, fs_cuda_call *call,
                        fs_cuda_view *room) {
  fs_cuda_arg *arg = (fs_cuda_arg *)(call + 1);
  assert((const uint8_t *)room >= (const uint8_t *)(arg + call->n_args + call->n_scratch));
  assert(args.arg0 <= s->n_args && args.n_args == call->n_args);
  for (uint32_t i = 0; i < args.n_args && s->n_views > 0; i++) {
    const fs_stream_view *v = fs_stream_view_of(s, args.arg0 + i);
    if (v != NULL) {
      *room = make_record(v, arg[i].length);
      arg[i].length = bytes_of(room);
      arg[i].view = (uint64_t)((const uint8_t *)room - (const uint8_t *)call);
      room++;
    }
  }
}
