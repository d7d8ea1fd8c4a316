/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

uint64_t fs_now_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * FS_NS_PER_S + (uint64_t)t.tv_nsec;
}
