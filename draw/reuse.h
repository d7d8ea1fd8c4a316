/* SPDX-License-Identifier: Apache-2.0 */
/* Which orderings come from which reuse of memory. */
#ifndef FS_DRAW_REUSE_H
#define FS_DRAW_REUSE_H

#include "model/handle.h"

/* Reuse that is named in full: more of it is counted alone. */
enum { FS_REUSE_NAMED = 1000 };

/* Appends an object of the control edges that reuse of memory has added: how many there are, and
 * for each place that is taken from a residency by another one the edges of both; and for each ring
 * of a loop that stays one, whose slots are taken again, the orders of its iterations.
 * Complexity: O(control edges * residencies of an item ^ 2).  Errors: FSCHED_SYSTEM. */
fs_status fs_reuse_put(fs_text *t, const fs_schedule *s, const fs_sync *sync,
                       const char *indent) FS_MUST_USE;

#endif
