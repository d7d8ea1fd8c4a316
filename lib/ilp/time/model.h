/* SPDX-License-Identifier: Apache-2.0 */
/* The time-indexed model of a problem: x_i_t = 1 when item i starts at t (0-based, as everywhere).
 *
 * Source: Pritsker, Watters and Wolfe, Multiproject Scheduling with Limited Resources (1969), and
 * Kundeti, An ILP for Generating Optimal Schedules with Resource Constraints; time/model.c lists
 * the published formulas that were corrected, and how. */
#ifndef FS_ILP_TIME_MODEL_H
#define FS_ILP_TIME_MODEL_H

#include "ilp/model/model.h"
#include "problem/problem.h"

/* How contiguous memories are modelled. */
typedef enum fs_time_places {
  FS_TIME_AMOUNTS,   /* as amounts: a relaxation; addresses have to be found afterwards */
  FS_TIME_POSITIONS, /* x_i_t_p and b_i_t_p: exact, for scratch in small memories */
  FS_TIME_PAIRS,     /* amounts, and an order of addresses for each pair that may meet: exact */
  FS_TIME_GIVEN /* addresses are given: residencies that share some exclude each other in time */
} fs_time_places;

typedef struct fs_time_options {
  fs_time_places places;
  bool disaggregated;      /* a precedence row per edge and time instead of one per edge */
  const uint64_t *address; /* per residency: its address, for FS_TIME_GIVEN */
  /* Items that move together: all start at rigid[i] - shift for one shift in 0..max_shift, which
   * the model maximises. rigid[i] is FS_TICK_NONE for other items; NULL: there are no such items.
   * The makespan is then that of `rigid` less the shift. */
  const fs_tick *rigid;
  fs_tick max_shift;
  /* Per item that is fixed or rigid: its class, FS_NONE where it is open.  NULL: all are open, and
   * each item with several choices gets variables. */
  const uint32_t *choice;
  size_t max_terms; /* of the model; a larger one gives FSCHED_OK with *out NULL; 0: no limit */
} fs_time_options;

typedef struct fs_time_model fs_time_model;

/* Minimises the makespan, which is at most p->horizon; uses p's heads and tails as windows.
 * Requires a problem that is complete.  O(items * window * choices + rows); the objective is the
 * makespan.  *out is NULL when max_terms or a limit (limit.h) was reached; nothing is decided
 * then. */
fs_status fs_time_model_build(const fs_problem *p, const fs_time_options *o,
                              fs_time_model **out) FS_MUST_USE;
const fs_model *fs_time_model_of(const fs_time_model *t);
void fs_time_model_destroy(fs_time_model *t);
/* The point of an answer; *fits is false when the answer is outside of the windows, or lacks
 * addresses that the model has.  Requires an answer of the problem. */
fs_status fs_time_model_point(const fs_time_model *t, const fs_answer *a, int64_t *value,
                              bool *fits) FS_MUST_USE;
/* The answer of a point, in the problem's arena; `address` is NULL where the model has no
 * addresses. */
fs_status fs_time_model_answer(const fs_time_model *t, fs_problem *p, const int64_t *value,
                               fs_answer **out) FS_MUST_USE;

#endif
