/* SPDX-License-Identifier: Apache-2.0 */
/* Waiters that wait for values without a thread of their own, the least value first: a pairing heap
 * of the waiters themselves, so that nothing is allocated.  Adding is O(1), taking O(log n)
 * amortised over the additions.  Waiters of equal values come in arbitrary order.  The caller
 * locks. */
#ifndef FS_EXEC_PARKED_H
#define FS_EXEC_PARKED_H

#include "base/base.h"

typedef struct fs_parked {
  struct fs_parked *child, *next; /* used by the heap */
  uint64_t value;
  void (*wake)(struct fs_parked *waiter); /* called when the waiter is in no heap any more */
} fs_parked;

/* Adds a waiter to the heap; *least is NULL for an empty heap. */
void fs_parked_add(fs_parked **least, fs_parked *waiter);
/* Takes out and returns the least waiter.  Requires a heap that is not empty. */
fs_parked *fs_parked_take(fs_parked **least);

#endif
