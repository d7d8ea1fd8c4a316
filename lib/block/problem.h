/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of queues, phases and syncs as a problem of its own, apart from schedule and commands.
 *
 * An answer gives each item a queue and a phase.  Phases are issued one after the other, with a
 * full sync between them where one is needed; inside a phase items keep the planned order.  Of an
 * edge whose source must be known to be over (`full`), the source is in an earlier phase, or on the
 * same queue as the target where neither is a gang and the source is not slow, or on counting
 * queues alone; of other edges it is in no later phase.
 *
 * The measure of an answer is its makespan and `cost` for each full sync (fs_sync_total). */
#ifndef FS_BLOCK_PROBLEM_H
#define FS_BLOCK_PROBLEM_H

#include "block/orders.h"

typedef struct fs_block_problem {
  const fs_schedule *s;
  uint32_t n, n_queues;
  fs_tick cost;
  const uint32_t *order;   /* items in planned order: every edge goes forward in it */
  const uint32_t *planned; /* per item: its place there */
  fs_tick *time;           /* per item: until it is over */
  fs_tick *busy;    /* per item: until its queues are free; less than that where it is slow */
  uint32_t *domain; /* per item; FS_NONE where its queues are given */
  uint32_t n_domains;
  uint32_t *domain0, *eligible; /* CSR: queues, ascending */
  uint32_t *pred0, *succ0;      /* CSR per item; in succ, `from` is the successor */
  fs_order_edge *pred, *succ;
  bool *gang;     /* per item: it occupies queues that are given, maybe several */
  bool *counting; /* per queue */
  bool open;      /* queues are to be chosen */
  bool any_counting, any_slow;
  bool plain; /* one queue an item, no counting queue, all edges full, no given starts, none slow */
} fs_block_problem;

typedef struct fs_block_answer {
  uint32_t *queue; /* per item; for a gang its first member */
  uint32_t *phase; /* per item */
  uint32_t *order; /* items in order of issue */
  fs_tick *start;  /* per item */
  fs_tick makespan;
  uint32_t syncs;
  bool late; /* an op starts after its given start */
} fs_block_answer;

/* Makes the problem from the edges of the graph, copies' data, control edges of `y` and plan
 * orders.  With `open` queues are to be chosen; the control edges must then hold for any queues.
 * Requires orders with phases.  The arrays live in `arena`.
 * Complexity: O(items + edges).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_problem_make(fsched_context *ctx, fs_arena *arena, const fs_orders *o,
                                const fs_accesses *acc, bool open,
                                fs_block_problem *out) FS_MUST_USE;

/* The queues that an item occupies when its queue is *queue, n of them.  Requires an item. */
static inline const uint32_t *fs_block_item_queues(const fs_block_problem *p, uint32_t item,
                                                   const uint32_t *queue, uint32_t *n) {
  FS_ASSERT_SLOW(item < p->n);
  if (p->gang[item]) {
    return fs_item_queues(p->s, item, n);
  }
  *n = 1;
  return queue;
}
/* Must the source of an edge be in an earlier phase than the target, on these queues?  Requires
 * items. */
bool fs_block_apart(const fs_block_problem *p, const uint32_t *queue, uint32_t from, bool full,
                    uint32_t to);

/* Makes room for an answer.  Errors: FSCHED_SYSTEM. */
fs_status fs_block_answer_new(fs_arena *arena, const fs_block_problem *p,
                              fs_block_answer *a) FS_MUST_USE;
/* Requires answers with room.  Copies all of it. */
void fs_block_answer_copy(const fs_block_problem *p, fs_block_answer *to,
                          const fs_block_answer *from);
/* Fills order, start, makespan and syncs from queues and phases, and renumbers the phases so that
 * each but the first begins with a full sync that something needs.  Requires queues and phases as
 * above.  Complexity: O(items + edges + phases).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_answer_fill(fsched_context *ctx, const fs_block_problem *p,
                               fs_block_answer *a) FS_MUST_USE;
#endif
