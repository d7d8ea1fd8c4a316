/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of the CPU's threads, with one for each queue, and with fewer threads than queues. */
#include "exec/conformance/conformance.h"

FS_SUITE(conformance_cpu, s) {
  static const fs_conformance cpu = {.device = {.kind = "cpu"}};
  fs_conformance_add(s, &cpu);
}

FS_SUITE(conformance_threads, s) {
  static const fs_conformance few[] = {{.device = {.kind = "cpu", .threads = 1}},
                                       {.device = {.kind = "cpu", .threads = 2}},
                                       {.device = {.kind = "cpu", .threads = 3}}};
  for (unsigned i = 0; i < sizeof few / sizeof few[0]; i++) {
    fs_conformance_add(s, &few[i]);
  }
}
