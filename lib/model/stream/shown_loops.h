/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of a stream's loops (model/shown.h). */
#ifndef FS_SHOWN_LOOPS_H
#define FS_SHOWN_LOOPS_H

#include "model/shown.h"
#include "model/stream/stream.h"

/* Makes the list of a stream's loops, in their order, and finds what is shown of them.  All is in
 * the arena, but names are the stream's.  Requires a stream that fs_stream_check has accepted.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_shown_of_stream(fs_arena *arena, const fs_stream *s, fs_shown_loop **out) FS_MUST_USE;

/* Makes room for the times of an execution in which loops run as often as `trips` says, per loop;
 * NULL: as often as the stream says.  All is in the arena.  The same requirements and errors. */
fs_status fs_shown_times_make(fs_arena *arena, const fs_stream *s, const uint64_t *trips,
                              fs_shown_times *out) FS_MUST_USE;

#endif
