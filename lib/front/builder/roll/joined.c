/* SPDX-License-Identifier: Apache-2.0 */
/* Which loops in a loop may have their runs joined (model/stream/stream.h), so that each of their
 * queues enters and leaves on its own and rings go on from run to run.
 *
 * What their ops begin must be of no use to others, but that values may go on from run to run, and
 * be begun anew or read between two of them if one queue alone uses them in the loop; what they
 * write besides that must be touched by one queue alone, on which all runs come in order; and
 * the parts of a run, as it is planned, must have a moment at which all of them run: then whatever
 * comes behind one part and before another one of the same run would have to be over before it
 * begins, so no plan can have such a circle. */
#include "front/builder/roll/roll.h"

enum { MOST_PARTS = 64 };

typedef struct joined_finder {
  fs_roller *r;
  const fsched_graph *g;
  const fs_loop_body *body;
} joined_finder;

static uint32_t op_of(const joined_finder *f, uint32_t member) {
  return f->g->op_body_op[f->body->op[member]];
}

/* The loop that a member is, or NULL. */
static const fs_rolled *inner_of(const joined_finder *f, uint32_t member) {
  const fsched_builder *b = f->r->b;
  uint32_t op = op_of(f, member);
  return op < b->op_rolled.n ? b->op_rolled.at[op] : NULL;
}

/* The queues of a loop on which a member of it has commands, as bits. */
static uint64_t queues_of(const fs_rolled *x, uint32_t member) {
  uint64_t bits = 0;
  for (uint32_t q = 0; q < x->loop.n_queues; q++) {
    for (uint32_t c = x->loop.command0[q]; c < x->loop.command0[q + 1]; c++) {
      bits |= x->loop.command[c].member == member ? UINT64_C(1) << q : 0;
    }
  }
  return bits;
}

/* The queues of a loop that access a buffer, or that write it. */
static uint64_t queues_at(const fs_rolled *x, uint32_t buffer, bool writes) {
  uint64_t bits = 0;
  for (uint32_t m = 0; m < x->n_ops; m++) {
    for (uint32_t a = x->body[m].arg0; a < x->body[m].arg0 + x->body[m].n_args; a++) {
      bool of = x->arg[a].buffer == buffer && fs_tag_accesses(x->arg[a].tag);
      bits |= of && (!writes || fs_tag_writes(x->arg[a].tag)) ? queues_of(x, m) : 0;
    }
  }
  return bits;
}

/* Whether its ops write bytes of a buffer from outside. */
static bool writes_outside(const fs_rolled *x, uint32_t buffer) {
  bool writes = false;
  for (uint32_t a = 0; a < x->n_args; a++) {
    const fs_body_arg *arg = &x->arg[a];
    writes = writes || (arg->buffer == buffer && arg->ring == FS_NONE && fs_tag_writes(arg->tag));
  }
  return writes;
}

/* Whether values of earlier iterations are read of a ring, or the one on entry. */
static bool is_carried(const fs_rolled *x, uint32_t ring) {
  bool carried = x->slots[ring].entry;
  for (uint32_t a = 0; a < x->n_args && !carried; a++) {
    carried = x->arg[a].ring == ring && x->arg[a].back > 0;
  }
  return carried;
}

/* Whether some op that uses a ring goes on when its queues are free. */
static bool is_used_slowly(const fs_rolled *x, uint32_t ring) {
  bool slow = false;
  for (uint32_t m = 0; m < x->n_ops; m++) {
    const fs_body_op *o = &x->body[m];
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args && o->latency > o->time; a++) {
      slow = slow || x->arg[a].ring == ring;
    }
  }
  return slow;
}

/* Whether no other op of the loop around uses a buffer. */
static bool is_alone(const joined_finder *f, uint32_t op, uint32_t buffer) {
  const fsched_builder *b = f->r->b;
  const fs_loop_draft *around = fs_loop_at(b, f->r->in.loop_of[op]);
  bool alone = true;
  for (uint32_t o = around->op0; o < around->op_end; o++) {
    for (uint32_t a = b->op.at[o].arg0; o != op && a < fs_builder_args_end(b, o); a++) {
      const fs_arg_draft *arg = &b->arg.at[a];
      alone = alone && !(fs_tag_names_buffer(arg->tag) && arg->buffer == buffer);
    }
  }
  return alone;
}

/* Whether no value of more than one iteration ago is read of a ring. */
static bool is_last_read(const fs_rolled *x, uint32_t ring) {
  bool last = true;
  for (uint32_t a = 0; a < x->n_args && last; a++) {
    last = x->arg[a].ring != ring || x->arg[a].back <= 1;
  }
  return last;
}

/* Whether one queue alone uses a ring: then all that runs do with it is in their order. */
static bool has_one_user(const fs_rolled *x, uint32_t ring) {
  uint64_t all = queues_at(x, x->slots[ring].buffer, false);
  return (all & (all - 1)) == 0;
}

/* Whether each run finds the values of a ring where the run before has left them, or where the loop
 * around has put another one: a run is whole turns of the slots, and what its first iterations find
 * is the last value; nothing else in the loop around uses them, or one queue alone does here. */
static bool goes_on(const joined_finder *f, const fs_rolled *x, uint32_t op, uint32_t ring) {
  return is_last_read(x, ring) && x->least == x->trip && x->trip % x->loop.ring[ring].depth == 0 &&
         (is_alone(f, op, x->slots[ring].buffer) ||
          (x->slots[ring].entry && has_one_user(x, ring))) &&
         !is_used_slowly(x, ring);
}

/* Whether the slots of a loop have values for its own iterations alone, or such that go on from run
 * to run. */
static bool has_own_slots(const joined_finder *f, const fs_rolled *x, uint32_t op) {
  const fs_roller *r = f->r;
  bool own = true;
  for (uint32_t k = 0; k < x->loop.n_rings && own; k++) {
    uint32_t buffer = x->slots[k].buffer;
    uint8_t io = r->b->buffer_io.at[buffer];
    bool inside = r->first_op[buffer] == op && r->last_op[buffer] == op;
    own = !fs_io_given(io) && !fs_io_kept(io) && (is_carried(x, k) ? goes_on(f, x, op, k) : inside);
  }
  return own;
}

/* Whether a command of the queue that is not slow waits for this one in its iteration. */
static bool is_awaited(const fs_rolled_loop *l, uint32_t queue, uint32_t command) {
  bool awaited = false;
  for (uint32_t c = l->command0[queue]; c < l->command0[queue + 1] && !awaited; c++) {
    const fs_rolled_command *k = &l->command[c];
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits && !k->slow; w++) {
      awaited = awaited || (l->wait[w].distance == 0 && l->wait[w].command == command);
    }
  }
  return awaited;
}

/* Whether an op accesses bytes from outside that the loop writes. */
static bool shares_bytes(const fs_rolled *x, const fs_body_op *o) {
  bool shares = false;
  for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
    const fs_body_arg *arg = &x->arg[a];
    shares = shares || (arg->buffer != FS_NONE && arg->ring == FS_NONE &&
                        fs_tag_accesses(arg->tag) && writes_outside(x, arg->buffer));
  }
  return shares;
}

/* Whether the part of a queue is slow, as model/stream/stream.h says. */
static bool is_slow(const fs_rolled *x, uint32_t queue) {
  const fs_rolled_loop *l = x->whole;
  bool any = false, alone = true;
  for (uint32_t c = l->command0[queue]; c < l->command0[queue + 1]; c++) {
    const fs_rolled_command *k = &l->command[c];
    any = any || (k->slow && !is_awaited(l, queue, c));
    alone = alone && !(k->slow && shares_bytes(x, &x->body[k->member]));
  }
  return any && alone;
}

/* Whether each buffer from outside that it writes is touched by one queue alone. */
static bool writes_apart(const fs_rolled *x) {
  for (uint32_t a = 0; a < x->n_args; a++) {
    if (x->arg[a].buffer != FS_NONE && x->arg[a].ring == FS_NONE) {
      uint64_t all = queues_at(x, x->arg[a].buffer, false);
      if (queues_at(x, x->arg[a].buffer, true) != 0 && (all & (all - 1)) != 0) {
        return false;
      }
    }
  }
  return true;
}

static bool has_simple_ops(const fs_rolled *x) {
  for (uint32_t m = 0; m < x->n_ops; m++) {
    const fs_body_op *o = &x->body[m];
    if (x->inner[m] != NULL || o->n_scratches > 0 || o->n_lanes > 0) {
      return false;
    }
  }
  return true;
}

/* Whether an `after` orders iterations of the op. */
static bool is_after_itself(const joined_finder *f, uint32_t op) {
  const fs_bodies *in = &f->r->in;
  for (uint32_t i = in->after0[op]; i < in->after0[op + 1]; i++) {
    const fs_item_draft *x = &f->r->b->afters.item.at[i];
    if (x->b != 0 || x->a == op) {
      return true;
    }
  }
  return false;
}

bool fs_roller_may_go_on(const fs_rolled *x) {
  return x->whole != NULL && x->loop.n_queues > 1 && x->loop.n_queues <= MOST_PARTS &&
         (x->loop.copies == 1 || (x->least == x->trip && x->trip % x->loop.copies == 0)) &&
         has_simple_ops(x);
}

static bool may_join(const joined_finder *f, uint32_t member) {
  const fs_rolled *x = inner_of(f, member);
  return x != NULL && fs_roller_may_go_on(x) && has_own_slots(f, x, op_of(f, member)) &&
         writes_apart(x) && !is_after_itself(f, op_of(f, member)) &&
         f->g->op_use0[f->body->op[member]] == f->g->op_use0[f->body->op[member] + 1];
}

/* Whether an op of the body names another one in an `after`. */
static bool is_after(const joined_finder *f, uint32_t op, uint32_t other) {
  const fs_bodies *in = &f->r->in;
  bool is = false;
  for (uint32_t i = in->after0[op]; i < in->after0[op + 1] && !is; i++) {
    const fs_item_draft *x = &f->r->b->afters.item.at[i];
    is = x->b != 0 || x->a == other;
  }
  return is;
}

/* The parts of a loop that share a buffer with a member, which one of the two writes; all where
 * there is an `after`. */
static uint64_t find_touch(const joined_finder *f, uint32_t member, uint32_t other) {
  const fsched_builder *b = f->r->b;
  const fs_rolled *x = inner_of(f, member);
  uint32_t own = op_of(f, member), op = op_of(f, other);
  uint64_t bits = 0;
  for (uint32_t a = b->op.at[op].arg0; a < fs_builder_args_end(b, op); a++) {
    const fs_arg_draft *arg = &b->arg.at[a];
    if (fs_tag_accesses(arg->tag)) {
      uint64_t writes = queues_at(x, arg->buffer, true);
      bits |= fs_tag_writes(arg->tag) || writes != 0 ? queues_at(x, arg->buffer, false) : 0;
    }
  }
  bool all = is_after(f, op, own) || is_after(f, own, op);
  return all ? UINT64_MAX : bits;
}

/* Finds the parts of a run; *out stays without any where they have no moment in common. */
static fs_status find_parts(const joined_finder *f, uint32_t member, fs_modulo_joined *out) {
  const fs_rolled *x = inner_of(f, member);
  fs_rolled_part *run;
  fs_modulo_part *part;
  uint64_t *time, *latency, *touch, again, first = 0, last = UINT64_MAX;
  bool *slow, known;
  FS_TRY(fs_new(f->r->scratch, &time, x->n_ops));
  FS_TRY(fs_new(f->r->scratch, &latency, x->n_ops));
  FS_TRY(fs_new(f->r->scratch, &run, x->loop.n_queues));
  for (uint32_t m = 0; m < x->n_ops; m++) {
    time[m] = x->body[m].time;
    latency[m] = x->body[m].latency;
  }
  FS_TRY(fs_new(f->r->scratch, &slow, x->loop.n_queues));
  for (uint32_t q = 0; q < x->loop.n_queues; q++) {
    slow[q] = is_slow(x, q);
  }
  FS_TRY(
      fs_rolled_parts(f->r->b->ctx, x->whole, time, latency, x->trip, slow, run, &again, &known));
  FS_TRY(fs_new(f->r->scratch, &part, x->loop.n_queues));
  FS_TRY(fs_new(f->r->scratch, &touch, f->body->n));
  for (uint32_t q = 0; q < x->loop.n_queues && known; q++) {
    part[q] = (fs_modulo_part){x->loop.queue[q], run[q].begin, run[q].end - run[q].begin,
                               run[q].free - run[q].begin, run[q].work};
    part[q].lasts = fs_max(part[q].lasts, part[q].keeps + slow[q]); /* so it counts as slow */
    known = run[q].end > run[q].begin;                              /* else it would take no time */
    first = fs_max(first, run[q].begin);
    last = fs_min(last, run[q].end);
  }
  for (uint32_t m = 0; m < f->body->n; m++) {
    touch[m] = find_touch(f, member, m);
  }
  if (known && first < last) {
    *out = (fs_modulo_joined){x->loop.n_queues, part, again, touch};
  }
  return FSCHED_OK;
}

fs_status fs_roller_find_joined(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                                fs_modulo_joined **out) {
  assert(body->n > 0);
  const joined_finder f = {r, g, body};
  bool any = false, groups = false; /* these make copies of the body, which parts can't have */
  *out = NULL;
  for (uint32_t v = 0; v < body->n_values; v++) {
    groups = groups || body->value[v].every > 1;
  }
  if (fs_sync_has_stops(r->b->sync) || r->b->unjoined || groups) {
    return FSCHED_OK;
  }
  fs_modulo_joined *joined;
  FS_TRY(fs_new_zero(r->scratch, &joined, body->n));
  for (uint32_t m = 0; m < body->n; m++) {
    FS_TRY(may_join(&f, m) ? find_parts(&f, m, &joined[m]) : FSCHED_OK);
    any = any || joined[m].n_parts > 0;
  }
  *out = any ? joined : NULL;
  return FSCHED_OK;
}
