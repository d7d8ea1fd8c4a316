/* SPDX-License-Identifier: Apache-2.0 */
#include "search/learning/log.h"

#include <stdlib.h>

#include "problem/spilling/spilling.h"

/* ---- words */

static void put_number(fs_text *t, const char *before, uint64_t n) {
  fs_text_puts(t, before);
  fs_text_u64(t, n);
}

static void put_literal_as(const fs_learner *s, const char *before, fs_literal l) {
  fs_text *t = s->log->text;
  bool upper = l.side & 1;
  if (l.side < 2 * fs_first_order(s)) {
    /* A time below 0 is in no window: what names the item then is a start behind all of them. */
    bool below = upper ? l.value > 0 : l.value < 0;
    fs_side_value never = (fs_side_value)(s->p->horizon / s->unit) + 1;
    put_number(t, before, l.side / 2);
    fs_text_puts(t, upper && !below ? "<=" : ">=");
    put_number(t, "", (uint64_t)(upper && below ? never : below ? 0 : upper ? -l.value : l.value));
    return;
  }
  uint32_t order = l.side / 2 - fs_first_order(s);
  put_number(t, " ", upper ? s->order_second[order] : s->order_first[order]);
  put_number(t, "<", upper ? s->order_first[order] : s->order_second[order]);
}

static void put_literal(const fs_learner *s, fs_literal l) { put_literal_as(s, " ", l); }

/* What follows of own times holds only if they are there. */
static void put_growth(const fs_learner *s, fs_literal l) {
  put_literal_as(s, s->owner[l.side / 2] != FS_NONE ? " ?" : " ", l);
}

/* ---- header */

/* The queues of a class, or of an amount that counts queues. */
static const uint32_t *queues_of(const fs_problem *p, uint32_t field, uint32_t *n) {
  bool class = field < p->n_classes;
  uint32_t k = class ? field : field - p->n_classes;
  const uint32_t *first = class ? p->class_queue0 : p->amount_queue0;
  *n = first == NULL ? 0 : first[k + 1] - first[k];
  return first == NULL ? NULL : (class ? p->class_queue : p->amount_queue) + first[k];
}

static bool is_memory(const fs_problem *p, uint32_t field) {
  uint32_t first = p->n_classes + p->amount_memory0;
  return field >= first && field - first < p->n_amount_memories;
}

static void put_set(fs_text *t, const fs_learner *s, const fs_learner_table *table) {
  const fs_problem *p = s->p;
  uint32_t n_queues = 0, field = table->field;
  const uint32_t *queue = field == FS_NONE ? NULL : queues_of(p, field, &n_queues);
  if (field == FS_NONE) {
    fs_log_put_open_set(t, s, table);
  } else if (n_queues > 0) {
    fs_text_puts(t, "set queues");
    for (uint32_t k = 0; k < n_queues; k++) {
      put_number(t, " ", queue[k]);
    }
  } else if (is_memory(p, field)) {
    put_number(t, "set memory ", p->amount_memory[field - p->n_classes - p->amount_memory0]);
  } else if (field >= p->n_classes && field - p->n_classes < p->graph->target.n_resources) {
    put_number(t, "set resource ", field - p->n_classes);
  } else { /* queues that nobody has named are as many as may run at one time */
    fs_text_puts(t, "set concurrency");
  }
  fs_text_puts(t, "\n");
}

static void put_copies(fs_text *t, const fs_problem *p) {
  for (uint32_t c = 0; c < p->n_copies; c++) {
    uint32_t version = p->copy_version[c], buffer = p->graph->version_buffer[version];
    put_number(t, p->copy_kind[c] == FS_SPILL_READ ? "\nread " : "\nwrite ", buffer);
    put_number(t, " ", version - p->graph->buffer_version0[buffer]);
  }
}

static void put_facts(fs_learner *s);

fs_status fs_log_begin(fs_proof_log *log, fs_learner *s, fs_text *text) {
  *log = (fs_proof_log){.text = text};
  FS_TRY(fs_new_zero(s->arena, &log->root, s->n_sides));
  FS_TRY(fs_new_zero(s->arena, &log->seen, s->n_sides));
  text->n = 0;
  fs_text_puts(text, "fsched-proof 1\n");
  put_number(text, "ops ", s->n - s->p->n_copies);
  if (s->p->spilling == NULL) {
    put_copies(text, s->p);
  } else {
    FS_TRY(fs_log_put_open(text, s));
  }
  put_number(text, "\nunit ", s->unit);
  fs_text_puts(text, "\n");
  for (uint32_t t = 0; t < s->n_tables; t++) {
    put_set(text, s, &s->table[t]);
  }
  fs_text_puts(text, "begin\n");
  s->log = log;
  put_facts(s);
  fs_learner_strip(s);
  return s->status;
}

void fs_log_release(fs_proof_log *log, fsched_context *ctx) {
  fs_vec_free(ctx, &log->roots);
  fs_vec_free(ctx, &log->dropped);
  fs_vec_free(ctx, &log->traced);
  fs_vec_free(ctx, &log->unplaced);
}

/* ---- axioms */

static void put_rule(const fs_learner *s, const fs_growth *g) {
  fs_text *t = s->log->text;
  switch (g->cause) {
    case FS_BY_EDGE:
      fs_text_puts(t, "p");
      break;
    case FS_BY_PAIR:
      fs_text_puts(t, "x");
      break;
    case FS_BY_ORDER:
    case FS_BY_STARTS:
      fs_text_puts(t, "o");
      break;
    case FS_BY_TABLE:
      put_number(t, "t ", s->task[g->reason].table);
      break;
    case FS_BY_LINK:
      fs_text_puts(t, "p");
      break;
    case FS_BY_APART:
      put_number(t, "a ", s->apart[g->reason].end); /* of an op, the op */
      put_number(t, " ", s->apart[g->reason ^ 1].end);
      break;
    case FS_BY_CROSS:
      put_rule(s, &s->crossing.at[g->reason]);
      break;
    case FS_BY_MOMENT:
      put_number(t, "z ", s->task[g->reason].table);
      put_number(t, " ", g->side / 2);
      break;
    case FS_BY_SET:
      put_number(t, g->side & 1 ? "b " : "f ", s->set.at[g->reason].table);
      put_number(t, " ", g->side / 2);
      break;
    case FS_BY_DECISION:
    case FS_BY_CLAUSE:
      assert(!"these are lemmas");
      break;
  }
}

/* Behind the rule: that not all premises hold, or the literal does. */
static int64_t put_axiom(fs_learner *s, const fs_literal *premise, size_t n, fs_literal l) {
  for (size_t k = 0; k < n; k++) {
    put_literal(s, fs_negated(premise[k]));
  }
  if (l.side != FS_NONE) {
    put_growth(s, l);
  }
  fs_text_puts(s->log->text, "\n");
  return -++s->log->axioms;
}

/* The lemma of the clause, or, of one of the problem, an axiom. */
static int64_t step_of_clause(fs_learner *s, uint32_t clause) {
  uint32_t lemma = fs_learner_lemma(s, clause);
  if (lemma > 0) {
    return lemma;
  }
  fs_text_puts(s->log->text, "c");
  const fs_clause_part *c = &s->clause.at[clause];
  for (uint32_t k = 0; k < c[FS_CLAUSE_LENGTH].n; k++) {
    put_literal(s, s->literal.at[c[FS_CLAUSE_HEAD + k].n].l);
  }
  return put_axiom(s, NULL, 0, (fs_literal){.side = FS_NONE});
}

/* The step by which the growth follows from the premises; 0: none is needed. */
static int64_t step_of(fs_learner *s, const fs_growth *g, fs_side_value value,
                       const fs_literal *premise, size_t n) {
  const fs_growth *by = g->cause == FS_BY_CROSS ? &s->crossing.at[g->reason] : g;
  if (by->cause == FS_BY_DECISION) {
    fs_log_root(s, (fs_literal){by->side, by->value});
    return 0;
  }
  if (by->cause == FS_BY_CLAUSE) {
    return step_of_clause(s, by->reason);
  }
  put_rule(s, g);
  return put_axiom(s, premise, n, (fs_literal){g->side, value});
}

/* The step that what was refused has no addresses. */
static int64_t step_of_refusal(fs_learner *s) {
  fs_proof_log *log = s->log;
  if (log->unplaced.n == 0) {
    log->broken = true;
    return 0;
  }
  put_number(log->text, "n ", log->unplaced.at[0]);
  put_number(log->text, " ", log->unplaced.n - 1);
  for (size_t k = 1; k < log->unplaced.n; k++) {
    put_number(log->text, " ", log->unplaced.at[k]);
  }
  return put_axiom(s, s->clash.at, s->clash.n, (fs_literal){.side = FS_NONE});
}

/* The step that all of clash[] cannot hold. */
static int64_t step_of_clash(fs_learner *s) {
  const fs_growth *g = &s->crossed;
  if (g->cause == FS_BY_DECISION && g->side == FS_NONE) {
    return step_of_refusal(s);
  }
  if (g->cause == FS_BY_DECISION && (g->side & 1) != 0 && g->value > 0) {
    fs_text_puts(s->log->text, "p"); /* an item that takes longer than the limit: all is true */
    return put_axiom(s, NULL, 0, (fs_literal){g->side, g->value});
  }
  uint32_t other = g->side ^ 1;
  if (g->cause == FS_BY_DECISION && (g->side & 1) != 0 && s->log->root[other] == 0) {
    fs_text_puts(s->log->text, "p"); /* one whose given start is too late for the limit */
    return put_axiom(s, NULL, 0, (fs_literal){other, s->value[other]});
  }
  if (g->cause == FS_BY_DECISION) {
    return 0;
  }
  if (g->cause == FS_BY_CLAUSE) {
    return step_of_clause(s, g->reason);
  }
  if (g->side != FS_NONE) {
    put_rule(s, g);
  } else {
    put_number(s->log->text, g->cause == FS_BY_TABLE ? "t " : "s ", g->reason);
  }
  return put_axiom(s, s->clash.at, s->clash.n, (fs_literal){.side = FS_NONE});
}

/* ---- hints */

void fs_log_root(fs_learner *s, fs_literal l) {
  fs_proof_log *log = s->log;
  if (log == NULL || log->root[l.side] == 0 || log->seen[l.side] == log->lemmas + 1) {
    return;
  }
  log->seen[l.side] = log->lemmas + 1;
  fs_log_hint h = {0, (int64_t)log->root[l.side]};
  fs_learner_note(s, fs_vec_push(s->ctx, &log->roots, h));
}

/* What of the literals holds at the root. */
static void add_roots(fs_learner *s, const fs_literal *l, size_t n) {
  for (size_t k = 0; k < n; k++) {
    if (fs_learner_growth(s, l[k].side, l[k].value) == FS_NONE) {
      fs_log_root(s, l[k]);
    }
  }
}

void fs_log_traced(fs_learner *s, const fs_growth *g, fs_side_value value) {
  if (s->log != NULL) {
    fs_log_hint h = {0, step_of(s, g, value, s->premise.at, s->premise.n)};
    fs_learner_note(s, fs_vec_push(s->ctx, &s->log->traced, h));
  }
}

void fs_log_dropped(fs_learner *s, uint32_t at, fs_side_value value, const fs_literal *premise,
                    size_t n) {
  if (s->log != NULL) {
    fs_log_hint h = {at, step_of(s, &s->trail.at[at], value, premise, n)};
    add_roots(s, premise, n);
    fs_learner_note(s, fs_vec_push(s->ctx, &s->log->dropped, h));
  }
}

static int by_place(const void *a, const void *b) {
  const fs_log_hint *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static void put_hint(const fs_proof_log *log, int64_t step) {
  if (step > 0) {
    put_number(log->text, " ", (uint64_t)step);
  } else if (step < 0) {
    put_number(log->text, " @", (uint64_t)-step);
  }
}

/* What is left of a clause of one literal is known at the root.  A clause that was traced says that
 * what it bounds is there; `grown`: what has grown at the root may not be. */
static void put_lemma(fs_learner *s, const fs_literal *l, size_t n, int64_t last, bool grown) {
  fs_proof_log *log = s->log;
  fs_text_puts(log->text, "l");
  for (size_t k = 0; k < n; k++) {
    (grown ? put_growth : put_literal)(s, l[k]);
  }
  fs_text_puts(log->text, " :");
  for (size_t k = 0; k < log->roots.n; k++) {
    put_hint(log, log->roots.at[k].step);
  }
  if (log->dropped.n > 1) {
    qsort(log->dropped.at, log->dropped.n, sizeof *log->dropped.at, by_place);
  }
  for (size_t k = 0; k < log->dropped.n; k++) {
    put_hint(log, log->dropped.at[k].step);
  }
  for (size_t k = log->traced.n; k-- > 0;) {
    put_hint(log, log->traced.at[k].step);
  }
  put_hint(log, last);
  fs_text_puts(log->text, "\n");
  log->roots.n = log->dropped.n = log->traced.n = 0;
  log->axioms = 0;
  log->lemmas++;
  if (n == 1) {
    log->root[l[0].side] = log->lemmas;
  }
}

/* ---- lemmas */

void fs_log_clash(fs_learner *s) {
  if (s->log != NULL) {
    s->log->clash = step_of_clash(s);
  }
}

void fs_log_lemma(fs_learner *s) {
  if (s->log != NULL) {
    put_lemma(s, s->found.at, s->found.n, s->log->clash, false);
  }
}

/* Clauses of one literal of the problem, which hold since before the log began. */
static void put_facts(fs_learner *s) {
  const fs_spilling *w = s->p->spilling;
  for (uint32_t c = 0; w != NULL && c < w->n_clauses; c++) {
    if (w->clause0[c + 1] - w->clause0[c] == 1) {
      uint32_t word = w->clause[w->clause0[c]];
      fs_literal yes = {2 * fs_bool_variable(s, word / 2), 1};
      fs_literal l = word & 1 ? fs_negated(yes) : yes;
      fs_text_puts(s->log->text, "c");
      put_lemma(s, &l, 1, put_axiom(s, NULL, 0, l), true);
    }
  }
}

void fs_log_growth(fs_learner *s, const fs_growth *g, fs_side_value value) {
  if (s->log == NULL || g->cause == FS_BY_DECISION) {
    return;
  }
  s->premise.n = 0;
  fs_learner_explain(s, g, value);
  add_roots(s, s->premise.at, s->premise.n);
  fs_literal l = {g->side, value};
  put_lemma(s, &l, 1, step_of(s, g, value, s->premise.at, s->premise.n), true);
}

void fs_log_left(fs_learner *s, uint32_t clause, fs_literal l) {
  if (s->log == NULL) {
    return;
  }
  s->premise.n = 0;
  fs_learner_clause_premises(s, clause);
  add_roots(s, s->premise.at, s->premise.n);
  put_lemma(s, &l, 1, step_of_clause(s, clause), true);
}

void fs_log_none(fs_learner *s) {
  if (s->log == NULL) {
    return;
  }
  add_roots(s, s->clash.at, s->clash.n);
  if (s->crossed.cause == FS_BY_DECISION && s->crossed.side != FS_NONE) {
    fs_log_root(s, (fs_literal){s->crossed.side, s->crossed.value});
  }
  put_lemma(s, NULL, 0, step_of_clash(s), false);
}

void fs_log_energy(fs_learner *s, const fs_learner_table *table, fs_side_value begin,
                   fs_side_value end) {
  if (s->log == NULL) {
    return;
  }
  s->clash.n = 0;
  for (uint32_t k = table->task0; k < table->task1; k++) {
    uint32_t i = s->task[k].item;
    fs_literal from = {2 * i, begin}, to = {2 * i + 1, fs_learner_takes(s, table, i) - end};
    if (fs_holds(s, from) && fs_holds(s, to)) {
      fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, from));
      fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, to));
    }
  }
  add_roots(s, s->clash.at, s->clash.n);
  put_number(s->log->text, "e ", (uint64_t)(table - s->table));
  put_lemma(s, NULL, 0, put_axiom(s, s->clash.at, s->clash.n, (fs_literal){.side = FS_NONE}),
            false);
}

void fs_log_unknown(fs_learner *s) {
  if (s->log != NULL) {
    s->log->unplaced.n = 0;
  }
}

void fs_log_unplaced(fs_learner *s, uint32_t memory, const uint32_t *node, size_t n) {
  enum { MOST_UNPLACED = 9 }; /* a checker tries no more than 2^20 ways to place them */
  fs_log_unknown(s);
  if (s->log == NULL || n > MOST_UNPLACED) {
    return;
  }
  fs_learner_note(s, fs_vec_push(s->ctx, &s->log->unplaced, memory));
  for (size_t k = 0; k < n; k++) {
    fs_learner_note(s, fs_vec_push(s->ctx, &s->log->unplaced, node[k]));
  }
}

void fs_log_memory(fs_learner *s, uint32_t memory, const uint32_t *op, size_t n) {
  s->clash.n = 0;
  for (size_t k = 0; k < n; k++) {
    fs_literal from = {2 * op[k], fs_earliest(s, op[k])},
               to = {2 * op[k] + 1, -fs_latest(s, op[k])};
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, from));
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, to));
  }
  add_roots(s, s->clash.at, s->clash.n);
  put_number(s->log->text, "m ", memory);
  put_lemma(s, NULL, 0, put_axiom(s, s->clash.at, s->clash.n, (fs_literal){.side = FS_NONE}),
            false);
}

uint32_t fs_log_last(const fs_learner *s) { return s->log == NULL ? 0 : (uint32_t)s->log->lemmas; }

void fs_log_forget(fs_learner *s, uint32_t clause) {
  if (s->log != NULL && fs_learner_lemma(s, clause) > 0) {
    put_number(s->log->text, "d ", fs_learner_lemma(s, clause));
    fs_text_puts(s->log->text, "\n");
  }
}

void fs_log_end(fs_text *text, fs_tick makespan) {
  put_number(text, "end ", makespan);
  fs_text_puts(text, "\n");
}

void fs_log_end_none(fs_text *text) { fs_text_puts(text, "end none\n"); }
