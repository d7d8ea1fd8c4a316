/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of places in memory, which are given back at syncs. */
#ifndef FS_BLOCK_STACK_H
#define FS_BLOCK_STACK_H

#include "base/context.h"
#include "base/mem.h"

typedef struct fs_stack_entry {
  uint64_t size;        /* at most 2^62 */
  uint32_t first, last; /* first write <= last read; UINT32_MAX: never given back */
} fs_stack_entry;

/* Entries in order of `first`; syncs ascending: a sync at s comes before all accesses at s.
 * Requires `align` a power of two, and entries in order of `first`.  Ensures: addresses are
 * multiples of `align` (a power of two); of two entries that share bytes, one has its last read
 * before a sync and the other its first write at or after it.  *peak is the end of the highest, at
 * most a little over 2^62.
 * Complexity: O((n + syncs) log n).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_stack(fsched_context *ctx, const fs_stack_entry *entry, uint32_t n,
                         const uint32_t *sync, uint32_t n_syncs, uint64_t align, uint64_t *address,
                         uint64_t *peak) FS_MUST_USE;

#endif
