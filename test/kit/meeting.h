/* SPDX-License-Identifier: Apache-2.0 */
/* A place where threads meet.  They spin, so that they leave together, but not for ever. */
#ifndef FS_TEST_MEETING_H
#define FS_TEST_MEETING_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

typedef struct fs_kit_meeting {
  _Atomic uint32_t arrived, turn;
  uint32_t n;
} fs_kit_meeting;

static inline void fs_meet(fs_kit_meeting *m) {
  enum { SPINS = 2000 };
  uint32_t turn = atomic_load(&m->turn);
  if (atomic_fetch_add(&m->arrived, 1) + 1 == m->n) {
    atomic_store(&m->arrived, 0);
    atomic_store(&m->turn, turn + 1);
    return;
  }
  for (uint32_t i = 0; atomic_load(&m->turn) == turn; i++) {
    if (i >= SPINS) {
      (void)sched_yield();
    }
  }
}

#endif
