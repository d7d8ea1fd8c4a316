/* SPDX-License-Identifier: Apache-2.0 */
/* A set of bytes as disjoint, ascending intervals [begin, end), of which no two touch.  A change
 * takes O(intervals behind it + log intervals), a look O(log intervals); most sets have one. */
#ifndef FS_EXEC_BYTESET_H
#define FS_EXEC_BYTESET_H

#include "base/mem.h"

typedef struct fs_byte_range {
  uint64_t begin, end;
} fs_byte_range;
typedef FS_VEC(fs_byte_range) fs_byteset;

/* Requires begin <= end. */
bool fs_byteset_cover(const fs_byteset *r, uint64_t begin, uint64_t end); /* empty: covered */
/* Requires begin <= end. */
fs_status fs_byteset_add(fsched_context *ctx, fs_byteset *r, uint64_t begin,
                         uint64_t end) FS_MUST_USE;
/* Requires begin <= end. */
fs_status fs_byteset_remove(fsched_context *ctx, fs_byteset *r, uint64_t begin,
                            uint64_t end) FS_MUST_USE;

#endif
