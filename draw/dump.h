/* SPDX-License-Identifier: Apache-2.0 */
/* What each pass has made, as text for people; the text may change from version to version.
 * Deterministic; names are shown with their control characters escaped. */
#ifndef FS_DUMP_H
#define FS_DUMP_H

#include "fsched/program.h"
#include "model/sync.h"

/* Each adds to `t`.  Complexity: O(text).  Errors: FSCHED_SYSTEM; failures of `t` itself stay in
 * it. */
fs_status fs_dump_bounds(fs_text *t, const fsched_graph *g,
                         const fs_lower_bounds *bounds) FS_MUST_USE;
/* The table of ops and copies, then the residencies. */
fs_status fs_dump_schedule(fs_text *t, const fs_schedule *s) FS_MUST_USE;
/* Control edges, then what lanes were allotted. */
fs_status fs_dump_control(fs_text *t, const fs_sync *y) FS_MUST_USE;
/* Counts, then the commands of each queue. */
fs_status fs_dump_waits(fs_text *t, const fs_sync *sync) FS_MUST_USE;
/* The barriers in the order in which they are first updated: the physical one, whose how manieth
 * use, who updates it and who waits for it.  For FS_SYNC_BARRIER. */
fs_status fs_dump_barriers(fs_text *t, const fs_sync *sync) FS_MUST_USE;
/* The commands in the order of issue, with the syncs between them.  For FS_SYNC_BLOCK. */
fs_status fs_dump_block(fs_text *t, const fs_sync *sync) FS_MUST_USE;
fs_status fs_dump_program(fs_text *t, const fsched_program *program) FS_MUST_USE;
void fs_dump_verified(fs_text *t, const fs_schedule *s, const fsched_program *program);

#endif
