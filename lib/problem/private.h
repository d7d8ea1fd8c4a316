/* SPDX-License-Identifier: Apache-2.0 */
/* What problem/graph.c and problem/schedule.c share for making a problem. */
#ifndef FS_PROBLEM_PRIVATE_H
#define FS_PROBLEM_PRIVATE_H

#include "problem/problem.h"

enum { FS_TOUCH_WRITES = 1, FS_TOUCH_FILLS = 2 };

/* An item that touches a residency. */
typedef struct fs_problem_touch {
  uint32_t residency, item;
  uint32_t mode;
} fs_problem_touch;

typedef struct fs_problem_draft {
  fs_problem *p;
  fsched_context *ctx;
  const fsched_graph *g;
  fs_arena scratch;
  const uint32_t *order; /* topological order of the items; NULL: to be made */
  bool latencies;        /* ops take as long as until they are complete, but for their queues */
  FS_VEC(uint64_t) edge; /* to << 32 | from, repeats allowed */
  FS_VEC(fs_problem_touch) touch;            /* in any order */
  FS_VEC(uint32_t) version, op, memory;      /* per residency */
  FS_VEC(uint8_t) to_end, from_zero;         /* per residency */
  FS_VEC(uint32_t) first;                    /* per residency: its begin item; FS_NONE: any */
  FS_VEC(uint8_t) kind;                      /* per copy */
  FS_VEC(uint32_t) copied, residency, store; /* per copy */
} fs_problem_draft;

/* An empty problem and a draft of it; both are released by fs_problem_draft_end.  Requires an
 * ordered graph. */
fs_status fs_problem_draft_begin(fs_problem_draft *d, fsched_context *ctx,
                                 const fsched_graph *g) FS_MUST_USE;
fs_status fs_problem_add_edge(fs_problem_draft *d, uint32_t from, uint32_t to) FS_MUST_USE;
/* Requires a residency of the draft, or none. */
fs_status fs_problem_add_touch(fs_problem_draft *d, uint32_t residency, uint32_t item,
                               unsigned mode) FS_MUST_USE;
/* Adds the residency of a version (op FS_NONE) or of a scratch (version FS_NONE); *id is its
 * number.  Requires either a version or an op. */
fs_status fs_problem_add_residency(fs_problem_draft *d, uint32_t version, uint32_t op,
                                   uint32_t memory, uint32_t *id) FS_MUST_USE;
/* Requires a version of the graph. */
fs_status fs_problem_add_copy(fs_problem_draft *d, fs_copy_kind kind, uint32_t version,
                              uint32_t residency, uint32_t store, uint32_t *item) FS_MUST_USE;
/* Adds the residency of a version that is never spilled, and the copies that it needs, which arg
 * residencies are told of (graph.c).  Requires room for these, filled with FS_NONE. */
fs_status fs_problem_add_version(fs_problem_draft *d, uint32_t v) FS_MUST_USE;
/* Adds the touches of all ops, from arg_residency and scratch_residency.  Requires that these are
 * filled. */
fs_status fs_problem_touch_ops(fs_problem_draft *d) FS_MUST_USE;
/* Fills the problem from the draft: copies, edges, order, heads and tails, what items occupy,
 * residencies, in-place pairs. */
fs_status fs_problem_finish(fs_problem_draft *d) FS_MUST_USE;
/* Releases the draft, and the problem too unless `status` is FSCHED_OK and `keep`; returns
 * `status`.  Requires a draft that was begun. */
fs_status fs_problem_draft_end(fs_problem_draft *d, fs_status status, bool keep, fs_problem **out);

/* Which ops come after which: a bit per pair.  closure.c */
typedef struct fs_op_closure {
  uint32_t row; /* words per op */
  uint64_t *bit;
} fs_op_closure;
/* Requires an ordered graph.  O(edges * ops / 64) */
fs_status fs_op_closure_find(fs_op_closure *c, const fsched_graph *g, fs_arena *arena) FS_MUST_USE;
static inline bool fs_op_follows(const fs_op_closure *c, uint32_t later, uint32_t earlier) {
  assert(c->row > 0);
  return (c->bit[(size_t)earlier * c->row + later / 64] >> later % 64 & 1) != 0;
}

/* problem/queues.c: classes, choices, amounts. */
fs_status fs_problem_occupation(fs_problem_draft *d) FS_MUST_USE;

/* problem/needs.c: the copies that no schedule avoids. */
/* Is given content read before anything overwrites all of it?  Requires a version of the graph. */
bool fs_problem_needs_read(const fsched_graph *g, uint32_t version);
/* Is the version kept in a store, and written by some op?  Requires a version of the graph. */
bool fs_problem_needs_write(const fsched_graph *g, uint32_t version);
/* Sets `least`, `tight` and `exact`: does every schedule do as well with the needed copies alone,
 * and is every order of accesses known? */
fs_status fs_problem_exactness(fs_problem_draft *d) FS_MUST_USE;

/* Requires an arg of the graph. */
static inline bool fs_arg_accesses(const fsched_graph *g, uint32_t arg) {
  assert(arg < g->n_args);
  return fs_tag_accesses(g->arg_tag[arg]) && g->arg_version[arg] != FS_NONE;
}

#endif
