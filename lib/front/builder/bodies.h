/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of a builder, looked at as a whole once all are described: what is in which, how often
 * it runs, and whether it is possible.
 *
 * The instances of the ops are numbered in program order, so an instance has the place
 *
 *   op_place + sum over the loops around the op of (loop_place + iteration * loop_count)
 *
 * where a place counts the instances before it in one iteration of the loop around it, and
 * loop_count those of one iteration. */
#ifndef FS_BUILDER_BODIES_H
#define FS_BUILDER_BODIES_H

#include "front/builder/private.h"

/* An op of a loop's body that begins the versions of a buffer. */
typedef struct fs_begun {
  uint64_t key;  /* loop and buffer */
  uint64_t need; /* the slots that values of earlier iterations take which are read */
  uint32_t op, arg;
} fs_begun;

typedef struct fs_bodies {
  fsched_builder *b;
  uint32_t n_ops;       /* as described */
  uint32_t *loop_of;    /* per op: the innermost loop, or FS_NONE */
  uint64_t *op_place;   /* per op */
  uint64_t *loop_place; /* per loop */
  uint64_t *loop_count; /* per loop */
  uint64_t *trip;       /* per loop; the most, if invocations give it */
  uint64_t *least;      /* per loop: the least that invocations may give; else the same */
  uint32_t *param;      /* per loop: in words, the parameter that they give; FS_NONE: none */
  fs_begun *begun;      /* ascending in keys, then ops */
  uint32_t n_begun;
  uint64_t *within; /* the same keys, and those with the loops around; ascending */
  size_t n_within;
  uint32_t *moving0; /* CSR: the moving args of each op */
  uint32_t *carry;   /* per moving arg: index into b->carry, or FS_NONE */
  uint32_t *carry0;  /* CSR: the carries of each loop */
  uint32_t *use0, *scratch0, *after0, *inplace0;
} fs_bodies;

/* Looks at all loops; their tables are taken from `scratch`.  Faults are reported, and remembered
 * by the builder.  `rolled`: the loops are not unrolled, so they may run any number of times.
 * Complexity: O((ops + args + loops) log). */
fs_status fs_bodies_make(fsched_builder *b, fs_arena *scratch, bool rolled,
                         fs_bodies *out) FS_MUST_USE;

/* The trips that a loop is planned for: the number that is given, also by a parameter's value, or
 * the most that all loops take that have its parameter.  Requires a loop.  O(loops). */
uint64_t fs_bodies_trip(const fsched_builder *b, uint32_t loop);

/* How many ops the graph has when it is unrolled, with the most trips; UINT64_MAX: that is beyond
 * counting.  Complexity: O(loops).  Errors: FSCHED_SYSTEM. */
fs_status fs_bodies_count(const fsched_builder *b, uint64_t *n) FS_MUST_USE;

/* Whether the body of a loop, not those of loops inside, begins the buffer; of FS_NONE none does.
 * O(log). */
bool fs_bodies_begin(const fs_bodies *u, uint32_t loop, uint32_t buffer);

/* Requires a loop. */
static inline const fs_loop_draft *fs_loop_at(const fsched_builder *b, uint32_t loop) {
  FS_ASSERT_SLOW(loop < b->loop.n);
  return &b->loop.at[loop];
}

/* How many loops are around what is in `loop`; 0 for FS_NONE. */
static inline uint32_t fs_loop_depth(const fsched_builder *b, uint32_t loop) {
  return loop == FS_NONE ? 0 : fs_loop_at(b, loop)->depth;
}

/* The loop around it that is in no other one, or itself. */
static inline uint32_t fs_loop_outermost(const fsched_builder *b, uint32_t loop) {
  while (fs_loop_at(b, loop)->parent != FS_NONE) {
    loop = fs_loop_at(b, loop)->parent;
  }
  return loop;
}

/* The innermost loop around both; FS_NONE: there is none, or one of them is FS_NONE. */
static inline uint32_t fs_loop_around_both(const fsched_builder *b, uint32_t a, uint32_t c) {
  while (a != c) {
    if (fs_loop_depth(b, a) >= fs_loop_depth(b, c)) {
      a = fs_loop_at(b, a)->parent;
    } else {
      c = fs_loop_at(b, c)->parent;
    }
  }
  return a;
}

#endif
