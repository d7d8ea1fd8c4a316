/* SPDX-License-Identifier: Apache-2.0 */
/* What the ops of a loop touch: args, rings and places.
 *
 * Everything that an iteration touches lies within what the loop's own op touches: every buffer
 * has an arg of that op, and a ring lies within the range of one.  Ranges and places are those of
 * iteration 0 of all loops around, so the farthest ones are looked at too: a step goes one way. */
#include "base/saturate.h"
#include "codegen/load/check.h"
#include "fsched/graph.h"
#include "model/stream/views.h"

/* How far the last iteration is from iteration 0, in bytes.  Returns false where that is more than
 * any buffer has, so sums over loops in loops are no larger than a number can be. */
static bool find_way(const fs_stream_loop *l, int64_t step, int64_t *way) {
  return !__builtin_mul_overflow(step, (int64_t)(l->trip - 1), way) &&
         *way <= (int64_t)FSCHED_MAX_SIZE && *way >= -(int64_t)FSCHED_MAX_SIZE;
}

/* The loop around, or NULL. */
static const fs_stream_loop *around(const fs_stream *v, const fs_stream_loop *l) {
  return l->within == FS_NONE ? NULL : &v->loops[l->within];
}

/* The args of the op that the loop is: of args, or of loop_args. */
typedef struct own_args {
  uint32_t arg0, n_args;
} own_args;
static own_args own_of(const fs_stream *v, const fs_stream_loop *l) {
  return l->within == FS_NONE ? (own_args){v->ops[l->op].arg0, v->ops[l->op].n_args}
                              : (own_args){v->loop_ops[l->op].arg0, v->loop_ops[l->op].n_args};
}
static uint32_t own_buffer(const fs_stream *v, const fs_stream_loop *l, uint32_t arg) {
  return l->within == FS_NONE ? v->args[arg].buffer : v->loop_args[arg].buffer;
}
static uint64_t own_length(const fs_stream *v, const fs_stream_loop *l, uint32_t arg) {
  return l->within == FS_NONE ? v->args[arg].length : v->loop_args[arg].length;
}

/* Where the range of an arg ends at the latest: with its buffer, or with a version of the ring that
 * it moves with. */
static uint64_t limit_of(const fs_stream *v, const fs_stream_loop *l, const fs_stream_loop_arg *a) {
  while (l->within != FS_NONE && a->ring == FS_NONE) {
    a = &v->loop_args[a->own];
    l = around(v, l);
  }
  return a->ring == FS_NONE ? v->buffers[a->buffer].size : v->rings[a->ring].size;
}

/* How far iterations of the loops around may be from the first ones, down and up: of those within a
 * version of the ring that the arg moves with, or of all.  False: farther than any buffer. */
static bool find_ways(const fs_stream *v, const fs_stream_loop *l, const fs_stream_loop_arg *a,
                      int64_t *down, int64_t *up) {
  bool fits = true;
  *down = *up = 0;
  for (; fits && a->ring == FS_NONE; a = &v->loop_args[a->own], l = around(v, l)) {
    int64_t way;
    fits = find_way(l, a->step, &way);
    *(way < 0 ? down : up) += fits ? way : 0;
    if (l->within == FS_NONE) {
      break;
    }
  }
  return fits;
}

/* ---- rings */

static uint64_t ring_span(const fs_stream_ring *r) {
  return (uint64_t)(r->depth - 1) * r->slot + r->size;
}

/* The number of the writer's args that begin the versions of the ring. */
static uint32_t n_begins(const fs_stream *v, uint32_t ring) {
  const fs_stream_loop_op *o = &v->loop_ops[v->rings[ring].writer];
  uint32_t n = 0;
  for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
    n += fs_tag_begins(v->loop_args[a].tag) && v->loop_args[a].ring == ring;
  }
  return n;
}

/* Does an arg of the op that the loop is stay where it is, in all iterations of the loops around?
 * Within a version of a ring it does. */
static bool stays(const fs_stream *v, const fs_stream_loop *l, uint32_t arg) {
  while (l->within != FS_NONE && v->loop_args[arg].ring == FS_NONE) {
    if (v->loop_args[arg].step != 0) {
      return false;
    }
    arg = v->loop_args[arg].own;
    l = around(v, l);
  }
  return true;
}

/* Does each run find the last value of a ring in the slot in which the first run finds the one on
 * entry? */
static bool goes_on(const fs_stream_loop *l, const fs_stream_ring *r) {
  return l->least == l->most && l->trip % r->depth == 0;
}

static fs_status check_ring(fs_checker *c, const fs_stream_loop *l, uint32_t ring) {
  const fs_stream *v = &c->v;
  const fs_stream_ring *r = &v->rings[ring];
  own_args own = own_of(v, l);
  uint32_t number = ring - l->ring0;
  FS_NEED(
      c,
      r->arg >= own.arg0 && r->arg - own.arg0 < own.n_args && own_buffer(v, l, r->arg) != FS_NONE,
      REFERENCE, "ring %u of loop '%s' lies in arg %u, which is not a buffer of the loop", number,
      fs_check_loop_name(c, l), r->arg);
  FS_NEED(c, r->writer >= l->op0 && r->writer - l->op0 < l->n_ops, REFERENCE,
          "ring %u of loop '%s' is written by op %u, of another loop", number,
          fs_check_loop_name(c, l), r->writer);
  uint64_t all;
  FS_NEED(c,
          r->depth != 0 && r->entry <= FS_RING_LEAVES && r->size <= r->slot &&
              !__builtin_mul_overflow((uint64_t)r->depth, r->slot, &all),
          VALUE, "ring %u of loop '%s' has depth %u, slots of %llu for %llu bytes, entry %u",
          number, fs_check_loop_name(c, l), r->depth, (unsigned long long)r->slot,
          (unsigned long long)r->size, r->entry);
  FS_NEED(c, r->entry != FS_RING_RETURNS || (l->joined == 0 && l->least == l->most), VALUE,
          "the last value of ring %u of loop '%s' is moved, but its runs are joined, or its trips "
          "vary",
          number, fs_check_loop_name(c, l));
  FS_NEED(c, r->entry != FS_RING_LEAVES || (l->joined == 0 && 0 < l->least && l->least < l->most),
          VALUE,
          "the last value of ring %u of loop '%s' is moved to one place, but its runs are joined, "
          "it may run 0 times, or its trips do not vary",
          number, fs_check_loop_name(c, l));
  FS_NEED(
      c, l->joined == 0 || !fs_ring_entered(r) || goes_on(l, r), VALUE,
      "ring %u of loop '%s', whose runs are joined, has a value on entry, and a run is not whole "
      "turns of its slots",
      number, fs_check_loop_name(c, l));
  FS_NEED(c, stays(v, l, r->arg), VALUE,
          "ring %u of loop '%s' lies in an arg that moves with the loops around it", number,
          fs_check_loop_name(c, l));
  FS_NEED(c, ring_span(r) <= own_length(v, l, r->arg), VALUE,
          "ring %u of loop '%s' takes %llu bytes, but its arg has %llu", number,
          fs_check_loop_name(c, l), (unsigned long long)ring_span(r),
          (unsigned long long)own_length(v, l, r->arg));
  FS_NEED(c, n_begins(v, ring) == 1, VALUE,
          "the writer of ring %u of loop '%s' begins %u versions of it in an iteration", number,
          fs_check_loop_name(c, l), n_begins(v, ring));
  return FSCHED_OK;
}

/* ---- args */

static fs_status check_value(fs_checker *c, const fs_stream_loop_arg *a, uint32_t arg) {
  FS_NEED(c,
          a->buffer == FS_NONE && a->ring == FS_NONE && a->offset == 0 && a->length == 0 &&
              a->step == 0 && a->back == 0 && a->own == FS_NONE && a->begins == 0,
          VALUE, "loop arg %u is a value and names a buffer or a range", arg);
  return FSCHED_OK;
}

/* Does the op that the loop is have an arg on the buffer? */
static bool has_outer(const fs_stream *v, const fs_stream_loop *l, uint32_t buffer) {
  own_args own = own_of(v, l);
  uint32_t i = 0;
  while (i < own.n_args && own_buffer(v, l, own.arg0 + i) != buffer) {
    i++;
  }
  return i < own.n_args;
}
/* Does an op of the stream, which is the outermost loop around, have one with the version? */
static bool has_outer_version(const fs_stream *v, const fs_stream_loop *l, uint32_t buffer,
                              uint32_t version) {
  while (l->within != FS_NONE) {
    l = around(v, l);
  }
  const fs_stream_op *o = &v->ops[l->op];
  uint32_t i = 0;
  while (i < o->n_args &&
         (v->args[o->arg0 + i].buffer != buffer || v->args[o->arg0 + i].version != version)) {
    i++;
  }
  return i < o->n_args;
}

static fs_status check_ranged(fs_checker *c, const fs_stream_loop *l, uint32_t arg) {
  const fs_stream_loop_arg *a = &c->v.loop_args[arg];
  uint64_t limit = limit_of(&c->v, l, a);
  const char *name = c->v.strings + c->v.buffers[a->buffer].name;
  int64_t down, up;
  FS_NEED(c, a->back == 0, VALUE, "loop arg %u reads '%s' of an iteration back, without a ring",
          arg, name);
  bool view = fs_stream_loop_view_of(&c->v, arg) != NULL; /* which is not cut off */
  bool fits = find_ways(&c->v, l, a, &down, &up);
  bool cut = down < 0 && !view; /* others that are, are so in later iterations alone */
  FS_NEED(c, a->offset <= limit && a->length <= (cut ? limit : limit - a->offset), VALUE,
          "loop arg %u is the range [%llu, +%llu) of %llu bytes", arg,
          (unsigned long long)a->offset, (unsigned long long)a->length, (unsigned long long)limit);
  FS_NEED(c, a->length != 0 || limit == 0, VALUE, "loop arg %u is a range of no bytes of '%s'", arg,
          name);
  FS_NEED(c,
          fits && (uint64_t)-down <= a->offset && (up == 0 || (uint64_t)up < limit - a->offset) &&
              (!view || (uint64_t)up <= limit - a->offset - a->length),
          VALUE, "the last iteration of loop arg %u %s outside the %llu bytes of '%s'", arg,
          view ? "has bytes" : "begins", (unsigned long long)limit, name);
  return FSCHED_OK;
}

static fs_status check_ringed(fs_checker *c, const fs_stream_loop *l, uint32_t op, uint32_t arg) {
  const fs_stream *v = &c->v;
  const fs_stream_loop_arg *a = &v->loop_args[arg];
  FS_NEED(c, a->ring >= l->ring0 && a->ring - l->ring0 < l->n_rings, REFERENCE,
          "loop arg %u has ring %u, of another loop", arg, a->ring);
  const fs_stream_ring *r = &v->rings[a->ring];
  FS_NEED(c, own_buffer(v, l, r->arg) == a->buffer, REFERENCE,
          "loop arg %u is buffer %u, its ring is of buffer %u", arg, a->buffer,
          own_buffer(v, l, r->arg));
  FS_NEED(c, r->arg == a->own, REFERENCE, "loop arg %u moves with arg %u, its ring with arg %u",
          arg, a->own, r->arg);
  FS_NEED(c, a->offset <= r->size && a->length <= r->size - a->offset, VALUE,
          "loop arg %u is the range [%llu, +%llu) of a ring's %llu bytes", arg,
          (unsigned long long)a->offset, (unsigned long long)a->length,
          (unsigned long long)r->size);
  FS_NEED(c, a->length != 0 || r->size == 0, VALUE, "loop arg %u is a range of no bytes of a ring",
          arg);
  FS_NEED(c, a->step == 0 && a->back <= r->depth, VALUE,
          "loop arg %u has step %lld, and %u back in a ring of %u", arg, (long long)a->step,
          a->back, r->depth);
  FS_NEED(
      c, l->joined == 0 || a->back == 0 || (a->back == 1 && goes_on(l, r)), VALUE,
      "loop arg %u reads a value of %u iterations back, in a loop whose runs are joined: it may be "
      "1 if they are whole turns of its slots",
      arg, a->back);
  FS_NEED(c, !fs_tag_begins(a->tag) || (op == r->writer && a->back == 0 && a->length == r->size),
          VALUE, "loop arg %u begins a version of a ring, but not as its writer, or in part", arg);
  return FSCHED_OK;
}

/* Is `own` an arg of the op that the loop is, of the same buffer? */
static bool is_own(const fs_stream *v, const fs_stream_loop *l, const fs_stream_loop_arg *a) {
  own_args own = own_of(v, l);
  return a->own >= own.arg0 && a->own - own.arg0 < own.n_args &&
         own_buffer(v, l, a->own) == a->buffer;
}

static fs_status check_arg(fs_checker *c, const fs_stream_loop *l, uint32_t op, uint32_t arg) {
  const fs_stream *v = &c->v;
  const fs_stream_loop_arg *a = &v->loop_args[arg];
  FS_NEED(c, fs_tag_known(a->tag), VALUE, "loop arg %u has tag %u", arg, a->tag);
  if (!fs_tag_names_buffer(a->tag)) {
    return check_value(c, a, arg);
  }
  FS_NEED(c, a->buffer < v->n_buffers && has_outer(v, l, a->buffer), REFERENCE,
          "loop arg %u is buffer %u of %u, which loop '%s' does not have", arg, a->buffer,
          v->n_buffers, fs_check_loop_name(c, l));
  FS_NEED(c, a->value == 0, VALUE, "loop arg %u has value %lld", arg, (long long)a->value);
  FS_TRY(fs_check_begins(c, a->begins, a->tag, "loop arg", arg));
  FS_NEED(c, is_own(v, l, a), REFERENCE,
          "loop arg %u moves with arg %u, which is not one of loop '%s' and buffer %u", arg, a->own,
          fs_check_loop_name(c, l), a->buffer);
  const fs_stream_buffer *b = &v->buffers[a->buffer];
  FS_NEED(c, !fs_tag_writes(a->tag) || !fs_io_fixed(b->io), VALUE,
          "loop arg %u writes the constant '%s'", arg, v->strings + b->name);
  FS_NEED(c, fs_tag_accesses(a->tag) || v->memories[b->memory].capacity == FS_UNBOUNDED, VALUE,
          "loop arg %u is no_dep of '%s', in a memory with a limit", arg, v->strings + b->name);
  return a->ring == FS_NONE ? check_ranged(c, l, arg) : check_ringed(c, l, op, arg);
}

fs_status fs_check_loop_args(fs_checker *c, const fs_stream_loop *l) {
  assert(l->trip >= 1);
  for (uint32_t i = l->ring0; i < l->ring0 + l->n_rings; i++) {
    FS_TRY(check_ring(c, l, i));
  }
  for (uint32_t i = l->op0; i < l->op0 + l->n_ops; i++) {
    const fs_stream_loop_op *o = &c->v.loop_ops[i];
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
      FS_TRY(check_arg(c, l, i, a));
    }
  }
  return FSCHED_OK;
}

/* ---- places */

/* Adds how far the version of a ring may be from that of iteration 0 which an arg moves with: by
 * the slots of the ring, and as the arg does that the ring is in.  False: farther than any buffer.
 */
static bool add_ring_ways(const fs_stream *v, const fs_stream_loop *l, const fs_stream_loop_arg *a,
                          int64_t *down, uint64_t *up) {
  bool within = true, fits = true;
  for (; fits; a = &v->loop_args[a->own], l = around(v, l)) {
    const fs_stream_ring *r = a->ring == FS_NONE ? NULL : &v->rings[a->ring];
    int64_t way = 0;
    within = within && r == NULL;
    if (r != NULL) {
      *up = fs_add_most(*up, (uint64_t)(r->depth - 1) * r->slot);
    } else if (!within) {
      fits = find_way(l, a->step, &way);
      *down += fits && way < 0 ? way : 0;
      *up = fs_add_most(*up, fits && way > 0 ? (uint64_t)way : 0);
    }
    if (l->within == FS_NONE) {
      break;
    }
  }
  return fits;
}

/* Checks that the places of all iterations lie in the memory.  Requires that iteration 0's does. */
static fs_status check_reach(fs_checker *c, const fs_stream_loop *l, const fs_command_name *command,
                             const fs_stream_place *p) {
  const fs_stream *v = &c->v;
  const fs_stream_loop_arg *a = &v->loop_args[p->arg];
  uint64_t left = v->memories[p->index].extent - p->address;
  int64_t down = 0, up = 0;
  bool fits = find_ways(v, l, a, &down, &up);
  uint64_t most = fs_min(p->size + (uint64_t)up, limit_of(v, l, a) - a->offset);
  fits = fits && add_ring_ways(v, l, a, &down, &most);
  FS_NEED(c, fits && (uint64_t)-down <= p->address && most <= left, PLACE,
          "the place [%llu, +%llu) of command %u of loop '%s' leaves its memory in a later "
          "iteration",
          (unsigned long long)p->address, (unsigned long long)p->size, command->number,
          command->name);
  return FSCHED_OK;
}

/* Checks that there is one MEMORY place for each buffer arg, in order; *n is their number. */
static fs_status check_arg_places(fs_checker *c, const fs_stream_loop *l,
                                  const fs_command_name *command, const fs_stream_loop_command *m,
                                  uint32_t *n) {
  const fs_stream *v = &c->v;
  const fs_stream_loop_op *op = &v->loop_ops[m->op];
  *n = 0;
  for (uint32_t a = op->arg0; a < op->arg0 + op->n_args; a++) {
    const fs_stream_loop_arg *arg = &v->loop_args[a];
    if (!fs_tag_names_buffer(arg->tag)) {
      continue;
    }
    FS_NEED(c, *n < m->n_places, PLACE, "arg %u of command %u of loop '%s' has no place", a,
            command->number, command->name);
    const fs_stream_place *p = &v->loop_places[m->place0 + (*n)++];
    uint64_t size = fs_min(arg->length, limit_of(v, l, arg) - arg->offset);
    FS_NEED(c,
            fs_space_has_bytes(p->space) && p->arg == a && p->size == size &&
                p->index == v->buffers[arg->buffer].memory && p->mode == fs_tag_mode(arg->tag) &&
                has_outer_version(v, l, arg->buffer, p->version),
            PLACE,
            "the place of arg %u of command %u of loop '%s' is of space %u, arg %u, memory %u, "
            "version %u, size %llu, mode %u",
            a, command->number, command->name, p->space, p->arg, p->index, p->version,
            (unsigned long long)p->size, p->mode);
    FS_TRY(check_reach(c, l, command, p));
  }
  return FSCHED_OK;
}

/* Checks a place after those of args: scratch in a memory, or units of a resource. */
static fs_status check_other_place(fs_checker *c, const fs_command_name *command,
                                   const fs_stream_place *p, const fs_stream_place *before) {
  FS_NEED(c, before == NULL || before->space <= p->space, PLACE,
          "the places of command %u of loop '%s' are not in order of their spaces", command->number,
          command->name);
  FS_NEED(c,
          p->version == FS_NONE && p->arg == FS_NONE && p->mode == FS_MODE_W &&
              (fs_space_in_memory(p->space) || fs_space_of_resource(p->space)),
          PLACE, "a place of command %u of loop '%s' has space %u, version %u, arg %u, mode %u",
          command->number, command->name, p->space, p->version, p->arg, p->mode);
  return FSCHED_OK;
}

fs_status fs_check_loop_places(fs_checker *c, const fs_stream_loop *l, uint32_t command) {
  const fs_stream *v = &c->v;
  assert(command < v->n_loop_commands);
  const fs_stream_loop_command *m = &v->loop_commands[command];
  const fs_command_name name = {command - v->loop_queues[l->queue0].command0, "loop",
                                fs_check_loop_name(c, l)};
  const fs_stream_place *p = v->loop_places + m->place0;
  uint32_t n;
  for (uint32_t i = 0; i < m->n_places; i++) {
    FS_TRY(fs_check_place(c, &name, &p[i]));
  }
  FS_TRY(check_arg_places(c, l, &name, m, &n));
  for (uint32_t i = n; i < m->n_places; i++) {
    FS_TRY(check_other_place(c, &name, &p[i], i == n ? NULL : &p[i - 1]));
  }
  return FSCHED_OK;
}
