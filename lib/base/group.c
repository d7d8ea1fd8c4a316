/* SPDX-License-Identifier: Apache-2.0 */
#include "base/group.h"

#include <assert.h>

fs_status fs_group(fs_arena *arena, const uint32_t *row_of, uint32_t n, uint32_t n_rows,
                   uint32_t **row0, uint32_t **id) {
  uint32_t *first; /* counts, then where the next member goes, one place behind what they are for */
  FS_TRY(fs_new_zero(arena, &first, (size_t)n_rows + 2));
  for (uint32_t i = 0; i < n; i++) {
    assert(row_of[i] == FS_NONE || row_of[i] < n_rows);
    if (row_of[i] != FS_NONE) {
      first[row_of[i] + 2]++;
    }
  }
  for (uint32_t r = 0; r < n_rows; r++) {
    first[r + 2] += first[r + 1];
  }
  FS_TRY(fs_new(arena, id, first[n_rows + 1]));
  for (uint32_t i = 0; i < n; i++) {
    if (row_of[i] != FS_NONE) {
      (*id)[first[row_of[i] + 1]++] = i;
    }
  }
  *row0 = first;
  return FSCHED_OK;
}
