/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are made in the problem's order: one is the component maximum of what the queue's previous
 * command knew and the items that are waited for know at their ends.  Where rows for all axes
 * would take too much room, callers ask for some axes at a time. */
#include "barrier/order.h"

enum {
  LANE = 4, /* entries that are raised at a time */
#ifdef FS_STRESS
  SWEEP_ENTRIES = 4,
#else
  SWEEP_ENTRIES = 1 << 23,
#endif
  ROW_ENTRIES = 1 << 25
};

bool fs_order_fits(const fs_order *o) {
  assert(o->axis != NULL || o->p->n_commands == 0);
  return (uint64_t)o->p->n_commands * o->n_axes <= ROW_ENTRIES;
}

fs_status fs_order_init(fs_arena *arena, const fs_barrier_problem *p, fs_order *o) {
  assert(p->n_queues > 0 || p->n_commands == 0);
  uint32_t *queue, *axis, *index;
  *o = (fs_order){.p = p, .n_axes = p->n_queues};
  FS_TRY(fs_new(arena, &queue, p->n_commands));
  FS_TRY(fs_new(arena, &axis, p->n_commands));
  FS_TRY(fs_new(arena, &index, p->n_commands));
  for (uint32_t q = 0; q < p->n_queues; q++) {
    uint32_t quick = 0;
    for (uint32_t c = p->queue_command0[q]; c < p->queue_command0[q + 1]; c++) {
      bool slow = fs_barrier_slow(p, p->command_item[c]);
      queue[c] = q;
      axis[c] = slow ? o->n_axes++ : q;
      index[c] = slow ? 0 : quick++;
    }
  }
  o->queue = queue;
  o->axis = axis;
  o->index = index;
  return FSCHED_OK;
}

/* The span becomes one that covers another, too. */
static void grow_span(fs_row_span *span, fs_row_span by) {
  if (span->from == span->to) {
    *span = by;
  } else if (by.from < by.to) {
    span->from = by.from < span->from ? by.from : span->from;
    span->to = by.to > span->to ? by.to : span->to;
  }
}

void fs_order_raise(uint32_t *row, fs_row_span *span, const uint32_t *by, fs_row_span by_span) {
  assert(row != by || by_span.from == by_span.to);
  grow_span(span, by_span);
  size_t i = by_span.from;
  for (; i + LANE <= by_span.to; i += LANE) {
    for (size_t k = 0; k < LANE; k++) {
      row[i + k] = row[i + k] > by[i + k] ? row[i + k] : by[i + k];
    }
  }
  for (; i < by_span.to; i++) {
    row[i] = row[i] > by[i] ? row[i] : by[i];
  }
}

static void raise_one(const fs_order *o, uint32_t *row, fs_row_span *span, uint32_t axis,
                      uint32_t count) {
  assert(axis < o->n_axes);
  uint32_t i = axis - o->first; /* wraps around below `first` */
  if (i < o->n && row[i] < count) {
    row[i] = count;
    grow_span(span, (fs_row_span){i, i + 1});
  }
}

/* By the row of a command. */
static void raise_by(const fs_order *o, uint32_t *row, fs_row_span *span, uint32_t command) {
  fs_order_raise(row, span, o->row + (size_t)command * o->n, o->span[command]);
}

void fs_order_over(const fs_order *o, uint32_t u, uint32_t *row, fs_row_span *span) {
  assert(o->row != NULL && u < o->p->n_items);
  const fs_barrier_problem *p = o->p;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t m = p->item_command[k];
    raise_by(o, row, span, m);
    raise_one(o, row, span, o->axis[m], o->index[m] + 1);
  }
}

/* By the command before c on its queue, which is over unless it is slow. */
static void raise_over(const fs_order *o, uint32_t *row, fs_row_span *span, uint32_t before) {
  if (!fs_barrier_slow(o->p, o->p->command_item[before])) {
    raise_one(o, row, span, o->axis[before], o->index[before] + 1);
  }
}

void fs_order_queue(const fs_order *o, uint32_t c, uint32_t *row, fs_row_span *span) {
  assert(o->row != NULL && c < o->p->n_commands);
  uint32_t before = fs_order_previous(o, c);
  if (before != FS_NONE) {
    raise_by(o, row, span, before);
    raise_over(o, row, span, before);
  }
}

fs_status fs_order_room(fs_arena *arena, fs_order *o, uint32_t first, uint32_t n) {
  assert(first <= o->n_axes && n <= o->n_axes - first);
  o->first = first;
  o->n = n;
  FS_TRY(fs_new_zero(arena, &o->span, o->p->n_commands));
  return fs_new_zero(arena, &o->row, (size_t)o->p->n_commands * n);
}

fs_status fs_order_rows(fs_arena *arena, fs_order *o, uint32_t first, uint32_t n) {
  const fs_barrier_problem *p = o->p;
  assert(n <= o->n_axes);
  FS_TRY(fs_order_room(arena, o, first, n));
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t v = p->order[i];
    for (uint32_t k = p->item_command0[v]; k < p->item_command0[v + 1]; k++) {
      uint32_t c = p->item_command[k];
      uint32_t *row = o->row + (size_t)c * n;
      fs_order_queue(o, c, row, &o->span[c]);
      for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
        fs_order_over(o, p->pred[e], row, &o->span[c]);
      }
    }
  }
  return FSCHED_OK;
}

/* --- rows that are needed once --- */

static void take_rows(fs_order_sweep *s, uint32_t v) {
  const fs_barrier_problem *p = s->o.p;
  for (uint32_t k = p->item_command0[v]; k < p->item_command0[v + 1]; k++) {
    s->slot[p->item_command[k]] = s->n_free > 0 ? s->free_slot[--s->n_free] : s->n_slots++;
  }
}

/* Gives an item's rows back if no later item needs them. */
static void give_rows(fs_order_sweep *s, uint32_t u) {
  const fs_barrier_problem *p = s->o.p;
  for (uint32_t k = p->item_command0[u]; s->uses[u] == 0 && k < p->item_command0[u + 1]; k++) {
    s->free_slot[s->n_free++] = s->slot[p->item_command[k]];
  }
}

static void use_rows(fs_order_sweep *s, uint32_t u) {
  assert(s->uses[u] > 0);
  s->uses[u]--;
  give_rows(s, u);
}

/* After the rows of v were made: those before it are needed by one item less. */
static void leave_item(fs_order_sweep *s, uint32_t v) {
  const fs_barrier_problem *p = s->o.p;
  for (uint32_t k = p->item_command0[v]; k < p->item_command0[v + 1]; k++) {
    uint32_t c = p->item_command[k], before = fs_order_previous(&s->o, c);
    if (before != FS_NONE) {
      use_rows(s, p->command_item[before]);
    }
    for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
      use_rows(s, p->pred[e]);
    }
  }
}

static void begin_sweep(fs_order_sweep *s) {
  const fs_barrier_problem *p = s->o.p;
  s->n_slots = s->n_free = 0;
  memset(s->uses, 0, p->n_items * sizeof *s->uses);
  for (uint32_t c = 0; c < p->n_commands; c++) {
    uint32_t before = fs_order_previous(&s->o, c);
    if (before != FS_NONE) {
      s->uses[p->command_item[before]]++;
    }
    for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
      s->uses[p->pred[e]]++;
    }
  }
}

fs_status fs_order_sweep_init(fs_arena *arena, const fs_order *o, fs_order_sweep *s) {
  assert(o->queue != NULL || o->p->n_commands == 0);
  const fs_barrier_problem *p = o->p;
  *s = (fs_order_sweep){.o = *o};
  FS_TRY(fs_new(arena, &s->uses, p->n_items));
  FS_TRY(fs_new(arena, &s->slot, p->n_commands));
  FS_TRY(fs_new(arena, &s->free_slot, p->n_commands));
  begin_sweep(s);
  for (uint32_t i = 0; i < p->n_items; i++) { /* to see how many rows there are at once */
    take_rows(s, p->order[i]);
    leave_item(s, p->order[i]);
    give_rows(s, p->order[i]);
  }
  s->width = (uint32_t)fs_min(o->n_axes, SWEEP_ENTRIES / fs_max(s->n_slots, 1) + 1);
  return fs_new(arena, &s->o.row, (size_t)s->n_slots * s->width);
}

void fs_order_sweep_begin(fs_order_sweep *s, uint32_t first) {
  assert(first < s->o.n_axes);
  s->o.first = first;
  s->o.n = (uint32_t)fs_min(s->width, s->o.n_axes - first);
  s->item = FS_NONE;
  begin_sweep(s);
}

void fs_order_sweep_next(fs_order_sweep *s, uint32_t v) {
  assert(v < s->o.p->n_items);
  const fs_order *o = &s->o;
  const fs_barrier_problem *p = o->p;
  if (s->item != FS_NONE) {
    give_rows(s, s->item);
  }
  s->item = v;
  take_rows(s, v);
  for (uint32_t k = p->item_command0[v]; k < p->item_command0[v + 1]; k++) {
    uint32_t c = p->item_command[k], before = fs_order_previous(o, c);
    uint32_t *row = o->row + (size_t)s->slot[c] * o->n;
    if (before == FS_NONE) {
      memset(row, 0, o->n * sizeof *row);
    } else {
      memcpy(row, o->row + (size_t)s->slot[before] * o->n, o->n * sizeof *row);
    }
    fs_row_span all = {0, o->n};
    if (before != FS_NONE) {
      raise_over(o, row, &all, before);
    }
    for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
      uint32_t u = p->pred[e];
      for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1]; i++) {
        uint32_t m = p->item_command[i];
        fs_order_raise(row, &all, o->row + (size_t)s->slot[m] * o->n, all);
        raise_one(o, row, &all, o->axis[m], o->index[m] + 1);
      }
    }
  }
  leave_item(s, v);
}
