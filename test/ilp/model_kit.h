/* SPDX-License-Identifier: Apache-2.0 */
/* Small integer programs for tests: random ones, and their optimum by trying every point. */
#ifndef FS_TEST_MODEL_KIT_H
#define FS_TEST_MODEL_KIT_H

#include "ilp/model/model.h"
#include "kit/gen.h"
#include "kit/golden_case.h"

/* All variables of random models are at most this far from 0, by bounds or by rows. */
enum { FS_KIT_SPAN = 4, FS_KIT_VARS = 8 };

/* Goes to the next point in counting order, from the lower bounds on; false behind the last. */
static inline bool fs_kit_next(const fs_model *m, int64_t *value) {
  for (size_t i = 0; i < m->var.n; i++) {
    const fs_model_var *v = &m->var.at[i];
    int64_t low = v->low < -FS_KIT_SPAN ? -FS_KIT_SPAN : v->low;
    int64_t high = v->high > FS_KIT_SPAN ? FS_KIT_SPAN : v->high;
    if (value[i] < high) {
      value[i]++;
      return true;
    }
    value[i] = low;
  }
  return false;
}

static inline void fs_kit_first(const fs_model *m, int64_t *value) {
  for (size_t i = 0; i < m->var.n; i++) {
    value[i] = m->var.at[i].low < -FS_KIT_SPAN ? -FS_KIT_SPAN : m->var.at[i].low;
  }
}

/* Finds the least objective; false when no point fits. */
static inline bool fs_kit_optimum(const fs_model *m, int64_t *best) {
  int64_t value[FS_KIT_VARS];
  bool found = false;
  assert(m->var.n <= FS_KIT_VARS);
  fs_kit_first(m, value);
  do {
    if (!m->contradiction && fs_model_broken(m, value) == FS_NONE) {
      int64_t cost = fs_model_objective(m, value);
      *best = !found || cost < *best ? cost : *best;
      found = true;
    }
  } while (fs_kit_next(m, value));
  return found;
}

static inline int64_t fs_kit_between(fs_rng *rng, int64_t low, int64_t high) {
  return low + (int64_t)fs_rng_below(rng, (uint32_t)(high - low + 1));
}

/* Adds a variable with any form of bounds; where these are not finite, a row limits it. */
static inline fs_status fs_kit_var(fs_model *m, fs_rng *rng, bool whole) {
  static const int64_t side[] = {-FS_MODEL_INF, -4, -3, -1, 0, 0, 0, 1, 2, 4, FS_MODEL_INF};
  int64_t low = side[fs_rng_below(rng, 10)], high = side[1 + fs_rng_below(rng, 10)];
  uint32_t id;
  fs_var_kind kind = whole ? FS_VAR_INTEGER : FS_VAR_CONTINUOUS;
  if (low > high) {
    low = 0;
    high = 1;
    kind = whole && fs_rng_one_in(rng, 2) ? FS_VAR_BINARY : kind;
  }
  FS_TRY(fs_model_add_var(m, kind, low, high, fs_kit_between(rng, -3, 3), &id, "%s_%u",
                          whole ? "x" : "y", (unsigned)m->var.n));
  if (low == -FS_MODEL_INF || high == FS_MODEL_INF) {
    FS_TRY(fs_model_begin_row(m, low == -FS_MODEL_INF ? -FS_KIT_SPAN : -FS_MODEL_INF,
                              high == FS_MODEL_INF ? FS_KIT_SPAN : FS_MODEL_INF, "span_%u", id));
    FS_TRY(fs_model_add_term(m, id, 1));
    FS_TRY(fs_model_end_row(m));
  }
  return FSCHED_OK;
}

/* Adds a row over the integer variables [0, n) and at most one continuous variable, with a
 * coefficient of 1 or -1, so that the optimum is an integer. */
static inline fs_status fs_kit_row(fs_model *m, fs_rng *rng, uint32_t n) {
  int64_t low = fs_kit_between(rng, -6, 4), high = low + fs_kit_between(rng, 0, 6);
  uint32_t form = fs_rng_below(rng, 4);
  low = form == 0 ? -FS_MODEL_INF : low;
  high = form == 1 ? FS_MODEL_INF : high;
  FS_TRY(fs_model_begin_row(m, low, high, "row_%zu", m->row.n));
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(fs_model_add_term(m, i, fs_kit_between(rng, -3, 3)));
  }
  if (n < m->var.n && fs_rng_one_in(rng, 2)) {
    uint32_t y = n + fs_rng_below(rng, (uint32_t)m->var.n - n);
    FS_TRY(fs_model_add_term(m, y, fs_rng_one_in(rng, 2) ? 1 : -1));
  }
  if (fs_rng_one_in(rng, 2)) {
    fs_model_add_known(m, fs_kit_between(rng, -2, 2));
  }
  return fs_model_end_row(m);
}

/* Fills an initialised model. */
static inline fs_status fs_kit_random(fs_model *m, uint64_t seed) {
  fs_rng rng = {seed};
  uint32_t n = 1 + fs_rng_below(&rng, 3), n_loose = fs_rng_below(&rng, 2);
  FS_TRY(fs_model_add_note(m, "seed %llu", (unsigned long long)seed));
  for (uint32_t i = 0; i < n + n_loose; i++) {
    FS_TRY(fs_kit_var(m, &rng, i < n));
  }
  for (uint32_t i = 0, rows = fs_rng_below(&rng, 4); i < rows; i++) {
    FS_TRY(fs_kit_row(m, &rng, n));
  }
  m->constant = fs_rng_one_in(&rng, 3) ? fs_kit_between(&rng, -9, 9) : 0;
  return FSCHED_OK;
}

#endif
