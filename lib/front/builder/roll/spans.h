/* SPDX-License-Identifier: Apache-2.0 */
/* How long planned loops take, as a whole and on each of their queues. */
#ifndef FS_BUILDER_ROLL_SPANS_H
#define FS_BUILDER_ROLL_SPANS_H

#include "front/builder/roll/roll.h"
#include "modulo/planned.h"

/* The ticks from the first command of a run to the end of its last one, as `loop` waits;
 * UINT64_MAX: it locks up.  `x`: the members' times and the trips.  Complexity: that of
 * fs_rolled_span.  Errors: FSCHED_SYSTEM. */
fs_status fs_roller_time_rolled(fs_roller *r, const fs_planned_loop *p, const fs_rolled *x,
                                const fs_rolled_loop *loop, uint64_t *span) FS_MUST_USE;
/* Makes the loop's report, with its span, and the parts that its queues have in it, where they are
 * known.  Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT (it counts too many commands or ticks). */
fs_status fs_roller_find_span(fs_roller *r, uint32_t loop, const fs_planned_loop *p,
                              fs_rolled *x) FS_MUST_USE;

#endif
