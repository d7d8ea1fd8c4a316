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
/* Is on the disk when it returns, and before the file has its name, unless the context is told to
 * be quick (fs_context_set_durable).  Keeps the mode of a file that is replaced; follows a symbolic
 * link, also to a file that is not there yet; a device or pipe is written in place.  Errors:
 * FSCHED_SYSTEM, reported, the target unchanged. */
fs_status fs_file_write(fsched_context *ctx, const char *path, const void *bytes,
                        size_t length) FS_MUST_USE;
/* The same for a head and what follows it. */
fs_status fs_file_write_two(fsched_context *ctx, const char *path, const void *head,
                            size_t head_length, const void *bytes, size_t length) FS_MUST_USE;
/* The name behind symbolic links in the last part of `path`, be it there or not; `out` has room for
 * PATH_MAX bytes.  false: too many links, or too long (errno says which). */
bool fs_file_behind(const char *path, char *out) FS_MUST_USE;

#endif
