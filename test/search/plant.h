/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose memories are short and have no store, and have a schedule for sure (by amounts). */
#ifndef FS_TEST_PLANT_H
#define FS_TEST_PLANT_H

#include "base/base.h"
#include "fsched/graph.h"

/* Sets the capacities of the bounded memories: a part, 0 to 1, of the way from what some order of
 * ops that run one at a time holds to what a list schedule without any limit does.  Requires a
 * graph with at most 8 memories, whose capacities are no limit. */
fs_status fs_plant(fsched_context *ctx, fsched_graph *g, double part);

#endif
