/* SPDX-License-Identifier: Apache-2.0 */
/* The barriers of loops that stay loops (sync: barrier, model/rolled.h), for the back ends that
 * drive them: each is a count of arrivals and a number of complete phases, of which commands see
 * the parity alone.
 *
 * When a run of a loop begins, its barriers have no arrivals and no complete phase.  Each command
 * of an op that updates a guard arrives, when iteration i of it ends, at barrier i mod depth; the
 * last of the arrivals that make a phase completes it, and the next begins.  Where the runs of a
 * loop in a loop are joined, its barriers are set when a run of the loop around begins, and i is
 * counted over all runs in that. */
#ifndef FS_EXEC_GUARDS_H
#define FS_EXEC_GUARDS_H

#include "base/mem.h"
#include "model/stream/stream.h"

/* The most barriers of loops in use that a stream may have to be run. */
#define FS_GUARDS_MOST (1u << 22)

typedef struct fs_guards {
  uint32_t n;                 /* physical barriers that some guard has and its loop can use */
  uint32_t *first, *used;     /* per guard: its first barrier; how many its loop can use */
  uint32_t *arrivals;         /* per guard: of a phase */
  uint32_t *update0, *update; /* CSR by loop_command: the guards that it updates */
} fs_guards;

/* Requires a stream that fs_stream_check has accepted.  The arrays live in `arena`; more barriers
 * than FS_GUARDS_MOST are reported to ctx.
 * Errors: FSCHED_SYSTEM.  Complexity: O(guards log guards + updates). */
fs_status fs_guards_make(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                         fs_guards *out) FS_MUST_USE;

/* The barrier of an iteration.  Requires a guard. */
static inline uint32_t fs_guard_barrier(const fs_guards *g, const fs_stream *s, uint32_t guard,
                                        uint64_t iteration) {
  FS_ASSERT_SLOW(guard < s->n_guards);
  return g->first[guard] + (uint32_t)(iteration % s->guards[guard].depth);
}
/* Whether a command that looks for an iteration's phase goes on, where so many phases are complete:
 * whether the parity of the last one is that of the phase.  Before the first one it is odd.
 * Requires a guard. */
static inline bool fs_guard_passes(const fs_stream *s, uint32_t guard, uint64_t iteration,
                                   uint64_t complete) {
  FS_ASSERT_SLOW(guard < s->n_guards);
  return (iteration / s->guards[guard].depth + complete) % 2 == 1;
}

#endif
