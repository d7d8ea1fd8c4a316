/* SPDX-License-Identifier: Apache-2.0 */
/* The order of issue of a loop on a target of block syncs: of the orders tried the best one. */
#ifndef FS_MODULO_ISSUE_H
#define FS_MODULO_ISSUE_H

#include "model/issued.h"
#include "modulo/rolled.h"

typedef struct fs_issue_options {
  const bool *counting; /* per queue of the target */
  uint64_t trip;
  uint64_t cost;   /* of a full sync, in ticks */
  bool as_planned; /* with the copies and the depths of the plan */
} fs_issue_options;

/* Makes an issued loop of a plan (fs_modulo_issued) and tries orders of phases in its place
 * (phases.h), from the fewest full syncs a step on, also with rings of open depth as deep as fewer
 * syncs take, if these fit, and with up to 4 copies of the body where these need fewer syncs an
 * iteration; the depths and copies only if
 * they need not be as planned; of all, that one is kept which takes least for all iterations, with
 * the cost of the full syncs in them, and then the one with fewer syncs an iteration.
 * The plan becomes the one that is kept, of which starts then say the order alone; what rings say
 * of how far their writers are ahead (ahead.h) it keeps as before.
 * Requires a plan that was found.
 * Complexity: as of fs_modulo_issued, fs_modulo_phase and fs_issued_run, up to 22 and
 * 6 FS_PHASES_MOST times.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_issue(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                          fs_modulo_plan *plan, const fs_issue_options *options,
                          fs_rolled_loop *out, fs_issued_time *time, bool *possible) FS_MUST_USE;

#endif
