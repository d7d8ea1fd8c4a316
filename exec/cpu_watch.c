/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: the watchdog.
 *
 * A worker counts `blocked` up when it begins and when it ends a long wait, and says what it waits
 * for; nothing else is asked of it.  Nothing moves when all workers were blocked at two looks, the
 * counts are the same, and no awaited value is there.  A worker that runs a kernel, however long,
 * is not blocked.
 *
 * The blame: starting at the stuck command that was planned first, follow "waits for the axis of"
 * from queue to queue.  That ends at a wait for a queue that will not reach the epoch any more, the
 * culprit, or goes round; then the command of the ring that was planned first is named. */
#include "cpu.h"

static bool worker_blocked(const fs_worker *w) { return atomic_load(&w->blocked) % 2 == 1; }

static uint32_t worker_at(const fs_worker *w) {
  return atomic_load_explicit(&w->at, memory_order_relaxed);
}

static uint32_t worker_axis(const fs_worker *w) {
  return atomic_load_explicit(&w->axis, memory_order_relaxed);
}

static uint64_t worker_value(const fs_worker *w) {
  return atomic_load_explicit(&w->value, memory_order_relaxed);
}

/* Whether all workers wait in vain; *moves identifies their waits. */
static bool all_idle(const fs_instance *x, uint64_t *moves) {
  *moves = 0;
  for (uint32_t i = 0; i < x->n_workers; i++) {
    const fs_worker *w = &x->worker[i];
    uint64_t blocked = atomic_load(&w->blocked);
    *moves += blocked;
    if (blocked % 2 == 0) {
      return false;
    }
    if (fs_timeline_reached(&x->timeline[worker_axis(w)], worker_value(w))) {
      return false;
    }
  }
  return true;
}

bool fs_cpu_stuck(const fs_instance *x, uint64_t timeout_ns, fs_watch *watch) {
  uint64_t moves;
  bool idle = all_idle(x, &moves);
  uint64_t now = fs_now_ns();
  if (!idle || !watch->idle || moves != watch->moves) {
    *watch = (fs_watch){.moves = moves, .since_ns = now, .idle = idle};
    return false;
  }
  return now - watch->since_ns >= timeout_ns;
}

static bool worker_stuck(const fs_worker *w) {
  return worker_blocked(w) && worker_at(w) != FS_NONE;
}

static const fs_stream_command *worker_command(const fs_worker *w) {
  return &w->instance->stream->commands[w->steps[worker_at(w)].command];
}

/* Planned earlier, ties by queue. */
static bool earlier(const fs_worker *a, const fs_worker *b) {
  if (b == NULL) {
    return true;
  }
  uint64_t x = worker_command(a)->start, y = worker_command(b)->start;
  return x != y ? x < y : a->queue < b->queue;
}

static const fs_worker *queue_worker(const fs_instance *x, uint32_t queue) {
  uint32_t w = x->queue_worker[queue];
  return w == FS_NONE ? NULL : &x->worker[w];
}

/* Epochs before the running invocation, on an axis. */
static uint64_t epochs_before(const fs_instance *x, uint32_t axis) {
  return (atomic_load(&x->go->epoch) - 1) * x->period[axis];
}

/* Whether stuck worker `m` has still to do what the wait of `w` is for: not when it is past it
 * without a signal, nor when it is at that very gang and waits for the others too. */
static bool holds_up(const fs_instance *x, const fs_worker *m, const fs_worker *w) {
  uint32_t axis = worker_axis(w);
  uint64_t epoch = worker_value(w) - epochs_before(x, axis);
  if (m == NULL || !worker_stuck(m)) {
    return false;
  }
  if (x->stream->axes[axis].kind == FS_AXIS_QUEUE) {
    return worker_at(m) < epoch;
  }
  bool meets = worker_axis(m) == axis && worker_value(m) == worker_value(w);
  for (uint32_t i = 0; i < worker_at(m) + meets; i++) {
    const fs_stream_command *c = &x->stream->commands[m->steps[i].command];
    if (c->gang_axis == axis && c->gang_epoch == epoch) {
      return false;
    }
  }
  return true;
}

/* The stuck worker that w waits for; NULL when that is none. */
static const fs_worker *waits_for(const fs_instance *x, const fs_worker *w) {
  const fs_stream_axis *axis = &x->stream->axes[worker_axis(w)];
  if (axis->kind == FS_AXIS_QUEUE) {
    const fs_worker *m = queue_worker(x, worker_axis(w));
    return holds_up(x, m, w) ? m : NULL;
  }
  for (uint32_t i = 0; i < axis->n_members; i++) {
    const fs_worker *m = queue_worker(x, x->stream->axis_members[axis->member0 + i]);
    if (holds_up(x, m, w)) {
      return m;
    }
  }
  return NULL;
}

/* Requires that someone is stuck: not all can have finished when nothing moves. */
static const fs_worker *find_culprit(const fs_instance *x) {
  const fs_worker *w = NULL;
  for (uint32_t i = 0; i < x->n_workers; i++) {
    if (worker_stuck(&x->worker[i]) && earlier(&x->worker[i], w)) {
      w = &x->worker[i];
    }
  }
  assert(w != NULL);
  for (uint32_t i = 0; i < x->n_workers; i++) {
    const fs_worker *next = waits_for(x, w);
    if (next == NULL) {
      return w;
    }
    w = next;
  }
  /* After as many steps as there are workers, w lies on a ring. */
  const fs_worker *first = w;
  for (const fs_worker *v = waits_for(x, w); v != w; v = waits_for(x, v)) {
    assert(v != NULL);
    first = earlier(v, first) ? v : first;
  }
  return first;
}

static void report_worker(const fs_instance *x, const fs_worker *w, fsched_severity severity) {
  const fs_stream *s = x->stream;
  const fs_stream_command *c = worker_command(w);
  uint32_t axis = worker_axis(w);
  uint64_t before = epochs_before(x, axis);
  uint64_t now = atomic_load(&x->timeline[axis].epoch);
  bool run = c->kind == FS_COMMAND_RUN;
  const char *target = fs_stream_string(
      s, run ? s->ops[c->target].name : s->buffers[s->versions[c->target].buffer].name);
  fs_report(x->ctx, severity, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
            "queue '%s' is stuck at command %u (%s '%s'): it waits for epoch %llu of '%s', which "
            "has reached %llu",
            fs_stream_string(s, s->queues[w->queue].name), c->epoch, run ? "op" : "copy of", target,
            (unsigned long long)(worker_value(w) - before), fs_stream_string(s, s->axes[axis].name),
            (unsigned long long)(now > before ? now - before : 0));
}

fs_status fs_cpu_report_stuck(fs_instance *x) {
  const fs_worker *culprit = find_culprit(x);
  report_worker(x, culprit, FSCHED_ERROR);
  for (uint32_t i = 0; i < x->n_workers; i++) {
    if (&x->worker[i] != culprit && worker_stuck(&x->worker[i])) {
      report_worker(x, &x->worker[i], FSCHED_NOTE);
    }
  }
  return FSCHED_REPLAY;
}
