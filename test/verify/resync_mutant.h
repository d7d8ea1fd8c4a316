/* SPDX-License-Identifier: Apache-2.0 */
/* Right programs of resync.h whose records may be written, for tests that break them, or that
 * compare the verifier with the judge (oracle.h). */
#ifndef FS_TEST_RESYNC_MUTANT_H
#define FS_TEST_RESYNC_MUTANT_H

#include "fsched/program.h"
#include "model/graph.h"
#include "model/stream/stream.h"

/* Ops demand slots at random.  Some barriers are joined, split over slots, or laid on one physical
 * barrier where nothing waits in a circle.  Frontiers state all that is known.  For up to 64
 * commands; fs_mutant_free. */
fsched_program *fs_resync_mutant(fsched_context *ctx, const fs_stream *s, fs_sync_kind kind,
                                 uint64_t seed);

#endif
