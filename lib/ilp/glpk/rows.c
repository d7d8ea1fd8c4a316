/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Propagation of bounds.  A row in which all other terms are at their least leaves a room for each
 * term, and so bounds the term's variable.  Of a group at most one member counts, so that
 * precedence rows narrow windows, and capacity rows find the items that must run at a time in any
 * case.  Every change of a bound is noted in the trail, and the rows of its variable are looked at
 * again. */
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double EPS = 1e-6; /* data are whole numbers */

/* ---- making the rows */

static double low_of(int type, double bound) {
  return type == GLP_FR || type == GLP_UP ? -INFINITY : bound;
}
static double high_of(int type, double bound) {
  return type == GLP_FR || type == GLP_LO ? INFINITY : bound;
}

static void take_cols(glpk_rows *r, glp_prob *lp) {
  for (int j = 1; j <= r->n_cols; j++) {
    int type = glp_get_col_type(lp, j);
    r->low[j] = low_of(type, glp_get_col_lb(lp, j));
    r->high[j] = type == GLP_FX ? r->low[j] : high_of(type, glp_get_col_ub(lp, j));
    r->cost[j] = glp_get_obj_coef(lp, j);
    r->whole[j] = glp_get_col_kind(lp, j) != GLP_CV;
    if (r->whole[j]) {
      r->low[j] = ceil(r->low[j] - EPS);
      r->high[j] = floor(r->high[j] + EPS);
    }
  }
}

static bool is_binary(const glpk_rows *r, int j) {
  return r->whole[j] && r->low[j] == 0.0 && r->high[j] == 1.0;
}

/* Is the row "sum of free binaries = 1"?  Fixed variables do not count. */
static bool is_choice(const glpk_rows *r, int i) {
  double sum = 1.0;
  int n = 0;
  for (int k = r->term0[i]; k < r->term0[i + 1]; k++) {
    int j = r->col[k];
    if (r->low[j] == r->high[j]) {
      sum -= r->coef[k] * r->low[j];
    } else if (r->coef[k] != 1.0 || !is_binary(r, j) || r->group[j] != 0) {
      return false;
    } else {
      n++;
    }
  }
  return n > 0 && r->row_low[i] == r->row_high[i] && r->row_low[i] == sum;
}

static void find_groups(glpk_rows *r) {
  int n = 0;
  for (int i = 1; i <= r->n_rows; i++) {
    if (!is_choice(r, i)) {
      continue;
    }
    r->defines[i] = true;
    int g = ++r->n_groups;
    r->member0[g] = n;
    for (int k = r->term0[i]; k < r->term0[i + 1]; k++) {
      if (is_binary(r, r->col[k])) {
        r->group[r->col[k]] = g;
        r->member[n++] = r->col[k];
      }
    }
    r->free[g] = n - r->member0[g];
    r->member0[g + 1] = n;
  }
}

typedef struct term {
  int group, col;
  double coef;
} term;

/* The order is total, since a row has each column once. */
static int by_group(const void *a, const void *b) {
  const term *x = a, *y = b;
  return x->group != y->group ? x->group - y->group : x->col - y->col;
}

static void sort_row(glpk_rows *r, int i, term *t) {
  int first = r->term0[i], n = r->term0[i + 1] - first;
  for (int k = 0; k < n; k++) {
    t[k] = (term){r->group[r->col[first + k]], r->col[first + k], r->coef[first + k]};
  }
  qsort(t, (size_t)n, sizeof *t, by_group);
  for (int k = 0; k < n; k++) {
    r->col[first + k] = t[k].col;
    r->coef[first + k] = t[k].coef;
  }
}

/* Takes the terms of the model.  Row 0 is the objective; the rows of the model follow. */
static void take_terms(glpk_rows *r, glp_prob *lp) {
  int n = 0, *index = allocate((size_t)r->n_cols + 1, sizeof *index);
  double *coef = allocate((size_t)r->n_cols + 1, sizeof *coef);
  for (int j = 1; j <= r->n_cols; j++) {
    if (r->cost[j] != 0.0) {
      r->col[n] = j;
      r->coef[n++] = r->cost[j];
    }
  }
  r->row_low[0] = -INFINITY;
  r->row_high[0] = INFINITY;
  for (int i = 1; i <= r->n_rows; i++) {
    r->term0[i] = n;
    int type = glp_get_row_type(lp, i);
    r->row_low[i] = low_of(type, glp_get_row_lb(lp, i));
    r->row_high[i] = type == GLP_FX ? r->row_low[i] : high_of(type, glp_get_row_ub(lp, i));
    for (int k = glp_get_mat_row(lp, i, index, coef); k >= 1; k--) {
      r->col[n] = index[k];
      r->coef[n++] = coef[k];
    }
  }
  r->term0[r->n_rows + 1] = n;
  free(index);
  free(coef);
}

static void list_uses(glpk_rows *r) {
  for (int k = 0; k < r->term0[r->n_rows + 1]; k++) {
    r->use0[r->col[k] + 1]++;
  }
  for (int j = 1; j <= r->n_cols; j++) {
    r->use0[j + 1] += r->use0[j];
  }
  int *at = allocate((size_t)r->n_cols + 2, sizeof *at);
  memcpy(at, r->use0, ((size_t)r->n_cols + 2) * sizeof *at);
  for (int i = 0; i <= r->n_rows; i++) {
    for (int k = r->term0[i]; k < r->term0[i + 1]; k++) {
      r->use[at[r->col[k]]++] = i;
    }
  }
  free(at);
}

glpk_rows *make_rows(glp_prob *lp) {
  glpk_rows *r = allocate(1, sizeof *r);
  r->constant = glp_get_obj_coef(lp, 0);
  r->n_rows = glp_get_num_rows(lp);
  r->n_cols = glp_get_num_cols(lp);
  size_t m = (size_t)r->n_rows + 2, n = (size_t)r->n_cols + 2;
  size_t nz = (size_t)glp_get_num_nz(lp) + n;
  r->term0 = allocate(m, sizeof *r->term0);
  r->row_low = allocate(m, sizeof *r->row_low);
  r->row_high = allocate(m, sizeof *r->row_high);
  r->defines = allocate(m, sizeof *r->defines);
  r->queue = allocate(m, sizeof *r->queue);
  r->queued = allocate(m, sizeof *r->queued);
  r->member0 = allocate(m, sizeof *r->member0);
  r->free = allocate(m, sizeof *r->free);
  r->chosen = allocate(m, sizeof *r->chosen);
  r->col = allocate(nz, sizeof *r->col);
  r->coef = allocate(nz, sizeof *r->coef);
  r->use = allocate(nz, sizeof *r->use);
  r->use0 = allocate(n, sizeof *r->use0);
  r->low = allocate(n, sizeof *r->low);
  r->high = allocate(n, sizeof *r->high);
  r->cost = allocate(n, sizeof *r->cost);
  r->whole = allocate(n, sizeof *r->whole);
  r->group = allocate(n, sizeof *r->group);
  r->member = allocate(n, sizeof *r->member);
  r->mark = allocate(n, sizeof *r->mark);
  r->part = allocate(2 * n, sizeof *r->part);
  take_cols(r, lp);
  take_terms(r, lp);
  find_groups(r);
  term *t = allocate(n, sizeof *t);
  for (int i = 0; i <= r->n_rows; i++) {
    sort_row(r, i, t);
  }
  free(t);
  list_uses(r);
  for (int i = 0; i <= r->n_rows; i++) {
    r->queue[r->n_queue++] = i;
    r->queued[i] = true;
  }
  return r;
}

/* ---- changes */

static void wake(glpk_rows *r, int i) {
  if (!r->queued[i]) {
    int at = r->first + r->n_queue++;
    r->queue[at > r->n_rows ? at - r->n_rows - 1 : at] = i;
    r->queued[i] = true;
  }
}

void set_cutoff(glpk_rows *r, double cutoff) {
  r->row_high[0] = cutoff - r->constant;
  wake(r, 0);
}

static void remember(glpk_rows *r, int col) {
  if (r->n_trail == r->room) {
    r->room = 2 * r->room + 1024;
    r->trail = realloc(r->trail, r->room * sizeof *r->trail);
    if (r->trail == NULL) {
      fault("out of memory");
    }
  }
  r->trail[r->n_trail++] = (bound_change){col, r->low[col], r->high[col]};
  for (int k = r->use0[col]; k < r->use0[col + 1]; k++) {
    wake(r, r->use[k]);
  }
}

static void choose(glpk_rows *r, int col);

/* Records that a member of a group cannot be 1. */
static void drop_column(glpk_rows *r, int col) {
  int g = r->group[col];
  remember(r, col);
  r->high[col] = 0.0;
  if (--r->free[g] == 0) {
    r->conflict = true;
  } else if (r->free[g] == 1) {
    int k = r->member0[g];
    while (r->high[r->member[k]] == 0.0) {
      k++;
    }
    choose(r, r->member[k]);
  }
}

static void choose(glpk_rows *r, int col) {
  int g = r->group[col];
  if (r->low[col] == 1.0) {
    return;
  }
  remember(r, col);
  r->low[col] = 1.0;
  r->chosen[g] = col;
  for (int k = r->member0[g]; k < r->member0[g + 1]; k++) {
    if (r->member[k] != col && r->high[r->member[k]] != 0.0) {
      drop_column(r, r->member[k]);
    }
  }
}

void narrow(glpk_rows *r, int col, double low, double high) {
  low = fmax(low, r->low[col]);
  high = fmin(high, r->high[col]);
  if (low > high + EPS) {
    r->conflict = true;
  } else if (r->group[col] != 0) {
    if (high < 1.0 && r->high[col] == 1.0) {
      drop_column(r, col);
    } else if (low > 0.0 && r->low[col] == 0.0) {
      choose(r, col);
    }
  } else if (low > r->low[col] || high < r->high[col]) {
    remember(r, col);
    r->low[col] = fmin(low, high);
    r->high[col] = high;
  }
}

void keep_members(glpk_rows *r, int group, int from, int to) {
  for (int k = r->member0[group]; k < r->member0[group + 1] && !r->conflict; k++) {
    int at = k - r->member0[group];
    if ((at < from || at >= to) && r->high[r->member[k]] != 0.0) {
      narrow(r, r->member[k], 0.0, 0.0);
    }
  }
}

void undo(glpk_rows *r, size_t trail) {
  while (r->n_trail > trail) {
    bound_change c = r->trail[--r->n_trail];
    int g = r->group[c.col];
    if (g != 0) {
      r->free[g] += r->high[c.col] < c.high;
      if (r->low[c.col] > c.low) {
        r->chosen[g] = 0;
      }
    }
    r->low[c.col] = c.low;
    r->high[c.col] = c.high;
  }
  while (r->n_queue > 0) {
    r->queued[r->queue[r->first]] = false;
    r->first = r->first == r->n_rows ? 0 : r->first + 1;
    r->n_queue--;
  }
  r->conflict = false;
}

/* ---- rows */

typedef struct range {
  double least, most; /* finite parts */
  int no_least, no_most;
} range;

static void add_range(range *s, double least, double most) {
  if (isfinite(least)) {
    s->least += least;
  } else {
    s->no_least++;
  }
  if (isfinite(most)) {
    s->most += most;
  } else {
    s->no_most++;
  }
}

/* The end of the terms from k on that count together, as they are of one group. */
static int end_of_part(const glpk_rows *r, int k, int end) {
  int g = r->group[r->col[k]];
  if (g == 0) {
    return k + 1;
  }
  while (k < end && r->group[r->col[k]] == g) {
    k++;
  }
  return k;
}

static void part_range(const glpk_rows *r, int k, int end, double *least, double *most) {
  int j = r->col[k], g = r->group[j], n = 0;
  if (g == 0) {
    double a = r->coef[k] * r->low[j], b = r->coef[k] * r->high[j];
    *least = fmin(a, b);
    *most = fmax(a, b);
    return;
  }
  *least = INFINITY;
  *most = -INFINITY;
  for (; k < end; k++) {
    if (r->high[r->col[k]] != 0.0) {
      n++;
      *least = fmin(*least, r->coef[k]);
      *most = fmax(*most, r->coef[k]);
    }
  }
  if (n < r->free[g]) { /* a member without a term in the row may be chosen */
    *least = fmin(*least, 0.0);
    *most = fmax(*most, 0.0);
  }
}

static range sum_up(glpk_rows *r, int i) {
  range s = {0};
  int end = r->term0[i + 1];
  for (int k = r->term0[i], p = 0, e; k < end; k = e, p += 2) {
    e = end_of_part(r, k, end);
    part_range(r, k, e, &r->part[p], &r->part[p + 1]);
    add_range(&s, r->part[p], r->part[p + 1]);
  }
  return s;
}

void row_range(glpk_rows *r, int row, double *least, double *most) {
  range s = sum_up(r, row);
  *least = s.no_least > 0 ? -INFINITY : s.least;
  *most = s.no_most > 0 ? INFINITY : s.most;
}

/* The room of a part: what the least and the most of the others leave for it. */
typedef struct room {
  double low, high;
} room;

static room room_of(const glpk_rows *r, int i, const range *s, double least, double most) {
  double others_least = s->no_least - !isfinite(least) > 0 ? -INFINITY
                        : isfinite(least)                  ? s->least - least
                                                           : s->least;
  double others_most = s->no_most - !isfinite(most) > 0 ? INFINITY
                       : isfinite(most)                 ? s->most - most
                                                        : s->most;
  return (room){r->row_low[i] - others_most, r->row_high[i] - others_least};
}

static bool value_fits(room w, double value) {
  return value >= w.low - EPS && value <= w.high + EPS;
}

static void narrow_group(glpk_rows *r, int k, int end, room w) {
  int g = r->group[r->col[k]];
  r->stamp++;
  for (int q = k; q < end; q++) {
    r->mark[r->col[q]] = r->stamp;
    if (r->high[r->col[q]] != 0.0 && r->low[r->col[q]] == 0.0 && !value_fits(w, r->coef[q])) {
      drop_column(r, r->col[q]);
      if (r->conflict) {
        return;
      }
    }
  }
  if (value_fits(w, 0.0)) {
    return;
  }
  for (int q = r->member0[g]; q < r->member0[g + 1] && !r->conflict; q++) {
    int j = r->member[q];
    if (r->mark[j] != r->stamp && r->high[j] != 0.0 && r->low[j] == 0.0) {
      drop_column(r, j);
    }
  }
}

/* Is a change large enough?  Small steps of a variable that is not whole could go on for ever. */
static bool is_worth(const glpk_rows *r, int j, double low, double high) {
  double width = r->high[j] - r->low[j], gain = fmax(low - r->low[j], r->high[j] - high);
  return !isfinite(width) ? isfinite(gain) ? gain > 0.0 : true : gain > 0.05 * width + 1e-3;
}

static void narrow_single(glpk_rows *r, int k, room w) {
  int j = r->col[k];
  double a = r->coef[k];
  double low = a > 0.0 ? w.low / a : w.high / a, high = a > 0.0 ? w.high / a : w.low / a;
  if (r->whole[j]) {
    low = ceil(low - EPS);
    high = floor(high + EPS);
  } else {
    low -= EPS;
    high += EPS;
  }
  low = fmax(low, r->low[j]);
  high = fmin(high, r->high[j]);
  if ((low > r->low[j] || high < r->high[j]) && (r->whole[j] || is_worth(r, j, low, high))) {
    narrow(r, j, low, high);
  }
}

static void look_at(glpk_rows *r, int i) {
  range s = sum_up(r, i);
  double slack = EPS * (1.0 + fabs(s.least) + fabs(s.most)) * 1e-3 + EPS;
  if ((s.no_least == 0 && s.least > r->row_high[i] + slack) ||
      (s.no_most == 0 && s.most < r->row_low[i] - slack)) {
    r->conflict = true;
    return;
  }
  bool high_holds = s.no_most == 0 && s.most <= r->row_high[i];
  bool low_holds = s.no_least == 0 && s.least >= r->row_low[i];
  if (high_holds && low_holds) {
    return;
  }
  int end = r->term0[i + 1];
  for (int k = r->term0[i], p = 0, e; k < end && !r->conflict; k = e, p += 2) {
    e = end_of_part(r, k, end);
    room w = room_of(r, i, &s, r->part[p], r->part[p + 1]);
    if (value_fits(w, r->part[p]) && value_fits(w, r->part[p + 1])) {
      continue;
    }
    if (r->group[r->col[k]] != 0) {
      narrow_group(r, k, e, w);
    } else if (!is_fixed(r, r->col[k])) {
      narrow_single(r, k, w);
    }
  }
}

/* Two rows may move two whole variables against each other, by 1 each time.  Work that is not done
 * after so many looks is left for the next call. */
enum { LOOKS = 1 << 20 };

bool propagate(glpk_rows *r) {
  for (long looks = LOOKS; looks > 0 && r->n_queue > 0 && !r->conflict; looks--) {
    int i = r->queue[r->first];
    r->first = r->first == r->n_rows ? 0 : r->first + 1;
    r->n_queue--;
    r->queued[i] = false;
    if (!r->defines[i]) {
      look_at(r, i);
    }
  }
  return !r->conflict;
}
