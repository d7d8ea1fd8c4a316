/* SPDX-License-Identifier: Apache-2.0 */
/* Terms are pushed onto the end of the one array of terms while a row is open.  Ending the row
 * sorts its part by variable, adds up repeated terms and drops zeros, so that a row reads the same
 * in whatever order its terms came.
 *
 * Solvers compute in doubles, which hold integers up to 2^53.  Sums saturate far above that, and
 * `large` is set when any number is larger than 2^53: a solver would round such a model. */
#include "ilp/model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Sums saturate here, so that adding two of them does not overflow. */
#define MOST (INT64_MAX / 4)

static int64_t clamp(int64_t a) { return a > MOST ? MOST : a < -MOST ? -MOST : a; }

static int64_t plus(int64_t a, int64_t b) { return clamp(clamp(a) + clamp(b)); }

static int64_t times(int64_t a, int64_t b) {
  int64_t most = b == 0 ? 0 : MOST / (clamp(b) < 0 ? -clamp(b) : clamp(b));
  a = clamp(a);
  return b == 0 || a == 0        ? 0
         : a > most || a < -most ? ((a < 0) == (b < 0) ? MOST : -MOST)
                                 : a * clamp(b);
}

static bool infinite(int64_t a) { return a == FS_MODEL_INF || a == -FS_MODEL_INF; }

static void look_at_number(fs_model *m, int64_t a) {
  m->large |= !infinite(a) && (a > FS_MODEL_EXACT || a < -FS_MODEL_EXACT);
}

void fs_model_init(fs_model *m, fsched_context *ctx, const char *name) {
  assert(ctx != NULL && name != NULL);
  *m = (fs_model){.ctx = ctx, .name = name};
  fs_arena_init(&m->names, ctx);
}

void fs_model_release(fs_model *m) {
  fs_vec_free(m->ctx, &m->var);
  fs_vec_free(m->ctx, &m->row);
  fs_vec_free(m->ctx, &m->term);
  fs_vec_free(m->ctx, &m->note);
  fs_arena_release(&m->names);
}

static fs_status format_name(fs_model *m, const char *format, va_list args, const char **out) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, again);
  va_end(again);
  assert(n >= 0);
  char *text = fs_arena_alloc(&m->names, (size_t)n + 1);
  if (text == NULL) {
    return FSCHED_SYSTEM;
  }
  (void)vsnprintf(text, (size_t)n + 1, format, args);
  *out = text;
  return FSCHED_OK;
}

fs_status fs_model_add_var(fs_model *m, fs_var_kind kind, int64_t low, int64_t high, int64_t cost,
                           uint32_t *var, const char *format, ...) {
  assert(!m->open && low <= high && low != FS_MODEL_INF && high != -FS_MODEL_INF);
  assert(kind != FS_VAR_BINARY || (low >= 0 && high <= 1));
  assert(m->var.n < FS_NONE);
  fs_model_var v = {.low = low, .high = high, .cost = cost, .kind = (uint8_t)kind};
  va_list args;
  va_start(args, format);
  fs_status status = format_name(m, format, args, &v.name);
  va_end(args);
  FS_TRY(status);
  look_at_number(m, low);
  look_at_number(m, high);
  look_at_number(m, cost);
  *var = (uint32_t)m->var.n;
  return fs_vec_push(m->ctx, &m->var, v);
}

fs_status fs_model_begin_row(fs_model *m, int64_t low, int64_t high, const char *format, ...) {
  assert(!m->open && m->row.n < FS_NONE);
  fs_model_row row = {.low = low, .high = high, .term0 = m->term.n};
  va_list args;
  va_start(args, format);
  fs_status status = format_name(m, format, args, &row.name);
  va_end(args);
  FS_TRY(status);
  FS_TRY(fs_vec_push(m->ctx, &m->row, row));
  m->open = true;
  return FSCHED_OK;
}

fs_status fs_model_add_term(fs_model *m, uint32_t var, int64_t coef) {
  assert(m->open && var < m->var.n);
  fs_model_term t = {var, coef};
  return coef == 0 ? FSCHED_OK : fs_vec_push(m->ctx, &m->term, t);
}

void fs_model_add_known(fs_model *m, int64_t amount) {
  assert(m->open);
  fs_model_row *row = &m->row.at[m->row.n - 1];
  row->low = infinite(row->low) ? row->low : plus(row->low, -clamp(amount));
  row->high = infinite(row->high) ? row->high : plus(row->high, -clamp(amount));
}

/* Terms that compare equal are equal in every member. */
static int by_var(const void *a, const void *b) {
  const fs_model_term *x = a, *y = b;
  return x->var != y->var ? (x->var > y->var ? 1 : -1) : (x->coef > y->coef) - (x->coef < y->coef);
}

/* Sorts terms, adds up repeated ones and drops zeros; returns the number of terms left. */
static size_t merge(fs_model_term *term, size_t n) {
  bool sorted = true;
  for (size_t i = 1; i < n && sorted; i++) {
    sorted = term[i - 1].var < term[i].var;
  }
  if (sorted) {
    return n;
  }
  qsort(term, n, sizeof *term, by_var);
  size_t kept = 0;
  for (size_t i = 0; i < n;) {
    fs_model_term sum = term[i++];
    for (; i < n && term[i].var == sum.var; i++) {
      sum.coef = plus(sum.coef, term[i].coef);
    }
    if (sum.coef != 0) {
      term[kept++] = sum;
    }
  }
  assert(kept <= n);
  return kept;
}

fs_status fs_model_end_row(fs_model *m) {
  assert(m->open);
  const fs_model_row *row = &m->row.at[m->row.n - 1];
  size_t n = m->term.n - row->term0;
  n = n == 0 ? 0 : merge(&m->term.at[row->term0], n);
  m->term.n = row->term0 + n;
  m->contradiction |= row->low > row->high || (n == 0 && (row->low > 0 || row->high < 0));
  bool idle =
      n == 0 || row->low > row->high || (row->low == -FS_MODEL_INF && row->high == FS_MODEL_INF);
  if (idle) {
    fs_model_drop_row(m);
    return FSCHED_OK;
  }
  look_at_number(m, row->low);
  look_at_number(m, row->high);
  for (size_t i = row->term0; i < m->term.n; i++) {
    look_at_number(m, m->term.at[i].coef);
  }
  m->open = false;
  return FSCHED_OK;
}

void fs_model_drop_row(fs_model *m) {
  assert(m->open);
  m->term.n = m->row.at[--m->row.n].term0;
  m->open = false;
}

fs_status fs_model_add_note(fs_model *m, const char *format, ...) {
  assert(!m->open);
  const char *note;
  va_list args;
  va_start(args, format);
  fs_status status = format_name(m, format, args, &note);
  va_end(args);
  FS_TRY(status);
  return fs_vec_push(m->ctx, &m->note, note);
}

int64_t fs_model_objective(const fs_model *m, const int64_t *value) {
  assert(value != NULL || m->var.n == 0);
  int64_t sum = m->constant;
  for (size_t i = 0; i < m->var.n; i++) {
    sum = plus(sum, times(m->var.at[i].cost, value[i]));
  }
  return sum;
}

uint64_t fs_model_broken(const fs_model *m, const int64_t *value) {
  assert(!m->open && (value != NULL || m->var.n == 0));
  for (size_t i = 0; i < m->var.n; i++) {
    if (value[i] < m->var.at[i].low || value[i] > m->var.at[i].high) {
      return FS_MODEL_BOUND + i;
    }
  }
  for (uint32_t r = 0; r < m->row.n; r++) {
    int64_t sum = 0;
    for (size_t i = m->row.at[r].term0; i < fs_model_row_end(m, r); i++) {
      sum = plus(sum, times(m->term.at[i].coef, value[m->term.at[i].var]));
    }
    if (sum < m->row.at[r].low || sum > m->row.at[r].high) {
      return r;
    }
  }
  return FS_NONE;
}
