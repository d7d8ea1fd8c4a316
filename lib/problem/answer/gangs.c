/* SPDX-License-Identifier: Apache-2.0 */
/* Finds queues for items whose starts are known where gangs choose theirs.
 *
 * Items with one way to be, on a queue or with all of a gang's, have their queues.  The others take
 * theirs in order of start, among those that are free until the item has ended, those items
 * included that have their queues and are still to come; of these the ones that are wanted again
 * the soonest.  Where no item has its queues beforehand that is exact: the intervals of a class are
 * coloured.  Else it is a heuristic, as the question is NP-hard.  O(items * queues^2). */
#include "base/group.h"
#include "problem/answer/private.h"

typedef struct gang_chooser {
  fs_assembly *y;
  const fs_problem *p;
  const fsched_graph *g;
  uint32_t *member0, *member; /* CSR per op: the queues of its gang */
  uint32_t *own0, *own;       /* CSR per queue: items that have it, in order of start */
  uint32_t *next;             /* per queue: the first of `own` that is still to come */
  fs_tick *until;             /* per queue: the end of the last item on it so far */
  uint8_t *taken;             /* per queue: by the present item */
} gang_chooser;

static const uint32_t *queues_of(const gang_chooser *c, uint32_t item, uint32_t *n) {
  const fs_target *t = &c->g->target;
  uint32_t gang = item < c->g->n_ops ? c->g->op_gang[item] : FS_NONE, domain;
  if (gang != FS_NONE) {
    *n = c->g->gang_queue0[gang + 1] - c->g->gang_queue0[gang];
    return c->g->gang_queue + c->g->gang_queue0[gang];
  }
  domain = item < c->g->n_ops
               ? c->g->op_domain[item]
               : fs_version_home(c->g, c->p->copy_version[item - c->g->n_ops])->spill_domain;
  *n = t->domain_queue0[domain + 1] - t->domain_queue0[domain];
  return t->domain_queue + t->domain_queue0[domain];
}

static uint32_t members_of(const gang_chooser *c, uint32_t item) {
  bool gang = item < c->g->n_ops && c->g->op_gang[item] != FS_NONE;
  return gang ? c->g->gang_members[c->g->op_gang[item]] : 1;
}

static fs_tick end_of(const gang_chooser *c, uint32_t item) {
  return c->y->a->start[item] + c->p->time[item];
}

/* When the queue is wanted by an item that has it. */
static fs_tick wanted_at(const gang_chooser *c, uint32_t queue) {
  bool any = c->own0[queue] + c->next[queue] < c->own0[queue + 1];
  return any ? c->y->a->start[c->own[c->own0[queue] + c->next[queue]]] : FS_TICK_NONE;
}

/* ---- items that have their queues */

static fs_status list_own(gang_chooser *c) {
  uint32_t n_queues = c->g->target.n_queues, *queue0, *queue, n = 0, most = 0;
  for (uint32_t i = 0; i < c->p->n_items; i++) {
    most += members_of(c, i);
  }
  FS_TRY(fs_new(&c->y->scratch, &queue0, (size_t)c->p->n_items + 1));
  FS_TRY(fs_new(&c->y->scratch, &queue, most));
  for (uint32_t k = 0; k < c->p->n_items; k++) {
    uint32_t item = c->y->by_start[k], all;
    const uint32_t *of = queues_of(c, item, &all);
    queue0[k] = n;
    for (uint32_t i = 0; all == members_of(c, item) && i < all; i++) {
      queue[n++] = of[i];
    }
  }
  queue0[c->p->n_items] = n;
  FS_TRY(fs_group_turn(&c->y->scratch, queue0, queue, c->p->n_items, n_queues, &c->own0, &c->own));
  for (uint32_t i = 0; i < n; i++) {
    c->own[i] = c->y->by_start[c->own[i]];
  }
  return FSCHED_OK;
}

/* ---- choices */

static bool is_free(const gang_chooser *c, uint32_t queue, uint32_t item) {
  return c->until[queue] <= c->y->a->start[item] && wanted_at(c, queue) >= end_of(c, item);
}

/* The queue among them that is wanted the soonest; FS_NONE: none is free. */
static uint32_t choose_queue(const gang_chooser *c, uint32_t item, const uint32_t *queue,
                             uint32_t n) {
  uint32_t best = FS_NONE;
  for (uint32_t i = 0; i < n; i++) {
    if (!c->taken[queue[i]] && is_free(c, queue[i], item) &&
        (best == FS_NONE || wanted_at(c, queue[i]) < wanted_at(c, best))) {
      best = queue[i];
    }
  }
  return best;
}

static fs_status refuse_item(gang_chooser *c, uint32_t item) {
  char name[160];
  return fs_answer_refute(c->y, "too few queues are free for %s at %llu",
                          fs_problem_item_name(c->p, item, name, sizeof name),
                          (unsigned long long)c->y->a->start[item]);
}

static fs_status take_queues(gang_chooser *c, uint32_t item) {
  uint32_t all, n = members_of(c, item), found = 0;
  const uint32_t *queue = queues_of(c, item, &all);
  bool own = all == n;
  for (uint32_t i = 0; i < all && own; i++) {
    c->next[queue[i]]++;
  }
  for (; found < n; found++) {
    uint32_t best = choose_queue(c, item, queue, all);
    if (best == FS_NONE) {
      return refuse_item(c, item);
    }
    c->taken[best] = 1;
  }
  bool gang = item < c->g->n_ops && c->g->op_gang[item] != FS_NONE;
  uint32_t *to = gang ? c->member + c->member0[item] : &c->y->s->queue[item];
  for (uint32_t i = 0, k = 0; i < all; i++) {
    if (c->taken[queue[i]]) {
      c->taken[queue[i]] = 0;
      c->until[queue[i]] = end_of(c, item);
      to[k++] = queue[i];
    }
  }
  c->y->s->queue[item] = to[0];
  return FSCHED_OK;
}

fs_status fs_answer_gangs(fs_assembly *y) {
  assert((y->by_start != NULL || y->p->n_items == 0) && !y->p->graph->target.implicit_queues);
  gang_chooser c = {.y = y, .p = y->p, .g = y->p->graph};
  uint32_t n_queues = c.g->target.n_queues;
  FS_TRY(fs_graph_members(c.g, &y->scratch, &c.member0));
  FS_TRY(fs_new(&y->scratch, &c.member, c.member0[c.g->n_ops]));
  FS_TRY(fs_new_zero(&y->scratch, &c.next, n_queues));
  FS_TRY(fs_new_zero(&y->scratch, &c.until, n_queues));
  FS_TRY(fs_new_zero(&y->scratch, &c.taken, n_queues));
  FS_TRY(list_own(&c));
  for (uint32_t k = 0; k < c.p->n_items && y->why == NULL; k++) {
    FS_TRY(take_queues(&c, y->by_start[k]));
  }
  return y->why == NULL ? fs_schedule_set_gangs(y->s, c.member0, c.member) : FSCHED_OK;
}
