/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: loops are replaced by their unrolling.
 *
 * The instances of a body's ops come in program order, and have places by which they are found
 * before they are there (bodies.h): so `after` may name instances to come.  What iterations hand on
 * is listed: carry, mark and past (private.h).  Cost: O(instances, with their args and entries). */
#include <stdio.h>

#include "front/builder/bodies.h"

typedef struct unroller {
  fsched_builder *b;
  fs_bodies in;
  uint64_t index[FSCHED_MAX_LOOPS]; /* the iterations around the op at hand, outermost first */
  fs_names names;
  FS_VEC(fs_op_draft) op;
  FS_VEC(fs_arg_draft) arg;
  fs_pos_list op_at, op_on_at, arg_at;
  fs_item_list uses, scratches, afters, inplaces;
} unroller;

/* Refuses parameters that no loop has. */
static void check_params(fsched_builder *b) {
  for (uint32_t p = 0; p < b->param.n; p++) {
    const char *name = b->params.text.at[p];
    bool used = b->incomplete; /* then its loop may be lost */
    for (uint32_t l = 0; l < b->loop.n && !used; l++) {
      uint32_t word = b->loop.at[l].param;
      used = word != FS_NONE && strcmp(b->words.text.at[word], name) == 0;
    }
    if (!used) {
      (void)fs_builder_fail(b, FS_DIAG_UNKNOWN_NAME, FS_NOWHERE, NULL,
                            "no loop takes its trips from '%.80s'", name);
      b->usage = true;
    }
  }
}

/* Adds an item for an instance. */
static fs_status add_item(unroller *u, fs_item_list *list, fs_item_draft x, fs_pos at) {
  FS_TRY(fs_vec_push(u->b->ctx, &list->item, x));
  return fs_builder_place(u->b, &list->at, list->item.n - 1, at);
}

static fs_status copy_items(unroller *u, const fs_item_list *from, const uint32_t *start,
                            uint32_t op, fs_item_list *to) {
  for (uint32_t i = start[op]; i < start[op + 1]; i++) {
    fs_item_draft x = from->item.at[i];
    x.op = (uint32_t)u->op.n - 1;
    FS_TRY(add_item(u, to, x, fs_pos_at(&from->at, i)));
  }
  return FSCHED_OK;
}

/* The place of an iteration of `loop`, `distance` before the one at hand; loops around it are at
 * the iterations at hand. */
static uint64_t place_of_iteration(const unroller *u, uint32_t loop, uint64_t distance) {
  uint64_t place = 0;
  for (; loop != FS_NONE; loop = fs_loop_at(u->b, loop)->parent) {
    uint64_t i = u->index[fs_loop_depth(u->b, loop) - 1] - distance;
    place += u->in.loop_place[loop] + i * u->in.loop_count[loop];
    distance = 0;
  }
  return place;
}

/* The loops around what an `after` names that are not around the op, outermost first. */
typedef struct inner_loops {
  uint32_t loop[FSCHED_MAX_LOOPS];
  uint32_t n;
} inner_loops;

static inner_loops loops_between(const unroller *u, uint32_t both, uint32_t around) {
  inner_loops inner = {.n = fs_loop_depth(u->b, around) - fs_loop_depth(u->b, both)};
  for (uint32_t i = inner.n; i-- > 0; around = fs_loop_at(u->b, around)->parent) {
    inner.loop[i] = around;
  }
  return inner;
}

/* Adds all instances of a loop's ops, of all its runs from `place` on in the loops that follow
 * level. */
static fs_status after_runs(unroller *u, const fs_item_draft *x, fs_pos at,
                            const inner_loops *inner, uint32_t level, uint64_t place) {
  uint32_t loop = level < inner->n ? inner->loop[level] : x->a;
  place += u->in.loop_place[loop];
  if (u->in.loop_count[loop] == 0) {
    return FSCHED_OK;
  }
  for (uint64_t i = 0; level < inner->n && i < u->in.trip[loop]; i++) {
    FS_TRY(after_runs(u, x, at, inner, level + 1, place + i * u->in.loop_count[loop]));
  }
  for (uint64_t i = 0; level == inner->n && i < u->in.trip[loop] * u->in.loop_count[loop]; i++) {
    fs_item_draft y = {.op = (uint32_t)u->op.n - 1, .a = (uint32_t)(place + i)};
    FS_TRY(add_item(u, &u->afters, y, at));
  }
  return FSCHED_OK;
}

/* Adds the instances that an `after` names: the last one of an op, and all of a loop, in the
 * iteration of the loops around both.  `op` is as described. */
static fs_status unroll_after(unroller *u, uint32_t op, const fs_item_draft *x, fs_pos at) {
  uint32_t around = x->b ? fs_loop_at(u->b, x->a)->parent : u->in.loop_of[x->a];
  uint32_t both = fs_loop_around_both(u->b, u->in.loop_of[op], around);
  if (both != FS_NONE && x->amount > u->index[fs_loop_depth(u->b, both) - 1]) {
    return FSCHED_OK; /* there was no such iteration */
  }
  uint64_t place = place_of_iteration(u, both, x->amount);
  inner_loops inner = loops_between(u, both, around);
  if (x->b) {
    return after_runs(u, x, at, &inner, 0, place);
  }
  for (uint32_t i = 0; i < inner.n; i++) {
    uint32_t loop = inner.loop[i];
    if (u->in.trip[loop] == 0) {
      return FSCHED_OK;
    }
    place += u->in.loop_place[loop] + (u->in.trip[loop] - 1) * u->in.loop_count[loop];
  }
  fs_item_draft y = {.op = (uint32_t)u->op.n - 1, .a = (uint32_t)(place + u->in.op_place[x->a])};
  return add_item(u, &u->afters, y, at);
}

static fs_status unroll_arg(unroller *u, uint32_t arg, const fs_moving_draft *m, uint32_t carry) {
  fsched_builder *b = u->b;
  fs_arg_draft a = b->arg.at[arg];
  if (m != NULL && m->n_steps > 0) {
    for (uint32_t i = 0; i < m->n_steps; i++) { /* modulo 2^64; the sum is in the buffer */
      a.offset += (uint64_t)b->step.at[m->step0 + i] * u->index[i];
    }
    if (a.view == FS_NONE) { /* a view lies in the buffer in all iterations */
      a.u.length = fs_min(a.u.length, b->buffer_size.at[a.buffer] - a.offset);
    }
  }
  if (m != NULL && m->distance > 0) {
    uint64_t i = u->index[fs_loop_depth(u->b, b->carry.at[carry].loop) - 1];
    fs_past_arg past = {(uint32_t)u->arg.n, carry, (uint32_t)fs_min(m->distance - 1, i)};
    FS_TRY(fs_vec_push(b->ctx, &b->past, past));
  }
  FS_TRY(fs_vec_push(b->ctx, &u->arg, a));
  return fs_builder_place(b, &u->arg_at, u->arg.n - 1, fs_pos_at(&b->arg_at, arg));
}

/* The name of the instance at hand. */
static fs_status name_instance(unroller *u, uint32_t op, const char **name) {
  enum { DIGITS = 24 };
  char indices[FSCHED_MAX_LOOPS * DIGITS];
  size_t n = 0;
  const char *base = u->b->ops.text.at[op];
  size_t length = strlen(base);
  for (uint32_t i = 0; i < fs_loop_depth(u->b, u->in.loop_of[op]); i++) {
    n += (size_t)snprintf(indices + n, sizeof indices - n, "[%llu]",
                          (unsigned long long)u->index[i]);
  }
  *name = base;
  if (n == 0) {
    return FSCHED_OK;
  }
  char *text = fs_arena_alloc(&u->b->arena, length + n + 1);
  if (text == NULL) {
    return FSCHED_SYSTEM;
  }
  memcpy(text, base, length);
  memcpy(text + length, indices, n);
  text[length + n] = '\0';
  *name = text;
  return FSCHED_OK;
}

static fs_status unroll_op(unroller *u, uint32_t op) {
  fsched_builder *b = u->b;
  uint32_t id = (uint32_t)u->op.n;
  uint32_t first;
  const char *name;
  FS_TRY(name_instance(u, op, &name));
  FS_TRY(fs_names_add_kept(&u->names, name, &first));
  if (first != id && !b->bad) { /* an op that has the brackets in its own name */
    (void)fs_builder_fail(b, FS_DIAG_REPEATED_NAME, fs_pos_at(&b->op_at, op), NULL,
                          "unrolled, there are two ops '%.80s'", name);
  }
  fs_op_draft x = b->op.at[op];
  x.arg0 = (uint32_t)u->arg.n;
  FS_TRY(fs_vec_push(b->ctx, &u->op, x));
  FS_TRY(fs_vec_push(b->ctx, &b->origin, op));
  FS_TRY(fs_builder_place(b, &u->op_at, id, fs_pos_at(&b->op_at, op)));
  FS_TRY(fs_builder_place(b, &u->op_on_at, id, fs_pos_at(&b->op_on_at, op)));
  uint32_t m = u->in.moving0[op];
  for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
    bool moves = m < u->in.moving0[op + 1] && b->moving.at[m].arg == arg;
    FS_TRY(unroll_arg(u, arg, moves ? &b->moving.at[m] : NULL, moves ? u->in.carry[m] : FS_NONE));
    m += moves;
  }
  FS_TRY(copy_items(u, &b->uses, u->in.use0, op, &u->uses));
  FS_TRY(copy_items(u, &b->scratches, u->in.scratch0, op, &u->scratches));
  FS_TRY(copy_items(u, &b->inplaces, u->in.inplace0, op, &u->inplaces));
  for (uint32_t i = u->in.after0[op]; i < u->in.after0[op + 1]; i++) {
    FS_TRY(unroll_after(u, op, &b->afters.item.at[i], fs_pos_at(&b->afters.at, i)));
  }
  return FSCHED_OK;
}

/* Marks a run's begin or an iteration's end, where a value is carried from there. */
static fs_status mark(unroller *u, uint32_t loop, bool begin) {
  fs_mark m = {(uint32_t)u->op.n, loop, begin};
  return u->in.carry0[loop] < u->in.carry0[loop + 1] ? fs_vec_push(u->b->ctx, &u->b->mark, m)
                                                     : FSCHED_OK;
}

/* Unrolls the ops from op0 to op_end, which are in `loop`.  The recursion is as deep as loops nest.
 */
static fs_status unroll_body(unroller *u, uint32_t loop, uint32_t op0, uint32_t op_end) {
  for (uint32_t op = op0; op < op_end;) {
    uint32_t inner = u->in.loop_of[op];
    if (inner == loop) {
      FS_TRY(unroll_op(u, op++));
      continue;
    }
    while (fs_loop_at(u->b, inner)->parent != loop) {
      inner = fs_loop_at(u->b, inner)->parent;
    }
    uint64_t trip = u->in.loop_count[inner] == 0 ? 0 : u->in.trip[inner]; /* nothing runs in it */
    FS_TRY(mark(u, inner, true));
    for (uint64_t i = 0; i < trip; i++) {
      u->index[fs_loop_depth(u->b, inner) - 1] = i;
      FS_TRY(unroll_body(u, inner, op, fs_loop_at(u->b, inner)->op_end));
      FS_TRY(mark(u, inner, false));
    }
    op = fs_loop_at(u->b, inner)->op_end;
  }
  return FSCHED_OK;
}

static void swap(void *a, void *c, size_t size) {
  unsigned char kept[256];
  assert(size <= sizeof kept);
  memcpy(kept, a, size);
  memcpy(a, c, size);
  memcpy(c, kept, size);
}

/* Puts the instances in the place of what was described.  A pair has the same members. */
static void exchange(unroller *u) {
  fsched_builder *b = u->b;
  swap(&b->ops, &u->names, sizeof b->ops);
  swap(&b->op, &u->op, sizeof b->op);
  swap(&b->arg, &u->arg, sizeof b->arg);
  swap(&b->op_at, &u->op_at, sizeof b->op_at);
  swap(&b->op_on_at, &u->op_on_at, sizeof b->op_on_at);
  swap(&b->arg_at, &u->arg_at, sizeof b->arg_at);
  swap(&b->uses, &u->uses, sizeof b->uses);
  swap(&b->scratches, &u->scratches, sizeof b->scratches);
  swap(&b->afters, &u->afters, sizeof b->afters);
  swap(&b->inplaces, &u->inplaces, sizeof b->inplaces);
}

static void free_unroller(unroller *u) {
  fsched_context *ctx = u->b->ctx;
  fs_names_free(&u->names);
  fs_vec_free(ctx, &u->op);
  fs_vec_free(ctx, &u->arg);
  fs_vec_free(ctx, &u->op_at);
  fs_vec_free(ctx, &u->op_on_at);
  fs_vec_free(ctx, &u->arg_at);
  fs_item_list *list[] = {&u->uses, &u->scratches, &u->afters, &u->inplaces};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    fs_vec_free(ctx, &list[i]->item);
    fs_vec_free(ctx, &list[i]->at);
  }
}

static fs_status unroll(unroller *u, fs_arena *scratch) {
  fsched_builder *b = u->b;
  FS_TRY(fs_bodies_make(b, scratch, false, &u->in));
  for (uint32_t op = 0; op < u->in.n_ops; op++) {
    FS_TRY(fs_vec_push(b->ctx, &b->loop_of, u->in.loop_of[op]));
  }
  for (uint32_t l = 0; l < b->loop.n; l++) {
    b->loop.at[l].trip = u->in.trip[l];
  }
  FS_TRY(unroll_body(u, FS_NONE, 0, u->in.n_ops));
  exchange(u);
  b->unrolled = true;
  b->n_named = (uint32_t)b->buffer_size.n;
  return fs_builder_carry(b, u->in.carry0);
}

fs_status fs_builder_unroll(fsched_builder *b) {
  check_params(b);
  if (b->loop.n == 0) {
    return FSCHED_OK;
  }
  if (b->open_loop != FS_NONE) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, fs_pos_at(&b->loop_at, b->open_loop), NULL,
                           "loop '%s' is not ended", b->loops.text.at[b->open_loop]);
  }
  if (!b->unroll) {
    return fs_builder_roll(b);
  }
  unroller u = {.b = b};
  FS_SCRATCH(scratch, b->ctx);
  fs_names_init(&u.names, &b->arena);
  fs_status status = unroll(&u, &scratch);
  free_unroller(&u);
  return status;
}

fs_status fs_builder_keep_loops(fsched_builder *b, fsched_graph *g) {
  if (!b->unrolled) {
    return FSCHED_OK;
  }
  g->n_loops = (uint32_t)b->loop.n;
  g->n_body_ops = (uint32_t)b->loop_of.n;
  assert(b->origin.n == g->n_ops);
  FS_TRY(fs_new(&b->arena, &g->loop, g->n_loops));
  FS_TRY(fs_new(&b->arena, &g->body_op_loop, g->n_body_ops));
  FS_TRY(fs_new(&b->arena, &g->op_body_op, g->n_ops));
  for (uint32_t l = 0; l < g->n_loops; l++) {
    const fs_loop_draft *loop = &b->loop.at[l];
    g->loop[l] = (fs_graph_loop){b->loops.text.at[l], loop->parent, loop->trip};
  }
  for (uint32_t op = 0; op < g->n_body_ops; op++) {
    g->body_op_loop[op] = b->loop_of.at[op];
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    g->op_body_op[op] = b->origin.at[op];
  }
  g->n_named = b->n_named;
  g->n_rings = (uint32_t)b->ring.n;
  FS_TRY(fs_new(&b->arena, &g->ring, g->n_rings));
  for (uint32_t r = 0; r < g->n_rings; r++) {
    const fs_ring_draft *ring = &b->ring.at[r];
    g->ring[r] = (fs_graph_ring){ring->op, ring->arg, ring->depth, ring->every};
  }
  return FSCHED_OK;
}
