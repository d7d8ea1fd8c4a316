/* SPDX-License-Identifier: Apache-2.0 */
/* The results of the passes as text for people, which may change from version to version.
 * Deterministic; control characters in names are escaped. */
#ifndef FS_DUMP_H
#define FS_DUMP_H

#include "fsched/program.h"
#include "model/sync.h"

/* Each function adds to `t`.  Complexity: O(text).  Errors: FSCHED_SYSTEM; running out of memory
 * while adding to `t` is recorded in `t` only. */
fs_status fs_dump_bounds(fs_text *t, const fsched_graph *g,
                         const fs_lower_bounds *bounds) FS_MUST_USE;
/* Writes the table of ops and copies, then the residencies. */
fs_status fs_dump_schedule(fs_text *t, const fs_schedule *s) FS_MUST_USE;
/* Writes the control edges, then the lanes that were assigned. */
fs_status fs_dump_control(fs_text *t, const fs_sync *y) FS_MUST_USE;
/* Writes counts, then the commands of each queue. */
fs_status fs_dump_waits(fs_text *t, const fs_sync *sync) FS_MUST_USE;
/* Writes the barriers in the order of their first updates: the physical barrier of each and the
 * number of its use, and the commands that update it and that wait for it.  For FS_SYNC_BARRIER. */
fs_status fs_dump_barriers(fs_text *t, const fs_sync *sync) FS_MUST_USE;
/* Writes the commands in the order of issue, with the syncs between them.  For FS_SYNC_BLOCK. */
fs_status fs_dump_block(fs_text *t, const fs_sync *sync) FS_MUST_USE;
fs_status fs_dump_program(fs_text *t, const fsched_program *program) FS_MUST_USE;
void fs_dump_verified(fs_text *t, const fs_schedule *s, const fsched_program *program);

#endif
