/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are made in the problem's order: one is the component maximum of what the queue's previous
 * command knew and the items that are waited for know at their ends.  Where rows for all queues
 * would take too much room, callers ask for some queues at a time. */
#include "barrier/order.h"

enum { ROW_ENTRIES = 1 << 25 };

bool fs_order_fits(const fs_barrier_problem *p) {
  return (uint64_t)p->n_commands * p->n_queues <= ROW_ENTRIES;
}

uint32_t fs_order_width(const fs_barrier_problem *p) {
  return (uint32_t)fs_min(p->n_queues, ROW_ENTRIES / fs_max(p->n_commands, 1) + 1);
}

fs_status fs_order_init(fs_arena *arena, const fs_barrier_problem *p, fs_order *o) {
  assert(p->n_queues > 0 || p->n_commands == 0);
  uint32_t *queue, *index;
  *o = (fs_order){.p = p};
  FS_TRY(fs_new(arena, &queue, p->n_commands));
  FS_TRY(fs_new(arena, &index, p->n_commands));
  for (uint32_t q = 0; q < p->n_queues; q++) {
    for (uint32_t c = p->queue_command0[q]; c < p->queue_command0[q + 1]; c++) {
      queue[c] = q;
      index[c] = c - p->queue_command0[q];
    }
  }
  o->queue = queue;
  o->index = index;
  return FSCHED_OK;
}

static void raise(uint32_t *row, const uint32_t *by, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    row[i] = row[i] > by[i] ? row[i] : by[i];
  }
}

static void raise_one(const fs_order *o, uint32_t *row, uint32_t queue, uint32_t count) {
  assert(queue < o->p->n_queues);
  uint32_t i = queue - o->first; /* wraps around below `first` */
  if (i < o->n && row[i] < count) {
    row[i] = count;
  }
}

void fs_order_over(const fs_order *o, uint32_t u, uint32_t *row) {
  assert(o->row != NULL && u < o->p->n_items);
  const fs_barrier_problem *p = o->p;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t m = p->item_command[k];
    raise(row, o->row + (size_t)m * o->n, o->n);
    raise_one(o, row, o->queue[m], o->index[m] + 1);
  }
}

void fs_order_queue(const fs_order *o, uint32_t c, uint32_t *row) {
  assert(o->row != NULL && c < o->p->n_commands);
  uint32_t before = fs_order_previous(o, c);
  if (before != FS_NONE) {
    raise(row, o->row + (size_t)before * o->n, o->n);
  }
  raise_one(o, row, o->queue[c], o->index[c]);
}

fs_status fs_order_rows(fs_arena *arena, fs_order *o, uint32_t first, uint32_t n) {
  assert(first <= o->p->n_queues && n <= o->p->n_queues - first);
  const fs_barrier_problem *p = o->p;
  o->first = first;
  o->n = n;
  FS_TRY(fs_new_zero(arena, &o->row, (size_t)p->n_commands * n));
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t v = p->order[i];
    for (uint32_t k = p->item_command0[v]; k < p->item_command0[v + 1]; k++) {
      uint32_t c = p->item_command[k];
      uint32_t *row = o->row + (size_t)c * n;
      fs_order_queue(o, c, row);
      for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
        fs_order_over(o, p->pred[e], row);
      }
    }
  }
  return FSCHED_OK;
}
