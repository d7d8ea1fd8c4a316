/* SPDX-License-Identifier: Apache-2.0 */
/* Integer linear programs, independent of any solver: minimise cost * x subject to
 * low <= row * x <= high and bounds on each variable.
 *
 * All numbers are integers, so that a model is the same text on every machine.  Variables and rows
 * have names of letters, digits and '_', unique, that both LP and MPS files take; notes say what
 * the ids in them stand for.
 * Memory: the model owns everything; released as a whole.  Not for several threads at once. */
#ifndef FS_ILP_MODEL_H
#define FS_ILP_MODEL_H

#include "base/mem.h"

/* "No bound"; it is never a part of a sum. */
#define FS_MODEL_INF INT64_MAX
/* Solvers compute in doubles, which hold all integers up to this one. */
#define FS_MODEL_EXACT ((int64_t)1 << 53)

typedef enum fs_var_kind { FS_VAR_CONTINUOUS, FS_VAR_INTEGER, FS_VAR_BINARY } fs_var_kind;

typedef struct fs_model_var {
  const char *name;
  int64_t low, high; /* without a bound low is -FS_MODEL_INF, or high FS_MODEL_INF */
  int64_t cost;
  uint8_t kind; /* fs_var_kind */
} fs_model_var;

typedef struct fs_model_row {
  const char *name;
  int64_t low, high;
  size_t term0; /* its first term; its terms ascend by variable and are not 0 */
} fs_model_row;

typedef struct fs_model_term {
  uint32_t var;
  int64_t coef;
} fs_model_term;

typedef struct fs_model {
  fsched_context *ctx;
  fs_arena names;
  const char *name;
  FS_VEC(fs_model_var) var;
  FS_VEC(fs_model_row) row;
  FS_VEC(fs_model_term) term;
  FS_VEC(const char *) note; /* one line each, for readers of the files */
  int64_t constant;          /* added to the objective */
  bool open;                 /* a row has been begun and not ended */
  bool contradiction;        /* some row without terms does not hold: there is no solution */
  bool large;                /* some number is beyond FS_MODEL_EXACT: no solver may get the model */
} fs_model;

/* Requires a context and a name. */
void fs_model_init(fs_model *m, fsched_context *ctx, const char *name);
void fs_model_release(fs_model *m);

/* Adds a variable; *var is its id.  Binary ones have bounds within 0..1.  Requires low <= high, and
 * that no row is open.  Requires (unchecked: the writers of slow builds look at all names) a name
 * that is new. */
fs_status fs_model_add_var(fs_model *m, fs_var_kind kind, int64_t low, int64_t high, int64_t cost,
                           uint32_t *var, const char *format, ...) FS_MUST_USE
    __attribute__((format(printf, 7, 8)));
/* A row is begun, gets terms in any order (terms of one variable add up), and is ended; nothing
 * else is added meanwhile.  Requires that no row is open.  A row without terms left is dropped: it
 * holds, or it is a contradiction.  A row whose known amounts leave low > high is a contradiction
 * and is dropped, too; so is a row without bounds, which always holds. */
fs_status fs_model_begin_row(fs_model *m, int64_t low, int64_t high, const char *format,
                             ...) FS_MUST_USE __attribute__((format(printf, 4, 5)));
/* Requires an open row, and a variable of the model. */
fs_status fs_model_add_term(fs_model *m, uint32_t var, int64_t coef) FS_MUST_USE;
/* Adds a known amount to the row's left side: it is taken off both bounds.  Requires an open
 * row. */
void fs_model_add_known(fs_model *m, int64_t amount);
/* Requires an open row. */
fs_status fs_model_end_row(fs_model *m) FS_MUST_USE;
/* Gives up the row that is open.  Requires an open row. */
void fs_model_drop_row(fs_model *m);
/* Requires that no row is open. */
fs_status fs_model_add_note(fs_model *m, const char *format, ...) FS_MUST_USE
    __attribute__((format(printf, 2, 3)));

/* Requires a row of the model. */
static inline size_t fs_model_row_end(const fs_model *m, uint32_t row) {
  assert(row < m->row.n);
  return row + 1 < m->row.n ? m->row.at[row + 1].term0 : m->term.n;
}
/* The objective of a point, one value per variable.  Requires a value per variable. */
int64_t fs_model_objective(const fs_model *m, const int64_t *value);
/* FS_NONE when the point satisfies all bounds and rows, else the first row that it breaks, or
 * FS_MODEL_BOUND + variable.  O(terms). */
#define FS_MODEL_BOUND ((uint64_t)1 << 32)
/* Requires a value per variable, and that no row is open. */
uint64_t fs_model_broken(const fs_model *m, const int64_t *value);

/* In files a constant of the objective is a variable of this name, after all others, fixed at 1.
 * The model has no such variable: readers of solutions pass over it. */
#define FS_MODEL_CONSTANT "objective.constant"
/* The model as CPLEX LP, and as free MPS; *text is for fsched_text_free.  Requires that no row is
 * open.  O(terms).  model/lp.c, model/mps.c */
fs_status fs_model_lp(const fs_model *m, char **text, size_t *length) FS_MUST_USE;
/* Requires that no row is open. */
fs_status fs_model_mps(const fs_model *m, char **text, size_t *length) FS_MUST_USE;

/* Building blocks (model/logic.c, with the formulas and with what the published ones lack).
 *   absolute:  *out is a new variable equal to |z|, z within [-big, big]; *out + 1 is a binary that
 *              is 0 for z > 0 and 1 for z < 0
 *   indicator: *out is a new binary that is 1 exactly when the integer variable z >= 1, z within
 *              [0, big]
 * Requires a variable within its bounds. */
fs_status fs_model_absolute(fs_model *m, uint32_t z, int64_t big, const char *name,
                            uint32_t *out) FS_MUST_USE;
/* Requires an integer variable within its bounds. */
fs_status fs_model_indicator(fs_model *m, uint32_t z, int64_t big, const char *name,
                             uint32_t *out) FS_MUST_USE;

/* Reads the solution of a model as solvers write it (solution.c; fsched-solver(7) says which forms)
 * into one value per variable; a variable that is not named is 0 (or the bound next to 0), and
 * continuous values are rounded.  The values are checked against bounds, but not against rows.
 * Requires a model in which no row is open.
 * Errors, reported with file, line and column: solution-syntax, solution-variable (no such
 * variable, or named twice), solution-value (out of range, or not whole); FSCHED_BAD_INPUT. */
fs_status fs_solution_read(fsched_context *ctx, const fs_model *m, const char *file,
                           const char *text, size_t length, int64_t *value) FS_MUST_USE;

#endif
