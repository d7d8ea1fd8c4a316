/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the small problem of a window from what problem/window.c has found: items in order of
 * issue, the end of the schedule as the last one; then what each occupies, orders, residencies, and
 * the graph from which models read names and memories.  Takes O(what was found). */
#include <stdlib.h>

#include "base/group.h"
#include "base/radix.h"
#include "problem/window_private.h"

static fs_tick local_time(const fs_window *w, fs_tick at) { return at - fs_min(at, w->base); }

static void sort_ids(fs_ids *list) {
  if (list->n > 1) {
    qsort(list->at, list->n, sizeof *list->at, fs_compare_u32);
  }
}

static void number_item(fs_finder *d, uint32_t item) {
  d->f->local_item[item] = d->w->p.n_items;
  d->w->item[d->w->p.n_items++] = item;
}

static fs_status number_items(fs_finder *d) {
  fs_window *w = d->w;
  size_t n = d->before.n + (d->to - d->from) + d->behind.n + 1;
  FS_TRY(fs_new(&w->p.arena, &w->item, n));
  sort_ids(&d->before);
  sort_ids(&d->behind);
  for (size_t k = 0; k < d->before.n; k++) {
    number_item(d, d->f->order[d->before.at[k]]);
  }
  w->first_free = w->p.n_items;
  w->n_free = d->to - d->from;
  for (uint32_t k = d->from; k < d->to; k++) {
    number_item(d, d->f->order[k]);
  }
  for (size_t k = 0; k < d->behind.n; k++) {
    number_item(d, d->f->order[d->behind.at[k]]);
  }
  if (!fs_finder_last(d)) {
    w->item[w->p.n_items++] = FS_NONE;
  }
  return FSCHED_OK;
}

/* Fills the start, length, window and role of local item i. */
static void fill_item(fs_finder *d, uint32_t i) {
  fs_window *w = d->w;
  fs_problem *q = &w->p;
  uint32_t item = w->item[i];
  fs_tick start = item == FS_NONE ? d->f->answer->makespan : d->start[item];
  fs_tick end = item == FS_NONE ? start : fs_frame_end(d->f, item);
  fs_tick at = w->known.start[i] = local_time(w, start);
  q->time[i] = local_time(w, end) - at;
  q->head[i] = at;
  if (item == FS_NONE || fs_finder_rigid(d, item)) {
    w->rigid[i] = at;
    q->head[i] = at - w->max_shift;
  } else if (fs_finder_fixed(d, item)) {
    q->fixed[i] = at;
  } else {
    uint32_t k = d->f->position[item] - d->from;
    q->head[i] = local_time(w, d->est[k]);
    q->tail[i] = q->horizon - local_time(w, d->lst[k]) - q->time[i];
    w->n_starts += d->lst[k] - d->est[k] + 1;
  }
}

static fs_status fill_items(fs_finder *d) {
  fs_window *w = d->w;
  fs_problem *q = &w->p;
  FS_TRY(fs_new(&q->arena, &q->time, q->n_items));
  FS_TRY(fs_new_zero(&q->arena, &q->head, q->n_items));
  FS_TRY(fs_new_zero(&q->arena, &q->tail, q->n_items));
  FS_TRY(fs_new_none(&q->arena, &q->fixed, q->n_items));
  FS_TRY(fs_new_none(&q->arena, &w->rigid, q->n_items));
  FS_TRY(fs_new(&q->arena, &w->known.start, q->n_items));
  FS_TRY(fs_new(&q->arena, &q->topo, q->n_items));
  w->base = d->first - fs_min(d->first, 1);
  w->max_shift = d->shift;
  q->horizon = w->known.makespan = local_time(w, d->f->answer->makespan);
  q->lower_bound = local_time(w, d->bound);
  for (uint32_t i = 0; i < q->n_items; i++) {
    fill_item(d, i);
    q->topo[i] = i;
  }
  w->n_starts += fs_finder_last(d) ? local_time(w, d->f->answer->makespan) : w->max_shift + 1;
  return FSCHED_OK;
}

static fs_status fill_preds(fs_finder *d, fs_ids *pred) {
  const fs_problem *p = d->p;
  fs_problem *q = &d->w->p;
  const uint32_t *local = d->f->local_item;
  FS_TRY(fs_new_zero(&q->arena, &q->pred0, (size_t)q->n_items + 1));
  for (uint32_t i = 0; i < q->n_items; i++) {
    uint32_t item = d->w->item[i];
    for (uint32_t e = item == FS_NONE ? 0 : p->pred0[item];
         item != FS_NONE && e < p->pred0[item + 1]; e++) {
      uint32_t from = local[p->pred[e]];
      if (from != FS_NONE) {
        FS_TRY(fs_vec_push(p->ctx, pred, from));
      }
    }
    q->pred0[i + 1] = q->n_edges = (uint32_t)pred->n;
  }
  FS_TRY(fs_new(&q->arena, &q->pred, pred->n));
  if (pred->n > 0) {
    memcpy(q->pred, pred->at, pred->n * sizeof *q->pred);
  }
  return FSCHED_OK;
}

static fs_status fill_edges(fs_finder *d) {
  fs_problem *q = &d->w->p;
  fs_ids pred = {0};
  fs_status status = fill_preds(d, &pred);
  fs_vec_free(d->p->ctx, &pred);
  FS_TRY(status);
  return fs_group_turn(&q->arena, q->pred0, q->pred, q->n_items, q->n_items, &q->succ0, &q->succ);
}

/* Does local item i occupy anything?  Items that are needed only as ends of residencies do not. */
static bool occupies(const fs_finder *d, uint32_t i) {
  uint32_t item = d->w->item[i];
  return item != FS_NONE && fs_finder_near(d, item);
}

static fs_status fill_choices(fs_finder *d) {
  const fs_problem *p = d->p;
  fs_window *w = d->w;
  fs_problem *q = &w->p;
  const uint32_t *known = d->f->answer->choice;
  uint32_t n = 0;
  for (uint32_t i = 0; i < q->n_items; i++) {
    n += occupies(d, i) ? p->choice0[w->item[i] + 1] - p->choice0[w->item[i]] : 0;
  }
  FS_TRY(fs_new(&q->arena, &q->choice0, (size_t)q->n_items + 1));
  FS_TRY(fs_new(&q->arena, &q->choice, n));
  FS_TRY(fs_new_zero(&q->arena, &q->gang, q->n_items));
  FS_TRY(fs_new_none(&q->arena, &w->known.choice, q->n_items));
  n = 0;
  for (uint32_t i = 0; i < q->n_items; i++) {
    uint32_t item = w->item[i];
    q->choice0[i] = n;
    if (!occupies(d, i)) {
      continue;
    }
    q->gang[i] = p->gang[item];
    w->known.choice[i] = known[item];
    bool all = p->gang[item] || known[item] == FS_NONE ||
               (!fs_finder_fixed(d, item) && !fs_finder_rigid(d, item));
    for (uint32_t k = p->choice0[item]; k < p->choice0[item + 1]; k++) {
      if (all || p->choice[k] == known[item]) {
        q->choice[n++] = p->choice[k];
      }
    }
  }
  q->choice0[q->n_items] = n;
  return FSCHED_OK;
}

static fs_status fill_uses(fs_finder *d) {
  const fs_problem *p = d->p;
  fs_problem *q = &d->w->p;
  uint32_t n = 0;
  for (uint32_t i = 0; i < q->n_items; i++) {
    n += occupies(d, i) ? p->use0[d->w->item[i] + 1] - p->use0[d->w->item[i]] : 0;
  }
  FS_TRY(fs_new(&q->arena, &q->use0, (size_t)q->n_items + 1));
  FS_TRY(fs_new(&q->arena, &q->use, n));
  FS_TRY(fs_new(&q->arena, &q->use_amount, n));
  n = 0;
  for (uint32_t i = 0; i < q->n_items; i++) {
    q->use0[i] = n;
    uint32_t item = d->w->item[i];
    for (uint32_t k = occupies(d, i) ? p->use0[item] : 0; occupies(d, i) && k < p->use0[item + 1];
         k++) {
      q->use[n] = p->use[k];
      q->use_amount[n++] = p->use_amount[k];
    }
  }
  q->use0[q->n_items] = n;
  return FSCHED_OK;
}

/* ---- its residencies */

static fs_status allocate_residencies(fs_finder *d) {
  const fs_problem *p = d->p;
  fs_problem *q = &d->w->p;
  uint32_t n = q->n_residencies = (uint32_t)d->residency.n, begins = 0, ends = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t r = d->residency.at[k];
    d->f->local_residency[r] = k;
    begins += p->res_begin0[r + 1] - p->res_begin0[r];
    ends += p->res_end0[r + 1] - p->res_end0[r];
  }
  FS_TRY(fs_new(&q->arena, &q->res_version, n));
  FS_TRY(fs_new_none(&q->arena, &q->res_op, n));
  FS_TRY(fs_new(&q->arena, &q->res_memory, n));
  FS_TRY(fs_new(&q->arena, &q->res_size, n));
  FS_TRY(fs_new_none(&q->arena, &q->res_begin_item, n));
  FS_TRY(fs_new(&q->arena, &q->res_to_end, n));
  FS_TRY(fs_new_zero(&q->arena, &q->res_begin0, (size_t)n + 1));
  FS_TRY(fs_new_zero(&q->arena, &q->res_end0, (size_t)n + 1));
  FS_TRY(fs_new(&q->arena, &q->res_begin, begins));
  FS_TRY(fs_new(&q->arena, &q->res_end, ends));
  return fs_new(&q->arena, &d->w->known.address, n);
}

/* Lists the items that can begin a residency first; its begin item stays if it is one of them. */
static void fill_begins(fs_finder *d, uint32_t k, uint32_t *n) {
  const fs_problem *p = d->p;
  fs_problem *q = &d->w->p;
  uint32_t r = d->residency.at[k];
  fs_extreme first = fs_finder_begins(d, r);
  for (uint32_t e = p->res_begin0[r]; e < p->res_begin0[r + 1]; e++) {
    uint32_t item = p->res_begin[e], local = d->f->local_item[item];
    bool wanted = fs_finder_fixed(d, item)      ? d->start[item] == first.fixed
                  : first.fixed != FS_TICK_NONE ? false
                  : fs_finder_rigid(d, item)    ? d->start[item] == first.rigid
                                                : true;
    if (wanted && local != FS_NONE) {
      q->res_begin[(*n)++] = local;
      bool own = item == p->res_begin_item[r] || q->res_begin_item[k] == FS_NONE;
      q->res_begin_item[k] = own ? local : q->res_begin_item[k];
    }
  }
}

static void fill_ends(fs_finder *d, uint32_t k, uint32_t *n) {
  const fs_problem *p = d->p;
  fs_problem *q = &d->w->p;
  uint32_t r = d->residency.at[k];
  fs_extreme last = fs_finder_ends(d, r);
  bool far = last.rigid != FS_TICK_NONE && last.rigid >= d->reach + d->shift;
  for (uint32_t e = p->res_end0[r]; e < p->res_end0[r + 1]; e++) {
    uint32_t item = p->res_end[e], local = d->f->local_item[item];
    bool wanted = fs_finder_fixed(d, item)   ? !far && fs_frame_end(d->f, item) == last.fixed
                  : fs_finder_rigid(d, item) ? fs_frame_end(d->f, item) == last.rigid
                                             : !far;
    if (wanted && local != FS_NONE) {
      q->res_end[(*n)++] = local;
    }
  }
}

static fs_status fill_residencies(fs_finder *d) {
  const fs_problem *p = d->p;
  fs_problem *q = &d->w->p;
  uint32_t begins = 0, ends = 0;
  FS_TRY(allocate_residencies(d));
  for (uint32_t k = 0; k < q->n_residencies; k++) {
    uint32_t r = d->residency.at[k], op = p->res_op[r];
    q->res_version[k] = p->res_version[r];
    q->res_op[k] = op == FS_NONE || d->f->local_item[op] == FS_NONE ? 0 : d->f->local_item[op];
    q->res_memory[k] = p->res_memory[r];
    q->res_size[k] = p->res_size[r];
    q->res_to_end[k] = p->res_to_end[r];
    d->w->known.address[k] = d->f->answer->address[r];
    fill_begins(d, k, &begins);
    fill_ends(d, k, &ends);
    q->res_begin0[k + 1] = begins;
    q->res_end0[k + 1] = ends;
  }
  return FSCHED_OK;
}

static uint32_t first_pair(const fs_problem *p, uint32_t op) {
  uint32_t low = 0, high = p->n_coincide;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (p->coincide_op[middle] < op) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static fs_status fill_pairs(fs_finder *d) {
  const fs_problem *p = d->p;
  fs_problem *q = &d->w->p;
  const uint32_t *local = d->f->local_residency;
  uint32_t most = 0;
  for (uint32_t i = 0; i < q->n_items; i++) {
    for (uint32_t k = first_pair(p, d->w->item[i]);
         k < p->n_coincide && p->coincide_op[k] == d->w->item[i]; k++) {
      most++;
    }
  }
  FS_TRY(fs_new(&q->arena, &q->coincide_in, most));
  FS_TRY(fs_new(&q->arena, &q->coincide_out, most));
  FS_TRY(fs_new(&q->arena, &q->coincide_op, most));
  for (uint32_t i = 0; i < q->n_items; i++) {
    for (uint32_t k = first_pair(p, d->w->item[i]);
         k < p->n_coincide && p->coincide_op[k] == d->w->item[i]; k++) {
      if (local[p->coincide_in[k]] != FS_NONE && local[p->coincide_out[k]] != FS_NONE) {
        q->coincide_in[q->n_coincide] = local[p->coincide_in[k]];
        q->coincide_out[q->n_coincide] = local[p->coincide_out[k]];
        q->coincide_op[q->n_coincide++] = i;
      }
    }
  }
  return FSCHED_OK;
}

/* ---- what models read of the graph */

static fs_status fill_graph(fs_finder *d) {
  const fsched_graph *g = d->p->graph;
  fs_window *w = d->w;
  fs_memory *memory;
  w->graph = *g;
  w->graph.n_ops = w->p.n_items;
  w->graph.op_start = NULL;
  FS_TRY(fs_new(&w->p.arena, &w->graph.op_name, w->p.n_items));
  for (uint32_t i = 0; i < w->p.n_items; i++) {
    uint32_t item = w->item[i];
    w->graph.op_name[i] = item == FS_NONE   ? "the end"
                          : item < g->n_ops ? g->op_name[item]
                                            : "a copy";
  }
  FS_TRY(fs_new(&w->p.arena, &memory, g->target.n_memories));
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    memory[m] = g->target.memory[m];
    memory[m].capacity -= fs_memory_bounded(&memory[m]) ? d->taken[m] : 0;
  }
  w->graph.target.memory = memory;
  w->p.graph = &w->graph;
  return FSCHED_OK;
}

static void share(fs_window *w, const fs_problem *p) {
  fs_problem *q = &w->p;
  q->n_classes = p->n_classes;
  q->class_size = p->class_size;
  q->class_queue0 = p->class_queue0;
  q->class_queue = p->class_queue;
  q->n_amounts = p->n_amounts;
  q->amount_capacity = p->amount_capacity;
  q->amount_name = p->amount_name;
}

fs_status fs_finder_fill(fs_finder *d) {
  share(d->w, d->p);
  FS_TRY(number_items(d));
  FS_TRY(fill_items(d));
  FS_TRY(fill_edges(d));
  FS_TRY(fill_choices(d));
  FS_TRY(fill_uses(d));
  FS_TRY(fill_residencies(d));
  FS_TRY(fill_pairs(d));
  FS_TRY(fill_graph(d));
  if (fs_finder_last(d)) {
    d->w->rigid = NULL;
  }
  d->w->made = true;
  return FSCHED_OK;
}
