/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relaxation keeps its basis from call to call: after a change of bounds the dual simplex
 * method goes on from there. */
#include "relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int type_of(double low, double high) {
  return low == high                         ? GLP_FX
         : !isfinite(low) && !isfinite(high) ? GLP_FR
         : !isfinite(low)                    ? GLP_UP
         : !isfinite(high)                   ? GLP_LO
                                             : GLP_DB;
}

static void add_cols(relaxation *x, glpk_rows *r) {
  int n = 0;
  for (int j = 1; j <= r->n_cols; j++) {
    x->x[j] = r->low[j];
    if (is_fixed(r, j)) {
      x->constant += r->cost[j] * r->low[j];
    } else {
      x->place[j] = ++n;
      x->col[n] = j;
    }
  }
  if (n > 0) {
    glp_add_cols(x->lp, n);
  }
  for (int k = 1; k <= n; k++) {
    int j = x->col[k];
    x->low[j] = r->low[j];
    x->high[j] = r->high[j];
    glp_set_col_bnds(x->lp, k, type_of(r->low[j], r->high[j]), r->low[j], r->high[j]);
    glp_set_obj_coef(x->lp, k, r->cost[j]);
  }
  glp_set_obj_coef(x->lp, 0, x->constant);
}

static void add_row(relaxation *x, glpk_rows *r, int i, int *index, double *coef) {
  double fixed = 0.0;
  int n = 0;
  for (int k = r->term0[i]; k < r->term0[i + 1]; k++) {
    if (x->place[r->col[k]] == 0) {
      fixed += r->coef[k] * r->low[r->col[k]];
    } else {
      index[++n] = x->place[r->col[k]];
      coef[n] = r->coef[k];
    }
  }
  if (n == 0) {
    return;
  }
  int row = glp_add_rows(x->lp, 1);
  double low = r->row_low[i] - fixed, high = r->row_high[i] - fixed;
  glp_set_row_bnds(x->lp, row, type_of(low, high), low, high);
  glp_set_mat_row(x->lp, row, n, index, coef);
}

void make_relaxation(relaxation *x, glpk_rows *r) {
  size_t n = (size_t)r->n_cols + 1;
  *x = (relaxation){.r = r, .lp = glp_create_prob(), .fresh = true, .constant = r->constant};
  x->place = allocate(n, sizeof *x->place);
  x->col = allocate(n, sizeof *x->col);
  x->low = allocate(n, sizeof *x->low);
  x->high = allocate(n, sizeof *x->high);
  x->x = allocate(n, sizeof *x->x);
  add_cols(x, r);
  int *index = allocate(n + 1, sizeof *index);
  double *coef = allocate(n + 1, sizeof *coef);
  for (int i = 1; i <= r->n_rows; i++) {
    double least, most;
    row_range(r, i, &least, &most);
    if (r->defines[i] || least < r->row_low[i] || most > r->row_high[i]) {
      add_row(x, r, i, index, coef);
    }
  }
  free(index);
  free(coef);
  glp_scale_prob(x->lp, GLP_SF_AUTO);
}

void free_relaxation(relaxation *x) {
  glp_delete_prob(x->lp);
  free(x->place);
  free(x->col);
  free(x->low);
  free(x->high);
  free(x->x);
  *x = (relaxation){0};
}

static void take_bounds(relaxation *x) {
  const glpk_rows *r = x->r;
  for (int k = 1; k <= glp_get_num_cols(x->lp); k++) {
    int j = x->col[k];
    if (x->low[j] != r->low[j] || x->high[j] != r->high[j]) {
      x->low[j] = r->low[j];
      x->high[j] = r->high[j];
      glp_set_col_bnds(x->lp, k, type_of(r->low[j], r->high[j]), r->low[j], r->high[j]);
    }
  }
}

static int simplex(relaxation *x, int method, double cutoff, int iterations, double deadline) {
  glp_smcp o;
  glp_init_smcp(&o);
  o.meth = method;
  o.it_lim = iterations;
  if (method == GLP_DUALP && isfinite(cutoff)) {
    o.obj_ul = cutoff + 1e-6 * (1.0 + fabs(cutoff));
  }
  if (deadline >= 0.0) {
    double left = deadline - now();
    o.tm_lim = left <= 0.001 ? 1 : left > 1e6 ? 1000000000 : (int)(1000.0 * left);
  }
  return glp_simplex(x->lp, &o);
}

answer relax(relaxation *x, double cutoff, int iterations, double deadline) {
  take_bounds(x);
  if (x->fresh) {
    glp_std_basis(x->lp);
  }
  int e = simplex(x, x->fresh ? GLP_PRIMAL : GLP_DUALP, cutoff, iterations, deadline);
  if (e != 0 && e != GLP_EOBJUL && e != GLP_EITLIM && e != GLP_ETMLIM) {
    glp_std_basis(x->lp);
    e = simplex(x, GLP_PRIMAL, cutoff, iterations, deadline);
  }
  x->fresh = false;
  if (e == GLP_EOBJUL) {
    return RELAX_NONE;
  }
  int status = glp_get_status(x->lp);
  if (e != 0 || (status != GLP_OPT && status != GLP_NOFEAS)) {
    return RELAX_UNKNOWN;
  }
  if (status == GLP_NOFEAS) {
    return RELAX_NONE;
  }
  x->value = glp_get_obj_val(x->lp);
  for (int k = 1; k <= glp_get_num_cols(x->lp); k++) {
    x->x[x->col[k]] = glp_get_col_prim(x->lp, k);
  }
  return RELAX_SOLVED;
}

void fix_by_cost(const relaxation *x, glpk_rows *r, double cutoff) {
  double room = cutoff - x->value + 1e-6 * (1.0 + fabs(cutoff));
  for (int k = 1; k <= glp_get_num_cols(x->lp) && !r->conflict; k++) {
    int j = x->col[k], status = glp_get_col_stat(x->lp, k);
    double d = glp_get_col_dual(x->lp, k);
    if (!r->whole[j] || is_fixed(r, j) || fabs(d) <= room) {
      continue;
    }
    if (status == GLP_NL && d > room) {
      narrow(r, j, r->low[j], r->low[j]);
    } else if (status == GLP_NU && -d > room) {
      narrow(r, j, r->high[j], r->high[j]);
    }
  }
}
