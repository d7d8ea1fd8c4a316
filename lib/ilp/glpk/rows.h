/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model in arrays, the present bounds of its variables within the search, and the propagation
 * of these bounds.
 *
 * Groups: a row "sum of binaries = 1" says that exactly one of them is 1.  Models of schedules are
 * made of these: the variables of a group are the choices of a start, in order.  A variable belongs
 * to at most one group (group 0: to none).
 *
 * Columns and rows are numbered from 1, as GLPK does; row 0 says that the objective is at most the
 * cut-off. */
#ifndef FSCHED_GLPK_ROWS_H
#define FSCHED_GLPK_ROWS_H

#include "helper.h"

typedef struct bound_change {
  int col;
  double low, high; /* the bounds before the change */
} bound_change;

typedef struct glpk_rows {
  int n_rows, n_cols, n_groups;
  int *term0, *col; /* CSR per row: the columns of its terms, those of a group side by side */
  double *coef;
  double *row_low, *row_high; /* may be infinite */
  double constant;            /* of the objective */
  int *use0, *use;            /* CSR per column: its rows */
  double *low, *high, *cost;  /* per column: present bounds, and cost */
  bool *whole;
  int *group, *member0, *member; /* per column: its group; CSR per group: its columns in order */
  int *free;                     /* per group: number of members that may be 1 */
  int *chosen;                   /* per group: the member that is 1, or 0 */
  bool *defines;                 /* per row: the row defines a group */

  bound_change *trail;
  size_t n_trail, room;
  int *queue; /* rows that propagate() has to look at again */
  int first, n_queue;
  bool *queued;
  int *mark, stamp; /* per column */
  double *part;     /* per term of the row at hand: least and most of its group */
  bool conflict;
} glpk_rows;

glpk_rows *make_rows(glp_prob *lp);
/* Demands that the objective is at most `cutoff`. */
void set_cutoff(glpk_rows *r, double cutoff);
/* Sets new bounds; propagate() finds what follows from them. */
void narrow(glpk_rows *r, int col, double low, double high);
/* Allows only the members from index `from` up to `to` of a group to be 1. */
void keep_members(glpk_rows *r, int group, int from, int to);
/* Narrows bounds row by row until nothing more follows; false: there is no solution within the
 * bounds. */
bool propagate(glpk_rows *r);
void undo(glpk_rows *r, size_t trail);
static inline bool is_fixed(const glpk_rows *r, int col) { return r->low[col] == r->high[col]; }
/* The least and the most that the terms of a row can add up to. */
void row_range(glpk_rows *r, int row, double *least, double *most);

#endif
