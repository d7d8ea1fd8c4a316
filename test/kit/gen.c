/* SPDX-License-Identifier: Apache-2.0 */
/* The same random walk is made twice: the first run only finds out how much memory the ops need,
 * because capacities have to be known before the first op is added; the second one builds. */
#include "kit/gen.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_ARGS = 8, MAX_MEMORIES = 8, RESOURCES = 2, RESOURCE_CAPACITY = 10 };

typedef struct gen_buffer {
  uint32_t memory; /* n_memories: the backing store */
  uint32_t size;
  uint8_t io;
  bool produced;
} gen_buffer;

typedef struct gen_arg {
  uint32_t tag, buffer;
  bool has_at;
  uint32_t offset, length;
} gen_arg;

typedef struct gen_op {
  uint32_t n_args;
  gen_arg arg[MAX_ARGS];
  uint32_t time;
  uint32_t on;           /* class, or n_classes + queue */
  uint32_t gang, n_gang; /* first queue and number; 0: none */
  uint32_t scratch[MAX_MEMORIES];
  uint32_t use[RESOURCES];
  uint32_t inplace_in; /* buffer, FS_NONE for none; goes to the last arg */
  uint32_t after;      /* op or FS_NONE */
} gen_op;

typedef struct gen {
  fs_gen_params p;
  fs_rng rng;
  fsched_builder *b; /* NULL in the first run */
  fs_status status;
  gen_buffer *buffer;
  uint32_t n_buffers, cap;
  uint32_t *recent; /* buffers that ops may read, in order of production */
  uint32_t n_recent;
  uint64_t need[MAX_MEMORIES + 1]; /* largest need of an op, or sum of versions */
} gen;

static void defaults(fs_gen_params *p) {
  p->n_classes = p->n_classes == 0 ? 1 : p->n_classes;
  p->align = p->align == 0 ? 1 : p->align;
  p->max_size = p->max_size == 0 ? 100 : p->max_size;
  p->max_time = p->max_time == 0 ? 10 : p->max_time;
  p->window = p->window == 0 ? 32 : p->window;
  p->tightness = p->tightness == 0 ? 1.0 : p->tightness;
  p->n_memories = (uint32_t)fs_min(p->n_memories, MAX_MEMORIES);
  uint32_t compute = p->n_queues > 1 ? p->n_queues - 1 : 1;
  p->n_classes = (uint32_t)fs_min(p->n_classes, compute);
}

static const char *number_name(char *out, char prefix, uint32_t n) {
  char digits[10];
  size_t k = 0;
  do {
    digits[k++] = (char)('0' + n % 10);
    n /= 10;
  } while (n != 0);
  *out = prefix;
  for (size_t i = 0; i < k; i++) {
    out[1 + i] = digits[k - 1 - i];
  }
  out[1 + k] = '\0';
  return out;
}

static const char *memory_name(const gen *g, char *out, uint32_t memory) {
  return memory == g->p.n_memories ? "store" : number_name(out, 'm', memory);
}

static void keep(gen *g, fs_status status) {
  if (g->status == FSCHED_OK) {
    g->status = status;
  }
}

static uint32_t add_buffer(gen *g, uint32_t memory, uint32_t size, fsched_io io) {
  if (g->n_buffers == g->cap) {
    g->cap = g->cap * 2 + 64;
    gen_buffer *grown = realloc(g->buffer, g->cap * sizeof *grown);
    uint32_t *recent = realloc(g->recent, g->cap * sizeof *recent);
    if (grown == NULL || recent == NULL) {
      abort();
    }
    g->buffer = grown;
    g->recent = recent;
  }
  uint32_t id = g->n_buffers++;
  bool given = io == FSCHED_IO_INPUT || io == FSCHED_IO_CONSTANT || io == FSCHED_IO_STATE;
  g->buffer[id] = (gen_buffer){memory, size, (uint8_t)io, given};
  if (!g->p.backing && given) {
    g->need[memory] += fs_align_up(size, g->p.align);
  }
  if (g->b != NULL) {
    char name[16];
    char home[16];
    fsched_buffer_desc d = {.size = sizeof d,
                            .name = number_name(name, 'b', id),
                            .bytes = size,
                            .memory = memory_name(g, home, memory),
                            .io = io};
    keep(g, fsched_builder_buffer(g->b, &d, NULL));
  }
  return id;
}

static uint32_t random_size(gen *g) {
  if (g->p.zero_sizes && fs_rng_one_in(&g->rng, 8)) {
    return 0;
  }
  return 1 + fs_rng_below(&g->rng, g->p.max_size);
}

static uint32_t random_memory(gen *g) {
  if (g->p.n_memories == 0 || fs_rng_one_in(&g->rng, 12)) {
    return g->p.n_memories;
  }
  return fs_rng_below(&g->rng, g->p.n_memories);
}

static bool names(const gen_op *op, uint32_t buffer) {
  for (uint32_t i = 0; i < op->n_args; i++) {
    if (op->arg[i].buffer == buffer) {
      return true;
    }
  }
  return false;
}

/* Picks a produced buffer, mostly a recent one. */
static uint32_t pick(gen *g) {
  if (g->n_recent == 0) {
    return FS_NONE;
  }
  uint32_t reach = !g->p.near && fs_rng_one_in(&g->rng, 24) ? g->n_recent : g->p.window;
  reach = (uint32_t)fs_min(reach, g->n_recent);
  return g->recent[g->n_recent - 1 - fs_rng_below(&g->rng, reach)];
}

static void random_at(gen *g, gen_arg *a) {
  uint32_t size = g->buffer[a->buffer].size;
  if (g->p.ats && size > 0 && fs_rng_one_in(&g->rng, 3)) {
    a->has_at = true;
    a->offset = fs_rng_below(&g->rng, size);
    a->length = 1 + fs_rng_below(&g->rng, size - a->offset);
  }
}

/* Whether two points of the lattice are less than an element apart: of small views, by looking at
 * all pairs. */
static bool elements_meet(const uint64_t *shape, const uint64_t *strides, uint32_t n_dims,
                          uint64_t element) {
  uint64_t at[64], n = 1;
  at[0] = 0;
  for (uint32_t d = 0; d < n_dims; d++) {
    uint64_t old = n;
    for (uint64_t i = 1; i < shape[d]; i++) {
      for (uint64_t k = 0; k < old; k++) {
        at[n++] = at[k] + i * strides[d];
      }
    }
  }
  for (uint64_t i = 0; i < n; i++) {
    for (uint64_t k = 0; k < i; k++) {
      if (at[i] < at[k] + element && at[k] < at[i] + element) {
        return true;
      }
    }
  }
  return false;
}

/* Makes a view of a range, of up to 64 elements, whose numbers are drawn apart from the graph's. */
static void random_view(fs_rng *rng, fsched_arg_desc *d, uint64_t *shape, uint64_t *strides) {
  for (uint32_t tries = 0; tries < 8; tries++) {
    uint64_t element = 1 + fs_rng_below(rng, 4), end = element;
    uint32_t n_dims = 1 + fs_rng_below(rng, 3);
    for (uint32_t i = 0; i < n_dims; i++) {
      shape[i] = 1 + fs_rng_below(rng, 4);
      strides[i] = fs_rng_below(rng, 2) == 0 ? fs_rng_below(rng, 8) : fs_rng_below(rng, 24);
      end += (shape[i] - 1) * strides[i];
    }
    if (end <= d->length &&
        (d->tag == FSCHED_IN || !elements_meet(shape, strides, n_dims, element))) {
      d->n_dims = n_dims;
      d->shape = shape;
      d->strides = strides;
      d->element = element;
      return;
    }
  }
}

static void add_input(gen *g, gen_op *op) {
  uint32_t buffer = FS_NONE;
  if (g->p.io && fs_rng_one_in(&g->rng, 5)) {
    fsched_io io = fs_rng_one_in(&g->rng, 3)                      ? FSCHED_IO_INPUT
                   : fs_rng_one_in(&g->rng, g->p.states ? 2 : 16) ? FSCHED_IO_STATE
                                                                  : FSCHED_IO_CONSTANT;
    uint32_t size = random_size(g);
    buffer = add_buffer(g, random_memory(g), size, io);
    if (fs_rng_one_in(&g->rng, 2)) {
      g->recent[g->n_recent++] = buffer; /* it can be read again, and perhaps written */
    }
  } else {
    buffer = pick(g);
  }
  if (buffer != FS_NONE) {
    gen_arg *a = &op->arg[op->n_args++];
    *a = (gen_arg){.tag = FSCHED_IN, .buffer = buffer};
    random_at(g, a);
  }
}

static void add_in_place(gen *g, gen_op *op) {
  uint32_t buffer = pick(g);
  if (!g->p.inouts || buffer == FS_NONE || !fs_rng_one_in(&g->rng, 5) || names(op, buffer) ||
      g->buffer[buffer].io == FSCHED_IO_CONSTANT) {
    return;
  }
  gen_arg *a = &op->arg[op->n_args++];
  *a = (gen_arg){.tag = fs_rng_one_in(&g->rng, 3) ? FSCHED_OUT_EXISTING : FSCHED_INOUT,
                 .buffer = buffer};
  random_at(g, a);
}

static void add_extras(gen *g, gen_op *op) {
  if (!g->p.no_deps) {
    return;
  }
  if (fs_rng_one_in(&g->rng, 8)) {
    op->arg[op->n_args++] =
        (gen_arg){.tag = FSCHED_VALUE, .buffer = FS_NONE, .offset = fs_rng_below(&g->rng, 1000)};
  }
  uint32_t buffer = pick(g);
  if (buffer != FS_NONE && g->buffer[buffer].memory == g->p.n_memories && !names(op, buffer) &&
      fs_rng_one_in(&g->rng, 2)) {
    op->arg[op->n_args++] = (gen_arg){.tag = FSCHED_NO_DEP, .buffer = buffer};
  }
}

/* Adds the op's output: a new buffer, one in the place of an input of its size, or a further
 * version. */
static void add_output(gen *g, gen_op *op) {
  uint32_t old = pick(g);
  uint32_t buffer = FS_NONE;
  op->inplace_in = FS_NONE;
  if (g->p.versions && old != FS_NONE && fs_rng_one_in(&g->rng, 10) &&
      g->buffer[old].io != FSCHED_IO_CONSTANT) {
    bool clash = false;
    for (uint32_t i = 0; i < op->n_args; i++) {
      clash |= op->arg[i].buffer == old && op->arg[i].tag != FSCHED_IN;
    }
    buffer = clash ? FS_NONE : old;
  }
  if (buffer == FS_NONE) {
    uint32_t memory = random_memory(g);
    uint32_t size = random_size(g);
    if (g->p.inplace && op->n_args > 0 && op->arg[0].tag == FSCHED_IN && !op->arg[0].has_at &&
        fs_rng_one_in(&g->rng, 2)) {
      op->inplace_in = op->arg[0].buffer;
      memory = g->buffer[op->inplace_in].memory;
      size = g->buffer[op->inplace_in].size;
    }
    bool output = g->p.io && fs_rng_one_in(&g->rng, 16);
    buffer = add_buffer(g, memory, size, output ? FSCHED_IO_OUTPUT : FSCHED_IO_NONE);
    g->recent[g->n_recent++] = buffer;
  }
  op->arg[op->n_args++] = (gen_arg){.tag = FSCHED_OUT, .buffer = buffer};
  if (!g->p.backing) {
    g->need[g->buffer[buffer].memory] += fs_align_up(g->buffer[buffer].size, g->p.align);
  }
}

static void place_op(gen *g, gen_op *op) {
  const fs_gen_params *p = &g->p;
  uint32_t compute = p->n_queues > 1 ? p->n_queues - 1 : p->n_queues;
  op->n_gang = 0;
  op->on = fs_rng_below(&g->rng, p->n_classes);
  if (p->n_queues == 0) {
    return;
  }
  if (p->gangs && compute >= 2 && fs_rng_one_in(&g->rng, p->most_demand > 1 ? 3 : 10)) {
    op->n_gang = 2 + fs_rng_below(&g->rng, (uint32_t)fs_min(compute - 1, 3));
    op->gang = fs_rng_below(&g->rng, compute - op->n_gang + 1);
  } else if (fs_rng_one_in(&g->rng, 12)) {
    op->on = p->n_classes + fs_rng_below(&g->rng, p->n_queues);
  }
}

static void draw_op(gen *g, uint32_t id, gen_op *op) {
  const fs_gen_params *p = &g->p;
  op->n_args = 0;
  op->time =
      p->zero_times && fs_rng_one_in(&g->rng, 8) ? 0 : 1 + fs_rng_below(&g->rng, p->max_time);
  place_op(g, op);
  for (uint32_t n = 1 + fs_rng_below(&g->rng, 3); n > 0; n--) {
    add_input(g, op);
  }
  add_in_place(g, op);
  add_extras(g, op);
  add_output(g, op);
  for (uint32_t m = 0; m < MAX_MEMORIES; m++) {
    op->scratch[m] = p->scratch && m < p->n_memories && fs_rng_one_in(&g->rng, 4)
                         ? 1 + fs_rng_below(&g->rng, p->max_size)
                         : 0;
  }
  for (uint32_t r = 0; r < RESOURCES; r++) {
    op->use[r] = p->resources && fs_rng_one_in(&g->rng, 2)
                     ? fs_rng_below(&g->rng, RESOURCE_CAPACITY + 1)
                     : 0;
  }
  op->after = p->afters && id > 0 && fs_rng_one_in(&g->rng, 6)
                  ? id - 1 - fs_rng_below(&g->rng, (uint32_t)fs_min(id, p->window))
                  : FS_NONE;
}

/* Finds what the precondition counts of one op: its distinct versions and its scratch. */
static void measure(gen *g, const gen_op *op) {
  uint64_t need[MAX_MEMORIES + 1] = {0};
  for (uint32_t i = 0; i < op->n_args; i++) {
    const gen_arg *a = &op->arg[i];
    bool counted = a->buffer == FS_NONE || a->tag == FSCHED_NO_DEP;
    for (uint32_t j = 0; j < i && !counted; j++) {
      counted = op->arg[j].buffer == a->buffer && op->arg[j].tag != FSCHED_NO_DEP &&
                (op->arg[j].tag == FSCHED_OUT) == (a->tag == FSCHED_OUT);
    }
    if (!counted) {
      need[g->buffer[a->buffer].memory] += fs_align_up(g->buffer[a->buffer].size, g->p.align);
    }
  }
  for (uint32_t m = 0; m < g->p.n_memories; m++) {
    uint64_t scratch = fs_align_up(op->scratch[m], g->p.align);
    if (g->p.backing) {
      g->need[m] = fs_max(g->need[m], need[m] + scratch);
    } else {
      g->need[m] += scratch;
    }
  }
}

/* With implicit queues there is no class, and any number will do. */
static uint32_t queues_of_class(const fs_gen_params *p, uint32_t class_id) {
  uint32_t n = 0;
  for (uint32_t q = 0; q < p->n_queues; q++) {
    n += (q + 1 < p->n_queues || p->n_queues == 1) && q % p->n_classes == class_id;
  }
  return n == 0 ? 3 : n;
}

/* Deals the op's args out to its members, so that no two of them conflict. */
static void deal(const gen_op *op, fs_rng *rng, uint32_t members, uint32_t *member) {
  for (uint32_t i = 0; i < op->n_args; i++) {
    member[i] = fs_rng_below(rng, members);
    for (uint32_t j = 0; j < i; j++) {
      bool shared = op->arg[i].buffer != FS_NONE && op->arg[i].buffer == op->arg[j].buffer;
      member[i] = shared ? member[j] : member[i];
    }
  }
}

static void build_op(gen *g, const gen_op *op, uint32_t id) {
  char name[16];
  char on[16];
  char members[4][16];
  const char *gang[4];
  const fs_gen_params *p = &g->p;
  fsched_op_desc d = {
      .size = sizeof d, .name = number_name(name, 'o', id), .has_time = 1, .time = op->time};
  d.on = op->on < p->n_classes ? number_name(on, 'c', op->on)
                               : number_name(on, 'q', op->on - p->n_classes);
  for (uint32_t i = 0; i < op->n_gang; i++) {
    gang[i] = number_name(members[i], 'q', op->gang + i);
  }
  /* Drawn last, so that the rest of the graph stays the same without it. */
  if (p->most_demand > 0) {
    fs_rng r = {p->seed ^ (uint64_t)(id + 1) << 32};
    d.slots = 1 + fs_rng_below(&r, p->most_demand);
  }
  if (p->latencies) {
    fs_rng r = {p->seed ^ (uint64_t)(id + 1) << 24};
    d.latency = fs_rng_one_in(&r, 3) ? op->time + 1 + fs_rng_below(&r, 3 * p->max_time) : 0;
  }
  d.gang = op->n_gang > 0 ? gang : NULL;
  d.n_gang = op->n_gang;
  char class_name[16];
  fs_rng choice = {p->seed ^ (uint64_t)(id + 1) << 16};
  if (p->class_gangs && fs_rng_one_in(&choice, op->n_gang > 0 ? 2 : 8)) {
    uint32_t class_id = fs_rng_below(&choice, p->n_classes);
    d.gang = NULL;
    d.gang_class = number_name(class_name, 'c', class_id);
    d.gang_count = 1 + fs_rng_below(&choice, queues_of_class(p, class_id));
  }
  uint32_t n_members = d.gang_class != NULL ? d.gang_count : d.n_gang;
  uint32_t member[MAX_ARGS] = {0}, order[MAX_ARGS];
  fs_rng drawn = {p->seed ^ (uint64_t)(id + 1) << 40};
  if (p->members && p->n_queues > 0 && n_members > 0 && fs_rng_one_in(&drawn, 2)) {
    d.members = n_members;
    deal(op, &drawn, n_members, member);
  }
  keep(g, fsched_builder_op(g->b, &d, NULL));
  for (uint32_t m = 0, n = 0; n < op->n_args; m++) { /* member after member */
    for (uint32_t k = 0; k < op->n_args; k++) {
      if (member[k] == m) {
        order[n++] = k;
      }
    }
  }
  for (uint32_t k = 0; k < op->n_args; k++) {
    uint32_t i = order[k];
    const gen_arg *a = &op->arg[i];
    fsched_arg_desc ad = {.size = sizeof ad,
                          .tag = (fsched_tag)a->tag,
                          .buffer = a->buffer,
                          .has_at = a->has_at,
                          .offset = a->offset,
                          .length = a->length,
                          .member = member[i],
                          .value = a->tag == FSCHED_VALUE ? (int64_t)a->offset : 0};
    uint64_t shape[3], strides[3];
    fs_rng rng = {p->seed ^ (uint64_t)(id + 1) << 24 ^ i};
    if (p->views && a->has_at) {
      random_view(&rng, &ad, shape, strides);
    }
    keep(g, fsched_builder_arg(g->b, id, &ad));
  }
  for (uint32_t m = 0; m < p->n_memories; m++) {
    if (op->scratch[m] > 0) {
      keep(g, fsched_builder_scratch(g->b, id, m, op->scratch[m]));
    }
  }
  for (uint32_t r = 0; r < RESOURCES; r++) {
    if (op->use[r] > 0) {
      keep(g, fsched_builder_use(g->b, id, r, op->use[r]));
    }
  }
  if (op->inplace_in != FS_NONE) {
    keep(g, fsched_builder_inplace(g->b, id, op->arg[op->n_args - 1].buffer, op->inplace_in));
  }
  if (op->after != FS_NONE) {
    keep(g, fsched_builder_after(g->b, id, op->after));
  }
}

static void build_queues(gen *g) {
  for (uint32_t q = 0; q < g->p.n_queues; q++) {
    char name[16];
    char class_name[16] = "copy";
    if (q + 1 < g->p.n_queues || g->p.n_queues == 1) {
      number_name(class_name, 'c', q % g->p.n_classes);
    }
    fsched_queue_desc d = {
        .size = sizeof d,
        .name = number_name(name, 'q', q),
        .queue_class = class_name,
        .device = q / 4,
        .machine = q / 16,
        .counting = g->p.counting && g->p.sync == FSCHED_SYNC_BLOCK && q % 2 == 0};
    keep(g, fsched_builder_queue(g->b, &d, NULL));
  }
}

static void build_target(gen *g) {
  const fs_gen_params *p = &g->p;
  build_queues(g);
  for (uint32_t m = 0; m < p->n_memories; m++) {
    char name[16];
    uint64_t capacity = (uint64_t)((double)g->need[m] * p->tightness);
    uint64_t least = (uint64_t)((double)g->need[m] * p->short_share);
    fsched_memory_desc d = {
        .size = sizeof d,
        .name = number_name(name, 'm', m),
        .capacity = fs_max(p->short_share > 0 ? least : fs_max(capacity, g->need[m]), 1),
        .align = p->align,
        .placement = p->counted && m % 2 == 1 ? FSCHED_COUNTED : FSCHED_CONTIGUOUS};
    if (p->backing) {
      d.backing = "store";
      d.spill_on = p->n_queues == 1 ? "c0" : "copy";
      d.write_fixed = d.read_fixed = 1;
      d.write_rate = d.read_rate = p->max_size / 4 + 1;
    }
    keep(g, fsched_builder_memory(g->b, &d, NULL));
  }
  fsched_memory_desc store = {
      .size = sizeof store, .name = "store", .capacity = FSCHED_UNBOUNDED, .align = p->align};
  keep(g, fsched_builder_memory(g->b, &store, NULL));
  if (p->resources) {
    keep(g, fsched_builder_resource(g->b, "r0", RESOURCE_CAPACITY, NULL));
    keep(g, fsched_builder_resource(g->b, "r1", RESOURCE_CAPACITY, NULL));
  }
  if (p->concurrency) {
    keep(g, fsched_builder_concurrency(g->b, 1 + p->seed % 4));
  }
  keep(g, fsched_builder_hazards(g->b, p->raw ? FSCHED_HAZARDS_RAW : FSCHED_HAZARDS_SEQUENTIAL));
  keep(g, fsched_builder_sync(g->b, p->sync));
  if (p->n_slots > 0) {
    keep(g, fsched_builder_barriers(g->b, 0, p->n_slots));
  }
}

static void walk(gen *g) {
  g->rng.state = g->p.seed;
  g->n_buffers = g->n_recent = 0;
  for (uint32_t id = 0; id < g->p.n_ops && g->status == FSCHED_OK; id++) {
    gen_op op;
    draw_op(g, id, &op);
    if (g->b == NULL) {
      measure(g, &op);
    } else {
      build_op(g, &op, id);
    }
  }
}

fs_status fs_gen_graph(fsched_context *ctx, const fs_gen_params *params, fsched_graph **out) {
  gen g = {.p = *params};
  defaults(&g.p);
  walk(&g);
  fs_status status = fsched_builder_create(ctx, "random", &g.b);
  if (status == FSCHED_OK) {
    build_target(&g);
    walk(&g);
    status = g.status == FSCHED_OK ? fsched_builder_finish(g.b, out) : g.status;
    fsched_builder_destroy(g.b);
  }
  free(g.buffer);
  free(g.recent);
  return status;
}

fs_gen_params fs_gen_tight(uint64_t seed, uint32_t n_ops) {
  static const uint64_t align[] = {1, 64, 256};
  return (fs_gen_params){.seed = seed,
                         .n_ops = n_ops,
                         .n_queues = 1 + (uint32_t)(seed % 5),
                         .n_memories = 1 + (uint32_t)(seed % 2),
                         .align = align[seed % 3],
                         .backing = true,
                         .scratch = true,
                         .inplace = true,
                         .inouts = true,
                         .ats = true,
                         .io = true,
                         .versions = true,
                         .gangs = seed % 2 == 0};
}

fs_gen_params fs_gen_mixed(uint64_t seed, uint32_t n_ops, bool near) {
  return (fs_gen_params){.seed = seed,
                         .n_ops = n_ops,
                         .n_queues = 5,
                         .n_classes = 2,
                         .n_memories = 1,
                         .align = 64,
                         .max_size = 4000,
                         .window = 64,
                         .tightness = 24,
                         .backing = true,
                         .gangs = true,
                         .inouts = true,
                         .scratch = true,
                         .io = true,
                         .near = near};
}

fs_gen_params fs_gen_any(uint64_t seed, uint32_t max_ops) {
  static const uint64_t aligns[] = {1, 64, 256};
  static const double loose[] = {1.0, 1.0, 1.3, 2.0, 8.0};
  fs_rng r = {seed * 2 + 1};
  fs_gen_params p = {.seed = seed, .n_ops = 1 + fs_rng_below(&r, max_ops), .backing = true};
  p.n_queues = fs_rng_below(&r, 7);
  p.n_classes = 1 + fs_rng_below(&r, 3);
  p.n_memories = fs_rng_one_in(&r, 10) ? 0 : 1 + fs_rng_below(&r, 3);
  p.align = aligns[fs_rng_below(&r, 3)];
  p.max_size = fs_rng_one_in(&r, 2) ? 1000 : 10;
  p.max_time = fs_rng_one_in(&r, 3) ? 1 : 10;
  p.window = 2 + fs_rng_below(&r, 30);
  p.tightness = loose[fs_rng_below(&r, 5)];
  uint64_t bits = fs_rng_next(&r);
  bool *option[] = {&p.counted,     &p.gangs,    &p.scratch, &p.inplace,    &p.resources,
                    &p.concurrency, &p.inouts,   &p.ats,     &p.zero_times, &p.zero_sizes,
                    &p.io,          &p.versions, &p.no_deps, &p.afters};
  for (size_t i = 0; i < sizeof option / sizeof option[0]; i++) {
    *option[i] = bits >> i & 1;
  }
  return p;
}

fs_gen_params fs_gen_odd(uint64_t seed, uint32_t max_ops) {
  fs_rng r = {seed * 2 + 7};
  fs_gen_params p = fs_gen_any(seed, max_ops);
  p.n_queues = 2 + fs_rng_below(&r, 5);
  p.max_size = fs_rng_one_in(&r, 2) ? 3 : 9;
  p.max_time = fs_rng_one_in(&r, 2) ? 1 : 4;
  p.align = fs_rng_one_in(&r, 4) ? 2 : 1;
  p.window = 2 + fs_rng_below(&r, 8);
  p.tightness = fs_rng_one_in(&r, 3) ? 1.5 : 1.0;
  p.n_memories = 1 + fs_rng_below(&r, 3);
  p.n_slots = 1 + fs_rng_below(&r, 4);
  p.most_demand = 1 + fs_rng_below(&r, 2 * p.n_slots);
  uint64_t bits = fs_rng_next(&r) | fs_rng_next(&r);
  bool *option[] = {&p.counted, &p.gangs,  &p.inplace, &p.zero_times, &p.zero_sizes,  &p.io,
                    &p.states,  &p.inouts, &p.ats,     &p.scratch,    &p.concurrency, &p.counting};
  for (size_t i = 0; i < sizeof option / sizeof option[0]; i++) {
    *option[i] = bits >> i & 1;
  }
  return p;
}
