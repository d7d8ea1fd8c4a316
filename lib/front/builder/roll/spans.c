/* SPDX-License-Identifier: Apache-2.0 */
#include "front/builder/roll/spans.h"

#include <stdio.h>

#include "base/saturate.h"
#include "modulo/ahead.h"
#include "modulo/issue.h"
#include "modulo/rolled.h"

#define MOST_COMMANDS ((uint64_t)1 << 62)

/* The plan does not know of syncs, which make no interval smaller. */
static void time_issued(const fs_roller *r, const fs_planned_loop *p, const fs_rolled *x,
                        fs_loop_report *report) {
  const fs_issued_time *t = &r->issued;
  if (t->num * report->ii.den > report->ii.num * t->den) {
    report->limited_by = FS_LOOP_BY_SYNCS;
    report->limit = NULL;
  }
  report->proven = report->proven && t->num * report->ii.den == report->ii.num * t->den;
  report->ii = (fs_loop_ticks){t->num, t->den};
  report->copies = x->loop.copies;
  if (t->num * report->bound.den < report->bound.num * t->den) {
    report->bound = report->ii; /* no slot is used twice, in so few iterations */
  }
  report->span = t->span;
  for (uint32_t v = 0; v < report->n_slots; v++) {
    report->slots[v].depth = (uint32_t)fs_min(x->loop.ring[v].depth, x->trip);
    report->slots[v].prefetch = fs_modulo_ahead_planned(&p->loop.problem, p->plan, v);
  }
  report->steps = fs_issued_steps(&x->loop, x->trip);
  for (uint32_t i = 0; i < x->loop.n_stops; i++) {
    report->full += x->loop.stop[i].queue == FS_NONE;
    report->counting += x->loop.stop[i].queue != FS_NONE;
  }
}

/* The times of a loop's members, in two arrays. */
static fs_status fill_times(fs_roller *r, const fs_rolled *x, uint64_t **time, uint64_t **latency) {
  FS_TRY(fs_new(r->scratch, time, x->n_ops));
  FS_TRY(fs_new(r->scratch, latency, x->n_ops));
  for (uint32_t m = 0; m < x->n_ops; m++) {
    (*time)[m] = x->body[m].time;
    (*latency)[m] = x->body[m].latency;
  }
  return FSCHED_OK;
}

fs_status fs_roller_time_rolled(fs_roller *r, const fs_planned_loop *p, const fs_rolled *x,
                                const fs_rolled_loop *loop, uint64_t *span) {
  uint64_t *time, *latency;
  FS_TRY(fill_times(r, x, &time, &latency));
  return fs_rolled_span(r->b->ctx, loop, time, latency, x->trip, (uint64_t)p->plan->ii.num,
                        (uint64_t)p->plan->ii.den, span);
}

/* Whether a queue could not count its commands over all runs. */
static bool counts_too_much(const fs_roller *r, uint32_t loop, const fs_rolled *x) {
  uint64_t runs = 1, shift = 0;
  for (uint32_t l = fs_loop_at(r->b, loop)->parent; l != FS_NONE; l = fs_loop_at(r->b, l)->parent) {
    runs = fs_multiply_most(runs, r->in.trip[l]);
  }
  for (uint32_t i = 0; i < x->loop.n_commands; i++) {
    shift = fs_max(shift, x->loop.command[i].shift);
  }
  uint64_t steps = fs_add_most(x->trip, shift);
  return fs_multiply_most(runs, fs_multiply_most(steps, x->loop.n_commands)) > MOST_COMMANDS;
}

/* Finds what each queue has of a run, as it is planned.  Barriers and block syncs take the queues
 * of a loop as a whole. */
static fs_status find_parts(fs_roller *r, fs_rolled *x) {
  uint64_t *time, *latency, again, end = 0;
  fs_rolled_part *part;
  bool known = false, *slow;
  x->part = NULL;
  if (x->loop.issued || x->loop.guarded || x->loop.n_queues < 2 || x->trip == 0 ||
      x->trip % x->loop.copies != 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&r->b->arena, &part, x->loop.n_queues));
  FS_TRY(fs_new_zero(r->scratch, &slow, x->loop.n_queues));
  FS_TRY(fill_times(r, x, &time, &latency));
  FS_TRY(fs_rolled_parts(r->b->ctx, &x->loop, time, latency, x->trip, slow, part, &again, &known));
  for (uint32_t q = 0; q < x->loop.n_queues && known; q++) {
    known = part[q].begin <= part[q].end;
    end = fs_max(end, part[q].end);
  }
  x->part = known && end == x->report->span ? part : NULL;
  return FSCHED_OK;
}

/* A span that is saturated (base/saturate.h) is not known. */
static fs_status takes_too_long(const fs_roller *r, uint32_t loop, const fs_loop_report *report) {
  char span[32] = "more than 2^63";
  if (report->span != UINT64_MAX) {
    (void)snprintf(span, sizeof span, "%llu", (unsigned long long)report->span);
  }
  return fs_builder_fail(r->b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&r->b->loop_at, loop), NULL,
                         "loop '%.80s' takes %s ticks, at most 2^40 are possible", report->name,
                         span);
}

fs_status fs_roller_find_span(fs_roller *r, uint32_t loop, const fs_planned_loop *p, fs_rolled *x) {
  FS_TRY(fs_new(&r->b->arena, &x->report, 1));
  *x->report = p->report;
  x->report->trip = x->trip;
  x->report->least = x->least;
  x->report->param = x->param;
  x->report->runs = 1;
  if (x->loop.issued) {
    time_issued(r, p, x, x->report);
  } else {
    FS_TRY(fs_roller_time_rolled(r, p, x, &x->loop, &x->report->span));
    x->report->waits = x->loop.n_waits;
    x->report->executed = fs_rolled_waits(&x->loop, x->trip);
    FS_TRY(fs_loop_at(r->b, loop)->parent == FS_NONE ? find_parts(r, x) : FSCHED_OK);
  }
  if (counts_too_much(r, loop, x)) {
    return fs_builder_fail(r->b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&r->b->loop_at, loop), NULL,
                           "loop '%.80s' has too many iterations: with those of the loops around "
                           "it, at most 2^62 commands can be counted",
                           x->report->name);
  }
  return x->report->span > FSCHED_MAX_TIME ? takes_too_long(r, loop, x->report) : FSCHED_OK;
}
