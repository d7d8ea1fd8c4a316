/* SPDX-License-Identifier: Apache-2.0 */
/* The published construction as it stands.  Ops take one unit of time each and at most b run at
 * once, taken in the problem's order as they become ready; each holds one of b barriers meanwhile.
 * Edges between consecutive owners of a barrier are added, U(v) is the barrier of v, and
 * W(v) = {U(w)} for the edges that are left after transitive reduction.  Barriers that no command
 * waits for are left out.  It knows no slots, so an owner that takes more than a barrier has is
 * refused: more than one would have to be free for it at once.
 *
 * Owners of one barrier form a chain, so b chains cover all ops, and what is before an op is one
 * number per chain: the reduction needs no more.
 *
 * Whether its machine stands still does not depend on durations or choices: a command that can
 * start stays able to until it does.  So one run in any order decides, and where it ends, each
 * command that does not start names one that must go first; following these leads around a cycle.
 */
#include "barrier/draft.h"
#include "barrier/stand.h"
#include "base/group.h"
#include "base/heap.h"
#include "base/radix.h"

enum { ROW_ENTRIES = 1 << 26 };

typedef struct publisher {
  fsched_context *ctx;
  fs_arena *a; /* scratch */
  fs_barrier_problem p;
  uint32_t *position;
  uint32_t *succ0, *succ; /* CSR per item: items that wait for it */
  uint32_t *wanting;
  fs_tick *level;         /* per item: its unit of time */
  uint32_t *chain, *rank; /* per item: its barrier, and its place among the owners */
  uint32_t *before;       /* per item: the owner before it, or FS_NONE */
  uint32_t *row;          /* per item and barrier: owners that are over before it starts; NULL: too
                             large, nothing is reduced then */
  fs_barrier_draft d;
} publisher;

static fs_status make_succs(publisher *x) {
  const fs_barrier_problem *p = &x->p;
  uint32_t n = p->pred0[p->n_commands];
  FS_TRY(fs_new_zero(x->a, &x->succ0, (size_t)p->n_items + 2));
  FS_TRY(fs_new(x->a, &x->succ, n));
  FS_TRY(fs_new_zero(x->a, &x->wanting, p->n_items));
  for (uint32_t e = 0; e < n; e++) {
    x->succ0[p->pred[e] + 2]++;
  }
  fs_group_sum(x->succ0, p->n_items);
  for (uint32_t c = 0; c < p->n_commands; c++) {
    for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
      x->succ[x->succ0[p->pred[e] + 1]++] = p->command_item[c];
      x->wanting[p->command_item[c]]++;
    }
  }
  return FSCHED_OK;
}

/* One unit of time: starts up to `bound` of the items in `ready`. */
static fs_status one_level(publisher *x, fs_heap *ready, uint32_t *last, uint32_t *ranks,
                           fs_tick level, uint32_t *n) {
  assert(*n < x->p.n_items);
  uint32_t first = *n;
  for (uint32_t i = 0; i < x->p.bound && ready->n > 0; i++) {
    uint32_t u = fs_heap_pop(ready).id;
    x->d.seq[(*n)++] = u;
    x->level[u] = level;
    x->chain[u] = i;
    x->rank[u] = ranks[i]++;
    x->before[u] = last[i];
    last[i] = u;
  }
  for (uint32_t i = first; i < *n; i++) {
    uint32_t u = x->d.seq[i];
    for (uint32_t k = x->succ0[u]; k < x->succ0[u + 1]; k++) {
      if (--x->wanting[x->succ[k]] == 0) {
        FS_TRY(fs_heap_push(x->ctx, ready, x->position[x->succ[k]], x->succ[k]));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status list_levels(publisher *x, fs_heap *ready) {
  uint32_t *last;
  uint32_t *ranks;
  FS_TRY(fs_new_none(x->a, &last, x->p.bound));
  FS_TRY(fs_new_zero(x->a, &ranks, x->p.bound));
  for (uint32_t i = 0; i < x->p.n_items; i++) {
    x->position[x->p.order[i]] = i;
  }
  for (uint32_t u = 0; u < x->p.n_items; u++) {
    if (x->wanting[u] == 0) {
      FS_TRY(fs_heap_push(x->ctx, ready, x->position[u], u));
    }
  }
  uint32_t n = 0;
  for (fs_tick level = 0; n < x->p.n_items; level++) {
    FS_TRY(one_level(x, ready, last, ranks, level, &n));
  }
  return FSCHED_OK;
}

static void raise_over(const publisher *x, uint32_t u, uint32_t *row) {
  const uint32_t *by = x->row + (size_t)u * x->p.bound;
  for (uint32_t i = 0; i < x->p.bound; i++) {
    row[i] = row[i] > by[i] ? row[i] : by[i];
  }
  row[x->chain[u]] = (uint32_t)fs_max(row[x->chain[u]], (uint64_t)x->rank[u] + 1);
}

/* Lists the items that precede v by edges of its command c and by ownership, latest first, less
 * those that others imply; returns their number. */
static uint32_t reduced(publisher *x, uint32_t c, uint64_t *key, uint64_t *spare, uint32_t *wait) {
  const fs_barrier_problem *p = &x->p;
  uint32_t v = p->command_item[c];
  uint32_t n = 0;
  for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
    key[n++] = (UINT32_MAX - x->level[p->pred[e]]) << 32 | p->pred[e];
  }
  if (x->before[v] != FS_NONE) {
    key[n++] = (UINT32_MAX - x->level[x->before[v]]) << 32 | x->before[v];
  }
  if (n > 1) {
    fs_radix_sort(key, spare, n);
  }
  uint32_t n_kept = 0;
  uint32_t *row = x->row == NULL ? NULL : x->row + (size_t)v * p->bound;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t u = (uint32_t)key[i];
    if (row == NULL ? i > 0 && key[i] == key[i - 1] : row[x->chain[u]] > x->rank[u]) {
      continue;
    }
    wait[n_kept++] = u;
    if (row != NULL) {
      raise_over(x, u, row);
    }
  }
  return n_kept;
}

static fs_status make_waits(publisher *x) {
  const fs_barrier_problem *p = &x->p;
  fs_barrier_draft *d = &x->d;
  uint32_t *kept0; /* waits in the order of the list; per command: where they begin */
  uint32_t *kept;
  uint64_t *key;
  uint64_t *spare;
  size_t most = (size_t)p->pred0[p->n_commands] + p->n_commands;
  FS_TRY(fs_new(x->a, &kept0, p->n_commands));
  FS_TRY(fs_new(x->a, &kept, most));
  FS_TRY(fs_new(x->a, &key, most));
  FS_TRY(fs_new(x->a, &spare, most));
  FS_TRY(fs_new_zero(x->a, &d->wait0, (size_t)p->n_commands + 1));
  uint32_t *known;
  FS_TRY(fs_new(x->a, &known, p->bound));
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = d->seq[i];
    uint32_t *row = x->row == NULL ? known : x->row + (size_t)u * p->bound;
    memset(known, 0, p->bound * sizeof *known);
    for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
      uint32_t c = p->item_command[k];
      memset(row, 0, p->bound * sizeof *row); /* what the other members wait for does not count */
      kept0[c] = n;
      d->wait0[c + 1] = reduced(x, c, key, spare, kept + n);
      n += d->wait0[c + 1];
      for (uint32_t b = 0; b < p->bound; b++) {
        known[b] = known[b] > row[b] ? known[b] : row[b];
      }
    }
    memmove(row, known, p->bound * sizeof *row);
  }
  FS_TRY(fs_new(x->a, &d->wait, n));
  for (uint32_t c = 0; c < p->n_commands; c++) {
    memcpy(d->wait + d->wait0[c], kept + kept0[c], d->wait0[c + 1] * sizeof *kept);
    d->wait0[c + 1] += d->wait0[c];
  }
  return FSCHED_OK;
}

/* A barrier per item, of the same number. */
static fs_status make_draft(publisher *x) {
  const fs_barrier_problem *p = &x->p;
  fs_barrier_draft *d = &x->d;
  bool *waited;
  FS_TRY(make_waits(x));
  d->n = p->n_items;
  FS_TRY(fs_new(x->a, &d->bar0, (size_t)p->n_items + 1));
  FS_TRY(fs_new(x->a, &d->bar, p->n_items));
  FS_TRY(fs_new(x->a, &d->before, p->n_items));
  FS_TRY(fs_new_zero(x->a, &waited, p->n_items));
  d->id = x->chain;
  for (uint32_t k = 0; k < d->wait0[p->n_commands]; k++) {
    waited[d->wait[k]] = true;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = d->seq[i];
    uint32_t before = x->before[u];
    d->before[u] = before == FS_NONE || waited[before] ? before : d->before[before];
  }
  uint32_t n = 0;
  for (uint32_t u = 0; u < p->n_items; u++) {
    d->bar0[u] = n;
    if (waited[u]) {
      d->bar[n++] = u;
    }
  }
  d->bar0[p->n_items] = n;
  return FSCHED_OK;
}

static fs_status prepare_publisher(publisher *x, fs_heap *ready) {
  uint32_t n = x->p.n_items;
  FS_TRY(fs_new(x->a, &x->position, n));
  FS_TRY(fs_new(x->a, &x->level, n));
  FS_TRY(fs_new(x->a, &x->chain, n));
  FS_TRY(fs_new(x->a, &x->rank, n));
  FS_TRY(fs_new(x->a, &x->before, n));
  FS_TRY(fs_new(x->a, &x->d.seq, n));
  if ((uint64_t)n * x->p.bound <= ROW_ENTRIES) {
    FS_TRY(fs_new_zero(x->a, &x->row, (size_t)n * x->p.bound));
  }
  FS_TRY(make_succs(x));
  FS_TRY(list_levels(x, ready));
  return make_draft(x);
}

/* The first owner in the list that takes more slots than a barrier has. */
static fs_status check_slots(const publisher *x, uint64_t n_slots, fs_barriers *out) {
  const fs_barrier_problem *p = &x->p;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = x->d.seq[i];
    uint64_t members = p->item_command0[u + 1] - p->item_command0[u];
    uint64_t slots = members * (p->demand == NULL ? 1 : p->demand[u]);
    if (x->d.bar0[u] < x->d.bar0[u + 1] && slots > n_slots) {
      out->short_item = u;
      out->short_need = fs_ceil_div(slots, n_slots);
      return FSCHED_INFEASIBLE;
    }
  }
  return FSCHED_OK;
}

static fs_status publish(publisher *x, fs_arena *arena, uint64_t n_slots, fs_barriers *out,
                         fs_barrier_stuck *stuck) {
  fs_heap ready = {0};
  fs_status status = prepare_publisher(x, &ready);
  fs_vec_free(x->ctx, &ready);
  FS_TRY(status);
  FS_TRY(check_slots(x, n_slots, out));
  fs_order o;
  FS_TRY(fs_order_init(x->a, &x->p, &o));
  if (fs_order_fits(&o)) {
    FS_TRY(fs_order_rows(x->a, &o, 0, o.n_axes));
  }
  FS_TRY(fs_barrier_stands(x->ctx, arena, &o, &x->d, stuck));
  fs_tick makespan = 0;
  if (stuck->n == 0) {
    FS_TRY(fs_barrier_draft_times(x->ctx, &x->p, &x->d, x->level, &makespan));
  } else {
    makespan = x->p.n_items == 0 ? 0 : x->level[x->d.seq[x->p.n_items - 1]] + 1;
  }
  FS_TRY(fs_new_none(x->a, &x->d.number, x->d.n));
  FS_TRY(fs_barrier_draft_finish(x->ctx, arena, &o, &x->d, x->level, makespan, out));
  for (uint32_t i = 0; i < stuck->n; i++) {
    stuck->barrier[i] = stuck->barrier[i] == FS_NONE ? FS_NONE : x->d.number[stuck->barrier[i]];
  }
  return FSCHED_OK;
}

fs_status fs_barriers_published(fsched_context *ctx, fs_arena *arena, const fs_barrier_problem *p,
                                fs_barriers *out, fs_barrier_stuck *stuck) {
  assert(p->bound != FS_NONE);
  assert(p->bound > 0 && p->n_slots > 0);
  *out = (fs_barriers){.least = FS_NONE, .short_item = FS_NONE};
  *stuck = (fs_barrier_stuck){0};
  FS_SCRATCH(scratch, ctx);
  publisher x = {.ctx = ctx, .a = &scratch, .p = *p};
  x.p.n_slots = UINT64_MAX / 4; /* the construction knows no slots */
  x.p.bound = (uint32_t)fs_max(1, fs_min(p->bound, p->n_items));
  return publish(&x, arena, p->n_slots, out, stuck);
}
