/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fsched-glpk: GLPK behind the protocol of fsched-solver(7).
 *
 * This directory is a program of its own under the GNU General Public License,
 * since GLPK is.  It shares no code with the rest of fsched, which starts it
 * and talks to it through pipes and files.
 *
 * Faults end the program: "status error TEXT" on standard output, exit
 * status 1. */
#ifndef FSCHED_GLPK_HELPER_H
#define FSCHED_GLPK_HELPER_H

#include <glpk.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct task {
  glp_prob *lp;
  const double *start; /* one value per column from 1 on, feasible; or NULL */
  double deadline;     /* in the time of now(); negative: none */
  long node_limit;     /* 0: none */
  bool integral;       /* the objective of every solution is a whole number */
} task;

typedef enum verdict { OPTIMAL, INFEASIBLE, LIMIT } verdict;

/* Branch and bound; prints what it finds by the functions of say.c. */
verdict search(const task *t);

/* Reads the model, or the starting solution of a model; NULL when that is no solution.  files.c */
glp_prob *read_model(const char *file);
double *read_start(glp_prob *lp, const char *file);
bool whole_objective(glp_prob *lp);
bool is_solution(glp_prob *lp, const double *x);

/* Lines of the protocol, written at once.  say.c */
void say_bound(double value);
void say_nodes(long n);
void say_incumbent(glp_prob *lp, double objective, const double *x);
void say_status(const char *word);
_Noreturn void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From now on GLPK prints nothing, and its errors are faults. */
void hush(void);
const char *glpk_said(void); /* the last line that would have been printed */

void *allocate(size_t n, size_t size); /* zeroed; never NULL */
double now(void);                      /* seconds */

#endif
