/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in files, for the inputs and outputs of graphs: with the suffix .npy in that format
 * (npy.h), with any other the bare bytes.  "-" is standard input, in either form, which its first
 * bytes tell, or standard output, bare. */
#ifndef FS_ARRAY_FILE_H
#define FS_ARRAY_FILE_H

#include "base/context.h"
#include "base/text/npy.h"

/* Reads an array of exactly `size` bytes to `out`, which after a failure may hold a part of it.
 * Memory: the header's.  Errors: FSCHED_BAD_INPUT, reported, when the file holds more, less or no
 * array (what is expected and found); FSCHED_SYSTEM with the system's reason. */
fs_status fs_array_file_read(fsched_context *ctx, const char *path, uint64_t size,
                             void *out) FS_MUST_USE;
/* Writes as fs_file_write does: all or nothing.  `type` is that of a .npy file, and says `size`
 * bytes; NULL: bytes, in one dimension.  Errors: FSCHED_SYSTEM; FSCHED_USAGE for another type. */
fs_status fs_array_file_write(fsched_context *ctx, const char *path, const void *bytes,
                              uint64_t size, const fs_npy_type *type) FS_MUST_USE;

#endif
