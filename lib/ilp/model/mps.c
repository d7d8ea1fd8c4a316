/* SPDX-License-Identifier: Apache-2.0 */
/* Free MPS, the part of it that glpsol, cbc and others read alike:
 * - "FREE" follows the name; without it cbc guesses (wrongly where names are short);
 * - every column has an entry in the objective, so that it exists;
 * - integer columns stand between markers.  Their bounds are all written, since readers differ
 *   about missing bounds, about an upper bound below 0, and about the upper bound that MI leaves;
 * - LO and UP are used, as not all readers know LI and UI; the markers say what is integer;
 * - a constant in the objective is a variable that is fixed at 1 (readers differ about the sign of
 *   a right-hand side of the objective);
 * - RHS is there even when empty, and there is at least one row. */
#include "ilp/model/text.h"

typedef struct mps {
  const fs_model *m;
  fs_arena *arena;
  fs_text out;
  size_t *column0; /* CSR: terms by variable, then by row */
  uint32_t *column_row;
  int64_t *column_coef;
} mps;

static fs_status transpose(mps *w) {
  const fs_model *m = w->m;
  FS_TRY(fs_new_zero(w->arena, &w->column0, m->var.n + 2));
  FS_TRY(fs_new(w->arena, &w->column_row, m->term.n));
  FS_TRY(fs_new(w->arena, &w->column_coef, m->term.n));
  for (size_t i = 0; i < m->term.n; i++) {
    w->column0[m->term.at[i].var + 2]++;
  }
  for (size_t v = 0; v < m->var.n; v++) {
    w->column0[v + 2] += w->column0[v + 1];
  }
  for (uint32_t r = 0; r < m->row.n; r++) {
    for (size_t i = m->row.at[r].term0; i < fs_model_row_end(m, r); i++) {
      size_t at = w->column0[m->term.at[i].var + 1]++;
      w->column_row[at] = r;
      w->column_coef[at] = m->term.at[i].coef;
    }
  }
  return FSCHED_OK;
}

static void put_line(mps *w, const char *first, const char *second, int64_t value) {
  fs_text *t = &w->out;
  fs_text_add(t, " ", 1);
  fs_text_puts(t, first);
  fs_text_add(t, " ", 1);
  fs_text_puts(t, second);
  fs_text_add(t, " ", 1);
  fs_model_text_i64(t, value);
  fs_text_add(t, "\n", 1);
}

static char sense(const fs_model_row *row) {
  return row->low == row->high ? 'E' : row->low == -FS_MODEL_INF ? 'L' : 'G';
}

static void put_rows(mps *w) {
  const fs_model *m = w->m;
  fs_text_puts(&w->out, "ROWS\n N objective\n");
  for (size_t r = 0; r < m->row.n; r++) {
    char head[3] = {' ', sense(&m->row.at[r]), ' '};
    fs_text_add(&w->out, head, sizeof head);
    fs_text_puts(&w->out, m->row.at[r].name);
    fs_text_add(&w->out, "\n", 1);
  }
  if (fs_model_has_row(m)) {
    fs_text_puts(&w->out, " G " FS_MODEL_ROW "\n");
  }
}

static void put_marker(mps *w, bool *inside, bool wanted) {
  if (*inside != wanted) {
    fs_text_puts(&w->out, wanted ? " MARKER 'MARKER' 'INTORG'\n" : " MARKER 'MARKER' 'INTEND'\n");
  }
  *inside = wanted;
}

static void put_columns(mps *w) {
  const fs_model *m = w->m;
  bool inside = false;
  fs_text_puts(&w->out, "COLUMNS\n");
  for (size_t v = 0; v < m->var.n; v++) {
    const char *name = m->var.at[v].name;
    put_marker(w, &inside, m->var.at[v].kind != FS_VAR_CONTINUOUS);
    put_line(w, name, "objective", m->var.at[v].cost);
    for (size_t i = w->column0[v]; i < w->column0[v + 1]; i++) {
      put_line(w, name, m->row.at[w->column_row[i]].name, w->column_coef[i]);
    }
  }
  put_marker(w, &inside, false);
  if (fs_model_has_constant(m)) {
    put_line(w, FS_MODEL_CONSTANT, "objective", m->constant);
  }
}

static void put_sides(mps *w) {
  const fs_model *m = w->m;
  fs_text_puts(&w->out, "RHS\n");
  for (size_t r = 0; r < m->row.n; r++) {
    const fs_model_row *row = &m->row.at[r];
    int64_t side = sense(row) == 'L' ? row->high : row->low;
    if (side != 0) {
      put_line(w, "RHS", row->name, side);
    }
  }
  if (m->contradiction) {
    put_line(w, "RHS", FS_MODEL_ROW, 1);
  }
  const char *title = "RANGES\n";
  for (size_t r = 0; r < m->row.n; r++) {
    const fs_model_row *row = &m->row.at[r];
    if (sense(row) == 'G' && row->high != FS_MODEL_INF) {
      fs_text_puts(&w->out, title);
      fs_text_printf(&w->out, " RANGE %s %llu\n", row->name,
                     (unsigned long long)((uint64_t)row->high - (uint64_t)row->low));
      title = "";
    }
  }
}

static void put_bound(mps *w, const fs_model_var *v) {
  bool low = v->low != -FS_MODEL_INF, high = v->high != FS_MODEL_INF;
  bool whole = v->kind != FS_VAR_CONTINUOUS;
  if (v->low == v->high) {
    put_line(w, "FX BOUND", v->name, v->low);
  } else if (!low && !high) {
    fs_text_printf(&w->out, " FR BOUND %s\n", v->name);
  } else if (whole && v->low == 0 && v->high == 1) {
    fs_text_printf(&w->out, " BV BOUND %s\n", v->name);
  } else {
    if (!low) {
      fs_text_printf(&w->out, " MI BOUND %s\n", v->name);
    } else if (v->low != 0) {
      put_line(w, "LO BOUND", v->name, v->low);
    }
    if (high) {
      put_line(w, "UP BOUND", v->name, v->high);
    } else if (whole) {
      fs_text_printf(&w->out, " PL BOUND %s\n", v->name);
    }
  }
}

static fs_status write_all(mps *w) {
  const fs_model *m = w->m;
  FS_TRY(transpose(w));
  fs_model_text_notes(m, "*", &w->out);
  fs_text_puts(&w->out, "NAME ");
  fs_model_text_name(m, &w->out);
  fs_text_puts(&w->out, " FREE\n");
  put_rows(w);
  put_columns(w);
  put_sides(w);
  fs_text_puts(&w->out, "BOUNDS\n");
  for (size_t v = 0; v < m->var.n; v++) {
    put_bound(w, &m->var.at[v]);
  }
  if (fs_model_has_constant(m)) {
    put_line(w, "FX BOUND", FS_MODEL_CONSTANT, 1);
  }
  fs_text_puts(&w->out, "ENDATA\n");
  return FSCHED_OK;
}

fs_status fs_model_mps(const fs_model *m, char **text, size_t *length) {
  assert(!m->open);
  FS_ASSERT_SLOW(fs_model_text_names_ok(m));
  FS_SCRATCH(arena, m->ctx);
  mps w = {.m = m, .arena = &arena};
  fs_text_init(&w.out, m->ctx);
  fs_status status = write_all(&w);
  if (status == FSCHED_OK) {
    status = fs_text_take(&w.out, text, length);
  } else {
    fs_text_drop(&w.out);
  }
  return status;
}
