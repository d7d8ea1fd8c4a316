/* SPDX-License-Identifier: Apache-2.0 */
/* Which items go to a later phase than they must. */
#ifndef FS_BLOCK_PHASES_H
#define FS_BLOCK_PHASES_H

#include "block/orders.h"

typedef enum fs_phase_rule {
  FS_PHASE_BALANCED, /* where they make the phases the least longer */
  FS_PHASE_PLANNED,  /* as near to where they are planned as possible */
  FS_PHASE_EARLY,
  FS_PHASE_LATE,
  FS_PHASE_RULES
} fs_phase_rule;

/* A phase per item into `phase`: between early and late, no edge goes back, and one that takes a
 * full sync goes on.  Requires orders with phases, and a rule.  Complexity: O(items * 64 + edges).
 * Errors: FSCHED_SYSTEM. */
fs_status fs_phases_assign(fsched_context *ctx, const fs_orders *o, fs_phase_rule rule,
                           uint32_t *phase) FS_MUST_USE;

#endif
