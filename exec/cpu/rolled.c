/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: decodes loops.
 *
 * The part that a queue has in a loop counts its commands: the one at place p of step t has the
 * value t * commands + p + 1 of a run, whether it runs there or passes, and a part of T
 * steps has T * commands values.  Iteration i of a command is j * copies + copy, in step shift + j.
 * A wait of it for iteration i - distance of a target is for the j - back of the target's copy,
 * back = ceil((distance - copy) / copies) but at least 0, so the value awaited is affine in t.
 * Where there are barriers, commands have checks and updates of these instead of waits and
 * signals. */
#include <stdlib.h>

#include "exec/cpu/cpu.h"
#include "exec/host/loops.h"
#include "model/sync.h"

/* Commands of one op and copy, which are a gang's if there are several. */
typedef struct loop_member {
  uint64_t key;
  uint32_t command;
} loop_member;

/* No two entries are equal, as each command occurs once. */
static int by_key(const void *a, const void *b) {
  const loop_member *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                          : (x->command > y->command) - (x->command < y->command);
}

static fs_status sort_members(fs_arena *arena, const fs_stream *s, loop_member **out) {
  FS_TRY(fs_new(arena, out, s->n_loop_commands));
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[c];
    (*out)[c] = (loop_member){(uint64_t)k->op << 32 | k->copy, c};
  }
  qsort(*out, s->n_loop_commands, sizeof **out, by_key);
  return FSCHED_OK;
}

/* Finds the gangs of all loops, and the gang of each command. */
static fs_status find_gangs(fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_SCRATCH(scratch, x->ctx);
  loop_member *m;
  FS_TRY(sort_members(&scratch, s, &m));
  FS_TRY(fs_new_none(&x->arena, &x->loop_gang_of, s->n_loop_commands));
  FS_TRY(fs_new_zero(&x->arena, &x->loop_gang, s->n_loop_commands / 2));
  for (uint32_t i = 1; i < s->n_loop_commands; i++) {
    if (m[i].key != m[i - 1].key || s->loop_ops[m[i].key >> 32].loop != FS_NONE) {
      continue; /* members of a loop meet in another way */
    }
    if (x->loop_gang_of[m[i - 1].command] == FS_NONE) {
      x->loop_gang[x->n_loop_gangs].members = 1;
      x->loop_gang_of[m[i - 1].command] = x->n_loop_gangs++;
    }
    x->loop_gang_of[m[i].command] = x->n_loop_gangs - 1;
    x->loop_gang[x->n_loop_gangs - 1].members++;
  }
  return FSCHED_OK;
}

fs_status fs_cpu_count_loops(fs_instance *x) {
  const fs_stream *s = x->stream;
  assert(s->n_meta == 1);
  if (s->n_loops == 0) {
    return FSCHED_OK;
  }
  FS_TRY(find_gangs(x));
  FS_TRY(fs_new_none(&x->arena, &x->loop_at, s->n_ops));
  for (uint32_t i = 0; i < s->n_loops && s->loops[i].within == FS_NONE; i++) {
    x->loop_at[s->loops[i].op] = i;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    bool loop = fs_command_has_op(k) && x->loop_at[k->target] != FS_NONE;
    x->n_alone += loop && k->gang_axis == FS_NONE;
  }
  x->n_loop_axes = 2 * s->n_loops + s->n_loop_queues + x->n_loop_gangs;
  return FSCHED_OK;
}

/* Timelines of loops: one each, for their begin; then of each part; then of each gang; then one for
 * the end of each loop. */
static uint32_t axis_of(const fs_instance *x, uint32_t index) {
  return fs_cpu_phase(x, x->physicals.n) + index;
}

static uint64_t iterations(const fs_stream_loop *loop, uint64_t trips, uint32_t copy) {
  return trips > copy ? (trips - copy - 1) / loop->copies + 1 : 0;
}

/* In which steps commands have iterations. */
static void set_part_trips(fs_instance *x, const fs_stream_loop *loop, uint32_t part,
                           uint64_t trips) {
  fs_loop_part *p = &x->loop_part[part];
  fs_loop_step *s = x->loop_step + x->stream->loop_queues[part].command0;
  p->n_rounds = p->full = 0;
  p->full_end = UINT64_MAX;
  for (uint32_t i = 0; i < p->n_commands; i++) {
    s[i].count = iterations(loop, trips, s[i].copy);
    p->n_rounds = s[i].count == 0 ? p->n_rounds : fs_max(p->n_rounds, s[i].from + s[i].count);
    p->full = fs_max(p->full, s[i].from);
    p->full_end = fs_min(p->full_end, s[i].from + s[i].count);
  }
}

static void set_loop_trips(fs_instance *x, fs_cpu_loop *loop, uint64_t trips) {
  loop->trips = trips;
  for (uint32_t q = 0; q < loop->loop->n_queues; q++) {
    set_part_trips(x, loop->loop, loop->loop->queue0 + q, trips);
  }
}

void fs_cpu_set_trips(fs_instance *x) {
  assert(x->work != NULL && (x->loop != NULL || x->stream->n_loops == 0));
  for (uint32_t l = 0; l < x->stream->n_loops; l++) {
    uint64_t trips = fs_loop_trips(x->stream, x->work->trips, x->loop[l].loop);
    if (trips != x->loop[l].trips) {
      set_loop_trips(x, &x->loop[l], trips);
    }
  }
}

static void decode_part(fs_instance *x, const fs_stream_loop *loop, uint32_t part) {
  const fs_stream *s = x->stream;
  const fs_stream_loop_queue *q = &s->loop_queues[part];
  fs_loop_part *p = &x->loop_part[part];
  p->axis = axis_of(x, s->n_loops + part);
  p->timeline = &x->timeline[p->axis];
  p->steps = x->loop_step + q->command0;
  p->n_commands = q->n_commands;
  p->copies = loop->copies;
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[c];
    uint32_t inner = s->loop_ops[k->op].loop;
    bool alone = x->loop_gang_of[c] == FS_NONE && inner == FS_NONE;
    bool barriers = fs_sync_has_barriers(s->meta->sync);
    x->loop_step[c] = (fs_loop_step){
        .from = k->shift,
        .command = c,
        .copy = k->copy,
        .gang = x->loop_gang_of[c],
        .inner = inner,
        .part = inner == FS_NONE ? FS_NONE : fs_cpu_loop_part(x, &s->loops[inner], q->queue),
        .wait0 = barriers ? k->check0 : k->wait0,
        .n_waits = (barriers ? k->n_checks : k->n_waits) & 0x7FFFFFFF,
        .signal = !barriers && k->signal != 0,
        .guarded = k->n_checks > 0 || x->guards.update0[c] < x->guards.update0[c + 1]};
    fs_loop_step *step = &x->loop_step[c];
    step->alone = alone && step->n_waits == 0 && !step->signal && !step->guarded;
    x->loop_part_of[c] = part;
    if (x->loop_gang_of[c] != FS_NONE) {
      x->loop_gang[x->loop_gang_of[c]].period = iterations(loop, loop->most, k->copy);
    }
  }
  set_part_trips(x, loop, part, loop->most);
  p->period = p->n_rounds * p->n_commands; /* is enough for fewer iterations, too */
}

static fs_loop_wait make_loop_wait(const fs_instance *x, const fs_stream_loop *loop,
                                   const fs_stream_loop_command *of,
                                   const fs_stream_loop_wait *wait) {
  const fs_loop_part *p = &x->loop_part[x->loop_part_of[wait->command]];
  const fs_loop_step *target = &x->loop_step[wait->command];
  uint64_t back =
      wait->distance > of->copy ? fs_ceil_div(wait->distance - of->copy, loop->copies) : 0;
  uint64_t place = (uint64_t)(target - p->steps);
  return (fs_loop_wait){
      .timeline = p->timeline,
      .from = of->shift + back,
      .period = p->period,
      .stride = p->n_commands,
      .offset = (target->from - of->shift - back) * p->n_commands + place + 1, /* may wrap around */
      .axis = p->axis,
      .joined = loop->joined != 0};
}

static void decode_loop(fs_instance *x, uint32_t index) {
  const fs_stream *s = x->stream;
  const fs_stream_loop *loop = &s->loops[index];
  uint32_t over = axis_of(x, s->n_loops + s->n_loop_queues + x->n_loop_gangs + index);
  x->loop[index] = (fs_cpu_loop){.loop = loop,
                                 .trips = loop->most,
                                 .axis = axis_of(x, index),
                                 .open = &x->timeline[axis_of(x, index)],
                                 .parts = x->loop_part + loop->queue0,
                                 .over = &x->timeline[over],
                                 .over_axis = over};
  for (uint32_t q = loop->queue0; q < loop->queue0 + loop->n_queues; q++) {
    decode_part(x, loop, q);
  }
  for (uint32_t q = loop->queue0; q < loop->queue0 + loop->n_queues; q++) {
    const fs_loop_part *p = &x->loop_part[q];
    for (uint32_t c = 0; c < p->n_commands; c++) {
      const fs_stream_loop_command *k = &s->loop_commands[p->steps[c].command];
      for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
        x->loop_wait[w] = make_loop_wait(x, loop, k, &s->loop_waits[w]);
      }
    }
  }
}

fs_status fs_cpu_decode_loops(fs_instance *x) {
  const fs_stream *s = x->stream;
  assert(s->n_loops == 0 || x->timeline != NULL);
  FS_TRY(fs_new_zero(&x->arena, &x->loop, s->n_loops));
  FS_TRY(fs_new_zero(&x->arena, &x->loop_part, s->n_loop_queues));
  FS_TRY(fs_new(&x->arena, &x->loop_part_of, s->n_loop_commands));
  FS_TRY(fs_new(&x->arena, &x->loop_step, s->n_loop_commands));
  FS_TRY(fs_new(&x->arena, &x->loop_wait, s->n_loop_waits));
  for (uint32_t g = 0; g < x->n_loop_gangs; g++) {
    x->loop_gang[g].axis = axis_of(x, s->n_loops + s->n_loop_queues + g);
    x->loop_gang[g].over = &x->timeline[x->loop_gang[g].axis];
  }
  for (uint32_t i = 0; i < s->n_loops; i++) {
    decode_loop(x, i);
  }
  return FSCHED_OK;
}

void fs_cpu_meet_for_loops(fs_instance *x, uint64_t meeting) {
  const fs_stream *s = x->stream;
  assert(x->meeting != NULL || s->n_loops == 0);
  for (uint32_t c = 0; c < s->n_commands && s->n_loops > 0; c++) {
    const fs_stream_command *k = &s->commands[c];
    uint32_t loop = fs_command_has_op(k) ? x->loop_at[k->target] : FS_NONE;
    if (loop == FS_NONE) {
      continue;
    }
    if (k->gang_axis == FS_NONE) {
      x->meeting[meeting].members = 1;
      x->step[c].meeting = (uint32_t)meeting++;
    }
    x->meeting[x->step[c].meeting].loop = &x->loop[loop];
  }
}
