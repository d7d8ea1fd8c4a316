/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of loops that stay loops (model/rolled.h, model/stream/stream.h) on the host: of one
 * instance, which is one iteration of one op of the body, and of a whole loop, sequentially.
 *
 * The digest of a loop is the sum of fs_loop_digest over its instances, those of loops inside too,
 * so it does not depend on the order in which they run. */
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
  const fs_stream_loop *loop;
  uint32_t command, loop_command, op; /* op: of loop_ops */
  uint64_t iteration;
  const struct fs_loop_instance *around; /* that of the op that the loop is; NULL: it is in none */
} fs_loop_instance;

/* The most loops around an op of a body.  O(loops). */
uint32_t fs_loops_depth(const fs_stream *s);
/* Runs the instance, and adds its part of the outermost loop's digest to *sum if digests are
 * wanted.  A failure is reported to work->failed and returned.  Requires a command of the stream
 * whose op is a loop, and a command of that loop or one inside, of an op that is no loop. */
fsched_cause fs_loop_run_instance(const fs_effects *e, const fs_effect_room *room,
                                  const fs_work *work, const fs_loop_instance *at, uint64_t *sum);
/* Runs all instances, one after the other in an order that queues and waits allow, and records the
 * digest.  FSCHED_CAUSE_WRONG when they wait for each other.
 * FSCHED_CAUSE_CANCELLED when e->off was set meanwhile.  Requires a command whose op is a loop. */
fsched_cause fs_loop_run(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                         uint32_t command);

/* What an instance whose own digest is `digest` adds to that of its outermost loop.  It depends on
 * the places that ops have in their loops, and on iterations. */
uint64_t fs_loop_digest(const fs_loop_instance *at, uint64_t digest);
/* The most bytes of an instance's name in so many loops, and the name itself, which takes at most
 * as many: NAME[i][j], the outermost loop's iteration first. */
size_t fs_loop_name_bytes(const char *op, uint32_t depth);
void fs_loop_name(char *room, const char *op, const fs_loop_instance *at);

/* Where an arg of an instance lies. */
typedef struct fs_loop_where {
  fs_byte_range range; /* within the buffer; with a ring, its own or one that it moves with, within
                        * a version of that */
  uint64_t way;        /* from the place of the command to that of the instance; may wrap around */
} fs_loop_where;
/* Requires an arg of the instance's op that names a buffer. */
fs_loop_where fs_loop_arg_where(const fs_stream *s, const fs_stream_loop_arg *a,
                                const fs_loop_instance *at);

#endif
