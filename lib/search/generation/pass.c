/* SPDX-License-Identifier: Apache-2.0 */
#include "search/generation/pass.h"

#include "base/radix.h"

/* So that the number of words is a constant where it is one. */
#define FS_ALWAYS_INLINE inline __attribute__((always_inline))

enum { ASK_EVERY = 256 };

/* One direction of time. */
typedef struct direction {
  const uint32_t *before0, *before; /* CSR per item: what has to be over first */
} direction;

static direction direction_of(const fs_passes *s, bool backward) {
  const fs_problem *p = s->form->p;
  return backward ? (direction){p->succ0, p->succ} : (direction){p->pred0, p->pred};
}

fs_status fs_passes_init(fs_passes *s, const fs_packed_form *form, fs_arena *arena) {
  *s = (fs_passes){.form = form};
  size_t moments = 2 * (size_t)form->n + 2;
  FS_TRY(fs_new(arena, &s->cell, moments * (form->words + (size_t)1)));
  FS_TRY(fs_new(arena, &s->rank, form->n));
  return fs_new(arena, &s->key, 2 * (size_t)form->n);
}

fs_status fs_passed_init(const fs_packed_form *form, fs_arena *arena, fs_passed *out) {
  *out = (fs_passed){.makespan = FS_TICK_NONE};
  FS_TRY(fs_new_zero(arena, &out->start, form->n));
  return fs_new_zero(arena, &out->way, form->n);
}

/* ---- the profile */

static inline uint64_t *cell_at(const fs_passes *s, uint32_t k, uint32_t words) {
  return s->cell + (size_t)k * (words + 1);
}

static void clear_profile(fs_passes *s) {
  s->n_cells = 1;
  s->cell[0] = 0;
  memcpy(s->cell + 1, s->form->capacity, s->form->words * sizeof *s->cell);
}

static FS_ALWAYS_INLINE bool fits(const uint64_t *cell, const uint64_t *need, const uint64_t *guard,
                                  uint32_t words) {
  uint64_t missing = 0;
  for (uint32_t w = 0; w < words; w++) {
    missing |= ~(cell[w + 1] - need[w]) & guard[w];
  }
  return missing == 0;
}

/* The last moment that is not behind t. */
static FS_ALWAYS_INLINE uint32_t find_cell(const fs_passes *s, fs_tick t, uint32_t words) {
  uint32_t low = 0, high = s->n_cells;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    bool later = *cell_at(s, middle, words) > t;
    high = later ? middle : high;
    low = later ? low : middle;
  }
  return low;
}

/* The earliest start from t on, and in *at the moment that it lies behind, in *last the one that
 * the end lies behind. */
static FS_ALWAYS_INLINE fs_tick find_room(const fs_passes *s, const uint64_t *need, fs_tick t,
                                          fs_tick time, uint32_t words, uint32_t *at,
                                          uint32_t *last) {
  const uint64_t *guard = s->form->guard;
  uint32_t k = find_cell(s, t, words);
  *at = k;
  for (;; k++) {
    const uint64_t *cell = cell_at(s, k, words);
    bool ends = k + 1 == s->n_cells;
    if (!fits(cell, need, guard, words)) {
      assert(!ends);
      t = cell[words + 1];
      *at = k + 1;
    } else if (ends || cell[words + 1] >= t + time) {
      *last = k;
      return t;
    }
  }
}

/* Puts a moment at t behind moment k, unless it is there. */
static FS_ALWAYS_INLINE bool split_cell(fs_passes *s, uint32_t k, fs_tick t, uint32_t words) {
  uint64_t *cell = cell_at(s, k, words);
  if (cell[0] == t) {
    return false;
  }
  size_t behind = (size_t)(s->n_cells - k) * (words + 1);
  memmove(cell + words + 1, cell, behind * sizeof *cell);
  cell[words + 1] = t;
  s->n_cells++;
  return true;
}

static FS_ALWAYS_INLINE void take_room(fs_passes *s, const uint64_t *need, fs_tick start,
                                       fs_tick end, uint32_t at, uint32_t last, uint32_t words) {
  bool ends_there = last + 1 < s->n_cells && *cell_at(s, last + 1, words) == end;
  if (!ends_there) {
    (void)split_cell(s, last, end, words);
  }
  if (split_cell(s, at, start, words)) {
    at++;
    last++;
  }
  for (uint32_t k = at; k <= last; k++) {
    uint64_t *cell = cell_at(s, k, words);
    for (uint32_t w = 0; w < words; w++) {
      cell[w + 1] -= need[w];
    }
  }
}

/* ---- passes */

/* Do two items have a queue in common?  Each class has one queue where this matters. */
static bool share_queue(const fs_packed_form *f, uint32_t item, uint32_t way, uint32_t other,
                        uint32_t other_way) {
  const fs_problem *p = f->p;
  for (uint32_t i = p->choice0[item]; i < p->choice0[item + 1]; i++) {
    bool takes = f->way_class[way] == FS_NONE || f->way_class[way] == p->choice[i];
    for (uint32_t k = p->choice0[other]; takes && k < p->choice0[other + 1]; k++) {
      bool has = f->way_class[other_way] == FS_NONE || f->way_class[other_way] == p->choice[k];
      if (has && p->choice[i] == p->choice[k]) {
        return true;
      }
    }
  }
  return false;
}

/* When the item could start in this way, if it had all room. */
static fs_tick ready_at(const fs_passes *s, direction d, uint32_t item, uint32_t way,
                        const fs_passed *out) {
  const fs_problem *p = s->form->p;
  uint32_t n_ops = p->graph->n_ops;
  fs_tick ready = 0;
  for (uint32_t e = d.before0[item]; e < d.before0[item + 1]; e++) {
    uint32_t b = d.before[e];
    bool waits = p->wait != 0 && item < n_ops && b < n_ops &&
                 !share_queue(s->form, item, way, b, out->way[b]);
    ready = fs_max(ready, out->start[b] + p->time[b] + (waits ? p->wait : 0));
  }
  return ready;
}

static FS_ALWAYS_INLINE fs_tick ready_all(const fs_passes *s, direction d, uint32_t item,
                                          const fs_passed *out) {
  const fs_tick *time = s->form->p->time;
  fs_tick ready = 0;
  for (uint32_t e = d.before0[item]; e < d.before0[item + 1]; e++) {
    ready = fs_max(ready, out->start[d.before[e]] + time[d.before[e]]);
  }
  return ready;
}

/* Places an item; returns its end. */
static FS_ALWAYS_INLINE fs_tick place(fs_passes *s, direction d, uint32_t item, uint32_t words,
                                      fs_passed *out) {
  const fs_packed_form *f = s->form;
  fs_tick time = f->p->time[item], best = FS_TICK_NONE;
  uint32_t at = 0, last = 0, best_way = f->way0[item];
  bool waits = f->p->wait != 0;
  fs_tick ready = waits ? 0 : ready_all(s, d, item, out);
  for (uint32_t way = f->way0[item]; way < f->way0[item + 1]; way++) {
    uint32_t a, l;
    fs_tick from = waits ? ready_at(s, d, item, way, out) : ready;
    fs_tick t = find_room(s, f->need + (size_t)way * words, from, time, words, &a, &l);
    if (t < best) {
      best = t;
      best_way = way;
      at = a;
      last = l;
    }
  }
  out->start[item] = best;
  out->way[item] = best_way;
  if (time > 0) {
    take_room(s, f->need + (size_t)best_way * words, best, best + time, at, last, words);
  }
  return best + time;
}

static FS_ALWAYS_INLINE void run(fs_passes *s, direction d, const uint32_t *order, fs_tick limit,
                                 uint32_t words, fs_passed *out) {
  fs_tick makespan = 0;
  clear_profile(s);
  s->passes++;
  uint32_t k = 0;
  for (; k < s->form->n && makespan <= limit; k++) {
    if (k % ASK_EVERY == ASK_EVERY - 1 && s->stop != NULL && s->stop(s->user)) {
      break;
    }
    makespan = fs_max(makespan, place(s, d, order[k], words, out));
  }
  out->makespan = makespan <= limit && k == s->form->n ? makespan : FS_TICK_NONE;
}

/* One word is the usual case, which the compiler makes a loop of its own for. */
static void run_words(fs_passes *s, direction d, const uint32_t *order, fs_tick limit,
                      fs_passed *out) {
  if (s->form->words == 1) {
    run(s, d, order, limit, 1, out);
  } else {
    run(s, d, order, limit, s->form->words, out);
  }
}

void fs_pass_forward(fs_passes *s, const uint32_t *order, fs_tick limit, fs_passed *out) {
  assert(order != NULL || s->form->n == 0);
  run_words(s, direction_of(s, false), order, limit, out);
}

void fs_pass_backward(fs_passes *s, const uint32_t *order, fs_tick limit, fs_passed *out) {
  assert(order != NULL || s->form->n == 0);
  run_words(s, direction_of(s, true), order, limit, out);
}

/* ---- parts of passes */

void fs_pass_begin(fs_passes *s) {
  clear_profile(s);
  s->passes++;
}

fs_tick fs_pass_ready(const fs_passes *s, bool backward, uint32_t item, const fs_passed *out) {
  assert(s->form->p->wait == 0);
  return ready_all(s, direction_of(s, backward), item, out);
}

fs_tick fs_pass_find(const fs_passes *s, uint32_t way, fs_tick t, fs_tick time) {
  uint32_t words = s->form->words, at, last;
  return find_room(s, s->form->need + (size_t)way * words, t, time, words, &at, &last);
}

void fs_pass_take(fs_passes *s, uint32_t way, fs_tick start, fs_tick time) {
  uint32_t words = s->form->words, at, last;
  const uint64_t *need = s->form->need + (size_t)way * words;
  if (time > 0) {
    fs_tick t = find_room(s, need, start, time, words, &at, &last);
    assert(t == start);
    take_room(s, need, t, t + time, at, last, words);
  }
}

/* ---- orders */

/* Sorts the order by keys of at most 32 bits, made of times; what has the same stays in order. */
static void sort_order(fs_passes *s, uint32_t *order) {
  uint32_t n = s->form->n;
  memcpy(s->rank, order, n * sizeof *order);
  fs_radix_sort_block(s->key, n);
  for (uint32_t k = 0; k < n; k++) {
    order[k] = s->rank[(uint32_t)s->key[k]];
  }
}

/* Times that are too long for a key are told apart by their upper bits alone: as what has the same
 * key stays in order, the order is a linear extension all the same. */
static uint32_t lost_bits(fs_tick most) {
  return most >> 32 == 0 ? 0 : 32 - (uint32_t)__builtin_clzll(most);
}

void fs_pass_by_start(fs_passes *s, const fs_passed *from, uint32_t *order) {
  assert(from->makespan != FS_TICK_NONE);
  uint32_t shift = lost_bits(from->makespan);
  for (uint32_t k = 0; k < s->form->n; k++) {
    s->key[k] = (from->start[order[k]] >> shift) << 32 | k;
  }
  sort_order(s, order);
}

void fs_pass_turn(fs_passes *s, const fs_passed *from, uint32_t *order) {
  assert(from->makespan != FS_TICK_NONE);
  uint32_t n = s->form->n, shift = lost_bits(from->makespan);
  for (uint32_t k = 0; k < n / 2; k++) {
    uint32_t other = order[n - 1 - k];
    order[n - 1 - k] = order[k];
    order[k] = other;
  }
  for (uint32_t k = 0; k < n; k++) {
    fs_tick end = from->start[order[k]] + s->form->p->time[order[k]];
    s->key[k] = ((from->makespan - end) >> shift) << 32 | k;
  }
  sort_order(s, order);
}
