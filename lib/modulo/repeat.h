/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of more copies of the body, all of which do what those of a plan do. */
#ifndef FS_MODULO_REPEAT_H
#define FS_MODULO_REPEAT_H

#include "modulo/problem/problem.h"

/* Makes a plan of so many times the copies; all but what is told per node it has from `plan`.
 * Requires a plan that was found, and times > 0.
 * Complexity: O(nodes and their lanes).  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_repeat(fs_arena *arena, const fs_modulo_problem *p, const fs_modulo_plan *plan,
                           uint32_t times, fs_modulo_plan *out) FS_MUST_USE;

#endif
