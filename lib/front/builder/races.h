/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of ops that touch overlapping bytes of one version, at least one of them writing, with no
 * path between them in an order: that of a graph's edges, or a weaker one.  An op whose members
 * conflict is a pair with itself. */
#ifndef FS_RACES_H
#define FS_RACES_H

#include "base/mem.h"
#include "model/graph.h"

typedef struct fs_race {
  uint32_t before, after, version; /* in program order */
} fs_race;
typedef FS_VEC(fs_race) fs_race_list;

typedef struct fs_race_order {
  const uint32_t *pred0, *pred; /* CSR, per op */
  const uint32_t *rank;         /* per op: its place in some order in which all predecessors come
                                   before */
  const bool *loose; /* per op: its predecessors need not be those of its tags; NULL: for none */
} fs_race_order;

/* Tells the order of a graph's edges; its tables are from `scratch`, and the graph's.  Requires one
 * without cycles.  O(ops).  Errors: FSCHED_SYSTEM. */
fs_status fs_race_edges(const fsched_graph *g, fs_arena *scratch, fs_race_order *out) FS_MUST_USE;

/* Takes a pair. */
typedef fs_status fs_race_visit(void *user, const fs_race *race);

/* Calls `take` with each pair, in the order of fs_race_find, until it fails.  Requires an order
 * with ranks.  Complexity: as fs_race_find.  Errors: FSCHED_SYSTEM, and those of `take`. */
fs_status fs_race_each(const fsched_graph *g, const fs_race_order *order, fs_race_visit *take,
                       void *user) FS_MUST_USE;

/* Lists the pairs, by version, then by the later op's place in program order, then by the other
 * op's id.  Under a weaker order the list has the pairs of a stronger one, and more between them.
 * Requires an order with ranks, and an empty list.  Complexity: O(ops + edges) for each op that
 * accesses a version with in-place writes or loose accesses, at worst.  Errors: FSCHED_SYSTEM;
 * FSCHED_BAD_INPUT, reported, when there are more than 2^20. */
fs_status fs_race_find(const fsched_graph *g, const fs_race_order *order,
                       fs_race_list *list) FS_MUST_USE;

#endif
