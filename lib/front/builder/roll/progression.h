/* SPDX-License-Identifier: Apache-2.0 */
/* All that an arg touches in the iterations of some loops: a range, or the runs of a strided view,
 * at some steps and trips, in which a step that leaves no gap is gone.
 *
 *   {offset 6336, length 64, step -64}, 100 times      [0, 6400)
 *   {offset 0, length 8, step 16}, 100 times           [0, 8) + 16 * (0 .. 99) */
#ifndef FS_FRONT_PROGRESSION_H
#define FS_FRONT_PROGRESSION_H

#include "base/mem.h"
#include "fsched/graph.h"

enum { FS_PROGRESSION_STEPS = FSCHED_MAX_LOOPS + FSCHED_MAX_DIMS };

/* Ranges of equal length.  Steps are ascending, above 0, and each leaves a gap. */
typedef struct fs_progression {
  uint64_t low, length;
  uint32_t n; /* steps */
  uint64_t step[FS_PROGRESSION_STEPS], trip[FS_PROGRESSION_STEPS];
} fs_progression;

/* Sorts the steps, and takes out those that leave no gaps. */
void fs_progression_close(fs_progression *p);
/* The bytes from its first one up to its last. */
uint64_t fs_progression_span(const fs_progression *p);
/* How many ranges it has, or UINT64_MAX for more than there are numbers. */
uint64_t fs_progression_ranges(const fs_progression *p);
/* Whether the two have the same steps and trips. */
bool fs_progression_alike(const fs_progression *a, const fs_progression *b);
/* Whether all ranges of `a` are shown to lie in one of b's each. */
bool fs_progression_lies_in(const fs_progression *a, const fs_progression *b);

#endif
