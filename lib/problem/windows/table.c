/* SPDX-License-Identifier: Apache-2.0 */
/* The time-table rule.  An item whose latest start is before its earliest end certainly runs
 * between the two, and holds its amounts then.  These parts add up to a profile, which may nowhere
 * exceed the capacity, and no other item may run where it would exceed it:
 *
 *        est      lst   ect      lct
 *         |--------|XXXXX|--------|        X: certain
 *
 * A residency is certain from the latest start of the item that begins it to the earliest end of
 * the items that end it; an in-place output from the earliest end of its op on.  Lahrichi 1982;
 * Beldiceanu and Carlsson 2002 for the sweep.  O(n log n + n * levels). */
#include <stdlib.h>

#include "problem/windows/private.h"

/* Events that compare equal are equal in every member. */
static int by_time(const void *a, const void *b) {
  const fs_wevent *x = a, *y = b;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  if (x->begins != y->begins) {
    return x->begins < y->begins ? -1 : 1;
  }
  return (x->amount > y->amount) - (x->amount < y->amount);
}

static void add_events(fs_windows *w, size_t *n, fs_tick begin, fs_tick end, uint64_t amount) {
  if (begin < end && amount > 0) {
    w->event[(*n)++] = (fs_wevent){begin, amount, true};
    w->event[(*n)++] = (fs_wevent){end, amount, false};
  }
}

/* Finds when residencies of a memory certainly exist. */
static void find_sure(fs_windows *w, uint32_t memory) {
  const fs_problem *p = w->p;
  fs_tick last = 0; /* a lower bound of the makespan */
  for (uint32_t i = 0; i < w->n; i++) {
    last = fs_max(last, fs_earliest_end(w, i));
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    fs_tick begin = FS_TICK_NONE, end = p->res_to_end[r] ? last : 0;
    for (uint32_t k = p->res_begin0[r]; k < p->res_begin0[r + 1]; k++) {
      begin = fs_min(begin, fs_latest_start(w, p->res_begin[k]));
    }
    for (uint32_t k = p->res_end0[r]; k < p->res_end0[r + 1]; k++) {
      end = fs_max(end, fs_earliest_end(w, p->res_end[k]));
    }
    w->sure_begin[r] = begin == FS_TICK_NONE ? 0 : begin;
    w->sure_end[r] = p->res_memory[r] == memory ? end : 0;
  }
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    uint32_t out = p->coincide_out[k];
    w->sure_begin[out] = fs_max(w->sure_begin[out], fs_earliest_end(w, p->coincide_op[k]));
  }
  w->steps += w->n + p->n_residencies;
}

static size_t collect_events(fs_windows *w, const fs_wresource *r) {
  size_t n = 0;
  if (r->memory == FS_NONE) {
    for (uint32_t k = r->first; k < r->end; k++) {
      const fs_wtask *t = &w->task.at[k];
      add_events(w, &n, fs_latest_start(w, t->item), fs_earliest_end(w, t->item), t->amount);
    }
    return n;
  }
  find_sure(w, r->memory);
  for (uint32_t i = 0; i < w->p->n_residencies; i++) {
    add_events(w, &n, w->sure_begin[i], w->sure_end[i], w->p->res_size[i]);
  }
  return n;
}

/* Makes the profile: levels of positive height, ascending.  Fails if one exceeds the capacity. */
static size_t make_levels(fs_windows *w, const fs_wresource *r) {
  size_t n_events = collect_events(w, r), n = 0;
  uint64_t height = 0;
  if (n_events > 1) {
    qsort(w->event, n_events, sizeof *w->event, by_time);
  }
  for (size_t i = 0; i < n_events; i++) {
    height += w->event[i].begins ? w->event[i].amount : (uint64_t)0 - w->event[i].amount;
    bool last = i + 1 == n_events || w->event[i + 1].time > w->event[i].time;
    if (last && height > 0) {
      w->level[n++] = (fs_wlevel){w->event[i].time, w->event[i + 1].time, height};
      w->failed = w->failed || height > r->capacity;
    }
  }
  w->steps += n_events * 4;
  return n;
}

/* The amount that the item itself holds in a level. */
static uint64_t own(const fs_windows *w, const fs_wresource *r, const fs_wtask *t,
                    const fs_wlevel *l) {
  uint32_t i = t->item;
  if (r->memory == FS_NONE) {
    bool sure = fs_latest_start(w, i) <= l->begin && l->end <= fs_earliest_end(w, i);
    return sure ? t->amount : 0;
  }
  uint64_t sum = 0;
  for (uint32_t k = w->born0[i]; k < w->born0[i + 1]; k++) {
    uint32_t x = w->born[k];
    bool sure = w->p->res_memory[x] == r->memory && w->sure_begin[x] <= l->begin &&
                l->end <= w->sure_end[x];
    sum += sure ? w->p->res_size[x] : 0;
  }
  return sum;
}

static bool too_much(const fs_windows *w, const fs_wresource *r, const fs_wtask *t,
                     const fs_wlevel *l) {
  return l->height > r->capacity - t->amount &&
         l->height - own(w, r, t, l) + t->amount > r->capacity;
}

static void push(fs_windows *w, const fs_wresource *r, const fs_wtask *t, size_t n) {
  uint32_t i = t->item;
  fs_tick time = w->p->time[i], est = w->est[i], lct = w->lct[i];
  if (time == 0 || est + time == lct) {
    return;
  }
  for (size_t k = 0; k < n && w->level[k].begin < est + time; k++) {
    if (w->level[k].end > est && too_much(w, r, t, &w->level[k])) {
      est = w->level[k].end;
    }
  }
  for (size_t k = n; k-- > 0 && w->level[k].end + time > lct;) {
    if (w->level[k].begin < lct && too_much(w, r, t, &w->level[k])) {
      lct = w->level[k].begin;
    }
  }
  w->steps += n;
  fs_windows_raise(w, i, est);
  if (!w->failed) {
    fs_windows_lower(w, i, lct);
  }
}

void fs_windows_table(fs_windows *w, const fs_wresource *r) {
  assert(r->first <= r->end && r->end <= w->task.n);
  size_t n = make_levels(w, r);
  for (uint32_t k = r->first; k < r->end && !w->failed && n > 0; k++) {
    if (w->task.at[k].amount > r->capacity) {
      w->failed = true;
    } else {
      push(w, r, &w->task.at[k], n);
    }
  }
}
