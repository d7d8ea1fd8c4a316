/* SPDX-License-Identifier: Apache-2.0 */
/* The strided views of a stream's args, and the runs of bytes that args are of (base/view.h). */
#ifndef FS_STREAM_VIEWS_H
#define FS_STREAM_VIEWS_H

#include "base/view.h"
#include "model/stream/stream.h"

/* The view of an arg, or NULL: a range.  O(log views).  Requires an arg of the stream. */
const fs_stream_view *fs_stream_view_of(const fs_stream *s, uint32_t arg);
/* The same with the arg's offset. */
fs_view fs_stream_placed(const fs_stream_view *view, uint64_t offset);
/* The runs of bytes of an arg, from `base` on where its buffer lies; no bytes count as one.  One
 * run if they are too many (fs_view_fine).  Requires an arg that names a buffer. */
fs_view_runs fs_stream_pieces(const fs_stream *s, uint32_t arg, uint64_t base);
/* Whether its runs are too many: then the arg may share bytes with all that lies between its first
 * and its last one, but covers none of it.  Requires an arg of the stream. */
bool fs_stream_coarse(const fs_stream *s, uint32_t arg);

#endif
