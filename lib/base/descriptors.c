/* SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptors.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_FILES = 1 << 16 };

static void close_range_of(unsigned from, unsigned to) {
  if (from > to) {
    return;
  }
#ifdef SYS_close_range
  if (syscall(SYS_close_range, from, to, 0) == 0) {
    return;
  }
#endif
  struct rlimit most;
  unsigned end = getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur < MOST_FILES
                     ? (unsigned)most.rlim_cur
                     : MOST_FILES;
  for (unsigned fd = from; fd <= to && fd < end; fd++) {
    (void)close((int)fd);
  }
}

void fs_descriptors_close_others(const int *keep, int n) {
  assert(n == 0 || keep[0] > STDERR_FILENO);
  unsigned from = STDERR_FILENO + 1;
  for (int k = 0; k < n; k++) {
    close_range_of(from, (unsigned)keep[k] - 1);
    from = (unsigned)keep[k] + 1;
  }
  close_range_of(from, ~0u);
}
