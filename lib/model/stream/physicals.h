/* SPDX-License-Identifier: Apache-2.0 */
/* How many physical barriers a stream has in use. */
#ifndef FS_STREAM_PHYSICALS_H
#define FS_STREAM_PHYSICALS_H

#include "base/mem.h"
#include "model/stream/stream.h"

/* Counts the barriers of guards, each of them once, and adds one for each physical barrier of
 * commands outside of loops, whatever their numbers.
 * Errors: FSCHED_SYSTEM.  Complexity: O(barriers + guards). */
fs_status fs_stream_physicals(fsched_context *ctx, const fs_stream_barrier *barriers,
                              uint32_t n_barriers, const fs_stream_guard *guards, uint32_t n_guards,
                              uint64_t *out) FS_MUST_USE;

#endif
