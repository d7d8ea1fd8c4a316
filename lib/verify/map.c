/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks start small (most maps of the verifier hold one or two intervals) and grow to CHUNK_MAX
 * entries, then split in halves.  An empty chunk leaves the directory; chunk 0 keeps key 0. */
#include "verify/map.h"

#ifdef FS_STRESS
enum { CHUNK_FIRST = 2, CHUNK_MAX = 4 };
#else
enum { CHUNK_FIRST = 4, CHUNK_MAX = 64 };
#endif

static fs_status new_chunk(fs_arena *arena, uint32_t cap, fs_vmap_chunk *out) {
  out->first = 0;
  out->n = 0;
  out->cap = cap;
  return fs_new(arena, &out->at, cap);
}

static fs_status grow_directory(fs_arena *arena, fs_vmap *map) {
  if (map->n_chunks < map->cap_chunks) {
    return FSCHED_OK;
  }
  uint32_t cap = map->cap_chunks == 0 ? 1 : map->cap_chunks * 2;
  fs_vmap_chunk *chunk;
  FS_TRY(fs_new(arena, &chunk, cap));
  if (map->n_chunks > 0) {
    memcpy(chunk, map->chunk, map->n_chunks * sizeof *chunk);
  }
  map->chunk = chunk;
  map->cap_chunks = cap;
  return FSCHED_OK;
}

static fs_status start_map(fs_arena *arena, fs_vmap *map) {
  FS_TRY(grow_directory(arena, map));
  FS_TRY(new_chunk(arena, CHUNK_FIRST, &map->chunk[0]));
  map->chunk[0].at[0] = (fs_vmap_entry){0, FS_NONE};
  map->chunk[0].n = 1;
  map->n_chunks = 1;
  return FSCHED_OK;
}

fs_vmap_cursor fs_vmap_find(const fs_vmap *map, uint64_t key) {
  assert(map->n_chunks > 0);
  uint32_t lo = 0, hi = map->n_chunks; /* chunk lo starts at or before key, chunk hi after */
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (map->chunk[mid].first <= key) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  const fs_vmap_chunk *c = &map->chunk[lo];
  uint32_t a = 0, b = c->n;
  while (b - a > 1) {
    uint32_t mid = a + (b - a) / 2;
    if (c->at[mid].key <= key) {
      a = mid;
    } else {
      b = mid;
    }
  }
  return (fs_vmap_cursor){lo, a};
}

bool fs_vmap_next(const fs_vmap *map, fs_vmap_cursor *at) {
  FS_ASSERT_SLOW(at->chunk < map->n_chunks && at->pos < map->chunk[at->chunk].n);
  if (at->pos + 1 < map->chunk[at->chunk].n) {
    at->pos++;
    return true;
  }
  if (at->chunk + 1 < map->n_chunks) {
    at->chunk++;
    at->pos = 0;
    return true;
  }
  return false;
}

static fs_status split_chunk(fs_arena *arena, fs_vmap *map, uint32_t index) {
  assert(index < map->n_chunks && map->chunk[index].n > 1);
  FS_TRY(grow_directory(arena, map));
  fs_vmap_chunk right;
  FS_TRY(new_chunk(arena, CHUNK_MAX, &right));
  fs_vmap_chunk *left = &map->chunk[index];
  uint32_t keep = left->n / 2;
  right.n = left->n - keep;
  memcpy(right.at, left->at + keep, right.n * sizeof *right.at);
  right.first = right.at[0].key;
  left->n = keep;
  memmove(left + 2, left + 1, (map->n_chunks - index - 1) * sizeof *left);
  left[1] = right;
  map->n_chunks++;
  return FSCHED_OK;
}

/* Room for one more entry in the chunk under the cursor; the cursor may move to the new half. */
static fs_status make_room(fs_arena *arena, fs_vmap *map, fs_vmap_cursor *at) {
  fs_vmap_chunk *c = &map->chunk[at->chunk];
  if (c->n < c->cap) {
    return FSCHED_OK;
  }
  if (c->cap < CHUNK_MAX) {
    fs_vmap_chunk bigger;
    FS_TRY(new_chunk(arena, c->cap * 2, &bigger));
    memcpy(bigger.at, c->at, c->n * sizeof *c->at);
    bigger.n = c->n;
    bigger.first = c->first;
    *c = bigger;
    return FSCHED_OK;
  }
  FS_TRY(split_chunk(arena, map, at->chunk));
  uint32_t left = map->chunk[at->chunk].n;
  if (at->pos >= left) {
    at->chunk++;
    at->pos -= left;
  }
  return FSCHED_OK;
}

fs_status fs_vmap_cut(fs_arena *arena, fs_vmap *map, uint64_t key, fs_vmap_cursor *at,
                      bool *fresh) {
  if (map->chunk == NULL) {
    FS_TRY(start_map(arena, map));
  }
  *at = fs_vmap_find(map, key);
  *fresh = fs_vmap_at(map, *at)->key != key;
  if (!*fresh) {
    return FSCHED_OK;
  }
  FS_TRY(make_room(arena, map, at));
  fs_vmap_chunk *c = &map->chunk[at->chunk];
  uint32_t value = c->at[at->pos].value;
  at->pos++;
  memmove(c->at + at->pos + 1, c->at + at->pos, (c->n - at->pos) * sizeof *c->at);
  c->at[at->pos] = (fs_vmap_entry){key, value};
  c->n++;
  return FSCHED_OK;
}

/* Drops entries [from, to) of a chunk; the chunk may become empty. */
static void drop_entries(fs_vmap_chunk *c, uint32_t from, uint32_t to) {
  assert(from <= to && to <= c->n);
  memmove(c->at + from, c->at + to, (c->n - to) * sizeof *c->at);
  c->n -= to - from;
}

void fs_vmap_clear_inside(fs_vmap *map, uint64_t lo, uint64_t hi) {
  assert(lo <= hi);
  if (map->chunk == NULL || hi <= lo + 1) {
    return;
  }
  fs_vmap_cursor a = fs_vmap_find(map, lo), b = fs_vmap_find(map, hi - 1);
  uint32_t first = a.pos + 1;
  if (a.chunk == b.chunk) {
    drop_entries(&map->chunk[a.chunk], first, b.pos + 1);
    return;
  }
  map->chunk[a.chunk].n = first; /* at least 1: the breakpoint at or before lo stays */
  fs_vmap_chunk *last = &map->chunk[b.chunk];
  drop_entries(last, 0, b.pos + 1);
  last->first = last->n == 0 ? 0 : last->at[0].key;
  uint32_t resume = last->n == 0 ? b.chunk + 1 : b.chunk;
  memmove(map->chunk + a.chunk + 1, map->chunk + resume,
          (map->n_chunks - resume) * sizeof *map->chunk);
  map->n_chunks -= resume - (a.chunk + 1);
}
