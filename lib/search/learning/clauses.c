/* SPDX-License-Identifier: Apache-2.0 */
/* Clauses: which of them a growth makes unit or false, and which are forgotten. */
#include <math.h>
#include <stdlib.h>

#include "search/learning/log.h"

static float activity_of(const fs_learner *s, uint32_t clause) {
  float a;
  memcpy(&a, &s->clause.at[clause + FS_CLAUSE_ACTIVITY], sizeof a);
  return a;
}

static void set_activity(fs_learner *s, uint32_t clause, float a) {
  memcpy(&s->clause.at[clause + FS_CLAUSE_ACTIVITY], &a, sizeof a);
}

static void watch(fs_learner *s, uint32_t id, uint32_t clause, uint32_t other) {
  fs_clause_watch w = {clause, other};
  fs_learner_note(s, fs_vec_push(s->ctx, &s->literal.at[id].watch, w));
}

uint32_t fs_learner_lemma(const fs_learner *s, uint32_t clause) {
  return s->clause.at[clause + FS_CLAUSE_LEMMA];
}

static void clash_of(fs_learner *s, uint32_t clause) {
  s->crossed = (fs_growth){.side = FS_NONE, .cause = FS_BY_CLAUSE, .reason = clause};
  s->conflict = true;
  s->clash.n = 0;
  for (uint32_t k = 0; k < s->clause.at[clause]; k++) {
    fs_literal l = s->literal.at[s->clause.at[clause + FS_CLAUSE_IDS + k]].l;
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, fs_negated(l)));
  }
}

/* A literal of the clause, behind the two that are watched, that does not fail. */
static bool watch_another(fs_learner *s, uint32_t clause) {
  uint32_t *id = &s->clause.at[clause + FS_CLAUSE_IDS];
  for (uint32_t k = 2; k < s->clause.at[clause]; k++) {
    if (!fs_fails(s, s->literal.at[id[k]].l)) {
      uint32_t other = id[k];
      id[k] = id[1];
      id[1] = other;
      watch(s, other, clause, id[0]);
      return true;
    }
  }
  return false;
}

/* The literal fails now: looks at the clauses that watch it. */
static void visit_literal(fs_learner *s, uint32_t failed) {
  uint32_t kept = 0, k = 0;
  for (; k < s->literal.at[failed].watch.n && !s->conflict; k++) {
    fs_clause_watch w = s->literal.at[failed].watch.at[k];
    bool stays = true;
    if (!fs_holds(s, s->literal.at[w.other].l)) {
      uint32_t *id = &s->clause.at[w.clause + FS_CLAUSE_IDS];
      if (id[0] == failed) {
        id[0] = id[1];
        id[1] = failed;
      }
      fs_literal first = s->literal.at[id[0]].l;
      w.other = id[0];
      if (!fs_holds(s, first) && watch_another(s, w.clause)) {
        stays = false;
      } else if (fs_fails(s, first)) {
        clash_of(s, w.clause);
      } else {
        fs_learner_grow(s, first.side, first.value, FS_BY_CLAUSE, w.clause, 0);
      }
    }
    if (stays) {
      s->literal.at[failed].watch.at[kept++] = w;
    }
  }
  for (; k < s->literal.at[failed].watch.n; k++) {
    s->literal.at[failed].watch.at[kept++] = s->literal.at[failed].watch.at[k];
  }
  s->literal.at[failed].watch.n = kept;
}

void fs_learner_visit(fs_learner *s, const fs_growth *g) {
  fs_growth growth = *g; /* the trail may move */
  size_t low = 0, high = s->of_side[growth.side].n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    bool less = s->literal.at[s->of_side[growth.side].at[middle]].l.value <= growth.old;
    low = less ? middle + 1 : low;
    high = less ? high : middle;
  }
  for (; low < s->of_side[growth.side].n && !s->conflict; low++) {
    uint32_t id = s->of_side[growth.side].at[low];
    if (s->literal.at[id].l.value > growth.value) {
      break;
    }
    visit_literal(s, id ^ 1);
  }
}

/* Adds the clause of ids[], two or more; returns its offset. */
static uint32_t add_clause(fs_learner *s, float activity) {
  uint32_t clause = (uint32_t)s->clause.n;
  fs_learner_note(s, fs_vec_push(s->ctx, &s->clause, (uint32_t)s->ids.n));
  fs_learner_note(s, fs_vec_push(s->ctx, &s->clause, 0));
  fs_learner_note(s, fs_vec_push(s->ctx, &s->clause, fs_log_last(s)));
  for (size_t k = 0; k < s->ids.n; k++) {
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clause, s->ids.at[k]));
  }
  fs_learner_note(s, fs_vec_push(s->ctx, &s->learnt, clause));
  if (s->status == FSCHED_OK) {
    set_activity(s, clause, activity);
    watch(s, s->ids.at[0], clause, s->ids.at[1]);
    watch(s, s->ids.at[1], clause, s->ids.at[0]);
  }
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
  uint32_t clause = add_clause(s, s->clause_bump);
  fs_learner_grow(s, first.side, first.value, FS_BY_CLAUSE, clause, 0);
}

void fs_learner_add_clause(fs_learner *s, const fs_literal *at, size_t n) {
  assert(s->level.n == 0 && n > 0);
  if (n == 1) {
    fs_learner_grow(s, at[0].side, at[0].value, FS_BY_DECISION, FS_NONE, 0);
  } else if (take_ids(s, at, n, false)) {
    (void)add_clause(s, INFINITY);
  }
}

void fs_learner_credit(fs_learner *s, uint32_t clause) {
  float a = activity_of(s, clause);
  for (uint32_t k = 0; k < s->clause.at[clause]; k++) {
    fs_learner_bump(s, s->clause.at[clause + FS_CLAUSE_IDS + k]);
  }
  if (isinf(a)) {
    return;
  }
  a += s->clause_bump;
  set_activity(s, clause, a);
  if (a > 1e20f) {
    for (size_t k = 0; k < s->learnt.n; k++) {
      set_activity(s, s->learnt.at[k], activity_of(s, s->learnt.at[k]) * 1e-20f);
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
    uint32_t c = s->learnt.at[k], *id = &s->clause.at[c + FS_CLAUSE_IDS], open = 0;
    bool holds = false;
    for (uint32_t i = 0; i < s->clause.at[c]; i++) {
      fs_literal l = s->literal.at[id[i]].l;
      holds = holds || fs_holds(s, l);
      if (!fs_fails(s, l)) {
        uint32_t other = id[open];
        id[open++] = id[i];
        id[i] = other;
      }
    }
    if (holds) {
      fs_log_forget(s, c);
      continue;
    }
    s->learnt.at[kept++] = c;
    if (open == 0) {
      clash_of(s, c);
    } else if (open == 1) {
      fs_literal l = s->literal.at[id[0]].l;
      fs_log_left(s, c, l);
      fs_learner_grow(s, l.side, l.value, FS_BY_DECISION, FS_NONE, 0);
    } else {
      watch(s, id[0], c, id[1]);
      watch(s, id[1], c, id[0]);
    }
  }
  s->learnt.n = kept;
}

/* Keeps the more active half of the learnt clauses, short ones, and those of the problem; at the
 * root, where no clause is a reason. */
void fs_learner_forget(fs_learner *s) {
  assert(s->level.n == 0);
  FS_VEC(float) all = {0};
  for (size_t k = 0; k < s->learnt.n; k++) {
    float a = activity_of(s, s->learnt.at[k]);
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
      uint32_t c = s->learnt.at[k], length = s->clause.at[c];
      if (activity_of(s, c) > middle || length <= 2) {
        memmove(&s->clause.at[to], &s->clause.at[c], (length + FS_CLAUSE_IDS) * sizeof(uint32_t));
        s->learnt.at[kept++] = (uint32_t)to;
        to += length + FS_CLAUSE_IDS;
      } else {
        fs_log_forget(s, c);
      }
    }
    s->learnt.n = kept;
    s->clause.n = to;
    watch_again(s);
  }
  fs_vec_free(s->ctx, &all);
}

void fs_learner_clause_premises(fs_learner *s, uint32_t clause) {
  for (uint32_t k = 1; k < s->clause.at[clause]; k++) {
    fs_literal l = s->literal.at[s->clause.at[clause + FS_CLAUSE_IDS + k]].l;
    fs_learner_note(s, fs_vec_push(s->ctx, &s->premise, fs_negated(l)));
  }
}
