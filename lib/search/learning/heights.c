/* SPDX-License-Identifier: Apache-2.0 */
/* Time tables whose heights are kept per time, where times are few: what surely runs is added and
 * taken away as windows grow and are undone, so that a look is at what has changed alone: tasks
 * that have moved, and those whose first or last place lies where a height has grown.  Rules and
 * premises are those of tables.c. */
#include "base/radix.h"
#include "base/saturate.h"
#include "search/learning/learner.h"

/* The most times of all tables, and the longest tasks in the mean. */
enum { MOST_CELLS = 1 << 17, MOST_MEAN = 64 };

static bool is_for_heights(const fs_learner *s, const fs_learner_table *t, fs_tick cells) {
  fs_tick sum = 0;
  for (uint32_t k = t->task0; k < t->task1; k++) {
    const fs_learner_task *a = &s->task[k];
    if (a->length == 0) { /* its rule is about more than heights */
      return false;
    }
    sum = fs_add_most(sum, (uint64_t)a->length);
  }
  return !t->turns && cells <= MOST_CELLS / s->n_tables && t->task0 < t->task1 &&
         sum / (t->task1 - t->task0) <= MOST_MEAN;
}

/* The table has nothing to look at. */
static void rest(fs_learner_table *t) {
  t->waits = false;
  t->grown_from = t->cells;
  t->grown_to = 0;
}

/* Notes what looks and growths need of the tasks, side by side. */
static fs_status note_plain(fs_learner *s) {
  uint32_t n = s->n_tasks;
  uint64_t *key;
  FS_TRY(fs_new(s->arena, &s->plain, n));
  FS_TRY(fs_new(s->arena, &s->by_amount, n));
  FS_TRY(fs_new(s->arena, &s->of_item, n));
  FS_TRY(fs_new(s->arena, &key, 2 * (size_t)n));
  for (uint32_t k = 0; k < n; k++) {
    const fs_learner_task *a = &s->task[k];
    assert(a->item == a->end && a->delay == 0 && a->only_if == FS_NONE);
    s->plain[k] = (fs_plain_task){a->length, a->amount, a->item, k, a->table};
  }
  for (uint32_t i = 0; i < n; i++) { /* each task has one variable */
    s->of_item[i] = s->plain[s->task_of[i]];
  }
  for (uint32_t t = 0; t < s->n_tables; t++) {
    uint32_t from = s->table[t].task0, n_tasks = s->table[t].task1 - from;
    for (uint32_t k = 0; k < n_tasks; k++) {
      uint64_t less = (uint64_t)(s->table[t].most - s->plain[from + k].amount);
      key[k] = fs_min(less, UINT32_MAX) << 32 | (from + k);
    }
    fs_radix_sort_block(key, n_tasks);
    for (uint32_t k = 0; k < n_tasks; k++) {
      s->by_amount[from + k] = s->plain[(uint32_t)key[k]];
    }
  }
  return FSCHED_OK;
}

fs_status fs_learner_make_heights(fs_learner *s, fs_tick makespan) {
  assert(!s->has_heights && s->level.n == 0);
  fs_tick cells = makespan / s->unit + 1;
  s->has_heights = true;
  if (s->p->spilling != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(note_plain(s));
  FS_TRY(fs_new_zero(s->arena, &s->is_moved, s->n));
  FS_TRY(fs_new(s->arena, &s->moved, s->n));
  s->all_heights = true;
  for (uint32_t k = 0; k < s->n_tables; k++) {
    fs_learner_table *t = &s->table[k];
    if (is_for_heights(s, t, cells)) {
      FS_TRY(fs_new_zero(s->arena, &t->height, cells));
      t->cells = (fs_side_value)cells;
      rest(t);
      s->any_heights = true;
    } else {
      s->all_heights = false;
    }
  }
  return FSCHED_OK;
}

void fs_learner_rest(fs_learner *s) {
  for (size_t k = 0; k < s->waiting.n; k++) {
    rest(&s->table[s->waiting.at[k]]);
  }
  for (uint32_t k = 0; k < s->n_moved; k++) {
    s->is_moved[s->moved[k]] = 0;
  }
  s->waiting.n = 0;
  s->n_moved = 0;
}

/* ---- growths */

typedef struct span {
  fs_side_value from, to;
} span;

/* The times in which a task of the length surely runs, and did not before this growth. */
static span sure_more(const fs_learner *s, fs_side_value length, const fs_growth *g) {
  fs_side_value other = s->value[g->side ^ 1];
  if ((g->side & 1) == 0) {
    return (span){fs_most_value(-other, g->old + length), g->value + length};
  }
  return (span){-g->value, fs_least_value(-g->old, other + length)};
}

/* Adds the amount; what has become so high that it may be in some task's way is to be looked at. */
static void raise_part(fs_learner *s, const fs_plain_task *a, span more) {
  fs_learner_table *t = &s->table[a->table];
  fs_side_value low = t->capacity - t->most, first = t->grown_from, last = t->grown_to;
  assert(more.from >= 0 && more.to <= t->cells);
  for (fs_side_value at = more.from; at < more.to; at++) {
    t->height[at] += a->amount;
    if (t->height[at] > low) {
      first = fs_least_value(first, at);
      last = fs_most_value(last, at + 1);
    }
  }
  t->grown_from = first;
  t->grown_to = last;
  if (first < last && !t->waits) {
    t->waits = true;
    fs_learner_note(s, fs_vec_push(s->ctx, &s->waiting, a->table));
  }
}

void fs_learner_raise(fs_learner *s, const fs_growth *g) {
  uint32_t item = g->side / 2;
  for (uint32_t i = s->task0[item]; i < s->task0[item + 1]; i++) {
    const fs_plain_task *a = &s->of_item[i];
    span more = sure_more(s, a->length, g);
    if (more.from < more.to && s->table[a->table].height != NULL) {
      raise_part(s, a, more);
    }
  }
  if (s->is_moved[item] == 0) {
    s->moved[s->n_moved++] = item;
  }
  s->is_moved[item] |= (uint8_t)(1 << (g->side & 1));
}

void fs_learner_lower(fs_learner *s, const fs_growth *g) {
  for (uint32_t i = s->task0[g->side / 2]; i < s->task0[g->side / 2 + 1]; i++) {
    const fs_plain_task *a = &s->of_item[i];
    span more = sure_more(s, a->length, g);
    if (more.from < more.to && s->table[a->table].height != NULL) {
      fs_side_value *height = s->table[a->table].height;
      for (fs_side_value at = more.from; at < more.to; at++) {
        height[at] -= a->amount;
      }
    }
  }
}

/* ---- premises */

static bool holds_from_root(const fs_learner *s, fs_literal l) {
  return fs_learner_growth(s, l.side, l.value) == FS_NONE;
}

void fs_learner_explain_heights(fs_learner *s, const fs_learner_table *t, fs_side_value at,
                                fs_side_value room, uint32_t but) {
  fs_side_value left = t->height[at];
  if (but != FS_NONE) {
    const fs_plain_task *a = &s->plain[but];
    bool runs = fs_latest(s, a->item) <= at && fs_earliest(s, a->item) + a->length > at;
    left -= runs ? a->amount : 0;
  }
  fs_side_value spare = left - room - 1;
  assert(spare >= 0);
  for (uint32_t k = t->task0; left > 0; k++) {
    assert(k < t->task1);
    const fs_plain_task *a = &s->plain[k];
    if (fs_latest(s, a->item) > at || fs_earliest(s, a->item) + a->length <= at || k == but) {
      continue;
    }
    left -= a->amount;
    fs_literal ends_behind = {2 * a->item, at - a->length + 1}, begun = {2 * a->item + 1, -at};
    if (a->amount <= spare && !(holds_from_root(s, ends_behind) && holds_from_root(s, begun))) {
      spare -= a->amount;
      continue;
    }
    fs_learner_premise(s, ends_behind.side, ends_behind.value);
    fs_learner_premise(s, begun.side, begun.value);
  }
}

/* ---- looks */

/* Moves the earliest start behind the last time of its first place that leaves no room. */
static void push_up(fs_learner *s, const fs_learner_table *t, const fs_plain_task *a) {
  fs_side_value room = t->capacity - a->amount;
  while (!s->conflict && s->status == FSCHED_OK) {
    fs_side_value early = fs_earliest(s, a->item);
    fs_side_value at = fs_least_value(early + a->length, fs_latest(s, a->item)) - 1;
    while (at >= early && t->height[at] <= room) {
      at--;
    }
    if (at < early) {
      return;
    }
    fs_learner_grow(s, 2 * a->item, at + 1, FS_BY_TABLE, a->task, at);
  }
}

/* The same of the latest start. */
static void push_down(fs_learner *s, const fs_learner_table *t, const fs_plain_task *a) {
  fs_side_value room = t->capacity - a->amount;
  while (!s->conflict && s->status == FSCHED_OK) {
    fs_side_value late = fs_latest(s, a->item) + a->length;
    fs_side_value at = fs_most_value(fs_latest(s, a->item), fs_earliest(s, a->item) + a->length);
    while (at < late && t->height[at] <= room) {
      at++;
    }
    if (at >= late) {
      return;
    }
    fs_learner_grow(s, 2 * a->item + 1, a->length - at, FS_BY_TABLE, a->task, at);
  }
}

/* The highest of the times; or, above the capacity, the first one that is. */
static fs_side_value find_highest(const fs_learner_table *t, span grown) {
  fs_side_value best = grown.from;
  for (fs_side_value at = grown.from; at < grown.to && t->height[best] <= t->capacity; at++) {
    best = t->height[at] > t->height[best] ? at : best;
  }
  return best;
}

/* Looks at the tasks for which there may be less room now. */
static void look_at_grown(fs_learner *s, const fs_learner_table *t, span grown,
                          fs_side_value highest) {
  s->work += t->task1 - t->task0;
  for (uint32_t k = t->task0; k < t->task1 && !s->conflict; k++) {
    const fs_plain_task *a = &s->by_amount[k];
    if (highest + a->amount <= t->capacity) {
      return;
    }
    fs_side_value early = fs_earliest(s, a->item), late = fs_latest(s, a->item);
    if (early >= late || late + a->length <= grown.from || early >= grown.to) {
      continue;
    }
    if (fs_least_value(early + a->length, late) > grown.from) {
      push_up(s, t, a);
    }
    if (fs_most_value(early + a->length, late) < grown.to && !s->conflict) {
      push_down(s, t, a);
    }
  }
}

void fs_learner_look_at_heights(fs_learner *s, fs_learner_table *t) {
  span grown = {t->grown_from, t->grown_to};
  rest(t);
  if (grown.from >= grown.to) {
    return;
  }
  fs_side_value at = find_highest(t, grown), highest = t->height[at];
  if (highest > t->capacity) {
    fs_learner_clash_at(s, t, at);
  } else {
    look_at_grown(s, t, grown, highest);
  }
}

/* Where an item has moved at one side only, the places of the other side have become fewer. */
void fs_learner_look_at_moved(fs_learner *s) {
  assert(s->n_moved > 0);
  uint32_t item = s->moved[--s->n_moved];
  uint8_t sides = s->is_moved[item];
  s->is_moved[item] = 0;
  s->work += s->task0[item + 1] - s->task0[item];
  for (uint32_t i = s->task0[item]; i < s->task0[item + 1] && !s->conflict; i++) {
    const fs_plain_task *a = &s->of_item[i];
    const fs_learner_table *t = &s->table[a->table];
    if (t->height == NULL || fs_earliest(s, item) >= fs_latest(s, item)) {
      continue;
    }
    if ((sides & 1) != 0) {
      push_up(s, t, a);
    }
    if ((sides & 2) != 0 && !s->conflict) {
      push_down(s, t, a);
    }
  }
}
