/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of text with aligned columns.  Cells are added row by row to a text; the widths (in
 * characters) are known when all cells are there.
 *   fs_columns_init(&c, ctx, 3);
 *   fs_text_puts(&c.text, "name"); fs_columns_cell(&c, FS_LEFT); ...
 *   FS_TRY(fs_columns_finish(&c, "  ", &text));  appends the rows to `text` and releases c */
#ifndef FS_COLUMNS_H
#define FS_COLUMNS_H

#include "base/mem.h"

typedef enum fs_side { FS_LEFT, FS_RIGHT } fs_side;
enum { FS_COLUMNS_MOST = 16 };

typedef struct fs_columns {
  fs_text text;       /* all cells, one after the other */
  uint32_t n;         /* columns */
  FS_VEC(size_t) end; /* per cell: where it ends in `text` */
  FS_VEC(uint8_t) side;
} fs_columns;

/* Adds a name in a form that is safe for a terminal: control characters become \x1b or \u009b.
 * O(length). */
void fs_text_visible(fs_text *t, const char *s);

/* Requires n columns, 1 to FS_COLUMNS_MOST. */
void fs_columns_init(fs_columns *c, fsched_context *ctx, uint32_t n);
/* Ends the cell that was written to c->text.  Requires a table that fs_columns_init began and that
 * is not finished yet. */
void fs_columns_cell(fs_columns *c, fs_side side);
/* Writes complete rows, each after `indent`, with two spaces between columns and none at the end.
 * Requires complete rows.  O(text).  Errors: FSCHED_SYSTEM. */
fs_status fs_columns_finish(fs_columns *c, const char *indent, fs_text *out) FS_MUST_USE;

#endif
