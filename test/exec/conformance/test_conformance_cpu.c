/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of the CPU's threads: one for each queue, and fewer than queues. */
#include "exec/conformance/conformance.h"

Suite *fs_suite_conformance_cpu(void) {
  static const fs_conformance cpu = {.device = {.kind = "cpu"}};
  Suite *s = suite_create("conformance_cpu");
  fs_conformance_add(s, &cpu);
  return s;
}

Suite *fs_suite_conformance_threads(void);

Suite *fs_suite_conformance_threads(void) {
  static const fs_conformance few[] = {{.device = {.kind = "cpu", .threads = 1}},
                                       {.device = {.kind = "cpu", .threads = 2}},
                                       {.device = {.kind = "cpu", .threads = 3}}};
  Suite *s = suite_create("conformance_threads");
  for (unsigned i = 0; i < sizeof few / sizeof few[0]; i++) {
    fs_conformance_add(s, &few[i]);
  }
  return s;
}
