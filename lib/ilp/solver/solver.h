/* SPDX-License-Identifier: Apache-2.0 */
/* Running a solver: a program of its own that speaks the protocol of fsched-solver(7).
 *
 *   COMMAND [--time-limit SECONDS] [--node-limit N] [--start START] MODEL.mps
 *
 * MODEL.mps is free MPS; START has a line "NAME VALUE" for each variable that is not 0.  The solver
 * writes a line for each thing that it finds:
 *   bound VALUE          no solution is better than this (decimal)
 *   nodes N              nodes of the search so far
 *   incumbent VALUE      a solution, followed by lines "NAME VALUE" for what is not 0, and "end"
 *   status WORD [TEXT]   the last line: optimal, infeasible, limit or error
 * Anything else, a bound above a known solution, a solution that the model refutes, another exit
 * than 0, or an end without a status is a fault of the solver.
 *
 * The solver runs in a process group of its own, and is killed, with all that it has started, at
 * the limit, when `stop` is set, when anything is wrong, when the best solution is proven to be the
 * best, and when this process ends in any way (guardian.h).  MODEL.mps and START are in a directory
 * that the solver has for itself; no process and no file is left behind.
 *
 * The words of a command are split at blanks; '...' and "..." keep them together, and a backslash,
 * outside of '...', takes the next character as it is. */
#ifndef FS_ILP_SOLVER_H
#define FS_ILP_SOLVER_H

#include "ilp/model/model.h"

typedef enum fs_solver_status {
  FS_SOLVER_OPTIMAL,    /* value[] is a solution, and none is better */
  FS_SOLVER_INFEASIBLE, /* there is no solution */
  FS_SOLVER_LIMIT,      /* stopped; value[] is the best, if there is one */
  FS_SOLVER_FAILED      /* missing, crashed, hung or broke the protocol (`reason`); earlier valid
                           findings are kept */
} fs_solver_status;

typedef struct fs_solver_result {
  fs_solver_status status;
  bool found;        /* value[] is filled, by the given start or by the solver */
  int64_t objective; /* of value[] */
  bool bounded;
  int64_t bound;       /* rounded up: no solution has a smaller objective */
  int64_t first_bound; /* the first bound reported, usually that of the relaxation */
  uint64_t nodes;
  char reason[200];
} fs_solver_result;

/* Called when a new bound, solution or number of nodes is known. */
typedef void (*fs_solver_news)(void *user, const fs_solver_result *so_far);

typedef struct fs_solver_options {
  const char *command;      /* words; the first is searched in PATH */
  uint64_t deadline_ns;     /* in the time of fs_now_ns; 0: none */
  uint64_t node_limit;      /* 0: none */
  const volatile int *stop; /* set by others to end the search; read every 50 ms; or NULL */
  fs_solver_news news;      /* or NULL */
  void *user;
} fs_solver_options;

/* value[] is the start if `start`, and then the best solution.  Thread-safe for different contexts.
 * Requires a model in which no row is open.  Errors: FSCHED_SYSTEM for memory alone; all faults of
 * the solver are in the result. */
fs_status fs_solver_run(fsched_context *ctx, const fs_model *m, const fs_solver_options *o,
                        bool start, int64_t *value, fs_solver_result *result) FS_MUST_USE;

/* The default command: fsched-glpk beside the running program, if it is there, else in PATH.  The
 * text is in the arena; NULL when out of memory. */
const char *fs_solver_default(fs_arena *arena);
/* Splits a command; words[] ends with NULL and has room for `more` further words.  *n_words is 0
 * when there are none, or when quotes are not closed.  FSCHED_SYSTEM.  Requires a command. */
fs_status fs_solver_words(fs_arena *arena, const char *command, size_t more, char ***words,
                          size_t *n_words) FS_MUST_USE;

#endif
