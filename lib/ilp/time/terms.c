/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of rows, for items of every role (fs_time_role).
 *
 * A start is one of several binaries, of which exactly one is 1; so sums over all of a window are
 * constants, and sums over part of it are as short as that part.  Items that move together have no
 * binaries of their own: "starts at est + k" is the shift's variable "max_shift - k". */
#include "ilp/time/private.h"

fs_status fs_time_add_var(fs_time_model *t, fs_var_kind kind, int64_t high, int64_t cost,
                          uint32_t owner, const char *name, uint32_t *var) {
  assert(!t->m.open);
  FS_TRY(fs_model_add_var(&t->m, kind, 0, high, cost, var, "%s", name));
  return fs_vec_push(t->m.ctx, &t->owner, owner);
}

static fs_status add_range(fs_time_model *t, uint32_t first, fs_tick n, int64_t coef) {
  for (fs_tick k = 0; k < n; k++) {
    FS_TRY(fs_model_add_term(&t->m, first + (uint32_t)k, coef));
  }
  return FSCHED_OK;
}

fs_status fs_time_add_start(fs_time_model *t, uint32_t item, uint32_t choice, fs_tick lo,
                            fs_tick hi, int64_t coef) {
  assert(t->m.open && item <= t->n && (choice == FS_NONE || choice < t->item[item].n_choices));
  const fs_time_item *x = &t->item[item];
  bool all = lo <= x->est && hi >= x->lst;
  lo = fs_max(lo, x->est);
  hi = fs_min(hi, x->lst);
  if (lo > hi) {
    return FSCHED_OK;
  }
  if (all && (choice == FS_NONE || x->n_choices == 1)) {
    fs_model_add_known(&t->m, coef);
    return FSCHED_OK;
  }
  if (x->var0 == FS_NONE) {
    uint32_t last = t->shift0 + (uint32_t)(t->max_shift - (lo - x->est));
    return add_range(t, last - (uint32_t)(hi - lo), hi - lo + 1, coef);
  }
  uint32_t c = choice == FS_NONE ? 0 : choice;
  uint32_t c1 = choice == FS_NONE ? x->n_choices : choice + 1;
  for (; c < c1; c++) {
    uint32_t first = x->var0 + c * (uint32_t)(x->lst - x->est + 1);
    FS_TRY(add_range(t, first + (uint32_t)(lo - x->est), hi - lo + 1, coef));
  }
  return FSCHED_OK;
}

fs_status fs_time_add_time(fs_time_model *t, uint32_t item, int64_t coef) {
  assert(t->m.open && item <= t->n);
  const fs_time_item *x = &t->item[item];
  fs_model_add_known(&t->m, coef * (int64_t)x->est);
  for (fs_tick k = 1; k <= x->lst - x->est; k++) {
    FS_TRY(fs_time_add_start(t, item, FS_NONE, x->est + k, x->est + k, coef * (int64_t)k));
  }
  return FSCHED_OK;
}

fs_status fs_time_add_active(fs_time_model *t, uint32_t item, uint32_t choice, fs_tick at,
                             bool inside, int64_t coef) {
  assert(t->m.open && item <= t->n);
  fs_tick time = t->item[item].time;
  if (time == 0 || (inside && at == 0)) {
    return FSCHED_OK;
  }
  fs_tick lo = at + 1 > time ? at + 1 - time : 0;
  fs_tick hi = inside ? at - 1 : at;
  return lo > hi ? FSCHED_OK : fs_time_add_start(t, item, choice, lo, hi, coef);
}

/* The largest possible left side: of the variables with one owner only one is 1. */
static int64_t most(const fs_time_model *t, uint32_t row) {
  const fs_model *m = &t->m;
  int64_t sum = 0;
  for (size_t i = m->row.at[row].term0, end = fs_model_row_end(m, row); i < end;) {
    uint32_t owner = t->owner.at[m->term.at[i].var];
    int64_t best = 0;
    do {
      best = m->term.at[i].coef > best ? m->term.at[i].coef : best;
      i++;
    } while (i < end && owner != FS_NONE && t->owner.at[m->term.at[i].var] == owner);
    sum += best;
  }
  return sum;
}

fs_status fs_time_end_row(fs_time_model *t, bool *kept) {
  assert(t->m.open);
  fs_model *m = &t->m;
  size_t rows = m->row.n;
  FS_TRY(fs_model_end_row(m));
  *kept = m->row.n == rows;
  if (*kept && most(t, (uint32_t)rows - 1) <= m->row.at[rows - 1].high) {
    m->term.n = m->row.at[--m->row.n].term0;
    *kept = false;
  }
  t->full =
      t->full || (t->o.max_terms != 0 && m->term.n > t->o.max_terms) || fs_problem_stopped(t->p);
  return FSCHED_OK;
}

/* Does row `a` hold wherever row `b` holds?  Variables are not negative. */
static bool implied(const fs_model *m, uint32_t a, uint32_t b) {
  size_t i = m->row.at[a].term0, end = fs_model_row_end(m, a);
  size_t k = m->row.at[b].term0, last = fs_model_row_end(m, b);
  if (m->row.at[b].high > m->row.at[a].high) {
    return false;
  }
  while (i < end || k < last) {
    bool in_a = i < end && (k == last || m->term.at[i].var <= m->term.at[k].var);
    bool in_b = k < last && (i == end || m->term.at[k].var <= m->term.at[i].var);
    int64_t coef_a = in_a ? m->term.at[i].coef : 0, coef_b = in_b ? m->term.at[k].coef : 0;
    if (coef_b < coef_a) {
      return false;
    }
    i += in_a;
    k += in_b;
  }
  return true;
}

void fs_time_drop_weaker(fs_time_model *t, bool *before, bool kept) {
  fs_model *m = &t->m;
  if (kept && *before) {
    uint32_t old = (uint32_t)m->row.n - 2, new = old + 1;
    if (implied(m, new, old)) {
      m->term.n = m->row.at[--m->row.n].term0;
    } else if (implied(m, old, new)) {
      size_t to = m->row.at[old].term0, from = m->row.at[new].term0;
      memmove(&m->term.at[to], &m->term.at[from], (m->term.n - from) * sizeof *m->term.at);
      m->term.n -= from - to;
      m->row.at[old] = m->row.at[new];
      m->row.at[old].term0 = to;
      m->row.n--;
    }
  }
  *before = *before || kept;
}
