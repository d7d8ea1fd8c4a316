/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model in arrays, the bounds of its variables as they stand within the
 * search, and what follows from them.
 *
 * Groups: a row "sum of binaries = 1" says that exactly one of them is 1.
 * Models of schedules are made of these: the variables of a group are the
 * choices of a start, in order.  A variable belongs to one group at most (0:
 * none).
 *
 * Columns and rows are numbered from 1, as GLPK does; row 0 is the objective,
 * at most the cut-off. */
#ifndef FSCHED_GLPK_ROWS_H
#define FSCHED_GLPK_ROWS_H

#include "helper.h"

typedef struct bound_change {
  int col;
  double low, high; /* before */
} bound_change;

typedef struct glpk_rows {
  int n_rows, n_cols, n_groups;
  int *term0, *col; /* per row: its terms, those of a group side by side */
  double *coef;
  double *row_low, *row_high; /* may be infinite */
  double constant;            /* of the objective */
  int *use0, *use;            /* per column: its rows */
  double *low, *high, *cost;  /* per column, as they stand */
  bool *whole;
  int *group, *member0, *member; /* per column; per group: its columns in order */
  int *free;                     /* per group: members that may be 1 */
  int *chosen;                   /* per group: the member that is 1, or 0 */
  bool *defines;                 /* per row: it is what makes a group */

  bound_change *trail;
  size_t n_trail, room;
  int *queue; /* rows that are to be looked at again */
  int first, n_queue;
  bool *queued;
  int *mark, stamp; /* per column */
  double *part;     /* per term of the row that is looked at: least and most of its
                       group */
  bool conflict;
} glpk_rows;

glpk_rows *make_rows(glp_prob *lp);
/* The objective is to be at most that. */
void set_cutoff(glpk_rows *r, double cutoff);
/* New bounds; what follows is for propagate(). */
void narrow(glpk_rows *r, int col, double low, double high);
/* Only members from index `from` up to `to` of a group may be 1. */
void keep_members(glpk_rows *r, int group, int from, int to);
/* All that follows, row by row; false: there is no solution within the bounds.
 */
bool propagate(glpk_rows *r);
void undo(glpk_rows *r, size_t trail);
static inline bool is_fixed(const glpk_rows *r, int col) { return r->low[col] == r->high[col]; }
/* What the terms of a row can add up to. */
void row_range(glpk_rows *r, int row, double *least, double *most);

#endif
