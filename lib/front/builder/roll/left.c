/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop may leave as it is, as its trips are a parameter and it writes less with few, or as
 * what it writes leaves gaps.
 *
 * Of a buffer from outside, its op keeps what is there before it: that is read, too.  Of the rest
 * nothing may be read behind it.  A buffer with slots has the one that lies behind the loop before
 * it, too, as far as bytes are there:
 *
 *        slot 0   slot 1   slot 2       begin                  writes slot 2
 *       [       )[       )[ there )     loop, 0 to 9 times     reads slot 2, writes all
 *                                       last                   reads slot 2
 */
#include "base/saturate.h"
#include "front/builder/roll/progression.h"
#include "front/builder/roll/roll.h"

typedef struct left_finder {
  const fs_roller *r;
  uint32_t loop, buffer;
  const fs_moving_draft *way; /* how the loop's args move */
  fs_left_bytes written, before;
} left_finder;

/* Whether two args move alike with the loops around the one at hand; neither needs to be in it. */
static bool moves_alike(const left_finder *f, const fs_moving_draft *m) {
  const int64_t *step = f->r->b->step.at;
  const fs_moving_draft *n = f->way;
  bool alike = true;
  for (uint32_t i = 0; alike && i + 1 < f->r->level; i++) {
    int64_t x = m == NULL || i >= m->n_steps ? 0 : step[m->step0 + i];
    int64_t y = n == NULL || i >= n->n_steps ? 0 : step[n->step0 + i];
    alike = x == y;
  }
  return alike;
}

/* The bytes that an arg outside of the loop accesses, in all iterations of its own loop if that is
 * at hand; all, as far as is known, if it moves unlike the loop's. */
static fs_left_bytes bytes_outside(const left_finder *f, uint32_t op, uint32_t arg) {
  const fs_roller *r = f->r;
  const fs_arg_draft *a = &r->b->arg.at[arg];
  fs_left_bytes x = {a->offset, a->offset + a->u.length};
  uint32_t loop = r->in.loop_of[op];
  if (!moves_alike(f, fs_roller_moving(r, op, arg))) {
    return (fs_left_bytes){0, UINT64_MAX};
  }
  if (loop != FS_NONE && r->b->loop.at[loop].depth == r->level) {
    fs_roller_hull(r, op, arg, r->in.trip[loop], &x.low, &x.high);
  }
  return x;
}

/* Finds the bytes that ops before the loop have written. */
static void find_before(left_finder *f) {
  const fsched_builder *b = f->r->b;
  if (fs_io_given(b->buffer_io.at[f->buffer]) || fs_roller_has_slots(f->r, f->buffer)) {
    f->before = (fs_left_bytes){0, UINT64_MAX};
    return;
  }
  f->before = (fs_left_bytes){UINT64_MAX, 0};
  for (uint32_t op = 0; op < b->loop.at[f->loop].op0; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      const fs_arg_draft *a = &b->arg.at[arg];
      if (fs_tag_writes(a->tag) && a->buffer == f->buffer && fs_roller_op_runs(f->r, op)) {
        fs_left_bytes x = bytes_outside(f, op, arg);
        f->before.low = fs_min(f->before.low, x.low);
        f->before.high = fs_max(f->before.high, x.high);
      }
    }
  }
}

/* The bytes that an arg writes in any case, without gaps, in the fewest iterations of its own loop
 * if that is at hand. */
static fs_left_bytes surely_written(const left_finder *f, uint32_t op, uint32_t arg) {
  const fs_roller *r = f->r;
  const fs_arg_draft *a = &r->b->arg.at[arg];
  const fs_moving_draft *m = fs_roller_moving(r, op, arg);
  fs_left_bytes x = {a->offset, a->offset + a->u.length};
  uint32_t loop = r->in.loop_of[op];
  bool at_hand = loop != FS_NONE && r->b->loop.at[loop].depth == r->level;
  bool gaps = a->view != FS_NONE && fs_view_runs_of(&r->b->view.at[a->view]).n_dims > 0;
  if (gaps || !moves_alike(f, m) || (at_hand && r->in.least[loop] == 0)) {
    return (fs_left_bytes){UINT64_MAX, 0};
  }
  int64_t step = at_hand ? fs_roller_step(r, m) : 0;
  if ((uint64_t)(step < 0 ? -step : step) <= a->u.length && step != 0) {
    fs_roller_hull(r, op, arg, r->in.least[loop], &x.low, &x.high);
  }
  return x;
}

/* How far from a place on bytes are surely written by some op before the loop. */
static uint64_t written_to(const left_finder *f, uint64_t from) {
  const fsched_builder *b = f->r->b;
  uint64_t to = from;
  for (uint32_t op = 0; op < b->loop.at[f->loop].op0; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      const fs_arg_draft *a = &b->arg.at[arg];
      if (fs_tag_writes(a->tag) && a->buffer == f->buffer && fs_roller_op_runs(f->r, op)) {
        fs_left_bytes x = surely_written(f, op, arg);
        to = x.low <= from && x.high > to ? x.high : to;
      }
    }
  }
  return to;
}

/* Whether an op reads bytes that the loop writes, and of which not all were there before. */
static bool reads_more(const left_finder *f, uint32_t op) {
  const fsched_builder *b = f->r->b;
  bool more = false;
  for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op) && !more; arg++) {
    const fs_arg_draft *a = &b->arg.at[arg];
    if (fs_tag_reads(a->tag) && a->buffer == f->buffer) {
      fs_left_bytes x = bytes_outside(f, op, arg);
      uint64_t at = fs_max(x.low, f->written.low), end = fs_min(x.high, f->written.high);
      for (uint64_t to = at; at < end && !more; at = to) {
        to = written_to(f, at);
        more = to == at;
      }
    }
  }
  return more;
}

/* Whether something is in the buffer before all loops around. */
static bool is_there_outside(const left_finder *f) {
  const fsched_builder *b = f->r->b;
  bool there = false;
  for (uint32_t op = 0; op < b->loop.at[fs_loop_outermost(b, f->loop)].op0 && !there; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      const fs_arg_draft *a = &b->arg.at[arg];
      there = there || (fs_tag_writes(a->tag) && a->buffer == f->buffer);
    }
  }
  return there;
}

/* Whether an op behind the loop, or one before it in a loop around it, does so. */
static bool more_is_read(const left_finder *f) {
  const fs_roller *r = f->r;
  const fs_loop_draft *l = fs_loop_at(r->b, f->loop);
  bool more = false;
  for (uint32_t op = 0; op < r->in.n_ops && !more; op++) {
    bool around =
        l->parent != FS_NONE && fs_loop_around_both(r->b, r->in.loop_of[op], l->parent) != FS_NONE;
    bool later = op >= l->op_end || (around && op < l->op0);
    more = later && fs_roller_op_runs(r, op) && reads_more(f, op);
  }
  return more;
}

enum { MOST_PROGRESSIONS = 64 };

/* What an arg touches in the fewest iterations of its loop, which is at hand. */
static fs_progression progression_of(const fs_roller *r, uint32_t op, uint32_t arg) {
  const fs_arg_draft *a = &r->b->arg.at[arg];
  int64_t step = fs_roller_step(r, fs_roller_moving(r, op, arg));
  uint64_t trip = r->in.least[r->in.loop_of[op]];
  fs_view_runs runs =
      a->view == FS_NONE ? fs_view_range(0, a->u.length) : fs_view_runs_of(&r->b->view.at[a->view]);
  fs_progression p = {.low = a->offset, .length = runs.run, .n = runs.n_dims};
  for (uint32_t d = 0; d < runs.n_dims; d++) {
    p.step[d] = runs.stride[d];
    p.trip[d] = runs.shape[d];
  }
  if (step != 0 && trip > 1) {
    p.low -= step < 0 ? (uint64_t)-step * (trip - 1) : 0;
    p.step[p.n] = step < 0 ? (uint64_t)-step : (uint64_t)step;
    p.trip[p.n++] = trip;
  }
  fs_progression_close(&p);
  return p;
}

/* Adds a progression of a range, joined with those that adjoin it and are like it.  The verifier
 * looks at views one by one, too. */
static void add_progression(fs_progression *at, uint32_t *n, fs_progression p) {
  for (uint32_t i = 0; i < *n; i++) {
    if (fs_progression_alike(&p, &at[i]) && p.low <= at[i].low + at[i].length &&
        at[i].low <= p.low + p.length) {
      uint64_t end = fs_max(at[i].low + at[i].length, p.low + p.length);
      p.low = fs_min(at[i].low, p.low);
      p.length = end - p.low;
      fs_progression_close(&p);
      at[i] = at[--*n];
      i = UINT32_MAX; /* begins anew */
    }
  }
  at[(*n)++] = p;
}

bool fs_roller_fills(const fs_roller *r, uint32_t loop, uint32_t op, uint32_t arg, uint64_t low,
                     uint64_t high) {
  const fsched_builder *b = r->b;
  const fs_loop_draft *l = fs_loop_at(b, loop);
  const fs_moving_draft *way = fs_roller_moving(r, op, arg);
  uint32_t buffer = b->arg.at[arg].buffer, n = 0;
  fs_progression at[MOST_PROGRESSIONS];
  if (r->in.least[loop] == 0) {
    return false;
  }
  for (op = l->op0; op < l->op_end; op++) {
    for (arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      const fs_arg_draft *a = &b->arg.at[arg];
      if (fs_tag_writes(a->tag) && a->buffer == buffer && n < MOST_PROGRESSIONS &&
          fs_roller_moves_alike(r, fs_roller_moving(r, op, arg), way)) {
        fs_progression p = progression_of(r, op, arg);
        if (a->view == FS_NONE) {
          add_progression(at, &n, p);
        } else if (p.n == 0) {
          at[n++] = p;
        }
      }
    }
  }
  uint64_t to = low;
  for (uint32_t i = 0; i < n && to < high; i++) {
    if (at[i].n == 0 && at[i].low <= to && at[i].low + at[i].length > to) {
      to = at[i].low + at[i].length;
      i = UINT32_MAX; /* begins anew */
    }
  }
  return to >= high;
}

fs_status fs_roller_left(fs_roller *r, uint32_t loop, uint32_t op, uint32_t arg,
                         fs_left_bytes written, bool there, fs_left_bytes *out) {
  assert(loop < r->b->loop.n && arg < r->b->arg.n);
  left_finder f = {.r = r, .loop = loop, .buffer = r->b->arg.at[arg].buffer, .written = written};
  f.way = fs_roller_moving(r, op, arg);
  *out = (fs_left_bytes){UINT64_MAX, 0};
  if (!fs_roller_varies(r, loop) || written.low >= written.high ||
      fs_roller_writes_all(r, loop, op, arg, written.low, written.high) ||
      (!there && !fs_roller_is_read_later(r, loop, f.buffer))) {
    return FSCHED_OK;
  }
  find_before(&f);
  bool all = f.before.low <= written.low && f.before.high >= written.high;
  bool known = fs_io_given(r->b->buffer_io.at[f.buffer]) || fs_roller_has_slots(r, f.buffer) ||
               (all && is_there_outside(&f)); /* then it is seen behind the contraction */
  if (!known && more_is_read(&f)) {
    return fs_roller_unsupported(r, loop,
                                 "its trips are a parameter, and with few it leaves bytes that are "
                                 "read as nothing has written them");
  }
  out->low = fs_max(f.before.low, written.low);
  out->high = fs_min(f.before.high, written.high);
  return FSCHED_OK;
}
