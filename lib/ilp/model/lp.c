/* SPDX-License-Identifier: Apache-2.0 */
/* CPLEX LP, the part of it that glpsol, cbc and others read alike:
 * - the objective has a term for each variable, also where the cost is 0: readers number variables
 *   in the order in which they meet them, and so they have the model's numbers;
 * - a constant in the objective is a variable that is fixed at 1 (glpsol takes no constant);
 * - a row with two limits is two rows, NAME and NAME.high, or one equation;
 * - a model without rows, or with a contradiction, gets one more row: glpsol needs one;
 * - lines are folded well below 255 bytes, at which older readers cut them. */
#include "ilp/model/text.h"

typedef struct lp {
  const fs_model *m;
  fs_text out;
  size_t line; /* where the present line begins */
} lp;

static void end_line(lp *w) {
  fs_text_add(&w->out, "\n", 1);
  w->line = w->out.n;
}

static const char *name_of(const lp *w, uint32_t var) {
  return var < w->m->var.n ? w->m->var.at[var].name : FS_MODEL_CONSTANT;
}

/* Writes a term such as " + 3 x"; the first term of a row has no '+'. */
static void put_term(lp *w, bool first, int64_t coef, uint32_t var) {
  fs_text *t = &w->out;
  if (t->n - w->line > FS_MODEL_LINE / 2) {
    end_line(w);
    fs_text_puts(t, "   ");
  }
  fs_text_puts(t, coef < 0 ? " - " : first ? " " : " + ");
  if (coef != 1 && coef != -1) {
    fs_text_u64(t, coef < 0 ? 0 - (uint64_t)coef : (uint64_t)coef);
    fs_text_add(t, " ", 1);
  }
  fs_text_puts(t, name_of(w, var));
}

static void put_objective(lp *w) {
  const fs_model *m = w->m;
  fs_text_puts(&w->out, "Minimize\n");
  w->line = w->out.n;
  fs_text_puts(&w->out, " objective:");
  for (uint32_t v = 0; v < m->var.n; v++) {
    put_term(w, v == 0, m->var.at[v].cost, v);
  }
  if (fs_model_has_constant(m)) {
    put_term(w, m->var.n == 0, m->constant, (uint32_t)m->var.n);
  }
  end_line(w);
}

static void put_row(lp *w, uint32_t row, const char *suffix, const char *relation, int64_t side) {
  assert(row < w->m->row.n);
  const fs_model *m = w->m;
  fs_text_add(&w->out, " ", 1);
  fs_text_puts(&w->out, m->row.at[row].name);
  fs_text_puts(&w->out, suffix);
  fs_text_add(&w->out, ":", 1);
  for (size_t i = m->row.at[row].term0; i < fs_model_row_end(m, row); i++) {
    put_term(w, i == m->row.at[row].term0, m->term.at[i].coef, m->term.at[i].var);
  }
  fs_text_puts(&w->out, relation);
  fs_model_text_i64(&w->out, side);
  end_line(w);
}

static void put_rows(lp *w) {
  const fs_model *m = w->m;
  fs_text_puts(&w->out, "Subject To\n");
  w->line = w->out.n;
  for (uint32_t r = 0; r < m->row.n; r++) {
    const fs_model_row *row = &m->row.at[r];
    bool low = row->low != -FS_MODEL_INF, high = row->high != FS_MODEL_INF;
    if (low && row->low == row->high) {
      put_row(w, r, "", " = ", row->low);
      continue;
    }
    if (low) {
      put_row(w, r, "", " >= ", row->low);
    }
    if (high) {
      put_row(w, r, low ? ".high" : "", " <= ", row->high);
    }
  }
  if (fs_model_has_row(m)) {
    fs_text_printf(&w->out, " " FS_MODEL_ROW ": 0 %s >= %d", name_of(w, 0), m->contradiction);
    end_line(w);
  }
}

static bool is_binary(const fs_model_var *v) {
  return v->kind != FS_VAR_CONTINUOUS && v->low == 0 && v->high == 1;
}

/* Writes the bounds of a variable; without them, readers take 0 and infinity. */
static void put_bound(lp *w, const fs_model_var *v) {
  fs_text *t = &w->out;
  bool low = v->low != -FS_MODEL_INF, high = v->high != FS_MODEL_INF;
  if (is_binary(v) || (v->low == 0 && !high)) {
    return;
  }
  fs_text_add(t, " ", 1);
  if (v->low != v->high && (high || low)) {
    fs_text_puts(t, low ? "" : "-inf");
    if (low) {
      fs_model_text_i64(t, v->low);
    }
    fs_text_puts(t, " <= ");
  }
  fs_text_puts(t, v->name);
  if (high) {
    fs_text_puts(t, v->low == v->high ? " = " : " <= ");
    fs_model_text_i64(t, v->high);
  } else if (!low) {
    fs_text_puts(t, " free");
  }
  fs_text_add(t, "\n", 1);
}

/* Writes a section with the integer variables that are binary, or with those that are not. */
static void put_kinds(lp *w, const char *title, bool binary) {
  const fs_model *m = w->m;
  for (size_t v = 0; v < m->var.n; v++) {
    if (m->var.at[v].kind != FS_VAR_CONTINUOUS && is_binary(&m->var.at[v]) == binary) {
      fs_text_puts(&w->out, title);
      fs_text_add(&w->out, " ", 1);
      fs_text_puts(&w->out, m->var.at[v].name);
      fs_text_add(&w->out, "\n", 1);
      title = "";
    }
  }
}

fs_status fs_model_lp(const fs_model *m, char **text, size_t *length) {
  assert(!m->open);
  FS_ASSERT_SLOW(fs_model_text_names_ok(m));
  lp w = {.m = m};
  fs_text_init(&w.out, m->ctx);
  fs_model_text_notes(m, "\\", &w.out);
  put_objective(&w);
  put_rows(&w);
  fs_text_puts(&w.out, "Bounds\n");
  for (size_t v = 0; v < m->var.n; v++) {
    put_bound(&w, &m->var.at[v]);
  }
  if (fs_model_has_constant(m)) {
    fs_text_puts(&w.out, " " FS_MODEL_CONSTANT " = 1\n");
  }
  put_kinds(&w, "Generals\n", false);
  put_kinds(&w, "Binaries\n", true);
  fs_text_puts(&w.out, "End\n");
  return fs_text_take(&w.out, text, length);
}
