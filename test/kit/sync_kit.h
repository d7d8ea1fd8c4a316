/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and syncs in place of the waits of a schedule, found in the plainest way: for tests of
 * what comes after (frontiers, codegen, pictures), which are not to depend on the passes that do it
 * well.  For programs without a schedule see resync.h. */
#ifndef FS_TEST_SYNC_KIT_H
#define FS_TEST_SYNC_KIT_H

#include "codegen/codegen.h"
#include "compile/synchronise.h"
#include "ctrledge/ctrledge.h"
#include "listsched/listsched.h"
#include "model/handle.h"
#include "waits/waits.h"

/* A barrier for every (axis, epoch) that is waited for.  A physical barrier takes another when all
 * consumers come earlier in the order of issue than all producers of the other, so nothing
 * deadlocks.  Every member of an op takes as many slots as the op demands. */
fs_status fs_kit_barriers(fs_schedule *s, fs_sync *sync);

/* The order of issue is the schedule's, and before a command that waits for what no sync has waited
 * for there is one: counting, where all it waits for is on counting queues, else full. */
fs_status fs_kit_stops(fs_schedule *s, fs_sync *sync);

/* By definition: the last epoch of another queue that is over before the command starts, since its
 * barriers say so, or syncs that its queue has not met before; 0: none. */
uint32_t fs_kit_point(const fs_sync *sync, uint32_t command, uint32_t queue);

/* Control edges and waits anew, then one of the two, then the program. */
fs_status fs_kit_program(fsched_schedule *s, fs_sync_kind kind, fsched_program **program);

/* The list schedule of a graph with its control edges and waits.  *out may be there after an error,
 * too. */
fs_status fs_kit_synchronised(fsched_context *ctx, const fsched_graph *g, fs_sync_kind kind,
                              fsched_schedule **out);

#endif
