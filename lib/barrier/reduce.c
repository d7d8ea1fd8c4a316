/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats the reduction of links.c for barriers instead of items, with the added orders.  Items are
 * taken in the draft's order.  A barrier's row has what is known when all its producers are over;
 * it passes to the commands that wait for the barrier.  An item with several barriers is known to
 * be over only by all of them together, since each stands for a part of its work.
 *
 * A barrier may have as many producers as there are items, and as many commands may wait for it.
 * So only the last of its producers' commands on each axis is looked at, which is over after the
 * others.
 *
 * This leaves waits that only several others together imply, and updates that no command needs:
 * each waiting command knows by its queue, or from the start of another producer, that the updating
 * command is over.  Orders have no cycles, so all that others imply can be dropped at once: the
 * others that are left still imply them. */
#include "barrier/draft.h"
#include "base/group.h"
#include "base/radix.h"

enum { ROW_ENTRIES = 1 << 25 };

typedef struct draft_reducer {
  fs_order o;            /* rows of the new closure */
  const uint32_t *asked; /* the problem's rows, or NULL */
  fs_barrier_draft *d;
  uint32_t *producer0, *producer;     /* CSR per barrier: items */
  uint32_t *final0, *final;           /* CSR per barrier: its producers' last commands on axes */
  uint32_t *part0, *part;             /* CSR per barrier: producers that have further barriers */
  uint32_t *bar_row;                  /* per barrier, axis: known after its producers */
  uint32_t *begun;                    /* the same, known when its producers have started */
  fs_row_span *bar_span, *begun_span; /* per barrier, of these rows */
  bool *needed;                       /* per command: its update is needed */
  uint32_t *last;                     /* per barrier: index in seq of its last producer */
  uint32_t *row;                      /* of the current command */
  fs_row_span span;                   /* of `row` */
  uint32_t *kept;                     /* per barrier: the last command that kept it */
  uint64_t *key, *scratch;
} draft_reducer;

static fs_status init_producers(fs_arena *a, draft_reducer *r) {
  const fs_barrier_draft *d = r->d;
  uint32_t n_items = r->o.p->n_items;
  FS_TRY(fs_new_zero(a, &r->producer0, (size_t)d->n + 2));
  FS_TRY(fs_new(a, &r->producer, d->bar0[n_items]));
  FS_TRY(fs_new_zero(a, &r->last, d->n));
  for (uint32_t i = 0; i < d->bar0[n_items]; i++) {
    r->producer0[d->bar[i] + 2]++;
  }
  fs_group_sum(r->producer0, d->n);
  for (uint32_t i = 0; i < n_items; i++) {
    uint32_t u = d->seq[i];
    for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
      r->producer[r->producer0[d->bar[k] + 1]++] = u;
      r->last[d->bar[k]] = i;
    }
  }
  return FSCHED_OK;
}

/* Lists the producers' last command on each axis, which is over after the others there. */
static uint32_t list_final(draft_reducer *r, uint32_t b, uint32_t *mark, uint32_t n) {
  assert(b < r->d->n);
  const fs_barrier_problem *p = r->o.p;
  uint32_t first = n;
  for (uint32_t k = r->producer0[b]; k < r->producer0[b + 1]; k++) {
    uint32_t u = r->producer[k];
    for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1]; i++) {
      uint32_t c = p->item_command[i];
      uint32_t *at = &mark[r->o.axis[c]]; /* where in `final`; of another barrier: below `first` */
      if (*at == FS_NONE || *at < first) {
        *at = n++;
        r->final[*at] = c;
      }
      r->final[*at] = (uint32_t)fs_max(r->final[*at], c);
    }
  }
  return n;
}

static fs_status init_finals(fs_arena *a, draft_reducer *r) {
  const fs_barrier_draft *d = r->d;
  const fs_barrier_problem *p = r->o.p;
  uint32_t *mark;
  size_t n_final = 0;
  uint32_t n_part = 0;
  for (uint32_t k = 0; k < r->producer0[d->n]; k++) {
    uint32_t u = r->producer[k];
    n_final += p->item_command0[u + 1] - p->item_command0[u];
    n_part += d->bar0[u + 1] - d->bar0[u] > 1;
  }
  FS_TRY(fs_new_none(a, &mark, r->o.n_axes));
  FS_TRY(fs_new(a, &r->final0, (size_t)d->n + 1));
  FS_TRY(fs_new(a, &r->final, n_final));
  FS_TRY(fs_new(a, &r->part0, (size_t)d->n + 1));
  FS_TRY(fs_new(a, &r->part, n_part));
  uint32_t n = 0;
  n_part = 0;
  for (uint32_t b = 0; b < d->n; b++) {
    r->final0[b] = n;
    r->part0[b] = n_part;
    n = list_final(r, b, mark, n);
    for (uint32_t k = r->producer0[b]; k < r->producer0[b + 1]; k++) {
      uint32_t u = r->producer[k];
      if (d->bar0[u + 1] - d->bar0[u] > 1) {
        r->part[n_part++] = u;
      }
    }
  }
  r->final0[d->n] = n;
  r->part0[d->n] = n_part;
  return FSCHED_OK;
}

/* Is it known that all producers of b are over?  Never for a part of an item, since the other parts
 * would remain without all of its slots. */
static bool all_known(const draft_reducer *r, uint32_t b) {
  bool all = r->part0[b] == r->part0[b + 1];
  for (uint32_t k = r->final0[b]; k < r->final0[b + 1] && all; k++) {
    uint32_t c = r->final[k];
    all = r->row[r->o.axis[c]] > r->o.index[c];
  }
  return all;
}

static void keep_barrier(draft_reducer *r, uint32_t c, uint32_t b) {
  assert(b < r->d->n && r->kept[b] != c);
  const fs_barrier_draft *d = r->d;
  r->kept[b] = c;
  fs_order_raise(r->row, &r->span, r->bar_row + (size_t)b * r->o.n, r->bar_span[b]);
  for (uint32_t k = r->part0[b]; k < r->part0[b + 1]; k++) {
    uint32_t u = r->part[k];
    bool all = true;
    for (uint32_t j = d->bar0[u]; j < d->bar0[u + 1] && all; j++) {
      all = r->kept[d->bar[j]] == c;
    }
    if (all) {
      fs_order_over(&r->o, u, r->row, &r->span);
    }
  }
}

/* Leaves the command's necessary waits where they are; the others become FS_NONE. */
static void reduce(draft_reducer *r, uint32_t c) {
  const fs_barrier_draft *d = r->d;
  fs_row_clear(r->row, &r->span);
  fs_order_queue(&r->o, c, r->row, &r->span);
  uint32_t n = 0;
  for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
    r->key[n++] = (uint64_t)(UINT32_MAX - r->last[d->wait[k]]) << 32 | d->wait[k];
  }
  if (n > 1) {
    fs_radix_sort(r->key, r->scratch, n);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!all_known(r, (uint32_t)r->key[i])) {
      keep_barrier(r, c, (uint32_t)r->key[i]);
    }
  }
  for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
    d->wait[k] = r->kept[d->wait[k]] == c ? d->wait[k] : FS_NONE;
  }
}

static void update_bars(draft_reducer *r, uint32_t u) {
  assert(u < r->o.p->n_items);
  const fs_barrier_draft *d = r->d;
  const fs_barrier_problem *p = r->o.p;
  uint32_t first = p->item_command0[u];
  bool whole = d->bar0[u + 1] - d->bar0[u] == 1;
  for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
    uint32_t *row = r->bar_row + (size_t)d->bar[k] * r->o.n;
    fs_row_span *span = &r->bar_span[d->bar[k]];
    if (whole) {
      fs_order_over(&r->o, u, row, span);
    } else if (p->item_command0[u + 1] - first == 1) { /* the item has at least started */
      uint32_t c = p->item_command[first];
      fs_order_raise(row, span, r->o.row + (size_t)c * r->o.n, r->o.span[c]);
    }
  }
}

static void reduce_all(draft_reducer *r) {
  const fs_barrier_problem *p = r->o.p;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = r->d->seq[i];
    for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
      uint32_t c = p->item_command[k];
      reduce(r, c);
      fs_order_raise(r->o.row + (size_t)c * r->o.n, &r->o.span[c], r->row, r->span);
    }
    update_bars(r, u);
  }
}

static void compact(const fs_barrier_problem *p, fs_barrier_draft *d) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    uint32_t from = d->wait0[c];
    d->wait0[c] = n;
    assert(n <= from);
    for (uint32_t k = from; k < d->wait0[c + 1]; k++) {
      if (d->wait[k] != FS_NONE) {
        d->wait[n++] = d->wait[k];
      }
    }
  }
  d->wait0[p->n_commands] = n;
}

/* Lets a barrier take over from the latest awaited one before it: the others are not made. */
static void relink(fs_barrier_draft *d, const bool *waited) {
  for (uint32_t b = 0; b < d->n; b++) {
    while (waited[b] && d->before[b] != FS_NONE && !waited[d->before[b]]) {
      d->before[b] = d->before[d->before[b]];
    }
  }
  for (uint32_t b = 0; b < d->n; b++) {
    d->before[b] = waited[b] ? d->before[b] : FS_NONE;
  }
}

/* --- updates that no command needs --- */

/* Does the barrier stand for a part of a gang?  Which members that part has is not known here. */
static bool has_part_of_gang(const draft_reducer *r, uint32_t b) {
  const uint32_t *item0 = r->o.p->item_command0;
  bool has = false;
  for (uint32_t k = r->part0[b]; k < r->part0[b + 1] && !has; k++) {
    has = item0[r->part[k] + 1] - item0[r->part[k]] > 1;
  }
  return has;
}

/* Adds what the members of item u that update its j-th barrier know when they start. */
static void add_begun(const draft_reducer *r, uint32_t u, uint32_t j) {
  assert(j < r->d->bar0[u + 1] - r->d->bar0[u]);
  const fs_barrier_problem *p = r->o.p;
  uint64_t members = p->item_command0[u + 1] - p->item_command0[u];
  uint64_t demand = p->demand == NULL ? 1 : p->demand[u];
  uint64_t low = j * p->n_slots / demand, end = ((j + 1) * p->n_slots - 1) / demand + 1;
  bool whole = r->d->bar0[u + 1] - r->d->bar0[u] == 1;
  uint32_t b = r->d->bar[r->d->bar0[u] + j];
  for (uint64_t k = whole ? 0 : low; k < (whole ? members : fs_min(members, end)); k++) {
    uint32_t c = p->item_command[p->item_command0[u] + k];
    fs_order_raise(r->begun + (size_t)b * r->o.n, &r->begun_span[b], r->o.row + (size_t)c * r->o.n,
                   r->o.span[c]);
  }
}

static void make_begun(const draft_reducer *r) {
  for (uint32_t u = 0; u < r->o.p->n_items; u++) {
    for (uint32_t j = 0; j < r->d->bar0[u + 1] - r->d->bar0[u]; j++) {
      add_begun(r, u, j);
    }
  }
}

/* Command c needs the updates that nothing else implies; a wait without such updates is dropped. */
static void find_needed(draft_reducer *r, uint32_t c) {
  const fs_barrier_draft *d = r->d;
  fs_row_clear(r->row, &r->span);
  fs_order_queue(&r->o, c, r->row, &r->span);
  for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
    uint32_t b = d->wait[k];
    fs_order_raise(r->row, &r->span, r->begun + (size_t)b * r->o.n, r->begun_span[b]);
  }
  for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
    uint32_t b = d->wait[k];
    bool needed = r->part0[b] < r->part0[b + 1];
    for (uint32_t i = r->final0[b]; i < r->final0[b + 1]; i++) {
      uint32_t f = r->final[i];
      if (r->row[r->o.axis[f]] <= r->o.index[f]) {
        r->needed[f] = true;
        needed = true;
      }
    }
    d->wait[k] = needed ? b : FS_NONE;
  }
}

/* Silences the updates, of items with one barrier, that no command needs. */
static void silence(draft_reducer *r, const bool *waited) {
  const fs_barrier_problem *p = r->o.p;
  const fs_barrier_draft *d = r->d;
  for (uint32_t b = 0; b < d->n; b++) {
    bool fixed = !waited[b] || has_part_of_gang(r, b);
    for (uint32_t k = r->producer0[b]; k < r->producer0[b + 1] && !fixed; k++) {
      uint32_t u = r->producer[k];
      bool whole = d->bar0[u + 1] - d->bar0[u] == 1;
      for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1] && whole; i++) {
        d->silent[p->item_command[i]] = !r->needed[p->item_command[i]];
      }
    }
  }
}

/* Takes the barriers from items that update nothing any more. */
static void compact_bars(const fs_barrier_problem *p, fs_barrier_draft *d) {
  uint32_t n = 0;
  uint32_t from = 0;
  for (uint32_t u = 0; u < p->n_items; u++) {
    bool silent = true;
    for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1] && silent; i++) {
      silent = d->silent[p->item_command[i]];
    }
    uint32_t end = d->bar0[u + 1];
    d->bar0[u] = n;
    for (; from < end; from++) {
      if (!silent) {
        d->bar[n++] = d->bar[from];
      }
    }
  }
  d->bar0[p->n_items] = n;
}

static fs_status drop_needless(fs_arena *arena, fs_arena *a, draft_reducer *r) {
  const fs_barrier_problem *p = r->o.p;
  fs_barrier_draft *d = r->d;
  bool *waited;
  FS_TRY(fs_new_zero(arena, &d->silent, p->n_commands));
  FS_TRY(fs_new_zero(a, &r->needed, p->n_commands));
  FS_TRY(fs_new_zero(a, &r->begun, (size_t)d->n * r->o.n_axes));
  FS_TRY(fs_new_zero(a, &r->begun_span, d->n));
  FS_TRY(fs_new_zero(a, &waited, d->n));
  make_begun(r);
  for (uint32_t c = 0; c < p->n_commands; c++) {
    find_needed(r, c);
  }
  compact(p, d);
  for (uint32_t k = 0; k < d->wait0[p->n_commands]; k++) {
    waited[d->wait[k]] = true;
  }
  relink(d, waited);
  silence(r, waited);
  compact_bars(p, d);
  return FSCHED_OK;
}

/* --- gates --- */

/* Is command c over before another starts, by the orders of the draft, or of the problem, which the
 * draft keeps? */
static bool is_over(const draft_reducer *r, uint32_t c, uint32_t before) {
  size_t at = (size_t)before * r->o.n + r->o.axis[c];
  return r->o.row[at] > r->o.index[c] || (r->asked != NULL && r->asked[at] > r->o.index[c]);
}

/* Is command c over before all members of u that update b start? */
static bool over_before_members(const draft_reducer *r, uint32_t c, uint32_t u, uint32_t b) {
  assert(c < r->o.p->n_commands && u < r->o.p->n_items);
  const fs_barrier_problem *p = r->o.p;
  const fs_barrier_draft *d = r->d;
  uint32_t j = 0, n = d->bar0[u + 1] - d->bar0[u];
  while (j < n && d->bar[d->bar0[u] + j] != b) {
    j++;
  }
  for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1] && j < n; i++) {
    uint32_t member = p->item_command[i];
    if (!d->silent[member] && fs_barrier_draft_slots(p, u, i - p->item_command0[u], j) > 0 &&
        !is_over(r, c, member)) {
      return false;
    }
  }
  return true;
}

/* Is command c over before all producers of b start? */
static bool over_before(const draft_reducer *r, uint32_t c, uint32_t b) {
  for (uint32_t k = r->producer0[b]; k < r->producer0[b + 1]; k++) {
    if (!over_before_members(r, c, r->producer[k], b)) {
      return false;
    }
  }
  return true;
}

/* Counts the hand-overs where a command that waited may still run when a producer starts. */
static fs_status count_gates(fs_arena *a, const draft_reducer *r) {
  fs_barrier_draft *d = r->d;
  uint32_t *next; /* per barrier: the one after it */
  bool *gate;
  FS_TRY(fs_new_none(a, &next, d->n));
  FS_TRY(fs_new_zero(a, &gate, d->n));
  for (uint32_t b = 0; b < d->n; b++) {
    if (d->before[b] != FS_NONE) {
      next[d->before[b]] = b;
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

static fs_status init(fs_arena *a, draft_reducer *r) {
  const fs_barrier_problem *p = r->o.p;
  uint32_t most = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    most = (uint32_t)fs_max(most, r->d->wait0[c + 1] - r->d->wait0[c]);
  }
  FS_TRY(init_producers(a, r));
  FS_TRY(init_finals(a, r));
  FS_TRY(fs_order_room(a, &r->o, 0, r->o.n_axes));
  FS_TRY(fs_new_zero(a, &r->bar_row, (size_t)r->d->n * r->o.n_axes));
  FS_TRY(fs_new_zero(a, &r->bar_span, r->d->n));
  FS_TRY(fs_new_zero(a, &r->row, r->o.n_axes));
  FS_TRY(fs_new_none(a, &r->kept, r->d->n));
  FS_TRY(fs_new(a, &r->key, most));
  return fs_new(a, &r->scratch, most);
}

static fs_status reduce_draft(fs_arena *arena, fs_arena *a, draft_reducer *r) {
  FS_TRY(init(a, r));
  reduce_all(r);
  compact(r->o.p, r->d);
  FS_TRY(drop_needless(arena, a, r));
  return count_gates(a, r);
}

fs_status fs_barrier_draft_reduce(fsched_context *ctx, fs_arena *arena, const fs_order *o,
                                  fs_barrier_draft *d) {
  assert(d->seq != NULL || o->p->n_items == 0);
  const fs_barrier_problem *p = o->p;
  d->n_gates = 0;
  if (((uint64_t)p->n_commands + d->n) * o->n_axes > ROW_ENTRIES * 2) {
    return FSCHED_OK;
  }
  draft_reducer r = {.o = *o, .d = d, .asked = o->row};
  FS_SCRATCH(scratch, ctx);
  return reduce_draft(arena, &scratch, &r);
}
