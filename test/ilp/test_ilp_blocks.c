/* SPDX-License-Identifier: Apache-2.0 */
/* The building blocks compared with their definitions, on every point of small domains, and what
 * the published forms let through or cut off. */
#include "ilp/model_kit.h"

#include "kit/context.h"

enum { Z, Y, T }; /* variables in the order in which they are made */

static fs_model m;

static void begin_model(int64_t low, int64_t high) {
  uint32_t z;
  fs_model_init(&m, ctx, "block");
  ck_fs(ctx, fs_model_add_var(&m, FS_VAR_INTEGER, low, high, 0, &z, "z"));
  ck_assert_uint_eq(z, Z);
}

/* Does some point have this z, and value `v` of variable `var`? The other variables are free. */
static bool allows(int64_t z, uint32_t var, int64_t v) {
  int64_t value[FS_KIT_VARS];
  fs_kit_first(&m, value);
  do {
    if (value[Z] == z && value[var] == v && fs_model_broken(&m, value) == FS_NONE) {
      return true;
    }
  } while (fs_kit_next(&m, value));
  return false;
}

START_TEST(absolute_is_the_absolute_value)
{
  for (int64_t big = 0; big <= FS_KIT_SPAN; big++) {
    for (int64_t low = -big; low <= big; low++) {
      for (int64_t high = low; high <= big; high++) {
        uint32_t y;
        begin_model(low, high);
        ck_fs(ctx, fs_model_absolute(&m, Z, big, "a_z", &y));
        ck_assert_uint_eq(y, Y);
        for (int64_t z = low; z <= high; z++) {
          for (int64_t v = 0; v <= big; v++) {
            if (allows(z, Y, v) != (v == (z < 0 ? -z : z))) {
              ck_abort_msg("big %d: z %d, y %d", (int)big, (int)z, (int)v);
            }
          }
          if ((z < 0 && allows(z, T, 0)) || (z > 0 && allows(z, T, 1))) {
            ck_abort_msg("big %d: wrong sign of %d", (int)big, (int)z);
          }
        }
        fs_model_release(&m);
      }
    }
  }
}
END_TEST

/* Adds the rows by hand: y - z - plus*t <= 0 and y + z + minus*t <= minus_side, beside -y <= z <=
 * y. */
static void published_absolute(int64_t big, bool binary_rows, int64_t factor) {
  uint32_t id;
  begin_model(-big, big);
  ck_fs(ctx, fs_model_add_var(&m, FS_VAR_INTEGER, 0, big, 0, &id, "y_1"));
  ck_fs(ctx, fs_model_add_var(&m, FS_VAR_BINARY, 0, 1, 0, &id, "t"));
  for (int64_t sign = -1; sign <= 1; sign += 2) {
    ck_fs(ctx, fs_model_begin_row(&m, 0, FS_MODEL_INF, "abs_%d", (int)sign + 1));
    ck_fs(ctx, fs_model_add_term(&m, Y, 1));
    ck_fs(ctx, fs_model_add_term(&m, Z, sign));
    ck_fs(ctx, fs_model_end_row(&m));
    if (binary_rows) {
      int64_t side = sign < 0 ? 0 : factor * big;
      ck_fs(ctx, fs_model_begin_row(&m, -FS_MODEL_INF, side, "sign_%d", (int)sign + 1));
      ck_fs(ctx, fs_model_add_term(&m, Y, 1));
      ck_fs(ctx, fs_model_add_term(&m, Z, sign));
      ck_fs(ctx, fs_model_add_term(&m, T, sign * factor * big));
      ck_fs(ctx, fs_model_end_row(&m));
    }
  }
}

START_TEST(absolute_without_binary_rows_is_too_large)
{
  published_absolute(3, false, 0);
  ck_assert(allows(1, Y, 1));
  ck_assert(allows(1, Y, 3)); /* |1| is not 3 */
  ck_assert(allows(0, Y, 2));
  ck_assert(!allows(2, Y, 1));
  fs_model_release(&m);
}
END_TEST

START_TEST(absolute_with_m_cuts_off_the_ends)
{
  published_absolute(3, true, 1);
  ck_assert(allows(1, Y, 1));
  ck_assert(allows(-1, Y, 1));
  ck_assert(!allows(-3, Y, 3)); /* |-3| is 3 */
  ck_assert(!allows(3, Y, 3));
  ck_assert(!allows(2, Y, 2)); /* t = 0 demands y + z <= M */
  fs_model_release(&m);
  published_absolute(3, true, 2);
  for (int64_t z = -3; z <= 3; z++) {
    for (int64_t y = 0; y <= 3; y++) {
      ck_assert_int_eq(allows(z, Y, y), y == (z < 0 ? -z : z));
    }
  }
  fs_model_release(&m);
}
END_TEST

START_TEST(absolute_of_a_continuous_one)
{
  uint32_t z, y;
  fs_model_init(&m, ctx, "block");
  ck_fs(ctx, fs_model_add_var(&m, FS_VAR_CONTINUOUS, -2, 2, 0, &z, "z"));
  ck_fs(ctx, fs_model_absolute(&m, z, 2, "a_z", &y));
  ck_assert_int_eq(m.var.at[y].kind, FS_VAR_CONTINUOUS);
  ck_assert_int_eq(m.var.at[y + 1].kind, FS_VAR_BINARY);
  fs_model_release(&m);
}
END_TEST

START_TEST(indicator_says_whether)
{
  for (int64_t big = 0; big <= FS_KIT_SPAN; big++) {
    for (int64_t low = 0; low <= big; low++) {
      uint32_t t;
      begin_model(low, big);
      ck_fs(ctx, fs_model_indicator(&m, Z, big, "i_z", &t));
      ck_assert_uint_eq(t, Y);
      for (int64_t z = low; z <= big; z++) {
        ck_assert(allows(z, t, z >= 1));
        ck_assert(!allows(z, t, z < 1));
      }
      fs_model_release(&m);
    }
  }
}
END_TEST

/* With "z <= M t" alone, t may be 1 although z is 0. */
START_TEST(indicator_needs_at_least_one)
{
  uint32_t t;
  begin_model(0, 4);
  ck_fs(ctx, fs_model_add_var(&m, FS_VAR_BINARY, 0, 1, 0, &t, "t"));
  ck_fs(ctx, fs_model_begin_row(&m, -FS_MODEL_INF, 0, "most_1"));
  ck_fs(ctx, fs_model_add_term(&m, Z, 1));
  ck_fs(ctx, fs_model_add_term(&m, t, -4));
  ck_fs(ctx, fs_model_end_row(&m));
  ck_assert(allows(0, t, 1));
  ck_assert(!allows(2, t, 0));
  fs_model_release(&m);
}
END_TEST

/* With "z >= t" alone, t may be 0 although z is 1. */
START_TEST(indicator_needs_the_other_row_too)
{
  uint32_t t;
  begin_model(0, 4);
  ck_fs(ctx, fs_model_add_var(&m, FS_VAR_BINARY, 0, 1, 0, &t, "t"));
  ck_fs(ctx, fs_model_begin_row(&m, 0, FS_MODEL_INF, "least_1"));
  ck_fs(ctx, fs_model_add_term(&m, Z, 1));
  ck_fs(ctx, fs_model_add_term(&m, t, -1));
  ck_fs(ctx, fs_model_end_row(&m));
  ck_assert(allows(1, t, 0));
  ck_assert(!allows(0, t, 1));
  fs_model_release(&m);
}
END_TEST

START_TEST(no_memory)
{
  for (long n = 0;; n++) {
    fs_budget budget = {.left = n};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *c;
    if (fsched_context_create(&o, &c) != FSCHED_OK) {
      continue;
    }
    uint32_t z, y, t;
    fs_model_init(&m, c, "x");
    fs_status status = fs_model_add_var(&m, FS_VAR_INTEGER, 0, 3, 0, &z, "z");
    status = status == FSCHED_OK ? fs_model_absolute(&m, z, 3, "y_1", &y) : status;
    status = status == FSCHED_OK ? fs_model_indicator(&m, z, 3, "t_1", &t) : status;
    fs_model_release(&m);
    bool failed = budget.left < 0;
    ck_assert_int_eq(status, failed ? FSCHED_SYSTEM : FSCHED_OK);
    fsched_context_destroy(c);
    ck_assert_int_eq(budget.blocks, 0);
    if (!failed) {
      ck_assert_int_ge(n, 4);
      break;
    }
  }
}
END_TEST

FS_SUITE(ilp_blocks, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, absolute_is_the_absolute_value, absolute_without_binary_rows_is_too_large,
           absolute_with_m_cuts_off_the_ends, absolute_of_a_continuous_one, indicator_says_whether,
           indicator_needs_at_least_one, indicator_needs_the_other_row_too, no_memory);
}
