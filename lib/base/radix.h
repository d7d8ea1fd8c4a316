/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting of packed 64-bit keys, ascending.
 *
 * Least significant digit first, eleven bits at a time; digits that are the same in all keys are
 * passed over, so many keys that differ in d digits (6 at most) take O(n * d).  Few keys are sorted
 * by comparison. */
#ifndef FS_RADIX_H
#define FS_RADIX_H

#include "base/base.h"

/* Requires room for n keys in `scratch`, which does not overlap `keys`. */
void fs_radix_sort(uint64_t *keys, uint64_t *scratch, size_t n);
/* The same in a block with room for 2 n keys; `keys` may be NULL when n is 0.  Requires a block,
 * unless n is 0. */
static inline void fs_radix_sort_block(uint64_t *keys, size_t n) {
  assert(keys != NULL || n == 0);
  if (n > 1) {
    fs_radix_sort(keys, keys + n, n);
  }
}

/* Comparisons for qsort, ascending; what compares equal is equal. */
int fs_compare_u32(const void *a, const void *b);
int fs_compare_u64(const void *a, const void *b);

#endif
