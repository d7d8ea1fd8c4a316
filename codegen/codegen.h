/* SPDX-License-Identifier: Apache-2.0 */
/* From schedule and synchronisation to the command stream (lib/model/stream/stream.h).
 *
 * Ensures: fs_stream_check accepts the program, and the same input gives the same bytes.
 * Complexity: O(size of the result).  Errors: FSCHED_SYSTEM; FSCHED_BAD_INPUT for names that are
 * not UTF-8 and for machine numbers from 256 on, both of which the builder refuses first. */
#ifndef FS_CODEGEN_H
#define FS_CODEGEN_H

#include "model/stream/stream.h"
#include "model/sync.h"

/* Requires a schedule with commands that fs_waits_run or fs_waits_run_alone has numbered. */
fs_status fs_codegen_run(fsched_context *ctx, const fs_schedule *s, const fs_sync *sync,
                         fsched_program **out) FS_MUST_USE;

#endif
