/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as a loop that stays a loop: commands in the order of their starts, and the waits that
 * queue order and other waits do not imply.
 *
 * What a plan keeps is kept by waits for whatever durations: edges; a ring's writer comes after all
 * that use the version whose slot it takes; ops that share a lane come one after the other, as
 * planned.  A wait is left out where the others say as much in every iteration, first and last ones
 * included, as far as that search shows; other sets of waits may be smaller.
 *
 * What is known when an op starts is found by a search back along queue order and waits, in which
 * distances below 0 are raised to 0, and what a wait at distance d tells of commands before its
 * target to d: so each link exists wherever the ends do.  A wait tells of all up to its target on
 * the queue of that, where epochs are held back (problem.h), else of slow ones before it nothing.
 */
#ifndef FS_MODULO_ROLLED_H
#define FS_MODULO_ROLLED_H

#include "model/rolled.h"
#include "modulo/problem/problem.h"

enum { FS_ROLLED_EXACT = 64 };

/* Makes the loop in `arena`.  *possible is false where lanes are planned to go to a later iteration
 * before an earlier one: a wait for a later iteration does not exist in the last ones; and where
 * several copies are planned to read what is there on entry when its slot has been taken.  (A
 * search could keep lanes in order: of a pair on a lane, k * copies + copy(b) - copy(a) would be
 * from 0 to copies.  But parts that have a lane in common could then not be moved on their own.)
 * Requires a plan of the problem that was found, with depths of at least the distances at which
 * their rings are read.
 * Complexity: O(waits * nodes^2), where a node is an op of a copy; up to FS_ROLLED_EXACT of them,
 * waits that become superfluous only as others stay are left out, too, at O(waits * nodes^3) worst.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_rolled(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                           const fs_modulo_plan *plan, fs_rolled_loop *out,
                           bool *possible) FS_MUST_USE;

/* The same where syncs are all that holds commands back: the loop is issued, in the order of its
 * planned starts, with the stops that its waits need.  `counting` is per queue of the target: it
 * can be counted. */
fs_status fs_modulo_issued(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                           const fs_modulo_plan *plan, const bool *counting, fs_rolled_loop *out,
                           bool *possible) FS_MUST_USE;

/* The orders that a plan keeps, of nodes, which are copy * ops + op: what iteration i of `to` starts
 * behind is over in iteration i - distance of `from`.  *possible as above.  The array lives in
 * `arena`. */
fs_status fs_modulo_wants(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                          const fs_modulo_plan *plan, fs_modulo_edge **want, uint32_t *n,
                          bool *possible) FS_MUST_USE;

#endif
