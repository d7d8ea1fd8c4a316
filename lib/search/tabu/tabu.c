/* SPDX-License-Identifier: Apache-2.0 */
/* The search itself: which move is made, and what is tabu.  A run that comes to the same order of
 * all queues too often goes in circles, and ends. */
#include "search/tabu/tabu.h"

#include "base/random.h"
#include "base/saturate.h"

enum {
  ELITE = 8,
  ORDERS = 1 << 22, /* items of all orders of the elite */
  IDLE = 12500,     /* moves without an improvement, at the end of a run */
  ENTRY_BITS = 14,
  ENTRIES = 1 << ENTRY_BITS,
  ENTRY_SHIFT = 64 - ENTRY_BITS,
  CIRCLES = 16,
  MOVE_WORK = 100,
  ASK_ITEMS = 1 << 14 /* of the moves between two questions whether to stop */
};

/* Sums of a path's times and lags stay far from the limits of ticks. */
static const fs_tick most_sum = UINT64_C(1) << 60;

/* ---- what it is for */

static uint64_t taken_of(const fs_problem *p, uint32_t amount) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < p->use0[p->n_items]; k++) {
    sum = fs_add_most(sum, p->use[k] == amount ? p->use_amount[k] : 0);
  }
  return sum;
}

/* Queues are for one item, or enough for all. */
static bool knows_queues(const fs_problem *p) {
  fs_tick sum = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t k = p->choice0[i];
    if (k + 1 != p->choice0[i + 1]) {
      return false;
    }
    uint32_t size = p->class_size[p->choice[k]];
    if (size > 1 && (p->gang[i] || size < p->n_items || p->wait != 0)) {
      return false;
    }
    sum = fs_add_most(sum, fs_add_most(p->time[i], p->wait));
  }
  return sum < most_sum;
}

bool fs_tabu_knows(const fs_problem *p) {
  bool knows = p->exact && p->fixed == NULL && knows_queues(p);
  for (uint32_t a = 0; a < p->n_amounts && knows; a++) {
    knows = taken_of(p, a) <= p->amount_capacity[a];
  }
  return knows;
}

/* ---- making */

/* Longer queues keep moves tabu for longer. */
static uint64_t find_tenure(const fs_tabu_graph *g) {
  uint32_t turns = 0, queues = 0;
  for (uint32_t q = 0; q < g->n_queues; q++) {
    g->count[q] = 0;
  }
  for (uint32_t i = 0; i < g->n; i++) {
    uint32_t q = g->queue[i];
    turns += q < g->n_queues;
    queues += q < g->n_queues && g->count[q]++ == 0;
  }
  return 10 + (queues == 0 ? 0 : turns / queues / queues);
}

fs_status fs_tabu_init(fs_tabu *t, const fs_problem *p, uint64_t seed, fs_arena *arena) {
  assert(fs_tabu_knows(p));
  *t = (fs_tabu){.random = seed, .best_makespan = FS_TICK_NONE};
  uint32_t n = p->n_items;
  FS_TRY(fs_tabu_graph_make(p, arena, &t->g));
  t->tenure = find_tenure(&t->g);
  t->size = (uint32_t)fs_max(2, fs_min(ELITE, ORDERS / (1 + n)));
  FS_TRY(fs_new(arena, &t->best_start, n));
  FS_TRY(fs_new(arena, &t->run_order, n));
  FS_TRY(fs_new(arena, &t->path, n));
  FS_TRY(fs_new(arena, &t->head, n));
  FS_TRY(fs_new(arena, &t->room, 2 * (size_t)n));
  FS_TRY(fs_new(arena, &t->move, 4 * (size_t)n));
  FS_TRY(fs_new_zero(arena, &t->tabu, ENTRIES));
  FS_TRY(fs_new_zero(arena, &t->visited, ENTRIES));
  FS_TRY(fs_new(arena, &t->elite, (size_t)t->size * n));
  FS_TRY(fs_new(arena, &t->elite_makespan, t->size));
  FS_TRY(fs_new(arena, &t->elite_mark, t->size));
  return fs_new_zero(arena, &t->elite_raw, t->size);
}

/* ---- what is tabu */

static fs_tabu_entry *entry_of(fs_tabu_entry *all, uint64_t mark) {
  return &all[(mark * UINT64_C(0x9e3779b97f4a7c15)) >> ENTRY_SHIFT];
}

static uint64_t pair_of(uint32_t first, uint32_t second) { return (uint64_t)first << 32 | second; }

/* The item that leaves its end of the stretch, and those that it passes, from *from up to *to. */
static uint32_t passed_by(const fs_tabu *t, const fs_tabu_move *m, uint32_t *from, uint32_t *to) {
  const fs_tabu_node *node = t->g.node;
  *from = m->forward ? node[m->u].after : m->u;
  *to = m->forward ? m->v : node[m->v].before;
  return m->forward ? m->u : m->v;
}

/* Would the move bring back orders of two items that are tabu, and no others? */
static bool is_tabu(fs_tabu *t, const fs_tabu_move *m) {
  uint32_t from, to, item = passed_by(t, m, &from, &to);
  for (uint32_t i = from;; i = t->g.node[i].after) {
    uint64_t mark = m->forward ? pair_of(i, item) : pair_of(item, i);
    const fs_tabu_entry *e = entry_of(t->tabu, mark);
    if (e->mark != mark || e->until <= t->moves) {
      return false;
    }
    if (i == to) {
      return true;
    }
  }
}

/* Orders that the move is about to turn round are tabu for a while. */
static void forbid(fs_tabu *t, const fs_tabu_move *m) {
  uint32_t from, to, item = passed_by(t, m, &from, &to);
  uint64_t more = fs_random_below(&t->random, (uint32_t)(t->tenure / 2) + 1);
  uint64_t until = t->moves + t->tenure + more;
  for (uint32_t i = from;; i = t->g.node[i].after) {
    uint64_t mark = m->forward ? pair_of(item, i) : pair_of(i, item);
    *entry_of(t->tabu, mark) = (fs_tabu_entry){mark, until};
    if (i == to) {
      return;
    }
  }
}

/* Has the run been at this order of all queues too often? */
static bool goes_round(fs_tabu *t) {
  fs_tabu_entry *e = entry_of(t->visited, t->g.mark);
  *e = (fs_tabu_entry){t->g.mark, e->mark == t->g.mark ? e->until + 1 : 1};
  return e->until > CIRCLES;
}

/* ---- runs */

/* The move of the least estimate; one at random of several. */
static uint32_t best_move(fs_tabu *t, uint32_t n_moves) {
  uint32_t best = 0, n = 1;
  for (uint32_t k = 1; k < n_moves; k++) {
    fs_tick estimate = t->move[k].estimate, least = t->move[best].estimate;
    if (estimate < least || (estimate == least && fs_random_below(&t->random, ++n) == 0)) {
      n = estimate < least ? 1 : n;
      best = k;
    }
  }
  return best;
}

/* What is tabu then is noted before, and stays so where the move is none. */
static bool try_move(fs_tabu *t, const fs_tabu_move *m) {
  forbid(t, m);
  return fs_tabu_graph_move(&t->g, m);
}

/* Makes the best move that is not tabu, or gives a makespan that is new; else any.  False: there is
 * none. */
static bool move_once(fs_tabu *t) {
  fs_tabu_list_moves(t);
  for (uint32_t left = t->n_moves; left > 0;) {
    uint32_t k = best_move(t, left);
    fs_tabu_move m = t->move[k];
    if ((m.estimate < t->run_makespan || !is_tabu(t, &m)) && try_move(t, &m)) {
      return true;
    }
    t->move[k] = t->move[--left];
    t->move[left] = m;
  }
  for (uint32_t left = t->n_moves; left > 0;) {
    uint32_t k = fs_random_below(&t->random, left);
    if (try_move(t, &t->move[k])) {
      return true;
    }
    t->move[k] = t->move[--left];
  }
  return false;
}

static void note_best(fs_tabu *t) {
  const fs_tabu_graph *g = &t->g;
  if (g->makespan < t->run_makespan) {
    t->run_makespan = g->makespan;
    t->run_mark = g->mark;
    t->idle = 0;
    memcpy(t->run_order, g->order, g->n * sizeof *g->order);
  }
  if (g->makespan < t->best_makespan) {
    t->best_makespan = g->makespan;
    for (uint32_t i = 0; i < g->n; i++) {
      t->best_start[i] = g->node[i].head;
    }
  }
}

static void begin_run(fs_tabu *t) {
  fs_tabu_begin_run(t);
  memset(t->visited, 0, ENTRIES * sizeof *t->visited);
  t->runs = true;
  t->idle = 0;
  t->run_makespan = FS_TICK_NONE;
  note_best(t);
}

void fs_tabu_run(fs_tabu *t, uint64_t moves, fs_tick bound, bool (*stop)(void *), void *user) {
  uint64_t end = t->moves + moves, ask = 1 + ASK_ITEMS / (1 + t->g.n);
  while (t->moves < end && t->best_makespan > bound) {
    if (!t->runs) {
      begin_run(t);
    }
    t->moves++;
    t->work += MOVE_WORK + t->g.n;
    if (!move_once(t) || t->idle++ >= IDLE || goes_round(t)) {
      fs_tabu_end_run(t);
      t->runs = false;
    } else {
      note_best(t);
    }
    if (t->moves % ask == 0 && stop != NULL && stop(user)) {
      return;
    }
  }
}
