/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that make the problem share. */
#ifndef FS_PROBLEM_SPILLING_PRIVATE_H
#define FS_PROBLEM_SPILLING_PRIVATE_H

#include "problem/private.h"
#include "problem/spilling/spilling.h"

/* While the copies are counted, the end of a stay is marked; then it becomes a node. */
#define FS_STAY_END 0x80000000u

typedef struct fs_spilling_draft {
  fs_problem_draft d;
  fsched_context *ctx;
  const fsched_graph *g;
  fs_spilling *w;
  fs_op_closure after;
  uint8_t *is_short; /* per memory */
  bool covered;      /* the form tells all of the graph */
  FS_VEC(fs_stay) stay;
  FS_VEC(fs_spill_link) link;
  FS_VEC(fs_memory_use) use;
  FS_VEC(fs_spill_user) user;
  fs_ids member, clause0, clause;
  FS_VEC(fs_told_bool) told;
  fs_ids copy_if; /* per copy: its boolean, or FS_NONE */
  FS_VEC(fs_spill_span) apart;
  fs_ids turn0, turn;
  fs_ids pair_op, pair_in, pair_out, pair_if;
} fs_spilling_draft;

static inline uint64_t fs_spilling_size(const fsched_graph *g, uint32_t v) {
  return fs_align_up(fs_version_size(g, v), fs_version_home(g, v)->align);
}
/* Does the problem know all of such a graph?  O(ops + args).  covers.c */
bool fs_spilling_covers(fsched_context *ctx, const fsched_graph *g);
/* Finds the memories that are short: not all that ever lies in them fits side by side.  *any: there
 * are some.  covers.c */
fs_status fs_spilling_find_short(fs_spilling_draft *b, bool *any) FS_MUST_USE;
/* Finds what cannot be at once, as it takes too much of a memory.  Requires stays and pairs.
 * apart.c */
fs_status fs_spilling_apart(fs_spilling_draft *b) FS_MUST_USE;
/* Could a schedule overwrite a part of given content without a read, of which others have read what
 * they want?  Requires `after` and `is_short`.  provable.c */
bool fs_spilling_may_lose(const fs_spilling_draft *b);

#endif
