/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stream/views.h"

const fs_stream_view *fs_stream_view_of(const fs_stream *s, uint32_t arg) {
  assert(arg < s->n_args);
  uint32_t low = 0, high = s->args[arg].has_at ? s->n_views : 0;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->views[middle].arg < arg) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return s->args[arg].has_at && low < s->n_views && s->views[low].arg == arg ? &s->views[low]
                                                                             : NULL;
}

fs_view fs_stream_placed(const fs_stream_view *view, uint64_t offset) {
  fs_view v = {.offset = offset, .element = view->element, .n_dims = view->n_dims};
  _Static_assert(sizeof v.shape == sizeof view->shape, "as many dimensions");
  memcpy(v.shape, view->shape, sizeof v.shape);
  memcpy(v.stride, view->stride, sizeof v.stride);
  return v;
}

fs_view_runs fs_stream_pieces(const fs_stream *s, uint32_t arg, uint64_t base) {
  assert(arg < s->n_args && fs_tag_names_buffer(s->args[arg].tag));
  const fs_stream_arg *a = &s->args[arg];
  const fs_stream_view *view = fs_stream_view_of(s, arg);
  if (view == NULL) {
    return fs_view_range(base + a->offset, fs_max(a->length, 1));
  }
  fs_view placed = fs_stream_placed(view, base + a->offset);
  return fs_view_pieces_of(&placed);
}

bool fs_stream_coarse(const fs_stream *s, uint32_t arg) {
  assert(arg < s->n_args);
  const fs_stream_view *view = fs_stream_view_of(s, arg);
  if (view == NULL) {
    return false;
  }
  fs_view placed = fs_stream_placed(view, 0);
  fs_view_runs runs = fs_view_runs_of(&placed);
  return !fs_view_fine(&runs);
}
