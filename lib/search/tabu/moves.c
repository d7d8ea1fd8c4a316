/* SPDX-License-Identifier: Apache-2.0 */
/* The moves of one longest path, which is drawn at random.
 *
 * No move closes a cycle: u may go behind v where nothing that comes behind u by orders has a
 * longer tail than v, since it would have one if it came before v; and in the other direction of
 * time.
 *
 * Only what changes in the front of a block, or at its back, can make the path shorter; at the
 * begin of the path a block's front does not count, at its end the back does not. */
#include "base/random.h"
#include "search/tabu/tabu.h"

enum { MOST_STRETCH = 200 };

/* ---- a longest path, the last item first */

static uint32_t last_item(fs_tabu *t) {
  const fs_tabu_graph *g = &t->g;
  uint32_t found = FS_NONE, n = 0;
  for (uint32_t k = 0; k < g->n_sinks; k++) {
    const fs_tabu_node *x = &g->node[g->sink[k]];
    if (x->head + x->time == g->makespan && fs_random_below(&t->random, ++n) == 0) {
      found = g->sink[k];
    }
  }
  return found;
}

static uint32_t item_before(fs_tabu *t, uint32_t item) {
  const fs_tabu_graph *g = &t->g;
  const fs_tabu_node *x = &g->node[item], *b = &g->node[x->before];
  uint32_t found = FS_NONE, n = 0;
  if (x->head == 0) {
    return FS_NONE;
  }
  if (b->head + b->time == x->head) {
    found = x->before;
    n = 1;
  }
  for (uint32_t e = x->pred0; x->ready == x->head && e < x[1].pred0; e++) {
    const fs_tabu_node *a = &g->node[g->pred[e].item];
    if (a->head + a->time + g->pred[e].lag == x->head && fs_random_below(&t->random, ++n) == 0) {
      found = g->pred[e].item;
    }
  }
  return found;
}

static uint32_t find_path(fs_tabu *t) {
  uint32_t n = 0;
  for (uint32_t i = last_item(t); i != FS_NONE; i = item_before(t, i)) {
    t->path[n++] = i;
  }
  return n;
}

/* ---- estimates */

/* The longest path through the stretch, u .. v, with u behind v. */
static fs_tick estimate_forward(fs_tabu *t, uint32_t u, uint32_t v) {
  const fs_tabu_node *node = t->g.node, *x = &node[u];
  fs_tick end = node[x->before].head + node[x->before].time, *head = t->head;
  uint32_t n = 0;
  for (uint32_t i = x->after;; i = node[i].after) {
    head[n] = fs_max(node[i].ready, end);
    end = head[n++] + node[i].time;
    if (i == v) {
      break;
    }
  }
  fs_tick tail = x->time + fs_max(x->rest, node[node[v].after].tail);
  fs_tick longest = fs_max(x->ready, end) + tail;
  for (uint32_t i = v; n-- > 0; i = node[i].before) {
    tail = node[i].time + fs_max(node[i].rest, tail);
    longest = fs_max(longest, head[n] + tail);
  }
  return longest;
}

static fs_tick estimate_backward(fs_tabu *t, uint32_t u, uint32_t v) {
  const fs_tabu_node *node = t->g.node, *x = &node[v];
  fs_tick tail = node[x->after].tail, *behind = t->head;
  uint32_t n = 0;
  for (uint32_t i = x->before;; i = node[i].before) {
    tail = behind[n++] = node[i].time + fs_max(node[i].rest, tail);
    if (i == u) {
      break;
    }
  }
  const fs_tabu_node *b = &node[node[u].before];
  fs_tick end = fs_max(x->ready, b->head + b->time);
  fs_tick longest = end + x->time + fs_max(x->rest, tail);
  end += x->time;
  for (uint32_t i = u; n-- > 0; i = node[i].after) {
    end = fs_max(node[i].ready, end);
    longest = fs_max(longest, end + behind[n]);
    end += node[i].time;
  }
  return longest;
}

/* ---- moves */

static void put_forward(fs_tabu *t, uint32_t u, uint32_t v) {
  const fs_tabu_node *node = t->g.node;
  if (node[u].rest <= node[v].tail && node[v].rank - node[u].rank <= MOST_STRETCH) {
    t->move[t->n_moves++] = (fs_tabu_move){u, v, true, estimate_forward(t, u, v)};
  }
}

static void put_backward(fs_tabu *t, uint32_t u, uint32_t v) {
  const fs_tabu_node *node = t->g.node;
  if (node[v].ready <= node[u].head + node[u].time && node[v].rank - node[u].rank <= MOST_STRETCH) {
    t->move[t->n_moves++] = (fs_tabu_move){u, v, false, estimate_backward(t, u, v)};
  }
}

/* The block's items, the last one first.  Two neighbours change places in one way alone. */
static void list_block(fs_tabu *t, const uint32_t *block, uint32_t n, bool at_begin, bool at_end) {
  uint32_t first = block[n - 1], last = block[0];
  for (uint32_t k = 1; k < n && !at_end; k++) {
    put_forward(t, block[k], last);
    if (k > 1 && k + 1 < n) {
      put_backward(t, block[k], last);
    }
  }
  for (uint32_t k = 0; k + 1 < n && !at_begin; k++) {
    if (n > 2 || at_end) {
      put_backward(t, first, block[k]);
    }
    if (k > 0 && k + 2 < n) {
      put_forward(t, first, block[k]);
    }
  }
}

void fs_tabu_list_moves(fs_tabu *t) {
  const fs_tabu_node *node = t->g.node;
  uint32_t n = find_path(t);
  t->n_moves = 0;
  for (uint32_t k = 0, end; k < n; k = end) {
    end = k + 1;
    while (end < n && node[t->path[end - 1]].before == t->path[end]) {
      end++;
    }
    if (end - k > 1) {
      list_block(t, t->path + k, end - k, end == n, k == 0);
    }
  }
}
