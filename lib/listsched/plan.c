/* SPDX-License-Identifier: Apache-2.0 */
/* Planned orders: each is a linear extension of the graph, made by taking the best op whose
 * predecessors are all taken.  O((V + E) log V). */
#include "base/heap.h"
#include "listsched/policy.h"
#include "model/lags.h"

fs_status fs_plan_ranks(const fsched_graph *g, fs_arena *arena, fs_tick **out) {
  assert(g->topo != NULL || g->n_ops == 0);
  fs_tick *rank; /* of an op that was not looked at: what those behind it need after its start */
  fs_lags lags;
  FS_TRY(fs_lags_find(arena, g, &lags));
  FS_TRY(fs_new_zero(arena, &rank, g->n_ops));
  for (uint32_t i = g->n_ops; i-- > 0;) {
    uint32_t op = g->topo[i];
    fs_tick tail = 0;
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      uint32_t v = g->arg_version[a];
      if (v != FS_NONE && fs_tag_writes(g->arg_tag[a]) && fs_version_kept(g, v) &&
          fs_version_spills(g, v)) {
        tail = fs_max(tail, fs_spill_write_time(fs_version_home(g, v), fs_version_size(g, v)));
      }
    }
    rank[op] = fs_max(rank[op], fs_op_latency(g, op) + tail);
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      fs_tick *before = &rank[g->pred[e]];
      *before = fs_max(*before, fs_lags_delay(&lags, e, op) + rank[op]);
    }
  }
  *out = rank;
  return FSCHED_OK;
}

typedef struct order_planner {
  fsched_context *ctx;
  const fsched_graph *g;
  fs_heap ready;
  uint32_t *preds_left;
  uint32_t n_taken;
  uint32_t *position;
  uint32_t *alias, *op_of; /* ties go by alias: the id, or a random permutation of the ids */
} order_planner;

/* The finaliser of splitmix64: the i-th number of a stream. */
uint64_t fs_plan_random(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static void shuffle(order_planner *p, uint64_t seed) {
  for (uint32_t i = p->g->n_ops; seed != 0 && i-- > 1;) {
    uint32_t j = (uint32_t)(fs_plan_random(seed, i) % (i + 1));
    uint32_t op = p->op_of[i];
    p->op_of[i] = p->op_of[j];
    p->op_of[j] = op;
  }
  for (uint32_t i = 0; i < p->g->n_ops; i++) {
    p->alias[p->op_of[i]] = i;
  }
}

static fs_status planner_init(order_planner *p, fsched_context *ctx, const fsched_graph *g,
                              fs_arena *scratch, uint64_t seed, uint32_t *position) {
  assert(position != NULL || g->n_ops == 0);
  *p = (order_planner){.ctx = ctx, .g = g, .position = position};
  FS_TRY(fs_new(scratch, &p->preds_left, g->n_ops));
  FS_TRY(fs_new(scratch, &p->alias, g->n_ops));
  FS_TRY(fs_new(scratch, &p->op_of, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    p->preds_left[op] = g->pred0[op + 1] - g->pred0[op];
    p->op_of[op] = op;
  }
  shuffle(p, seed);
  return FSCHED_OK;
}

/* Takes ops by ascending key[op]. */
static fs_status plan_by_key(order_planner *p, const uint64_t *key) {
  const fsched_graph *g = p->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    if (p->preds_left[op] == 0) {
      FS_TRY(fs_heap_push(p->ctx, &p->ready, key[op], p->alias[op]));
    }
  }
  while (p->ready.n > 0) {
    uint32_t op = p->op_of[fs_heap_pop(&p->ready).id];
    p->position[op] = p->n_taken++;
    for (uint32_t s = g->succ0[op]; s < g->succ0[op + 1]; s++) {
      uint32_t to = g->succ[s];
      if (--p->preds_left[to] == 0) {
        FS_TRY(fs_heap_push(p->ctx, &p->ready, key[to], p->alias[to]));
      }
    }
  }
  assert(p->n_taken == g->n_ops);
  return FSCHED_OK;
}

fs_status fs_plan_rank(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch, uint64_t seed,
                       uint32_t *position) {
  assert(position != NULL || g->n_ops == 0);
  fs_tick *rank;
  order_planner p;
  FS_TRY(fs_plan_ranks(g, scratch, &rank));
  FS_TRY(planner_init(&p, ctx, g, scratch, seed, position));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    rank[op] = UINT64_MAX - rank[op];
  }
  fs_status status = plan_by_key(&p, rank);
  fs_vec_free(ctx, &p.ready);
  return status;
}

/* Every op may fall back by a random distance: at most a part of the length of the order, and that
 * part is random, too. */
static void shake(uint64_t *key, const uint32_t *from, uint32_t n, uint64_t r) {
  assert(n > 1);
  uint32_t parts = 31u - (uint32_t)__builtin_clz(n);
  uint64_t spread = (uint64_t)n >> (1 + r % parts);
  for (uint32_t op = 0; op < n; op++) {
    key[op] = 2 * (from[op] + fs_plan_random(r, op) % (spread + 1));
  }
}

/* One to three ops go to other places. */
static void move(uint64_t *key, const uint32_t *from, uint32_t n, uint64_t r) {
  assert(n > 1);
  enum { MOST_MOVED = 3 };
  for (uint32_t op = 0; op < n; op++) {
    key[op] = 2 * (uint64_t)from[op] + 1;
  }
  for (uint32_t i = 0; i <= r % MOST_MOVED; i++) {
    key[fs_plan_random(r, 2 * i) % n] = 2 * (fs_plan_random(r, 2 * i + 1) % ((uint64_t)n + 1));
  }
}

/* Up to 33 ops that follow each other change places. */
static void stir(uint64_t *key, const uint32_t *from, uint32_t n, uint64_t r) {
  assert(n > 1);
  enum { LONGEST = 33 };
  uint64_t length = 2 + r % (fs_min(n, LONGEST) - 1);
  uint64_t first = fs_plan_random(r, n) % (n - length + 1);
  for (uint32_t op = 0; op < n; op++) {
    bool within = from[op] >= first && from[op] < first + length;
    key[op] = within ? 2 * first + fs_plan_random(r, op) % (2 * length) : 2 * (uint64_t)from[op];
  }
}

fs_status fs_plan_neighbour(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                            const uint32_t *from, uint64_t seed, uint32_t *position) {
  assert(from != position && g->n_ops > 1);
  uint64_t *key;
  order_planner p;
  FS_TRY(fs_new(scratch, &key, g->n_ops));
  FS_TRY(planner_init(&p, ctx, g, scratch, 0, position));
  static void (*const change[])(uint64_t *, const uint32_t *, uint32_t, uint64_t) = {move, move,
                                                                                     stir, shake};
  enum { CHANGES = sizeof change / sizeof *change };
  uint64_t r = fs_plan_random(seed, 0);
  change[r % CHANGES](key, from, g->n_ops, fs_plan_random(r, 0));
  fs_status status = plan_by_key(&p, key);
  fs_vec_free(ctx, &p.ready);
  return status;
}

fs_status fs_plan_program(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                          uint64_t seed, uint32_t *position) {
  assert(position != NULL || g->n_ops == 0);
  (void)ctx;
  (void)scratch;
  (void)seed;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    position[g->topo[i]] = i;
  }
  return FSCHED_OK;
}

/* State of the memory-frugal order: what an op would add to bounded memories now. */
typedef struct frugal {
  order_planner p;
  uint32_t *left; /* per version: accesses to come */
  uint8_t *present;
  uint32_t *refreshed; /* per op: n_taken when its key was last made anew */
  uint64_t *key;       /* per ready op: its newest entry */
} frugal;

/* The key of an op: the bytes that it adds less those that it sets free; the least comes first. */
static uint64_t frugal_key(const frugal *f, uint32_t op) {
  FS_ASSERT_SLOW(op < f->p.g->n_ops);
  const fsched_graph *g = f->p.g;
  int64_t delta = 0;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v == FS_NONE || !fs_tag_accesses(g->arg_tag[a]) ||
        !fs_memory_bounded(fs_version_home(g, v))) {
      continue;
    }
    int64_t size = (int64_t)fs_version_size(g, v);
    delta += f->present[v] ? 0 : size;
    delta -= f->left[v] == 1 ? size : 0;
  }
  const int64_t middle = (int64_t)1 << 55;
  return (uint64_t)(middle + (delta < -middle ? -middle : delta > middle ? middle : delta));
}

static fs_status frugal_push(frugal *f, uint32_t op) {
  f->key[op] = frugal_key(f, op);
  return fs_heap_push(f->p.ctx, &f->p.ready, f->key[op], f->p.alias[op]);
}

/* Ready ops that are now the last to touch one of the op's versions get new keys, each once. */
static fs_status frugal_refresh(frugal *f, uint32_t op) {
  const fsched_graph *g = f->p.g;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v == FS_NONE || !fs_tag_accesses(g->arg_tag[a]) || f->left[v] != 1) {
      continue;
    }
    for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
      uint32_t other = g->access_op[i];
      if (f->p.position[other] == FS_NONE && f->p.preds_left[other] == 0 &&
          f->refreshed[other] != f->p.n_taken) {
        f->refreshed[other] = f->p.n_taken;
        FS_TRY(frugal_push(f, other));
      }
    }
  }
  return FSCHED_OK;
}

/* Takes the op: its versions are present, and its accesses no longer to come. */
static fs_status frugal_take(frugal *f, uint32_t op) {
  FS_ASSERT_SLOW(op < f->p.g->n_ops && f->p.position[op] == FS_NONE);
  const fsched_graph *g = f->p.g;
  f->p.position[op] = f->p.n_taken++;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v != FS_NONE && fs_tag_accesses(g->arg_tag[a])) {
      f->present[v] = 1;
      f->left[v]--;
    }
  }
  FS_TRY(frugal_refresh(f, op));
  for (uint32_t s = g->succ0[op]; s < g->succ0[op + 1]; s++) {
    if (--f->p.preds_left[g->succ[s]] == 0) {
      FS_TRY(frugal_push(f, g->succ[s]));
    }
  }
  return FSCHED_OK;
}

static fs_status frugal_plan(frugal *f) {
  const fsched_graph *g = f->p.g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    if (f->p.preds_left[op] == 0) {
      FS_TRY(frugal_push(f, op));
    }
  }
  while (f->p.ready.n > 0) {
    fs_heap_entry e = fs_heap_pop(&f->p.ready);
    uint32_t op = f->p.op_of[e.id];
    if (f->p.position[op] == FS_NONE && e.key == f->key[op]) {
      FS_TRY(frugal_take(f, op));
    }
  }
  assert(f->p.n_taken == g->n_ops);
  return FSCHED_OK;
}

fs_status fs_plan_memory(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                         uint64_t seed, uint32_t *position) {
  assert(position != NULL || g->n_ops == 0);
  frugal f = {0};
  FS_TRY(planner_init(&f.p, ctx, g, scratch, seed, position));
  memset(position, 0xFF, g->n_ops * sizeof *position);
  FS_TRY(fs_new_zero(scratch, &f.left, g->n_versions));
  FS_TRY(fs_new_zero(scratch, &f.present, g->n_versions));
  FS_TRY(fs_new_zero(scratch, &f.key, g->n_ops));
  FS_TRY(fs_new_none(scratch, &f.refreshed, g->n_ops));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    f.left[v] = g->version_access0[v + 1] - g->version_access0[v];
  }
  fs_status status = frugal_plan(&f);
  fs_vec_free(ctx, &f.p.ready);
  return status;
}

/* Adds up, per domain that copies, the time of the copies that an order makes if its ops run one at
 * a time: when more bytes than the capacity have been brought into a version's memory since its
 * last use, the version was written in between, and its next use reads it back. */
static fs_status copy_times(const fsched_graph *g, fs_arena *scratch, const uint32_t *op_at,
                            fs_tick *work) {
  uint64_t *brought, *at; /* per memory: bytes so far; per version: that at its last use */
  FS_TRY(fs_new_zero(scratch, &brought, g->target.n_memories));
  FS_TRY(fs_new_none(scratch, &at, g->n_versions));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = op_at[i];
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      uint32_t v = g->arg_version[a];
      if (v == FS_NONE || !fs_tag_accesses(g->arg_tag[a])) {
        continue;
      }
      uint32_t m = fs_version_memory(g, v);
      const fs_memory *memory = &g->target.memory[m];
      if (!fs_memory_bounded(memory)) {
        continue;
      }
      uint64_t size = fs_version_size(g, v);
      bool fresh = at[v] == UINT64_MAX;
      if (fresh || brought[m] - at[v] > memory->capacity) {
        brought[m] += size;
        if (!fresh && fs_memory_spills(memory)) {
          work[memory->spill_domain] +=
              fs_spill_read_time(memory, size) + fs_spill_write_time(memory, size);
        }
      }
      at[v] = brought[m];
    }
  }
  return FSCHED_OK;
}

/* When each domain's queues are free, earliest first. */
static fs_status free_queues(fsched_context *ctx, const fsched_graph *g, fs_heap *free) {
  const fs_target *t = &g->target;
  for (uint32_t d = 0; d < t->n_domains; d++) {
    for (uint32_t i = t->domain_queue0[d]; i < t->domain_queue0[d + 1]; i++) {
      FS_TRY(fs_heap_push(ctx, &free[d], 0, i));
    }
  }
  return FSCHED_OK;
}

/* The end of the ops when every queue takes them in this order; a gang takes none. */
static fs_status end_in_order(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                              const uint32_t *op_at, fs_heap *free, fs_tick *last) {
  fs_tick *end;
  FS_TRY(fs_new(scratch, &end, g->n_ops));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = op_at[i];
    fs_tick start = 0;
    for (uint32_t k = g->pred0[op]; k < g->pred0[op + 1]; k++) {
      start = fs_max(start, end[g->pred[k]]);
    }
    fs_heap *queues = g->op_gang[op] == FS_NONE ? &free[g->op_domain[op]] : NULL;
    if (queues != NULL && queues->n > 0) {
      fs_heap_entry queue = fs_heap_pop(queues);
      start = fs_max(start, queue.key);
      FS_TRY(fs_heap_push(ctx, queues, start + g->op_time[op], queue.id));
    }
    end[op] = start + fs_op_latency(g, op);
    *last = fs_max(*last, end[op]);
  }
  return FSCHED_OK;
}

fs_status fs_plan_estimate(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                           const uint32_t *op_at, fs_tick *makespan) {
  assert(op_at != NULL || g->n_ops == 0);
  enum { COPY_SHARE = 8 };
  const fs_target *t = &g->target;
  fs_tick *work;
  fs_heap *free;
  FS_TRY(fs_new_zero(scratch, &work, t->n_domains));
  FS_TRY(fs_new_zero(scratch, &free, t->n_domains));
  *makespan = 0;
  fs_status status = t->implicit_queues ? FSCHED_OK : free_queues(ctx, g, free);
  if (status == FSCHED_OK) {
    status = end_in_order(ctx, g, scratch, op_at, free, makespan);
  }
  for (uint32_t d = 0; d < t->n_domains; d++) {
    fs_vec_free(ctx, &free[d]);
  }
  FS_TRY(status);
  FS_TRY(copy_times(g, scratch, op_at, work));
  fs_tick copies = 0;
  for (uint32_t d = 0; d < t->n_domains; d++) {
    copies += work[d];
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    bool alone = g->op_gang[op] == FS_NONE;
    work[alone ? g->op_domain[op] : 0] += alone ? g->op_time[op] : 0;
  }
  for (uint32_t d = 0; d < t->n_domains && !t->implicit_queues; d++) {
    uint32_t queues = t->domain_queue0[d + 1] - t->domain_queue0[d];
    *makespan = fs_max(*makespan, work[d] / fs_max(queues, 1));
  }
  *makespan += copies / COPY_SHARE; /* copies beside the ops delay some of them */
  return FSCHED_OK;
}
