/* SPDX-License-Identifier: Apache-2.0 */
/* The time-indexed model of a problem: x_i_t = 1 when item i starts at t (0-based, as everywhere).
 *
 * Source: Pritsker, Watters and Wolfe, Multiproject Scheduling with Limited Resources (1969), and
 * Kundeti, An ILP for Generating Optimal Schedules with Resource Constraints; time/model.c lists
 * the published formulas that were corrected, and how. */
#ifndef FS_ILP_TIME_MODEL_H
#define FS_ILP_TIME_MODEL_H

#include "ilp/model/model.h"
#include "ilp/problem/problem.h"

/* How contiguous memories are dealt with. */
typedef enum fs_time_places {
  FS_TIME_AMOUNTS,   /* by amounts: a relaxation, addresses are to be found afterwards */
  FS_TIME_POSITIONS, /* x_i_t_p and b_i_t_p: exact, for scratch in small memories */
  FS_TIME_PAIRS,     /* amounts, and an order of addresses for each pair that may meet: exact */
  FS_TIME_GIVEN      /* addresses stay as they are given: residencies that overlap exclude */
} fs_time_places;

typedef struct fs_time_options {
  fs_time_places places;
  bool disaggregated;      /* precedence rows per time instead of one per edge */
  const uint64_t *address; /* per residency, for FS_TIME_GIVEN */
  /* Items that move together: all start at given[i] - shift for one shift in 0..max_shift that is
   * to be as large as possible; FS_TICK_NONE: not one of them.  NULL: none.  The makespan is then
   * that of `given` less the shift. */
  const fs_tick *rigid;
  fs_tick max_shift;
  /* Per item, the class of those that are fixed or rigid, FS_NONE where it is open; NULL: all are
   * open, and each that has several gets variables. */
  const uint32_t *choice;
  size_t max_terms; /* FSCHED_OK and *out NULL when the model would be larger; 0: no limit */
} fs_time_options;

typedef struct fs_time_model fs_time_model;

/* Minimises the makespan, which is at most p->horizon; uses p's heads and tails as windows.
 * Requires a problem that is complete.  O(items * window * choices + rows); the objective is the
 * makespan.  *out NULL: there is none, for max_terms or a limit (limit.h) was reached; nothing is
 * decided then. */
fs_status fs_time_model_build(const fs_problem *p, const fs_time_options *o,
                              fs_time_model **out) FS_MUST_USE;
const fs_model *fs_time_model_of(const fs_time_model *t);
void fs_time_model_destroy(fs_time_model *t);
/* The point that an answer is; *fits: false when it is outside of the windows, or has no addresses
 * where the model has them.  Requires an answer of the problem. */
fs_status fs_time_model_point(const fs_time_model *t, const fs_answer *a, int64_t *value,
                              bool *fits) FS_MUST_USE;
/* The answer that a point is; in the problem's arena, address NULL where the model has none. */
fs_status fs_time_model_answer(const fs_time_model *t, fs_problem *p, const int64_t *value,
                               fs_answer **out) FS_MUST_USE;

#endif
