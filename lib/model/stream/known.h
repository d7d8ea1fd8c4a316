/* SPDX-License-Identifier: Apache-2.0 */
/* The epochs that a command knows to be complete once it is complete itself, and the chain of waits
 * through which it learnt each: the chain with the fewest waits or, of several, the one whose waits
 * come first.
 *
 * Complexity: O(commands + waits) for one command. */
#ifndef FS_STREAM_KNOWN_H
#define FS_STREAM_KNOWN_H

#include "model/stream/wants.h"

typedef struct fs_hop { /* "all of `queue` up to `epoch`", since command `by` waits */
  uint32_t queue, epoch;
  uint32_t by, wait; /* FS_NONE: the command's own queue; wait: into the order's points */
  uint32_t level;    /* waits between it and the command */
  uint32_t previous; /* the hop of this queue with a lower epoch */
} fs_hop;

typedef struct fs_known {
  const fs_stream *s;
  const fs_stream_order *order;
  const fs_wants *wants; /* for its items */
  uint32_t command;
  uint32_t *last; /* per queue: the hop with the highest epoch, or FS_NONE */
  bool any_slow;  /* commands end after their queues go on */
  uint32_t own;   /* then: of the command's own queue, the hop with the highest epoch from a wait */
  FS_VEC(fs_hop) hop;
} fs_known;

/* `last` lives in `arena`.  Requires an order of `s` in which every command can run.  Requires the
 * wants of `s` in that order. */
fs_status fs_known_init(fs_arena *arena, const fs_stream *s, const fs_stream_order *order,
                        const fs_wants *wants, fs_known *k) FS_MUST_USE;
void fs_known_release(fsched_context *ctx, fs_known *k);
/* Finds the hops of another command; those found before are dropped.  Requires a command of the
 * stream. */
fs_status fs_known_find(fsched_context *ctx, fs_known *k, uint32_t command) FS_MUST_USE;

/* The hop through which {queue: epoch} was learnt first; FS_NONE when it is not known.  Requires
 * that fs_known_find was called, and an epoch of the queue. */
uint32_t fs_known_hop(const fs_known *k, uint32_t queue, uint32_t epoch);
/* The same for all members of the item at order[position]: the hop of the one learnt last.  Of a
 * slow one on the command's own queue it is one that came from a wait, since the queue alone does
 * not tell of its end.
 * Requires an item, given by the first of its commands. */
uint32_t fs_known_item(const fs_known *k, uint32_t item);
/* The hop through which the command that waited in `hop` is known.  Requires a hop that came from a
 * wait. */
uint32_t fs_known_before(const fs_known *k, uint32_t hop);

#endif
