/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The branches that divide the weight of the relaxation most evenly are tried: each side is
 * propagated.  A side that is refuted leaves only the other.  Of the other branches the one is
 * taken from which most follows on both sides. */
#include "branch.h"

#include <math.h>

enum { TRIES = 8 };

typedef struct candidates {
  int n;
  double score[TRIES];
  branch at[TRIES];
} candidates;

/* Enters a branch in the candidates, by descending score; of equal ones the first stays first. */
static void enter_branch(candidates *c, double score, branch b) {
  int k = c->n;
  if (k == TRIES) {
    if (score <= c->score[--k] + 1e-9) {
      return;
    }
  } else {
    c->n++;
  }
  for (; k > 0 && score > c->score[k - 1] + 1e-9; k--) {
    c->score[k] = c->score[k - 1];
    c->at[k] = c->at[k - 1];
  }
  c->score[k] = score;
  c->at[k] = b;
}

/* Finds the member behind which a group is cut: there the weight of both sides is most even.
 * Without weights all remaining members count alike. */
static void enter_group(candidates *c, const glpk_rows *r, int g, const double *x) {
  int first = r->member0[g], n = r->member0[g + 1] - first, left = r->free[g];
  branch b = {.group = g};
  double sum = 0.0, score = 1e-6;
  for (int k = 0; k < n && left > 1; k++) {
    int j = r->member[first + k];
    if (r->high[j] == 0.0) {
      continue;
    }
    left--;
    sum += x == NULL ? 1.0 / r->free[g] : fmax(0.0, fmin(1.0, x[j]));
    double even = fmin(sum, 1.0 - sum);
    if (even > score + 1e-9) {
      score = even;
      b.cut = k + 1;
    }
  }
  if (b.cut > 0) {
    enter_branch(c, score, b);
  }
}

/* The value that replaces the relaxation's: near the middle of the bounds. */
static double some_value(const glpk_rows *r, int j) {
  double low = r->low[j], high = r->high[j];
  return isfinite(low) && isfinite(high) ? (low + high) / 2.0 - 0.25
         : isfinite(low)                 ? low + 0.25
         : isfinite(high)                ? high - 0.75
                                         : 0.25;
}

static void enter_single(candidates *c, const glpk_rows *r, int j, const double *x) {
  double v = x == NULL ? some_value(r, j) : x[j], low = floor(v);
  double score = fmin(v - low, low + 1.0 - v);
  if (x == NULL || score > 1e-6) {
    enter_branch(c, score, (branch){.col = j, .at = fmin(fmax(low, r->low[j]), r->high[j] - 1.0)});
  }
}

static void list(candidates *c, const glpk_rows *r, const double *x) {
  for (int g = 1; g <= r->n_groups; g++) {
    if (r->free[g] > 1) {
      enter_group(c, r, g, x);
    }
  }
  bool groups = c->n > 0;
  for (int j = 1; !groups && j <= r->n_cols; j++) {
    if (r->whole[j] && !is_fixed(r, j) && r->group[j] == 0) {
      enter_single(c, r, j, x);
    }
  }
}

void take_side(glpk_rows *r, const branch *b, bool second) {
  if (b->group != 0) {
    keep_members(r, b->group, second ? b->cut : 0, second ? r->n_cols : b->cut);
  } else if (second) {
    narrow(r, b->col, b->at + 1.0, r->high[b->col]);
  } else {
    narrow(r, b->col, r->low[b->col], b->at);
  }
}

/* Counts the changes that follow from a side; negative: the side is refuted. */
static double try_side(glpk_rows *r, const branch *b, bool second) {
  size_t trail = r->n_trail;
  take_side(r, b, second);
  bool ok = propagate(r);
  double much = (double)(r->n_trail - trail);
  undo(r, trail);
  return ok ? much : -1.0;
}

next choose_branch(glpk_rows *r, const double *x, branch *b) {
  candidates c = {0};
  list(&c, r, x);
  if (c.n == 0 && x != NULL) {
    list(&c, r, NULL);
  }
  double most = -1.0;
  next found = c.n == 0 ? STUCK : AGAIN;
  bool narrowed = false;
  for (int k = 0; k < c.n; k++) {
    double first = try_side(r, &c.at[k], false), second = try_side(r, &c.at[k], true);
    if (first < 0.0 && second < 0.0) {
      return CLOSED;
    }
    if (first < 0.0 || second < 0.0) {
      narrowed = true;
      take_side(r, &c.at[k], first < 0.0);
      if (!propagate(r)) {
        return CLOSED;
      }
    } else if (fmin(first, second) + 0.1 * fmax(first, second) > most) {
      most = fmin(first, second) + 0.1 * fmax(first, second);
      *b = c.at[k];
      found = DIVIDE;
    }
  }
  return narrowed ? AGAIN : found;
}
