/* SPDX-License-Identifier: Apache-2.0 */
/* A solver's numbers are decimals that are nearly whole.  A bound, less a tolerance of a millionth,
 * is rounded up.  A value is rounded to the nearest whole number, and the rounded point must
 * satisfy the model exactly.
 *
 * Continuous variables are treated alike, since the models are such that an optimum with whole
 * values exists.  A solver may still print a solution that is not whole.  Rows that are differences
 * of two such variables, with whole limits, still hold when all variables are rounded down, so that
 * point is tried next.  When this point is not a solution either, that is a fault only if the
 * decimals themselves break the model; otherwise the solution is left unused. */
#include "ilp/solver/talk.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const double NEAR = 1e-5;                /* how far a value may be from a whole number */
static const double SLACK = 1e-6;               /* tolerance of limits and of sums, relative */
static const double LARGE = 9007199254740992.0; /* beyond 2^53 not all whole numbers are doubles */

static double slack(double of) { return SLACK * (1.0 + fabs(of)); }

__attribute__((format(printf, 2, 3))) static void fault(fs_talk *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  (void)vsnprintf(t->result->reason, sizeof t->result->reason, format, args);
  va_end(args);
  t->state = FS_TALK_FAULT;
}

/* ---- lines */

void fs_talk_shown(const char *text, size_t length, char *out, size_t size) {
  size_t n = length < size ? length : size - 4;
  for (size_t i = 0; i < n; i++) {
    out[i] = text[i] >= ' ' && text[i] < 0x7F ? text[i] : '?';
  }
  (void)snprintf(out + n, size - n, "%s", n < length ? "..." : "");
}

static void rubbish(fs_talk *t, const char *what) {
  char shown[64];
  fs_talk_shown(t->line, t->n_line, shown, sizeof shown);
  fault(t, "the solver said \"%s\", which is %s", shown, what);
}

/* Reads digits with at most one '.', of the value *sum * 10^*scale; NULL: there are none. */
static const char *digits(const char *s, long double *sum, int *scale) {
  bool point = false;
  int n = 0;
  *sum = 0.0L;
  *scale = 0;
  for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
    if (*s == '.') {
      point = true;
    } else {
      *sum = *sum * 10.0L + (long double)(*s - '0');
      *scale -= point;
      n++;
    }
  }
  return n == 0 || n > 400 ? NULL : s;
}

/* Reads an exponent such as "e-12" and adds it to *scale; NULL: there is none. */
static const char *exponent(const char *s, int *scale) {
  bool down = s[1] == '-';
  s += 1 + (s[1] == '-' || s[1] == '+');
  int power = 0, n = 0;
  for (; *s >= '0' && *s <= '9' && n < 4; s++, n++) {
    power = power * 10 + (*s - '0');
  }
  *scale += down ? -power : power;
  return n == 0 ? NULL : s;
}

/* Reads a decimal number, in any locale. */
static bool decimal(const char *s, double *out) {
  bool negative = *s == '-';
  long double sum;
  int scale;
  s = digits(s + (*s == '-' || *s == '+'), &sum, &scale);
  if (s != NULL && (*s == 'e' || *s == 'E')) {
    s = exponent(s, &scale);
  }
  if (s == NULL || *s != '\0') {
    return false;
  }
  for (; scale > 0 && sum > 0.0L && sum < 1e400L; scale--) {
    sum *= 10.0L;
  }
  for (; scale < 0 && sum > 0.0L; scale++) {
    sum /= 10.0L;
  }
  *out = (double)(negative ? -sum : sum);
  return isfinite(*out);
}

static bool whole(const char *s, uint64_t *out) {
  uint64_t sum = 0;
  size_t n = 0;
  for (; s[n] >= '0' && s[n] <= '9' && n < 19; n++) {
    sum = sum * 10 + (uint64_t)(s[n] - '0');
  }
  *out = sum;
  return n > 0 && s[n] == '\0';
}

/* Rounds without the C library's mathematics, which is a library of its own. */
static int64_t round_up(double v) {
  int64_t whole = (int64_t)v;
  return (double)whole < v ? whole + 1 : whole;
}

static int64_t round_down(double v) { return -round_up(-v); }

/* ---- what is accepted */

static void raise_bound(fs_talk *t, int64_t bound) {
  fs_solver_result *r = t->result;
  if (!r->bounded) {
    r->first_bound = bound;
  }
  if (!r->bounded || bound > r->bound) {
    r->bounded = true;
    r->bound = bound;
    t->news = true;
  }
}

static void hear_bound(fs_talk *t, const char *text) {
  fs_solver_result *r = t->result;
  double v;
  if (!decimal(text, &v)) {
    rubbish(t, "no bound");
    return;
  }
  if (v < -LARGE) {
    return; /* the bound is of no use */
  }
  int64_t bound = v > LARGE ? INT64_MAX : round_up(v - slack(v));
  if (r->found && bound > r->objective) {
    fault(t, "the solver said that no solution is below %.17g, but %lld is known", v,
          (long long)r->objective);
  } else {
    raise_bound(t, bound);
  }
}

/* Rounds all values to whole numbers: to the nearest ones, or, with `down`, down where they are not
 * nearly whole.  It is a fault if an integer variable is not nearly whole. */
static bool round_point(fs_talk *t, bool down, bool *fractions) {
  for (size_t i = 0; i < t->m->var.n; i++) {
    bool small = fabs(t->x[i]) <= LARGE;
    double nearest = small ? (double)round_down(t->x[i] + 0.5) : 0;
    bool near = small && fabs(t->x[i] - nearest) <= NEAR;
    if (!small || (!near && t->m->var.at[i].kind != FS_VAR_CONTINUOUS)) {
      fault(t, "the solver's solution is none: it says that %.80s is %.9g", t->m->var.at[i].name,
            t->x[i]);
      return false;
    }
    *fractions = *fractions || !near;
    t->candidate[i] = (int64_t)(near || !down ? nearest : (double)round_down(t->x[i]));
  }
  return true;
}

/* Do the decimals break a row, or limits of a variable, by more than a solver's tolerance? */
static bool decimals_break(const fs_talk *t) {
  const fs_model *m = t->m;
  for (size_t i = 0; i < m->var.n; i++) {
    double low = (double)m->var.at[i].low, high = (double)m->var.at[i].high;
    if (t->x[i] < low - slack(low) || t->x[i] > high + slack(high)) {
      return true;
    }
  }
  for (uint32_t r = 0; r < m->row.n; r++) {
    double sum = 0.0, size = 0.0, low = (double)m->row.at[r].low, high = (double)m->row.at[r].high;
    for (size_t i = m->row.at[r].term0; i < fs_model_row_end(m, r); i++) {
      double part = (double)m->term.at[i].coef * t->x[m->term.at[i].var];
      sum += part;
      size += fabs(part);
    }
    if (sum < low - slack(size) || sum > high + slack(size)) {
      return true;
    }
  }
  return false;
}

/* Reports which part of the model a point breaks. */
static void infeasible(fs_talk *t, uint64_t broken) {
  bool bound = broken >= FS_MODEL_BOUND;
  fault(t, "the solver's solution is none: it breaks the %s %.80s", bound ? "bounds of" : "row",
        bound ? t->m->var.at[broken - FS_MODEL_BOUND].name : t->m->row.at[broken].name);
}

static void keep_point(fs_talk *t, int64_t objective) {
  fs_solver_result *r = t->result;
  if (r->bounded && objective < r->bound) {
    fault(t, "the solver's solution %lld is below its bound %lld", (long long)objective,
          (long long)r->bound);
  } else if (!r->found || objective < r->objective) {
    r->found = true;
    r->objective = objective;
    memcpy(t->value, t->candidate, t->m->var.n * sizeof *t->value);
    t->news = true;
  }
}

/* Makes t->candidate, a whole point near the decimals that is a solution; false: there is none,
 * which may be a fault. */
static bool make_whole(fs_talk *t, bool *fractions) {
  *fractions = false;
  if (!round_point(t, false, fractions)) {
    return false;
  }
  uint64_t broken = fs_model_broken(t->m, t->candidate);
  if (broken == FS_NONE) {
    return true;
  }
  if (*fractions) {
    (void)round_point(t, true, fractions);
    if (fs_model_broken(t->m, t->candidate) == FS_NONE) {
      return true;
    }
    if (!decimals_break(t)) {
      return false;
    }
  }
  infeasible(t, broken);
  return false;
}

static void end_point(fs_talk *t) {
  assert(t->state == FS_TALK_POINT);
  t->state = FS_TALK_OPEN;
  bool fractions;
  if (!make_whole(t, &fractions)) {
    return;
  }
  int64_t objective = fs_model_objective(t->m, t->candidate);
  double exact = (double)objective;
  if (!fractions && fabs(exact - t->claim) > NEAR * (1.0 + fabs(exact))) {
    fault(t, "the solver said that its solution has the objective %.17g, but that is %lld",
          t->claim, (long long)objective);
    return;
  }
  keep_point(t, objective);
}

static void begin_point(fs_talk *t, const char *text) {
  if (!decimal(text, &t->claim)) {
    rubbish(t, "no objective");
    return;
  }
  memset(t->x, 0, t->m->var.n * sizeof *t->x);
  t->lowest = t->n_points > 0 ? (t->claim < t->lowest ? t->claim : t->lowest) : t->claim;
  t->n_points++;
  t->state = FS_TALK_POINT;
}

static bool is_word(const fs_talk *t, size_t n, const char *word) {
  return n == strlen(word) && memcmp(t->line, word, n) == 0;
}

/* Reads a line "NAME VALUE". */
static void hear_value(fs_talk *t, size_t n_name, const char *text) {
  if (is_word(t, n_name, FS_MODEL_CONSTANT)) {
    return; /* a variable that only the model's file has */
  }
  uint32_t var = fs_names_find(&t->names, t->line, n_name);
  if (var == FS_NONE) {
    rubbish(t, "no variable of the model");
  } else if (t->said[var] == t->n_points) {
    rubbish(t, "said twice of one solution");
  } else if (!decimal(text, &t->x[var])) {
    rubbish(t, "no number");
  } else {
    t->said[var] = t->n_points;
  }
}

/* The status "optimal" makes the objective of the best solution a bound, even if that solution was
 * not accepted.  Without any solution told, the known one is the best. */
static void hear_optimal(fs_talk *t) {
  fs_solver_result *r = t->result;
  bool told = t->n_points > 0;
  double known = (double)r->objective;
  if (!r->found && !told) {
    fault(t, "the solver said that its solution is optimal, and told none");
    return;
  }
  if (r->found && told && t->lowest > known + NEAR * (1.0 + fabs(known))) {
    fault(t, "the solver called %.17g optimal, but %lld is known", t->lowest,
          (long long)r->objective);
    return;
  }
  double best = told ? t->lowest : known;
  raise_bound(t,
              r->found && best + slack(best) > known ? r->objective : round_up(best - slack(best)));
  t->state = FS_TALK_OPTIMAL;
}

static void hear_error(fs_talk *t, const char *text) {
  char shown[150];
  fs_talk_shown(text, strlen(text), shown, sizeof shown);
  fault(t, "the solver reports an error%s%s", *shown == '\0' ? "" : ": ", shown);
}

static void hear_status(fs_talk *t, const char *word) {
  if (strcmp(word, "optimal") == 0) {
    hear_optimal(t);
  } else if (strcmp(word, "limit") == 0) {
    t->state = FS_TALK_LIMIT;
  } else if (strcmp(word, "infeasible") == 0 && t->result->found) {
    fault(t, "the solver said that there is no solution, but %lld is known",
          (long long)t->result->objective);
  } else if (strcmp(word, "infeasible") == 0) {
    t->state = FS_TALK_INFEASIBLE;
  } else if (strcmp(word, "error") == 0 || strncmp(word, "error ", 6) == 0) {
    hear_error(t, word[5] == '\0' ? "" : word + 6);
  } else {
    rubbish(t, "no status");
  }
}

static void hear_line(fs_talk *t) {
  assert(t->n_line <= FS_TALK_LINE);
  t->line[t->n_line] = '\0';
  const char *blank = memchr(t->line, ' ', t->n_line);
  size_t n = blank == NULL ? t->n_line : (size_t)(blank - t->line);
  const char *rest = blank == NULL ? t->line + t->n_line : blank + 1;
  if (strlen(t->line) != t->n_line) {
    rubbish(t, "not of the protocol");
  } else if (fs_talk_ended(t)) {
    rubbish(t, "said after the status");
  } else if (t->state == FS_TALK_POINT && strcmp(t->line, "end") == 0) {
    end_point(t);
  } else if (t->state == FS_TALK_POINT) {
    hear_value(t, n, rest);
  } else if (is_word(t, n, "bound")) {
    hear_bound(t, rest);
  } else if (is_word(t, n, "incumbent")) {
    begin_point(t, rest);
  } else if (is_word(t, n, "status")) {
    hear_status(t, rest);
  } else if (is_word(t, n, "nodes") && whole(rest, &t->result->nodes)) {
    t->news = true;
  } else {
    rubbish(t, "not of the protocol");
  }
}

void fs_talk_hear(fs_talk *t, const char *bytes, size_t n) {
  assert(bytes != NULL || n == 0);
  for (size_t i = 0; i < n && t->state != FS_TALK_FAULT && !fs_talk_proven(t); i++) {
    if (bytes[i] == '\n') {
      t->n_line -= t->n_line > 0 && t->line[t->n_line - 1] == '\r';
      hear_line(t);
      t->n_line = 0;
    } else if (t->n_line == FS_TALK_LINE) {
      rubbish(t, "the begin of a line without an end");
    } else {
      t->line[t->n_line++] = bytes[i];
    }
  }
}

void fs_talk_close(fs_talk *t) {
  if (t->n_line > 0 && t->state != FS_TALK_FAULT && !fs_talk_proven(t)) {
    hear_line(t);
    t->n_line = 0;
  }
}

static fs_status allot(fs_talk *t) {
  size_t n = t->m->var.n;
  FS_TRY(fs_new(&t->arena, &t->x, n));
  FS_TRY(fs_new(&t->arena, &t->candidate, n));
  FS_TRY(fs_new_zero(&t->arena, &t->said, n));
  for (size_t i = 0; i < n; i++) {
    uint32_t id;
    const char *name = t->m->var.at[i].name;
    FS_TRY(fs_names_intern(&t->names, name, strlen(name), &id, NULL));
    assert(id == i);
  }
  return FSCHED_OK;
}

fs_status fs_talk_begin(fsched_context *ctx, const fs_model *m, int64_t *value,
                        fs_solver_result *result, fs_talk *t) {
  assert(!m->open);
  *t = (fs_talk){.m = m, .result = result, .value = value};
  fs_arena_init(&t->arena, ctx);
  fs_names_init(&t->names, &t->arena);
  fs_status status = allot(t);
  if (status != FSCHED_OK) {
    fs_talk_release(t);
  }
  return status;
}

void fs_talk_release(fs_talk *t) {
  fs_names_free(&t->names);
  fs_arena_release(&t->arena);
}
