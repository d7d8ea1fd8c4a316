/* SPDX-License-Identifier: Apache-2.0 */
/* Traces a clash back to a clause with one literal of the last level (the first point of
 * implication).  What has to hold for the clash is kept per side, as the strongest value that is
 * needed of it; growths are undone on the way, so that reasons are asked for in the state in which
 * they were given.  What follows from the rest of a clause is left out of it, as in Sorensson,
 * Biere, Minimizing learned clauses (2009); its reasons are those of the state before the last
 * growth. */
#include "search/learning/log.h"

/* Literals are left out by chains of no more steps than this. */
enum { MOST_STEPS = 64 };

typedef struct tracer {
  fs_learner *s;
  size_t begin;    /* of the last level, on the trail */
  uint32_t of_now; /* sides whose growth is of the last level */
} tracer;

/* The literal is needed for the clash. */
static void need(tracer *t, fs_literal l) {
  fs_learner *s = t->s;
  uint32_t was = s->where[l.side];
  if (was != FS_NONE && s->needed[l.side] >= l.value) {
    return;
  }
  uint32_t g = fs_learner_growth(s, l.side, l.value);
  assert(s->value[l.side] >= l.value);
  if (g == FS_NONE) { /* it holds at the root */
    fs_log_root(s, l);
    return;
  }
  if (!s->listed[l.side]) {
    s->listed[l.side] = 1;
    fs_learner_note(s, fs_vec_push(s->ctx, &s->involved, l.side));
  }
  t->of_now += g >= t->begin && (was == FS_NONE || was < t->begin);
  s->where[l.side] = g;
  s->needed[l.side] = l.value;
}

static void need_premises(tracer *t) {
  for (size_t k = 0; k < t->s->premise.n; k++) {
    need(t, t->s->premise.at[k]);
  }
}

/* The last growth that is needed; it and what came after it is undone. */
static fs_growth step_back(tracer *t) {
  fs_learner *s = t->s;
  for (;;) {
    size_t i = s->trail.n - 1;
    assert(i >= t->begin);
    fs_growth g = s->trail.at[i];
    bool needed = s->where[g.side] == i;
    fs_learner_undo(s, i);
    if (needed) {
      return g;
    }
  }
}

static uint32_t level_of(const fs_learner *s, uint32_t growth) {
  uint32_t low = 0, high = (uint32_t)s->level.n;
  while (high - low > 1) { /* the last level that begins at the growth or before */
    uint32_t middle = (low + high) / 2;
    bool later = s->level.at[middle] > growth;
    high = later ? middle : high;
    low = later ? low : middle;
  }
  return low + 1;
}

/* ---- literals that are left out */

/* Is the literal, or a stronger one, needed, and holds since before the growth? */
static bool is_needed_before(const fs_learner *s, fs_literal l, uint32_t growth) {
  uint32_t where = s->where[l.side];
  return where != FS_NONE && s->needed[l.side] >= l.value && where < growth;
}

/* May the growth be explained in the state of now?  What is there only perhaps is left alone. */
static bool may_follow(const fs_learner *s, const fs_growth *g) {
  bool plain = g->cause == FS_BY_TABLE || g->cause == FS_BY_PAIR || g->cause == FS_BY_ORDER ||
               g->cause == FS_BY_STARTS;
  return g->cause == FS_BY_CLAUSE || g->cause == FS_BY_EDGE || (plain && s->p->spilling == NULL);
}

/* A growth of a level of which nothing is needed follows from nothing that is. */
static bool is_level_needed(const fs_learner *s, uint32_t growth) {
  return s->level_seen.at[level_of(s, growth)] / 2 == s->conflicts;
}

/* Does the literal that grew there follow from others that are needed, and hold since before, by
 * steps of which each rests on what came true before it? */
static bool follows(fs_learner *s, uint32_t growth, fs_side_value value, unsigned depth) {
  const fs_growth g = s->trail.at[growth];
  const fs_growth_mark mark = s->mark.at[growth];
  if (mark.conflict == s->conflicts && (mark.follows ? value <= mark.value : value >= mark.value)) {
    return mark.follows;
  }
  if (depth == 0 || !may_follow(s, &g)) {
    return false;
  }
  size_t first = s->premise.n;
  bool all = true;
  fs_learner_explain(s, &g, value);
  for (size_t k = first; k < s->premise.n && all; k++) {
    fs_literal l = s->premise.at[k];
    if (is_needed_before(s, l, growth)) {
      continue;
    }
    uint32_t before = fs_learner_growth(s, l.side, l.value);
    all = before == FS_NONE ||
          (before < growth && is_level_needed(s, before) && follows(s, before, l.value, depth - 1));
  }
  if (all) {
    fs_log_dropped(s, growth, value, &s->premise.at[first], s->premise.n - first);
  }
  s->premise.n = first;
  s->mark.at[growth] = (fs_growth_mark){s->conflicts, value, all};
  return all;
}

/* Before the first question: levels of what is needed, and room for marks. */
static void note_levels(fs_learner *s) {
  while (s->level_seen.n <= s->level.n && s->status == FSCHED_OK) {
    fs_learner_note(s, fs_vec_push(s->ctx, &s->level_seen, 0));
  }
  while (s->mark.n < s->trail.n && s->status == FSCHED_OK) {
    fs_learner_note(s, fs_vec_push(s->ctx, &s->mark, (fs_growth_mark){0}));
  }
  s->premise.n = 0;
  for (size_t k = 0; k < s->involved.n && s->status == FSCHED_OK; k++) {
    uint32_t growth = s->where[s->involved.at[k]];
    if (growth != FS_NONE) {
      s->level_seen.at[level_of(s, growth)] = 2 * s->conflicts;
    }
  }
}

/* Makes the clause; its second literal is one of the level to go back to. */
static uint32_t make_clause(fs_learner *s, fs_literal first) {
  uint32_t back = 0;
  s->found.n = 0;
  s->found_levels = 1;
  note_levels(s);
  fs_learner_note(s, fs_vec_push(s->ctx, &s->found, fs_negated(first)));
  for (size_t k = 0; k < s->involved.n; k++) {
    uint32_t side = s->involved.at[k];
    if (s->where[side] == FS_NONE ||
        (s->status == FSCHED_OK && follows(s, s->where[side], s->needed[side], MOST_STEPS))) {
      continue;
    }
    fs_literal l = {side, s->needed[side]};
    fs_learner_note(s, fs_vec_push(s->ctx, &s->found, fs_negated(l)));
    uint32_t level = level_of(s, s->where[side]);
    if (s->status == FSCHED_OK) {
      s->found_levels += s->level_seen.at[level] % 2 == 0; /* not counted yet */
      s->level_seen.at[level] |= 1;
    }
    if (level > back && s->status == FSCHED_OK) {
      back = level;
      fs_literal other = s->found.at[1];
      s->found.at[1] = s->found.at[s->found.n - 1];
      s->found.at[s->found.n - 1] = other;
    }
  }
  return back;
}

/* Goes back to the last level that the clash needs; false: it needs none. */
static bool find_level(tracer *t) {
  fs_learner *s = t->s;
  while (t->of_now == 0 && s->level.n > 1) {
    fs_learner_undo(s, t->begin);
    s->level.n--;
    t->begin = s->level.at[s->level.n - 1];
    for (size_t k = 0; k < s->involved.n; k++) {
      t->of_now += s->where[s->involved.at[k]] >= t->begin;
    }
  }
  return t->of_now > 0;
}

static void clear(fs_learner *s) {
  for (size_t k = 0; k < s->involved.n; k++) {
    s->where[s->involved.at[k]] = FS_NONE;
    s->listed[s->involved.at[k]] = 0;
  }
}

uint32_t fs_learner_trace(fs_learner *s) {
  assert(s->conflict && s->level.n > 0);
  tracer t = {.s = s, .begin = s->level.at[s->level.n - 1]};
  fs_growth g;
  s->involved.n = 0;
  s->premise.n = 0;
  fs_log_clash(s);
  for (size_t k = 0; k < s->clash.n; k++) {
    need(&t, s->clash.at[k]);
  }
  if (!find_level(&t)) {
    clear(s);
    s->found.n = 0;
    return 0;
  }
  for (;;) {
    g = step_back(&t);
    t.of_now--;
    s->where[g.side] = FS_NONE;
    if (t.of_now == 0) {
      break;
    }
    fs_side_value needed = s->needed[g.side];
    if (g.cause == FS_BY_CLAUSE) {
      fs_learner_credit(s, g.reason);
    }
    s->premise.n = 0;
    fs_learner_explain(s, &g, needed);
    fs_log_traced(s, &g, needed);
    need_premises(&t);
  }
  fs_literal first = {g.side, s->needed[g.side]};
  uint32_t back = make_clause(s, first);
  fs_log_lemma(s);
  clear(s);
  return back;
}
