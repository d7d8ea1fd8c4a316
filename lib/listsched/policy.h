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
  uint32_t near;         /* ops per queue within which the last use of a short-lived version is */
} fs_policy;

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

/* A neighbour of an order: every op may move ahead by up to `spread` positions at random.  Requires
 * a linear extension in `from`, and room for another one. */
fs_status fs_plan_neighbour(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                            const uint32_t *from, uint32_t spread, uint64_t seed,
                            uint32_t *position) FS_MUST_USE;

/* The i-th number of the stream of a seed. */
uint64_t fs_plan_random(uint64_t seed, uint64_t i);

/* Bytes that an order, run one op at a time, has to bring back in: for uses of a version between
 * which more than the capacity has been brought into its memory.  A guide for choosing an order;
 * O(args). */
fs_status fs_plan_traffic(const fsched_graph *g, fs_arena *scratch, const uint32_t *op_at,
                          uint64_t *bytes) FS_MUST_USE;

#endif
