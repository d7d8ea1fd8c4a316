/* SPDX-License-Identifier: Apache-2.0 */
/* Where runs begin, and which of their best orders are kept.
 *
 * Between two orders, neighbours that the other one has the other way round are exchanged, at
 * random places: both are linear extensions of the items' own orders, so each order on the way is
 * one. */
#include "base/random.h"
#include "search/tabu/tabu.h"

enum { MOST_TRIES = 1 << 20, FEWEST_APART = 8, MOST_NEAR = 200 };

static uint32_t *order_of(const fs_tabu *t, uint32_t k) { return t->elite + (size_t)k * t->g.n; }

/* ---- the elite */

static bool is_kept(const fs_tabu *t, fs_tick makespan, uint64_t mark) {
  for (uint32_t k = 0; k < t->filled; k++) {
    if (t->elite_mark[k] == mark && t->elite_makespan[k] == makespan) {
      return true;
    }
  }
  return false;
}

static uint32_t worst_of(const fs_tabu *t) {
  uint32_t worst = 0;
  for (uint32_t k = 1; k < t->filled; k++) {
    worst = t->elite_makespan[k] > t->elite_makespan[worst] ? k : worst;
  }
  return worst;
}

static void keep(fs_tabu *t, uint32_t k, const uint32_t *order, fs_tick makespan, uint64_t mark) {
  memcpy(order_of(t, k), order, t->g.n * sizeof *order);
  t->elite_makespan[k] = makespan;
  t->elite_mark[k] = mark;
}

/* The elite has become alike: the best of it stays, and others are looked for. */
static void keep_best(fs_tabu *t) {
  uint32_t best = 0;
  for (uint32_t k = 1; k < t->filled; k++) {
    best = t->elite_makespan[k] < t->elite_makespan[best] ? k : best;
  }
  if (best != 0) {
    keep(t, 0, order_of(t, best), t->elite_makespan[best], t->elite_mark[best]);
  }
  t->filled = 1;
}

void fs_tabu_end_run(fs_tabu *t) {
  uint32_t k = t->of;
  if (k != FS_NONE) {
    t->elite_raw[k] = 0;
  } else if (is_kept(t, t->run_makespan, t->run_mark)) {
    return;
  } else if (t->filled < t->size) {
    k = t->filled++;
  } else {
    k = worst_of(t);
    if (t->elite_makespan[k] < t->run_makespan) {
      return;
    }
  }
  keep(t, k, t->run_order, t->run_makespan, t->run_mark);
}

void fs_tabu_offer(fs_tabu *t, const uint32_t *order) {
  fs_tabu_graph *g = &t->g;
  assert(order != NULL || g->n == 0);
  if (t->runs) {
    fs_tabu_end_run(t);
    t->runs = false;
  }
  fs_tabu_graph_take(g, order);
  uint32_t k = t->filled < t->size ? t->filled : worst_of(t);
  if (is_kept(t, g->makespan, g->mark) ||
      (t->filled == t->size && t->elite_makespan[k] < g->makespan)) {
    return;
  }
  t->filled += k == t->filled;
  t->elite_raw[k] = 1;
  keep(t, k, order, g->makespan, g->mark);
}

/* ---- orders to begin with */

static void make_random_order(fs_tabu *t) {
  fs_tabu_graph *g = &t->g;
  uint32_t *missing = t->room, *ready = t->room + g->n, n_ready = 0;
  for (uint32_t i = 0; i < g->n; i++) {
    missing[i] = g->node[i + 1].pred0 - g->node[i].pred0;
    if (missing[i] == 0) {
      ready[n_ready++] = i;
    }
  }
  for (uint32_t k = 0; k < g->n; k++) {
    uint32_t at = fs_random_below(&t->random, n_ready), item = ready[at];
    t->path[k] = item;
    ready[at] = ready[--n_ready];
    for (uint32_t e = g->node[item].succ0; e < g->node[item + 1].succ0; e++) {
      uint32_t s = g->succ[e].item;
      if (--missing[s] == 0) {
        ready[n_ready++] = s;
      }
    }
  }
}

/* How many pairs of items on one queue are in another order, of those that are not far apart. */
static uint32_t count_apart(const fs_tabu *t, const uint32_t *place) {
  const fs_tabu_graph *g = &t->g;
  uint32_t apart = 0;
  for (uint32_t i = 0; i < g->n; i++) {
    uint32_t other = g->node[i].after;
    for (uint32_t k = 0; k < MOST_NEAR && other != g->n; k++, other = g->node[other].after) {
      apart += place[other] < place[i];
    }
  }
  return apart;
}

/* Exchanges neighbours of the order that are the other way round by place, until so many pairs on
 * one queue are. */
static void walk_order(fs_tabu *t, uint32_t *order, const uint32_t *place, uint32_t pairs) {
  const fs_tabu_graph *g = &t->g;
  for (uint32_t k = 0; k < MOST_TRIES && pairs > 0; k++) {
    uint32_t at = fs_random_below(&t->random, g->n - 1), a = order[at], b = order[at + 1];
    if (place[a] > place[b]) {
      order[at] = b;
      order[at + 1] = a;
      pairs -= g->queue[a] == g->queue[b] && g->queue[a] < g->n_queues;
    }
  }
}

/* Makes an order between two of the elite.  False: they are alike. */
static bool make_order_between(fs_tabu *t) {
  fs_tabu_graph *g = &t->g;
  uint32_t a = fs_random_below(&t->random, t->filled);
  uint32_t b = fs_random_below(&t->random, t->filled - 1);
  b += b >= a;
  uint32_t *place = t->room;
  for (uint32_t k = 0; k < g->n; k++) {
    place[order_of(t, b)[k]] = k;
  }
  memcpy(t->path, order_of(t, a), g->n * sizeof *t->path);
  fs_tabu_graph_take(g, t->path);
  uint32_t apart = count_apart(t, place);
  if (apart < FEWEST_APART) {
    return false;
  }
  walk_order(t, t->path, place, apart / 3 + fs_random_below(&t->random, apart / 3));
  return true;
}

void fs_tabu_begin_run(fs_tabu *t) {
  assert(!t->runs);
  t->of = 0;
  while (t->of < t->filled && !t->elite_raw[t->of]) {
    t->of++;
  }
  if (t->of < t->filled) {
    fs_tabu_graph_take(&t->g, order_of(t, t->of));
    return;
  }
  t->of = FS_NONE;
  if (t->filled < t->size) {
    make_random_order(t);
  } else if (!make_order_between(t)) {
    keep_best(t);
    make_random_order(t);
  }
  fs_tabu_graph_take(&t->g, t->path);
}
