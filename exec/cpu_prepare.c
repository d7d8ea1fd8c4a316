/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: from the stream to steps.
 *
 * Waits become pointers to timelines, the commands of one gang op become a meeting, kernels are
 * looked up.  All checks are made here, so that of what workers do only kernels can fail. */
#include <sched.h>

#include "cpu.h"

/* Spins before sleeping: long (about half a millisecond) where every queue can have a processor,
 * else just long enough for a hand-off that is under way. */
enum { SPINS_ALONE = 1 << 14, SPINS_SHARED = 1 << 7 };

static uint32_t processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

/* The arena aligns to 16 bytes, timelines and workers want lines of their own. */
static fs_status new_lines(fs_arena *arena, size_t n, size_t size, void *out_ptr) {
  unsigned char *raw;
  if (n > (SIZE_MAX / 2 - FS_LINE) / size) {
    n = SIZE_MAX / 2 / size; /* fails below, with its diagnostic */
  }
  FS_TRY(fs_new_zero(arena, &raw, n * size + FS_LINE));
  void *aligned = raw + (FS_LINE - (uintptr_t)raw % FS_LINE) % FS_LINE;
  memcpy(out_ptr, &aligned, sizeof aligned);
  return FSCHED_OK;
}

static fs_step_wait make_wait(const fs_instance *x, uint32_t axis, uint32_t epoch) {
  return (fs_step_wait){&x->timeline[axis], x->period[axis], axis, epoch};
}

/* One meeting for each epoch of each collective axis, in that order. */
static fs_status decode_gangs(fs_instance *x) {
  const fs_stream *s = x->stream;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    uint32_t axis = s->commands[c].gang_axis;
    if (axis != FS_NONE) {
      x->period[axis] = fs_max(x->period[axis], s->commands[c].gang_epoch);
    }
  }
  uint64_t n = 0;
  uint64_t *meeting0;
  FS_TRY(fs_new(&x->arena, &meeting0, s->n_axes));
  for (uint32_t a = s->n_queues; a < s->n_axes; a++) {
    meeting0[a] = n;
    n += x->period[a];
  }
  FS_TRY(fs_new_zero(&x->arena, &x->meeting, n));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    if (k->gang_axis != FS_NONE) {
      uint64_t m = meeting0[k->gang_axis] + k->gang_epoch - 1;
      x->step[c].meeting = (uint32_t)m;
      x->meeting[m].members = s->axes[k->gang_axis].n_members;
      x->meeting[m].over = make_wait(x, k->gang_axis, k->gang_epoch);
    }
  }
  return FSCHED_OK;
}

static fs_status decode_steps(fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new(&x->arena, &x->step, s->n_commands));
  x->n_timelines = s->n_axes + 1 + 2 * x->io->n_given;
  FS_TRY(new_lines(&x->arena, x->n_timelines, sizeof *x->timeline, &x->timeline));
  x->go = &x->timeline[s->n_axes];
  FS_TRY(fs_new_zero(&x->arena, &x->period, s->n_axes));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    x->period[q] = s->queues[q].n_commands;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    x->step[c] = (fs_step){.command = c,
                           .meeting = FS_NONE,
                           .wait0 = k->wait0,
                           .n_waits = k->n_waits & 0x7FFFFFFF,
                           .signal = k->signal != 0};
  }
  FS_TRY(decode_gangs(x));
  FS_TRY(fs_new(&x->arena, &x->wait, s->n_waits));
  for (uint32_t w = 0; w < s->n_waits; w++) {
    x->wait[w] = make_wait(x, s->waits[w].axis, s->waits[w].epoch);
  }
  return FSCHED_OK;
}

static fs_status decode_items(fs_instance *x) {
  FS_TRY(fs_new_zero(&x->arena, &x->arrival, x->io->n_given));
  for (uint32_t i = 0; i < x->io->n_given; i++) {
    x->arrival[i].ready = &x->timeline[fs_cpu_ready(x, i)];
    x->arrival[i].there = &x->timeline[fs_cpu_there(x, i)];
  }
  return fs_new_zero(&x->arena, &x->kept_left, x->io->n_kept);
}

static fs_status decode_effects(fsched_context *ctx, fs_instance *x) {
  if (x->config.empty) {
    return FSCHED_OK;
  }
  FS_TRY(fs_kernels_find(ctx, &x->arena, x->stream, x->options, &x->kernels));
  FS_TRY(fs_memories_take(ctx, &x->arena, x->stream, x->io, x->config.memory_limit,
                          x->config.pooled, &x->memories));
  x->effects = (fs_effects){x->stream, x->io, &x->kernels, &x->memories};
  return decode_items(x);
}

static fs_status decode_worker(fs_instance *x, fs_worker *w, uint32_t queue) {
  const fs_stream *s = x->stream;
  w->instance = x;
  w->queue = queue;
  if (queue != FS_NONE) {
    x->queue_worker[queue] = (uint32_t)(w - x->worker);
    w->steps = x->step + s->queues[queue].command0;
    w->n_steps = s->queues[queue].n_commands;
    w->timeline = &x->timeline[queue];
  }
  return fs_effect_room_make(&x->arena, s, &w->room);
}

/* One worker for every queue that has commands; one for a stream without commands, too. */
static fs_status decode_workers(fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new_none(&x->arena, &x->queue_worker, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    x->n_workers += s->queues[q].n_commands > 0;
  }
  bool none = x->n_workers == 0;
  x->n_workers += none;
  FS_TRY(new_lines(&x->arena, x->n_workers, sizeof *x->worker, &x->worker));
  fs_worker *w = x->worker;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    if (s->queues[q].n_commands > 0) {
      FS_TRY(decode_worker(x, w++, q));
    }
  }
  if (none) {
    FS_TRY(decode_worker(x, w, FS_NONE));
  }
  bool alone = x->n_workers <= processors() / fs_max(x->config.slots, 1);
  x->spins = alone ? SPINS_ALONE : SPINS_SHARED;
  return FSCHED_OK;
}

fs_status fs_cpu_decode(fsched_context *ctx, fs_instance *x) {
  FS_TRY(decode_steps(x));
  FS_TRY(decode_effects(ctx, x));
  return decode_workers(x);
}
