/* SPDX-License-Identifier: Apache-2.0 */
/* Every early return of the kernel (a signal, a changed word) is a reason for the caller to look
 * again, so no result is reported. */
#include "base/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static void wait(const _Atomic uint32_t *word, int command, uint32_t value, uint64_t timeout_ns) {
  struct timespec t = {.tv_sec = (time_t)(timeout_ns / FS_NS_PER_S),
                       .tv_nsec = (long)(timeout_ns % FS_NS_PER_S)};
  (void)syscall(SYS_futex, word, command, value, timeout_ns == UINT64_MAX ? NULL : &t, NULL, 0);
}

void fs_futex_wait(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns) {
  wait(word, FUTEX_WAIT_PRIVATE, value, timeout_ns);
}

void fs_futex_wait_shared(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns) {
  wait(word, FUTEX_WAIT, value, timeout_ns);
}

void fs_futex_wake_all(const _Atomic uint32_t *word) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void fs_futex_wake_all_shared(const _Atomic uint32_t *word) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
