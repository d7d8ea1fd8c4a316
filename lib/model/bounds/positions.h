/* SPDX-License-Identifier: Apache-2.0 */
/* A set of positions that is emptied in ascending order: a bit for each position, and a bit for
 * each word of these that has some. */
#ifndef FS_POSITIONS_H
#define FS_POSITIONS_H

#include "base/mem.h"

typedef struct fs_position_set {
  uint64_t *bit, *any;
  uint32_t n; /* members */
} fs_position_set;

/* An empty set of positions below n.  Errors: FSCHED_SYSTEM. */
static inline fs_status fs_position_set_make(fs_arena *arena, uint32_t n, fs_position_set *out) {
  out->n = 0;
  FS_TRY(fs_new_zero(arena, &out->bit, n / 64 + 1));
  return fs_new_zero(arena, &out->any, n / 4096 + 1);
}

/* Requires a position that is not in the set. */
static inline void fs_position_add(fs_position_set *p, uint32_t at) {
  FS_ASSERT_SLOW((p->bit[at / 64] >> at % 64 & 1) == 0);
  p->bit[at / 64] |= UINT64_C(1) << at % 64;
  p->any[at / 4096] |= UINT64_C(1) << at / 64 % 64;
  p->n++;
}

/* Takes the first member.  Requires that there is one, and none before `from`.  O(1 + positions
 * between that and `from` / 4096). */
static inline uint32_t fs_position_take(fs_position_set *p, uint32_t from) {
  assert(p->n > 0);
  uint32_t top = from / 4096, word;
  while (p->any[top] == 0) {
    top++;
  }
  word = top * 64 + (uint32_t)__builtin_ctzll(p->any[top]);
  uint32_t at = word * 64 + (uint32_t)__builtin_ctzll(p->bit[word]);
  p->bit[word] &= p->bit[word] - 1;
  p->any[top] &= p->bit[word] != 0 ? UINT64_MAX : p->any[top] - 1;
  p->n--;
  return at;
}

#endif
