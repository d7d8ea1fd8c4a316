/* SPDX-License-Identifier: Apache-2.0 */
/* The trail, the literals on it, and which of them is decided next. */
#include "search/learning/log.h"

/* ---- the heap of literals */

static bool more_active(const fs_learner *s, uint32_t a, uint32_t b) {
  return s->activity.at[a] != s->activity.at[b] ? s->activity.at[a] > s->activity.at[b] : a < b;
}

static void heap_put(fs_learner *s, size_t i, uint32_t pair) {
  s->heap.at[i] = pair;
  s->place.at[pair] = (uint32_t)i;
}

static void heap_up(fs_learner *s, size_t i) {
  uint32_t pair = s->heap.at[i];
  while (i > 0 && more_active(s, pair, s->heap.at[(i - 1) / 2])) {
    heap_put(s, i, s->heap.at[(i - 1) / 2]);
    i = (i - 1) / 2;
  }
  heap_put(s, i, pair);
}

static void heap_down(fs_learner *s, size_t i) {
  uint32_t pair = s->heap.at[i];
  for (size_t child; (child = 2 * i + 1) < s->heap.n; i = child) {
    if (child + 1 < s->heap.n && more_active(s, s->heap.at[child + 1], s->heap.at[child])) {
      child++;
    }
    if (!more_active(s, s->heap.at[child], pair)) {
      break;
    }
    heap_put(s, i, s->heap.at[child]);
  }
  heap_put(s, i, pair);
}

static void heap_add(fs_learner *s, uint32_t pair) {
  if (s->place.at[pair] != FS_NONE) {
    return;
  }
  fs_learner_note(s, fs_vec_push(s->ctx, &s->heap, pair));
  if (s->status == FSCHED_OK) {
    heap_up(s, s->heap.n - 1);
  }
}

static uint32_t heap_pop(fs_learner *s) {
  uint32_t pair = s->heap.at[0], last = s->heap.at[--s->heap.n];
  s->place.at[pair] = FS_NONE;
  if (s->heap.n > 0) {
    s->heap.at[0] = last;
    heap_down(s, 0);
  }
  return pair;
}

/* Where copies are open, starts of ops and their orders are decided before those of copies, and
 * these before ends and booleans, most of which follow from starts (half as many conflicts). */
static double weight_of(const fs_learner *s, uint32_t variable) {
  static const double of_copies = 0.4, of_ends = 0.05, of_bools = 0.1;
  if (s->p->spilling == NULL || variable < s->p->graph->n_ops || variable >= fs_first_order(s)) {
    return 1;
  }
  return variable < s->n ? of_copies : variable < fs_first_bool(s) ? of_ends : of_bools;
}

void fs_learner_bump(fs_learner *s, uint32_t id) {
  uint32_t pair = id / 2;
  assert(pair < s->activity.n);
  s->activity.at[pair] += s->bump * weight_of(s, s->literal.at[id].l.side / 2);
  if (s->activity.at[pair] > 1e100) {
    for (size_t i = 0; i < s->activity.n; i++) {
      s->activity.at[i] *= 1e-100;
    }
    s->bump *= 1e-100;
  }
  if (s->place.at[pair] != FS_NONE) {
    heap_up(s, s->place.at[pair]);
  }
}

uint32_t fs_learner_choose(fs_learner *s) {
  while (s->heap.n > 0) {
    uint32_t pair = heap_pop(s);
    size_t id = 2 * (size_t)pair;
    if (s->truth.at[id] == 0 && s->truth.at[id + 1] == 0 &&
        fs_is_true(s, s->owner[s->literal.at[id].l.side / 2])) {
      return pair;
    }
  }
  return FS_NONE;
}

/* ---- literals */

size_t fs_learner_place(const fs_learner *s, uint32_t side, fs_side_value value) {
  const fs_side_literal *first = s->of_side[side].at;
  size_t n = s->of_side[side].n, low = 0;
  while (n > 0) { /* without branches that depend on values */
    size_t half = n / 2;
    bool less = first[low + half].value < value;
    low += less ? half + 1 : 0;
    n = less ? n - half - 1 : half;
  }
  return low;
}

/* Does the literal hold by growths that rules have seen? */
static bool was_seen(const fs_learner *s, fs_literal l) {
  for (size_t k = s->visited; k < s->trail.n; k++) {
    if (s->trail.at[k].side == l.side) {
      return s->trail.at[k].old >= l.value;
    }
  }
  return fs_holds(s, l);
}

static void insert_literal(fs_learner *s, uint32_t id) {
  fs_literal l = s->literal.at[id].l;
  size_t at = fs_learner_place(s, l.side, l.value);
  fs_side_literal new = {l.value, id};
  fs_learner_note(s, fs_vec_push(s->ctx, &s->of_side[l.side], new));
  if (s->status != FSCHED_OK) {
    return;
  }
  fs_side_literal *all = s->of_side[l.side].at;
  memmove(all + at + 1, all + at, (s->of_side[l.side].n - 1 - at) * sizeof *all);
  all[at] = new;
  s->decided[l.side] += was_seen(s, l);
  s->held[l.side] += fs_holds(s, l);
  s->truth.at[id] = fs_holds(s, l);
}

uint32_t fs_learner_literal(fs_learner *s, fs_literal l) {
  size_t at = fs_learner_place(s, l.side, l.value);
  if (at < s->of_side[l.side].n && s->of_side[l.side].at[at].value == l.value) {
    return s->of_side[l.side].at[at].id;
  }
  uint32_t id = (uint32_t)s->literal.n;
  bool upper = l.side & 1; /* the first of a pair is a lower bound */
  fs_known_literal first = {.l = upper ? fs_negated(l) : l};
  fs_known_literal second = {.l = upper ? l : fs_negated(l)};
  fs_learner_note(s, fs_vec_push(s->ctx, &s->literal, first));
  fs_learner_note(s, fs_vec_push(s->ctx, &s->literal, second));
  fs_learner_note(s, fs_vec_push(s->ctx, &s->truth, 0));
  fs_learner_note(s, fs_vec_push(s->ctx, &s->truth, 0));
  fs_learner_note(s, fs_vec_push(s->ctx, &s->activity, 0));
  fs_learner_note(s, fs_vec_push(s->ctx, &s->phase, 0));
  fs_learner_note(s, fs_vec_push(s->ctx, &s->place, FS_NONE));
  if (s->status != FSCHED_OK) {
    return FS_NONE;
  }
  insert_literal(s, id);
  insert_literal(s, id + 1);
  heap_add(s, id / 2);
  return id + upper;
}

void fs_learner_open(fs_learner *s, uint32_t variable) {
  for (uint32_t side = 2 * variable; side < 2 * variable + 2; side++) {
    for (size_t k = 0; k < s->of_side[side].n; k++) {
      heap_add(s, s->of_side[side].at[k].id / 2);
    }
  }
}

/* ---- growths */

/* The growth would cross the other side: what is needed for the least value that does so. */
static void cross(fs_learner *s, const fs_growth *g) {
  fs_literal other = {g->side ^ 1, s->value[g->side ^ 1]};
  s->crossed = *g;
  s->conflict = true;
  s->clash.n = 0;
  s->premise.n = 0;
  fs_learner_explain(s, g, 1 - other.value);
  fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, other));
  if (s->owner[g->side / 2] != FS_NONE) {
    fs_literal there = {2 * s->owner[g->side / 2], 1};
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, there));
  }
  for (size_t k = 0; k < s->premise.n; k++) {
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, s->premise.at[k]));
  }
}

/* What the growth would cross holds only if the item is there: so it is not. */
static void be_absent(fs_learner *s, const fs_growth *g, uint32_t owner) {
  uint32_t which = (uint32_t)s->crossing.n;
  fs_learner_note(s, fs_vec_push(s->ctx, &s->crossing, *g));
  if (s->status == FSCHED_OK) {
    fs_learner_grow(s, 2 * owner + 1, 0, FS_BY_CROSS, which, s->value[g->side ^ 1]);
  }
}

/* Notes which literals hold by the side's growth. */
static void hold_literals(fs_learner *s, uint32_t side) {
  const fs_side_literal *at = s->of_side[side].at;
  size_t n = s->of_side[side].n;
  uint32_t k = s->held[side];
  for (; k < n && at[k].value <= s->value[side]; k++) {
    s->truth.at[at[k].id] = 1;
  }
  s->held[side] = k;
}

void fs_learner_grow_more(fs_learner *s, uint32_t side, fs_side_value value, fs_cause cause,
                          uint32_t reason, fs_side_value at) {
  uint32_t owner = s->owner[side / 2];
  if (s->conflict || fs_is_false(s, owner)) {
    return;
  }
  bool root = s->level.n == 0;
  fs_growth g = {side, root ? FS_NONE : s->latest[side], value, s->value[side], at, reason, cause};
  if (value > -s->value[side ^ 1]) {
    if (fs_is_true(s, owner)) {
      cross(s, &g);
    } else {
      be_absent(s, &g, owner);
    }
    return;
  }
  if (root) {
    fs_log_growth(s, &g, value);
  }
  s->latest[side] = root ? FS_NONE : (uint32_t)s->trail.n; /* at the root, it is for rules to see */
  s->value[side] = value;
  hold_literals(s, side);
  fs_learner_note(s, fs_vec_push(s->ctx, &s->trail, g));
  if (side < 2 * s->n && s->any_heights) {
    fs_learner_raise(s, &g);
  }
}

/* Literals that hold by the growth hold no longer, and those whose truth it decided are open again.
 */
static void reopen(fs_learner *s, const fs_growth *g) {
  const fs_side_literal *at = s->of_side[g->side].at;
  uint32_t k = s->held[g->side], decided = s->decided[g->side];
  for (; k > 0 && at[k - 1].value > g->old; k--) {
    uint32_t id = at[k - 1].id;
    s->truth.at[id] = 0;
    if (k <= decided) {
      s->phase.at[id / 2] = (id & 1) == 0;
      heap_add(s, id / 2);
    }
  }
  s->held[g->side] = k;
  s->decided[g->side] = fs_min(decided, k);
}

void fs_learner_undo(fs_learner *s, size_t length) {
  while (s->trail.n > length) {
    const fs_growth *g = &s->trail.at[--s->trail.n];
    reopen(s, g);
    if (g->side < 2 * s->n && s->any_heights) {
      fs_learner_lower(s, g);
    }
    s->set.n = g->cause == FS_BY_SET ? g->reason : s->set.n;
    s->crossing.n = g->cause == FS_BY_CROSS ? g->reason : s->crossing.n;
    s->value[g->side] = g->old;
    s->latest[g->side] = g->before;
  }
  s->visited = fs_min(s->visited, length);
}

uint32_t fs_learner_growth(const fs_learner *s, uint32_t side, fs_side_value value) {
  uint32_t g = s->latest[side];
  while (g != FS_NONE && s->trail.at[g].old >= value) {
    g = s->trail.at[g].before;
  }
  return g;
}
