/* SPDX-License-Identifier: Apache-2.0 */
/* Small graphs whose schedules can all be tried, on a table of ticks. */
#ifndef FS_TEST_SMALL_CASE_H
#define FS_TEST_SMALL_CASE_H

#include "fsched/graph.h"
#include "kit/gen.h"

enum { MOST_OPS = 7, FIELDS = 4 };

/* An op takes amounts of two resources, and queues of two classes. */
typedef struct search_case {
  uint32_t n;
  unsigned capacity[FIELDS];
  unsigned time[MOST_OPS], need[MOST_OPS][FIELDS];
  bool after[MOST_OPS][MOST_OPS]; /* [i][j]: i comes after j, j < i */
  uint64_t tick, unit;            /* what a tick, and a unit of the resources, is in the graph */
} search_case;

/* At most `most_ops`, of at most `most_time` ticks each. */
search_case fs_small_case(fs_rng *r, uint32_t most_ops, unsigned most_time);
fsched_graph *fs_small_graph(const search_case *c);
/* The least makespan in ticks of the table, by all orders.  Active schedules contain a shortest
 * one, and each comes from some order. */
unsigned fs_small_least(const search_case *c);

#endif
