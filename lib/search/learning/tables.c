/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from what the items of a table take.
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
  if (table->height != NULL) {
    assert(t >= 0 && t < table->cells);
    sum = table->height[t];
    return but != FS_NONE && runs_surely(s, &s->task[but], t) ? sum - s->task[but].amount : sum;
  }
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

static void add_literal(fs_learner *s, fs_literal l) { fs_learner_premise(s, l.side, l.value); }

/* The premises of some tasks that surely run at t and take more than `room` together, but for one
 * task.  Those that run there anyway are taken first. */
static void explain_height(fs_learner *s, const fs_learner_table *table, fs_side_value t,
                           fs_side_value room, uint32_t but) {
  if (table->height != NULL) {
    fs_learner_explain_heights(s, table, t, room, but);
    return;
  }
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
    fs_learner_condition(s, a->only_if);
  }
}

/* The task does not run at a moment: it begins behind it, or ends by then, or is not there at all.
 * Where the value that is needed is less than the growth, a moment that is less far may do. */
void fs_learner_explain_table(fs_learner *s, const fs_growth *g, fs_side_value value) {
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
    fs_learner_condition(s, a->only_if);
  }
  explain_height(s, table, at, room, g->reason);
}

void fs_learner_clash_at(fs_learner *s, const fs_learner_table *table, fs_side_value t) {
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

/* Lists the parts between two steps in which some task of the table has no room; returns their
 * number. */
static uint32_t list_full(fs_learner *s, const fs_learner_table *table, uint32_t n) {
  uint32_t n_full = 0;
  for (uint32_t k = 0; k + 1 < n; k++) {
    if (s->step[k].height + table->most > table->capacity) {
      s->full[n_full++] = (fs_full_part){s->step[k].time, s->step[k + 1].time, s->step[k].height};
    }
  }
  return n_full;
}

/* The first part that ends behind the time; their number: none does. */
static uint32_t first_behind(const fs_learner *s, uint32_t n, fs_side_value time) {
  uint32_t low = 0;
  while (n > 0) {
    uint32_t half = n / 2;
    bool by_then = s->full[low + half].to <= time;
    low += by_then ? half + 1 : 0;
    n = by_then ? n - half - 1 : half;
  }
  return low;
}

/* Moves the earliest begin of a task behind the full parts that leave it no room. */
static void push_right(fs_learner *s, const fs_learner_table *table, uint32_t task, uint32_t n) {
  const fs_learner_task *a = &s->task[task];
  fs_side_value sure = latest_begin(s, a), early = fs_earliest(s, a->item) + a->delay;
  for (uint32_t k = first_behind(s, n, early); k < n && !s->conflict; k++) {
    fs_side_value from = s->full[k].from;
    if (from >= earliest_end(s, a) || from >= sure) {
      return;
    }
    if (s->full[k].height + a->amount <= table->capacity) {
      continue;
    }
    fs_side_value to = fs_least_value(s->full[k].to, sure); /* what it surely runs in is counted */
    while (early < fs_least_value(to, earliest_end(s, a)) && earliest_end(s, a) > from &&
           !s->conflict) {
      fs_side_value at = fs_least_value(to, earliest_end(s, a)) - 1;
      fs_learner_grow(s, 2 * a->item, at + 1 - a->delay, FS_BY_TABLE, task, at);
      if (fs_is_false(s, s->owner[a->item])) {
        return;
      }
      early = fs_earliest(s, a->item) + a->delay;
    }
  }
}

/* Moves the latest end of a task before the full parts that leave it no room. */
static void push_left(fs_learner *s, const fs_learner_table *table, uint32_t task, uint32_t n) {
  const fs_learner_task *a = &s->task[task];
  fs_side_value sure = earliest_end(s, a), late = fs_latest(s, a->end) + a->length;
  for (uint32_t k = fs_min(n, first_behind(s, n, late - 1) + 1); k-- > 0 && !s->conflict;) {
    fs_side_value to = s->full[k].to;
    if (to <= latest_begin(s, a) || to <= sure) {
      return;
    }
    if (s->full[k].from >= late || s->full[k].height + a->amount <= table->capacity) {
      continue;
    }
    fs_side_value from = fs_most_value(s->full[k].from, sure);
    while (late > fs_most_value(from, latest_begin(s, a)) && latest_begin(s, a) < to &&
           !s->conflict) {
      fs_side_value at = fs_most_value(from, latest_begin(s, a));
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
  for (uint32_t k = first_behind(s, n, begin); k < n && s->full[k].from < end; k++) {
    fs_side_value at = fs_most_value(begin, s->full[k].from);
    if (s->full[k].height + a->amount > table->capacity &&
        at < fs_least_value(end, s->full[k].to)) {
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
      end = upper ? fs_most_value(end, latest_begin(s, a) + 1)
                  : fs_least_value(end, earliest_end(s, a) - 1);
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

void fs_learner_explain_moment(fs_learner *s, const fs_growth *g, fs_side_value value) {
  const fs_learner_table *table = &s->table[s->task[g->reason].table];
  bool upper = g->side & 1;
  fs_side_value from = upper ? 1 - value : g->at, to = upper ? g->at : value - 1;
  fs_side_value room = table->capacity - s->task[g->reason].amount;
  fs_side_value spare = height_over(s, table, from, to) - room - 1;
  assert(from <= to && spare >= 0);
  fs_learner_premise(s, g->side, upper ? -g->at : g->at);
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

static void clash_at_first(fs_learner *s, const fs_learner_table *table) {
  uint32_t k = 0;
  while (s->step[k].height <= table->capacity) {
    k++;
  }
  fs_learner_clash_at(s, table, s->step[k].time);
}

static void look_at_task(fs_learner *s, const fs_learner_table *table, uint32_t task,
                         uint32_t n_full) {
  const fs_learner_task *a = &s->task[task];
  if (a->item == a->end && a->length == 0) {
    move_moment(s, table, task);
    return;
  }
  if (!fs_is_true(s, a->only_if)) {
    take_away(s, table, task, n_full);
  }
  if (s->conflict || fs_is_false(s, a->only_if) ||
      (a->item == a->end && fs_earliest(s, a->item) >= fs_latest(s, a->item))) {
    return;
  }
  if (may_move(s, a, a->item)) {
    push_right(s, table, task, n_full);
  }
  if (!s->conflict && may_move(s, a, a->end)) {
    push_left(s, table, task, n_full);
  }
}

void fs_learner_look_at_table(fs_learner *s, const fs_learner_table *table) {
  fs_side_value highest;
  uint32_t n = make_steps(s, table, &highest);
  if (highest > table->capacity) {
    clash_at_first(s, table);
    return;
  }
  if (highest + table->most <= table->capacity) {
    return;
  }
  uint32_t n_full = list_full(s, table, n);
  for (uint32_t k = table->task0; k < table->task1 && !s->conflict; k++) {
    const fs_learner_task *a = &s->task[k];
    if (highest + a->amount > table->capacity && !fs_is_false(s, a->only_if)) {
      look_at_task(s, table, k, n_full);
    }
  }
}
