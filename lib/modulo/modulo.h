/* SPDX-License-Identifier: Apache-2.0 */
/* Modulo scheduling: queues, orders, shifts, lanes and depths of the body of a loop, for the least
 * interval between iterations.
 *
 * The interval of a choice is the largest cycle ratio of its arcs and orders, so it is a fraction.
 * The search asks for plans of a given interval (fixed.h), takes the exact interval of what is
 * found, and asks for less than that until there is none: two ratios of distances up to d and e
 * differ by 1 / (d e) at least, and a cycle of ratio r has at most (sum of latencies) / r
 * iterations.
 *
 * Bodies of several copies are tried where the interval is above the bounds: three unit ops on two
 * queues take 2, and two copies of them 3 for two iterations.  An interval is proven when each
 * number of copies is.
 *
 * Depths to be chosen do not limit at first; if what they come to does not fit, plans that fit are
 * looked for from that interval on.  Copies whose iterations need not change their order (body.h)
 * leave depths open as one copy does.  Others have some of the depths that fit, below those that do
 * not; nothing is proven then unless there is no lesser interval even where each ring is as deep as
 * it fits alone.
 *
 * Source: Rau, "Iterative modulo scheduling" (1994) for bounds and terms; Lawler (1967) for ratios.
 * Other than there, starts need not be whole, and stages of unconnected parts are not searched. */
#ifndef FS_MODULO_MODULO_H
#define FS_MODULO_MODULO_H

#include "modulo/problem/problem.h"

/* Makes a plan of the least interval; among these (unless `quick`) it looks for the shortest
 * makespan, and then for the fewest bytes.  Where steps run out, the plan is the best one that was
 * found, and says what is not proven.
 * Requires (unchecked: O(size)) ids in range, times above 0, latencies no less than times, eligible
 * queues, uses that do not exceed their lanes, and rings whose writer their memory knows.
 * Requires options of at most 4 copies.
 * Deterministic.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_schedule(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                             const fs_modulo_options *options, fs_modulo_plan *out) FS_MUST_USE;

#endif
