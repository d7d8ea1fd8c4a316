/* SPDX-License-Identifier: Apache-2.0 */
/* fsched-glpk on random models, compared with trying all points. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ilp/solver/solver.h"

#include "kit/context.h"

enum { MODELS = 250, VARS = 9 };

static char helper[PATH_MAX + 32];

/* Finds the helper beside this program's directory, or in $BUILD where the test is run by hand. */
static bool find_helper(void) {
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  ck_assert_int_gt(n, 0);
  path[n] = '\0';
  for (int up = 0; up < 2; up++) {
    *strrchr(path, '/') = '\0';
  }
  (void)snprintf(helper, sizeof helper, "%s/fsched-glpk", path);
  if (access(helper, X_OK) != 0) {
    (void)puts("skip: fsched-glpk is not built here");
    return false;
  }
  return true;
}

static uint64_t seed;
static int64_t some(int64_t low, int64_t high) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (int64_t)((seed >> 33) % (uint64_t)(high - low + 1));
}

/* Adds groups of binaries of which one is 1, as models of schedules have; other integers, some of
 * them below 0; and rows with one side or two. */
static void add_vars(fs_model *m) {
  uint32_t var;
  while (m->var.n < VARS - 3) {
    uint32_t first = (uint32_t)m->var.n, n = (uint32_t)some(1, 3);
    if (some(0, 3) == 0) {
      ck_assert_int_eq(fs_model_add_var(m, FS_VAR_INTEGER, some(-2, 0), some(0, 2), some(-3, 3),
                                        &var, "i%u", first),
                       0);
      continue;
    }
    for (uint32_t i = 0; i < n; i++) {
      ck_assert_int_eq(
          fs_model_add_var(m, FS_VAR_BINARY, 0, 1, some(-2, 6), &var, "b%u", first + i), 0);
    }
    ck_assert_int_eq(fs_model_begin_row(m, 1, 1, "one%u", first), 0);
    for (uint32_t i = 0; i < n; i++) {
      ck_assert_int_eq(fs_model_add_term(m, first + i, 1), 0);
    }
    ck_assert_int_eq(fs_model_end_row(m), 0);
  }
}

static void add_rows(fs_model *m) {
  for (int64_t r = some(0, 4); r >= 0; r--) {
    int64_t at = some(-3, 4), kind = some(0, 5);
    int64_t low = kind == 0 ? -FS_MODEL_INF : at;
    int64_t high = kind == 1 ? at : kind <= 3 ? at + some(1, 3) : FS_MODEL_INF;
    ck_assert_int_eq(fs_model_begin_row(m, low, high, "row%d", (int)r), 0);
    for (uint32_t v = 0; v < m->var.n; v++) {
      ck_assert_int_eq(fs_model_add_term(m, v, some(0, 1) * some(-3, 4)), 0);
    }
    ck_assert_int_eq(fs_model_end_row(m), 0);
  }
}

/* Finds the best of all points, and puts the worst one into start[]. */
static bool try_all(const fs_model *m, int64_t *best, int64_t *start) {
  int64_t x[VARS + 3];
  bool found = false;
  for (size_t v = 0; v < m->var.n; v++) {
    x[v] = m->var.at[v].low;
  }
  for (size_t v = 0; v < m->var.n;) {
    if (fs_model_broken(m, x) == FS_NONE) {
      int64_t value = fs_model_objective(m, x);
      *best = !found || value < *best ? value : *best;
      if (!found || value > fs_model_objective(m, start)) {
        memcpy(start, x, m->var.n * sizeof *x);
      }
      found = true;
    }
    for (v = 0; v < m->var.n && x[v] == m->var.at[v].high; v++) {
      x[v] = m->var.at[v].low;
    }
    if (v < m->var.n) {
      x[v]++;
    }
  }
  return found;
}

static void solve_one(bool with_start) {
  fs_model m;
  int64_t best = 0, value[VARS + 3] = {0};
  fs_solver_result r;
  fs_solver_options o = {.command = helper, .node_limit = 100000};
  fs_model_init(&m, ctx, "random");
  m.constant = some(-1, 1) * 50;
  add_vars(&m);
  add_rows(&m);
  bool found = !m.contradiction && try_all(&m, &best, value); /* an empty row can contradict */
  ck_assert_int_eq(fs_solver_run(ctx, &m, &o, with_start && found, value, &r), FSCHED_OK);
  ck_assert_str_eq(r.reason, "");
  ck_assert_int_eq(r.status, found ? FS_SOLVER_OPTIMAL : FS_SOLVER_INFEASIBLE);
  if (found) {
    ck_assert_int_eq(r.objective, best);
    ck_assert_int_eq(r.bound, best);
    ck_assert_uint_eq(fs_model_broken(&m, value), FS_NONE);
  }
  fs_model_release(&m);
}

START_TEST(random_models)
{
  if (!find_helper()) {
    return;
  }
  for (int i = 0; i < MODELS; i++) {
    seed = (uint64_t)(_i * MODELS + i);
    solve_one(_i == 1);
  }
}
END_TEST

/* Boxes in a row are modelled by big numbers: with continuous places, and a binary for each pair.
 * For sizes 1 to n the span is n (n + 1) / 2, whatever the order. */
START_TEST(continuous_places)
{
  enum { N = 4, SUM = N * (N + 1) / 2, BIG = 3 * SUM };
  if (!find_helper()) {
    return;
  }
  fs_model m;
  uint32_t end, at[N], before;
  fs_model_init(&m, ctx, "boxes");
  ck_assert_int_eq(fs_model_add_var(&m, FS_VAR_CONTINUOUS, 0, BIG, 1, &end, "span0"), 0);
  for (uint32_t i = 0; i < N; i++) {
    ck_assert_int_eq(fs_model_add_var(&m, FS_VAR_CONTINUOUS, 0, BIG, 0, &at[i], "at%u", i), 0);
    ck_assert_int_eq(fs_model_begin_row(&m, i + 1, FS_MODEL_INF, "end%u", i), 0);
    ck_assert_int_eq(fs_model_add_term(&m, end, 1), 0);
    ck_assert_int_eq(fs_model_add_term(&m, at[i], -1), 0);
    ck_assert_int_eq(fs_model_end_row(&m), 0);
  }
  for (uint32_t i = 0; i < N * N; i++) {
    uint32_t a = i / N, b = i % N;
    if (a < b) {
      ck_assert_int_eq(fs_model_add_var(&m, FS_VAR_BINARY, 0, 1, 0, &before, "p%u", i), 0);
    }
    for (int side = 0; side < 2 && a < b; side++) {
      ck_assert_int_eq(fs_model_begin_row(&m, (int64_t)(side == 0 ? a : b) + 1 - side * BIG,
                                          FS_MODEL_INF, "r%u_%d", i, side),
                       0);
      ck_assert_int_eq(fs_model_add_term(&m, side == 0 ? at[b] : at[a], 1), 0);
      ck_assert_int_eq(fs_model_add_term(&m, side == 0 ? at[a] : at[b], -1), 0);
      ck_assert_int_eq(fs_model_add_term(&m, before, side == 0 ? BIG : -BIG), 0);
      ck_assert_int_eq(fs_model_end_row(&m), 0);
    }
  }
  int64_t value[1 + N + N * N];
  fs_solver_result r;
  fs_solver_options o = {.command = helper, .node_limit = 100000};
  ck_assert_int_eq(fs_solver_run(ctx, &m, &o, false, value, &r), FSCHED_OK);
  ck_assert_str_eq(r.reason, "");
  ck_assert_int_eq(r.status, FS_SOLVER_OPTIMAL);
  ck_assert_int_eq(r.objective, SUM);
  fs_model_release(&m);
}
END_TEST

FS_SUITE(ilp_glpk, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 2, random_models);
  FS_TESTS(t, continuous_places);
}
