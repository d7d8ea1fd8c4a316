/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: runs loops (model/rolled.h).
 *
 *   the first member of the loop's gang to arrive puts content in place and publishes that the loop
 *   is open
 *     each member runs its queue's part, step by step, and goes on behind the loop
 *   the last one to leave takes content out and publishes that the op is over
 *
 * So each queue enters and leaves the loop on its own; nobody waits for `open` longer than content
 * takes.  A loop on one queue has a meeting of one member.  The members of a gang within the loop
 * meet in each iteration of their op: the last one to arrive runs it.  Those of a loop in the loop
 * meet at its begin and at its end, and run their parts between; where its runs are joined, each
 * just runs its part.
 *
 * Where the loop has barriers, a command makes its checks before it runs, and updates barriers when
 * it is over (cpu/guards.c); else it has waits and signals.
 *
 * In a poisoned invocation a part ends at its next step, without publishing the rest: waits are
 * over at once, and those of the next invocation are for higher values. */
#include "exec/host/loops.h"

#include "base/clock.h"
#include "exec/cpu/cpu.h"

/* Waits for a value inside the loop, at a place of step t.  False: the lane is parked. */
__attribute__((noinline)) static bool await_in_loop(fs_cpu_lane *l, const fs_loop_frame *f,
                                                    fs_timeline *t, uint64_t value, uint32_t axis,
                                                    uint32_t step) {
  const fs_instance *x = l->worker->instance;
  uint32_t depth = 0;
  for (const fs_loop_frame *g = l->frame; g <= f; g++, depth++) {
    uint64_t at = g->round * g->part->n_commands + g->place + 1;
    uint32_t part = (uint32_t)(g->part - x->loop_part);
    atomic_store_explicit(&l->in_loop[depth], at, memory_order_relaxed);
    atomic_store_explicit(&l->in_part[depth], part, memory_order_relaxed);
  }
  atomic_store_explicit(&l->depth, depth, memory_order_relaxed);
  return fs_cpu_await_value(l, t, value, step, axis);
}

/* What the present command runs. */
static void find_instance(const fs_cpu_lane *l, fs_loop_frame *f, const fs_loop_step *s) {
  f->at.loop_command = s->command;
  f->at.op = l->worker->instance->stream->loop_commands[s->command].op;
  f->at.iteration = (f->round - s->from) * f->in->loop->copies + s->copy;
}

static void run_instance(fs_cpu_lane *l, fs_loop_frame *f, const fs_loop_step *s) {
  fs_instance *x = l->worker->instance;
  find_instance(l, f, s);
  if (!x->config.empty && !fs_cpu_poisoned(x)) {
    fsched_cause cause =
        fs_loop_run_instance(&x->effects, &l->worker->room, x->work, &f->at, &l->digest);
    if (cause != FSCHED_CAUSE_NONE) {
      fs_cpu_poison(x, cause);
    }
  }
}

static bool is_recorded(const fs_instance *x) { return x->work->record.instances != NULL; }

static void record(const fs_instance *x, uint32_t slot, uint64_t begin, uint64_t end) {
  if (slot != FS_NONE) {
    x->work->record.instances->begin[slot] = begin - x->begin_ns;
    x->work->record.instances->end[slot] = end - x->begin_ns;
  }
}

/* Runs the present instance for as long as its pace says, and notes when that was.  False: the lane
 * is parked until the pace is over. */
static bool run_timed(fs_cpu_lane *l, fs_loop_frame *f, const fs_loop_step *s) {
  const fs_instance *x = l->worker->instance;
  const fs_stream_loop_op *op = &x->stream->loop_ops[x->stream->loop_commands[s->command].op];
  if (!l->ran) {
    f->begin = fs_now_ns();
    run_instance(l, f, s);
    l->end_ns = fs_cpu_paced_end(x, fs_max(op->time, op->latency), f->begin);
    l->ran = true;
  }
  if (x->config.pace_ps != 0 && !fs_cpu_await_pace(l)) {
    return false;
  }
  l->ran = false;
  f->end = fs_now_ns();
  return true;
}

/* Runs the present instance.  False: the lane is parked. */
static bool run_present(fs_cpu_lane *l, fs_loop_frame *f, const fs_loop_step *s) {
  const fs_instance *x = l->worker->instance;
  bool gang = s->gang != FS_NONE && is_recorded(x);
  if (x->config.pace_ps != 0 || f->slot != FS_NONE || gang) {
    return run_timed(l, f, s);
  }
  run_instance(l, f, s);
  return true;
}

/* An iteration of a gang: the last member to arrive runs it for all.  False: the lane is parked,
 * and `met` or `ran` says that it has arrived. */
static bool meet_in_loop(fs_cpu_lane *l, fs_loop_frame *f, const fs_loop_step *s, uint32_t step) {
  fs_loop_gang *g = &l->worker->instance->loop_gang[s->gang];
  uint64_t value = f->run * g->period + (f->round - s->from) + 1;
  if (l->ran || (!l->met && atomic_fetch_add(&g->arrived, 1) + 1 == g->members)) {
    atomic_store(&g->arrived, 0); /* nobody arrives again before this iteration is over */
    if (!run_present(l, f, s)) {
      return false;
    }
    g->begin = f->begin;
    g->end = f->end;
    fs_timeline_publish(g->over, value);
    return true;
  }
  l->met = true;
  if (!fs_timeline_reached(g->over, value) && !await_in_loop(l, f, g->over, value, g->axis, step)) {
    return false;
  }
  l->met = false;
  f->begin = g->begin;
  f->end = g->end;
  return true;
}

/* Notes where the lane is, which it keeps in registers else. */
static inline void note_place(fs_loop_frame *f, uint64_t t, uint32_t p) {
  f->round = t;
  f->place = p;
}

/* Of a wait for an iteration below 0, where runs are joined: finds the value that an earlier run
 * has for it.  False: there is no such run. */
__attribute__((noinline)) static bool find_earlier(const fs_loop_frame *f, const fs_loop_wait *w,
                                                   uint64_t t, uint64_t *value) {
  uint64_t rounds = f->in->trips / f->in->loop->copies, runs = fs_ceil_div(w->from - t, rounds);
  *value += runs * (rounds * w->stride - w->period);
  return runs <= f->at.around->iteration;
}

static inline __attribute__((always_inline)) bool await_waits(fs_cpu_lane *l, fs_loop_frame *f,
                                                              const fs_loop_step *s, uint64_t run,
                                                              uint64_t t, uint32_t p, uint32_t step,
                                                              const bool shared) {
  const fs_loop_wait *wait = l->worker->instance->loop_wait + s->wait0;
  for (uint32_t j = shared ? l->next_wait : 0; j < s->n_waits; j++) {
    const fs_loop_wait *w = &wait[j];
    uint64_t value = run * w->period + t * w->stride + w->offset;
    if (t < w->from && (!w->joined || !find_earlier(f, w, t, &value))) {
      continue;
    }
    if (fs_timeline_reached(w->timeline, value)) {
      continue;
    }
    note_place(f, t, p);
    if (!await_in_loop(l, f, w->timeline, value, w->axis, step)) {
      l->next_wait = j;
      return false;
    }
  }
  if (shared) {
    l->next_wait = 0;
  }
  return true;
}

/* Waits until the parity of a barrier is that of the phase which a check is for.  A phase that has
 * passed meanwhile is not seen.  False: the lane is parked. */
static bool await_phase(fs_cpu_lane *l, const fs_loop_frame *f, uint32_t check, uint64_t iteration,
                        uint32_t step) {
  const fs_instance *x = l->worker->instance;
  const fs_stream_guard_check *c = &x->stream->guard_checks[check];
  const fs_loop_barrier *b = fs_cpu_guard_checked(x, c, iteration);
  for (;;) {
    uint64_t now = atomic_load_explicit(&b->phase->epoch, memory_order_acquire);
    if (fs_guard_passes(x->stream, c->guard, iteration - c->distance, now) || fs_cpu_poisoned(x)) {
      return true;
    }
    atomic_store_explicit(&l->in_check, check, memory_order_relaxed);
    if (!await_in_loop(l, f, b->phase, now + 1, b->axis, step)) {
      return false;
    }
  }
}

/* Makes the checks of an iteration, each of them once.  False: the lane is parked. */
static bool await_phases(fs_cpu_lane *l, const fs_loop_frame *f, const fs_loop_step *s,
                         uint64_t iteration, uint32_t step) {
  const fs_instance *x = l->worker->instance;
  for (uint32_t j = l->next_wait; j < s->n_waits; j++) {
    if (iteration >= x->stream->guard_checks[s->wait0 + j].distance &&
        !await_phase(l, f, s->wait0 + j, iteration, step)) {
      l->next_wait = j;
      return false;
    }
  }
  l->next_wait = 0;
  return true;
}

static bool run_part(fs_cpu_lane *l, uint32_t level, uint32_t step);

/* The lane's part of a run begins. */
static void enter_part(const fs_cpu_lane *l, fs_loop_frame *f, const fs_cpu_loop *in,
                       fs_loop_part *part) {
  const fs_instance *x = l->worker->instance;
  f->in = in;
  f->part = part;
  f->round = 0;
  f->place = 0;
  f->inner = FS_INNER_WAITS;
  f->slot = FS_NONE;
  f->at.loop = in->loop;
  for (uint32_t i = 0; i < part->n_commands; i++) {
    if (part->steps[i].inner != FS_NONE) {
      x->loop_part[part->steps[i].part].count = 0;
    }
  }
}

/* Finds what is recorded of a run, at whose slot its times begin; FS_NONE: nothing is. */
static void walk_shown(const fs_cpu_lane *l, fs_loop_frame *f, uint32_t loop, uint32_t slot) {
  f->shown = fs_shown_begin(l->worker->instance->work->record.instances, loop, l->queue, slot);
}

/* The clock, where the present instance is recorded. */
static void note_time(const fs_loop_frame *f, uint64_t *ns) {
  *ns = f->slot == FS_NONE ? 0 : fs_now_ns();
}

/* Whether the queues of a loop in a loop meet. */
static bool members_meet(const fs_cpu_loop *loop) {
  return loop->loop->n_queues > 1 && loop->loop->joined == 0;
}

/* A run begins: sets the barriers that count from here on.  Those of a loop whose runs are joined
 * are set when the loop around it begins. */
static void set_guards(const fs_instance *x, const fs_cpu_loop *loop) {
  if (loop->loop->joined != 0 || x->guards.n == 0) {
    return;
  }
  fs_cpu_guards_set(x, loop->loop);
  for (uint32_t op = loop->loop->op0; op < loop->loop->op0 + loop->loop->n_ops; op++) {
    uint32_t inner = x->stream->loop_ops[op].loop;
    if (inner != FS_NONE && x->stream->loops[inner].joined != 0) {
      fs_cpu_guards_set(x, &x->stream->loops[inner]);
    }
  }
}

/* Meets the other members before a run of a loop in a loop, as its last one or not. */
static void arrive_inner(const fs_instance *x, fs_cpu_loop *loop, fs_loop_frame *f, uint64_t run) {
  if (!members_meet(loop)) {
    set_guards(x, loop);
    f->inner = FS_INNER_RUNS;
  } else if (atomic_fetch_add(&loop->arrived, 1) + 1 == loop->loop->n_queues) {
    atomic_store(&loop->arrived, 0); /* nobody arrives again before this run is over */
    set_guards(x, loop);
    fs_timeline_publish(loop->open, run + 1);
    f->inner = FS_INNER_RUNS;
  } else {
    f->inner = FS_INNER_ARRIVED;
  }
}

/* The last member to leave ends the run. */
static void end_run(const fs_cpu_lane *l, const fs_cpu_loop *loop, const fs_loop_instance *at) {
  const fs_instance *x = l->worker->instance;
  if (!x->config.empty && !fs_cpu_poisoned(x)) {
    fs_loop_leave(&x->effects, loop->loop, loop->trips, at->command, at->around);
  }
}

/* Whether the run is over with this member's part. */
static bool leave_inner(fs_cpu_lane *l, fs_cpu_loop *loop, const fs_loop_frame *f) {
  if (loop->loop->joined != 0) {
    return true; /* no ring has a value on entry, so nothing is moved */
  }
  if (members_meet(loop) && atomic_fetch_add(&loop->left, 1) + 1 < loop->loop->n_queues) {
    return false;
  }
  end_run(l, loop, &f->at);
  if (members_meet(loop)) {
    atomic_store(&loop->left, 0);
    fs_timeline_publish(loop->over, f->run + 1);
  }
  return true;
}

/* Runs the lane's part of a loop in the loop.  False: the lane is parked. */
static bool run_inner(fs_cpu_lane *l, uint32_t level, const fs_loop_step *s, uint32_t step) {
  fs_instance *x = l->worker->instance;
  fs_loop_frame *f = &l->frame[level], *g = f + 1;
  fs_cpu_loop *loop = &x->loop[s->inner];
  if (f->inner == FS_INNER_WAITS) {
    find_instance(l, f, s);
    g->run = f->run * f->in->loop->most + x->loop_part[s->part].count++;
    g->at.command = f->at.command;
    g->at.around = &f->at;
    g->at.before = fs_loop_before(loop->loop, &f->at, loop->trips);
    enter_part(l, g, loop, &x->loop_part[s->part]);
    walk_shown(l, g, s->inner, f->slot == FS_NONE ? FS_NONE : f->slot + 1);
    arrive_inner(x, loop, f, g->run);
    note_time(f, &f->begin);
  }
  if (f->inner == FS_INNER_ARRIVED) {
    if (!fs_timeline_reached(loop->open, g->run + 1) &&
        !await_in_loop(l, f, loop->open, g->run + 1, loop->axis, step)) {
      return false;
    }
    f->inner = FS_INNER_RUNS;
    note_time(f, &f->begin);
  }
  if (f->inner == FS_INNER_RUNS) {
    if (!run_part(l, level + 1, step)) {
      return false;
    }
    l->next_wait = 0;
    f->inner = leave_inner(l, loop, g) ? FS_INNER_WAITS : FS_INNER_LEFT;
  }
  if (f->inner == FS_INNER_LEFT) {
    if (!fs_timeline_reached(loop->over, g->run + 1) &&
        !await_in_loop(l, f, loop->over, g->run + 1, loop->over_axis, step)) {
      return false;
    }
    f->inner = FS_INNER_WAITS;
  }
  note_time(f, &f->end);
  return true;
}

static uint64_t iteration_at(const fs_loop_frame *f, const fs_loop_step *s, uint64_t t) {
  return (t - s->from) * f->in->loop->copies + s->copy;
}

/* Finds the slot of the present command's instance. */
static void take_slot(const fs_instance *x, fs_loop_frame *f, const fs_loop_step *s, uint64_t t) {
  uint32_t first = x->stream->loop_queues[f->in->loop->queue0].command0;
  f->slot = fs_shown_take(&f->shown, s->command - first, iteration_at(f, s, t));
}

/* Makes the checks of the present command.  False: the lane is parked. */
__attribute__((noinline)) static bool await_guards(fs_cpu_lane *l, fs_loop_frame *f,
                                                   const fs_loop_step *s, uint64_t t, uint32_t p,
                                                   uint32_t step) {
  note_place(f, t, p);
  return await_phases(l, f, s, f->at.before + iteration_at(f, s, t), step);
}

/* How the commands of a part are run; constants where walk_part is called. */
typedef struct part_mode {
  bool empty;  /* nothing is run but waits */
  bool shared; /* lanes are parked */
  bool timed;  /* instances have a pace, or are recorded */
} part_mode;

/* Runs the present command of the lane's part.  False: the lane is parked. */
static inline __attribute__((always_inline)) bool run_command(fs_cpu_lane *l, uint32_t level,
                                                              const fs_loop_step *s, uint64_t run,
                                                              uint64_t t, uint32_t p, uint32_t step,
                                                              const part_mode mode) {
  fs_loop_frame *f = &l->frame[level];
  bool fresh = !mode.shared || (!l->met && !l->ran && f->inner == FS_INNER_WAITS), over = true;
  if (fresh && !(s->guarded ? await_guards(l, f, s, t, p, step)
                            : await_waits(l, f, s, run, t, p, step, mode.shared))) {
    return false;
  }
  if (mode.empty && s->inner == FS_NONE && s->gang == FS_NONE) {
    return true;
  }
  note_place(f, t, p);
  if (mode.timed && fresh) {
    take_slot(l->worker->instance, f, s, t);
  }
  if (s->inner != FS_NONE) {
    over = run_inner(l, level, s, step);
  } else if (s->gang != FS_NONE) {
    over = meet_in_loop(l, f, s, step);
  } else if (mode.timed) {
    over = run_present(l, f, s);
  } else {
    run_instance(l, f, s);
  }
  if (mode.timed && over) {
    record(l->worker->instance, f->slot, f->begin, f->end);
  }
  return over;
}

/* Runs the lane's part of the loop.  False: the lane is parked. */
static inline __attribute__((always_inline)) bool walk_part(fs_cpu_lane *l, uint32_t level,
                                                            uint32_t step, const part_mode mode) {
  const fs_instance *x = l->worker->instance;
  fs_loop_frame *f = &l->frame[level];
  const fs_loop_part *part = f->part;
  const uint64_t run = f->run, base = run * part->period;
  const uint32_t n = part->n_commands;
  uint32_t p = f->place;
  for (uint64_t t = f->round; t < part->n_rounds && !fs_cpu_poisoned(x); t++, p = 0) {
    const bool full = t >= part->full && t < part->full_end;
    for (; p < n; p++) {
      const fs_loop_step *s = &part->steps[p];
      if ((mode.empty && s->alone) || (!full && t - s->from >= s->count)) {
        continue;
      }
      if (!run_command(l, level, s, run, t, p, step, mode) && mode.shared) {
        return false;
      }
      if (s->guarded) {
        fs_cpu_guards_end(x, s->command, f->at.before + iteration_at(f, s, t));
      } else if (s->signal) {
        fs_timeline_publish(part->timeline, base + t * n + p + 1);
      }
    }
  }
  return true;
}

static bool run_part(fs_cpu_lane *l, uint32_t level, uint32_t step) {
  const fs_instance *x = l->worker->instance;
  if (x->config.pace_ps != 0 || is_recorded(x)) {
    return fs_cpu_shared(x) ? walk_part(l, level, step, (part_mode){.shared = true, .timed = true})
                            : walk_part(l, level, step, (part_mode){.timed = true});
  }
  if (fs_cpu_shared(x)) {
    return walk_part(l, level, step, (part_mode){.shared = true});
  }
  return x->config.empty ? walk_part(l, level, step, (part_mode){.empty = true})
                         : walk_part(l, level, step, (part_mode){0});
}

/* Nobody has arrived at gangs and loops inside, whatever happened in an invocation that failed.
 * The recursion is as deep as loops nest. */
static void reset_loop(fs_instance *x, const fs_cpu_loop *loop) {
  for (uint32_t p = 0; p < loop->loop->n_queues; p++) {
    for (uint32_t c = 0; c < loop->parts[p].n_commands; c++) {
      const fs_loop_step *s = &loop->parts[p].steps[c];
      if (s->gang != FS_NONE) {
        atomic_store_explicit(&x->loop_gang[s->gang].arrived, 0, memory_order_relaxed);
      }
      if (s->inner != FS_NONE) {
        atomic_store_explicit(&x->loop[s->inner].arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&x->loop[s->inner].left, 0, memory_order_relaxed);
        reset_loop(x, &x->loop[s->inner]);
      }
    }
  }
}

/* Called by the first member to arrive, when all content is in place. */
static void open_loop(fs_instance *x, fs_cpu_loop *loop, uint64_t k) {
  atomic_store_explicit(&loop->digest, 0, memory_order_relaxed);
  reset_loop(x, loop);
  set_guards(x, loop);
  fs_timeline_publish(loop->open, k + 1);
}

/* The lane's part begins, once the loop is open.  False: the lane is parked. */
static bool begin_part(fs_cpu_lane *l, const fs_cpu_step *s, fs_meeting *m, uint64_t k,
                       uint32_t at) {
  fs_instance *x = l->worker->instance;
  fs_cpu_loop *loop = m->loop;
  bool first = l->part == FS_PART_CONTENT;
  if (!first && !fs_timeline_reached(loop->open, k + 1) &&
      !fs_cpu_await_value(l, loop->open, k + 1, at, loop->axis)) {
    return false;
  }
  if (!fs_cpu_op_begin(l, s->command, k, at)) { /* where it is open, content is there */
    return false;
  }
  if (first) {
    open_loop(x, loop, k);
  }
  fs_loop_frame *f = &l->frame[0];
  f->run = k;
  f->at = (fs_loop_instance){.command = s->command};
  uint32_t part = fs_cpu_loop_part(x, loop->loop, l->queue);
  enter_part(l, f, loop, &x->loop_part[part]);
  walk_shown(l, f, (uint32_t)(loop - x->loop),
             is_recorded(x) ? x->work->record.instances->slot0[part] : FS_NONE);
  l->digest = 0;
  l->next_wait = 0;
  l->met = l->ran = false;
  l->part = FS_PART_LOOP;
  return true;
}

/* The lane's part is over; the last one to be so ends the loop. */
static void leave_loop(fs_cpu_lane *l, const fs_cpu_step *s, fs_meeting *m, uint64_t k) {
  fs_instance *x = l->worker->instance;
  fs_cpu_loop *loop = m->loop;
  atomic_fetch_add_explicit(&loop->digest, l->digest, memory_order_relaxed);
  if (atomic_fetch_add(&loop->left, 1) + 1 != (k + 1) * m->members) {
    return;
  }
  end_run(l, loop, &(fs_loop_instance){.command = s->command});
  fs_cpu_op_keep(x, s->command);
  if (!x->config.empty && x->work->record.digest != NULL) {
    x->work->record.digest[loop->loop->op] = atomic_load(&loop->digest);
  }
  if (m->over.timeline != NULL) {
    fs_timeline_publish(m->over.timeline, k * m->over.period + m->over.epoch);
  }
}

bool fs_cpu_meet_loop(fs_cpu_lane *l, const fs_cpu_step *s, uint64_t k, uint32_t at) {
  fs_instance *x = l->worker->instance;
  fs_meeting *m = &x->meeting[s->meeting];
  assert(m->loop != NULL);
  if (l->part == FS_PART_WAITS) {
    bool first = atomic_fetch_add(&m->arrived, 1) == k * m->members;
    l->part = first ? FS_PART_CONTENT : FS_PART_MET;
  }
  if ((l->part == FS_PART_MET || l->part == FS_PART_CONTENT) && !begin_part(l, s, m, k, at)) {
    return false;
  }
  if (l->part == FS_PART_LOOP) {
    if (!run_part(l, 0, at)) {
      return false;
    }
    l->next_wait = 0;
  }
  if (!fs_cpu_op_pace(l, s->command)) {
    return false;
  }
  leave_loop(l, s, m, k);
  return true;
}
