/* SPDX-License-Identifier: Apache-2.0 */
/* What is read in loops in loops was written before, as their unrolling does it.
 *
 * loops/hull.c shows of each loop for itself that what it reads of its own was written.  That says
 * nothing of a loop that writes some bytes between others, or reads what it has written in part and
 * the loops around it in other iterations.  So the accesses to a buffer are walked of all loops in
 * an outermost one, in program order of the unrolling: each reads what the outermost loop's op
 * reads, as arg by arg on the way there says, or what was written before.
 *
 * A walk of more than MOST_VISITS accesses, of trips that a parameter gives, or of values in rings
 * shows nothing.  Complexity: O(visits log visits). */
#include "base/ranges.h"
#include "base/saturate.h"
#include "verify/stream/loops/parts.h"

enum { MOST_VISITS = 1 << 17 };

enum { THERE = 1, NOT_THERE = 2 };

typedef struct nest_walk {
  fs_vs *v;
  uint32_t buffer;
  uint8_t *there; /* per loop arg: whether the outermost loop's op reads it, or 0: not known yet */
  fs_ranges ranges;
  uint32_t written;
  uint64_t trip[FSCHED_MAX_LOOPS]; /* of the loops around an access, the outermost first */
  bool found;                      /* all that was read so far was written */
} nest_walk;

static bool reads(unsigned tag) { return fs_tag_reads(tag); }

static fs_vloop loop_of(fs_vs *v, uint32_t loop) {
  const fs_stream_loop *l = &v->s->loops[loop];
  bool inner = l->within != FS_NONE;
  return (fs_vloop){.v = v,
                    .l = l,
                    .inner = inner,
                    .own0 = inner ? v->s->loop_ops[l->op].arg0 : v->s->ops[l->op].arg0,
                    .n_own = inner ? v->s->loop_ops[l->op].n_args : v->s->ops[l->op].n_args};
}

/* How many accesses a run of the loop has; FS_NONE or more: too many, or it can't be told. */
static uint64_t count_visits(const nest_walk *w, uint32_t loop) {
  const fs_stream *s = w->v->s;
  const fs_stream_loop *l = &s->loops[loop];
  uint64_t n = l->least == l->trip ? 0 : FS_NONE;
  for (uint32_t m = l->op0; m < l->op0 + l->n_ops; m++) {
    const fs_stream_loop_op *o = &s->loop_ops[m];
    for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
      const fs_stream_loop_arg *a = &s->loop_args[i];
      bool of = a->buffer == w->buffer && fs_tag_accesses(a->tag);
      n = fs_add_most(n, !of ? 0 : a->ring != FS_NONE ? FS_NONE : 1);
    }
    n = fs_add_most(n, o->loop == FS_NONE ? 1 : count_visits(w, o->loop));
  }
  return n >= FS_NONE ? FS_NONE : fs_multiply_most(n, l->trip);
}

/* The bytes of an arg in the iterations at hand. */
static fs_vbytes bytes_of(const nest_walk *w, uint32_t depth, uint32_t arg) {
  const fs_stream *s = w->v->s;
  uint64_t low = s->loop_args[arg].offset, length = s->loop_args[arg].length;
  for (uint32_t d = depth; d-- > 0; arg = s->loop_args[arg].own) {
    low += (uint64_t)(s->loop_args[arg].step * (int64_t)w->trip[d]);
  }
  return (fs_vbytes){low, fs_min(low + length, s->buffers[w->buffer].size)};
}

static bool is_there_before(const nest_walk *w, uint32_t loop, uint32_t arg);

static bool find_there(const nest_walk *w, uint32_t loop, uint32_t arg) {
  const fs_stream_loop_arg *a = &w->v->s->loop_args[arg];
  fs_vloop x = loop_of(w->v, loop);
  fs_vbytes hull = fs_vloop_hull(&x, a, x.l->trip - 1);
  for (uint32_t i = x.own0; i < x.own0 + x.n_own; i++) {
    if (fs_vloop_own_holds_in(&x, i, a->own, hull, reads) &&
        (!x.inner || is_there_before(w, x.l->within, i))) {
      return true;
    }
  }
  return false;
}

/* Whether what an arg reads is read by the outermost loop's op, too. */
static bool is_there_before(const nest_walk *w, uint32_t loop, uint32_t arg) {
  if (w->there[arg] == 0) {
    w->there[arg] = find_there(w, loop, arg) ? THERE : NOT_THERE;
  }
  return w->there[arg] == THERE;
}

static fs_status find_bytes(nest_walk *w, fs_vbytes b) {
  fs_ids ops = {0};
  uint64_t covered = 0;
  if (b.low >= b.high) {
    return FSCHED_OK;
  }
  fs_status status = fs_ranges_find(&w->ranges, w->written, b.low, b.high, &ops, &covered);
  fs_vec_free(w->v->ctx, &ops);
  w->found = w->found && covered == b.high - b.low;
  return status;
}

/* An op reads before it writes. */
static fs_status visit_op(nest_walk *w, uint32_t loop, uint32_t depth, const fs_stream_loop_op *o) {
  const fs_stream *s = w->v->s;
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args && w->found; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[i];
    if (a->buffer == w->buffer && fs_tag_reads(a->tag) && !is_there_before(w, loop, i)) {
      FS_TRY(find_bytes(w, bytes_of(w, depth, i)));
    }
  }
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args && w->found; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[i];
    fs_vbytes b = bytes_of(w, depth, i);
    if (a->buffer == w->buffer && fs_tag_writes(a->tag) && b.low < b.high) {
      FS_TRY(fs_ranges_replace(&w->ranges, &w->written, b.low, b.high, 0));
    }
  }
  return FSCHED_OK;
}

static fs_status visit_loop(nest_walk *w, uint32_t loop, uint32_t depth) {
  const fs_stream *s = w->v->s;
  const fs_stream_loop *l = &s->loops[loop];
  assert(depth < FSCHED_MAX_LOOPS);
  for (w->trip[depth] = 0; w->trip[depth] < l->trip && w->found; w->trip[depth]++) {
    for (uint32_t m = l->op0; m < l->op0 + l->n_ops; m++) {
      const fs_stream_loop_op *o = &s->loop_ops[m];
      FS_TRY(o->loop == FS_NONE ? visit_op(w, loop, depth + 1, o)
                                : visit_loop(w, o->loop, depth + 1));
    }
  }
  return FSCHED_OK;
}

static fs_status walk_nest(fs_vs *v, uint32_t loop, uint32_t buffer, bool *all) {
  FS_SCRATCH(scratch, v->ctx);
  nest_walk w = {.v = v, .buffer = buffer, .written = FS_NONE, .found = true};
  *all = false;
  if (count_visits(&w, loop) > MOST_VISITS) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&scratch, &w.there, v->s->n_loop_args));
  fs_ranges_init(&w.ranges, v->ctx);
  fs_status status = visit_loop(&w, loop, 0);
  fs_ranges_release(&w.ranges);
  *all = w.found;
  return status;
}

fs_status fs_vloop_written(const fs_vloop *x, uint32_t buffer, bool *all) {
  fs_vs *v = x->v;
  uint32_t loop = (uint32_t)(x->l - v->s->loops);
  while (v->s->loops[loop].within != FS_NONE) {
    loop = v->s->loops[loop].within;
  }
  if (v->nest_walked == NULL) {
    FS_TRY(fs_new_none(&v->arena, &v->nest_walked, v->s->n_buffers));
    FS_TRY(fs_new_zero(&v->arena, &v->nest_written, v->s->n_buffers));
  }
  if (v->nest_walked[buffer] != loop) {
    FS_TRY(walk_nest(v, loop, buffer, all));
    v->nest_walked[buffer] = loop;
    v->nest_written[buffer] = *all;
  }
  *all = v->nest_written[buffer] != 0;
  return FSCHED_OK;
}
