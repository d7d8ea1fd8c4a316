/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of what holds for every frozen graph: successors mirror predecessors, and topo respects
 * the edges. */
#ifndef FS_TEST_GRAPH_CHECKS_H
#define FS_TEST_GRAPH_CHECKS_H

#include <check.h>
#include <stdlib.h>

#include "model/graph.h"

static inline void check_transpose(const fsched_graph *g) {
  uint32_t n = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t e = g->succ0[op]; e < g->succ0[op + 1]; e++, n++) {
      uint32_t to = g->succ[e];
      ck_assert(e == g->succ0[op] || g->succ[e - 1] < to);
      bool found = false;
      for (uint32_t p = g->pred0[to]; p < g->pred0[to + 1]; p++) {
        found |= g->pred[p] == op;
      }
      ck_assert(found);
    }
  }
  ck_assert_uint_eq(n, g->n_edges);
  ck_assert_uint_eq(g->pred0[g->n_ops], g->n_edges);
}

static inline void check_topo(const fsched_graph *g) {
  uint32_t *rank = malloc(g->n_ops * sizeof *rank);
  memset(rank, 0xFF, g->n_ops * sizeof *rank);
  for (uint32_t i = 0; i < g->n_ops; i++) {
    ck_assert_uint_eq(rank[g->topo[i]], FS_NONE);
    rank[g->topo[i]] = i;
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      ck_assert_uint_lt(rank[g->pred[e]], rank[op]);
    }
  }
  free(rank);
}

#endif
