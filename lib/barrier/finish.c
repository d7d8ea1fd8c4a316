/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the result of a draft.  It begins with the exact starts: in the draft's order, each item
 * starts when its queues, the barriers that it waits for and the physical ones that it takes over
 * allow it.  Sorted by start, and by the draft's order where starts are equal, every order still
 * goes forward.  Of a target whose plans are for timelines, the end of an item is not counted on
 * before those ahead of it on its queues have ended, though a barrier would tell of it earlier
 * behind a slow one. */
#include "barrier/draft.h"
#include "base/group.h"
#include "base/heap.h"
#include "base/radix.h"

typedef struct ticker {
  const fs_barrier_problem *p;
  const fs_barrier_draft *d;
  fs_tick *queue;  /* per queue: when it is free of its last command */
  fs_tick *latest; /* per queue: when all of its commands so far are over */
  fs_tick *end;    /* per barrier: when its producers are over */
  fs_tick *gate;   /* per barrier: when the commands that wait for it have started */
} ticker;

static fs_tick earliest(const ticker *k, uint32_t u, const uint32_t *command_queue) {
  const fs_barrier_problem *p = k->p;
  fs_tick at = p->start[u];
  for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1]; i++) {
    uint32_t c = p->item_command[i];
    at = fs_max(at, k->queue[command_queue[c]]);
    for (uint32_t w = k->d->wait0[c]; w < k->d->wait0[c + 1]; w++) {
      at = fs_max(at, k->end[k->d->wait[w]]);
    }
  }
  for (uint32_t i = k->d->bar0[u]; i < k->d->bar0[u + 1]; i++) {
    uint32_t b = k->d->bar[i];
    if (k->d->before[b] != FS_NONE) {
      k->gate[b] = fs_max(k->gate[b], k->gate[k->d->before[b]]);
      at = fs_max(at, k->gate[k->d->before[b]]);
    }
  }
  return at;
}

static void run_item(const ticker *k, uint32_t u, const uint32_t *command_queue, fs_tick start) {
  const fs_barrier_problem *p = k->p;
  fs_tick end = start + p->time[u], over = end;
  for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1]; i++) {
    uint32_t c = p->item_command[i], q = command_queue[c];
    k->queue[q] = start + fs_barrier_busy(p, u);
    k->latest[q] = fs_max(k->latest[q], end);
    over = p->ends_alone ? over : fs_max(over, k->latest[q]);
    for (uint32_t w = k->d->wait0[c]; w < k->d->wait0[c + 1]; w++) {
      uint32_t b = k->d->wait[w];
      k->gate[b] = fs_max(k->gate[b], start);
    }
  }
  for (uint32_t i = k->d->bar0[u]; i < k->d->bar0[u + 1]; i++) {
    uint32_t b = k->d->bar[i];
    k->end[b] = fs_max(k->end[b], over);
  }
}

static fs_status run_clock(fs_arena *a, ticker *k, fs_tick *start, fs_tick *makespan) {
  const fs_barrier_problem *p = k->p;
  uint32_t *command_queue;
  FS_TRY(fs_new(a, &command_queue, p->n_commands));
  FS_TRY(fs_new_zero(a, &k->queue, p->n_queues));
  FS_TRY(fs_new_zero(a, &k->latest, p->n_queues));
  FS_TRY(fs_new_zero(a, &k->end, k->d->n));
  FS_TRY(fs_new_zero(a, &k->gate, k->d->n));
  for (uint32_t q = 0; q < p->n_queues; q++) {
    for (uint32_t c = p->queue_command0[q]; c < p->queue_command0[q + 1]; c++) {
      command_queue[c] = q;
    }
  }
  *makespan = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = k->d->seq[i];
    start[u] = earliest(k, u, command_queue);
    run_item(k, u, command_queue, start[u]);
    *makespan = fs_max(*makespan, start[u] + p->time[u]);
  }
  return FSCHED_OK;
}

fs_status fs_barrier_draft_times(fsched_context *ctx, const fs_barrier_problem *p,
                                 const fs_barrier_draft *d, fs_tick *start, fs_tick *makespan) {
  assert(d->seq != NULL || p->n_items == 0);
  FS_SCRATCH(scratch, ctx);
  ticker k = {.p = p, .d = d};
  return run_clock(&scratch, &k, start, makespan);
}

/* --- numbers --- */

static fs_status sort_items(fsched_context *ctx, const fs_barrier_problem *p,
                            const fs_barrier_draft *d, fs_barriers *out) {
  fs_heap heap = {0};
  fs_status status = FSCHED_OK;
  for (uint32_t i = 0; i < p->n_items && status == FSCHED_OK; i++) {
    status = fs_heap_push(ctx, &heap, out->start[d->seq[i]], i);
  }
  for (uint32_t i = 0; i < p->n_items && status == FSCHED_OK; i++) {
    out->order[i] = d->seq[fs_heap_pop(&heap).id];
  }
  fs_vec_free(ctx, &heap);
  return status;
}

/* Numbers the barriers that some command waits for, by first update, and makes physical ids dense.
 */
static fs_status number_barriers(fs_arena *arena, fs_arena *scratch, const fs_barrier_problem *p,
                                 const fs_barrier_draft *d, uint32_t *number, fs_barriers *out) {
  uint32_t *id;
  uint32_t *uses;
  uint32_t *waited;
  FS_TRY(fs_new_none(scratch, &id, d->n));
  FS_TRY(fs_new_zero(scratch, &uses, d->n));
  FS_TRY(fs_new_zero(scratch, &waited, d->n));
  FS_TRY(fs_new(arena, &out->physical, d->n));
  FS_TRY(fs_new(arena, &out->use, d->n));
  for (uint32_t k = 0; k < d->wait0[p->n_commands]; k++) {
    waited[d->wait[k]] = 1;
  }
  out->n = 0;
  out->used = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = out->order[i];
    for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
      uint32_t b = d->bar[k];
      if (waited[b] == 0 || number[b] != FS_NONE) {
        continue;
      }
      if (id[d->id[b]] == FS_NONE) {
        id[d->id[b]] = out->used++;
      }
      number[b] = out->n++;
      out->physical[number[b]] = id[d->id[b]];
      out->use[number[b]] = uses[id[d->id[b]]]++;
    }
  }
  return FSCHED_OK;
}

static void sort_small(uint32_t *at, uint32_t *with, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    uint32_t key = at[i];
    uint32_t value = with == NULL ? 0 : with[i];
    uint32_t j = i;
    for (; j > 0 && at[j - 1] > key; j--) {
      at[j] = at[j - 1];
      if (with != NULL) {
        with[j] = with[j - 1];
      }
    }
    at[j] = key;
    if (with != NULL) {
      with[j] = value;
    }
  }
}

static fs_status fill_waits(fs_arena *arena, const fs_barrier_problem *p, const fs_barrier_draft *d,
                            const uint32_t *number, fs_barriers *out) {
  uint32_t n = d->wait0[p->n_commands];
  FS_TRY(fs_new(arena, &out->wait0, (size_t)p->n_commands + 1));
  FS_TRY(fs_new(arena, &out->wait, n));
  memcpy(out->wait0, d->wait0, ((size_t)p->n_commands + 1) * sizeof *out->wait0);
  for (uint32_t k = 0; k < n; k++) {
    out->wait[k] = number[d->wait[k]];
  }
  for (uint32_t c = 0; c < p->n_commands; c++) {
    sort_small(out->wait + out->wait0[c], NULL, out->wait0[c + 1] - out->wait0[c]);
  }
  return FSCHED_OK;
}

static uint32_t command_updates(const fs_barrier_problem *p, const fs_barrier_draft *d,
                                const uint32_t *number, uint32_t c, uint64_t member,
                                const fs_barriers *out, uint32_t at) {
  uint32_t u = p->command_item[c];
  uint64_t demand = p->demand == NULL ? 1 : p->demand[u];
  uint32_t n = 0;
  if (d->silent != NULL && d->silent[c]) {
    return 0;
  }
  for (uint64_t j = member * demand / p->n_slots; j < d->bar0[u + 1] - d->bar0[u]; j++) {
    uint32_t b = number[d->bar[d->bar0[u] + j]];
    uint64_t slots = fs_barrier_draft_slots(p, u, member, j);
    if (slots == 0) {
      break;
    }
    if (b != FS_NONE) {
      if (out != NULL) {
        out->update[at + n] = b;
        out->slots[at + n] = (uint32_t)slots;
      }
      n++;
    }
  }
  if (out != NULL) {
    sort_small(out->update + at, out->slots + at, n);
  }
  return n;
}

static fs_status fill_updates(fs_arena *arena, fs_arena *scratch, const fs_barrier_problem *p,
                              const fs_barrier_draft *d, const uint32_t *number, fs_barriers *out) {
  uint32_t *member;
  FS_TRY(fs_new(scratch, &member, p->n_commands));
  for (uint32_t u = 0; u < p->n_items; u++) {
    for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
      member[p->item_command[k]] = k - p->item_command0[u];
    }
  }
  FS_TRY(fs_new(arena, &out->update0, (size_t)p->n_commands + 1));
  uint32_t n = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    out->update0[c] = n;
    n += command_updates(p, d, number, c, member[c], NULL, 0);
  }
  out->update0[p->n_commands] = n;
  FS_TRY(fs_new(arena, &out->update, n));
  FS_TRY(fs_new(arena, &out->slots, n));
  for (uint32_t c = 0; c < p->n_commands; c++) {
    (void)command_updates(p, d, number, c, member[c], out, out->update0[c]);
  }
  return FSCHED_OK;
}

/* --- added orders --- */

/* What each item comes after, as positions in the problem's order. */
typedef struct order_lists {
  FS_VEC(uint32_t) earlier;
  uint32_t *begin;      /* per position of the later item, and the end; ascending from there */
  FS_VEC(uint64_t) one; /* those of the item at hand, as they are found */
} order_lists;

/* Appends those of the item at hand, ascending, without repeats. */
static fs_status store_one(fsched_context *ctx, order_lists *all) {
  size_t n = all->one.n;
  if (all->earlier.n + n > UINT32_MAX) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_INTERNAL, FS_NOWHERE, NULL,
                   "more than 2^32 orders of barriers; more barriers would do");
  }
  FS_TRY(fs_vec_reserve(ctx, &all->one, 2 * n));
  FS_TRY(fs_vec_reserve(ctx, &all->earlier, all->earlier.n + n));
  fs_radix_sort_block(all->one.at, n);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || all->one.at[i] != all->one.at[i - 1]) {
      all->earlier.at[all->earlier.n++] = (uint32_t)all->one.at[i];
    }
  }
  all->one.n = 0;
  return FSCHED_OK;
}

/* Finds the items that commands wait for, by the items that update each barrier. */
typedef struct lister {
  const fs_order *o;
  const fs_barrier_draft *d;
  const uint32_t *position;
  uint32_t *producer0, *producer; /* CSR per barrier: items, by position */
  uint32_t *waits; /* per barrier: the last command that waits for it, of those seen */
  uint32_t *stamp; /* per item: the last command for which it was looked at */
  uint32_t *asked; /* per item: the last command that the problem lets wait for it */
  order_lists *all;
} lister;

static fs_status init_lister(fs_arena *scratch, lister *l) {
  const fs_barrier_draft *d = l->d;
  const fs_barrier_problem *p = l->o->p;
  FS_TRY(fs_new_none(scratch, &l->waits, d->n));
  FS_TRY(fs_new_none(scratch, &l->stamp, p->n_items));
  FS_TRY(fs_new_none(scratch, &l->asked, p->n_items));
  FS_TRY(fs_new_zero(scratch, &l->producer0, (size_t)d->n + 2));
  FS_TRY(fs_new(scratch, &l->producer, d->bar0[p->n_items]));
  for (uint32_t k = 0; k < d->bar0[p->n_items]; k++) {
    l->producer0[d->bar[k] + 2]++;
  }
  fs_group_sum(l->producer0, d->n);
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = p->order[i];
    for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
      l->producer[l->producer0[d->bar[k] + 1]++] = u;
    }
  }
  return FSCHED_OK;
}

static void mark_waits(const lister *l, uint32_t c) {
  for (uint32_t w = l->d->wait0[c]; w < l->d->wait0[c + 1]; w++) {
    l->waits[l->d->wait[w]] = c;
  }
}

/* Does command c, whose waits are marked, wait for all barriers of item u?  A wait for one of them
 * implies only that u has started. */
static bool waits_for_all(const lister *l, uint32_t u, uint32_t c) {
  bool all = true;
  for (uint32_t k = l->d->bar0[u]; k < l->d->bar0[u + 1] && all; k++) {
    all = l->waits[l->d->bar[k]] == c;
  }
  return all;
}

/* Finds the items that command c of item v waits for.  Where c is all of v, items are left out at
 * once that the problem lets it wait for, or that the rows imply where there are rows. */
static fs_status list_command(fsched_context *ctx, lister *l, uint32_t v, uint32_t c) {
  const fs_barrier_problem *p = l->o->p;
  bool alone = p->item_command0[v + 1] - p->item_command0[v] == 1;
  mark_waits(l, c);
  for (uint32_t e = p->pred0[c]; alone && e < p->pred0[c + 1]; e++) {
    l->asked[p->pred[e]] = c;
  }
  for (uint32_t w = l->d->wait0[c]; w < l->d->wait0[c + 1]; w++) {
    uint32_t b = l->d->wait[w];
    for (uint32_t k = l->producer0[b]; k < l->producer0[b + 1]; k++) {
      uint32_t u = l->producer[k];
      bool again = l->stamp[u] == c || l->asked[u] == c;
      l->stamp[u] = c;
      if (!again && waits_for_all(l, u, c) &&
          !(alone && l->o->row != NULL && fs_order_before(l->o, u, c))) {
        FS_TRY(fs_vec_push(ctx, &l->all->one, l->position[u]));
      }
    }
  }
  return FSCHED_OK;
}

/* Lists for every item the producers that some command of it waits for. */
static fs_status list_orders(fsched_context *ctx, lister *l) {
  const fs_barrier_problem *p = l->o->p;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t v = p->order[i];
    l->all->begin[i] = (uint32_t)l->all->earlier.n;
    for (uint32_t k = p->item_command0[v]; k < p->item_command0[v + 1]; k++) {
      FS_TRY(list_command(ctx, l, v, p->item_command[k]));
    }
    FS_TRY(store_one(ctx, l->all));
  }
  l->all->begin[p->n_items] = (uint32_t)l->all->earlier.n;
  return FSCHED_OK;
}

/* Marks of an order: a command that waits did not know the order before; one that does not wait
 * does not know it. */
enum { NEWS = 1, OPEN = 2 };

/* Marks the orders [first, end), all those of one later item, by the row of its command c. */
static void judge_command(const lister *l, const fs_order *o, const uint32_t *row, uint32_t c,
                          uint32_t first, uint32_t end, uint8_t *found) {
  mark_waits(l, c);
  for (uint32_t i = first; i < end; i++) {
    uint32_t u = o->p->order[l->all->earlier.at[i]];
    if (!fs_order_in(o, row, u)) {
      found[i] |= waits_for_all(l, u, c) ? NEWS : OPEN;
    }
  }
}

/* Marks all orders by the rows that are there, or by those of some axes. */
static void judge_orders(const lister *l, fs_order_sweep *s, uint8_t *found) {
  const fs_order *o = l->o;
  const fs_barrier_problem *p = o->p;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t v = p->order[i], first = l->all->begin[i], end = l->all->begin[i + 1];
    if (o->row == NULL) {
      fs_order_sweep_next(s, v);
    }
    for (uint32_t k = p->item_command0[v]; first < end && k < p->item_command0[v + 1]; k++) {
      uint32_t c = p->item_command[k];
      const uint32_t *row = o->row == NULL ? fs_order_sweep_row(s, c) : o->row + (size_t)c * o->n;
      judge_command(l, o->row == NULL ? &s->o : o, row, c, first, end, found);
    }
  }
}

static void keep_news(order_lists *all, uint32_t n_items, const uint8_t *found) {
  uint32_t n = 0, first = 0;
  for (uint32_t i = 0; i < n_items; i++) {
    uint32_t end = all->begin[i + 1];
    all->begin[i] = n;
    for (uint32_t k = first; k < end; k++) {
      if (found[k] == NEWS) {
        all->earlier.at[n++] = all->earlier.at[k];
      }
    }
    first = end;
  }
  all->begin[n_items] = n;
  all->earlier.n = n;
}

/* Keeps an order if each command of the later item waits or knew the order before, and one did not
 * know it. */
static fs_status drop_known(fs_arena *scratch, lister *l) {
  const fs_order *o = l->o;
  uint8_t *found;
  fs_order_sweep sweep = {.width = o->n_axes};
  if (l->all->earlier.n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(scratch, &found, l->all->earlier.n));
  if (o->row == NULL) {
    FS_TRY(fs_order_sweep_init(scratch, o, &sweep));
  }
  for (uint32_t axis = 0; axis < o->n_axes; axis += sweep.width) {
    if (o->row == NULL) {
      fs_order_sweep_begin(&sweep, axis);
    }
    judge_orders(l, &sweep, found);
  }
  keep_news(l->all, o->p->n_items, found);
  return FSCHED_OK;
}

static fs_status fill_added(fsched_context *ctx, fs_arena *arena, fs_arena *scratch, fs_order *o,
                            const fs_barrier_draft *d, order_lists *all, fs_barriers *out) {
  const fs_barrier_problem *p = o->p;
  uint32_t *position;
  FS_TRY(fs_new(scratch, &position, p->n_items));
  for (uint32_t i = 0; i < p->n_items; i++) {
    position[p->order[i]] = i;
  }
  lister l = {.o = o, .d = d, .position = position, .all = all};
  FS_TRY(fs_new(arena, &all->begin, (size_t)p->n_items + 1));
  FS_TRY(init_lister(scratch, &l));
  FS_TRY(list_orders(ctx, &l));
  FS_TRY(drop_known(scratch, &l));
  out->n_added = (uint32_t)all->earlier.n;
  out->added0 = all->begin;
  FS_TRY(fs_new(arena, &out->added, out->n_added));
  for (uint32_t i = 0; i < out->n_added; i++) {
    out->added[i] = p->order[all->earlier.at[i]];
  }
  return FSCHED_OK;
}

static fs_status fill_barriers(fsched_context *ctx, fs_arena *arena, fs_arena *scratch, fs_order *o,
                               const fs_barrier_draft *d, fs_barriers *out) {
  const fs_barrier_problem *p = o->p;
  uint32_t *numbers = d->number;
  if (numbers == NULL) {
    FS_TRY(fs_new_none(scratch, &numbers, d->n));
  }
  FS_TRY(sort_items(ctx, p, d, out));
  FS_TRY(number_barriers(arena, scratch, p, d, numbers, out));
  FS_TRY(fill_waits(arena, p, d, numbers, out));
  FS_TRY(fill_updates(arena, scratch, p, d, numbers, out));
  order_lists all = {0};
  fs_status status = fill_added(ctx, arena, scratch, o, d, &all, out);
  fs_vec_free(ctx, &all.earlier);
  fs_vec_free(ctx, &all.one);
  return status;
}

fs_status fs_barrier_draft_finish(fsched_context *ctx, fs_arena *arena, fs_order *o,
                                  const fs_barrier_draft *d, const fs_tick *start, fs_tick makespan,
                                  fs_barriers *out) {
  assert((d->seq != NULL && start != NULL) || o->p->n_items == 0);
  const fs_barrier_problem *p = o->p;
  *out = (fs_barriers){
      .least = FS_NONE, .n_gates = d->n_gates, .makespan = makespan, .short_item = FS_NONE};
  FS_TRY(fs_new(arena, &out->start, p->n_items));
  FS_TRY(fs_new(arena, &out->order, p->n_items));
  memcpy(out->start, start, p->n_items * sizeof *start);
  FS_SCRATCH(scratch, ctx);
  return fill_barriers(ctx, arena, &scratch, o, d, out);
}
