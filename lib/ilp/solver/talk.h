/* SPDX-License-Identifier: Apache-2.0 */
/* What a solver says, line by line (solver.h has the protocol), and what of it is believed.
 *
 * Solutions are checked against the model with whole numbers, so that nothing hangs on a solver's
 * tolerances; a bound cannot be checked, but it must not refute a solution that is known. */
#ifndef FS_ILP_SOLVER_TALK_H
#define FS_ILP_SOLVER_TALK_H

#include "base/names.h"
#include "ilp/solver/solver.h"

enum { FS_TALK_LINE = 4096 }; /* no line is longer */

typedef enum fs_talk_state {
  FS_TALK_OPEN,
  FS_TALK_POINT, /* within a solution */
  FS_TALK_OPTIMAL,
  FS_TALK_INFEASIBLE,
  FS_TALK_LIMIT,
  FS_TALK_FAULT /* result->reason is filled; nothing more is heard */
} fs_talk_state;

typedef struct fs_talk {
  const fs_model *m;
  fs_solver_result *result;
  int64_t *value; /* the best solution, if result->found */
  fs_talk_state state;
  bool news; /* set when something new is known; cleared by who looks */
  fs_arena arena;
  fs_names names;
  double *x;          /* the solution that is being said */
  int64_t *candidate; /* the same in whole numbers */
  uint32_t *said;     /* per variable: in which solution it was named last */
  uint32_t n_points;
  double claim;  /* the objective of the solution that is being said */
  double lowest; /* of all that were claimed, if there was one */
  size_t n_line;
  char line[FS_TALK_LINE + 1];
} fs_talk;

/* result->found tells whether value[] is a solution already.  Requires a model in which no row is
 * open. */
fs_status fs_talk_begin(fsched_context *ctx, const fs_model *m, int64_t *value,
                        fs_solver_result *result, fs_talk *t) FS_MUST_USE;
void fs_talk_release(fs_talk *t);
/* The next bytes.  No errors: what is wrong is in the state.  Once the best solution is proven, or
 * something is wrong, no more is heard, however the bytes come in.  Requires bytes, unless n is
 * 0. */
void fs_talk_hear(fs_talk *t, const char *bytes, size_t n);
/* There are no more. */
void fs_talk_close(fs_talk *t);
static inline bool fs_talk_ended(const fs_talk *t) { return t->state > FS_TALK_POINT; }
/* No solution can be better than the one that is known. */
static inline bool fs_talk_proven(const fs_talk *t) {
  return t->result->found && t->result->bounded && t->result->bound >= t->result->objective;
}

/* A text as it is shown: its beginning, and nothing that a terminal might obey. */
void fs_talk_shown(const char *text, size_t length, char *out, size_t size);

#endif
