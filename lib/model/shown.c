/* SPDX-License-Identifier: Apache-2.0 */
/* A shorter run is followed, by a multiple of the period, so that its begin and its end are those
 * of the long one: the end comes so much later as the long one takes more, and the middle half as
 * much. */
#include "model/shown.h"

#include "base/saturate.h"
#include "model/issued.h"

enum { FOLLOWED = 1 << 14, LEAST = 1024, MOST_PERIOD = 64, MOST_SHIFT = 64 };
enum { MOST_PARTS = 1 << 14, MOST_STEPS = 256, MOST_COMMANDS = 1024 };

typedef struct shown_window {
  uint64_t begin, end; /* steps of the loop */
  uint64_t back;       /* steps that they are behind those of the run that is followed */
  uint64_t later;      /* ticks; the same */
} shown_window;

typedef struct shown_finder {
  const fs_rolled_loop *r;
  const uint64_t *time, *latency;
  uint64_t trip, run; /* iterations; of the run that is followed */
  uint64_t period;    /* iterations, a multiple of the copies */
  fs_rolled_starts x;
  uint32_t n_windows;
  shown_window window[3];
  fs_shown *out;
  uint32_t n_parts;
  bool counts; /* parts are counted, not yet written */
} shown_finder;

static fs_status follow_run(shown_finder *f, fs_arena *scratch, uint64_t trip) {
  f->run = trip;
  return f->r->issued ? fs_issued_follow(scratch, f->r, f->time, f->latency, trip, &f->x)
                      : fs_rolled_follow(scratch, f->r, f->time, f->latency, trip, &f->x);
}

/* Whether in the middle of the run all starts come again after so many instances, as much later. */
static bool repeats(const shown_finder *f, uint64_t instances) {
  uint64_t later = 0;
  for (uint32_t c = 0; c < f->r->n_commands; c++) {
    uint64_t n = f->x.first[c + 1] - f->x.first[c], at = n / 2;
    const uint64_t *start = f->x.start + f->x.first[c];
    for (uint64_t i = at; i < at + instances; i++) {
      if (i + instances >= n || start[i + instances] < start[i]) {
        return false;
      }
      later = c == 0 && i == at ? start[i + instances] - start[i] : later;
      if (start[i + instances] - start[i] != later) {
        return false;
      }
    }
  }
  return true;
}

static uint64_t find_period(const shown_finder *f) {
  for (uint64_t n = 1; n <= MOST_PERIOD; n++) {
    if (repeats(f, n)) {
      return n * f->r->copies;
    }
  }
  return f->r->copies;
}

/* The steps of so many iterations. */
static uint64_t steps_of(const shown_finder *f, uint64_t trip) {
  return fs_issued_steps(f->r, trip);
}

static uint64_t last_shift(const shown_finder *f) {
  uint64_t shift = 0;
  for (uint32_t c = 0; c < f->r->n_commands; c++) {
    shift = fs_max(shift, f->r->command[c].shift);
  }
  return fs_min(shift, MOST_SHIFT);
}

/* Chooses the steps that are shown. */
static void choose_windows(shown_finder *f, uint64_t span) {
  uint64_t steps = steps_of(f, f->trip), period = f->period / f->r->copies;
  uint64_t end = last_shift(f) + 1 + period;
  f->n_windows = 1;
  f->window[0] = (shown_window){0, steps, 0, 0};
  if (steps <= 2 * end + 4 * period) {
    return;
  }
  uint64_t all = steps - steps_of(f, f->run), later = span - fs_min(span, f->x.end);
  uint64_t middle = steps / 2 - period, periods = all / period;
  uint64_t each = periods == 0 ? 0 : later / periods;
  f->n_windows = 3;
  f->window[0].end = end;
  f->window[1] =
      (shown_window){middle, middle + 2 * period, periods / 2 * period, periods / 2 * each};
  f->window[2] = (shown_window){steps - end, steps, all, later};
}

static void add_part(shown_finder *f, fs_shown_part part) {
  if (!f->counts) {
    f->out->part[f->n_parts] = part;
  }
  f->n_parts++;
}

/* The instances of a queue in steps begin .. end - 1. */
static uint64_t count_between(const shown_finder *f, uint32_t q, uint64_t begin, uint64_t end) {
  uint64_t n = 0;
  for (uint32_t c = f->r->command0[q]; c < f->r->command0[q + 1]; c++) {
    const fs_rolled_command *k = &f->r->command[c];
    uint64_t first = k->shift;
    uint64_t all = f->trip <= k->copy ? 0 : (f->trip - k->copy - 1) / f->r->copies + 1;
    uint64_t from = fs_max(begin, first), to = fs_min(end, first + all);
    n += to > from ? to - from : 0;
  }
  return n;
}

static void show_step(shown_finder *f, uint32_t q, uint64_t step, const shown_window *w) {
  for (uint32_t c = f->r->command0[q]; c < f->r->command0[q + 1]; c++) {
    const fs_rolled_command *k = &f->r->command[c];
    uint64_t nth = step - k->shift, i = nth * f->r->copies + k->copy;
    if (step < k->shift || i >= f->trip) {
      continue;
    }
    uint64_t begin = w->later + f->x.start[f->x.first[c] + nth - w->back];
    uint64_t time = k->lasts > 0 ? k->keeps : f->time[k->member];
    uint64_t latency = k->lasts > 0 ? k->lasts : f->latency[k->member];
    add_part(f, (fs_shown_part){c, i, begin, begin + time, begin + latency, begin - k->behind});
  }
}

static void show_queue(shown_finder *f, uint32_t q) {
  uint32_t gap = FS_NONE;
  for (uint32_t w = 0; w < f->n_windows; w++) {
    const shown_window *x = &f->window[w];
    uint32_t before = f->n_parts;
    for (uint64_t step = x->begin; step < x->end; step++) {
      show_step(f, q, step, x);
    }
    if (!f->counts && gap != FS_NONE && before < f->n_parts) {
      fs_shown_part *part = &f->out->part[gap];
      part->free = part->end = fs_max(part->begin, f->out->part[before].begin);
    }
    uint64_t n = w + 1 < f->n_windows ? count_between(f, q, x->end, x[1].begin) : 0;
    gap = n == 0 ? FS_NONE : f->n_parts;
    if (n > 0) {
      bool none = f->counts || f->n_parts == f->out->part0[q];
      uint64_t begin = none ? 0 : f->out->part[f->n_parts - 1].free;
      add_part(f, (fs_shown_part){FS_NONE, n, begin, begin, begin, begin});
    }
  }
}

static void show_queues(shown_finder *f, bool counts) {
  f->counts = counts;
  f->n_parts = 0;
  for (uint32_t q = 0; q < f->r->n_queues; q++) {
    f->out->part0[q] = f->n_parts;
    show_queue(f, q);
  }
  f->out->part0[f->r->n_queues] = f->n_parts;
}

/* Whether there is too much to follow. */
static bool is_too_large(const fs_rolled_loop *r) {
  bool large = r->n_commands > MOST_COMMANDS;
  for (uint32_t c = 0; c < r->n_commands; c++) {
    large = large || r->command[c].shift > MOST_STEPS;
  }
  return large;
}

static fs_status find_parts(fs_arena *arena, fs_shown_loop *x) {
  const fs_rolled_loop *r = &x->loop;
  assert(r->copies > 0 && r->n_commands > 0);
  shown_finder f = {r, x->time, x->latency, .trip = x->trip, .out = &x->shown};
  uint64_t most = fs_max(FOLLOWED / r->n_commands, (uint64_t)LEAST * r->copies);
  x->shown = (fs_shown){0};
  FS_TRY(fs_new_zero(arena, &x->shown.part0, (size_t)r->n_queues + 1));
  if (x->trip == 0 || is_too_large(r)) {
    return FSCHED_OK;
  }
  FS_SCRATCH(scratch, arena->ctx);
  FS_TRY(follow_run(&f, &scratch, fs_min(x->trip, most)));
  f.period = find_period(&f);
  if (x->trip > most && (x->trip - most) % f.period != 0) {
    FS_TRY(follow_run(&f, &scratch, most - f.period + (x->trip - most) % f.period));
  }
  choose_windows(&f, x->span);
  show_queues(&f, true);
  FS_TRY(fs_new(arena, &x->shown.part, f.n_parts));
  show_queues(&f, false);
  return FSCHED_OK;
}

/* The parts of a loop with those of the loops in it. */
static uint64_t count_parts(const fs_shown_loop *x, const uint64_t *parts) {
  uint32_t n = x->shown.part0[x->loop.n_queues];
  uint64_t all = n;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = x->shown.part[i].command;
    uint32_t inner = c == FS_NONE ? FS_NONE : x->inner[x->loop.command[c].member];
    all += inner == FS_NONE ? 0 : parts[inner];
  }
  return all;
}

/* Loops are closed from the outermost of those on whose account there are too many parts. */
static void close_loops(fs_shown_loop *loop, uint32_t n, uint64_t *parts) {
  for (uint32_t l = n; l-- > 0;) {
    fs_shown_loop *x = &loop[l];
    x->open = true;
    parts[l] = count_parts(x, parts);
    if (parts[l] > MOST_PARTS) {
      for (uint32_t m = 0; m < x->n_members; m++) {
        if (x->inner[m] != FS_NONE) {
          loop[x->inner[m]].open = false;
        }
      }
      parts[l] = x->shown.part0[x->loop.n_queues];
    }
  }
}

/* Finds the slots of a loop, when those of loops in it are known. */
static fs_status find_slots(fs_arena *arena, fs_shown_loop *list, fs_shown_loop *x) {
  FS_TRY(fs_new_none(arena, &x->shown.slot, x->shown.part0[x->loop.n_queues]));
  FS_TRY(fs_new_zero(arena, &x->shown.n_slots, x->loop.n_queues));
  for (uint32_t q = 0; q < x->loop.n_queues; q++) {
    for (uint32_t i = x->shown.part0[q]; i < x->shown.part0[q + 1]; i++) {
      uint32_t c = x->shown.part[i].command;
      if (c == FS_NONE) {
        continue;
      }
      x->shown.slot[i] = x->shown.n_slots[q]++;
      uint32_t inner = x->inner[x->loop.command[c].member];
      if (inner != FS_NONE && list[inner].open) {
        uint32_t at = fs_shown_queue(&list[inner], x->loop.queue[q]);
        x->shown.n_slots[q] += at < list[inner].loop.n_queues ? list[inner].shown.n_slots[at] : 0;
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_shown_find(fs_arena *arena, fs_shown_loop *loop, uint32_t n) {
  assert(loop != NULL || n == 0);
  uint64_t *parts;
  for (uint32_t l = 0; l < n; l++) {
    FS_TRY(find_parts(arena, &loop[l]));
  }
  FS_SCRATCH(scratch, arena->ctx);
  FS_TRY(fs_new(&scratch, &parts, n));
  close_loops(loop, n, parts);
  for (uint32_t l = n; l-- > 0;) {
    FS_TRY(find_slots(arena, loop, &loop[l]));
  }
  return FSCHED_OK;
}

fs_shown_walk fs_shown_begin(const fs_shown_times *t, uint32_t loop, uint32_t queue,
                             uint32_t slot) {
  assert(t == NULL || fs_shown_queue(&t->loop[loop], queue) < t->loop[loop].loop.n_queues);
  if (t == NULL || slot == FS_NONE || !t->loop[loop].open) {
    return (fs_shown_walk){0};
  }
  const fs_shown_loop *x = &t->loop[loop];
  uint32_t q = fs_shown_queue(x, queue);
  return (fs_shown_walk){x, slot, x->shown.part0[q], x->shown.part0[q + 1]};
}

uint32_t fs_shown_take(fs_shown_walk *w, uint32_t command, uint64_t iteration) {
  if (w->loop == NULL) {
    return FS_NONE;
  }
  const fs_shown *x = &w->loop->shown;
  w->part += w->part < w->end && x->part[w->part].command == FS_NONE;
  if (w->part == w->end || x->part[w->part].command != command ||
      x->part[w->part].iteration != iteration) {
    return FS_NONE;
  }
  return w->slot + x->slot[w->part++];
}

fs_status fs_shown_of_graph(fs_arena *arena, const fsched_graph *g, fs_shown_loop **out) {
  fs_shown_loop *list;
  FS_TRY(fs_new_zero(arena, out, g->n_rolled));
  list = *out;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *from = &g->rolled[l];
    fs_shown_loop *x = &list[l];
    bool outer = from->within == FS_NONE;
    *x = (fs_shown_loop){.loop = from->loop, .n_members = from->n_ops, .trip = from->trip};
    x->op = outer ? from->op : FS_NONE;
    x->title = outer ? g->op_name[from->op] : g->rolled[from->within].body[from->op].name;
    x->span = outer ? fs_op_latency(g, from->op) : g->rolled[from->within].body[from->op].latency;
    FS_TRY(fs_new(arena, &x->name, from->n_ops));
    FS_TRY(fs_new(arena, &x->time, from->n_ops));
    FS_TRY(fs_new(arena, &x->latency, from->n_ops));
    FS_TRY(fs_new(arena, &x->inner, from->n_ops));
    for (uint32_t m = 0; m < from->n_ops; m++) {
      const fs_body_op *op = &from->body[m];
      x->name[m] = op->name;
      x->time[m] = op->time;
      x->latency[m] = op->latency;
      x->inner[m] = op->loop;
    }
  }
  return fs_shown_find(arena, list, g->n_rolled);
}
