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

uint64_t fs_cpu_progress(fs_instance *x, bool *idle) {
  uint64_t moves = 0;
  *idle = true;
  for (uint32_t i = 0; i < x->n_workers; i++) {
    const fs_worker *w = &x->worker[i];
    uint64_t blocked = atomic_load(&w->blocked);
    moves += blocked;
    *idle = *idle && blocked % 2 == 1 &&
            !fs_timeline_reached(&x->timeline[worker_axis(w)], worker_value(w));
  }
  return moves;
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

/* The given item whose content the worker waits for; FS_NONE: it waits for an epoch. */
static uint32_t worker_item(const fs_worker *w) {
  const fs_instance *x = w->instance;
  uint32_t first = fs_cpu_ready(x, 0), axis = worker_axis(w);
  return axis < first ? FS_NONE : (axis - first) % x->io->n_given;
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
  if (worker_item(w) != FS_NONE) {
    return NULL;
  }
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

/* NULL when nobody is stuck (any more). */
static const fs_worker *find_culprit(const fs_instance *x) {
  const fs_worker *w = NULL;
  for (uint32_t i = 0; i < x->n_workers; i++) {
    if (worker_stuck(&x->worker[i]) && earlier(&x->worker[i], w)) {
      w = &x->worker[i];
    }
  }
  for (uint32_t i = 0; w != NULL && i < x->n_workers; i++) {
    const fs_worker *next = waits_for(x, w);
    if (next == NULL) {
      return w;
    }
    w = next;
  }
  /* After as many steps as there are workers, w lies on a ring, unless things have moved. */
  const fs_worker *first = w;
  uint32_t steps = 0;
  for (const fs_worker *v = w == NULL ? NULL : waits_for(x, w);
       v != NULL && v != w && steps < x->n_workers; v = waits_for(x, v), steps++) {
    first = earlier(v, first) ? v : first;
  }
  return first;
}

static const char *command_target(const fs_stream *s, const fs_stream_command *c) {
  bool run = c->kind == FS_COMMAND_RUN;
  return fs_stream_string(
      s, run ? s->ops[c->target].name : s->buffers[s->versions[c->target].buffer].name);
}

static void report_worker(const fs_instance *x, fsched_context *ctx, const fs_worker *w,
                          fsched_severity severity) {
  const fs_stream *s = x->stream;
  const fs_stream_command *c = worker_command(w);
  const char *queue = fs_stream_string(s, s->queues[w->queue].name);
  const char *kind = c->kind == FS_COMMAND_RUN ? "op" : "copy of";
  uint32_t item = worker_item(w);
  if (item != FS_NONE) {
    fs_report(ctx, severity, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
              "queue '%s' is stuck at command %u (%s '%s'): it waits for the content of '%s', whose "
              "fence has not been signalled",
              queue, c->epoch, kind, command_target(s, c),
              fs_stream_string(s, s->buffers[x->io->given[item].buffer].name));
    return;
  }
  uint32_t axis = worker_axis(w);
  uint64_t before = epochs_before(x, axis);
  uint64_t now = atomic_load(&x->timeline[axis].epoch);
  fs_report(ctx, severity, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
            "queue '%s' is stuck at command %u (%s '%s'): it waits for epoch %llu of '%s', which "
            "has reached %llu",
            queue, c->epoch, kind, command_target(s, c),
            (unsigned long long)(worker_value(w) - before), fs_stream_string(s, s->axes[axis].name),
            (unsigned long long)(now > before ? now - before : 0));
}

void fs_cpu_report(fs_instance *x, fsched_context *ctx) {
  const fs_worker *culprit = find_culprit(x);
  if (culprit == NULL) {
    return;
  }
  report_worker(x, ctx, culprit, FSCHED_ERROR);
  for (uint32_t i = 0; i < x->n_workers; i++) {
    if (&x->worker[i] != culprit && worker_stuck(&x->worker[i])) {
      report_worker(x, ctx, &x->worker[i], FSCHED_NOTE);
    }
  }
}
