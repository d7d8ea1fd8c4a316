/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear relaxation of the part of a model that is still open, solved by GLPK's simplex
 * method. */
#ifndef FSCHED_GLPK_RELAX_H
#define FSCHED_GLPK_RELAX_H

#include "rows.h"

typedef struct relaxation {
  const glpk_rows *r;
  glp_prob *lp;
  int *place;         /* per column of the model: its column here; 0: it was fixed */
  int *col;           /* per column here: that of the model */
  double *low, *high; /* bounds that the relaxation has now */
  double *x;          /* the last solution, per column of the model */
  double value;       /* its objective */
  double constant;    /* the part of the objective that fixed columns add */
  bool fresh;         /* no basis yet */
} relaxation;

typedef enum answer {
  RELAX_SOLVED,
  RELAX_NONE,   /* no solution, or none within the cut-off */
  RELAX_UNKNOWN /* stopped by a limit, or by trouble with numbers */
} answer;

/* Makes the relaxation of the variables that are not fixed and the rows that may be broken. */
void make_relaxation(relaxation *x, glpk_rows *r);
void free_relaxation(relaxation *x);
/* Solves the relaxation with the present bounds. */
answer relax(relaxation *x, double cutoff, int iterations, double deadline);
/* Fixes the variables that cost too much to change; to be called after RELAX_SOLVED. */
void fix_by_cost(const relaxation *x, glpk_rows *r, double cutoff);

#endif
