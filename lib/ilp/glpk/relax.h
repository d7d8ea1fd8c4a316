/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear relaxation of what is left of a model, solved by GLPK's simplex
 * method. */
#ifndef FSCHED_GLPK_RELAX_H
#define FSCHED_GLPK_RELAX_H

#include "rows.h"

typedef struct relaxation {
  const glpk_rows *r;
  glp_prob *lp;
  int *place;         /* per column of the model: in the relaxation, or 0: it was fixed
                       */
  int *col;           /* and back */
  double *low, *high; /* as the relaxation has them */
  double *x;          /* the last solution, per column of the model */
  double value;       /* its objective */
  double constant;    /* of what was fixed */
  bool fresh;         /* no basis yet */
} relaxation;

typedef enum answer {
  RELAX_SOLVED,
  RELAX_NONE,   /* no solution, or none within the cut-off */
  RELAX_UNKNOWN /* stopped by a limit, or by trouble with numbers */
} answer;

/* Of the variables that are not fixed and the rows that may be broken. */
void make_relaxation(relaxation *x, glpk_rows *r);
void free_relaxation(relaxation *x);
/* With the bounds as they stand. */
answer relax(relaxation *x, double cutoff, int iterations, double deadline);
/* Fixes what costs too much to change; after RELAX_SOLVED. */
void fix_by_cost(const relaxation *x, glpk_rows *r, double cutoff);

#endif
