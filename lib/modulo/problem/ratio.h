/* SPDX-License-Identifier: Apache-2.0 */
/* The largest ratio of weight over distance of the cycles of a graph, exactly. */
#ifndef FS_MODULO_RATIO_H
#define FS_MODULO_RATIO_H

#include "modulo/problem/problem.h"

typedef struct fs_ratio_edge {
  uint32_t from, to;
  int64_t weight; /* > 0 */
  int64_t distance;
} fs_ratio_edge;

typedef struct fs_ratio_cycle {
  fs_modulo_ratio ratio; /* 0 if there is no cycle */
  bool endless;          /* a cycle without distance, or of a negative one */
  uint32_t n, *edge;     /* a cycle of this ratio, or of no distance: its edges, last one first */
} fs_ratio_cycle;

/* At a ratio of p / q, longest paths with weights weight * q - distance * p either are final after
 * n rounds, or hold a cycle of a greater ratio, from which the search goes on (Lawler's parametric
 * search, from below along the cycles that are found).
 * Requires (unchecked: O(m)) that the sum of all weights times the sum of all distances, without
 * signs, is below 2^61.
 * Complexity: O(n m) a cycle.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_cycle(fsched_context *ctx, fs_arena *arena, uint32_t n,
                          const fs_ratio_edge *edge, uint32_t m, fs_ratio_cycle *out) FS_MUST_USE;

/* Longest paths to each node, from a node that comes before all, with weights weight * den -
 * distance * num.  Requires (unchecked: O(n m)) that no cycle has a greater ratio than num / den.
 * Complexity: O(n m). */
void fs_modulo_potentials(uint32_t n, const fs_ratio_edge *edge, uint32_t m, fs_modulo_ratio at,
                          int64_t *start);

#endif
