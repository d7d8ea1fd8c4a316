/* SPDX-License-Identifier: Apache-2.0 */
/* What is known to have started, and to be over, when an op of a loop starts.
 *
 * A node is an op of the body in one copy: copy * ops + op; its commands, one on each of its
 * queues, start together.  What a node is told is found by a search back along queue order and the
 * orders that are kept, in which distances below 0 are raised to 0, and what an order at distance d
 * tells of commands before its source to d: so each link exists wherever the ends do. */
#ifndef FS_PAST_PAST_H
#define FS_PAST_PAST_H

#include "model/rolled.h"

/* An order: iteration i of `to` starts after iteration i - distance of `from` is over. */
typedef struct fs_past_want {
  uint32_t from, to; /* nodes */
  int64_t distance;
  bool dropped; /* it is not kept: the others say it */
} fs_past_want;

/* What is known when a node starts: of each node, how many iterations ago is the last one that has
 * started then, and that is over.  FS_PAST_FAR: nothing is known. */
typedef struct fs_past_known {
  int64_t *started, *over;
  bool *done; /* while they are being found */
} fs_past_known;

#define FS_PAST_FAR INT64_MAX

typedef struct fs_past_loop {
  const fs_rolled_loop *loop;
  bool apart; /* an order tells of the ends of its own source and of quick ones before it alone, as
               * barriers do; else of all before it on its queue, as epochs and syncs do */
  uint32_t members, n;       /* ops; nodes */
  uint32_t *queue_of;        /* per command: of the queues that take part */
  uint32_t *node0, *of_node; /* CSR per node: its commands, ascending */
  const fs_past_want *want;
  uint32_t *into0, *into; /* CSR per node: the orders whose `to` it is */
} fs_past_loop;

/* Requires a command of the loop. */
static inline uint32_t fs_past_node(const fs_past_loop *l, uint32_t command) {
  assert(command < l->loop->n_commands);
  return l->loop->command[command].copy * l->members + l->loop->command[command].member;
}
/* The first command of a node, which has its waits. */
static inline uint32_t fs_past_first(const fs_past_loop *l, uint32_t node) {
  assert(node < l->n);
  return l->of_node[l->node0[node]];
}

/* Finds the nodes of a loop that has its queues and commands.  The arrays live in `arena`.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_past_begin(fs_arena *arena, const fs_rolled_loop *loop, uint32_t members,
                        fs_past_loop *out) FS_MUST_USE;
/* Gives the loop its n orders, which must outlive it, in place of those that it has.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_past_orders(fs_arena *arena, const fs_past_want *want, uint32_t n,
                         fs_past_loop *l) FS_MUST_USE;
/* Makes room.  Errors: FSCHED_SYSTEM. */
fs_status fs_past_new(fs_arena *arena, const fs_past_loop *l, fs_past_known *k) FS_MUST_USE;
/* Finds what is known when a node starts, without one of the orders (FS_NONE: with all).  Requires
 * orders.  Complexity: O(nodes^2 + nodes * commands of a queue). */
void fs_past_find(const fs_past_loop *l, fs_past_known *k, uint32_t node, uint32_t left_out);
/* Whether the order on a queue of both says it. */
bool fs_past_by_queue(const fs_past_loop *l, const fs_past_want *w);

#endif
