/* SPDX-License-Identifier: Apache-2.0 */
/* Ops in the place of loops.
 *
 * What a loop touches of a buffer from outside becomes an arg that reads all that its iterations
 * read (where something is there before), and one that writes all that they write.  A buffer that
 * the body begins becomes as large as its slots; the loop begins it, or, where there is a value on
 * entry, reads that from the last slot and writes all.  A loop without iterations is nothing.
 */
#include <stdio.h>

#include "front/builder/roll/roll.h"
#include "model/loop_report.h"

/* Accesses of a loop to one buffer that move alike with the loops around it. */
typedef struct own_group {
  uint32_t op, arg; /* the first of them */
  uint32_t own;     /* the last arg that the loop's op has for them */
  uint32_t next;    /* another group of the buffer, or FS_NONE */
} own_group;

typedef struct contractor {
  fs_roller *r;
  fsched_builder *b;
  uint32_t *id;          /* per op: its op, or that of its loop */
  uint32_t *start;       /* per op, and at the end: the ops that there will be before it */
  uint32_t *first_write; /* per buffer: the first arg that writes it, or FS_NONE */
  uint32_t *seen;        /* per buffer: the last loop that has args of it */
  uint32_t *group_of;    /* per buffer: the first group that this loop has of it */
  FS_VEC(own_group) group;
  fs_names names;
  FS_VEC(fs_op_draft) op;
  FS_VEC(fs_arg_draft) arg;
  FS_VEC(fs_moving_draft) moving;
  FS_VEC(fs_rolled *) op_rolled;
  fs_pos_list op_at, op_on_at, arg_at;
  fs_item_list uses, scratches, afters, inplaces;
} contractor;

static fs_rolled *rolled_of(const contractor *c, uint32_t op) {
  uint32_t loop = c->r->in.loop_of[op];
  return loop == FS_NONE ? NULL : c->r->rolled[loop];
}

/* Whether a buffer has several slots. */
static bool has_slots(const contractor *c, uint32_t buffer) {
  return fs_roller_has_slots(c->r, buffer);
}

/* --- ids --- */

/* Whether the op is in a loop that is at hand. */
static bool is_at_hand(const contractor *c, uint32_t op) {
  uint32_t loop = c->r->in.loop_of[op];
  return loop != FS_NONE && c->b->loop.at[loop].depth == c->r->level;
}

/* Numbers the ops that there will be.  Loops without iterations have none: what comes after their
 * ops comes after nothing. */
static fs_status number_ops(contractor *c) {
  uint32_t n = 0;
  FS_TRY(fs_new_none(c->r->scratch, &c->id, c->r->in.n_ops));
  FS_TRY(fs_new(c->r->scratch, &c->start, (size_t)c->r->in.n_ops + 1));
  for (uint32_t op = 0; op < c->r->in.n_ops; op++) {
    c->start[op] = n;
    if (rolled_of(c, op) != NULL) {
      n += op == c->b->loop.at[c->r->in.loop_of[op]].op0;
      c->id[op] = n - 1;
    } else if (!is_at_hand(c, op)) {
      c->id[op] = n++;
    }
  }
  c->start[c->r->in.n_ops] = n;
  return FSCHED_OK;
}

/* --- items --- */

static fs_status add_item(contractor *c, fs_item_list *list, fs_item_draft x, fs_pos at) {
  FS_TRY(fs_vec_push(c->b->ctx, &list->item, x));
  return fs_builder_place(c->b, &list->at, list->item.n - 1, at);
}

static uint32_t own_id(const contractor *c) { return (uint32_t)c->op.n - 1; }

/* Adds an entry to the op at hand, once. */
static fs_status add_after(contractor *c, fs_item_draft x, fs_pos at) {
  x.op = own_id(c);
  if (x.a == FS_NONE || (x.b == 0 && x.a == x.op && x.amount == 0)) {
    return FSCHED_OK;
  }
  for (size_t i = c->afters.item.n; i-- > 0 && c->afters.item.at[i].op == x.op;) {
    const fs_item_draft *y = &c->afters.item.at[i];
    if (y->a == x.a && y->b == x.b && y->amount == x.amount) {
      return FSCHED_OK;
    }
  }
  return add_item(c, &c->afters, x, at);
}

/* The op comes after what an `after` names, but for what is within its own loop, if that is at
 * hand. */
static fs_status add_afters(contractor *c, uint32_t op) {
  const fsched_builder *b = c->b;
  const fs_bodies *in = &c->r->in;
  for (uint32_t i = in->after0[op]; i < in->after0[op + 1]; i++) {
    fs_item_draft x = b->afters.item.at[i];
    uint32_t around = x.b ? fs_loop_at(b, x.a)->parent : in->loop_of[x.a];
    uint32_t both = fs_loop_around_both(b, in->loop_of[op], around);
    if (both != FS_NONE && both == in->loop_of[op] && is_at_hand(c, op)) {
      continue;
    }
    if (x.b && b->loop.at[x.a].depth == c->r->level) {
      uint32_t first = b->loop.at[x.a].op0;
      x.a = c->r->rolled[x.a] != NULL ? c->id[first] : FS_NONE;
      x.b = 0;
    } else if (!x.b) {
      x.a = c->id[x.a];
    }
    FS_TRY(add_after(c, x, fs_pos_at(&b->afters.at, i)));
  }
  return FSCHED_OK;
}

static fs_status copy_items(contractor *c, const fs_item_list *from, const uint32_t *start,
                            uint32_t op, fs_item_list *to) {
  for (uint32_t i = start[op]; i < start[op + 1]; i++) {
    fs_item_draft x = from->item.at[i];
    x.op = own_id(c);
    FS_TRY(add_item(c, to, x, fs_pos_at(&from->at, i)));
  }
  return FSCHED_OK;
}

/* A pair of which one has several slots lies in no one place. */
static fs_status copy_inplaces(contractor *c, uint32_t op) {
  const fs_item_list *from = &c->b->inplaces;
  for (uint32_t i = c->r->in.inplace0[op]; i < c->r->in.inplace0[op + 1]; i++) {
    fs_item_draft x = from->item.at[i];
    x.op = own_id(c);
    if (!has_slots(c, x.a) && !has_slots(c, x.b)) {
      FS_TRY(add_item(c, &c->inplaces, x, fs_pos_at(&from->at, i)));
    }
  }
  return FSCHED_OK;
}

/* --- ops that stay --- */

static fs_status add_op(contractor *c, const char *name, fs_op_draft op, fs_rolled *loop, fs_pos at,
                        fs_pos on_at) {
  uint32_t id = (uint32_t)c->op.n, first;
  FS_TRY(fs_names_add_kept(&c->names, name, &first));
  if (first != id && !c->b->bad) {
    (void)fs_builder_fail(c->b, FS_DIAG_REPEATED_NAME, at, NULL, "there are two ops '%.80s'", name);
  }
  op.arg0 = (uint32_t)c->arg.n;
  FS_TRY(fs_vec_push(c->b->ctx, &c->op, op));
  FS_TRY(fs_vec_push(c->b->ctx, &c->op_rolled, loop));
  FS_TRY(fs_builder_place(c->b, &c->op_at, id, at));
  return fs_builder_place(c->b, &c->op_on_at, id, on_at);
}

static fs_status add_arg(contractor *c, fs_arg_draft a, fs_pos at) {
  FS_TRY(fs_vec_push(c->b->ctx, &c->arg, a));
  return fs_builder_place(c->b, &c->arg_at, c->arg.n - 1, at);
}

/* The value that an op outside uses lies in a slot. */
static fs_arg_draft in_slot(const contractor *c, uint32_t op, fs_arg_draft a) {
  if (!fs_tag_names_buffer(a.tag) || !has_slots(c, a.buffer)) {
    return a;
  }
  a.offset += fs_roller_slot_at(c->r, op, a.buffer);
  a.has_at = true;
  if (fs_tag_begins(a.tag)) {
    fs_roller_write_over(&a, fs_roller_is_loop(c->r, op));
  }
  return a;
}

static fs_status cut_off(contractor *c, uint32_t buffer) {
  return fs_roller_unsupported(c->r, c->r->ring[buffer].loop,
                               "of a buffer that it has slots for, another one cuts off a range");
}

/* What a loop in the op has of its arg lies where that does.  The recursion is as deep as loops
 * nest. */
static void shift_inner(const fs_rolled *x, uint32_t own, uint64_t by) {
  for (uint32_t m = 0; m < x->n_ops; m++) {
    for (uint32_t i = 0; i < x->body[m].n_args; i++) {
      fs_body_arg *a = &x->arg[x->body[m].arg0 + i];
      if (a->own == own && a->ring == FS_NONE) {
        a->offset += by;
        if (x->inner[m] != NULL) {
          shift_inner(x->inner[m], i, by);
        }
      }
    }
  }
}

/* An arg of an op that is not of the loop which has slots for its buffer. */
static fs_arg_draft put_in_slot(const contractor *c, uint32_t op, uint32_t arg) {
  const fsched_builder *b = c->b;
  fs_arg_draft a = in_slot(c, op, b->arg.at[arg]);
  fs_rolled *loop = op < b->op_rolled.n ? b->op_rolled.at[op] : NULL;
  if (loop != NULL && a.offset != b->arg.at[arg].offset) {
    shift_inner(loop, arg - b->op.at[op].arg0, a.offset - b->arg.at[arg].offset);
  }
  return a;
}

/* An arg in a loop that is not at hand moves on as before. */
static fs_status keep_moving(contractor *c, uint32_t op, uint32_t arg) {
  const fs_moving_draft *m = fs_roller_moving(c->r, op, arg);
  if (m == NULL) {
    return FSCHED_OK;
  }
  uint32_t buffer = c->b->arg.at[arg].buffer;
  if (has_slots(c, buffer) && m->n_steps > 0 && fs_roller_passes_end(c->r, op, arg)) {
    return cut_off(c, buffer);
  }
  fs_moving_draft to = *m;
  to.arg = (uint32_t)c->arg.n;
  return fs_vec_push(c->b->ctx, &c->moving, to);
}

static fs_status keep_op(contractor *c, uint32_t op) {
  const fsched_builder *b = c->b;
  fs_rolled *loop = op < b->op_rolled.n ? b->op_rolled.at[op] : NULL;
  FS_TRY(add_op(c, b->ops.text.at[op], b->op.at[op], loop, fs_pos_at(&b->op_at, op),
                fs_pos_at(&b->op_on_at, op)));
  for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
    fs_arg_draft a = put_in_slot(c, op, arg);
    FS_TRY(fs_roller_keep_begin(c->r, op, b->arg.at[arg].tag, &a));
    FS_TRY(keep_moving(c, op, arg));
    FS_TRY(add_arg(c, a, fs_pos_at(&b->arg_at, arg)));
  }
  FS_TRY(copy_items(c, &b->uses, c->r->in.use0, op, &c->uses));
  FS_TRY(copy_items(c, &b->scratches, c->r->in.scratch0, op, &c->scratches));
  FS_TRY(copy_inplaces(c, op));
  return add_afters(c, op);
}

/* --- loops --- */

/* What all iterations together do with a buffer from outside. */
typedef struct outer_use {
  uint64_t read_low, read_high, write_low, write_high;
  fs_pos at;
} outer_use;

/* Finds the first arg that writes each buffer, of ops that do run. */
static fs_status find_first_writes(contractor *c) {
  const fsched_builder *b = c->b;
  FS_TRY(fs_new_none(c->r->scratch, &c->first_write, b->buffer_size.n));
  for (uint32_t op = c->r->in.n_ops; op-- > 0;) {
    for (uint32_t arg = fs_builder_args_end(b, op); arg-- > b->op.at[op].arg0;) {
      if (fs_tag_writes(b->arg.at[arg].tag) && fs_roller_op_runs(c->r, op)) {
        c->first_write[b->arg.at[arg].buffer] = arg;
      }
    }
  }
  return FSCHED_OK;
}

/* Whether something is in a buffer before the loop. */
static bool is_there(const contractor *c, uint32_t loop, uint32_t buffer) {
  const fsched_builder *b = c->b;
  return fs_io_given(b->buffer_io.at[buffer]) ||
         c->first_write[buffer] < b->op.at[b->loop.at[loop].op0].arg0;
}

/* An arg of the loop moves with the loops around it as those of its group do. */
static fs_status move_with(contractor *c, const own_group *g) {
  const fs_moving_draft *m = fs_roller_moving(c->r, g->op, g->arg);
  uint32_t n = c->r->level - 1;
  if (m == NULL || m->n_steps == 0 || n == 0) {
    return FSCHED_OK;
  }
  fs_moving_draft to = {.arg = (uint32_t)c->arg.n, .step0 = m->step0, .n_steps = n};
  return fs_vec_push(c->b->ctx, &c->moving, to);
}

static fs_status put_range(contractor *c, own_group *g, fsched_tag tag, uint64_t low, uint64_t high,
                           fs_pos at) {
  fs_arg_draft a = {.offset = low, .tag = (uint8_t)tag, .has_at = true, .view = FS_NONE};
  a.buffer = c->b->arg.at[g->arg].buffer;
  a.u.length = high - low;
  FS_TRY(move_with(c, g));
  g->own = (uint32_t)c->arg.n - c->op.at[own_id(c)].arg0;
  return add_arg(c, a, at);
}

static fs_status add_range(contractor *c, own_group *g, fsched_tag tag, uint64_t low, uint64_t high,
                           fs_pos at) {
  return low < high ? put_range(c, g, tag, low, high, at) : FSCHED_OK;
}

static void note_use(contractor *c, uint32_t op, uint32_t arg, uint64_t trip, outer_use *u) {
  const fs_arg_draft *a = &c->b->arg.at[arg];
  uint64_t low, high;
  fs_roller_hull(c->r, op, arg, trip, &low, &high);
  if (fs_tag_reads(a->tag)) {
    u->read_low = u->read_low < low ? u->read_low : low;
    u->read_high = fs_max(u->read_high, high);
  }
  if (fs_tag_writes(a->tag)) {
    u->write_low = u->write_low < low ? u->write_low : low;
    u->write_high = fs_max(u->write_high, high);
  }
}

/* Whether an arg is of a group. */
static bool is_of(const contractor *c, const own_group *g, uint32_t op, uint32_t arg) {
  return c->b->arg.at[arg].buffer == c->b->arg.at[g->arg].buffer &&
         fs_roller_moves_alike(c->r, fs_roller_moving(c->r, op, arg),
                               fs_roller_moving(c->r, g->op, g->arg));
}

/* Adds the args for a buffer from outside. */
static fs_status add_outer(contractor *c, uint32_t loop, own_group *g) {
  const fsched_builder *b = c->b;
  uint32_t buffer = b->arg.at[g->arg].buffer;
  outer_use u = {UINT64_MAX, 0, UINT64_MAX, 0, fs_pos_at(&b->arg_at, g->arg)};
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      if (fs_tag_accesses(b->arg.at[arg].tag) && is_of(c, g, op, arg)) {
        note_use(c, op, arg, c->r->in.trip[loop], &u);
      }
    }
  }
  bool there = is_there(c, loop, buffer);
  if (!there && u.read_low < u.read_high) { /* the loop has written what it reads */
    u.write_low = fs_min(u.write_low, u.read_low);
    u.write_high = fs_max(u.write_high, u.read_high);
  }
  fs_left_bytes write = {u.write_low, u.write_high}, left;
  FS_TRY(fs_roller_left(c->r, loop, g->op, g->arg, write, there, &left));
  if (fs_io_given(b->buffer_io.at[buffer]) && write.low < write.high &&
      !fs_roller_fills(c->r, loop, g->op, g->arg, write.low, write.high)) {
    left = write; /* what is given stays between what is written */
  }
  bool all = left.low <= write.low && left.high >= write.high;
  if (left.low < left.high && !all) {
    u.read_low = fs_min(u.read_low, left.low);
    u.read_high = fs_max(u.read_high, left.high);
  }
  if (u.read_low >= u.read_high && u.write_low >= u.write_high) { /* they are empty */
    uint64_t at = fs_min(u.read_low, u.write_low);
    bool written = u.write_low != UINT64_MAX, read = u.read_low != UINT64_MAX;
    return put_range(c, g,
                     !written ? FSCHED_IN
                     : read   ? FSCHED_INOUT
                              : FSCHED_OUT_EXISTING,
                     at, at, u.at);
  }
  fsched_tag tag = all ? FSCHED_INOUT : FSCHED_OUT_EXISTING;
  FS_TRY(there ? add_range(c, g, FSCHED_IN, u.read_low, u.read_high, u.at) : FSCHED_OK);
  return add_range(c, g, tag, u.write_low, u.write_high, u.at);
}

/* If the loop around it begins the buffer by this loop, it has no more slots than were given, if
 * these are enough. */
static fs_status keep_depth(contractor *c, uint32_t loop, uint32_t buffer) {
  const fsched_builder *b = c->b;
  uint32_t outer = b->loop.at[loop].parent;
  bool free = outer != FS_NONE && !fs_roller_is_carried(c->r, outer, buffer);
  for (size_t i = 0; i < b->ring.n && free; i++) {
    free = b->ring.at[i].loop != outer || b->ring.at[i].buffer != buffer;
  }
  for (size_t i = 0; i < b->ring.n && free; i++) {
    fs_ring_draft x = b->ring.at[i];
    if (x.loop == loop && x.buffer == buffer && x.depth > 0) {
      x.loop = outer;
      x.depth = 1;
      return fs_vec_push(b->ctx, &c->b->ring, x);
    }
  }
  return FSCHED_OK;
}

/* Adds the args for a buffer of which the loop, and others, have slots around one place. */
static fs_status add_link(contractor *c, uint32_t loop, own_group *g, fs_body_slots *slots,
                          fs_pos at) {
  uint32_t buffer = slots->buffer;
  uint64_t place = c->r->ring[buffer].before;
  fs_slots_range all = fs_roller_chain_slots(c->r, loop, buffer);
  FS_TRY(slots->entry ? add_range(c, g, FSCHED_IN, place, place + slots->size, at)
                      : fs_roller_begin_in_slots(c->r, c->b->loop.at[loop].parent, buffer));
  FS_TRY(put_range(c, g, FSCHED_OUT_EXISTING, all.offset, all.offset + all.length, at));
  slots->own = g->own;
  return FSCHED_OK;
}

/* Adds the args for a buffer that the loop begins.  In the loops around it they don't move. */
static fs_status add_ring(contractor *c, uint32_t loop, own_group *g, fs_pos at) {
  uint32_t buffer = c->b->arg.at[g->arg].buffer;
  const fs_ring_buffer *ring = &c->r->ring[buffer];
  fs_body_slots *slots = &c->r->rolled[loop]->slots[fs_roller_ring(c->r, loop, buffer)];
  bool entry = slots->entry;
  if (entry && !is_there(c, loop, buffer)) {
    return c->r->in.least[loop] == 0
               ? fs_roller_begins_nothing(c->r, loop, buffer)
               : fs_roller_unsupported(c->r, loop, "it writes over what nothing has begun");
  }
  if (ring->chained && has_slots(c, buffer)) {
    return add_link(c, loop, g, slots, at);
  }
  fs_arg_draft a = {.buffer = buffer, .tag = FSCHED_OUT, .view = FS_NONE};
  if (entry && ring->depth == 1) {
    a.tag = FSCHED_INOUT;
  } else if (!entry) {
    FS_TRY(fs_roller_begin_once(c->r, c->b->loop.at[loop].parent, true, &a));
  } else if (entry) {
    FS_TRY(add_range(c, g, FSCHED_IN, ring->before, ring->before + slots->size, at));
    a.tag = FSCHED_OUT_EXISTING;
  }
  a.u.length = c->b->buffer_size.at[buffer];
  if (fs_tag_begins(a.tag)) {
    FS_TRY(keep_depth(c, loop, buffer));
  }
  g->own = slots->own = (uint32_t)c->arg.n - c->op.at[own_id(c)].arg0;
  return add_arg(c, a, at);
}

/* The queues of a loop: one, or a gang. */
static fs_status set_queues(contractor *c, const fs_rolled *x, fs_op_draft *op) {
  fsched_builder *b = c->b;
  uint32_t n = x->loop.n_queues, *word;
  FS_TRY(fs_new(c->r->scratch, &word, n));
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(fs_builder_word(b, b->queue.at[x->loop.queue[i]].name, &word[i]));
    uint32_t moved = word[i], at = i;
    for (; at > 0 && word[at - 1] > moved; at--) {
      word[at] = word[at - 1];
    }
    word[at] = moved;
  }
  op->on_word = word[0];
  return n == 1 ? FSCHED_OK : fs_builder_gang(b, word, n, 0, &op->gang);
}

/* The group of an arg; it is added if it is new. */
static fs_status find_group(contractor *c, uint32_t loop, uint32_t op, uint32_t arg, bool *added,
                            uint32_t *group) {
  uint32_t buffer = c->b->arg.at[arg].buffer;
  uint32_t first = c->seen[buffer] == loop ? c->group_of[buffer] : FS_NONE;
  bool ring = fs_roller_begins(c->r, loop, buffer);
  *group = first;
  while (*group != FS_NONE && !ring && !is_of(c, &c->group.at[*group], op, arg)) {
    *group = c->group.at[*group].next;
  }
  *added = *group == FS_NONE;
  if (!*added) {
    return FSCHED_OK;
  }
  *group = (uint32_t)c->group.n;
  c->seen[buffer] = loop;
  c->group_of[buffer] = *group;
  return fs_vec_push(c->b->ctx, &c->group, ((own_group){op, arg, FS_NONE, first}));
}

/* Adds an arg for the address of a buffer, as a whole: it is where that is in all iterations. */
static fs_status add_address(contractor *c, uint32_t arg) {
  const fsched_builder *b = c->b;
  fs_arg_draft a = {.buffer = b->arg.at[arg].buffer, .tag = FSCHED_NO_DEP, .view = FS_NONE};
  a.u.length = b->buffer_size.at[a.buffer];
  return add_arg(c, a, fs_pos_at(&b->arg_at, arg));
}

/* Adds the args of a loop, each where an op first names its buffer, and tells the body's which one
 * is theirs. */
static fs_status add_loop_args(contractor *c, uint32_t loop, const fs_rolled *x) {
  const fsched_builder *b = c->b;
  uint32_t op0 = b->loop.at[loop].op0;
  c->group.n = 0;
  for (uint32_t op = op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      bool added;
      uint32_t buffer = b->arg.at[arg].buffer, group;
      if (fs_tag_is_address(b->arg.at[arg].tag)) {
        x->arg[arg - b->op.at[op0].arg0].own = (uint32_t)c->arg.n - c->op.at[own_id(c)].arg0;
        FS_TRY(add_address(c, arg));
      }
      if (!fs_tag_accesses(b->arg.at[arg].tag)) {
        continue;
      }
      FS_TRY(find_group(c, loop, op, arg, &added, &group));
      own_group *g = &c->group.at[group];
      if (added) {
        FS_TRY(fs_roller_begins(c->r, loop, buffer)
                   ? add_ring(c, loop, g, fs_pos_at(&b->arg_at, arg))
                   : add_outer(c, loop, g));
      }
      x->arg[arg - b->op.at[op0].arg0].own = g->own;
    }
  }
  return FSCHED_OK;
}

static fs_status add_loop_items(contractor *c, uint32_t loop) {
  const fsched_builder *b = c->b;
  uint32_t own = own_id(c);
  fs_pos at = fs_pos_at(&b->loop_at, loop);
  for (uint32_t k = 0; k < b->resource_capacity.n; k++) {
    uint64_t n = c->r->use[loop][k];
    if (n > 0) {
      FS_TRY(add_item(c, &c->uses, (fs_item_draft){.op = own, .a = k, .amount = n}, at));
    }
  }
  for (uint32_t m = 0; m < b->memory.n; m++) {
    uint64_t n = c->r->scratch_use[loop][m];
    if (n > 0) {
      FS_TRY(add_item(c, &c->scratches, (fs_item_draft){.op = own, .a = m, .amount = n}, at));
    }
  }
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    FS_TRY(add_afters(c, op));
  }
  return FSCHED_OK;
}

static fs_status add_loop(contractor *c, uint32_t loop) {
  fs_rolled *x = c->r->rolled[loop];
  fs_pos at = fs_pos_at(&c->b->loop_at, loop);
  fs_op_draft op = {.time = x->report->span,
                    .latency = x->report->span,
                    .start = FS_TICK_NONE,
                    .gang = FS_NONE,
                    .kernel = FS_NONE,
                    .slots = 1};
  FS_TRY(fs_roller_fill_body(c->r, loop));
  FS_TRY(set_queues(c, x, &op));
  FS_TRY(add_op(c, c->b->loops.text.at[loop], op, x, at, at));
  FS_TRY(add_loop_args(c, loop, x));
  return add_loop_items(c, loop);
}

/* What loops at hand use of slots of others. */
static fs_status use_slots(contractor *c) {
  const fsched_builder *b = c->b;
  for (uint32_t op = 0; op < c->r->in.n_ops; op++) {
    uint32_t loop = c->r->in.loop_of[op];
    for (uint32_t arg = b->op.at[op].arg0;
         rolled_of(c, op) != NULL && arg < fs_builder_args_end(b, op); arg++) {
      fs_arg_draft *a = &b->arg.at[arg];
      if (!fs_tag_accesses(a->tag) || !has_slots(c, a->buffer) ||
          fs_roller_begins(c->r, loop, a->buffer)) {
        continue;
      }
      if (fs_roller_passes_end(c->r, op, arg)) {
        return cut_off(c, a->buffer);
      }
      *a = put_in_slot(c, op, arg);
    }
  }
  return FSCHED_OK;
}

/* Buffers become as large as their slots. */
static fs_status enlarge(contractor *c) {
  for (uint32_t i = 0; i < c->b->buffer_size.n; i++) {
    if (has_slots(c, i)) {
      const fs_ring_buffer *ring = &c->r->ring[i];
      FS_TRY(fs_io_said(c->b->buffer_io.at[i]) ? fs_roller_put_io_in_slots(c->r, i) : FSCHED_OK);
      c->b->buffer_size.at[i] = ring->chained ? ring->end : ring->depth * ring->slot;
    }
  }
  return FSCHED_OK;
}

static fs_status add_all(contractor *c) {
  FS_TRY(number_ops(c));
  FS_TRY(find_first_writes(c));
  FS_TRY(fs_new_none(c->r->scratch, &c->seen, c->b->buffer_size.n));
  FS_TRY(fs_new_none(c->r->scratch, &c->group_of, c->b->buffer_size.n));
  fs_roller_place_chains(c->r);
  FS_TRY(use_slots(c));
  FS_TRY(enlarge(c));
  for (uint32_t op = 0; op < c->r->in.n_ops;) {
    uint32_t loop = c->r->in.loop_of[op];
    if (rolled_of(c, op) != NULL) {
      FS_TRY(add_loop(c, loop));
      op = c->b->loop.at[loop].op_end;
    } else {
      FS_TRY(c->id[op] == FS_NONE ? FSCHED_OK : keep_op(c, op));
      op++;
    }
  }
  return FSCHED_OK;
}

/* Hands the result over. */
static void exchange(contractor *c) {
  fsched_builder *b = c->b;
#define SWAP_(m)                     \
  memcpy(&kept, &b->m, sizeof b->m); \
  memcpy(&b->m, &c->m, sizeof b->m); \
  memcpy(&c->m, &kept, sizeof b->m);
  unsigned char kept[256];
  _Static_assert(sizeof kept >= sizeof b->ops, "");
  memcpy(&kept, &b->ops, sizeof b->ops);
  memcpy(&b->ops, &c->names, sizeof b->ops);
  memcpy(&c->names, &kept, sizeof b->ops);
  SWAP_(op)
  SWAP_(op_rolled)
  SWAP_(arg)
  SWAP_(moving)
  SWAP_(op_at)
  SWAP_(op_on_at)
  SWAP_(arg_at)
  SWAP_(uses)
  SWAP_(scratches)
  SWAP_(afters)
  SWAP_(inplaces)
#undef SWAP_
}

/* The loops that are left are of other ops now. */
static void keep_loops(contractor *c) {
  fsched_builder *b = c->b;
  size_t n = 0;
  for (size_t i = 0; i < b->ring.n; i++) {
    if (b->loop.at[b->ring.at[i].loop].depth < c->r->level) {
      b->ring.at[n++] = b->ring.at[i];
    }
  }
  b->ring.n = n;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    fs_loop_draft *loop = &b->loop.at[l];
    loop->gone |= loop->depth >= c->r->level;
    loop->op0 = c->start[loop->op0];
    loop->op_end = loop->gone ? loop->op0 : c->start[loop->op_end];
    loop->parent = loop->gone ? FS_NONE : loop->parent;
  }
}

static void free_all(contractor *c) {
  fsched_context *ctx = c->b->ctx;
  fs_item_list *list[] = {&c->uses, &c->scratches, &c->afters, &c->inplaces};
  fs_names_free(&c->names);
  fs_vec_free(ctx, &c->op);
  fs_vec_free(ctx, &c->op_rolled);
  fs_vec_free(ctx, &c->arg);
  fs_vec_free(ctx, &c->moving);
  fs_vec_free(ctx, &c->group);
  fs_vec_free(ctx, &c->op_at);
  fs_vec_free(ctx, &c->op_on_at);
  fs_vec_free(ctx, &c->arg_at);
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    fs_vec_free(ctx, &list[i]->item);
    fs_vec_free(ctx, &list[i]->at);
  }
}

fs_status fs_roller_contract(fs_roller *r) {
  assert(r->rolled != NULL && r->ring != NULL);
  contractor c = {.r = r, .b = r->b};
  r->begun.n = 0;
  fs_names_init(&c.names, &r->b->arena);
  fs_status status = add_all(&c);
  if (status == FSCHED_OK) {
    keep_loops(&c);
    exchange(&c);
    r->b->contracted = true;
  }
  free_all(&c);
  return status;
}
