/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a schedule as JSON, and the words that its text forms share. */
#ifndef FS_STATS_H
#define FS_STATS_H

#include "model/handle.h"

/* Requires an item of the schedule. */
const char *fs_item_kind_name(const fs_schedule *s, uint32_t item);

/* Appends a JSON object, each member on a line that begins with `indent` and a space. */
fs_status fs_stats_put(fs_text *t, const fsched_schedule *s, const char *indent) FS_MUST_USE;

/* Appends the table of fsched_schedule_table. */
fs_status fs_schedule_table_put(fs_text *t, const fs_schedule *s) FS_MUST_USE;

/* Writes a line for each memory with a capacity: what it holds at most (peak), and up to which
 * address (extent).  Requires an indent. */
void fs_stats_put_peaks(fs_text *t, const fs_schedule *s, const char *indent);

#endif
