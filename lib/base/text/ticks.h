/* SPDX-License-Identifier: Apache-2.0 */
/* The length of a tick.  The time unit is a label, and four labels stand for a length: ns, us, ms,
 * s. */
#ifndef FS_TICKS_H
#define FS_TICKS_H

#include "base/base.h"

/* These labels; each length is 1000 times the one before. */
enum { FS_TICK_UNITS = 4 };
static const char *const fs_tick_unit[FS_TICK_UNITS] = {"ns", "us", "ms", "s"};

/* Returns nanoseconds per tick; 0 for other labels (cycles, days, ...) and for NULL. */
static inline uint64_t fs_tick_ns(const char *time_unit) {
  uint64_t ns = 1;
  for (uint32_t u = 0; time_unit != NULL && u < FS_TICK_UNITS; u++, ns *= 1000) {
    if (strcmp(time_unit, fs_tick_unit[u]) == 0) {
      return ns;
    }
  }
  return 0;
}

#endif
