/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines: the slow paths, which spin, sleep and wake. */
#include "exec/host/timeline.h"

#include "base/clock.h"

/* Wakes the waiters whose value is at most `epoch`, or all. */
static void wake_parked(fs_timeline *t, bool all) {
  fs_parked *woken = NULL;
  uint64_t n = 0;
  pthread_mutex_lock(&t->lock);
  uint64_t epoch = all ? UINT64_MAX : atomic_load(&t->epoch);
  while (t->parked != NULL && t->parked->value <= epoch) {
    fs_parked *w = fs_parked_take(&t->parked);
    w->next = woken;
    woken = w;
    n++;
  }
  atomic_fetch_sub(&t->waiting, n * FS_PARKED);
  pthread_mutex_unlock(&t->lock);
  while (woken != NULL) {
    fs_parked *w = woken;
    woken = w->next; /* read before the call, as the waiter may be parked again at once */
    w->wake(w);
  }
}

void fs_timeline_wake(fs_timeline *t) {
  uint64_t waiting = atomic_load(&t->waiting);
  if (waiting >= FS_PARKED) {
    wake_parked(t, false);
  }
  if (waiting % FS_PARKED != 0) {
    atomic_fetch_add(&t->turn, 1);
    fs_futex_wake_all(&t->turn);
  }
}

void fs_timeline_wake_parked(fs_timeline *t) {
  if (atomic_load(&t->waiting) >= FS_PARKED) {
    wake_parked(t, true);
  }
}

bool fs_timeline_park(fs_timeline *t, fs_parked *waiter, const _Atomic uint32_t *stop) {
  assert(waiter->wake != NULL);
  pthread_mutex_lock(&t->lock);
  atomic_fetch_add(&t->waiting, FS_PARKED);
  bool waits = atomic_load(&t->epoch) < waiter->value && atomic_load(stop) == 0;
  if (waits) {
    fs_parked_add(&t->parked, waiter);
  } else {
    atomic_fetch_sub(&t->waiting, FS_PARKED);
  }
  pthread_mutex_unlock(&t->lock);
  return waits;
}

bool fs_timeline_spin(const fs_timeline *t, uint64_t value, uint32_t spins) {
  for (uint32_t i = 0; i < spins; i++) {
    if (fs_timeline_reached(t, value)) {
      return true;
    }
    fs_pause();
  }
  return false;
}

bool fs_timeline_sleep(fs_timeline *t, uint64_t value, const _Atomic uint32_t *stop,
                       uint64_t timeout_ns) {
  uint64_t begin = timeout_ns == UINT64_MAX ? 0 : fs_now_ns();
  uint64_t left = timeout_ns;
  bool reached = false;
  atomic_fetch_add(&t->waiting, 1);
  for (;;) {
    uint32_t turn = atomic_load(&t->turn);
    reached = atomic_load(&t->epoch) >= value;
    if (reached || left == 0 || atomic_load(stop) != 0) {
      break;
    }
    fs_futex_wait(&t->turn, turn, left);
    if (timeout_ns != UINT64_MAX) {
      uint64_t passed = fs_now_ns() - begin;
      left = passed < timeout_ns ? timeout_ns - passed : 0;
    }
  }
  atomic_fetch_sub(&t->waiting, 1);
  return reached;
}
