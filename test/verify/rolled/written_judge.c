/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/rolled/written_judge.h"

#include <check.h>
#include <string.h>

typedef struct stream_walk {
  const fs_stream *s;
  const uint64_t *trips;
  uint32_t only; /* this buffer, or FS_NONE */
  bool written[FS_JUDGE_BUFFERS][FS_JUDGE_SIZE];
  uint64_t trip[FSCHED_MAX_LOOPS];
  bool missing;
} stream_walk;

static uint64_t trips_of(const stream_walk *w, uint32_t loop) {
  return w->trips == NULL ? w->s->loops[loop].trip : w->trips[loop];
}

static void walk_bytes(stream_walk *w, uint32_t buffer, uint64_t offset, uint64_t length,
                       bool writes) {
  uint64_t end = offset + length, size = w->s->buffers[buffer].size;
  if (buffer >= FS_JUDGE_BUFFERS || size > FS_JUDGE_SIZE || offset > size) {
    ck_abort(); /* an assertion for each access would take long */
  }
  for (uint64_t b = offset; b < end && b < size; b++) {
    w->missing = w->missing || (!writes && !w->written[buffer][b]);
    w->written[buffer][b] = w->written[buffer][b] || writes;
  }
}

/* The slot of a ring that an arg uses in the iterations at hand, of which the last is trip[depth].
 */
static uint64_t slot_of(const stream_walk *w, uint32_t loop, const fs_stream_loop_arg *a,
                        uint32_t depth) {
  int64_t version = (int64_t)w->trip[depth] - a->back;
  if (w->s->loops[loop].joined != 0) {
    version += (int64_t)(w->trip[depth - 1] * trips_of(w, loop));
  }
  uint32_t n = w->s->rings[a->ring].depth;
  return version < 0 ? n - 1 : (uint64_t)version % n;
}

/* An arg in the iterations at hand.  In a ring it is cut off with its version. */
static void walk_arg(stream_walk *w, uint32_t loop, uint32_t arg, uint32_t depth, bool writes) {
  const fs_stream *s = w->s;
  const fs_stream_loop_arg *a = &s->loop_args[arg];
  uint64_t offset = a->offset, length = a->length;
  uint32_t buffer = a->buffer;
  for (bool in_ring = false;; a = &s->loop_args[a->own], loop = s->loops[loop].within, depth--) {
    if (a->ring != FS_NONE) {
      const fs_stream_ring *r = &s->rings[a->ring];
      if (!in_ring) {
        uint64_t rest = offset < r->size ? r->size - offset : 0;
        length = length < rest ? length : rest;
        in_ring = true;
      }
      offset += r->slot * slot_of(w, loop, a, depth) +
                (depth == 0 ? s->args[a->own].offset : s->loop_args[a->own].offset);
    } else {
      offset += (uint64_t)(a->step * (int64_t)w->trip[depth]);
    }
    if (depth == 0) {
      break;
    }
  }
  walk_bytes(w, buffer, offset, length, writes);
}

static void walk_op(stream_walk *w, uint32_t loop, const fs_stream_loop_op *o, uint32_t depth) {
  for (uint32_t i = 0; i < 2 * o->n_args; i++) { /* it reads, then it writes */
    uint32_t arg = o->arg0 + i % o->n_args;
    const fs_stream_loop_arg *a = &w->s->loop_args[arg];
    bool of = w->only == FS_NONE || a->buffer == w->only;
    if (of && (i < o->n_args ? fs_tag_reads(a->tag) : fs_tag_writes(a->tag))) {
      walk_arg(w, loop, arg, depth, i >= o->n_args);
    }
  }
}

static void walk_body(stream_walk *w, uint32_t loop, uint32_t depth) {
  const fs_stream_loop *l = &w->s->loops[loop];
  for (w->trip[depth] = 0; w->trip[depth] < trips_of(w, loop) && !w->missing; w->trip[depth]++) {
    for (uint32_t m = l->op0; m < l->op0 + l->n_ops; m++) {
      const fs_stream_loop_op *o = &w->s->loop_ops[m];
      if (o->loop != FS_NONE) {
        walk_body(w, o->loop, depth + 1);
      } else {
        walk_op(w, loop, o, depth);
      }
    }
  }
}

static void begin_walk(stream_walk *w, const fs_stream *s, uint32_t only, const uint64_t *trips) {
  w->s = s;
  w->trips = trips;
  w->only = only;
  w->missing = false;
  for (uint32_t i = 0; i < s->n_buffers && i < FS_JUDGE_BUFFERS; i++) {
    memset(w->written[i], 0,
           s->buffers[i].size < FS_JUDGE_SIZE ? s->buffers[i].size : FS_JUDGE_SIZE);
  }
}

bool fs_reads_nothing(const fs_stream *s, const uint64_t *trips) {
  static stream_walk w;
  begin_walk(&w, s, FS_NONE, trips);
  for (uint32_t i = 0; i < s->n_buffers; i++) {
    if (s->buffers[i].io == FSCHED_IO_INPUT) {
      walk_bytes(&w, i, 0, s->buffers[i].size, true);
    }
  }
  for (uint32_t op = 0; op < s->n_ops; op++) {
    const fs_stream_op *o = &s->ops[op];
    uint32_t loop = 0;
    while (loop < s->n_loops && (s->loops[loop].within != FS_NONE || s->loops[loop].op != op)) {
      loop++;
    }
    if (loop < s->n_loops) {
      walk_body(&w, loop, 0);
    }
    for (uint32_t i = loop < s->n_loops ? o->n_args : 0; i < 2 * o->n_args; i++) {
      const fs_stream_arg *a = &s->args[o->arg0 + i % o->n_args];
      if (i < o->n_args ? fs_tag_reads(a->tag) : fs_tag_writes(a->tag)) {
        walk_bytes(&w, a->buffer, a->offset, a->length, i >= o->n_args);
      }
    }
  }
  return w.missing;
}

bool fs_nest_reads_nothing(const fs_stream *s, uint32_t loop, uint32_t buffer,
                           const uint64_t *trips) {
  static stream_walk w;
  const fs_stream_op *o = &s->ops[s->loops[loop].op];
  begin_walk(&w, s, buffer, trips);
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_arg *a = &s->args[i];
    if (a->buffer == buffer && fs_tag_reads(a->tag)) {
      walk_bytes(&w, buffer, a->offset, a->length, true);
    }
  }
  walk_body(&w, loop, 0);
  return w.missing;
}
