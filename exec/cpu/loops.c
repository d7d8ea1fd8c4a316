/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: runs loops (model/rolled.h).
 *
 *   the members of the loop's gang meet; the last one to arrive puts content in place and publishes
 *   that the loop is open
 *     each member runs its queue's part, step by step
 *   the last one to leave takes content out and publishes that the op is over; the others wait for
 *   that
 *
 * A loop on one queue has a meeting of one member.  The members of a gang within the loop meet in
 * each iteration of their op: the last one to arrive runs it.
 *
 * In a poisoned invocation a part ends at its next step, without publishing the rest: waits are
 * over at once, and those of the next invocation are for higher values. */
#include "exec/host/loops.h"

#include "exec/cpu/cpu.h"

/* Waits for a value inside the loop, at a place of step t.  False: the lane is parked. */
__attribute__((noinline)) static bool await_in_loop(fs_cpu_lane *l, fs_timeline *t, uint64_t value,
                                                    uint32_t axis, uint64_t at, uint32_t step) {
  atomic_store_explicit(&l->in_loop, at, memory_order_relaxed);
  return fs_cpu_await_value(l, t, value, step, axis);
}

static void run_instance(fs_cpu_lane *l, const fs_loop_step *s, uint32_t command, uint64_t t) {
  fs_instance *x = l->worker->instance;
  fs_loop_instance at = {.loop = l->in->loop, .command = command, .loop_command = s->command};
  at.op = x->stream->loop_commands[s->command].op;
  at.iteration = (t - s->from) * l->in->loop->copies + s->copy;
  if (!x->config.empty && !fs_cpu_poisoned(x)) {
    fsched_cause cause =
        fs_loop_run_instance(&x->effects, &l->worker->room, x->work, &at, &l->digest);
    if (cause != FSCHED_CAUSE_NONE) {
      fs_cpu_poison(x, cause);
    }
  }
}

/* An iteration of a gang: the last member to arrive runs it for all.  False: the lane is parked,
 * and `met` says that it has arrived. */
static bool meet_in_loop(fs_cpu_lane *l, const fs_cpu_step *outer, const fs_loop_step *s,
                         uint64_t t, uint64_t k, uint64_t at, uint32_t step) {
  fs_loop_gang *g = &l->worker->instance->loop_gang[s->gang];
  uint64_t value = k * s->count + (t - s->from) + 1;
  if (!l->met && atomic_fetch_add(&g->arrived, 1) + 1 == g->members) {
    atomic_store(&g->arrived, 0); /* nobody arrives again before this iteration is over */
    run_instance(l, s, outer->command, t);
    fs_timeline_publish(g->over, value);
    return true;
  }
  l->met = true;
  if (!fs_timeline_reached(g->over, value) &&
      !await_in_loop(l, g->over, value, g->axis, at, step)) {
    return false;
  }
  l->met = false;
  return true;
}

static inline __attribute__((always_inline)) bool await_waits(fs_cpu_lane *l, const fs_loop_step *s,
                                                              uint64_t t, uint64_t k, uint64_t at,
                                                              uint32_t step, const bool shared) {
  const fs_loop_wait *wait = l->worker->instance->loop_wait + s->wait0;
  for (uint32_t j = shared ? l->next_wait : 0; j < s->n_waits; j++) {
    const fs_loop_wait *w = &wait[j];
    uint64_t value = k * w->period + t * w->stride + w->offset;
    if (t >= w->from && !fs_timeline_reached(w->timeline, value) &&
        !await_in_loop(l, w->timeline, value, w->axis, at, step)) {
      l->next_wait = j;
      return false;
    }
  }
  if (shared) {
    l->next_wait = 0;
  }
  return true;
}

/* Runs the lane's part of the loop.  `shared` is a constant where this is called, and so is
 * `empty`.  False: the lane is parked. */
static inline __attribute__((always_inline)) bool walk_part(fs_cpu_lane *l,
                                                            const fs_cpu_step *outer, uint64_t k,
                                                            uint32_t step, const bool empty,
                                                            const bool shared) {
  const fs_instance *x = l->worker->instance;
  const fs_loop_part *part = l->loop_part;
  const uint64_t base = k * part->period, n = part->n_commands;
  uint32_t p = shared ? l->place : 0;
  for (uint64_t t = shared ? l->round : 0; t < part->n_rounds && !fs_cpu_poisoned(x); t++, p = 0) {
    const bool full = t >= part->full && t < part->full_end;
    for (; p < n; p++) {
      const fs_loop_step *s = &part->steps[p];
      const uint64_t at = t * n + p + 1;
      if ((empty && s->alone) || (!full && t - s->from >= s->count)) {
        continue;
      }
      bool over = (shared && l->met) || await_waits(l, s, t, k, at, step, shared);
      if (s->gang != FS_NONE) {
        over = over && meet_in_loop(l, outer, s, t, k, at, step);
      } else if (!empty && over) {
        run_instance(l, s, outer->command, t);
      }
      if (shared && !over) {
        l->round = t;
        l->place = p;
        return false;
      }
      if (s->signal) {
        fs_timeline_publish(part->timeline, base + at);
      }
    }
  }
  return true;
}

static bool run_part(fs_cpu_lane *l, const fs_cpu_step *outer, uint64_t k, uint32_t step) {
  const fs_instance *x = l->worker->instance;
  if (fs_cpu_shared(x)) {
    return walk_part(l, outer, k, step, false, true);
  }
  return x->config.empty ? walk_part(l, outer, k, step, true, false)
                         : walk_part(l, outer, k, step, false, false);
}

/* Called by the last member to arrive.  False: the lane is parked. */
static bool open_loop(fs_cpu_lane *l, const fs_cpu_step *s, fs_meeting *m, uint64_t k,
                      uint32_t at) {
  fs_instance *x = l->worker->instance;
  fs_cpu_loop *loop = m->loop;
  if (!fs_cpu_op_begin(l, s->command, k, at)) {
    return false;
  }
  m->begin = l->begin_ns;
  atomic_store_explicit(&loop->digest, 0, memory_order_relaxed);
  for (uint32_t p = 0; p < loop->loop->n_queues; p++) {
    for (uint32_t c = 0; c < loop->parts[p].n_commands; c++) {
      uint32_t gang = loop->parts[p].steps[c].gang;
      if (gang != FS_NONE) {
        atomic_store_explicit(&x->loop_gang[gang].arrived, 0, memory_order_relaxed);
      }
    }
  }
  fs_timeline_publish(loop->open, k + 1);
  return true;
}

/* The lane's part begins, once the loop is open.  False: the lane is parked. */
static bool begin_part(fs_cpu_lane *l, const fs_cpu_step *s, fs_meeting *m, uint64_t k,
                       uint32_t at) {
  fs_cpu_loop *loop = m->loop;
  if (l->part == FS_PART_MET ? !fs_timeline_reached(loop->open, k + 1) &&
                                   !fs_cpu_await_value(l, loop->open, k + 1, at, loop->axis)
                             : !open_loop(l, s, m, k, at)) {
    return false;
  }
  const fs_instance *x = l->worker->instance;
  l->in = loop;
  l->loop_part = &x->loop_part[fs_cpu_loop_part(x, loop->loop, l->queue)];
  l->round = l->digest = 0;
  l->place = l->next_wait = 0;
  l->met = false;
  l->part = FS_PART_LOOP;
  return true;
}

/* The lane's part is over; whether it was the last one. */
static bool leave_loop(fs_cpu_lane *l, fs_meeting *m, uint64_t k) {
  atomic_fetch_add_explicit(&m->loop->digest, l->digest, memory_order_relaxed);
  return atomic_fetch_add(&m->loop->left, 1) + 1 == (k + 1) * m->members;
}

/* Called by the last member to leave.  False: the lane is parked. */
static bool close_loop(fs_cpu_lane *l, const fs_cpu_step *s, fs_meeting *m, uint64_t k) {
  const fs_instance *x = l->worker->instance;
  l->begin_ns = m->begin;
  if (!fs_cpu_op_end(l, s->command)) {
    return false;
  }
  m->end = l->end_ns;
  if (!x->config.empty && x->work->record.digest != NULL) {
    x->work->record.digest[m->loop->loop->op] = atomic_load(&m->loop->digest);
  }
  if (m->over.timeline != NULL) {
    fs_timeline_publish(m->over.timeline, k * m->over.period + m->over.epoch);
  }
  return true;
}

bool fs_cpu_meet_loop(fs_cpu_lane *l, const fs_cpu_step *s, uint64_t k, uint32_t at) {
  fs_instance *x = l->worker->instance;
  fs_meeting *m = &x->meeting[s->meeting];
  assert(m->loop != NULL);
  if (l->part == FS_PART_WAITS) {
    l->part = fs_cpu_arrive(x, m, k) ? FS_PART_CONTENT : FS_PART_MET;
  }
  if ((l->part == FS_PART_MET || l->part == FS_PART_CONTENT) && !begin_part(l, s, m, k, at)) {
    return false;
  }
  if (l->part == FS_PART_LOOP) {
    if (!run_part(l, s, k, at)) {
      return false;
    }
    l->next_wait = 0;
    l->part = leave_loop(l, m, k) ? FS_PART_LAST : FS_PART_LEFT;
  }
  if (!(l->part == FS_PART_LEFT ? fs_cpu_await(l, &m->over, k, at) : close_loop(l, s, m, k))) {
    return false;
  }
  l->part = FS_PART_WAITS;
  return true;
}
