/* SPDX-License-Identifier: Apache-2.0 */
/* The steps.  The negation of a clause is assumed while it is read.  An axiom must then violate its
 * rule; a lemma's hints, clauses that were shown before, lead by one literal after the other to one
 * of which all literals fail. */
#include "base/progress.h"
#include "verify/proof/stays/stays.h"

static fs_status read_op(fs_vproof *p, uint32_t *op) {
  fs_vtext *t = &p->text;
  size_t place = t->pos;
  uint64_t id;
  FS_TRY(fs_vtext_number(t, "an op", &id));
  if (id >= p->n_nodes) {
    return fs_vtext_wrong(t, place, "there is no op %llu", (unsigned long long)id);
  }
  *op = (uint32_t)id;
  return FSCHED_OK;
}

static fs_status read_order(fs_vproof *p, uint32_t first, size_t place, fs_vliteral *l) {
  uint32_t second;
  FS_TRY(read_op(p, &second));
  bool forward = first < second;
  l->own = false;
  l->form = forward ? FS_VFORM_FORWARD : FS_VFORM_BACKWARD;
  l->bound = 0;
  l->id = FS_NONE;
  bool items = first < p->n_items && second < p->n_items;
  if (first != second && items && p->owner[first] == FS_NONE && p->owner[second] == FS_NONE) {
    FS_TRY(fs_vproof_pair(p, forward ? first : second, forward ? second : first, &l->id));
  }
  if (l->id == FS_NONE) {
    return fs_vtext_wrong(&p->text, place, "ops %u and %u do not exclude each other", first,
                          second);
  }
  return FSCHED_OK;
}

static fs_status read_literal(fs_vproof *p, fs_vliteral *l) {
  fs_vtext *t = &p->text;
  size_t place = t->pos;
  uint32_t op;
  uint64_t bound;
  bool own = fs_vtext_takes(t, '?');
  FS_TRY(read_op(p, &op));
  if (own && p->owner[op] == FS_NONE) {
    return fs_vtext_wrong(t, place, "%u is always there", op);
  }
  bool from = fs_vtext_takes(t, '>');
  if (!from && !fs_vtext_takes(t, '<')) {
    return fs_vtext_syntax(t, t->pos, "here should be one of >= <= <");
  }
  if (!fs_vtext_takes(t, '=')) {
    if (from || own) {
      return fs_vtext_syntax(t, t->pos, "here should be one of >= <= <");
    }
    return read_order(p, op, place, l);
  }
  FS_TRY(fs_vtext_number(t, "a start", &bound));
  *l = (fs_vliteral){(int64_t)bound, op, from ? FS_VFORM_FROM : FS_VFORM_UNTIL, own};
  return FSCHED_OK;
}

/* Reads literals, up to the end of the line or a colon, and assumes that none holds. */
static fs_status read_clause(fs_vproof *p) {
  fs_vtext *t = &p->text;
  p->clause.n = 0;
  while (fs_vtext_takes(t, ' ')) {
    if (fs_vtext_peek(t) == ':') {
      return FSCHED_OK;
    }
    fs_vliteral l, negation;
    FS_TRY(read_literal(p, &l));
    FS_TRY(fs_vec_push(p->ctx, &p->clause, l));
    negation = fs_vliteral_negation(&l);
    FS_TRY(fs_vproof_assume(p, &negation));
  }
  return FSCHED_OK;
}

/* ---- axioms */

static fs_status read_bounded(fs_vproof *p, uint32_t *memory) {
  fs_vtext *t = &p->text;
  size_t place = t->pos + 1;
  uint64_t id;
  FS_TRY(fs_vtext_next(t, "a memory", &id));
  return fs_vproof_take_memory(p, id, place, memory);
}

/* An op, or a stay by its end. */
static fs_status read_stay(fs_vproof *p, uint32_t *node) {
  fs_vtext *t = &p->text;
  size_t place = t->pos + 1;
  if (!fs_vtext_takes(t, ' ')) {
    return fs_vtext_syntax(t, t->pos, "here should be a space, and an op or an end");
  }
  FS_TRY(read_op(p, node));
  if (*node >= p->g->n_ops && (*node < p->n_items || *node >= p->n_items + p->stays->n_ends)) {
    return fs_vtext_wrong(t, place, "%u is neither an op nor an end", *node);
  }
  return FSCHED_OK;
}

/* A memory, and how many stays of it, and they. */
static fs_status read_stays(fs_vproof *p, fs_vstep *step) {
  fs_vtext *t = &p->text;
  size_t place = t->pos + 1;
  uint64_t memory, n;
  uint32_t node;
  FS_TRY(fs_vtext_next(t, "a memory", &memory));
  if (memory >= p->g->target.n_memories) {
    return fs_vtext_wrong(t, place, "there is no memory %llu", (unsigned long long)memory);
  }
  FS_TRY(fs_vtext_next(t, "a number of ops and ends", &n));
  p->things.n = 0;
  for (uint64_t k = 0; k < n; k++) {
    FS_TRY(read_stay(p, &node));
    FS_TRY(fs_vec_push(p->ctx, &p->things, node));
  }
  step->set = (uint32_t)memory;
  step->thing = p->things.at;
  step->n = (uint32_t)p->things.n;
  return FSCHED_OK;
}

static fs_status read_apart(fs_vproof *p, fs_vstep *step) {
  FS_TRY(read_stay(p, &step->op));
  return read_stay(p, &step->other);
}

static fs_status read_step(fs_vproof *p, fs_vstep *step) {
  fs_vtext *t = &p->text;
  uint64_t set;
  if (step->rule == 'm') {
    return read_bounded(p, &step->set);
  }
  if (strchr("tzsefb", step->rule) != NULL) {
    size_t place = t->pos + 1;
    FS_TRY(fs_vtext_next(t, "a set", &set));
    if (set >= p->set.n) {
      return fs_vtext_wrong(t, place, "there is no set %llu", (unsigned long long)set);
    }
    step->set = (uint32_t)set;
  }
  if (strchr("zfb", step->rule) != NULL) {
    if (!fs_vtext_takes(t, ' ')) {
      return fs_vtext_syntax(t, t->pos, "here should be a space, and an op");
    }
    FS_TRY(read_op(p, &step->op));
  }
  return step->rule == 'a'   ? read_apart(p, step)
         : step->rule == 'n' ? read_stays(p, step)
                             : FSCHED_OK;
}

static fs_status check_axiom(fs_vproof *p) {
  fs_vtext *t = &p->text;
  size_t place = t->pos - 1;
  fs_vstep step = {.rule = t->at[place]};
  FS_TRY(read_step(p, &step));
  FS_TRY(read_clause(p));
  FS_TRY(fs_vtext_line_end(t));
  bool true_by_itself = p->empty, violated = false;
  if (!true_by_itself) {
    FS_TRY(fs_vproof_violated(p, &step, &violated));
  }
  if (!true_by_itself && !violated) {
    return fs_vtext_wrong(t, place, "the rule of this axiom does not give its clause");
  }
  fs_vproof_forget(p);
  return fs_vclauses_add(p->ctx, &p->axioms, p->clause.at, p->clause.n);
}

/* ---- lemmas */

/* Takes what follows from a clause.  *shown: all its literals fail. */
static fs_status follow_clause(fs_vproof *p, const fs_vliteral *l, size_t n, size_t place,
                               bool *shown) {
  const fs_vliteral *open = NULL;
  for (size_t k = 0; k < n; k++) {
    if (fs_vproof_fails(p, &l[k])) {
      continue;
    }
    if (fs_vproof_holds(p, &l[k])) {
      return FSCHED_OK;
    }
    if (open != NULL) {
      return fs_vtext_wrong(&p->text, place, "more than one literal of this hint is open");
    }
    open = &l[k];
  }
  *shown = open == NULL;
  return open == NULL ? FSCHED_OK : fs_vproof_assume(p, open);
}

static fs_status read_hint(fs_vproof *p, bool *shown) {
  fs_vtext *t = &p->text;
  size_t place = t->pos, n;
  bool axiom = fs_vtext_takes(t, '@');
  const fs_vclauses *from = axiom ? &p->axioms : &p->lemmas;
  uint64_t number;
  FS_TRY(fs_vtext_number(t, axiom ? "an axiom" : "a lemma, or @", &number));
  if (!fs_vclauses_has(from, number)) {
    return fs_vtext_wrong(t, place, "there is no %s %llu", axiom ? "axiom" : "lemma",
                          (unsigned long long)number);
  }
  const fs_vliteral *l = fs_vclauses_get(from, number, &n);
  return *shown ? FSCHED_OK : follow_clause(p, l, n, place, shown);
}

static fs_status check_lemma(fs_vproof *p) {
  fs_vtext *t = &p->text;
  size_t place = t->pos - 1;
  FS_TRY(read_clause(p));
  if (!fs_vtext_takes(t, ':')) {
    return fs_vtext_syntax(t, t->pos, "here should be a space, and a literal or a colon");
  }
  bool shown = p->empty;
  while (fs_vtext_takes(t, ' ')) {
    FS_TRY(read_hint(p, &shown));
  }
  FS_TRY(fs_vtext_line_end(t));
  if (!shown) {
    return fs_vtext_wrong(t, place, "the hints do not show this lemma");
  }
  fs_vproof_forget(p);
  fs_vclauses_clear(&p->axioms);
  return fs_vclauses_add(p->ctx, &p->lemmas, p->clause.at, p->clause.n);
}

static fs_status delete_lemmas(fs_vproof *p) {
  fs_vtext *t = &p->text;
  do {
    size_t place = t->pos + 1;
    uint64_t number;
    FS_TRY(fs_vtext_next(t, "a lemma", &number));
    if (!fs_vclauses_has(&p->lemmas, number)) {
      return fs_vtext_wrong(t, place, "there is no lemma %llu", (unsigned long long)number);
    }
    fs_vclauses_delete(&p->lemmas, number);
  } while (fs_vtext_peek(t) == ' ');
  return fs_vtext_line_end(t);
}

/* *last: the step is a lemma without literals. */
static fs_status check_step(fs_vproof *p, bool *last) {
  fs_vtext *t = &p->text;
  char c = fs_vtext_peek(t);
  *last = false;
  t->pos++;
  switch (c) {
    case 'c':
    case 'a':
    case 'n':
      if (p->stays == NULL) {
        return fs_vtext_syntax(t, t->pos - 1, "this step needs open copies");
      }
      return check_axiom(p);
    case 'p':
    case 'o':
    case 'x':
    case 't':
    case 'z':
    case 'm':
    case 's':
    case 'e':
    case 'f':
    case 'b':
      return check_axiom(p);
    case 'l':
      FS_TRY(check_lemma(p));
      *last = p->clause.n == 0;
      return FSCHED_OK;
    case 'd':
      return delete_lemmas(p);
    default:
      return fs_vtext_syntax(t, t->pos - 1, "this line should be a step");
  }
}

fs_status fs_vproof_replay(fs_vproof *p) {
  assert(p->lemmas.begin.n == 0 && p->axioms.begin.n == 0);
  bool done = false;
  while (p->text.pos < p->text.length) {
    FS_TRY(check_step(p, &done));
    fs_progress_at(p->ctx, p->text.pos);
  }
  if (!done) {
    return fs_vtext_wrong(&p->text, p->text.pos,
                          "the last step should be a lemma without literals");
  }
  return FSCHED_OK;
}
