/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: what a thread does.
 *
 *   for every invocation:  wait for `go`
 *     for every step:      wait for its epochs, run or copy, publish the own epoch if it signals
 *     the last worker to get here takes the rest out and tells the core, which may open the next
 *     invocation from within that call
 *
 * With barriers, a step that starts and one that is over is also counted there; of a gang, all
 * members start when the last one is there.
 *
 * A step of an axis with n epochs in invocation k has the value k * n + epoch on its timeline.
 * Given content is put in its place by the first worker whose command touches it; kept content is
 * taken out by the last worker whose command writes it.  In a poisoned invocation waits are over at
 * once and nothing is executed, but every epoch is published and every gang meets, so that the next
 * invocation finds the timelines as ever; barriers are left alone from then on, and set at the end
 * to what the next invocation expects. */
#include "cpu.h"

/* Below this a paced command spins, since a sleep may overshoot by that much. */
enum { PACE_SPIN_NS = 100000 };

/* Waits where spinning has not helped; leaves word of it for the watchdog.  Over early when *off is
 * set. */
__attribute__((noinline)) static void block(fs_worker *w, fs_timeline *t, uint64_t value,
                                            uint32_t at, uint32_t axis,
                                            const _Atomic uint32_t *off) {
  fs_instance *x = w->instance;
  if (fs_timeline_spin(t, value, x->spins)) {
    return;
  }
  atomic_store_explicit(&w->at, at, memory_order_relaxed);
  atomic_store_explicit(&w->axis, axis, memory_order_relaxed);
  atomic_store_explicit(&w->value, value, memory_order_relaxed);
  atomic_fetch_add(&w->blocked, 1);
  (void)fs_timeline_sleep(t, value, off, UINT64_MAX);
  atomic_fetch_add(&w->blocked, 1);
}

static inline void await(fs_worker *w, const fs_step_wait *wait, uint64_t k, uint32_t at) {
  uint64_t value = k * wait->period + wait->epoch;
  if (!fs_timeline_reached(wait->timeline, value)) {
    block(w, wait->timeline, value, at, wait->axis, &w->instance->poisoned);
  }
}

static inline bool poisoned(const fs_instance *x) {
  return atomic_load_explicit(&x->poisoned, memory_order_relaxed) != 0;
}

/* Makes the content of a given item be in its place. */
static void await_item(fs_worker *w, uint32_t item, uint64_t k, uint32_t at) {
  fs_instance *x = w->instance;
  fs_arrival *a = &x->arrival[item];
  if (fs_timeline_reached(a->there, k + 1)) {
    return;
  }
  if (!fs_timeline_reached(a->ready, k + 1)) {
    block(w, a->ready, k + 1, at, fs_cpu_ready(x, item), &x->poisoned);
  }
  uint64_t before = atomic_load(&a->claimed);
  if (before <= k && atomic_compare_exchange_strong(&a->claimed, &before, k + 1)) {
    if (!poisoned(x)) {
      fs_effect_give(&x->effects, x->work, item);
    }
    fs_timeline_publish(a->there, k + 1);
  } else if (!fs_timeline_reached(a->there, k + 1)) {
    block(w, a->there, k + 1, at, fs_cpu_there(x, item), &x->poisoned);
  }
}

/* Sleeps, then spins, until the clock shows `until`, or all effects are left out. */
static void pace(const fs_instance *x, uint64_t until) {
  for (;;) {
    uint64_t now = fs_now_ns();
    if (now >= until || poisoned(x)) {
      return;
    }
    if (until - now > 2 * PACE_SPIN_NS) {
      fs_futex_wait(&x->poisoned, 0, until - now - PACE_SPIN_NS);
    } else {
      fs_pause();
    }
  }
}

static uint64_t paced_end(const fs_instance *x, const fs_stream_command *c, uint64_t begin) {
  uint64_t ticks = c->end > c->start ? c->end - c->start : 0;
  uint64_t limit = UINT64_MAX / 2;
  bool over = x->config.pace_ns != 0 && ticks > limit / x->config.pace_ns;
  return begin + (over ? limit : ticks * x->config.pace_ns);
}

static void give_items(fs_worker *w, uint32_t command, uint64_t k, uint32_t at) {
  const fs_io *io = w->instance->io;
  for (uint32_t i = io->given0[command]; i < io->given0[command + 1]; i++) {
    await_item(w, io->command_given[i], k, at);
  }
}

static void effect(fs_worker *w, uint32_t command) {
  fs_instance *x = w->instance;
  if (!poisoned(x)) {
    fsched_cause cause = fs_effect_run(&x->effects, &w->room, x->work, command);
    if (cause != FSCHED_CAUSE_NONE) {
      fs_cpu_poison(x, cause);
    }
  }
}

static void keep_items(fs_worker *w, uint32_t command) {
  fs_instance *x = w->instance;
  const fs_io *io = x->io;
  for (uint32_t i = io->kept0[command]; i < io->kept0[command + 1]; i++) {
    if (atomic_fetch_sub(&x->kept_left[io->command_kept[i]], 1) == 1 && !poisoned(x)) {
      fs_effect_keep(&x->effects, x->work, io->command_kept[i]);
    }
  }
}

/* Does what the command says; begin and end, of the command alone, are set where someone wants to
 * know them. */
static void execute(fs_worker *w, uint32_t command, uint64_t k, uint32_t at, uint64_t *begin,
                    uint64_t *end) {
  fs_instance *x = w->instance;
  bool timed = x->config.pace_ns != 0 || x->work->record.begin != NULL;
  if (!x->config.empty) {
    give_items(w, command, k, at);
  }
  *begin = timed ? fs_now_ns() : 0;
  if (!x->config.empty) {
    effect(w, command);
  }
  if (x->config.pace_ns != 0) {
    pace(x, paced_end(x, &x->stream->commands[command], *begin));
  }
  *end = timed ? fs_now_ns() : 0;
  if (!x->config.empty) {
    keep_items(w, command);
  }
}

static void record(const fs_instance *x, uint32_t command, uint64_t begin, uint64_t end) {
  if (x->work->record.begin != NULL) {
    x->work->record.begin[command] = begin - x->begin_ns;
    x->work->record.end[command] = end - x->begin_ns;
  }
}

/* The last member to arrive has seen what all members have seen: their arrivals are one chain of
 * read-modify-writes.  It runs the op alone, the others wait until it is over. */
static void meet(fs_worker *w, const fs_step *s, uint64_t k, uint32_t at) {
  fs_instance *x = w->instance;
  fs_meeting *m = &x->meeting[s->meeting];
  if (atomic_fetch_add(&m->arrived, 1) + 1 == (k + 1) * m->members) {
    for (uint32_t i = 0; i < m->members && x->member != NULL; i++) {
      fs_cpu_barrier_start(x, x->member[m->member0 + i], k);
    }
    execute(w, s->command, k, at, &m->begin, &m->end);
    fs_timeline_publish(m->over.timeline, k * m->over.period + m->over.epoch);
  } else {
    await(w, &m->over, k, at);
  }
  if (fs_timeline_reached(m->over.timeline, k * m->over.period + m->over.epoch)) {
    record(x, s->command, m->begin, m->end);
  }
}

/* `barriers` is a constant where this is called, so that it costs nothing without them. */
static inline __attribute__((always_inline)) void walk(fs_worker *w, uint64_t k,
                                                       const bool barriers) {
  fs_instance *x = w->instance;
  const uint64_t base = k * w->n_steps;
  const bool busy = !x->config.empty || x->config.pace_ns != 0 || x->work->record.begin != NULL;
  for (uint32_t i = 0; i < w->n_steps; i++) {
    const fs_step *s = &w->steps[i];
    for (uint32_t j = 0; j < s->n_waits; j++) {
      await(w, &x->wait[s->wait0 + j], k, i);
    }
    if (barriers && s->meeting == FS_NONE) {
      fs_cpu_barrier_start(x, s->command, k);
    }
    if (s->meeting != FS_NONE) {
      meet(w, s, k, i);
    } else if (busy) {
      uint64_t begin, end;
      execute(w, s->command, k, i, &begin, &end);
      record(x, s->command, begin, end);
    }
    if (barriers) {
      fs_cpu_barrier_end(x, s->command, k);
    }
    if (s->signal) {
      fs_timeline_publish(w->timeline, base + i + 1);
    }
  }
}

static void walk_timelines(fs_worker *w, uint64_t k) { walk(w, k, false); }
static void walk_barriers(fs_worker *w, uint64_t k) { walk(w, k, true); }

/* What no command has taken out: first all of it is made to be there, then all is kept or nothing,
 * so that a failure that comes meanwhile does not leave one state new and another old. */
static fsched_cause keep_rest(fs_worker *w, uint64_t k) {
  fs_instance *x = w->instance;
  const fs_io *io = x->io;
  for (uint32_t i = 0; i < io->n_kept; i++) {
    if (io->kept[i].touches == 0 && io->kept[i].given != FS_NONE) {
      await_item(w, io->kept[i].given, k, FS_NONE);
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

/* By the last worker of invocation k, while all others wait for `go`. */
static void finish(fs_worker *w, uint64_t k) {
  fs_instance *x = w->instance;
  fsched_cause cause = x->config.empty ? atomic_load(&x->cause) : keep_rest(w, k);
  uint64_t ns = fs_now_ns() - x->begin_ns;
  if (atomic_load(&x->poisoned) != 0) {
    fs_cpu_barrier_set(x, k + 1);
  }
  const fs_work *work = x->work;
  work->done(work->user, cause, ns);
}

void *fs_cpu_worker(void *worker) {
  fs_worker *w = worker;
  fs_instance *x = w->instance;
  void (*const walk_all)(fs_worker *, uint64_t) =
      x->physicals.n > 0 ? walk_barriers : walk_timelines;
  for (uint64_t k = 0;; k++) {
    while (!fs_timeline_reached(x->go, k + 1)) {
      block(w, x->go, k + 1, FS_NONE, x->stream->n_axes, &x->stop);
      if (atomic_load(&x->stop) != 0) {
        return NULL;
      }
    }
    walk_all(w, k);
    if (atomic_fetch_add(&x->arrived, 1) + 1 == (k + 1) * x->n_workers) {
      finish(w, k);
    }
  }
}
