/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in a loop whose runs are joined (model/stream/stream.h).
 *
 * Inside, such a loop is looked at as one that runs as often as all of its runs together: the
 * iterations f of all runs.  That it ends and begins between two of them only adds orders on its
 * queues, as a queue begins all of a run before the next one, so what is shown of iterations that
 * are not later than others holds (rules.joined, verify/loop/loop.h).  Accesses of two runs to
 * bytes without a ring are in order on one queue: all of its quick ops are over before the next run
 * begins there, and where a slow one accesses bytes that the loop writes, all of the part is, as it
 * is not slow then (model/stream/slow_parts.h).  On two, they have to be at all distances.
 *
 * Outside, each of its queues is a member of its own, a part, which is over when its part of the
 * run is; what has to come behind, or before, an access of the loop's op comes behind, or before,
 * the parts that touch the arg; of a slow part queue order does not tell that it is over.  Of its
 * own runs, and of the slots that they have, the inside tells.  A guard is of one part.  No part
 * ends before all have begun, so for circles of waits all are one.
 *
 * Slots are counted on from run to run, so no other op may look for a value in them.  But if runs
 * are whole turns of a ring with a value on entry, that value and the last one have one place in
 * all runs; and if one queue alone uses the ring, by quick ops, its accesses are in the order of
 * the parts, whoever begins the value: of what other ops do with it, the outside tells. */
#include "verify/stream/loops/parts.h"

static const fs_stream_loop *joined_at(const fs_vloop *x, uint32_t member) {
  uint32_t inner = fs_vloop_op(x, member)->loop;
  const fs_stream_loop *l = inner == FS_NONE ? NULL : &x->v->s->loops[inner];
  return l != NULL && l->joined != 0 ? l : NULL;
}

fs_status fs_vloop_find_parts(fs_vloop *x, fs_arena *arena) {
  assert(x->l->n_ops > 0);
  x->n_members = x->l->n_ops;
  FS_TRY(fs_new_zero(arena, &x->more_parts, x->l->n_ops));
  for (uint32_t m = 0; m < x->l->n_ops; m++) {
    const fs_stream_loop *l = joined_at(x, m);
    x->more_parts[m] = x->n_members;
    x->n_members += l == NULL ? 0 : l->n_queues - 1;
  }
  FS_TRY(fs_new(arena, &x->op_of, x->n_members));
  for (uint32_t m = 0; m < x->l->n_ops; m++) {
    const fs_stream_loop *l = joined_at(x, m);
    x->op_of[m] = m;
    for (uint32_t k = 1; l != NULL && k < l->n_queues; k++) {
      x->op_of[x->more_parts[m] + k - 1] = m;
    }
  }
  return FSCHED_OK;
}

uint32_t fs_vloop_n_parts(const fs_vloop *x, uint32_t member) {
  const fs_stream_loop *l = joined_at(x, member);
  return l == NULL ? 1 : l->n_queues;
}

uint32_t fs_vloop_part(const fs_vloop *x, uint32_t member, uint32_t k) {
  assert(k < fs_vloop_n_parts(x, member));
  return k == 0 ? member : x->more_parts[member] + k - 1;
}

uint32_t fs_vloop_part_on(const fs_vloop *x, uint32_t member, uint32_t queue) {
  const fs_stream_loop *l = joined_at(x, member);
  uint32_t k = 0;
  while (l != NULL && k + 1 < l->n_queues && x->v->s->loop_queues[l->queue0 + k].queue != queue) {
    k++;
  }
  return fs_vloop_part(x, member, k);
}

bool fs_vloop_part_touches(const fs_vloop *x, uint32_t member, uint32_t k, uint32_t arg) {
  const fs_stream_loop *l = joined_at(x, member);
  const fs_stream *s = x->v->s;
  bool touches = l == NULL || arg == FS_NONE;
  const fs_stream_loop_queue *q = l == NULL ? NULL : &s->loop_queues[l->queue0 + k];
  for (uint32_t c = 0; !touches && c < q->n_commands; c++) {
    const fs_stream_loop_op *o = &s->loop_ops[s->loop_commands[q->command0 + c].op];
    for (uint32_t a = o->arg0; !touches && a < o->arg0 + o->n_args; a++) {
      touches = s->loop_args[a].buffer == s->loop_args[arg].buffer; /* whichever its `own` is */
    }
  }
  return touches;
}

uint64_t fs_vloop_all_trips(const fs_vloop *x) {
  uint64_t all = x->l->trip;
  if (x->l->joined != 0) {
    bool over = __builtin_mul_overflow(all, x->v->s->loops[x->l->within].trip, &all);
    all = over || all > INT64_MAX ? INT64_MAX : all;
  }
  return all;
}

bool fs_vloop_on_one_queue(const fs_vloop *x, uint32_t a, uint32_t b) {
  uint32_t on = FS_NONE;
  bool one = true;
  for (uint32_t q = x->l->queue0; q < x->l->queue0 + x->l->n_queues; q++) {
    const fs_stream_loop_queue *of = &x->v->s->loop_queues[q];
    for (uint32_t c = of->command0; c < of->command0 + of->n_commands; c++) {
      uint32_t m = fs_vloop_member(x, c);
      bool either = m == a || m == b;
      one = one && (!either || on == FS_NONE || on == q);
      on = either ? q : on;
    }
  }
  return one;
}

/* Whether an op of a body is the loop, or one around it. */
static bool is_around(const fs_vloop *x, uint32_t op) {
  const fs_stream_loop *l = x->l;
  while (l->within != FS_NONE && l->op != op) {
    l = &x->v->s->loops[l->within];
  }
  return l->within != FS_NONE && l->op == op;
}

static uint32_t outermost_op(const fs_vloop *x) {
  const fs_stream_loop *l = x->l;
  while (l->within != FS_NONE) {
    l = &x->v->s->loops[l->within];
  }
  return l->op;
}

/* Whether no other op of the loop around uses a buffer.  What is outside of that finds the buffer
 * as the op of the loop around has it. */
static bool is_alone_around(const fs_vloop *x, uint32_t buffer) {
  const fs_stream *s = x->v->s;
  const fs_stream_loop *around = &s->loops[x->l->within];
  bool alone = !fs_io_given(s->buffers[buffer].io) && !fs_io_kept(s->buffers[buffer].io);
  for (uint32_t op = around->op0; op < around->op0 + around->n_ops && alone; op++) {
    const fs_stream_loop_op *o = &s->loop_ops[op];
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args && op != x->l->op; a++) {
      alone = alone && s->loop_args[a].buffer != buffer;
    }
  }
  return alone;
}

/* Whether no op but those of the loop uses a buffer. */
static bool is_alone(const fs_vloop *x, uint32_t buffer) {
  const fs_stream *s = x->v->s;
  uint32_t outermost = outermost_op(x);
  bool alone = !fs_io_given(s->buffers[buffer].io) && !fs_io_kept(s->buffers[buffer].io);
  for (uint32_t op = 0; op < s->n_ops && alone; op++) {
    for (uint32_t a = s->ops[op].arg0; a < s->ops[op].arg0 + s->ops[op].n_args; a++) {
      alone = alone && (op == outermost || s->args[a].buffer != buffer);
    }
  }
  for (uint32_t op = 0; op < s->n_loop_ops && alone; op++) {
    bool own = op - x->l->op0 < x->l->n_ops || is_around(x, op);
    for (uint32_t a = s->loop_ops[op].arg0; a < s->loop_ops[op].arg0 + s->loop_ops[op].n_args;
         a++) {
      alone = alone && (own || s->loop_args[a].buffer != buffer);
    }
  }
  return alone;
}

/* Whether an arg of the loop's own op has slots of it. */
static bool is_ring(const fs_vloop *x, uint32_t arg) {
  const fs_stream_ring *r = &x->v->s->rings[x->l->ring0], *end = r + x->l->n_rings;
  while (r < end && r->arg != arg) {
    r++;
  }
  return r < end;
}

/* Whether iterations read what others, or what was there before, have in a ring. */
static bool is_carried(const fs_vloop *x, uint32_t ring) {
  const fs_stream *s = x->v->s;
  bool carried = fs_ring_entered(&s->rings[ring]);
  for (uint32_t k = 0; k < x->n_accesses && !carried; k++) {
    const fs_stream_loop_arg *a = &s->loop_args[x->access[k].arg];
    carried = a->ring == ring && a->back > 0;
  }
  return carried;
}

/* Whether a run is whole turns of a ring's slots, so that the last value of one is where the first
 * run finds the one on entry, and no value before that is read. */
static bool goes_on(const fs_vloop *x, uint32_t ring) {
  const fs_stream *s = x->v->s;
  bool last = x->l->least == x->l->trip && x->l->trip % s->rings[ring].depth == 0;
  for (uint32_t k = 0; k < x->n_accesses && last; k++) {
    const fs_stream_loop_arg *a = &s->loop_args[x->access[k].arg];
    last = a->ring != ring || a->back <= 1;
  }
  return last;
}

/* Whether all that uses a ring is on one queue, and none of it slow. */
static bool is_of_one_queue(const fs_vloop *x, uint32_t ring) {
  const fs_stream *s = x->v->s;
  bool one = true;
  for (uint32_t i = 0; i < x->n_accesses && one; i++) {
    const fs_vbody_access *a = &x->access[i];
    const fs_stream_loop_op *o = fs_vloop_op(x, a->member);
    for (uint32_t k = 0; k < x->n_accesses && s->loop_args[a->arg].ring == ring && one; k++) {
      const fs_vbody_access *b = &x->access[k];
      one = s->loop_args[b->arg].ring != ring || fs_vloop_on_one_queue(x, a->member, b->member);
    }
    one = one && (s->loop_args[a->arg].ring != ring || o->latency == o->time);
  }
  return one;
}

void fs_vloop_joined(fs_vloop *x) {
  const fs_stream *s = x->v->s;
  assert(x->l->joined == 0 || x->l->within != FS_NONE);
  for (uint32_t a = x->own0; x->l->joined != 0 && a < x->own0 + x->n_own; a++) {
    if (fs_tag_begins(s->loop_args[a].tag) && !is_ring(x, a)) {
      FS_LOOP_WRONG(x, FS_DIAG_VERIFY_EDGE,
                    "loop %.60s: its runs are joined, and it begins what is no ring of its own",
                    x->name);
    }
  }
  for (uint32_t k = 0; x->l->joined != 0 && k < x->l->n_rings; k++) {
    uint32_t buffer = fs_vloop_own(x, s->rings[x->l->ring0 + k].arg).buffer;
    bool carried = is_carried(x, x->l->ring0 + k);
    if (carried && !goes_on(x, x->l->ring0 + k)) {
      FS_LOOP_WRONG(
          x, FS_DIAG_VERIFY_VALUE,
          "loop %.60s: its runs are joined, and the next one does not find the last value "
          "of %.40s",
          x->name, fs_vs_string(x->v, s->buffers[buffer].name));
    }
    bool anew = fs_ring_entered(&s->rings[x->l->ring0 + k]) && is_of_one_queue(x, x->l->ring0 + k);
    if (carried ? !anew && !is_alone_around(x, buffer) : !is_alone(x, buffer)) {
      FS_LOOP_WRONG(x, FS_DIAG_VERIFY_EDGE,
                    "loop %.60s: its runs are joined, and another op uses the slots of %.40s",
                    x->name, fs_vs_string(x->v, s->buffers[buffer].name));
    }
  }
}
