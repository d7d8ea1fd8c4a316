/* SPDX-License-Identifier: Apache-2.0 */
#include "base/group.h"

#include <assert.h>

fs_status fs_group(fs_arena *arena, const uint32_t *row_of, uint32_t n, uint32_t n_rows,
                   uint32_t **row0, uint32_t **id) {
  assert(n_rows < FS_NONE);
  uint32_t *first;
  FS_TRY(fs_new_zero(arena, &first, (size_t)n_rows + 2));
  for (uint32_t i = 0; i < n; i++) {
    assert(row_of[i] == FS_NONE || row_of[i] < n_rows);
    if (row_of[i] != FS_NONE) {
      first[row_of[i] + 2]++;
    }
  }
  fs_group_sum(first, n_rows);
  FS_TRY(fs_new(arena, id, first[n_rows + 1]));
  for (uint32_t i = 0; i < n; i++) {
    if (row_of[i] != FS_NONE) {
      (*id)[first[row_of[i] + 1]++] = i;
    }
  }
  assert(first[0] == 0 && (n_rows == 0 || first[n_rows] <= n));
  *row0 = first;
  return FSCHED_OK;
}

fs_status fs_group_turn(fs_arena *arena, const uint32_t *list0, const uint32_t *list, uint32_t n,
                        uint32_t n_rows, uint32_t **row0, uint32_t **id) {
  assert(n_rows < FS_NONE);
  assert(n == 0 || list0[0] == 0);
  uint32_t *first, n_names = n == 0 ? 0 : list0[n];
  FS_TRY(fs_new_zero(arena, &first, (size_t)n_rows + 2));
  FS_TRY(fs_new(arena, id, n_names));
  for (uint32_t k = 0; k < n_names; k++) {
    assert(list[k] < n_rows);
    first[list[k] + 2]++;
  }
  fs_group_sum(first, n_rows);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = list0[i]; k < list0[i + 1]; k++) {
      (*id)[first[list[k] + 1]++] = i;
    }
  }
  assert(n_rows == 0 || first[n_rows] == n_names);
  *row0 = first;
  return FSCHED_OK;
}
