/* SPDX-License-Identifier: Apache-2.0 */
/* What is known to be over when an item starts and ends, by queue order, edges, and orders that are
 * added: for each queue the last position in the order of issue up to which its items are over. */
#ifndef FS_SPREAD_CLOCKS_H
#define FS_SPREAD_CLOCKS_H

#include "model/access.h"

typedef struct fs_spread_clocks {
  const fs_schedule *s;
  const fs_accesses *acc;
  uint32_t n;       /* queues */
  uint32_t *over;   /* per item and queue: one more than that position, when it is over */
  uint32_t *passed; /* per queue and queue: when a queue goes on behind its last item */
  uint32_t *now;    /* per queue: when the present item starts */
} fs_spread_clocks;

/* The words that clocks of a schedule take. */
uint64_t fs_spread_clocks_words(const fs_schedule *s);
fs_status fs_spread_clocks_make(fs_arena *arena, const fs_schedule *s, const fs_accesses *acc,
                                fs_spread_clocks *out) FS_MUST_USE;
/* Begins anew, in front of the first item. */
void fs_spread_clocks_reset(fs_spread_clocks *c);
/* Items come in the order of issue: an item begins, orders are added, and it ends. */
void fs_spread_clocks_begin(fs_spread_clocks *c, uint32_t item);
void fs_spread_clocks_end(fs_spread_clocks *c, uint32_t item);
/* The present item starts when an earlier one is over. */
void fs_spread_clocks_add(fs_spread_clocks *c, uint32_t from);

/* What is over when an item is that has ended.  Requires an item of the schedule. */
static inline uint32_t *fs_spread_clocks_row(const fs_spread_clocks *c, uint32_t item) {
  FS_ASSERT_SLOW(item < c->s->n_items);
  return c->over + (size_t)item * c->n;
}
/* Whether an item is over, as a row of a clock says.  Requires an item of the schedule. */
static inline bool fs_spread_clocks_over(const fs_spread_clocks *c, const uint32_t *row,
                                         uint32_t item) {
  FS_ASSERT_SLOW(item < c->s->n_items);
  uint32_t n, position = c->acc->position[item];
  const uint32_t *queue = fs_item_queues(c->s, item, &n);
  bool over = row[queue[0]] > position;
  for (uint32_t k = 1; k < n && !over; k++) {
    over = row[queue[k]] > position;
  }
  return over;
}
/* Whether an earlier item is known to be over when the present one starts.  Requires an item of the
 * schedule. */
static inline bool fs_spread_clocks_know(const fs_spread_clocks *c, uint32_t from) {
  FS_ASSERT_SLOW(from < c->s->n_items);
  return fs_spread_clocks_over(c, c->now, from);
}
/* Whether it is known to be over when another one is, which has ended.  Requires items of the
 * schedule. */
static inline bool fs_spread_clocks_tell(const fs_spread_clocks *c, uint32_t later, uint32_t from) {
  FS_ASSERT_SLOW(later < c->s->n_items && from < c->s->n_items);
  return fs_spread_clocks_over(c, fs_spread_clocks_row(c, later), from);
}

#endif
