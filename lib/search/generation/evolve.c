/* SPDX-License-Identifier: Apache-2.0 */
#include "search/generation/evolve.h"

#include "base/random.h"

static uint32_t below(fs_evolution *e, uint32_t n) { return fs_random_below(&e->random, n); }

fs_status fs_evolution_init(fs_evolution *e, const fs_packed_form *form, uint32_t size,
                            uint64_t seed, fs_arena *arena) {
  assert(size >= 2);
  *e = (fs_evolution){.form = form, .size = size, .random = seed};
  FS_TRY(fs_passes_init(&e->passes, form, arena));
  FS_TRY(fs_passed_init(form, arena, &e->now));
  FS_TRY(fs_passed_init(form, arena, &e->back));
  FS_TRY(fs_passed_init(form, arena, &e->best));
  FS_TRY(fs_new(arena, &e->order, (size_t)size * form->n));
  FS_TRY(fs_new(arena, &e->makespan, size));
  FS_TRY(fs_new(arena, &e->mark, size));
  FS_TRY(fs_new(arena, &e->child, form->n));
  FS_TRY(fs_new(arena, &e->ready, form->n));
  FS_TRY(fs_new(arena, &e->missing, form->n));
  return fs_new_zero(arena, &e->seen, form->n);
}

static uint32_t *order_of(const fs_evolution *e, uint32_t k) {
  return e->order + (size_t)k * e->form->n;
}

/* ---- evaluation */

void fs_evolution_keep(fs_evolution *e, const fs_passed *p) {
  if (p->makespan < e->best.makespan) {
    memcpy(e->best.start, p->start, e->form->n * sizeof *p->start);
    memcpy(e->best.way, p->way, e->form->n * sizeof *p->way);
    e->best.makespan = p->makespan;
  }
}

/* Generates the child, and justifies it twice; the child becomes the order of its starts.  False:
 * it was stopped. */
static bool evaluate(fs_evolution *e) {
  fs_passes *s = &e->passes;
  fs_pass_forward(s, e->child, FS_TICK_NONE, &e->now);
  if (e->now.makespan == FS_TICK_NONE) {
    return false;
  }
  fs_evolution_keep(e, &e->now);
  fs_pass_turn(s, &e->now, e->child);
  fs_pass_backward(s, e->child, FS_TICK_NONE, &e->back);
  if (e->back.makespan == FS_TICK_NONE) {
    return false;
  }
  fs_pass_turn(s, &e->back, e->child);
  fs_pass_forward(s, e->child, FS_TICK_NONE, &e->now);
  if (e->now.makespan == FS_TICK_NONE) {
    return false;
  }
  fs_evolution_keep(e, &e->now);
  fs_pass_by_start(s, &e->now, e->child);
  return true;
}

static uint64_t mark_of(const fs_evolution *e) {
  uint64_t mark = 0;
  for (uint32_t i = 0; i < e->form->n; i++) {
    mark = (mark ^ e->now.start[i]) * UINT64_C(0x9e3779b97f4a7c15);
    mark ^= mark >> 29;
  }
  return mark;
}

static bool is_known(const fs_evolution *e, fs_tick makespan, uint64_t mark) {
  for (uint32_t k = 0; k < e->filled; k++) {
    if (e->mark[k] == mark && e->makespan[k] == makespan) {
      return true;
    }
  }
  return false;
}

static void put(fs_evolution *e, uint32_t k, fs_tick makespan, uint64_t mark) {
  memcpy(order_of(e, k), e->child, e->form->n * sizeof *e->child);
  e->makespan[k] = makespan;
  e->mark[k] = mark;
}

/* ---- individuals */

/* An order at random, in which long paths tend to come first. */
static void make_random(fs_evolution *e) {
  const fs_problem *p = e->form->p;
  uint32_t n_ready = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    e->missing[i] = p->pred0[i + 1] - p->pred0[i];
    if (e->missing[i] == 0) {
      e->ready[n_ready++] = i;
    }
  }
  uint32_t tries = 1 + below(e, 4);
  for (uint32_t k = 0; k < p->n_items; k++) {
    uint32_t best = below(e, n_ready);
    for (uint32_t i = 1; i < tries; i++) {
      uint32_t other = below(e, n_ready);
      uint32_t a = e->ready[best], b = e->ready[other];
      best = p->tail[b] + p->time[b] > p->tail[a] + p->time[a] ? other : best;
    }
    uint32_t item = e->child[k] = e->ready[best];
    e->ready[best] = e->ready[--n_ready];
    for (uint32_t s = p->succ0[item]; s < p->succ0[item + 1]; s++) {
      if (--e->missing[p->succ[s]] == 0) {
        e->ready[n_ready++] = p->succ[s];
      }
    }
  }
}

/* Takes those of `from` that the child does not have yet, until it has `end`. */
static uint32_t take(fs_evolution *e, const uint32_t *from, uint32_t at, uint32_t end) {
  for (uint32_t k = 0; at < end; k++) {
    if (e->seen[from[k]] != e->turn) {
      e->seen[from[k]] = e->turn;
      e->child[at++] = from[k];
    }
  }
  return at;
}

/* Both parents are linear extensions, so a prefix of the one, and what follows of the other, is
 * one. */
static void cross(fs_evolution *e, uint32_t mother, uint32_t father) {
  uint32_t n = e->form->n, a = below(e, n), b = below(e, n);
  if (++e->turn == 0) { /* marks of 2^32 children ago would be taken for those of this one */
    memset(e->seen, 0, n * sizeof *e->seen);
    e->turn = 1;
  }
  uint32_t at = take(e, order_of(e, mother), 0, fs_min(a, b));
  at = take(e, order_of(e, father), at, fs_max(a, b));
  (void)take(e, order_of(e, mother), at, n);
}

static bool precedes(const fs_problem *p, uint32_t a, uint32_t b) {
  for (uint32_t s = p->succ0[a]; s < p->succ0[a + 1]; s++) {
    if (p->succ[s] == b) {
      return true;
    }
  }
  return false;
}

/* Moves some items forward, as far as predecessors and chance let them. */
static void mutate(fs_evolution *e) {
  const fs_problem *p = e->form->p;
  uint32_t n = e->form->n, times = below(e, 4);
  for (uint32_t i = 0; i < times; i++) {
    uint32_t from = below(e, n), far = 1 + below(e, n);
    uint32_t item = e->child[from], k = from;
    for (; k > 0 && from - k < far && !precedes(p, e->child[k - 1], item); k--) {
      e->child[k] = e->child[k - 1];
    }
    e->child[k] = item;
  }
}

static uint32_t better_of_two(fs_evolution *e) {
  uint32_t a = below(e, e->filled), b = below(e, e->filled);
  return e->makespan[a] <= e->makespan[b] ? a : b;
}

static uint32_t worst_of_some(fs_evolution *e) {
  enum { SOME = 6 };
  uint32_t worst = below(e, e->filled);
  for (uint32_t i = 1; i < SOME; i++) {
    uint32_t k = below(e, e->filled);
    worst = e->makespan[k] > e->makespan[worst] ? k : worst;
  }
  return worst;
}

static void add(fs_evolution *e) {
  if (!evaluate(e)) {
    return;
  }
  fs_tick makespan = e->now.makespan;
  uint64_t mark = mark_of(e);
  if (is_known(e, makespan, mark)) {
    return;
  }
  if (e->filled < e->size) {
    put(e, e->filled++, makespan, mark);
    return;
  }
  uint32_t worst = worst_of_some(e);
  if (makespan <= e->makespan[worst]) {
    put(e, worst, makespan, mark);
  }
}

void fs_evolution_add(fs_evolution *e, const uint32_t *order) {
  assert(order != NULL || e->form->n == 0);
  memcpy(e->child, order, e->form->n * sizeof *order);
  add(e);
}

void fs_evolution_step(fs_evolution *e) {
  if (e->made++ < e->size || e->filled < 2) {
    make_random(e);
  } else {
    cross(e, better_of_two(e), better_of_two(e));
    mutate(e);
  }
  add(e);
}
