/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: loops that stay loops are looked at.
 *
 * A copy of the builder is unrolled with as few iterations as show what iterations owe each other:
 * two more than the longest distance.  Ranges that move alike meet at distances that are known; of
 * others, all iterations count as overlapping, and in the copy each touches what all touch.  The
 * body is found in the graph of the copy, and planned. */
#include "front/builder/roll/roll.h"

#include "base/saturate.h"
#include "fsched/compile.h"
#include "model/loop_report.h"

/* Steps of the search for a plan at the lowest effort, for how many loops there are as many for
 * each, and the least; distances that a copy shows, and iterations that it has more than the
 * largest; iterations of all ops in it; slots that its iterations take turns with; runs of views
 * that are looked at, of two accesses; ops of a body. */
enum {
  STEPS = 1 << 19,
  LOOPS = 4,
  LEAST_STEPS = 1 << 12,
  FAR = 64,
  MORE = 3,
  SAMPLE = 1 << 20,
  MANY = 1 << 10,
  MOST_LOOKS = 1 << 24,
  MOST_OPS = 512
};

/* Bytes by which buffers of a sample may be larger. */
#define MOST_REACH (UINT64_C(1) << 56)

fs_status fs_roller_unsupported(fs_roller *r, uint32_t loop, const char *what) {
  assert(loop < r->b->loop.n);
  return fs_builder_refuse_loop(r->b, loop, fs_pos_at(&r->b->loop_at, loop), "%s", what);
}

/* What this version does not have. */
static fs_status check_loops(fs_roller *r) {
  fsched_builder *b = r->b;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    const char *why = b->queue.n == 0 ? "the target names no queues"
                      : b->loop.at[l].op_end - b->loop.at[l].op0 > MOST_OPS
                          ? "its body has more than 512 ops"
                          : NULL;
    if (why != NULL) {
      return fs_roller_unsupported(r, l, why);
    }
  }
  return FSCHED_OK;
}

const fs_moving_draft *fs_roller_moving(const fs_roller *r, uint32_t op, uint32_t arg) {
  FS_ASSERT_SLOW(arg >= r->b->op.at[op].arg0 && arg < fs_builder_args_end(r->b, op));
  for (uint32_t m = r->in.moving0[op]; m < r->in.moving0[op + 1]; m++) {
    if (r->b->moving.at[m].arg == arg) {
      return &r->b->moving.at[m];
    }
  }
  return NULL;
}

int64_t fs_roller_step(const fs_roller *r, const fs_moving_draft *m) {
  return m == NULL || m->n_steps == 0 ? 0 : r->b->step.at[m->step0 + r->level - 1];
}

bool fs_roller_falls(const fs_roller *r, uint32_t op, uint32_t arg, bool own) {
  const fs_moving_draft *m = fs_roller_moving(r, op, arg);
  uint32_t loop = r->in.loop_of[op];
  bool falls = false;
  for (uint32_t i = m == NULL || m->n_steps == 0 ? 0 : r->level; i-- > 0 && !falls;) {
    falls = (own || i + 1 < r->level) && r->b->step.at[m->step0 + i] < 0 && r->in.trip[loop] > 1;
    loop = fs_loop_at(r->b, loop)->parent;
  }
  return falls;
}

bool fs_roller_moves_alike(const fs_roller *r, const fs_moving_draft *a, const fs_moving_draft *b) {
  bool alike = true;
  for (uint32_t i = 0; alike && i + 1 < r->level; i++) {
    int64_t x = a == NULL || a->n_steps == 0 ? 0 : r->b->step.at[a->step0 + i];
    int64_t y = b == NULL || b->n_steps == 0 ? 0 : r->b->step.at[b->step0 + i];
    alike = x == y;
  }
  return alike;
}

void fs_roller_hull(const fs_roller *r, uint32_t op, uint32_t arg, uint64_t trip, uint64_t *low,
                    uint64_t *high) {
  const fs_arg_draft *a = &r->b->arg.at[arg];
  uint64_t size = r->b->buffer_size.at[a->buffer];
  const fs_moving_draft *m = fs_roller_moving(r, op, arg);
  int64_t way = fs_roller_step(r, m) * (int64_t)(trip - 1);
  *low = a->offset + (uint64_t)(way < 0 ? way : 0);
  uint64_t end = a->offset + (uint64_t)(way > 0 ? way : 0) + a->u.length;
  *high = fs_min(end, fs_roller_falls(r, op, arg, false) ? fs_add_most(*low, size) : size);
}

uint32_t fs_roller_ring(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  const fs_rolled *x = r->rolled[loop];
  assert(x != NULL);
  uint32_t ring = 0;
  while (ring < x->loop.n_rings && x->slots[ring].buffer != buffer) {
    ring++;
  }
  assert(ring < x->loop.n_rings);
  return ring;
}

bool fs_roller_passes_end(const fs_roller *r, uint32_t op, uint32_t arg) {
  const fs_moving_draft *m = fs_roller_moving(r, op, arg);
  const fs_arg_draft *a = &r->b->arg.at[arg];
  uint64_t end = a->offset + a->u.length;
  uint32_t loop = r->in.loop_of[op];
  for (uint32_t i = m == NULL ? 0 : m->n_steps; i-- > 0; loop = fs_loop_at(r->b, loop)->parent) {
    int64_t step = r->b->step.at[m->step0 + i];
    uint64_t last = r->in.trip[loop] > 0 ? r->in.trip[loop] - 1 : 0;
    end = fs_add_most(end, step > 0 ? fs_multiply_most((uint64_t)step, last) : 0);
  }
  return end > r->b->buffer_size.at[a->buffer];
}

/* --- the sample --- */

/* Why all iterations of the accesses of a buffer count as overlapping; the first one is told. */
typedef enum wide_cause {
  NOT_WIDE,
  MEETS_FAR,  /* some that move alike meet more than FAR iterations apart */
  NOT_LOOKED, /* it takes too long to see where some that move alike meet */
  MOVES_UNLIKE,
} wide_cause;

typedef struct body_access {
  uint32_t op, arg, buffer;
  int64_t step;
  bool writes;
  wide_cause cause;
} body_access;

typedef FS_VEC(body_access) body_accesses;

/* Lists the accesses of a body to buffers from outside. */
static fs_status list_accesses(const fs_roller *r, uint32_t loop, body_accesses *out) {
  const fsched_builder *b = r->b;
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      const fs_arg_draft *a = &b->arg.at[arg];
      if (fs_tag_accesses(a->tag) && !fs_roller_begins(r, loop, a->buffer)) {
        int64_t step = fs_roller_step(r, fs_roller_moving(r, op, arg));
        body_access x = {op, arg, a->buffer, step, fs_tag_writes(a->tag), NOT_WIDE};
        FS_TRY(fs_vec_push(b->ctx, out, x));
      }
    }
  }
  return FSCHED_OK;
}

/* The bytes of an arg, `way` bytes behind where it is in iteration 0. */
static fs_view_runs runs_of(const fs_roller *r, uint32_t arg, uint64_t way) {
  const fs_arg_draft *a = &r->b->arg.at[arg];
  if (a->view == FS_NONE) {
    return fs_view_range(a->offset + way, fs_max(a->u.length, 1));
  }
  fs_view v = r->b->view.at[a->view];
  v.offset = a->offset + way;
  return fs_view_pieces_of(&v);
}

static uint64_t count_runs(const fs_view_runs *v) {
  uint64_t n = 1;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    n = fs_multiply_most(n, v->shape[d]);
  }
  return n;
}

/* The largest distance, up to `most`, at which two accesses with one step meet, of which one at
 * least is a view: tiles beside each other may lie far apart as a whole and not meet.  Where
 * looking at each distance takes too long, it is UINT64_MAX. */
static uint64_t views_distance(const fs_roller *r, const body_access *x, const body_access *y,
                               uint64_t step, uint64_t most) {
  fs_view_runs a = runs_of(r, x->arg, 0), c = runs_of(r, y->arg, 0);
  if (fs_multiply_most(count_runs(&a), count_runs(&c)) > MOST_LOOKS / fs_max(most, 1)) {
    return UINT64_MAX;
  }
  bool meet = false;
  uint64_t d = most + 1;
  while (!meet && d-- > 0) {
    fs_view_runs behind = runs_of(r, x->arg, step * d);
    meet = fs_view_overlap(&behind, &c, NULL) != FS_OVERLAP_NONE;
    behind = runs_of(r, y->arg, step * d);
    meet = meet || fs_view_overlap(&a, &behind, NULL) != FS_OVERLAP_NONE;
  }
  return meet ? d : 0;
}

/* The distance, in iterations, up to which two accesses that move alike may meet. */
static uint64_t meeting_distance(const fs_roller *r, const body_access *x, const body_access *y) {
  const fs_arg_draft *a = &r->b->arg.at[x->arg], *c = &r->b->arg.at[y->arg];
  uint64_t step = x->step < 0 ? (uint64_t)-x->step : (uint64_t)x->step;
  uint64_t apart = a->offset > c->offset ? a->offset - c->offset : c->offset - a->offset;
  uint64_t most = step == 0 ? 1 : (apart + fs_max(a->u.length, c->u.length)) / step + 1;
  if (step == 0 || (a->view == FS_NONE && c->view == FS_NONE)) {
    return most;
  }
  return views_distance(r, x, y, step, fs_min(most, r->in.trip[r->in.loop_of[x->op]] - 1));
}

/* Widens the bytes of an arg to those of all iterations of the loops around the one at hand. */
static void add_outer_ways(const fs_roller *r, uint32_t op, uint32_t arg, uint64_t *low,
                           uint64_t *high) {
  const fs_moving_draft *m = fs_roller_moving(r, op, arg);
  uint64_t size = r->b->buffer_size.at[r->b->arg.at[arg].buffer];
  uint32_t loop = fs_loop_at(r->b, r->in.loop_of[op])->parent;
  for (uint32_t i = r->level - 1; i-- > 0 && m != NULL && m->n_steps > 0;
       loop = fs_loop_at(r->b, loop)->parent) {
    int64_t step = r->b->step.at[m->step0 + i];
    uint64_t way = fs_multiply_most(step < 0 ? (uint64_t)-step : (uint64_t)step,
                                    fs_max(r->in.trip[loop], 1) - 1);
    *low -= step < 0 ? fs_min(way, *low) : 0;
    *high = step > 0 ? fs_add_most(*high, way) : *high;
  }
  *high = fs_min(*high, size);
}

/* Whether two accesses of a buffer have bytes in common in whichever iterations. */
static bool may_meet(const fs_roller *r, uint32_t loop, const body_access *x,
                     const body_access *y) {
  uint64_t low[2], high[2];
  const body_access *each[] = {x, y};
  for (uint32_t i = 0; i < 2; i++) {
    fs_roller_hull(r, each[i]->op, each[i]->arg, r->in.trip[loop], &low[i], &high[i]);
    add_outer_ways(r, each[i]->op, each[i]->arg, &low[i], &high[i]);
  }
  return fs_max(low[0], low[1]) < fs_min(high[0], high[1]);
}

static void mark_wide(body_access *a, wide_cause cause) { a->cause = fs_max(a->cause, cause); }

/* Marks the accesses of buffers of which some move unlike each other, and might meet or `all` are
 * marked, or meet too far apart; *far: the largest distance of the others. */
static void compare_accesses(const fs_roller *r, uint32_t loop, bool all, body_accesses *x,
                             uint64_t *far) {
  for (size_t i = 0; i < x->n; i++) {
    for (size_t k = i; k < x->n; k++) {
      body_access *a = &x->at[i], *c = &x->at[k];
      if (a->buffer != c->buffer || !(a->writes || c->writes)) {
        continue;
      }
      uint64_t d = meeting_distance(r, a, c);
      bool alike =
          a->step == c->step && fs_roller_moves_alike(r, fs_roller_moving(r, a->op, a->arg),
                                                      fs_roller_moving(r, c->op, c->arg));
      if (!alike && !all && !may_meet(r, loop, a, c)) {
        continue;
      }
      wide_cause cause = !alike            ? MOVES_UNLIKE
                         : d == UINT64_MAX ? NOT_LOOKED
                         : d > FAR         ? MEETS_FAR
                                           : NOT_WIDE;
      mark_wide(a, cause);
      mark_wide(c, cause);
      *far = cause == NOT_WIDE ? fs_max(*far, d) : *far;
    }
  }
  for (size_t i = 0; i < x->n; i++) {
    for (size_t k = 0; k < x->n; k++) {
      if (x->at[k].buffer == x->at[i].buffer) {
        mark_wide(&x->at[k], x->at[i].cause);
      }
    }
  }
}

static void warn_access(const fs_roller *r, uint32_t loop, const body_access *x) {
  const fsched_builder *b = r->b;
  const char *buffer = b->buffers.text.at[x->buffer], *name = b->loops.text.at[loop];
  fs_pos at = fs_pos_at(&b->arg_at, x->arg);
  switch (x->cause) {
    case NOT_WIDE:
      break;
    case MEETS_FAR:
      fs_report(
          b->ctx, FSCHED_WARNING, FS_DIAG_FAR_STEPS, at,
          "let them overlap in fewer iterations, or give them a buffer each",
          "accesses of buffer '%.80s' in loop '%.80s' meet more than %d iterations apart: all "
          "iterations count as overlapping",
          buffer, name, FAR);
      break;
    case NOT_LOOKED:
      fs_report(
          b->ctx, FSCHED_WARNING, FS_DIAG_FAR_STEPS, at,
          "give them a buffer each, or views of fewer pieces",
          "how many iterations apart accesses of buffer '%.80s' in loop '%.80s' meet takes too "
          "long to find out: all iterations count as overlapping",
          buffer, name);
      break;
    case MOVES_UNLIKE:
      fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_UNLIKE_STEPS, at,
                "give them one step, or a buffer each",
                "accesses of buffer '%.80s' in loop '%.80s' move unlike each other: all iterations "
                "count as overlapping",
                buffer, name);
      break;
  }
}

static void warn_wide(const fs_roller *r, uint32_t loop, const body_accesses *x) {
  for (size_t i = 0; i < x->n; i++) {
    bool first = true;
    for (size_t k = 0; k < i && first; k++) {
      first = x->at[k].buffer != x->at[i].buffer;
    }
    if (first) {
      warn_access(r, loop, &x->at[i]);
    }
  }
}

/* In the sample, such accesses touch what all iterations do. */
static void widen(const fs_roller *r, uint32_t loop, const body_accesses *x, fsched_builder *s) {
  for (size_t i = 0; i < x->n; i++) {
    const body_access *a = &x->at[i];
    uint64_t low, high;
    if (a->cause == NOT_WIDE) {
      continue;
    }
    fs_roller_hull(r, a->op, a->arg, r->in.trip[loop], &low, &high);
    add_outer_ways(r, a->op, a->arg, &low, &high);
    s->arg.at[a->arg].offset = low;
    s->arg.at[a->arg].u.length = high - low;
    s->arg.at[a->arg].has_at = true;
    s->arg.at[a->arg].view = FS_NONE;
    for (size_t m = 0; m < s->moving.n; m++) {
      if (s->moving.at[m].arg == a->arg) {
        s->moving.at[m].n_steps = 0;
      }
    }
  }
}

/* The largest distance that the body says itself.  Slots that are many more than the iterations
 * between a value and its readers order nothing in the sample: the plan has their orders. */
static uint64_t said_distance(const fs_roller *r, uint32_t loop) {
  const fsched_builder *b = r->b;
  uint64_t far = 1;
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t m = r->in.moving0[op]; m < r->in.moving0[op + 1]; m++) {
      far = fs_max(far, b->moving.at[m].distance);
    }
    for (uint32_t i = r->in.after0[op]; i < r->in.after0[op + 1]; i++) {
      far = fs_max(far, b->afters.item.at[i].amount);
    }
  }
  uint64_t most = fs_max(far, MANY);
  for (size_t i = 0; i < b->ring.n; i++) {
    uint64_t depth = b->ring.at[i].depth;
    if (b->ring.at[i].loop == loop && depth <= most) {
      far = fs_max(far, depth + 1);
    }
  }
  return far;
}

/* Where the sample has `more` iterations than the loop, its buffers reach as far as they do. */
static fs_status note_reach(fs_roller *r, uint32_t loop, uint64_t more) {
  const fsched_builder *b = r->b;
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t m = r->in.moving0[op]; m < r->in.moving0[op + 1]; m++) {
      int64_t step = fs_roller_step(r, &b->moving.at[m]);
      uint32_t buffer = b->arg.at[b->moving.at[m].arg].buffer;
      uint64_t way = fs_multiply_most(more, step < 0 ? (uint64_t)-step : (uint64_t)step);
      uint64_t *reach = step < 0 ? &r->below[buffer] : &r->above[buffer];
      *reach = fs_max(*reach, way);
      if (way > MOST_REACH) {
        return fs_roller_unsupported(r, loop, "its steps are too long for so few iterations");
      }
    }
  }
  return FSCHED_OK;
}

/* Buffers of the sample become as large as they need to be.  An arg keeps its bytes, or, if it is
 * of all of them and does not move, is so again. */
static fs_status enlarge_buffers(const fs_roller *r, fsched_builder *s) {
  bool *moves;
  FS_TRY(fs_new_zero(r->scratch, &moves, s->arg.n));
  for (size_t m = 0; m < s->moving.n; m++) {
    moves[s->moving.at[m].arg] = s->moving.at[m].n_steps > 0;
  }
  for (size_t i = 0; i < s->arg.n; i++) {
    fs_arg_draft *a = &s->arg.at[i];
    if (!fs_tag_names_buffer(a->tag)) {
      continue;
    }
    uint64_t size = r->b->buffer_size.at[a->buffer], below = r->below[a->buffer];
    bool whole =
        !moves[i] && a->view == FS_NONE && (!a->has_at || (a->offset == 0 && a->u.length == size));
    a->offset += whole ? 0 : below;
    a->u.length += whole ? below + r->above[a->buffer] : 0;
  }
  for (size_t i = 0; i < s->buffer_size.n; i++) {
    s->buffer_size.at[i] += r->below[i] + r->above[i];
  }
  return FSCHED_OK;
}

/* Makes the sample of a loop that stays one. */
static fs_status sample_loop(fs_roller *r, uint32_t loop, fsched_builder *s) {
  body_accesses x = {0};
  uint64_t far = said_distance(r, loop), trip = r->in.trip[loop];
  fs_status status = list_accesses(r, loop, &x);
  if (status == FSCHED_OK) {
    compare_accesses(r, loop, false, &x, &far);
    if (fs_add_most(far, MORE) > trip) { /* in further iterations they might meet */
      compare_accesses(r, loop, true, &x, &far);
    }
    warn_wide(r, loop, &x);
    widen(r, loop, &x, s);
  }
  fs_vec_free(r->b->ctx, &x);
  FS_TRY(status);
  uint64_t n = fs_add_most(far, MORE);
  const fs_loop_draft *d = &r->b->loop.at[loop];
  if (fs_multiply_most(n, d->op_end - d->op0) > SAMPLE) {
    return fs_roller_unsupported(r, loop, "its distances are too long");
  }
  if (n > trip) {
    FS_TRY(note_reach(r, loop, n - trip));
  }
  s->loop.at[loop].trip = s->loop.at[loop].least = s->loop.at[loop].most = n;
  s->loop.at[loop].shown = trip;
  return FSCHED_OK;
}

static fs_status make_sample(fs_roller *r, fsched_builder *s, fsched_graph **out) {
  FS_TRY(fs_new_zero(r->scratch, &r->below, s->buffer_size.n));
  FS_TRY(fs_new_zero(r->scratch, &r->above, s->buffer_size.n));
  for (size_t i = 0; i < s->ring.n; i++) {
    s->ring.at[i].every = 1; /* else iterations are ordered unlike each other */
  }
  s->unroll = s->sample = true;
  s->param.n = 0;
  for (uint32_t l = 0; l < r->b->loop.n; l++) {
    fs_loop_draft *loop = &s->loop.at[l]; /* one around those at hand runs once */
    loop->trip = loop->least = loop->most = loop->depth < r->level && fs_roller_runs(r, l);
    loop->shown = loop->trip;
    loop->param = FS_NONE;
    if (fs_roller_stays(r, l)) {
      FS_TRY(sample_loop(r, l, s));
    }
  }
  FS_TRY(enlarge_buffers(r, s));
  return fsched_builder_finish(s, out);
}

/* Notes which ops access buffers first and last. */
static fs_status find_uses(fs_roller *r) {
  const fsched_builder *b = r->b;
  FS_TRY(fs_new_none(r->scratch, &r->first_op, b->buffer_size.n));
  FS_TRY(fs_new_zero(r->scratch, &r->last_op, b->buffer_size.n));
  for (uint32_t op = 0; op < r->in.n_ops; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      if (fs_tag_accesses(b->arg.at[arg].tag) && fs_roller_op_runs(r, op)) {
        uint32_t buffer = b->arg.at[arg].buffer;
        r->first_op[buffer] = op < r->first_op[buffer] ? op : r->first_op[buffer];
        r->last_op[buffer] = op;
      }
    }
  }
  return FSCHED_OK;
}

/* Whether some loop at hand that begins a buffer reads values of earlier iterations of it. */
static bool is_carried(const fs_roller *r, uint32_t buffer) {
  bool carried = false;
  for (uint32_t l = 0; l < r->b->loop.n && !carried; l++) {
    carried = fs_roller_stays(r, l) &&
              (fs_roller_is_carried(r, l, buffer) ||
               (fs_bodies_begin(&r->in, l, buffer) && fs_roller_finds_first(r, l, buffer)));
  }
  return carried;
}

/* Notes the buffers that bodies begin. */
static fs_status find_rings(fs_roller *r) {
  fsched_builder *b = r->b;
  FS_TRY(fs_new(r->scratch, &r->ring, b->buffer_size.n));
  for (uint32_t i = 0; i < b->buffer_size.n; i++) {
    r->ring[i] = (fs_ring_buffer){.loop = FS_NONE, .depth = 1};
  }
  for (uint32_t i = 0; i < r->in.n_begun; i++) {
    uint32_t loop = (uint32_t)(r->in.begun[i].key >> 32), buffer = (uint32_t)r->in.begun[i].key;
    if (!fs_roller_stays(r, loop)) {
      continue;
    }
    r->ring[buffer].shared |= r->ring[buffer].loop != FS_NONE;
    r->ring[buffer].loop = loop;
  }
  for (uint32_t i = 0; i < b->buffer_size.n; i++) {
    bool meets = r->ring[i].shared && !fs_roller_slots_apart(r, i);
    r->ring[i].chained = meets && is_carried(r, i);
    r->ring[i].single = meets && !r->ring[i].chained;
  }
  return FSCHED_OK;
}

static fs_status plan_sample(fs_roller *r) {
  fsched_builder *s;
  fsched_graph *g = NULL;
  FS_TRY(fs_builder_clone(r->b, &s));
  fs_status status = make_sample(r, s, &g);
  if (status == FSCHED_OK) {
    status = fs_roller_plan(r, g);
  }
  fsched_graph_destroy(g);
  fsched_builder_destroy(s);
  return status;
}

/* Whether an op may not run, since a loop around it may run 0 times. */
static bool may_not_run(const fs_roller *r, uint32_t op) {
  uint32_t loop = r->in.loop_of[op];
  while (loop != FS_NONE && r->in.least[loop] > 0) {
    loop = fs_loop_at(r->b, loop)->parent;
  }
  return loop != FS_NONE;
}

/* Refuses outputs that nothing writes if loops run as seldom as they may. */
static fs_status check_outputs(fs_roller *r) {
  fsched_builder *b = r->b;
  uint32_t *writer; /* per buffer: a loop that writes it; FS_NONE: an op does that always runs */
  FS_TRY(fs_new_none(r->scratch, &writer, b->buffer_size.n));
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t op = 0; op < r->in.n_ops; op++) {
      for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
        bool may = may_not_run(r, op);
        if (fs_tag_writes(b->arg.at[arg].tag) && may == (pass == 0)) {
          writer[b->arg.at[arg].buffer] = may ? r->in.loop_of[op] : FS_NONE;
        }
      }
    }
  }
  for (uint32_t i = 0; i < b->buffer_size.n; i++) {
    uint8_t io = b->buffer_io.at[i];
    uint32_t l = writer[i];
    if (l != FS_NONE && fs_io_kept(io) && !fs_io_given(io) && r->in.trip[l] > 0) {
      return fs_builder_fail(b, FS_DIAG_BAD_LOOP, fs_pos_at(&b->loop_at, l),
                             "write it outside of the loop, too, or let that run once at least",
                             "loop '%.80s' may run 0 times, and then nothing writes the output "
                             "'%.80s'",
                             b->loops.text.at[l], b->buffers.text.at[i]);
    }
  }
  return FSCHED_OK;
}

/* Keeps the parameters that invocations give, in the order of the loops that take them first. */
static fs_status keep_params(fs_roller *r) {
  fsched_builder *b = r->b;
  bool *seen; /* per word */
  FS_TRY(fs_new_zero(r->scratch, &seen, fs_names_count(&b->words)));
  FS_TRY(fs_new(&b->arena, &b->open_param, b->loop.n));
  for (uint32_t l = 0; l < b->loop.n; l++) {
    uint32_t word = r->in.param[l];
    if (word != FS_NONE && !seen[word]) {
      seen[word] = true;
      b->open_param[b->n_open_params++] =
          (fs_graph_param){b->words.text.at[word], r->in.least[l], r->in.trip[l]};
    }
  }
  return FSCHED_OK;
}

/* What is read of longer ago than the loop has iterations is the value on entry, as is what is read
 * of as many ago.  The sample has more iterations, in which it would be another value. */
static void cut_distances(fs_roller *r) {
  for (uint32_t op = 0; op < r->in.n_ops; op++) {
    uint64_t most = r->in.loop_of[op] == FS_NONE ? 1 : fs_max(1, r->in.trip[r->in.loop_of[op]]);
    for (uint32_t m = r->in.moving0[op]; m < r->in.moving0[op + 1]; m++) {
      r->b->moving.at[m].distance = fs_min(r->b->moving.at[m].distance, most);
    }
  }
}

/* Makes ops of the loops of this level. */
static fs_status roll_level(fs_roller *r) {
  fsched_builder *b = r->b;
  bool any = false;
  FS_TRY(fs_bodies_make(b, r->scratch, true, &r->in));
  FS_TRY(b->contracted ? FSCHED_OK : keep_params(r));
  FS_TRY(b->contracted || b->bad ? FSCHED_OK : fs_roller_written(r));
  FS_TRY(b->contracted || b->bad ? FSCHED_OK : fs_roller_members(r));
  cut_distances(r);
  FS_TRY(fs_new_zero(r->scratch, &r->rolled, b->loop.n));
  FS_TRY(fs_new_zero(r->scratch, &r->use, b->loop.n));
  FS_TRY(fs_new_zero(r->scratch, &r->scratch_use, b->loop.n));
  FS_TRY(find_rings(r));
  FS_TRY(find_uses(r));
  FS_TRY(b->contracted ? FSCHED_OK : check_outputs(r));
  for (uint32_t l = 0; l < b->loop.n; l++) {
    any = any || fs_roller_stays(r, l);
  }
  FS_TRY(any ? plan_sample(r) : FSCHED_OK);
  return fs_roller_contract(r);
}

/* --- the loops that there are then --- */

typedef FS_VEC(fs_rolled *) rolled_list;

/* Lists loops by the ops that they are, and behind them those that are in these, and so on. */
static fs_status list_rolled(fsched_builder *b, rolled_list *list) {
  for (uint32_t op = 0; op < b->op_rolled.n; op++) {
    fs_rolled *x = b->op_rolled.at[op];
    if (x != NULL) {
      x->op = op;
      x->within = FS_NONE;
      FS_TRY(fs_vec_push(b->ctx, list, x));
    }
  }
  for (uint32_t i = 0; i < list->n; i++) {
    fs_rolled *x = list->at[i];
    for (uint32_t m = 0; m < x->n_ops; m++) {
      fs_rolled *inner = x->inner[m];
      x->body[m].loop = inner == NULL ? FS_NONE : (uint32_t)list->n;
      if (inner != NULL) {
        inner->op = m;
        inner->within = i;
        inner->report->runs = fs_multiply_most(x->report->runs, x->trip);
        FS_TRY(fs_vec_push(b->ctx, list, inner));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status keep_rolled(fsched_builder *b) {
  rolled_list list = {0};
  fs_status status = list_rolled(b, &list);
  if (status == FSCHED_OK) {
    status = fs_new(&b->arena, &b->rolled, list.n);
  }
  for (size_t i = 0; i < list.n && status == FSCHED_OK; i++) {
    b->rolled[i] = *list.at[i];
    b->n_rolled++;
  }
  fs_vec_free(b->ctx, &list);
  b->loop.n = 0;
  return status;
}

static fs_status roll_all(fsched_builder *b) {
  FS_SCRATCH(scratch, b->ctx);
  fs_roller r = {.b = b, .scratch = &scratch};
  size_t n = b->loop.n;
  uint64_t steps = (uint64_t)STEPS << (b->effort == 0 ? FSCHED_EFFORT_USUAL : b->effort - 1);
  r.steps = n > LOOPS ? fs_max(steps * LOOPS / n, LEAST_STEPS) : steps;
  FS_TRY(check_loops(&r));
  FS_TRY(fs_new(&scratch, &r.counting, b->queue.n));
  for (size_t q = 0; q < b->queue.n; q++) {
    r.counting[q] = b->queue.at[q].counting;
  }
  for (uint32_t l = 0; l < n; l++) {
    r.level = b->loop.at[l].depth > r.level ? b->loop.at[l].depth : r.level;
  }
  fs_status status = FSCHED_OK;
  for (; r.level > 0 && status == FSCHED_OK; r.level--) {
    status = roll_level(&r);
  }
  fs_vec_free(b->ctx, &r.existing);
  fs_vec_free(b->ctx, &r.begun);
  return status == FSCHED_OK ? keep_rolled(b) : status;
}

fs_status fs_builder_roll(fsched_builder *b) {
  assert(b->loop.n > 0);
  fsched_builder *described;
  FS_TRY(fs_builder_clone(b, &described));
  b->raw = fs_hazards_data_only(b->hazards);
  b->hazards = FSCHED_HAZARDS_SEQUENTIAL; /* what raw ones leave open is done in program order */
  fs_status status = fs_roller_limit_ops(b);
  status = status == FSCHED_OK ? fs_roller_merge_pairs(b) : status;
  status = status == FSCHED_OK ? roll_all(b) : status;
  if (status == FSCHED_OK && !b->bad) {
    status = fs_roller_bounds(b, described);
  }
  fsched_builder_destroy(described);
  return status;
}
