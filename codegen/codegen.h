/* SPDX-License-Identifier: Apache-2.0 */
/* From schedule and synchronisation to the command stream (lib/model/stream/stream.h).
 *
 * Ensures: a program that fs_stream_check accepts, the same bytes for the same input.
 * Complexity: O(size of the result).  Errors: FSCHED_BAD_INPUT for names that are not UTF-8 and
 * machines from 256 on (a builder's; graph files have neither), FSCHED_SYSTEM. */
#ifndef FS_CODEGEN_H
#define FS_CODEGEN_H

#include "model/stream/stream.h"
#include "model/sync.h"

/* Requires a schedule with commands that fs_waits_run has numbered. */
fs_status fs_codegen_run(fsched_context *ctx, const fs_schedule *s, const fs_sync *sync,
                         fsched_program **out) FS_MUST_USE;

#endif
