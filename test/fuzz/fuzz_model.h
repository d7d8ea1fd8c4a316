/* SPDX-License-Identifier: Apache-2.0 */
/* The model for which solvers give solutions: it has integer and continuous variables, and rows of
 * every form. */
#ifndef FS_FUZZ_MODEL_H
#define FS_FUZZ_MODEL_H

#include "fuzz/kit.h"
#include "ilp/model/model.h"

enum { FS_FUZZ_VARS = 5 };

/* x0 + 2 x1 - x2 <= 4; x0 - x1 = 0; 1 <= y3 - y4 <= 6; minimise 3 x0 - x1 + x2 + 2 y3. */
static inline fs_status fs_fuzz_model(fs_model *m, fsched_context *ctx) {
  static const struct {
    fs_var_kind kind;
    int64_t low, high, cost;
  } var[FS_FUZZ_VARS] = {{FS_VAR_INTEGER, -4, 4, 3},
                         {FS_VAR_INTEGER, -FS_MODEL_INF, 4, -1},
                         {FS_VAR_BINARY, 0, 1, 1},
                         {FS_VAR_CONTINUOUS, 0, FS_MODEL_INF, 2},
                         {FS_VAR_CONTINUOUS, -8, 8, 0}};
  static const struct {
    int64_t low, high, coef[FS_FUZZ_VARS];
  } row[] = {
      {-FS_MODEL_INF, 4, {1, 2, -1, 0, 0}}, {0, 0, {1, -1, 0, 0, 0}}, {1, 6, {0, 0, 0, 1, -1}}};
  fs_model_init(m, ctx, "fuzz");
  uint32_t id;
  for (unsigned i = 0; i < FS_FUZZ_VARS; i++) {
    FS_TRY(fs_model_add_var(m, var[i].kind, var[i].low, var[i].high, var[i].cost, &id, "%c%u",
                            i < 3 ? 'x' : 'y', i));
  }
  for (unsigned r = 0; r < sizeof row / sizeof *row; r++) {
    FS_TRY(fs_model_begin_row(m, row[r].low, row[r].high, "row_%u", r));
    for (uint32_t i = 0; i < FS_FUZZ_VARS; i++) {
      if (row[r].coef[i] != 0) {
        FS_TRY(fs_model_add_term(m, i, row[r].coef[i]));
      }
    }
    FS_TRY(fs_model_end_row(m));
  }
  m->constant = 5;
  return FSCHED_OK;
}

#endif
