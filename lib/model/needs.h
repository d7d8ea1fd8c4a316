/* SPDX-License-Identifier: Apache-2.0 */
/* The amount of each memory that an op needs at once, wherever it runs: the aligned sizes of the
 * versions that it touches, each counted once, and of its scratch.  An in-place output in a
 * contiguous memory adds nothing to its input's size, nor does an output that might be in place
 * (graph.h, arg_open).  Every schedule needs at least this amount. */
#ifndef FS_NEEDS_H
#define FS_NEEDS_H

#include "model/graph.h"

typedef struct fs_needs {
  const fsched_graph *g;
  uint64_t *need;   /* per memory, of the current op; sums saturate at 62 bits */
  uint32_t *memory; /* the n memories with a need */
  uint32_t n;
  uint64_t turn;     /* number of the current call of fs_needs_find */
  uint64_t *counted; /* per version: the last turn whose need includes it */
} fs_needs;

/* Requires the in-place pairs of the graph, which are its last part.  The arrays are in the arena.
 * O(memories + versions) */
fs_status fs_needs_init(fs_needs *s, const fsched_graph *g, fs_arena *arena) FS_MUST_USE;
/* Requires an op of the graph.
 * O(args + scratch + pairs of the op) */
void fs_needs_find(fs_needs *s, uint32_t op);

#endif
