/* SPDX-License-Identifier: Apache-2.0 */
/* A draft: which commands update and wait for which barrier, which barriers follow each other on a
 * physical one, and an order of all items in which every wait and hand-over goes forward.  finish.c
 * turns it into the result. */
#ifndef FS_BARRIER_DRAFT_H
#define FS_BARRIER_DRAFT_H

#include "barrier/links.h"

typedef struct fs_barrier_draft {
  uint32_t n;            /* barriers */
  uint32_t *bar0, *bar;  /* CSR per item: its barriers; all but the last are full, and its alone */
  uint32_t *id, *before; /* per barrier: its physical id; the barrier that had that id before it, or
                            FS_NONE */
  uint32_t *wait0, *wait; /* CSR per command, without repeats */
  bool *silent;           /* per command: updates nothing; NULL: none is */
  uint32_t *seq;          /* items */
  uint32_t n_gates;       /* counted by fs_barrier_draft_reduce */
  uint32_t *number; /* per barrier: its final number is put here; all FS_NONE before; or NULL */
  uint64_t n_extra; /* waits that the problem does not ask for: a measure of added orders */
} fs_barrier_draft;

/* The slots, perhaps 0, that the k-th member of item u takes of the item's j-th barrier: the slots
 * of all members in sequence are cut into barriers.  Requires an item. */
static inline uint64_t fs_barrier_draft_slots(const fs_barrier_problem *p, uint32_t u, uint64_t k,
                                              uint64_t j) {
  assert(u < p->n_items);
  uint64_t demand = p->demand == NULL ? 1 : p->demand[u];
  uint64_t low = fs_max(k * demand, j * p->n_slots);
  uint64_t end = fs_min((k + 1) * demand, (j + 1) * p->n_slots);
  return low < end ? end - low : 0;
}

/* Puts starts, by longest paths over queues, waits and hand-overs and none before the planned one,
 * into `start`, which has room for all items.  Requires items in `seq` in an order in which waits
 * and hand-overs go forward. */
fs_status fs_barrier_draft_times(fsched_context *ctx, const fs_barrier_problem *p,
                                 const fs_barrier_draft *d, fs_tick *start,
                                 fs_tick *makespan) FS_MUST_USE;
/* Drops the waits that other waits and the queue imply by now, and the updates that no waiting
 * command needs, and counts the hand-overs where a command that waited may still run.  Barriers
 * that no command waits for any more keep their numbers, and hold nothing up.  Items with several
 * barriers keep all of them.  `silent` lives in `arena`.  Does nothing where rows for all would be
 * too large.  Requires an order of all items in the draft. */
fs_status fs_barrier_draft_reduce(fsched_context *ctx, fs_arena *arena, const fs_order *o,
                                  fs_barrier_draft *d) FS_MUST_USE;
/* Makes the result: numbers the barriers, fills the arrays, and compares the orders with those of
 * the problem, whose rows `o` has where they fit.  `start` and `makespan` are from
 * fs_barrier_draft_times.  Requires an order of all items in the draft, and times. */
fs_status fs_barrier_draft_finish(fsched_context *ctx, fs_arena *arena, fs_order *o,
                                  const fs_barrier_draft *d, const fs_tick *start, fs_tick makespan,
                                  fs_barriers *out) FS_MUST_USE;

#endif
