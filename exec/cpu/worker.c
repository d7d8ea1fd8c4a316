/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: the loop of a thread.
 *
 *   for every invocation:  wait for `go`
 *     for every step:      wait for its epochs, run or copy, publish the own epoch if it signals
 *     the last worker to get here takes the rest out and tells the core, which may open the next
 *     invocation from within that call
 *
 * With barriers, starts and ends of steps are also counted there; all members of a gang start when
 * the last one arrives, but for those of a loop, and those with args of their own.
 *
 * A step of an axis with n epochs in invocation k has the value k * n + epoch on its timeline.
 * Given content is put in its place by the first worker whose command touches it; kept content is
 * taken out by the last worker whose command writes it.  In a poisoned invocation waits are over at
 * once and no command has effects, but every epoch is published and every gang meets, so that the
 * next invocation finds the timelines as usual.  Barriers are left alone from then on, and set at
 * the end to what the next invocation expects.
 *
 * A thread with one lane waits in place.  A thread with several lanes leaves a lane where that has
 * to wait, and comes back to the same place: each part of a step is done once, but its waits are
 * checked again.  So a lane that goes on never blocks its thread.  Of all commands that are not
 * over, the first in the stream's order has no open waits, so any number of threads gets to the
 * end. */
#include "exec/cpu/cpu.h"

#include "base/clock.h"

/* A paced command spins for the last part of its pace, since a sleep may overshoot by that much. */
enum { PACE_SPIN_NS = 100000 };

/* Waits until the timeline has the value: spins, then tells the watchdog and sleeps.  Returns early
 * when *off is set. */
__attribute__((noinline)) static void block(fs_cpu_lane *l, fs_timeline *t, uint64_t value,
                                            uint32_t at, uint32_t axis,
                                            const _Atomic uint32_t *off) {
  if (fs_timeline_spin(t, value, l->worker->instance->spins)) {
    return;
  }
  atomic_store_explicit(&l->at, at, memory_order_relaxed);
  atomic_store_explicit(&l->axis, axis, memory_order_relaxed);
  atomic_store_explicit(&l->value, value, memory_order_relaxed);
  atomic_fetch_add(&l->blocked, 1);
  (void)fs_timeline_sleep(t, value, off, UINT64_MAX);
  atomic_fetch_add(&l->blocked, 1);
}

__attribute__((noinline)) bool fs_cpu_await_value(fs_cpu_lane *l, fs_timeline *t, uint64_t value,
                                                  uint32_t at, uint32_t axis) {
  if (fs_cpu_shared(l->worker->instance)) {
    return !fs_cpu_park(l, t, value, axis);
  }
  block(l, t, value, at, axis, &l->worker->instance->poisoned);
  return true;
}

/* Puts the content of a given item in its place, or waits until it is there; false: the lane is
 * parked. */
static bool await_item(fs_cpu_lane *l, uint32_t item, uint64_t k, uint32_t at) {
  fs_instance *x = l->worker->instance;
  fs_arrival *a = &x->arrival[item];
  if (fs_timeline_reached(a->there, k + 1)) {
    return true;
  }
  if (!fs_timeline_reached(a->ready, k + 1) &&
      !fs_cpu_await_value(l, a->ready, k + 1, at, fs_cpu_ready(x, item))) {
    return false;
  }
  uint64_t before = atomic_load(&a->claimed);
  if (before <= k && atomic_compare_exchange_strong(&a->claimed, &before, k + 1)) {
    if (!fs_cpu_poisoned(x)) {
      fs_effect_give(&x->effects, x->work, item);
    }
    fs_timeline_publish(a->there, k + 1);
    return true;
  }
  return fs_timeline_reached(a->there, k + 1) ||
         fs_cpu_await_value(l, a->there, k + 1, at, fs_cpu_there(x, item));
}

/* Sleeps, then spins, until the clock shows `until`, or all effects are left out. */
static void pace(const fs_instance *x, uint64_t until) {
  for (;;) {
    uint64_t now = fs_now_ns();
    if (now >= until || fs_cpu_poisoned(x)) {
      return;
    }
    if (until - now > 2 * PACE_SPIN_NS) {
      fs_futex_wait(&x->poisoned, 0, until - now - PACE_SPIN_NS);
    } else {
      fs_pause();
    }
  }
}

/* A loop has the pace of its instances. */
static uint64_t paced_end(const fs_instance *x, const fs_stream_command *c, uint64_t begin) {
  bool loop = x->loop_at != NULL && fs_command_has_op(c) && x->loop_at[c->target] != FS_NONE;
  return fs_cpu_paced_end(x, c->end > c->start && !loop ? c->end - c->start : 0, begin);
}

static bool give_items(fs_cpu_lane *l, uint32_t command, uint64_t k, uint32_t at) {
  const fs_io *io = l->worker->instance->io;
  for (uint32_t n = io->given0[command + 1] - io->given0[command]; l->next_wait < n;
       l->next_wait++) {
    if (!await_item(l, io->command_given[io->given0[command] + l->next_wait], k, at)) {
      return false;
    }
  }
  l->next_wait = 0;
  return true;
}

static void effect(fs_worker *w, uint32_t command) {
  fs_instance *x = w->instance;
  if (!fs_cpu_poisoned(x)) {
    fsched_cause cause = fs_effect_run(&x->effects, &w->room, x->work, command);
    if (cause != FSCHED_CAUSE_NONE) {
      fs_cpu_poison(x, cause);
    }
  }
}

void fs_cpu_op_keep(fs_instance *x, uint32_t command) {
  const fs_io *io = x->io;
  for (uint32_t i = io->kept0[command]; !x->config.empty && i < io->kept0[command + 1]; i++) {
    if (atomic_fetch_sub(&x->kept_left[io->command_kept[i]], 1) == 1 && !fs_cpu_poisoned(x)) {
      fs_effect_keep(&x->effects, x->work, io->command_kept[i]);
    }
  }
}

static bool is_timed(const fs_instance *x) {
  return x->config.pace_ps != 0 || x->work->record.begin != NULL;
}

bool fs_cpu_await_pace(fs_cpu_lane *l) {
  const fs_instance *x = l->worker->instance;
  if (!fs_cpu_shared(x)) {
    pace(x, l->end_ns);
  } else if (!fs_cpu_poisoned(x) && fs_now_ns() < l->end_ns) {
    fs_cpu_park_paced(l);
    return false;
  }
  return true;
}

bool fs_cpu_op_begin(fs_cpu_lane *l, uint32_t command, uint64_t k, uint32_t at) {
  const fs_instance *x = l->worker->instance;
  l->part = FS_PART_CONTENT;
  if (!x->config.empty && !give_items(l, command, k, at)) {
    return false;
  }
  l->begin_ns = is_timed(x) ? fs_now_ns() : 0;
  return true;
}

bool fs_cpu_op_pace(fs_cpu_lane *l, uint32_t command) {
  const fs_instance *x = l->worker->instance;
  if (x->config.pace_ps != 0 && l->part != FS_PART_PACE) {
    l->part = FS_PART_PACE;
    l->end_ns = paced_end(x, &x->stream->commands[command], l->begin_ns);
  }
  if (x->config.pace_ps != 0 && !fs_cpu_await_pace(l)) {
    return false;
  }
  l->part = FS_PART_WAITS;
  l->end_ns = is_timed(x) ? fs_now_ns() : 0;
  return true;
}

bool fs_cpu_op_end(fs_cpu_lane *l, uint32_t command) {
  if (!fs_cpu_op_pace(l, command)) {
    return false;
  }
  fs_cpu_op_keep(l->worker->instance, command);
  return true;
}

/* Executes the command; its begin and end, without waits, are set where they are wanted.  False:
 * the lane is parked, and its part says where. */
static bool execute(fs_cpu_lane *l, uint32_t command, uint64_t k, uint32_t at) {
  if (l->part != FS_PART_PACE) {
    if (!fs_cpu_op_begin(l, command, k, at)) {
      return false;
    }
    if (!l->worker->instance->config.empty) {
      effect(l->worker, command);
    }
  }
  return fs_cpu_op_end(l, command);
}

static void record(const fs_instance *x, uint32_t command, uint64_t begin, uint64_t end) {
  if (x->work->record.begin != NULL) {
    x->work->record.begin[command] = begin - x->begin_ns;
    x->work->record.end[command] = end - x->begin_ns;
  }
}

static bool run_meeting(fs_cpu_lane *l, const fs_cpu_step *s, uint64_t k, uint32_t at) {
  fs_meeting *m = &l->worker->instance->meeting[s->meeting];
  if (!execute(l, s->command, k, at)) {
    return false;
  }
  m->begin = l->begin_ns;
  m->end = l->end_ns;
  fs_timeline_publish(m->over.timeline, k * m->over.period + m->over.epoch);
  return true;
}

/* The last member to arrive has seen what all members have seen, since their arrivals are one chain
 * of read-modify-writes. */
bool fs_cpu_arrive(fs_instance *x, fs_meeting *m, uint64_t k) {
  if (atomic_fetch_add(&m->arrived, 1) + 1 != (k + 1) * m->members) {
    return false;
  }
  for (uint32_t i = 0; i < m->members && x->physicals.n > 0; i++) {
    fs_cpu_barrier_start(x, x->member[m->member0 + i], k);
  }
  return true;
}

/* The last member runs the op alone, the others wait until it is over. */
static bool meet_for_op(fs_cpu_lane *l, const fs_cpu_step *s, uint64_t k, uint32_t at) {
  fs_instance *x = l->worker->instance;
  fs_meeting *m = &x->meeting[s->meeting];
  if (l->part == FS_PART_WAITS && !fs_cpu_arrive(x, m, k)) {
    l->part = FS_PART_MET;
  }
  if (!(l->part == FS_PART_MET ? fs_cpu_await(l, &m->over, k, at) : run_meeting(l, s, k, at))) {
    return false;
  }
  l->part = FS_PART_WAITS;
  return true;
}

static bool enter_loop(fs_cpu_lane *l, const fs_cpu_step *s, uint64_t k, uint32_t at) {
  if (!fs_cpu_meet_loop(l, s, k, at)) {
    return false;
  }
  record(l->worker->instance, s->command, l->begin_ns, l->end_ns);
  return true;
}

/* The last member to end does what is left to do for the op. */
static void end_members(const fs_cpu_lane *l, fs_meeting *m, uint32_t command, uint64_t k) {
  fs_instance *x = l->worker->instance;
  bool digests = x->work->record.digest != NULL && !x->config.empty && !fs_cpu_poisoned(x);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < m->members && digests; i++) {
    sum +=
        fs_effect_member_digest(&x->effects, &l->worker->room, x->work, x->member[m->member0 + i]);
  }
  if (digests) {
    x->work->record.digest[x->stream->commands[command].target] = sum;
  }
  fs_cpu_op_keep(x, command);
  fs_timeline_publish(m->over.timeline, k * m->over.period + m->over.epoch);
}

/* The lane runs its own member, and goes on when that is over. */
static bool run_member(fs_cpu_lane *l, const fs_cpu_step *s, uint64_t k, uint32_t at) {
  fs_instance *x = l->worker->instance;
  fs_meeting *m = &x->meeting[s->meeting];
  if (l->part != FS_PART_PACE) {
    if (!fs_cpu_op_begin(l, s->command, k, at)) {
      return false;
    }
    if (!x->config.empty) {
      effect(l->worker, s->command);
    }
  }
  if (!fs_cpu_op_pace(l, s->command)) {
    return false;
  }
  record(x, s->command, l->begin_ns, l->end_ns);
  if (atomic_fetch_add(&m->arrived, 1) + 1 == (k + 1) * m->members) {
    end_members(l, m, s->command, k);
  }
  return true;
}

static bool meet_members(fs_cpu_lane *l, const fs_cpu_step *s, uint64_t k, uint32_t at) {
  fs_instance *x = l->worker->instance;
  fs_meeting *m = &x->meeting[s->meeting];
  if (m->loop != NULL) {
    return enter_loop(l, s, k, at);
  }
  if (m->apart) {
    return run_member(l, s, k, at);
  }
  if (!meet_for_op(l, s, k, at)) {
    return false;
  }
  if (fs_timeline_reached(m->over.timeline, k * m->over.period + m->over.epoch)) {
    record(x, s->command, m->begin, m->end);
  }
  return true;
}

static bool execute_alone(fs_cpu_lane *l, const fs_cpu_step *s, uint64_t k, uint32_t at) {
  if (!execute(l, s->command, k, at)) {
    return false;
  }
  record(l->worker->instance, s->command, l->begin_ns, l->end_ns);
  return true;
}

/* Whether the command starts as soon as its own waits are over. */
static bool starts_alone(const fs_instance *x, const fs_cpu_step *s) {
  return s->meeting == FS_NONE || x->meeting[s->meeting].loop != NULL ||
         x->meeting[s->meeting].apart;
}

/* Awaits the waits of a step.  `shared` is a constant where this is called, as is `barriers` below,
 * so that they cost nothing where they are false. */
static inline __attribute__((always_inline)) bool await_step(const fs_instance *x, fs_cpu_lane *l,
                                                             const fs_cpu_step *s, uint64_t k,
                                                             uint32_t at, const bool shared) {
  for (uint32_t j = shared ? l->next_wait : 0; j < s->n_waits; j++) {
    if (!fs_cpu_await(l, &x->wait[s->wait0 + j], k, at)) {
      l->next_wait = j;
      return false;
    }
  }
  if (shared) {
    l->next_wait = 0; /* next_wait counts content from here on */
  }
  return true;
}

/* Walks the lane's steps.  False: the lane is parked. */
static inline __attribute__((always_inline)) bool walk(fs_cpu_lane *l, uint64_t k,
                                                       const bool barriers, const bool shared) {
  fs_instance *x = l->worker->instance;
  const uint64_t base = k * l->n_steps;
  const bool busy = !x->config.empty || x->config.pace_ps != 0 || x->work->record.begin != NULL;
  for (uint32_t i = shared ? l->step : 0; i < l->n_steps; i++) {
    const fs_cpu_step *s = &l->steps[i];
    bool over = true, fresh = !shared || l->part == FS_PART_WAITS;
    if (shared) {
      l->step = i;
    }
    if (fresh && !await_step(x, l, s, k, i, shared)) {
      return false;
    }
    if (barriers && fresh && starts_alone(x, s)) {
      fs_cpu_barrier_start(x, s->command, k);
    }
    if (s->meeting != FS_NONE) {
      over = meet_members(l, s, k, i);
    } else if (busy) {
      over = execute_alone(l, s, k, i);
    }
    if (shared && !over) {
      return false;
    }
    if (barriers) {
      fs_cpu_barrier_end(x, s->command, k);
    }
    if (s->signal) {
      fs_timeline_publish(l->timeline, base + i + 1);
    }
  }
  return true;
}

bool fs_cpu_go_on(fs_cpu_lane *l, uint64_t k) {
  return l->worker->instance->physicals.n > 0 ? walk(l, k, true, true) : walk(l, k, false, true);
}

/* Runs the lane of a worker that has one, to the end. */
static void run_lane(fs_cpu_lane *l, uint64_t k) {
  fs_cpu_begin(l);
  (void)(l->worker->instance->physicals.n > 0 ? walk(l, k, true, false) : walk(l, k, false, false));
  fs_cpu_rest(l, k);
}

/* Puts an item in place at the end, when all lanes rest and this thread has nothing else to do. */
static void put_in_place(fs_cpu_lane *l, uint32_t item, uint64_t k) {
  fs_instance *x = l->worker->instance;
  if (!fs_timeline_reached(x->arrival[item].ready, k + 1)) {
    fs_cpu_begin(l);
    block(l, x->arrival[item].ready, k + 1, FS_NONE, fs_cpu_ready(x, item), &x->poisoned);
    fs_cpu_rest(l, k);
  }
  bool there =
      await_item(l, item, k, FS_NONE); /* no other thread puts it there, so it is not parked */
  assert(there);
  (void)there;
}

/* Keeps the items that no command has taken out.  First all content is put in place, then all of it
 * is kept or none, so that a failure that comes meanwhile does not leave one state new and another
 * old. */
static fsched_cause keep_rest(fs_worker *w, uint64_t k) {
  fs_instance *x = w->instance;
  const fs_io *io = x->io;
  for (uint32_t i = 0; i < io->n_kept; i++) {
    if (io->kept[i].touches == 0 && io->kept[i].given != FS_NONE) {
      put_in_place(w->lane, io->kept[i].given, k);
    }
  }
  fsched_cause cause = atomic_load(&x->cause);
  for (uint32_t i = 0; i < io->n_kept && cause == FSCHED_CAUSE_NONE; i++) {
    if (io->kept[i].touches == 0) {
      fs_effect_keep(&x->effects, x->work, i);
    }
  }
  return cause;
}

/* Called by the last worker of invocation k, while all others wait for `go`. */
static void finish_invocation(fs_worker *w, uint64_t k) {
  fs_instance *x = w->instance;
  fsched_cause cause = x->config.empty ? atomic_load(&x->cause) : keep_rest(w, k);
  uint64_t ns = fs_now_ns() - x->begin_ns;
  if (atomic_load(&x->poisoned) != 0) {
    fs_cpu_barrier_set(x, k + 1);
  }
  const fs_work *work = x->work;
  work->done(work->user, cause, ns);
}

/* Waits for invocation k.  False: the instance is being destroyed. */
static bool await_go(const fs_instance *x, uint64_t k) {
  while (!fs_timeline_reached(x->go, k + 1)) {
    if (!fs_timeline_spin(x->go, k + 1, x->spins)) {
      (void)fs_timeline_sleep(x->go, k + 1, &x->stop, UINT64_MAX);
    }
    if (atomic_load(&x->stop) != 0) {
      return false;
    }
  }
  return true;
}

void *fs_cpu_worker(void *worker) {
  fs_worker *w = worker;
  fs_instance *x = w->instance;
  for (uint64_t k = 0; await_go(x, k); k++) {
    if (fs_cpu_shared(x)) {
      fs_cpu_run_lanes(w, k);
    } else {
      run_lane(w->lane, k);
    }
    if (atomic_fetch_add(&x->arrived, 1) + 1 == (k + 1) * x->n_workers) {
      finish_invocation(w, k);
    }
  }
  return NULL;
}
