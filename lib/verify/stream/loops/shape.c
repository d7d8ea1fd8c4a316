/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the records of loops make sense together, so that all else relies on this file alone.
 *
 * All iterations of an arg begin in its buffer, and those of a view end there: the last one does,
 * and the first, and a step goes one way. */
#include "verify/stream/loops/parts.h"

typedef struct loop_shape {
  const fs_vs *v;
  const fs_stream *s;
  const fs_stream_loop *l;
  uint32_t own0, n_own; /* args of the op that it is */
  uint32_t command0, command_end;
} loop_shape;

/* The buffer of an arg of the op that the loop is. */
static uint32_t own_buffer(const loop_shape *x, uint32_t arg) {
  return x->l->within == FS_NONE ? x->s->args[arg].buffer : x->s->loop_args[arg].buffer;
}

static bool is_own(const loop_shape *x, uint32_t arg) {
  return arg >= x->own0 && arg - x->own0 < x->n_own;
}

/* Each check returns what is wrong, or NULL. */

static const char *check_outer(loop_shape *x, uint32_t loop) {
  const fs_stream_loop *l = x->l;
  if (l->op >= x->s->n_ops || (loop > 0 && (l[-1].within != FS_NONE || l[-1].op >= l->op)) ||
      x->s->ops[l->op].kernel != FS_NONE) {
    return "it is not an op without a kernel, or the loops do not ascend";
  }
  x->own0 = x->s->ops[l->op].arg0;
  x->n_own = x->s->ops[l->op].n_args;
  return NULL;
}

/* Of a loop in a loop, whose shape is right. */
static const char *check_inner(loop_shape *x, uint32_t loop) {
  const fs_stream_loop *l = x->l;
  uint32_t depth = 1;
  if (l->within >= loop) {
    return "the loop around it does not come before it";
  }
  const fs_stream_loop *outer = &x->s->loops[l->within];
  if (l->op < outer->op0 || l->op - outer->op0 >= outer->n_ops ||
      (l[-1].within != FS_NONE && l[-1].op >= l->op)) {
    return "it is not an op of the loop around it, or the loops do not ascend";
  }
  const fs_stream_loop_op *o = &x->s->loop_ops[l->op];
  if (o->loop != loop || o->kernel != FS_NONE || o->latency != o->time) {
    return "its op is not this loop, has a kernel, or goes on behind its queues";
  }
  for (uint32_t i = l->within; i != FS_NONE; i = x->s->loops[i].within) {
    depth++;
  }
  x->own0 = o->arg0;
  x->n_own = o->n_args;
  return depth <= FS_LOOP_NEST ? NULL : "too many loops are around it";
}

static const char *check_loop(loop_shape *x, uint32_t loop) {
  const fs_stream_loop *l = x->l;
  const fs_stream *s = x->s;
  const char *what = l->within == FS_NONE ? check_outer(x, loop) : check_inner(x, loop);
  if (what != NULL) {
    return what;
  }
  if (s->meta[0].concurrency != 0) {
    return "the target limits concurrency";
  }
  if (l->trip == 0 || l->trip > FSCHED_MAX_TIME || l->copies == 0 || l->n_queues == 0 ||
      l->n_ops == 0) {
    return "it has no iterations, copies, queues or ops";
  }
  if (l->most != l->trip || l->least > l->most || (l->param == FS_NONE && l->least != l->most)) {
    return "it is not planned for the most iterations, or has several numbers without a parameter";
  }
  if (l->param != FS_NONE && (l->param >= s->n_params || l->least != s->params[l->param].least ||
                              l->most != s->params[l->param].most)) {
    return "its numbers of iterations are not those of its parameter";
  }
  if (!fs_vs_in_range(l->queue0, l->n_queues, s->n_loop_queues) ||
      !fs_vs_in_range(l->op0, l->n_ops, s->n_loop_ops) ||
      !fs_vs_in_range(l->ring0, l->n_rings, s->n_rings) ||
      !fs_vs_in_range(l->stop0, l->n_stops, s->n_loop_stops) ||
      !fs_vs_in_range(l->guard0, l->n_guards, s->n_guards)) {
    return "its queues, ops, rings, syncs or barriers are out of range";
  }
  return NULL;
}

/* Whether the queues of a loop in a loop are those of its op's commands, for each copy. */
static bool has_inner_queues(const loop_shape *x) {
  const fs_stream *s = x->s;
  const fs_stream_loop *outer = &s->loops[x->l->within];
  for (uint32_t copy = 0; copy < outer->copies; copy++) {
    uint32_t met = 0;
    for (uint32_t q = outer->queue0; q < outer->queue0 + outer->n_queues; q++) {
      const fs_stream_loop_queue *of = &s->loop_queues[q];
      for (uint32_t c = of->command0; c < of->command0 + of->n_commands; c++) {
        if (s->loop_commands[c].op == x->l->op && s->loop_commands[c].copy == copy) {
          if (met == x->l->n_queues || s->loop_queues[x->l->queue0 + met].queue != of->queue) {
            return false;
          }
          met++;
        }
      }
    }
    if (met != x->l->n_queues) {
      return false;
    }
  }
  return true;
}

static bool has_outer_queues(const loop_shape *x) {
  const fs_vs *v = x->v;
  uint32_t first = v->op_command0[x->l->op], n = v->op_command0[x->l->op + 1] - first;
  bool same = n == x->l->n_queues;
  for (uint32_t i = 0; i < n && same; i++) {
    same = x->s->loop_queues[x->l->queue0 + i].queue == v->command_queue[v->op_command[first + i]];
  }
  return same;
}

/* The queues are those of the commands that run the loop's own op; their commands follow on each
 * other. */
static const char *check_queues(loop_shape *x) {
  const fs_stream_loop_queue *q = &x->s->loop_queues[x->l->queue0];
  if (!(x->l->within == FS_NONE ? has_outer_queues(x) : has_inner_queues(x))) {
    return "its queues are not those of its op";
  }
  x->command0 = x->command_end = q->command0;
  for (uint32_t i = 0; i < x->l->n_queues; i++) {
    if (q[i].command0 != x->command_end ||
        !fs_vs_in_range(q[i].command0, q[i].n_commands, x->s->n_loop_commands)) {
      return "its queues' commands are out of range";
    }
    x->command_end += q[i].n_commands;
  }
  return NULL;
}

static bool is_member(const loop_shape *x, uint32_t op) {
  return op >= x->l->op0 && op - x->l->op0 < x->l->n_ops;
}

static const char *check_afters(const loop_shape *x, uint32_t op) {
  const fs_stream_loop_op *o = &x->s->loop_ops[op];
  for (uint32_t i = o->after0; i < o->after0 + o->n_afters; i++) {
    const fs_stream_loop_after *a = &x->s->loop_afters[i];
    if (!is_member(x, a->op) || a->distance > FS_LOOP_NUMBER) {
      return "an 'after' names what is not in it";
    }
    if (a->distance == 0 && a->op >= op) {
      return "an 'after' names a later op of the same iteration";
    }
  }
  return NULL;
}

/* Whether an op has no members with args of their own, or as many as commands for a copy, and these
 * have all of its args. */
static bool has_members(const loop_shape *x, const fs_stream_loop_op *o) {
  const fs_stream *s = x->s;
  uint32_t arg = o->arg0, n = 0;
  bool ok = fs_vs_in_range(o->member0, o->n_members, s->n_loop_members) &&
            (o->loop == FS_NONE || o->n_members == 0);
  for (uint32_t m = 0; ok && m < o->n_members; m++) {
    const fs_stream_member *of = &s->loop_members[o->member0 + m];
    ok = of->arg0 == arg && of->n_args <= o->arg0 + o->n_args - arg;
    arg += ok ? of->n_args : 0;
  }
  for (uint32_t c = x->command0; c < x->command_end; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[c];
    n += k->op == (uint32_t)(o - s->loop_ops) && k->copy == 0;
  }
  return ok && (o->n_members == 0 || (arg == o->arg0 + o->n_args && n == o->n_members));
}

static const char *check_op(const loop_shape *x, uint32_t op) {
  const fs_stream_loop_op *o = &x->s->loop_ops[op];
  if (o->name >= x->s->n_strings || o->time > o->latency || o->latency > FSCHED_MAX_TIME ||
      (o->kernel != FS_NONE && o->kernel >= x->s->n_kernels)) {
    return "an op has no name, time or kernel";
  }
  const fs_stream_loop *inner =
      o->loop < x->s->n_loops ? &x->s->loops[o->loop] : NULL; /* it is looked at later */
  if (o->loop != FS_NONE &&
      (inner == NULL || inner->op != op || inner->within != (uint32_t)(x->l - x->s->loops))) {
    return "an op is a loop that is not in it";
  }
  if (!fs_vs_in_range(o->arg0, o->n_args, x->s->n_loop_args) ||
      !fs_vs_in_range(o->after0, o->n_afters, x->s->n_loop_afters)) {
    return "an op's args or 'after' entries are out of range";
  }
  if (!has_members(x, o)) {
    return "the args of an op's members are not its own, one member's behind the other's";
  }
  return check_afters(x, op);
}

/* Whether the last iteration of an arg without a ring begins in the buffer, too, of all loops. */
static bool ends_inside(const loop_shape *x, const fs_stream_loop_arg *a) {
  uint64_t size = fs_vloop_limit(x->s, x->l, a);
  int64_t way, down = 0, up = 0;
  const int64_t most = INT64_C(1) << 60;
  bool view = fs_stream_loop_view_of(x->s, (uint32_t)(a - x->s->loop_args)) != NULL;
  if (a->offset > size || __builtin_mul_overflow(a->step, (int64_t)(x->l->trip - 1), &way) ||
      way > most || way < -most || !fs_vloop_moves(x->s, x->l, a->own, &down, &up)) {
    return false;
  }
  *(way < 0 ? &down : &up) += way;
  bool cut = down < 0 && !view; /* in the first iterations */
  if (a->length > (cut ? size : size - a->offset)) {
    return false;
  }
  uint64_t least = view ? a->length : 1; /* what has to be in the buffer; a range may be cut off */
  return down >= -(int64_t)a->offset && (up <= 0 || (uint64_t)up + least <= size - a->offset);
}

static const char *check_ringed(const loop_shape *x, uint32_t op, const fs_stream_loop_arg *a) {
  if (a->ring < x->l->ring0 || a->ring - x->l->ring0 >= x->l->n_rings) {
    return "an arg has a ring that is not in it";
  }
  const fs_stream_ring *r = &x->s->rings[a->ring];
  if (r->arg != a->own || a->step != 0 || a->back > FS_LOOP_NUMBER || a->offset > r->size ||
      a->length > r->size - a->offset) {
    return "an arg leaves its ring";
  }
  if (fs_tag_begins(a->tag) && (op != r->writer || a->back != 0 || a->length != r->size)) {
    return "an arg begins a version of a ring, but not as its writer, or in part";
  }
  if (!fs_tag_begins(a->tag) && a->back == 0 && op <= r->writer) {
    return "an arg uses a version of a ring before that is begun";
  }
  return a->back == 0 || fs_ring_entered(r)
             ? NULL
             : "an arg uses what is in a ring on entry, where nothing is";
}

static const char *check_arg(const loop_shape *x, uint32_t op, const fs_stream_loop_arg *a) {
  if (!fs_tag_known(a->tag) || (a->buffer != FS_NONE) != fs_tag_names_buffer(a->tag)) {
    return "an arg has a wrong tag";
  }
  if (a->buffer == FS_NONE) {
    return a->ring == FS_NONE ? NULL : "a value has a ring";
  }
  if (a->buffer >= x->s->n_buffers) {
    return "an arg names no buffer";
  }
  if (!is_own(x, a->own) || own_buffer(x, a->own) != a->buffer) {
    return "an arg moves with none of its op and buffer";
  }
  if (a->ring != FS_NONE) {
    return check_ringed(x, op, a);
  }
  return a->back == 0 && ends_inside(x, a) ? NULL : "an arg leaves its buffer";
}

static const char *check_ops(const loop_shape *x) {
  const char *what = NULL;
  for (uint32_t op = x->l->op0; op < x->l->op0 + x->l->n_ops && what == NULL; op++) {
    const fs_stream_loop_op *o = &x->s->loop_ops[op];
    what = check_op(x, op);
    for (uint32_t a = 0; what == NULL && a < o->n_args; a++) {
      what = check_arg(x, op, &x->s->loop_args[o->arg0 + a]);
    }
  }
  return what;
}

/* The number of the writer's args that begin the versions of the ring. */
static uint32_t n_begins(const loop_shape *x, uint32_t ring) {
  const fs_stream_loop_op *o = &x->s->loop_ops[x->s->rings[ring].writer];
  uint32_t n = 0;
  for (uint32_t a = 0; fs_vs_in_range(o->arg0, o->n_args, x->s->n_loop_args) && a < o->n_args;
       a++) {
    const fs_stream_loop_arg *arg = &x->s->loop_args[o->arg0 + a];
    n += arg->ring == ring && fs_tag_begins(arg->tag);
  }
  return n;
}

/* Whether slots of rings lie in an arg of the own op that loops around move, and may cut off. */
static bool is_moved(const loop_shape *x, uint32_t arg) {
  int64_t down = 0, up = 0;
  return !fs_vloop_moves(x->s, x->l, arg, &down, &up) || down != 0 || up != 0;
}

/* Values are moved behind runs that have an end for all queues, and otherwise only said to be where
 * trips tell it. */
static bool entry_is_known(const fs_stream_loop *l, const fs_stream_ring *r) {
  return r->entry <= FS_RING_ENTRY ||
         (r->entry == FS_RING_RETURNS && l->joined == 0 && l->least == l->trip) ||
         (r->entry == FS_RING_LEAVES && l->joined == 0 && 0 < l->least && l->least < l->most);
}

static const char *check_rings(const loop_shape *x) {
  for (uint32_t k = x->l->ring0; k < x->l->ring0 + x->l->n_rings; k++) {
    const fs_stream_ring *r = &x->s->rings[k];
    uint64_t all;
    if (!is_own(x, r->arg) || own_buffer(x, r->arg) == FS_NONE || !is_member(x, r->writer)) {
      return "a ring's arg or writer is not its own";
    }
    if (is_moved(x, r->arg)) {
      return "a ring's arg moves with the loops around";
    }
    uint64_t length =
        x->l->within == FS_NONE ? x->s->args[r->arg].length : x->s->loop_args[r->arg].length;
    if (r->depth == 0 || r->depth > FS_LOOP_NUMBER || !entry_is_known(x->l, r) ||
        r->size > r->slot || __builtin_mul_overflow((uint64_t)r->depth, r->slot, &all) ||
        (r->depth - 1) * r->slot > length || r->size > length - (r->depth - 1) * r->slot) {
      return "a ring's slots leave its arg";
    }
    if (n_begins(x, k) != 1) {
      return "a ring's writer does not begin one version in each iteration";
    }
  }
  return NULL;
}

/* The ring that lies in a buffer, FS_NONE if none does. */
static uint32_t ring_of(const loop_shape *x, uint32_t buffer) {
  uint32_t k = x->l->ring0, end = k + x->l->n_rings;
  while (k < end && own_buffer(x, x->s->rings[k].arg) != buffer) {
    k++;
  }
  return k < end ? k : FS_NONE;
}

/* A buffer has one ring or none, which all args name; and the loop's own args of it are of one
 * version. */
static const char *check_buffers(const loop_shape *x) {
  for (uint32_t k = x->l->ring0; k < x->l->ring0 + x->l->n_rings; k++) {
    if (ring_of(x, own_buffer(x, x->s->rings[k].arg)) != k) {
      return "a buffer has two rings";
    }
  }
  for (uint32_t op = x->l->op0; op < x->l->op0 + x->l->n_ops; op++) {
    const fs_stream_loop_op *o = &x->s->loop_ops[op];
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
      const fs_stream_loop_arg *arg = &x->s->loop_args[a];
      if (arg->buffer != FS_NONE && ring_of(x, arg->buffer) != arg->ring) {
        return "an arg of a buffer with a ring is not of that ring";
      }
    }
  }
  for (uint32_t a = x->own0; x->l->within == FS_NONE && a < x->own0 + x->n_own; a++) {
    for (uint32_t b = x->own0; b < a; b++) {
      const fs_stream_arg *y = &x->s->args[a], *z = &x->s->args[b];
      if (y->buffer != FS_NONE && y->buffer == z->buffer && y->version != z->version) {
        return "its op has two versions of a buffer";
      }
    }
  }
  return NULL;
}

/* Whether a wait names the copy that its distance leads to. */
static bool is_of_copy(const loop_shape *x, const fs_stream_loop_command *m,
                       const fs_stream_loop_wait *t) {
  int64_t apart = (int64_t)m->copy - t->distance - x->s->loop_commands[t->command].copy;
  return apart % x->l->copies == 0;
}

/* Each op has a command for each copy; verify/loop looks at where they are. */
static bool has_all_commands(const loop_shape *x) {
  uint64_t n = x->command_end - x->command0;
  return n >= (uint64_t)x->l->n_ops * x->l->copies;
}

static const char *check_commands(const loop_shape *x) {
  if (!has_all_commands(x)) {
    return "an op has not one command for each copy";
  }
  for (uint32_t c = x->command0; c < x->command_end; c++) {
    const fs_stream_loop_command *m = &x->s->loop_commands[c];
    if (!is_member(x, m->op) || m->copy >= x->l->copies || m->shift > FS_LOOP_NUMBER ||
        m->signal > 1 || !fs_vs_in_range(m->wait0, m->n_waits, x->s->n_loop_waits) ||
        !fs_vs_in_range(m->place0, m->n_places, x->s->n_loop_places)) {
      return "a command's op, copy, shift, waits or places are out of range";
    }
    for (uint32_t w = m->wait0; w < m->wait0 + m->n_waits; w++) {
      const fs_stream_loop_wait *t = &x->s->loop_waits[w];
      if (t->command < x->command0 || t->command >= x->command_end ||
          t->distance > FS_LOOP_NUMBER || !is_of_copy(x, m, t) ||
          (w > m->wait0 && (t[-1].command > t->command ||
                            (t[-1].command == t->command && t[-1].distance >= t->distance)))) {
        return "a command's waits are out of order or for what is not in it";
      }
    }
  }
  return NULL;
}

/* Syncs count queues of the loop that can be counted; a queue's commands ascend in the order of
 * issue.  Where commands of two queues had one place, any order of these would do. */
static const char *check_stops(const loop_shape *x) {
  const fs_stream *s = x->s;
  uint32_t n = x->command_end - x->command0;
  if (!fs_sync_has_stops(s->meta[0].sync)) {
    return x->l->n_stops == 0 ? NULL : "it has syncs";
  }
  for (uint32_t c = x->command0; c < x->command_end; c++) {
    if (s->loop_commands[c].issue >= n) {
      return "a command has no place in a step";
    }
  }
  for (uint32_t q = x->l->queue0; q < x->l->queue0 + x->l->n_queues; q++) {
    const fs_stream_loop_queue *of = &s->loop_queues[q];
    for (uint32_t c = of->command0 + 1; c < of->command0 + of->n_commands; c++) {
      if (s->loop_commands[c - 1].issue >= s->loop_commands[c].issue) {
        return "a queue's commands are not in the order of issue";
      }
    }
  }
  for (uint32_t i = x->l->stop0; i < x->l->stop0 + x->l->n_stops; i++) {
    const fs_stream_stop *stop = &s->loop_stops[i];
    if (stop->at >= n || stop->keep > FS_LOOP_NUMBER ||
        (stop->queue == FS_NONE
             ? stop->keep != 0
             : stop->queue >= s->n_queues || s->queues[stop->queue].counting == 0)) {
      return "a sync is out of place, or counts a queue that cannot be counted";
    }
  }
  return NULL;
}

static const char *check_checks(const loop_shape *x, const fs_stream_loop_command *m) {
  const fs_stream_loop *l = x->l;
  if (!fs_vs_in_range(m->check0, m->n_checks, x->s->n_guard_checks)) {
    return "a command's checks are out of range";
  }
  for (uint32_t i = m->check0; i < m->check0 + m->n_checks; i++) {
    const fs_stream_guard_check *check = &x->s->guard_checks[i];
    if (check->guard < l->guard0 || check->guard - l->guard0 >= l->n_guards ||
        check->distance > FS_LOOP_NUMBER) {
      return "a command waits for barriers that are not in it";
    }
  }
  return NULL;
}

/* Guards name ops of the loop, each once. */
static const char *check_guards(const loop_shape *x) {
  const fs_stream *s = x->s;
  const fs_stream_loop *l = x->l;
  const char *what = NULL;
  if (!fs_sync_has_barriers(s->meta[0].sync) && l->n_guards != 0) {
    return "it has barriers";
  }
  for (uint32_t i = l->guard0; i < l->guard0 + l->n_guards; i++) {
    const fs_stream_guard *g = &s->guards[i];
    if (g->depth == 0 || g->depth > FS_LOOP_NUMBER || g->physical > FS_LOOP_NUMBER ||
        g->n_producers == 0 || !fs_vs_in_range(g->producer0, g->n_producers, s->n_producers)) {
      return "barriers of it have no number, or no producers";
    }
    for (uint32_t k = g->producer0; k < g->producer0 + g->n_producers; k++) {
      if (!is_member(x, s->producers[k]) ||
          (k > g->producer0 && s->producers[k - 1] >= s->producers[k])) {
        return "barriers have producers that are not in it, or out of order";
      }
    }
  }
  for (uint32_t c = x->command0; c < x->command_end && what == NULL; c++) {
    what = check_checks(x, &s->loop_commands[c]);
  }
  return what;
}

fs_status fs_vs_loops_shape(fs_vs *v) {
  assert(v->op_command0 != NULL);
  for (uint32_t i = 0; i < v->s->n_loops; i++) {
    loop_shape x = {.v = v, .s = v->s, .l = &v->s->loops[i]};
    const char *what = check_loop(&x, i);
    what = what != NULL ? what : check_queues(&x);
    what = what != NULL ? what : check_rings(&x);
    what = what != NULL ? what : check_ops(&x);
    what = what != NULL ? what : check_buffers(&x);
    what = what != NULL ? what : check_commands(&x);
    what = what != NULL ? what : check_stops(&x);
    what = what != NULL ? what : check_guards(&x);
    if (what != NULL) {
      const char *name = x.l->within == FS_NONE && x.l->op < v->s->n_ops ? fs_vs_op_name(v, x.l->op)
                         : x.l->within != FS_NONE && x.l->op < v->s->n_loop_ops
                             ? fs_vs_string(v, v->s->loop_ops[x.l->op].name)
                             : "";
      FS_WRONG(v, FS_DIAG_VERIFY_SHAPE, "loop %.80s: %s", name, what);
      return FSCHED_WRONG; /* those inside rely on it */
    }
  }
  return FSCHED_OK;
}
