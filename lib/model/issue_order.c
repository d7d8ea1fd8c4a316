/* SPDX-License-Identifier: Apache-2.0 */
/* Items sorted by start; within a group of equal starts, a topological order.
 *
 * If a must come before b and both start at t, then a has zero length.  So only the items of zero
 * length in a group need ordering:
 *
 *   - before the ops that depend on them by an edge of the graph;
 *   - before the item on the same queue that keeps it for a time, and so do slow ones that keep it
 *     for none;
 *   - a read before everything that touches the residency it fills;
 *   - a write after the ops that wrote its residency, and before a read of the content it stored;
 *   - the last users of a place that is freed at t before the users of the residency that begins
 *     there at t.
 *
 * Ties are as listed.  A cycle means that the schedule is wrong; the items on it stay as listed,
 * and the verifier reports the reason. */
#include "model/issue_order.h"

#include "base/group.h"
#include "base/heap.h"

typedef struct fs_touch { /* list of the group's items that touch a residency */
  uint32_t item, next;    /* next in touch, FS_NONE at the end */
} fs_touch;

typedef struct fs_edge {
  uint32_t from, to; /* local indices */
} fs_edge;

typedef struct leaving_place {
  uint64_t key, reach; /* reach: the largest end of a place so far */
  uint32_t residency;
} leaving_place;

typedef struct issue_order {
  fs_schedule *s;
  const fsched_graph *g;
  fsched_context *ctx;
  fs_arena *arena;
  fs_tick now;
  uint32_t *group; /* items of the group, as listed */
  uint32_t n;
  uint32_t *local;       /* per item: index in its group, FS_NONE outside the present group */
  uint32_t *busy;        /* per queue: the group's item with a length, or FS_NONE */
  uint32_t *first_touch; /* per residency: into touch, or FS_NONE */
  uint32_t *stored;      /* per version: the group's write of it, or FS_NONE */
  uint32_t *filler;      /* per residency: the read that fills it, or FS_NONE */
  FS_VEC(fs_touch) touch;
  FS_VEC(uint32_t) touched; /* residencies */
  FS_VEC(fs_edge) edge;
  fs_heap leaving;
  FS_VEC(leaving_place) places; /* places of leaving residencies, by key */
} issue_order;

static bool instant(const issue_order *o, uint32_t item) {
  return o->s->start[item] == o->s->end[item];
}

/* Does the item keep its queues for no time? */
static bool passes(const issue_order *o, uint32_t item) {
  return o->s->start[item] == fs_item_free(o->s, item);
}

static fs_status push_edge(issue_order *o, uint32_t from, uint32_t to) {
  if (from == to || o->local[from] == FS_NONE || o->local[to] == FS_NONE) {
    return FSCHED_OK;
  }
  fs_edge e = {o->local[from], o->local[to]};
  return fs_vec_push(o->ctx, &o->edge, e);
}

static fs_status add_edge(issue_order *o, uint32_t from, uint32_t to) {
  assert(from < o->s->n_items && to < o->s->n_items);
  return instant(o, from) ? push_edge(o, from, to) : FSCHED_OK;
}

/* ---- what the group touches */

static fs_status add_touch(issue_order *o, uint32_t item, uint32_t residency) {
  assert(residency == FS_NONE || residency < o->s->n_residencies);
  if (residency == FS_NONE) {
    return FSCHED_OK;
  }
  fs_touch t = {item, o->first_touch[residency]};
  if (t.next == FS_NONE) {
    FS_TRY(fs_vec_push(o->ctx, &o->touched, residency));
  } else if (o->touch.at[t.next].item == item) {
    return FSCHED_OK;
  }
  o->first_touch[residency] = (uint32_t)o->touch.n;
  return fs_vec_push(o->ctx, &o->touch, t);
}

static fs_status collect_item(issue_order *o, uint32_t item) {
  const fs_schedule *s = o->s;
  const fsched_graph *g = o->g;
  if (fs_item_is_copy(s, item)) {
    uint32_t c = item - g->n_ops;
    if (s->copy_kind[c] == FS_SPILL_WRITE) {
      o->stored[s->copy_version[c]] = item;
    }
    FS_TRY(add_touch(o, item, s->copy_residency[c]));
    return add_touch(o, item, s->copy_store[c]);
  }
  for (uint32_t a = g->op_arg0[item]; a < g->op_arg0[item + 1]; a++) {
    FS_TRY(add_touch(o, item, s->arg_residency[a]));
  }
  for (uint32_t i = g->op_scratch0[item]; i < g->op_scratch0[item + 1]; i++) {
    FS_TRY(add_touch(o, item, s->scratch_residency[i]));
  }
  return FSCHED_OK;
}

static fs_status collect_touches(issue_order *o) {
  for (uint32_t i = 0; i < o->n; i++) {
    uint32_t item = o->group[i], n;
    const uint32_t *queues = fs_item_queues(o->s, item, &n);
    o->local[item] = i;
    for (uint32_t k = 0; k < n && !passes(o, item); k++) {
      o->busy[queues[k]] = item;
    }
    FS_TRY(collect_item(o, item));
  }
  return FSCHED_OK;
}

static void forget(issue_order *o) {
  for (uint32_t i = 0; i < o->n; i++) {
    uint32_t item = o->group[i], n;
    const uint32_t *queues = fs_item_queues(o->s, item, &n);
    o->local[item] = FS_NONE;
    for (uint32_t k = 0; k < n; k++) {
      o->busy[queues[k]] = FS_NONE;
    }
    if (fs_item_is_copy(o->s, item)) {
      o->stored[o->s->copy_version[item - o->g->n_ops]] = FS_NONE;
    }
  }
  for (size_t i = 0; i < o->touched.n; i++) {
    o->first_touch[o->touched.at[i]] = FS_NONE;
  }
  o->touch.n = o->touched.n = o->places.n = 0;
}

/* ---- edges */

static fs_status edges_of_item(issue_order *o, uint32_t item) {
  const fs_schedule *s = o->s;
  uint32_t n;
  const uint32_t *queues = fs_item_queues(s, item, &n);
  for (uint32_t k = 0; k < n; k++) {
    if (o->busy[queues[k]] != FS_NONE && passes(o, item)) {
      FS_TRY(push_edge(o, item, o->busy[queues[k]]));
    }
  }
  if (!fs_item_is_copy(s, item)) {
    for (uint32_t i = o->g->succ0[item]; i < o->g->succ0[item + 1]; i++) {
      FS_TRY(add_edge(o, item, o->g->succ[i]));
    }
    return FSCHED_OK;
  }
  uint32_t c = item - o->g->n_ops, write = o->stored[s->copy_version[c]];
  if (s->copy_kind[c] == FS_SPILL_READ && write != FS_NONE &&
      s->copy_residency[write - o->g->n_ops] != s->copy_residency[c]) {
    return add_edge(o, write, item);
  }
  return FSCHED_OK;
}

/* Orders the fill before all others, and the ops before the writes. */
static fs_status edges_of_residency(issue_order *o, uint32_t residency) {
  uint32_t fill = o->filler[residency], write = FS_NONE;
  for (uint32_t i = o->first_touch[residency]; i != FS_NONE; i = o->touch.at[i].next) {
    uint32_t item = o->touch.at[i].item;
    if (fill != FS_NONE) {
      FS_TRY(add_edge(o, fill, item));
    }
    bool copy = fs_item_is_copy(o->s, item);
    write = copy && o->s->copy_kind[item - o->g->n_ops] == FS_SPILL_WRITE ? item : write;
  }
  for (uint32_t i = o->first_touch[residency]; write != FS_NONE && i != FS_NONE;
       i = o->touch.at[i].next) {
    if (!fs_item_is_copy(o->s, o->touch.at[i].item)) {
      FS_TRY(add_edge(o, o->touch.at[i].item, write));
    }
  }
  return FSCHED_OK;
}

static fs_status edges_of_reuse(issue_order *o, uint32_t old, uint32_t fresh) {
  for (uint32_t i = o->first_touch[old]; i != FS_NONE; i = o->touch.at[i].next) {
    for (uint32_t k = o->first_touch[fresh]; k != FS_NONE; k = o->touch.at[k].next) {
      FS_TRY(add_edge(o, o->touch.at[i].item, o->touch.at[k].item));
    }
  }
  return FSCHED_OK;
}

/* Memory and address in one key: capacities are at most 2^48.  Counted memories have no places. */
static bool place_key(const issue_order *o, uint32_t residency, uint64_t *key) {
  uint32_t memory = o->s->res_memory[residency];
  *key = (uint64_t)memory << 48 | o->s->res_address[residency];
  return memory < 0x10000 && o->s->res_address[residency] >> 48 == 0 &&
         o->s->res_size[residency] <= FSCHED_MAX_SIZE &&
         fs_placement_has_addresses(o->g->target.memory[memory].placement);
}

static fs_status find_leaving(issue_order *o) {
  uint64_t key, reach = 0;
  for (size_t i = 0; i < o->touched.n; i++) {
    uint32_t r = o->touched.at[i];
    if (o->s->res_end[r] == o->now && place_key(o, r, &key)) {
      FS_TRY(fs_heap_push(o->ctx, &o->leaving, key, r));
    }
  }
  while (o->leaving.n != 0) {
    fs_heap_entry e = fs_heap_pop(&o->leaving);
    reach = fs_max(reach, e.key + o->s->res_size[e.id]);
    leaving_place place = {e.key, reach, e.id};
    FS_TRY(fs_vec_push(o->ctx, &o->places, place));
  }
  return FSCHED_OK;
}

/* Must `old` be over before `fresh`, at whose place it ends at this time?  Of two of zero length,
 * the one that is listed first comes first. */
static bool precedes(const issue_order *o, uint32_t old, uint32_t fresh) {
  const fs_schedule *s = o->s;
  if (old == fresh || s->res_begin[fresh] != o->now) {
    return false;
  }
  return s->res_begin[old] < o->now || s->res_end[fresh] > o->now || old < fresh;
}

/* Adds edges from leaving residencies to `fresh`.  In a valid schedule only residencies of zero
 * length can overlap here; a limited number of them is looked at. */
static fs_status edges_of_place(issue_order *o, uint32_t fresh, uint64_t key) {
  enum { MOST = 256 };
  uint64_t end = key + o->s->res_size[fresh];
  size_t low = 0, high = o->places.n;
  assert(end >= key);
  while (low < high) { /* the first place that begins at the end or after it */
    size_t middle = low + (high - low) / 2;
    if (o->places.at[middle].key < end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (size_t i = low; i-- > 0 && low - i <= MOST && o->places.at[i].reach > key;) {
    uint32_t old = o->places.at[i].residency;
    if (o->places.at[i].key + o->s->res_size[old] > key && precedes(o, old, fresh)) {
      FS_TRY(edges_of_reuse(o, old, fresh));
    }
  }
  return FSCHED_OK;
}

static fs_status find_edges(issue_order *o) {
  uint64_t key;
  for (uint32_t i = 0; i < o->n; i++) {
    FS_TRY(edges_of_item(o, o->group[i]));
  }
  FS_TRY(find_leaving(o));
  for (size_t i = 0; i < o->touched.n; i++) {
    uint32_t r = o->touched.at[i];
    FS_TRY(edges_of_residency(o, r));
    if (o->s->res_begin[r] == o->now && o->places.n != 0 && place_key(o, r, &key)) {
      FS_TRY(edges_of_place(o, r, key));
    }
  }
  return FSCHED_OK;
}

/* ---- a topological order of the group, by index where there is a choice (Kahn 1962) */

static fs_status group_edges(issue_order *o, uint32_t **first, uint32_t **to, uint32_t **missing) {
  FS_TRY(fs_new_zero(o->arena, first, (size_t)o->n + 2));
  FS_TRY(fs_new_zero(o->arena, missing, o->n));
  FS_TRY(fs_new(o->arena, to, o->edge.n));
  for (size_t i = 0; i < o->edge.n; i++) {
    (*first)[o->edge.at[i].from + 2]++;
    (*missing)[o->edge.at[i].to]++;
  }
  fs_group_sum(*first, o->n);
  for (size_t i = 0; i < o->edge.n; i++) {
    (*to)[(*first)[o->edge.at[i].from + 1]++] = o->edge.at[i].to;
  }
  return FSCHED_OK;
}

static fs_status sort_group(issue_order *o, fs_heap *ready, uint32_t *out) {
  uint32_t *first, *to, *missing, n = 0;
  FS_TRY(group_edges(o, &first, &to, &missing));
  for (uint32_t i = 0; i < o->n; i++) {
    if (missing[i] == 0) {
      FS_TRY(fs_heap_push(o->ctx, ready, i, i));
    }
  }
  while (ready->n != 0) {
    uint32_t i = fs_heap_pop(ready).id;
    assert(i < o->n && o->group[i] != FS_NONE);
    out[n++] = o->group[i];
    o->group[i] = FS_NONE;
    for (uint32_t e = first[i]; e < first[i + 1]; e++) {
      if (--missing[to[e]] == 0) {
        FS_TRY(fs_heap_push(o->ctx, ready, to[e], to[e]));
      }
    }
  }
  for (uint32_t i = 0; i < o->n; i++) { /* items on a cycle, or after one */
    if (o->group[i] != FS_NONE) {
      out[n++] = o->group[i];
    }
  }
  assert(n == o->n);
  return FSCHED_OK;
}

/* Orders the current group by its edges, through `out`. */
static fs_status order_by_edges(issue_order *o, fs_heap *ready) {
  uint32_t *out;
  FS_TRY(fs_new(o->arena, &out, o->n));
  FS_TRY(collect_touches(o));
  FS_TRY(find_edges(o));
  forget(o);
  FS_TRY(sort_group(o, ready, out));
  memcpy(o->group, out, o->n * sizeof *out);
  return FSCHED_OK;
}

/* Orders the n items at `group`, which begin together. */
static fs_status order_group(issue_order *o, uint32_t *group, uint32_t n) {
  assert(n > 0);
  bool simple = true;
  for (uint32_t i = 0; i < n; i++) {
    simple = simple && !passes(o, group[i]);
  }
  if (simple || n == 1) {
    return FSCHED_OK;
  }
  fs_arena_mark mark = fs_arena_set_mark(o->arena);
  fs_heap ready = {0};
  o->group = group;
  o->n = n;
  o->edge.n = 0;
  o->now = o->s->start[group[0]];
  fs_status status = order_by_edges(o, &ready);
  fs_vec_free(o->ctx, &ready);
  fs_arena_reset(o->arena, mark);
  return status;
}

static fs_status prepare_order(issue_order *o) {
  const fs_schedule *s = o->s;
  FS_TRY(fs_new_none(o->arena, &o->local, s->n_items));
  FS_TRY(fs_new_none(o->arena, &o->busy, s->n_queues));
  FS_TRY(fs_new_none(o->arena, &o->first_touch, s->n_residencies));
  FS_TRY(fs_new_none(o->arena, &o->stored, o->g->n_versions));
  FS_TRY(fs_new_none(o->arena, &o->filler, s->n_residencies));
  for (uint32_t c = 0; c < s->n_copies; c++) {
    if (s->copy_kind[c] == FS_SPILL_READ && s->copy_residency[c] != FS_NONE) {
      o->filler[s->copy_residency[c]] = o->g->n_ops + c;
    }
  }
  return FSCHED_OK;
}

static fs_status sort_items(issue_order *o, const uint32_t *listed, uint32_t *order) {
  assert(o->s->n_items == o->g->n_ops + o->s->n_copies);
  fs_heap by_start = {0};
  fs_status status = FSCHED_OK;
  for (uint32_t i = 0; status == FSCHED_OK && i < o->s->n_items; i++) {
    status = fs_heap_push(o->ctx, &by_start, o->s->start[listed[i]], i);
  }
  for (uint32_t i = 0; status == FSCHED_OK && i < o->s->n_items; i++) {
    order[i] = listed[fs_heap_pop(&by_start).id];
  }
  fs_vec_free(o->ctx, &by_start);
  return status;
}

static fs_status order_all(issue_order *o, const uint32_t *listed) {
  uint32_t *order = o->s->order, n = o->s->n_items;
  FS_TRY(prepare_order(o));
  FS_TRY(sort_items(o, listed, order));
  for (uint32_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && o->s->start[order[end]] == o->s->start[order[begin]]; end++) {
    }
    FS_TRY(order_group(o, order + begin, end - begin));
  }
  return FSCHED_OK;
}

fs_status fs_schedule_order(fs_schedule *s, const uint32_t *listed) {
  assert(s->n_items == s->graph->n_ops + s->n_copies && (listed != NULL || s->n_items == 0));
  FS_SCRATCH(arena, s->ctx);
  issue_order o = {.s = s, .g = s->graph, .ctx = s->ctx, .arena = &arena};
  fs_status status = order_all(&o, listed);
  fs_vec_free(o.ctx, &o.touch);
  fs_vec_free(o.ctx, &o.touched);
  fs_vec_free(o.ctx, &o.edge);
  fs_vec_free(o.ctx, &o.leaving);
  fs_vec_free(o.ctx, &o.places);
  return status;
}
