/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of windows: problem/window.c finds the items and residencies that a window needs,
 * problem/window_fill.c makes the small problem of them. */
#ifndef FS_PROBLEM_WINDOW_PRIVATE_H
#define FS_PROBLEM_WINDOW_PRIVATE_H

#include "problem/window.h"

typedef struct fs_finder {
  fs_frame *f;
  fs_window *w;
  const fs_problem *p;
  const fs_tick *start;
  uint32_t from, to, most;
  fs_tick bound, first, last, reach, shift;
  fs_tick *est, *lst;    /* per free item, from `from` on */
  fs_ids before, behind; /* positions of the fixed and of the rigid items that are needed */
  fs_ids residency;      /* residencies that are needed */
  uint64_t *taken;       /* per memory: bytes of residencies that are there all the time */
  uint32_t tied;
  bool large;
} fs_finder;

/* Requires an item. */
static inline fs_tick fs_frame_end(const fs_frame *f, uint32_t item) {
  assert(item < f->p->n_items);
  return f->answer->start[item] + f->p->time[item];
}

static inline bool fs_finder_fixed(const fs_finder *d, uint32_t item) {
  return d->f->position[item] < d->from;
}
static inline bool fs_finder_rigid(const fs_finder *d, uint32_t item) {
  return d->f->position[item] >= d->to;
}
static inline bool fs_finder_last(const fs_finder *d) { return d->to == d->p->n_items; }
static inline bool fs_finder_near(const fs_finder *d, uint32_t item) {
  return fs_finder_fixed(d, item)   ? fs_frame_end(d->f, item) > d->first
         : fs_finder_rigid(d, item) ? d->start[item] < d->reach + d->shift
                                    : true;
}

static inline bool fs_finder_counted(const fs_finder *d, uint32_t r) {
  return !fs_placement_has_addresses(d->p->graph->target.memory[d->p->res_memory[r]].placement);
}

/* Per role, the earliest start or latest end of the items in a list. */
typedef struct fs_extreme {
  fs_tick fixed, free, rigid; /* FS_TICK_NONE: no item has this role */
} fs_extreme;

/* The extremes of the items that a residency ends with, and begins with.  Requires a residency.
 * problem/window.c */
fs_extreme fs_finder_ends(const fs_finder *d, uint32_t r);
/* Requires a residency. */
fs_extreme fs_finder_begins(const fs_finder *d, uint32_t r);
/* problem/window_fill.c */
fs_status fs_finder_fill(fs_finder *d) FS_MUST_USE;

#endif
