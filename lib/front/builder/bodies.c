/* SPDX-License-Identifier: Apache-2.0 */
#include "front/builder/bodies.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/group.h"
#include "base/saturate.h"

/* What a graph may become when it is unrolled. */
enum { MOST_OPS = 1 << 24, MOST_ITEMS = 1 << 26 };

static const char *loop_name(const fs_bodies *u, uint32_t loop) {
  return u->b->loops.text.at[loop];
}

static uint64_t key_of(uint32_t loop, uint32_t buffer) { return (uint64_t)loop << 32 | buffer; }

static int by_key(const void *a, const void *c) {
  const fs_begun *x = a, *y = c;
  return x->key != y->key   ? (x->key < y->key ? -1 : 1)
         : x->arg != y->arg ? (x->arg < y->arg ? -1 : 1)
                            : 0;
}

/* What a body, not those of loops inside, begins of a buffer; NULL: nothing. */
static fs_begun *begun_in(const fs_bodies *u, uint32_t loop, uint32_t buffer) {
  uint64_t key = key_of(loop, buffer);
  uint32_t low = 0, high = u->n_begun;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (u->begun[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < u->n_begun && u->begun[low].key == key ? &u->begun[low] : NULL;
}

bool fs_bodies_begin(const fs_bodies *u, uint32_t loop, uint32_t buffer) {
  return loop != FS_NONE && begun_in(u, loop, buffer) != NULL;
}

/* Lists what bodies begin. */
static fs_status list_begun(fs_bodies *u, fs_arena *scratch) {
  fsched_builder *b = u->b;
  uint32_t n = 0;
  for (uint32_t arg = 0; arg < b->arg.n; arg++) {
    n += fs_tag_begins(b->arg.at[arg].tag);
  }
  FS_TRY(fs_new(scratch, &u->begun, n));
  for (uint32_t op = 0; op < u->n_ops; op++) {
    uint32_t loop = u->loop_of[op];
    for (uint32_t arg = b->op.at[op].arg0; loop != FS_NONE && arg < fs_builder_args_end(b, op);
         arg++) {
      if (fs_tag_begins(b->arg.at[arg].tag)) {
        u->begun[u->n_begun++] = (fs_begun){key_of(loop, b->arg.at[arg].buffer), 1, op, arg};
      }
    }
  }
  qsort(u->begun, u->n_begun, sizeof *u->begun, by_key);
  return FSCHED_OK;
}

static int by_value(const void *a, const void *c) {
  const uint64_t *x = a, *y = c;
  return *x < *y ? -1 : *x > *y;
}

/* Lists what loops begin, with the loops inside. */
static fs_status list_within(fs_bodies *u, fs_arena *scratch) {
  size_t n = 0;
  for (uint32_t i = 0; i < u->n_begun; i++) {
    for (uint32_t l = (uint32_t)(u->begun[i].key >> 32); l != FS_NONE;
         l = fs_loop_at(u->b, l)->parent) {
      n++;
    }
  }
  FS_TRY(fs_new(scratch, &u->within, n));
  for (uint32_t i = 0; i < u->n_begun; i++) {
    for (uint32_t l = (uint32_t)(u->begun[i].key >> 32); l != FS_NONE;
         l = fs_loop_at(u->b, l)->parent) {
      u->within[u->n_within++] = key_of(l, (uint32_t)u->begun[i].key);
    }
  }
  qsort(u->within, u->n_within, sizeof *u->within, by_value);
  return FSCHED_OK;
}

/* Does the loop begin the buffer, itself or by one inside? */
static bool begins_within(const fs_bodies *u, uint32_t loop, uint32_t buffer) {
  uint64_t key = key_of(loop, buffer);
  return u->n_within > 0 && bsearch(&key, u->within, u->n_within, sizeof key, by_value) != NULL;
}

static fs_status make_tables(fs_bodies *u, fs_arena *scratch) {
  fsched_builder *b = u->b;
  u->n_ops = (uint32_t)b->op.n;
  FS_TRY(fs_new_none(scratch, &u->loop_of, u->n_ops));
  FS_TRY(fs_new_zero(scratch, &u->op_place, u->n_ops));
  FS_TRY(fs_new_zero(scratch, &u->loop_place, b->loop.n));
  FS_TRY(fs_new_zero(scratch, &u->loop_count, b->loop.n));
  FS_TRY(fs_new_zero(scratch, &u->trip, b->loop.n));
  FS_TRY(fs_new_zero(scratch, &u->least, b->loop.n));
  FS_TRY(fs_new_none(scratch, &u->param, b->loop.n));
  FS_TRY(fs_new_zero(scratch, &u->moving0, (size_t)u->n_ops + 1));
  FS_TRY(fs_new_none(scratch, &u->carry, b->moving.n));
  FS_TRY(fs_new_zero(scratch, &u->carry0, b->loop.n + 1));
  for (uint32_t l = 0; l < b->loop.n; l++) { /* those inside come later */
    for (uint32_t op = b->loop.at[l].op0; op < b->loop.at[l].op_end; op++) {
      u->loop_of[op] = l;
    }
  }
  uint32_t m = 0;
  for (uint32_t op = 0; op < u->n_ops; op++) {
    u->moving0[op] = m;
    while (m < b->moving.n && b->moving.at[m].arg < fs_builder_args_end(b, op)) {
      m++;
    }
  }
  u->moving0[u->n_ops] = m;
  FS_TRY(list_begun(u, scratch));
  return list_within(u, scratch);
}

/* The value of a loop's parameter; FS_NONE: it has none. */
static uint32_t value_of_param(const fsched_builder *b, uint32_t l) {
  const char *name = b->words.text.at[b->loop.at[l].param];
  return fs_names_find(&b->params, name, strlen(name));
}

uint64_t fs_bodies_trip(const fsched_builder *b, uint32_t l) {
  assert(l < b->loop.n);
  const fs_loop_draft *loop = &b->loop.at[l];
  if (loop->param == FS_NONE) {
    return loop->trip;
  }
  uint32_t value = value_of_param(b, l);
  uint64_t most = value == FS_NONE ? loop->most : b->param.at[value];
  for (uint32_t k = 0; k < b->loop.n && value == FS_NONE; k++) {
    most = b->loop.at[k].param == loop->param ? fs_min(most, b->loop.at[k].most) : most;
  }
  return most;
}

/* A parameter that has no value: invocations give it, to all loops that take it, so it is in the
 * ranges of all. */
static void leave_open(fs_bodies *u, uint32_t l) {
  const fsched_builder *b = u->b;
  const fs_loop_draft *loop = &b->loop.at[l];
  u->param[l] = loop->param;
  u->least[l] = loop->least;
  u->trip[l] = fs_bodies_trip(b, l);
  for (uint32_t k = 0; k < b->loop.n; k++) {
    const fs_loop_draft *other = &b->loop.at[k];
    u->least[l] = other->param == loop->param ? fs_max(u->least[l], other->least) : u->least[l];
  }
  if (u->least[l] > u->trip[l]) {
    (void)fs_builder_fail(u->b, FS_DIAG_BAD_LOOP, fs_pos_at(&b->loop_at, l), NULL,
                          "no number of trips '%.80s' is in the ranges of all loops that take it",
                          b->words.text.at[loop->param]);
  }
}

/* Finds the trips of a loop that a parameter gives. */
static void find_param(fs_bodies *u, uint32_t l, bool rolled) {
  fsched_builder *b = u->b;
  const fs_loop_draft *loop = &b->loop.at[l];
  const char *name = b->words.text.at[loop->param];
  uint32_t id = value_of_param(b, l);
  if (id == FS_NONE && (rolled || b->unplanned)) {
    leave_open(u, l);
  } else if (id == FS_NONE) {
    (void)fs_builder_fail(
        b, FS_DIAG_BAD_LOOP, fs_pos_at(&b->loop_at, l),
        "--set-param (fsched_builder_param) gives it",
        "loop '%.80s' is unrolled for a number of trips, and '%.80s' has no value", loop_name(u, l),
        name);
    b->usage = true;
  } else if (b->param.at[id] < loop->least || b->param.at[id] > loop->most) {
    (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, fs_pos_at(&b->loop_at, l), NULL,
                          "'%.80s' is %llu, and loop '%.80s' takes %llu to %llu", name,
                          (unsigned long long)b->param.at[id], loop_name(u, l),
                          (unsigned long long)loop->least, (unsigned long long)loop->most);
    b->usage = true;
  } else {
    u->trip[l] = u->least[l] = b->param.at[id];
  }
}

/* Finds the trips, some of which parameters give. */
static void find_trips(fs_bodies *u, bool rolled) {
  for (uint32_t l = 0; l < u->b->loop.n; l++) {
    u->trip[l] = u->least[l] = u->b->loop.at[l].trip;
    if (u->b->loop.at[l].param != FS_NONE) {
      find_param(u, l, rolled);
    }
  }
}

/* Refuses loops with the name of an op: `after` could not tell them apart. */
static void check_names(fs_bodies *u) {
  fsched_builder *b = u->b;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    const char *name = loop_name(u, l);
    if (!b->loop.at[l].gone && fs_names_find(&b->ops, name, strlen(name)) != FS_NONE) {
      (void)fs_builder_fail(b, FS_DIAG_REPEATED_NAME, fs_pos_at(&b->loop_at, l), NULL,
                            "there is an op '%.80s', and a loop of this name", name);
    }
  }
}

/* Refuses a second `out` of one buffer in one body. */
static void check_outs(fs_bodies *u) {
  fsched_builder *b = u->b;
  for (uint32_t i = 1; i < u->n_begun; i++) {
    if (u->begun[i].key == u->begun[i - 1].key) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, fs_pos_at(&b->arg_at, u->begun[i].arg),
                            "use 'inout' or 'out_existing', or another buffer",
                            "the body of loop '%.80s' has two 'out' of buffer '%.80s'",
                            loop_name(u, (uint32_t)(u->begun[i].key >> 32)),
                            b->buffers.text.at[(uint32_t)u->begun[i].key]);
    }
  }
}

/* Checks where a range begins in all iterations, at the most trips. */
static void check_steps(fs_bodies *u, uint32_t op, const fs_moving_draft *m) {
  fsched_builder *b = u->b;
  const fs_arg_draft *a = &b->arg.at[m->arg];
  int64_t size = (int64_t)b->buffer_size.at[a->buffer];
  int64_t least = (int64_t)fs_min(a->offset, FSCHED_MAX_SIZE);
  int64_t most = least;
  bool runs = true;
  uint32_t loop = u->loop_of[op];
  for (uint32_t i = m->n_steps; i-- > 0; loop = fs_loop_at(u->b, loop)->parent) {
    uint64_t last = fs_loop_at(u->b, loop)->most;
    int64_t step = b->step.at[m->step0 + i];
    runs = runs && last > 0;
    if (step == 0 || last == 0) {
      continue;
    }
    if (begins_within(u, loop, a->buffer)) {
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
  bool view = a->view != FS_NONE;
  int64_t end = view ? (int64_t)a->u.length - 1 : 0; /* what passes the end of a range is cut off */
  if (runs && (least < 0 || most + end >= (int64_t)fs_max((uint64_t)size, 1))) {
    (void)fs_builder_fail(b, FS_DIAG_AT_OUTSIDE, fs_pos_at(&b->arg_at, m->arg), NULL,
                          "op '%.80s': in some iteration the %s of '%.80s' %s outside of its "
                          "%lld bytes",
                          b->ops.text.at[op], view ? "view" : "range",
                          b->buffers.text.at[a->buffer], view ? "has bytes" : "begins",
                          (long long)size);
  }
}

/* Lists the values that are carried, each once, by loops. */
static fs_status list_carries(fs_bodies *u, fs_arena *scratch) {
  fsched_builder *b = u->b;
  uint64_t *key;
  uint32_t n = 0, kept = 0;
  b->carry.n = 0;
  FS_TRY(fs_new(scratch, &key, b->moving.n));
  for (uint32_t op = 0; op < u->n_ops; op++) {
    for (uint32_t m = u->moving0[op]; m < u->moving0[op + 1]; m++) {
      if (b->moving.at[m].distance > 0) {
        key[n++] = key_of(u->loop_of[op], b->arg.at[b->moving.at[m].arg].buffer);
      }
    }
  }
  qsort(key, n, sizeof *key, by_value);
  for (uint32_t i = 0; i < n; i++) {
    if (kept == 0 || key[kept - 1] != key[i]) {
      key[kept++] = key[i];
      FS_TRY(
          fs_vec_push(b->ctx, &b->carry, ((fs_carry){(uint32_t)(key[i] >> 32), (uint32_t)key[i]})));
      u->carry0[(key[i] >> 32) + 1]++;
    }
  }
  fs_group_starts(u->carry0, (uint32_t)b->loop.n);
  for (uint32_t op = 0; op < u->n_ops; op++) {
    for (uint32_t m = u->moving0[op]; m < u->moving0[op + 1]; m++) {
      if (b->moving.at[m].distance > 0) {
        uint64_t mine = key_of(u->loop_of[op], b->arg.at[b->moving.at[m].arg].buffer);
        const uint64_t *found = bsearch(&mine, key, kept, sizeof *key, by_value);
        assert(found != NULL);
        u->carry[m] = (uint32_t)(found - key);
      }
    }
  }
  return FSCHED_OK;
}

static void check_moving_args(fs_bodies *u) {
  for (uint32_t op = 0; op < u->n_ops; op++) {
    for (uint32_t i = u->moving0[op]; i < u->moving0[op + 1]; i++) {
      if (u->b->moving.at[i].n_steps > 0) {
        check_steps(u, op, &u->b->moving.at[i]);
      }
    }
  }
}

/* Whether an op writes a buffer in its old place. */
static bool in_its_place(const fs_bodies *u, uint32_t op, uint32_t buffer) {
  for (uint32_t i = u->inplace0[op]; i < u->inplace0[op + 1]; i++) {
    const fs_item_draft *x = &u->b->inplaces.item.at[i];
    if (x->a == buffer && x->b == buffer) {
      return true;
    }
  }
  return false;
}

/* Finds the slots that carried values need: that of d iterations ago is there until the op has read
 * it, and that of this one, unless it is begun only then. */
static void find_needs(fs_bodies *u) {
  const fsched_builder *b = u->b;
  for (uint32_t op = 0; op < u->n_ops; op++) {
    for (uint32_t m = u->moving0[op]; m < u->moving0[op + 1]; m++) {
      uint64_t distance = b->moving.at[m].distance;
      uint32_t buffer = b->arg.at[b->moving.at[m].arg].buffer;
      fs_begun *begun = distance == 0 ? NULL : begun_in(u, u->loop_of[op], buffer);
      if (begun != NULL) {
        bool before = op < begun->op || (op == begun->op && in_its_place(u, op, buffer));
        begun->need = fs_max(begun->need, before ? distance : distance + 1);
      }
    }
  }
}

static int by_ring(const void *a, const void *c) {
  const fs_ring_draft *const *x = a, *const *y = c;
  uint64_t k = key_of((*x)->loop, (*x)->buffer), l = key_of((*y)->loop, (*y)->buffer);
  return k != l ? (k < l ? -1 : 1) : *x < *y ? -1 : *x > *y;
}

static void check_ring(fs_bodies *u, fs_ring_draft *ring) {
  fsched_builder *b = u->b;
  const char *name = b->buffers.text.at[ring->buffer];
  const fs_begun *begun = begun_in(u, ring->loop, ring->buffer);
  if (begun == NULL) {
    (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, ring->at, NULL,
                          "no op of the body of loop '%.80s' begins '%.80s' by an 'out'",
                          loop_name(u, ring->loop), name);
    return;
  }
  ring->op = begun->op;
  ring->in_place = in_its_place(u, begun->op, ring->buffer);
  ring->arg = begun->arg - b->op.at[begun->op].arg0;
  if (ring->depth > 0 && ring->depth < begun->need) {
    (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, ring->at, NULL,
                          "the depth of '%.80s' is %llu, and the values of earlier iterations that "
                          "are read take %llu",
                          name, (unsigned long long)ring->depth, (unsigned long long)begun->need);
  }
}

static fs_status check_rings(fs_bodies *u, fs_arena *scratch) {
  fsched_builder *b = u->b;
  fs_ring_draft **ring;
  FS_TRY(fs_new(scratch, &ring, b->ring.n));
  find_needs(u);
  for (size_t r = 0; r < b->ring.n; r++) {
    ring[r] = &b->ring.at[r];
    check_ring(u, ring[r]);
  }
  qsort(ring, b->ring.n, sizeof *ring, by_ring);
  for (size_t r = 1; r < b->ring.n; r++) {
    if (ring[r]->loop == ring[r - 1]->loop && ring[r]->buffer == ring[r - 1]->buffer) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, ring[r]->at, NULL,
                            "the slots of '%.80s' in loop '%.80s' are given twice",
                            b->buffers.text.at[ring[r]->buffer], loop_name(u, ring[r]->loop));
    }
  }
  return FSCHED_OK;
}

/* Checks what an `after` names. */
static void check_after(fs_bodies *u, const fs_item_draft *x, fs_pos at) {
  fsched_builder *b = u->b;
  const char *op = b->ops.text.at[x->op];
  if (x->a >= (x->b ? b->loop.n : u->n_ops)) {
    (void)fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, at, NULL,
                          "op '%s' is after %s %u, which was never added", op, x->b ? "loop" : "op",
                          x->a);
    return;
  }
  uint32_t both = fs_loop_around_both(u->b, u->loop_of[x->op], x->b ? x->a : u->loop_of[x->a]);
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
static uint64_t number_instances(fs_bodies *u) {
  uint64_t top = 0;
  uint32_t inner = FS_NONE; /* the innermost loop that is open */
  uint32_t next = 0;
  for (uint32_t op = 0; op <= u->n_ops; op++) {
    while (inner != FS_NONE && fs_loop_at(u->b, inner)->op_end == op) {
      uint32_t outer = fs_loop_at(u->b, inner)->parent;
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

fs_status fs_bodies_count(const fsched_builder *b, uint64_t *n) {
  FS_SCRATCH(scratch, b->ctx);
  uint64_t *runs; /* per loop */
  uint32_t *own;  /* ops of its body, but not of loops inside */
  FS_TRY(fs_new(&scratch, &runs, b->loop.n));
  FS_TRY(fs_new(&scratch, &own, b->loop.n));
  *n = b->op.n;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    const fs_loop_draft *d = fs_loop_at(b, l);
    uint32_t around = d->parent;
    assert(d->op_end >= d->op0);
    own[l] = d->op_end - d->op0;
    runs[l] = fs_multiply_most(fs_bodies_trip(b, l), around == FS_NONE ? 1 : runs[around]);
    if (around == FS_NONE) {
      *n -= own[l];
    } else {
      own[around] -= own[l];
    }
  }
  for (uint32_t l = 0; l < b->loop.n; l++) {
    *n = fs_add_most(*n, fs_multiply_most(own[l], runs[l]));
  }
  return FSCHED_OK;
}

/* How often what is in a loop, or outside, runs within one iteration of `around`. */
static uint64_t runs_of(const fs_bodies *u, uint32_t loop, uint32_t around) {
  uint64_t n = 1;
  for (; loop != around; loop = fs_loop_at(u->b, loop)->parent) {
    n = fs_multiply_most(n, u->trip[loop]);
  }
  return n;
}

/* How many entries an `after` becomes. */
static uint64_t count_after(const fs_bodies *u, const fs_item_draft *x) {
  const fsched_builder *b = u->b;
  uint32_t own = u->loop_of[x->op];
  uint64_t each = 1;
  if (x->b) {
    uint32_t both = fs_loop_around_both(b, own, fs_loop_at(b, x->a)->parent);
    each = fs_multiply_most(runs_of(u, x->a, both), u->loop_count[x->a]);
  }
  return fs_multiply_most(runs_of(u, own, FS_NONE), each);
}

/* Refuses what would take all memory when it is unrolled, before it takes any. */
static void check_size(fs_bodies *u) {
  fsched_builder *b = u->b;
  uint64_t args = 0, afters = 0;
  if (number_instances(u) > MOST_OPS) {
    (void)fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&b->loop_at, 0), NULL,
                          "unrolled, the graph has more than %d ops", MOST_OPS);
    return;
  }
  for (uint32_t op = 0; op < u->n_ops; op++) {
    uint64_t n = fs_multiply_most(runs_of(u, u->loop_of[op], FS_NONE),
                                  fs_builder_args_end(b, op) - b->op.at[op].arg0);
    args = fs_add_most(args, n);
  }
  for (size_t i = 0; i < b->afters.item.n && afters <= MOST_ITEMS; i++) {
    afters = fs_add_most(afters, count_after(u, &b->afters.item.at[i]));
    if (afters > MOST_ITEMS) {
      (void)fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&b->afters.at, i), NULL,
                            "unrolled, the graph has more than %d entries of 'after'", MOST_ITEMS);
    }
  }
  if (args > MOST_ITEMS) {
    (void)fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&b->loop_at, 0), NULL,
                          "unrolled, the graph has more than %d args", MOST_ITEMS);
  }
}

fs_status fs_bodies_make(fsched_builder *b, fs_arena *scratch, bool rolled, fs_bodies *out) {
  *out = (fs_bodies){.b = b};
  fs_bodies *u = out;
  FS_TRY(make_tables(u, scratch));
  FS_TRY(fs_builder_sort_items(b, u->n_ops, &b->uses, &u->use0));
  FS_TRY(fs_builder_sort_items(b, u->n_ops, &b->scratches, &u->scratch0));
  FS_TRY(fs_builder_sort_items(b, u->n_ops, &b->afters, &u->after0));
  FS_TRY(fs_builder_sort_items(b, u->n_ops, &b->inplaces, &u->inplace0));
  uint32_t errors = fsched_diag_errors(b->ctx);
  find_trips(u, rolled);
  check_names(u);
  check_outs(u);
  check_moving_args(u);
  FS_TRY(list_carries(u, scratch));
  FS_TRY(check_rings(u, scratch));
  for (size_t i = 0; i < b->afters.item.n; i++) {
    check_after(u, &b->afters.item.at[i], fs_pos_at(&b->afters.at, i));
  }
  if (rolled) {
    (void)number_instances(u);
  } else if (fsched_diag_errors(b->ctx) == errors) { /* else an `after` may name nothing */
    check_size(u);
  }
  return fsched_diag_errors(b->ctx) == errors ? FSCHED_OK : FSCHED_BAD_INPUT;
}
