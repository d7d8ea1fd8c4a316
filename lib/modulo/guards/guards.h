/* SPDX-License-Identifier: Apache-2.0 */
/* The barriers of a loop that stays a loop, for targets of barriers: guards (model/rolled.h).
 *
 * Each op that another one waits for is a producer of one guard; ops that the same commands wait
 * for, at the same distances, share one where its slots allow and that takes fewer barriers.  A
 * guard has as few barriers as all iterations leave it: of the circle
 *
 *     load i --0--> use i --D--> load i + D
 *
 * both guards have D, as load i + D comes behind the use that has checked the barrier of load i,
 * and use i + D behind the load that has checked that of use i.  Where an op is never held back by
 * one that waits for it, no number of barriers would be enough: then it gets a way back, a wait for
 * the iteration of that one which the plan has over by then. */
#ifndef FS_GUARDS_GUARDS_H
#define FS_GUARDS_GUARDS_H

#include "model/rolled.h"
#include "modulo/problem/problem.h"

typedef struct fs_guard_options {
  uint64_t trip;          /* iterations, at least 1; at most so many barriers are of use */
  uint64_t slots;         /* of a barrier */
  const uint32_t *demand; /* per op: slots that each of its commands takes, at least 1; NULL: 1 */
  const bool *alone;      /* per op: it shares no guard; NULL: none is so */
} fs_guard_options;

/* Gives the loop its guards and checks, and adds waits to it.  *op is FS_NONE, or an op whose
 * commands take more slots than a barrier has; the loop is then unfinished.  Requires the loop that
 * fs_modulo_rolled has made of the plan for barriers.
 * Complexity: O(ops^2 copies (nodes^2 + nodes waits)).  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_guards(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                           const fs_modulo_plan *plan, const fs_guard_options *options,
                           fs_rolled_loop *loop, uint32_t *op) FS_MUST_USE;

#endif
