/* SPDX-License-Identifier: Apache-2.0 */
/* Interval stabbing: the fewest syncs for a set of hazards.
 *
 * A hazard (last read, first write) is met by a sync at s when last read < s <= first write:
 * "before the item at s".  Of (2,6) (3,7) (5,9) (8,12) two are enough, before 6 and before 12. */
#ifndef FS_BLOCK_STAB_H
#define FS_BLOCK_STAB_H

#include "base/context.h"
#include "base/mem.h"

typedef struct fs_hazard_span {
  uint32_t last, first; /* last < first */
} fs_hazard_span;

/* Puts the fewest syncs that must be added to those in `existing` (ascending) into `out`,
 * ascending; `out` has room for n.  Requires room in `out`, and hazards that end after they begin.
 * Complexity: O(n).  Errors: FSCHED_SYSTEM. */
fs_status fs_block_stab(fsched_context *ctx, const fs_hazard_span *span, uint32_t n,
                        const uint32_t *existing, uint32_t n_existing, uint32_t *out,
                        uint32_t *n_out) FS_MUST_USE;

#endif
