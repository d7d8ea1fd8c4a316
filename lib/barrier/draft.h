/* SPDX-License-Identifier: Apache-2.0 */
/* A draft: who updates and waits for which barrier, which barriers follow each other on a physical
 * one, and an order of all items in which every wait and hand-over goes forward.  finish.c makes
 * the result of it. */
#ifndef FS_BARRIER_DRAFT_H
#define FS_BARRIER_DRAFT_H

#include "barrier/links.h"

typedef struct fs_barrier_draft {
  uint32_t n;             /* barriers */
  uint32_t *bar0, *bar;   /* CSR per item: its barriers; all but the last are its own and full */
  uint32_t *id, *before;  /* per barrier: physical; the one that had that before it, or FS_NONE */
  uint32_t *wait0, *wait; /* CSR per command, without repeats */
  bool *silent;           /* per command: updates nothing; NULL: none is */
  uint32_t *seq;          /* items */
  uint32_t n_gates;       /* of fs_barrier_draft_reduce */
  uint32_t *number;       /* if not NULL, all FS_NONE: the numbers are put here in the end */
  uint64_t n_extra;       /* waits that the problem does not ask for: a measure of added orders */
} fs_barrier_draft;

/* Slots of the k-th member of item u lie one after the other, cut into barriers: those that it
 * takes of the j-th barrier of the item, perhaps none.  Requires an item. */
static inline uint64_t fs_barrier_draft_slots(const fs_barrier_problem *p, uint32_t u, uint64_t k,
                                              uint64_t j) {
  assert(u < p->n_items);
  uint64_t demand = p->demand == NULL ? 1 : p->demand[u];
  uint64_t low = fs_max(k * demand, j * p->n_slots);
  uint64_t end = fs_min((k + 1) * demand, (j + 1) * p->n_slots);
  return low < end ? end - low : 0;
}

/* Starts by longest paths over queues, waits and hand-overs, none before the planned one, into
 * `start`, which has room for all items.  Requires items in `seq` in an order in which waits and
 * hand-overs go forward. */
fs_status fs_barrier_draft_times(fsched_context *ctx, const fs_barrier_problem *p,
                                 const fs_barrier_draft *d, fs_tick *start,
                                 fs_tick *makespan) FS_MUST_USE;
/* Drops the waits that others and the queue imply by now, and the updates that no command that
 * waits needs, and counts the hand-overs where something that waited may still run.  Barriers that
 * nobody waits for any more keep their numbers, and hold nothing up.  Items with several barriers
 * keep all.  `silent` lives in `arena`.  Does nothing where rows for all would be too large.
 * Requires an order of all items in the draft. */
fs_status fs_barrier_draft_reduce(fsched_context *ctx, fs_arena *arena, const fs_order *o,
                                  fs_barrier_draft *d) FS_MUST_USE;
/* The result: barriers numbered, arrays in place, orders compared with those of the problem, whose
 * rows `o` has where they fit.  `start` and `makespan` as from fs_barrier_draft_times.  Requires an
 * order of all items in the draft, and times. */
fs_status fs_barrier_draft_finish(fsched_context *ctx, fs_arena *arena, fs_order *o,
                                  const fs_barrier_draft *d, const fs_tick *start, fs_tick makespan,
                                  fs_barriers *out) FS_MUST_USE;

#endif
