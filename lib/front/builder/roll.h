/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops: each becomes one op of the graph.
 *
 *   roll.c      looks at a sample of few iterations, and plans the body
 *   contract.c  puts ops in the place of loops */
#ifndef FS_BUILDER_ROLL_H
#define FS_BUILDER_ROLL_H

#include "front/builder/bodies.h"

/* A buffer whose versions a loop begins.  With several slots it becomes as large as these, and ops
 * outside of the loop use the slot before (of the value on entry) or behind (of the last one). */
typedef struct fs_ring_buffer {
  uint32_t loop; /* FS_NONE: none */
  uint32_t ring; /* of the loop */
  uint64_t slot;
  uint32_t depth;
  uint64_t before, behind; /* offsets */
} fs_ring_buffer;

typedef struct fs_roller {
  fsched_builder *b;
  fs_arena *scratch;
  fs_bodies in;
  uint64_t steps;         /* of the search for each plan */
  fs_rolled **rolled;     /* per loop; NULL: it has no iterations */
  uint64_t **scratch_use; /* per loop, then memory: the bytes of its scratch */
  uint64_t **use;         /* per loop, then resource: the units that it takes */
  fs_ring_buffer *ring;   /* per buffer */
} fs_roller;

/* What of an op's arg moves with the loop around it; NULL: nothing.  Requires an arg of the op. */
const fs_moving_draft *fs_roller_moving(const fs_roller *r, uint32_t op, uint32_t arg);
/* The step of an arg, in bytes an iteration. */
int64_t fs_roller_step(const fs_roller *r, const fs_moving_draft *m);
/* The bytes that an arg touches in all of `trip` iterations together: [low, high). */
void fs_roller_hull(const fs_roller *r, uint32_t op, uint32_t arg, uint64_t trip, uint64_t *low,
                    uint64_t *high);

/* Puts ops in the place of loops, which are planned.  Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT. */
fs_status fs_roller_contract(fs_roller *r) FS_MUST_USE;

#endif
