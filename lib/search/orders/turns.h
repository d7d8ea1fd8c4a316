/* SPDX-License-Identifier: Apache-2.0 */
/* Local search over orders (search.h), by amounts and with addresses, in turns with trials of the
 * list scheduler, which begin with the best order known, and with what the caller knows to do with
 * the best schedule.  Orders do best where memories are so short that most of what is used again
 * has to be copied again, trials where there is room for more.  A turn is as long as the last one
 * of its kind, or twice as long where that has found the best schedule so far.
 *
 * Determinism: a function of graph, schedule, seed and rule of eviction, and of when `stop` ends
 * it. A node is a run of the list scheduler, or as many decoded ops as the graph has. */
#ifndef FS_ORDERS_TURNS_H
#define FS_ORDERS_TURNS_H

#include "listsched/listsched.h"

/* Can fs_order_turns_run do anything for the graph? */
bool fs_order_turns_know(const fsched_graph *g);
/* Called between turns with the best schedule so far; *heard becomes another one that is shorter,
 * which the turns own from then on, or NULL. */
typedef fs_status (*fs_order_meeting)(void *user, const fs_schedule *best, fs_schedule **heard);
/* A turn of the caller's: *found becomes a schedule that is shorter than the best one, which the
 * turns own from then on, or NULL, in about so many nodes, which it sets to those that it used. */
typedef fs_status (*fs_order_improving)(void *user, const fs_schedule *best, uint64_t *nodes,
                                        fs_schedule **found);
/* Both may be NULL. */
typedef struct fs_order_calls {
  fs_order_meeting meet;
  fs_order_improving improve;
} fs_order_calls;
/* Of the options counts what trials read, but not the position and the effort; `stop` is called
 * with the nodes so far, and so are the calls, with their user.  *out is shorter
 * than `from`, or NULL: none was found.  Requires a graph that fs_order_turns_know, a schedule of
 * it, and a stop.  Errors: FSCHED_SYSTEM, and those of the calls. */
fs_status fs_order_turns_run(fsched_context *ctx, const fs_listsched_options *options,
                             fs_order_calls calls, const fs_schedule *from,
                             fs_schedule **out) FS_MUST_USE;

#endif
