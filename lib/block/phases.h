/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a phase for each item between its earliest and its latest one. */
#ifndef FS_BLOCK_PHASES_H
#define FS_BLOCK_PHASES_H

#include "block/orders.h"

typedef enum fs_phase_rule {
  FS_PHASE_BALANCED, /* where items lengthen the phases least */
  FS_PHASE_PLANNED,  /* as near to the items' planned times as possible */
  FS_PHASE_EARLY,
  FS_PHASE_LATE,
  FS_PHASE_RULES
} fs_phase_rule;

/* Fills `phase` per item: phases lie between early and late, no edge leads to an earlier phase, and
 * an edge that takes a full sync leads to a later one.  Requires orders with phases, and a rule.
 * Complexity: O(items * 64 + edges), and for FS_PHASE_BALANCED that of fs_phases_refine.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_phases_assign(fsched_context *ctx, const fs_orders *o, fs_phase_rule rule,
                           uint32_t *phase) FS_MUST_USE;

#endif
