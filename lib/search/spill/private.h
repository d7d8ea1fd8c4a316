/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FS_SEARCH_SPILL_PRIVATE_H
#define FS_SEARCH_SPILL_PRIVATE_H

#include "search/spill/spill.h"

/* Finds addresses for the point, which was just found.  Where there are none, or none are found,
 * the learner is told why, and *found is false; what was proven until then counts only if it is
 * proven that there are none.  places.c */
fs_status fs_spills_place(fs_spills *s, const fs_spill_turn *turn, fs_spill_fixed *fixed,
                          bool *found) FS_MUST_USE;
/* The point is no schedule, but it is not known why: it alone is ruled out. */
fs_status fs_spills_give_up(fs_spills *s) FS_MUST_USE;

#endif
