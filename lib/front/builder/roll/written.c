/* SPDX-License-Identifier: Apache-2.0 */
/* Whether all that is read was written before, of loops that stay loops.
 *
 * A buffer's accesses are walked in program order, and the bytes are kept that were written so far.
 * Where a loop has but writes of a buffer, their order is of no matter: all that an arg touches in
 * the iterations of some loops is a progression (progression.h).
 *
 * Those with gaps and many trips are kept as such.  Other loops are walked iteration by iteration,
 * until it is seen of all their reads that they find what they read in all iterations that are
 * left:
 * - it is written by now, in all of them; or
 * - an arg that moves like it, and leaves no gaps, or touches just that, has written it.
 * So the cost does not depend on the trips, but for loops of which that is never seen; of those a
 * walk that takes too long is given up.  Complexity: O(accesses^2) ranges for each iteration that
 * is walked. */
#include <stdio.h>

#include "base/group.h"
#include "base/ranges.h"
#include "base/saturate.h"
#include "front/builder/roll/progression.h"
#include "front/builder/roll/roll.h"

/* Ranges that are looked at of one graph; ranges that a progression is made to; iterations that a
 * writer may be ahead of a reader; bytes of an instance's name. */
enum { MOST_STEPS = 1 << 20, MOST_RANGES = 1 << 10, MOST_AHEAD = 64, NAME = 320 };

typedef struct range_access {
  uint32_t op, arg, loop; /* the innermost one around it, or FS_NONE */
  uint64_t offset, distance;
  fs_view_runs runs;              /* from there on */
  int64_t step[FSCHED_MAX_LOOPS]; /* outermost first */
  bool reads, writes, begins;
  bool told; /* that what it reads is not there */
} range_access;

/* Bytes that are written in an iteration of a loop, and move with it: without gaps, or those of one
 * access. */
typedef struct written_run {
  fs_progression p;
  int64_t step;
  uint32_t last; /* the last op of the body that is of it, of loops inside their last one */
} written_run;

typedef struct written_walk {
  fs_roller *r;
  uint32_t buffer;
  uint64_t size;
  fs_ranges ranges;
  fs_ids found;
  FS_VEC(range_access) access;  /* of the buffer, in program order */
  FS_VEC(fs_progression) apart; /* what was written, besides the ranges */
  FS_VEC(written_run) run;
  uint32_t set;                  /* of the ranges that were written */
  bool any, whole;               /* something, or all, was written */
  uint64_t at[FSCHED_MAX_LOOPS]; /* iterations */
  uint64_t steps;                /* so far, in loops */
  uint32_t loops;                /* that are open */
  bool missing;                  /* what something reads */
} written_walk;

/* What an access touches in the iterations `first` up to last of its loop of that depth and all of
 * those inside, and in the ones at hand of those outside. */
static fs_progression progression_of(const written_walk *w, const range_access *a, uint32_t depth,
                                     uint64_t first, uint64_t last) {
  const fsched_builder *b = w->r->b;
  fs_progression p = {.low = a->offset, .length = a->runs.run, .n = a->runs.n_dims};
  for (uint32_t d = 0; d < a->runs.n_dims; d++) {
    p.step[d] = a->runs.stride[d];
    p.trip[d] = a->runs.shape[d];
  }
  uint32_t loop = a->loop;
  for (uint32_t d = fs_loop_depth(b, loop); d > 0; d--, loop = fs_loop_at(b, loop)->parent) {
    uint64_t trip = d > depth ? w->r->in.trip[loop] : d == depth ? last - first + 1 : 1;
    int64_t step = a->step[d - 1];
    p.low += (uint64_t)step * (d > depth ? 0 : d == depth ? first : w->at[d - 1]);
    if (step != 0 && trip > 1) {
      p.low -= step < 0 ? (uint64_t)-step * (trip - 1) : 0;
      p.step[p.n] = step < 0 ? (uint64_t)-step : (uint64_t)step;
      p.trip[p.n++] = trip;
    }
  }
  fs_progression_close(&p);
  return p;
}

static uint64_t end_of(const written_walk *w, const fs_progression *p) {
  return fs_min(p->low + p->length, w->size);
}

/* --- what is written --- */

static fs_status give_up(written_walk *w) {
  for (size_t i = 0; i < w->access.n; i++) {
    const range_access *a = &w->access.at[i];
    if (a->loop != FS_NONE && fs_roller_op_runs(w->r, a->op)) {
      return fs_roller_unsupported(w->r, a->loop,
                                   "it takes too long to tell whether what is read of a buffer in "
                                   "ranges was written before");
    }
  }
  return FSCHED_OK;
}

static fs_status count_steps(written_walk *w, uint64_t n) {
  w->steps += w->loops > 0 ? n : 0;
  return w->steps > MOST_STEPS ? give_up(w) : FSCHED_OK;
}

/* *covered: the bytes of [low, high) that were written. */
static fs_status find_covered(written_walk *w, uint64_t low, uint64_t high, uint64_t *covered) {
  w->found.n = 0;
  FS_TRY(fs_ranges_find(&w->ranges, w->set, low, high, &w->found, covered));
  return count_steps(w, 1 + w->found.n);
}

static fs_status add_range(written_walk *w, uint64_t low, uint64_t high) {
  uint64_t covered;
  w->any = true;
  FS_TRY(find_covered(w, low, high, &covered));
  if (covered < high - low) {
    FS_TRY(fs_ranges_replace(&w->ranges, &w->set, low, high, 0));
  }
  w->whole = w->whole || (low == 0 && high == w->size);
  return FSCHED_OK;
}

/* The recursion is as deep as loops nest. */
static fs_status add_ranges(written_walk *w, const fs_progression *p) {
  if (p->n == 0) {
    return add_range(w, p->low, end_of(w, p));
  }
  fs_progression part = *p;
  part.n--;
  for (uint64_t i = 0; i < p->trip[part.n]; i++, part.low += p->step[part.n]) {
    FS_TRY(add_ranges(w, &part));
  }
  return FSCHED_OK;
}

static fs_status add_progression(written_walk *w, fs_progression p) {
  for (size_t i = 0; i < w->apart.n; i++) { /* with what it adjoins, it may leave no gap */
    const fs_progression *q = &w->apart.at[i];
    if (fs_progression_alike(&p, q) && p.low <= q->low + q->length && q->low <= p.low + p.length) {
      uint64_t end = fs_max(p.low + p.length, q->low + q->length);
      p.low = fs_min(p.low, q->low);
      p.length = end - p.low;
      fs_progression_close(&p);
      w->apart.at[i] = w->apart.at[--w->apart.n];
      i = SIZE_MAX; /* begins anew */
    }
  }
  w->any = true;
  return fs_progression_ranges(&p) <= MOST_RANGES ? add_ranges(w, &p)
                                                  : fs_vec_push(w->r->b->ctx, &w->apart, p);
}

/* Whether all was written that a progression touches: *covered tells of the bytes if it is one
 * range.  What is not known counts as not written.  The recursion is as deep as loops nest. */
static fs_status is_written(written_walk *w, const fs_progression *p, bool *yes,
                            uint64_t *covered) {
  uint64_t end = fs_min(p->low + fs_progression_span(p), w->size);
  FS_TRY(find_covered(w, p->low, end, covered));
  *yes = *covered == end - p->low;
  for (size_t i = 0; !*yes && i < w->apart.n; i++) {
    *yes = fs_progression_lies_in(p, &w->apart.at[i]);
  }
  if (*yes || p->n == 0 || fs_progression_ranges(p) > MOST_RANGES) {
    return FSCHED_OK;
  }
  fs_progression part = *p;
  part.n--;
  *yes = true;
  for (uint64_t i = 0; *yes && i < p->trip[part.n]; i++, part.low += p->step[part.n]) {
    FS_TRY(is_written(w, &part, yes, covered));
  }
  return FSCHED_OK;
}

/* --- one access --- */

/* The name of an instance: of the iterations at hand. */
static const char *name_instance(const written_walk *w, const range_access *a, char *text,
                                 size_t size) {
  const fsched_builder *b = w->r->b;
  size_t n = (size_t)snprintf(text, size, "%.80s", b->ops.text.at[a->op]);
  for (uint32_t d = 0; d < fs_loop_depth(b, a->loop) && n < size; d++) {
    n += (size_t)snprintf(text + n, size - n, "[%llu]", (unsigned long long)w->at[d]);
  }
  return text;
}

static void report(written_walk *w, range_access *a, uint64_t covered) {
  fsched_builder *b = w->r->b;
  char op[NAME];
  a->told = w->missing = true;
  (void)fs_builder_fail(b, FS_DIAG_NOT_PRODUCED, fs_pos_at(&b->arg_at, a->arg),
                        covered == 0 ? "write it in an op before, or give it 'io: input'"
                                     : "reading a part takes 'at: [offset, length]'",
                        "op '%s' reads %s '%s', which nothing before it has produced",
                        name_instance(w, a, op, sizeof op),
                        covered == 0 ? "buffer" : "all of a range of buffer",
                        b->buffers.text.at[w->buffer]);
}

static void report_entry(written_walk *w, range_access *a) {
  fsched_builder *b = w->r->b;
  char op[NAME];
  a->told = w->missing = true;
  (void)fs_builder_fail(b, FS_DIAG_NOT_PRODUCED, fs_pos_at(&b->arg_at, a->arg),
                        "write it before the loop, or give it 'io: input'",
                        "op '%s' reads the value that '%.80s' had on entry to the loop, and it had "
                        "none",
                        name_instance(w, a, op, sizeof op), b->buffers.text.at[w->buffer]);
}

/* Adds those ranges of a progression that overlap [low, high).  The recursion is as deep as loops
 * nest. */
static fs_status add_overlapping(written_walk *w, const fs_progression *p, uint64_t low,
                                 uint64_t high) {
  if (p->low >= high || p->low + fs_progression_span(p) <= low) {
    return FSCHED_OK;
  }
  if (p->n == 0) {
    return add_range(w, p->low, end_of(w, p));
  }
  fs_progression part = *p;
  uint64_t step = p->step[--part.n], span = fs_progression_span(&part);
  uint64_t first = low < p->low + span ? 0 : (low - p->low - span) / step + 1;
  uint64_t last = fs_min(p->trip[part.n] - 1, (high - 1 - p->low) / step);
  for (uint64_t i = first; i <= last; i++) {
    part.low = p->low + i * step;
    FS_TRY(add_overlapping(w, &part, low, high));
  }
  return FSCHED_OK;
}

/* Checks one range of an access, in an iteration of its loop that may not be the one at hand. */
static fs_status check_read(written_walk *w, range_access *a, uint64_t iteration) {
  uint32_t depth = fs_loop_depth(w->r->b, a->loop);
  fs_progression p = progression_of(w, a, depth, iteration, iteration);
  bool yes;
  uint64_t covered;
  for (size_t i = 0; i < w->apart.n; i++) {
    FS_TRY(add_overlapping(w, &w->apart.at[i], p.low, end_of(w, &p)));
  }
  FS_TRY(is_written(w, &p, &yes, &covered));
  if (!yes) {
    report(w, a, covered);
  }
  return FSCHED_OK;
}

static fs_status walk_op(written_walk *w, size_t first, size_t end) {
  for (size_t k = first; k < end; k++) {
    range_access *a = &w->access.at[k];
    uint32_t depth = fs_loop_depth(w->r->b, a->loop);
    if (a->reads && !a->told && !w->whole) {
      FS_TRY(check_read(w, a, depth == 0 ? 0 : w->at[depth - 1]));
    }
  }
  for (size_t k = first; k < end; k++) {
    range_access *a = &w->access.at[k];
    if (a->writes) {
      FS_TRY(add_progression(w, progression_of(w, a, FSCHED_MAX_LOOPS + 1, 0, 0)));
    }
  }
  return FSCHED_OK;
}

/* --- loops --- */

/* The first access behind `first` that is not in a loop. */
static size_t end_of_loop(const written_walk *w, size_t first, size_t end, uint32_t loop) {
  uint32_t op_end = fs_loop_at(w->r->b, loop)->op_end;
  while (first < end && w->access.at[first].op < op_end) {
    first++;
  }
  return first;
}

/* In its first iterations, an arg with a distance reads what is there on entry, also where the body
 * begins the buffer. */
static fs_status check_entry(written_walk *w, uint32_t loop, size_t first, size_t end) {
  bool begins = false;
  for (size_t k = first; k < end; k++) {
    begins = begins || w->access.at[k].begins;
  }
  for (size_t k = first; k < end; k++) {
    range_access *a = &w->access.at[k];
    uint64_t n = a->loop == loop ? fs_min(a->distance, w->r->in.trip[loop]) : 0;
    for (uint64_t i = 0; !a->told && i < n; i++) {
      w->at[fs_loop_depth(w->r->b, loop) - 1] = i;
      if (!w->any) {
        report_entry(w, a);
      } else if (begins) {
        FS_TRY(check_read(w, a, i));
      }
    }
  }
  return FSCHED_OK;
}

/* Whether a run has written, in earlier iterations, what a read touches in iteration i, and does so
 * in all later ones, as both move alike. */
static bool is_written_alike(const written_run *run, const fs_progression *read, int64_t step,
                             bool behind, uint64_t i) {
  bool found = false;
  for (uint64_t d = behind; !found && d <= fs_min(i, MOST_AHEAD); d++) {
    fs_progression p = run->p;
    p.low -= (uint64_t)step * d;
    found = fs_progression_lies_in(read, &p);
  }
  return found && step == run->step;
}

/* Whether a run that leaves no gaps has written all that a read touches, in iterations i and last,
 * and so between them: the ends are linear. */
static bool is_written_behind(const written_walk *w, const written_run *run, const range_access *r,
                              bool behind, uint32_t depth, uint64_t i, uint64_t last) {
  uint64_t step = (uint64_t)run->step, way = run->step < 0 ? -step : step;
  uint64_t begin = run->p.low - step * i; /* in iteration 0 */
  bool shown = run->p.n == 0 && run->p.length >= way && i >= behind;
  for (uint32_t k = 0; shown && k < 2; k++) {
    uint64_t at = k == 0 ? i : last, now = begin + step * (at - behind);
    uint64_t low = run->step < 0 ? now : begin,
             high = (run->step < 0 ? begin : now) + run->p.length;
    fs_progression p = progression_of(w, r, depth, at, at);
    shown = low <= p.low && p.low + fs_progression_span(&p) <= high;
  }
  return shown;
}

/* The first and last op of what an access is in: an op of the loop of that depth, or a loop there.
 */
static uint32_t first_of(const written_walk *w, const range_access *a, uint32_t depth) {
  uint32_t loop = a->loop, op = a->op;
  for (; fs_loop_depth(w->r->b, loop) > depth; loop = fs_loop_at(w->r->b, loop)->parent) {
    op = fs_loop_at(w->r->b, loop)->op0;
  }
  return op;
}
static uint32_t last_of(const written_walk *w, const range_access *a, uint32_t depth) {
  uint32_t loop = a->loop, op = a->op;
  for (; fs_loop_depth(w->r->b, loop) > depth; loop = fs_loop_at(w->r->b, loop)->parent) {
    op = fs_loop_at(w->r->b, loop)->op_end - 1;
  }
  return op;
}

/* Widens a run by an access that adjoins it and has its step. */
static bool widen_run(const written_walk *w, const range_access *a, uint32_t depth, uint64_t i,
                      written_run *run) {
  fs_progression p = progression_of(w, a, depth, i, i);
  uint64_t end = run->p.low + run->p.length, p_end = p.low + p.length;
  if (!a->writes || a->step[depth - 1] != run->step || p.n > 0 || run->p.n > 0 || p.low > end ||
      run->p.low > p_end || (p.low >= run->p.low && p_end <= end)) {
    return false;
  }
  run->p.low = fs_min(p.low, run->p.low);
  run->p.length = fs_max(p_end, end) - run->p.low;
  run->last = (uint32_t)fs_max(run->last, last_of(w, a, depth));
  return true;
}

/* Finds the runs of bytes that are written in iteration i, each widened by what adjoins it, if it
 * leaves no gaps. */
static fs_status find_runs(written_walk *w, size_t first, size_t end, uint32_t depth, uint64_t i) {
  w->run.n = 0;
  for (size_t k = first; k < end; k++) {
    const range_access *a = &w->access.at[k];
    written_run run = {progression_of(w, a, depth, i, i), a->step[depth - 1], last_of(w, a, depth)};
    if (!a->writes) {
      continue;
    }
    FS_TRY(fs_vec_push(w->r->b->ctx, &w->run, run));
    for (size_t m = first; m < end && run.p.n == 0; m++) {
      FS_TRY(count_steps(w, 1));
      if (widen_run(w, &w->access.at[m], depth, i, &run)) {
        FS_TRY(fs_vec_push(w->r->b->ctx, &w->run, run));
        m = first - 1; /* begins anew */
      }
    }
  }
  return FSCHED_OK;
}

/* Whether a read finds what it reads in iterations i up to the last. */
static fs_status is_shown(written_walk *w, const range_access *a, uint32_t depth, uint64_t i,
                          uint64_t last, bool *yes) {
  fs_progression rest = progression_of(w, a, depth, i, last);
  fs_progression now = progression_of(w, a, depth, i, i);
  uint64_t covered;
  FS_TRY(is_written(w, &rest, yes, &covered));
  for (size_t k = 0; !*yes && k < w->run.n; k++) {
    const written_run *run = &w->run.at[k];
    bool behind = run->last >= first_of(w, a, depth);
    FS_TRY(count_steps(w, 1));
    *yes = is_written_alike(run, &now, a->step[depth - 1], behind, i) ||
           is_written_behind(w, run, a, behind, depth, i, last);
  }
  return FSCHED_OK;
}

/* Whether all reads of a loop find what they read in iterations i up to the last. */
static fs_status all_shown(written_walk *w, size_t first, size_t end, uint32_t depth, uint64_t i,
                           uint64_t last, bool *yes) {
  bool any = false;
  for (size_t k = first; k < end; k++) {
    any = any || (w->access.at[k].reads && !w->access.at[k].told);
  }
  *yes = true;
  FS_TRY(any ? find_runs(w, first, end, depth, i) : FSCHED_OK);
  for (size_t k = first; *yes && k < end; k++) {
    const range_access *a = &w->access.at[k];
    if (a->reads && !a->told) {
      FS_TRY(is_shown(w, a, depth, i, last, yes));
    }
  }
  return FSCHED_OK;
}

/* All that is written in iterations i up to the last. */
static fs_status write_rest(written_walk *w, size_t first, size_t end, uint32_t depth, uint64_t i,
                            uint64_t last) {
  for (size_t k = first; k < end; k++) {
    if (w->access.at[k].writes) {
      FS_TRY(add_progression(w, progression_of(w, &w->access.at[k], depth, i, last)));
    }
  }
  return FSCHED_OK;
}

static fs_status walk_body(written_walk *w, uint32_t loop, size_t first, size_t end);

static fs_status walk_loop(written_walk *w, uint32_t loop, size_t first, size_t end) {
  uint32_t depth = fs_loop_depth(w->r->b, loop);
  uint64_t trip = w->r->in.trip[loop];
  bool shown = false;
  w->loops++;
  FS_TRY(check_entry(w, loop, first, end));
  for (uint64_t i = 0; i < trip && !shown && !w->whole; i++) {
    if ((i & (i - 1)) == 0) { /* 0 and powers of 2 */
      FS_TRY(all_shown(w, first, end, depth, i, trip - 1, &shown));
    }
    w->at[depth - 1] = i;
    FS_TRY(shown ? write_rest(w, first, end, depth, i, trip - 1) : walk_body(w, loop, first, end));
  }
  w->loops--;
  return FSCHED_OK;
}

/* Walks the accesses of a body once.  The recursion is as deep as loops nest. */
static fs_status walk_body(written_walk *w, uint32_t loop, size_t first, size_t end) {
  const fsched_builder *b = w->r->b;
  for (size_t k = first, next; k < end; k = next) {
    const range_access *a = &w->access.at[k];
    uint32_t inner = a->loop;
    if (inner == loop) {
      for (next = k; next < end && w->access.at[next].op == a->op; next++) {
      }
      FS_TRY(walk_op(w, k, next));
      continue;
    }
    while (fs_loop_at(b, inner)->parent != loop) {
      inner = fs_loop_at(b, inner)->parent;
    }
    next = end_of_loop(w, k, end, inner);
    FS_TRY(walk_loop(w, inner, k, next));
  }
  return FSCHED_OK;
}

/* --- the whole --- */

static fs_status list_access(written_walk *w, uint32_t op, uint32_t arg) {
  const fsched_builder *b = w->r->b;
  const fs_arg_draft *d = &b->arg.at[arg];
  const fs_moving_draft *m = fs_roller_moving(w->r, op, arg);
  range_access a = {.op = op,
                    .arg = arg,
                    .loop = w->r->in.loop_of[op],
                    .offset = d->offset,
                    .distance = m == NULL ? 0 : m->distance,
                    .reads = fs_tag_reads(d->tag),
                    .writes = fs_tag_writes(d->tag),
                    .begins = fs_tag_begins(d->tag)};
  a.runs = d->view == FS_NONE ? fs_view_range(0, fs_max(d->u.length, 1))
                              : fs_view_runs_of(&b->view.at[d->view]);
  for (uint32_t i = 0; m != NULL && i < m->n_steps; i++) {
    a.step[i] = b->step.at[m->step0 + i];
  }
  return fs_vec_push(b->ctx, &w->access, a);
}

static fs_status walk_buffer(written_walk *w, const uint32_t *arg, uint32_t n) {
  const fsched_builder *b = w->r->b;
  bool reads = false;
  w->size = fs_max(b->buffer_size.at[w->buffer], 1); /* it counts as one byte, if it has none */
  w->any = w->whole = false;
  w->access.n = w->apart.n = 0;
  for (uint32_t i = 0, op = 0; i < n; i++) {
    while (arg[i] >= fs_builder_args_end(b, op)) {
      op++;
    }
    reads = reads || fs_tag_reads(b->arg.at[arg[i]].tag);
    FS_TRY(fs_roller_op_runs(w->r, op) ? list_access(w, op, arg[i]) : FSCHED_OK);
  }
  fs_status status = reads ? walk_body(w, FS_NONE, 0, w->access.n) : FSCHED_OK;
  fs_ranges_clear(&w->ranges, &w->set);
  return status;
}

/* Walks the buffers that are not given. */
static fs_status walk_all(written_walk *w) {
  const fsched_builder *b = w->r->b;
  uint32_t n_buffers = (uint32_t)b->buffer_size.n, *first, *arg;
  FS_TRY(fs_new_zero(w->r->scratch, &first, (size_t)n_buffers + 2));
  FS_TRY(fs_new(w->r->scratch, &arg, b->arg.n));
  for (size_t i = 0; i < b->arg.n; i++) {
    if (fs_tag_accesses(b->arg.at[i].tag)) {
      first[b->arg.at[i].buffer + 2]++;
    }
  }
  fs_group_sum(first, n_buffers);
  for (size_t i = 0; i < b->arg.n; i++) {
    if (fs_tag_accesses(b->arg.at[i].tag)) {
      arg[first[b->arg.at[i].buffer + 1]++] = (uint32_t)i;
    }
  }
  for (w->buffer = 0; w->buffer < n_buffers; w->buffer++) {
    if (!fs_io_given(b->buffer_io.at[w->buffer])) {
      FS_TRY(walk_buffer(w, arg + first[w->buffer], first[w->buffer + 1] - first[w->buffer]));
    }
  }
  return w->missing ? FSCHED_BAD_INPUT : FSCHED_OK;
}

fs_status fs_roller_written(fs_roller *r) {
  assert(r->in.loop_of != NULL && !r->b->contracted);
  written_walk w = {.r = r, .set = FS_NONE};
  fs_ranges_init(&w.ranges, r->b->ctx);
  fs_status status = walk_all(&w);
  fs_ranges_release(&w.ranges);
  fs_vec_free(r->b->ctx, &w.found);
  fs_vec_free(r->b->ctx, &w.access);
  fs_vec_free(r->b->ctx, &w.apart);
  fs_vec_free(r->b->ctx, &w.run);
  return status;
}
