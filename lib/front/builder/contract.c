/* SPDX-License-Identifier: Apache-2.0 */
/* Ops in the place of loops.
 *
 * What a loop touches of a buffer from outside becomes an arg that reads all that its iterations
 * read (where something is there before), and one that writes all that they write.  A buffer that
 * the body begins becomes as large as its slots; the loop begins it, or, where there is a value on
 * entry, reads that from the last slot and writes all.  A loop without iterations is nothing.
 */
#include <stdio.h>

#include "front/builder/roll.h"
#include "model/loop_report.h"

typedef struct contractor {
  fs_roller *r;
  fsched_builder *b;
  uint32_t *id;          /* per op as described: its op, or that of its loop */
  uint32_t *first_write; /* per buffer: the first arg that writes it, or FS_NONE */
  uint32_t *seen;        /* per buffer: the last loop that has args of it */
  fs_names names;
  FS_VEC(fs_op_draft) op;
  FS_VEC(fs_arg_draft) arg;
  fs_pos_list op_at, op_on_at, arg_at;
  fs_item_list uses, scratches, afters, inplaces;
} contractor;

static fs_rolled *rolled_of(const contractor *c, uint32_t op) {
  uint32_t loop = c->r->in.loop_of[op];
  return loop == FS_NONE ? NULL : c->r->rolled[loop];
}

/* Whether a buffer has several slots. */
static bool has_slots(const contractor *c, uint32_t buffer) {
  const fs_ring_buffer *ring = &c->r->ring[buffer];
  return ring->loop != FS_NONE && ring->depth > 1;
}

/* --- ids --- */

/* Numbers the ops that there will be.  Loops without iterations have none: what comes after their
 * ops comes after nothing. */
static fs_status number_ops(contractor *c) {
  uint32_t n = 0;
  FS_TRY(fs_new_none(c->r->scratch, &c->id, c->r->in.n_ops));
  for (uint32_t op = 0; op < c->r->in.n_ops; op++) {
    uint32_t loop = c->r->in.loop_of[op];
    if (rolled_of(c, op) != NULL) {
      n += op == c->b->loop.at[loop].op0;
      c->id[op] = n - 1;
    } else if (loop == FS_NONE) {
      c->id[op] = n++;
    }
  }
  return FSCHED_OK;
}

/* --- items --- */

static fs_status add_item(contractor *c, fs_item_list *list, fs_item_draft x, fs_pos at) {
  FS_TRY(fs_vec_push(c->b->ctx, &list->item, x));
  return fs_builder_place(c->b, &list->at, list->item.n - 1, at);
}

static uint32_t own_id(const contractor *c) { return (uint32_t)c->op.n - 1; }

static fs_status add_after(contractor *c, uint32_t before, fs_pos at) {
  uint32_t own = own_id(c);
  if (before == FS_NONE || before == own) {
    return FSCHED_OK;
  }
  for (size_t i = c->afters.item.n; i-- > 0 && c->afters.item.at[i].op == own;) {
    if (c->afters.item.at[i].a == before) {
      return FSCHED_OK;
    }
  }
  return add_item(c, &c->afters, (fs_item_draft){.op = own, .a = before}, at);
}

/* The op comes after what an `after` names; of an earlier iteration there is none outside. */
static fs_status add_afters(contractor *c, uint32_t op) {
  const fsched_builder *b = c->b;
  for (uint32_t i = c->r->in.after0[op]; i < c->r->in.after0[op + 1]; i++) {
    const fs_item_draft *x = &b->afters.item.at[i];
    fs_pos at = fs_pos_at(&b->afters.at, i);
    if (!x->b && (x->amount == 0 || c->r->in.loop_of[x->a] != c->r->in.loop_of[op])) {
      FS_TRY(add_after(c, c->id[x->a], at));
    }
    for (uint32_t k = b->loop.at[x->a].op0; x->b && k < b->loop.at[x->a].op_end; k++) {
      FS_TRY(add_after(c, c->id[k], at));
    }
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

/* --- ops that are in no loop --- */

static fs_status add_op(contractor *c, const char *name, fs_op_draft op, fs_pos at, fs_pos on_at) {
  uint32_t id = (uint32_t)c->op.n, first;
  FS_TRY(fs_names_add_kept(&c->names, name, &first));
  if (first != id && !c->b->bad) {
    (void)fs_builder_fail(c->b, FS_DIAG_REPEATED_NAME, at, NULL, "there are two ops '%.80s'", name);
  }
  op.arg0 = (uint32_t)c->arg.n;
  FS_TRY(fs_vec_push(c->b->ctx, &c->op, op));
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
  const fs_ring_buffer *ring = &c->r->ring[a.buffer];
  a.offset += op < c->b->loop.at[ring->loop].op0 ? ring->before : ring->behind;
  a.has_at = true;
  a.tag = fs_tag_begins(a.tag) ? FSCHED_OUT_EXISTING : a.tag;
  return a;
}

static fs_status keep_op(contractor *c, uint32_t op) {
  const fsched_builder *b = c->b;
  FS_TRY(add_op(c, b->ops.text.at[op], b->op.at[op], fs_pos_at(&b->op_at, op),
                fs_pos_at(&b->op_on_at, op)));
  for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
    FS_TRY(add_arg(c, in_slot(c, op, b->arg.at[arg]), fs_pos_at(&b->arg_at, arg)));
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

/* Finds the first arg that writes each buffer. */
static fs_status find_first_writes(contractor *c) {
  const fsched_builder *b = c->b;
  FS_TRY(fs_new_none(c->r->scratch, &c->first_write, b->buffer_size.n));
  for (uint32_t arg = (uint32_t)b->arg.n; arg-- > 0;) {
    if (fs_tag_writes(b->arg.at[arg].tag)) {
      c->first_write[b->arg.at[arg].buffer] = arg;
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

static fs_status add_range(contractor *c, fsched_tag tag, uint32_t buffer, uint64_t low,
                           uint64_t high, fs_pos at) {
  fs_arg_draft a = {.offset = low, .buffer = buffer, .tag = (uint8_t)tag, .has_at = true};
  a.u.length = high - low;
  return low < high ? add_arg(c, a, at) : FSCHED_OK;
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

/* Adds the args for a buffer from outside. */
static fs_status add_outer(contractor *c, uint32_t loop, uint32_t buffer) {
  const fsched_builder *b = c->b;
  outer_use u = {UINT64_MAX, 0, UINT64_MAX, 0, FS_NOWHERE};
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      if (fs_tag_accesses(b->arg.at[arg].tag) && b->arg.at[arg].buffer == buffer) {
        u.at = u.at.file == FS_NONE ? fs_pos_at(&b->arg_at, arg) : u.at;
        note_use(c, op, arg, c->r->in.trip[loop], &u);
      }
    }
  }
  if (is_there(c, loop, buffer)) {
    FS_TRY(add_range(c, FSCHED_IN, buffer, u.read_low, u.read_high, u.at));
  } else if (u.read_low < u.read_high) { /* the loop has written what it reads */
    u.write_low = u.write_low < u.read_low ? u.write_low : u.read_low;
    u.write_high = fs_max(u.write_high, u.read_high);
  }
  return add_range(c, FSCHED_OUT_EXISTING, buffer, u.write_low, u.write_high, u.at);
}

/* Adds the args for a buffer that the loop begins. */
static fs_status add_ring(contractor *c, uint32_t buffer, bool entry, fs_pos at) {
  const fs_ring_buffer *ring = &c->r->ring[buffer];
  uint64_t size = c->r->rolled[ring->loop]->slots[ring->ring].size;
  fs_arg_draft a = {.buffer = buffer, .tag = FSCHED_OUT};
  if (entry && ring->depth == 1) {
    a.tag = FSCHED_INOUT;
  } else if (entry) {
    FS_TRY(add_range(c, FSCHED_IN, buffer, ring->before, ring->before + size, at));
    a.tag = FSCHED_OUT_EXISTING;
  }
  a.u.length = c->b->buffer_size.at[buffer];
  return add_arg(c, a, at);
}

/* How many iterations ago the value was begun that an arg uses of a ring. */
static uint32_t back_of(const contractor *c, uint32_t op, uint32_t arg, uint32_t writer) {
  const fs_moving_draft *m = fs_roller_moving(c->r, op, arg);
  if (m != NULL && m->distance > 0) {
    return (uint32_t)m->distance;
  }
  return op < writer || (op == writer && !fs_tag_begins(c->b->arg.at[arg].tag));
}

static fs_status fill_arg(contractor *c, uint32_t op, uint32_t arg, fs_rolled *x) {
  const fs_arg_draft *a = &c->b->arg.at[arg];
  fs_body_arg *to = &x->arg[x->n_args++];
  bool value = !fs_tag_names_buffer(a->tag);
  *to = (fs_body_arg){.tag = a->tag, .buffer = FS_NONE, .ring = FS_NONE};
  if (value) {
    to->value = a->u.value;
    return FSCHED_OK;
  }
  const fs_ring_buffer *ring = &c->r->ring[a->buffer];
  to->buffer = a->buffer;
  to->offset = a->offset;
  to->length = a->u.length;
  if (ring->loop == c->r->in.loop_of[op]) {
    uint32_t writer = c->b->loop.at[ring->loop].op0 + x->loop.ring[ring->ring].writer;
    to->ring = ring->ring;
    to->back = back_of(c, op, arg, writer);
    x->slots[ring->ring].entry |= to->back > 0;
  } else {
    uint64_t left = c->b->buffer_size.at[a->buffer] - a->offset;
    to->step = fs_roller_step(c->r, fs_roller_moving(c->r, op, arg));
    to->length = fs_min(a->u.length, left); /* if it moves up, or not, later ones end no farther */
  }
  return FSCHED_OK;
}

/* What this version does not have of an arg. */
static fs_status check_arg(contractor *c, uint32_t op, uint32_t arg) {
  const fs_arg_draft *a = &c->b->arg.at[arg];
  const char *why = NULL;
  bool down = fs_roller_step(c->r, fs_roller_moving(c->r, op, arg)) < 0;
  if (down && a->offset + a->u.length > c->b->buffer_size.at[a->buffer]) {
    why = "a range that moves down is cut off in its first iteration";
  } else if (fs_tag_is_address(a->tag)) {
    why = "a 'no_dep' arg is in it";
  } else if (fs_tag_names_buffer(a->tag) && has_slots(c, a->buffer) &&
             c->r->ring[a->buffer].loop != c->r->in.loop_of[op]) {
    why = "another loop has slots for one of its buffers";
  }
  return why == NULL ? FSCHED_OK
                     : fs_builder_fail(c->b, FS_DIAG_UNSUPPORTED, fs_pos_at(&c->b->arg_at, arg),
                                       "--unroll (fsched_builder_unroll) makes a graph of its "
                                       "iterations",
                                       "the loop around op '%.80s' cannot stay a loop in this "
                                       "version: %s",
                                       c->b->ops.text.at[op], why);
}

static fs_status fill_args(contractor *c, uint32_t loop, fs_rolled *x) {
  const fsched_builder *b = c->b;
  uint32_t op0 = b->loop.at[loop].op0;
  FS_TRY(fs_new(&c->b->arena, &x->arg,
                fs_builder_args_end(b, op0 + x->n_ops - 1) - b->op.at[op0].arg0));
  for (uint32_t op = op0; op < op0 + x->n_ops; op++) {
    x->body[op - op0].arg0 = x->n_args;
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      FS_TRY(check_arg(c, op, arg));
      FS_TRY(fill_arg(c, op, arg, x));
    }
    x->body[op - op0].n_args = x->n_args - x->body[op - op0].arg0;
  }
  return FSCHED_OK;
}

/* `after` between ops of the body; what stands in no earlier iteration of it is outside. */
static fs_status fill_afters(contractor *c, uint32_t loop, fs_rolled *x) {
  const fsched_builder *b = c->b;
  uint32_t op0 = b->loop.at[loop].op0, end = op0 + x->n_ops;
  FS_TRY(fs_new(&c->b->arena, &x->after, c->r->in.after0[end] - c->r->in.after0[op0]));
  for (uint32_t op = op0; op < end; op++) {
    x->body[op - op0].after0 = x->n_afters;
    for (uint32_t i = c->r->in.after0[op]; i < c->r->in.after0[op + 1]; i++) {
      const fs_item_draft *a = &b->afters.item.at[i];
      if (!a->b && a->a >= op0 && a->a < end) {
        x->after[x->n_afters++] = (fs_body_after){a->a - op0, (uint32_t)a->amount};
      }
    }
    x->body[op - op0].n_afters = x->n_afters - x->body[op - op0].after0;
  }
  return FSCHED_OK;
}

/* Each op has scratch of its own. */
static fs_status fill_scratches(contractor *c, uint32_t loop, fs_rolled *x) {
  const fsched_builder *b = c->b;
  uint32_t op0 = b->loop.at[loop].op0, end = op0 + x->n_ops;
  const uint32_t *first = c->r->in.scratch0;
  FS_TRY(fs_new_zero(c->r->scratch, &c->r->scratch_use[loop], b->memory.n));
  FS_TRY(fs_new(&c->b->arena, &x->scratch, first[end] - first[op0]));
  for (uint32_t op = op0; op < end; op++) {
    fs_body_op *body = &x->body[op - op0];
    body->scratch0 = x->n_scratches;
    for (uint32_t i = first[op]; i < first[op + 1]; i++) {
      const fs_item_draft *s = &b->scratches.item.at[i];
      uint64_t *used = &c->r->scratch_use[loop][s->a];
      x->scratch[x->n_scratches++] = (fs_body_scratch){s->a, *used, s->amount};
      *used += fs_align_up(s->amount, b->memory.at[s->a].m.align);
    }
    body->n_scratches = x->n_scratches - body->scratch0;
  }
  return FSCHED_OK;
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
  return n == 1 ? FSCHED_OK : fs_builder_gang(b, word, n, &op->gang);
}

/* Adds the args of a loop, each buffer's where an op first names it. */
static fs_status add_loop_args(contractor *c, uint32_t loop, const fs_rolled *x) {
  const fsched_builder *b = c->b;
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      uint32_t buffer = b->arg.at[arg].buffer;
      if (!fs_tag_accesses(b->arg.at[arg].tag) || c->seen[buffer] == loop) {
        continue;
      }
      c->seen[buffer] = loop;
      const fs_ring_buffer *ring = &c->r->ring[buffer];
      FS_TRY(ring->loop == loop
                 ? add_ring(c, buffer, x->slots[ring->ring].entry, fs_pos_at(&b->arg_at, arg))
                 : add_outer(c, loop, buffer));
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
  FS_TRY(fill_args(c, loop, x));
  FS_TRY(fill_afters(c, loop, x));
  FS_TRY(fill_scratches(c, loop, x));
  FS_TRY(set_queues(c, x, &op));
  x->op = (uint32_t)c->op.n;
  FS_TRY(add_op(c, c->b->loops.text.at[loop], op, at, at));
  FS_TRY(add_loop_args(c, loop, x));
  return add_loop_items(c, loop);
}

/* Buffers become as large as their slots. */
static void enlarge(contractor *c) {
  for (uint32_t i = 0; i < c->b->buffer_size.n; i++) {
    if (has_slots(c, i)) {
      c->b->buffer_size.at[i] = c->r->ring[i].depth * c->r->ring[i].slot;
    }
  }
}

static fs_status add_all(contractor *c) {
  FS_TRY(number_ops(c));
  FS_TRY(find_first_writes(c));
  FS_TRY(fs_new_none(c->r->scratch, &c->seen, c->b->buffer_size.n));
  enlarge(c);
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
static fs_status exchange(contractor *c) {
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
  SWAP_(arg)
  SWAP_(op_at)
  SWAP_(op_on_at)
  SWAP_(arg_at)
  SWAP_(uses)
  SWAP_(scratches)
  SWAP_(afters)
  SWAP_(inplaces)
#undef SWAP_
  b->moving.n = b->ring.n = 0;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    b->n_rolled += c->r->rolled[l] != NULL;
  }
  FS_TRY(fs_new(&b->arena, &b->rolled, b->n_rolled));
  for (uint32_t l = 0, n = 0; l < b->loop.n; l++) {
    if (c->r->rolled[l] != NULL) {
      b->rolled[n++] = *c->r->rolled[l];
    }
  }
  b->loop.n = 0;
  return FSCHED_OK;
}

static void free_all(contractor *c) {
  fsched_context *ctx = c->b->ctx;
  fs_item_list *list[] = {&c->uses, &c->scratches, &c->afters, &c->inplaces};
  fs_names_free(&c->names);
  fs_vec_free(ctx, &c->op);
  fs_vec_free(ctx, &c->arg);
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
  fs_names_init(&c.names, &r->b->arena);
  fs_status status = add_all(&c);
  if (status == FSCHED_OK) {
    status = exchange(&c);
  }
  free_all(&c);
  return status;
}
