/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline: the epoch that an axis has reached, on which any thread can wait.
 *
 * One writer at a time publishes strictly increasing epochs.  Any number of threads wait, which
 * spin first and then sleep on a Linux futex; so do any number of waiters that have no thread of
 * their own.  No wake-up is lost: a thread that is about to sleep counts itself in `waiting` and
 * then reads `epoch`; the publisher writes `epoch` and then reads `waiting`.  Both pairs are
 * sequentially consistent, so at least one of the two sees the other; release and acquire alone
 * would allow both to miss.  `turn` is the futex word: the publisher changes it after the epoch, so
 * a sleeper that has read the old epoch finds the turn changed and does not sleep.
 *
 * A waiter counts itself and then reads `epoch` under the lock under which publishers take out all
 * waiters whose values are reached.  A publisher that does not see the waiter counted has written
 * the epoch before the waiter reads it; a publisher that does see it waits for the lock, and reads
 * an epoch there that is at least its own.  Waiters whose values are still to come stay, and stay
 * counted for later publishers. */
#ifndef FS_EXEC_TIMELINE_H
#define FS_EXEC_TIMELINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "base/futex.h"
#include "exec/host/parked.h"

/* Two cache lines, because the hardware fetches lines in pairs. */
enum { FS_LINE = 128 };

typedef struct fs_timeline {
  _Alignas(FS_LINE) _Atomic uint64_t epoch;
  _Atomic uint64_t waiting; /* sleeping threads + FS_PARKED * waiters without a thread */
  _Atomic uint32_t turn;
  fs_parked *parked;    /* under the lock */
  pthread_mutex_t lock; /* of waiters; made and destroyed by the owner, if it parks any */
} fs_timeline;

#define FS_PARKED (UINT64_C(1) << 32)

static inline bool fs_timeline_reached(const fs_timeline *t, uint64_t value) {
  return atomic_load_explicit(&t->epoch, memory_order_acquire) >= value;
}

/* Wakes the sleeping threads, and the waiters whose value is reached. */
void fs_timeline_wake(fs_timeline *t);
/* Wakes all waiters, whatever their values. */
void fs_timeline_wake_parked(fs_timeline *t);

static inline void fs_timeline_publish(fs_timeline *t, uint64_t value) {
  atomic_store(&t->epoch, value);
  if (atomic_load(&t->waiting) != 0) {
    fs_timeline_wake(t);
  }
}

/* Spins at most `spins` times.  Returns whether the value was reached. */
bool fs_timeline_spin(const fs_timeline *t, uint64_t value, uint32_t spins);
/* Sleeps until the value is reached, *stop is not 0 (its setter must then wake the timeline), or
 * timeout_ns has passed (UINT64_MAX: never).  Returns whether the value was reached. */
bool fs_timeline_sleep(fs_timeline *t, uint64_t value, const _Atomic uint32_t *stop,
                       uint64_t timeout_ns);
/* Parks the waiter, with its value and `wake`, on the timeline.  Returns whether it is parked; else
 * the value is reached or *stop is not 0 (its setter must then wake the parked waiters).  It may be
 * woken before this returns, in the thread that publishes, without locks.  Requires a waiter that
 * can be woken. */
bool fs_timeline_park(fs_timeline *t, fs_parked *waiter, const _Atomic uint32_t *stop);

#endif
