/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files: the model, which GLPK reads, and a starting solution with a line "NAME VALUE" for each
 * variable that is not 0, or not at the bound next to it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper.h"

glp_prob *read_model(const char *file) {
  glp_prob *lp = glp_create_prob();
  if (glp_read_mps(lp, GLP_MPS_FILE, NULL, file) != 0) {
    fault("not a model in free MPS: %s", glpk_said());
  }
  if (glp_get_obj_dir(lp) != GLP_MIN) {
    fault("%s: the objective is to be minimised", file);
  }
  for (int j = 1; j <= glp_get_num_cols(lp); j++) {
    if (glp_get_col_name(lp, j) == NULL) {
      fault("%s: a variable has no name", file);
    }
  }
  glp_create_index(lp);
  return lp;
}

/* How far a point may be outside of a row or a bound of this size. */
static double tolerance(double bound) { return 1e-6 * (1.0 + fabs(bound)); }

static bool within(int type, double low, double high, double value) {
  bool has_low = type != GLP_FR && type != GLP_UP, has_high = type != GLP_FR && type != GLP_LO;
  return !(has_low && value < low - tolerance(low)) &&
         !(has_high && value > high + tolerance(high));
}

static bool row_holds(glp_prob *lp, int i, const double *x, int *index, double *coef) {
  double sum = 0.0;
  for (int k = glp_get_mat_row(lp, i, index, coef); k >= 1; k--) {
    sum += coef[k] * x[index[k]];
  }
  return within(glp_get_row_type(lp, i), glp_get_row_lb(lp, i), glp_get_row_ub(lp, i), sum);
}

bool is_solution(glp_prob *lp, const double *x) {
  int n = glp_get_num_cols(lp);
  for (int j = 1; j <= n; j++) {
    if (!within(glp_get_col_type(lp, j), glp_get_col_lb(lp, j), glp_get_col_ub(lp, j), x[j]) ||
        (glp_get_col_kind(lp, j) != GLP_CV && x[j] != floor(x[j]))) {
      return false;
    }
  }
  int *index = allocate((size_t)n + 1, sizeof *index);
  double *coef = allocate((size_t)n + 1, sizeof *coef);
  bool ok = true;
  for (int i = 1; ok && i <= glp_get_num_rows(lp); i++) {
    ok = row_holds(lp, i, x, index, coef);
  }
  free(index);
  free(coef);
  return ok;
}

/* Reads one line of a starting solution. */
static void take_value(glp_prob *lp, const char *file, long line, char *text, double *x) {
  char *name = strtok(text, " \t\r\n"), *value = strtok(NULL, " \t\r\n"), *end;
  if (name == NULL) {
    return;
  }
  int j = glp_find_col(lp, name);
  if (j == 0 || value == NULL || strtok(NULL, " \t\r\n") != NULL) {
    fault("%s:%ld: not a variable of the model and its value", file, line);
  }
  x[j] = strtod(value, &end);
  if (*end != '\0' || end == value || !isfinite(x[j])) {
    fault("%s:%ld: not a number: %s", file, line, value);
  }
}

double *read_start(glp_prob *lp, const char *file) {
  FILE *f = fopen(file, "r");
  if (f == NULL) {
    fault("%s: %s", file, strerror(errno));
  }
  double *x = allocate((size_t)glp_get_num_cols(lp) + 1, sizeof *x);
  for (int j = 1; j <= glp_get_num_cols(lp); j++) {
    double low = glp_get_col_lb(lp, j), high = glp_get_col_ub(lp, j);
    x[j] = low > 0.0 ? low : high < 0.0 ? high : 0.0;
  }
  char *text = NULL;
  size_t size = 0;
  for (long line = 1; getline(&text, &size, f) >= 0; line++) {
    take_value(lp, file, line, text, x);
  }
  if (ferror(f)) {
    fault("%s: %s", file, strerror(errno));
  }
  free(text);
  fclose(f);
  if (!is_solution(lp, x)) {
    fprintf(stderr, "fsched-glpk: %s is no solution of the model, and is not used\n", file);
    free(x);
    return NULL;
  }
  return x;
}

bool whole_objective(glp_prob *lp) {
  double fixed = glp_get_obj_coef(lp, 0);
  for (int j = 1; j <= glp_get_num_cols(lp); j++) {
    double c = glp_get_obj_coef(lp, j);
    if (glp_get_col_type(lp, j) == GLP_FX) {
      fixed += c * glp_get_col_lb(lp, j);
    } else if (c != 0.0 && (glp_get_col_kind(lp, j) == GLP_CV || c != floor(c))) {
      return false;
    }
  }
  return fixed == floor(fixed);
}
