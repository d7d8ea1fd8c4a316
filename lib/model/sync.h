/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation of a schedule: control edges, commands, waits, signals, frontiers.
 *
 * Commands: one per item and queue it occupies, grouped by queue in FIFO order: the command of
 * queue q with epoch e (from 1) has id queue_command0[q] + e - 1.
 * Axes: axis q is queue q; axis n_queues + k is the collective axis of the graph's gang k, whose
 * epochs count the gang's ops.  A wait for (collective axis, e) is a wait for all members. */
#ifndef FS_SYNC_H
#define FS_SYNC_H

#include "model/schedule.h"

/* What a bounded amount was allotted as: unit intervals [begin, end) of a counted memory, a
 * resource or the concurrency limit.  Overlap of two owners' intervals implies an order. */
typedef enum fs_lane_kind { FS_LANE_MEMORY, FS_LANE_RESOURCE, FS_LANE_CONCURRENCY } fs_lane_kind;

typedef struct fs_lane {
  fs_lane_kind kind;
  uint32_t index; /* memory or resource id; 0 for concurrency */
  uint32_t owner; /* FS_LANE_MEMORY: residency id, else item id */
  uint64_t begin, end;
} fs_lane;

typedef struct fs_wait {
  uint32_t axis;
  uint32_t epoch;
} fs_wait;

/* sync: block.  Before the command with this place in the order of issue, all that was issued
 * before must be over; or, of a counting queue, all but the last `keep` of its commands issued
 * before. */
typedef struct fs_stop {
  uint32_t at;    /* order of issue, counted in commands */
  uint32_t queue; /* FS_NONE: a full sync */
  uint32_t keep;
} fs_stop;

typedef struct fs_sync {
  fs_arena arena;
  const fs_schedule *schedule;

  /* lib/ctrledge: edges between items, ascending by (to, from) in order of issue, without repeats
   * and without those that a graph edge, a copy's data or queue order of non-gangs already gives.
   */
  uint32_t n_control;
  uint32_t *control_from, *control_to;
  uint8_t *control_why; /* fs_why */
  uint32_t n_lanes;
  fs_lane *lane;      /* ascending by (kind, index, owner, begin) */
  uint32_t *position; /* per item: its index in schedule->order */
  uint32_t *data0,
      *data; /* CSR per item: what comes before it for a copy's data (lib/model/access.h) */

  /* lib/frontier */
  uint32_t n_axes; /* queues, then gangs */
  uint32_t n_commands;
  uint32_t *queue_command0; /* n_queues + 1 */
  uint32_t *command_item;
  uint32_t *item_command0, *item_command; /* CSR: commands of an item, in order of its queues */
  uint32_t *item_gang_epoch;              /* per item: epoch on its gang's axis, 0 if no gang */
  uint32_t *wait0;                        /* CSR per command */
  fs_wait *wait;                          /* ascending by axis */
  uint8_t *signal;     /* per command: some queue waits for its epoch (or its gang's) */
  uint8_t *scope;      /* fs_scope, per command */
  uint32_t *frontier0; /* CSR per command: what is stored, at most the capacity */
  fs_wait *frontier;   /* ascending by axis */
  uint8_t *tainted;    /* per command */

  /* Other kinds of sync than timelines: what waits then realises, and the stream has instead. */
  fs_sync_kind kind;

  /* lib/barrier; ids by command as in lib/barrier/barrier.h */
  uint32_t barrier_bound, barrier_slots; /* FS_BARRIERS_AUTO: none */
  uint32_t n_barriers, barriers_used;
  uint32_t barriers_least; /* that need no new order; FS_NONE: not computed */
  uint32_t *barrier_physical, *barrier_use;
  uint32_t *barrier_wait0, *barrier_wait;
  uint32_t *barrier_update0, *barrier_update, *barrier_update_slots;
  uint32_t barrier_added, barrier_gates; /* new orders; hand-overs that hold producers back */

  /* lib/block */
  uint32_t *issue; /* per command: place in the order of issue; ascending along each queue */
  uint32_t n_stops, n_full;
  uint32_t n_stacks; /* memories whose places are a stack's; of the others the stack did not fit */
  fs_stop *stop;     /* ascending by at, then full first, then by queue; at most one of each */

  fs_tick makespan_before; /* barrier, block: the list schedule's */

  /* What became of each wanted order (lib/waits/waits.h); edges = same_queue + dominated +
   * emitted.  Of the dominated ones, dominated_exact were known without anybody's frontier. */
  uint32_t waits_edges, waits_same_queue, waits_dominated, waits_emitted;
  uint32_t waits_dominated_exact, n_signals;
  uint32_t frontier_largest, frontier_tainted;
} fs_sync;

/* The synchronisation of a schedule, which has to outlive it: of a kind, and empty until the stages
 * fill it.  Errors: FSCHED_SYSTEM. */
fs_status fs_sync_create(const fs_schedule *s, fs_sync_kind kind, fs_sync **out) FS_MUST_USE;
void fs_sync_destroy(fs_sync *y); /* NULL is fine */

/* The ops of each gang by epoch: epoch e of gang k is op (*op)[(*op0)[k] + e - 1].
 * Requires items have their gangs' epochs.  Errors: FSCHED_SYSTEM.  Complexity: O(ops + gangs). */
fs_status fs_sync_gang_ops(const fs_sync *y, const fsched_graph *g, fs_arena *arena, uint32_t **op0,
                           uint32_t **op) FS_MUST_USE;

/* Commands in the order of issue.  The arrays live in `arena`. */
typedef struct fs_issue {
  uint32_t *command; /* by place in the order of issue */
  uint32_t *queue;   /* per command */
} fs_issue;

/* Requires: an order of issue.  Errors: FSCHED_SYSTEM.  Complexity: O(commands + queues). */
fs_status fs_sync_issue(const fs_sync *y, fs_arena *arena, fs_issue *out) FS_MUST_USE;

/* What syncs tell each command, beyond queue order: (queue axis, epoch) over before it starts,
 * ascending by axis, of the epochs that the queue has not been told before.  CSR per command.
 * Requires stops, and an order of issue.  The arrays live in `arena`.  Errors: FSCHED_SYSTEM.
 * Complexity: O(commands * queues) at most, as many points as there may be. */
fs_status fs_sync_points(const fs_sync *y, fs_arena *arena, uint32_t **point0,
                         fs_wait **point) FS_MUST_USE;

/* Which reuse of bounded things control edges are made of.  All zero: of every one. */
typedef struct fs_reuse {
  const bool *loose; /* per memory: its addresses are still to be found, so only in-place outputs
                        count; NULL: none is */
  bool lanes_stay;   /* lanes and control edges stay as they are, and those of places are added */
} fs_reuse;

/* Control edges and waits anew, for the schedule as it now is: what a pass is given that changes
 * the schedule in between. */
typedef fs_status (*fs_sync_fn)(fs_schedule *s, fs_sync *sync, const fs_reuse *reuse);

#endif
