/* SPDX-License-Identifier: Apache-2.0 */
/* The loads of n queues with the largest of them at hand: a tree of maxima in an array, where the
 * leaves are the loads and node i stands over nodes 2 i and 2 i + 1. */
#ifndef FS_BLOCK_TOPS_H
#define FS_BLOCK_TOPS_H

#include "base/base.h"

/* How many ticks a tree of n loads has; all 0 is a tree of loads 0. */
static inline size_t fs_tops_size(uint32_t n) { return 2 * (size_t)n; }

static inline fs_tick fs_tops_load(const fs_tick *tree, uint32_t n, uint32_t i) {
  FS_ASSERT_SLOW(i < n);
  return tree[(size_t)n + i];
}

/* The largest load.  Requires n > 0. */
static inline fs_tick fs_tops_most(const fs_tick *tree, uint32_t n) {
  FS_ASSERT_SLOW(n > 0);
  return tree[1];
}

/* Changes load i.  Complexity: O(log n), less where the largest loads above stay. */
static inline void fs_tops_set(fs_tick *tree, uint32_t n, uint32_t i, fs_tick load) {
  FS_ASSERT_SLOW(i < n);
  size_t at = (size_t)n + i;
  tree[at] = load;
  for (at /= 2; at > 0; at /= 2) {
    fs_tick most = fs_max(tree[2 * at], tree[2 * at + 1]);
    if (tree[at] == most) {
      break;
    }
    tree[at] = most;
  }
}

#endif
