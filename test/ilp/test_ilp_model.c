/* SPDX-License-Identifier: Apache-2.0 */
/* The builder of models, and the functions that judge points. */
#include "ilp/model_kit.h"

#include "ilp/model_case.h"

static uint32_t var(int64_t low, int64_t high, int64_t cost) {
  uint32_t id;
  ck_fs(ctx, fs_model_add_var(&own_model, FS_VAR_INTEGER, low, high, cost, &id, "x_%zu",
                              own_model.var.n));
  ck_assert_uint_eq(id, own_model.var.n - 1);
  return id;
}

static void begin(int64_t low, int64_t high) {
  ck_fs(ctx, fs_model_begin_row(&own_model, low, high, "row_%zu", own_model.row.n));
}
static void term(uint32_t v, int64_t coef) { ck_fs(ctx, fs_model_add_term(&own_model, v, coef)); }
static void end(void) { ck_fs(ctx, fs_model_end_row(&own_model)); }

START_TEST(terms_are_sorted_and_add_up)
{
  uint32_t a = var(0, 9, 1), b = var(0, 9, 0), c = var(0, 9, 0);
  begin(1, FS_MODEL_INF);
  term(c, 2);
  term(a, 5);
  term(b, 4);
  term(c, 3);
  term(b, -4);
  term(a, 0);
  end();
  begin(0, 3);
  term(a, 1);
  term(b, 1);
  end();
  ck_assert_uint_eq(own_model.row.n, 2);
  ck_assert_uint_eq(fs_model_row_end(&own_model, 0), 2);
  ck_assert_uint_eq(own_model.term.n, 4);
  ck_assert_uint_eq(own_model.term.at[0].var, a);
  ck_assert_int_eq(own_model.term.at[0].coef, 5);
  ck_assert_uint_eq(own_model.term.at[1].var, c);
  ck_assert_int_eq(own_model.term.at[1].coef, 5);
  ck_assert_uint_eq(fs_model_row_end(&own_model, 1), 4);
  ck_assert_str_eq(own_model.row.at[1].name, "row_1");
  ck_assert_str_eq(own_model.var.at[c].name, "x_2");
}
END_TEST

/* The repeats are next to each other, and already in order. */
START_TEST(neighbours_add_up)
{
  uint32_t a = var(0, 9, 0), b = var(0, 9, 0);
  begin(0, 0);
  term(a, 1);
  term(a, 2);
  term(b, 7);
  term(b, -7);
  end();
  ck_assert_uint_eq(own_model.term.n, 1);
  ck_assert_int_eq(own_model.term.at[0].coef, 3);
}
END_TEST

START_TEST(known_amounts_move_the_bounds)
{
  uint32_t a = var(0, 9, 0);
  begin(2, 8);
  term(a, 1);
  fs_model_add_known(&own_model, 3);
  fs_model_add_known(&own_model, -1);
  end();
  ck_assert_int_eq(own_model.row.at[0].low, 0);
  ck_assert_int_eq(own_model.row.at[0].high, 6);
  begin(-FS_MODEL_INF, 8);
  term(a, 1);
  fs_model_add_known(&own_model, 9);
  end();
  ck_assert_int_eq(own_model.row.at[1].low, -FS_MODEL_INF);
  ck_assert_int_eq(own_model.row.at[1].high, -1);
  begin(8, FS_MODEL_INF);
  term(a, 1);
  fs_model_add_known(&own_model, 9);
  end();
  ck_assert_int_eq(own_model.row.at[2].high, FS_MODEL_INF);
  ck_assert(!own_model.contradiction && !own_model.large);
}
END_TEST

START_TEST(rows_without_terms)
{
  uint32_t a = var(0, 9, 0);
  begin(-1, 1);
  term(a, 2);
  term(a, -2);
  end();
  ck_assert_uint_eq(own_model.row.n, 0);
  ck_assert_uint_eq(own_model.term.n, 0);
  ck_assert(!own_model.contradiction);
  begin(0, 5);
  fs_model_add_known(&own_model, 6);
  end();
  ck_assert(own_model.contradiction);
  own_model.contradiction = false;
  begin(0, 5);
  fs_model_add_known(&own_model, -1);
  end();
  ck_assert(own_model.contradiction);
  ck_assert_uint_eq(own_model.row.n, 0);
  own_model.contradiction = false;
  begin(0, 5); /* holds */
  fs_model_add_known(&own_model, 5);
  end();
  ck_assert(!own_model.contradiction);
}
END_TEST

START_TEST(rows_that_say_nothing_or_too_much)
{
  uint32_t a = var(0, 9, 0);
  begin(-FS_MODEL_INF, FS_MODEL_INF);
  term(a, 1);
  end();
  ck_assert_uint_eq(own_model.row.n, 0);
  ck_assert_uint_eq(own_model.term.n, 0);
  ck_assert(!own_model.contradiction);
  begin(5, 4);
  term(a, 1);
  end();
  ck_assert_uint_eq(own_model.row.n, 0);
  ck_assert(own_model.contradiction);
}
END_TEST

START_TEST(a_row_given_up)
{
  uint32_t a = var(0, 9, 0);
  begin(0, 1);
  term(a, 1);
  end();
  begin(0, 1);
  term(a, 7);
  term(a, 8);
  fs_model_drop_row(&own_model);
  ck_assert_uint_eq(own_model.row.n, 1);
  ck_assert_uint_eq(own_model.term.n, 1);
  ck_assert(!own_model.open);
  begin(0, 1);
  term(a, 2);
  end();
  ck_assert_int_eq(own_model.term.at[1].coef, 2);
}
END_TEST

START_TEST(points)
{
  uint32_t a = var(-2, 5, 3), b = var(0, FS_MODEL_INF, -1);
  begin(1, 4);
  term(a, 1);
  term(b, 2);
  end();
  begin(-FS_MODEL_INF, 9);
  term(b, 5);
  end();
  own_model.constant = 100;
  int64_t value[2] = {2, 1};
  ck_assert_uint_eq(fs_model_broken(&own_model, value), FS_NONE);
  ck_assert_int_eq(fs_model_objective(&own_model, value), 105);
  value[0] = 3;
  ck_assert_uint_eq(fs_model_broken(&own_model, value), 0);
  value[0] = -2;
  ck_assert_uint_eq(fs_model_broken(&own_model, value), 0);
  value[1] = 2;
  ck_assert_uint_eq(fs_model_broken(&own_model, value), 1);
  value[0] = -3;
  ck_assert_uint_eq(fs_model_broken(&own_model, value), FS_MODEL_BOUND + 0);
  value[0] = 6;
  ck_assert_uint_eq(fs_model_broken(&own_model, value), FS_MODEL_BOUND + 0);
  value[0] = 5;
  value[1] = -1;
  ck_assert_uint_eq(fs_model_broken(&own_model, value), FS_MODEL_BOUND + 1);
}
END_TEST

/* Sums and products that exceed 64 bits do not wrap round, and a model with numbers that a solver
 * would round is recognised. */
START_TEST(large_numbers)
{
  uint32_t a = var(0, FS_MODEL_INF, INT64_MAX / 2), b = var(0, FS_MODEL_EXACT, 1);
  ck_assert(own_model.large);
  own_model.large = false;
  begin(-FS_MODEL_INF, FS_MODEL_EXACT);
  term(a, FS_MODEL_EXACT);
  term(b, -FS_MODEL_EXACT);
  end();
  ck_assert(!own_model.large);
  int64_t value[2] = {INT64_MAX - 1, 0};
  ck_assert_uint_eq(fs_model_broken(&own_model, value), 0);
  ck_assert_int_gt(fs_model_objective(&own_model, value), FS_MODEL_EXACT);
  own_model.var.at[a].cost = -INT64_MAX;
  ck_assert_int_lt(fs_model_objective(&own_model, value), -FS_MODEL_EXACT);
  begin(-FS_MODEL_INF, FS_MODEL_EXACT);
  term(a, FS_MODEL_EXACT);
  term(a, 1);
  end();
  ck_assert(own_model.large);
  own_model.large = false;
  begin(-FS_MODEL_INF, INT64_MAX - 1);
  term(a, INT64_MAX - 1);
  term(a, INT64_MAX - 1);
  fs_model_add_known(&own_model, -(INT64_MAX - 1));
  end();
  ck_assert(own_model.large);
  ck_assert_int_gt(own_model.term.at[own_model.term.n - 1].coef, FS_MODEL_EXACT);
  ck_assert_int_gt(own_model.row.at[own_model.row.n - 1].high, FS_MODEL_EXACT);
}
END_TEST

START_TEST(notes)
{
  ck_fs(ctx, fs_model_add_note(&own_model, "x_%d is %s", 3, "the third"));
  ck_assert_uint_eq(own_model.note.n, 1);
  ck_assert_str_eq(own_model.note.at[0], "x_3 is the third");
}
END_TEST

/* A row means the sum of its terms, whatever their order and however often they are repeated. */
START_TEST(random_rows)
{
  enum { VARS = 5 };
  fs_rng rng = {5};
  for (int i = 0; i < VARS; i++) {
    (void)var(-9, 9, 0);
  }
  for (int round = 0; round < 2000; round++) {
    int64_t coef[VARS] = {0}, value[VARS], sum = 0, known = 0;
    int64_t low = fs_kit_between(&rng, -9, 3), high = low + fs_kit_between(&rng, 0, 9);
    begin(low, high);
    for (uint32_t k = fs_rng_below(&rng, 12); k > 0; k--) {
      uint32_t v = fs_rng_below(&rng, VARS);
      int64_t c = fs_kit_between(&rng, -2, 2);
      coef[v] += c;
      term(v, c);
    }
    if (fs_rng_one_in(&rng, 3)) {
      known = fs_kit_between(&rng, -4, 4);
      fs_model_add_known(&own_model, known);
    }
    end();
    for (int v = 0; v < VARS; v++) {
      value[v] = fs_kit_between(&rng, -2, 2);
      sum += coef[v] * value[v];
    }
    bool holds = low <= sum + known && sum + known <= high;
    bool says = !own_model.contradiction && fs_model_broken(&own_model, value) == FS_NONE;
    if (holds != says) {
      ck_abort_msg("round %d: %d, the model says %d", round, holds, says);
    }
    own_model.row.n = 0;
    own_model.term.n = 0;
    own_model.contradiction = false;
  }
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
    fs_model x;
    fs_model_init(&x, c, "x");
    fs_status status = fs_kit_random(&x, 3);
    fs_model_release(&x);
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

FS_SUITE(ilp_model, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_model(t);
  FS_TESTS(t, terms_are_sorted_and_add_up, neighbours_add_up, known_amounts_move_the_bounds,
           rows_without_terms, rows_that_say_nothing_or_too_much, a_row_given_up, points,
           large_numbers, notes, random_rows, no_memory);
}
