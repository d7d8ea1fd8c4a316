/* SPDX-License-Identifier: Apache-2.0 */
/* Depths of rings that fit the memories, where those of a plan do not. */
#ifndef FS_MODULO_FITTING_H
#define FS_MODULO_FITTING_H

#include "modulo/problem/problem.h"

enum { FS_FITTING_MOST = 32 };

typedef struct fs_modulo_fitting {
  bool all; /* these are all there are */
  uint32_t n;
  uint32_t *depth[FS_FITTING_MOST]; /* per ring */
} fs_modulo_fitting;

/* Lists depths of open rings that are nowhere above those of `from`, and of which none could be
 * one more.  Those come first that have the most slots; of many rings it is only a few, or none.
 * Rings of given depth keep it, and open ones in no bounded memory have FS_NONE.
 * Requires depths of at least the least one.
 * Complexity: O(rings * 2^18) at most.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_fitting_depths(fs_arena *arena, const fs_modulo_problem *p,
                                   const uint32_t *from, fs_modulo_fitting *out) FS_MUST_USE;

/* Makes depths of open rings in bounded memories no more than fit there if all others have their
 * least.  Complexity: O(rings * (rings + readers)). */
void fs_modulo_fit_alone(const fs_modulo_problem *p, uint32_t *depth);

/* Whether the depth of a ring is to be chosen, and its memory bounded.  Requires a ring. */
static inline bool fs_modulo_ring_fits(const fs_modulo_problem *p, uint32_t ring) {
  FS_ASSERT_SLOW(ring < p->n_rings);
  uint32_t memory = p->ring[ring].memory;
  return p->ring[ring].depth == 0 && memory != FS_NONE && p->capacity[memory] != FS_UNBOUNDED;
}
/* Whether no ring has less than its least depth.  Complexity: O(readers). */
static inline bool fs_modulo_deep_enough(const fs_modulo_problem *p, const uint32_t *depth) {
  bool deep = true;
  for (uint32_t r = 0; r < p->n_rings && deep; r++) {
    deep = depth[r] >= fs_modulo_least_depth(p, r);
  }
  return deep;
}

#endif
