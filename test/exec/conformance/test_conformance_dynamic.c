/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of programs whose ops are submitted one by one. */
#include "exec/conformance/conformance.h"

FS_SUITE(conformance_dynamic, s) {
  static const fs_conformance dynamic = {.device = {.kind = "dynamic", .heap_bytes = 1 << 20},
                                         .begins_at_once = true,
                                         .without_plan = true};
  fs_conformance_add(s, &dynamic);
}
