/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts within a bound on physical barriers. */
#ifndef FS_BARRIER_FIT_H
#define FS_BARRIER_FIT_H

#include "barrier/draft.h"

/* What to do for an item that finds no free barrier. */
typedef enum fs_fit_when {
  FS_FIT_STUCK,  /* wait as long as something else goes on */
  FS_FIT_FREE,   /* add orders that delay nothing by themselves, else wait */
  FS_FIT_WORTH,  /* add orders that are expected to delay less than waiting */
  FS_FIT_ALWAYS, /* add the orders that delay least */
  FS_FIT_WHENS
} fs_fit_when;

typedef struct fs_fit_policy {
  fs_fit_when when;
  bool spare; /* the last free barrier is left to an item that absorbs another barrier as it starts
               */
  uint32_t slack; /* quarters of the way from the planned start to the latest one that keeps the
                     makespan: an item that starts later than that is late */
  bool critical;  /* the ready item with the earliest latest start goes first */
  uint64_t seed;  /* not 0: shakes the order of items that are ready */
} fs_fit_policy;

typedef struct fs_fit_failure {
  uint32_t item;
  uint64_t need;
  uint32_t held;
} fs_fit_failure;

/* Latest starts that keep the planned makespan, per item, in `latest`.  Requires the links of
 * `o`. */
void fs_fit_latest(const fs_order *o, const fs_links *l, fs_tick *latest);
/* Simulates the machine within the bound by one policy, and makes a draft of that run, which lives
 * in `arena`.  Requires a bound, and needs of items that are all within it.
 * Errors: FSCHED_INFEASIBLE, with *failure: an item that gets no barrier; FSCHED_SYSTEM. */
fs_status fs_fit_run(fsched_context *ctx, fs_arena *arena, const fs_order *o, const fs_links *l,
                     const fs_tick *latest, fs_fit_policy policy, fs_barrier_draft *d,
                     fs_fit_failure *failure) FS_MUST_USE;

#endif
