/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduling problem that the models are made from: items with times, what they occupy, and
 * residencies whose begin and end hang on items.  Only starts, choices of queues and addresses are
 * open; the copies are given.
 *
 * Items are numbered as in a schedule: the graph's ops, then the copies.
 *
 * Units: ticks, bytes.  Everything is in the problem's arena. */
#ifndef FS_PROBLEM_H
#define FS_PROBLEM_H

#include "base/limit.h"
#include "model/schedule.h"

typedef struct fs_problem {
  fs_arena arena;
  fsched_context *ctx;
  const fsched_graph *graph;

  uint32_t n_items, n_copies;
  fs_tick *time;
  fs_tick *busy; /* for how long an item takes its queues, which may be less; NULL: as its time */
  /* Windows: an item starts no earlier than head (a given start is head and latest), and ends at
   * least tail before the makespan.  Where starts are given, a schedule cannot be moved as a whole,
   * and a tail that is longer than any path behind the item gives its latest end: horizon -
   * tail. */
  fs_tick *head, *tail;
  fs_tick *path;  /* per item: longest path behind it, a tail for any makespan; NULL: as in tail */
  fs_tick *fixed; /* per item: its only start, FS_TICK_NONE: free; NULL: all are free */
  uint8_t *copy_kind; /* as in a schedule */
  uint32_t *copy_version, *copy_residency, *copy_store;

  /* `to` starts no earlier than the end of `from`; each pair once.  They are the edges of the graph
   * and the orders between copies and accesses. */
  uint32_t n_edges;
  uint32_t *pred0, *pred, *succ0, *succ;
  uint32_t *topo; /* items in topological order; of a problem from a schedule: its order of issue */

  /* How long an op starts after the end of a predecessor in the graph that shares no queue with it,
   * unless its start is given; 0 where that counts nothing. */
  fs_tick wait;

  /* Queues that may take each other's place for all items form a class: they are in the same
   * domains and gangs.  With a wait it matters which ops share a queue, and each class has one
   * queue.  An item takes one queue of one of its choices; a gang takes all of them.
   * Implicit queues are one class, as large as the concurrency, or, without one, as the number of
   * items. */
  uint32_t n_classes;
  uint32_t *class_size, *class_queue0, *class_queue; /* CSR per class: queues (implicit: none) */
  uint32_t *choice0, *choice;                        /* CSR per item: classes */
  uint8_t *gang; /* per item: 1 if it takes class_size queues of each of its choices */

  /* Amounts held from start to end: resources, then concurrency (if limited). */
  uint32_t n_amounts;
  uint64_t *amount_capacity;
  const char **amount_name;
  uint32_t *use0, *use; /* CSR per item: the amounts that it holds */
  uint64_t *use_amount;
  uint32_t n_amount_memories, amount_memory0; /* those from amount_memory0 on are memories */
  uint32_t *amount_memory;
  uint32_t *amount_queue0,
      *amount_queue; /* CSR per amount: the queues that it counts; NULL: none */

  /* Residencies, of bounded memories: from the start of `begin_item` (0 if FS_NONE) to the latest
   * end of `end`, or to the makespan.  They are in no particular order. */
  uint32_t n_residencies;
  uint32_t *res_version, *res_op, *res_memory; /* as in a schedule */
  uint64_t *res_size;                          /* aligned */
  uint32_t *res_begin_item;
  /* The items that may begin the residency.  Where it is open which of several writers comes first
   * (parts of a buffer, written in any order), these are all of them, `begin_item` included, and
   * the residency begins with the earliest.  Else it is begin_item alone; the list is empty for
   * FS_NONE. */
  uint32_t *res_begin0, *res_begin; /* CSR: items */
  uint32_t *res_end0, *res_end;     /* CSR: items */
  uint8_t *res_to_end;
  uint32_t *arg_residency, *scratch_residency; /* as in a schedule */
  /* In-place pairs of equal size, which may share their place while `coincide_op` runs. */
  uint32_t n_coincide;
  uint32_t *coincide_in, *coincide_out, *coincide_op;

  /* No schedule is longer than this: the models look for one of at most this makespan. */
  fs_tick horizon;
  fs_tick lower_bound; /* of the graph's makespan, from lib/model/bounds and the windows */
  /* For every schedule of the graph this problem has one that is no longer: then a bound of the
   * problem is a bound of the graph, and an optimum of the problem is optimal for the graph. */
  bool exact;
  /* The problem has the copies that no schedule avoids, and no others.  Then every schedule of the
   * graph, less its further copies, is a schedule of this problem, except in memories that are
   * `tight`: those could be overfull, so that spills could help.  `exact` is `least` without any
   * tight memory. */
  bool least;
  uint8_t *tight; /* per memory */
  /* Every schedule of the graph, less some of its copies, is one of this problem, but not the other
   * way round (relaxed/relaxed.h). */
  bool relaxed;
  bool stated; /* relaxed, and all that is taken is the graph's (stated/stated.h) */
  /* Relaxed in nothing but queues, of which sets stand for choices (stated/stated.h): an answer is
   * a schedule where queues are found for its starts. */
  bool sets;
  struct fs_spilling
      *spilling;            /* what is open beside starts (spilling/spilling.h); NULL: nothing */
  bool (*stop)(void *user); /* called at times: true ends propagation and the making of models */
  void *user;               /* as if they had reached a limit; NULL: they are never stopped */
  uint64_t steps; /* the most that propagation may spend on one horizon (windows.c); 0: 2^25 */
} fs_problem;

/* What a model found. */
typedef struct fs_answer {
  fs_tick *start;    /* per item */
  uint32_t *choice;  /* per item: its class, FS_NONE for a gang; NULL: to be found */
  uint64_t *address; /* per residency; NULL: to be found */
  fs_tick makespan;
  /* Per item: its rank among the items that start together; the least is issued first.  NULL: as in
   * topo.  It matters where items have no length. */
  uint32_t *place;
} fs_answer;

/* Makes the problem of a graph without any spill: each version has one residency, given content is
 * read once, and kept content is written back once.  The problem is `exact` unless some memory
 * could spill and would be overfull without spills.  `horizon`: see fs_problem; a schedule's
 * makespan.  *out is NULL when some op cannot run, or residencies that must live at one time do not
 * fit (then only spills help).
 * problem/graph.c */
fs_status fs_problem_from_graph(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                                fs_tick lower_bound, fs_problem **out) FS_MUST_USE;
/* Makes the problem with the copies and residencies of a schedule; it is not exact unless the
 * schedule has only those that fs_problem_from_graph makes.  Accesses keep their residencies, which
 * keep their numbers.  Requires counts that add up.
 * Requires (unchecked: the caller has verified it) that the schedule is right
 * (fsched_verify_schedule).  problem/schedule.c */
fs_status fs_problem_from_schedule(fsched_context *ctx, const fs_schedule *s,
                                   fs_problem **out) FS_MUST_USE;
void fs_problem_destroy(fs_problem *p);

/* Raises heads and tails for schedules of makespan at most p->horizon: longest paths, disjunctive
 * pairs and energy per interval of queues, amounts and memories.  *possible is FS_NO when it is
 * proven that there is none, else not decided.  Heads and tails hold for any schedule within the
 * horizon only.  Requires a problem that is complete.  windows.c */
fs_status fs_problem_tighten(fs_problem *p, fs_decision *possible) FS_MUST_USE;
/* The least horizon that fs_problem_tighten does not refute, between lower_bound and horizon: the
 * destructive lower bound.  Leaves windows as they were.  Requires a problem that is complete, and
 * a bound within its horizon.  windows.c */
fs_status fs_problem_destructive_bound(fs_problem *p, fs_tick *bound) FS_MUST_USE;

/* The answer that a schedule gives to a problem made from that schedule, or to a problem made from
 * the graph if the schedule's copies and residencies are those of the problem (else *out is NULL).
 * In the problem's arena.  Requires a schedule of the problem's graph.  answer.c */
fs_status fs_answer_of_schedule(fs_problem *p, const fs_schedule *s, fs_answer **out) FS_MUST_USE;
/* Makes a schedule from an answer: queues by colouring intervals, addresses as given or found by
 * lib/placement.  *out is NULL when there are no addresses, or when the answer breaks the problem
 * (*why then says what, in the arena; nothing is reported).  The schedule is verified.  Requires
 * starts.  answer.c */
fs_status fs_answer_schedule(fs_problem *p, const fs_answer *a, fs_schedule **out,
                             const char **why) FS_MUST_USE;

/* Has the item a given start?  Requires an item. */
static inline bool fs_problem_is_fixed(const fs_problem *p, uint32_t item) {
  assert(item < p->n_items);
  return p->fixed != NULL && p->fixed[item] != FS_TICK_NONE;
}
/* Does the op wait for predecessors on other queues?  Requires an op of the graph. */
static inline bool fs_problem_waits(const fs_problem *p, uint32_t op) {
  assert(op < p->graph->n_ops);
  return p->wait != 0 && (p->fixed == NULL || p->fixed[op] == FS_TICK_NONE);
}
static inline bool fs_problem_stopped(const fs_problem *p) {
  return p->stop != NULL && p->stop(p->user);
}

#endif
