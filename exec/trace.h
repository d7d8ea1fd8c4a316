/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome/Perfetto trace of one invocation: a track per queue, a slice per command (the ops of a
 * gang one on each member), an arrow per wait for another queue.  Timestamps are microseconds with
 * three decimals, that is nanoseconds exactly.  O(size of the result). */
#ifndef FS_EXEC_TRACE_H
#define FS_EXEC_TRACE_H

#include "backend.h"

/* begin and end: ns per command.  The text is released with fsched_text_free. */
fs_status fs_trace_write(fsched_context *ctx, const fs_stream *s, const uint64_t *begin,
                         const uint64_t *end, char **text, size_t *length) FS_MUST_USE;

#endif
