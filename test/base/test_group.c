/* SPDX-License-Identifier: Apache-2.0 */
/* Ids in rows, compared with looking for the members of one row after the other. */

#include "base/context.h"
#include "base/group.h"
#include "kit/gen.h"

#include "kit/context.h"

enum { MOST = 40 };

START_TEST(rows_of_ids)
{
  for (uint64_t seed = 1; seed <= 500; seed++) {
    fs_rng r = {seed};
    uint32_t row_of[MOST], n = fs_rng_below(&r, MOST + 1), n_rows = fs_rng_below(&r, 12);
    uint32_t *row0, *id, k = 0;
    for (uint32_t i = 0; i < n; i++) {
      row_of[i] = n_rows == 0 || fs_rng_one_in(&r, 4) ? FS_NONE : fs_rng_below(&r, n_rows);
    }
    ck_assert_int_eq(fs_group(&own_arena, row_of, n, n_rows, &row0, &id), FSCHED_OK);
    for (uint32_t row = 0; row < n_rows; row++) {
      ck_assert_uint_eq(row0[row], k);
      for (uint32_t i = 0; i < n; i++) {
        if (row_of[i] == row) {
          ck_assert_uint_eq(id[k++], i);
        }
      }
    }
    ck_assert_uint_eq(row0[n_rows], k);
  }
}
END_TEST

START_TEST(lists_turned)
{
  for (uint64_t seed = 1; seed <= 500; seed++) {
    fs_rng r = {seed};
    uint32_t list0[MOST + 1] = {0}, list[3 * MOST], n = fs_rng_below(&r, MOST + 1);
    uint32_t n_rows = 1 + fs_rng_below(&r, 12), *row0, *id, k = 0;
    for (uint32_t i = 0; i < n; i++) {
      list0[i + 1] = list0[i];
      for (uint32_t m = fs_rng_below(&r, 4); m > 0; m--) {
        list[list0[i + 1]++] = fs_rng_below(&r, n_rows);
      }
    }
    ck_assert_int_eq(fs_group_turn(&own_arena, list0, list, n, n_rows, &row0, &id), FSCHED_OK);
    for (uint32_t row = 0; row < n_rows; row++) {
      ck_assert_uint_eq(row0[row], k);
      for (uint32_t i = 0; i < n; i++) {
        for (uint32_t e = list0[i]; e < list0[i + 1]; e++) {
          if (list[e] == row) {
            ck_assert_uint_eq(id[k++], i);
          }
        }
      }
    }
    ck_assert_uint_eq(row0[n_rows], k);
  }
}
END_TEST

START_TEST(where_the_place_is_known)
{
  uint32_t first[] = {0, 2, 0, 3};
  fs_group_starts(first, 3);
  const uint32_t starts[] = {0, 2, 2, 5};
  ck_assert_mem_eq(first, starts, sizeof starts);
}
END_TEST

FS_SUITE(group, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_TESTS(t, rows_of_ids, lists_turned, where_the_place_is_known);
}
