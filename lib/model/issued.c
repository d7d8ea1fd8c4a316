/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over steps and places.  Of each queue it keeps when its commands up to each are all
 * over, those that pass included, which are over when the one before is: so a stop is a look at one
 * number. */
#include "model/issued.h"

#include "base/saturate.h"

/* Commands and iterations that are followed, at first fewer; iterations at least. */
enum { FOLLOWED_FIRST = 1 << 10, FOLLOWED = 1 << 14, LEAST = 16 };

typedef struct issued_run {
  const fs_rolled_loop *r;
  const uint64_t *time, *latency;
  uint64_t trip;
  const uint32_t *by_place, *queue_of; /* commands by their places; per command: its queue */
  uint64_t **over;                     /* per queue: when its commands up to each are over */
  uint64_t *free;                      /* per queue: when it can go on */
  uint64_t *n_over;                    /* per queue: how many it has got */
  uint64_t now, end;                   /* now: of the sequencer */
  fs_rolled_starts *starts;            /* of the run */
} issued_run;

static void wait_for(issued_run *x, uint32_t q, uint64_t keep) {
  if (x->n_over[q] > keep) {
    x->now = fs_max(x->now, x->over[q][x->n_over[q] - 1 - keep]);
  }
}

static void pass_stop(issued_run *x, const fs_rolled_stop *stop) {
  for (uint32_t q = 0; q < x->r->n_queues; q++) {
    if (stop->queue == FS_NONE || x->r->queue[q] == stop->queue) {
      wait_for(x, q, stop->keep);
    }
  }
}

static bool runs(const issued_run *x, const fs_rolled_command *k, uint64_t step) {
  return step >= k->shift && (step - k->shift) * x->r->copies + k->copy < x->trip;
}

static void note_start(const issued_run *x, uint32_t c, uint64_t step, uint64_t start) {
  x->starts->start[x->starts->first[c] + step - x->r->command[c].shift] = start;
}

/* Issues the command at a place, with all of its gang, which follow on it; returns how many. */
static uint32_t issue_gang(issued_run *x, uint64_t step, uint32_t place) {
  const fs_rolled_command *k = &x->r->command[x->by_place[place]];
  uint64_t start = x->now;
  uint32_t n = 0;
  for (; place + n < x->r->n_commands; n++) {
    const fs_rolled_command *m = &x->r->command[x->by_place[place + n]];
    if (m->member != k->member || m->copy != k->copy) {
      break;
    }
    start = fs_max(start, x->free[x->queue_of[x->by_place[place + n]]]);
  }
  for (uint32_t i = place; i < place + n; i++) {
    uint32_t q = x->queue_of[x->by_place[i]];
    uint64_t over = x->n_over[q] == 0 ? 0 : x->over[q][x->n_over[q] - 1];
    if (runs(x, &x->r->command[x->by_place[i]], step)) {
      over = fs_max(over, start + x->latency[k->member]);
      x->free[q] = start + x->time[k->member];
      note_start(x, x->by_place[i], step, start);
    }
    x->over[q][x->n_over[q]++] = over;
    x->end = fs_max(x->end, over);
  }
  return n;
}

static void run_step(issued_run *x, uint64_t step) {
  uint32_t stop = 0;
  for (uint32_t i = 0; i < x->r->n_commands;) {
    for (; stop < x->r->n_stops && x->r->stop[stop].at <= i; stop++) {
      pass_stop(x, &x->r->stop[stop]);
    }
    i += issue_gang(x, step, i);
  }
}

uint64_t fs_issued_steps(const fs_rolled_loop *r, uint64_t trip) {
  assert(r->copies > 0);
  uint64_t steps = 0;
  for (uint32_t c = 0; c < r->n_commands; c++) {
    const fs_rolled_command *k = &r->command[c];
    uint64_t n = trip <= k->copy ? 0 : (trip - k->copy - 1) / r->copies + 1;
    steps = n == 0 ? steps : fs_max(steps, n + k->shift);
  }
  return steps;
}

/* The time of `trip` iterations. */
static fs_status follow_run(issued_run *x, fs_arena *scratch, uint64_t trip, uint64_t *end) {
  const fs_rolled_loop *r = x->r;
  uint64_t steps = fs_issued_steps(r, trip);
  FS_TRY(fs_new(scratch, &x->over, r->n_queues));
  FS_TRY(fs_new_zero(scratch, &x->n_over, r->n_queues));
  FS_TRY(fs_new_zero(scratch, &x->free, r->n_queues));
  for (uint32_t q = 0; q < r->n_queues; q++) {
    FS_TRY(fs_new(scratch, &x->over[q], steps * (r->command0[q + 1] - r->command0[q])));
  }
  x->now = x->end = 0;
  x->trip = trip;
  for (uint64_t t = 0; t < steps; t++) {
    run_step(x, t);
  }
  *end = x->end;
  return FSCHED_OK;
}

static fs_status find_places(issued_run *x, fs_arena *scratch) {
  const fs_rolled_loop *r = x->r;
  uint32_t *by_place, *queue_of;
  FS_TRY(fs_new(scratch, &by_place, r->n_commands));
  FS_TRY(fs_new(scratch, &queue_of, r->n_commands));
  for (uint32_t q = 0; q < r->n_queues; q++) {
    for (uint32_t c = r->command0[q]; c < r->command0[q + 1]; c++) {
      assert(r->command[c].issue < r->n_commands);
      by_place[r->command[c].issue] = c;
      queue_of[c] = q;
    }
  }
  x->by_place = by_place;
  x->queue_of = queue_of;
  return FSCHED_OK;
}

fs_status fs_issued_follow(fs_arena *arena, const fs_rolled_loop *r, const uint64_t *time,
                           const uint64_t *latency, uint64_t trip, fs_rolled_starts *out) {
  assert(r->issued && r->n_commands > 0 && trip > 0);
  issued_run x = {.r = r, .time = time, .latency = latency, .starts = out};
  uint64_t all = 0;
  FS_SCRATCH(scratch, arena->ctx);
  FS_TRY(fs_new(arena, &out->first, (size_t)r->n_commands + 1));
  for (uint32_t c = 0; c < r->n_commands; c++) {
    uint32_t copy = r->command[c].copy;
    out->first[c] = all;
    all += trip <= copy ? 0 : (trip - copy - 1) / r->copies + 1;
  }
  out->first[r->n_commands] = all;
  FS_TRY(fs_new_zero(arena, &out->start, all));
  FS_TRY(find_places(&x, &scratch));
  return follow_run(&x, &scratch, trip, &out->end);
}

static fs_issued_time make_time(uint64_t span, uint64_t num, uint64_t den) {
  uint64_t common = fs_common_divisor(num, den);
  return (fs_issued_time){.span = span, .num = num / common, .den = den / common};
}

/* The last half of a run says what the rest takes, which does not repeat itself. */
static fs_status go_on_like_half(fsched_context *ctx, const fs_rolled_loop *r, const uint64_t *time,
                                 const uint64_t *latency, uint64_t trip, uint64_t most,
                                 uint64_t all, fs_issued_time *out) {
  fs_rolled_starts x;
  FS_SCRATCH(scratch, ctx);
  FS_TRY(fs_issued_follow(&scratch, r, time, latency, most / 2, &x));
  uint64_t rest = trip - fs_min(most, trip);
  *out = make_time(0, all - x.end, most - most / 2);
  out->span = fs_add_most(fs_add_most(all, fs_multiply_most(rest / out->den, out->num)),
                          fs_ceil_div(fs_multiply_most(rest % out->den, out->num), out->den));
  return FSCHED_OK;
}

fs_status fs_issued_run(fsched_context *ctx, const fs_rolled_loop *r, const uint64_t *time,
                        const uint64_t *latency, uint64_t trip, fs_issued_time *out) {
  assert(r->issued && r->n_commands > 0);
  uint64_t most = 0;
  fs_rolled_starts x;
  fs_rolled_period period;
  bool repeats = false;
  FS_SCRATCH(scratch, ctx);
  for (uint64_t all = FOLLOWED_FIRST; all <= FOLLOWED && !repeats;
       all *= FOLLOWED / FOLLOWED_FIRST) {
    most = fs_max(all / r->n_commands, fs_max(LEAST, 2 * (uint64_t)r->copies));
    most -= most % (2 * (uint64_t)r->copies);
    FS_TRY(fs_issued_follow(&scratch, r, time, latency, most, &x));
    repeats = fs_rolled_repeats(r, &x, &period);
  }
  if (repeats) {
    uint64_t rest = trip - fs_min(most, trip);
    uint64_t begin = trip <= most ? trip : most - period.iterations + rest % period.iterations;
    *out = make_time(0, period.later, period.iterations);
    if (trip > 0) {
      FS_TRY(fs_issued_follow(&scratch, r, time, latency, begin, &x));
      out->span =
          fs_add_most(x.end, fs_multiply_most((trip - begin) / period.iterations, period.later));
    }
    return FSCHED_OK;
  }
  FS_TRY(go_on_like_half(ctx, r, time, latency, trip, most, x.end, out));
  if (trip <= most && trip > 0) {
    FS_TRY(fs_issued_follow(&scratch, r, time, latency, trip, &x));
    out->span = x.end;
  }
  return FSCHED_OK;
}
