/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FS_SEARCH_SPILL_PRIVATE_H
#define FS_SEARCH_SPILL_PRIVATE_H

#include "placement/placement.h"
#include "search/spill/spill.h"

/* Finds addresses for the point, which was just found.  Where there are none, or none are found,
 * the learner is told why, and *found is false; what was proven until then counts only if it is
 * proven that there are none.  places.c */
fs_status fs_spills_place(fs_spills *s, const fs_spill_turn *turn, fs_spill_fixed *fixed,
                          bool *found) FS_MUST_USE;
/* Are there addresses for rectangles, all of which are open, within their capacity?  In up to
 * *conflicts of a learner, which are taken off; what it worked is added to *work.  Requires sizes
 * and lifetimes that are not empty, and pairs that are alike in size, and may share their places
 * for all of the time that they are there together.  decide.c */
fs_status fs_spills_decide(fsched_context *ctx, const fs_placement *q, uint64_t *conflicts,
                           uint64_t *work, uint64_t *address, fs_decision *exists) FS_MUST_USE;
/* The point is no schedule, but it is not known why: it alone is ruled out. */
fs_status fs_spills_give_up(fs_spills *s) FS_MUST_USE;

#endif
