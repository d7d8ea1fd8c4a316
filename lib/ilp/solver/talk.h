/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the output of a solver, line by line (solver.h has the protocol), and decides what is
 * believed.
 *
 * Solutions are checked against the model with whole numbers, so that nothing depends on a solver's
 * tolerances; a bound cannot be checked, but it must not refute a known solution. */
#ifndef FS_ILP_SOLVER_TALK_H
#define FS_ILP_SOLVER_TALK_H

#include "base/names.h"
#include "ilp/solver/solver.h"

enum { FS_TALK_LINE = 4096 }; /* bytes of the longest line */

typedef enum fs_talk_state {
  FS_TALK_OPEN,
  FS_TALK_POINT, /* within the lines of a solution */
  FS_TALK_OPTIMAL,
  FS_TALK_INFEASIBLE,
  FS_TALK_LIMIT,
  FS_TALK_FAULT /* result->reason is filled; further bytes are ignored */
} fs_talk_state;

typedef struct fs_talk {
  const fs_model *m;
  fs_solver_result *result;
  int64_t *value; /* the best solution, if result->found */
  fs_talk_state state;
  bool news; /* set when something new is known; the caller clears it */
  fs_arena arena;
  fs_names names;
  double *x;          /* the solution that is being said */
  int64_t *candidate; /* the same in whole numbers */
  uint32_t *said;     /* per variable: number of the last solution that named it */
  uint32_t n_points;
  double claim;  /* the objective claimed for the solution that is being read */
  double lowest; /* least of all claimed objectives, if there was one */
  size_t n_line;
  char line[FS_TALK_LINE + 1];
} fs_talk;

/* result->found says whether value[] is a solution already.  Requires a model in which no row is
 * open. */
fs_status fs_talk_begin(fsched_context *ctx, const fs_model *m, int64_t *value,
                        fs_solver_result *result, fs_talk *t) FS_MUST_USE;
void fs_talk_release(fs_talk *t);
/* Reads the next bytes of output.  There are no errors: a fault is in the state.  Once the best
 * solution is proven to be optimal, or after a fault, further bytes are ignored, however the output
 * is cut into calls.  Requires bytes, unless n is 0. */
void fs_talk_hear(fs_talk *t, const char *bytes, size_t n);
/* To be called at the end of the output. */
void fs_talk_close(fs_talk *t);
static inline bool fs_talk_ended(const fs_talk *t) { return t->state > FS_TALK_POINT; }
/* Is it proven that no solution is better than the known one? */
static inline bool fs_talk_proven(const fs_talk *t) {
  return t->result->found && t->result->bounded && t->result->bound >= t->result->objective;
}

/* A text as messages show it: its beginning, without characters that control a terminal. */
void fs_talk_shown(const char *text, size_t length, char *out, size_t size);

#endif
