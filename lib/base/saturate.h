/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and products of measured times, whose size is not checked: they saturate at UINT64_MAX. */
#ifndef FS_SATURATE_H
#define FS_SATURATE_H

#include "base/base.h"

static inline uint64_t fs_add_most(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
static inline uint64_t fs_multiply_most(uint64_t a, uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

#endif
