/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers for commands, on machines with finitely many of them.
 *
 * Machine: a command starts when its queue's earlier commands are over, or have gone on if they are
 * slow, its wait barriers have had all of their producers, and the barriers that it updates are
 * mapped to their physical ids.  When
 * it starts it is one consumer less for each barrier it waits for; when it ends it is one producer
 * less for each it updates.  A physical barrier is free again, and takes the next use that is
 * assigned to it, when all consumers of the one it holds have started.  A barrier has n_slots
 * producer slots, of which each producing command takes as many as its op demands.
 *
 * Members of a gang are commands of their own; each starts as soon as it may, and nothing is
 * concluded about it from the start of another member.  A command whose slots are split over
 * several barriers is as many producers, which end independently: a command that waits for all of
 * these barriers comes after it; one that waits for some of them has no order with it.
 *
 * Slow commands let their queue go on before they are over.  Each updates its barriers when it is
 * over itself, whatever else its queue still runs; so queue order gives that they have started, and
 * nothing more, and a command that comes after one waits for a barrier of it, on its own queue too.
 * Planned starts count on the end of an item when those ahead of it on its queues have ended, too.
 *
 * Orders: "u before v" (u over before v starts) is the closure of queue order and waits.
 *   B1 < B2  iff every consumer of B1 is before every producer of B2: then B2 can take over B1's
 *   physical barrier without holding up any command.  The least number of physical barriers that
 *   needs no new order is a minimum chain cover of < (cover.h).
 *   Beyond that, B2 may follow B1 on a physical barrier when all consumers of B1 start earlier
 *   than all producers of B2 in one common order of all commands: the machine itself then holds
 *   the producers back until the consumers have started.  Such gates are acyclic, so nothing
 *   deadlocks, whatever the durations.
 *
 * Source: Kundeti, An ILP for Generating Optimal Schedules with Resource Constraints (barriers);
 * assign.c and published.c say what is corrected. */
#ifndef FS_BARRIER_H
#define FS_BARRIER_H

#include "base/context.h"
#include "base/mem.h"

/* Read only.  Ids: queues, items (an op or copy), commands (a member of an item on one queue). */
typedef struct fs_barrier_problem {
  uint32_t n_queues, n_items, n_commands;
  const uint32_t *queue_command0; /* FIFO: commands of queue q, in order; n_queues + 1 */
  const uint32_t *command_item;   /* per command */
  const uint32_t *item_command0, *item_command; /* CSR: members */
  const uint32_t *order;                        /* all items; predecessors come earlier */
  const fs_tick *start, *time;                  /* per item, as planned; no start may get earlier */
  const fs_tick *busy; /* per item: until its queues go on; less than `time`: it is slow; NULL: as
                          `time` */
  bool ends_alone;     /* the end of an item counts, whatever runs before it on its queues */
  const uint32_t *pred0, *pred; /* CSR per command: items that are over before it starts, beyond
                                   queue order; without those that the others imply */
  const uint32_t *demand;       /* per item: slots each member takes, at least 1; NULL: 1 */
  uint64_t n_slots;             /* of a barrier, at least 1 */
  uint32_t bound; /* physical barriers, at least 1; FS_NONE: as many as need no new order */
} fs_barrier_problem;

/* May the queues of an item go on before it is over?  Requires an item. */
static inline bool fs_barrier_slow(const fs_barrier_problem *p, uint32_t item) {
  assert(item < p->n_items);
  return p->busy != NULL && p->busy[item] < p->time[item];
}
/* How long an item keeps its queues.  Requires an item. */
static inline fs_tick fs_barrier_busy(const fs_barrier_problem *p, uint32_t item) {
  assert(item < p->n_items);
  return p->busy == NULL ? p->time[item] : p->busy[item];
}

typedef struct fs_barriers {
  uint32_t n;               /* barriers, in the order in which they are first updated */
  uint32_t *physical, *use; /* per barrier: physical id; how many barriers had it before */
  uint32_t *wait0, *wait;   /* CSR per command: barriers, ascending */
  uint32_t *update0, *update, *slots; /* CSR per command: barriers, ascending; slots taken (>= 1) */
  uint32_t used;                      /* physical ids: 0 .. used - 1 */
  uint32_t least; /* physical barriers that these barriers need without a new order; other sharing
                     might need fewer; FS_NONE: not computed */
  bool least_proven; /* else `least` is enough, and fewer may be too */
  /* New orders that waits now enforce: CSR, per position in the problem's order, of the items that
   * are over before any member of the item there starts, ascending in that order, each once. */
  uint32_t n_added;
  uint32_t *added0, *added;
  uint32_t n_gates; /* physical barriers handed over where < does not hold */
  uint32_t *order;  /* items; one that the machine can follow */
  fs_tick *start; /* per item: with the new orders and gates; the problem's own if there are none */
  fs_tick makespan;
  /* After FSCHED_INFEASIBLE alone: an item that needs short_need barriers, while short_held are
   * held by others and cannot be given up before it starts; together more than the bound.  With
   * short_held 0 infeasibility is proven; else a solution that was not searched for may exist. */
  uint32_t short_item;
  uint64_t short_need;
  uint32_t short_held;
} fs_barriers;

/* Assigns few barriers, within the bound, with as small a makespan as it finds.
 * All arrays live in `arena`.  Deterministic.  Requires a bound and slots of at least 1, and orders
 * that `order` respects.
 * Errors: FSCHED_INFEASIBLE when no assignment was found, which never happens with a bound of at
 * least twice the largest need of an item, ceil(members * demand / n_slots); it is not reported,
 * since items have no names here: see short_item; FSCHED_SYSTEM, reported.
 * Complexity: O((commands + preds) * (queues + log)), and for each look at an item that finds no
 * barrier within the bound the number of live ones; where no more barriers than the bound are live
 * at once in the plan also that of fs_barrier_cover; for FS_NONE, where items take several barriers
 * each, also some tries of smaller bounds. */
fs_status fs_barriers_assign(fsched_context *ctx, fs_arena *arena, const fs_barrier_problem *p,
                             fs_barriers *out) FS_MUST_USE;

/* Why a command of a machine that stands still does not start: it needs the next command of the
 * list (the last command needs the first). */
typedef enum fs_barrier_stuck_kind {
  FS_STUCK_QUEUE,  /* the next command comes earlier on its queue */
  FS_STUCK_WAIT,   /* the next command updates a barrier that it waits for */
  FS_STUCK_MAPPED, /* the next command waits for the barrier that holds the physical one of a
                      barrier that it updates */
  FS_STUCK_GANG    /* the next command must start with it, where members of a gang meet */
} fs_barrier_stuck_kind;

typedef struct fs_barrier_stuck {
  uint32_t n; /* 0: the machine runs to the end, whatever the durations */
  uint32_t *command;
  uint32_t *barrier; /* FS_STUCK_WAIT, FS_STUCK_MAPPED: the barrier waited for, or to be mapped */
  fs_barrier_stuck_kind *kind;
} fs_barrier_stuck;

/* The published construction, for comparison: list scheduling with unit times and `bound` barriers,
 * where every op owns a barrier and edges lead from each owner of a barrier to the next.  It knows
 * neither queues nor slots nor gangs: an owner that takes more slots than a barrier has is refused.
 * The result is complete even where the machine cannot run it; `stuck` then holds a cycle of
 * commands.  Its start and makespan are then those of the unit-time list.  Gates are not counted.
 * Requires a bound of at least 1, other than FS_NONE.  Errors: FSCHED_INFEASIBLE, not reported, for
 * such an owner: see short_item; FSCHED_SYSTEM. */
fs_status fs_barriers_published(fsched_context *ctx, fs_arena *arena, const fs_barrier_problem *p,
                                fs_barriers *out, fs_barrier_stuck *stuck) FS_MUST_USE;

#endif
