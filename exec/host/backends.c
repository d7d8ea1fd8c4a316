/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/host/backends.h"

#include <string.h>

#define ROW(id, name, threads, number, simulates, best, submits) \
  {name, threads, number, simulates, best, submits},
const fs_backend_kind fs_backend_kinds[FS_N_BACKENDS] = {FS_BACKEND_KINDS(ROW)};

const fs_backend_kind *fs_backend_kind_of(const char *name) {
  for (uint32_t i = 0; i < FS_N_BACKENDS; i++) {
    if (strcmp(fs_backend_kinds[i].name, name) == 0) {
      return &fs_backend_kinds[i];
    }
  }
  return NULL;
}
