/* SPDX-License-Identifier: Apache-2.0 */
/* What items hold while they run: resources, concurrency, and queues.
 *
 *   sum(i) use[i] * a[i,t] <= capacity      a[i,t] = sum(tau = t-d+1 .. t) x[i,tau]
 *
 * for each t.  Queues of a class are a capacity, too: intervals of which no more than m overlap can
 * be put on m queues.  An item that takes no time is in none of these rows; it has rows of its own,
 * with all items that run over the instant at which it starts (but no other items that take no
 * time). */
#include "ilp/time/private.h"

/* A sum with an upper bound. */
typedef struct bounded {
  const char *name;
  uint32_t id, n;
  uint32_t *item, *choice;
  uint64_t *use;
  uint64_t capacity;
} bounded;

static fs_status bounded_init(fs_time_model *t, fs_arena *arena, bounded *b) {
  FS_TRY(fs_new(arena, &b->item, t->n_near));
  FS_TRY(fs_new(arena, &b->choice, t->n_near));
  return fs_new(arena, &b->use, t->n_near);
}

static void bounded_add(bounded *b, uint32_t item, uint32_t choice, uint64_t use) {
  if (use > 0) {
    b->item[b->n] = item;
    b->choice[b->n] = choice;
    b->use[b->n++] = use;
  }
}

/* Divides by the greatest common divisor; false when the capacity cannot be exceeded. */
static bool scale(bounded *b) {
  uint64_t sum = 0, unit = 0;
  for (uint32_t k = 0; k < b->n; k++) {
    sum = sum > UINT64_MAX - b->use[k] ? UINT64_MAX : sum + b->use[k];
    unit = fs_common_divisor(unit, b->use[k]);
  }
  if (sum <= b->capacity) {
    return false;
  }
  for (uint32_t k = 0; k < b->n; k++) {
    b->use[k] /= unit;
  }
  b->capacity /= unit;
  return true;
}

static int64_t whole(uint64_t a) { return (int64_t)fs_min(a, INT64_MAX / 4); }

static fs_status slot_row(fs_time_model *t, const bounded *b, fs_tick at, bool *before) {
  bool kept;
  FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, whole(b->capacity), "%s_%u_%llu", b->name, b->id,
                            (unsigned long long)at));
  for (uint32_t k = 0; k < b->n; k++) {
    FS_TRY(fs_time_add_active(t, b->item[k], b->choice[k], at, false, whole(b->use[k])));
  }
  FS_TRY(fs_time_end_row(t, &kept));
  fs_time_drop_weaker(t, before, kept);
  return FSCHED_OK;
}

/* Makes the rows of item k of the sum, which takes no time. */
static fs_status instant_rows(fs_time_model *t, const bounded *b, uint32_t k) {
  const fs_time_item *x = &t->item[b->item[k]];
  bool kept, before = false;
  for (fs_tick at = fs_max(x->est, t->from); at <= fs_min(x->lst, t->to) && !t->full; at++) {
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, whole(b->capacity), "%s_%u_%llu_%u", b->name,
                              b->id, (unsigned long long)at, b->item[k]));
    FS_TRY(fs_time_add_start(t, b->item[k], b->choice[k], at, at, whole(b->use[k])));
    for (uint32_t i = 0; i < b->n; i++) {
      FS_TRY(fs_time_add_active(t, b->item[i], b->choice[i], at, true, whole(b->use[i])));
    }
    FS_TRY(fs_time_end_row(t, &kept));
    fs_time_drop_weaker(t, &before, kept);
  }
  return FSCHED_OK;
}

static fs_status bounded_rows(fs_time_model *t, bounded *b) {
  bool before = false;
  if (!scale(b)) {
    return FSCHED_OK;
  }
  for (fs_tick at = t->from; at < t->to && !t->full; at++) {
    FS_TRY(slot_row(t, b, at, &before));
  }
  for (uint32_t k = 0; k < b->n && !t->full; k++) {
    if (t->item[b->item[k]].time == 0) {
      FS_TRY(instant_rows(t, b, k));
    }
  }
  return FSCHED_OK;
}

static fs_status amount(fs_time_model *t, fs_arena *arena, uint32_t id) {
  const fs_problem *p = t->p;
  bounded b = {.name = "use", .id = id, .capacity = p->amount_capacity[id]};
  FS_TRY(bounded_init(t, arena, &b));
  for (uint32_t k = 0; k < t->n_near; k++) {
    uint32_t item = t->near[k];
    for (uint32_t u = p->use0[item]; u < p->use0[item + 1]; u++) {
      if (p->use[u] == id) {
        bounded_add(&b, item, FS_NONE, p->use_amount[u]);
      }
    }
  }
  FS_TRY(fs_model_add_note(&t->m, "use_%u_t: what is held of %s at t", id,
                           p->amount_name[id] == NULL ? "an amount" : p->amount_name[id]));
  return bounded_rows(t, &b);
}

static fs_status class_of_queues(fs_time_model *t, fs_arena *arena, uint32_t id) {
  const fs_problem *p = t->p;
  bounded b = {.name = "queue", .id = id, .capacity = p->class_size[id]};
  FS_TRY(bounded_init(t, arena, &b));
  for (uint32_t k = 0; k < t->n_near; k++) {
    uint32_t item = t->near[k];
    const fs_time_item *x = &t->item[item];
    for (uint32_t c = p->choice0[item]; c < p->choice0[item + 1]; c++) {
      bool open = x->n_choices > 1, mine = p->choice[c] == id;
      if (mine && (open || p->gang[item] || x->known == id)) {
        bounded_add(&b, item, open ? c - p->choice0[item] : FS_NONE,
                    p->gang[item] ? p->class_size[id] : 1);
      }
    }
  }
  return bounded_rows(t, &b);
}

fs_status fs_time_amounts(fs_time_model *t) {
  FS_SCRATCH(arena, t->m.ctx);
  for (uint32_t a = 0; a < t->p->n_amounts && !t->full; a++) {
    fs_arena_mark mark = fs_arena_set_mark(&arena);
    FS_TRY(amount(t, &arena, a));
    fs_arena_reset(&arena, mark);
  }
  for (uint32_t c = 0; c < t->p->n_classes && !t->full; c++) {
    fs_arena_mark mark = fs_arena_set_mark(&arena);
    FS_TRY(class_of_queues(t, &arena, c));
    fs_arena_reset(&arena, mark);
  }
  return FSCHED_OK;
}
