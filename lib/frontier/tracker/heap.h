/* SPDX-License-Identifier: Apache-2.0 */
/* The waiters at one axis as a pairing heap by epoch, made of the waiters themselves.  Semaphores
 * use it too: there `epoch` is a value, or the order of registration.
 * Source: Fredman, Sedgewick, Sleator and Tarjan, "The pairing heap", 1986. */
#ifndef FS_TRACKER_HEAP_H
#define FS_TRACKER_HEAP_H

#include "base/base.h"
#include "fsched/tracker.h"

/* *root is a waiter with the least inner.epoch, NULL when there is none.  Requires that `w` is in
 * no heap.  O(1). */
void fs_waiters_add(fsched_waiter **root, fsched_waiter *w);
/* Requires that w is in the heap.  O(log n) amortised. */
void fs_waiters_remove(fsched_waiter **root, fsched_waiter *w);

#endif
