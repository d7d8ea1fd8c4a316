/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stream/shown_loops.h"

#include "model/stream/slow_parts.h"

#include "model/stream/slow_parts.h"

static fs_status take_commands(fs_arena *arena, const fs_stream *s, const fs_stream_loop *from,
                               fs_rolled_loop *x) {
  uint32_t first = s->loop_queues[from->queue0].command0, waits = 0;
  FS_TRY(fs_new(arena, &x->queue, x->n_queues));
  FS_TRY(fs_new(arena, &x->command0, (size_t)x->n_queues + 1));
  for (uint32_t q = 0; q < x->n_queues; q++) {
    const fs_stream_loop_queue *queue = &s->loop_queues[from->queue0 + q];
    x->queue[q] = queue->queue;
    x->command0[q] = x->n_commands;
    x->n_commands += queue->n_commands;
  }
  x->command0[x->n_queues] = x->n_commands;
  FS_TRY(fs_new(arena, &x->command, x->n_commands));
  for (uint32_t c = 0; c < x->n_commands; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[first + c];
    const fs_stream_loop_op *op = &s->loop_ops[k->op];
    x->command[c] = (fs_rolled_command){.member = k->op - from->op0,
                                        .copy = k->copy,
                                        .shift = k->shift,
                                        .wait0 = waits,
                                        .n_waits = k->n_waits,
                                        .issue = k->issue,
                                        .slow = op->latency > op->time};
    waits += k->n_waits;
  }
  x->n_waits = waits;
  FS_TRY(fs_new(arena, &x->wait, waits));
  for (uint32_t c = 0; c < x->n_commands; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[first + c];
    for (uint32_t w = 0; w < k->n_waits; w++) {
      const fs_stream_loop_wait *wait = &s->loop_waits[k->wait0 + w];
      x->wait[x->command[c].wait0 + w] = (fs_rolled_wait){wait->command - first, wait->distance};
    }
  }
  return FSCHED_OK;
}

static fs_status take_stops(fs_arena *arena, const fs_stream *s, const fs_stream_loop *from,
                            fs_rolled_loop *x) {
  x->issued = fs_sync_has_stops(fs_stream_sync(s));
  x->n_stops = from->n_stops;
  FS_TRY(fs_new(arena, &x->stop, x->n_stops));
  for (uint32_t i = 0; i < x->n_stops; i++) {
    const fs_stream_stop *stop = &s->loop_stops[from->stop0 + i];
    x->stop[i] = (fs_rolled_stop){stop->at, stop->queue, stop->keep};
  }
  return FSCHED_OK;
}

static fs_status take_members(fs_arena *arena, const fs_stream *s, const fs_stream_loop *from,
                              fs_shown_loop *x) {
  FS_TRY(fs_new(arena, &x->name, x->n_members));
  FS_TRY(fs_new(arena, &x->time, x->n_members));
  FS_TRY(fs_new(arena, &x->latency, x->n_members));
  FS_TRY(fs_new(arena, &x->inner, x->n_members));
  for (uint32_t m = 0; m < x->n_members; m++) {
    const fs_stream_loop_op *op = &s->loop_ops[from->op0 + m];
    x->name[m] = fs_stream_string(s, op->name);
    x->time[m] = op->time;
    x->latency[m] = op->latency;
    x->inner[m] = op->loop;
  }
  return FSCHED_OK;
}

/* The commands of an op that is a loop whose runs are joined get the parts of a run, if these are
 * known. */
static fs_status take_parts(fs_arena *arena, const fs_stream *s, uint32_t loop,
                            const fs_shown_loop *inner, uint32_t member, fs_rolled_loop *out) {
  FS_SCRATCH(scratch, arena->ctx);
  fs_rolled_part *part;
  bool *slow;
  uint64_t again;
  bool known = false;
  FS_TRY(fs_new(&scratch, &part, inner->loop.n_queues));
  FS_TRY(fs_new(&scratch, &slow, inner->loop.n_queues));
  for (uint32_t q = 0; q < inner->loop.n_queues; q++) {
    slow[q] = fs_stream_part_slow(s, loop, s->loops[loop].queue0 + q);
  }
  if (inner->trip > 0 && inner->trip % inner->loop.copies == 0) {
    FS_TRY(fs_rolled_parts(arena->ctx, &inner->loop, inner->time, inner->latency, inner->trip, slow,
                           part, &again, &known));
  }
  for (uint32_t q = 0; q < inner->loop.n_queues && known; q++) {
    known = part[q].end > part[q].begin;
  }
  for (uint32_t q = 0; q < out->n_queues && known; q++) {
    uint32_t at = fs_shown_queue(inner, out->queue[q]);
    for (uint32_t c = out->command0[q]; c < out->command0[q + 1]; c++) {
      if (out->command[c].member == member) {
        out->command[c].behind = part[at].begin;
        out->command[c].lasts = part[at].end - part[at].begin;
        out->command[c].keeps = part[at].free - part[at].begin;
        out->command[c].slow = slow[at];
        out->command[c].again = again;
      }
    }
  }
  return FSCHED_OK;
}

static fs_status take_joined(fs_arena *arena, const fs_stream *s, fs_shown_loop *list) {
  for (uint32_t l = 0; l < s->n_loops; l++) {
    const fs_stream_loop *of = &s->loops[l];
    if (of->joined != 0) {
      FS_TRY(take_parts(arena, s, l, &list[l], of->op - s->loops[of->within].op0,
                        &list[of->within].loop));
    }
  }
  return FSCHED_OK;
}

static fs_status make_list(fs_arena *arena, const fs_stream *s, const uint64_t *trips,
                           fs_shown_loop **out) {
  fs_shown_loop *list;
  FS_TRY(fs_new_zero(arena, out, s->n_loops));
  list = *out;
  for (uint32_t l = 0; l < s->n_loops; l++) {
    const fs_stream_loop *from = &s->loops[l];
    fs_shown_loop *x = &list[l];
    bool outer = from->within == FS_NONE;
    x->loop = (fs_rolled_loop){.copies = from->copies, .n_queues = from->n_queues};
    x->n_members = from->n_ops;
    x->trip = trips == NULL ? from->trip : trips[l];
    x->op = outer ? from->op : FS_NONE;
    x->title = fs_stream_string(s, outer ? s->ops[from->op].name : s->loop_ops[from->op].name);
    x->span = outer ? s->ops[from->op].time : s->loop_ops[from->op].latency;
    FS_TRY(take_commands(arena, s, from, &x->loop));
    FS_TRY(take_stops(arena, s, from, &x->loop));
    FS_TRY(take_members(arena, s, from, x));
  }
  FS_TRY(take_joined(arena, s, list));
  return fs_shown_find(arena, list, s->n_loops);
}

fs_status fs_shown_of_stream(fs_arena *arena, const fs_stream *s, fs_shown_loop **out) {
  assert(s->n_meta == 1);
  return make_list(arena, s, NULL, out);
}

fs_status fs_shown_times_make(fs_arena *arena, const fs_stream *s, const uint64_t *trips,
                              fs_shown_times *out) {
  fs_shown_loop *list;
  uint32_t *slot0;
  assert(s->n_meta == 1);
  *out = (fs_shown_times){0};
  FS_TRY(make_list(arena, s, trips, &list));
  FS_TRY(fs_new_none(arena, &slot0, s->n_loop_queues));
  for (uint32_t l = 0; l < s->n_loops && s->loops[l].within == FS_NONE; l++) {
    for (uint32_t q = 0; q < s->loops[l].n_queues; q++) {
      slot0[s->loops[l].queue0 + q] = out->n;
      out->n += list[l].shown.n_slots[q];
    }
  }
  out->loop = list;
  out->slot0 = slot0;
  FS_TRY(fs_new_zero(arena, &out->end, out->n));
  FS_TRY(fs_new(arena, &out->begin, out->n));
  for (uint32_t i = 0; i < out->n; i++) {
    out->begin[i] = FS_NEVER;
  }
  return FSCHED_OK;
}
