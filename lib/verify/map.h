/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier's own ordered map: breakpoints over 64-bit addresses.
 *
 * A map cuts [0, 2^64) into intervals: the breakpoint (key, value) says that [key, next key) has
 * that value; value FS_NONE says that the interval is empty.  The breakpoint at 0 always exists.
 * Breakpoints lie in sorted chunks of limited size, so a look-up is two binary searches, and an
 * insertion moves at most one chunk and, once per filled chunk, the directory. */
#ifndef FS_VERIFY_MAP_H
#define FS_VERIFY_MAP_H

#include "base/mem.h"

typedef struct fs_vmap_entry {
  uint64_t key;
  uint32_t value;
} fs_vmap_entry;

typedef struct fs_vmap_chunk {
  uint64_t first; /* key of at[0], so that a search touches the directory alone */
  uint32_t n, cap;
  fs_vmap_entry *at;
} fs_vmap_chunk;

typedef struct fs_vmap {
  uint32_t n_chunks, cap_chunks;
  fs_vmap_chunk *chunk; /* NULL while no breakpoint was ever put here */
} fs_vmap;

typedef struct fs_vmap_cursor {
  uint32_t chunk, pos;
} fs_vmap_cursor;

/* The functions below take memory from `arena`; it is not given back before the arena is
 * released. */

/* Puts a breakpoint at `key`.  *fresh tells that it is new; it then shares the value of the one
 * before it. */
fs_status fs_vmap_cut(fs_arena *arena, fs_vmap *map, uint64_t key, fs_vmap_cursor *at,
                      bool *fresh) FS_MUST_USE;
/* The breakpoint whose interval holds `key`.  Requires a map that is not untouched. */
fs_vmap_cursor fs_vmap_find(const fs_vmap *map, uint64_t key);
/* Moves to the next breakpoint; false at the end.  Requires a breakpoint. */
bool fs_vmap_next(const fs_vmap *map, fs_vmap_cursor *at);
/* Removes all breakpoints with lo < key < hi.  Requires lo <= hi. */
void fs_vmap_clear_inside(fs_vmap *map, uint64_t lo, uint64_t hi);

/* Requires a breakpoint. */
static inline fs_vmap_entry *fs_vmap_at(const fs_vmap *map, fs_vmap_cursor c) {
  FS_ASSERT_SLOW(c.chunk < map->n_chunks && c.pos < map->chunk[c.chunk].n);
  return &map->chunk[c.chunk].at[c.pos];
}
/* The end of the breakpoint's interval. */
static inline uint64_t fs_vmap_end(const fs_vmap *map, fs_vmap_cursor c) {
  return fs_vmap_next(map, &c) ? fs_vmap_at(map, c)->key : UINT64_MAX;
}

#endif
