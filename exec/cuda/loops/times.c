/* SPDX-License-Identifier: Apache-2.0 */
/* Each slot of a time has a pair of events.  The members of a gang have one slot each and run once,
 * so theirs have the pair of the first slot in common; those with args of their own, and those of a
 * loop whose runs are joined, do what they do on their own.  A graph records its events whenever it
 * is launched: what it knows of pairs is kept until it is made anew. */
#include "exec/cuda/loops/times.h"

#include "exec/cuda/loops/calls.h"

static bool make_pairs(fs_instance *x, uint32_t n) {
  fs_cuda_times *t = &x->loops.times;
  fs_cu_event *event;
  uint32_t room = (uint32_t)fs_max(n, fs_min(2 * (uint64_t)t->n, FS_NONE / 2));
  if (fs_new_zero(&x->arena, &event, 2 * (size_t)room) != FSCHED_OK ||
      fs_new_none(&x->arena, &t->pair, room) != FSCHED_OK ||
      fs_new_zero(&x->arena, &t->noted, 2 * (size_t)room) != FSCHED_OK) {
    return fs_cuda_ok(x, "memory for events", FS_CU_OUT_OF_MEMORY);
  }
  if (t->n_events > 0) {
    memcpy(event, t->event, t->n_events * sizeof *event);
  }
  t->event = event;
  t->n = room;
  return true;
}

void fs_cuda_times_clear(fs_instance *x) {
  fs_cuda_times *t = &x->loops.times;
  if (t->n > 0) {
    memset(t->pair, 0xFF, t->n * sizeof *t->pair);
    memset(t->noted, 0xFF, 2 * (size_t)t->n * sizeof *t->noted);
  }
}

bool fs_cuda_times_make(fs_instance *x) {
  const fs_stream *s = x->s;
  fs_cuda_times *t = &x->loops.times;
  assert(x->work->record.instances != NULL);
  uint32_t n = x->work->record.instances->n;
  if (t->walk == NULL && (fs_new_zero(&x->arena, &t->walk, s->n_loop_queues) != FSCHED_OK ||
                          fs_new_none(&x->arena, &t->slot, s->n_loop_commands) != FSCHED_OK)) {
    return fs_cuda_ok(x, "memory for events", FS_CU_OUT_OF_MEMORY);
  }
  if (n > t->n && !make_pairs(x, n)) {
    return false;
  }
  for (; t->n_events < 2 * n; t->n_events++) {
    if (!FS_CUDA_DO(x, cuEventCreate, (&t->event[t->n_events], 0))) {
      return false;
    }
  }
  if (!x->graph) {
    fs_cuda_times_clear(x);
  }
  return true;
}

/* The slot of an instance on a queue; FS_NONE: it is not shown there. */
static uint32_t slot_on(const fs_instance *x, const fs_loop_instance *at, uint32_t queue) {
  const fs_stream *s = x->s;
  uint32_t copy = s->loop_commands[at->loop_command].copy;
  for (uint32_t p = at->loop->queue0; p < at->loop->queue0 + at->loop->n_queues; p++) {
    const fs_stream_loop_queue *q = &s->loop_queues[p];
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands && q->queue == queue; c++) {
      if (s->loop_commands[c].op == at->op && s->loop_commands[c].copy == copy) {
        return x->loops.times.slot[c];
      }
    }
  }
  return FS_NONE;
}

void fs_cuda_times_enter(fs_instance *x, const fs_stream_loop *loop,
                         const fs_loop_instance *around) {
  const fs_stream *s = x->s;
  assert(loop->queue0 + loop->n_queues <= s->n_loop_queues);
  if (!x->built.instances) {
    return;
  }
  const fs_shown_times *t = x->work->record.instances;
  for (uint32_t p = loop->queue0; p < loop->queue0 + loop->n_queues; p++) {
    uint32_t queue = s->loop_queues[p].queue;
    uint32_t of = around == NULL ? FS_NONE : slot_on(x, around, queue);
    uint32_t slot = around == NULL ? t->slot0[p] : of == FS_NONE ? FS_NONE : of + 1;
    x->loops.times.walk[p] = fs_shown_begin(t, (uint32_t)(loop - s->loops), queue, slot);
  }
}

/* The slot of an instance with a command, on whose queue it is the next one. */
static uint32_t take_slot(fs_instance *x, const fs_loop_instance *at, uint32_t part, uint32_t c) {
  fs_cuda_times *t = &x->loops.times;
  uint32_t first = x->s->loop_queues[at->loop->queue0].command0;
  t->slot[c] = fs_shown_take(&t->walk[part], c - first, at->iteration);
  return t->slot[c];
}

uint32_t fs_cuda_times_take(fs_instance *x, const fs_loop_instance *at) {
  const fs_stream *s = x->s;
  uint32_t pair = FS_NONE, copy = s->loop_commands[at->loop_command].copy;
  uint32_t inner = s->loop_ops[at->op].loop;
  bool parts = inner != FS_NONE ? s->loops[inner].joined != 0 : fs_cuda_calls_apart(s, at);
  assert(at->loop->queue0 + at->loop->n_queues <= s->n_loop_queues);
  if (!x->built.instances) {
    return FS_NONE;
  }
  for (uint32_t p = at->loop->queue0; p < at->loop->queue0 + at->loop->n_queues; p++) {
    const fs_stream_loop_queue *q = &s->loop_queues[p];
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      bool member = s->loop_commands[c].op == at->op && s->loop_commands[c].copy == copy;
      uint32_t slot = member ? take_slot(x, at, p, c) : FS_NONE;
      if (slot != FS_NONE) {
        pair = pair == FS_NONE ? slot : pair;
        x->loops.times.pair[slot] = parts ? slot : pair;
      }
    }
  }
  return pair;
}

bool fs_cuda_times_record(fs_instance *x, uint32_t pair, bool end, fs_cu_stream stream) {
  assert(pair == FS_NONE || x->built.instances);
  return pair == FS_NONE ||
         FS_CUDA_DO(x, cuEventRecord, (fs_cuda_times_event(x, pair, end), stream));
}

static bool read_time(fs_instance *x, uint32_t pair, bool end, uint64_t *ns) {
  uint64_t noted = *fs_cuda_times_noted(x, pair, end);
  if (noted != UINT64_MAX) {
    *ns = noted;
    return true;
  }
  return fs_cuda_time_of(x, fs_cuda_times_event(x, pair, end), ns);
}

bool fs_cuda_times_read(fs_instance *x) {
  const fs_cuda_times *t = &x->loops.times;
  const fs_shown_times *to = x->work->record.instances;
  assert(x->built.instances && to->n <= t->n);
  for (uint32_t i = 0; i < to->n; i++) {
    if (t->pair[i] != FS_NONE && (!read_time(x, t->pair[i], false, &to->begin[i]) ||
                                  !read_time(x, t->pair[i], true, &to->end[i]))) {
      return false;
    }
  }
  return true;
}
