/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from a growth: orders, pairs, and the rules of other files; and the premises of it.
 */
#include "search/learning/learner.h"

static fs_side_value time_of(const fs_learner *s, uint32_t item) { return s->time[item]; }

/* ---- orders */

static void follow_edges(fs_learner *s, uint32_t side) {
  const fs_problem *p = s->p;
  uint32_t item = side / 2;
  fs_side_value value = s->value[side];
  if ((side & 1) == 0) {
    for (uint32_t e = p->succ0[item]; e < p->succ0[item + 1] && !s->conflict; e++) {
      fs_learner_grow(s, 2 * p->succ[e], value + time_of(s, item), FS_BY_EDGE, item, 0);
    }
  } else {
    for (uint32_t e = p->pred0[item]; e < p->pred0[item + 1] && !s->conflict; e++) {
      uint32_t b = p->pred[e];
      fs_learner_grow(s, 2 * b + 1, value + time_of(s, b), FS_BY_EDGE, item, 0);
    }
  }
}

void fs_learner_grow_heads(fs_learner *s) {
  const fs_problem *p = s->p;
  for (uint32_t i = 0; i < s->n; i++) {
    s->value[2 * i] = fs_problem_is_fixed(p, i) ? (fs_side_value)(p->fixed[i] / s->unit) : 0;
  }
  for (uint32_t k = 0; k < s->n; k++) {
    follow_edges(s, 2 * p->topo[k]);
  }
}

static void explain_edge(fs_learner *s, const fs_growth *g, fs_side_value value) {
  uint32_t item = g->side / 2;
  bool upper = g->side & 1;
  fs_learner_premise(s, 2 * g->reason + upper, value - time_of(s, upper ? item : g->reason));
}

/* ---- pairs */

/* Does the pair exclude each other by what is not queues? */
static bool is_whole(const fs_learner *s, uint32_t a, uint32_t b) {
  uint32_t low = s->pair0[a], high = s->pair0[a + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    bool less = s->pair[middle] < b;
    low = less ? middle + 1 : low;
    high = less ? high : middle;
  }
  assert(low < s->pair0[a + 1] && s->pair[low] == b);
  return s->pair_whole[low];
}

/* How long the one keeps the other one out, which cannot run beside it. */
static inline fs_side_value keeps_out(const fs_learner *s, uint32_t item, uint32_t other) {
  return s->busy == s->time || is_whole(s, item, other) ? s->time[item] : s->busy[item];
}

/* a cannot end before b starts, so it comes behind b. */
static void order_pair(fs_learner *s, uint32_t a, uint32_t b) {
  fs_side_value latest = fs_latest(s, b), time = keeps_out(s, b, a);
  if (fs_is_true(s, s->owner[b])) {
    fs_learner_grow(s, 2 * a, fs_earliest(s, b) + time, FS_BY_PAIR, b, latest);
  }
  if (fs_is_true(s, s->owner[a])) {
    fs_learner_grow(s, 2 * b + 1, -(fs_latest(s, a) - time), FS_BY_PAIR, a, latest);
  }
}

/* The order is decided: b comes behind a. */
static void keep_order(fs_learner *s, uint32_t a, uint32_t b, uint32_t side) {
  fs_side_value time = keeps_out(s, a, b);
  fs_learner_grow(s, 2 * b, fs_earliest(s, a) + time, FS_BY_ORDER, a, side);
  fs_learner_grow(s, 2 * a + 1, -(fs_latest(s, b) - time), FS_BY_ORDER, b, side);
}

static void follow_order(fs_learner *s, uint32_t order) {
  uint32_t a = s->order_first[order], b = s->order_second[order], side = fs_order_side(s, order);
  if (fs_holds(s, fs_order_literal(side))) {
    keep_order(s, a, b, side);
  } else if (fs_holds(s, fs_order_literal(side + 1))) {
    keep_order(s, b, a, side + 1);
  } else if (fs_earliest(s, a) + keeps_out(s, a, b) > fs_latest(s, b)) {
    fs_learner_grow(s, side + 1, 0, FS_BY_STARTS, FS_NONE, fs_latest(s, b));
  } else if (fs_earliest(s, b) + keeps_out(s, b, a) > fs_latest(s, a)) {
    fs_learner_grow(s, side, 1, FS_BY_STARTS, FS_NONE, fs_latest(s, a));
  }
}

static void explain_order(fs_learner *s, const fs_growth *g, fs_side_value value) {
  uint32_t item = g->side / 2, other = g->reason;
  bool upper = g->side & 1;
  fs_literal order = fs_order_literal((uint32_t)g->at);
  fs_side_value time = upper ? keeps_out(s, item, other) : keeps_out(s, other, item);
  fs_learner_premise(s, 2 * other + upper, value - time);
  fs_learner_premise(s, order.side, order.value);
}

static void explain_starts(fs_learner *s, const fs_growth *g) {
  uint32_t order = g->side / 2 - fs_first_order(s);
  bool turned = g->side & 1;
  uint32_t first = turned ? s->order_second[order] : s->order_first[order];
  uint32_t behind = turned ? s->order_first[order] : s->order_second[order];
  fs_learner_premise(s, 2 * first + 1, -g->at);
  fs_learner_premise(s, 2 * behind, g->at - keeps_out(s, behind, first) + 1);
}

/* What follows for the order from a growth of one of its items, at the lower or upper side. */
static void follow_start(fs_learner *s, uint32_t order, uint32_t item, uint32_t other, bool upper) {
  uint32_t a = upper ? other : item, b = upper ? item : other;
  uint32_t side = fs_order_side(s, order) + (s->order_first[order] != a); /* a is before b */
  fs_literal no = fs_order_literal(side ^ 1);
  if (fs_holds(s, fs_order_literal(side))) {
    fs_side_value value = s->value[2 * item + upper] + keeps_out(s, a, b);
    fs_learner_grow(s, 2 * other + upper, value, FS_BY_ORDER, item, side);
  } else if (!fs_holds(s, no) && fs_earliest(s, a) + keeps_out(s, a, b) > fs_latest(s, b)) {
    fs_learner_grow(s, no.side, no.value, FS_BY_STARTS, FS_NONE, fs_latest(s, b));
  }
}

/* Where items take their queues for all of their time: may a pair without an order of its own say
 * something new, if both are there? */
static inline bool says_more(const fs_learner *s, uint32_t a, uint32_t b) {
  fs_side_value early_a = fs_earliest(s, a), late_a = fs_latest(s, a), time_a = s->time[a];
  fs_side_value early_b = fs_earliest(s, b), late_b = fs_latest(s, b), time_b = s->time[b];
  return (early_a + time_a > late_b && (early_a < early_b + time_b || late_b > late_a - time_b)) ||
         (early_b + time_b > late_a && (early_b < early_a + time_a || late_a > late_b - time_a));
}

static void follow_pair(fs_learner *s, uint32_t item, uint32_t other) {
  if (fs_earliest(s, item) + keeps_out(s, item, other) > fs_latest(s, other)) {
    order_pair(s, item, other);
  }
  if (!s->conflict && fs_earliest(s, other) + keeps_out(s, other, item) > fs_latest(s, item)) {
    order_pair(s, other, item);
  }
}

static void follow_pairs(fs_learner *s, uint32_t item, bool upper) {
  uint32_t from = s->pair0[item], to = s->pair0[item + 1];
  bool there = fs_is_true(s, s->owner[item]), whole = s->busy == s->time;
  s->work += 1 + to - from;
  for (uint32_t k = from; k < to && !s->conflict; k++) {
    uint32_t other = s->pair[k];
    if (s->pair_order[k] != FS_NONE) {
      follow_start(s, s->pair_order[k], item, other, upper);
    } else if ((!whole || says_more(s, item, other)) &&
               (there ||
                fs_is_true(s, s->owner[other]))) { /* what may not be there pushes nothing */
      follow_pair(s, item, other);
    }
  }
}

/* The one that grew at its lower side comes behind the other, at its upper one before it. */
static void explain_pair(fs_learner *s, const fs_growth *g, fs_side_value value) {
  uint32_t item = g->side / 2, other = g->reason;
  bool upper = g->side & 1;
  uint32_t behind = upper ? other : item, first = upper ? item : other;
  fs_learner_premise(s, 2 * other + upper, value - keeps_out(s, first, behind));
  fs_learner_premise(s, 2 * first + 1, -g->at);
  fs_learner_premise(s, 2 * behind, g->at - keeps_out(s, behind, first) + 1);
  fs_learner_condition(s, s->owner[other]);
}

/* ---- all rules */

static void wake_tables(fs_learner *s, uint32_t variable) {
  for (uint32_t k = s->task0[variable]; k < s->task0[variable + 1]; k++) {
    uint32_t t = s->task[s->task_of[k]].table;
    if (!s->table[t].waits && s->table[t].height == NULL) {
      s->table[t].waits = true;
      fs_learner_note(s, fs_vec_push(s->ctx, &s->waiting, t));
    }
  }
}

/* Is it an item that is there, or may be? */
static bool is_live_item(const fs_learner *s, uint32_t variable) {
  return variable < s->n && !fs_is_false(s, s->owner[variable]);
}

static void follow_variable(fs_learner *s, const fs_growth *g) {
  uint32_t variable = g->side / 2;
  if (variable >= fs_first_order(s)) {
    follow_order(s, variable - fs_first_order(s));
    return;
  }
  if (variable < s->n) {
    follow_edges(s, g->side);
  }
  if (!s->conflict) {
    fs_learner_follow_links(s, variable);
  }
  if (!s->conflict) {
    fs_learner_follow_apart(s, variable);
  }
  if (!s->conflict && is_live_item(s, variable)) {
    follow_pairs(s, variable, g->side & 1);
  }
}

/* Something that is there now may come into the way of others, as its bounds did not before. */
static void meet(fs_learner *s, uint32_t k) {
  for (uint32_t i = s->owned0[k]; i < s->owned0[k + 1]; i++) {
    fs_learner_open(s, s->owned[i]);
    if (s->owned[i] < s->n && !s->conflict) {
      follow_pairs(s, s->owned[i], false);
      follow_pairs(s, s->owned[i], true);
    }
  }
}

static void visit(fs_learner *s) {
  fs_growth g = s->trail.at[s->visited++];
  fs_learner_visit(s, &g);
  if (!s->conflict) {
    follow_variable(s, &g);
  }
  uint32_t boolean = g.side / 2 - fs_first_bool(s); /* others are large */
  if (!s->conflict && boolean < s->n_bools && (g.side & 1) == 0) {
    meet(s, boolean);
  }
  if (g.side / 2 < fs_first_order(s) && !s->all_heights) {
    wake_tables(s, g.side / 2);
  }
}

static bool is_tired(const fs_learner *s) { return s->most_work > 0 && s->work >= s->most_work; }

static void look_at(fs_learner *s, fs_learner_table *table) {
  table->waits = false;
  if (table->turns) {
    fs_learner_look_at_sets(s, table);
  } else if (table->height != NULL) {
    fs_learner_look_at_heights(s, table);
  } else {
    fs_learner_look_at_table(s, table);
  }
}

void fs_learner_propagate(fs_learner *s) {
  while (!s->conflict && s->status == FSCHED_OK) {
    if (s->visited < s->trail.n) {
      visit(s);
    } else if (s->waiting.n > 0 && !s->edges_first && !is_tired(s)) {
      uint32_t t = s->waiting.at[--s->waiting.n];
      look_at(s, &s->table[t]);
    } else if (s->n_moved > 0 && !s->edges_first && !is_tired(s)) {
      fs_learner_look_at_moved(s);
    } else {
      break;
    }
  }
  if (s->conflict) {
    fs_learner_rest(s);
  }
}

/* It would have to be where it cannot be. */
static void explain_cross(fs_learner *s, const fs_growth *g) {
  fs_growth crossing = s->crossing.at[g->reason];
  fs_learner_premise(s, crossing.side ^ 1, g->at);
  fs_learner_explain(s, &crossing, 1 - g->at);
}

void fs_learner_explain(fs_learner *s, const fs_growth *g, fs_side_value value) {
  switch (g->cause) {
    case FS_BY_DECISION:
      break;
    case FS_BY_CLAUSE:
      fs_learner_clause_premises(s, g->reason);
      break;
    case FS_BY_EDGE:
      explain_edge(s, g, value);
      break;
    case FS_BY_TABLE:
      fs_learner_explain_table(s, g, value);
      break;
    case FS_BY_MOMENT:
      fs_learner_explain_moment(s, g, value);
      break;
    case FS_BY_PAIR:
      explain_pair(s, g, value);
      break;
    case FS_BY_ORDER:
      explain_order(s, g, value);
      break;
    case FS_BY_STARTS:
      explain_starts(s, g);
      break;
    case FS_BY_SET:
      fs_learner_explain_set(s, g);
      break;
    case FS_BY_LINK:
      fs_learner_explain_link(s, g, value);
      break;
    case FS_BY_APART:
      fs_learner_explain_apart(s, g, value);
      break;
    case FS_BY_CROSS:
      explain_cross(s, g);
      break;
  }
}
