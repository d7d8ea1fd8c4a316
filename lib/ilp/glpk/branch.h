/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a node is divided. */
#ifndef FSCHED_GLPK_BRANCH_H
#define FSCHED_GLPK_BRANCH_H

#include "rows.h"

typedef struct branch {
  int group, cut; /* sides: the first `cut` members of a group, the others; 0: see col */
  int col;        /* sides: a variable that is at most `at`, or at least one more */
  double at;
} branch;

typedef enum next {
  CLOSED, /* there is no solution */
  AGAIN,  /* bounds were narrowed */
  DIVIDE, /* *b is the branch */
  STUCK   /* nothing is left to divide */
} next;

/* x: a solution of the relaxation that is not whole, or NULL. */
next choose_branch(glpk_rows *r, const double *x, branch *b);
void take_side(glpk_rows *r, const branch *b, bool second);

#endif
