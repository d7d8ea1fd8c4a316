/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a loop: dependencies come from brute force over the bytes that all instances touch.
 * The commands have a random order within a step; shifts are the least that put every instance
 * behind those that it depends on, or, where that order allows none, the order is the one of the
 * program, which allows 0. */
#include "exec/loops/loop_maker.h"

#include <stdlib.h>

#include "exec/host/kernel.h"
#include "exec/host/loops.h"

static uint32_t below(lm_maker *l, uint32_t n) { return fs_rng_below(&l->rng, n); }
static bool one_in(lm_maker *l, uint32_t n) { return fs_rng_one_in(&l->rng, n); }

void lm_init(lm_maker *l, fsched_context *ctx, uint64_t seed) {
  memset(l, 0, sizeof *l);
  mk_init(&l->m, ctx);
  l->rng.state = seed * 77 + 5;
  fs_stream *v = &l->m.program.view;
  v->loops = l->loops, v->loop_queues = l->queues, v->loop_ops = l->ops, v->loop_args = l->args;
  v->rings = l->rings, v->loop_commands = l->commands, v->loop_waits = l->waits;
  v->loop_places = l->places;
  (void)mk_memory(&l->m, "ddr", 0);
}

void lm_seal(lm_maker *l) { l->m.memories[0].extent = l->m.memories[0].capacity = l->top + 1; }

uint32_t lm_buffer(lm_maker *l, const char *name, uint64_t size, bool given) {
  uint64_t at = l->top + below(l, 5);
  (void)mk_buffer(&l->m, name, size, FSCHED_IO_OUTPUT);
  uint32_t v = mk_version(&l->m, 0, at);
  if (given) {
    mk_given(&l->m, v, 0, at);
  }
  mk_kept(&l->m, v, 0, at);
  l->top = at + size;
  return v;
}

uint32_t lm_loop(lm_maker *l, const char *name, uint64_t trip, uint32_t copies) {
  fs_stream *v = &l->m.program.view;
  l->loops[v->n_loops] = (fs_stream_loop){.trip = trip,
                                          .least = trip,
                                          .most = trip,
                                          .param = FS_NONE,
                                          .within = FS_NONE,
                                          .op = mk_op(&l->m, name),
                                          .copies = copies,
                                          .queue0 = v->n_loop_queues,
                                          .op0 = v->n_loop_ops,
                                          .ring0 = v->n_rings};
  return v->n_loops++;
}

uint32_t lm_op(lm_maker *l, const char *name, uint32_t kernel) {
  fs_stream *v = &l->m.program.view;
  l->ops[v->n_loop_ops] = (fs_stream_loop_op){.time = 1,
                                              .latency = 1,
                                              .name = mk_string(&l->m, name),
                                              .kernel = kernel,
                                              .arg0 = v->n_loop_args,
                                              .loop = FS_NONE};
  l->loops[v->n_loops - 1].n_ops++;
  return v->n_loop_ops++;
}

static fs_stream_loop_arg *add_arg(lm_maker *l, fsched_tag tag) {
  fs_stream *v = &l->m.program.view;
  fs_stream_loop_arg *a = &l->args[v->n_loop_args++];
  *a = (fs_stream_loop_arg){.tag = tag, .buffer = FS_NONE, .ring = FS_NONE, .own = FS_NONE};
  l->ops[v->n_loop_ops - 1].n_args++;
  return a;
}

void lm_arg(lm_maker *l, fsched_tag tag, uint32_t version, uint64_t offset, uint64_t length,
            int64_t step) {
  fs_stream_loop_arg *a = add_arg(l, tag);
  a->offset = offset, a->length = length, a->step = step;
  a->buffer = l->m.versions[version].buffer;
}

void lm_ring_arg(lm_maker *l, fsched_tag tag, uint32_t ring, uint64_t offset, uint64_t length,
                 uint32_t back) {
  fs_stream_loop_arg *a = add_arg(l, tag);
  a->offset = offset, a->length = length, a->ring = ring, a->back = back;
  a->buffer = l->m.args[l->rings[ring].arg].buffer;
}

/* The place is made by lm_plan, when the depth is known. */
uint32_t lm_ring(lm_maker *l, const char *name, uint64_t size, uint64_t slot, uint32_t depth,
                 bool entry, uint32_t writer) {
  fs_stream *v = &l->m.program.view;
  uint32_t version = lm_buffer(l, name, slot * depth, entry);
  mk_arg(&l->m, entry ? FSCHED_INOUT : FSCHED_OUT, version);
  l->rings[v->n_rings] = (fs_stream_ring){.size = size,
                                          .slot = slot,
                                          .arg = v->n_args - 1,
                                          .writer = writer,
                                          .depth = depth,
                                          .entry = entry};
  l->loops[v->n_loops - 1].n_rings++;
  return v->n_rings++;
}

uint32_t lm_kernel(lm_maker *l) {
  fs_stream *v = &l->m.program.view;
  mk_kernel(&l->m, NULL); /* which is for the last op: the loop */
  l->m.ops[v->n_ops - 1].kernel = FS_NONE;
  return v->n_kernels - 1;
}

/* ---- the plan */

enum { MOST_NODES = 16, UNKNOWN = UINT32_MAX };

/* Commands of the same op and copy: one, or two on different queues. */
typedef struct plan_node {
  uint32_t op, copy; /* op: index in the loop */
  uint32_t n_queues, queue[2], command[2];
  uint32_t place, shift; /* place: in the order of a step */
} plan_node;

typedef struct plan {
  lm_maker *l;
  const fs_stream_loop *loop;
  uint32_t n;
  plan_node node[MOST_NODES];
  uint32_t distance[MOST_NODES][MOST_NODES]; /* from the first to the second; UNKNOWN */
} plan;

typedef struct lm_touch {
  uint64_t begin, end;
  bool writes;
} lm_touch;

static uint32_t version_of(const lm_maker *l, uint32_t buffer) {
  return l->m.buffers[buffer].version0;
}

static lm_touch touch_of(const lm_maker *l, const fs_stream_loop_arg *a, int64_t i) {
  uint64_t base = l->m.place_address[version_of(l, a->buffer)];
  uint64_t size = l->m.buffers[a->buffer].size;
  lm_touch t = {.writes = a->tag != FSCHED_IN};
  if (a->ring != FS_NONE) {
    const fs_stream_ring *r = &l->rings[a->ring];
    int64_t of = i - (int64_t)a->back < -1 ? -1 : i - (int64_t)a->back;
    t.begin = base + a->offset + r->slot * (uint64_t)((of + r->depth) % r->depth);
    t.end = t.begin + a->length;
  } else {
    int64_t begin = (int64_t)a->offset + a->step * i, end = begin + (int64_t)a->length;
    t.begin = base + (uint64_t)begin;
    t.end = base + ((uint64_t)end > size ? size : (uint64_t)end);
  }
  return t;
}

static bool conflict(const lm_maker *l, uint32_t a, int64_t i, uint32_t b, int64_t j) {
  const fs_stream_loop_op *x = &l->ops[a], *y = &l->ops[b];
  for (uint32_t p = x->arg0; p < x->arg0 + x->n_args; p++) {
    for (uint32_t q = y->arg0; q < y->arg0 + y->n_args; q++) {
      if (l->args[p].buffer == FS_NONE || l->args[q].buffer == FS_NONE) {
        continue;
      }
      lm_touch s = touch_of(l, &l->args[p], i), t = touch_of(l, &l->args[q], j);
      if ((s.writes || t.writes) && s.begin < t.end && t.begin < s.end) {
        return true;
      }
    }
  }
  return false;
}

static uint32_t node_of(const plan *p, uint32_t op, uint64_t i) {
  return (uint32_t)(i % p->loop->copies) * p->loop->n_ops + op;
}

/* The nearest conflict between each two commands; farther ones follow, as queues keep order. */
static void find_distances(plan *p) {
  const fs_stream_loop *loop = p->loop;
  memset(p->distance, 0xFF, sizeof p->distance);
  uint32_t trip = (uint32_t)(loop->trip < 50 ? loop->trip : 50);
  for (uint32_t i = 0; i < trip; i++) {
    for (uint32_t j = i; j < trip; j++) {
      for (uint32_t a = 0; a < loop->n_ops; a++) {
        for (uint32_t b = i == j ? a + 1 : 0; b < loop->n_ops; b++) {
          uint32_t *d = &p->distance[node_of(p, a, i)][node_of(p, b, j)];
          if (j - i < *d && conflict(p->l, loop->op0 + a, i, loop->op0 + b, j)) {
            *d = j - i;
          }
        }
      }
    }
  }
}

/* Some waits that are not needed: for an earlier iteration of anything. */
static void add_distances(plan *p) {
  for (uint32_t k = below(p->l, 4); k > 0; k--) {
    uint32_t a = below(p->l, p->n), b = below(p->l, p->n);
    uint32_t u = p->loop->copies, d = (p->node[b].copy + u - p->node[a].copy) % u;
    d += u * (1 + below(p->l, 3));
    p->distance[a][b] = d < p->distance[a][b] ? d : p->distance[a][b];
  }
}

/* How many steps the second one has to be behind, with equal shifts. */
static int64_t missing(const plan *p, uint32_t a, uint32_t b) {
  const plan_node *x = &p->node[a], *y = &p->node[b];
  int64_t steps = ((int64_t)p->distance[a][b] - ((int64_t)y->copy - (int64_t)x->copy)) /
                  (int64_t)p->loop->copies;
  return (x->place < y->place ? 0 : 1) - steps;
}

/* Whether there are shifts for that order; they begin as they are. */
static bool find_shifts(plan *p) {
  bool moved = true;
  for (uint32_t round = 0; round <= 2 * p->n && moved; round++) {
    moved = false;
    for (uint32_t a = 0; a < p->n; a++) {
      for (uint32_t b = 0; b < p->n; b++) {
        if (p->distance[a][b] != UNKNOWN &&
            (int64_t)p->node[b].shift < (int64_t)p->node[a].shift + missing(p, a, b)) {
          p->node[b].shift = (uint32_t)((int64_t)p->node[a].shift + missing(p, a, b));
          moved = true;
        }
      }
    }
  }
  return !moved;
}

static void order_nodes(plan *p) {
  for (uint32_t k = p->n; k-- > 1;) {
    uint32_t other = below(p->l, k + 1), place = p->node[k].place;
    p->node[k].place = p->node[other].place;
    p->node[other].place = place;
  }
  for (uint32_t k = 0; k < p->n; k++) {
    p->node[k].shift = below(p->l, 3);
  }
  if (find_shifts(p)) {
    return;
  }
  for (uint32_t k = 0; k < p->n; k++) {
    p->node[k].place = k;
    p->node[k].shift = 0;
  }
  bool found = find_shifts(p);
  assert(found);
  (void)found;
}

/* The last arg of a buffer that the loop's op has. */
static uint32_t own_arg(const lm_maker *l, uint32_t buffer) {
  const fs_stream_op *op = &l->m.ops[l->loops[l->m.program.view.n_loops - 1].op];
  uint32_t own = FS_NONE;
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    own = l->m.args[i].buffer == buffer ? i : own;
  }
  return own;
}

static void add_places(lm_maker *l, const fs_stream_loop_op *op, fs_stream_loop_command *c) {
  fs_stream *v = &l->m.program.view;
  c->place0 = v->n_loop_places;
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    fs_stream_loop_arg *a = &l->args[i];
    if (a->buffer == FS_NONE) {
      continue;
    }
    a->own = own_arg(l, a->buffer);
    uint32_t version = version_of(l, a->buffer);
    l->places[v->n_loop_places++] =
        (fs_stream_place){.address = l->m.place_address[version] + a->offset,
                          .size = a->length,
                          .version = version,
                          .arg = i,
                          .mode = a->tag == FSCHED_IN ? FS_MODE_R : FS_MODE_RW};
  }
  c->n_places = v->n_loop_places - c->place0;
}

static void add_scratch(lm_maker *l, fs_stream_loop_command *c) {
  fs_stream *v = &l->m.program.view;
  l->places[v->n_loop_places++] = (fs_stream_place){
      .address = l->top, .size = 24, .version = FS_NONE, .arg = FS_NONE, .mode = FS_MODE_W};
  c->n_places++;
  l->top += 24;
}

/* Makes the commands of a queue, in the order of places. */
static void add_commands(plan *p, uint32_t queue) {
  lm_maker *l = p->l;
  fs_stream *v = &l->m.program.view;
  fs_stream_loop_queue *q = &l->queues[v->n_loop_queues++];
  *q = (fs_stream_loop_queue){.queue = queue, .command0 = v->n_loop_commands};
  for (uint32_t place = 0; place < p->n; place++) {
    for (uint32_t k = 0; k < p->n; k++) {
      plan_node *n = &p->node[k];
      for (uint32_t j = 0; j < n->n_queues && n->place == place; j++) {
        if (n->queue[j] != queue) {
          continue;
        }
        const fs_stream_loop_op *op = &l->ops[p->loop->op0 + n->op];
        n->command[j] = v->n_loop_commands++;
        fs_stream_loop_command *c = &l->commands[n->command[j]];
        *c = (fs_stream_loop_command){
            .op = p->loop->op0 + n->op, .copy = n->copy, .shift = n->shift};
        add_places(l, op, c);
        if (one_in(l, 3) && n->n_queues == 1) {
          add_scratch(l, c);
        }
        q->n_commands++;
      }
    }
  }
}

static bool runs_on(const plan_node *n, uint32_t queue) {
  return n->queue[0] == queue || (n->n_queues > 1 && n->queue[1] == queue);
}

static void add_waits(plan *p, uint32_t node, uint32_t member) {
  lm_maker *l = p->l;
  fs_stream *v = &l->m.program.view;
  const plan_node *n = &p->node[node];
  fs_stream_loop_command *c = &l->commands[n->command[member]];
  c->wait0 = v->n_loop_waits;
  for (uint32_t from = 0; from < p->n; from++) {
    const plan_node *f = &p->node[from];
    if (p->distance[from][node] == UNKNOWN || runs_on(f, n->queue[member])) {
      continue;
    }
    uint32_t target = f->command[below(l, f->n_queues)];
    l->waits[v->n_loop_waits++] = (fs_stream_loop_wait){target, p->distance[from][node]};
    l->commands[target].signal = 1;
    c->n_waits++;
  }
}

static void place_nodes(plan *p, const lm_shape *shape) {
  for (uint32_t copy = 0; copy < shape->copies; copy++) {
    for (uint32_t op = 0; op < p->loop->n_ops; op++) {
      plan_node *n = &p->node[p->n];
      *n = (plan_node){.op = op, .copy = copy, .n_queues = 1, .place = p->n};
      n->queue[0] = below(p->l, shape->n_queues);
      if (shape->gangs && shape->n_queues > 1 && one_in(p->l, 3)) {
        n->n_queues = 2;
        n->queue[1] = (n->queue[0] + 1) % shape->n_queues;
      }
      p->n++;
    }
  }
}

static void write_plan(plan *p, fs_stream_loop *loop, uint32_t n_queues) {
  loop->n_queues = n_queues;
  for (uint32_t q = 0; q < n_queues; q++) {
    add_commands(p, q);
  }
  for (uint32_t q = 0; q < n_queues; q++) {
    for (uint32_t k = 0; k < p->n; k++) {
      for (uint32_t j = 0; j < p->node[k].n_queues; j++) {
        if (p->node[k].queue[j] == q) {
          add_waits(p, k, j);
        }
      }
    }
  }
}

void lm_plan(lm_maker *l, const lm_shape *shape) {
  fs_stream_loop *loop = &l->loops[l->m.program.view.n_loops - 1];
  plan p = {.l = l, .loop = loop};
  assert(loop->copies == shape->copies);
  place_nodes(&p, shape);
  find_distances(&p);
  add_distances(&p);
  if (!find_shifts(&p)) { /* the waits that are not needed are too many */
    find_distances(&p);
  }
  order_nodes(&p);
  write_plan(&p, loop, shape->n_queues);
}

void lm_plan_in_turn(lm_maker *l, uint32_t n_queues) {
  fs_stream_loop *loop = &l->loops[l->m.program.view.n_loops - 1];
  plan p = {.l = l, .loop = loop, .n = loop->n_ops};
  assert(loop->copies == 1);
  for (uint32_t k = 0; k < p.n; k++) {
    p.node[k] = (plan_node){.op = k, .n_queues = 1, .queue = {k % n_queues}, .place = k};
  }
  find_distances(&p);
  write_plan(&p, loop, n_queues);
}

/* ---- random loops */

typedef struct random_loop {
  lm_maker *l;
  lm_shape shape;
  uint32_t n_ops, in, out, acc; /* versions */
  uint32_t ring[LM_OPS];        /* per op; FS_NONE */
  uint64_t size[LM_OPS];
  bool entry[LM_OPS];
} random_loop;

static const char *name_of(char *room, const char *prefix, uint32_t loop, uint32_t i) {
  (void)snprintf(room, 16, "%s%u%c", prefix, loop, 'a' + (char)i);
  return room;
}

/* Some bytes of a buffer of that size, stepping up or down; those of `in` may run out of it. */
static void random_steps(random_loop *r, fsched_tag tag, uint32_t version, uint64_t size,
                         bool over) {
  uint32_t last = (uint32_t)r->shape.trip - 1;
  int64_t most = (int64_t)(size / (last + 1));
  int64_t step = (int64_t)below(r->l, (uint32_t)(2 * most + 1)) - most;
  uint64_t length = 1 + below(r->l, 12);
  int64_t lowest = step < 0 ? step * (int64_t)last : 0, span = step < 0 ? -lowest : step * last;
  uint64_t room = size > (uint64_t)span + length ? size - (uint64_t)span - length : 0;
  uint64_t offset = (uint64_t)-lowest + below(r->l, (uint32_t)room + 1);
  lm_arg(r->l, tag, version, offset, over ? length + 30 : length, step);
}

static void random_ring_read(random_loop *r, uint32_t op) {
  uint32_t of = below(r->l, r->n_ops), back = below(r->l, 3);
  if (r->ring[of] == FS_NONE) {
    return;
  }
  back = op > of && !r->entry[of] ? 0 : op <= of && back == 0 ? 1 : back;
  if (back > 0 && !r->entry[of]) {
    return;
  }
  uint64_t offset = below(r->l, (uint32_t)r->size[of]);
  uint64_t length = 1 + below(r->l, (uint32_t)(r->size[of] - offset));
  bool in_place = op > of && back == 0 && one_in(r->l, 3);
  lm_ring_arg(r->l, in_place ? FSCHED_INOUT : FSCHED_IN, r->ring[of], offset, length, back);
  fs_stream_ring *ring = &r->l->rings[r->ring[of]];
  uint32_t depth = op > of ? back + 1 : back;
  ring->depth = depth > ring->depth ? depth : ring->depth;
}

static void random_op(random_loop *r, uint32_t op, uint32_t loop) {
  lm_maker *l = r->l;
  char name[16];
  (void)lm_op(l, name_of(name, "B", loop, op), one_in(l, 3) ? lm_kernel(l) : FS_NONE);
  add_arg(l, FSCHED_VALUE)->value = (int64_t)below(l, 1000) - 500;
  for (uint32_t k = below(l, 3); k > 0; k--) {
    random_ring_read(r, op);
  }
  if (one_in(l, 2)) {
    random_steps(r, FSCHED_IN, r->in, l->m.buffers[l->m.versions[r->in].buffer].size, one_in(l, 2));
  }
  if (r->ring[op] != FS_NONE) {
    lm_ring_arg(l, FSCHED_OUT, r->ring[op], 0, r->size[op], 0);
  }
  if (r->ring[op] == FS_NONE || one_in(l, 3)) {
    random_steps(r, one_in(l, 2) ? FSCHED_INOUT : FSCHED_OUT_EXISTING, r->out,
                 l->m.buffers[l->m.versions[r->out].buffer].size, false);
  }
  if (one_in(l, 4)) {
    lm_arg(l, FSCHED_INOUT, r->acc, 3, 17, 0);
  }
}

/* Makes the places of the rings' buffers, whose depths have grown. */
static void place_rings(random_loop *r, uint32_t loop) {
  lm_maker *l = r->l;
  const fs_stream_loop *k = &l->loops[loop];
  for (uint32_t i = k->ring0; i < k->ring0 + k->n_rings; i++) {
    fs_stream_ring *ring = &l->rings[i];
    uint32_t version = l->m.args[ring->arg].version;
    ring->depth += below(l, 3);
    uint64_t size = ring->slot * ring->depth;
    fs_stream_buffer *b = &l->m.buffers[l->m.versions[version].buffer];
    b->size = b->io_size = l->m.args[ring->arg].length = size;
    l->m.place_address[version] = l->m.versions[version].kept_address = l->top;
    l->m.versions[version].given_address = l->top;
    l->top += size;
  }
}

static void random_loop_of(lm_maker *l, uint32_t loop, uint32_t n_queues, uint32_t before) {
  char name[16];
  random_loop r = {.l = l, .n_ops = 1 + below(l, 4)};
  r.shape = (lm_shape){n_queues, 1 + below(l, 2), 2 + below(l, 39), one_in(l, 2)};
  r.in = lm_buffer(l, name_of(name, "in", loop, 0), 60 + below(l, 400), true);
  r.out = lm_buffer(l, name_of(name, "out", loop, 0), 60 + below(l, 400), true);
  r.acc = lm_buffer(l, name_of(name, "acc", loop, 0), 20, true);
  (void)lm_loop(l, name_of(name, "L", loop, 0), r.shape.trip, r.shape.copies);
  mk_arg(&l->m, FSCHED_IN, r.in), mk_arg(&l->m, FSCHED_INOUT, r.out);
  mk_arg(&l->m, FSCHED_INOUT, r.acc), mk_arg(&l->m, FSCHED_IN, before);
  for (uint32_t o = 0; o < r.n_ops; o++) {
    r.ring[o] = FS_NONE;
    if (!one_in(l, 4)) {
      r.size[o] = 8 + below(l, 33);
      r.entry[o] = one_in(l, 2);
      r.ring[o] = lm_ring(l, name_of(name, "r", loop, o), r.size[o], r.size[o] + below(l, 8), 1,
                          r.entry[o], l->m.program.view.n_loop_ops + o);
    }
  }
  for (uint32_t o = 0; o < r.n_ops; o++) {
    random_op(&r, o, loop);
    if (one_in(l, 4)) {
      lm_arg(l, FSCHED_IN, before, 0, 9, 0);
    }
  }
  place_rings(&r, loop);
  lm_plan(l, &r.shape);
}

/* Each member waits for itself, for the command before the loop. */
static void run_gang(lm_maker *l, uint32_t op, uint32_t queue, uint32_t gang, uint32_t epoch) {
  fs_stream_command *c = mk_run(&l->m, queue, op);
  if (gang == FS_NONE) {
    return;
  }
  mk_gang(c, gang, epoch);
  if (epoch > 1) {
    mk_wait(&l->m, gang, epoch - 1);
  } else if (queue > 0) {
    mk_wait(&l->m, 0, 1);
  }
}

void lm_random(lm_maker *l, fsched_context *ctx, uint64_t seed) {
  static const char *const queues[] = {"p", "q", "r", "z"};
  lm_init(l, ctx, seed);
  uint32_t n = 1 + below(l, 3), n_loops = 1 + below(l, 2);
  for (uint32_t q = 0; q <= n; q++) {
    (void)mk_queue(&l->m, queues[q == n ? 3 : q]);
  }
  uint32_t gang = n > 1 ? mk_collective(&l->m, "all", n) : FS_NONE;
  uint32_t before = lm_buffer(l, "x", 9, false);
  (void)mk_op(&l->m, "pre"), mk_arg(&l->m, FSCHED_OUT, before);
  for (uint32_t k = 0; k < n_loops; k++) {
    random_loop_of(l, k, n, before);
  }
  const fs_stream_loop *last = &l->loops[n_loops - 1];
  uint32_t out = l->m.args[l->m.ops[last->op].arg0 + 1].version;
  uint32_t y = lm_buffer(l, "y", 11, false), z = lm_buffer(l, "z", 13, false);
  uint32_t post = mk_op(&l->m, "post");
  mk_arg(&l->m, FSCHED_IN, out), mk_arg(&l->m, FSCHED_OUT, y);
  uint32_t end = mk_op(&l->m, "end");
  mk_arg(&l->m, FSCHED_IN, out), mk_arg(&l->m, FSCHED_OUT, z);
  for (uint32_t q = 0; q < n; q++) {
    if (q == 0) {
      (void)mk_run(&l->m, 0, 0);
    }
    for (uint32_t k = 0; k < n_loops; k++) {
      run_gang(l, l->loops[k].op, q, gang, k + 1);
    }
    if (q == n - 1) {
      (void)mk_run(&l->m, q, post);
      if (gang != FS_NONE) {
        mk_wait(&l->m, gang, n_loops);
      }
    }
  }
  (void)mk_run(&l->m, n, end);
  mk_wait(&l->m, gang == FS_NONE ? 0 : gang, gang == FS_NONE ? 1 + n_loops : n_loops);
  lm_seal(l);
}

/* ---- the interpreter */

typedef struct lm_machine {
  const fs_stream *s;
  lm_result *out;
  const fs_stream_loop *loop;
  uint8_t **value[LM_OPS]; /* per ring of the loop: per iteration + 1: its value */
} lm_machine;

static fsched_kernel_arg outer_arg(const lm_machine *x, const fs_stream_arg *a) {
  fsched_kernel_arg k = {.tag = a->tag, .value = a->value, .length = a->length};
  k.data = a->buffer == FS_NONE ? NULL : x->out->bytes[a->version] + a->offset;
  return k;
}

static fsched_kernel_arg inner_arg(const lm_machine *x, const fs_stream_loop_arg *a, int64_t i) {
  fsched_kernel_arg k = {.tag = a->tag, .value = a->value, .length = a->length};
  if (a->ring != FS_NONE) {
    int64_t of = i - (int64_t)a->back;
    k.data = x->value[a->ring - x->loop->ring0][(of < 0 ? -1 : of) + 1] + a->offset;
  } else if (a->buffer != FS_NONE) {
    int64_t begin = (int64_t)a->offset + i * a->step, size = (int64_t)x->s->buffers[a->buffer].size;
    begin = begin > size ? size : begin;
    k.data = x->out->bytes[x->s->buffers[a->buffer].version0] + begin;
    k.length = begin + (int64_t)a->length > size ? (uint64_t)(size - begin) : a->length;
  }
  return k;
}

/* Kernels that are not built in compute what mix does. */
static uint64_t call(const char *name, fsched_kernel_arg *args, uint32_t n, bool built_in) {
  fsched_kernel_call c = {.size = sizeof c, .op = name, .args = args, .n_args = n};
  fs_builtin_run(FS_BUILTIN_MIX, &c);
  return fs_builtin_digest(built_in ? FS_BUILTIN_MIX : FS_BUILTINS, &c);
}

static void interpret_op(const lm_machine *x, uint32_t op) {
  const fs_stream_op *o = &x->s->ops[op];
  fsched_kernel_arg args[LM_ARGS];
  for (uint32_t i = 0; i < o->n_args; i++) {
    args[i] = outer_arg(x, &x->s->args[o->arg0 + i]);
  }
  x->out->digest[op] = call(fs_stream_string(x->s, o->name), args, o->n_args, true);
}

static void interpret_body(const lm_machine *x, uint64_t i) {
  for (uint32_t k = 0; k < x->loop->n_ops; k++) {
    const fs_stream_loop_op *o = &x->s->loop_ops[x->loop->op0 + k];
    fsched_kernel_arg args[LM_ARGS];
    char name[64];
    for (uint32_t a = 0; a < o->n_args; a++) {
      args[a] = inner_arg(x, &x->s->loop_args[o->arg0 + a], (int64_t)i);
    }
    (void)snprintf(name, sizeof name, "%s[%llu]", fs_stream_string(x->s, o->name),
                   (unsigned long long)i);
    fs_loop_instance at = {.loop = x->loop, .op = x->loop->op0 + k, .iteration = i};
    x->out->digest[x->loop->op] +=
        fs_loop_digest(&at, call(name, args, o->n_args, o->kernel == FS_NONE));
  }
}

static void interpret_loop(lm_machine *x) {
  const fs_stream_loop *loop = x->loop;
  for (uint32_t k = 0; k < loop->n_rings; k++) {
    const fs_stream_ring *r = &x->s->rings[loop->ring0 + k];
    const fs_stream_arg *a = &x->s->args[r->arg];
    x->value[k] = calloc(loop->trip + 1, sizeof *x->value[k]);
    for (uint64_t i = 0; i <= loop->trip; i++) {
      x->value[k][i] = calloc(1, r->size);
    }
    memcpy(x->value[k][0], x->out->bytes[a->version] + r->slot * (r->depth - 1), r->size);
  }
  for (uint64_t i = 0; i < loop->trip; i++) {
    interpret_body(x, i);
  }
  for (uint32_t k = 0; k < loop->n_rings; k++) {
    const fs_stream_ring *r = &x->s->rings[loop->ring0 + k];
    uint32_t version = x->s->args[r->arg].version;
    x->out->begin[version] = (loop->trip - 1) % r->depth * r->slot;
    x->out->end[version] = x->out->begin[version] + r->size;
    memcpy(x->out->bytes[version] + x->out->begin[version], x->value[k][loop->trip], r->size);
    for (uint64_t i = 0; i <= loop->trip; i++) {
      free(x->value[k][i]);
    }
    free(x->value[k]);
  }
}

static const fs_stream_loop *loop_at(const fs_stream *s, uint32_t op) {
  for (uint32_t l = 0; l < s->n_loops; l++) {
    if (s->loops[l].op == op) {
      return &s->loops[l];
    }
  }
  return NULL;
}

void lm_interpret(const fs_stream *s, const void *const *given, lm_result *out) {
  lm_machine x = {.s = s, .out = out};
  memset(out, 0, sizeof *out);
  for (uint32_t v = 0; v < s->n_versions; v++) {
    uint64_t size = s->buffers[s->versions[v].buffer].size;
    out->bytes[v] = calloc(1, size + 1);
    out->end[v] = size;
    if (given[v] != NULL) {
      memcpy(out->bytes[v], given[v], size);
    }
  }
  for (uint32_t op = 0; op < s->n_ops; op++) {
    x.loop = loop_at(s, op);
    if (x.loop == NULL) {
      interpret_op(&x, op);
    } else {
      interpret_loop(&x);
    }
  }
}

void lm_result_free(const fs_stream *s, lm_result *r) {
  for (uint32_t v = 0; v < s->n_versions; v++) {
    free(r->bytes[v]);
  }
}
