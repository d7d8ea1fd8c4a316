/* SPDX-License-Identifier: Apache-2.0 */
/* Reads solutions as solvers write them.  The text tells its form:
 *
 *   "Model status", or "# Columns N"       HiGHS: N lines NAME VALUE behind "# Columns N"
 *   "... - objective value V"              cbc: INDEX NAME VALUE COST, "**" before broken rows
 *   "solution status:", "objective value:" SCIP: NAME VALUE (obj:COST)
 *   "s mip ROWS COLUMNS STATUS V"          glpsol -w: "j COLUMN VALUE" and a last line "e o f";
 *                                          "s bas ..." and "s ipt ..." when it solved an LP
 *   anything else                          NAME VALUE; a '#' and what follows is a comment
 *
 * A line that says that there is no solution is an error of its own.  Reading goes on after a bad
 * line, so that one run shows all errors.
 *
 * Solvers print values with small errors: integers may be off by 1e-6, and continuous values are
 * rounded to integers, since models take only these. */
#include <stdio.h>

#include "base/context.h"
#include "base/names.h"
#include "ilp/model/model.h"
#include "ilp/model/text.h"
#include "ilp/solver/decimal.h"

enum { TOKENS = 6, LINE_MOST = 4096, SHOWN = 80 };

typedef struct token {
  const char *at;
  uint32_t n, column; /* column: counts from 1 */
} token;

typedef struct solution_reader {
  fsched_context *ctx;
  const fs_model *m;
  const char *text;
  size_t length, next; /* next: where the next line begins */
  uint32_t file, line, line_length;
  token tok[TOKENS]; /* the line's first words */
  uint32_t n_tok;
  fs_names names;
  uint32_t *seen; /* per variable: the line that named it, 0 if none has */
  uint32_t n_values;
  bool quiet; /* the reader only looks for the form and reports nothing */
  bool failed;
  int64_t *value;
} solution_reader;

static fs_pos at_token(const solution_reader *r, uint32_t k) {
  if (k < r->n_tok) {
    return (fs_pos){r->file, r->line, r->tok[k].column, r->tok[k].n};
  }
  return (fs_pos){r->file, r->line, r->line_length + 1, 1};
}

static fs_pos in_file(const solution_reader *r) { return (fs_pos){r->file, 0, 0, 0}; }

#define complain(r, code, pos, hint, ...) \
  ((r)->failed = true,                    \
   (r)->quiet ? (void)0 : fs_report((r)->ctx, FSCHED_ERROR, (code), (pos), (hint), __VA_ARGS__))
#define bad_syntax(r, k, ...) \
  complain((r), FS_DIAG_SOLUTION_SYNTAX, at_token((r), (k)), NULL, __VA_ARGS__)

/* The precision for "%.*s". */
static int shown(const token *t) { return (int)fs_min(t->n, SHOWN); }

/* Is the k-th word exactly this? */
static bool is(const solution_reader *r, uint32_t k, const char *word) {
  return k < r->n_tok && r->tok[k].n == strlen(word) &&
         memcmp(r->tok[k].at, word, r->tok[k].n) == 0;
}

/* Whether these are the words of the line from the k-th on; more words may follow. */
static bool says(const solution_reader *r, uint32_t k, const char *words) {
  while (*words != '\0') {
    size_t n = strcspn(words, " ");
    if (k >= r->n_tok || r->tok[k].n != n || memcmp(r->tok[k].at, words, n) != 0) {
      return false;
    }
    words += n + (words[n] == ' ');
    k++;
  }
  return true;
}

/* The rest of the line from the k-th word on, as one token. */
static token rest(const solution_reader *r, uint32_t k) {
  if (k >= r->n_tok) {
    return (token){"", 0, r->line_length + 1};
  }
  token t = r->tok[k];
  t.n = r->line_length + 1 - t.column;
  while (t.n > 0 && (t.at[t.n - 1] == ' ' || t.at[t.n - 1] == '\t')) {
    t.n--;
  }
  return t;
}

/* The index of the word in t, or the length of t if it is not there. */
static uint32_t find_word(token t, const char *word) {
  size_t n = strlen(word);
  for (uint32_t i = 0; i + n <= t.n; i++) {
    if (memcmp(t.at + i, word, n) == 0) {
      return i;
    }
  }
  return t.n;
}

static bool contains(token t, const char *word) { return find_word(t, word) < t.n; }

static void split_line(solution_reader *r, const char *line) {
  static const char mark[] = "\xEF\xBB\xBF"; /* byte order mark, which may precede the text */
  r->n_tok = 0;
  uint32_t i = r->line == 1 && r->line_length >= 3 && memcmp(line, mark, 3) == 0 ? 3 : 0;
  while (i < r->line_length && r->n_tok < TOKENS) {
    uint32_t begin = i;
    while (i < r->line_length && line[i] != ' ' && line[i] != '\t') {
      i++;
    }
    if (i > begin) {
      r->tok[r->n_tok++] = (token){line + begin, i - begin, begin + 1};
    } else {
      i++;
    }
  }
}

/* Goes to the next line that has a word, past bad lines; false at the end of the text. */
static bool next_line(solution_reader *r) {
  while (r->next < r->length) {
    const char *line = r->text + r->next, *end = memchr(line, '\n', r->length - r->next);
    size_t n = end == NULL ? r->length - r->next : (size_t)(end - line);
    r->next += n + (end != NULL);
    r->line++;
    n -= n > 0 && line[n - 1] == '\r';
    r->line_length = (uint32_t)fs_min(n, LINE_MOST);
    r->n_tok = 0;
    const char *nul = memchr(line, '\0', r->line_length);
    if (nul != NULL) {
      fs_pos pos = {r->file, r->line, (uint32_t)(nul - line) + 1, 1};
      complain(r, FS_DIAG_SOLUTION_SYNTAX, pos, NULL, "a NUL byte");
    } else if (n > LINE_MOST) {
      fs_pos pos = {r->file, r->line, 1, 1};
      complain(r, FS_DIAG_SOLUTION_SYNTAX, pos, NULL, "a line of %zu bytes; at most %d are taken",
               n, (int)LINE_MOST);
    } else {
      split_line(r, line);
    }
    if (r->n_tok > 0) {
      return true;
    }
  }
  r->line++;
  r->line_length = 0;
  r->n_tok = 0;
  return false;
}

/* ---- values ---- */

static const char *name_of(const solution_reader *r, uint32_t var) {
  return var < r->m->var.n ? r->m->var.at[var].name : FS_MODEL_CONSTANT;
}

/* The number of variables in the model's files. */
static uint32_t n_columns(const solution_reader *r) {
  return (uint32_t)r->m->var.n + fs_model_has_constant(r->m);
}

/* The variable that the k-th word names; FS_NONE, reported, if there is none. */
static uint32_t find_variable(solution_reader *r, uint32_t k) {
  const token *t = &r->tok[k];
  uint32_t var = fs_names_find(&r->names, t->at, t->n);
  if (var != FS_NONE) {
    return var;
  }
  char name[SHOWN + 1], hint[2 * SHOWN + 40];
  (void)snprintf(name, sizeof name, "%.*s", shown(t), t->at);
  const char *near = fs_nearest(name, r->names.text.at, r->names.text.n);
  if (near != NULL) {
    (void)snprintf(hint, sizeof hint, "did you mean '%.*s'?", (int)SHOWN, near);
  }
  complain(r, FS_DIAG_SOLUTION_VARIABLE, at_token(r, k), near == NULL ? NULL : hint,
           "the model has no variable '%.*s'", shown(t), t->at);
  return FS_NONE;
}

static bool take_bounds(solution_reader *r, uint32_t var, uint32_t k, const fs_decimal *n) {
  const token *t = &r->tok[k];
  bool given = var < r->m->var.n;
  int64_t low = given ? r->m->var.at[var].low : 1, high = given ? r->m->var.at[var].high : 1;
  if (n->nearest >= low && n->nearest <= high) {
    return true;
  }
  bool below = n->nearest < low;
  complain(r, FS_DIAG_SOLUTION_VALUE, at_token(r, k), NULL, "'%s' is %.*s; it is at %s %lld",
           name_of(r, var), shown(t), t->at, below ? "least" : "most",
           (long long)(below ? low : high));
  return false;
}

/* Reads the k-th word as the value of a variable. */
static bool take_number(solution_reader *r, uint32_t var, uint32_t k, int64_t *value) {
  const token *t = &r->tok[k];
  fs_decimal n = fs_decimal_parse(t->at, t->n);
  bool integer = var >= r->m->var.n || r->m->var.at[var].kind != FS_VAR_CONTINUOUS;
  if (n.kind == FS_DECIMAL_NONE) {
    bad_syntax(r, k, "'%.*s' is no number", shown(t), t->at);
  } else if (n.kind != FS_DECIMAL_FINITE) {
    complain(r, FS_DIAG_SOLUTION_VALUE, at_token(r, k), NULL, "'%s' is %.*s, which is %s",
             name_of(r, var), shown(t), t->at, n.kind == FS_DECIMAL_NAN ? "no value" : "too large");
  } else if (integer && !n.whole) {
    complain(r, FS_DIAG_SOLUTION_VALUE, at_token(r, k), NULL,
             "'%s' is %.*s, but has to be an integer", name_of(r, var), shown(t), t->at);
  } else if (take_bounds(r, var, k, &n)) {
    *value = n.nearest;
    return true;
  }
  return false;
}

/* Gives variable `var`, which the word `name` names, the value of the word `number`. */
static void take_value(solution_reader *r, uint32_t var, uint32_t name, uint32_t number) {
  r->n_values++;
  if (var == FS_NONE) {
    return;
  }
  int64_t value;
  if (r->seen[var] != 0) {
    complain(r, FS_DIAG_SOLUTION_VARIABLE, at_token(r, name), NULL,
             "'%s' has a value already, in line %u", name_of(r, var), r->seen[var]);
    return;
  }
  r->seen[var] = r->line;
  if (take_number(r, var, number, &value) && var < r->m->var.n) {
    r->value[var] = value;
  }
}

/* Reads NAME VALUE from the k-th word on; returns the index of the next word. */
static uint32_t take_pair(solution_reader *r, uint32_t k) {
  if (k + 1 >= r->n_tok) {
    bad_syntax(r, r->n_tok, k < r->n_tok ? "there is no value" : "there is no name");
    return r->n_tok;
  }
  take_value(r, find_variable(r, k), k, k + 1);
  return k + 2;
}

static void no_more(solution_reader *r, uint32_t k) {
  if (k < r->n_tok) {
    bad_syntax(r, k, "'%.*s' after the value", shown(&r->tok[k]), r->tok[k].at);
  }
}

/* Reports that the file has no solution, as the words t of the line say. */
static void no_solution(solution_reader *r, token t) {
  fs_pos pos = {r->file, r->line, t.column, t.n};
  complain(r, FS_DIAG_SOLUTION_SYNTAX, pos, NULL, "there is no solution in this file: %.*s",
           shown(&t), t.at);
}

/* ---- the forms ---- */

static void read_plain(solution_reader *r) {
  while (next_line(r)) {
    for (uint32_t k = 0; k < r->n_tok; k++) {
      if (r->tok[k].at[0] == '#') {
        r->n_tok = k;
      }
    }
    if (r->n_tok > 0) {
      no_more(r, take_pair(r, 0));
    }
  }
  if (r->n_values == 0 && !r->failed) {
    complain(r, FS_DIAG_SOLUTION_SYNTAX, in_file(r), NULL, "there are no values");
  }
}

#define CBC_HEADER " - objective value"

/* cbc lists only values that are not 0, so a file without any value has a solution too. */
static void read_cbc(solution_reader *r) {
  while (next_line(r) && !contains(rest(r, 0), CBC_HEADER)) {
  }
  token header = rest(r, 0);
  bool optimal = says(r, 0, "Optimal"), stopped = says(r, 0, "Stopped");
  if ((!optimal && !stopped) || contains(header, "no integer solution")) {
    header.n = find_word(header, CBC_HEADER);
    no_solution(r, header);
    return;
  }
  while (next_line(r)) {
    uint32_t k = is(r, 0, "**"); /* cbc's mark of a broken row; the caller checks that itself */
    fs_decimal index = {.kind = FS_DECIMAL_NONE};
    if (k < r->n_tok) {
      index = fs_decimal_parse(r->tok[k].at, r->tok[k].n);
    }
    if (index.kind != FS_DECIMAL_FINITE || index.negative || !index.whole) {
      bad_syntax(r, k, "expected the number of a column, its name and its value");
      continue;
    }
    k = take_pair(r, k + 1);
    no_more(r, k < r->n_tok ? k + 1 : k); /* behind the reduced cost */
  }
}

static bool is_scip_header(const solution_reader *r) {
  return says(r, 0, "solution status:") || says(r, 0, "objective value:") ||
         says(r, 0, "no solution available");
}

static void read_scip(solution_reader *r) {
  while (next_line(r)) {
    if (is_scip_header(r)) {
      token t = rest(r, 0);
      if (is(r, 0, "no") || contains(t, "infeasible") || contains(t, "unbounded")) {
        no_solution(r, t);
        return;
      }
      continue;
    }
    uint32_t k = take_pair(r, 0);
    bool cost = k < r->n_tok && r->tok[k].n > 5 && memcmp(r->tok[k].at, "(obj:", 5) == 0;
    no_more(r, k + cost);
  }
}

/* Reads the number of columns in word k; false, reported, if the model has another number. */
static bool take_columns(solution_reader *r, uint32_t k) {
  fs_decimal n = {.kind = FS_DECIMAL_NONE};
  if (k < r->n_tok) {
    n = fs_decimal_parse(r->tok[k].at, r->tok[k].n);
  }
  if (n.kind != FS_DECIMAL_FINITE || !n.whole) {
    bad_syntax(r, k, "expected the number of columns");
    return false;
  }
  if (n.nearest != n_columns(r)) {
    bad_syntax(r, k, "a solution with %lld columns; the model has %u", (long long)n.nearest,
               n_columns(r));
    return false;
  }
  return true;
}

static void read_highs_columns(solution_reader *r) {
  if (!take_columns(r, 2)) {
    return;
  }
  for (uint32_t left = n_columns(r); left > 0; left--) {
    if (!next_line(r) || r->tok[0].at[0] == '#') {
      bad_syntax(r, 0, "%u columns are missing here", left);
      return;
    }
    no_more(r, take_pair(r, 0));
  }
}

/* What follows the columns (rows, dual values, a basis) is not read. */
static void read_highs(solution_reader *r) {
  bool status = false, primal = false; /* which of the two headings the last line was */
  while (next_line(r)) {
    bool none =
        is(r, 0, "None") || contains(rest(r, 0), "nfeasible") || contains(rest(r, 0), "nbounded");
    if ((status || primal) && none) {
      no_solution(r, rest(r, 0));
      return;
    }
    if (says(r, 0, "# Columns")) {
      read_highs_columns(r);
      return;
    }
    status = says(r, 0, "Model status");
    primal = says(r, 0, "# Primal solution values");
  }
  if (!r->failed) {
    complain(r, FS_DIAG_SOLUTION_SYNTAX, in_file(r), NULL, "there is no line '# Columns'");
  }
}

/* glpsol writes what it has solved: the model, or, if the model has no integers, an LP by the
 * simplex or the interior point method. */
typedef struct glpsol_kind {
  const char *name, *status; /* status: letters of the statuses that are possible */
  uint32_t value, end;       /* value: words before a line's value; end: words of a line */
} glpsol_kind;

/* The kind that a header line names; NULL: the line is no header. */
static const glpsol_kind *find_glpsol_kind(const solution_reader *r) {
  static const glpsol_kind kinds[] = {
      {"mip", "ofnu", 2, 3}, /* j COLUMN VALUE */
      {"bas", "finu", 3, 5}, /* j COLUMN STATUS VALUE DUAL */
      {"ipt", "oinu", 2, 4}, /* j COLUMN VALUE DUAL */
  };
  for (size_t i = 0; is(r, 0, "s") && i < sizeof kinds / sizeof *kinds; i++) {
    if (is(r, 1, kinds[i].name)) {
      return &kinds[i];
    }
  }
  return NULL;
}

/* Reads a header: s KIND ROWS COLUMNS STATUS ... */
static bool read_glpsol_header(solution_reader *r, const glpsol_kind *kind) {
  char status = r->n_tok > 4 && r->tok[4].n == 1 ? r->tok[4].at[0] : '\0';
  if (status == '\0' || strchr(kind->status, status) == NULL) {
    bad_syntax(r, 4, "expected the status '%c', '%c', 'n' or 'u'", kind->status[0],
               kind->status[1]);
    return false;
  }
  if (strchr("nui", status) != NULL) {
    complain(r, FS_DIAG_SOLUTION_SYNTAX, at_token(r, 4), NULL,
             "there is no solution in this file: %s",
             status == 'n' ? "none exists" : "none was found");
    return false;
  }
  return take_columns(r, 3);
}

static void read_glpsol_column(solution_reader *r, const glpsol_kind *kind) {
  fs_decimal n = {.kind = FS_DECIMAL_NONE};
  if (r->n_tok > 1) {
    n = fs_decimal_parse(r->tok[1].at, r->tok[1].n);
  }
  if (n.kind != FS_DECIMAL_FINITE || !n.whole) {
    bad_syntax(r, 1, "expected the number of a column");
  } else if (n.nearest < 1 || n.nearest > n_columns(r)) {
    complain(r, FS_DIAG_SOLUTION_VARIABLE, at_token(r, 1), NULL,
             "the model has no column %lld; they are 1 to %u", (long long)n.nearest, n_columns(r));
  } else if (r->n_tok <= kind->value) {
    bad_syntax(r, r->n_tok, "there is no value");
  } else {
    take_value(r, (uint32_t)(n.nearest - 1), 1, kind->value);
    no_more(r, kind->end);
  }
}

static void read_glpsol(solution_reader *r) {
  const glpsol_kind *kind = NULL;
  while (next_line(r)) {
    if (is(r, 0, "c") || (kind != NULL && is(r, 0, "i"))) {
      continue;
    }
    if (kind == NULL && find_glpsol_kind(r) != NULL) {
      kind = find_glpsol_kind(r);
      if (!read_glpsol_header(r, kind)) {
        return;
      }
    } else if (kind != NULL && is(r, 0, "j")) {
      read_glpsol_column(r, kind);
    } else if (kind != NULL && says(r, 0, "e o f")) {
      return;
    } else {
      bad_syntax(r, 0, "expected a line that begins with 'i', 'j' or 'e o f'");
    }
  }
  bad_syntax(r, 0, "the file is cut off: there is no line 'e o f'");
}

typedef void (*form)(solution_reader *r);

/* Tells the form by the first line that is no comment.  A line "c ..." is a comment of glpsol, or
 * the value of a variable c. */
static form find_form(solution_reader *r) {
  form found = read_plain;
  bool plain = false;
  while (!plain && found == read_plain && next_line(r)) {
    token all = rest(r, 0);
    if (says(r, 0, "Model status") || says(r, 0, "# Columns") ||
        says(r, 0, "# Primal solution values")) {
      found = read_highs;
    } else if (contains(all, CBC_HEADER)) {
      found = read_cbc;
    } else if (is_scip_header(r)) {
      found = read_scip;
    } else if (find_glpsol_kind(r) != NULL) {
      found = read_glpsol;
    } else {
      plain = all.at[0] != '#' && !is(r, 0, "c");
    }
  }
  return found;
}

/* ---- the whole file ---- */

static fs_status prepare_reader(solution_reader *r, fs_arena *arena) {
  const fs_model *m = r->m;
  uint32_t id;
  bool repeated;
  fs_names_init(&r->names, arena);
  FS_TRY(fs_new_zero(arena, &r->seen, n_columns(r)));
  for (size_t i = 0; i < n_columns(r); i++) {
    const char *name = name_of(r, (uint32_t)i);
    FS_TRY(fs_names_add(&r->names, name, strlen(name), &id, &repeated));
    FS_ASSERT_SLOW(!repeated);
  }
  for (size_t i = 0; i < m->var.n; i++) {
    const fs_model_var *v = &m->var.at[i];
    r->value[i] = v->low > 0 ? v->low : v->high < 0 ? v->high : 0;
  }
  return FSCHED_OK;
}

static fs_status read_all(solution_reader *r) {
  solution_reader probe = *r;
  probe.quiet = true;
  form read = find_form(&probe);
  read(r);
  return !r->failed                         ? FSCHED_OK
         : fs_context_out_of_memory(r->ctx) ? FSCHED_SYSTEM
                                            : FSCHED_BAD_INPUT;
}

static fs_status read_text(solution_reader *r, fs_arena *arena) {
  FS_TRY(prepare_reader(r, arena));
  return read_all(r);
}

fs_status fs_solution_read(fsched_context *ctx, const fs_model *m, const char *file,
                           const char *text, size_t length, int64_t *value) {
  assert(!m->open);
  FS_SCRATCH(arena, ctx);
  solution_reader r = {.ctx = ctx, .m = m, .text = text, .length = length, .value = value};
  FS_TRY(fs_context_add_file(ctx, file, text, length, &r.file));
  fs_status status = read_text(&r, &arena);
  fs_names_free(&r.names);
  return status;
}
