/* SPDX-License-Identifier: Apache-2.0 */
/* The header of .npy files (NumPy, "NEP 1", format 1.0 to 3.0): magic, version, length, and a
 * Python dictionary with dtype, order and shape.
 *
 * The reader accepts items of a fixed size (booleans, integers, floating point, complex, and opaque
 * bytes or text of a fixed length) in C order, little-endian or without a byte order.  It refuses
 * big-endian items, Fortran order, objects and structures.  The writer uses format 1.0.  The parser
 * never reads past the bytes that it is given, and takes no more than FS_NPY_MOST_HEADER of
 * them. */
#ifndef FS_NPY_H
#define FS_NPY_H

#include "base/base.h"

/* FS_NPY_PREFIX: bytes of the magic, the version and the length in format 2.0. */
enum { FS_NPY_PREFIX = 12, FS_NPY_MOST_HEADER = 1 << 16, FS_NPY_DIMENSIONS = 64, FS_NPY_TYPE = 24 };

typedef struct fs_npy_type {
  char dtype[FS_NPY_TYPE]; /* as the file spells it: "<f4", "|u1" */
  uint64_t item_size;      /* bytes */
  uint32_t n_dimensions;
  uint64_t shape[FS_NPY_DIMENSIONS];
} fs_npy_type;

typedef struct fs_npy {
  fs_npy_type type;
  uint64_t header_size; /* bytes before the items */
  uint64_t size;        /* bytes of all items */
} fs_npy;

/* Do these bytes begin as a .npy file does? */
bool fs_npy_is(const void *bytes, size_t n);
/* Sets *size to the bytes of the header, from the first n bytes of a file (FS_NPY_PREFIX, or all of
 * a shorter file).  Returns NULL, or what is wrong: this is no .npy file, its version is unknown,
 * or its header is too long. */
const char *fs_npy_header_size(const void *bytes, size_t n, uint64_t *size);
/* Parses a header of `n` bytes.  When it returns false, `why` (FS_NPY_WHY bytes) says what is
 * wrong. */
enum { FS_NPY_WHY = 160 };
/* Requires room for a reason. */
bool fs_npy_parse(const void *bytes, size_t n, fs_npy *out, char *why) FS_MUST_USE;
/* Parses a dtype alone and sets item_size.  When it returns false, `why` says what is wrong.
 * Requires room for a reason. */
bool fs_npy_dtype(const char *dtype, size_t n, fs_npy_type *type, char *why) FS_MUST_USE;
/* Sets *size to the bytes of all items; returns false when they are more than 2^62.  Requires at
 * most FS_NPY_DIMENSIONS dimensions. */
bool fs_npy_bytes(const fs_npy_type *type, uint64_t *size) FS_MUST_USE;
/* Writes the shape as "(3, 4)", "(5,)" or "()", cut to `size` bytes.  Requires at most
 * FS_NPY_DIMENSIONS dimensions, and size > 0. */
void fs_npy_shape_text(const fs_npy_type *type, char *text, size_t size);
/* Writes a header of format 1.0 and returns its size, a multiple of 64. */
enum { FS_NPY_WRITTEN = 2048 };
/* Requires at most FS_NPY_DIMENSIONS dimensions. */
size_t fs_npy_header(const fs_npy_type *type, char out[FS_NPY_WRITTEN]);

#endif
