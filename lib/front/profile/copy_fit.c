/* SPDX-License-Identifier: Apache-2.0 */
#include "front/profile/copy_fit.h"

#include <stdlib.h>

#include "fsched/graph.h"

/* Compares points; points that compare equal are equal in every member. */
static int compare_points(const void *a, const void *b) {
  const fs_copy_point *x = a, *y = b;
  return x->size != y->size ? (x->size > y->size) - (x->size < y->size)
                            : (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static int compare_i64(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t median(int64_t *value, size_t n) {
  qsort(value, n, sizeof *value, compare_i64);
  return value[(n - 1) / 2];
}

/* Sorts the points and merges those of one size into one point, with the median of their times. */
static size_t merge_sizes(fs_copy_point *p, size_t n) {
  size_t sizes = 0;
  qsort(p, n, sizeof *p, compare_points);
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && p[end].size == p[i].size; end++) {
    }
    p[sizes++] = p[i + (end - i - 1) / 2];
  }
  return sizes;
}

/* The middle of some points: the medians of their sizes and of their times. */
static fs_copy_point middle(const fs_copy_point *p, size_t n, int64_t *scratch) {
  for (size_t i = 0; i < n; i++) {
    scratch[i] = (int64_t)p[i].ticks;
  }
  return (fs_copy_point){p[(n - 1) / 2].size, (fs_tick)median(scratch, n)};
}

/* The best fixed cost for a rate, and the error that remains. */
static uint64_t try_rate(const fs_copy_point *p, size_t n, uint64_t rate, int64_t *scratch,
                         fs_copy_cost *cost) {
  *cost = (fs_copy_cost){0, rate};
  for (size_t i = 0; i < n; i++) {
    scratch[i] = (int64_t)p[i].ticks - (int64_t)fs_copy_cost_of(*cost, p[i].size);
  }
  int64_t rest = median(scratch, n);
  cost->fixed = rest < 0 ? 0 : (uint64_t)rest;
  uint64_t error = 0; /* below 2^49 per point */
  for (size_t i = 0; i < n && error >> 62 == 0; i++) {
    fs_tick fitted = fs_copy_cost_of(*cost, p[i].size);
    error += fitted > p[i].ticks ? fitted - p[i].ticks : p[i].ticks - fitted;
  }
  return error;
}

typedef struct fit {
  const fs_copy_point *point;
  size_t n;
  int64_t *scratch;
  uint64_t least; /* error of `best` */
  fs_copy_cost best;
} fit;

/* Tries a rate and says whether it is the best so far. */
static bool consider(fit *f, uint64_t rate) {
  fs_copy_cost tried;
  uint64_t error = try_rate(f->point, f->n, fs_min(rate, FSCHED_MAX_TIME), f->scratch, &tried);
  bool better = error < f->least;
  if (better) {
    f->least = error;
    f->best = tried;
  }
  return better;
}

/* Searches for the best rate by doubling and halving, and then by ever smaller steps. */
static void search(fit *f) {
  enum { MOVES = 4 }; /* per step size; 2 suffice where the error has one valley */
  while (f->best.rate < FSCHED_MAX_TIME && consider(f, 2 * f->best.rate)) {
  }
  while (f->best.rate > 1 && consider(f, f->best.rate / 2)) {
  }
  for (uint64_t step = f->best.rate / 2; step > 0; step /= 2) {
    for (int moves = 0; moves < MOVES; moves++) {
      uint64_t rate = f->best.rate;
      if (!consider(f, rate + step) && !consider(f, rate > step ? rate - step : 1)) {
        break;
      }
    }
  }
}

static void fit_line(const fs_copy_point *p, size_t n, int64_t *scratch, fs_copy_cost *cost) {
  fit f = {.point = p, .n = n, .scratch = scratch, .least = UINT64_MAX};
  size_t third = n / 3 == 0 ? 1 : n / 3;
  fs_copy_point low = middle(p, third, scratch);
  fs_copy_point high = middle(p + n - third, third, scratch);
  fs_tick more = high.ticks <= low.ticks ? 1 : high.ticks - low.ticks;
  (void)consider(&f, fs_max(1, (high.size - low.size) / more));
  (void)consider(&f, fs_max(1, high.size / fs_max(1, high.ticks))); /* with no fixed cost */
  search(&f);
  fs_copy_cost constant;
  *cost = try_rate(p, n, 0, scratch, &constant) <= f.least ? constant : f.best;
}

/* Scales the planned cost to meet a point, keeping the rate's share of the cost as far as
 * possible. */
static void scale(fs_copy_point at, fs_copy_cost *cost) {
  fs_tick planned = fs_copy_cost_of(*cost, at.size), measured = at.ticks;
  if (cost->rate == 0 || at.size == 0) {
    cost->fixed = measured;
    return;
  }
  if (measured == 0) {
    *cost = (fs_copy_cost){0, 0};
    return;
  }
  uint64_t a = planned, b = measured;
  for (; (a | b) >> 23 != 0; a >>= 1, b >>= 1) { /* so that the product below fits */
  }
  uint64_t rate = cost->rate * fs_max(a, 1) / fs_max(b, 1);
  rate = fs_max(1, fs_min(rate, FSCHED_MAX_TIME));
  if (fs_ceil_div(at.size, rate) > measured) {
    rate = fs_ceil_div(at.size, measured);
  }
  if (rate > FSCHED_MAX_TIME) {
    *cost = (fs_copy_cost){measured, 0};
    return;
  }
  *cost = (fs_copy_cost){measured - fs_ceil_div(at.size, rate), rate};
}

fs_status fs_copy_fit(fs_arena *scratch, fs_copy_point *point, size_t n, fs_copy_cost *cost) {
  assert(n > 0 && point[0].size <= FSCHED_MAX_SIZE && point[0].ticks <= FSCHED_MAX_TIME);
  int64_t *values;
  fs_arena_mark mark = fs_arena_set_mark(scratch);
  FS_TRY(fs_new(scratch, &values, n));
  size_t sizes = merge_sizes(point, n);
  if (sizes > 1 && point[sizes - 1].size >= 2 * point[0].size) {
    fit_line(point, sizes, values, cost);
  } else {
    scale(point[(sizes - 1) / 2], cost);
  }
  fs_arena_reset(scratch, mark);
  return FSCHED_OK;
}
