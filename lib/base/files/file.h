/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files: reading, and writing that is atomic and leaves nothing else behind
 * (files/replace.h).
 * "-" is standard input or output. */
#ifndef FS_FILE_H
#define FS_FILE_H

#include "base/context.h"
#include "base/mem.h"

/* *text is NUL-terminated, released with fs_realloc(ctx, *text, *length + 1, 0).  A special file or
 * pipe is read to its end.  Errors: FSCHED_SYSTEM, reported with the system's reason. */
fs_status fs_file_read(fsched_context *ctx, const char *path, char **text,
                       size_t *length) FS_MUST_USE;
/* The bytes are on the disk before the file gets its name and when the call returns, unless the
 * context is told to be quick (fs_context_set_durable).  A replaced file keeps its mode; a symbolic
 * link is followed, also to a file that does not exist yet; a device or pipe is written in place.
 * Errors: FSCHED_SYSTEM, reported; the target is then unchanged, unless it is written in place or
 * only the flush of its directory failed. */
fs_status fs_file_write(fsched_context *ctx, const char *path, const void *bytes,
                        size_t length) FS_MUST_USE;
/* The same for a head followed by other bytes. */
fs_status fs_file_write_two(fsched_context *ctx, const char *path, const void *head,
                            size_t head_length, const void *bytes, size_t length) FS_MUST_USE;
/* Resolves symbolic links in the last part of `path`, whether the file exists or not; `out` has
 * room for PATH_MAX bytes.  False: there are too many links, or the name is too long (errno says
 * which). */
bool fs_file_behind(const char *path, char *out) FS_MUST_USE;

#endif
