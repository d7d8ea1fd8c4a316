/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of queues for items whose starts are known: the classes of the answer if it has them.
 *
 * Otherwise they are found as follows.  Items without a choice, and gangs, have their classes.  The
 * other items are taken in order of start; each takes a class with room beside the items that run
 * or will run there, and among several the class on which the fewest items without a choice depend.
 * An item that finds no class is put in by force: the items in its way are taken out, those that
 * were taken out least often first, and have to find another class.  This is a heuristic: with
 * overlapping domains the question is NP-hard. */
#include "problem/answer/private.h"

typedef struct handing {
  fs_assembly *y;
  const fs_problem *p;
  uint32_t *class_of;
  uint32_t *position; /* per item: in by_start */
  uint32_t *forced;   /* per item: how often it was taken out */
  fs_ids *fixed;      /* per class: items without a choice, by start; a gang is in all of its own */
  uint32_t *next;     /* per class: the first of `fixed` that is still to come */
  fs_ids *live;       /* per class: items that may still run */
  fs_ids *list;       /* per class: all items that are in it */
  fs_ids homeless, soon;
  uint64_t steps;
} handing;

static fs_tick start_of(const handing *h, uint32_t item) {
  assert(item < h->p->n_items);
  return h->y->a->start[item];
}
static fs_tick end_of(const handing *h, uint32_t item) {
  return h->y->a->start[item] + h->p->time[item];
}
static uint64_t weight(const handing *h, uint32_t item, uint32_t class) {
  return h->p->gang[item] ? h->p->class_size[class] : 1;
}
static bool has_choice(const fs_problem *p, uint32_t item) {
  return !p->gang[item] && p->choice0[item + 1] - p->choice0[item] > 1;
}

/* ---- first pass: by start */

/* Brings `live` up to the start of the next item. */
static fs_status advance(handing *h, uint32_t class, uint32_t item) {
  fs_ids *live = &h->live[class];
  const fs_ids *fixed = &h->fixed[class];
  size_t n = 0;
  while (h->next[class] < fixed->n && h->position[fixed->at[h->next[class]]] < h->position[item]) {
    FS_TRY(fs_vec_push(h->p->ctx, live, fixed->at[h->next[class]++]));
  }
  for (size_t i = 0; i < live->n; i++) {
    if (end_of(h, live->at[i]) > start_of(h, item)) {
      live->at[n++] = live->at[i];
    }
  }
  live->n = n;
  return FSCHED_OK;
}

static uint64_t load_of(const handing *h, const fs_ids *list, uint32_t class, fs_tick now) {
  uint64_t load = 0;
  for (size_t i = 0; i < list->n; i++) {
    load += end_of(h, list->at[i]) > now ? weight(h, list->at[i], class) : 0;
  }
  return load;
}

/* Is there room in a class beside the items that run at the item's start, and at the start of each
 * later item without a choice that overlaps it? */
static fs_status room_now(handing *h, uint32_t class, uint32_t item, bool *room) {
  const fs_ids *fixed = &h->fixed[class];
  FS_TRY(advance(h, class, item));
  *room = load_of(h, &h->live[class], class, start_of(h, item)) < h->p->class_size[class];
  h->soon.n = 0;
  for (uint32_t i = h->next[class]; *room && i < fixed->n; i++) {
    uint32_t other = fixed->at[i];
    fs_tick at = start_of(h, other);
    if (at >= end_of(h, item)) {
      break;
    }
    uint64_t load = 1 + weight(h, other, class) + load_of(h, &h->live[class], class, at) +
                    load_of(h, &h->soon, class, at);
    *room = load <= h->p->class_size[class];
    FS_TRY(fs_vec_push(h->p->ctx, &h->soon, other));
  }
  return FSCHED_OK;
}

static fs_status put_item(handing *h, uint32_t class, uint32_t item) {
  assert(class < h->p->n_classes && item < h->p->n_items);
  h->class_of[item] = h->p->gang[item] ? FS_NONE : class;
  return fs_vec_push(h->p->ctx, &h->list[class], item);
}

static fs_status hand(handing *h, uint32_t item) {
  const fs_problem *p = h->p;
  uint32_t best = FS_NONE;
  for (uint32_t k = p->choice0[item]; k < p->choice0[item + 1]; k++) {
    uint32_t class = p->choice[k];
    bool room;
    FS_TRY(room_now(h, class, item, &room));
    if (room && (best == FS_NONE || h->fixed[class].n < h->fixed[best].n)) {
      best = class;
    }
  }
  if (best == FS_NONE) {
    return fs_vec_push(p->ctx, &h->homeless, item);
  }
  FS_TRY(put_item(h, best, item));
  return fs_vec_push(p->ctx, &h->live[best], item);
}

static fs_status hand_fixed(handing *h, uint32_t item) {
  const fs_problem *p = h->p;
  for (uint32_t k = p->choice0[item]; k < p->choice0[item + 1]; k++) {
    FS_TRY(put_item(h, p->choice[k], item));
    FS_TRY(fs_vec_push(p->ctx, &h->fixed[p->choice[k]], item));
  }
  return FSCHED_OK;
}

/* ---- second pass: by force */

/* The amount of a class that is held at `now`; with `inside`, by the items that began before. */
static uint64_t load_at(handing *h, uint32_t class, fs_tick now, bool inside) {
  uint64_t load = 0;
  const fs_ids *list = &h->list[class];
  h->steps += list->n;
  for (size_t i = 0; i < list->n; i++) {
    uint32_t x = list->at[i];
    bool begun = inside ? start_of(h, x) < now : start_of(h, x) <= now;
    load += begun && end_of(h, x) > now ? weight(h, x, class) : 0;
  }
  return load;
}

/* Is there room for an item as long as it runs?  Else *at is a time when there is not. */
static bool has_room(handing *h, uint32_t class, uint32_t item, fs_tick *at) {
  const fs_ids *list = &h->list[class];
  uint64_t most = h->p->class_size[class];
  fs_tick start = start_of(h, item), end = end_of(h, item);
  *at = start;
  if (load_at(h, class, start, start == end) >= most) {
    return false;
  }
  for (size_t i = 0; i < list->n; i++) {
    uint32_t other = list->at[i];
    *at = start_of(h, other);
    if (*at > start && *at < end) {
      bool instant = end_of(h, other) == *at;
      if (load_at(h, class, *at, instant) + (instant ? weight(h, other, class) : 0) >= most) {
        return false;
      }
    }
  }
  return true;
}

/* The item with a choice that runs at a time and was taken out least often; FS_NONE for none. */
static uint32_t victim(const handing *h, uint32_t class, fs_tick at) {
  const fs_ids *list = &h->list[class];
  uint32_t best = FS_NONE;
  for (size_t i = 0; i < list->n; i++) {
    uint32_t x = list->at[i];
    bool there = start_of(h, x) <= at && (end_of(h, x) > at || start_of(h, x) == at);
    if (there && has_choice(h->p, x) && (best == FS_NONE || h->forced[x] < h->forced[best])) {
      best = x;
    }
  }
  return best;
}

static void take_out(handing *h, uint32_t class, uint32_t item) {
  fs_ids *list = &h->list[class];
  size_t n = 0;
  for (size_t i = 0; i < list->n; i++) {
    if (list->at[i] != item) {
      list->at[n++] = list->at[i];
    }
  }
  list->n = n;
}

/* Takes the items in the way of an item out of a class; *cost grows by their number and by how
 * often they were taken out before, and is UINT64_MAX if that is not enough. */
static fs_status clear(handing *h, uint32_t class, uint32_t item, fs_ids *out, uint64_t *cost) {
  fs_tick at;
  while (*cost != UINT64_MAX && !has_room(h, class, item, &at)) {
    uint32_t x = victim(h, class, at);
    if (x == FS_NONE) {
      *cost = UINT64_MAX;
      break;
    }
    *cost += 1 + h->forced[x];
    take_out(h, class, x);
    FS_TRY(fs_vec_push(h->p->ctx, out, x));
  }
  return FSCHED_OK;
}

static fs_status try_clear(handing *h, uint32_t class, uint32_t item, uint64_t *cost) {
  h->soon.n = 0;
  *cost = 0;
  FS_TRY(clear(h, class, item, &h->soon, cost));
  for (size_t i = 0; i < h->soon.n; i++) {
    FS_TRY(put_item(h, class, h->soon.at[i]));
  }
  return FSCHED_OK;
}

/* Puts an item into the class where this costs least; *done is false when no class can take it. */
static fs_status force(handing *h, uint32_t item, bool *done) {
  const fs_problem *p = h->p;
  uint64_t least = UINT64_MAX, cost = 0;
  uint32_t best = FS_NONE;
  for (uint32_t k = p->choice0[item]; k < p->choice0[item + 1]; k++) {
    FS_TRY(try_clear(h, p->choice[k], item, &cost));
    if (cost < least) {
      least = cost;
      best = p->choice[k];
    }
  }
  *done = best != FS_NONE;
  if (!*done) {
    return FSCHED_OK;
  }
  size_t first = h->homeless.n;
  cost = 0;
  FS_TRY(clear(h, best, item, &h->homeless, &cost));
  for (size_t i = first; i < h->homeless.n; i++) {
    h->forced[h->homeless.at[i]]++;
  }
  return put_item(h, best, item);
}

static fs_status hand_all(handing *h) {
  const fs_problem *p = h->p;
  for (uint32_t k = 0; k < p->n_items; k++) {
    uint32_t item = h->y->by_start[k];
    h->position[item] = k;
    if (!has_choice(p, item)) {
      FS_TRY(hand_fixed(h, item));
    }
  }
  for (uint32_t k = 0; k < p->n_items; k++) {
    uint32_t item = h->y->by_start[k];
    if (has_choice(p, item)) {
      FS_TRY(hand(h, item));
    }
  }
  bool done = true;
  while (h->homeless.n > 0 && done) {
    uint32_t item = h->homeless.at[--h->homeless.n];
    FS_TRY(force(h, item, &done));
    done = done && h->steps < fs_limits_of(p->ctx)->queue_steps;
    if (!done) {
      char name[160];
      return fs_answer_refute(h->y, "no queue was found for %s at %llu",
                              fs_problem_item_name(p, item, name, sizeof name),
                              (unsigned long long)start_of(h, item));
    }
  }
  return FSCHED_OK;
}

/* Gives items without a choice their classes; says whether these are all items. */
static bool given(handing *h) {
  bool all = true;
  for (uint32_t i = 0; i < h->p->n_items; i++) {
    h->class_of[i] = h->p->gang[i] ? FS_NONE : h->p->choice[h->p->choice0[i]];
    all = all && !has_choice(h->p, i);
  }
  return all;
}

static fs_status find_classes(handing *h) {
  const fs_problem *p = h->p;
  fs_arena *arena = &h->y->scratch;
  FS_TRY(fs_new_zero(arena, &h->position, p->n_items));
  FS_TRY(fs_new_zero(arena, &h->forced, p->n_items));
  FS_TRY(fs_new_zero(arena, &h->next, p->n_classes));
  FS_TRY(fs_new_zero(arena, &h->fixed, p->n_classes));
  FS_TRY(fs_new_zero(arena, &h->live, p->n_classes));
  FS_TRY(fs_new_zero(arena, &h->list, p->n_classes));
  fs_status status = hand_all(h);
  for (uint32_t k = 0; k < p->n_classes; k++) {
    fs_vec_free(p->ctx, &h->fixed[k]);
    fs_vec_free(p->ctx, &h->live[k]);
    fs_vec_free(p->ctx, &h->list[k]);
  }
  fs_vec_free(p->ctx, &h->homeless);
  fs_vec_free(p->ctx, &h->soon);
  return status;
}

fs_status fs_answer_classes(fs_assembly *y, const uint32_t **out) {
  assert(y->by_start != NULL || y->p->n_items == 0);
  *out = y->a->choice;
  if (*out != NULL) {
    return FSCHED_OK;
  }
  handing h = {.y = y, .p = y->p};
  FS_TRY(fs_new(&y->scratch, &h.class_of, y->p->n_items));
  *out = h.class_of;
  return given(&h) ? FSCHED_OK : find_classes(&h);
}
