/* SPDX-License-Identifier: Apache-2.0 */
/* What all loops in an outermost one touch of a buffer, and how the loops move it. */
#include "verify/stream/loops/shift.h"

typedef struct nest_list {
  fsched_context *ctx;
  const fs_stream *s;
  uint32_t buffer;
  fs_vnest_accesses *out;
} nest_list;

static int64_t own_offset(const fs_stream *s, const fs_stream_loop *l, uint32_t own) {
  return (int64_t)(l->within == FS_NONE ? s->args[own].offset : s->loop_args[own].offset);
}

static uint32_t depth_of(const fs_stream *s, uint32_t loop) {
  uint32_t n = 0;
  for (; loop != FS_NONE; loop = s->loops[loop].within) {
    n++;
  }
  return n;
}

/* Fills in how the loops move an arg of an op, and what that is cut off with. */
static void find_moves(const nest_list *w, uint32_t loop, uint32_t op, const fs_stream_loop_arg *a,
                       fs_vnest_access *x) {
  const fs_stream *s = w->s;
  x->n = depth_of(s, loop);
  assert(x->n <= FSCHED_MAX_LOOPS);
  x->limit = (int64_t)s->buffers[a->buffer].size;
  x->at = x->within = (int64_t)a->offset;
  for (uint32_t d = x->n; d-- > 0; loop = s->loops[loop].within) {
    const fs_stream_loop *l = &s->loops[loop];
    x->move[d] = (fs_vmove){loop, op, a->step, a->ring, a->back};
    if (a->ring != FS_NONE && x->inside == 0) {
      x->limit = (int64_t)s->rings[a->ring].size;
      x->inside = d + 1;
    }
    if (a->ring != FS_NONE) {
      x->at += own_offset(s, l, a->own);
      x->move[d].step = 0;
    }
    op = l->op;
    a = d > 0 ? &s->loop_args[a->own] : a;
  }
}

/* Whether some iteration of it ends behind its version. */
static bool is_cut(const fs_stream *s, const fs_vnest_access *x) {
  int64_t end = x->within + x->length;
  for (uint32_t d = x->inside; d < x->n; d++) {
    int64_t way = x->move[d].step * (int64_t)(s->loops[x->move[d].loop].trip - 1);
    end += way > 0 ? way : 0;
  }
  return x->inside > 0 && end > x->limit;
}

/* Whether the arg is of a ring whose versions are begun as a whole, by an op that is no loop. */
static bool is_begun(const fs_stream *s, const fs_stream_loop_arg *a) {
  return a->ring != FS_NONE && s->loop_ops[s->rings[a->ring].writer].loop == FS_NONE;
}

static fs_status list_arg(nest_list *w, uint32_t loop, uint32_t op, const fs_stream_loop_arg *a) {
  const fs_stream *s = w->s;
  bool ring_of_joined = a->ring != FS_NONE && s->loops[loop].joined != 0;
  const fs_stream_view *view = fs_stream_loop_view_of(s, (uint32_t)(a - s->loop_args));
  fs_vnest_access x = {.length = (int64_t)a->length, .runs = fs_view_range(0, a->length)};
  if (view != NULL) {
    fs_view placed = fs_stream_placed(view, 0);
    x.runs = fs_view_runs_of(&placed);
  }
  find_moves(w, loop, op, a, &x);
  x.elsewhere = ring_of_joined;
  x.first = is_begun(s, a) && a->back > 0 && !ring_of_joined;
  x.reads = fs_tag_reads(a->tag) && (!is_begun(s, a) || a->back > 0);
  x.writes = fs_tag_writes(a->tag) && !is_cut(s, &x) && !ring_of_joined;
  return x.reads || x.writes ? fs_vec_push(w->ctx, w->out, x) : FSCHED_OK;
}

/* The recursion is as deep as loops nest. */
static fs_status list_loop(nest_list *w, uint32_t loop) {
  const fs_stream *s = w->s;
  const fs_stream_loop *l = &s->loops[loop];
  for (uint32_t op = l->op0; op < l->op0 + l->n_ops; op++) {
    const fs_stream_loop_op *o = &s->loop_ops[op];
    FS_TRY(o->loop == FS_NONE ? FSCHED_OK : list_loop(w, o->loop));
    for (uint32_t i = o->arg0; o->loop == FS_NONE && i < o->arg0 + o->n_args; i++) {
      const fs_stream_loop_arg *a = &s->loop_args[i];
      FS_TRY(a->buffer == w->buffer && fs_tag_accesses(a->tag) ? list_arg(w, loop, op, a)
                                                               : FSCHED_OK);
    }
  }
  return FSCHED_OK;
}

fs_status fs_vnest_list(fsched_context *ctx, const fs_stream *s, uint32_t loop, uint32_t buffer,
                        fs_vnest_accesses *out) {
  assert(s->loops[loop].within == FS_NONE);
  const fs_stream_op *o = &s->ops[s->loops[loop].op];
  nest_list w = {ctx, s, buffer, out};
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_arg *a = &s->args[i];
    if (a->buffer == buffer && fs_tag_reads(a->tag)) {
      fs_vnest_access x = {.at = (int64_t)a->offset,
                           .length = (int64_t)a->length,
                           .runs = fs_view_range(0, a->length),
                           .writes = true};
      FS_TRY(fs_vec_push(ctx, out, x));
    }
  }
  return list_loop(&w, loop);
}
