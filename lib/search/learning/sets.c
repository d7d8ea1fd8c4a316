/* SPDX-License-Identifier: Apache-2.0 */
/* What follows for sets of items that take turns.
 *
 * The items W that start at a or later and end by b take too long together: a clash.  With one more
 * item i, that starts at a or later, they do not end by b: so i is behind all of W (edge finding),
 * and starts no earlier than any of them can have ended, as many as start at c or later.
 *
 *      s_j >= a and e_j <= b for j in W,  s_i >= a,  a + time(W) + time(i) > b
 *      s_j >= c for j in V, a part of W
 *          ->  s_i >= c + time(V)
 *
 * The same holds with time turned, where a start is the end with its sign turned; all times below
 * are of one direction.  O(n^2) for n items.
 *
 * Source: Carlier, Pinson (1989); Vilim, Computing explanations for the unary resource constraint
 * (2005), for explanations: what b leaves unused is given back, as b is no more than it has to be.
 */
#include "search/learning/learner.h"

typedef struct set_rule {
  fs_learner *s;
  const fs_learner_table *table;
  bool turned;
} set_rule;

static fs_side_value takes(const set_rule *r, uint32_t item) {
  return fs_learner_takes(r->s, r->table, item);
}

static fs_side_value begin_of(const set_rule *r, uint32_t item) {
  const fs_learner *s = r->s;
  return r->turned ? s->value[2 * item + 1] - takes(r, item) : s->value[2 * item];
}

static fs_side_value end_of(const set_rule *r, uint32_t item) {
  const fs_learner *s = r->s;
  return r->turned ? -s->value[2 * item] : takes(r, item) - s->value[2 * item + 1];
}

/* s_item >= begin. */
static fs_literal begins_at(const set_rule *r, uint32_t item, fs_side_value begin) {
  return (fs_literal){2 * item + r->turned, r->turned ? begin + takes(r, item) : begin};
}

/* e_item <= end. */
static fs_literal ends_by(const set_rule *r, uint32_t item, fs_side_value end) {
  return (fs_literal){2 * item + !r->turned, r->turned ? -end : takes(r, item) - end};
}

static void add(fs_learner *s, fs_literal l) {
  fs_learner_note(s, fs_vec_push(s->ctx, &s->premise, l));
}

/* Sorts the items of the table by their begins, the last one first; they are almost in order. */
static uint32_t *sort_items(const set_rule *r) {
  uint32_t *item = r->s->in_order + 2 * (size_t)r->table->task0;
  uint32_t n = r->table->task1 - r->table->task0;
  item += r->turned ? n : 0;
  for (uint32_t k = 1; k < n; k++) {
    uint32_t i = item[k], at = k;
    fs_side_value begin = begin_of(r, i);
    for (; at > 0 && begin_of(r, item[at - 1]) < begin; at--) {
      item[at] = item[at - 1];
    }
    item[at] = i;
  }
  return item;
}

/* The premises of the items but one that begin at `begin` or later and end by `end`; returns their
 * time. */
static fs_side_value add_set(const set_rule *r, const fs_learner_set *set, uint32_t but,
                             fs_side_value more) {
  fs_learner *s = r->s;
  fs_side_value sum = 0;
  for (uint32_t k = r->table->task0; k < r->table->task1; k++) {
    uint32_t i = s->task[k].item;
    bool in = i != but && begin_of(r, i) >= set->begin && end_of(r, i) <= set->end;
    sum += in ? takes(r, i) : 0;
  }
  fs_side_value end = set->begin + sum + more - 1;
  for (uint32_t k = r->table->task0; k < r->table->task1; k++) {
    uint32_t i = s->task[k].item;
    fs_side_value begin = begin_of(r, i);
    if (i != but && begin >= set->begin && end_of(r, i) <= set->end) {
      add(s, begins_at(r, i, begin >= set->from ? set->from : set->begin));
      add(s, ends_by(r, i, end));
    }
  }
  return sum;
}

static void clash_of_set(const set_rule *r, fs_side_value begin, fs_side_value end) {
  fs_learner *s = r->s;
  fs_learner_set set = {.begin = begin, .end = end, .from = begin};
  uint32_t table = (uint32_t)(r->table - s->table);
  s->crossed = (fs_growth){.side = FS_NONE, .cause = FS_BY_SET, .reason = table};
  s->premise.n = 0;
  (void)add_set(r, &set, FS_NONE, 0);
  s->conflict = true;
  s->clash.n = 0;
  for (size_t k = 0; k < s->premise.n; k++) {
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, s->premise.at[k]));
  }
}

void fs_learner_explain_set(fs_learner *s, const fs_growth *g) {
  const fs_learner_set set = s->set.at[g->reason];
  set_rule r = {s, &s->table[set.table], (g->side & 1) != 0};
  uint32_t item = g->side / 2;
  (void)add_set(&r, &set, item, takes(&r, item));
  add(s, begins_at(&r, item, set.begin));
}

static void push_behind(const set_rule *r, uint32_t item, fs_learner_set set, fs_side_value begin) {
  fs_learner *s = r->s;
  fs_literal l = begins_at(r, item, begin);
  if (fs_holds(s, l)) {
    return;
  }
  set.table = (uint32_t)(r->table - s->table);
  fs_learner_note(s, fs_vec_push(s->ctx, &s->set, set));
  if (s->status == FSCHED_OK) {
    fs_learner_grow(s, l.side, l.value, FS_BY_SET, (uint32_t)s->set.n - 1, 0);
  }
}

/* The sets of items that end by `end`. */
static void look_at_end(const set_rule *r, const uint32_t *item, fs_side_value end) {
  fs_learner *s = r->s;
  uint32_t n = r->table->task1 - r->table->task0, longest = FS_NONE;
  fs_side_value sum = 0, over = INT64_MIN, from = 0;
  s->work += n;
  for (uint32_t k = 0; k < n && !s->conflict; k++) {
    uint32_t i = item[k];
    fs_side_value begin = begin_of(r, i), time = takes(r, i);
    if (end_of(r, i) <= end) {
      sum += time;
      if (begin + sum > over) {
        over = begin + sum;
        from = begin;
      }
      if (begin + sum > end) {
        clash_of_set(r, begin, end);
        return;
      }
    } else if (longest == FS_NONE || time > takes(r, longest)) {
      longest = i;
    }
    if (longest != FS_NONE && sum > 0 && begin + sum + takes(r, longest) > end &&
        begin_of(r, longest) < over) {
      fs_learner_set set = {.begin = begin, .end = end, .from = from};
      push_behind(r, longest, set, over);
      return; /* begins have changed; the table waits again */
    }
  }
}

void fs_learner_look_at_sets(fs_learner *s, const fs_learner_table *table) {
  for (unsigned turned = 0; turned < 2 && !s->conflict; turned++) {
    set_rule r = {s, table, turned != 0};
    const uint32_t *item = sort_items(&r);
    size_t grown = s->trail.n;
    for (uint32_t k = table->task0; k < table->task1 && !s->conflict; k++) {
      look_at_end(&r, item, end_of(&r, s->task[k].item));
      if (s->trail.n != grown) {
        return;
      }
    }
  }
}
