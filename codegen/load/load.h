/* SPDX-License-Identifier: Apache-2.0 */
/* The check that bytes are a command stream.  All readers of a stream rely on it. */
#ifndef FS_CODEGEN_LOAD_H
#define FS_CODEGEN_LOAD_H

#include "model/stream/stream.h"

/* Checks the whole file and sets the view.  Reports faults under `name`.  Requires bytes, aligned
 * to 8, unless there are none. */
fs_status fs_stream_check(fsched_context *ctx, const char *name, const void *bytes, size_t size,
                          fs_stream *view) FS_MUST_USE;

#endif
