/* SPDX-License-Identifier: Apache-2.0 */
/* The strided views of the args of a stream and of its loops, and the runs of bytes that args are
 * of (base/view.h). */
#ifndef FS_STREAM_VIEWS_H
#define FS_STREAM_VIEWS_H

#include "base/view.h"
#include "model/stream/stream.h"

/* The view of an arg, or NULL: a range.  O(log views).  Requires an arg of the stream. */
const fs_stream_view *fs_stream_view_of(const fs_stream *s, uint32_t arg);
/* The same of an arg of a loop's op.  Requires one of loop_args. */
const fs_stream_view *fs_stream_loop_view_of(const fs_stream *s, uint32_t arg);
/* The runs of bytes of `length` bytes from `at` on, or of a view (or NULL) that begins there: one
 * run if they are too many (fs_view_fine). */
fs_view_runs fs_stream_view_pieces(const fs_stream_view *view, uint64_t at, uint64_t length);
/* The record of a graph's view, for an arg.  Requires as many dimensions as there may be. */
fs_stream_view fs_stream_view_make(const fs_view *v, uint32_t arg);
/* A record with the arg's offset. */
fs_view fs_stream_placed(const fs_stream_view *view, uint64_t offset);
/* The runs of bytes of an arg, from `base` on where its buffer lies; no bytes count as one.  One
 * run if they are too many (fs_view_fine).  Requires an arg that names a buffer. */
fs_view_runs fs_stream_pieces(const fs_stream *s, uint32_t arg, uint64_t base);
/* Whether its runs are too many: then the arg may share bytes with all that lies between its first
 * and its last one, but covers none of it.  Requires an arg of the stream. */
bool fs_stream_coarse(const fs_stream *s, uint32_t arg);

#endif
