/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: what queues that are in loops wait for. */
#include "exec/host/stuck.h"
#include "exec/sim/loops/loops.h"
#include "model/sync.h"

static fs_stuck_level level_of(const fs_instance *x, uint32_t part) {
  const fs_sim_part *p = &x->loops->part[part];
  fs_stuck_level at = {.command = fs_sim_present(x, part)};
  (void)fs_sim_has_iteration(x, part, &at.iteration);
  at.place = p->step * fs_sim_queue_of(x, part)->n_commands + p->at + 1;
  return at;
}

/* The part of the queue, in the innermost run of a loop that it is in and has not left; the levels
 * are those around it. */
static uint32_t innermost_part(const fs_instance *x, uint32_t loop, uint32_t queue,
                               fs_stuck *stuck) {
  const fs_stream *s = x->stream;
  uint32_t around = FS_NONE;
  stuck->depth = 0;
  for (;;) {
    uint32_t part = fs_sim_part_on(x, loop, queue);
    const fs_sim_part *p = &x->loops->part[part];
    if (p->is == FS_SIM_PART_LEFT && around != FS_NONE) {
      stuck->depth--;
      return around;
    }
    uint32_t op =
        p->is == FS_SIM_PART_RUNS ? s->loop_commands[fs_sim_present(x, part)].op : FS_NONE;
    if (op == FS_NONE || s->loop_ops[op].loop == FS_NONE) {
      return part;
    }
    assert(stuck->depth < FS_LOOP_NEST);
    stuck->level[stuck->depth++] = level_of(x, part);
    loop = s->loop_ops[op].loop;
    around = part;
  }
}

/* Of a part that waits for a phase; its instance is the innermost level. */
static void tell_phase(const fs_instance *x, const fs_sim_part *p, const fs_stream_guard_check *c,
                       fs_stuck *stuck) {
  const fs_sim_loops *l = x->loops;
  const fs_stream_loop *loop = &x->stream->loops[p->loop];
  uint64_t trips = fs_sim_trips_of(x, loop);
  fs_stuck_set_phase(stuck, c, fs_loop_before(loop, &p->around, trips), trips);
  stuck->complete =
      l->barrier[fs_guard_barrier(&l->guards, x->stream, c->guard, stuck->of)].complete;
}

/* Of a part whose op is a loop, which it has left: it waits for the other queues. */
static void tell_wait(const fs_instance *x, uint32_t part, fs_stuck *stuck) {
  const fs_sim_part *p = &x->loops->part[part];
  assert(stuck->depth < FS_LOOP_NEST);
  fs_stuck_level own = level_of(x, part);
  const fs_stream_loop_command *k = &x->stream->loop_commands[own.command];
  stuck->kind = FS_STUCK_LOOP;
  stuck->level[stuck->depth++] = own;
  stuck->on = (fs_stuck_level){.command = FS_NONE};
  if (p->is == FS_SIM_PART_WAITS && fs_sync_has_barriers(x->stream->meta->sync)) {
    tell_phase(x, p, &x->stream->guard_checks[k->check0 + p->next_wait], stuck);
  } else if (p->is == FS_SIM_PART_WAITS) {
    const fs_stream_loop_wait *w = &x->stream->loop_waits[k->wait0 + p->next_wait];
    const fs_stream_loop_command *on = &x->stream->loop_commands[w->command];
    const fs_stream_loop_queue *q = fs_sim_queue_of(x, x->loops->member[w->command].part);
    uint64_t trips = fs_sim_trips_of(x, &x->stream->loops[p->loop]);
    if (w->distance > own.iteration) { /* else there would be nothing to wait for */
      stuck->earlier = fs_ceil_div(w->distance - own.iteration, trips);
    }
    uint64_t iteration = own.iteration + stuck->earlier * trips - w->distance;
    uint64_t step = iteration / x->stream->loops[p->loop].copies + on->shift;
    uint64_t place = step * q->n_commands + (w->command - q->command0) + 1;
    stuck->on = (fs_stuck_level){w->command, iteration, place};
  }
}

bool fs_sim_loop_stuck(const fs_instance *x, uint32_t command, fs_stuck *stuck) {
  assert(command < x->stream->n_commands);
  const fs_stream_command *c = &x->stream->commands[command];
  uint32_t loop = fs_sim_loop_of(x, command);
  if (loop == FS_NONE || !x->loops->run[loop].goes_on) {
    return false;
  }
  if (x->loops->part[fs_sim_part_on(x, loop, x->queue[command])].is == FS_SIM_PART_AWAY) {
    return false;
  }
  uint32_t part = innermost_part(x, loop, x->queue[command], stuck);
  stuck->axis = c->gang_axis;
  stuck->epoch = c->gang_epoch;
  switch (x->loops->part[part].is) {
    case FS_SIM_PART_WAITS:
    case FS_SIM_PART_MEETS:
      tell_wait(x, part, stuck);
      break;
    case FS_SIM_PART_RUNS: /* a loop, which it has left */
      if (x->stream->loop_ops[x->stream->loop_commands[fs_sim_present(x, part)].op].loop !=
          FS_NONE) {
        tell_wait(x, part, stuck);
      }
      break;
    case FS_SIM_PART_AWAY:
    case FS_SIM_PART_UNISSUED:
    case FS_SIM_PART_OVER:
    case FS_SIM_PART_LEFT: /* it waits for the other queues */
      break;
  }
  return true;
}
