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

/* Invocations before the running one. */
static uint64_t invocations_before(const fs_instance *x) { return atomic_load(&x->go->epoch) - 1; }

static uint64_t epochs_before(const fs_instance *x, uint32_t axis) {
  return invocations_before(x) * x->period[axis];
}

/* A phase as the number of a use within the invocation. */
static uint64_t use_of(const fs_instance *x, uint32_t physical, uint64_t phase) {
  uint64_t before = invocations_before(x) * x->physical[physical].period;
  return phase > before ? (phase - before - 1) / 2 : 0;
}

static void find_barrier(const fs_instance *x, uint32_t physical, uint64_t phase, fs_stuck *stuck) {
  stuck->kind = phase % 2 == 1 ? FS_STUCK_MAPPED : FS_STUCK_COMPLETE;
  stuck->barrier =
      fs_physical_barrier(&x->physicals, physical, (uint32_t)use_of(x, physical, phase));
}

static fs_stuck_barrier barrier(const fs_instance *x, uint32_t physical) {
  const fs_physical *p = &x->physical[physical];
  return (fs_stuck_barrier){.use = (uint32_t)use_of(x, physical, atomic_load(&p->phase->epoch)),
                            .producers = atomic_load(&p->producers),
                            .consumers = atomic_load(&p->consumers)};
}

static fs_stuck look(const fs_instance *x, uint32_t queue) {
  fs_stuck stuck = {.at = FS_NONE};
  if (x->queue_worker[queue] == FS_NONE) {
    return stuck;
  }
  const fs_worker *w = &x->worker[x->queue_worker[queue]];
  if (atomic_load(&w->blocked) % 2 == 0) {
    return stuck;
  }
  stuck.at = atomic_load_explicit(&w->at, memory_order_relaxed);
  uint32_t axis = worker_axis(w), first_item = fs_cpu_ready(x, 0);
  if (axis >= fs_cpu_phase(x, 0)) {
    find_barrier(x, axis - fs_cpu_phase(x, 0), worker_value(w), &stuck);
  } else if (axis >= first_item) {
    stuck.kind = FS_STUCK_CONTENT;
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
  fs_stuck_view view = {x->stream, x->io, &x->physicals, x, look, reached, barrier};
  fs_stuck_report(ctx, &view);
}
