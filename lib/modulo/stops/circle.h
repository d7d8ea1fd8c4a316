/* SPDX-License-Identifier: Apache-2.0 */
/* Arcs on a circle, and the fewest places that meet all of them: the syncs of a loop.
 *
 * The places 0 .. n - 1 are those of a step's order of issue, which comes again and again.  An arc
 * of what is at place `from` to what is `length` places later, maybe in another step, is met by a
 * sync before place a if a is one of from + 1 .. from + length, modulo n: any sync meets one of n
 * places or more. */
#ifndef FS_MODULO_CIRCLE_H
#define FS_MODULO_CIRCLE_H

#include "base/mem.h"

typedef struct fs_circle_arc {
  uint32_t from;
  uint64_t length; /* at least 1 */
} fs_circle_arc;

/* Requires a place a. */
static inline bool fs_circle_meets(uint32_t n, const fs_circle_arc *arc, uint32_t a) {
  FS_ASSERT_SLOW(a < n);
  return (a + 2 * (uint64_t)n - arc->from - 1) % n < arc->length;
}

/* Puts the fewest places that meet all arcs into `out`, ascending; `out` has room for n.
 * Exact: of the fewest places some are ends of arcs, as places may move there; each end is tried as
 * the first, then each next one is as late as the arcs allow.
 * Requires n > 0, and arcs from places of the circle.
 * Complexity: O(n + arcs * places found).  Errors: FSCHED_SYSTEM. */
fs_status fs_circle_stab(fsched_context *ctx, uint32_t n, const fs_circle_arc *arc, uint32_t n_arcs,
                         uint32_t *out, uint32_t *n_out) FS_MUST_USE;

#endif
