/* SPDX-License-Identifier: Apache-2.0 */
/* The order of issue of a schedule that was read from a file, and of its residencies. */
#ifndef FS_SCHEDULE_ORDER_H
#define FS_SCHEDULE_ORDER_H

#include "model/schedule.h"

/* Fills s->order: by start, then as listed, except where items of zero length must come before
 * others with the same start (see model/issue_order.c).  `listed` holds the items as they were
 * listed.  Requires all of the schedule but the order, counts that add up, and every item in
 * `listed` once; the schedule may be invalid.
 * Complexity: O((items + edges) log items).  Errors: FSCHED_SYSTEM. */
fs_status fs_schedule_order(fs_schedule *s, const uint32_t *listed) FS_MUST_USE;
/* Requires s->order, and residencies by begin.  Renumbers residencies so that those with equal
 * begins come in the order of the items that begin them; the order of ties stays.  O(args +
 * residencies log). */
fs_status fs_schedule_order_residencies(fs_schedule *s) FS_MUST_USE;
/* Gives residencies new ids: `to` holds the new id per old id, `from` the old id per new one.
 * Requires that `from` and `to` undo each other. */
fs_status fs_schedule_renumber_residencies(fs_schedule *s, fs_arena *scratch, const uint32_t *from,
                                           const uint32_t *to) FS_MUST_USE;

#endif
