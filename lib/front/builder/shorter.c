/* SPDX-License-Identifier: Apache-2.0 */
/* Shorter loops.
 *
 * The bytes of a buffer over which accesses move are rows of rows: with the steps 64 and 4, byte
 * 204 is in row 3, and there at place 3.  All loops that move over places of one kind are cut by
 * the same number of iterations, and that many places are left out where all of them pass, and
 * where nothing begins or ends that does not move:
 *
 *     writes x[i], i < 100      ----------------------        ------......------
 *     reads x[i + 1], i < 99     ---------------------   ->    -----......------
 *     reads x[0 .. 3]           ----                          ----
 *
 * What is left are the loops with fewer iterations over a smaller buffer.  Rows become shorter, and
 * with them the steps that are whole rows.
 *
 * Of a buffer that nothing writes no rows are needed.
 *
 * Accesses of another buffer of which some move unlike each other, or are many steps apart, have no such
 * form: then no shorter loops are known that leave as much to each other.
 *
 * How much is left beside the cuts is tried: first as much as shows what iterations far apart owe
 * each other, then less, until few enough instances are left. */
#include "front/builder/shorter.h"

#include "base/saturate.h"

enum { MOST_DIMS = 8, MOST_CUTS = 8, MARGIN = 4, MOST_LOOPS = 128 };

/* Loops that move over places of one kind in a buffer, and pass some that others of them do. */
typedef struct row_cut {
  uint64_t first, end;   /* what any of them passes */
  uint64_t low, high;    /* what all pass that are cut */
  uint32_t loop;         /* one of these */
  uint64_t gap_low, gap; /* where nothing else begins or ends */
  uint64_t at, removed;  /* so many places from this one on are left out */
} row_cut;

typedef struct row_dim {
  uint64_t step, short_step; /* bytes from a place to the next, and what is left of these */
  row_cut cut[MOST_CUTS];
  uint32_t n_cuts;
} row_dim;

typedef struct buffer_rows {
  row_dim dim[MOST_DIMS]; /* by descending steps */
  uint32_t n_dims;
  bool wide;
  bool written; /* else nothing of it is owed to anyone, however it is read */
} buffer_rows;

/* Where an access is in places of one kind: where it begins in its first iteration, how far it
 * moves down and up from there, and how far it reaches. */
typedef struct row_span {
  uint64_t first, down, up, reach;
  uint32_t loop; /* a long one that it moves with; FS_NONE: there is none */
} row_span;

typedef struct loop_shortener {
  fsched_builder *b;
  fs_arena *scratch;
  const uint64_t *trip;
  fs_shorter *out;
  uint32_t *loop_of;              /* per op */
  bool *runs;                     /* per op */
  uint32_t *op_of;                /* per arg */
  const fs_moving_draft **moving; /* per arg; NULL: it does not move */
  buffer_rows *rows;              /* per buffer */
  uint64_t *keep;                 /* per loop: iterations that are to be left */
  uint32_t *group;                /* per loop: another one that is cut alike, or itself */
  uint64_t most_far;              /* steps by which accesses may be apart */
  bool clipped;                   /* what is said is farther apart than what is left */
} loop_shortener;

/* --- tables --- */

static fs_status make_tables(loop_shortener *s) {
  fsched_builder *b = s->b;
  fs_arena *scratch = s->scratch;
  FS_TRY(fs_new_none(scratch, &s->loop_of, b->op.n));
  FS_TRY(fs_new(scratch, &s->runs, b->op.n));
  FS_TRY(fs_new(scratch, &s->op_of, b->arg.n));
  FS_TRY(fs_new_zero(scratch, &s->moving, b->arg.n));
  FS_TRY(fs_new(scratch, &s->rows, b->buffer_size.n));
  FS_TRY(fs_new(scratch, &s->keep, b->loop.n));
  FS_TRY(fs_new(scratch, &s->group, b->loop.n));
  FS_TRY(fs_new(scratch, &s->out->trip, b->loop.n));
  FS_TRY(fs_new(scratch, &s->out->removed, b->loop.n));
  for (uint32_t l = 0; l < b->loop.n; l++) { /* those inside come later */
    for (uint32_t op = b->loop.at[l].op0; op < b->loop.at[l].op_end; op++) {
      s->loop_of[op] = l;
    }
  }
  for (uint32_t op = 0; op < b->op.n; op++) {
    s->runs[op] = true;
    for (uint32_t l = s->loop_of[op]; l != FS_NONE; l = fs_loop_at(b, l)->parent) {
      s->runs[op] = s->runs[op] && s->trip[l] > 0;
    }
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      s->op_of[arg] = op;
    }
  }
  for (size_t m = 0; m < b->moving.n; m++) {
    if (b->moving.at[m].n_steps > 0) {
      s->moving[b->moving.at[m].arg] = &b->moving.at[m];
    }
  }
  return FSCHED_OK;
}

/* The number of instances of ops. */
static uint64_t count_instances(const loop_shortener *s, const uint64_t *trip) {
  uint64_t n = 0;
  for (uint32_t op = 0; op < s->b->op.n; op++) {
    uint64_t runs = 1;
    for (uint32_t l = s->loop_of[op]; l != FS_NONE; l = fs_loop_at(s->b, l)->parent) {
      runs = fs_multiply_most(runs, trip[l]);
    }
    n = fs_add_most(n, runs);
  }
  return n;
}

/* Whether an arg is of bytes of a buffer, of an op that runs. */
static bool is_placed(const loop_shortener *s, uint32_t arg) {
  return fs_tag_names_buffer(s->b->arg.at[arg].tag) && s->runs[s->op_of[arg]];
}

static uint64_t length_of(int64_t step) { return step < 0 ? (uint64_t)-step : (uint64_t)step; }

/* The loops around an arg's op with their steps, from the innermost one. */
typedef struct arg_steps {
  const loop_shortener *s;
  const fs_moving_draft *m;
  uint32_t loop, i;
} arg_steps;

static arg_steps steps_of(const loop_shortener *s, uint32_t arg) {
  const fs_moving_draft *m = s->moving[arg];
  return (arg_steps){s, m, s->loop_of[s->op_of[arg]], m == NULL ? 0 : m->n_steps};
}

/* The next loop with which the arg moves; false: there is none. */
static bool next_step(arg_steps *a, uint32_t *loop, int64_t *step) {
  bool found = false;
  while (!found && a->i > 0) {
    a->i--;
    *loop = a->loop;
    *step = a->s->b->step.at[a->m->step0 + a->i];
    found = *step != 0 && a->s->trip[a->loop] > 1;
    a->loop = fs_loop_at(a->s->b, a->loop)->parent;
  }
  return found;
}

/* --- rows --- */

/* Adds the places of a step to those of a buffer. */
static void add_dim(buffer_rows *x, uint64_t step) {
  uint32_t at = 0;
  while (at < x->n_dims && x->dim[at].step > step) {
    at++;
  }
  if (at < x->n_dims && x->dim[at].step == step) {
    return;
  }
  if (x->n_dims == MOST_DIMS) {
    x->wide = true;
    return;
  }
  memmove(&x->dim[at + 1], &x->dim[at], (x->n_dims - at) * sizeof x->dim[0]);
  x->dim[at] = (row_dim){.step = step, .short_step = step};
  x->n_dims++;
}

static void find_dims(loop_shortener *s) {
  for (uint32_t i = 0; i < s->b->buffer_size.n; i++) {
    s->rows[i] = (buffer_rows){.wide = true};
  }
  for (uint32_t arg = 0; arg < s->b->arg.n; arg++) {
    const fs_arg_draft *a = &s->b->arg.at[arg];
    if (is_placed(s, arg) && !fs_tag_only_reads(a->tag)) {
      s->rows[a->buffer] = (buffer_rows){.written = true};
    }
  }
  for (uint32_t arg = 0; arg < s->b->arg.n; arg++) {
    uint32_t loop;
    int64_t step;
    arg_steps a = steps_of(s, arg);
    while (is_placed(s, arg) && next_step(&a, &loop, &step) &&
           s->rows[s->b->arg.at[arg].buffer].written) {
      add_dim(&s->rows[s->b->arg.at[arg].buffer], length_of(step));
    }
  }
}

/* The place of a byte in its row of dimension d; *rest: what it is behind that. */
static uint64_t place_of(const buffer_rows *x, uint32_t d, uint64_t byte, uint64_t *rest) {
  uint64_t row = d == 0 ? byte : byte % x->dim[d - 1].step;
  *rest = row % x->dim[d].step;
  return row / x->dim[d].step;
}

static bool is_long(const loop_shortener *s, uint32_t loop) {
  return s->trip[loop] > s->keep[loop];
}

/* Where an access is in places of dimension d.  `down` that is more than `first` leaves its row. */
static row_span span_of(const loop_shortener *s, uint32_t arg, uint32_t d) {
  const fs_arg_draft *a = &s->b->arg.at[arg];
  const buffer_rows *x = &s->rows[a->buffer];
  uint64_t rest, step = x->dim[d].step;
  row_span y = {.first = place_of(x, d, a->offset, &rest), .loop = FS_NONE};
  y.reach = (fs_add_most(rest, fs_max(a->u.length, 1)) - 1) / step + 1;
  uint32_t loop;
  int64_t way;
  for (arg_steps at = steps_of(s, arg); next_step(&at, &loop, &way);) {
    if (length_of(way) == step) {
      uint64_t *to = way < 0 ? &y.down : &y.up;
      *to = fs_add_most(*to, s->trip[loop] - 1);
      y.loop = is_long(s, loop) ? loop : y.loop;
    }
  }
  return y;
}

/* Whether an access stays within rows, and moves with one long loop over places of a kind. */
static bool fits_rows(const loop_shortener *s, uint32_t arg) {
  const fs_arg_draft *a = &s->b->arg.at[arg];
  const buffer_rows *x = &s->rows[a->buffer];
  bool fits = true;
  for (uint32_t d = 0; d < x->n_dims && fits; d++) {
    uint32_t n = 0, loop;
    int64_t way;
    for (arg_steps at = steps_of(s, arg); next_step(&at, &loop, &way);) {
      n += length_of(way) == x->dim[d].step && is_long(s, loop);
    }
    row_span y = span_of(s, arg, d);
    uint64_t rest, last = fs_add_most(y.first, y.up);
    (void)place_of(x, d, a->offset, &rest);
    bool inside =
        d == 0 || fs_add_most(fs_multiply_most(last, x->dim[d].step), rest) < x->dim[d - 1].step;
    fits = n <= 1 && y.down <= y.first && inside;
  }
  return fits;
}

static uint32_t group_of(const loop_shortener *s, uint32_t loop) {
  while (s->group[loop] != loop) {
    loop = s->group[loop];
  }
  return loop;
}

/* Notes the places that all long loops pass, and how far apart accesses are there: then iterations
 * owe each other as much, or the buffer has no rows. */
/* Whether an arg is of a buffer and moves over places of dimension d with a long loop; *y: how. */
static bool is_cut(const loop_shortener *s, uint32_t arg, uint32_t buffer, uint32_t d,
                   row_span *y) {
  if (!is_placed(s, arg) || s->b->arg.at[arg].buffer != buffer) {
    return false;
  }
  *y = span_of(s, arg, d);
  return y->loop != FS_NONE;
}

/* Adds what an access passes to that of others with which it has places in common.  Returns whether
 * there is room for it. */
static bool add_span(row_dim *x, const row_span *y) {
  row_cut c = {.first = y->first - y->down, .end = y->first + y->up + y->reach, .loop = y->loop};
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->n_cuts; i++) {
    const row_cut *other = &x->cut[i];
    if (other->first < c.end && c.first < other->end) {
      c.first = fs_min(c.first, other->first);
      c.end = fs_max(c.end, other->end);
    } else {
      x->cut[n++] = *other;
    }
  }
  x->n_cuts = n;
  if (n == MOST_CUTS) {
    return false;
  }
  x->cut[x->n_cuts++] = c;
  return true;
}

/* Notes what all loops of a cut pass, and how far apart they are: then their iterations owe each
 * other as much, or the buffer has no rows. */
static void join_loops(loop_shortener *s, uint32_t buffer, uint32_t d, row_cut *x) {
  uint64_t low[2] = {UINT64_MAX, 0}, high[2] = {UINT64_MAX, 0}, reach = 0;
  row_span y;
  for (uint32_t arg = 0; arg < s->b->arg.n; arg++) {
    if (is_cut(s, arg, buffer, d, &y) && y.first >= x->first && y.first < x->end) {
      uint64_t first = y.first - y.down, last = y.first + y.up;
      low[0] = fs_min(low[0], first), low[1] = fs_max(low[1], first);
      high[0] = fs_min(high[0], last), high[1] = fs_max(high[1], last);
      reach = fs_max(reach, y.reach);
      s->group[group_of(s, y.loop)] = group_of(s, x->loop);
    }
  }
  uint64_t far = fs_max(low[1] - low[0], high[1] - high[0]) + reach;
  s->rows[buffer].wide |= far > s->most_far;
  x->low = low[1] + reach;
  x->high = fs_max(high[0], x->low);
  for (uint32_t l = 0; l < s->b->loop.n; l++) {
    if (far <= s->most_far && group_of(s, l) == group_of(s, x->loop)) {
      s->keep[l] = fs_max(s->keep[l], 2 * far + MARGIN);
    }
  }
}

static void join_dim(loop_shortener *s, uint32_t buffer, uint32_t d) {
  buffer_rows *rows = &s->rows[buffer];
  row_dim *x = &rows->dim[d];
  row_span y;
  x->n_cuts = 0;
  for (uint32_t arg = 0; arg < s->b->arg.n && !rows->wide; arg++) {
    rows->wide = is_cut(s, arg, buffer, d, &y) && !add_span(x, &y);
  }
  for (uint32_t i = 0; i < x->n_cuts && !rows->wide; i++) {
    join_loops(s, buffer, d, &x->cut[i]);
  }
}

/* --- cuts --- */

/* The next place from `from` on, before `end`, at which something begins or ends that does not move
 * over places of dimension d with a long loop; *behind: the first place behind it. */
static uint64_t next_obstacle(const loop_shortener *s, uint32_t buffer, uint32_t d, uint64_t from,
                              uint64_t end, uint64_t *behind) {
  const fsched_builder *b = s->b;
  const buffer_rows *x = &s->rows[buffer];
  uint64_t found = end;
  *behind = end;
  for (uint32_t arg = 0; arg < b->arg.n; arg++) {
    const fs_arg_draft *a = &b->arg.at[arg];
    if (!is_placed(s, arg) || a->buffer != buffer) {
      continue;
    }
    row_span y = span_of(s, arg, d);
    if (y.loop != FS_NONE) {
      continue;
    }
    uint64_t rest, last = place_of(x, d, a->offset + a->u.length, &rest);
    bool whole = a->view != FS_NONE || y.down > 0 || y.up > 0;
    uint64_t low[2] = {y.first - y.down, last}, high[2] = {y.first, last};
    if (whole) {
      low[0] = low[1] = y.first - y.down;
      high[0] = high[1] = y.first + y.up + y.reach;
    }
    for (uint32_t i = 0; i < 2; i++) {
      uint64_t at = fs_max(low[i], from);
      if (high[i] >= from && at < found) {
        found = at;
        *behind = high[i] + 1;
      } else if (high[i] >= from && at == found && found < end) {
        *behind = fs_max(*behind, high[i] + 1);
      }
    }
  }
  return found;
}

/* Finds the longest run of places without obstacles.  Complexity: O(args^2) at worst. */
static void find_gap(loop_shortener *s, uint32_t buffer, uint32_t d, row_cut *x) {
  x->gap = 0;
  for (uint64_t from = x->low; from < x->high;) {
    uint64_t behind, to = next_obstacle(s, buffer, d, from, x->high, &behind);
    if (to - from > x->gap) {
      x->gap = to - from;
      x->gap_low = from;
    }
    from = fs_max(behind, to + 1);
  }
}

/* A walk over the cuts of all buffers that have rows:
 *
 *     for (cut_walk w = {.cut = 0}; next_cut(s, &w);) {  ... w.x ...  } */
typedef struct cut_walk {
  uint32_t buffer, d, cut; /* of the next one */
  uint32_t x_buffer, x_d;
  row_cut *x;
} cut_walk;

static bool next_cut(const loop_shortener *s, cut_walk *w) {
  for (; w->buffer < s->b->buffer_size.n; w->buffer++, w->d = 0) {
    buffer_rows *rows = &s->rows[w->buffer];
    for (; !rows->wide && w->d < rows->n_dims; w->d++, w->cut = 0) {
      if (w->cut < rows->dim[w->d].n_cuts) {
        w->x_buffer = w->buffer;
        w->x_d = w->d;
        w->x = &rows->dim[w->d].cut[w->cut++];
        return true;
      }
    }
  }
  return false;
}

/* How many iterations of a group of loops are left out: an even number, so that those that move
 * towards each other meet as before. */
static uint64_t removed_of(const loop_shortener *s, uint32_t group) {
  uint64_t keep = 0, most = UINT64_MAX;
  for (uint32_t l = 0; l < s->b->loop.n; l++) {
    if (group_of(s, l) == group) {
      keep = fs_max(keep, s->keep[l]);
      most = fs_min(most, s->trip[l]);
    }
  }
  for (cut_walk w = {.cut = 0}; next_cut(s, &w);) {
    if (group_of(s, w.x->loop) == group) {
      most = fs_min(most, w.x->gap);
    }
  }
  return most > keep ? (most - keep) & ~UINT64_C(1) : 0;
}

/* Longest distance that an op, an `after` or a ring says itself. */
static void keep_said(loop_shortener *s) {
  const fsched_builder *b = s->b;
  uint64_t most = fs_max(s->most_far, 1);
  s->clipped = false;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    s->keep[l] = s->most_far == 0 ? 2 : 2 + MARGIN;
    s->group[l] = l;
  }
  for (size_t m = 0; m < b->moving.n; m++) {
    uint32_t loop = s->loop_of[s->op_of[b->moving.at[m].arg]];
    uint64_t far = fs_min(b->moving.at[m].distance, most);
    s->clipped = s->clipped || b->moving.at[m].distance > most;
    s->keep[loop] = fs_max(s->keep[loop], 2 * far);
  }
  for (size_t i = 0; i < b->afters.item.n; i++) {
    const fs_item_draft *x = &b->afters.item.at[i];
    uint32_t other = x->b ? fs_loop_at(b, x->a)->parent : s->loop_of[x->a];
    uint32_t loop = fs_loop_around_both(b, s->loop_of[x->op], other);
    if (loop != FS_NONE) {
      s->clipped = s->clipped || x->amount > most;
      s->keep[loop] = fs_max(s->keep[loop], 2 * fs_min(x->amount, most));
    }
  }
  for (size_t i = 0; i < b->ring.n; i++) {
    const fs_ring_draft *x = &b->ring.at[i];
    uint64_t far = fs_min(fs_add_most(x->depth, x->every), most);
    s->keep[x->loop] = fs_max(s->keep[x->loop], 2 * far);
  }
}

/* Which buffers have rows, and which loops are cut alike.  A buffer that has none joins no loops,
 * so these are found anew without it. */
static void find_groups(loop_shortener *s) {
  const fsched_builder *b = s->b;
  for (bool again = true; again;) {
    again = false;
    keep_said(s);
    for (uint32_t arg = 0; arg < b->arg.n; arg++) {
      if (is_placed(s, arg) && !fits_rows(s, arg)) {
        s->rows[b->arg.at[arg].buffer].wide = true;
      }
    }
    for (uint32_t i = 0; i < b->buffer_size.n; i++) {
      buffer_rows *x = &s->rows[i];
      bool rows = !x->wide;
      for (uint32_t d = 0; d < x->n_dims && !x->wide; d++) {
        join_dim(s, i, d);
      }
      again = again || (rows && x->wide);
    }
  }
}

static void find_cuts(loop_shortener *s) {
  const fsched_builder *b = s->b;
  fs_shorter *out = s->out;
  find_dims(s);
  find_groups(s);
  for (cut_walk w = {.cut = 0}; next_cut(s, &w);) {
    find_gap(s, w.x_buffer, w.x_d, w.x);
  }
  for (uint32_t l = 0; l < b->loop.n; l++) {
    out->removed[l] = is_long(s, l) ? removed_of(s, group_of(s, l)) : 0;
    out->trip[l] = s->trip[l] - out->removed[l];
  }
  for (cut_walk w = {.cut = 0}; next_cut(s, &w);) {
    w.x->removed = out->removed[w.x->loop];
    w.x->at = w.x->gap_low + (w.x->gap - w.x->removed) / 2;
  }
}

/* --- the shorter builder --- */

/* What is left before a place; *inside: itself is left out. */
static uint64_t short_place(const row_dim *x, uint64_t place, bool *inside) {
  uint64_t left = place;
  *inside = false;
  for (uint32_t i = 0; i < x->n_cuts; i++) {
    const row_cut *y = &x->cut[i];
    left -= place > y->at ? fs_min(place - y->at, y->removed) : 0;
    *inside = *inside || (place >= y->at && place - y->at < y->removed);
  }
  return left;
}

/* What is left before a byte of a row of dimension d. */
static uint64_t short_byte(const buffer_rows *x, uint32_t d, uint64_t byte) {
  uint64_t before = 0;
  bool inside = false;
  for (; d < x->n_dims && !inside; d++) {
    const row_dim *y = &x->dim[d];
    before += short_place(y, byte / y->step, &inside) * y->short_step;
    byte = inside ? 0 : byte % y->step;
  }
  return before + byte;
}

static void find_short_steps(buffer_rows *x) {
  for (uint32_t d = x->n_dims; d-- > 0;) {
    x->dim[d].short_step = short_byte(x, d + 1, x->dim[d].step);
  }
}

/* A distance between bytes, as far as it is whole rows and places. */
static uint64_t short_stride(const buffer_rows *x, uint64_t stride) {
  uint64_t to = 0;
  for (uint32_t d = 0; d < x->n_dims; d++) {
    to += stride / x->dim[d].step * x->dim[d].short_step;
    stride %= x->dim[d].step;
  }
  return to + stride;
}

static fs_status shorten_view(loop_shortener *s, const buffer_rows *x, fs_arg_draft *a) {
  fsched_builder *b = s->b;
  fs_view v = b->view.at[a->view];
  for (uint32_t i = 0; i < v.n_dims; i++) {
    v.stride[i] = short_stride(x, v.stride[i]);
  }
  a->offset = short_byte(x, 0, a->offset);
  a->u.length = fs_view_end(&v) - v.offset;
  a->view = (uint32_t)b->view.n;
  return fs_vec_push(b->ctx, &b->view, v);
}

static fs_status shorten_arg(loop_shortener *s, uint32_t arg) {
  fs_arg_draft *a = &s->b->arg.at[arg];
  const buffer_rows *x = &s->rows[a->buffer];
  if (x->wide) {
    return FSCHED_OK; /* it does not move */
  }
  if (a->view != FS_NONE) {
    return shorten_view(s, x, a);
  }
  uint64_t end = short_byte(x, 0, a->offset + a->u.length);
  a->offset = short_byte(x, 0, a->offset);
  a->u.length = end - a->offset;
  return FSCHED_OK;
}

static void shorten_steps(loop_shortener *s) {
  fsched_builder *b = s->b;
  for (size_t i = 0; i < b->moving.n; i++) {
    fs_moving_draft *m = &b->moving.at[i];
    const buffer_rows *x = &s->rows[b->arg.at[m->arg].buffer];
    m->n_steps = x->wide || !s->runs[s->op_of[m->arg]] ? 0 : m->n_steps;
    for (uint32_t k = 0; k < m->n_steps; k++) {
      int64_t *step = &b->step.at[m->step0 + k];
      uint64_t to = short_stride(x, length_of(*step));
      *step = *step < 0 ? -(int64_t)to : (int64_t)to;
    }
  }
}

static fs_status shorten(loop_shortener *s) {
  fsched_builder *b = s->b;
  for (uint32_t i = 0; i < b->buffer_size.n; i++) {
    find_short_steps(&s->rows[i]);
  }
  for (uint32_t arg = 0; arg < b->arg.n; arg++) {
    FS_TRY(is_placed(s, arg) ? shorten_arg(s, arg) : FSCHED_OK);
  }
  shorten_steps(s);
  for (uint32_t i = 0; i < b->buffer_size.n; i++) {
    b->buffer_size.at[i] =
        s->rows[i].wide ? b->buffer_size.at[i] : short_byte(&s->rows[i], 0, b->buffer_size.at[i]);
  }
  return FSCHED_OK;
}

/* Does an access move over a buffer that is written and has no rows?  Then what it leaves to others is not that of
 * fewer iterations. */
static bool moves_without_rows(const loop_shortener *s) {
  bool moves = false;
  for (uint32_t arg = 0; arg < s->b->arg.n && !moves; arg++) {
    const buffer_rows *x = &s->rows[s->b->arg.at[arg].buffer];
    moves = is_placed(s, arg) && s->moving[arg] != NULL && x->wide && x->written;
  }
  return moves;
}

fs_status fs_builder_shorten(fsched_builder *b, const uint64_t *trip, uint64_t most,
                             fs_arena *scratch, fs_shorter *out) {
  assert(!b->unrolled && !b->contracted && b->param.n == 0);
  static const uint64_t far[] = {64, 16, 6, 2};
  enum { TRIES = sizeof far / sizeof far[0] };
  loop_shortener s = {.b = b, .scratch = scratch, .trip = trip, .out = out};
  FS_TRY(make_tables(&s));
  for (uint32_t l = 0; l < b->loop.n; l++) {
    out->trip[l] = trip[l];
    out->removed[l] = 0;
  }
  out->whole = count_instances(&s, trip) <= most;
  if (out->whole) {
    return FSCHED_OK;
  }
  bool few = false;
  for (uint32_t i = 0; i < TRIES + 1 && !few && b->loop.n <= MOST_LOOPS; i++) {
    s.most_far = i < TRIES ? far[i] : 0;
    find_cuts(&s);
    few = count_instances(&s, out->trip) <= most;
  }
  out->unknown = b->loop.n > MOST_LOOPS || s.clipped || moves_without_rows(&s);
  return out->unknown ? FSCHED_OK : shorten(&s);
}
