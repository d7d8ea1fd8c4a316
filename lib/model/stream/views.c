/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stream/views.h"

static const fs_stream_view *find_view(const fs_stream_view *view, uint32_t n, uint32_t arg) {
  uint32_t low = 0, high = n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (view[middle].arg < arg) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < n && view[low].arg == arg ? &view[low] : NULL;
}

const fs_stream_view *fs_stream_view_of(const fs_stream *s, uint32_t arg) {
  assert(arg < s->n_args);
  return s->args[arg].has_at ? find_view(s->views, s->n_views, arg) : NULL;
}

const fs_stream_view *fs_stream_loop_view_of(const fs_stream *s, uint32_t arg) {
  assert(arg < s->n_loop_args);
  return find_view(s->loop_views, s->n_loop_views, arg);
}

fs_stream_view fs_stream_view_make(const fs_view *v, uint32_t arg) {
  assert(v->n_dims <= FSCHED_MAX_DIMS);
  fs_stream_view out = {.element = v->element, .arg = arg, .n_dims = v->n_dims};
  memcpy(out.shape, v->shape, v->n_dims * sizeof *out.shape);
  memcpy(out.stride, v->stride, v->n_dims * sizeof *out.stride);
  return out;
}

fs_view fs_stream_placed(const fs_stream_view *view, uint64_t offset) {
  fs_view v = {.offset = offset, .element = view->element, .n_dims = view->n_dims};
  _Static_assert(sizeof v.shape == sizeof view->shape, "as many dimensions");
  memcpy(v.shape, view->shape, sizeof v.shape);
  memcpy(v.stride, view->stride, sizeof v.stride);
  return v;
}

fs_view_runs fs_stream_view_pieces(const fs_stream_view *view, uint64_t at, uint64_t length) {
  if (view == NULL) {
    return fs_view_range(at, length);
  }
  fs_view placed = fs_stream_placed(view, at);
  return fs_view_pieces_of(&placed);
}

fs_view_runs fs_stream_pieces(const fs_stream *s, uint32_t arg, uint64_t base) {
  assert(arg < s->n_args && fs_tag_names_buffer(s->args[arg].tag));
  const fs_stream_arg *a = &s->args[arg];
  return fs_stream_view_pieces(fs_stream_view_of(s, arg), base + a->offset, fs_max(a->length, 1));
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
