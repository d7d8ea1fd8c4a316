/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose starts are all given: only addresses are open, and a lower highest address is
 * better.
 *
 * Their addresses are found for all residencies at once, where the list scheduler, which knows no
 * future, finds them op by op.  The dynamic storage allocation problem is NP-hard (Garey and
 * Johnson, SR2): a question that is not settled within the nodes is not decided. */
#ifndef FS_PROBLEM_SETTLED_H
#define FS_PROBLEM_SETTLED_H

#include "problem/problem.h"

/* Are all starts given, no memory spills, and some bounded memory has addresses?  O(ops). */
bool fs_settles(const fsched_graph *g);
/* The sum of the highest addresses of all memories: of two schedules with the same starts the one
 * with less is better.  O(residencies).  Errors: FSCHED_SYSTEM. */
fs_status fs_settled_extent(const fs_schedule *s, uint64_t *sum) FS_MUST_USE;

typedef struct fs_settling {
  fs_tick lower_bound;      /* of the makespan */
  uint64_t nodes;           /* of the search for the addresses of each memory */
  bool lowest;              /* search for the lowest peaks within the capacities */
  bool (*stop)(void *user); /* as in placement.h; or NULL */
  void *user;
} fs_settling;

/* The problem of such a graph, and its answer. */
typedef struct fs_settled {
  fs_problem *problem; /* NULL: what has to live at one time does not fit */
  fs_answer answer;    /* starts and addresses; in the arena */
  bool found;          /* the addresses are set */
  bool least;          /* proven: no peak can be lower */
  uint32_t n_memories; /* bounded memories with addresses, and the last of them */
  uint32_t memory;
} fs_settled;

/* Requires a graph that settles.  Whatever is returned, the caller releases *out.  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_settle(fsched_context *ctx, const fsched_graph *g, const fs_settling *o,
                    fs_arena *arena, fs_settled *out) FS_MUST_USE;
/* Makes a schedule from the answer, which is verified; *schedule is NULL if it breaks the problem.
 * Requires an answer that was found. */
fs_status fs_settled_schedule(fs_settled *s, fs_schedule **schedule) FS_MUST_USE;
void fs_settled_release(fs_settled *s);

#endif
