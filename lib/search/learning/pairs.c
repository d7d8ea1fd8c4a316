/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of items that cannot run at one time, and variables of their order. */
#include "problem/spilling/spilling.h"
#include "search/learning/learner.h"

/* The most pairs that get an order where no table asks for it. */
enum { MOST_ORDERS = 1 << 14 };

#define WHOLE_PAIR (UINT32_C(1) << 31) /* items of pairs are fewer */

/* Does the item take this as long as it runs, if it is there? */
static bool takes_always(const fs_learner *s, const fs_learner_task *t) {
  uint32_t only_if = s->p->spilling == NULL ? FS_NONE : s->p->spilling->item_if[t->item];
  return t->item == t->end &&
         t->only_if == (only_if == FS_NONE ? FS_NONE : fs_bool_variable(s, only_if));
}

/* Can the items not run at one time?  `amount`: what the first takes of each table.  *whole: by
 * what is not queues. */
static bool exclude(const fs_learner *s, const fs_side_value *amount, uint32_t other, bool *whole) {
  bool exclude = false;
  *whole = false;
  for (uint32_t k = s->task0[other]; k < s->task0[other + 1] && !*whole; k++) {
    const fs_learner_task *t = &s->task[s->task_of[k]];
    if (takes_always(s, t) && amount[t->table] > 0 &&
        amount[t->table] + t->amount > s->table[t->table].capacity) {
      exclude = true;
      *whole = !s->table[t->table].queues;
    }
  }
  return exclude;
}

/* Lists the pairs, with WHOLE_PAIR where that says something. */
static fs_status fill_pairs(fs_learner *s, fs_ids *list) {
  fs_side_value *amount;
  FS_TRY(fs_new_zero(s->arena, &amount, s->n_tables));
  for (uint32_t i = 0; i < s->n; i++) {
    s->pair0[i] = (uint32_t)list->n;
    for (uint32_t k = s->task0[i]; k < s->task0[i + 1]; k++) {
      const fs_learner_task *t = &s->task[s->task_of[k]];
      amount[t->table] = takes_always(s, t) ? t->amount : 0;
    }
    for (uint32_t j = 0; j < s->n && s->n <= FS_LEARNER_MOST; j++) {
      bool moments = s->time[i] == 0 && s->time[j] == 0, whole;
      if (j != i && !moments && exclude(s, amount, j, &whole)) {
        FS_TRY(fs_vec_push(s->ctx, list, whole ? j | WHOLE_PAIR : j));
      }
    }
    for (uint32_t k = s->task0[i]; k < s->task0[i + 1]; k++) {
      amount[s->task[s->task_of[k]].table] = 0;
    }
  }
  s->pair0[s->n] = (uint32_t)list->n;
  FS_TRY(fs_new(s->arena, &s->pair, list->n));
  FS_TRY(fs_new(s->arena, &s->pair_whole, list->n));
  for (size_t k = 0; k < list->n; k++) {
    s->pair[k] = list->at[k] & ~WHOLE_PAIR;
    s->pair_whole[k] = (list->at[k] & WHOLE_PAIR) != 0;
  }
  return FSCHED_OK;
}

static fs_status make_pairs(fs_learner *s) {
  fs_ids list = {0};
  FS_TRY(fs_new(s->arena, &s->pair0, (size_t)s->n + 1));
  fs_status status = fill_pairs(s, &list);
  fs_vec_free(s->ctx, &list);
  return status;
}

/* Do the tasks of the table take turns?  Then pairs say all that it does. */
static bool takes_turns(const fs_learner *s, const fs_learner_table *t) {
  fs_side_value least = t->capacity, second = t->capacity;
  for (uint32_t k = t->task0; k < t->task1; k++) {
    fs_side_value amount = s->task[k].amount;
    if (s->task[k].only_if != FS_NONE || s->task[k].item != s->task[k].end) {
      return false;
    }
    second = fs_min(second, fs_max(least, amount));
    least = fs_min(least, amount);
  }
  return s->n <= FS_LEARNER_MOST && t->task1 - t->task0 > 1 && least + second > t->capacity;
}

static bool is_ordered(const fs_learner *s, uint32_t a, uint32_t b) {
  for (uint32_t e = s->p->succ0[a]; e < s->p->succ0[a + 1]; e++) {
    if (s->p->succ[e] == b) {
      return true;
    }
  }
  return false;
}

static uint32_t pair_of(const fs_learner *s, uint32_t a, uint32_t b) {
  uint32_t k = s->pair0[a];
  while (s->pair[k] != b) {
    k++;
  }
  return k;
}

static void order_pairs(fs_learner *s, uint32_t item, const uint8_t *turns) {
  for (uint32_t k = s->pair0[item]; k < s->pair0[item + 1]; k++) {
    uint32_t other = s->pair[k];
    if (other > item && turns[other] && s->pair_order[k] == FS_NONE &&
        !is_ordered(s, item, other) && !is_ordered(s, other, item)) {
      s->order_first[s->n_orders] = item;
      s->order_second[s->n_orders] = other;
      s->pair_order[k] = s->pair_order[pair_of(s, other, item)] = s->n_orders++;
    }
  }
}

/* Other pairs that exclude each other have an order, too: so clauses learn of it, and not of one
 * start for each other one (a third fewer conflicts of projects). */
static void order_others(fs_learner *s, uint8_t *turns) {
  memset(turns, 1, s->n * sizeof *turns);
  for (uint32_t i = 0; i < s->n; i++) {
    order_pairs(s, i, turns);
  }
}

/* Gives pairs of items that take turns on some table a variable for their order. */
static fs_status make_orders(fs_learner *s) {
  uint32_t most = s->pair0[s->n];
  uint8_t *turns; /* per item: it takes turns on the table */
  FS_TRY(fs_new_none(s->arena, &s->pair_order, most));
  FS_TRY(fs_new(s->arena, &s->order_first, most / 2 + 1));
  FS_TRY(fs_new(s->arena, &s->order_second, most / 2 + 1));
  FS_TRY(fs_new_zero(s->arena, &turns, s->n));
  FS_TRY(fs_new(s->arena, &s->in_order, 2 * (size_t)s->n_tasks + 1));
  for (uint32_t t = 0; t < s->n_tables; t++) {
    uint32_t from = s->table[t].task0, n = s->table[t].task1 - from;
    for (uint32_t k = 0; k < 2 * n; k++) {
      s->in_order[2 * (size_t)from + k] = s->task[from + k % n].item;
    }
  }
  for (uint32_t t = 0; t < s->n_tables; t++) {
    s->table[t].turns = takes_turns(s, &s->table[t]);
    for (uint32_t k = s->table[t].task0; s->table[t].turns && k < s->table[t].task1; k++) {
      turns[s->task[k].item] = 1;
    }
    for (uint32_t k = s->table[t].task0; s->table[t].turns && k < s->table[t].task1; k++) {
      order_pairs(s, s->task[k].item, turns);
    }
    for (uint32_t k = s->table[t].task0; s->table[t].turns && k < s->table[t].task1; k++) {
      turns[s->task[k].item] = 0;
    }
  }
  s->n_turn_orders = s->n_orders;
  if (s->p->spilling == NULL && most / 2 <= MOST_ORDERS && s->n > 0) {
    order_others(s, turns);
  }
  return FSCHED_OK;
}

fs_status fs_learner_make_pairs(fs_learner *s) {
  assert(s->table != NULL && s->task0 != NULL);
  FS_TRY(make_pairs(s));
  return make_orders(s);
}
