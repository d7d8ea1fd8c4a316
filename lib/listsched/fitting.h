/* SPDX-License-Identifier: Apache-2.0 */
/* An order in which the ops fit into memories without a store, one at a time. */
#ifndef FS_FITTING_H
#define FS_FITTING_H

#include "base/limit.h"
#include "listsched/engine.h"

/* Fills position[op], a linear extension, if there is such an order.  FS_NO: there is none, so the
 * graph has no schedule; not decided: the graph or the search is too large.  Memories with a store
 * count as if they had room.  Requires an engine that is prepared.
 * Complexity: fitting.c.  Errors: FSCHED_SYSTEM. */
fs_status fs_plan_fitting(const fs_engine *e, fs_arena *scratch, uint32_t *position,
                          fs_decision *found) FS_MUST_USE;

#endif
