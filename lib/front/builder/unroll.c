/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: loops are replaced by their unrolling.
 *
 * The instances of a body's ops are numbered in program order, so an instance has the place
 *
 *   op_place + sum over the loops around the op of (loop_place + iteration * loop_count)
 *
 * where a place counts the instances before it in one iteration of the loop around it, and
 * loop_count those of one iteration.  `after` is computed from this, and may so name instances to
 * come.  What the walk that finds versions needs of iterations is listed: carry, mark and past
 * (private.h). Cost: O(instances, with their args and entries). */
#include <stdio.h>

#include "front/builder/private.h"

typedef struct unroller {
  fsched_builder *b;
  uint32_t n_ops;       /* as described */
  uint32_t *loop_of;    /* per op: the innermost loop, or FS_NONE */
  uint64_t *op_place;   /* per op */
  uint64_t *loop_place; /* per loop */
  uint64_t *loop_count; /* per loop */
  uint64_t *trip;       /* per loop */
  uint8_t *carries;     /* per loop: some op of its body reads a carried value */
  uint32_t *moving0;    /* CSR: the moving args of each op */
  uint32_t *carry;      /* per moving arg: index into b->carry, or FS_NONE */
  uint32_t *use0, *scratch0, *after0, *inplace0;
  uint64_t index[FSCHED_MAX_LOOPS]; /* the iterations around the op at hand, outermost first */
  fs_names names;
  FS_VEC(fs_op_draft) op;
  FS_VEC(fs_arg_draft) arg;
  fs_pos_list op_at, op_on_at, arg_at;
  fs_item_list uses, scratches, afters, inplaces;
} unroller;

static fs_loop_draft *loop_at(const unroller *u, uint32_t loop) {
  assert(loop < u->b->loop.n);
  return &u->b->loop.at[loop];
}

static const char *loop_name(const unroller *u, uint32_t loop) { return u->b->loops.text.at[loop]; }

static uint32_t depth_of(const unroller *u, uint32_t loop) {
  return loop == FS_NONE ? 0 : loop_at(u, loop)->depth;
}

/* The innermost loop around both; FS_NONE: there is none, or one of them is FS_NONE. */
static uint32_t loop_around_both(const unroller *u, uint32_t a, uint32_t c) {
  while (a != c) {
    if (depth_of(u, a) >= depth_of(u, c)) {
      a = loop_at(u, a)->parent;
    } else {
      c = loop_at(u, c)->parent;
    }
  }
  return a;
}

static uint32_t end_of_args(const unroller *u, uint32_t op) {
  return op + 1 == u->n_ops ? (uint32_t)u->b->arg.n : u->b->op.at[op + 1].arg0;
}

/* Whether `op` begins a version of the buffer. */
static bool begins_buffer(const unroller *u, uint32_t op, uint32_t buffer) {
  for (uint32_t arg = u->b->op.at[op].arg0; arg < end_of_args(u, op); arg++) {
    if (fs_tag_begins(u->b->arg.at[arg].tag) && u->b->arg.at[arg].buffer == buffer) {
      return true;
    }
  }
  return false;
}

/* The op of a body, not of loops inside, that begins the versions of a buffer; FS_NONE: none does.
 */
static uint32_t writer_in(const unroller *u, uint32_t loop, uint32_t buffer) {
  for (uint32_t op = loop_at(u, loop)->op0; op < loop_at(u, loop)->op_end; op++) {
    if (u->loop_of[op] == loop && begins_buffer(u, op, buffer)) {
      return op;
    }
  }
  return FS_NONE;
}

static fs_status make_tables(unroller *u, fs_arena *scratch) {
  fsched_builder *b = u->b;
  u->n_ops = (uint32_t)b->op.n;
  FS_TRY(fs_new_none(scratch, &u->loop_of, u->n_ops));
  FS_TRY(fs_new_zero(scratch, &u->op_place, u->n_ops));
  FS_TRY(fs_new_zero(scratch, &u->loop_place, b->loop.n));
  FS_TRY(fs_new_zero(scratch, &u->loop_count, b->loop.n));
  FS_TRY(fs_new_zero(scratch, &u->trip, b->loop.n));
  FS_TRY(fs_new_zero(scratch, &u->carries, b->loop.n));
  FS_TRY(fs_new_zero(scratch, &u->moving0, (size_t)u->n_ops + 1));
  FS_TRY(fs_new_none(scratch, &u->carry, b->moving.n));
  for (uint32_t l = 0; l < b->loop.n; l++) { /* those inside come later */
    for (uint32_t op = b->loop.at[l].op0; op < b->loop.at[l].op_end; op++) {
      u->loop_of[op] = l;
    }
  }
  uint32_t m = 0;
  for (uint32_t op = 0; op < u->n_ops; op++) {
    u->moving0[op] = m;
    while (m < b->moving.n && b->moving.at[m].arg < end_of_args(u, op)) {
      m++;
    }
  }
  u->moving0[u->n_ops] = m;
  return FSCHED_OK;
}

/* Finds the trips, some of which parameters give. */
static void find_trips(unroller *u) {
  fsched_builder *b = u->b;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    const fs_loop_draft *loop = &b->loop.at[l];
    u->trip[l] = loop->trip;
    if (loop->param == FS_NONE) {
      continue;
    }
    const char *name = b->words.text.at[loop->param];
    uint32_t id = fs_names_find(&b->params, name, strlen(name));
    if (id == FS_NONE) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, fs_pos_at(&b->loop_at, l),
                            "--set-param (fsched_builder_param) gives it",
                            "loop '%.80s' is unrolled, and its trips '%.80s' have no value",
                            loop_name(u, l), name);
      b->usage = true;
    } else if (b->param.at[id] < loop->least || b->param.at[id] > loop->most) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, fs_pos_at(&b->loop_at, l), NULL,
                            "'%.80s' is %llu, and loop '%.80s' takes %llu to %llu", name,
                            (unsigned long long)b->param.at[id], loop_name(u, l),
                            (unsigned long long)loop->least, (unsigned long long)loop->most);
      b->usage = true;
    } else {
      u->trip[l] = b->param.at[id];
    }
  }
}

/* Refuses loops with the name of an op: `after` could not tell them apart. */
static void check_names(unroller *u) {
  fsched_builder *b = u->b;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    const char *name = loop_name(u, l);
    if (fs_names_find(&b->ops, name, strlen(name)) != FS_NONE) {
      (void)fs_builder_fail(b, FS_DIAG_REPEATED_NAME, fs_pos_at(&b->loop_at, l), NULL,
                            "there is an op '%.80s', and a loop of this name", name);
    }
  }
}

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

/* Refuses a second `out` of one buffer in one body. */
static fs_status check_outs(unroller *u, fs_arena *scratch) {
  fsched_builder *b = u->b;
  uint32_t *begun; /* per buffer: the last loop whose body begins it */
  FS_TRY(fs_new_none(scratch, &begun, b->buffer_size.n));
  for (uint32_t l = 0; l < b->loop.n; l++) {
    for (uint32_t op = b->loop.at[l].op0; op < b->loop.at[l].op_end; op++) {
      for (uint32_t arg = b->op.at[op].arg0; arg < end_of_args(u, op); arg++) {
        uint32_t buffer = b->arg.at[arg].buffer;
        if (u->loop_of[op] != l || !fs_tag_begins(b->arg.at[arg].tag)) {
          continue;
        }
        if (begun[buffer] == l) {
          (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, fs_pos_at(&b->arg_at, arg),
                                "use 'inout' or 'out_existing', or another buffer",
                                "the body of loop '%.80s' has two 'out' of buffer '%.80s'",
                                loop_name(u, l), b->buffers.text.at[buffer]);
        }
        begun[buffer] = l;
      }
    }
  }
  return FSCHED_OK;
}

/* Checks where a range begins in all iterations, at the most trips. */
static void check_steps(unroller *u, uint32_t op, const fs_moving_draft *m) {
  fsched_builder *b = u->b;
  const fs_arg_draft *a = &b->arg.at[m->arg];
  int64_t size = (int64_t)b->buffer_size.at[a->buffer];
  int64_t least = (int64_t)fs_min(a->offset, FSCHED_MAX_SIZE);
  int64_t most = least;
  bool runs = true;
  uint32_t loop = u->loop_of[op];
  for (uint32_t i = m->n_steps; i-- > 0; loop = loop_at(u, loop)->parent) {
    uint64_t last = loop_at(u, loop)->most;
    int64_t step = b->step.at[m->step0 + i];
    runs = runs && last > 0;
    if (step == 0 || last == 0) {
      continue;
    }
    if (writer_in(u, loop, a->buffer) != FS_NONE) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, fs_pos_at(&b->arg_at, m->arg), NULL,
                            "op '%.80s' moves over '%.80s' with loop '%.80s', which begins it anew",
                            b->ops.text.at[op], b->buffers.text.at[a->buffer], loop_name(u, loop));
      return;
    }
    uint64_t length = step < 0 ? (uint64_t)-step : (uint64_t)step;
    int64_t way = (int64_t)fs_min(last - 1, (FSCHED_MAX_SIZE + 1) / length + 1) * step;
    least += step < 0 ? way : 0;
    most += step < 0 ? 0 : way;
  }
  if (runs && (least < 0 || most >= (int64_t)fs_max((uint64_t)size, 1))) {
    (void)fs_builder_fail(
        b, FS_DIAG_AT_OUTSIDE, fs_pos_at(&b->arg_at, m->arg), NULL,
        "op '%.80s': in some iteration the range of '%.80s' begins outside of its "
        "%lld bytes",
        b->ops.text.at[op], b->buffers.text.at[a->buffer], (long long)size);
  }
}

/* Notes that a value is carried; equal ones once. */
static fs_status add_carry(unroller *u, uint32_t moving, uint32_t loop, uint32_t buffer) {
  fsched_builder *b = u->b;
  u->carries[loop] = 1;
  uint32_t at = 0;
  while (at < b->carry.n && (b->carry.at[at].loop != loop || b->carry.at[at].buffer != buffer)) {
    at++;
  }
  u->carry[moving] = at;
  return at < b->carry.n ? FSCHED_OK : fs_vec_push(b->ctx, &b->carry, ((fs_carry){loop, buffer}));
}

static fs_status check_moving_args(unroller *u) {
  fsched_builder *b = u->b;
  for (uint32_t op = 0; op < u->n_ops; op++) {
    for (uint32_t i = u->moving0[op]; i < u->moving0[op + 1]; i++) {
      const fs_moving_draft *m = &b->moving.at[i];
      if (m->n_steps > 0) {
        check_steps(u, op, m);
      }
      if (m->distance > 0) {
        FS_TRY(add_carry(u, i, u->loop_of[op], b->arg.at[m->arg].buffer));
      }
    }
  }
  return FSCHED_OK;
}

/* Whether an op writes a buffer in its old place. */
static bool in_its_place(const unroller *u, uint32_t op, uint32_t buffer) {
  for (uint32_t i = u->inplace0[op]; i < u->inplace0[op + 1]; i++) {
    const fs_item_draft *x = &u->b->inplaces.item.at[i];
    if (x->a == buffer && x->b == buffer) {
      return true;
    }
  }
  return false;
}

/* The depth that an op of the ring's body needs: the value of d iterations ago is there until the
 * op has read it, and that of this one, unless it is begun only then. */
static uint64_t depth_for(const unroller *u, const fs_ring_draft *ring, uint32_t writer,
                          uint32_t op) {
  uint64_t need = 1;
  for (uint32_t i = u->moving0[op]; i < u->moving0[op + 1]; i++) {
    const fs_moving_draft *m = &u->b->moving.at[i];
    if (m->distance > 0 && u->b->arg.at[m->arg].buffer == ring->buffer) {
      bool before = op < writer || (op == writer && in_its_place(u, op, ring->buffer));
      need = fs_max(need, before ? m->distance : m->distance + 1);
    }
  }
  return need;
}

static void check_rings(unroller *u) {
  fsched_builder *b = u->b;
  for (size_t r = 0; r < b->ring.n; r++) {
    const fs_ring_draft *ring = &b->ring.at[r];
    const fs_loop_draft *loop = loop_at(u, ring->loop);
    const char *name = b->buffers.text.at[ring->buffer];
    uint32_t writer = writer_in(u, ring->loop, ring->buffer);
    if (writer == FS_NONE) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, ring->at, NULL,
                            "no op of the body of loop '%.80s' begins '%.80s' by an 'out'",
                            loop_name(u, ring->loop), name);
      continue;
    }
    uint64_t need = 1;
    for (uint32_t op = loop->op0; op < loop->op_end; op++) {
      if (u->loop_of[op] == ring->loop) {
        need = fs_max(need, depth_for(u, ring, writer, op));
      }
    }
    if (ring->depth > 0 && ring->depth < need) {
      (void)fs_builder_fail(
          b, FS_DIAG_BAD_LOOP, ring->at, NULL,
          "the depth of '%.80s' is %llu, and the values of earlier iterations that "
          "are read take %llu",
          name, (unsigned long long)ring->depth, (unsigned long long)need);
    }
  }
}

/* Checks what an `after` names. */
static void check_after(unroller *u, const fs_item_draft *x, fs_pos at) {
  fsched_builder *b = u->b;
  const char *op = b->ops.text.at[x->op];
  if (x->a >= (x->b ? b->loop.n : u->n_ops)) {
    (void)fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, at, NULL,
                          "op '%s' is after %s %u, which was never added", op, x->b ? "loop" : "op",
                          x->a);
    return;
  }
  uint32_t both = loop_around_both(u, u->loop_of[x->op], x->b ? x->a : u->loop_of[x->a]);
  if (x->b && both == x->a) {
    (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, at, NULL,
                          "op '%.80s' is after loop '%.80s', and is in it", op, loop_name(u, x->a));
  } else if (x->amount > 0 && both == FS_NONE) {
    (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, at, NULL,
                          "the distance of op '%.80s' counts iterations of a loop around both, and "
                          "there is none",
                          op);
  }
}

/* Adds what an item of a body takes to the count of one iteration. */
static void add_place(uint64_t *place, uint64_t count) {
  *place = fs_min(*place + count, (uint64_t)1 << 62);
}

/* Numbers the instances, and counts them. */
static uint64_t number_instances(unroller *u) {
  uint64_t top = 0;
  uint32_t inner = FS_NONE; /* the innermost loop that is open */
  uint32_t next = 0;
  for (uint32_t op = 0; op <= u->n_ops; op++) {
    while (inner != FS_NONE && loop_at(u, inner)->op_end == op) {
      uint32_t outer = loop_at(u, inner)->parent;
      uint64_t n = u->loop_count[inner];
      uint64_t all = n > 0 && u->trip[inner] > INT32_MAX ? INT32_MAX : u->trip[inner];
      add_place(outer == FS_NONE ? &top : &u->loop_count[outer],
                fs_min(n, INT32_MAX) * (n > 0 ? all : 0));
      inner = outer;
    }
    for (; next < u->b->loop.n && u->b->loop.at[next].op0 == op; next++) {
      if (u->b->loop.at[next].op_end > op) { /* the others hold no op */
        uint32_t outer = u->b->loop.at[next].parent;
        u->loop_place[next] = outer == FS_NONE ? top : u->loop_count[outer];
        inner = next;
      }
    }
    if (op < u->n_ops) {
      uint64_t *place = inner == FS_NONE ? &top : &u->loop_count[inner];
      u->op_place[op] = (*place)++;
    }
  }
  return top;
}

/* The checks; also of what the unrolling needs. */
static fs_status check_loops(unroller *u, fs_arena *scratch) {
  fsched_builder *b = u->b;
  FS_TRY(fs_builder_sort_items(b, u->n_ops, &b->uses, &u->use0));
  FS_TRY(fs_builder_sort_items(b, u->n_ops, &b->scratches, &u->scratch0));
  FS_TRY(fs_builder_sort_items(b, u->n_ops, &b->afters, &u->after0));
  FS_TRY(fs_builder_sort_items(b, u->n_ops, &b->inplaces, &u->inplace0));
  find_trips(u);
  check_names(u);
  FS_TRY(check_outs(u, scratch));
  FS_TRY(check_moving_args(u));
  check_rings(u);
  for (size_t i = 0; i < b->afters.item.n; i++) {
    check_after(u, &b->afters.item.at[i], fs_pos_at(&b->afters.at, i));
  }
  uint64_t n = number_instances(u);
  if (n >= INT32_MAX) {
    (void)fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&b->loop_at, 0), NULL,
                          "unrolled, the graph has more than %d ops", INT32_MAX);
  }
  return FSCHED_OK;
}

/* Adds an item for an instance. */
static fs_status add_item(unroller *u, fs_item_list *list, fs_item_draft x, fs_pos at) {
  if (list->item.n >= INT32_MAX) {
    return fs_builder_fail(u->b, FS_DIAG_OUT_OF_RANGE, FS_NOWHERE, NULL,
                           "unrolled, the graph has more than %d entries", INT32_MAX);
  }
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
  for (; loop != FS_NONE; loop = loop_at(u, loop)->parent) {
    uint64_t i = u->index[depth_of(u, loop) - 1] - distance;
    place += u->loop_place[loop] + i * u->loop_count[loop];
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
  inner_loops inner = {.n = depth_of(u, around) - depth_of(u, both)};
  for (uint32_t i = inner.n; i-- > 0; around = loop_at(u, around)->parent) {
    inner.loop[i] = around;
  }
  return inner;
}

/* Adds all instances of a loop's ops, of all its runs from `place` on in the loops that follow
 * level. */
static fs_status after_runs(unroller *u, const fs_item_draft *x, fs_pos at,
                            const inner_loops *inner, uint32_t level, uint64_t place) {
  uint32_t loop = level < inner->n ? inner->loop[level] : x->a;
  place += u->loop_place[loop];
  if (u->loop_count[loop] == 0) {
    return FSCHED_OK;
  }
  for (uint64_t i = 0; level < inner->n && i < u->trip[loop]; i++) {
    FS_TRY(after_runs(u, x, at, inner, level + 1, place + i * u->loop_count[loop]));
  }
  for (uint64_t i = 0; level == inner->n && i < u->trip[loop] * u->loop_count[loop]; i++) {
    fs_item_draft y = {.op = (uint32_t)u->op.n - 1, .a = (uint32_t)(place + i)};
    FS_TRY(add_item(u, &u->afters, y, at));
  }
  return FSCHED_OK;
}

/* Adds the instances that an `after` names: the last one of an op, and all of a loop, in the
 * iteration of the loops around both.  `op` is as described. */
static fs_status unroll_after(unroller *u, uint32_t op, const fs_item_draft *x, fs_pos at) {
  uint32_t around = x->b ? loop_at(u, x->a)->parent : u->loop_of[x->a];
  uint32_t both = loop_around_both(u, u->loop_of[op], around);
  if (both != FS_NONE && x->amount > u->index[depth_of(u, both) - 1]) {
    return FSCHED_OK; /* there was no such iteration */
  }
  uint64_t place = place_of_iteration(u, both, x->amount);
  inner_loops inner = loops_between(u, both, around);
  if (x->b) {
    return after_runs(u, x, at, &inner, 0, place);
  }
  for (uint32_t i = 0; i < inner.n; i++) {
    uint32_t loop = inner.loop[i];
    if (u->trip[loop] == 0) {
      return FSCHED_OK;
    }
    place += u->loop_place[loop] + (u->trip[loop] - 1) * u->loop_count[loop];
  }
  fs_item_draft y = {.op = (uint32_t)u->op.n - 1, .a = (uint32_t)(place + u->op_place[x->a])};
  return add_item(u, &u->afters, y, at);
}

static fs_status unroll_arg(unroller *u, uint32_t arg, const fs_moving_draft *m, uint32_t carry) {
  fsched_builder *b = u->b;
  fs_arg_draft a = b->arg.at[arg];
  if (u->arg.n >= INT32_MAX) {
    return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, FS_NOWHERE, NULL,
                           "unrolled, the graph has more than %d args", INT32_MAX);
  }
  if (m != NULL && m->n_steps > 0) {
    for (uint32_t i = 0; i < m->n_steps; i++) { /* modulo 2^64; the sum is in the buffer */
      a.offset += (uint64_t)b->step.at[m->step0 + i] * u->index[i];
    }
    a.u.length = fs_min(a.u.length, b->buffer_size.at[a.buffer] - a.offset);
  }
  if (m != NULL && m->distance > 0) {
    uint64_t i = u->index[depth_of(u, b->carry.at[carry].loop) - 1];
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
  for (uint32_t i = 0; i < depth_of(u, u->loop_of[op]); i++) {
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
  FS_TRY(fs_builder_place(b, &u->op_at, id, fs_pos_at(&b->op_at, op)));
  FS_TRY(fs_builder_place(b, &u->op_on_at, id, fs_pos_at(&b->op_on_at, op)));
  uint32_t m = u->moving0[op];
  for (uint32_t arg = b->op.at[op].arg0; arg < end_of_args(u, op); arg++) {
    bool moves = m < u->moving0[op + 1] && b->moving.at[m].arg == arg;
    FS_TRY(unroll_arg(u, arg, moves ? &b->moving.at[m] : NULL, moves ? u->carry[m] : FS_NONE));
    m += moves;
  }
  FS_TRY(copy_items(u, &b->uses, u->use0, op, &u->uses));
  FS_TRY(copy_items(u, &b->scratches, u->scratch0, op, &u->scratches));
  FS_TRY(copy_items(u, &b->inplaces, u->inplace0, op, &u->inplaces));
  for (uint32_t i = u->after0[op]; i < u->after0[op + 1]; i++) {
    FS_TRY(unroll_after(u, op, &b->afters.item.at[i], fs_pos_at(&b->afters.at, i)));
  }
  return FSCHED_OK;
}

/* Marks a run's begin or an iteration's end, where a value is carried from there. */
static fs_status mark(unroller *u, uint32_t loop, bool begin) {
  fs_mark m = {(uint32_t)u->op.n, loop, begin};
  return u->carries[loop] ? fs_vec_push(u->b->ctx, &u->b->mark, m) : FSCHED_OK;
}

/* Unrolls the ops from op0 to op_end, which are in `loop`.  The recursion is as deep as loops nest.
 */
static fs_status unroll_body(unroller *u, uint32_t loop, uint32_t op0, uint32_t op_end) {
  for (uint32_t op = op0; op < op_end;) {
    uint32_t inner = u->loop_of[op];
    if (inner == loop) {
      FS_TRY(unroll_op(u, op++));
      continue;
    }
    while (loop_at(u, inner)->parent != loop) {
      inner = loop_at(u, inner)->parent;
    }
    uint64_t trip = u->loop_count[inner] == 0 ? 0 : u->trip[inner]; /* nothing runs in it */
    FS_TRY(mark(u, inner, true));
    for (uint64_t i = 0; i < trip; i++) {
      u->index[depth_of(u, inner) - 1] = i;
      FS_TRY(unroll_body(u, inner, op, loop_at(u, inner)->op_end));
      FS_TRY(mark(u, inner, false));
    }
    op = loop_at(u, inner)->op_end;
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
  FS_TRY(make_tables(u, scratch));
  uint32_t errors = fsched_diag_errors(b->ctx);
  FS_TRY(check_loops(u, scratch));
  if (fsched_diag_errors(b->ctx) != errors) {
    return FSCHED_BAD_INPUT;
  }
  FS_TRY(unroll_body(u, FS_NONE, 0, u->n_ops));
  exchange(u);
  b->unrolled = true;
  return fs_builder_carry(b);
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
    return fs_builder_fail(b, FS_DIAG_UNSUPPORTED, fs_pos_at(&b->loop_at, 0),
                           "--unroll (fsched_builder_unroll) makes a graph of its iterations",
                           "this version compiles loop '%.80s' unrolled only", b->loops.text.at[0]);
  }
  unroller u = {.b = b};
  FS_SCRATCH(scratch, b->ctx);
  fs_names_init(&u.names, &b->arena);
  fs_status status = unroll(&u, &scratch);
  free_unroller(&u);
  return status;
}
