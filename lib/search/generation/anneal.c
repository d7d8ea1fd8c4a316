/* SPDX-License-Identifier: Apache-2.0 */
#include "search/generation/anneal.h"

#include "base/random.h"
#include "base/saturate.h"

enum {
  STAGES = 192,      /* of a cycle, each a 64th colder */
  FIRST_LENGTH = 24, /* neighbours in each stage of the first cycle */
  NEAR = 8,          /* places between two items at random, or: */
  FAR = 60,
  WEIGHT = 16, /* of the makespan, where the mean of the ends counts once */
  COST_BITS = 40,
  /* Addresses: rounds from those that are known; the least and most work from scratch; searches at
   * first, and neighbours for each further one; those in vain until orders take less; parts that
   * are given back where no schedule of a cycle was short enough to be tried. */
  ROUNDS = 16,
  LEAST_WORK = 512,
  MOST_WORK = 1 << 14,
  FIRST_SEARCHES = 8,
  SEARCH_EVERY = 16,
  IN_VAIN = 3,
  GIVE_BACK = 4
};

static uint32_t below(fs_annealing *a, uint32_t n) { return fs_random_below(&a->random, n); }

static uint32_t items_of(const fs_annealing *a) { return a->lives.passes.form->n; }

static const fs_problem *problem_of(const fs_annealing *a) { return a->lives.passes.form->p; }

static fs_status init_annealed(const fs_packed_form *form, fs_annealed *x, fs_arena *arena) {
  FS_TRY(fs_new(arena, &x->order, form->n));
  return fs_passed_init(form, arena, &x->passed);
}

fs_status fs_annealing_init(fs_annealing *a, const fs_packed_form *form, uint64_t seed,
                            fs_arena *arena) {
  const fs_problem *p = form->p;
  assert(fs_lives_know(p));
  *a = (fs_annealing){.random = seed};
  FS_TRY(fs_lives_init(&a->lives, form, arena));
  FS_TRY(fs_shelf_init(&a->shelf, &a->lives, arena));
  FS_TRY(init_annealed(form, &a->now, arena));
  FS_TRY(init_annealed(form, &a->other, arena));
  FS_TRY(init_annealed(form, &a->best, arena));
  FS_TRY(fs_passed_init(form, arena, &a->back));
  FS_TRY(fs_new_zero(arena, &a->address, a->lives.n_lives));
  FS_TRY(fs_new_zero(arena, &a->seen, form->n));
  FS_TRY(fs_new(arena, &a->moved, form->n));
  FS_TRY(fs_new(arena, &a->position, form->n));
  FS_TRY(fs_new(arena, &a->block, form->n));
  uint64_t sum = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    sum = fs_add_most(sum, p->time[i]);
  }
  while (sum >> a->time_shift >> COST_BITS != 0) {
    a->time_shift++;
  }
  a->usual = (sum >> a->time_shift) / p->n_items + 1;
  a->length = FIRST_LENGTH;
  a->parts = FS_LIFE_PARTS;
  a->step = 1;
  a->work = LEAST_WORK;
  return FSCHED_OK;
}

/* ---- evaluation */

static uint64_t cost_of(const fs_annealing *a, const fs_passed *x) {
  uint64_t sum = 0;
  const fs_problem *p = problem_of(a);
  for (uint32_t i = 0; i < p->n_items; i++) {
    sum = fs_add_most(sum, (x->start[i] + p->time[i]) >> a->time_shift);
  }
  return WEIGHT * (x->makespan >> a->time_shift) + sum / p->n_items;
}

static void copy_annealed(const fs_annealing *a, const fs_annealed *from, fs_annealed *to) {
  memcpy(to->order, from->order, items_of(a) * sizeof *to->order);
  memcpy(to->passed.start, from->passed.start, items_of(a) * sizeof *to->passed.start);
  to->passed.makespan = from->passed.makespan;
  to->cost = from->cost;
}

/* Generates the schedule of the neighbour, justified twice; false: it has none. */
static bool evaluate(fs_annealing *a) {
  fs_annealed *x = &a->other;
  fs_passes *s = &a->lives.passes;
  a->made++;
  a->lives.parts = a->parts;
  if (!fs_lives_pass(&a->lives, false, x->order, &x->passed)) {
    return false;
  }
  fs_pass_turn(s, &x->passed, x->order);
  if (!fs_lives_pass(&a->lives, true, x->order, &a->back)) {
    return false;
  }
  fs_pass_turn(s, &a->back, x->order);
  if (!fs_lives_pass(&a->lives, false, x->order, &x->passed)) {
    return false;
  }
  fs_pass_by_start(s, &x->passed, x->order);
  x->cost = cost_of(a, &x->passed);
  return true;
}

/* ---- addresses */

static void keep_best(fs_annealing *a, const fs_annealed *x, const uint64_t *address) {
  copy_annealed(a, x, &a->best);
  memcpy(a->address, address, a->lives.n_lives * sizeof *address);
  fs_shelf_keep(&a->shelf, address);
  a->in_vain = 0;
  a->step = 1;
}

static void take_placed(fs_annealing *a) {
  keep_best(a, &a->other, a->shelf.address);
  a->work = fs_max(a->work / 2, (uint64_t)LEAST_WORK);
  a->stale = a->parts < FS_LIFE_PARTS;
  a->parts += a->stale;
}

static void take_less(fs_annealing *a) {
  a->in_vain = 0;
  a->parts -= (uint32_t)fs_min(a->parts - 1, a->step);
  a->step *= 2;
  a->work = fs_min(2 * a->work, (uint64_t)MOST_WORK);
  a->stale = true;
}

/* Looks for addresses of the neighbour where it is shorter than all that has some. */
static fs_status place_shorter(fs_annealing *a) {
  if (a->other.passed.makespan >= a->best.passed.makespan) {
    return FSCHED_OK;
  }
  a->tried = true;
  a->finds++;
  bool found = fs_shelf_find(&a->shelf, &a->other.passed, ROUNDS);
  bool searches = !found && a->searches <= FIRST_SEARCHES + a->made / SEARCH_EVERY;
  if (searches) {
    a->searches++;
    FS_TRY(fs_shelf_search(&a->shelf, &a->other.passed, a->work, &found));
    a->in_vain += !found;
  }
  if (found) {
    take_placed(a);
  } else if (a->in_vain >= IN_VAIN) {
    take_less(a);
  }
  return FSCHED_OK;
}

/* The neighbour becomes the present order. */
static void accept(fs_annealing *a) {
  fs_annealed old = a->now;
  a->now = a->other;
  a->other = old;
  a->n_blocks = FS_NONE;
}

/* Evaluates the present order anew, as less of the memories may be taken, or more. */
static fs_status refresh(fs_annealing *a) {
  a->stale = false;
  memcpy(a->other.order, a->now.order, items_of(a) * sizeof *a->now.order);
  if (evaluate(a)) {
    FS_TRY(place_shorter(a));
    accept(a);
  }
  return FSCHED_OK;
}

fs_status fs_annealing_offer(fs_annealing *a, const fs_passed *known, const uint32_t *order,
                             const uint64_t *address) {
  assert(known->makespan != FS_TICK_NONE);
  if (a->any && a->best.passed.makespan <= known->makespan) {
    return FSCHED_OK;
  }
  memcpy(a->now.order, order, items_of(a) * sizeof *order);
  memcpy(a->now.passed.start, known->start, items_of(a) * sizeof *known->start);
  a->now.passed.makespan = known->makespan;
  a->now.cost = cost_of(a, known);
  a->n_blocks = FS_NONE;
  a->any = true;
  keep_best(a, &a->now, address);
  return refresh(a);
}

/* ---- blocks */

static fs_tick end_of(const fs_annealing *a, uint32_t item) {
  return a->now.passed.start[item] + problem_of(a)->time[item];
}

/* An item that ends as this one starts: a predecessor, else one at random; FS_NONE: there is none.
 */
static uint32_t find_cause(fs_annealing *a, uint32_t item, bool *edge) {
  const fs_problem *p = problem_of(a);
  fs_tick start = a->now.passed.start[item];
  uint32_t found = FS_NONE, n = 0;
  *edge = true;
  for (uint32_t e = p->pred0[item]; e < p->pred0[item + 1]; e++) {
    found = end_of(a, p->pred[e]) == start ? p->pred[e] : found;
  }
  if (found != FS_NONE) {
    return found;
  }
  *edge = false;
  for (uint32_t i = 0; i < p->n_items; i++) {
    bool ends = end_of(a, i) == start && a->position[i] < a->position[item];
    found = ends && below(a, ++n) == 0 ? i : found;
  }
  return found;
}

static void list_blocks(fs_annealing *a) {
  uint32_t n = items_of(a), item = FS_NONE;
  a->n_blocks = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = a->now.order[k];
    a->position[i] = k;
    if (end_of(a, i) == a->now.passed.makespan) {
      item = i;
    }
  }
  while (item != FS_NONE && a->now.passed.start[item] > 0) {
    bool edge;
    uint32_t cause = find_cause(a, item, &edge);
    if (cause != FS_NONE && !edge) {
      a->block[a->n_blocks++] = (fs_block){cause, item};
    }
    item = cause;
  }
}

/* ---- neighbours */

/* The item at `to`, and what of its ancestors lies behind `from`, go right behind `from`. */
static void pull_up(fs_annealing *a, uint32_t from, uint32_t to) {
  const fs_problem *p = problem_of(a);
  uint32_t *order = a->other.order, n = 0, turn = ++a->turn;
  a->seen[order[to]] = turn;
  for (uint32_t k = to; k > from; k--) {
    for (uint32_t i = p->pred0[order[k]]; a->seen[order[k]] == turn && i < p->pred0[order[k] + 1];
         i++) {
      a->seen[p->pred[i]] = turn;
    }
  }
  for (int rest = 0; rest < 2; rest++) {
    for (uint32_t k = from; k <= to; k++) {
      if ((a->seen[order[k]] != turn) == rest) {
        a->moved[n++] = order[k];
      }
    }
  }
  memcpy(order + from, a->moved, n * sizeof *order);
}

/* The item at `from`, and what of its descendants lies before `to`, go right behind `to`. */
static void push_down(fs_annealing *a, uint32_t from, uint32_t to) {
  const fs_problem *p = problem_of(a);
  uint32_t *order = a->other.order, n = 0, turn = ++a->turn;
  a->seen[order[from]] = turn;
  for (uint32_t k = from; k <= to; k++) {
    for (uint32_t i = p->succ0[order[k]]; a->seen[order[k]] == turn && i < p->succ0[order[k] + 1];
         i++) {
      a->seen[p->succ[i]] = turn;
    }
  }
  for (int moved = 0; moved < 2; moved++) {
    for (uint32_t k = from; k <= to; k++) {
      if ((a->seen[order[k]] == turn) == moved) {
        a->moved[n++] = order[k];
      }
    }
  }
  memcpy(order + from, a->moved, n * sizeof *order);
}

/* Items of a stretch of the order change sides. */
typedef struct order_move {
  bool up; /* pull_up, else push_down */
  uint32_t from, to;
} order_move;

static order_move move_at_random(fs_annealing *a) {
  uint32_t n = items_of(a), from = below(a, n - 1), far = 1 + below(a, below(a, 2) ? NEAR : FAR);
  uint32_t to = (uint32_t)fs_min(n - 1, (uint64_t)from + far);
  return (order_move){below(a, 2), from, to};
}

static order_move move_block(fs_annealing *a) {
  fs_block b = a->block[below(a, a->n_blocks)];
  uint32_t first = a->position[b.first], second = a->position[b.second], r = below(a, 10);
  if (r < 4) {
    return (order_move){true, first, second};
  }
  if (r < 7) {
    return (order_move){true, first - (uint32_t)fs_min(first, 1 + below(a, NEAR)), first};
  }
  return (order_move){false, second - (uint32_t)fs_min(second, 1 + below(a, FAR)), second};
}

/* Makes a neighbour; false: there is none for the move that was chosen. */
static bool make_neighbour(fs_annealing *a) {
  if (a->n_blocks == FS_NONE) {
    list_blocks(a);
  }
  order_move m = a->n_blocks > 0 && below(a, 2) ? move_block(a) : move_at_random(a);
  while (m.from < m.to) {
    memcpy(a->other.order, a->now.order, items_of(a) * sizeof *a->now.order);
    (m.up ? pull_up : push_down)(a, m.from, m.to);
    if (fs_lives_fit(&a->lives, a->other.order)) {
      return true;
    }
    uint32_t half = (m.to - m.from) / 2;
    m.from = m.up ? m.to - half : m.from;
    m.to = m.up ? m.to : m.from + half;
  }
  return false;
}

/* ---- cycles */

/* A cost above the present one that is accepted: exponentially distributed, -log2 of a random
 * number by its leading zeros and the bits behind them. */
static uint64_t allowed_cost(fs_annealing *a) {
  uint64_t r = fs_random_next(&a->random) | 1;
  uint64_t zeros = (uint64_t)__builtin_clzll(r);
  uint64_t bits = zeros > 55 ? 0 : (r << zeros >> 55) & 255;
  return a->temperature / 256 * (zeros * 256 + 255 - bits) / 256;
}

static fs_status begin_cycle(fs_annealing *a) {
  a->left = a->length;
  a->temperature = a->usual * 256 * WEIGHT / 2;
  a->parts = a->tried ? a->parts : (uint32_t)fs_min(FS_LIFE_PARTS, a->parts + GIVE_BACK);
  a->tried = false;
  copy_annealed(a, &a->best, &a->now);
  a->n_blocks = FS_NONE;
  return refresh(a);
}

static void end_stage(fs_annealing *a) {
  a->left = a->length;
  a->temperature -= a->temperature / 64;
  if (++a->stage == STAGES) { /* the next step begins a cycle */
    a->length *= 2;
    a->stage = 0;
    a->left = 0;
  }
}

fs_status fs_annealing_step(fs_annealing *a) {
  assert(a->any);
  if (a->left == 0) {
    FS_TRY(begin_cycle(a));
  }
  FS_TRY(a->stale ? refresh(a) : FSCHED_OK);
  uint64_t most = fs_add_most(a->now.cost, allowed_cost(a));
  if (make_neighbour(a) && evaluate(a)) {
    FS_TRY(place_shorter(a));
    if (a->other.cost <= most) {
      accept(a);
    }
  }
  if (--a->left == 0) {
    end_stage(a);
  }
  return FSCHED_OK;
}
