/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and syncs in place of the waits of a schedule, found in the plainest way, for tests of
 * later stages (frontiers, codegen, pictures), which are not to depend on the passes that do it
 * well. resync.h does the same for programs without a schedule. */
#ifndef FS_TEST_SYNC_KIT_H
#define FS_TEST_SYNC_KIT_H

#include "codegen/codegen.h"
#include "compile/synchronise.h"
#include "ctrledge/ctrledge.h"
#include "listsched/listsched.h"
#include "model/handle.h"
#include "waits/waits.h"

/* Makes a barrier for every (axis, epoch) that is waited for.  A physical barrier takes another one
 * when all its consumers come earlier in the order of issue than all producers of the other, so
 * nothing deadlocks.  Every member of an op takes as many slots as the op demands. */
fs_status fs_kit_barriers(fs_schedule *s, fs_sync *sync);

/* Takes the schedule's order of issue, and puts a sync before each command that waits for something
 * no sync has waited for: a counting one where all it waits for is on counting queues, else a full
 * one. */
fs_status fs_kit_stops(fs_schedule *s, fs_sync *sync);

/* The point by its definition: the last epoch of another queue that is over before the command
 * starts, by its barriers, or by syncs that its queue has not met before; 0: none. */
uint32_t fs_kit_point(const fs_sync *sync, uint32_t command, uint32_t queue);

/* Makes control edges and waits anew, then the synchronisation of that kind, then the program. */
fs_status fs_kit_program(fsched_schedule *s, fs_sync_kind kind, fsched_program **program);

/* Makes the list schedule of a graph with its control edges and waits.  *out may be set after an
 * error, too. */
fs_status fs_kit_synchronised(fsched_context *ctx, const fsched_graph *g, fs_sync_kind kind,
                              fsched_schedule **out);

#endif
