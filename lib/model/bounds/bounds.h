/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds that need no search, of makespans and of what memories must hold.  All are of graphs
 * that stay as they are; any number of threads may ask at a time, each with a context of its own.
 */
#ifndef FS_MODEL_BOUNDS_H
#define FS_MODEL_BOUNDS_H

#include "model/schedule.h"

/* O((ops + edges) * (domains + memories)), plus at most 2^22 steps per domain and per memory.
 * bounds.c, memory.c, trades.c, behind.c */
fs_status fs_graph_lower_bounds(fsched_context *ctx, const fsched_graph *g,
                                fs_lower_bounds *out) FS_MUST_USE;
/* Those of work alone, where each op runs so often, at any time.  O(ops * domains). */
fs_status fs_graph_work_bounds(fsched_context *ctx, const fsched_graph *g, const uint64_t *runs,
                               fs_lower_bounds *out) FS_MUST_USE;
/* Those of what the graph means, with all its loops unrolled, in place of loops that are ops.  They
 * hold for any order of iterations.  O(1) with loops, else as without. */
fs_status fs_graph_unrolled_bounds(fsched_context *ctx, const fsched_graph *g,
                                   fs_lower_bounds *out) FS_MUST_USE;
/* Per memory, the largest sum of live sizes that every schedule reaches, from needs.h and from ops
 * whose given starts make them run at the same time.  Requires room for a number per memory. */
fs_status fs_memory_lower_bounds(fsched_context *ctx, const fsched_graph *g,
                                 uint64_t *per_memory) FS_MUST_USE;

#endif
