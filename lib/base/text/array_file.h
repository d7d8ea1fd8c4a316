/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in files, for the inputs and outputs of graphs.  A file with the suffix .npy has that
 * format (npy.h); any other holds the bare bytes.  "-" is standard input, whose first bytes tell
 * the format, or standard output, which gets bare bytes. */
#ifndef FS_ARRAY_FILE_H
#define FS_ARRAY_FILE_H

#include "base/context.h"
#include "base/text/npy.h"

/* Reads an array of exactly `size` bytes to `out`, which after a failure may hold a part of it.  It
 * needs memory for the header only.  Errors: FSCHED_BAD_INPUT, reported, when the file holds more
 * or less than that or no array (the message says what was expected and found); FSCHED_SYSTEM with
 * the system's reason. */
fs_status fs_array_file_read(fsched_context *ctx, const char *path, uint64_t size,
                             void *out) FS_MUST_USE;
/* Writes all or nothing, as fs_file_write does.  `type` is the type of a .npy file, of `size` bytes
 * in all; NULL means bytes in one dimension.  Errors: FSCHED_SYSTEM; FSCHED_USAGE for a type of
 * another size. */
fs_status fs_array_file_write(fsched_context *ctx, const char *path, const void *bytes,
                              uint64_t size, const fs_npy_type *type) FS_MUST_USE;

#endif
