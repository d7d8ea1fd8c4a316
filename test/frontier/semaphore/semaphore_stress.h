/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores under several threads at once, with every callback counted; for the tests and, with
 * many more operations, for the benchmark. */
#ifndef FS_TEST_SEMAPHORE_STRESS_H
#define FS_TEST_SEMAPHORE_STRESS_H

#include "fsched/semaphore.h"

typedef struct fs_sem_stress_result {
  uint64_t signals, waits, cancels, many, failures;
  uint64_t callbacks;
  uint64_t lost;       /* reached or failed, and neither called nor cancelled */
  uint64_t doubled;    /* called twice, or called although cancel had returned 1 */
  uint64_t untruthful; /* called for no reason, a wrong cause, another value's frontier */
} fs_sem_stress_result;

/* Threads signal, wait with callbacks and for several semaphores at once, cancel their own
 * timepoints (and in callbacks those of others), and fail one of the semaphores.  Between rounds,
 * when all are quiet, every timepoint's fate is compared with what the semaphores say.  There are
 * at least `operations` in all. */
fsched_status fs_semaphore_stress(uint64_t operations, uint32_t threads, uint64_t seed,
                                  fsched_scope scope, fs_sem_stress_result *out) FSCHED_MUST_USE;
/* Two threads: one signals the values k of two semaphores while the other waits for them, with a
 * callback, for both at once, or for any.  The sharpest test for a lost wake-up, as no later signal
 * comes to make up for it. */
fsched_status fs_semaphore_duel(uint64_t rounds, uint64_t seed, fsched_scope scope,
                                fs_sem_stress_result *out) FSCHED_MUST_USE;

#endif
