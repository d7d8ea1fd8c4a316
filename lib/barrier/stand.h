/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether a draft makes the machine stand still. */
#ifndef FS_BARRIER_STAND_H
#define FS_BARRIER_STAND_H

#include "barrier/draft.h"

/* Runs the machine.  When it gets to the end, `seq` becomes the order of that run and stuck->n is
 * 0; else `stuck` is a cycle, with barriers of the draft, and lives in `arena`.  Requires an order
 * of all items in the draft.  Requires (unchecked: O(barriers)) that every barrier has commands
 * that wait for it or no producers.  Complexity: O(items + commands + waits + updates) tries of
 * items; a try looks at the item's updates, its waits, and the producers of what it waits for. */
fs_status fs_barrier_stands(fsched_context *ctx, fs_arena *arena, const fs_order *o,
                            fs_barrier_draft *d, fs_barrier_stuck *stuck) FS_MUST_USE;

#endif
