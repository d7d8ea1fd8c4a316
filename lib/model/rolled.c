/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rolled.h"

#include "base/saturate.h"

/* Commands and iterations up to which a run is followed, at first fewer; of a longer one the rest
 * goes on as the interval says. */
enum { FOLLOWED_FIRST = 1 << 10, FOLLOWED = 1 << 14 };

typedef struct rolled_run {
  const fs_rolled_loop *r;
  const uint64_t *time, *latency;
  uint64_t trip;
  fs_rolled_starts *out;
  uint64_t *reached;      /* as `start`: when an iteration, and all that its queue has before that,
                           * is over */
  uint64_t *done;         /* per command: its iterations so far */
  uint64_t *step;         /* per queue: where it is; steps, and commands in the step */
  uint32_t *at;           /* per queue */
  uint64_t *free, *held;  /* per queue */
  uint32_t *queue, *next; /* per command: its queue, and the next one of its gang, in a circle */
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
    uint64_t reached = x->reached[x->out->first[wait->command] + nth];
    *start = reached > *start ? reached : *start;
  }
  return true;
}

/* Whether a queue is at an iteration of a command whose waits are over, and when it may start. */
static bool is_ready(const rolled_run *x, uint32_t c, uint64_t i, uint64_t *start) {
  const fs_rolled_command *k = &x->r->command[c];
  uint32_t q = x->queue[c];
  bool here = x->r->command0[q] + x->at[q] == c && x->step[q] >= k->shift;
  *start = fs_max(*start, x->free[q]);
  return here && (x->step[q] - k->shift) * x->r->copies + k->copy == i &&
         waits_over(x, c, i, start);
}

static void move_on(rolled_run *x, uint32_t q) {
  x->at[q]++;
  if (x->at[q] == x->r->command0[q + 1] - x->r->command0[q]) {
    x->at[q] = 0;
    x->step[q]++;
  }
}

static void start_command(rolled_run *x, uint32_t c, uint64_t start) {
  uint32_t q = x->queue[c];
  const fs_rolled_command *k = &x->r->command[c];
  uint64_t end = start + (k->lasts > 0 ? k->lasts : x->latency[k->member]);
  uint64_t at = x->out->first[c] + x->done[c]++;
  x->free[q] = start + (k->lasts > 0 ? k->keeps : x->time[k->member]);
  x->held[q] = fs_max(x->held[q], end);
  x->out->end = fs_max(x->out->end, end);
  x->out->start[at] = start;
  x->reached[at] = x->r->guarded ? end : x->held[q]; /* barriers tell of it alone */
  move_on(x, q);
}

/* When a gang begins, or the run of a loop, so that its command starts at `start` at the earliest.
 */
static uint64_t begin_of(const rolled_run *x, uint32_t c, uint64_t start) {
  const fs_rolled_command *k = &x->r->command[c];
  uint64_t begin = start > k->behind ? start - k->behind : 0;
  if (k->lasts > 0 && x->done[c] > 0) {
    uint64_t last = x->out->start[x->out->first[c] + x->done[c] - 1] - k->behind;
    begin = fs_max(begin, last + k->again);
  }
  return begin;
}

/* Runs the command that a queue has next, with all of its gang, or passes it; false: it waits. */
static bool run_next(rolled_run *x, uint32_t q) {
  uint32_t c = x->r->command0[q] + x->at[q], other = c;
  const fs_rolled_command *k = &x->r->command[c];
  uint64_t nth = x->step[q] - k->shift, i = nth * x->r->copies + k->copy, start = 0;
  if (x->step[q] < k->shift || i >= x->trip) {
    move_on(x, q);
    return true;
  }
  do {
    uint64_t own = 0;
    if (!is_ready(x, other, i, &own)) {
      return false;
    }
    start = fs_max(start, begin_of(x, other, own));
    other = x->next[other];
  } while (other != c);
  do {
    start_command(x, other, start + x->r->command[other].behind);
    other = x->next[other];
  } while (other != c);
  return true;
}

/* Goes on with a queue as far as it can; whether it has moved. */
static bool run_queue(rolled_run *x, uint32_t q, uint64_t steps) {
  bool moved = false, empty = x->r->command0[q] == x->r->command0[q + 1];
  while (!empty && x->step[q] < steps && run_next(x, q)) {
    moved = true;
  }
  return moved;
}

/* Finds the gangs: the commands of one op and copy. */
static fs_status find_gangs(rolled_run *x, fs_arena *scratch) {
  const fs_rolled_loop *r = x->r;
  uint32_t members = 0, *first;
  for (uint32_t c = 0; c < r->n_commands; c++) {
    members = r->command[c].member >= members ? r->command[c].member + 1 : members;
  }
  FS_TRY(fs_new(scratch, &x->queue, r->n_commands));
  FS_TRY(fs_new(scratch, &x->next, r->n_commands));
  FS_TRY(fs_new_none(scratch, &first, (size_t)members * r->copies));
  for (uint32_t q = 0; q < r->n_queues; q++) {
    for (uint32_t c = r->command0[q]; c < r->command0[q + 1]; c++) {
      uint32_t *of = &first[r->command[c].member * r->copies + r->command[c].copy];
      x->queue[c] = q;
      x->next[c] = *of == FS_NONE ? c : x->next[*of];
      *of = *of == FS_NONE ? c : *of;
      x->next[*of] = c;
    }
  }
  return FSCHED_OK;
}

static fs_status new_run(rolled_run *x, fs_arena *arena, fs_arena *scratch) {
  const fs_rolled_loop *r = x->r;
  uint64_t all = 0;
  FS_TRY(fs_new(arena, &x->out->first, (size_t)r->n_commands + 1));
  FS_TRY(fs_new_zero(scratch, &x->done, r->n_commands));
  FS_TRY(fs_new_zero(scratch, &x->step, r->n_queues));
  FS_TRY(fs_new_zero(scratch, &x->at, r->n_queues));
  FS_TRY(fs_new_zero(scratch, &x->free, r->n_queues));
  FS_TRY(fs_new_zero(scratch, &x->held, r->n_queues));
  FS_TRY(find_gangs(x, scratch));
  for (uint32_t c = 0; c < r->n_commands; c++) {
    x->out->first[c] = all;
    all += count_of(x, c);
  }
  x->out->first[r->n_commands] = all;
  FS_TRY(fs_new_zero(arena, &x->out->start, all));
  return fs_new(scratch, &x->reached, all);
}

fs_status fs_rolled_follow(fs_arena *arena, const fs_rolled_loop *r, const uint64_t *time,
                           const uint64_t *latency, uint64_t trip, fs_rolled_starts *out) {
  assert(r->copies > 0 && r->n_commands > 0 && trip > 0);
  *out = (fs_rolled_starts){0};
  rolled_run x = {r, time, latency, .trip = trip, .out = out};
  uint64_t steps = trip;
  FS_SCRATCH(scratch, arena->ctx);
  FS_TRY(new_run(&x, arena, &scratch));
  for (uint32_t c = 0; c < r->n_commands; c++) {
    steps = fs_max(steps, trip + r->command[c].shift);
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t q = 0; q < r->n_queues; q++) {
      moved |= run_queue(&x, q, steps);
    }
  }
  for (uint32_t q = 0; q < r->n_queues; q++) {
    bool empty = r->command0[q] == r->command0[q + 1];
    out->locks_up = out->locks_up || (!empty && x.step[q] < steps);
  }
  return FSCHED_OK;
}

/* How far back, in steps, what a command waits for lies at most, of its queue or another; and how
 * far from each other steps are in which commands run the same instance. */
static uint64_t reach_of(const fs_rolled_loop *r) {
  uint64_t shift = 0, distance = 0;
  for (uint32_t c = 0; c < r->n_commands; c++) {
    shift = fs_max(shift, r->command[c].shift);
  }
  for (uint32_t w = 0; w < r->n_waits; w++) {
    distance = fs_max(distance, r->wait[w].distance);
  }
  for (uint32_t s = 0; s < r->n_stops; s++) {
    distance = fs_max(distance, (uint64_t)r->stop[s].keep * r->copies);
  }
  return 2 * shift + distance / r->copies + 2;
}

/* Whether instances begin .. end - 1 of all commands start so much later than those that are so
 * many before them. */
static bool comes_again(const fs_rolled_loop *r, const fs_rolled_starts *x, uint64_t begin,
                        uint64_t end, uint64_t instances, uint64_t later) {
  for (uint32_t c = 0; c < r->n_commands; c++) {
    const uint64_t *start = x->start + x->first[c];
    for (uint64_t i = begin; i < end; i++) {
      if (start[i] != start[i - instances] + later) {
        return false;
      }
    }
  }
  return true;
}

bool fs_rolled_repeats(const fs_rolled_loop *r, const fs_rolled_starts *x, fs_rolled_period *out) {
  assert(r->copies > 0 && r->n_commands > 0);
  uint64_t least = UINT64_MAX, reach = reach_of(r);
  for (uint32_t c = 0; c < r->n_commands; c++) {
    least = fs_min(least, x->first[c + 1] - x->first[c]);
  }
  uint64_t begin = least / 2, end = least - fs_min(reach, least); /* at its end a run is quicker */
  for (uint64_t n = 1; begin + 2 * n + reach <= end; n++) {
    uint64_t later = x->start[begin + n] - x->start[begin];
    if (comes_again(r, x, begin + n, end, n, later)) {
      *out = (fs_rolled_period){n * r->copies, later};
      return true;
    }
  }
  return false;
}

/* Follows a run until a period is seen well behind its begin, or all of it, or as far as runs are
 * followed.  *n: the iterations, whole turns of the copies but at the end; *period: one of no
 * iterations if none was seen. */
static fs_status follow_period(fs_arena *scratch, const fs_rolled_loop *r, const uint64_t *time,
                               const uint64_t *latency, uint64_t trip, uint64_t *n,
                               fs_rolled_starts *x, fs_rolled_period *period) {
  for (uint64_t most = FOLLOWED_FIRST; most <= FOLLOWED; most *= FOLLOWED / FOLLOWED_FIRST) {
    uint64_t turns = fs_ceil_div(fs_max(most / r->n_commands, 16), r->copies);
    *n = fs_min(trip, turns * r->copies);
    *period = (fs_rolled_period){0};
    FS_TRY(fs_rolled_follow(scratch, r, time, latency, *n, x));
    bool seen = *n < trip && !x->locks_up && fs_rolled_repeats(r, x, period);
    if (*n == trip || (seen && (*n - period->iterations) / 2 > reach_of(r) * r->copies)) {
      return FSCHED_OK;
    }
  }
  return FSCHED_OK;
}

fs_status fs_rolled_span(fsched_context *ctx, const fs_rolled_loop *r, const uint64_t *time,
                         const uint64_t *latency, uint64_t trip, uint64_t ii_num, uint64_t ii_den,
                         uint64_t *span) {
  assert(r->copies > 0 && r->n_commands > 0 && ii_den > 0);
  uint64_t most;
  fs_rolled_starts x;
  fs_rolled_period period;
  FS_SCRATCH(scratch, ctx);
  *span = 0;
  if (trip == 0) {
    return FSCHED_OK;
  }
  FS_TRY(follow_period(&scratch, r, time, latency, trip, &most, &x, &period));
  if (x.locks_up) {
    *span = UINT64_MAX;
    return FSCHED_OK;
  }
  uint64_t rest = trip - most;
  if (period.iterations > 0) {
    uint64_t begin = most - period.iterations + rest % period.iterations;
    FS_TRY(fs_rolled_follow(&scratch, r, time, latency, begin, &x));
    *span = fs_add_most(x.end, fs_multiply_most((trip - begin) / period.iterations, period.later));
    return FSCHED_OK;
  }
  *span = fs_add_most(fs_add_most(x.end, fs_multiply_most(rest / ii_den, ii_num)),
                      fs_ceil_div(fs_multiply_most(rest % ii_den, ii_num), ii_den));
  return FSCHED_OK;
}

/* The parts of a run that was followed, of which all that is in its second half comes `later`. */
static void find_parts(const fs_rolled_loop *r, const fs_rolled_starts *x, const uint64_t *time,
                       const uint64_t *latency, uint64_t trip, uint64_t later, const bool *slow,
                       fs_rolled_part *part) {
  for (uint32_t q = 0; q < r->n_queues; q++) {
    part[q] = (fs_rolled_part){UINT64_MAX, 0, 0, 0};
    for (uint32_t c = r->command0[q]; c < r->command0[q + 1]; c++) {
      uint64_t last = x->start[x->first[c + 1] - 1];
      part[q].begin = fs_min(part[q].begin, x->start[x->first[c]]);
      const fs_rolled_command *k = &r->command[c];
      uint64_t lasts = k->lasts > 0 ? k->lasts : latency[k->member];
      uint64_t keeps = k->lasts > 0 ? k->keeps : time[k->member];
      part[q].end = fs_max(part[q].end, last + lasts + later);
      part[q].free = fs_max(part[q].free, last + keeps + later);
      part[q].work =
          fs_add_most(part[q].work, fs_multiply_most(trip / r->copies, time[r->command[c].member]));
    }
    part[q].free = slow[q] ? part[q].free : part[q].end;
  }
}

/* When all is over that a command's queue has started up to some time. */
static uint64_t over_up_to(const fs_rolled_loop *r, const fs_rolled_starts *x,
                           const uint64_t *latency, uint32_t command, uint64_t time) {
  uint64_t over = 0;
  uint32_t q = 0;
  while (command >= r->command0[q + 1]) {
    q++;
  }
  for (uint32_t c = r->command0[q]; c < r->command0[q + 1]; c++) {
    const uint64_t *start = x->start + x->first[c];
    uint64_t low = 0, high = x->first[c + 1] - x->first[c]; /* the first one that is later */
    while (low < high) {
      uint64_t middle = low + (high - low) / 2;
      bool later = start[middle] > time;
      high = later ? middle : high;
      low = later ? low : middle + 1;
    }
    over = low == 0 ? over : fs_max(over, start[low - 1] + latency[r->command[c].member]);
  }
  return over;
}

/* When the next run can begin: each queue is free then, and what waits for an iteration of a run
 * before comes behind that, and behind all before it on its queue. */
static uint64_t find_again(const fs_rolled_loop *r, const fs_rolled_starts *x,
                           const uint64_t *latency, uint64_t trip, uint64_t later,
                           const fs_rolled_part *part) {
  uint64_t again = 0, u = r->copies;
  for (uint32_t q = 0; q < r->n_queues; q++) {
    again = fs_max(again, part[q].free - part[q].begin);
  }
  for (uint32_t c = 0; c < r->n_commands; c++) {
    const fs_rolled_command *k = &r->command[c];
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
      uint64_t d = r->wait[w].distance;
      uint32_t target = r->wait[w].command;
      for (uint64_t i = k->copy; i < trip && i < d; i += u) {
        uint64_t runs = fs_ceil_div(d - i, trip), nth = (runs * trip + i - d) / u;
        uint64_t last = x->start[x->first[target] + nth];
        uint64_t end = over_up_to(r, x, latency, target, last) + later;
        uint64_t start = x->start[x->first[c] + i / u];
        again = fs_max(again, end > start ? fs_ceil_div(end - start, runs) : 0);
      }
    }
  }
  return again;
}

fs_status fs_rolled_parts(fsched_context *ctx, const fs_rolled_loop *r, const uint64_t *time,
                          const uint64_t *latency, uint64_t trip, const bool *slow,
                          fs_rolled_part *part, uint64_t *again, bool *known) {
  assert(r->n_commands > 0 && trip > 0 && trip % r->copies == 0);
  uint64_t n, later = 0;
  fs_rolled_starts x;
  fs_rolled_period period;
  FS_SCRATCH(scratch, ctx);
  FS_TRY(follow_period(&scratch, r, time, latency, trip, &n, &x, &period));
  *known = n == trip;
  if (period.iterations > 0) { /* fewer rounds, of which the last are alike */
    uint64_t fewer = n - period.iterations + (trip - n) % period.iterations;
    later = (trip - fewer) / period.iterations * period.later;
    *known = fewer / 2 > reach_of(r) * r->copies &&
             (period.later == 0 || later / period.later < UINT32_MAX);
    n = *known ? fewer : n;
    FS_TRY(fs_rolled_follow(&scratch, r, time, latency, n, &x));
  }
  if (*known) {
    find_parts(r, &x, time, latency, trip, later, slow, part);
    *again = find_again(r, &x, latency, n, later, part);
  }
  return FSCHED_OK;
}

uint64_t fs_rolled_waits(const fs_rolled_loop *r, uint64_t trip) {
  assert(r->copies > 0);
  uint64_t n = 0;
  for (uint32_t c = 0; c < r->n_commands; c++) {
    const fs_rolled_command *k = &r->command[c];
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
      uint64_t distance = r->wait[w].distance;
      uint64_t behind = distance > k->copy ? fs_ceil_div(distance - k->copy, r->copies) : 0;
      uint64_t first = behind * r->copies + k->copy;
      n = fs_add_most(n, first < trip ? (trip - first - 1) / r->copies + 1 : 0);
    }
  }
  return n;
}
