/* SPDX-License-Identifier: Apache-2.0 */
/* What proofs speak of (fsched-proof(5)), as a problem: the ops with their edges, queues, resources
 * and the concurrency, the copies that no schedule does without, and what ops alone hold of
 * memories while they run.  What else memories ask for, waits and given starts are left out, so a
 * bound of the problem is a bound of the graph, and its answers are no schedules. */
#ifndef FS_PROBLEM_STATED_H
#define FS_PROBLEM_STATED_H

#include "problem/problem.h"

/* Where items choose among queues that are not alike, the queues of each item's domain or gang are
 * a class, and sets of queues become amounts: all those that more than one class lies in, or takes
 * queues of, and sets of queues that hang together.  `horizon`, `lower_bound`: as of
 * fs_problem_from_graph.  Requires an ordered graph without loops.  O((ops + queues) * classes). */
fs_status fs_problem_state(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                           fs_tick lower_bound, fs_problem **out) FS_MUST_USE;

#endif
