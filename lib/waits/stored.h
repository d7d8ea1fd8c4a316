/* SPDX-License-Identifier: Apache-2.0 */
/* From an exact clock to the frontier that is stored with a command. */
#ifndef FS_STORED_H
#define FS_STORED_H

#include "model/sync.h"
#include "waits/slow.h"

typedef struct fs_storer {
  fsched_context *ctx;
  const fs_schedule *s;
  const fs_sync *sync; /* commands are numbered */
  const fs_clocks *clocks;
  const fs_slow_axes *slow;
  uint64_t capacity; /* at least 1 */
  FS_VEC(fs_wait) entry;
  FS_VEC(uint64_t) key;
  uint32_t *replaced; /* per queue: the command whose frontier names a collective instead */
  uint32_t *least; /* per queue: the smallest epoch that stayed in its latest full frontier, or 0 */
  uint32_t floor;  /* the smallest epoch that stays, so far */
  uint32_t worth;  /* the smallest epoch that an entry needs which is still to come */
  uint32_t own_queue, command;
  bool tainted;
} fs_storer;

/* The larger keys stay where there is no room for all.  Keys are distinct, since axes are. */
static inline uint64_t fs_entry_key(fs_wait e) {
  return (uint64_t)e.epoch << 32 | (uint32_t)~e.axis;
}

/* Requires a schedule, its commands, and a capacity of at least 1. */
fs_status fs_storer_init(fs_storer *t, fs_arena *arena) FS_MUST_USE; /* the rest is set */
void fs_storer_release(fs_storer *t);
/* Makes t->entry, the frontier of `command` (on `queue`), ascending by axis; t->tainted.  Requires
 * a command of the queue, and a clock that is settled where commands are slow (slow.h).
 * O(entries of the clock), then O(queues). */
fs_status fs_storer_make(fs_storer *t, uint32_t command, uint32_t queue,
                         fs_clock clock) FS_MUST_USE;

#endif
