/* SPDX-License-Identifier: Apache-2.0 */
/* What every file uses: status propagation, ids, asserts, small arithmetic. */
#ifndef FS_BASE_H
#define FS_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fsched/fsched.h"

#define FS_NONE UINT32_MAX
#define FS_TICK_NONE UINT64_MAX
#define FS_NO_DISTANCE UINT64_MAX
#define FS_UNBOUNDED FSCHED_UNBOUNDED

typedef fsched_status fs_status;
typedef uint64_t fs_tick;

#define FS_MUST_USE FSCHED_MUST_USE

/* An assert that takes more than constant time, or stands where even that is too slow.  It is
 * checked in builds with the address or thread sanitizer, FS_STRESS or FS_DEBUG. */
#if defined(FS_STRESS) || defined(FS_DEBUG) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__)
#define FS_CHECKS_SLOWLY 1
#elif defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FS_CHECKS_SLOWLY 1
#endif
#endif
#ifdef FS_CHECKS_SLOWLY
#define FS_ASSERT_SLOW(x) assert(x)
#else
#define FS_ASSERT_SLOW(x) ((void)(0 && (x)))
#endif

/* Returns the failure of a callee, which has reported it. */
#define FS_TRY(expr)                   \
  do {                                 \
    fs_status fs_try_status_ = (expr); \
    if (fs_try_status_ != FSCHED_OK) { \
      return fs_try_status_;           \
    }                                  \
  } while (0)

static inline uint64_t fs_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t fs_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The greatest common divisor; of a number and 0 that number. */
static inline uint64_t fs_common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
/* Rounds up to a multiple of `align`; no overflow for values up to 2^62.  Requires that `align` is
 * a power of two. */
static inline uint64_t fs_align_up(uint64_t value, uint64_t align) {
  assert(align != 0 && (align & (align - 1)) == 0);
  return (value + align - 1) & ~(align - 1);
}
/* Requires b > 0. */
static inline uint64_t fs_ceil_div(uint64_t a, uint64_t b) {
  assert(b > 0);
  return a / b + (a % b != 0);
}

#endif
