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
#define FS_UNBOUNDED FSCHED_UNBOUNDED

typedef fsched_status fs_status;
typedef uint64_t fs_tick;

#define FS_MUST_USE FSCHED_MUST_USE

/* An assert that costs as much as what it guards: in builds with a sanitizer, FS_STRESS or
 * FS_DEBUG.
 */
#if defined(FS_STRESS) || defined(FS_DEBUG) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__)
#define FS_ASSERT_SLOW(x) assert(x)
#else
#define FS_ASSERT_SLOW(x) ((void)sizeof(x))
#endif

/* Passes a failure on; the callee has reported it. */
#define FS_TRY(expr)                   \
  do {                                 \
    fs_status fs_try_status_ = (expr); \
    if (fs_try_status_ != FSCHED_OK) { \
      return fs_try_status_;           \
    }                                  \
  } while (0)

static inline uint64_t fs_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t fs_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Rounds up to a multiple of `align`, a power of two; no overflow for values up to 2^62. */
static inline uint64_t fs_align_up(uint64_t value, uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}
static inline uint64_t fs_ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

#endif
