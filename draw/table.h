/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the table of a schedule. */
#ifndef FS_TABLE_H
#define FS_TABLE_H

#include "base/text/columns.h"
#include "model/schedule.h"
#include "model/shown.h"

typedef struct fs_table {
  fs_columns columns;
  const fs_schedule *s;
  bool free;                  /* some op ends after its queues go on: there is a column for that */
  const fs_shown_loop *shown; /* per loop that stays one; NULL: there are none, and no column
                                 `every` */
} fs_table;

/* Writes the rows of what is in a loop of the graph that starts at this tick.  Requires a loop that
 * is in no other.  Errors: FSCHED_SYSTEM. */
fs_status fs_table_put_loop(fs_table *x, uint32_t loop, fs_tick start) FS_MUST_USE;

#endif
