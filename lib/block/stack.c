/* SPDX-License-Identifier: Apache-2.0 */
/* An entry that is written first need not lie lowest: new entries wait in a holding area, without
 * an address, until a sync comes at which one of them could be given back.  Then all are pushed,
 * longest-lived lowest, and entries that are over are popped from the top:
 *
 *     A 1..3, B 2..6, sync before 4, C 5..7      without holding    with it
 *                                                 C                  A, then C
 *                                                 B                  B
 *                                                 A (below B)
 *
 * Entries in the holding area live beside all entries on the stack, so nothing is popped from below
 * them: while all of them are still alive, they go on waiting.  After a pop the holding area is
 * empty; so an entry that reuses the place has its first write after the sync.
 *
 * Source: nvFuser's allocation of shared memory; there too, pushes wait for a chance to reclaim. */
#include "block/stack.h"

#include "base/radix.h"

#define MOST ((uint64_t)1 << 62)

typedef struct stack {
  const fs_stack_entry *entry;
  uint64_t align;
  uint64_t *address, peak;
  uint32_t *on, n_on; /* the stack: ids, lowest first */
  uint64_t *held, *spare;
  uint32_t n_held, first_over; /* the holding area; the least `last` in it */
} stack;

static uint64_t top_of(const stack *k) {
  assert(k->n_on == 0 || k->on[k->n_on - 1] != FS_NONE);
  if (k->n_on == 0) {
    return 0;
  }
  uint32_t id = k->on[k->n_on - 1];
  return fs_align_up(fs_min(k->address[id] + k->entry[id].size, MOST), k->align);
}

static void push_all(stack *k) {
  for (uint32_t i = 0; i < k->n_held; i++) { /* descending by last, then in order of first write */
    uint32_t id = (uint32_t)k->held[i];
    k->held[i] = (uint64_t)~k->entry[id].last << 32 | id;
  }
  fs_radix_sort(k->held, k->spare, k->n_held);
  for (uint32_t i = 0; i < k->n_held; i++) {
    uint32_t id = (uint32_t)k->held[i];
    k->address[id] = top_of(k);
    k->on[k->n_on++] = id;
    k->peak = fs_max(k->peak, k->address[id] + k->entry[id].size);
  }
  k->n_held = 0;
  k->first_over = UINT32_MAX;
}

static void sync_at(stack *k, uint32_t s) {
  if (k->n_held > 0 && k->first_over >= s) {
    return;
  }
  push_all(k);
  while (k->n_on > 0 && k->entry[k->on[k->n_on - 1]].last < s) {
    k->n_on--;
  }
}

static void run_stack(stack *k, uint32_t n, const uint32_t *sync, uint32_t n_syncs) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < n; i++) {
    assert(i == 0 || k->entry[i - 1].first <= k->entry[i].first);
    for (; next < n_syncs && sync[next] <= k->entry[i].first; next++) {
      sync_at(k, sync[next]);
    }
    k->held[k->n_held++] = i;
    k->first_over = (uint32_t)fs_min(k->first_over, k->entry[i].last);
  }
  push_all(k);
}

fs_status fs_block_stack(fsched_context *ctx, const fs_stack_entry *entry, uint32_t n,
                         const uint32_t *sync, uint32_t n_syncs, uint64_t align, uint64_t *address,
                         uint64_t *peak) {
  assert(align != 0 && (align & (align - 1)) == 0);
  stack k = {.entry = entry, .align = align, .address = address, .first_over = UINT32_MAX};
  FS_SCRATCH(scratch, ctx);
  FS_TRY(fs_new(&scratch, &k.on, n));
  FS_TRY(fs_new(&scratch, &k.held, n));
  FS_TRY(fs_new(&scratch, &k.spare, n));
  run_stack(&k, n, sync, n_syncs);
  *peak = k.peak;
  return FSCHED_OK;
}
