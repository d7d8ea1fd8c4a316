/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of the CPU's threads. */
#include "conformance.h"

Suite *fs_suite_conformance_cpu(void) {
  static const fs_conformance cpu = {.device = {.kind = "cpu"}};
  Suite *s = suite_create("conformance_cpu");
  fs_conformance_add(s, &cpu);
  return s;
}
