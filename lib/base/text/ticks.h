/* SPDX-License-Identifier: Apache-2.0 */
/* The length of a tick.  The time unit is a label, and four labels stand for a length: ns, us, ms,
 * s.  Lengths are picoseconds, as a cycle of a processor is often no whole number of
 * nanoseconds. */
#ifndef FS_TICKS_H
#define FS_TICKS_H

#include "base/base.h"
#include "base/saturate.h"

/* A tick of a plan, where a time is needed and nothing says how long a tick is: a microsecond. */
#define FS_TICK_UNKNOWN_PS UINT64_C(1000000)
/* The longest tick: FSCHED_MAX_TIME nanoseconds. */
#define FS_TICK_MOST_PS ((UINT64_C(1) << 40) * 1000)

/* These labels; each length is 1000 times the one before. */
enum { FS_TICK_UNITS = 4 };
static const char *const fs_tick_unit[FS_TICK_UNITS] = {"ns", "us", "ms", "s"};

/* Returns picoseconds per tick; 0 for other labels (cycles, days, ...) and for NULL. */
static inline uint64_t fs_tick_ps(const char *time_unit) {
  uint64_t ps = 1000;
  for (uint32_t u = 0; time_unit != NULL && u < FS_TICK_UNITS; u++, ps *= 1000) {
    if (strcmp(time_unit, fs_tick_unit[u]) == 0) {
      return ps;
    }
  }
  return 0;
}

/* The nanoseconds of some ticks, rounded down; UINT64_MAX at most. */
static inline uint64_t fs_ticks_ns(uint64_t ticks, uint64_t tick_ps) {
  uint64_t rest = tick_ps % 1000;
  return fs_add_most(fs_multiply_most(ticks, tick_ps / 1000),
                     ticks / 1000 * rest + ticks % 1000 * rest / 1000);
}

/* The least number of ticks that take that long.  Requires a tick, and at most 2^54 ns. */
static inline uint64_t fs_ticks_of_ns(uint64_t ns, uint64_t tick_ps) {
  FS_ASSERT_SLOW(tick_ps > 0 && ns <= UINT64_C(1) << 54);
  return fs_ceil_div(ns * 1000, tick_ps);
}

#endif
