/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/loop.h"

#include "base/saturate.h"

/* Each is searched for by itself: so many, or as many as a body can have (modulo/body.h) where few
 * are in use. */
enum { MOST_LANES = 16, MOST_EXACT = 64, MOST_IN_USE = 48 };

/* How much longer times are made, and the most that they may come to then. */
enum { MOST_SCALE = 1 << 12 };
#define MOST_TIME (UINT64_C(1) << 36)

typedef struct loop_maker {
  fs_arena *arena;
  const fsched_graph *g;
  const fs_loop_body *body;
  fs_modulo_loop *out;
  uint64_t *unit;   /* per resource: all amounts are multiples of it */
  uint64_t *amount; /* per member: of the resource at hand */
} loop_maker;

/* The lanes of a resource. */
typedef struct lane_split {
  uint32_t lanes;
  uint64_t each; /* units of a lane; the last one has the rest */
} lane_split;

/* By how much times are made longer, so that one tick does not matter; 0: they are too long. */
static uint64_t find_scale(const fs_tick *latency, uint32_t n, uint32_t no_time) {
  uint64_t scale = MOST_SCALE, all = 0;
  for (uint32_t m = 0; m < n; m++) {
    all = fs_add_most(all, latency[m]);
  }
  while (scale > 0 && fs_multiply_most(all, scale) > MOST_TIME) {
    scale /= 2;
  }
  return no_time == 0 ? 1 : scale > no_time ? scale : 0;
}

/* The times of the problem, if some op takes none. */
static fs_status scale_times(loop_maker *k, uint32_t no_time) {
  fs_modulo_loop *out = k->out;
  uint32_t n = k->body->n;
  fs_tick *time, *latency;
  out->scale = find_scale(out->latency, n, no_time);
  if (out->scale == 0) {
    out->why_not = "an op takes no time, and others take very long";
    return FSCHED_OK;
  }
  if (no_time == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(k->arena, &time, n));
  FS_TRY(fs_new(k->arena, &latency, n));
  for (uint32_t m = 0; m < n; m++) {
    time[m] = fs_max(out->time[m] * out->scale, 1);
    latency[m] = fs_max(out->latency[m] * out->scale, time[m]);
  }
  out->problem.time = time;
  out->problem.latency = latency;
  return FSCHED_OK;
}

static fs_status make_times(loop_maker *k) {
  const fs_loop_body *body = k->body;
  fs_tick *time, *latency;
  uint32_t no_time = 0;
  FS_TRY(fs_new(k->arena, &time, body->n));
  FS_TRY(fs_new(k->arena, &latency, body->n));
  for (uint32_t m = 0; m < body->n; m++) {
    time[m] = k->g->op_time[body->op[m]];
    latency[m] = fs_op_latency(k->g, body->op[m]);
    no_time += time[m] == 0;
  }
  k->out->problem.time = k->out->time = time;
  k->out->problem.latency = k->out->latency = latency;
  return scale_times(k, no_time);
}

/* The queues that an op may run on, or all of which a gang takes. */
static const uint32_t *queues_of(const fsched_graph *g, uint32_t op, uint32_t *n) {
  uint32_t gang = g->op_gang[op], d = g->op_domain[op];
  if (gang != FS_NONE) {
    *n = g->gang_queue0[gang + 1] - g->gang_queue0[gang];
    return g->gang_queue + g->gang_queue0[gang];
  }
  *n = g->target.domain_queue0[d + 1] - g->target.domain_queue0[d];
  return g->target.domain_queue + g->target.domain_queue0[d];
}

static bool is_open(const fsched_graph *g, uint32_t op) {
  uint32_t gang = g->op_gang[op];
  return gang != FS_NONE && fs_gang_open(g, gang);
}

/* How many queues are listed for an op: those that it may run on, or that a gang takes. */
static uint32_t queues_taken(const fsched_graph *g, uint32_t op) {
  uint32_t n;
  (void)queues_of(g, op, &n);
  return is_open(g, op) ? g->gang_members[g->op_gang[op]] : n;
}

/* An op that takes any queues of a class takes those with the least work so far; the longest ops
 * choose first.  What may run on one of several queues is no work of any. */
static fs_status choose_queues(loop_maker *k, const uint32_t *first, uint32_t *queue) {
  const fsched_graph *g = k->g;
  uint32_t n = k->body->n, n_queues = g->target.n_queues;
  uint64_t *work;
  bool *done, *taken;
  FS_TRY(fs_new_zero(k->arena, &work, n_queues));
  FS_TRY(fs_new_zero(k->arena, &done, n));
  FS_TRY(fs_new_zero(k->arena, &taken, n_queues));
  for (uint32_t m = 0; m < n; m++) {
    uint32_t op = k->body->op[m], listed = first[m + 1] - first[m];
    done[m] = !is_open(g, op);
    for (uint32_t i = first[m]; done[m] && i < first[m + 1]; i++) {
      work[queue[i]] += listed == 1 || g->op_gang[op] != FS_NONE ? g->op_time[op] : 0;
    }
  }
  for (;;) {
    uint32_t longest = FS_NONE, n_own;
    for (uint32_t m = 0; m < n; m++) {
      if (!done[m] &&
          (longest == FS_NONE || g->op_time[k->body->op[m]] > g->op_time[k->body->op[longest]])) {
        longest = m;
      }
    }
    if (longest == FS_NONE) {
      return FSCHED_OK;
    }
    uint32_t op = k->body->op[longest], at = first[longest];
    const uint32_t *own = queues_of(g, op, &n_own);
    for (uint32_t i = at; i < first[longest + 1]; i++) {
      uint32_t least = FS_NONE;
      for (uint32_t q = 0; q < n_own; q++) {
        bool less = least == FS_NONE || work[own[q]] < work[least];
        least = !taken[own[q]] && less ? own[q] : least;
      }
      taken[least] = true;
    }
    for (uint32_t q = 0; q < n_own; q++) { /* ascending */
      if (taken[own[q]]) {
        queue[at++] = own[q];
        work[own[q]] += g->op_time[op];
        taken[own[q]] = false;
      }
    }
    done[longest] = k->out->chosen = true;
  }
}

static fs_status make_queues(loop_maker *k) {
  const fsched_graph *g = k->g;
  const fs_loop_body *body = k->body;
  uint32_t *first, *queue, n, n_all = 0;
  bool *gang;
  if (g->target.implicit_queues) {
    k->out->why_not = "the target names no queues";
    return FSCHED_OK;
  }
  FS_TRY(fs_new(k->arena, &first, (size_t)body->n + 1));
  FS_TRY(fs_new(k->arena, &gang, body->n));
  for (uint32_t m = 0; m < body->n; m++) {
    n = queues_taken(g, body->op[m]);
    first[m] = n_all;
    n_all += n;
    gang[m] = g->op_gang[body->op[m]] != FS_NONE;
  }
  first[body->n] = n_all;
  FS_TRY(fs_new(k->arena, &queue, n_all));
  for (uint32_t m = 0; m < body->n; m++) {
    const uint32_t *own = queues_of(g, body->op[m], &n);
    if (!is_open(g, body->op[m])) {
      memcpy(queue + first[m], own, n * sizeof *queue);
    }
  }
  FS_TRY(choose_queues(k, first, queue));
  fs_modulo_problem *p = &k->out->problem;
  p->n_queues = g->target.n_queues;
  p->eligible0 = first;
  p->eligible = queue;
  p->gang = gang;
  return FSCHED_OK;
}

/* The first value of a writer, or of those behind it: they ascend. */
static uint32_t first_value(const fs_loop_body *body, uint32_t writer) {
  uint32_t low = 0, high = body->n_values;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (body->value[middle].writer < writer) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Whether a ring of given depth says the same as an edge. */
static bool said_by_ring(const fs_loop_body *body, const fs_body_edge *e) {
  bool said = false;
  for (uint32_t v = first_value(body, e->to); v < body->n_values && !said; v++) {
    const fs_body_value *value = &body->value[v];
    if (value->writer != e->to) {
      break;
    }
    said = value->depth > 0 && e->from == e->to && e->distance == value->depth;
    for (uint32_t r = value->reader0; r < value->reader0 + value->n_readers && !said; r++) {
      const fs_body_reader *reader = &body->reader[r];
      said = value->depth > 0 && reader->member == e->from &&
             e->distance + reader->back == value->depth;
    }
  }
  return said;
}

static fs_status make_edges(loop_maker *k) {
  const fs_loop_body *body = k->body;
  fs_modulo_problem *p = &k->out->problem;
  fs_modulo_edge *edge;
  FS_TRY(fs_new(k->arena, &edge, body->n_edges));
  for (uint32_t e = 0; e < body->n_edges; e++) {
    const fs_body_edge *x = &body->edge[e];
    if (!said_by_ring(body, x)) {
      edge[p->n_edges++] = (fs_modulo_edge){x->from, x->to, (uint32_t)x->distance};
    }
  }
  p->edge = edge;
  return FSCHED_OK;
}

/* Whether a writer begins a value in the place of the one that it reads. */
static bool is_in_place(const fs_body_value *value, const fs_body_reader *reader) {
  return reader->member == value->writer && value->depth > 0 && reader->back == value->depth;
}

/* Readers of the rings, without those that work in place: their instances are the writer's own. */
static fs_status make_readers(loop_maker *k) {
  const fs_loop_body *body = k->body;
  fs_modulo_problem *p = &k->out->problem;
  fs_modulo_reader *reader;
  uint32_t *reader0, n = 0;
  FS_TRY(fs_new(k->arena, &reader0, (size_t)body->n_values + 1));
  for (uint32_t v = 0; v < body->n_values; v++) {
    n += body->value[v].n_readers;
  }
  FS_TRY(fs_new(k->arena, &reader, n));
  n = 0;
  for (uint32_t v = 0; v < body->n_values; v++) {
    const fs_body_value *x = &body->value[v];
    reader0[v] = n;
    for (uint32_t r = 0; r < x->n_readers; r++) {
      const fs_body_reader *from = &body->reader[x->reader0 + r];
      if (!is_in_place(x, from)) {
        reader[n++] = (fs_modulo_reader){from->member, (uint32_t)from->back};
      }
    }
  }
  reader0[body->n_values] = n;
  p->reader0 = reader0;
  p->reader = reader;
  return FSCHED_OK;
}

static fs_status make_rings(loop_maker *k) {
  const fs_loop_body *body = k->body;
  fs_modulo_problem *p = &k->out->problem;
  fs_modulo_ring *ring;
  FS_TRY(fs_new(k->arena, &ring, body->n_values));
  for (uint32_t v = 0; v < body->n_values; v++) {
    const fs_body_value *x = &body->value[v];
    ring[v] = (fs_modulo_ring){.writer = x->writer,
                               .memory = x->memory,
                               .size = x->size,
                               .depth = (uint32_t)fs_min(x->depth, UINT32_MAX / 2),
                               .most = x->depth > 0 ? 0 : x->most,
                               .every = x->every,
                               .ahead = x->ahead,
                               .in_place = x->in_place};
  }
  p->n_rings = body->n_values;
  p->ring = ring;
  return make_readers(k);
}

/* The queue that an op keeps until it is over, if it can run on that alone; else FS_NONE. */
static uint32_t only_queue(const fsched_graph *g, uint32_t op) {
  uint32_t n;
  const uint32_t *queue = queues_of(g, op, &n);
  return n == 1 && g->op_gang[op] == FS_NONE && !fs_op_slow(g, op) ? queue[0] : FS_NONE;
}

static uint64_t scratch_of(const fsched_graph *g, uint32_t op, uint32_t memory) {
  uint64_t bytes = 0;
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    bool here = g->scratch_memory[i] == memory;
    bytes += here ? fs_align_up(g->scratch_size[i], g->target.memory[memory].align) : 0;
  }
  return bytes;
}

/* Whether an op may keep a queue until it is over: one of those that it may run on. */
static bool may_keep(const fsched_graph *g, uint32_t op, uint32_t queue) {
  uint32_t n;
  const uint32_t *own = queues_of(g, op, &n);
  bool here = false;
  for (uint32_t i = 0; i < n && !here; i++) {
    here = own[i] == queue;
  }
  return here && g->op_gang[op] == FS_NONE && !fs_op_slow(g, op);
}

/* What the scratch of all ops takes where those that keep a queue until they are over take turns
 * there: with `roam`, whichever queue that is, else those that have no other. */
static uint64_t scratch_by_queue(const fsched_graph *g, const fs_loop_body *body, uint32_t memory,
                                 bool roam) {
  uint64_t all = 0;
  for (uint32_t m = 0; m < body->n; m++) {
    uint32_t op = body->op[m];
    bool keeps =
        roam ? g->op_gang[op] == FS_NONE && !fs_op_slow(g, op) : only_queue(g, op) != FS_NONE;
    all = fs_add_most(all, keeps ? 0 : scratch_of(g, op, memory));
  }
  for (uint32_t q = 0; q < g->target.n_queues; q++) {
    uint64_t most = 0;
    for (uint32_t m = 0; m < body->n; m++) {
      uint32_t op = body->op[m];
      bool here = roam ? may_keep(g, op, q) : only_queue(g, op) == q;
      most = here ? fs_max(most, scratch_of(g, op, memory)) : most;
    }
    all = fs_add_most(all, most);
  }
  return all;
}

uint64_t fs_modulo_scratch(const fsched_graph *g, const fs_loop_body *body, uint32_t memory,
                           bool copies) {
  assert(memory < g->target.n_memories);
  uint64_t own = scratch_by_queue(g, body, memory, false);
  for (uint32_t v = 0; v < body->n_values; v++) {
    if (body->value[v].every > 1) { /* iterations are in order */
      return own;
    }
  }
  uint64_t most = scratch_by_queue(g, body, memory, true);
  return copies ? most : fs_min(own, most);
}

/* Room for slots: without what the loop holds, and without the scratch of its ops. */
static fs_status make_memories(loop_maker *k) {
  const fsched_graph *g = k->g;
  const fs_loop_body *body = k->body;
  uint64_t *capacity, *of_copies;
  FS_TRY(fs_new(k->arena, &capacity, g->target.n_memories));
  FS_TRY(fs_new(k->arena, &of_copies, g->target.n_memories));
  for (uint32_t i = 0; i < g->target.n_memories; i++) {
    const fs_memory *m = &g->target.memory[i];
    capacity[i] = of_copies[i] = m->capacity;
    if (fs_memory_bounded(m)) {
      uint64_t left = m->capacity - fs_min(body->held[i], m->capacity);
      k->out->narrowed = k->out->narrowed || fs_memory_spills(m);
      uint64_t scratch = fs_modulo_scratch(g, body, i, false);
      if (scratch > left) {
        k->out->why_not = "the scratch of its ops does not fit";
      }
      capacity[i] = left - fs_min(scratch, left);
      uint64_t most = fs_modulo_scratch(g, body, i, true);
      of_copies[i] = left - fs_min(most, left);
      k->out->single = k->out->single || most > left;
      k->out->narrowed = k->out->narrowed || scratch > 0;
    }
  }
  k->out->problem.n_memories = g->target.n_memories;
  k->out->problem.capacity = capacity;
  k->out->problem.capacity_of_copies = of_copies;
  return FSCHED_OK;
}

/* Finds in which units the resources are used. */
static void find_units(loop_maker *k) {
  const fsched_graph *g = k->g;
  for (uint32_t m = 0; m < k->body->n; m++) {
    uint32_t op = k->body->op[m];
    for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
      uint32_t r = g->use_resource[i];
      k->unit[r] = fs_common_divisor(g->use_amount[i], k->unit[r]);
    }
  }
}

/* The units in use of a resource, of all ops together. */
static uint64_t units_in_use(const loop_maker *k, uint32_t r) {
  const fsched_graph *g = k->g;
  uint64_t all = 0;
  for (uint32_t m = 0; m < k->body->n; m++) {
    uint32_t op = k->body->op[m];
    for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
      all = fs_add_most(all, g->use_resource[i] == r ? g->use_amount[i] / k->unit[r] : 0);
    }
  }
  return all;
}

/* The lanes that an amount takes, rounded up where these are of several units. */
static uint32_t lanes_for(uint64_t amount, const lane_split *split) {
  assert(split->each > 0);
  return (uint32_t)fs_min(fs_ceil_div(amount, split->each), split->lanes);
}

/* How many pairs of ops, and of ops with themselves, could run at a time, but have too few lanes.
 */
static uint64_t count_lost(const loop_maker *k, uint32_t r, const lane_split *split) {
  const fsched_graph *g = k->g;
  uint64_t capacity = g->target.resource_capacity[r], lost = 0;
  uint64_t *amount = k->amount;
  for (uint32_t m = 0; m < k->body->n; m++) {
    for (uint32_t o = 0; o <= m && amount[m] > 0; o++) {
      bool fit = amount[o] > 0 && amount[m] + amount[o] <= capacity;
      lost += fit && lanes_for(amount[m], split) + lanes_for(amount[o], split) > split->lanes;
    }
  }
  return lost;
}

/* Notes what each op takes of a resource. */
static void list_amounts(const loop_maker *k, uint32_t r) {
  const fsched_graph *g = k->g;
  for (uint32_t m = 0; m < k->body->n; m++) {
    uint32_t op = k->body->op[m];
    k->amount[m] = 0;
    for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
      k->amount[m] = g->use_resource[i] == r ? g->use_amount[i] : k->amount[m];
    }
  }
}

/* Lanes of a resource, one for each unit that is used at least; too many are put together, so many
 * that the fewest pairs of ops are kept apart.  A resource without units in use has none. */
static lane_split split_lanes(loop_maker *k, uint32_t r) {
  uint64_t capacity = k->g->target.resource_capacity[r], unit = k->unit[r];
  uint64_t lanes = unit == 0 ? 0 : capacity / unit;
  lane_split best = {(uint32_t)fs_min(lanes, MOST_EXACT), unit};
  if (lanes <= MOST_LANES || (lanes <= MOST_EXACT && units_in_use(k, r) <= MOST_IN_USE)) {
    return best;
  }
  uint64_t least = UINT64_MAX;
  k->out->rounded = true;
  list_amounts(k, r);
  for (uint32_t n = MOST_LANES; n > 0; n--) {
    lane_split split = {n, lanes / n * unit};
    uint64_t lost = count_lost(k, r, &split);
    if (lost < least) {
      least = lost;
      best = split;
    }
  }
  return best;
}

/* Whether the limit of ops at a time matters: else no more run than there are queues. */
static bool limits_ops(const fsched_graph *g) {
  uint64_t limit = g->target.concurrency;
  return limit != 0 && (limit < g->target.n_queues || g->op_latency != NULL);
}

/* Units of a resource, or of the limit of ops at a time, that are one in bounds: capacities are
 * rounded up to them and amounts down, which makes bounds no greater, and numbers small. */
static uint64_t coarse_unit(const loop_maker *k, uint64_t capacity) {
  uint64_t all = 1, most;
  for (uint32_t m = 0; m < k->body->n; m++) {
    all = fs_add_most(all, k->out->problem.latency[m]);
  }
  most = fs_max((UINT64_C(1) << 60) / all, 1);
  most = fs_min(most, UINT32_MAX / 2);
  return fs_max(fs_ceil_div(capacity, most), 1);
}

/* The problem with amounts as they are. */
static fs_status make_exact(loop_maker *k) {
  const fsched_graph *g = k->g;
  const fs_modulo_problem *p = &k->out->problem;
  uint32_t n = g->target.n_resources, *lanes, uses = p->use0[k->body->n];
  fs_modulo_use *use;
  FS_TRY(fs_new_zero(k->arena, &lanes, (size_t)n + 1));
  FS_TRY(fs_new(k->arena, &use, uses));
  for (uint32_t r = 0; r < p->n_resources; r++) {
    uint64_t capacity = r < n ? g->target.resource_capacity[r] : g->target.concurrency;
    lanes[r] = (uint32_t)fs_ceil_div(capacity, coarse_unit(k, capacity));
  }
  for (uint32_t m = 0; m < k->body->n; m++) {
    uint32_t op = k->body->op[m];
    for (uint32_t i = p->use0[m]; i < p->use0[m + 1]; i++) {
      uint32_t r = p->use[i].resource, at = g->op_use0[op] + i - p->use0[m];
      uint64_t amount = r < n ? g->use_amount[at] : 1;
      uint64_t capacity = r < n ? g->target.resource_capacity[r] : g->target.concurrency;
      use[i] = (fs_modulo_use){r, (uint32_t)(amount / coarse_unit(k, capacity))};
    }
  }
  k->out->exact = *p;
  k->out->exact.lanes = lanes;
  k->out->exact.use = use;
  return FSCHED_OK;
}

/* Resources, and one more for the limit of ops at a time. */
static fs_status make_resources(loop_maker *k) {
  const fsched_graph *g = k->g;
  uint32_t n = g->target.n_resources, n_uses = 0, limit = limits_ops(g);
  uint32_t *lanes, *use0;
  fs_modulo_use *use;
  FS_TRY(fs_new_zero(k->arena, &k->unit, n));
  FS_TRY(fs_new_zero(k->arena, &lanes, (size_t)n + 1));
  FS_TRY(fs_new(k->arena, &use0, (size_t)k->body->n + 1));
  find_units(k);
  FS_TRY(fs_new_zero(k->arena, &k->out->lane_units, n));
  FS_TRY(fs_new(k->arena, &k->amount, k->body->n));
  for (uint32_t r = 0; r < n; r++) {
    lane_split split = split_lanes(k, r);
    lanes[r] = split.lanes;
    k->out->lane_units[r] = split.each;
  }
  lanes[n] = (uint32_t)fs_min(g->target.concurrency, MOST_LANES);
  k->out->rounded = k->out->rounded || (limit > 0 && g->target.concurrency > MOST_LANES);
  for (uint32_t m = 0; m < k->body->n; m++) {
    uint32_t op = k->body->op[m];
    use0[m] = n_uses;
    n_uses += g->op_use0[op + 1] - g->op_use0[op] + limit;
  }
  use0[k->body->n] = n_uses;
  FS_TRY(fs_new(k->arena, &use, n_uses));
  for (uint32_t m = 0; m < k->body->n; m++) {
    uint32_t op = k->body->op[m], at = use0[m];
    for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
      uint32_t r = g->use_resource[i];
      lane_split split = {lanes[r], k->out->lane_units[r]};
      use[at++] = (fs_modulo_use){r, lanes_for(g->use_amount[i], &split)};
    }
    if (limit) {
      use[at] = (fs_modulo_use){n, 1};
    }
  }
  fs_modulo_problem *p = &k->out->problem;
  p->n_resources = n + limit;
  p->lanes = lanes;
  p->use0 = use0;
  p->use = use;
  return k->out->rounded ? make_exact(k) : FSCHED_OK;
}

fs_status fs_modulo_loop_make(fs_arena *arena, const fsched_graph *g, const fs_loop_body *body,
                              bool held_back, fs_modulo_loop *out) {
  assert(body->periodic);
  *out = (fs_modulo_loop){.problem = {.n = body->n, .held_back = held_back, .trip = body->trip},
                          .widened = fs_graph_wait(g) > 0};
  loop_maker k = {.arena = arena, .g = g, .body = body, .out = out};
  FS_TRY(make_times(&k));
  FS_TRY(make_queues(&k));
  if (out->why_not != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(make_edges(&k));
  FS_TRY(make_rings(&k));
  if (fs_modulo_unit(&out->problem) > FS_MODULO_COPIES) {
    out->why_not = "'every' of its buffers asks for more than 64 copies of its body";
    return FSCHED_OK;
  }
  FS_TRY(make_memories(&k));
  return make_resources(&k);
}

/* --- ops of no time --- */

static fs_modulo_ratio divided(fs_modulo_ratio x, int64_t by) {
  return x.den == 0 ? x : fs_modulo_ratio_of(x.num, x.den * by);
}

/* The number of the smallest denominator from low to high.  The recursion is as deep as their
 * continued fractions are long. */
static fs_modulo_ratio simplest(fs_modulo_ratio low, fs_modulo_ratio high) {
  int64_t whole = fs_ceiling_div(low.num, low.den);
  if (whole <= fs_floor_div(high.num, high.den)) {
    return (fs_modulo_ratio){whole, 1};
  }
  whole--; /* both are above it, and not above the next one */
  fs_modulo_ratio from = {high.den, high.num - whole * high.den};
  fs_modulo_ratio to = {low.den, low.num - whole * low.den};
  fs_modulo_ratio rest = simplest(from, to);
  return (fs_modulo_ratio){whole * rest.num + rest.den, rest.num};
}

/* What an interval or a bound is if ops of no time take none: less by so much at most. */
static fs_modulo_ratio without(const fs_modulo_loop *loop, fs_modulo_ratio x, uint32_t no_time) {
  if (x.den == 0) {
    return x;
  }
  int64_t less = x.num - no_time * x.den;
  fs_modulo_ratio low = fs_modulo_ratio_of(less > 0 ? less : 0, x.den);
  return simplest(divided(low, (int64_t)loop->scale), divided(x, (int64_t)loop->scale));
}

/* The most iterations that a circle of the problem goes through. */
static uint64_t longest_circle(const fs_modulo_problem *p, uint32_t copies) {
  uint64_t most = 1;
  for (uint32_t e = 0; e < p->n_edges; e++) {
    most = fs_max(most, p->edge[e].distance);
  }
  for (uint32_t r = 0; r < p->n_rings; r++) {
    most = fs_max(most, fs_max(p->ring[r].depth, p->ring[r].ahead));
  }
  return fs_multiply_most(most, (uint64_t)p->n * copies);
}

/* Two intervals that circles can have are at least so far apart that only one is as simple. */
static bool is_sure(const fs_modulo_loop *loop, const fs_modulo_plan *plan, uint32_t no_time) {
  uint64_t reach = longest_circle(&loop->problem, plan->copies);
  return fs_multiply_most(fs_multiply_most((uint64_t)plan->ii.den, reach), no_time) < loop->scale;
}

void fs_modulo_loop_unscale(fs_modulo_loop *loop, fs_modulo_plan *plan) {
  assert(loop->scale > 0);
  uint32_t no_time = 0;
  for (uint32_t m = 0; m < loop->problem.n; m++) {
    no_time += loop->time[m] == 0;
  }
  if (no_time == 0) {
    return;
  }
  loop->problem.time = loop->time;
  loop->problem.latency = loop->latency;
  plan->ii = without(loop, plan->ii, no_time);
  plan->bounds.resource = without(loop, plan->bounds.resource, no_time);
  plan->bounds.recurrence = without(loop, plan->bounds.recurrence, no_time);
  plan->bounds.roles = without(loop, plan->bounds.roles, no_time);
  int64_t more = no_time * plan->scale; /* in an iteration, at most */
  plan->makespan -= more < plan->makespan ? more : plan->makespan;
  plan->scale *= (int64_t)loop->scale;
  plan->proven = plan->proven && is_sure(loop, plan, no_time);
}
