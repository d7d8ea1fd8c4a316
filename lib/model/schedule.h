/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule: start, queue, residencies and added spill copies.  Items are the graph's ops
 * (ids below graph->n_ops) and then the copies (id n_ops + copy).
 *
 * A residency is a version (or an op's scratch) at one place of one bounded memory during [begin,
 * end).  Places in unbounded memories are not residencies.  A bounded backing store has residencies
 * too: each is the store copy of a version, and begins with its spill write (at 0 for given
 * content). */
#ifndef FS_SCHEDULE_H
#define FS_SCHEDULE_H

#include "fsched/compile.h"
#include "model/graph.h"
#include "model/loop_report.h"

/* The purpose of a copy. */
typedef enum fs_copy_role {
  FS_ROLE_LOAD,        /* reads given content for the first time */
  FS_ROLE_STORE,       /* writes kept content back */
  FS_ROLE_SPILL_WRITE, /* all other copies: content that leaves, and comes back */
  FS_ROLE_SPILL_READ,
  FS_ROLES
} fs_copy_role;

/* What ended a refinement. */
typedef enum fs_refine_end {
  FS_REFINE_END_NONE,     /* there was none, or nothing is left to gain */
  FS_REFINE_END_STOPPED,  /* the caller's stop */
  FS_REFINE_END_TIME,     /* the limit of time */
  FS_REFINE_END_NODES,    /* a search ended by the limit of nodes */
  FS_REFINE_END_SEARCHES, /* the number of searches without a limit of time */
  FS_REFINE_END_SIZE,     /* every model is too large */
  FS_REFINE_END_WAIT,     /* the same, and others that might be small enough do not know the wait */
  FS_REFINE_END_COPIES,   /* all models are solved, but they keep the copies of the heuristic */
  FS_REFINE_END_WINDOWS,  /* the graph is improved in windows, and no window gains any more */
  FS_REFINE_END_GANGS,    /* all models are solved, but they keep the queues of gangs */
  FS_REFINE_END_FAULT,    /* the solver cannot be used, which is a warning */
  FS_N_REFINE_ENDS
} fs_refine_end;

/* Lower bounds of the makespan that need no search. */
typedef struct fs_lower_bounds {
  fs_tick critical_path; /* including copies of given content and of kept outputs */
  fs_tick queue_work;    /* per domain, ops and unavoidable copies, with heads and tails */
  fs_tick resource_work; /* per resource and for the concurrency limit, with heads and tails */
  fs_tick copy_work;     /* unavoidable copies, on their own queues */
  fs_tick memory_work;   /* per bounded memory, area that every schedule holds, or trades for
                          * copies, with heads and tails */
  fs_tick series;        /* the sum over parts in series */
  fs_tick all;           /* the largest */
} fs_lower_bounds;

typedef struct fs_schedule {
  fs_arena arena;
  fsched_context *ctx;
  const fsched_graph *graph;

  /* The graph's queues; with implicit queues, "q0", "q1", ..., as many as the schedule needs. */
  uint32_t n_queues;
  const char **queue_name;

  /* Gangs: the sets of queues that ops occupy together.  Those of a schedule that was just created
   * are the graph's; where the graph leaves a choice, fs_schedule_set_gangs replaces them. */
  uint32_t n_gangs;
  const uint32_t *gang_queue0, *gang_queue; /* CSR: ascending queue ids, 1 or more */
  const uint32_t *op_gang;                  /* per op; FS_NONE: it occupies one queue alone */

  uint32_t n_items, n_copies;
  fs_tick *start, *end; /* per item; end - start is the op's latency, or the copy's time */
  uint32_t *queue;      /* per item; for a gang its first member */
  /* Items in order of issue: starts never decrease, and it agrees with every queue's FIFO order,
   * all precedence and all reuse of places, also among items with equal starts. */
  uint32_t *order;

  uint8_t *copy_kind; /* fs_copy_kind, per copy */
  uint32_t *copy_version;
  uint32_t *copy_residency; /* the place in the version's own (bounded) memory */
  uint32_t *copy_store;     /* residency in a bounded backing store, else FS_NONE */

  /* In the order of issue of the items that begin them (given content without a store comes
   * first). */
  uint32_t n_residencies;
  uint32_t *res_version; /* FS_NONE for scratch */
  uint32_t *res_op;      /* the op of a scratch, else FS_NONE */
  uint32_t *res_memory;
  uint64_t *res_address; /* 0 in counted memories */
  uint64_t *res_size;    /* aligned */
  fs_tick *res_begin, *res_end;

  uint32_t *arg_residency;     /* per graph arg; FS_NONE where its memory is unbounded */
  uint32_t *scratch_residency; /* per graph scratch; FS_NONE where its memory is unbounded */

  fs_tick makespan, lower_bound;
  fs_schedule_status status;
  fs_lower_bounds bounds; /* if has_bounds: not in a schedule that was read from a file */
  bool has_bounds;
  uint64_t trial_runs, trial_steps; /* of the list scheduler: runs, and work in all of them */
  fs_tick refined_from;             /* the makespan before the refinement; 0: there was none */
  fs_refine_end refine_end;
  uint64_t search_nodes; /* of the refinement */
  fs_tick relaxation;    /* lower bound by the LP relaxation of a model; 0: there was none */
  uint32_t n_loops;      /* of the graph, that hold no others and run twice or more */
  fs_loop_report *loop;  /* in a schedule that was read from a file there is none */
} fs_schedule;

/* Makes an empty schedule of a graph, which must outlive it.  Errors: FSCHED_SYSTEM. */
fs_status fs_schedule_create(fsched_context *ctx, const fsched_graph *g,
                             fs_schedule **out) FS_MUST_USE;
void fs_schedule_destroy(fs_schedule *s); /* ignores NULL */
/* Make the arrays of a schedule's items, so many of them copies, and of its residencies; what is
 * not 0 or FS_NONE is for the caller to fill in: order, kinds and versions of copies, and all of
 * the residencies but the links of args and scratch to them.  Errors: FSCHED_SYSTEM. */
fs_status fs_schedule_make_items(fs_schedule *s, uint32_t n_copies) FS_MUST_USE;
fs_status fs_schedule_make_residencies(fs_schedule *s, uint32_t n) FS_MUST_USE;
/* Makes an equal schedule that belongs to another context.  Only reads `s`, so any thread may that
 * nobody else writes beside.  Requires a schedule without reports of loops. */
fs_status fs_schedule_clone(fsched_context *ctx, const fs_schedule *s,
                            fs_schedule **out) FS_MUST_USE;
/* Makes the gangs from the queues that ops occupy together: those of op i are member[member0[i]] to
 * member[member0[i + 1] - 1], ascending; none for an op on one queue alone.  Equal sets are one
 * gang; gangs are in the order of their first ops.  The arrays are not needed afterwards.  Errors:
 * FSCHED_SYSTEM.  Expected O(ops + members).  Requires n_ops + 1 entries of member0. */
fs_status fs_schedule_set_gangs(fs_schedule *s, const uint32_t *member0,
                                const uint32_t *member) FS_MUST_USE;

/* Requires an item of the schedule. */
static inline bool fs_item_is_copy(const fs_schedule *s, uint32_t item) {
  FS_ASSERT_SLOW(item < s->n_items);
  return item >= s->graph->n_ops;
}
/* The gang whose queues the item occupies; FS_NONE: it is on one queue alone.  Requires an item of
 * the schedule. */
static inline uint32_t fs_item_gang(const fs_schedule *s, uint32_t item) {
  FS_ASSERT_SLOW(item < s->n_items);
  return fs_item_is_copy(s, item) ? FS_NONE : s->op_gang[item];
}
/* Does the item end after its queues go on?  Requires an item of the schedule. */
static inline bool fs_item_slow(const fs_schedule *s, uint32_t item) {
  FS_ASSERT_SLOW(item < s->n_items);
  return !fs_item_is_copy(s, item) && fs_op_slow(s->graph, item);
}
/* When the item's queues go on: its end, or earlier for a slow op.  Requires an item of the
 * schedule. */
static inline fs_tick fs_item_free(const fs_schedule *s, uint32_t item) {
  FS_ASSERT_SLOW(item < s->n_items);
  return fs_item_slow(s, item) ? s->start[item] + s->graph->op_time[item] : s->end[item];
}
/* What an item has of one of its queues: the queue is taken from `begin` on, and goes on when it is
 * `free`; the item's command there is over at `end`. */
typedef struct fs_item_part {
  fs_tick begin, free, end;
} fs_item_part;
/* That of the k-th of the item's queues.  O(log loops).  Requires an item of the schedule, and k
 * below the number of its queues. */
fs_item_part fs_item_part_on(const fs_schedule *s, uint32_t item, uint32_t k);
/* Finds per item when its epochs are reached, in the arena: its commands and all before them on
 * their queues are over then.  Requires an order of issue.  O(items and their queues).
 * lib/model/schedule.c */
fs_status fs_schedule_reached(const fs_schedule *s, fs_arena *arena, fs_tick **out) FS_MUST_USE;
/* Finds the fs_copy_role of every copy, in the arena.  O(items + versions).
 * lib/model/schedule.c */
fs_status fs_schedule_copy_roles(const fs_schedule *s, fs_arena *arena, uint8_t **out) FS_MUST_USE;
/* The *n queues that an item occupies, valid as long as the schedule.  Requires an item of the
 * schedule. */
static inline const uint32_t *fs_item_queues(const fs_schedule *s, uint32_t item, uint32_t *n) {
  FS_ASSERT_SLOW(item < s->n_items);
  uint32_t gang = fs_item_gang(s, item);
  *n = gang == FS_NONE ? 1 : s->gang_queue0[gang + 1] - s->gang_queue0[gang];
  return gang == FS_NONE ? &s->queue[item] : s->gang_queue + s->gang_queue0[gang];
}
/* Is the content of a residency there before the first item (given), or must it stay after the last
 * one (stays)?  Kept content stays where it is kept.  Requires a residency of the schedule. */
bool fs_residency_given(const fs_schedule *s, uint32_t r);
/* Requires a residency of the schedule. */
bool fs_residency_stays(const fs_schedule *s, uint32_t r);

/* Per residency, the positions in the order of issue at which it is there, from[r] <= k < to[r]:
 * from the first item that touches it (content that is given: from the first item of all) to the
 * last one, and on to the last item that starts before its end (what stays: to the last item of
 * all).  So it is there for each item that touches it, even if it has no length. */
typedef struct fs_stays {
  uint32_t *from, *to;
} fs_stays;
/* In the arena.  Requires an order of issue.  O(args + residencies log items).
 * lib/model/occupancy.c */
fs_status fs_schedule_stays(const fs_schedule *s, fs_arena *arena, fs_stays *out) FS_MUST_USE;
/* What a schedule takes of each memory.
 * peak    the most bytes that are there for one item in the order of issue (fs_stays): aligned
 *         sizes, and what shares addresses counted once; in a counted memory the largest sum of
 *         sizes
 * extent  the end of the highest residency in the memory; 0 in a counted memory, which has no
 *         addresses
 * Requires room for a number per memory, and an order of issue.  O(residencies log). */
fs_status fs_schedule_peaks(fsched_context *ctx, const fs_schedule *s,
                            uint64_t *per_memory) FS_MUST_USE;
void fs_schedule_extents(const fs_schedule *s, uint64_t *per_memory);

#endif
