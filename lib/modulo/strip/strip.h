/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest strip of lanes in which ops fit that take several of them, one after the other and
 * beside each other, in any order.
 *
 * Which lanes they are does not matter: where never more are wanted than there are, they can be
 * given to ops in the order of their starts. */
#ifndef FS_MODULO_STRIP_STRIP_H
#define FS_MODULO_STRIP_STRIP_H

#include "base/mem.h"

enum { FS_STRIP_LANES = 4, FS_STRIP_OPS = 64, FS_STRIP_LONGEST = UINT16_MAX };

typedef struct fs_strip_op {
  uint32_t need; /* lanes: 1 or more, not all */
  int64_t hold;  /* 1 .. FS_STRIP_LONGEST */
} fs_strip_op;

/* Finds the least length, or a lower bound of it where the search takes more than so many steps.
 * Requires 2 to FS_STRIP_LANES lanes, and 1 to FS_STRIP_OPS ops.  Deterministic.
 * Complexity: O(ops) a step.  Errors: FSCHED_SYSTEM. */
fs_status fs_strip_least(fsched_context *ctx, uint32_t lanes, const fs_strip_op *op, uint32_t n,
                         uint64_t steps, int64_t *length) FS_MUST_USE;

#endif
