/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of one memory, and who used them last. */
#ifndef FS_SPREAD_ROOM_H
#define FS_SPREAD_ROOM_H

#include "base/mem.h"

typedef struct fs_spread_piece {
  uint64_t low, high;
  uint32_t owner; /* FS_NONE: nobody has used it */
} fs_spread_piece;

/* Pieces ascend, and cover all bytes. */
typedef struct fs_spread_room {
  fsched_context *ctx;
  FS_VEC(fs_spread_piece) piece;
  uint64_t last; /* the address of the last place that was chosen */
} fs_spread_room;

fs_status fs_spread_room_init(fs_spread_room *r, fsched_context *ctx,
                              uint64_t capacity) FS_MUST_USE;
void fs_spread_room_release(fs_spread_room *r);
/* The piece of an address.  Requires one below the capacity.  O(log pieces). */
size_t fs_spread_room_find(const fs_spread_room *r, uint64_t address);
/* [low, high) is the owner's.  Requires low < high, up to the capacity.  O(pieces). */
fs_status fs_spread_room_take(fs_spread_room *r, uint64_t low, uint64_t high,
                              uint32_t owner) FS_MUST_USE;

#endif
