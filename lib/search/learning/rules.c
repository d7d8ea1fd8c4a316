/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from a growth: orders, time tables, pairs; and the premises of it.
 *
 * An item with latest start before earliest end runs for sure in between.  At moment t the sure
 * parts of some items leave no room for item j: then it does not run at t, and if it cannot end by
 * then it starts behind.
 *
 *      s_j >= t - d_j + 1,  s_i >= t - d_i + 1,  s_i <= t  for some i with more than is left
 *          ->  s_j >= t + 1
 *
 * A start behind more than its length is reached in several such steps, each with a moment of its
 * own, so that reasons are small. */
#include "search/learning/learner.h"

static fs_side_value time_of(const fs_learner *s, uint32_t item) { return s->time[item]; }

static void add_premise(fs_learner *s, uint32_t side, fs_side_value value) {
  fs_literal l = {side, value};
  fs_learner_note(s, fs_vec_push(s->ctx, &s->premise, l));
}

/* The boolean holds. */
static void add_condition(fs_learner *s, uint32_t boolean) {
  if (boolean != FS_NONE) {
    add_premise(s, 2 * boolean, 1);
  }
}

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
    s->value[2 * i] = 0;
  }
  for (uint32_t k = 0; k < s->n; k++) {
    follow_edges(s, 2 * p->topo[k]);
  }
}

static void explain_edge(fs_learner *s, const fs_growth *g, fs_side_value value) {
  uint32_t item = g->side / 2;
  bool upper = g->side & 1;
  add_premise(s, 2 * g->reason + upper, value - time_of(s, upper ? item : g->reason));
}

/* ---- pairs */

/* a cannot end before b starts, so it comes behind b. */
static void order_pair(fs_learner *s, uint32_t a, uint32_t b) {
  fs_side_value latest = fs_latest(s, b);
  if (fs_is_true(s, s->owner[b])) {
    fs_learner_grow(s, 2 * a, fs_earliest(s, b) + time_of(s, b), FS_BY_PAIR, b, latest);
  }
  if (fs_is_true(s, s->owner[a])) {
    fs_learner_grow(s, 2 * b + 1, -(fs_latest(s, a) - time_of(s, b)), FS_BY_PAIR, a, latest);
  }
}

/* The order is decided: b comes behind a. */
static void keep_order(fs_learner *s, uint32_t a, uint32_t b, uint32_t side) {
  fs_learner_grow(s, 2 * b, fs_earliest(s, a) + time_of(s, a), FS_BY_ORDER, a, side);
  fs_learner_grow(s, 2 * a + 1, -(fs_latest(s, b) - time_of(s, a)), FS_BY_ORDER, b, side);
}

static void follow_order(fs_learner *s, uint32_t order) {
  uint32_t a = s->order_first[order], b = s->order_second[order], side = fs_order_side(s, order);
  if (fs_holds(s, fs_order_literal(side))) {
    keep_order(s, a, b, side);
  } else if (fs_holds(s, fs_order_literal(side + 1))) {
    keep_order(s, b, a, side + 1);
  } else if (fs_earliest(s, a) + time_of(s, a) > fs_latest(s, b)) {
    fs_learner_grow(s, side + 1, 0, FS_BY_STARTS, FS_NONE, fs_latest(s, b));
  } else if (fs_earliest(s, b) + time_of(s, b) > fs_latest(s, a)) {
    fs_learner_grow(s, side, 1, FS_BY_STARTS, FS_NONE, fs_latest(s, a));
  }
}

static void explain_order(fs_learner *s, const fs_growth *g, fs_side_value value) {
  uint32_t item = g->side / 2, other = g->reason;
  bool upper = g->side & 1;
  fs_literal order = fs_order_literal((uint32_t)g->at);
  add_premise(s, 2 * other + upper, value - time_of(s, upper ? item : other));
  add_premise(s, order.side, order.value);
}

static void explain_starts(fs_learner *s, const fs_growth *g) {
  uint32_t order = g->side / 2 - fs_first_order(s);
  bool turned = g->side & 1;
  uint32_t first = turned ? s->order_second[order] : s->order_first[order];
  uint32_t behind = turned ? s->order_first[order] : s->order_second[order];
  add_premise(s, 2 * first + 1, -g->at);
  add_premise(s, 2 * behind, g->at - time_of(s, behind) + 1);
}

static void follow_pairs(fs_learner *s, uint32_t item) {
  s->work += 1 + s->pair0[item + 1] - s->pair0[item];
  for (uint32_t k = s->pair0[item]; k < s->pair0[item + 1] && !s->conflict; k++) {
    uint32_t other = s->pair[k];
    if (s->pair_order[k] != FS_NONE) {
      follow_order(s, s->pair_order[k]);
      continue;
    }
    if (fs_earliest(s, item) + time_of(s, item) > fs_latest(s, other)) {
      order_pair(s, item, other);
    }
    if (!s->conflict && fs_earliest(s, other) + time_of(s, other) > fs_latest(s, item)) {
      order_pair(s, other, item);
    }
  }
}

/* The one that grew at its lower side comes behind the other, at its upper one before it. */
static void explain_pair(fs_learner *s, const fs_growth *g, fs_side_value value) {
  uint32_t item = g->side / 2, other = g->reason;
  bool upper = g->side & 1;
  uint32_t behind = upper ? other : item, first = upper ? item : other;
  add_premise(s, 2 * other + upper, value - time_of(s, first));
  add_premise(s, 2 * first + 1, -g->at);
  add_premise(s, 2 * behind, g->at - time_of(s, behind) + 1);
  add_condition(s, s->owner[other]);
}

/* ---- time tables */

static fs_side_value least(fs_side_value a, fs_side_value b) { return a < b ? a : b; }
static fs_side_value most(fs_side_value a, fs_side_value b) { return a > b ? a : b; }

static fs_side_value latest_begin(const fs_learner *s, const fs_learner_task *a) {
  return fs_latest(s, a->item) + a->delay;
}
static fs_side_value earliest_end(const fs_learner *s, const fs_learner_task *a) {
  return fs_earliest(s, a->end) + a->length;
}
/* It has begun by t, or ends behind it. */
static fs_literal begun_by(const fs_learner_task *a, fs_side_value t) {
  return (fs_literal){2 * a->item + 1, a->delay - t};
}
static fs_literal ends_behind(const fs_learner_task *a, fs_side_value t) {
  return (fs_literal){2 * a->end, t - a->length + 1};
}

static bool runs_surely(const fs_learner *s, const fs_learner_task *a, fs_side_value t) {
  return latest_begin(s, a) <= t && earliest_end(s, a) > t && fs_is_true(s, a->only_if);
}

/* What others than one task take for sure at t. */
static fs_side_value height_at(const fs_learner *s, const fs_learner_table *table, fs_side_value t,
                               uint32_t but) {
  fs_side_value sum = 0;
  for (uint32_t k = table->task0; k < table->task1; k++) {
    sum += k != but && runs_surely(s, &s->task[k], t) ? s->task[k].amount : 0;
  }
  return sum;
}

static bool holds_from_root(const fs_learner *s, fs_literal l) {
  return fs_learner_growth(s, l.side, l.value) == FS_NONE;
}

static bool runs_from_root(const fs_learner *s, const fs_learner_task *a, fs_side_value t) {
  return holds_from_root(s, ends_behind(a, t)) && holds_from_root(s, begun_by(a, t)) &&
         (a->only_if == FS_NONE || holds_from_root(s, (fs_literal){2 * a->only_if, 1}));
}

static void add_literal(fs_learner *s, fs_literal l) { add_premise(s, l.side, l.value); }

/* The premises of some tasks that surely run at t and take more than `room` together, but for one
 * task.  Those that run there anyway are taken first. */
static void explain_height(fs_learner *s, const fs_learner_table *table, fs_side_value t,
                           fs_side_value room, uint32_t but) {
  fs_side_value spare = height_at(s, table, t, but) - room - 1;
  for (uint32_t k = table->task0; k < table->task1; k++) {
    const fs_learner_task *a = &s->task[k];
    if (k == but || !runs_surely(s, a, t)) {
      continue;
    }
    if (a->amount <= spare && !runs_from_root(s, a, t)) {
      spare -= a->amount;
      continue;
    }
    add_literal(s, ends_behind(a, t));
    add_literal(s, begun_by(a, t));
    add_condition(s, a->only_if);
  }
}

/* The task does not run at a moment: it begins behind it, or ends by then, or is not there at all.
 * Where the value that is needed is less than the growth, a moment that is less far may do. */
static void explain_table(fs_learner *s, const fs_growth *g, fs_side_value value) {
  const fs_learner_task *a = &s->task[g->reason];
  const fs_learner_table *table = &s->table[a->table];
  fs_side_value room = table->capacity - a->amount, at = g->at;
  bool gone = a->only_if != FS_NONE && g->side == 2 * a->only_if + 1, upper = g->side & 1;
  if (!gone) {
    at = upper ? a->length - value : value + a->delay - 1;
    at = at != g->at && height_at(s, table, at, g->reason) > room ? at : g->at;
  }
  if (gone || upper) {
    add_literal(s, begun_by(a, at));
  }
  if (gone || !upper) {
    add_literal(s, ends_behind(a, at));
  }
  if (!gone && s->owner[g->side / 2] != a->only_if) {
    add_condition(s, a->only_if);
  }
  explain_height(s, table, at, room, g->reason);
}

static void clash_at(fs_learner *s, const fs_learner_table *table, fs_side_value t) {
  uint32_t which = (uint32_t)(table - s->table);
  s->crossed = (fs_growth){.side = FS_NONE, .cause = FS_BY_TABLE, .reason = which};
  s->premise.n = 0;
  explain_height(s, table, t, table->capacity, FS_NONE);
  s->conflict = true;
  s->clash.n = 0;
  for (size_t k = 0; k < s->premise.n; k++) {
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, s->premise.at[k]));
  }
}

/* Adds a step up or down at a time, kept in order. */
static uint32_t add_step(fs_learner *s, uint32_t n, fs_side_value time, fs_side_value by) {
  uint32_t k = n;
  for (; k > 0 && s->step[k - 1].time > time; k--) {
    s->step[k] = s->step[k - 1];
  }
  if (k > 0 && s->step[k - 1].time == time) {
    for (uint32_t i = k; i < n; i++) {
      s->step[i] = s->step[i + 1];
    }
    s->step[k - 1].height += by;
    return n;
  }
  s->step[k] = (fs_step_of_table){time, by};
  return n + 1;
}

/* The heights of the sure parts, from each time on; returns their number. */
static uint32_t make_steps(fs_learner *s, const fs_learner_table *table, fs_side_value *highest) {
  uint32_t n = 0;
  s->work += table->task1 - table->task0;
  for (uint32_t k = table->task0; k < table->task1; k++) {
    const fs_learner_task *a = &s->task[k];
    fs_side_value from = latest_begin(s, a), to = earliest_end(s, a);
    if (from < to && fs_is_true(s, a->only_if)) {
      n = add_step(s, n, from, a->amount);
      n = add_step(s, n, to, -a->amount);
    }
  }
  fs_side_value height = 0;
  *highest = 0;
  for (uint32_t k = 0; k < n; k++) {
    height = s->step[k].height += height;
    *highest = fs_max(*highest, height);
  }
  return n;
}

/* May a bound of the task's be moved, as it surely runs, or as the bound holds only if it does? */
static bool may_move(const fs_learner *s, const fs_learner_task *a, uint32_t variable) {
  return fs_is_true(s, a->only_if) || s->owner[variable] == a->only_if;
}

/* Moves the earliest begin of a task behind the steps that leave it no room. */
static void push_right(fs_learner *s, const fs_learner_table *table, uint32_t task, uint32_t n) {
  const fs_learner_task *a = &s->task[task];
  fs_side_value sure = latest_begin(s, a);
  for (uint32_t k = 0; k + 1 < n && !s->conflict && may_move(s, a, a->item); k++) {
    fs_side_value from = s->step[k].time, to = s->step[k + 1].time;
    fs_side_value early = fs_earliest(s, a->item) + a->delay;
    if (from >= earliest_end(s, a) || from >= sure) {
      return;
    }
    if (to <= early || s->step[k].height + a->amount <= table->capacity) {
      continue;
    }
    to = least(to, sure); /* what it surely runs in is counted */
    while (early < least(to, earliest_end(s, a)) && earliest_end(s, a) > from && !s->conflict) {
      fs_side_value at = least(to, earliest_end(s, a)) - 1;
      fs_learner_grow(s, 2 * a->item, at + 1 - a->delay, FS_BY_TABLE, task, at);
      if (fs_is_false(s, s->owner[a->item])) {
        return;
      }
      early = fs_earliest(s, a->item) + a->delay;
    }
  }
}

/* Moves the latest end of a task before the steps that leave it no room. */
static void push_left(fs_learner *s, const fs_learner_table *table, uint32_t task, uint32_t n) {
  const fs_learner_task *a = &s->task[task];
  fs_side_value sure = earliest_end(s, a);
  for (uint32_t k = n; k-- > 1 && !s->conflict && may_move(s, a, a->end);) {
    fs_side_value from = s->step[k - 1].time, to = s->step[k].time;
    fs_side_value late = fs_latest(s, a->end) + a->length;
    if (to <= latest_begin(s, a) || to <= sure) {
      return;
    }
    if (from >= late || s->step[k - 1].height + a->amount <= table->capacity) {
      continue;
    }
    from = most(from, sure);
    while (late > most(from, latest_begin(s, a)) && latest_begin(s, a) < to && !s->conflict) {
      fs_side_value at = most(from, latest_begin(s, a));
      fs_learner_grow(s, 2 * a->end + 1, a->length - at, FS_BY_TABLE, task, at);
      if (fs_is_false(s, s->owner[a->end])) {
        return;
      }
      late = fs_latest(s, a->end) + a->length;
    }
  }
}

/* A task that would surely run where there is no room for it is not there. */
static void take_away(fs_learner *s, const fs_learner_table *table, uint32_t task, uint32_t n) {
  const fs_learner_task *a = &s->task[task];
  fs_side_value begin = latest_begin(s, a), end = earliest_end(s, a);
  for (uint32_t k = 0; k + 1 < n && !s->conflict; k++) {
    fs_side_value at = most(begin, s->step[k].time);
    if (s->step[k].height + a->amount > table->capacity && at < least(end, s->step[k + 1].time)) {
      fs_learner_grow(s, 2 * a->only_if + 1, 0, FS_BY_TABLE, task, at);
      return;
    }
  }
}

/* ---- items without a length */

/* It begins before `from`, and ends behind `to`: it runs over all moments of these and between. */
static bool runs_over(const fs_learner *s, const fs_learner_task *a, fs_side_value from,
                      fs_side_value to) {
  return latest_begin(s, a) < from && earliest_end(s, a) > to;
}

static fs_side_value height_over(const fs_learner *s, const fs_learner_table *table,
                                 fs_side_value from, fs_side_value to) {
  fs_side_value sum = 0;
  for (uint32_t k = table->task0; k < table->task1; k++) {
    sum += runs_over(s, &s->task[k], from, to) ? s->task[k].amount : 0;
  }
  return sum;
}

/* The last moment, or the first, up to which all run that run over one. */
static fs_side_value end_of_those(const fs_learner *s, const fs_learner_table *table,
                                  fs_side_value at, bool upper) {
  fs_side_value end = upper ? INT64_MIN : INT64_MAX;
  for (uint32_t k = table->task0; k < table->task1; k++) {
    const fs_learner_task *a = &s->task[k];
    if (runs_over(s, a, at, at)) {
      end = upper ? most(end, latest_begin(s, a) + 1) : least(end, earliest_end(s, a) - 1);
    }
  }
  return end;
}

/* Moves the moment of a task to where there is room for it. */
static void move_moment(fs_learner *s, const fs_learner_table *table, uint32_t task) {
  const fs_learner_task *a = &s->task[task];
  fs_side_value room = table->capacity - a->amount;
  for (uint32_t side = 2 * a->item; side <= 2 * a->item + 1; side++) {
    bool upper = side & 1;
    while (!s->conflict && s->status == FSCHED_OK) {
      fs_side_value at = upper ? fs_latest(s, a->item) : fs_earliest(s, a->item);
      s->work += table->task1 - table->task0;
      if (height_over(s, table, at, at) <= room) {
        break;
      }
      fs_side_value end = end_of_those(s, table, at, upper);
      fs_learner_grow(s, side, upper ? 1 - end : end + 1, FS_BY_MOMENT, task, at);
    }
  }
}

static void explain_moment(fs_learner *s, const fs_growth *g, fs_side_value value) {
  const fs_learner_table *table = &s->table[s->task[g->reason].table];
  bool upper = g->side & 1;
  fs_side_value from = upper ? 1 - value : g->at, to = upper ? g->at : value - 1;
  fs_side_value room = table->capacity - s->task[g->reason].amount;
  fs_side_value spare = height_over(s, table, from, to) - room - 1;
  assert(from <= to && spare >= 0);
  add_premise(s, g->side, upper ? -g->at : g->at);
  for (uint32_t k = table->task0; k < table->task1; k++) {
    const fs_learner_task *a = &s->task[k];
    if (!runs_over(s, a, from, to)) {
      continue;
    }
    if (a->amount <= spare) {
      spare -= a->amount;
      continue;
    }
    add_literal(s, ends_behind(a, to));
    add_literal(s, begun_by(a, from - 1));
  }
}

/* ---- time tables as a whole */

static void look_at_table(fs_learner *s, const fs_learner_table *table) {
  fs_side_value highest;
  uint32_t n = make_steps(s, table, &highest);
  if (highest > table->capacity) {
    for (uint32_t k = 0; k < n; k++) {
      if (s->step[k].height > table->capacity) {
        clash_at(s, table, s->step[k].time);
        return;
      }
    }
  }
  for (uint32_t k = table->task0; k < table->task1 && !s->conflict; k++) {
    const fs_learner_task *a = &s->task[k];
    if (highest + a->amount <= table->capacity || fs_is_false(s, a->only_if)) {
      continue;
    }
    if (a->item == a->end && a->length == 0) {
      move_moment(s, table, k);
      continue;
    }
    if (!fs_is_true(s, a->only_if)) {
      take_away(s, table, k, n);
    }
    if (!s->conflict && !fs_is_false(s, a->only_if) &&
        (a->item != a->end || fs_earliest(s, a->item) < fs_latest(s, a->item))) {
      push_right(s, table, k, n);
      if (!s->conflict) {
        push_left(s, table, k, n);
      }
    }
  }
}

/* ---- all rules */

static void wake_tables(fs_learner *s, uint32_t variable) {
  for (uint32_t k = s->task0[variable]; k < s->task0[variable + 1]; k++) {
    uint32_t t = s->task[s->task_of[k]].table;
    if (!s->table[t].waits) {
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
    follow_pairs(s, variable);
  }
}

/* Something that is there now may come into the way of others, as its bounds did not before. */
static void meet(fs_learner *s, uint32_t k) {
  for (uint32_t i = s->owned0[k]; i < s->owned0[k + 1]; i++) {
    fs_learner_open(s, s->owned[i]);
    if (s->owned[i] < s->n && !s->conflict) {
      follow_pairs(s, s->owned[i]);
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
  if (g.side / 2 < fs_first_order(s)) {
    wake_tables(s, g.side / 2);
  }
}

static bool is_tired(const fs_learner *s) { return s->most_work > 0 && s->work >= s->most_work; }

void fs_learner_propagate(fs_learner *s) {
  while (!s->conflict && s->status == FSCHED_OK) {
    if (s->visited < s->trail.n) {
      visit(s);
    } else if (s->waiting.n > 0 && !s->edges_first && !is_tired(s)) {
      uint32_t t = s->waiting.at[--s->waiting.n];
      s->table[t].waits = false;
      (s->table[t].turns ? fs_learner_look_at_sets : look_at_table)(s, &s->table[t]);
    } else {
      break;
    }
  }
  if (s->conflict) {
    for (size_t k = 0; k < s->waiting.n; k++) {
      s->table[s->waiting.at[k]].waits = false;
    }
    s->waiting.n = 0;
  }
}

/* It would have to be where it cannot be. */
static void explain_cross(fs_learner *s, const fs_growth *g) {
  fs_growth crossing = s->crossing.at[g->reason];
  add_premise(s, crossing.side ^ 1, g->at);
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
      explain_table(s, g, value);
      break;
    case FS_BY_MOMENT:
      explain_moment(s, g, value);
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
