/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of loops that stay loops (model/rolled.h, model/stream/stream.h) on the host: of one
 * instance, which is one iteration of one op of the body, and of a whole loop, sequentially.
 *
 * The digest of a loop is the sum of fs_loop_digest over its instances, so it does not depend on
 * the order in which they run. */
#ifndef FS_EXEC_LOOPS_H
#define FS_EXEC_LOOPS_H

#include "exec/host/byteset.h"
#include "exec/host/host.h"

/* What is looked up in a stream with loops; all NULL without loops. */
struct fs_loops {
  uint32_t *of; /* per op: its loop; FS_NONE: it is none */
};

/* Requires a stream that fs_stream_check has accepted.  O(ops). */
fs_status fs_loops_make(fs_arena *arena, const fs_stream *s, fs_loops *out) FS_MUST_USE;

/* An instance, with the command of the stream in which it runs. */
typedef struct fs_loop_instance {
  uint32_t command, loop_command;
  uint64_t iteration;
} fs_loop_instance;

/* Runs the instance, and adds its part of the loop's digest to *sum if digests are wanted.  A
 * failure is reported to work->failed and returned.  Requires a command of the stream whose op is a
 * loop, and a command of that loop. */
fsched_cause fs_loop_run_instance(const fs_effects *e, const fs_effect_room *room,
                                  const fs_work *work, const fs_loop_instance *at, uint64_t *sum);
/* Runs all instances, one after the other in an order that queues and waits allow, and records the
 * digest.  FSCHED_CAUSE_WRONG when they wait for each other.
 * FSCHED_CAUSE_CANCELLED when e->off was set meanwhile.  Requires a command whose op is a loop. */
fsched_cause fs_loop_run(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                         uint32_t command);

/* What an instance whose own digest is `digest` adds to its loop's; `op` is the op's index in its
 * loop. */
uint64_t fs_loop_digest(uint32_t op, uint64_t iteration, uint64_t digest);
/* The most bytes of an instance's name, and the name itself, which takes at most as many. */
size_t fs_loop_name_bytes(const char *op);
void fs_loop_name(char *room, const char *op, uint64_t iteration);
/* The bytes of its buffer that an arg without a ring names in an iteration: none where they begin
 * behind the buffer's end.  Requires an arg of a loop that names a buffer and has no ring. */
fs_byte_range fs_loop_arg_range(const fs_stream *s, const fs_stream_loop_arg *a,
                                uint64_t iteration);

#endif
