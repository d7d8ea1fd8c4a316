/* SPDX-License-Identifier: Apache-2.0 */
/* Time tables whose heights are kept per time, where times are few: what surely runs is added and
 * taken away as windows grow and are undone, so that a look is at what has changed alone: tasks
 * that have moved, and those whose first or last place lies where a height has grown.  Rules and
 * premises are those of tables.c. */
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

fs_status fs_learner_make_heights(fs_learner *s, fs_tick makespan) {
  assert(!s->has_heights && s->level.n == 0);
  fs_tick cells = makespan / s->unit + 1;
  s->has_heights = true;
  if (s->p->spilling != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(s->arena, &s->is_moved, s->n_tasks));
  FS_TRY(fs_new(s->arena, &s->looked_at, s->n_tasks));
  for (uint32_t k = 0; k < s->n_tables; k++) {
    fs_learner_table *t = &s->table[k];
    if (is_for_heights(s, t, cells)) {
      FS_TRY(fs_new(s->arena, &t->moved, t->task1 - t->task0));
      FS_TRY(fs_new_zero(s->arena, &t->height, cells));
      t->cells = (fs_side_value)cells;
      fs_learner_rest(s, t);
    }
  }
  return FSCHED_OK;
}

/* The table has nothing to look at. */
void fs_learner_rest(fs_learner *s, fs_learner_table *t) {
  t->waits = false;
  for (uint32_t k = 0; k < t->n_moved; k++) {
    s->is_moved[t->moved[k]] = 0;
  }
  t->n_moved = 0;
  t->grown_from = t->cells;
  t->grown_to = 0;
}

/* ---- growths */

typedef struct span {
  fs_side_value from, to;
} span;

/* The times in which the task surely runs, and did not before this growth. */
static span sure_more(const fs_learner *s, const fs_learner_task *a, const fs_growth *g) {
  if ((g->side & 1) == 0) {
    return (span){fs_most_value(fs_latest(s, a->item), g->old + a->length), g->value + a->length};
  }
  return (span){-g->value, fs_least_value(-g->old, fs_earliest(s, a->item) + a->length)};
}

void fs_learner_raise(fs_learner *s, const fs_growth *g) {
  for (uint32_t i = s->task0[g->side / 2]; i < s->task0[g->side / 2 + 1]; i++) {
    uint32_t task = s->task_of[i];
    const fs_learner_task *a = &s->task[task];
    fs_learner_table *t = &s->table[a->table];
    if (t->height == NULL) {
      continue;
    }
    span more = sure_more(s, a, g);
    if (more.from < more.to) {
      assert(more.from >= 0 && more.to <= t->cells);
      for (fs_side_value at = more.from; at < more.to; at++) {
        t->height[at] += a->amount;
      }
      t->grown_from = fs_least_value(t->grown_from, more.from);
      t->grown_to = fs_most_value(t->grown_to, more.to);
    }
    if (!s->is_moved[task]) {
      s->is_moved[task] = 1;
      t->moved[t->n_moved++] = task;
    }
    if (!t->waits) {
      t->waits = true;
      fs_learner_note(s, fs_vec_push(s->ctx, &s->waiting, a->table));
    }
  }
}

void fs_learner_lower(fs_learner *s, const fs_growth *g) {
  for (uint32_t i = s->task0[g->side / 2]; i < s->task0[g->side / 2 + 1]; i++) {
    const fs_learner_task *a = &s->task[s->task_of[i]];
    const fs_learner_table *t = &s->table[a->table];
    span more = t->height == NULL ? (span){0, 0} : sure_more(s, a, g);
    for (fs_side_value at = more.from; at < more.to; at++) {
      t->height[at] -= a->amount;
    }
  }
}

/* ---- looks */

/* Moves the earliest start behind the last time of its first place that leaves no room. */
static void push_up(fs_learner *s, const fs_learner_table *t, uint32_t task) {
  const fs_learner_task *a = &s->task[task];
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
    fs_learner_grow(s, 2 * a->item, at + 1, FS_BY_TABLE, task, at);
  }
}

/* The same of the latest start. */
static void push_down(fs_learner *s, const fs_learner_table *t, uint32_t task) {
  const fs_learner_task *a = &s->task[task];
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
    fs_learner_grow(s, 2 * a->item + 1, a->length - at, FS_BY_TABLE, task, at);
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
    const fs_learner_task *a = &s->task[k];
    fs_side_value early = fs_earliest(s, a->item), late = fs_latest(s, a->item);
    if (highest + a->amount <= t->capacity || early >= late || late + a->length <= grown.from ||
        early >= grown.to) {
      continue;
    }
    if (fs_least_value(early + a->length, late) > grown.from) {
      push_up(s, t, k);
    }
    if (fs_most_value(early + a->length, late) < grown.to && !s->conflict) {
      push_down(s, t, k);
    }
  }
}

void fs_learner_look_at_heights(fs_learner *s, fs_learner_table *t) {
  span grown = {t->grown_from, t->grown_to};
  uint32_t n = t->n_moved;
  memcpy(s->looked_at, t->moved, n * sizeof *t->moved);
  fs_learner_rest(s, t);
  if (grown.from < grown.to) {
    fs_side_value at = find_highest(t, grown), highest = t->height[at];
    if (highest > t->capacity) {
      fs_learner_clash_at(s, t, at);
      return;
    }
    if (highest + t->most > t->capacity) {
      look_at_grown(s, t, grown, highest);
    }
  }
  s->work += n;
  for (uint32_t k = 0; k < n && !s->conflict; k++) {
    const fs_learner_task *a = &s->task[s->looked_at[k]];
    if (fs_earliest(s, a->item) < fs_latest(s, a->item)) {
      push_up(s, t, s->looked_at[k]);
      if (!s->conflict) {
        push_down(s, t, s->looked_at[k]);
      }
    }
  }
}
