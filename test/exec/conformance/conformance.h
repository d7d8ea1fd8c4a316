/* SPDX-License-Identifier: Apache-2.0 */
/* One suite of tests for all back ends, of what exec/host/backend.h and fsched/exec.h promise.
 *
 * A suite file says which device it tests:
 *
 *   FS_SUITE(conformance_cpu, s) {
 *     static const fs_conformance cpu = {.device = {.kind = "cpu"}};
 *     fs_conformance_add(s, &cpu);
 *   }
 *
 * No kernels of modules are needed; tests with kernels of their own are left out where the device
 * does not run functions of this process. */
#ifndef FS_TEST_CONFORMANCE_H
#define FS_TEST_CONFORMANCE_H

#include <stdbool.h>

#include "fsched/exec.h"
#include "kit/suite.h"

typedef struct fs_conformance {
  fsched_device_options device; /* its size is filled in; strings live as long as the suite */
  /* These are called around each test; NULL: nothing to do.  `before` may change the device's
   * options. */
  void (*before)(void *user, fsched_device_options *device);
  void (*after)(void *user);
  void *user;
  /* An invocation begins only when all of its inputs are there, so no output comes before that. */
  bool begins_at_once;
  /* Ops are submitted one by one, so that commands, and what they wait for, say nothing. */
  bool without_plan;
} fs_conformance;

/* Adds the tests for a device; `what` must live as long as the suite. */
void fs_conformance_add(const fs_suite *s, const fs_conformance *what);

#endif
