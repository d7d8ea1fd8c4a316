/* SPDX-License-Identifier: Apache-2.0 */
/* Loops: how often their iterations begin, and could begin. */
#ifndef FS_DRAW_LOOPS_H
#define FS_DRAW_LOOPS_H

#include "model/schedule.h"

/* Writes a line for each loop: what the schedule does, if there is one (else NULL), and the plan.
 */
void fs_loops_put(fs_text *t, const fsched_graph *g, const fs_loop_report *report, uint32_t n,
                  bool scheduled);
/* Writes a whole number, or one with two decimals, rounded.  Requires a denominator above 0. */
void fs_loops_put_ticks(fs_text *t, fs_loop_ticks x);
/* Ticks after which all copies of the body begin again.  Requires a report with a plan. */
fs_loop_ticks fs_loops_period(const fs_loop_report *r);
/* Writes the reports as a JSON list.  Requires reports where the schedule says it has some. */
void fs_loops_put_json(fs_text *t, const fs_schedule *s);
/* Writes the body of a loop that stays one as JSON: its ops, the commands that its queues have in
 * each step, and the waits, as edges between commands with a distance in iterations.  Requires a
 * loop of the graph's rolled ones. */
void fs_loops_put_body(fs_text *t, const fs_schedule *s, uint32_t loop);

#endif
