/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for sleeping on a word of memory (Linux futex). */
#ifndef FS_FUTEX_H
#define FS_FUTEX_H

#include <stdatomic.h>

#include "base/base.h"

/* Sleeps while *word is `value`, at most timeout_ns (UINT64_MAX: no limit); may return early. */
void fs_futex_wait(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
void fs_futex_wake_all(const _Atomic uint32_t *word);
/* The same for a word in memory that is shared with other processes. */
void fs_futex_wait_shared(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
void fs_futex_wake_all_shared(const _Atomic uint32_t *word);

/* Tells the processor that this is a spin loop. */
static inline void fs_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

#endif
