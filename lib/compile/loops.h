/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of the loops that were unrolled: how often an iteration can begin, for the statistics, and
 * an order of all ops that the list scheduler tries. */
#ifndef FS_COMPILE_LOOPS_H
#define FS_COMPILE_LOOPS_H

#include "model/schedule.h"

typedef struct fs_loop_plans {
  uint32_t n; /* loops without loops inside, with two trips or more */
  fs_loop_report *report;
  uint32_t *position; /* per op: its place in an order in which iterations overlap as planned; NULL:
                       * no loop has a plan */
} fs_loop_plans;

/* Plans every loop of a graph.  `effort`: as in the options of compilation; each level doubles the
 * steps of a search, which decides on up to about 30 ops; many loops share them.  `held_back`: the
 * kind of sync counts commands by epochs.  All is in `arena`.  Errors: FSCHED_SYSTEM. */
fs_status fs_loops_plan(fsched_context *ctx, fs_arena *arena, const fsched_graph *g,
                        uint32_t effort, bool held_back, fs_loop_plans *out) FS_MUST_USE;

/* Gives the reports to a schedule of the graph, with how often iterations begin in it.  Requires
 * plans of its graph.  Errors: FSCHED_SYSTEM. */
fs_status fs_loops_keep(fsched_context *ctx, const fs_loop_plans *plans,
                        fs_schedule *s) FS_MUST_USE;

#endif
