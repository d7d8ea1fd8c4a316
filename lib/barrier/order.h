/* SPDX-License-Identifier: Apache-2.0 */
/* What is over before an item starts: the closure of queue order and waits, as rows of clocks.
 *
 * A clock has an axis for each queue, on which its quick commands are over one after the other, and
 * behind these one for each slow command, which is over whenever it is.
 *
 * A row belongs to a command.  The common start of a gang's members is not used: each member knows
 * only the orders of its own queue and waits. */
#ifndef FS_BARRIER_ORDER_H
#define FS_BARRIER_ORDER_H

#include "barrier/barrier.h"

/* Of a row's entries, those that may not be 0: from `from` to before `to`. */
typedef struct fs_row_span {
  uint32_t from, to;
} fs_row_span;

typedef struct fs_order {
  const fs_barrier_problem *p;
  const uint32_t *queue;        /* per command: its queue */
  const uint32_t *axis, *index; /* per command: its axis, its index there */
  uint32_t n_axes;
  uint32_t first, n; /* the axes of these rows */
  uint32_t *row;     /* per command n entries: number of commands of axis first + k that are over */
  fs_row_span *span; /* per command, of its row */
} fs_order;

/* Fills queue, axis and index of every command, but no rows.  Requires a problem with queues for
 * its commands. */
fs_status fs_order_init(fs_arena *arena, const fs_barrier_problem *p, fs_order *o) FS_MUST_USE;
/* Whether rows for all axes are small enough to be made. */
bool fs_order_fits(const fs_order *o);
/* Makes room for rows of n axes from `first` on, all of them 0.  Requires such axes. */
fs_status fs_order_room(fs_arena *arena, fs_order *o, uint32_t first, uint32_t n) FS_MUST_USE;
/* Makes rows for n axes from `first` on, from the problem's own waits.  Requires such axes.
 * O((commands + preds) * n). */
fs_status fs_order_rows(fs_arena *arena, fs_order *o, uint32_t first, uint32_t n) FS_MUST_USE;
/* The command before c on its queue, or FS_NONE.  Requires a command. */
static inline uint32_t fs_order_previous(const fs_order *o, uint32_t c) {
  assert(c < o->p->n_commands);
  return c == o->p->queue_command0[o->queue[c]] ? FS_NONE : c - 1;
}
/* u is over, as far as `row` says: members on other axes than those of the rows do not count.
 * Requires rows, and an item. */
static inline bool fs_order_in(const fs_order *o, const uint32_t *row, uint32_t u) {
  FS_ASSERT_SLOW(o->row != NULL && u < o->p->n_items);
  const fs_barrier_problem *p = o->p;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t m = p->item_command[k];
    uint32_t i = o->axis[m] - o->first; /* wraps around below `first` */
    if (i < o->n && row[i] <= o->index[m]) {
      return false;
    }
  }
  return true;
}
/* u is over before command c starts, as far as these rows say.  Requires rows, an item, and a
 * command. */
static inline bool fs_order_before(const fs_order *o, uint32_t u, uint32_t c) {
  FS_ASSERT_SLOW(c < o->p->n_commands);
  return fs_order_in(o, o->row + (size_t)c * o->n, u);
}
/* Raises `row` to another row, whose entries are in the span `by_span`, and *span with it. Requires
 * two rows, unless the span is empty. */
void fs_order_raise(uint32_t *row, fs_row_span *span, const uint32_t *by, fs_row_span by_span);
/* Raises `row` by the commands known to be over when item u is, and *span with it.  Requires rows,
 * and an item. */
void fs_order_over(const fs_order *o, uint32_t u, uint32_t *row, fs_row_span *span);
/* Raises `row` by the commands known to be over, by queue order alone, when command c starts, and
 * *span with it.  Requires rows, and a command. */
void fs_order_queue(const fs_order *o, uint32_t c, uint32_t *row, fs_row_span *span);
/* Makes all entries of a row 0, and its span empty. */
static inline void fs_row_clear(uint32_t *row, fs_row_span *span) {
  if (span->from < span->to) {
    memset(row + span->from, 0, (span->to - span->from) * sizeof *row);
  }
  *span = (fs_row_span){0, 0};
}

/* The same rows, one item after the other in the problem's order.  Each is given up when no later
 * item needs it; where too many are needed at once, rows are of some axes at a time. */
typedef struct fs_order_sweep {
  fs_order o;     /* first, n: the axes of the present rows */
  uint32_t width; /* axes at a time, at least 1 */
  uint32_t *uses; /* per item: how often later items need its rows */
  uint32_t *slot; /* per command: where its row is */
  uint32_t *free_slot, n_free, n_slots;
  uint32_t item; /* the latest; FS_NONE at the beginning */
} fs_order_sweep;

/* Requires that `o` has queues and places of the commands. */
fs_status fs_order_sweep_init(fs_arena *arena, const fs_order *o, fs_order_sweep *s) FS_MUST_USE;
/* Begins anew, with the axes from `first` on.  Requires an axis. */
void fs_order_sweep_begin(fs_order_sweep *s, uint32_t first);
/* Makes the rows of the commands of v.  Requires that v comes next in the problem's order.
 * O((commands + preds) * n). */
void fs_order_sweep_next(fs_order_sweep *s, uint32_t v);
/* The row of a command of the latest item. */
static inline const uint32_t *fs_order_sweep_row(const fs_order_sweep *s, uint32_t c) {
  FS_ASSERT_SLOW(s->o.p->command_item[c] == s->item);
  return s->o.row + (size_t)s->slot[c] * s->o.n;
}

#endif
