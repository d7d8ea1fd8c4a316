/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the relaxed problem share. */
#ifndef FS_PROBLEM_RELAXED_PRIVATE_H
#define FS_PROBLEM_RELAXED_PRIVATE_H

#include "problem/private.h"

typedef struct fs_relaxing {
  fs_problem_draft d;
  fsched_context *ctx;
  const fsched_graph *g;
  fs_op_closure after;
  uint32_t *touch0, *touch;         /* CSR per op: the versions that it accesses, each once */
  uint32_t *user0, *user;           /* CSR per version: the ops that access it, each once, in
                                     * topological order */
  uint64_t **need;                  /* per memory, per op: what it takes of it; NULL: never short */
  FS_VEC(uint64_t) amount_capacity; /* amounts that are added, and */
  FS_VEC(uint64_t) use;             /* who takes them: item << 32 | amount, then how much */
} fs_relaxing;

/* Is the memory bounded, does it spill, and does not all that ever lies in it fit? */
static inline bool fs_relaxing_short(const fs_relaxing *s, uint32_t memory) {
  assert(memory < s->g->target.n_memories);
  return s->need[memory] != NULL;
}
static inline bool fs_relaxing_after(const fs_relaxing *s, uint32_t a, uint32_t b) {
  return fs_op_follows(&s->after, b, a);
}
static inline uint64_t fs_relaxing_size(const fs_relaxing *s, uint32_t v) {
  return fs_align_up(fs_version_size(s->g, v), fs_version_home(s->g, v)->align);
}

/* Adds the copies that no schedule avoids to the draft.  copies.c */
fs_status fs_relaxing_copies(fs_relaxing *s) FS_MUST_USE;
/* Finds the amounts that stand for memories.  Requires a problem whose items, edges and queues are
 * known.  amounts.c */
fs_status fs_relaxing_amounts(fs_relaxing *s) FS_MUST_USE;

#endif
