/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in explanations for people, of which the first rows are shown unless all are wanted. */
#ifndef FS_EXPLAIN_ROWS_H
#define FS_EXPLAIN_ROWS_H

#include "base/text/columns.h"
#include "draw/explain/explain.h"

enum { FS_EXPLAIN_SHOWN = 20 };

typedef struct fs_explain_rows {
  fs_columns c;
  uint32_t rows, more; /* shown; counted alone */
  bool all;
} fs_explain_rows;

void fs_explain_begin_rows(const fs_explain *e, fs_explain_rows *l, uint32_t columns);
/* Writes the titles of columns, of which the first ones are flushed right.  Requires n titles. */
void fs_explain_heads(fs_explain_rows *l, const char *const *title, uint32_t n, uint32_t right);
/* Counts the next row; returns whether it is to be written. */
bool fs_explain_row(fs_explain_rows *l);
/* Ends a cell, flushed left. */
void fs_explain_cell(fs_explain_rows *l);
/* Writes the last cells of a row, behind `before` others, on as many rows as their texts need, and
 * frees the texts.  Requires one or two texts. */
void fs_explain_tall(fs_explain_rows *l, uint32_t before, fs_text *cells, uint32_t n);
/* Writes the table, and how many rows are left out.  Errors: FSCHED_SYSTEM. */
fs_status fs_explain_end_rows(const fs_explain *e, fs_explain_rows *l) FS_MUST_USE;
/* Frees a table that is not written. */
void fs_explain_drop_rows(const fs_explain *e, fs_explain_rows *l);

#endif
