/* SPDX-License-Identifier: Apache-2.0 */
/* The solver that was built with the tests. */
#ifndef FS_TEST_SOLVER_KIT_H
#define FS_TEST_SOLVER_KIT_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Writes its path into `path`; returns NULL, with a message, where GLPK was missing when the tests
 * were built. */
static inline const char *fs_test_solver(char path[4096]) {
  static const char name[] = "../fsched-glpk";
  ssize_t n = readlink("/proc/self/exe", path, 4096 - sizeof name);
  while (n > 0 && path[n - 1] != '/') {
    n--;
  }
  memcpy(path + (n < 0 ? 0 : n), name, sizeof name);
  if (access(path, X_OK) != 0) {
    (void)fprintf(stderr, "skipped: no fsched-glpk was built\n");
    return NULL;
  }
  return path;
}

#endif
