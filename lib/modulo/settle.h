/* SPDX-License-Identifier: Apache-2.0 */
/* From choices to a plan: the exact interval of their orders, and starts. */
#ifndef FS_MODULO_SETTLE_H
#define FS_MODULO_SETTLE_H

#include "modulo/fixed.h"

/* Replaces period and starts by the least period that the orders of the choices allow: the largest
 * cycle ratio of arcs within parts, tracks and held-back waits.  *possible: there is one that is
 * not longer; else the search has not seen all that holds a wait of a lane back, and nothing is
 * replaced. Requires choices that fs_modulo_fixed found, or that keep the same. Complexity: that of
 * fs_modulo_cycle.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_tighten(fsched_context *ctx, const fs_modulo_body *b, fs_modulo_choice *c,
                            bool *possible) FS_MUST_USE;

/* Fills the plan's copies, ii, starts, shifts, queues, lanes, makespan, depths and bytes: parts are
 * moved by as few whole periods as their arcs need, and open rings get the depth they need.
 * Requires choices as above.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_settle(fsched_context *ctx, fs_arena *arena, const fs_modulo_body *b,
                           const fs_modulo_choice *c, fs_modulo_plan *out) FS_MUST_USE;

#endif
