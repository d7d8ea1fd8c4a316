/* SPDX-License-Identifier: Apache-2.0 */
/* Which queues of a loop that stays one an edge of the graph concerns.
 *
 * A loop's queues enter and leave it on their own (rolled.h).  An edge to it holds back those alone
 * whose commands touch a buffer that the edge is for, and one from it lets go on what follows once
 * those are over:
 *
 *     queue p    |--load--|--load--|--load--|              `table` is over before the first use
 *     queue q             |--use---|--use---|--use---|
 *     queue r    |-table-|
 *
 * A buffer that an edge is for is one of which both ops access a version, and one of them writes
 * it.  All queues touch one of which the last value is moved when the loop is over (fs_ring_moves).
 * Queues are members: the k-th queue of the loop's gang is bit k.  All members count where an
 * `after` names the op, where no such buffer is found, and of what is no loop with parts
 * (fs_op_parts); where some op is slow, since an epoch then tells of others, too; where the target
 * has a wait; and where one of the two ops may take the place of an input.
 *
 * An op never starts before one that it follows does, so orders of issue stay linear extensions. */
#ifndef FS_LAGS_H
#define FS_LAGS_H

#include "model/graph.h"

#define FS_LAG_ALL UINT64_MAX

typedef struct fs_lag {
  uint64_t from, to; /* members of the earlier op that have to be over, of the later one that wait;
                      * FS_LAG_ALL: all */
} fs_lag;

typedef struct fs_lags {
  const fsched_graph *g;
  fs_lag *lag; /* per edge, as g->pred; NULL: of each all members count */
} fs_lags;

/* The array lives in `arena`.  Requires a frozen graph.
 * Complexity: O(ops + edges), and per edge at a loop O(args of both ops, and of their bodies).
 * Errors: FSCHED_SYSTEM. */
fs_status fs_lags_find(fs_arena *arena, const fsched_graph *g, fs_lags *out) FS_MUST_USE;

/* Whether some members of an op at the edge do not count.  Requires an edge of the graph. */
static inline bool fs_lags_some(const fs_lags *l, uint32_t edge) {
  FS_ASSERT_SLOW(l->lag == NULL || edge < l->g->n_edges);
  return l->lag != NULL && (l->lag[edge].from & l->lag[edge].to) != FS_LAG_ALL;
}
/* The ticks from the start of the earlier op to the first start of the later one.  Requires an edge
 * of the graph, to `op`.  O(log loops + members). */
fs_tick fs_lags_delay(const fs_lags *l, uint32_t edge, uint32_t op);
/* The edge between two ops, FS_NONE: there is none.  Requires ops of the graph.  O(log edges). */
uint32_t fs_lags_edge(const fsched_graph *g, uint32_t from, uint32_t to);

#endif
