/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of variables that take several rows each.
 *
 * Absolute value, y = |z| with z in [-M, M], by a binary t that chooses the sign:
 *
 *   -y <= z <= y             y is at least |z|
 *   z >= y - 2M t            t = 0: y is at most z
 *   -z >= y - 2M (1 - t)     t = 1: y is at most -z
 *
 * The first line alone lets y be too large wherever the objective does not make y small.  M instead
 * of 2M is too small: with t = 1 the second line must allow z = -M with y = M.
 *
 * Indicator, t = 1 exactly when z >= 1, z an integer in [0, M]:
 *
 *   z <= M t                 z >= 1 makes t 1
 *   z >= t                   t = 1 makes z >= 1; without this row t may be 1 with z = 0
 *
 * Source: Kundeti, An ILP for Generating Optimal Schedules with Resource Constraints, corrected as
 * said above. */
#include "ilp/model/model.h"

/* Adds the row low <= coef * var + ... <= high, of at most three terms; a coef of 0 is left out. */
static fs_status add_row(fs_model *m, int64_t low, int64_t high, const fs_model_term term[3],
                         const char *name, const char *suffix) {
  FS_TRY(fs_model_begin_row(m, low, high, "%s_%s", name, suffix));
  for (int i = 0; i < 3; i++) {
    FS_TRY(fs_model_add_term(m, term[i].var, term[i].coef));
  }
  return fs_model_end_row(m);
}

fs_status fs_model_absolute(fs_model *m, uint32_t z, int64_t big, const char *name, uint32_t *out) {
  assert(z < m->var.n && big >= 0 && big <= FS_MODEL_EXACT);
  fs_var_kind kind = m->var.at[z].kind == FS_VAR_CONTINUOUS ? FS_VAR_CONTINUOUS : FS_VAR_INTEGER;
  uint32_t y, t;
  FS_TRY(fs_model_add_var(m, kind, 0, big, 0, &y, "%s", name));
  FS_TRY(fs_model_add_var(m, FS_VAR_BINARY, 0, 1, 0, &t, "%s_sign", name));
  const fs_model_term over[3] = {{y, 1}, {z, -1}, {t, 0}}, under[3] = {{y, 1}, {z, 1}, {t, 0}};
  const fs_model_term plus[3] = {{y, 1}, {z, -1}, {t, -2 * big}};
  const fs_model_term minus[3] = {{y, 1}, {z, 1}, {t, 2 * big}};
  FS_TRY(add_row(m, 0, FS_MODEL_INF, over, name, "over"));
  FS_TRY(add_row(m, 0, FS_MODEL_INF, under, name, "under"));
  FS_TRY(add_row(m, -FS_MODEL_INF, 0, plus, name, "plus"));
  FS_TRY(add_row(m, -FS_MODEL_INF, 2 * big, minus, name, "minus"));
  *out = y;
  return FSCHED_OK;
}

fs_status fs_model_indicator(fs_model *m, uint32_t z, int64_t big, const char *name,
                             uint32_t *out) {
  assert(z < m->var.n && m->var.at[z].kind != FS_VAR_CONTINUOUS && big >= 0);
  uint32_t t;
  FS_TRY(fs_model_add_var(m, FS_VAR_BINARY, 0, 1, 0, &t, "%s", name));
  const fs_model_term most[3] = {{z, 1}, {t, -big}, {z, 0}};
  const fs_model_term least[3] = {{z, 1}, {t, -1}, {z, 0}};
  FS_TRY(add_row(m, -FS_MODEL_INF, 0, most, name, "most"));
  FS_TRY(add_row(m, 0, FS_MODEL_INF, least, name, "least"));
  *out = t;
  return FSCHED_OK;
}
