/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation of a schedule: control edges, commands, waits, signals, frontiers.
 *
 * Commands: one per item and queue it occupies, grouped by queue in FIFO order: the command of
 * queue q with epoch e (from 1) has id queue_command0[q] + e - 1.
 * Axes: axis q is queue q; axis n_queues + k is the collective axis of the schedule's gang k, whose
 * epochs count the gang's ops.  A wait for (collective axis, e) is a wait for all members. */
#ifndef FS_SYNC_H
#define FS_SYNC_H

#include "base/saturate.h"
#include "model/schedule.h"

/* An allotment of a bounded amount: unit intervals [begin, end) of a counted memory, a resource or
 * the concurrency limit.  Overlap of two owners' intervals implies an order. */
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

/* sync: block.  Before the command at this place in the order of issue starts, all commands issued
 * before must be over; or, for a counting queue, all of its commands issued before except the last
 * `keep`. */
typedef struct fs_stop {
  uint32_t at;    /* order of issue, counted in commands */
  uint32_t queue; /* FS_NONE: a full sync */
  uint32_t keep;
} fs_stop;

typedef struct fs_sync {
  fs_arena arena;
  const fs_schedule *schedule;

  /* lib/ctrledge: edges between items, ascending by (to, from) in order of issue, without repeats
   * and without orderings that a graph edge, a copy's data or the queue order of non-gangs already
   * gives.  Queue order gives none after slow items (fs_item_slow).
   */
  uint32_t n_control;
  uint32_t *control_from, *control_to;
  uint8_t *control_why; /* fs_why */
  uint32_t n_lanes;
  fs_lane *lane;      /* ascending by (kind, index, owner, begin) */
  uint32_t *position; /* per item: its index in schedule->order */
  uint32_t *data0,
      *data; /* CSR per item: the items before it for a copy's data (lib/model/access.h) */

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
  uint32_t *frontier0; /* CSR per command: the stored entries, at most the capacity */
  fs_wait *frontier;   /* ascending by axis */
  uint8_t *tainted;    /* per command */

  /* Kinds of sync other than timelines: the primitives that implement waits, which the stream has
   * instead of them. */
  fs_sync_kind kind;

  /* lib/barrier; ids by command as in lib/barrier/barrier.h */
  uint32_t barrier_bound, barrier_slots; /* FS_BARRIERS_AUTO: no bound */
  uint32_t n_barriers, barriers_used;
  uint32_t barriers_least; /* the fewest barriers that need no new order; FS_NONE: not computed */
  bool least_proven;       /* else that many are enough, and fewer may be too */
  uint32_t *barrier_physical, *barrier_use;
  uint32_t *barrier_wait0, *barrier_wait;
  uint32_t *barrier_update0, *barrier_update, *barrier_update_slots;
  uint32_t *loop_barrier0; /* per loop of the graph that stays one: its first physical barrier; the
                            * guards of each follow one another */
  uint32_t loop_barriers;  /* of all of these together; they are among those used */
  uint32_t barrier_added, barrier_gates; /* new orders; hand-overs of physical barriers that delay
                                          * producers */

  /* lib/block */
  uint32_t *issue; /* per command: place in the order of issue; ascending along each queue */
  uint32_t n_stops, n_full;
  uint32_t n_stacks; /* memories placed as a stack; in the other stack memories it did not fit */
  fs_stop *stop;     /* ascending by `at`, full stops first, then by queue; no two are equal in
                      * both */

  fs_tick makespan_before; /* barrier, block: the makespan of the list schedule */

  /* The fate of each wanted order (lib/waits/waits.h); edges = same_queue + dominated + emitted.
   * Of the dominated ones, dominated_exact were known without any stored frontier. */
  uint32_t waits_edges, waits_same_queue, waits_dominated, waits_emitted;
  uint32_t waits_dominated_exact, n_signals;
  uint32_t frontier_largest, frontier_tainted;
} fs_sync;

/* sync: block.  What is minimised: the makespan, and the target's cost of a sync for each full one.
 * Planned times do not contain that cost. */
static inline fs_tick fs_sync_total(fs_tick makespan, uint64_t n_full, fs_tick cost) {
  return fs_add_most(makespan, fs_multiply_most(n_full, cost));
}

/* The syncs that are executed, those in each step of loops included. */
typedef struct fs_sync_counts {
  uint64_t full, counting;
} fs_sync_counts;
fs_sync_counts fs_sync_executed(const fs_sync *y);

/* Makes the synchronisation of a schedule, which must outlive it, for a kind of sync.  It is empty
 * until the stages fill it.  Errors: FSCHED_SYSTEM. */
fs_status fs_sync_create(const fs_schedule *s, fs_sync_kind kind, fs_sync **out) FS_MUST_USE;
void fs_sync_destroy(fs_sync *y); /* NULL is fine */

/* The ops of each gang by epoch: epoch e of gang k is op (*op)[(*op0)[k] + e - 1].
 * Requires items with their gangs' epochs.  Errors: FSCHED_SYSTEM.  Complexity: O(ops + gangs). */
fs_status fs_sync_gang_ops(const fs_sync *y, fs_arena *arena, uint32_t **op0,
                           uint32_t **op) FS_MUST_USE;

/* Commands in the order of issue.  The arrays live in `arena`. */
typedef struct fs_issue {
  uint32_t *command; /* by place in the order of issue */
  uint32_t *queue;   /* per command */
} fs_issue;

/* Requires: an order of issue.  Errors: FSCHED_SYSTEM.  Complexity: O(commands + queues). */
fs_status fs_sync_issue(const fs_sync *y, fs_arena *arena, fs_issue *out) FS_MUST_USE;

/* The points that syncs tell each command, beyond queue order: each is a (queue axis, epoch) that
 * is over before the command starts, ascending by axis, without epochs that its queue was told
 * before.  CSR per command.
 * Requires stops, and an order of issue.  The arrays live in `arena`.  Errors: FSCHED_SYSTEM.
 * Complexity: O(commands * queues) at most, which is the largest possible number of points. */
fs_status fs_sync_points(const fs_sync *y, fs_arena *arena, uint32_t **point0,
                         fs_wait **point) FS_MUST_USE;

/* The kinds of reuse for which control edges are made.  All zero: for all kinds. */
typedef struct fs_reuse {
  const bool *loose; /* per memory: its addresses are not assigned yet, so only in-place outputs
                      * count; NULL: all are assigned */
  bool lanes_stay;   /* existing lanes and control edges stay, and those of places are added */
  bool plain_ends;   /* the schedule is not the compiler's: what an item holds is free at its end,
                      * though its epoch may be reached later */
  bool queues_open;  /* queues will be chosen anew: their orders count for nothing, so the edges
                      * hold for any queues */
} fs_reuse;

/* Recomputes control edges and waits for the present schedule; passes that change the schedule are
 * given such a function. */
typedef fs_status (*fs_sync_fn)(fs_schedule *s, fs_sync *sync, const fs_reuse *reuse);

enum { FS_KEY_WHY_BITS = 2, FS_KEY_POSITION_BITS = 31 };
_Static_assert(FS_N_WHYS <= 1 << FS_KEY_WHY_BITS, "");

/* A control edge as a key that sorts as the edges do: position of `to` 31 bits, of `from` 31 bits,
 * fs_why 2 bits.  Requires from < to, both below 2^31. */
static inline uint64_t fs_control_key(uint32_t from, uint32_t to, fs_why why) {
  assert(from < to && to >> FS_KEY_POSITION_BITS == 0);
  return ((uint64_t)to << FS_KEY_POSITION_BITS | from) << FS_KEY_WHY_BITS | (unsigned)why;
}
static inline uint32_t fs_control_key_to(uint64_t key) {
  return (uint32_t)(key >> (FS_KEY_POSITION_BITS + FS_KEY_WHY_BITS));
}
static inline uint32_t fs_control_key_from(uint64_t key) {
  return (uint32_t)(key >> FS_KEY_WHY_BITS) & ((1u << FS_KEY_POSITION_BITS) - 1);
}
static inline fs_why fs_control_key_why(uint64_t key) {
  return (fs_why)(key & ((1u << FS_KEY_WHY_BITS) - 1));
}

#endif
