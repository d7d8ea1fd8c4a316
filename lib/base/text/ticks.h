/* SPDX-License-Identifier: Apache-2.0 */
/* The length of a tick.  The time unit is a label, and four labels stand for a length: ns, us, ms,
 * s. */
#ifndef FS_TICKS_H
#define FS_TICKS_H

#include "base/base.h"

/* Returns nanoseconds per tick; 0 for other labels (cycles, days, ...) and for NULL. */
static inline uint64_t fs_tick_ns(const char *time_unit) {
  static const struct {
    char label[4];
    uint64_t ns;
  } known[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
  for (size_t i = 0; time_unit != NULL && i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(time_unit, known[i].label) == 0) {
      return known[i].ns;
    }
  }
  return 0;
}

#endif
