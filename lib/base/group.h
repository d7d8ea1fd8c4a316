/* SPDX-License-Identifier: Apache-2.0 */
/* Ids sorted into rows: compressed rows (CSR), the form of all lists of lists. */
#ifndef FS_GROUP_H
#define FS_GROUP_H

#include "base/mem.h"

/* The ids 0 .. n - 1, ascending, in the rows that row_of says; FS_NONE: in none.  Requires rows
 * below n_rows, and fewer than 2^32 - 1 of them.
 * Ensures: members of row r are (*id)[k] for (*row0)[r] <= k < (*row0)[r + 1]; both are in `arena`.
 * Errors: FSCHED_SYSTEM.  Complexity: O(n + n_rows). */
fs_status fs_group(fs_arena *arena, const uint32_t *row_of, uint32_t n, uint32_t n_rows,
                   uint32_t **row0, uint32_t **id) FS_MUST_USE;

/* Lists turned round.  Lists 0 .. n - 1 are compressed rows, too, and name rows: list i is list[k]
 * for list0[i] <= k < list0[i + 1].  What is sorted into the rows is i, once per name.  Requires
 * names below n_rows and lists from the begin of `list` on.
 * Ensures and errors: as fs_group.  Complexity: O(n + names + n_rows). */
fs_status fs_group_turn(fs_arena *arena, const uint32_t *list0, const uint32_t *list, uint32_t n,
                        uint32_t n_rows, uint32_t **row0, uint32_t **id) FS_MUST_USE;

/* For rows of anything else, the sums alone. */

/* Where the place of a member in its row is known: count with first[row + 1]++ in n_rows + 1 zeros;
 * after this, first[row] .. first[row + 1] are row's.  Requires n_rows + 1 counts, the first of
 * which is 0. */
static inline void fs_group_starts(uint32_t *first, uint32_t n_rows) {
  assert(first[0] == 0);
  for (uint32_t r = 0; r < n_rows; r++) {
    first[r + 1] += first[r];
  }
}

/* Where members are put one behind the other: count with first[row + 2]++ in n_rows + 2 zeros;
 * after this, first[n_rows + 1] is how many there are; put each at first[row + 1]++; after that,
 * first[row] .. first[row + 1] are row's. */
static inline void fs_group_sum(uint32_t *first, uint32_t n_rows) {
  fs_group_starts(first + 1, n_rows);
}

#endif
