/* SPDX-License-Identifier: Apache-2.0 */
/* Trackers under several threads at once, with every callback counted; for the tests and, with
 * many more operations, for the benchmark. */
#ifndef FS_TEST_TRACKER_STRESS_H
#define FS_TEST_TRACKER_STRESS_H

#include "base/base.h"

typedef struct fs_stress_result {
  uint64_t advances, waits, cancels, ends, callbacks;
  uint64_t lost;       /* reached or ended, and neither called nor cancelled */
  uint64_t doubled;    /* called twice, or called although cancel had returned 1 */
  uint64_t untruthful; /* called for no reason, or with the wrong cause */
} fs_stress_result;

/* Threads, each the writer of one axis, advance, wait for one to four axes, cancel their own
 * waiters (and in callbacks those of others), and fail and retire axes.  Between rounds, when all
 * are quiet, every waiter's fate is compared with what the axes say.  There are at least
 * `operations` in all.  `fenced`: without membarrier. */
fs_status fs_tracker_stress(uint64_t operations, uint32_t threads, uint64_t seed, bool fenced,
                            fs_stress_result *out) FS_MUST_USE;
/* Two threads: one advances an axis to k while the other waits for k; when both calls are over the
 * callback must have been called once.  The sharpest test for a lost wake-up, as no later advance
 * comes to make up for it. */
fs_status fs_tracker_duel(uint64_t rounds, uint64_t seed, bool fenced,
                          fs_stress_result *out) FS_MUST_USE;
/* Does the same for waiters that move on together, with public functions alone and with whatever
 * fence the machine has.  Several wait for {X, Y} (and some for Y later, or for Y alone); two
 * threads advance X and Y at the same moment, once a round.  When both calls are over each waiter
 * must have been called once, except for one that the thread of X cancels in some rounds. */
fs_status fs_tracker_batches(uint64_t rounds, uint64_t seed, fs_stress_result *out) FS_MUST_USE;

#endif
