/* SPDX-License-Identifier: Apache-2.0 */
/* What an order of issue has to respect, item by item, and the phases that follow from it.
 *
 * Needs: commands of other queues, or slow ones of its own, that must be over before an item
 * starts; these are the waits of the timelines, so orders that queue order and other needs already
 * imply are left out.  A need is for an epoch, all commands up to which are over: that is what a
 * sync tells, too.  Only a full sync meets a need of a queue that is not counting.
 * Edges: `from` is issued before `to`, in an earlier phase when a full sync must lie between.  They
 * are the needs, queue order, and plan orders: those that the planned times have to show though no
 * data would be wrong otherwise (a version is at one place at a time; a residency without bytes is
 * read after it is written).
 *
 * The phase of an item counts the full syncs before it.  `early` is the longest path to it,
 * counting the edges that take a full sync; `late` is n less the longest path from it. */
#ifndef FS_BLOCK_ORDERS_H
#define FS_BLOCK_ORDERS_H

#include "model/access.h"
#include "model/sync.h"

typedef struct fs_epoch_need {
  uint32_t queue, epoch;
} fs_epoch_need;

typedef struct fs_order_edge {
  uint32_t from : 31;
  uint32_t full : 1;
} fs_order_edge;

typedef struct fs_orders {
  const fs_schedule *s;
  const fs_sync *y;
  uint32_t *need0, *edge0; /* CSR per item */
  fs_epoch_need *need;
  fs_order_edge *edge;
  uint32_t *plan0, *plan; /* CSR per item: plan orders alone: the items that end before it starts */
  uint32_t *early, *late; /* per item */
  uint32_t n;             /* full syncs, the fewest that any order of issue allows */
} fs_orders;

/* Requires a queue of the schedule. */
static inline bool fs_queue_counting(const fs_schedule *s, uint32_t queue) {
  assert(queue < s->n_queues);
  return !s->graph->target.implicit_queues && s->graph->target.queue[queue].counting;
}
/* The item of the command that a need names.  Requires an epoch of the queue. */
static inline uint32_t fs_need_item(const fs_sync *y, fs_epoch_need need) {
  assert(need.epoch > 0);
  return y->command_item[y->queue_command0[need.queue] + need.epoch - 1];
}

/* Requires fs_waits_run.  The arrays live in `arena`.
 * Complexity: O(commands + waits * gang members + accesses).  Errors: FSCHED_SYSTEM. */
fs_status fs_orders_find(fsched_context *ctx, fs_arena *arena, const fs_schedule *s,
                         const fs_sync *y, const fs_accesses *acc, fs_orders *out) FS_MUST_USE;

#endif
