/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: the watchdog.
 *
 * A lane counts `blocked` up when it begins and when it ends a long wait, and says what it waits
 * for; a worker counts its kernels; the watchdog needs nothing else from them.  The instance does
 * not move when the counts are the same at two looks and each lane is blocked on a value that is
 * not reached, or has to wait for a kernel that its thread runs.  How long a kernel may run is for
 * the watchdog's caller to decide. */
#include "exec/cpu/cpu.h"
#include "exec/host/stuck.h"

static uint32_t lane_axis(const fs_cpu_lane *l) {
  return atomic_load_explicit(&l->axis, memory_order_relaxed);
}

static uint64_t lane_value(const fs_cpu_lane *l) {
  return atomic_load_explicit(&l->value, memory_order_relaxed);
}

static bool is_idle(const fs_instance *x, const fs_cpu_lane *l, uint64_t blocked) {
  return blocked % 2 == 1 && !fs_timeline_reached(&x->timeline[lane_axis(l)], lane_value(l));
}

uint64_t fs_cpu_progress(fs_instance *x, bool *idle) {
  uint64_t moves = 0;
  *idle = true;
  for (uint32_t i = 0; i < x->n_workers; i++) {
    const fs_worker *w = &x->worker[i];
    uint64_t kernels = fs_hand_look(&x->worker[i].hand);
    moves += kernels;
    for (uint32_t j = 0; j < w->n_lanes; j++) {
      const fs_cpu_lane *l = w->lane + (size_t)j * x->n_workers;
      uint64_t blocked = atomic_load(&l->blocked);
      moves += blocked;
      *idle = *idle && (fs_hand_busy(kernels) || is_idle(x, l, blocked));
    }
  }
  return moves;
}

/* Number of invocations before the running one. */
static uint64_t invocations_before(const fs_instance *x) { return atomic_load(&x->go->epoch) - 1; }

static uint64_t epochs_before(const fs_instance *x, uint32_t axis) {
  return invocations_before(x) * x->period[axis];
}

/* Converts a phase to the number of a use within the invocation. */
static uint64_t use_of(const fs_instance *x, uint32_t physical, uint64_t phase) {
  uint64_t before = invocations_before(x) * x->physical[physical].period;
  return phase > before ? (phase - before - 1) / 2 : 0;
}

static void find_barrier(const fs_instance *x, uint32_t physical, uint64_t phase, fs_stuck *stuck) {
  stuck->kind = phase % 2 == 1 ? FS_STUCK_MAPPED : FS_STUCK_COMPLETE;
  stuck->barrier =
      fs_physical_barrier(&x->physicals, physical, (uint32_t)use_of(x, physical, phase));
}

/* Whether a command that is in no gang has started, while its lane waits or rests. */
static bool has_started(const fs_instance *x, uint32_t command) {
  for (uint32_t i = 0; i < x->n_lanes; i++) {
    const fs_cpu_lane *l = &x->lane[i];
    uint32_t first = x->stream->queues[l->queue].command0;
    if (first <= command && command - first < l->n_steps) {
      return atomic_load_explicit(&l->at, memory_order_relaxed) > command - first;
    }
  }
  return false;
}

/* Phase and counts tell the use, but for a count of one, which the phase tells, and a next use that
 * nobody has published. */
static fs_stuck_barrier barrier(const fs_instance *x, uint32_t physical) {
  const fs_physical *p = &x->physical[physical];
  uint64_t phase = atomic_load(&p->phase->epoch);
  uint32_t use = (uint32_t)use_of(x, physical, phase);
  uint32_t now = fs_physical_barrier(&x->physicals, physical, use);
  const fs_turn *t = &x->turn[now];
  bool complete = phase % 2 == 0;
  if (complete && t->consumer != FS_NONE && fs_cpu_next_is_known(x, t) &&
      has_started(x, t->consumer)) {
    const fs_stream_barrier *next = &x->stream->barriers[t->next];
    return (fs_stuck_barrier){
        .use = use + 1,
        .producers = x->turn[t->next].sole_producer ? 1 : atomic_load(&p->producers),
        .consumers = next->n_consumers};
  }
  return (fs_stuck_barrier){.use = use,
                            .producers = complete           ? 0
                                         : t->sole_producer ? 1
                                                            : atomic_load(&p->producers),
                            .consumers = t->sole_consumer ? 1 : atomic_load(&p->consumers)};
}

/* The instance that a value of a part's timeline stands for, within a run; a command of FS_NONE:
 * the part has none. */
static fs_stuck_level instance_of(const fs_instance *x, uint32_t part, uint64_t value) {
  const fs_loop_part *p = &x->loop_part[part];
  if (p->n_commands == 0) {
    return (fs_stuck_level){.command = FS_NONE};
  }
  const fs_loop_step *s = &p->steps[(value - 1) % p->n_commands];
  uint64_t iteration = ((value - 1) / p->n_commands - s->from) * p->copies + s->copy;
  return (fs_stuck_level){s->command, iteration, value};
}

/* Where the lane is in each loop around the instance that waits.  False: the lane moves. */
static bool find_levels(const fs_instance *x, const fs_cpu_lane *l, fs_stuck *stuck) {
  stuck->depth = atomic_load_explicit(&l->depth, memory_order_relaxed);
  for (uint32_t i = 0; i < stuck->depth; i++) {
    uint32_t part = atomic_load_explicit(&l->in_part[i], memory_order_relaxed);
    uint64_t own = atomic_load_explicit(&l->in_loop[i], memory_order_relaxed);
    stuck->level[i] = instance_of(x, part, own);
    if (stuck->level[i].command == FS_NONE) {
      return false;
    }
  }
  return stuck->depth > 0;
}

/* The loop of an instance. */
static const fs_cpu_loop *loop_of_level(const fs_instance *x, const fs_stuck_level *level) {
  uint32_t op = x->stream->loop_commands[level->command].op, l = 0;
  while (op - x->stream->loops[l].op0 >= x->stream->loops[l].n_ops) {
    l++;
    assert(l < x->stream->n_loops);
  }
  return &x->loop[l];
}

/* Which phase a lane waits for. */
static void find_phase(const fs_instance *x, const fs_cpu_lane *l, uint32_t barrier,
                       fs_stuck *stuck) {
  const fs_stream_guard_check *c =
      &x->stream->guard_checks[atomic_load_explicit(&l->in_check, memory_order_relaxed)];
  const fs_loop_barrier *b = &x->loop_barrier[barrier];
  uint64_t base = atomic_load_explicit(&b->base, memory_order_relaxed);
  uint64_t now = atomic_load(&b->phase->epoch);
  stuck->complete = now > base ? now - base : 0;
  stuck->kind = FS_STUCK_PHASE;
  stuck->guard = c->guard;
  if (!find_levels(x, l, stuck)) {
    stuck->at = FS_NONE;
    return;
  }
  const fs_stuck_level *own = &stuck->level[stuck->depth - 1];
  const fs_cpu_loop *in = loop_of_level(x, own);
  uint64_t before = in->loop->joined != 0 ? own[-1].iteration * in->trips : 0;
  if (before + own->iteration < c->distance) {
    stuck->at = FS_NONE;
    return;
  }
  fs_stuck_set_phase(stuck, c, before, in->trips);
}

/* How many runs, that are joined, before the one in which the lane waits has the value on a part's
 * timeline. */
static uint64_t runs_before(const fs_instance *x, uint32_t part, uint64_t value,
                            const fs_stuck *stuck) {
  const fs_stream *s = x->stream;
  uint32_t around = stuck->level[stuck->depth - 2].command;
  uint32_t inner = s->loop_ops[s->loop_commands[around].op].loop;
  if (inner == FS_NONE || s->loops[inner].joined == 0) {
    return 0;
  }
  uint64_t run = (value - 1) / x->loop_part[part].period % s->loops[s->loops[inner].within].most;
  uint64_t own = stuck->level[stuck->depth - 2].iteration;
  return own > run ? own - run : 0;
}

/* Where a lane waits in a loop; at its begin, it waits for the member of the gang that opens it.
 * The lane may move meanwhile: then what is found need not fit together. */
static void find_in_loop(const fs_instance *x, const fs_cpu_lane *l, uint32_t axis,
                         fs_stuck *stuck) {
  const fs_stream *s = x->stream;
  const fs_stream_command *c = &s->commands[s->queues[l->queue].command0 + stuck->at];
  uint32_t index = fs_command_has_op(c) ? x->loop_at[c->target] : FS_NONE;
  uint32_t own = axis - fs_cpu_phase(x, x->physicals.n), part = own - s->n_loops;
  stuck->axis = c->gang_axis;
  stuck->epoch = c->gang_epoch;
  if (index == FS_NONE || (own < s->n_loops && s->loops[own].within == FS_NONE)) {
    stuck->at = c->gang_axis == FS_NONE ? FS_NONE : stuck->at;
    return;
  }
  if (own >= x->n_loop_axes) {
    find_phase(x, l, own - x->n_loop_axes, stuck);
    return;
  }
  stuck->kind = FS_STUCK_LOOP;
  stuck->on = (fs_stuck_level){.command = FS_NONE};
  if (own >= s->n_loops && part < s->n_loop_queues && x->loop_part[part].period > 0) {
    stuck->on = instance_of(x, part, (lane_value(l) - 1) % x->loop_part[part].period + 1);
  }
  stuck->at = find_levels(x, l, stuck) ? stuck->at : FS_NONE;
  if (stuck->at != FS_NONE && stuck->on.command != FS_NONE && stuck->depth > 1) {
    stuck->earlier = runs_before(x, part, lane_value(l), stuck);
  }
}

static fs_stuck look_at_queue(const fs_instance *x, uint32_t queue) {
  fs_stuck stuck = {.at = FS_NONE};
  if (x->queue_lane[queue] == FS_NONE) {
    return stuck;
  }
  const fs_cpu_lane *l = &x->lane[x->queue_lane[queue]];
  if (atomic_load(&l->blocked) % 2 == 0) {
    return stuck;
  }
  stuck.at = atomic_load_explicit(&l->at, memory_order_relaxed);
  uint32_t axis = lane_axis(l), first_item = fs_cpu_ready(x, 0);
  if (stuck.at == FS_NONE) {
    return stuck;
  }
  if (axis >= fs_cpu_phase(x, x->physicals.n)) {
    find_in_loop(x, l, axis, &stuck);
  } else if (axis >= fs_cpu_phase(x, 0)) {
    find_barrier(x, axis - fs_cpu_phase(x, 0), lane_value(l), &stuck);
  } else if (axis >= first_item) {
    stuck.kind = FS_STUCK_CONTENT;
    stuck.item = (axis - first_item) % x->io->n_given;
  } else if (axis < x->stream->n_axes) {
    stuck.axis = axis;
    stuck.epoch = lane_value(l) - epochs_before(x, axis);
  } else { /* the lane waits for `go` */
    stuck.at = FS_NONE;
  }
  return stuck;
}

static uint64_t reached(const fs_instance *x, uint32_t axis) {
  uint64_t before = epochs_before(x, axis), now = atomic_load(&x->timeline[axis].epoch);
  return now > before ? now - before : 0;
}

/* Whether the worker's part of the invocation is over. */
static bool rests(const fs_instance *x, const fs_worker *w) {
  for (uint32_t i = 0; i < w->n_lanes; i++) {
    const fs_cpu_lane *l = w->lane + (size_t)i * x->n_workers;
    uint64_t blocked = atomic_load(&l->blocked);
    if (!is_idle(x, l, blocked) || lane_axis(l) != x->stream->n_axes) {
      return false;
    }
  }
  return true;
}

/* Every thread that is in a kernel now was poisoned before, so a thread that returns meanwhile does
 * not touch the work, either. */
bool fs_cpu_give_up(fs_instance *x) {
  for (uint32_t i = 0; i < x->n_workers; i++) {
    fs_worker *w = &x->worker[i];
    if (!fs_hand_busy(atomic_load(&w->hand.count)) && !rests(x, w)) {
      return false;
    }
  }
  bool lost = false, all = true;
  for (uint32_t i = 0; i < x->n_workers; i++) {
    fs_hand *hand = &x->worker[i].hand;
    uint64_t count = atomic_load(&hand->count);
    bool gone = count == FS_HAND_LOST || fs_hand_give_up(hand, count);
    lost = lost || gone;
    all = all && (gone || !fs_hand_busy(count)); /* if it is not busy, it has returned just now */
  }
  return lost && all;
}

void fs_cpu_report(fs_instance *x, fsched_context *ctx) {
  bool kernels = false;
  for (uint32_t i = 0; i < x->n_workers; i++) {
    kernels = fs_hand_report(ctx, x->stream, &x->worker[i].hand, x->begin_ns) || kernels;
  }
  if (kernels) {
    return; /* all others wait for these kernels */
  }
  fs_stuck_view view = {x->stream, x->io, &x->physicals, x, look_at_queue, reached, barrier};
  fs_stuck_report(ctx, &view);
}
