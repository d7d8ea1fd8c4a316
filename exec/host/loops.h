/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of loops that stay loops on the host: of one instance, which is one iteration of one
 * op of the body. */
#ifndef FS_EXEC_LOOPS_H
#define FS_EXEC_LOOPS_H

#include "exec/host/host.h"
#include "exec/host/instances.h"

/* Runs one call of an instance, of which an op with members that have args of their own has one for
 * each, and adds its own digest to *digest if digests are wanted: fs_loop_digest of the sum over
 * all calls is what the instance adds to that of its outermost loop.  Else as fs_loop_run_instance.
 */
fsched_cause fs_loop_run_call(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                              const fs_loop_instance *at, uint32_t call, uint64_t *digest);
/* Runs the instance, all calls in turn, and adds its part of the outermost loop's digest to *sum if
 * digests are wanted.  A failure is reported to work->failed and returned.  Requires a command of
 * the stream whose op is a loop, and a command of that loop or one inside, of an op that is no
 * loop. */
fsched_cause fs_loop_run_instance(const fs_effects *e, const fs_effect_room *room,
                                  const fs_work *work, const fs_loop_instance *at, uint64_t *sum);
/* What is left to do when a run of a loop is over: values are moved (fs_stream_ring).  `around`:
 * the instance of the op that the loop is, or NULL. */
void fs_loop_leave(const fs_effects *e, const fs_stream_loop *loop, uint64_t trips,
                   uint32_t command, const fs_loop_instance *around);

#endif
