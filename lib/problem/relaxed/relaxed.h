/* SPDX-License-Identifier: Apache-2.0 */
/* A graph with short memories as a problem without them: what every schedule has, spills or not.
 * A bound of the problem is a bound of the graph; its answers are no schedules. */
#ifndef FS_PROBLEM_RELAXED_H
#define FS_PROBLEM_RELAXED_H

#include "problem/problem.h"

/* Items are the ops, the copies that no schedule avoids, and those that an op in between forces,
 * which leaves no room for a version that is wanted before and after it (copies.c).  Memories
 * become amounts (amounts.c).  *out is NULL for graphs of too many ops, and where no memory that
 * spills is short.  `horizon`, `lower_bound`: as of fs_problem_from_graph.
 * Requires an ordered graph.  O(ops^2 * (args + sets)). */
fs_status fs_problem_relax(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                           fs_tick lower_bound, fs_problem **out) FS_MUST_USE;

#endif
