/* SPDX-License-Identifier: Apache-2.0 */
/* A memory with addresses, in which what follows in an order takes what came before it has left:
 * segments, each taken or free from some time on.  Free neighbours keep their own times, as room
 * that is free early is worth more.
 *
 * Or a memory by amounts (amounts.c), whose segments have no addresses and are no neighbours. */
#ifndef FS_ORDERS_ROOM_H
#define FS_ORDERS_ROOM_H

#include "base/mem.h"

enum {
  FS_SEGMENT_FREE = UINT32_MAX,
  FS_SEGMENT_SCRATCH = UINT32_MAX - 1,
  FS_ROOM_FREE = 32 /* free parts of a memory by amounts, before some are joined */
};

typedef struct fs_order_segment {
  uint64_t address, size;
  fs_tick since;          /* when it is free, or was before it was taken */
  uint32_t owner;         /* a version, or FS_SEGMENT_... */
  uint32_t before, after; /* by address; FS_NONE: none */
} fs_order_segment;

typedef struct fs_order_room {
  uint64_t capacity;
  bool amounts;
  uint64_t all; /* by amounts: what is there beyond the capacity is to spare */
  uint64_t spare, borrowed;
  fs_tick spare_since; /* when that is free */
  fs_order_segment *segment;
  uint32_t first, last, unused; /* unused: a list by `after` */
  uint32_t n_free, most;        /* most: segments */
} fs_order_room;

/* How many segments a room has at most, of which so many may be taken at once, and an op takes so
 * many; its segments are the caller's. */
uint32_t fs_order_room_most(uint32_t taken, uint32_t needs);
/* All is free from 0 on.  Requires segments, and a capacity above 0. */
void fs_order_room_reset(fs_order_room *r);
/* Takes the part of the free room that is free first, where earlier than `wanted` is no better, at
 * its low or high end; of equally good ones the one that fits best.  FS_NONE: there is none.
 * Requires a size above 0. */
uint32_t fs_order_room_take(fs_order_room *r, uint64_t size, fs_tick wanted, bool high,
                            uint32_t owner);
/* Takes the part of the free room with the lowest address.  Requires a size above 0. */
uint32_t fs_order_room_take_lowest(fs_order_room *r, uint64_t size, uint32_t owner);
/* Joins free neighbours, all of them where they are many, else those that are free by `settled`.
 * To be called before each op.  Requires a room that was reset. */
void fs_order_room_tidy(fs_order_room *r, fs_tick settled);
/* The segment is free from a time on.  Requires a segment that is taken. */
void fs_order_room_give(fs_order_room *r, uint32_t segment, fs_tick since);
/* The bytes that are free, whenever. */
uint64_t fs_order_room_free(const fs_order_room *r);

/* amounts.c: the same for a memory by amounts. */
uint32_t fs_order_amounts_take(fs_order_room *r, uint64_t size, fs_tick wanted, uint32_t owner);
void fs_order_amounts_give(fs_order_room *r, uint32_t segment, fs_tick since);
void fs_order_amounts_tidy(fs_order_room *r, fs_tick settled);
/* Takes what is free, and what is missing of what is to spare. */
uint32_t fs_order_amounts_borrow(fs_order_room *r, uint64_t size, fs_tick wanted, uint32_t owner);

#endif
