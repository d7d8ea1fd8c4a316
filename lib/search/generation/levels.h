/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a memory is taken, from moment to moment; what is taken may be without an end yet. */
#ifndef FS_SEARCH_LEVELS_H
#define FS_SEARCH_LEVELS_H

#include "base/mem.h"

typedef struct fs_memory_levels {
  uint64_t capacity;
  uint32_t n, most; /* moments; room for so many */
  fs_tick *time;    /* ascending, from 0 on */
  uint64_t *level;  /* from that moment to the next; the last one for ever */
} fs_memory_levels;

/* Room for so many changes.  Requires `capacity` of at most 2^62. */
fs_status fs_levels_init(fs_memory_levels *l, uint64_t capacity, uint32_t changes,
                         fs_arena *arena) FS_MUST_USE;
/* So much is taken for ever. */
void fs_levels_reset(fs_memory_levels *l, uint64_t level);
/* From a moment on and to another one (FS_TICK_NONE: for ever) so much more is taken, or less.
 * Requires room for two changes, and levels that stay within 0 and the capacity. */
void fs_levels_add(fs_memory_levels *l, fs_tick from, fs_tick to, int64_t amount);
/* Is the level at most so high from some moment on, for ever? */
static inline bool fs_levels_ever(const fs_memory_levels *l, uint64_t most) {
  assert(l->n > 0);
  return l->level[l->n - 1] <= most;
}
/* The first moment from t on from which on it is for ever.  Requires fs_levels_ever. */
fs_tick fs_levels_for_ever(const fs_memory_levels *l, fs_tick t, uint64_t most);
/* The first moment from t on at which it is for some time.  Requires fs_levels_ever. */
fs_tick fs_levels_for(const fs_memory_levels *l, fs_tick t, fs_tick time, uint64_t most);

#endif
