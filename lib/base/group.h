/* SPDX-License-Identifier: Apache-2.0 */
/* Ids sorted into rows: compressed rows (CSR), the form of all lists of lists. */
#ifndef FS_GROUP_H
#define FS_GROUP_H

#include "base/mem.h"

/* The ids 0 .. n - 1, ascending, in the rows that row_of says; FS_NONE: in none.
 * Ensures: members of row r are (*id)[k] for (*row0)[r] <= k < (*row0)[r + 1]; both are in `arena`.
 * Errors: FSCHED_SYSTEM.  Complexity: O(n + n_rows). */
fs_status fs_group(fs_arena *arena, const uint32_t *row_of, uint32_t n, uint32_t n_rows,
                   uint32_t **row0, uint32_t **id) FS_MUST_USE;

#endif
