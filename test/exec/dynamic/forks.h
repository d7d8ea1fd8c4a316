/* SPDX-License-Identifier: Apache-2.0 */
/* Whether worker processes can be forked in tests. */
#ifndef FS_TEST_FORKS_H
#define FS_TEST_FORKS_H

#include <check.h>
#include <stdbool.h>

#include <stdio.h>
#include <unistd.h>

#include "exec/dynamic/process/children.h"

/* A path beside the runner. */
static inline const char *beside_runner(const char *name, char path[4096]) {
  ssize_t n = readlink("/proc/self/exe", path, 4000);
  while (n > 0 && path[n - 1] != '/') {
    n--;
  }
  (void)snprintf(path + (n < 0 ? 0 : n), 96, "%s", name);
  return path;
}

/* The thread sanitizer has a thread of its own, so that nothing can be forked.  To be asked before
 * threads are started. */
static inline bool workers_fork(void) {
#ifdef __SANITIZE_THREAD__
  return false;
#else
  ck_assert(fs_child_can_fork());
  return true;
#endif
}

#endif
