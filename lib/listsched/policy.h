/* SPDX-License-Identifier: Apache-2.0 */
/* Policies of the list scheduler: which ready op is next, and which version leaves.  The mechanism
 * (engine.h) asks; a policy is a pair of functions without state. */
#ifndef FS_POLICY_H
#define FS_POLICY_H

#include "graph.h"
#include "listsched/listsched.h"

typedef struct fs_policy {
  const char *name;
  /* Fills position[op] with a linear extension of the graph: the planned order. */
  fs_status (*plan)(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                    uint32_t *position);
  fsched_evict evict; /* farthest next use, or least recently used */
  bool strict;        /* no op takes room that an earlier one is blocked for */
} fs_policy;

/* Upward rank: longest remaining path first, copies of kept outputs included. */
fs_status fs_plan_rank(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                       uint32_t *position) FS_MUST_USE;
/* Program order, as far as `after` allows. */
fs_status fs_plan_program(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                          uint32_t *position) FS_MUST_USE;
/* One op at a time, the one that leaves least in bounded memories; ties by upward rank. */
fs_status fs_plan_memory(fsched_context *ctx, const fsched_graph *g, fs_arena *scratch,
                         uint32_t *position) FS_MUST_USE;

#endif
