/* SPDX-License-Identifier: Apache-2.0 */
/* The waits of a problem without those that others imply, from both ends, and which items may share
 * a barrier at no cost.  A link is one wait: a command, and an item that is over before it starts.
 */
#ifndef FS_BARRIER_LINKS_H
#define FS_BARRIER_LINKS_H

#include "barrier/order.h"

typedef struct fs_links {
  uint32_t n;
  uint32_t *pred0, *pred; /* CSR per command: items, ascending; an index into `pred` is a link */
  uint32_t *command;      /* per link */
  uint32_t *succ0, *succ; /* CSR per item: links that wait for it */
  uint64_t *slots;        /* per item: members * demand */
  uint32_t *need;  /* per item: barriers; 0: no command waits for it; FS_NONE: too many to count */
  uint32_t *group; /* per item: id of its sharing group; FS_NONE: no command waits for it */
  uint32_t n_groups;
} fs_links;

/* `o` has its rows where fs_order_fits; without rows implied links are kept.  Requires that `o` has
 * queues and places of the commands. */
fs_status fs_links_make(fsched_context *ctx, fs_arena *arena, const fs_order *o,
                        fs_links *l) FS_MUST_USE;
/* Fills `group`: items of a group are each over before any command that waits for one of them
 * starts, by the existing orders, and the slots that they take in their last barriers fit into one
 * barrier.  So they can have the last barrier in common.  Requires links with needs. */
fs_status fs_links_share(fsched_context *ctx, fs_arena *arena, const fs_order *o,
                         fs_links *l) FS_MUST_USE;

/* Slots that item u takes in the last of its barriers.  Requires an item that some command waits
 * for, and a need that is not FS_NONE. */
static inline uint64_t fs_links_rest(const fs_order *o, const fs_links *l, uint32_t u) {
  assert(l->need[u] > 0 && l->need[u] != FS_NONE);
  return l->slots[u] - (uint64_t)(l->need[u] - 1) * o->p->n_slots;
}

#endif
