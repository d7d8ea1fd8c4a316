/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of issue for loops that syncs hold back, by phases.
 *
 * With k full syncs in a step, these divide all that is issued into phases, k of them in each step.
 * A node, which is a copy of an op, that has to be over before another starts is in an earlier phase;
 * or in no later one, where queue order or a counting sync is enough:
 *
 *     phase(to) + k * steps >= phase(from) + 1 (or 0)
 *
 * where `to` comes so many steps later.  Such phases exist if no cycle of orders needs more, and
 * any order of issue with k full syncs has such phases; so the least k for which they exist is the
 * fewest full syncs that a step can have, with these queues and depths.  A cycle of orders that needs
 * p of them in q iterations needs ceil(u * p / q) in a step of u copies: so more copies may need
 * fewer an iteration, with none less than p / q. */
#ifndef FS_MODULO_PHASES_H
#define FS_MODULO_PHASES_H

#include "modulo/problem/problem.h"

enum { FS_PHASES_MOST = 64 };

/* Orders the nodes of a plan in phases with k full syncs a step: *possible says whether that can be;
 * `to` is the plan with starts that say the order, and shifts, alone.  `want` has the orders that
 * the plan keeps (fs_modulo_wants); `counting` is per queue, NULL: none is counted, so that what
 * counting syncs could say is in earlier phases, too.
 * `phase` is filled per node; NULL: it is not asked for.
 * Requires k from 1 to FS_PHASES_MOST.
 * Complexity: O(nodes * (orders + nodes)).  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_phase(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                          const fs_modulo_plan *plan, const fs_modulo_edge *want, uint32_t n_wants,
                          const bool *counting, uint32_t k, uint64_t *phase, fs_modulo_plan *to,
                          bool *possible) FS_MUST_USE;

#endif
