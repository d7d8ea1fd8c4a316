/* SPDX-License-Identifier: Apache-2.0 */
/* Constraint propagation over windows of starts; see windows.c for the list of the rules. */
#ifndef FS_PROBLEM_WINDOWS_PRIVATE_H
#define FS_PROBLEM_WINDOWS_PRIVATE_H

#include "base/limit.h"
#include "problem/problem.h"

/* An item holds `amount` of a resource while it runs.  Resources are queues of some classes,
 * amounts, memories, and sets of items of which no two can run at once (capacity 1). */
typedef struct fs_wtask {
  uint32_t item;
  uint64_t amount;
} fs_wtask;

typedef struct fs_wresource {
  uint64_t capacity;
  uint32_t first, end; /* its tasks are [first, end) */
  uint32_t memory;     /* the memory whose residencies hold the resource, too; or FS_NONE */
  bool clique;
} fs_wresource;

typedef struct fs_windows {
  fs_problem *p;
  fs_arena arena;
  uint32_t n;
  fs_tick horizon;
  fs_tick *est, *lct; /* per item: earliest start, latest end */
  FS_VEC(fs_wresource) resource;
  FS_VEC(fs_wtask) task;
  FS_VEC(uint32_t) pair; /* pairs of items that cannot run at once and whose order is open */
  uint64_t *reach;       /* per item: a bit per item that comes after it; NULL for many items */
  uint32_t row;          /* words per row */
  bool failed, changed;
  uint64_t steps, limit; /* work done, and its limit, past which rules are left out */
  /* Per item: the residencies that are counted as its own while it runs. */
  uint32_t *born0, *born;
  /* Room for the rules. */
  struct fs_wevent *event;
  struct fs_wlevel *level;
  fs_tick *sure_begin, *sure_end; /* per residency: it lives then whatever the starts */
  fs_tick *from, *to;             /* ends of intervals */
  fs_tick *before, *after;        /* windows to go back to */
} fs_windows;

typedef struct fs_wevent {
  fs_tick time;
  uint64_t amount;
  bool begins;
} fs_wevent;
typedef struct fs_wlevel {
  fs_tick begin, end;
  uint64_t height;
} fs_wlevel;

/* Fills everything but the windows.  `relaxed`: memories that are tight are left out.  Requires a
 * problem that is complete.  windows/resources.c */
fs_status fs_windows_init(fs_windows *w, fs_problem *p, bool relaxed) FS_MUST_USE;
void fs_windows_release(fs_windows *w);
/* Applies the rules up to a fixpoint; false: there is no schedule within the windows.  `strong`:
 * with the energy rule. */
bool fs_windows_propagate(fs_windows *w, bool strong);
/* Makes one pass of a rule; sets failed and changed.  Requires a resource of `w`. windows/table.c,
 * windows/energy.c */
void fs_windows_table(fs_windows *w, const fs_wresource *r);
/* Requires a resource of `w`. */
void fs_windows_energy(fs_windows *w, const fs_wresource *r);
/* Tries the ends of windows; false: there is no schedule within the windows.  windows/shave.c */
bool fs_windows_shave(fs_windows *w);

static inline bool fs_windows_tired(const fs_windows *w) {
  return w->steps > w->limit || fs_problem_stopped(w->p);
}
/* Requires two items. */
static inline bool fs_windows_after(const fs_windows *w, uint32_t a, uint32_t b) {
  assert(a < w->n && b < w->n);
  return w->reach != NULL && (w->reach[(size_t)a * w->row + b / 64] >> b % 64 & 1) != 0;
}
/* Requires an item. */
static inline fs_tick fs_latest_start(const fs_windows *w, uint32_t i) {
  assert(i < w->n);
  return w->lct[i] - w->p->time[i];
}
/* Requires an item. */
static inline fs_tick fs_earliest_end(const fs_windows *w, uint32_t i) {
  assert(i < w->n);
  return w->est[i] + w->p->time[i];
}
/* Notes that the item starts at t or later.  Requires an item. */
static inline void fs_windows_raise(fs_windows *w, uint32_t i, fs_tick t) {
  assert(i < w->n);
  if (t > w->est[i]) {
    w->failed = w->failed || t > fs_latest_start(w, i);
    w->est[i] = w->failed ? w->est[i] : t;
    w->changed = true;
  }
}
/* Notes that the item ends at t or earlier.  Requires an item. */
static inline void fs_windows_lower(fs_windows *w, uint32_t i, fs_tick t) {
  assert(i < w->n);
  if (t < w->lct[i]) {
    w->failed = w->failed || t < fs_earliest_end(w, i);
    w->lct[i] = w->failed ? w->lct[i] : t;
    w->changed = true;
  }
}

#endif
