/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: turns the stream into lists of the commands that wait for each slot.
 *
 * Each epoch of each axis is a slot, with the list of commands that wait for it, so that a run
 * looks at every wait once.  Each barrier has two slots: it is mapped, and it is complete.  A wait
 * for an epoch that no command reaches is in no list: it is never over. */
#include "exec/sim/sim.h"

#include "base/group.h"

/* Counts the epochs of each axis: a queue's commands, a collective axis' gangs. */
static fs_status count_slots(fs_instance *x) {
  const fs_stream *s = x->stream;
  uint64_t *n;
  FS_TRY(fs_new_zero(&x->arena, &n, s->n_axes));
  FS_TRY(fs_new_zero(&x->arena, &x->slot0, (size_t)s->n_axes + 1));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    n[q] = s->queues[q].n_commands;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    if (fs_sim_is_gang(k)) {
      n[k->gang_axis] = fs_max(n[k->gang_axis], k->gang_epoch);
    }
  }
  for (uint32_t a = 0; a < s->n_axes; a++) {
    assert(n[a] <= UINT32_MAX - x->slot0[a]); /* each gang has a command, too */
    x->slot0[a + 1] = x->slot0[a] + (uint32_t)n[a];
  }
  if (s->n_barriers > (UINT32_MAX - x->slot0[s->n_axes]) / 2) {
    return fs_no_memory(x->ctx, SIZE_MAX); /* the lists would need as much */
  }
  return FSCHED_OK;
}

/* The slot of a wait; FS_NONE: its epoch is never reached. */
static uint32_t slot_of(const fs_instance *x, const fs_stream_wait *w) {
  uint32_t n = x->slot0[w->axis + 1] - x->slot0[w->axis];
  return w->epoch == 0 || w->epoch > n ? FS_NONE : x->slot0[w->axis] + w->epoch - 1;
}

static uint32_t n_wants(const fs_stream_command *k) {
  return k->n_waits + k->n_barrier_waits + k->n_barrier_updates;
}

/* The slot of the i-th thing that a command waits for. */
static uint32_t wanted(const fs_instance *x, const fs_stream_command *k, uint32_t i) {
  const fs_stream *s = x->stream;
  if (i < k->n_waits) {
    return slot_of(x, &s->waits[k->wait0 + i]);
  }
  i -= k->n_waits;
  if (i < k->n_barrier_waits) {
    return fs_sim_complete(x, s->barrier_waits[k->barrier_wait0 + i]);
  }
  i -= k->n_barrier_waits;
  return fs_sim_mapped(x, s->barrier_updates[k->barrier_update0 + i].barrier);
}

static fs_status list_waiters(fs_instance *x) {
  const fs_stream *s = x->stream;
  uint32_t n_slots = x->slot0[s->n_axes] + 2 * s->n_barriers;
  FS_TRY(fs_new_zero(&x->arena, &x->waiter0, (size_t)n_slots + 2));
  FS_TRY(fs_new(&x->arena, &x->waiter,
                (size_t)s->n_waits + s->n_barrier_waits + s->n_barrier_updates));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    for (uint32_t i = 0; i < n_wants(k); i++) {
      uint32_t slot = wanted(x, k, i);
      if (slot != FS_NONE) {
        x->waiter0[slot + 2]++;
      }
    }
  }
  fs_group_sum(x->waiter0, n_slots);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    for (uint32_t i = 0; i < n_wants(k); i++) {
      uint32_t slot = wanted(x, k, i);
      if (slot != FS_NONE) {
        x->waiter[x->waiter0[slot + 1]++] = c;
      }
    }
  }
  return FSCHED_OK;
}

static fs_status take_state(fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new(&x->arena, &x->left, s->n_commands));
  FS_TRY(fs_new(&x->arena, &x->from, s->n_commands));
  FS_TRY(fs_new(&x->arena, &x->next_member, s->n_commands));
  FS_TRY(fs_new(&x->arena, &x->queue, s->n_commands));
  FS_TRY(fs_new(&x->arena, &x->reached, s->n_axes));
  FS_TRY(fs_new(&x->arena, &x->at, s->n_queues));
  FS_TRY(fs_new(&x->arena, &x->meeting, x->slot0[s->n_axes] - x->slot0[s->n_queues]));
  FS_TRY(fs_vec_reserve(x->ctx, &x->running, fs_sim_most_events(x, s->n_loop_queues)));
  if (fs_stream_has_slow(s)) {
    FS_TRY(fs_new(&x->arena, &x->over, s->n_commands));
    FS_TRY(fs_new(&x->arena, &x->reached_at, s->n_queues));
    FS_TRY(fs_new(&x->arena, &x->gone_on, s->n_queues));
    FS_TRY(fs_new(&x->arena, &x->passed, x->slot0[s->n_axes] - x->slot0[s->n_queues]));
  }
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      x->queue[s->queues[q].command0 + i] = q;
    }
  }
  return FSCHED_OK;
}

static fs_status take_items(fs_instance *x) {
  const fs_io *io = x->io;
  FS_TRY(fs_new_zero(&x->arena, &x->ready, io->n_given));
  FS_TRY(fs_new(&x->arena, &x->there, io->n_given));
  FS_TRY(fs_new(&x->arena, &x->arrived, io->n_given));
  FS_TRY(fs_new(&x->arena, &x->parked, io->n_given));
  FS_TRY(fs_new(&x->arena, &x->next_parked, x->stream->n_commands));
  return fs_new(&x->arena, &x->kept_left, io->n_kept);
}

static fs_status take_effects(fsched_context *ctx, fs_instance *x) {
  if (x->config.empty) {
    return FSCHED_OK;
  }
  FS_TRY(fs_kernels_find(ctx, &x->arena, x->stream, x->options, &x->kernels));
  FS_TRY(fs_memories_take(ctx, &x->arena, x->stream, x->io, x->config.memory_limit,
                          x->config.pooled, &x->memories));
  FS_TRY(fs_effect_room_make(&x->arena, fs_effect_measure(x->stream), &x->hand, &x->room));
  x->effects = (fs_effects){x->stream, x->io, &x->kernels, &x->memories};
  FS_TRY(take_items(x));
  return fs_sim_guard_make(x);
}

fs_status fs_sim_decode(fsched_context *ctx, fs_instance *x) {
  assert(x->stream != NULL && x->io != NULL);
  FS_TRY(count_slots(x));
  FS_TRY(list_waiters(x));
  FS_TRY(fs_sim_loops_make(ctx, x));
  FS_TRY(take_state(x));
  FS_TRY(fs_sim_sync_make(x));
  FS_TRY(fs_sim_times_make(x));
  return take_effects(ctx, x);
}
