/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a loop touches what its own op does: the rest of the verifier knows nothing else of it.
 *
 * All bytes that an arg writes lie in one that the own op writes, and all that it reads in one that
 * the own op reads.  If that reads other bytes, though it writes these, the loop must have written
 * them before.  The first WALKED iterations are walked for that, which proves just them.  Of later
 * ones it is shown where
 * - the arg does not move, as what was written stays; or
 * - args with its step wrote what it reads in the last iteration that was walked, as then they do
 *   so in all later ones: it all moves alike; or
 * - some arg leaves no gaps, and all that it has written by then holds what the arg reads, both in
 *   the first iteration that was not walked and in the last one: the ends of both are linear, so
 *   it does so between them.
 * What is not shown so is looked at with the loops around and inside (loops/written.c), or refused.
 *
 * What the own op writes over, but the body may leave out, keeps its content, so this has to be
 * there: such args are marked (fs_vs.in_part).  What is written for sure is what the fewest
 * iterations write.  A run of ranges that move alike leaves no gaps if
 * it is as long as its step; a strided view of several runs of bytes counts as one that does.
 * Complexity: O(accesses^2) and WALKED * O(accesses log accesses). */
#include "base/ranges.h"
#include "verify/stream/loops/parts.h"

enum { WALKED = 64, MOST_WRITES = 1 << 16 };

fs_vbytes fs_vloop_hull(const fs_vloop *x, const fs_stream_loop_arg *a, uint64_t trips) {
  int64_t way = fs_vloop_way(x, a, trips);
  uint64_t low = a->offset - (way < 0 ? (uint64_t)-way : 0);
  uint64_t high = a->offset + a->length + (way > 0 ? (uint64_t)way : 0);
  return (fs_vbytes){low, fs_min(high, fs_vloop_limit(x->v->s, x->l, a))};
}

fs_vbytes fs_vloop_bytes(const fs_vloop *x, const fs_stream_loop_arg *a, uint64_t iteration) {
  uint64_t low = a->offset + (uint64_t)fs_vloop_way(x, a, iteration);
  return (fs_vbytes){low, fs_min(low + a->length, fs_vloop_limit(x->v->s, x->l, a))};
}

fs_view_runs fs_vloop_runs(const fs_stream *s, const fs_stream_loop_arg *a, fs_vbytes bytes,
                           bool *coarse) {
  const fs_stream_view *view = fs_stream_loop_view_of(s, (uint32_t)(a - s->loop_args));
  *coarse = false;
  if (view == NULL) {
    return fs_view_range(bytes.low, bytes.high - bytes.low);
  }
  fs_view placed = fs_stream_placed(view, bytes.low);
  fs_view_runs runs = fs_view_runs_of(&placed);
  *coarse = !fs_view_fine(&runs);
  return fs_view_pieces_of(&placed);
}

static bool is_within(fs_vbytes a, fs_vbytes b) { return b.low <= a.low && a.high <= b.high; }

static const fs_stream_loop_arg *arg_of(const fs_vloop *x, const fs_vbody_access *a) {
  return &x->v->s->loop_args[a->arg];
}

bool fs_vloop_own_holds_in(const fs_vloop *x, uint32_t arg, uint32_t own, fs_vbytes bytes,
                           bool (*mode)(unsigned)) {
  fs_vown a = fs_vloop_own(x, arg);
  return a.buffer == fs_vloop_own(x, own).buffer && mode(a.tag) &&
         fs_vloop_alike(x->v->s, x->l, arg, own) &&
         is_within(bytes, (fs_vbytes){a.offset, a.offset + a.length});
}

/* Whether the own op has an arg that moves like `own`, holds the bytes, and has a right mode. */
static bool own_holds(const fs_vloop *x, uint32_t own, fs_vbytes bytes, bool (*mode)(unsigned)) {
  for (uint32_t i = x->own0; i < x->own0 + x->n_own; i++) {
    if (fs_vloop_own_holds_in(x, i, own, bytes, mode)) {
      return true;
    }
  }
  return false;
}

/* Whether two args of the body move alike with the loops around, and are of one buffer. */
static bool of_one_kind(const fs_vloop *x, const fs_stream_loop_arg *a,
                        const fs_stream_loop_arg *b) {
  return a->buffer == b->buffer && fs_vloop_alike(x->v->s, x->l, a->own, b->own);
}

/* Whether the access writes all of its bytes: a loop in the loop may write a part. */
static bool writes_whole(const fs_vloop *x, const fs_vbody_access *a) {
  return a->writes && x->v->in_loop_part[a->arg] == 0;
}

static bool reads(unsigned tag) { return fs_tag_reads(tag); }
static bool writes(unsigned tag) { return fs_tag_writes(tag); }

static const char *buffer_name(const fs_vloop *x, uint32_t buffer) {
  return fs_vs_string(x->v, x->v->s->buffers[buffer].name);
}

static void leaves(fs_vloop *x, const fs_vbody_access *a, const char *what) {
  FS_LOOP_WRONG(x, FS_DIAG_VERIFY_PLACE,
                "loop %.60s: op %.60s %s %.40s where the loop's op does not", x->name,
                fs_vloop_op_name(x, a->member), what, buffer_name(x, arg_of(x, a)->buffer));
}

/* --- what the loop reads of its own --- */

typedef struct own_walk {
  fs_vloop *x;
  fs_ranges ranges;
  bool *own;         /* per access: it reads what the loop has written */
  uint32_t *written; /* per access: of it and those of its kind behind it, if it is the first */
  uint32_t *kind;    /* per access: the first one of its kind */
  uint32_t slots;    /* that were written at once: slots of slots are many, and those beyond
                      * MOST_WRITES count as not written */
} own_walk;

/* Reports what the loop by itself does not show, unless all loops in the outermost one together do.
 */
static fs_status not_written(const own_walk *w, const fs_vbody_access *a, uint64_t iteration) {
  bool all = false;
  FS_TRY(fs_vloop_written(w->x, arg_of(w->x, a)->buffer, &all));
  if (all) {
    return FSCHED_OK;
  }
  FS_LOOP_WRONG(w->x, FS_DIAG_VERIFY_VALUE,
                "loop %.60s: op %.60s[%llu] reads %.40s where nothing was written yet", w->x->name,
                fs_vloop_op_name(w->x, a->member), (unsigned long long)iteration,
                buffer_name(w->x, arg_of(w->x, a)->buffer));
  return FSCHED_OK;
}

static fs_status are_written(const own_walk *w, uint32_t set, fs_vbytes b, bool *yes) {
  fs_ids ops = {0};
  uint64_t covered = 0;
  fs_status status = FSCHED_OK;
  if (b.low < b.high) {
    status = fs_ranges_find(&w->ranges, set, b.low, b.high, &ops, &covered);
  }
  fs_vec_free(w->x->v->ctx, &ops);
  *yes = covered == b.high - b.low;
  return status;
}

static fs_status write_bytes(own_walk *w, uint32_t *set, fs_vbytes b) {
  return b.low < b.high ? fs_ranges_replace(&w->ranges, set, b.low, b.high, 0) : FSCHED_OK;
}

/* Whether all was written that an arg reads in an iteration. */
static fs_status is_written(const own_walk *w, uint32_t set, const fs_stream_loop_arg *a,
                            uint64_t iteration, bool *yes) {
  bool coarse;
  fs_view_runs runs = fs_vloop_runs(w->x->v->s, a, fs_vloop_bytes(w->x, a, iteration), &coarse);
  *yes = true;
  for (fs_view_walk at = {.at = 0}; *yes && fs_view_walk_on(&runs, &at);) {
    FS_TRY(are_written(w, set, (fs_vbytes){at.low, at.high}, yes));
  }
  return FSCHED_OK;
}

static fs_status write_arg(own_walk *w, uint32_t *set, const fs_stream_loop_arg *a,
                           uint64_t iteration) {
  bool coarse;
  fs_view_runs runs = fs_vloop_runs(w->x->v->s, a, fs_vloop_bytes(w->x, a, iteration), &coarse);
  for (fs_view_walk at = {.at = 0}; !coarse && fs_view_walk_on(&runs, &at);) {
    FS_TRY(write_bytes(w, set, (fs_vbytes){at.low, at.high}));
  }
  return FSCHED_OK;
}

static fs_status write_slots(own_walk *w, uint32_t *set, uint32_t inner, uint32_t arg, uint64_t at);

/* What the ops of a body write, in the iteration that begins it, of the version of a ring that lies
 * at `at`: loops in the body may leave out parts of what they begin, or write over. */
static fs_status write_version(own_walk *w, uint32_t *set, uint32_t loop, uint32_t ring,
                               uint64_t at) {
  const fs_vs *v = w->x->v;
  const fs_stream_loop *l = &v->s->loops[loop];
  for (uint32_t m = l->op0; m < l->op0 + l->n_ops; m++) {
    const fs_stream_loop_op *o = &v->s->loop_ops[m];
    for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
      const fs_stream_loop_arg *a = &v->s->loop_args[i];
      if (a->ring != ring || a->back != 0 || !fs_tag_writes(a->tag)) {
        continue;
      }
      if (o->loop != FS_NONE && (fs_tag_begins(a->tag) || v->in_loop_part[i] != 0)) {
        FS_TRY(write_slots(w, set, o->loop, i, at + a->offset));
        continue;
      }
      bool coarse;
      uint64_t size = v->s->rings[ring].size;
      fs_vbytes b = {at + fs_min(a->offset, size), at + fs_min(a->offset + a->length, size)};
      fs_view_runs runs = fs_vloop_runs(v->s, a, b, &coarse);
      for (fs_view_walk r = {.at = 0}; !coarse && fs_view_walk_on(&runs, &r);) {
        FS_TRY(write_bytes(w, set, (fs_vbytes){r.low, r.high}));
      }
    }
  }
  return FSCHED_OK;
}

/* Slots of the rings that the loop of an op begins in an arg of it, and so the loops in that do;
 * also the last slot, into which the last value is moved. */
static fs_status write_slots(own_walk *w, uint32_t *set, uint32_t inner, uint32_t arg,
                             uint64_t at) {
  const fs_stream *s = w->x->v->s;
  const fs_stream_loop *l = &s->loops[inner];
  for (uint32_t k = l->ring0; k < l->ring0 + l->n_rings; k++) {
    const fs_stream_ring *r = &s->rings[k];
    uint64_t n = fs_min(fs_min(r->depth, l->least), WALKED);
    for (uint64_t i = 0; r->arg == arg && i < n && w->slots < MOST_WRITES; i++) {
      w->slots++;
      FS_TRY(write_version(w, set, inner, k, at + i * r->slot));
    }
    if (r->arg == arg && n < r->depth && l->least > 0 && fs_ring_moves(l, r)) {
      FS_TRY(write_version(w, set, inner, k, at + (r->depth - 1) * r->slot));
    }
  }
  for (uint32_t m = l->op0; l->least > 0 && m < l->op0 + l->n_ops; m++) {
    const fs_stream_loop_op *o = &s->loop_ops[m];
    for (uint32_t i = o->arg0; o->loop != FS_NONE && i < o->arg0 + o->n_args; i++) {
      const fs_stream_loop_arg *a = &s->loop_args[i];
      if (a->own == arg && a->ring == FS_NONE && a->step == 0) { /* rings lie in such args alone */
        FS_TRY(write_slots(w, set, o->loop, i, at + (a->offset - s->loop_args[arg].offset)));
      }
    }
  }
  return FSCHED_OK;
}

/* One iteration.  An op reads before it writes. */
static fs_status walk_iteration(own_walk *w, uint64_t iteration) {
  fs_vloop *x = w->x;
  for (uint32_t k = 0, end; k < x->n_accesses; k = end) {
    for (end = k; end < x->n_accesses && x->access[end].member == x->access[k].member; end++) {
      const fs_stream_loop_arg *a = arg_of(x, &x->access[end]);
      bool right = true;
      if (w->own[end]) {
        FS_TRY(is_written(w, w->written[w->kind[end]], a, iteration, &right));
      }
      if (!right) {
        FS_TRY(not_written(w, &x->access[end], iteration));
        w->own[end] = false;
      }
    }
    for (uint32_t i = k; i < end; i++) {
      const fs_stream_loop_arg *a = arg_of(x, &x->access[i]);
      if (writes_whole(x, &x->access[i]) && a->ring == FS_NONE) {
        FS_TRY(write_arg(w, &w->written[w->kind[i]], a, iteration));
      } else if (x->access[i].writes && a->ring == FS_NONE) {
        uint32_t inner = fs_vloop_op(x, x->access[i].member)->loop;
        w->slots = 0;
        FS_TRY(write_slots(w, &w->written[w->kind[i]], inner, x->access[i].arg,
                           fs_vloop_bytes(x, a, iteration).low));
      }
    }
  }
  return FSCHED_OK;
}

/* Whether args with its step wrote what the access reads in the last iteration that was walked. */
static fs_status is_written_alike(own_walk *w, const fs_vbody_access *r, bool *yes) {
  const fs_vloop *x = w->x;
  const fs_stream_loop_arg *a = arg_of(x, r);
  uint32_t set = FS_NONE;
  for (uint32_t k = 0; k < x->n_accesses; k++) {
    const fs_stream_loop_arg *b = arg_of(x, &x->access[k]);
    bool like = writes_whole(x, &x->access[k]) && of_one_kind(x, a, b) && b->step == a->step;
    uint32_t n = x->access[k].member < r->member ? WALKED : WALKED - 1;
    for (uint32_t i = 0; like && i < n; i++) {
      FS_TRY(write_arg(w, &set, b, i));
    }
  }
  FS_TRY(is_written(w, set, a, WALKED - 1, yes));
  fs_ranges_clear(&w->ranges, &set);
  return FSCHED_OK;
}

/* Whether the writer has written all that the access reads in an iteration, if it leaves no gaps.
 */
static bool is_behind(const fs_vloop *x, const fs_vbody_access *r, const fs_vbody_access *writer,
                      uint64_t iteration) {
  uint64_t last = iteration - (writer->member >= r->member);
  return is_within(fs_vloop_bytes(x, arg_of(x, r), iteration),
                   fs_vloop_hull(x, arg_of(x, writer), last));
}

/* Whether a written access is one run of bytes in each iteration. */
static bool is_one_run(const fs_vloop *x, const fs_stream_loop_arg *a) {
  bool coarse;
  fs_view_runs runs =
      fs_vloop_runs(x->v->s, a, (fs_vbytes){a->offset, a->offset + a->length}, &coarse);
  return !coarse && runs.n_dims == 0;
}

static bool leaves_no_gaps(const fs_stream_loop_arg *a) {
  uint64_t step = a->step < 0 ? (uint64_t)-a->step : (uint64_t)a->step;
  return a->length >= step;
}

static bool is_written_before(const fs_vloop *x, const fs_vbody_access *r) {
  for (uint32_t k = 0; k < x->n_accesses; k++) {
    const fs_stream_loop_arg *b = arg_of(x, &x->access[k]);
    if (writes_whole(x, &x->access[k]) && of_one_kind(x, arg_of(x, r), b) && is_one_run(x, b) &&
        leaves_no_gaps(b) && is_behind(x, r, &x->access[k], WALKED) &&
        is_behind(x, r, &x->access[k], x->l->trip - 1)) {
      return true;
    }
  }
  return false;
}

/* Shows it of the iterations that are not walked. */
static fs_status check_later(own_walk *w) {
  for (uint32_t k = 0; k < w->x->n_accesses; k++) {
    const fs_vbody_access *r = &w->x->access[k];
    bool shown = !w->own[k] || arg_of(w->x, r)->step == 0;
    if (!shown) {
      FS_TRY(is_written_alike(w, r, &shown));
    }
    if (!shown && !is_written_before(w->x, r)) {
      FS_TRY(not_written(w, r, WALKED));
    }
  }
  return FSCHED_OK;
}

static fs_status walk_loop(own_walk *w, fs_arena *arena) {
  FS_TRY(fs_new_none(arena, &w->written, w->x->n_accesses));
  FS_TRY(fs_new(arena, &w->kind, w->x->n_accesses));
  for (uint32_t k = 0; k < w->x->n_accesses; k++) {
    w->kind[k] = 0;
    while (!of_one_kind(w->x, arg_of(w->x, &w->x->access[w->kind[k]]),
                        arg_of(w->x, &w->x->access[k]))) {
      w->kind[k]++;
    }
  }
  for (uint64_t i = 0; i < w->x->l->trip && i < WALKED; i++) {
    FS_TRY(walk_iteration(w, i));
  }
  return w->x->l->trip > WALKED ? check_later(w) : FSCHED_OK;
}

/* --- what the loop's op has --- */

/* Checks an arg without a ring; *own tells that the loop must have written what it reads. */
static void check_hull(fs_vloop *x, const fs_vbody_access *a, bool *own) {
  const fs_stream_loop_arg *arg = arg_of(x, a);
  fs_vbytes hull = fs_vloop_hull(x, arg, x->l->trip - 1);
  if (a->writes && !own_holds(x, arg->own, hull, writes)) {
    leaves(x, a, "writes");
  }
  if (!fs_tag_reads(arg->tag) || own_holds(x, arg->own, hull, reads)) {
    return;
  }
  *own = own_holds(x, arg->own, hull, writes);
  if (!*own) {
    leaves(x, a, "reads");
  }
}

/* A ring's slots are written, and the last one is read where a value is there on entry. */
static void check_ring(fs_vloop *x, uint32_t k) {
  const fs_stream_ring *r = &x->v->s->rings[x->l->ring0 + k];
  fs_vown a = fs_vloop_own(x, r->arg);
  uint64_t last = a.offset + (r->depth - 1) * r->slot;
  if (!fs_tag_writes(a.tag) ||
      (fs_ring_entered(r) && !own_holds(x, r->arg, (fs_vbytes){last, last + r->size}, reads))) {
    FS_LOOP_WRONG(x, FS_DIAG_VERIFY_PLACE,
                  "loop %.60s: its op does not write the slots of %.40s, or read what is there on "
                  "entry",
                  x->name, buffer_name(x, a.buffer));
  }
}

/* The run of bytes in iteration 0 that the written arg is part of, with all that moves alike. */
static fs_vbytes written_run(const fs_vloop *x, const fs_stream_loop_arg *a) {
  fs_vbytes run = {a->offset, a->offset + a->length};
  for (uint32_t k = 0; k < x->n_accesses; k++) {
    const fs_stream_loop_arg *b = arg_of(x, &x->access[k]);
    bool like = writes_whole(x, &x->access[k]) && of_one_kind(x, a, b) && b->step == a->step &&
                b->ring == FS_NONE && is_one_run(x, b) && b->offset <= run.high &&
                run.low <= b->offset + b->length;
    if (like && (b->offset < run.low || b->offset + b->length > run.high)) {
      run.low = fs_min(run.low, b->offset);
      run.high = fs_max(run.high, b->offset + b->length);
      k = UINT32_MAX; /* begins anew */
    }
  }
  return run;
}

/* Whether a view leaves no gaps in the bytes that it writes in the fewest iterations: steps and
 * strides join what is there, the smallest first. */
static bool fills(const fs_vloop *x, const fs_stream_loop_arg *a, fs_vbytes *all) {
  fs_view v = fs_stream_placed(fs_stream_loop_view_of(x->v->s, (uint32_t)(a - x->v->s->loop_args)),
                               a->offset);
  fs_view_runs runs = fs_view_runs_of(&v);
  uint64_t length = runs.run, step = a->step < 0 ? (uint64_t)-a->step : (uint64_t)a->step;
  uint64_t n = x->l->least;
  bool stepped = step == 0 || n == 1;
  for (uint32_t d = runs.n_dims; n > 0 && (d > 0 || !stepped);) { /* ascending in strides */
    bool next = !stepped && (d == 0 || step <= runs.stride[d - 1]);
    uint64_t by = next ? step : runs.stride[d - 1], times = next ? n : runs.shape[d - 1];
    if (by > length) {
      return false;
    }
    length += by * (times - 1);
    stepped = stepped || next;
    d -= !next;
  }
  uint64_t down = a->step < 0 ? step * (n - 1) : 0;
  *all = (fs_vbytes){a->offset - down, a->offset - down + length};
  return n > 0;
}

/* Whether the body writes all bytes that an own arg writes. */
static fs_status writes_all(own_walk *w, uint32_t own_arg, bool *yes) {
  fs_vloop *x = w->x;
  fs_vown own = fs_vloop_own(x, own_arg);
  uint32_t set = FS_NONE;
  for (uint32_t k = x->l->ring0; k < x->l->ring0 + x->l->n_rings; k++) {
    const fs_stream_ring *r = &x->v->s->rings[k];
    if (r->arg == own_arg && r->depth == 1 && x->l->least > 0) { /* each iteration begins it */
      w->slots = 0;
      FS_TRY(write_version(w, &set, (uint32_t)(x->l - x->v->s->loops), k, own.offset));
    }
  }
  for (uint32_t k = 0; k < x->n_accesses; k++) {
    const fs_stream_loop_arg *a = arg_of(x, &x->access[k]);
    if (!writes_whole(x, &x->access[k]) || a->buffer != own.buffer || a->ring != FS_NONE ||
        !fs_vloop_alike(x->v->s, x->l, a->own, own_arg)) {
      continue;
    }
    if (!is_one_run(x, a)) {
      fs_vbytes all;
      FS_TRY(fills(x, a, &all) ? write_bytes(w, &set, all) : FSCHED_OK);
      continue;
    }
    fs_vbytes run = written_run(x, a);
    fs_stream_loop_arg all = *a;
    all.offset = run.low;
    all.length = run.high - run.low;
    if (x->l->least > 0 && (x->l->least == 1 || leaves_no_gaps(&all))) {
      FS_TRY(write_bytes(w, &set, fs_vloop_hull(x, &all, x->l->least - 1)));
    }
  }
  uint64_t end = own.offset + own.length; /* it may pass the end at first, and move down */
  if (x->inner) {
    const fs_stream *s = x->v->s;
    end = fs_min(end, fs_vloop_limit(s, &s->loops[x->l->within], &s->loop_args[own_arg]));
  }
  FS_TRY(are_written(w, set, (fs_vbytes){own.offset, end}, yes));
  fs_ranges_clear(&w->ranges, &set);
  return FSCHED_OK;
}

static fs_status mark_parts(own_walk *w) {
  const fs_vloop *x = w->x;
  uint8_t *part = x->inner ? x->v->in_loop_part : x->v->in_part;
  for (uint32_t i = x->own0; i < x->own0 + x->n_own; i++) {
    bool all = true;
    if (fs_tag_writes_over(fs_vloop_own(x, i).tag)) {
      FS_TRY(writes_all(w, i, &all));
    }
    part[i] = !all;
  }
  return FSCHED_OK;
}

/* The arg by which the writer of a ring begins its versions; FS_NONE. */
static uint32_t begin_of(const fs_stream *s, uint32_t ring) {
  const fs_stream_loop_op *o = &s->loop_ops[s->rings[ring].writer];
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    if (s->loop_args[i].ring == ring && fs_tag_begins(s->loop_args[i].tag)) {
      return i;
    }
  }
  return FS_NONE;
}

/* What is read of versions that a loop in the loop begins was written: of its slots it may have
 * written a few alone. */
static fs_status check_begun(own_walk *w) {
  fs_vloop *x = w->x;
  const fs_stream *s = x->v->s;
  for (uint32_t k = 0; k < x->n_accesses; k++) {
    const fs_stream_loop_arg *a = arg_of(x, &x->access[k]);
    uint32_t inner = a->ring == FS_NONE ? FS_NONE : s->loop_ops[s->rings[a->ring].writer].loop;
    uint32_t begin = inner == FS_NONE ? FS_NONE : begin_of(s, a->ring), set = FS_NONE;
    if (!reads(a->tag) || begin == FS_NONE) {
      continue;
    }
    bool right;
    uint64_t size = s->rings[a->ring].size;
    fs_vbytes read = {fs_min(a->offset, size), fs_min(a->offset + a->length, size)};
    w->slots = 0;
    FS_TRY(write_slots(w, &set, inner, begin, 0));
    FS_TRY(are_written(w, set, read, &right));
    fs_ranges_clear(&w->ranges, &set);
    FS_TRY(right ? FSCHED_OK : not_written(w, &x->access[k], 0));
  }
  return FSCHED_OK;
}

static fs_status check_hulls(own_walk *w, fs_arena *arena) {
  fs_vloop *x = w->x;
  bool any = false;
  FS_TRY(fs_new_zero(arena, &w->own, x->n_accesses));
  for (uint32_t k = 0; k < x->n_accesses; k++) {
    if (arg_of(x, &x->access[k])->ring == FS_NONE) {
      check_hull(x, &x->access[k], &w->own[k]);
    }
    any = any || w->own[k];
  }
  for (uint32_t k = 0; k < x->l->n_rings; k++) {
    check_ring(x, k);
  }
  FS_TRY(mark_parts(w));
  FS_TRY(check_begun(w));
  return any ? walk_loop(w, arena) : FSCHED_OK;
}

fs_status fs_vloop_hulls(fs_vloop *x) {
  assert(x->access != NULL || x->n_accesses == 0);
  FS_SCRATCH(scratch, x->v->ctx);
  own_walk w = {.x = x};
  fs_ranges_init(&w.ranges, x->v->ctx);
  fs_status status = check_hulls(&w, &scratch);
  fs_ranges_release(&w.ranges);
  return status;
}
