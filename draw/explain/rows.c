/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/explain/rows.h"

enum { WIDE = 36 }; /* characters per line of a tall cell */

void fs_explain_begin_rows(const fs_explain *e, fs_explain_rows *l, uint32_t columns) {
  *l = (fs_explain_rows){.all = e->all};
  fs_columns_init(&l->c, e->ctx, columns);
}

bool fs_explain_row(fs_explain_rows *l) {
  bool shown = l->all || l->rows < FS_EXPLAIN_SHOWN;
  l->rows += shown;
  l->more += !shown;
  return shown;
}

void fs_explain_cell(fs_explain_rows *l) { fs_columns_cell(&l->c, FS_LEFT); }

fs_status fs_explain_end_rows(const fs_explain *e, fs_explain_rows *l) {
  uint32_t more = l->more;
  FS_TRY(fs_columns_finish(&l->c, "    ", e->t));
  if (more > 0) {
    fs_text_printf(e->t, "    and %u more\n", more);
  }
  return FSCHED_OK;
}

void fs_explain_drop_rows(const fs_explain *e, fs_explain_rows *l) {
  fs_text_drop(&l->c.text);
  fs_vec_free(e->ctx, &l->c.end);
  fs_vec_free(e->ctx, &l->c.side);
}

/* The length of the part of a text that fits on one line: whole pieces that end at a separator (",
 * " or "; "), as many as there is room for, at least one. */
static size_t line_of(const char *text, size_t n) {
  size_t fits = 0;
  for (size_t i = 0; i + 1 < n; i++) {
    if ((text[i] == ',' || text[i] == ';') && text[i + 1] == ' ') {
      if (fits > 0 && i + 1 > WIDE) {
        return fits;
      }
      fits = i + 2;
    }
  }
  return fits > 0 && n > WIDE ? fits : n;
}

void fs_explain_tall(fs_explain_rows *l, uint32_t before, fs_text *cells, uint32_t n) {
  assert(n == 1 || n == 2);
  size_t at[2] = {0};
  for (bool first = true, more = true; more; first = false) {
    more = false;
    for (uint32_t i = 0; i < before && !first; i++) {
      fs_explain_cell(l);
    }
    for (uint32_t i = 0; i < n; i++) {
      size_t left = cells[i].n - at[i], length = left == 0 ? 0 : line_of(cells[i].at + at[i], left);
      bool ends = at[i] + length == cells[i].n;
      if (length > 0) { /* after running out of memory there is no text */
        fs_text_add(&l->c.text, cells[i].at + at[i], length - (ends ? 0 : 1));
      }
      fs_explain_cell(l);
      at[i] += length;
      more = more || !ends;
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    l->c.text.failed = l->c.text.failed || cells[i].failed;
    fs_text_drop(&cells[i]);
  }
}

void fs_explain_heads(fs_explain_rows *l, const char *const *title, uint32_t n, uint32_t right) {
  assert(n == 0 || title != NULL);
  for (uint32_t i = 0; i < n; i++) {
    fs_text_puts(&l->c.text, title[i]);
    fs_columns_cell(&l->c, i < right ? FS_RIGHT : FS_LEFT);
  }
}
