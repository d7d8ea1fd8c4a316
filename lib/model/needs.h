/* SPDX-License-Identifier: Apache-2.0 */
/* What an op needs of each memory at once, wherever it runs: the aligned sizes of the versions that
 * it touches, each once, and of its scratch.  An in-place output in a contiguous memory needs
 * nothing beside its input, nor
 * does one of which that is not known (graph.h, arg_open).  No schedule gets along with less. */
#ifndef FS_NEEDS_H
#define FS_NEEDS_H

#include "model/graph.h"

typedef struct fs_needs {
  const fsched_graph *g;
  uint64_t *need;   /* per memory, of the op at hand; sums that leave 62 bits stay there */
  uint32_t *memory; /* those with a need: n of them */
  uint32_t n;
  uint64_t turn;     /* of fs_needs_find */
  uint64_t *counted; /* per version: the last turn of whose need it is a part */
} fs_needs;

/* Requires the in-place pairs of the graph, which are its last part.  The arrays are in the arena.
 * O(memories + versions) */
fs_status fs_needs_init(fs_needs *s, const fsched_graph *g, fs_arena *arena) FS_MUST_USE;
/* Requires an op of the graph.
 * O(args + scratch + pairs of the op) */
void fs_needs_find(fs_needs *s, uint32_t op);

#endif
