/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with timelines as programs with barriers, and with nothing but syncs: made simply, for
 * tests of those who take such programs, as hostile to them as they may be. */
#ifndef FS_TEST_RESYNC_H
#define FS_TEST_RESYNC_H

#include "fsched/program.h"
#include "kit/gen.h"
#include "model/graph.h"
#include "model/stream/stream.h"

/* Barriers: every wait becomes one for a barrier; waits that one command alone has share one.  As
 * few physical barriers as there are in use at once in one order in which the commands can run,
 * each handed over as early as may be, so that many producers are held back by them. Block: syncs
 * where a wait asks for one, counting ones as far as the seed wants. */
fsched_program *fs_resync(fsched_context *ctx, const fs_stream *s, fs_sync_kind kind,
                          uint64_t seed);

/* Of a program with barriers: without one of the barrier waits; of one with syncs: without one of
 * these.  Everything else stays as it is. */
fsched_program *fs_resync_drop(fsched_context *ctx, const fs_stream *s, uint32_t index);

#endif
