/* SPDX-License-Identifier: Apache-2.0 */
/* What the LP text and the MPS text of a model have in common. */
#ifndef FS_ILP_MODEL_TEXT_H
#define FS_ILP_MODEL_TEXT_H

#include "ilp/model/model.h"

/* A file may have a variable FS_MODEL_CONSTANT and a row FS_MODEL_ROW that the model has not: the
 * row always holds when the model has no rows, and never holds when it is a contradiction. */
#define FS_MODEL_ROW "no.row"

/* Does the file have a variable for the constant?  It has one for a model without variables,
 * too. */
static inline bool fs_model_has_constant(const fs_model *m) {
  return m->constant != 0 || m->var.n == 0;
}
/* Does the file have the additional row? */
static inline bool fs_model_has_row(const fs_model *m) { return m->contradiction || m->row.n == 0; }

/* The first word of a file: the model's name, of letters, digits and '_'. */
void fs_model_text_name(const fs_model *m, fs_text *out);
/* Comment lines, each beginning with `mark` and shorter than FS_MODEL_LINE: what the model is, and
 * its notes. */
enum { FS_MODEL_LINE = 200 };
void fs_model_text_notes(const fs_model *m, const char *mark, fs_text *out);
void fs_model_text_i64(fs_text *out, int64_t value);
/* Is every name unique, and accepted by all readers?  For asserts; true when out of memory. */
bool fs_model_text_names_ok(const fs_model *m);

#endif
