/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the list scheduler under unlike policies and orders, of which the best is kept.
 *
 * Determinism: which trials are made, and in which order, depends on graph, seed and rule of
 * eviction alone; the effort only says how many.  So more effort never gives a worse schedule. */
#ifndef FS_TRIALS_H
#define FS_TRIALS_H

#include "listsched/engine.h"

typedef struct fs_trials {
  fsched_context *ctx;
  const fsched_graph *g;
  const fs_listsched_options *options;
  fs_schedule *schedule; /* the best one, NULL if none was found; the caller's */
  uint64_t runs, steps;  /* so far */
} fs_trials;

/* Requires a frozen graph, and no schedule yet.  Errors: FSCHED_SYSTEM. */
fs_status fs_trials_run(fs_trials *t) FS_MUST_USE;

/* The schedule of a run that has ended, listsched.c.  Requires a run in which all ops are done. */
fs_status fs_engine_schedule(fsched_context *ctx, const fs_engine *e, fs_tick makespan,
                             fs_schedule **out) FS_MUST_USE;

#endif
