/* SPDX-License-Identifier: Apache-2.0 */
/* The number of addresses that at least one of a changing set of ranges covers.
 *
 * Between neighbouring borders of all ranges that will ever be in the set, addresses are either all
 * covered or all free.  A tree over these pieces stores for each node the number of ranges that
 * cover all of it (and not all of its parent), and the number of covered addresses in it (the
 * measure of a union of intervals; Klee, Bentley):
 *
 *     borders   0 ........ 4 . 5 ........ 10     ranges [0,5) [4,10)
 *     pieces    |    0     | 1 |    2     |
 *
 * Complexity: O(n log n) for n borders, then O(log n) for each change. */
#ifndef FS_COVER_H
#define FS_COVER_H

#include "base/mem.h"

typedef struct fs_cover {
  uint64_t *border; /* ascending */
  uint32_t n;       /* number of pieces */
  uint32_t *count;  /* per node, as `bytes`; 1 is the root, and k has the children 2k, 2k + 1 */
  uint64_t *bytes;  /* covered addresses in the node */
} fs_cover;

/* Makes the cover of no range.  `border` has the first address of every range, and the one behind
 * its last, in any order and with repetitions; it is sorted, and kept.  Requires room for 2 * n
 * numbers in `border`, of which n are given. */
fs_status fs_cover_init(fs_cover *v, fs_arena *arena, uint64_t *border, uint32_t n) FS_MUST_USE;

/* Puts the range of `size` addresses into the set, or takes it out again.  Requires a range whose
 * borders were given, with size > 0. */
void fs_cover_change(fs_cover *v, uint64_t address, uint64_t size, bool more);

static inline uint64_t fs_cover_bytes(const fs_cover *v) { return v->bytes[1]; }

#endif
