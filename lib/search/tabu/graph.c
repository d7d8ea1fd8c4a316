/* SPDX-License-Identifier: Apache-2.0 */
/* The disjunctive graph.  All items are kept in a linear extension of it; a move changes the part
 * of it between its two items, so heads are found anew from there on, and tails up to there.
 *
 *      u goes behind v:   ... u x y v ...  ->  ... x v u y ...
 *
 * where y comes behind u by orders; were v among what comes behind u, there would be a cycle. */
#include "search/tabu/tabu.h"

/* ---- making */

static uint32_t queue_of(const fs_problem *p, uint32_t item) {
  uint32_t k = p->choice0[item];
  return k + 1 == p->choice0[item + 1] && p->class_size[p->choice[k]] == 1 ? p->choice[k]
                                                                           : p->n_classes;
}

static fs_tick lag_of(const fs_problem *p, uint32_t from, uint32_t to) {
  uint32_t n_ops = p->graph->n_ops;
  bool waits = p->wait != 0 && from < n_ops && to < n_ops && queue_of(p, from) != queue_of(p, to);
  return waits ? p->wait : 0;
}

static fs_status make_arcs(const fs_problem *p, fs_arena *arena, fs_tabu_graph *g) {
  uint32_t n_arcs = p->pred0[g->n];
  FS_TRY(fs_new(arena, &g->pred, n_arcs));
  FS_TRY(fs_new(arena, &g->succ, n_arcs));
  FS_TRY(fs_new(arena, &g->sink, g->n));
  for (uint32_t i = 0; i < g->n; i++) {
    for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
      g->pred[e] = (fs_tabu_arc){lag_of(p, p->pred[e], i), p->pred[e]};
    }
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
      g->succ[e] = (fs_tabu_arc){lag_of(p, i, p->succ[e]), p->succ[e]};
    }
    if (p->succ0[i] == p->succ0[i + 1]) {
      g->sink[g->n_sinks++] = i;
    }
  }
  return FSCHED_OK;
}

fs_status fs_tabu_graph_make(const fs_problem *p, fs_arena *arena, fs_tabu_graph *g) {
  *g = (fs_tabu_graph){.n = p->n_items, .n_queues = p->n_classes};
  FS_TRY(fs_new_zero(arena, &g->node, (size_t)g->n + 1));
  FS_TRY(fs_new(arena, &g->queue, g->n));
  FS_TRY(fs_new(arena, &g->order, g->n));
  FS_TRY(fs_new(arena, &g->put, g->n));
  FS_TRY(fs_new_zero(arena, &g->seen, (size_t)g->n + 1));
  FS_TRY(fs_new(arena, &g->last, (size_t)g->n_queues + 1));
  FS_TRY(fs_new(arena, &g->count, (size_t)g->n_queues + 1));
  for (uint32_t i = 0; i <= g->n; i++) {
    g->node[i] = (fs_tabu_node){.before = g->n, .after = g->n};
    g->node[i].pred0 = p->pred0[i];
    g->node[i].succ0 = p->succ0[i];
    if (i < g->n) {
      g->node[i].time = p->time[i];
      g->queue[i] = queue_of(p, i);
    }
  }
  return make_arcs(p, arena, g);
}

/* ---- heads and tails */

static void find_heads(fs_tabu_graph *g, uint32_t from) {
  fs_tabu_node *node = g->node;
  for (uint32_t k = from; k < g->n; k++) {
    fs_tabu_node *x = &node[g->order[k]];
    fs_tick ready = 0;
    for (uint32_t e = x->pred0; e < x[1].pred0; e++) {
      const fs_tabu_node *b = &node[g->pred[e].item];
      ready = fs_max(ready, b->head + b->time + g->pred[e].lag);
    }
    x->ready = ready;
    x->head = fs_max(ready, node[x->before].head + node[x->before].time);
  }
  g->makespan = 0;
  for (uint32_t k = 0; k < g->n_sinks; k++) {
    const fs_tabu_node *x = &node[g->sink[k]];
    g->makespan = fs_max(g->makespan, x->head + x->time);
  }
}

static void find_tails(fs_tabu_graph *g, uint32_t to) {
  fs_tabu_node *node = g->node;
  for (uint32_t k = to + 1; k-- > 0;) {
    fs_tabu_node *x = &node[g->order[k]];
    fs_tick rest = 0;
    for (uint32_t e = x->succ0; e < x[1].succ0; e++) {
      rest = fs_max(rest, node[g->succ[e].item].tail + g->succ[e].lag);
    }
    x->rest = rest;
    x->tail = x->time + fs_max(rest, node[x->after].tail);
  }
}

void fs_tabu_graph_take(fs_tabu_graph *g, const uint32_t *order) {
  assert(order != NULL || g->n == 0);
  g->mark = 0;
  for (uint32_t q = 0; q < g->n_queues; q++) {
    g->last[q] = g->n;
    g->count[q] = 0;
  }
  for (uint32_t k = 0; k < g->n; k++) {
    uint32_t i = g->order[k] = order[k], q = g->queue[i];
    fs_tabu_node *x = &g->node[i];
    x->place = k;
    x->before = x->after = g->n;
    if (q < g->n_queues) {
      x->before = g->last[q];
      x->rank = g->count[q]++;
      g->node[x->before].after = i;
      g->last[q] = i;
      g->mark += fs_tabu_mark(i, x->rank);
    }
  }
  g->node[g->n].after = g->n;
  if (g->n > 0) {
    find_heads(g, 0);
    find_tails(g, g->n - 1);
  }
}

/* ---- moves */

static void next_turn(fs_tabu_graph *g) {
  if (++g->turn == 0) {
    memset(g->seen, 0, ((size_t)g->n + 1) * sizeof *g->seen);
    g->turn = 1;
  }
}

static bool comes_behind(const fs_tabu_graph *g, uint32_t item, uint32_t u) {
  const fs_tabu_node *x = &g->node[item];
  bool behind = x->before != u && g->seen[x->before] == g->turn;
  for (uint32_t e = x->pred0; e < x[1].pred0 && !behind; e++) {
    behind = g->seen[g->pred[e].item] == g->turn;
  }
  return behind;
}

static bool comes_before(const fs_tabu_graph *g, uint32_t item, uint32_t v) {
  const fs_tabu_node *x = &g->node[item];
  bool before = x->after != v && g->seen[x->after] == g->turn;
  for (uint32_t e = x->succ0; e < x[1].succ0 && !before; e++) {
    before = g->seen[g->succ[e].item] == g->turn;
  }
  return before;
}

static void put_back(fs_tabu_graph *g, uint32_t from, uint32_t to) {
  for (uint32_t k = from; k <= to; k++) {
    g->node[g->order[k]].place = k;
  }
}

/* What comes behind u moves behind v with it.  False: v does. */
static bool order_forward(fs_tabu_graph *g, uint32_t u, uint32_t v) {
  uint32_t from = g->node[u].place, to = g->node[v].place, n_put = 0, at = from;
  next_turn(g);
  g->seen[u] = g->turn;
  g->put[n_put++] = u;
  for (uint32_t k = from + 1; k <= to; k++) {
    uint32_t item = g->order[k];
    if (comes_behind(g, item, u)) {
      g->seen[item] = g->turn;
      g->put[n_put++] = item;
    }
  }
  if (g->seen[v] == g->turn) {
    return false;
  }
  for (uint32_t k = from; k <= to; k++) {
    if (g->seen[g->order[k]] != g->turn) {
      g->order[at++] = g->order[k];
    }
  }
  memcpy(g->order + at, g->put, n_put * sizeof *g->put);
  put_back(g, from, to);
  return true;
}

static bool order_backward(fs_tabu_graph *g, uint32_t u, uint32_t v) {
  uint32_t from = g->node[u].place, to = g->node[v].place, n_put = 0, at = to + 1;
  next_turn(g);
  g->seen[v] = g->turn;
  g->put[n_put++] = v;
  for (uint32_t k = to; k-- > from;) {
    uint32_t item = g->order[k];
    if (comes_before(g, item, v)) {
      g->seen[item] = g->turn;
      g->put[n_put++] = item;
    }
  }
  if (g->seen[u] == g->turn) {
    return false;
  }
  for (uint32_t k = to + 1; k-- > from;) {
    if (g->seen[g->order[k]] != g->turn) {
      g->order[--at] = g->order[k];
    }
  }
  for (uint32_t k = 0; k < n_put; k++) {
    g->order[--at] = g->put[k];
  }
  put_back(g, from, to);
  return true;
}

/* Takes the item out of its queue, and puts it behind `before`. */
static void requeue(fs_tabu_graph *g, uint32_t item, uint32_t before, uint32_t after) {
  fs_tabu_node *node = g->node, *x = &node[item];
  node[x->before].after = x->after;
  node[x->after].before = x->before;
  x->before = before;
  x->after = after;
  node[before].after = item;
  node[after].before = item;
  node[g->n].before = node[g->n].after = g->n;
}

static void rank_again(fs_tabu_graph *g, uint32_t first, uint32_t rank, uint32_t length) {
  for (uint32_t i = first, k = 0; k < length; k++, i = g->node[i].after) {
    g->mark -= fs_tabu_mark(i, g->node[i].rank);
    g->node[i].rank = rank + k;
    g->mark += fs_tabu_mark(i, rank + k);
  }
}

bool fs_tabu_graph_move(fs_tabu_graph *g, const fs_tabu_move *m) {
  assert(g->queue[m->u] == g->queue[m->v] && g->node[m->u].rank < g->node[m->v].rank);
  uint32_t from = g->node[m->u].place, to = g->node[m->v].place;
  uint32_t rank = g->node[m->u].rank, length = g->node[m->v].rank - rank + 1;
  if (!(m->forward ? order_forward : order_backward)(g, m->u, m->v)) {
    return false;
  }
  uint32_t first = m->forward ? g->node[m->u].after : m->v;
  if (m->forward) {
    requeue(g, m->u, m->v, g->node[m->v].after);
  } else {
    requeue(g, m->v, g->node[m->u].before, m->u);
  }
  rank_again(g, first, rank, length);
  find_heads(g, from);
  find_tails(g, to);
  return true;
}
