/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses to each residency of a schedule, and the orderings that copies need for their data.
 *
 * The graph's edges know ops only.  A spill copy is ordered by the value it carries:
 *   - a read after the write of the version that it finds in the store;
 *   - every access to a residency after the read that filled it;
 *   - a write after all earlier writers of its residency, and before the later ones;
 *   - a write after reads of the store copy that it replaces;
 *   - with kinds of sync other than timelines, a read after all accesses to its version's previous
 *     residency. */
#ifndef FS_ACCESS_H
#define FS_ACCESS_H

#include "model/schedule.h"

enum { FS_ACCESS_R = 1, FS_ACCESS_W = 2 };

typedef struct fs_accesses {
  uint32_t *position; /* per item: its index in s->order */

  /* CSR per residency, in order of issue.  An item may touch several ranges of a residency. */
  uint32_t *res0;
  uint32_t *item;
  uint64_t *low, *high; /* bytes within the residency; 0, FS_UNBOUNDED for all of it */
  uint8_t *mode;        /* FS_ACCESS_R, FS_ACCESS_W or both */

  /* CSR per item, ascending, without repeats: the items that must come before it for a copy's
   * data. */
  uint32_t *data0, *data;
} fs_accesses;

/* Collects the accesses for a kind of sync.  With some kinds, items get new times later; `data`
 * then also holds the orderings that follow from the planned times alone.  `position` and `data`
 * live in `results`, the other arrays in `arena`.
 * Requires an order of all items.
 * Complexity: O(items + args, and the runs of views + residencies).  Errors: FSCHED_SYSTEM. */
fs_status fs_accesses_collect(fsched_context *ctx, const fs_schedule *s, fs_sync_kind kind,
                              fs_arena *results, fs_arena *arena, fs_accesses *out) FS_MUST_USE;

/* Is there an edge from `a` to `b`, of the graph or for a copy's data?  O(log edges).  Requires
 * items of the schedule. */
bool fs_direct_edge(const fs_schedule *s, const fs_accesses *acc, uint32_t a, uint32_t b);
/* The residency whose place the op's output in residency `out` took over as an in-place output, or
 * FS_NONE.  Requires an op and a residency of the schedule. */
uint32_t fs_inplace_taken(const fs_schedule *s, uint32_t op, uint32_t out);
/* Does the item occupy one queue only?  A queue orders such items of its own.  Requires an item of
 * the schedule. */
static inline bool fs_item_plain(const fs_schedule *s, uint32_t item) {
  FS_ASSERT_SLOW(item < s->n_items);
  return fs_item_gang(s, item) == FS_NONE;
}

#endif
