/* SPDX-License-Identifier: Apache-2.0 */
/* Who touches which residency of a schedule, and the orderings that copies need for their data.
 *
 * The graph's edges know ops only.  A spill copy is ordered by the value it carries:
 *   - a read after the write of the version that it finds in the store;
 *   - everything that touches a residency after the read that filled it;
 *   - a write after all that wrote its residency before it, and before what writes there later;
 *   - a write after reads of the store copy that it replaces;
 *   - with kinds of sync other than timelines, a read after all that touched its version's
 * residency before. */
#ifndef FS_ACCESS_H
#define FS_ACCESS_H

#include "model/schedule.h"

enum { FS_ACCESS_R = 1, FS_ACCESS_W = 2 };

typedef struct fs_accesses {
  uint32_t *position; /* per item: its index in s->order */

  /* CSR per residency, in order of issue.  An item may touch a residency by several ranges. */
  uint32_t *res0;
  uint32_t *item;
  uint64_t *low, *high; /* bytes within the residency; the whole of it: 0, FS_UNBOUNDED */
  uint8_t *mode;        /* FS_ACCESS_R, FS_ACCESS_W or both */

  /* CSR per item, ascending, without repeats: what must come before it for a copy's data. */
  uint32_t *data0, *data;
} fs_accesses;

/* For a kind of sync: with some, items get new times later, and what the planned times alone order
 * is among `data`, too.  `position` and `data` live in `results`, the other arrays in `arena`.
 * Requires an order of all items.
 * Complexity: O(items + args + residencies).  Errors: FSCHED_SYSTEM. */
fs_status fs_accesses_collect(fsched_context *ctx, const fs_schedule *s, fs_sync_kind kind,
                              fs_arena *results, fs_arena *arena, fs_accesses *out) FS_MUST_USE;

/* Is there an edge of the graph, or one of a copy's data, from `a` to `b`?  O(log edges).  Requires
 * items of the schedule. */
bool fs_direct_edge(const fs_schedule *s, const fs_accesses *acc, uint32_t a, uint32_t b);
/* The residency whose place the op's output in residency `out` took over as an in-place output, or
 * FS_NONE.  Requires an op and a residency of the schedule. */
uint32_t fs_inplace_taken(const fs_schedule *s, uint32_t op, uint32_t out);
/* An item on one queue only; such items of a queue are ordered by it.  Requires an item of the
 * schedule. */
static inline bool fs_item_plain(const fs_schedule *s, uint32_t item) {
  FS_ASSERT_SLOW(item < s->n_items);
  return fs_item_is_copy(s, item) || s->graph->op_gang[item] == FS_NONE;
}

#endif
