/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline: the epoch that an axis has reached, on which any thread can wait.
 *
 * One writer (at a time) publishes strictly increasing epochs; any number of threads wait.  Waiting
 * spins first, then sleeps on a Linux futex.  No wake-up is lost: a sleeper counts itself in
 * `sleepers` and then reads `epoch`; the publisher writes `epoch` and then reads `sleepers`.  Both
 * pairs are sequentially consistent, so at least one of the two sees the other; release and acquire
 * alone would allow both to miss.  `turn` is the futex word: the publisher changes it after the
 * epoch, so a sleeper that has read the old epoch finds the turn changed and does not sleep. */
#ifndef FS_EXEC_TIMELINE_H
#define FS_EXEC_TIMELINE_H

#include <stdatomic.h>

#include "base.h"
#include "futex.h"

/* Two cache lines, because the hardware fetches lines in pairs. */
enum { FS_LINE = 128 };

typedef struct fs_timeline {
  _Alignas(FS_LINE) _Atomic uint64_t epoch;
  _Atomic uint32_t sleepers;
  _Atomic uint32_t turn;
} fs_timeline;

static inline bool fs_timeline_reached(const fs_timeline *t, uint64_t value) {
  return atomic_load_explicit(&t->epoch, memory_order_acquire) >= value;
}

void fs_timeline_wake(fs_timeline *t);

static inline void fs_timeline_publish(fs_timeline *t, uint64_t value) {
  atomic_store(&t->epoch, value);
  if (atomic_load(&t->sleepers) != 0) {
    fs_timeline_wake(t);
  }
}

/* Spins at most `spins` times; whether the value was reached. */
bool fs_timeline_spin(const fs_timeline *t, uint64_t value, uint32_t spins);
/* Sleeps until the value is reached, *stop is not 0 (its setter must then wake the timeline), or
 * timeout_ns has passed (UINT64_MAX: never); whether the value was reached. */
bool fs_timeline_sleep(fs_timeline *t, uint64_t value, const _Atomic uint32_t *stop,
                       uint64_t timeout_ns);

#endif
