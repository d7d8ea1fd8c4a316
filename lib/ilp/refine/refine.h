/* SPDX-License-Identifier: Apache-2.0 */
/* Refinement of a schedule by models and a solver. */
#ifndef FS_ILP_REFINE_H
#define FS_ILP_REFINE_H

#include "model/schedule.h"

typedef struct fs_refine_options {
  fsched_refine refine;
  const char *solver;                 /* command */
  uint64_t time_limit_ns, node_limit; /* 0: none */
  const volatile int *stop;
  const char *solution, *solution_name; /* text of a solution to take instead of solving; or NULL */
  size_t solution_length;
  fsched_refine_fn news;
  void *user;
} fs_refine_options;

/* *schedule (from listsched; NULL when it found none) is replaced when a better one is found.
 * `bound` is a lower bound of the makespan; the schedule's lower_bound, search_nodes and relaxation
 * are set.  A fault of the solver is a warning (`refine`).  Requires a command of a solver, or a
 * solution.
 * Errors: for a solution, FSCHED_BAD_INPUT, FSCHED_WRONG, or FSCHED_USAGE where there is no model;
 * FSCHED_SYSTEM. */
fs_status fs_refine_run(fsched_context *ctx, const fsched_graph *g, const fs_refine_options *o,
                        fs_tick bound, fs_schedule **schedule) FS_MUST_USE;
/* The model that fs_refine_run begins with, as LP or MPS.
 * Errors: FSCHED_INFEASIBLE (reported, no-model) when all models are too large; FSCHED_SYSTEM. */
fs_status fs_refine_model(fsched_context *ctx, const fsched_graph *g, const fs_schedule *s,
                          fs_tick bound, fsched_refine refine, bool mps, char **text,
                          size_t *length) FS_MUST_USE;

#endif
