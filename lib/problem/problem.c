/* SPDX-License-Identifier: Apache-2.0 */
/* A problem is drafted as lists of copies, orders, residencies and touches, in any order, and then
 * finished: orders and touches are sorted into CSR form, heads and tails are longest paths.
 *
 * A residency ends with the latest of the items that touch it; items with a successor that touches
 * it too are left out.  In the same way it begins with the earliest of the writers that have no
 * predecessor among the writers, unless a copy fills it:
 *
 *        w1 ---- r1            touched by w1, r1, w2, r2: begins with w1 or w2,
 *           \                  ends with r1 or r2
 *        w2 ---- r2
 *
 * O((items + edges + touches) log). */
#include "problem/private.h"

#include "base/group.h"
#include "base/heap.h"
#include "base/radix.h"

fs_status fs_problem_draft_begin(fs_problem_draft *d, fsched_context *ctx, const fsched_graph *g) {
  assert(g->topo != NULL || g->n_ops == 0);
  *d = (fs_problem_draft){.ctx = ctx, .g = g};
  fs_arena_init(&d->scratch, ctx);
  d->p = fs_realloc(ctx, NULL, 0, sizeof *d->p);
  if (d->p == NULL) {
    return FSCHED_SYSTEM;
  }
  *d->p = (fs_problem){.ctx = ctx, .graph = g, .horizon = FS_TICK_NONE};
  d->p->wait = fs_graph_wait(g);
  fs_arena_init(&d->p->arena, ctx);
  return FSCHED_OK;
}

void fs_problem_destroy(fs_problem *p) {
  if (p != NULL) {
    fs_arena_release(&p->arena);
    (void)fs_realloc(p->ctx, p, sizeof *p, 0);
  }
}

fs_status fs_problem_draft_end(fs_problem_draft *d, fs_status status, bool keep, fs_problem **out) {
  assert(d->ctx != NULL);
  fs_vec_free(d->ctx, &d->edge);
  fs_vec_free(d->ctx, &d->touch);
  fs_vec_free(d->ctx, &d->version);
  fs_vec_free(d->ctx, &d->op);
  fs_vec_free(d->ctx, &d->memory);
  fs_vec_free(d->ctx, &d->to_end);
  fs_vec_free(d->ctx, &d->from_zero);
  fs_vec_free(d->ctx, &d->first);
  fs_vec_free(d->ctx, &d->kind);
  fs_vec_free(d->ctx, &d->copied);
  fs_vec_free(d->ctx, &d->residency);
  fs_vec_free(d->ctx, &d->store);
  fs_arena_release(&d->scratch);
  if (status != FSCHED_OK || !keep) {
    fs_problem_destroy(d->p);
    d->p = NULL;
  }
  *out = d->p;
  return status;
}

fs_status fs_problem_add_edge(fs_problem_draft *d, uint32_t from, uint32_t to) {
  return from == to ? FSCHED_OK : fs_vec_push(d->ctx, &d->edge, (uint64_t)to << 32 | from);
}

fs_status fs_problem_add_touch(fs_problem_draft *d, uint32_t residency, uint32_t item,
                               unsigned mode) {
  assert(residency == FS_NONE || residency < d->version.n);
  fs_problem_touch t = {residency, item, mode};
  return residency == FS_NONE ? FSCHED_OK : fs_vec_push(d->ctx, &d->touch, t);
}

fs_status fs_problem_add_residency(fs_problem_draft *d, uint32_t version, uint32_t op,
                                   uint32_t memory, uint32_t *id) {
  assert((version == FS_NONE) != (op == FS_NONE));
  *id = (uint32_t)d->version.n;
  FS_TRY(fs_vec_push(d->ctx, &d->version, version));
  FS_TRY(fs_vec_push(d->ctx, &d->op, op));
  FS_TRY(fs_vec_push(d->ctx, &d->memory, memory));
  FS_TRY(fs_vec_push(d->ctx, &d->to_end, 0));
  FS_TRY(fs_vec_push(d->ctx, &d->from_zero, 0));
  return fs_vec_push(d->ctx, &d->first, FS_NONE);
}

fs_status fs_problem_add_copy(fs_problem_draft *d, fs_copy_kind kind, uint32_t version,
                              uint32_t residency, uint32_t store, uint32_t *item) {
  assert(version < d->g->n_versions);
  *item = d->g->n_ops + (uint32_t)d->kind.n;
  FS_TRY(fs_vec_push(d->ctx, &d->kind, (uint8_t)kind));
  FS_TRY(fs_vec_push(d->ctx, &d->copied, version));
  FS_TRY(fs_vec_push(d->ctx, &d->residency, residency));
  return fs_vec_push(d->ctx, &d->store, store);
}

fs_status fs_problem_touch_ops(fs_problem_draft *d) {
  assert(d->p->arg_residency != NULL || d->g->n_args == 0);
  const fsched_graph *g = d->g;
  const fs_problem *p = d->p;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      if (fs_arg_accesses(g, a)) {
        unsigned mode = fs_tag_writes(g->arg_tag[a]) ? FS_TOUCH_WRITES : 0;
        FS_TRY(fs_problem_add_touch(d, p->arg_residency[a], op, mode));
      }
    }
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      FS_TRY(fs_problem_add_touch(d, p->scratch_residency[i], op, FS_TOUCH_FILLS));
    }
  }
  return FSCHED_OK;
}

/* ---- items */

static fs_status take_copies(fs_problem_draft *d) {
  fs_problem *p = d->p;
  uint32_t n = p->n_copies = (uint32_t)d->kind.n;
  FS_TRY(fs_new(&p->arena, &p->copy_kind, n));
  FS_TRY(fs_new(&p->arena, &p->copy_version, n));
  FS_TRY(fs_new(&p->arena, &p->copy_residency, n));
  FS_TRY(fs_new(&p->arena, &p->copy_store, n));
  for (uint32_t c = 0; c < n; c++) {
    p->copy_kind[c] = d->kind.at[c];
    p->copy_version[c] = d->copied.at[c];
    p->copy_residency[c] = d->residency.at[c];
    p->copy_store[c] = d->store.at[c];
  }
  return FSCHED_OK;
}

static fs_tick copy_time(const fs_problem *p, uint32_t copy) {
  assert(copy < p->n_copies);
  const fs_memory *m = fs_version_home(p->graph, p->copy_version[copy]);
  uint64_t size = fs_version_size(p->graph, p->copy_version[copy]);
  return p->copy_kind[copy] == FS_SPILL_WRITE ? fs_spill_write_time(m, size)
                                              : fs_spill_read_time(m, size);
}

static fs_status take_items(fs_problem_draft *d) {
  const fsched_graph *g = d->g;
  fs_problem *p = d->p;
  FS_TRY(take_copies(d));
  uint32_t n = p->n_items = g->n_ops + p->n_copies;
  FS_TRY(fs_new(&p->arena, &p->time, n));
  for (uint32_t i = 0; i < n; i++) {
    p->time[i] = i < g->n_ops ? g->op_time[i] : copy_time(p, i - g->n_ops);
  }
  if (d->latencies && fs_graph_first_slow(g) != FS_NONE) {
    FS_TRY(fs_new(&p->arena, &p->busy, n));
    memcpy(p->busy, p->time, n * sizeof *p->busy);
    for (uint32_t op = 0; op < g->n_ops; op++) {
      p->time[op] = fs_op_latency(g, op);
    }
  }
  bool given = false;
  for (uint32_t op = 0; g->op_start != NULL && op < g->n_ops; op++) {
    given = given || g->op_start[op] != FS_TICK_NONE;
  }
  if (!given) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_none(&p->arena, &p->fixed, n));
  memcpy(p->fixed, g->op_start, g->n_ops * sizeof *p->fixed);
  return FSCHED_OK;
}

/* ---- orders */

/* Makes both CSRs of the edges from sorted keys, to << 32 | from; leaves out repeats. */
static fs_status file_edges(fs_problem *p, const uint64_t *key, size_t n) {
  assert(p->n_items > 0 || n == 0);
  FS_TRY(fs_new_zero(&p->arena, &p->pred0, (size_t)p->n_items + 1));
  FS_TRY(fs_new(&p->arena, &p->pred, n));
  p->n_edges = 0;
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || key[i] != key[i - 1]) {
      p->pred[p->n_edges++] = (uint32_t)key[i];
      p->pred0[(key[i] >> 32) + 1]++;
    }
  }
  fs_group_starts(p->pred0, p->n_items);
  return fs_group_turn(&p->arena, p->pred0, p->pred, p->n_items, p->n_items, &p->succ0, &p->succ);
}

/* Sorts the items topologically (Kahn 1962); of ready items the least id comes first. */
static fs_status sort_items(fs_problem *p, fs_arena *scratch) {
  uint32_t *missing, n = 0;
  fs_heap ready = {0};
  fs_status status = FSCHED_OK;
  FS_TRY(fs_new(&p->arena, &p->topo, p->n_items));
  FS_TRY(fs_new(scratch, &missing, p->n_items));
  for (uint32_t i = 0; i < p->n_items && status == FSCHED_OK; i++) {
    missing[i] = p->pred0[i + 1] - p->pred0[i];
    status = missing[i] == 0 ? fs_heap_push(p->ctx, &ready, i, i) : FSCHED_OK;
  }
  while (ready.n > 0 && status == FSCHED_OK) {
    uint32_t i = p->topo[n++] = fs_heap_pop(&ready).id;
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1] && status == FSCHED_OK; e++) {
      uint32_t to = p->succ[e];
      status = --missing[to] == 0 ? fs_heap_push(p->ctx, &ready, to, to) : FSCHED_OK;
    }
  }
  fs_vec_free(p->ctx, &ready);
  assert(status != FSCHED_OK || n == p->n_items);
  return status;
}

static fs_status take_edges(fs_problem_draft *d) {
  const fsched_graph *g = d->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      FS_TRY(fs_problem_add_edge(d, g->pred[e], op));
    }
  }
  uint64_t *spare;
  FS_TRY(fs_new(&d->scratch, &spare, d->edge.n));
  fs_radix_sort(d->edge.at, spare, d->edge.n);
  FS_TRY(file_edges(d->p, d->edge.at, d->edge.n));
  if (d->order == NULL) {
    return sort_items(d->p, &d->scratch);
  }
  FS_TRY(fs_new(&d->p->arena, &d->p->topo, d->p->n_items));
  if (d->p->n_items > 0) {
    memcpy(d->p->topo, d->order, d->p->n_items * sizeof *d->order);
  }
  return FSCHED_OK;
}

static fs_status find_windows(fs_problem *p) {
  FS_TRY(fs_new_zero(&p->arena, &p->head, p->n_items));
  FS_TRY(fs_new_zero(&p->arena, &p->tail, p->n_items));
  FS_TRY(fs_new_zero(&p->arena, &p->path, p->n_items));
  for (uint32_t k = 0; k < p->n_items; k++) {
    uint32_t i = p->topo[k];
    if (p->fixed != NULL && p->fixed[i] != FS_TICK_NONE) {
      p->head[i] = fs_max(p->head[i], p->fixed[i]);
    }
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
      p->head[p->succ[e]] = fs_max(p->head[p->succ[e]], p->head[i] + p->time[i]);
    }
  }
  for (uint32_t k = p->n_items; k-- > 0;) {
    uint32_t i = p->topo[k];
    for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
      p->tail[p->pred[e]] = fs_max(p->tail[p->pred[e]], p->tail[i] + p->time[i]);
    }
    p->path[i] = p->tail[i];
  }
  return FSCHED_OK;
}

/* ---- residencies */

/* The touches of one residency. */
typedef struct touch_group {
  const fs_problem_touch *at;
  uint32_t n;
} touch_group;

/* Sorts the touches by residency into a CSR, first[] and list[], and merges those of one item. */
static fs_status sort_touches(fs_problem_draft *d, uint32_t **first, fs_problem_touch **list) {
  uint32_t n = d->p->n_residencies, to = 0;
  FS_TRY(fs_new_zero(&d->scratch, first, (size_t)n + 2));
  FS_TRY(fs_new(&d->scratch, list, d->touch.n));
  for (size_t i = 0; i < d->touch.n; i++) {
    (*first)[d->touch.at[i].residency + 2]++;
  }
  fs_group_sum(*first, n);
  for (size_t i = 0; i < d->touch.n; i++) {
    (*list)[(*first)[d->touch.at[i].residency + 1]++] = d->touch.at[i];
  }
  for (uint32_t r = 0; r < n; r++) { /* the touches of an item are adjacent */
    uint32_t from = (*first)[r], begin = to;
    for ((*first)[r] = to; from < (*first)[r + 1]; from++) {
      if (to > begin && (*list)[to - 1].item == (*list)[from].item) {
        (*list)[to - 1].mode |= (*list)[from].mode;
      } else {
        (*list)[to++] = (*list)[from];
      }
    }
  }
  (*first)[n] = to;
  return FSCHED_OK;
}

static bool any_marked(const uint32_t *ids, uint32_t n, const uint32_t *mark, uint32_t r) {
  for (uint32_t i = 0; i < n; i++) {
    if (mark[ids[i]] == r) {
      return true;
    }
  }
  return false;
}

/* Lists the ends of residency r; mark[item] is r for the items that touch it. */
static void file_ends(fs_problem *p, uint32_t r, touch_group t, const uint32_t *mark, uint32_t *n) {
  for (uint32_t i = 0; i < t.n; i++) {
    uint32_t item = t.at[i].item;
    uint32_t degree = p->succ0[item + 1] - p->succ0[item];
    if (!any_marked(p->succ + p->succ0[item], degree, mark, r)) {
      p->res_end[(*n)++] = item;
    }
  }
}

static void file_begins(fs_problem *p, uint32_t r, touch_group t, const uint32_t *mark,
                        const uint32_t *rank, uint32_t *n) {
  uint32_t begin = p->res_begin0[r] = *n;
  for (uint32_t i = 0; i < t.n; i++) { /* only the item that fills it begins it */
    if (t.at[i].mode & FS_TOUCH_FILLS) {
      p->res_begin[(*n)++] = p->res_begin_item[r] = t.at[i].item;
      return;
    }
  }
  uint32_t wanted = p->res_begin_item[r];
  for (uint32_t i = 0; i < t.n; i++) {
    uint32_t item = t.at[i].item;
    uint32_t degree = p->pred0[item + 1] - p->pred0[item];
    if (!any_marked(p->pred + p->pred0[item], degree, mark, r)) {
      p->res_begin[(*n)++] = item;
    }
  }
  for (uint32_t i = begin; wanted == FS_NONE && i < *n; i++) {
    uint32_t item = p->res_begin[i], best = p->res_begin_item[r];
    p->res_begin_item[r] = best == FS_NONE || rank[item] < rank[best] ? item : best;
  }
}

static fs_status file_lives(fs_problem_draft *d) {
  fs_problem *p = d->p;
  uint32_t *first, *mark, *rank, n_begin = 0, n_end = 0;
  fs_problem_touch *list;
  FS_TRY(sort_touches(d, &first, &list));
  FS_TRY(fs_new_none(&d->scratch, &mark, p->n_items));
  FS_TRY(fs_new(&d->scratch, &rank, p->n_items));
  FS_TRY(fs_new(&p->arena, &p->res_begin0, (size_t)p->n_residencies + 1));
  FS_TRY(fs_new(&p->arena, &p->res_end0, (size_t)p->n_residencies + 1));
  FS_TRY(fs_new(&p->arena, &p->res_begin, first[p->n_residencies]));
  FS_TRY(fs_new(&p->arena, &p->res_end, first[p->n_residencies]));
  for (uint32_t k = 0; k < p->n_items; k++) {
    rank[p->topo[k]] = k;
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    touch_group t = {list + first[r], first[r + 1] - first[r]};
    for (uint32_t i = 0; i < t.n; i++) {
      mark[t.at[i].item] = r;
    }
    p->res_begin0[r] = n_begin;
    p->res_end0[r] = n_end;
    if (!d->from_zero.at[r]) {
      file_begins(p, r, t, mark, rank, &n_begin);
    }
    file_ends(p, r, t, mark, &n_end);
  }
  p->res_begin0[p->n_residencies] = n_begin;
  p->res_end0[p->n_residencies] = n_end;
  return FSCHED_OK;
}

static fs_status take_residencies(fs_problem_draft *d) {
  fs_problem *p = d->p;
  uint32_t n = p->n_residencies = (uint32_t)d->version.n;
  FS_TRY(fs_new(&p->arena, &p->res_version, n));
  FS_TRY(fs_new(&p->arena, &p->res_op, n));
  FS_TRY(fs_new(&p->arena, &p->res_memory, n));
  FS_TRY(fs_new(&p->arena, &p->res_size, n));
  FS_TRY(fs_new(&p->arena, &p->res_begin_item, n));
  FS_TRY(fs_new(&p->arena, &p->res_to_end, n));
  for (uint32_t r = 0; r < n; r++) {
    uint32_t version = p->res_version[r] = d->version.at[r];
    uint32_t op = p->res_op[r] = d->op.at[r];
    const fs_memory *m = &d->g->target.memory[p->res_memory[r] = d->memory.at[r]];
    uint64_t size = version == FS_NONE ? 0 : fs_version_size(d->g, version);
    for (uint32_t i = version == FS_NONE ? d->g->op_scratch0[op] : 0;
         version == FS_NONE && i < d->g->op_scratch0[op + 1]; i++) {
      size = d->g->scratch_memory[i] == p->res_memory[r] ? d->g->scratch_size[i] : size;
    }
    p->res_size[r] = fs_align_up(size, m->align);
    p->res_begin_item[r] = d->first.at[r];
    p->res_to_end[r] = d->to_end.at[r];
  }
  return file_lives(d);
}

/* Lists the in-place pairs of memories with addresses; counted memories count both residencies. */
static fs_status take_pairs(fs_problem_draft *d) {
  const fsched_graph *g = d->g;
  fs_problem *p = d->p;
  uint32_t most = g->op_inplace0[g->n_ops];
  FS_TRY(fs_new(&p->arena, &p->coincide_in, most));
  FS_TRY(fs_new(&p->arena, &p->coincide_out, most));
  FS_TRY(fs_new(&p->arena, &p->coincide_op, most));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
      uint32_t in = p->arg_residency[g->inplace_in[i]];
      uint32_t out = p->arg_residency[g->inplace_out[i]];
      if (in != FS_NONE && out != FS_NONE && in != out && p->res_size[in] == p->res_size[out] &&
          p->res_size[in] > 0 &&
          fs_placement_has_addresses(g->target.memory[p->res_memory[in]].placement)) {
        p->coincide_in[p->n_coincide] = in;
        p->coincide_out[p->n_coincide] = out;
        p->coincide_op[p->n_coincide++] = op;
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_problem_finish(fs_problem_draft *d) {
  FS_TRY(take_items(d));
  FS_TRY(take_edges(d));
  FS_TRY(find_windows(d->p));
  FS_TRY(fs_problem_occupation(d));
  FS_TRY(take_residencies(d));
  FS_TRY(take_pairs(d));
  return fs_problem_exactness(d);
}
