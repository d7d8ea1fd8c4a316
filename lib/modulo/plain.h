/* SPDX-License-Identifier: Apache-2.0 */
/* A plan without a search, for bodies of which none was found: iterations one after the other. */
#ifndef FS_MODULO_PLAIN_H
#define FS_MODULO_PLAIN_H

#include "modulo/problem/problem.h"

/* Starts each op, in the order of their ids, as soon as the ops before it on its first queue, its
 * predecessors in the iteration, and all others that use one of its resources are over; the next
 * iteration begins when all are.  Open rings are as deep as their readers need.
 * Requires that edges without distance go from lower to higher ids.
 * Complexity: O(size + ops * edges).  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_plain(fs_arena *arena, const fs_modulo_problem *p,
                          fs_modulo_plan *out) FS_MUST_USE;

#endif
