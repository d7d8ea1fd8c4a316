/* SPDX-License-Identifier: Apache-2.0 */
/* Clauses: which of them a growth makes unit or false, and which are forgotten. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/learning/log.h"

/* Clauses of literals of so few levels are never forgotten: the fewer there are, the oftener a
 * clause is of use (Audemard, Simon, Predicting learnt clauses quality, 2009). */
enum { FEW_LEVELS = 6 };

typedef fs_clause_part clause_part;

static fs_literal literal_of(const fs_learner *s, uint32_t id) { return s->literal.at[id].l; }

/* Of a literal of a clause. */
static bool id_holds(const fs_learner *s, uint32_t id) { return s->truth.at[id] != 0; }
static bool id_fails(const fs_learner *s, uint32_t id) { return s->truth.at[id ^ 1] != 0; }

/* The ids of the clause's literals. */
static clause_part *ids_of(clause_part *clause) { return clause + FS_CLAUSE_HEAD; }

/* Watches the literal; `other` is another one of the clause. */
static void watch(fs_learner *s, clause_part literal, uint32_t clause, clause_part other) {
  fs_clause_watch w = {clause, other.n};
  fs_learner_note(s, fs_vec_push(s->ctx, &s->literal.at[literal.n].watch, w));
}

static void watch_first_two(fs_learner *s, uint32_t clause) {
  const clause_part *id = ids_of(&s->clause.at[clause]);
  watch(s, id[0], clause, id[1]);
  watch(s, id[1], clause, id[0]);
}

uint32_t fs_learner_lemma(const fs_learner *s, uint32_t clause) {
  return s->clause.at[clause + FS_CLAUSE_LEMMA].n;
}

static void clash_of(fs_learner *s, uint32_t clause) {
  clause_part *c = &s->clause.at[clause];
  s->crossed = (fs_growth){.side = FS_NONE, .cause = FS_BY_CLAUSE, .reason = clause};
  s->conflict = true;
  s->clash.n = 0;
  for (uint32_t k = 0; k < c[FS_CLAUSE_LENGTH].n; k++) {
    fs_literal l = literal_of(s, ids_of(c)[k].n);
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, fs_negated(l)));
  }
}

static void swap(clause_part *a, clause_part *b) {
  clause_part was = *a;
  *a = *b;
  *b = was;
}

/* A literal of the clause, behind the two that are watched, that does not fail. */
static bool watch_another(fs_learner *s, uint32_t clause) {
  clause_part *c = &s->clause.at[clause], *id = ids_of(c);
  for (uint32_t k = 2; k < c[FS_CLAUSE_LENGTH].n; k++) {
    if (!id_fails(s, id[k].n)) {
      swap(&id[1], &id[k]);
      watch(s, id[1], clause, id[0]);
      return true;
    }
  }
  return false;
}

/* The second literal of the clause, which is watched, fails, and the first does not hold; false: it
 * is watched no longer. */
static bool follow_clause(fs_learner *s, uint32_t clause, uint32_t first) {
  if (watch_another(s, clause)) {
    return false;
  }
  if (id_fails(s, first)) {
    clash_of(s, clause);
  } else {
    fs_literal l = literal_of(s, first);
    fs_learner_grow(s, l.side, l.value, FS_BY_CLAUSE, clause, 0);
  }
  return true;
}

/* The literal fails now: looks at the clauses that watch it. */
static void visit_literal(fs_learner *s, uint32_t failed) {
  fs_clause_watch *list = s->literal.at[failed].watch.at;
  size_t n = s->literal.at[failed].watch.n, kept = 0, k = 0;
  for (; k < n && !s->conflict; k++) {
    fs_clause_watch w = list[k];
    bool stays = true;
    if (!id_holds(s, w.other)) {
      clause_part *id = ids_of(&s->clause.at[w.clause]);
      bool turned = id[0].n == failed;
      w.other = id[turned].n;
      if (!id_holds(s, w.other)) {
        if (turned) {
          swap(&id[0], &id[1]);
        }
        stays = follow_clause(s, w.clause, w.other);
      }
    }
    if (stays) {
      list[kept++] = w;
    }
  }
  for (; k < n; k++) {
    list[kept++] = list[k];
  }
  s->literal.at[failed].watch.n = kept;
}

void fs_learner_visit(fs_learner *s, const fs_growth *g) {
  fs_growth growth = *g; /* the trail may move */
  const fs_side_literal *at = s->of_side[growth.side].at;
  size_t n = s->of_side[growth.side].n;
  uint32_t k = s->decided[growth.side];
  for (; k < n && !s->conflict && at[k].value <= growth.value; k++) {
    visit_literal(s, at[k].id ^ 1);
  }
  s->decided[growth.side] = k;
}

/* Adds the clause of ids[], two or more; returns its offset. */
static uint32_t add_clause(fs_learner *s, float activity, uint32_t levels) {
  uint32_t clause = (uint32_t)s->clause.n, length = (uint32_t)s->ids.n;
  clause_part head[] = {{length}, {fs_log_last(s)}, {levels}, {.activity = activity}};
  fs_learner_note(s, fs_vec_ensure(s->ctx, &s->clause, clause + FS_CLAUSE_HEAD + s->ids.n));
  fs_learner_note(s, fs_vec_push(s->ctx, &s->learnt, clause));
  if (s->status != FSCHED_OK) {
    return clause;
  }
  clause_part *c = &s->clause.at[clause];
  memcpy(c, head, sizeof head);
  for (uint32_t k = 0; k < length; k++) {
    ids_of(c)[k].n = s->ids.at[k];
  }
  s->clause.n += FS_CLAUSE_HEAD + s->ids.n;
  watch_first_two(s, clause);
  return clause;
}

/* The ids of the literals, which are more active now by `bump`; false: memory ran out. */
static bool take_ids(fs_learner *s, const fs_literal *at, size_t n, bool bump) {
  s->ids.n = 0;
  for (size_t k = 0; k < n && s->status == FSCHED_OK; k++) {
    uint32_t id = fs_learner_literal(s, at[k]);
    if (s->status == FSCHED_OK && bump) {
      fs_learner_bump(s, id);
    }
    fs_learner_note(s, fs_vec_push(s->ctx, &s->ids, id));
  }
  return s->status == FSCHED_OK;
}

void fs_learner_learn(fs_learner *s) {
  assert(s->found.n > 0);
  fs_literal first = s->found.at[0];
  if (!take_ids(s, s->found.at, s->found.n, true)) {
    return;
  }
  if (s->found.n == 1) {
    fs_learner_grow(s, first.side, first.value, FS_BY_DECISION, FS_NONE, 0);
    return;
  }
  uint32_t clause = add_clause(s, s->clause_bump, s->found_levels);
  fs_learner_grow(s, first.side, first.value, FS_BY_CLAUSE, clause, 0);
}

void fs_learner_add_clause(fs_learner *s, const fs_literal *at, size_t n) {
  assert(s->level.n == 0 && n > 0);
  if (n == 1) {
    fs_learner_grow(s, at[0].side, at[0].value, FS_BY_DECISION, FS_NONE, 0);
  } else if (take_ids(s, at, n, false)) {
    (void)add_clause(s, INFINITY, 0);
  }
}

void fs_learner_credit(fs_learner *s, uint32_t clause) {
  clause_part *c = &s->clause.at[clause];
  for (uint32_t k = 0; k < c[FS_CLAUSE_LENGTH].n; k++) {
    fs_learner_bump(s, ids_of(c)[k].n);
  }
  if (isinf(c[FS_CLAUSE_ACTIVITY].activity)) {
    return;
  }
  c[FS_CLAUSE_ACTIVITY].activity += s->clause_bump;
  if (c[FS_CLAUSE_ACTIVITY].activity > 1e20f) {
    for (size_t k = 0; k < s->learnt.n; k++) {
      s->clause.at[s->learnt.at[k] + FS_CLAUSE_ACTIVITY].activity *= 1e-20f;
    }
    s->clause_bump *= 1e-20f;
  }
}

static int by_float(const void *a, const void *b) {
  const float *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* At the root: watches literals that do not fail, of clauses of which no literal holds. */
static void watch_again(fs_learner *s) {
  size_t kept = 0;
  for (size_t k = 0; k < s->learnt.n; k++) {
    uint32_t offset = s->learnt.at[k], open = 0, n = s->clause.at[offset + FS_CLAUSE_LENGTH].n;
    clause_part *id = ids_of(&s->clause.at[offset]);
    bool holds = false;
    for (uint32_t i = 0; i < n; i++) {
      holds = holds || id_holds(s, id[i].n);
      if (!id_fails(s, id[i].n)) {
        swap(&id[open++], &id[i]);
      }
    }
    if (holds) {
      fs_log_forget(s, offset);
      continue;
    }
    s->learnt.at[kept++] = offset;
    if (open == 0) {
      clash_of(s, offset);
    } else if (open == 1) {
      fs_literal l = literal_of(s, id[0].n);
      fs_log_left(s, offset, l);
      fs_learner_grow(s, l.side, l.value, FS_BY_DECISION, FS_NONE, 0);
    } else {
      watch_first_two(s, offset);
    }
  }
  s->learnt.n = kept;
}

/* Keeps the more active half of the learnt clauses, short ones, those of few levels, and those of
 * the problem; at the root, where no clause is a reason. */
void fs_learner_forget(fs_learner *s) {
  assert(s->level.n == 0);
  FS_VEC(float) all = {0};
  for (size_t k = 0; k < s->learnt.n; k++) {
    float a = s->clause.at[s->learnt.at[k] + FS_CLAUSE_ACTIVITY].activity;
    if (!isinf(a)) {
      fs_learner_note(s, fs_vec_push(s->ctx, &all, a));
    }
  }
  if (s->status == FSCHED_OK && all.n > 1) {
    qsort(all.at, all.n, sizeof *all.at, by_float);
    float middle = all.at[all.n / 2];
    size_t kept = 0, to = 0;
    for (size_t id = 0; id < s->literal.n; id++) {
      s->literal.at[id].watch.n = 0;
    }
    for (size_t k = 0; k < s->learnt.n; k++) {
      uint32_t offset = s->learnt.at[k];
      clause_part *c = &s->clause.at[offset];
      size_t parts = FS_CLAUSE_HEAD + (size_t)c[FS_CLAUSE_LENGTH].n;
      if (c[FS_CLAUSE_ACTIVITY].activity > middle || c[FS_CLAUSE_LENGTH].n <= 2 ||
          c[FS_CLAUSE_LEVELS].n <= FEW_LEVELS) {
        memmove(&s->clause.at[to], c, parts * sizeof *c);
        s->learnt.at[kept++] = (uint32_t)to;
        to += parts;
      } else {
        fs_log_forget(s, offset);
      }
    }
    s->learnt.n = kept;
    s->clause.n = to;
    watch_again(s);
  }
  fs_vec_free(s->ctx, &all);
}

void fs_learner_clause_premises(fs_learner *s, uint32_t clause) {
  clause_part *c = &s->clause.at[clause];
  for (uint32_t k = 1; k < c[FS_CLAUSE_LENGTH].n; k++) {
    fs_literal no = literal_of(s, ids_of(c)[k].n ^ 1);
    fs_learner_premise(s, no.side, no.value);
  }
}
