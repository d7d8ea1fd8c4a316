/* SPDX-License-Identifier: Apache-2.0 */
/* List scheduling with memory, spills and prefetch: a feasible schedule of a graph.
 *
 * Requires a frozen graph.  Ensures: everything fs_verify_schedule checks.
 * Determinism: a function of graph and options alone.
 * Complexity: a run takes O((V + E) log V), and a bounded search for each placement and eviction
 * (places.h, evict.c); trials.c says how many runs are made.
 * A loop that stays one is an op here.  Its queues enter and leave it on their own, as its plan has
 * their first and last commands: each is taken from its own part's begin to that part's end, so the
 * loop may start while some are busy, and what follows it on a queue alone need not wait for the
 * others.  A queue that is free before its part begins stays idle until then.  And what the loop
 * follows needs to be over only when the first queue begins that needs it, and what follows the
 * loop waits for those queues that it needs (model/lags.h).  Its memory is held from its start to
 * its end.  The queues of loops with barriers or block syncs are taken as a whole.
 *
 * Source: Kundeti, An ILP for Generating Optimal Schedules with Resource Constraints, the feasible
 * schedule generator; listsched.c says what was repaired. */
#ifndef FS_LISTSCHED_H
#define FS_LISTSCHED_H

#include "model/schedule.h"

/* Levels above FSCHED_EFFORT_MOST are for comparisons. */
enum { FS_EFFORT_MOST = 20 };

typedef struct fs_listsched_options {
  fsched_evict evict;
  uint64_t seed;            /* 0: ties by id */
  fs_tick lower_bound;      /* of the makespan: reaching it ends the search; 0: not known */
  bool silent;              /* a failure to find a schedule is not reported */
  bool whole_loops;         /* loops take all of their queues for as long as they run */
  const uint32_t *position; /* per op: its place in an order, a linear extension, that is tried
                             * after the first run; NULL: none */
  /* Asked between steps, with the number of runs that have ended and the makespan of the best of
   * them (FS_TICK_NONE: there is none): true ends the trials, with that schedule; NULL: never. */
  bool (*stop)(void *user, uint64_t runs, fs_tick best);
  void *user;
  uint32_t effort; /* 0: one run; each further level doubles the trials; at most FS_EFFORT_MOST */
} fs_listsched_options;

/* Requires at most FS_EFFORT_MOST.
 * Errors: FSCHED_INFEASIBLE (reported: memory, need, have) where no backing store lets it make
 * progress; FSCHED_SYSTEM. */
fs_status fs_listsched_run(fsched_context *ctx, const fsched_graph *g,
                           const fs_listsched_options *options, fs_schedule **out) FS_MUST_USE;

#endif
