/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rolled.h"

#include "base/saturate.h"

/* Commands and iterations up to which a run is followed; of a longer one the rest goes on as the
 * interval says. */
enum { FOLLOWED = 1 << 14 };

typedef struct rolled_run {
  const fs_rolled_loop *r;
  const uint64_t *time, *latency;
  uint64_t trip;
  uint64_t *reached0; /* per command: where its iterations begin in `reached` */
  uint64_t *reached;  /* when an iteration, and all that its queue has before that, is over */
  uint64_t *done;     /* per command: its iterations so far */
  uint64_t *step;     /* per queue: where it is; steps, and commands in the step */
  uint32_t *at;
  uint64_t *free, *held; /* per queue */
  uint64_t end;
} rolled_run;

/* The iterations of a command. */
static uint64_t count_of(const rolled_run *x, uint32_t c) {
  uint32_t copy = x->r->command[c].copy;
  return x->trip <= copy ? 0 : (x->trip - copy - 1) / x->r->copies + 1;
}

/* Whether the waits of an iteration of a command are over, and when. */
static bool waits_over(const rolled_run *x, uint32_t c, uint64_t i, uint64_t *start) {
  const fs_rolled_command *k = &x->r->command[c];
  for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
    const fs_rolled_wait *wait = &x->r->wait[w];
    if (wait->distance > i) {
      continue;
    }
    uint64_t nth = (i - wait->distance) / x->r->copies;
    if (nth >= x->done[wait->command]) {
      return false;
    }
    uint64_t reached = x->reached[x->reached0[wait->command] + nth];
    *start = reached > *start ? reached : *start;
  }
  return true;
}

/* Runs the command that a queue has next; false: it waits. */
static bool run_next(rolled_run *x, uint32_t q, uint32_t c) {
  const fs_rolled_command *k = &x->r->command[c];
  uint64_t nth = x->step[q] - k->shift, i = nth * x->r->copies + k->copy;
  if (x->step[q] < k->shift || i >= x->trip) {
    return true;
  }
  uint64_t start = x->free[q];
  if (!waits_over(x, c, i, &start)) {
    return false;
  }
  uint64_t end = start + x->latency[k->member];
  x->free[q] = start + x->time[k->member];
  x->held[q] = end > x->held[q] ? end : x->held[q];
  x->end = end > x->end ? end : x->end;
  x->reached[x->reached0[c] + nth] = x->held[q];
  x->done[c]++;
  return true;
}

/* Goes on with a queue as far as it can; whether it has moved. */
static bool run_queue(rolled_run *x, uint32_t q, uint64_t steps) {
  uint32_t first = x->r->command0[q], n = x->r->command0[q + 1] - first;
  bool moved = false;
  while (x->step[q] < steps && run_next(x, q, first + x->at[q])) {
    moved = true;
    x->step[q] += x->at[q] + 1 == n;
    x->at[q] = x->at[q] + 1 == n ? 0 : x->at[q] + 1;
  }
  return moved;
}

static fs_status new_run(rolled_run *x, fs_arena *scratch) {
  const fs_rolled_loop *r = x->r;
  uint64_t all = 0;
  FS_TRY(fs_new(scratch, &x->reached0, r->n_commands));
  FS_TRY(fs_new_zero(scratch, &x->done, r->n_commands));
  FS_TRY(fs_new_zero(scratch, &x->step, r->n_queues));
  FS_TRY(fs_new_zero(scratch, &x->at, r->n_queues));
  FS_TRY(fs_new_zero(scratch, &x->free, r->n_queues));
  FS_TRY(fs_new_zero(scratch, &x->held, r->n_queues));
  for (uint32_t c = 0; c < r->n_commands; c++) {
    x->reached0[c] = all;
    all += count_of(x, c);
  }
  return fs_new(scratch, &x->reached, all);
}

fs_status fs_rolled_span(fsched_context *ctx, const fs_rolled_loop *r, const uint64_t *time,
                         const uint64_t *latency, uint64_t trip, uint64_t ii_num, uint64_t ii_den,
                         uint64_t *span) {
  assert(r->copies > 0 && r->n_commands > 0 && ii_den > 0);
  uint64_t most = fs_max(FOLLOWED / r->n_commands, 16);
  rolled_run x = {r, time, latency, .trip = fs_min(trip, most)};
  uint64_t steps = x.trip;
  FS_SCRATCH(scratch, ctx);
  FS_TRY(new_run(&x, &scratch));
  for (uint32_t c = 0; c < r->n_commands; c++) {
    steps = fs_max(steps, x.trip + r->command[c].shift);
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t q = 0; q < r->n_queues; q++) {
      moved |= run_queue(&x, q, steps);
    }
  }
  uint64_t rest = trip - x.trip;
  *span = fs_add_most(fs_add_most(x.end, fs_multiply_most(rest / ii_den, ii_num)),
                      fs_ceil_div(fs_multiply_most(rest % ii_den, ii_num), ii_den));
  return FSCHED_OK;
}
