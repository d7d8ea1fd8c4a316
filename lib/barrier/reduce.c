/* SPDX-License-Identifier: Apache-2.0 */
/* The reduction of links.c once more, for barriers instead of items and with the added orders.
 * Items are taken in the draft's order.  A barrier's row is what is known when all its producers
 * are over; a command that waits for it takes that over.  An item with several barriers is known
 * to be over by all of them together alone, since each stands for a part of its work. */
#include "barrier/draft.h"
#include "radix.h"

enum { ROW_ENTRIES = 1 << 25 };

typedef struct reducer {
  fs_order o; /* rows of the new closure */
  fs_draft *d;
  uint32_t *producer0, *producer; /* CSR per barrier: items */
  uint32_t *bar_row;              /* per barrier and queue */
  uint32_t *last;                 /* per barrier: place in seq of its last producer */
  uint32_t *row;                  /* of the command at hand */
  uint32_t *kept;                 /* per barrier: the last command that kept it */
  uint64_t *key, *scratch;
} reducer;

static fs_status init_producers(fs_arena *a, reducer *r) {
  const fs_draft *d = r->d;
  uint32_t n_items = r->o.p->n_items;
  FS_TRY(fs_new_zero(a, &r->producer0, (size_t)d->n + 2));
  FS_TRY(fs_new(a, &r->producer, d->bar0[n_items]));
  FS_TRY(fs_new_zero(a, &r->last, d->n));
  for (uint32_t i = 0; i < d->bar0[n_items]; i++) {
    r->producer0[d->bar[i] + 2]++;
  }
  for (uint32_t b = 0; b < d->n; b++) {
    r->producer0[b + 2] += r->producer0[b + 1];
  }
  for (uint32_t i = 0; i < n_items; i++) {
    uint32_t u = d->seq[i];
    for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
      r->producer[r->producer0[d->bar[k] + 1]++] = u;
      r->last[d->bar[k]] = i;
    }
  }
  return FSCHED_OK;
}

static bool is_known(const reducer *r, uint32_t u) {
  const fs_barrier_problem *p = r->o.p;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t m = p->item_command[k];
    if (r->row[r->o.queue[m]] <= r->o.index[m]) {
      return false;
    }
  }
  return true;
}

/* Never so for a part of an item: the other parts would be left, without all of its slots. */
static bool all_known(const reducer *r, uint32_t b) {
  const uint32_t *bar0 = r->d->bar0;
  for (uint32_t k = r->producer0[b]; k < r->producer0[b + 1]; k++) {
    uint32_t u = r->producer[k];
    if (bar0[u + 1] - bar0[u] > 1 || !is_known(r, u)) {
      return false;
    }
  }
  return true;
}

static void raise(uint32_t *row, const uint32_t *by, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    row[i] = row[i] > by[i] ? row[i] : by[i];
  }
}

static void keep(reducer *r, uint32_t c, uint32_t b) {
  const fs_draft *d = r->d;
  r->kept[b] = c;
  raise(r->row, r->bar_row + (size_t)b * r->o.n, r->o.n);
  for (uint32_t k = r->producer0[b]; k < r->producer0[b + 1]; k++) {
    uint32_t u = r->producer[k];
    bool all = d->bar0[u + 1] - d->bar0[u] > 1;
    for (uint32_t j = d->bar0[u]; j < d->bar0[u + 1] && all; j++) {
      all = r->kept[d->bar[j]] == c;
    }
    if (all) {
      fs_order_over(&r->o, u, r->row);
    }
  }
}

/* Leaves in place of the command's waits those that stay, ascending; the rest becomes FS_NONE. */
static void reduce(reducer *r, uint32_t c) {
  const fs_draft *d = r->d;
  memset(r->row, 0, (size_t)r->o.n * sizeof *r->row);
  fs_order_queue(&r->o, c, r->row);
  uint32_t n = 0;
  for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
    r->key[n++] = (uint64_t)(UINT32_MAX - r->last[d->wait[k]]) << 32 | d->wait[k];
  }
  if (n > 1) {
    fs_radix_sort(r->key, r->scratch, n);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!all_known(r, (uint32_t)r->key[i])) {
      keep(r, c, (uint32_t)r->key[i]);
    }
  }
  for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
    d->wait[k] = r->kept[d->wait[k]] == c ? d->wait[k] : FS_NONE;
  }
}

static void update_bars(reducer *r, uint32_t u) {
  const fs_draft *d = r->d;
  const fs_barrier_problem *p = r->o.p;
  uint32_t first = p->item_command0[u];
  bool whole = d->bar0[u + 1] - d->bar0[u] == 1;
  for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
    uint32_t *row = r->bar_row + (size_t)d->bar[k] * r->o.n;
    if (whole) {
      fs_order_over(&r->o, u, row);
    } else if (p->item_command0[u + 1] - first == 1) { /* it has started at least */
      raise(row, r->o.row + (size_t)p->item_command[first] * r->o.n, r->o.n);
    }
  }
}

static void reduce_all(reducer *r) {
  const fs_barrier_problem *p = r->o.p;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = r->d->seq[i];
    for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
      uint32_t c = p->item_command[k];
      reduce(r, c);
      memcpy(r->o.row + (size_t)c * r->o.n, r->row, r->o.n * sizeof *r->row);
    }
    update_bars(r, u);
  }
}

static void compact(const fs_barrier_problem *p, fs_draft *d) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    uint32_t from = d->wait0[c];
    d->wait0[c] = n;
    for (uint32_t k = from; k < d->wait0[c + 1]; k++) {
      if (d->wait[k] != FS_NONE) {
        d->wait[n++] = d->wait[k];
      }
    }
  }
  d->wait0[p->n_commands] = n;
}

/* Command c is over before all producers of b start. */
static bool over_before(const reducer *r, uint32_t c, uint32_t b) {
  const fs_barrier_problem *p = r->o.p;
  for (uint32_t k = r->producer0[b]; k < r->producer0[b + 1]; k++) {
    uint32_t u = r->producer[k];
    for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1]; i++) {
      const uint32_t *row = r->o.row + (size_t)p->item_command[i] * r->o.n;
      if (row[r->o.queue[c]] <= r->o.index[c]) {
        return false;
      }
    }
  }
  return true;
}

/* Hand-overs where something that waited may still run when a producer starts. */
static fs_status count_gates(fs_arena *a, const reducer *r) {
  fs_draft *d = r->d;
  uint32_t *next; /* per barrier: the one after it that somebody waits for */
  bool *waited;
  bool *gate;
  FS_TRY(fs_new_none(a, &next, d->n));
  FS_TRY(fs_new_zero(a, &waited, d->n));
  FS_TRY(fs_new_zero(a, &gate, d->n));
  for (uint32_t k = 0; k < d->wait0[r->o.p->n_commands]; k++) {
    waited[d->wait[k]] = true;
  }
  for (uint32_t b = 0; b < d->n; b++) {
    uint32_t before = waited[b] ? d->before[b] : FS_NONE;
    while (before != FS_NONE && !waited[before]) {
      before = d->before[before];
    }
    if (before != FS_NONE) {
      next[before] = b;
    }
  }
  d->n_gates = 0;
  for (uint32_t c = 0; c < r->o.p->n_commands; c++) {
    for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
      uint32_t b = next[d->wait[k]];
      if (b != FS_NONE && !gate[b] && !over_before(r, c, b)) {
        gate[b] = true;
        d->n_gates++;
      }
    }
  }
  return FSCHED_OK;
}

static fs_status init(fs_arena *a, reducer *r) {
  const fs_barrier_problem *p = r->o.p;
  uint32_t most = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    most = (uint32_t)fs_max(most, r->d->wait0[c + 1] - r->d->wait0[c]);
  }
  r->o.first = 0;
  r->o.n = p->n_queues;
  FS_TRY(init_producers(a, r));
  FS_TRY(fs_new_zero(a, &r->o.row, (size_t)p->n_commands * p->n_queues));
  FS_TRY(fs_new_zero(a, &r->bar_row, (size_t)r->d->n * p->n_queues));
  FS_TRY(fs_new(a, &r->row, p->n_queues));
  FS_TRY(fs_new_none(a, &r->kept, r->d->n));
  FS_TRY(fs_new(a, &r->key, most));
  return fs_new(a, &r->scratch, most);
}

fs_status fs_draft_reduce(fsched_context *ctx, const fs_order *o, fs_draft *d) {
  const fs_barrier_problem *p = o->p;
  d->n_gates = 0;
  if (((uint64_t)p->n_commands + d->n) * p->n_queues > ROW_ENTRIES * 2) {
    return FSCHED_OK;
  }
  reducer r = {.o = *o, .d = d};
  fs_arena scratch;
  fs_arena_init(&scratch, ctx);
  fs_status status = init(&scratch, &r);
  if (status == FSCHED_OK) {
    reduce_all(&r);
    compact(p, d);
    status = count_gates(&scratch, &r);
  }
  fs_arena_release(&scratch);
  return status;
}
