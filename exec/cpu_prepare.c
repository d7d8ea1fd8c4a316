/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: from the stream to steps.
 *
 * Waits become pointers to timelines, the commands of one gang op become a meeting, kernels are
 * looked up.  All checks are made here, so that workers cannot fail. */
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
  FS_TRY(new_lines(&x->arena, s->n_axes + 2, sizeof *x->timeline, &x->timeline));
  x->go = &x->timeline[s->n_axes];
  x->complete = &x->timeline[s->n_axes + 1];
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

static fs_status decode_kernel(fs_instance *x, uint32_t op) {
  const fs_stream *s = x->stream;
  const fs_stream_op *o = &s->ops[op];
  if (o->kernel == FS_NONE) {
    return FSCHED_OK;
  }
  const fs_stream_kernel *k = &s->kernels[o->kernel];
  const char *op_name = fs_stream_string(s, o->name);
  if (k->builtin == FS_NONE) {
    return fs_fail(x->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE,
                   "without a kernel an op runs the built-in 'mix'",
                   "op '%s': kernels of modules cannot be run on the CPU yet", op_name);
  }
  const char *name = fs_stream_string(s, k->builtin);
  fs_builtin found = fs_builtin_find(name);
  if (found == FS_BUILTINS) {
    return fs_fail(x->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE,
                   "the built-in kernels are mix, nop and copy",
                   "op '%s': there is no built-in kernel '%s'", op_name, name);
  }
  const char *wants = fs_builtin_refusal(found, s->args + o->arg0, o->n_args);
  if (wants != NULL) {
    return fs_fail(x->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, NULL,
                   "op '%s': the built-in kernel '%s' wants %s", op_name, name, wants);
  }
  x->kernel[o->kernel] = (uint8_t)found;
  return FSCHED_OK;
}

/* Reports every op whose kernel is not there. */
static fs_status decode_kernels(fs_instance *x) {
  const fs_stream *s = x->stream;
  fs_status status = FSCHED_OK;
  FS_TRY(fs_new_zero(&x->arena, &x->kernel, s->n_kernels));
  for (uint32_t op = 0; op < s->n_ops; op++) {
    fs_status one = decode_kernel(x, op);
    status = one == FSCHED_OK ? status : one;
  }
  return status;
}

/* The kept version of a state buffer, FS_NONE. */
static uint32_t kept_state(const fs_stream *s, uint32_t buffer) {
  const fs_stream_buffer *b = &s->buffers[buffer];
  for (uint32_t v = b->version0 + b->n_versions; v-- > b->version0;) {
    if (b->io == FSCHED_IO_STATE && s->versions[v].kept_memory != FS_NONE &&
        s->versions[b->version0].given_memory != FS_NONE) {
      return v;
    }
  }
  return FS_NONE;
}

static fs_status decode_state(fs_instance *x) {
  const fs_stream *s = x->stream;
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    x->n_carries += kept_state(s, b) != FS_NONE;
  }
  FS_TRY(fs_new(&x->arena, &x->carry, x->n_carries));
  fs_carry *carry = x->carry;
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    uint32_t from = kept_state(s, b);
    if (from != FS_NONE) {
      *carry = (fs_carry){.from = from, .to = s->buffers[b].version0, .size = s->buffers[b].size};
      FS_TRY(fs_new(&x->arena, &carry->bytes, carry->size));
      carry++;
    }
  }
  return FSCHED_OK;
}

static fs_status decode_memory(fs_instance *x) {
  if (x->config.empty) {
    return FSCHED_OK;
  }
  FS_TRY(decode_kernels(x));
  FS_TRY(fs_memories_reserve(&x->arena, x->stream, x->config.memory_limit_log2, &x->memories));
  return decode_state(x);
}

/* One worker for every queue that has commands. */
static fs_status decode_workers(fs_instance *x) {
  const fs_stream *s = x->stream;
  uint32_t most_args = 0, most_places = 0;
  for (uint32_t i = 0; i < s->n_ops; i++) {
    most_args = s->ops[i].n_args > most_args ? s->ops[i].n_args : most_args;
  }
  for (uint32_t i = 0; i < s->n_commands; i++) {
    most_places = s->commands[i].n_places > most_places ? s->commands[i].n_places : most_places;
  }
  FS_TRY(fs_new_none(&x->arena, &x->queue_worker, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    x->n_workers += s->queues[q].n_commands > 0;
  }
  FS_TRY(new_lines(&x->arena, x->n_workers, sizeof *x->worker, &x->worker));
  fs_worker *w = x->worker;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    if (s->queues[q].n_commands == 0) {
      continue;
    }
    x->queue_worker[q] = (uint32_t)(w - x->worker);
    w->instance = x;
    w->queue = q;
    w->steps = x->step + s->queues[q].command0;
    w->n_steps = s->queues[q].n_commands;
    w->timeline = &x->timeline[q];
    FS_TRY(fs_new(&x->arena, &w->args, most_args));
    FS_TRY(fs_new(&x->arena, &w->scratch, most_places));
    w++;
  }
  x->spins = x->n_workers <= processors() ? SPINS_ALONE : SPINS_SHARED;
  return FSCHED_OK;
}

fs_status fs_cpu_decode(fs_instance *x) {
  FS_TRY(decode_memory(x));
  FS_TRY(decode_steps(x));
  return decode_workers(x);
}
