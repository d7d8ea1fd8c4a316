/* SPDX-License-Identifier: Apache-2.0 */
/* The order of issue of a schedule that was read from a file, and of its residencies. */
#ifndef FS_SCHEDULE_ORDER_H
#define FS_SCHEDULE_ORDER_H

#include "model/schedule.h"

/* Fills s->order: by start, then as listed, except where items without length must come before
 * others of the same start (see model/issue_order.c).  `listed` holds the items as they were
 * listed.  Requires all of the schedule but the order, counts that add up, and every item in
 * `listed` once; the schedule may be a wrong one.
 * Complexity: O((items + edges) log items).  Errors: FSCHED_SYSTEM. */
fs_status fs_schedule_order(fs_schedule *s, const uint32_t *listed) FS_MUST_USE;
/* Requires s->order, and residencies by begin.  Renumbers them so that those that begin together
 * come in the order of the items that begin them; ties stay.  O(args + residencies log). */
fs_status fs_schedule_order_residencies(fs_schedule *s) FS_MUST_USE;
/* New ids for residencies: `to` per old id, `from` per new one.  Requires that `from` and `to` undo
 * each other. */
fs_status fs_schedule_renumber_residencies(fs_schedule *s, fs_arena *scratch, const uint32_t *from,
                                           const uint32_t *to) FS_MUST_USE;

#endif
