/* SPDX-License-Identifier: Apache-2.0 */
/* How far the writers of rings run ahead of who reads them. */
#ifndef FS_MODULO_AHEAD_H
#define FS_MODULO_AHEAD_H

#include "modulo/problem/problem.h"

/* Whether a plan keeps what rings say of that: the search leaves it open for ops that may choose
 * their queues, where nothing else ties them.  Requires a plan of the problem that was found.
 * Complexity: O(readers * copies^2). */
bool fs_modulo_ahead_kept(const fs_modulo_problem *p, const fs_modulo_plan *plan);

/* How many iterations ahead the writer of a ring has begun, at least, when a reader starts as
 * planned, on whatever queues; 0 if it is read by none but itself.  Requires a ring of the problem,
 * and a plan.  Complexity: O(readers * copies^2). */
uint32_t fs_modulo_ahead_planned(const fs_modulo_problem *p, const fs_modulo_plan *plan,
                                 uint32_t ring);

#endif
