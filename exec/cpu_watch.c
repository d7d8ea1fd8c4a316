/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: the watchdog.
 *
 * A worker counts `blocked` up when it begins and when it ends a long wait, and says what it waits
 * for; nothing else is asked of it.  Nothing moves when all workers were blocked at two looks, the
 * counts are the same, and no awaited value is there.  A worker that runs a kernel, however long,
 * is not blocked. */
#include "cpu.h"
#include "stuck.h"

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

/* Epochs before the running invocation, on an axis. */
static uint64_t epochs_before(const fs_instance *x, uint32_t axis) {
  return (atomic_load(&x->go->epoch) - 1) * x->period[axis];
}

static fs_stuck look(const fs_instance *x, uint32_t queue) {
  fs_stuck stuck = {.at = FS_NONE, .item = FS_NONE};
  if (x->queue_worker[queue] == FS_NONE) {
    return stuck;
  }
  const fs_worker *w = &x->worker[x->queue_worker[queue]];
  if (atomic_load(&w->blocked) % 2 == 0) {
    return stuck;
  }
  stuck.at = atomic_load_explicit(&w->at, memory_order_relaxed);
  uint32_t axis = worker_axis(w), first_item = fs_cpu_ready(x, 0);
  if (axis >= first_item) {
    stuck.item = (axis - first_item) % x->io->n_given;
  } else if (axis < x->stream->n_axes) {
    stuck.axis = axis;
    stuck.epoch = worker_value(w) - epochs_before(x, axis);
  } else { /* it waits for `go` */
    stuck.at = FS_NONE;
  }
  return stuck;
}

static uint64_t reached(const fs_instance *x, uint32_t axis) {
  uint64_t before = epochs_before(x, axis), now = atomic_load(&x->timeline[axis].epoch);
  return now > before ? now - before : 0;
}

void fs_cpu_report(fs_instance *x, fsched_context *ctx) {
  fs_stuck_view view = {x->stream, x->io, x, look, reached};
  fs_stuck_report(ctx, &view);
}
