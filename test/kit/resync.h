/* SPDX-License-Identifier: Apache-2.0 */
/* Turns programs with timelines into programs with barriers, or with nothing but syncs.  The way is
 * simple, and the results are as hostile as they may be to what reads such programs. */
#ifndef FS_TEST_RESYNC_H
#define FS_TEST_RESYNC_H

#include "fsched/program.h"
#include "kit/gen.h"
#include "model/graph.h"
#include "model/stream/stream.h"

/* With barriers, every wait becomes one for a barrier, and the waits that one command alone has
 * share one.  Physical barriers are as few as are in use at once in one order in which the commands
 * can run, and each is handed over as early as possible, so that many producers are held back.
 * With blocks, there are syncs where a wait needs one; the seed decides how many of them are
 * counting. */
fsched_program *fs_resync(fsched_context *ctx, const fs_stream *s, fs_sync_kind kind,
                          uint64_t seed);

/* Returns a program with barriers without one of its barrier waits, or one with syncs without one
 * of those.  Everything else stays as it is. */
fsched_program *fs_resync_drop(fsched_context *ctx, const fs_stream *s, uint32_t index);

#endif
