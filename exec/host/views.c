/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stream/views.h"
#include "exec/host/kernel.h"

_Static_assert(sizeof(((fsched_kernel_view *)NULL)->shape) == FSCHED_MAX_DIMS * sizeof(uint64_t),
               "as many dimensions");
fsched_kernel_view fs_kernel_view(const fs_stream_view *v) {
  assert(v->n_dims <= FSCHED_MAX_DIMS);
  fsched_kernel_view out = {.n_dims = v->n_dims, .element = v->element};
  memcpy(out.shape, v->shape, sizeof v->shape);
  memcpy(out.strides, v->stride, sizeof v->stride);
  return out;
}

const fsched_kernel_view *fs_kernel_loop_views(const fs_stream *s, fs_stream_member args,
                                               fsched_kernel_view *room) {
  assert(args.arg0 <= s->n_loop_args);
  bool some = false;
  for (uint32_t i = 0; i < args.n_args && s->n_loop_views > 0; i++) {
    const fs_stream_view *v = fs_stream_loop_view_of(s, args.arg0 + i);
    room[i] = v == NULL ? (fsched_kernel_view){0} : fs_kernel_view(v);
    some = some || v != NULL;
  }
  return some ? room : NULL;
}

const fsched_kernel_view *fs_kernel_views(const fs_stream *s, fs_stream_member args,
                                          fsched_kernel_view *room) {
  assert(args.arg0 <= s->n_args);
  bool some = false;
  for (uint32_t i = 0; i < args.n_args && s->n_views > 0; i++) {
    const fs_stream_view *v = fs_stream_view_of(s, args.arg0 + i);
    room[i] = v == NULL ? (fsched_kernel_view){0} : fs_kernel_view(v);
    some = some || v != NULL;
  }
  return some ? room : NULL;
}
