/* SPDX-License-Identifier: Apache-2.0 */
/* Traces a clash back to a clause with one literal of the last level (the first point of
 * implication).  What has to hold for the clash is kept per side, as the strongest value that is
 * needed of it; growths are undone on the way, so that reasons are asked for in the state in which
 * they were given. */
#include "search/learning/log.h"

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

/* Does the literal follow from others that are needed, and hold since before? */
static bool follows(fs_learner *s, uint32_t side) {
  uint32_t g = s->where[side];
  fs_growth growth = s->trail.at[g];
  if (growth.cause != FS_BY_CLAUSE && growth.cause != FS_BY_EDGE) {
    return false;
  }
  s->premise.n = 0;
  fs_learner_explain(s, &growth, s->needed[side]);
  for (size_t k = 0; k < s->premise.n; k++) {
    fs_literal l = s->premise.at[k];
    bool known =
        s->where[l.side] != FS_NONE && s->needed[l.side] >= l.value && s->where[l.side] < g;
    if (!known && fs_learner_growth(s, l.side, l.value) != FS_NONE) {
      return false;
    }
  }
  fs_log_dropped(s, &growth, g, s->needed[side]);
  return true;
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

/* Makes the clause; its second literal is one of the level to go back to. */
static uint32_t make_clause(fs_learner *s, fs_literal first) {
  uint32_t back = 0;
  s->found.n = 0;
  fs_learner_note(s, fs_vec_push(s->ctx, &s->found, fs_negated(first)));
  for (size_t k = 0; k < s->involved.n; k++) {
    uint32_t side = s->involved.at[k];
    if (s->where[side] == FS_NONE || follows(s, side)) {
      continue;
    }
    fs_literal l = {side, s->needed[side]};
    fs_learner_note(s, fs_vec_push(s->ctx, &s->found, fs_negated(l)));
    uint32_t level = level_of(s, s->where[side]);
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
