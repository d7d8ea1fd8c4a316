/* SPDX-License-Identifier: Apache-2.0 */
/* Strips: ops that nothing orders, each of which holds a part of one memory while it runs.  Is
 * there a schedule within a makespan: a packing of rectangles within a height?
 *
 * Rectangles are placed in the lowest gap of the skyline, at the end beside its higher wall (the
 * exhaustive search for perfect packings: Lesh, Marks, McMahon and Mitzenmacher 2004), until
 * nothing is left.  A branch ends where the widths that are left cannot fill a gap and what is lost
 * there is more than the area that is to spare.  Orders of trials are random, by width and by
 * height in turn, and the search begins anew after a number of rectangles that grows slowly.
 *
 * What is found is right; that nothing is found proves nothing, as a gap is left either whole or
 * not at all. */
#ifndef FS_SEARCH_STRIP_H
#define FS_SEARCH_STRIP_H

#include "problem/problem.h"

enum { FS_STRIP_MOST = 200, FS_STRIP_NODE = 1000 };

/* Is the problem one of a strip, of up to FS_STRIP_MOST items?  O(items + residencies).  Requires a
 * problem that is complete. */
bool fs_strip_knows(const fs_problem *p);

typedef struct fs_strip_search {
  const fs_problem *problem;
  fs_tick height; /* the most that the makespan may be */
  uint64_t nodes; /* the most; a node is FS_STRIP_NODE rectangles that are placed */
  uint64_t seed;
  bool (*stop)(void *user); /* called at each node; or NULL */
  void *user;
} fs_strip_search;

/* *found: the answer has starts and addresses, in the arena.  *nodes is increased by those that were
 * used, at least 1.  Requires a problem that fs_strip_knows.  Errors: FSCHED_SYSTEM. */
fs_status fs_strip_run(const fs_strip_search *o, fs_arena *arena, fs_answer *answer,
                       uint64_t *nodes, bool *found) FS_MUST_USE;

#endif
