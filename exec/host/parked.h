/* SPDX-License-Identifier: Apache-2.0 */
/* Those who wait for values without a thread of their own, the least value first: a pairing heap of
 * the waiters themselves, so that nothing is allocated.  Adding is O(1), taking O(log n) amortised
 * over the additions.  Equal values come in no order that means anything.  No locks: the caller's.
 */
#ifndef FS_EXEC_PARKED_H
#define FS_EXEC_PARKED_H

#include "base/base.h"

typedef struct fs_parked {
  struct fs_parked *child, *next; /* the heap's */
  uint64_t value;
  void (*wake)(struct fs_parked *waiter); /* it is in no heap any more */
} fs_parked;

/* *least is NULL when there are none. */
void fs_parked_add(fs_parked **least, fs_parked *waiter);
/* Takes out and returns the least.  Requires that there is one. */
fs_parked *fs_parked_take(fs_parked **least);

#endif
