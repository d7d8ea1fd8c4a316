/* SPDX-License-Identifier: Apache-2.0 */
/* Energetic reasoning (Erschler and Lopez 1990; Baptiste, Le Pape and Nuijten 1999).  In an
 * interval [t1, t2) an item takes at least the energy that it has there when it is shifted as far
 * as possible to the left or to the right.  The sum may not exceed what the interval offers.  Where
 * it would exceed that with one item shifted to the left, that item must end later:
 *
 *        t1                t2
 *         |  [XXXXXXX]      |        shifted to the left: all of it inside
 *         |           [XXXXX|XX]     shifted to the right: less
 *
 * Intervals begin at earliest or latest starts and end at latest or earliest ends.  O(n^3). */
#include <stdlib.h>

#include "base/radix.h"
#include "problem/windows/private.h"

static uint32_t sort_unique(fs_tick *at, uint32_t n) {
  uint32_t kept = 0;
  if (n > 1) {
    qsort(at, n, sizeof *at, fs_compare_u64);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (i == 0 || at[i] != at[i - 1]) {
      at[kept++] = at[i];
    }
  }
  return kept;
}

static fs_tick less(fs_tick a, fs_tick b) { return a > b ? a - b : 0; }

/* Ticks of an item inside of [t1, t2): the least, and those when it is shifted as far as possible
 * to the left or right (then not cut off at the other end). */
typedef struct inside {
  fs_tick least, left, right;
} inside;

static inside inside_of(const fs_windows *w, uint32_t i, fs_tick t1, fs_tick t2) {
  fs_tick time = w->p->time[i];
  inside x;
  x.left = less(time, less(t1, w->est[i]));
  x.right = less(time, less(w->lct[i], t2));
  x.least = fs_min(t2 - t1, fs_min(x.left, x.right));
  return x;
}

static void adjust(fs_windows *w, const fs_wresource *r, fs_tick t1, fs_tick t2, uint64_t sum) {
  uint64_t offer = r->capacity * (t2 - t1);
  for (uint32_t k = r->first; k < r->end && !w->failed; k++) {
    uint32_t i = w->task.at[k].item;
    uint64_t c = w->task.at[k].amount;
    inside x = inside_of(w, i, t1, t2);
    uint64_t others = sum - c * x.least;
    fs_tick time = w->p->time[i];
    if (others + c * fs_min(t2 - t1, x.left) > offer) {
      fs_tick end = t2 + fs_ceil_div(others + c * x.left - offer, c);
      fs_windows_raise(w, i, less(end, time));
      if (w->failed) {
        return;
      }
    }
    if (others + c * fs_min(t2 - t1, x.right) > offer) {
      fs_tick over = fs_ceil_div(others + c * x.right - offer, c);
      if (over > t1) {
        w->failed = true;
        return;
      }
      fs_windows_lower(w, i, t1 - over + time);
    }
  }
}

static void interval(fs_windows *w, const fs_wresource *r, fs_tick t1, fs_tick t2) {
  uint64_t sum = 0, largest = 0, offer = r->capacity * (t2 - t1);
  for (uint32_t k = r->first; k < r->end; k++) {
    inside x = inside_of(w, w->task.at[k].item, t1, t2);
    uint64_t c = w->task.at[k].amount;
    sum += c * x.least;
    largest = fs_max(largest, c * (fs_min(t2 - t1, fs_max(x.left, x.right)) - x.least));
  }
  if (sum > offer) {
    w->failed = true;
  } else if (sum + largest > offer) {
    adjust(w, r, t1, t2, sum);
  }
}

void fs_windows_energy(fs_windows *w, const fs_wresource *r) {
  assert(r->first <= r->end && r->end <= w->task.n);
  uint32_t n = r->end - r->first, n_from = 0, n_to = 0;
  if (n > fs_limits_of(w->p->ctx)->energy_tasks ||
      r->capacity > ((uint64_t)1 << 62) / (w->horizon + 1) / (n + 1)) {
    return;
  }
  for (uint32_t k = r->first; k < r->end; k++) {
    uint32_t i = w->task.at[k].item;
    w->from[n_from++] = w->est[i];
    w->from[n_from++] = fs_latest_start(w, i);
    w->to[n_to++] = w->lct[i];
    w->to[n_to++] = fs_earliest_end(w, i);
  }
  n_from = sort_unique(w->from, n_from);
  n_to = sort_unique(w->to, n_to);
  for (uint32_t a = 0; a < n_from && !w->failed; a++) {
    for (uint32_t b = n_to; b-- > 0 && w->to[b] > w->from[a] && !w->failed;) {
      interval(w, r, w->from[a], w->to[b]);
    }
    w->steps += (uint64_t)n_to * n;
    if (fs_windows_tired(w)) {
      return;
    }
  }
}
