/* SPDX-License-Identifier: Apache-2.0 */
/* What is over before an item starts: the closure of queue order and waits, as rows of clocks.
 *
 * A row belongs to a command.  The common start of a gang's members is not used: each member knows
 * only the orders of its own queue and waits. */
#ifndef FS_BARRIER_ORDER_H
#define FS_BARRIER_ORDER_H

#include "barrier/barrier.h"

typedef struct fs_order {
  const fs_barrier_problem *p;
  const uint32_t *queue, *index; /* per command: its queue, its index there */
  uint32_t first, n;             /* the queues of these rows */
  uint32_t *row; /* per command n entries: number of commands of queue first + k that are over */
} fs_order;

/* Fills queue and index of every command, but no rows.  Requires a problem with queues for its
 * commands. */
fs_status fs_order_init(fs_arena *arena, const fs_barrier_problem *p, fs_order *o) FS_MUST_USE;
/* Whether rows for all queues are small enough to be made. */
bool fs_order_fits(const fs_barrier_problem *p);
/* Makes rows for n queues from `first` on, from the problem's own waits.  Requires queues of the
 * problem.  O((commands + preds) * n). */
fs_status fs_order_rows(fs_arena *arena, fs_order *o, uint32_t first, uint32_t n) FS_MUST_USE;
/* How many queues' rows fit at once, at least 1. */
uint32_t fs_order_width(const fs_barrier_problem *p);

/* The command before c on its queue, or FS_NONE.  Requires a command. */
static inline uint32_t fs_order_previous(const fs_order *o, uint32_t c) {
  assert(c < o->p->n_commands);
  return o->index[c] == 0 ? FS_NONE : c - 1;
}
/* u is over before command c starts, as far as these rows say: members on other queues do not
 * count.  Requires rows, an item, and a command. */
static inline bool fs_order_before(const fs_order *o, uint32_t u, uint32_t c) {
  FS_ASSERT_SLOW(o->row != NULL && u < o->p->n_items && c < o->p->n_commands);
  const fs_barrier_problem *p = o->p;
  const uint32_t *row = o->row + (size_t)c * o->n;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t m = p->item_command[k];
    uint32_t i = o->queue[m] - o->first; /* wraps around below `first` */
    if (i < o->n && row[i] <= o->index[m]) {
      return false;
    }
  }
  return true;
}
/* Raises `row` by the commands known to be over when item u is.  Requires rows, and an item. */
void fs_order_over(const fs_order *o, uint32_t u, uint32_t *row);
/* Raises `row` by the commands known to be over, by queue order alone, when command c starts.
 * Requires rows, and a command. */
void fs_order_queue(const fs_order *o, uint32_t c, uint32_t *row);

#endif
