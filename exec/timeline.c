/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines: the slow half, that is spinning and sleeping. */
#include "timeline.h"

void fs_timeline_wake(fs_timeline *t) {
  atomic_fetch_add(&t->turn, 1);
  fs_futex_wake_all(&t->turn);
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
  atomic_fetch_add(&t->sleepers, 1);
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
  atomic_fetch_sub(&t->sleepers, 1);
  return reached;
}
