/* SPDX-License-Identifier: Apache-2.0 */
/* What proofs speak of (fsched-proof(5)) where copies are not open, as a problem: the ops with
 * their edges, queues, resources and the concurrency, given starts, the copies that no schedule does
 * without, and what ops alone hold of memories while they run.  What else memories ask for, and
 * waits, are left out, so a bound of the problem is a bound of the graph, and its answers are no
 * schedules. */
#ifndef FS_PROBLEM_STATED_H
#define FS_PROBLEM_STATED_H

#include "problem/problem.h"

/* `horizon`, `lower_bound`: as of fs_problem_from_graph.  Requires an ordered graph without loops.
 * O((ops + queues) * classes).  stated.c */
fs_status fs_problem_state(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                           fs_tick lower_bound, fs_problem **out) FS_MUST_USE;
/* Puts sets of queues in place of choices, where items choose among queues that are not alike, or
 * gangs choose: the queues of each item's domain or gang are a class, and sets of queues become
 * amounts: all those that more than one class lies in, or takes queues of, and sets of queues that
 * hang together.  The starts of every answer to the problem, and of every schedule whose gangs take
 * as many queues as they are to choose, are one to what it becomes, so a bound of that is a bound.
 * Requires a problem that is complete.
 * O((items + queues) * classes).  sets.c */
fs_status fs_problem_take_sets(fs_problem *p) FS_MUST_USE;

#endif
