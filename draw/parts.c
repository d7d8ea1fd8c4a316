/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/parts.h"

#include "base/text/hex.h"
#include "base/text/plural.h"
#include "base/text/view_text.h"
#include "fsched/graph.h"
#include "model/kinds.h"
#include "model/stream/members.h"
#include "model/stream/views.h"

typedef struct parts_writer {
  fs_text t;
  uint32_t views;
} parts_writer;

/* A strided view of an arg, with the names of its tag and buffer. */
typedef struct parts_view {
  const uint64_t *shape, *stride;
  uint32_t n_dims;
  uint64_t element;
  uint32_t member; /* FS_NONE: the op has one list of args */
  int64_t step;    /* bytes by which it moves with each iteration */
  unsigned tag;
  const char *buffer;
} parts_view;

static void put_separator(parts_writer *w) { fs_text_puts(&w->t, w->t.n > 0 ? "; " : ""); }

static void put_params(parts_writer *w, const char *hex) {
  if (hex != NULL) {
    put_separator(w);
    fs_text_count(&w->t, fs_hex_bytes(hex), "byte");
    fs_text_puts(&w->t, " of parameters");
  }
}

/* Members with args of their own, of which a loop's queues show nothing. */
static void put_members(parts_writer *w, uint32_t n) {
  if (n > 0) {
    put_separator(w);
    fs_text_puts(&w->t, "args for each of ");
    fs_text_count(&w->t, n, "member");
  }
}

static void put_view(parts_writer *w, const parts_view *v) {
  if (w->views++ >= FS_PARTS_LISTED) {
    return;
  }
  put_separator(w);
  if (v->member != FS_NONE) {
    fs_text_puts(&w->t, "member ");
    fs_text_u64(&w->t, v->member);
    fs_text_puts(&w->t, " ");
  }
  fs_text_puts(&w->t, fs_words_tag[v->tag]);
  fs_text_puts(&w->t, " ");
  fs_text_puts(&w->t, v->buffer);
  fs_text_puts(&w->t, " as ");
  fs_text_view(&w->t, v->shape, v->stride, v->n_dims, v->element);
  if (v->step != 0) {
    fs_text_puts(&w->t, v->step < 0 ? " - " : " + ");
    fs_text_u64(&w->t, v->step < 0 ? -(uint64_t)v->step : (uint64_t)v->step);
    fs_text_puts(&w->t, "i");
  }
}

static fs_status finish(parts_writer *w, fs_arena *arena, const char **out) {
  if (w->views > FS_PARTS_LISTED) {
    fs_text_puts(&w->t, " and ");
    fs_text_count(&w->t, w->views - FS_PARTS_LISTED, "view");
    fs_text_puts(&w->t, " more");
  }
  bool failed = w->t.failed;
  *out = failed || w->t.n == 0 ? NULL : fs_arena_strndup(arena, w->t.at, w->t.n);
  failed = failed || (w->t.n > 0 && *out == NULL);
  fs_text_drop(&w->t);
  return failed ? FSCHED_SYSTEM : FSCHED_OK;
}

fs_status fs_parts_of_graph(fs_arena *arena, const fsched_graph *g, uint32_t op, const char **out) {
  assert(op < g->n_ops);
  parts_writer w = {.views = 0};
  fs_text_init(&w.t, arena->ctx);
  put_params(&w, g->op_kernel[op] == FS_NONE ? NULL : g->kernel[g->op_kernel[op]].params);
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    const fs_view *v = fs_arg_view(g, a);
    if (v != NULL) {
      bool begins = g->arg_begins != NULL && g->arg_begins[a];
      parts_view x = {v->shape,
                      v->stride,
                      v->n_dims,
                      v->element,
                      fs_op_members(g, op) > 0 ? fs_arg_member(g, a) : FS_NONE,
                      0,
                      fs_tag_seen(g->arg_tag[a], begins),
                      g->buffer_name[g->arg_buffer[a]]};
      put_view(&w, &x);
    }
  }
  return finish(&w, arena, out);
}

fs_status fs_parts_of_stream(fs_arena *arena, const fs_stream *s, uint32_t op, const char **out) {
  assert(op < s->n_ops);
  parts_writer w = {.views = 0};
  const fs_stream_op *o = &s->ops[op];
  fs_text_init(&w.t, arena->ctx);
  put_params(&w, o->kernel == FS_NONE ? NULL : fs_stream_string(s, s->kernels[o->kernel].params));
  for (uint32_t call = 0; call < fs_op_calls(o) && s->n_views > 0; call++) {
    fs_stream_member m = fs_op_call_args(s, o, call);
    for (uint32_t a = m.arg0; a < m.arg0 + m.n_args; a++) {
      const fs_stream_view *v = fs_stream_view_of(s, a);
      if (v != NULL) {
        const fs_stream_arg *arg = &s->args[a];
        parts_view x = {v->shape,
                        v->stride,
                        v->n_dims,
                        v->element,
                        o->n_members > 0 ? call : FS_NONE,
                        0,
                        fs_tag_seen(arg->tag, arg->begins),
                        fs_stream_string(s, s->buffers[arg->buffer].name)};
        put_view(&w, &x);
      }
    }
  }
  return finish(&w, arena, out);
}

fs_status fs_parts_of_body(fs_arena *arena, const fsched_graph *g, uint32_t loop, uint32_t op,
                           const char **out) {
  assert(loop < g->n_rolled && op < g->rolled[loop].n_ops);
  parts_writer w = {.views = 0};
  const fs_rolled *of = &g->rolled[loop];
  const fs_body_op *o = &of->body[op];
  fs_text_init(&w.t, arena->ctx);
  put_params(&w, o->kernel == FS_NONE ? NULL : g->kernel[o->kernel].params);
  put_members(&w, o->n_members);
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_body_arg *a = &of->arg[i];
    if (a->view != FS_NONE) {
      const fs_view *v = &g->view[a->view];
      parts_view x = {v->shape,
                      v->stride,
                      v->n_dims,
                      v->element,
                      o->n_members > 0 ? a->member : FS_NONE,
                      a->step,
                      fs_tag_seen(a->tag, a->begins),
                      g->buffer_name[a->buffer]};
      put_view(&w, &x);
    }
  }
  return finish(&w, arena, out);
}

fs_status fs_parts_of_loop_op(fs_arena *arena, const fs_stream *s, uint32_t op, const char **out) {
  assert(op < s->n_loop_ops);
  parts_writer w = {.views = 0};
  const fs_stream_loop_op *o = &s->loop_ops[op];
  fs_text_init(&w.t, arena->ctx);
  put_params(&w, o->kernel == FS_NONE ? NULL : fs_stream_string(s, s->kernels[o->kernel].params));
  put_members(&w, o->n_members);
  for (uint32_t call = 0; call < fs_loop_op_calls(o) && s->n_loop_views > 0; call++) {
    fs_stream_member m = fs_loop_op_call_args(s, o, call);
    for (uint32_t i = m.arg0; i < m.arg0 + m.n_args; i++) {
      const fs_stream_view *v = fs_stream_loop_view_of(s, i);
      if (v != NULL) {
        const fs_stream_loop_arg *a = &s->loop_args[i];
        parts_view x = {v->shape,
                        v->stride,
                        v->n_dims,
                        v->element,
                        o->n_members > 0 ? call : FS_NONE,
                        a->step,
                        fs_tag_seen(a->tag, a->begins != 0),
                        fs_stream_string(s, s->buffers[a->buffer].name)};
        put_view(&w, &x);
      }
    }
  }
  return finish(&w, arena, out);
}
