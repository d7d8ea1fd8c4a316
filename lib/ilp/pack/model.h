/* SPDX-License-Identifier: Apache-2.0 */
/* The strip packing model of a problem: a rectangle, time by address, for each residency in a
 * contiguous memory, placed left, right, above or below each other one.
 *
 * Source: Kundeti, An ILP for Generating Optimal Schedules with Resource Constraints, the 2D strip
 * packing model; pack/model.c lists what was corrected and what the published form leaves out. */
#ifndef FS_ILP_PACK_MODEL_H
#define FS_ILP_PACK_MODEL_H

#include "ilp/model/model.h"
#include "problem/problem.h"

typedef struct fs_pack_options {
  /* Minimise the highest address used instead of the makespan: for problems whose starts are all
   * given, and one contiguous memory. */
  bool peak;
  uint32_t peak_memory;
  /* A binary for each normal position instead of the rows of pairs: stronger and larger.  Only for
   * strips of one memory with one rectangle per item; *out is NULL for other problems. */
  bool positions;
  /* For windows of larger problems.  `address`: per residency, the address that is given; NULL:
   * addresses are open.  Items that move together, as in fs_time_options: all start at rigid[i] -
   * shift for one shift in 0..max_shift; then the makespan is that of `rigid` less the shift, and
   * tails are only the ends of windows.  Where there are rigid items, addresses are given. */
  const uint64_t *address;
  const fs_tick *rigid; /* FS_TICK_NONE: not a rigid item; NULL: none is */
  fs_tick max_shift;
  size_t max_terms; /* of the model; a larger one gives FSCHED_OK with *out NULL; 0: no limit */
} fs_pack_options;

typedef struct fs_pack_model fs_pack_model;

/* Do only the rectangles limit the schedule, and has each item one or more of them?  Then starts
 * have the same symmetries and normal positions as addresses; see pack/symmetry.c.  Requires a
 * problem that is complete. */
bool fs_problem_is_strip(const fs_problem *p);
/* Minimises the makespan, at most p->horizon, or the peak.  Exact: queues, amounts and addresses
 * are all in the model.  *out is NULL when a limit (limit.h) was reached; nothing is decided then.
 * Refers to p.  Requires a problem that is complete, and with rigid items addresses.  O(spans^2 *
 * (amounts + spans / 64)). */
fs_status fs_pack_model_build(const fs_problem *p, const fs_pack_options *o,
                              fs_pack_model **out) FS_MUST_USE;
const fs_model *fs_pack_model_of(const fs_pack_model *t);
void fs_pack_model_destroy(fs_pack_model *t);
/* Requires an answer of the problem. */
fs_status fs_pack_model_point(const fs_pack_model *t, const fs_answer *a, int64_t *value,
                              bool *fits) FS_MUST_USE;
fs_status fs_pack_model_answer(const fs_pack_model *t, fs_problem *p, const int64_t *value,
                               fs_answer **out) FS_MUST_USE;

#endif
