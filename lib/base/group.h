/* SPDX-License-Identifier: Apache-2.0 */
/* Ids sorted into compressed rows (CSR), the form of all lists of lists. */
#ifndef FS_GROUP_H
#define FS_GROUP_H

#include "base/mem.h"

/* Sorts the ids 0 .. n - 1, ascending, into the rows that row_of names; an id with FS_NONE is in no
 * row.  Requires rows below n_rows, and n_rows < 2^32 - 1.  Ensures: members of row r are (*id)[k]
 * for (*row0)[r] <= k < (*row0)[r + 1]; both are in `arena`.  Errors: FSCHED_SYSTEM.  Complexity:
 * O(n + n_rows). */
fs_status fs_group(fs_arena *arena, const uint32_t *row_of, uint32_t n, uint32_t n_rows,
                   uint32_t **row0, uint32_t **id) FS_MUST_USE;

/* Inverts lists.  Lists 0 .. n - 1 are compressed rows, too, and name rows: list i is list[k] for
 * list0[i] <= k < list0[i + 1].  Row r of the result holds i once for each time that list i names
 * r.  Requires names below n_rows, and lists that begin at list[0].  Ensures and errors: as
 * fs_group.  Complexity: O(n + names + n_rows). */
fs_status fs_group_turn(fs_arena *arena, const uint32_t *list0, const uint32_t *list, uint32_t n,
                        uint32_t n_rows, uint32_t **row0, uint32_t **id) FS_MUST_USE;

/* The two functions below compute the row starts alone, for rows of any other elements. */

/* For members whose place in their row is known: count them with first[row + 1]++ in n_rows + 1
 * zeros; after the call, row has the places first[row] up to first[row + 1].  Requires n_rows + 1
 * counts, the first of which is 0. */
static inline void fs_group_starts(uint32_t *first, uint32_t n_rows) {
  assert(first[0] == 0);
  for (uint32_t r = 0; r < n_rows; r++) {
    first[r + 1] += first[r];
  }
}

/* For members that are appended one by one: count them with first[row + 2]++ in n_rows + 2 zeros;
 * after the call, first[n_rows + 1] is their number.  Put each member at first[row + 1]++; when all
 * are placed, row has the places first[row] up to first[row + 1]. */
static inline void fs_group_sum(uint32_t *first, uint32_t n_rows) {
  fs_group_starts(first + 1, n_rows);
}

#endif
