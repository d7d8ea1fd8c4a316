/* SPDX-License-Identifier: Apache-2.0 */
/* Frontiers as they are usually written in C, to measure ours beside: one block of memory with its
 * entries behind the head, and plain merge scans along two of them that end at the first entry that
 * decides.  It knows no taint, and where a capacity does not suffice it only says so: what it
 * leaves out would cost it time. */
#ifndef FS_BENCH_FRONTIER_REFERENCE_H
#define FS_BENCH_FRONTIER_REFERENCE_H

#include "base/base.h"
#include "fsched/frontier.h"

typedef struct fs_usual {
  uint32_t n, capacity, reserved[2]; /* as long as an entry */
  fsched_frontier_entry entry[];
} fs_usual;

fsched_frontier_order fs_usual_compare(const fs_usual *a, const fs_usual *b);
/* False: there was no room, and the target is unchanged. */
bool fs_usual_merge(fs_usual *target, const fs_usual *source);
bool fs_usual_raise(fs_usual *f, fsched_frontier_entry e);
bool fs_usual_satisfied(const fs_usual *wanted, const fs_usual *progress);
/* The entries of `wanted` that `known` lacks; `out` has room for all. */
uint32_t fs_usual_undominated(const fs_usual *known, const fs_usual *wanted,
                              fsched_frontier_entry *out);

#endif
