/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/stream/stream.h"

fs_vs_runs fs_vs_runs_of(const fs_vs *v, uint32_t arg, uint64_t base) {
  assert(arg < v->s->n_args);
  const fs_stream_arg *a = &v->s->args[arg];
  if (fs_stream_view_of(v->s, arg) != NULL) {
    return (fs_vs_runs){.view = fs_stream_pieces(v->s, arg, base)};
  }
  uint64_t low = base + a->offset;
  return (fs_vs_runs){.low = low, .high = low + fs_max(a->length, 1), .plain = true};
}

bool fs_vs_run(fs_vs_runs *r) {
  if (r->plain) {
    bool first = !r->over;
    r->over = true;
    return first;
  }
  bool more = fs_view_walk_on(&r->view, &r->walk);
  r->low = r->walk.low;
  r->high = r->walk.high;
  return more;
}
