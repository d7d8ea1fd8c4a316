/* SPDX-License-Identifier: Apache-2.0 */
/* What is read in loops in loops was written before, as their unrolling does it.
 *
 * loops/hull.c shows of each loop for itself that what it reads of its own was written.  That says
 * nothing of a loop that writes some bytes between others, or reads what it has written in part and
 * the loops around it in other iterations.  Of all loops in an outermost one loops/shift.c shows
 * it, whatever their trips are.
 *
 * It need not: so if not, the accesses to a buffer are walked of these loops, in program order of
 * the unrolling: each reads what the outermost loop's op reads, as arg by arg on the way there
 * says, or what was written before.  A walk of more than MOST_VISITS accesses, or of trips that a
 * parameter gives, shows nothing.  Complexity: O(visits log visits). */
#include "base/ranges.h"
#include "base/saturate.h"
#include "verify/stream/loops/parts.h"
#include "verify/stream/loops/shift.h"

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

/* The runs of bytes of an access. */
static uint64_t count_runs(const fs_stream *s, const fs_stream_loop_arg *a) {
  bool coarse;
  fs_view_runs runs = fs_vloop_runs(s, a, (fs_vbytes){0, a->length}, &coarse);
  uint64_t n = 1;
  for (uint32_t d = 0; d < runs.n_dims; d++) {
    n *= runs.shape[d]; /* they are at most FS_VIEW_STEPS */
  }
  return n;
}

/* How many accesses a run of the loop has, a view one for each run of bytes; FS_NONE or more: too
 * many, or it can't be told. */
static uint64_t count_visits(const nest_walk *w, uint32_t loop) {
  const fs_stream *s = w->v->s;
  const fs_stream_loop *l = &s->loops[loop];
  uint64_t n = l->least == l->trip ? 0 : FS_NONE;
  for (uint32_t m = l->op0; m < l->op0 + l->n_ops; m++) {
    const fs_stream_loop_op *o = &s->loop_ops[m];
    for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
      const fs_stream_loop_arg *a = &s->loop_args[i];
      bool here = a->buffer == w->buffer && fs_tag_accesses(a->tag);
      n = fs_add_most(n, here ? count_runs(s, a) : 0);
    }
    n = fs_add_most(n, o->loop == FS_NONE ? 1 : count_visits(w, o->loop));
  }
  return n >= FS_NONE ? FS_NONE : fs_multiply_most(n, l->trip);
}

/* Where the arg of the loop's own op begins. */
static uint64_t own_offset(const fs_stream *s, uint32_t loop, uint32_t own) {
  return s->loops[loop].within == FS_NONE ? s->args[own].offset : s->loop_args[own].offset;
}

/* How far a loop moves an arg in the iteration at hand, which is that of the depth-th loop. */
static uint64_t move_of(const nest_walk *w, uint32_t loop, uint32_t depth,
                        const fs_stream_loop_arg *a) {
  const fs_stream *s = w->v->s;
  uint64_t i = w->trip[depth];
  if (a->ring == FS_NONE) {
    return (uint64_t)(a->step * (int64_t)i);
  }
  const fs_stream_ring *r = &s->rings[a->ring];
  if (s->loops[loop].joined != 0) {
    assert(depth > 0);
    i += w->trip[depth - 1] * s->loops[loop].trip;
  }
  uint64_t slot = i >= a->back ? (i - a->back) % r->depth : r->depth - 1;
  return own_offset(s, loop, a->own) + slot * r->slot;
}

static void cut_off(fs_vbytes *b, uint64_t limit) {
  b->high = fs_max(b->low, fs_min(b->high, limit));
}

/* The bytes of an arg in the iterations at hand. */
static fs_vbytes bytes_of(const nest_walk *w, uint32_t loop, uint32_t depth, uint32_t arg) {
  const fs_stream *s = w->v->s;
  const fs_stream_loop_arg *a = &s->loop_args[arg];
  uint64_t limit = fs_vloop_limit(s, &s->loops[loop], a);
  fs_vbytes b = {a->offset, a->offset + a->length};
  bool in_ring = false; /* its offsets were those within a version, up to the loop of the ring */
  for (uint32_t d = depth; d > 0; arg = a->own, loop = s->loops[loop].within, d--) {
    a = &s->loop_args[arg];
    if (a->ring != FS_NONE && !in_ring) {
      cut_off(&b, limit);
      in_ring = true;
    }
    uint64_t move = move_of(w, loop, d - 1, a);
    b.low += move;
    b.high += move;
  }
  if (!in_ring) {
    cut_off(&b, limit);
  }
  return b;
}

static bool is_there_before(const nest_walk *w, uint32_t loop, uint32_t arg);

/* All bytes of the loop's own op that an arg touches: those of all slots, if it has a ring. */
static fs_vbytes hull_of(const fs_vloop *x, const fs_stream_loop_arg *a) {
  if (a->ring == FS_NONE) {
    return fs_vloop_hull(x, a, x->l->trip - 1);
  }
  const fs_stream_ring *r = &x->v->s->rings[a->ring];
  uint64_t low = fs_vloop_own(x, a->own).offset;
  return (fs_vbytes){low, low + (r->depth - 1) * r->slot + r->size};
}

static bool find_there(const nest_walk *w, uint32_t loop, uint32_t arg) {
  const fs_stream_loop_arg *a = &w->v->s->loop_args[arg];
  fs_vloop x = loop_of(w->v, loop);
  fs_vbytes hull = hull_of(&x, a);
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
      bool coarse;
      fs_view_runs runs = fs_vloop_runs(s, a, bytes_of(w, loop, depth, i), &coarse);
      for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
        FS_TRY(find_bytes(w, (fs_vbytes){at.low, at.high}));
      }
    }
  }
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args && w->found; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[i];
    if (a->buffer == w->buffer && fs_tag_writes(a->tag)) {
      bool coarse;
      fs_view_runs runs = fs_vloop_runs(s, a, bytes_of(w, loop, depth, i), &coarse);
      for (fs_view_walk at = {.at = 0}; !coarse && fs_view_walk_on(&runs, &at);) {
        FS_TRY(fs_ranges_replace(&w->ranges, &w->written, at.low, at.high, 0));
      }
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
    uint64_t steps;
    FS_TRY(fs_vnest_prove(v->ctx, v->s, loop, buffer, &steps, all));
    FS_TRY(*all ? FSCHED_OK : walk_nest(v, loop, buffer, all));
    v->nest_walked[buffer] = loop;
    v->nest_written[buffer] = *all;
  }
  *all = v->nest_written[buffer] != 0;
  return FSCHED_OK;
}
