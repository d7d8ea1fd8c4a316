/* SPDX-License-Identifier: Apache-2.0 */
/* Finds queues for items whose starts and classes are known.
 *
 * Within a class an item takes the first queue that is free at its start: this colours intervals of
 * which never more than k overlap with k colours.  Items are taken in order of start.  Of those
 * with the same start, items without length come first: on a queue they may lie between two items
 * but not inside one.  A gang takes all queues of its classes.  O(n log n). */
#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"
#include "problem/answer/private.h"

typedef struct coloring {
  fs_assembly *y;
  const fs_problem *p;
  const uint32_t *class_of; /* per item; FS_NONE for a gang */
  fs_heap *free, *busy;     /* per class: slots, and slots by end */
  uint32_t *fresh;          /* per class: slots from here on were never used */
  fs_tick *gang_until;      /* per class: end of the last gang's item on it */
} coloring;

/* Frees the slots whose items have ended by `now`. */
static fs_status release(coloring *c, uint32_t class, fs_tick now) {
  assert(class < c->p->n_classes);
  fs_heap *busy = &c->busy[class];
  while (busy->n > 0 && busy->at[0].key <= now) {
    uint32_t slot = fs_heap_pop(busy).id;
    FS_TRY(fs_heap_push(c->p->ctx, &c->free[class], slot, slot));
  }
  return FSCHED_OK;
}

static fs_status refuse_item(coloring *c, uint32_t item) {
  char name[160];
  return fs_answer_refute(c->y, "no queue is free for %s at %llu",
                          fs_problem_item_name(c->p, item, name, sizeof name),
                          (unsigned long long)c->y->a->start[item]);
}

static fs_status take_gang(coloring *c, uint32_t item) {
  assert(c->p->gang[item]);
  const fs_problem *p = c->p;
  fs_tick start = c->y->a->start[item];
  for (uint32_t k = p->choice0[item]; k < p->choice0[item + 1]; k++) {
    uint32_t class = p->choice[k];
    FS_TRY(release(c, class, start));
    if (c->busy[class].n > 0 || c->gang_until[class] > start) {
      return refuse_item(c, item);
    }
    c->gang_until[class] = fs_max(c->gang_until[class], start + p->time[item]);
  }
  const fs_schedule *s = c->y->s;
  s->queue[item] = s->gang_queue[s->gang_queue0[s->op_gang[item]]];
  return FSCHED_OK;
}

static fs_status take_slot(coloring *c, uint32_t item) {
  const fs_problem *p = c->p;
  fs_tick start = c->y->a->start[item];
  uint32_t class = c->class_of[item];
  fs_heap *free = &c->free[class];
  FS_TRY(release(c, class, start));
  if (c->gang_until[class] > start || (free->n == 0 && c->fresh[class] == p->class_size[class])) {
    return refuse_item(c, item);
  }
  uint32_t slot = free->n > 0 ? fs_heap_pop(free).id : c->fresh[class]++;
  bool implicit = p->graph->target.implicit_queues;
  c->y->s->queue[item] = implicit ? slot : p->class_queue[p->class_queue0[class] + slot];
  return p->time[item] == 0 ? fs_heap_push(p->ctx, free, slot, slot)
                            : fs_heap_push(p->ctx, &c->busy[class], start + p->time[item], slot);
}

static fs_status name_queues(coloring *c) {
  fs_schedule *s = c->y->s;
  const fs_target *t = &c->p->graph->target;
  s->n_queues = t->implicit_queues ? c->fresh[0] : t->n_queues;
  FS_TRY(fs_new(&s->arena, &s->queue_name, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    char name[16];
    int n = snprintf(name, sizeof name, "q%u", (unsigned)q);
    s->queue_name[q] =
        t->implicit_queues ? fs_arena_strndup(&s->arena, name, (size_t)n) : t->queue[q].name;
    if (s->queue_name[q] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  return FSCHED_OK;
}

static fs_status color(coloring *c) {
  const fs_problem *p = c->p;
  fs_assembly *y = c->y;
  for (uint32_t k = 0; k < p->n_items && y->why == NULL; k++) {
    uint32_t item = y->by_start[k];
    FS_TRY(p->gang[item] ? take_gang(c, item) : take_slot(c, item));
  }
  return y->why == NULL ? name_queues(c) : FSCHED_OK;
}

fs_status fs_answer_queues(fs_assembly *y) {
  assert((y->by_start != NULL || y->p->n_items == 0) && y->s != NULL);
  const fs_problem *p = y->p;
  coloring c = {.y = y, .p = p};
  if (p->sets) {
    FS_TRY(fs_answer_gangs(y));
    return y->why == NULL ? name_queues(&c) : FSCHED_OK;
  }
  FS_TRY(fs_answer_classes(y, &c.class_of));
  if (y->why != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&y->scratch, &c.fresh, p->n_classes));
  FS_TRY(fs_new_zero(&y->scratch, &c.gang_until, p->n_classes));
  FS_TRY(fs_new_zero(&y->scratch, &c.free, p->n_classes));
  FS_TRY(fs_new_zero(&y->scratch, &c.busy, p->n_classes));
  fs_status status = color(&c);
  for (uint32_t k = 0; k < p->n_classes; k++) {
    fs_vec_free(p->ctx, &c.free[k]);
    fs_vec_free(p->ctx, &c.busy[k]);
  }
  return status;
}
