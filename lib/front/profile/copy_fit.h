/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of copies, fixed + ceil(size / rate), fitted to measured copies.
 *
 * The fit is the line with the least sum of absolute errors that a local search over the rates
 * finds; single outliers do not move it.  The fixed cost of a rate is the median of the times minus
 * the rate's shares, and at least 0.  The search goes on from the better of two rates: that of a
 * resistant line (Tukey, Exploratory Data Analysis, 1977), through the medians of the smallest and
 * of the largest third of the sizes, and that of a line without a fixed cost.  A constant cost that
 * is as good wins.  Sizes that are too much alike (the largest less than twice the smallest) do not
 * determine a rate: then the planned cost is scaled to meet the middle one of them.
 * All computations are in integers, so the result is the same on every machine.  O(n log n log
 * rate). */
#ifndef FS_COPY_FIT_H
#define FS_COPY_FIT_H

#include "base/mem.h"

typedef struct fs_copy_point {
  uint64_t size; /* bytes, at most FSCHED_MAX_SIZE */
  fs_tick ticks; /* at most FSCHED_MAX_TIME */
} fs_copy_point;

typedef struct fs_copy_cost {
  uint64_t fixed, rate; /* ticks; bytes per tick, 0: no cost per byte */
} fs_copy_cost;

static inline fs_tick fs_copy_cost_of(fs_copy_cost c, uint64_t size) {
  return c.fixed + (c.rate == 0 ? 0 : fs_ceil_div(size, c.rate));
}

/* Replaces the planned cost in *cost by the fitted one.  Sorts and overwrites the points.  Requires
 * n > 0, and sizes and times within their bounds.  Errors: FSCHED_SYSTEM. */
fs_status fs_copy_fit(fs_arena *scratch, fs_copy_point *point, size_t n,
                      fs_copy_cost *cost) FS_MUST_USE;

#endif
