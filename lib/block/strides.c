/* SPDX-License-Identifier: Apache-2.0 */
/* After a full sync everything is over, so a phase takes the same time wherever it begins.  From
 * each place i the walk goes forward until an edge needs a sync, and at each item that it passes
 * the phase from i may end:
 *
 *     best(j) = min over i of best(i) + walk(i, j) + cost */
#include "block/strides.h"

enum { STEPS = 1 << 21 };

typedef struct strider {
  const fs_block_problem *p;
  const uint32_t *order, *queue;
  uint32_t *place; /* per item */
  fs_tick *best;   /* per place */
  uint32_t *begin; /* per place j: where the phase that ends there begins */
  /* The walk: times since the sync. */
  uint32_t from; /* its first place */
  fs_tick now, length;
  fs_tick *end;      /* per item */
  fs_tick *free_at;  /* per queue */
  uint32_t *counted; /* per queue: the place behind the last command that a counting sync has
                      * waited for */
} strider;

static void clear_queues(strider *x, uint32_t item) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(x->p, item, &x->queue[item], &n);
  for (uint32_t i = 0; i < n; i++) {
    x->free_at[queues[i]] = 0;
    x->counted[queues[i]] = 0;
  }
}

static void wait_for(strider *x, uint32_t item) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(x->p, item, &x->queue[item], &n);
  for (uint32_t i = 0; i < n; i++) {
    if (x->counted[queues[i]] <= x->place[item]) {
      x->counted[queues[i]] = x->place[item] + 1;
      x->now = fs_max(x->now, x->end[item]);
    }
  }
}

/* Passes the counting syncs before an item; false if it needs a full one. */
static bool meet_needs(strider *x, uint32_t item, fs_tick *start) {
  const fs_block_problem *p = x->p;
  for (uint32_t e = p->pred0[item]; e < p->pred0[item + 1]; e++) {
    uint32_t from = p->pred[e].from;
    bool in_line = !p->gang[from] && !p->gang[item] && x->queue[from] == x->queue[item];
    if (x->place[from] < x->from) {
      continue;
    }
    if (fs_block_apart(p, x->queue, from, p->pred[e].full, item)) {
      return false;
    }
    *start = fs_max(*start, x->end[from]);
    if (p->pred[e].full && !in_line) {
      wait_for(x, from);
    }
  }
  return true;
}

static bool walk_item(strider *x, uint32_t item) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(x->p, item, &x->queue[item], &n);
  fs_tick start = 0;
  if (!meet_needs(x, item, &start)) {
    return false;
  }
  start = fs_max(start, x->now);
  for (uint32_t i = 0; i < n; i++) {
    start = fs_max(start, x->free_at[queues[i]]);
  }
  x->end[item] = start + x->p->time[item];
  x->length = fs_max(x->length, x->end[item]);
  for (uint32_t i = 0; i < n; i++) {
    x->free_at[queues[i]] = x->end[item];
  }
  return true;
}

static void walk_from(strider *x, uint32_t i, uint32_t most) {
  fs_tick before = x->best[i] + (i == 0 ? 0 : x->p->cost);
  uint32_t j = i;
  x->from = i;
  x->now = x->length = 0;
  for (; j < x->p->n && j - i < most && walk_item(x, x->order[j]); j++) {
    if (before + x->length < x->best[j + 1]) {
      x->best[j + 1] = before + x->length;
      x->begin[j + 1] = i;
    }
  }
  for (; j-- > i;) {
    clear_queues(x, x->order[j]);
  }
}

static void put_phases(const strider *x, uint32_t *phase) {
  uint32_t n = 0;
  for (uint32_t j = x->p->n; j > 0; j = x->begin[j]) {
    n++;
  }
  for (uint32_t j = x->p->n; j > 0; j = x->begin[j]) {
    n--;
    for (uint32_t i = x->begin[j]; i < j; i++) {
      phase[x->order[i]] = n;
    }
  }
}

static fs_status stride(strider *x, fs_arena *scratch, uint32_t *phase) {
  uint32_t n = x->p->n;
  FS_TRY(fs_new(scratch, &x->place, n));
  FS_TRY(fs_new_none(scratch, &x->best, (size_t)n + 1));
  FS_TRY(fs_new(scratch, &x->begin, (size_t)n + 1));
  FS_TRY(fs_new(scratch, &x->end, n));
  FS_TRY(fs_new_zero(scratch, &x->free_at, x->p->n_queues));
  FS_TRY(fs_new_zero(scratch, &x->counted, x->p->n_queues));
  for (uint32_t i = 0; i < n; i++) {
    x->place[x->order[i]] = i;
  }
  x->best[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    walk_from(x, i, STEPS / n + 1);
  }
  put_phases(x, phase);
  return FSCHED_OK;
}

fs_status fs_block_stride(fsched_context *ctx, const fs_block_problem *p, const uint32_t *order,
                          fs_block_answer *a) {
  assert(order != NULL && a->queue != NULL && a->phase != NULL);
  FS_SCRATCH(scratch, ctx);
  strider x = {.p = p, .order = order, .queue = a->queue};
  if (p->n > 0) {
    FS_TRY(stride(&x, &scratch, a->phase));
  }
  return fs_block_answer_fill(ctx, p, a);
}
