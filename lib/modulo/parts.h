/* SPDX-License-Identifier: Apache-2.0 */
/* A problem some of whose ops are loops whose runs are joined (model/stream/stream.h), as one in
 * which each of their queues has an op of its own, a part.
 *
 * The parts of a run keep the times that they have in a plan of that loop, so ties hold them
 * together in both directions, and each run behind the one before.  What comes behind, or before,
 * such an op comes behind, or before, the parts that touch what it is for. */
#ifndef FS_MODULO_PARTS_H
#define FS_MODULO_PARTS_H

#include "model/rolled.h"
#include "modulo/problem/problem.h"

typedef struct fs_modulo_part {
  uint32_t queue;
  uint64_t begin, lasts; /* ticks, from the begin of the run */
  uint64_t keeps;        /* until the queue goes on, from the begin of the part */
  uint64_t work;         /* how long its commands keep the queue; below `lasts` it may do more */
} fs_modulo_part;

/* An op that has parts. */
typedef struct fs_modulo_joined {
  uint32_t n_parts; /* up to 64; 0: it has none */
  const fs_modulo_part *part;
  uint64_t again;        /* ticks from the begin of a run to that of the next one, at least */
  const uint64_t *touch; /* per op: the parts that share something with it, as bits */
} fs_modulo_joined;

typedef struct fs_modulo_split {
  fs_modulo_problem problem;
  uint32_t *op;           /* per op of it: that of the problem which was split */
  uint32_t *part, *first; /* per op of it: which part; per op of the other: its first one */
} fs_modulo_split;

/* Splits a problem of ops that use no resources where they have parts, in `arena`.  Edges from such
 * an op to itself are left out, and rings that it begins have depth 1: of them its inside tells.
 * Complexity: O(edges * parts^2).  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_split_parts(fs_arena *arena, const fs_modulo_problem *p,
                                const fs_modulo_joined *joined, fs_modulo_split *out) FS_MUST_USE;

/* In which order runs of two loops have their turns on all queues that they share, where a plan has
 * them in several: as on the one on which the first loop is ahead most, or least, or in program
 * order. */
typedef enum fs_modulo_turns { FS_TURNS_AHEAD, FS_TURNS_BEHIND, FS_TURNS_IN_ORDER } fs_modulo_turns;

typedef FS_VEC(fs_modulo_tie) fs_modulo_ties;

/* Appends ties of the problem that was split, for each two loops whose runs would pass each other
 * on two queues as planned: then each would be behind the other, as runs are one op to what is
 * around them.  Requires a plan of one copy.  Complexity: O(ops^2).  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_order_runs(fsched_context *ctx, const fs_modulo_split *split,
                               const fs_modulo_joined *joined, const fs_modulo_plan *plan,
                               fs_modulo_turns turns, fs_modulo_ties *out) FS_MUST_USE;

/* Names the ops of the problem that was split in a loop that was made of a plan of the other
 * (modulo/rolled.h), and notes what its parts are.  `joined` is that of the split. */
void fs_modulo_join_parts(const fs_modulo_split *split, const fs_modulo_joined *joined,
                          fs_rolled_loop *loop);

#endif
