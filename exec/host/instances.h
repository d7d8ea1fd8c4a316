/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of loops that stay loops (model/rolled.h, model/stream/stream.h), for every back end:
 * what they are called, where their args lie, and what they add to digests.
 *
 * The digest of a loop is the sum of fs_loop_digest over its instances, those of loops inside too,
 * so it does not depend on the order in which they run. */
#ifndef FS_EXEC_INSTANCES_H
#define FS_EXEC_INSTANCES_H

#include "exec/host/byteset.h"
#include "fsched/exec.h"
#include "model/stream/stream.h"

/* What is looked up in a stream with loops; all NULL without loops. */
typedef struct fs_loops {
  uint32_t *of; /* per op: its loop; FS_NONE: it is none */
} fs_loops;

/* Requires a stream that fs_stream_check has accepted.  O(ops). */
fs_status fs_loops_make(fs_arena *arena, const fs_stream *s, fs_loops *out) FS_MUST_USE;

/* Finds how often each loop of the stream runs, where some are given: one of those that are not
 * runs as often as possible.  Of several of one name the last one counts.  FSCHED_USAGE if the
 * stream has no parameter of such a name, or it takes another number. */
fs_status fs_loops_trips(fsched_context *ctx, const fs_stream *s, const fsched_trips *given,
                         uint32_t n, uint64_t *out) FS_MUST_USE;
/* How often a loop of the stream runs. */
static inline uint64_t fs_loop_trips(const fs_stream *s, const uint64_t *trips,
                                     const fs_stream_loop *loop) {
  return trips == NULL ? loop->trip : trips[loop - s->loops];
}

/* An instance, with the command of the stream in which it runs. */
typedef struct fs_loop_instance {
  const fs_stream_loop *loop;
  uint32_t command, loop_command, op; /* op: of loop_ops */
  uint64_t iteration;
  uint64_t before; /* iterations of earlier runs that this one is joined to, else 0 */
  const struct fs_loop_instance *around; /* that of the op that the loop is; NULL: it is in none */
} fs_loop_instance;

/* The iterations of a loop that come before a run of so many, in an instance of the loop around. */
static inline uint64_t fs_loop_before(const fs_stream_loop *loop, const fs_loop_instance *around,
                                      uint64_t trips) {
  return loop->joined ? around->iteration * trips : 0;
}

/* The most loops around an op of a body.  O(loops). */
uint32_t fs_loops_depth(const fs_stream *s);
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

/* A value that is moved when a run of a loop is over (fs_stream_ring), between two slots. */
typedef struct fs_loop_move {
  uint32_t memory;
  uint64_t from, to, bytes; /* addresses; 0 bytes: nothing is to be moved */
} fs_loop_move;
/* Requires a ring of the loop, counted from 0, which has run so many times.  `around` is the
 * instance of the op that the loop is, NULL if it is in none; `command` is that of the stream. */
fs_loop_move fs_loop_last_value(const fs_stream *s, const fs_stream_loop *loop, uint32_t ring,
                                uint64_t trips, uint32_t command, const fs_loop_instance *around);

#endif
