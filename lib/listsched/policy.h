/* SPDX-License-Identifier: Apache-2.0 */
/* Policies of the list scheduler: which ready op is next, which version leaves, and habits of
 * placing and prefetching.  The engine (engine.h) reads them; a policy has no state. */
#ifndef FS_POLICY_H
#define FS_POLICY_H

#include "listsched/listsched.h"
#include "model/graph.h"

/* `seed` decides ties at random; 0: by id. */
typedef fs_status (*fs_plan_function)(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                                      uint64_t seed, uint32_t *position);

typedef struct fs_policy {
  const char *name;
  fs_plan_function plan; /* fills position[op] with a linear extension: the planned order */
  fsched_evict evict;    /* the order in which victims leave */
  bool opposite;         /* outputs go to the end of memory that is farther from an input */
  bool strict;           /* no op takes room that an earlier one is blocked for */
  bool in_turn;          /* a version that cannot be prefetched holds up all later ones */
  bool reads_high;       /* prefetched versions go to the high end */
  uint32_t ahead;        /* claims are at most so many ops per queue ahead of the first op that has
                            not started, or 0: a queue with little to do does not fill memory with
                            what is read much later */
  bool in_order;         /* ops claim in the planned order, each when all before it have started */
  bool by_amount;        /* all memories are counted; addresses are found when the run is over */
  uint32_t near;         /* ops per queue within which the last use of a short-lived version is */
} fs_policy;

/* Upward ranks: the longest path from the start of each op to the end, copies that must follow a
 * kept version included.  Requires a frozen graph. */
fs_status fs_plan_ranks(const fsched_graph *g, fs_arena *arena, fs_tick **rank) FS_MUST_USE;
/* Upward rank: longest remaining path first, copies of kept outputs included.  Requires room for a
 * position per op. */
fs_status fs_plan_rank(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch, uint64_t seed,
                       uint32_t *position) FS_MUST_USE;
/* Program order, as far as `after` allows.  Requires room for a position per op. */
fs_status fs_plan_program(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                          uint64_t seed, uint32_t *position) FS_MUST_USE;
/* Takes ops one at a time: the one that leaves least in bounded memories.  Requires room for a
 * position per op. */
fs_status fs_plan_memory(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                         uint64_t seed, uint32_t *position) FS_MUST_USE;

/* A neighbour of an order, at random: some ops are moved, some that follow each other change
 * places, or all of them fall back a little.  Requires a linear extension of two ops or more in
 * `from`, and room for another one. */
fs_status fs_plan_neighbour(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                            const uint32_t *from, uint64_t seed, uint32_t *position) FS_MUST_USE;

/* The i-th number of the stream of a seed. */
uint64_t fs_plan_random(uint64_t seed, uint64_t i);

/* A guess at the makespan that an order leads to: the largest of the ends of the ops, if all queues
 * take them in that order and nothing waits for room, and of the work of each domain, copies
 * included, divided among its queues; and a part of the time of all copies.  Requires a linear
 * extension.  O((args + edges) log queues). */
fs_status fs_plan_estimate(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                           const uint32_t *op_at, fs_tick *makespan) FS_MUST_USE;

#endif
