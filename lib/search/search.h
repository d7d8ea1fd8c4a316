/* SPDX-License-Identifier: Apache-2.0 */
/* The search engine: better schedules than the list scheduler's, as long as its limits allow.
 *
 * Where no bounded memory is short, makespans that leave some item no start are refuted; then a
 * solver that learns (learning/learner.h), where it knows all of the problem, takes turns with tabu
 * search (tabu/tabu.h) where items take turns on queues and there is nothing else, or else with
 * evolution of orders (generation/evolve.h), which gets up to ten times as much time while it finds
 * better ones.
 * The best schedule known guides what the solver decides.  Where one is short, the same is done
 * with the relaxed problem (problem/relaxed), for a bound, in a quarter of the time and of the
 * nodes; so it is where gangs choose their queues, with sets of queues in place of choices
 * (problem/stated), and answers for which queues are found are schedules.  Then trials of the list
 * scheduler, the solver, which chooses the copies (spill/spill.h) and refutes makespans from below,
 * and orders of ops that spill little (orders/turns.h) or, where short memories have no store,
 * orders that are annealed (generation/anneal.h) take turns (short.c); each leaves out graphs that
 * it does not know.  Strips are packed (strip/strip.h).  Where some starts are given and
 * no memory is short, the learner alone knows that, and gets a share; where all are, lower
 * addresses are searched for (problem/settled).  Latencies are known to the learner in what proofs
 * speak of (problem/stated), for a bound.
 *
 * The best schedule and bound are kept at every moment, so any end leaves a result at least as good
 * as the given one.
 *
 * With several jobs, each thread does all of this (jobs.c), but for the bound of the relaxed
 * problem and makespans that leave some item no start, which are for the first one; addresses alone
 * are searched for by one.
 *
 * Determinism: without a limit of time a function of graph, seed, limit of nodes and jobs. */
#ifndef FS_SEARCH_H
#define FS_SEARCH_H

#include "fsched/compile.h"
#include "model/schedule.h"

/* Without any limit there are FSCHED_SEARCH_NODES; large graphs get fewer, as each takes longer:
 * so many items in all, and at least so many nodes. */
enum { FS_SEARCH_ITEMS = 2000000, FS_SEARCH_FEWEST = 50 };

typedef struct fs_search_options {
  uint64_t time_limit_ns, node_limit; /* 0: none; a node is a conflict, 64 moves, a schedule
                                         that is made, or 8 where the learner takes turns */
  uint64_t seed;
  fsched_evict evict;
  const volatile int *stop; /* or NULL */
  fsched_refine_fn news;    /* or NULL */
  /* NULL, or gets a proof of the bound, in the form of fsched-proof(5); the bound is then the one
   * that it proves.  FSCHED_USAGE, reported, of graphs of which none can be written. */
  fs_text *proof;
  void *user;
  uint32_t jobs; /* threads, at most FSCHED_MOST_JOBS; 0: 1, which is the caller's */
} fs_search_options;

/* *schedule (from listsched; NULL when it found none) is replaced when a better one is found.
 * `bound` is a lower bound of the makespan; the schedule's lower_bound, search_nodes, refined_from
 * and refine_end are set.  Requires a frozen graph.  Errors: FSCHED_SYSTEM. */
fs_status fs_search_run(fsched_context *ctx, const fsched_graph *g, const fs_search_options *o,
                        fs_tick bound, fs_schedule **schedule) FS_MUST_USE;

#endif
