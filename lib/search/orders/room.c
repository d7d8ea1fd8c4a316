/* SPDX-License-Identifier: Apache-2.0 */
#include "search/orders/room.h"

enum { MOST_FREE = 16 }; /* segments, before all neighbours are joined */

/* Joined free segments are one more than taken ones at most.  An op takes its needs once or twice,
 * and each may leave a part of a segment. */
uint32_t fs_order_room_most(uint32_t taken, uint32_t needs) {
  return 2 * taken + 2 * needs + FS_ROOM_FREE + 2;
}

void fs_order_room_reset(fs_order_room *r) {
  assert(r->segment != NULL && r->capacity > 0);
  for (uint32_t i = 1; i < r->most; i++) {
    r->segment[i].after = i + 1 < r->most ? i + 1 : FS_NONE;
  }
  r->unused = 1;
  r->first = r->last = 0;
  r->n_free = 1;
  r->spare = r->amounts ? r->all - r->capacity : 0;
  r->borrowed = r->spare_since = 0;
  r->segment[0] = (fs_order_segment){
      .size = r->capacity, .owner = FS_SEGMENT_FREE, .before = FS_NONE, .after = FS_NONE};
}

static void drop_segment(fs_order_room *r, uint32_t i) {
  fs_order_segment *s = &r->segment[i];
  *(s->before == FS_NONE ? &r->first : &r->segment[s->before].after) = s->after;
  *(s->after == FS_NONE ? &r->last : &r->segment[s->after].before) = s->before;
  s->after = r->unused;
  r->unused = i;
}

/* Puts an empty segment beside another one. */
static uint32_t add_segment(fs_order_room *r, uint32_t beside, bool behind) {
  assert(r->unused != FS_NONE);
  uint32_t i = r->unused, before = behind ? beside : r->segment[beside].before;
  uint32_t after = behind ? r->segment[beside].after : beside;
  r->unused = r->segment[i].after;
  r->segment[i].before = before;
  r->segment[i].after = after;
  *(before == FS_NONE ? &r->first : &r->segment[before].after) = i;
  *(after == FS_NONE ? &r->last : &r->segment[after].before) = i;
  return i;
}

void fs_order_room_tidy(fs_order_room *r, fs_tick settled) {
  assert(r->n_free <= r->most);
  if (r->amounts) {
    fs_order_amounts_tidy(r, settled);
    return;
  }
  settled = r->n_free > MOST_FREE ? FS_TICK_NONE : settled;
  for (uint32_t i = r->first, next; i != FS_NONE; i = next) {
    next = r->segment[i].after;
    if (next == FS_NONE || r->segment[i].owner != FS_SEGMENT_FREE ||
        r->segment[next].owner != FS_SEGMENT_FREE || r->segment[i].since > settled ||
        r->segment[next].since > settled) {
      continue;
    }
    r->segment[i].size += r->segment[next].size;
    r->segment[i].since = fs_max(r->segment[i].since, r->segment[next].since);
    drop_segment(r, next);
    r->n_free--;
    next = i;
  }
}

/* Part of the free room: from a segment on upwards, or downwards. */
typedef struct free_part {
  uint32_t from;
  fs_tick since;
  uint64_t left; /* of the last segment */
} free_part;

static bool part_from(const fs_order_room *r, uint32_t from, uint64_t size, bool down,
                      free_part *out) {
  *out = (free_part){.from = from};
  uint64_t sum = 0;
  for (uint32_t i = from; i != FS_NONE && r->segment[i].owner == FS_SEGMENT_FREE;
       i = down ? r->segment[i].before : r->segment[i].after) {
    sum += r->segment[i].size;
    out->since = fs_max(out->since, r->segment[i].since);
    if (sum >= size) {
      out->left = sum - size;
      return true;
    }
  }
  return false;
}

static uint32_t take_part(fs_order_room *r, const free_part *part, uint64_t size, bool down,
                          uint32_t owner) {
  uint32_t i = part->from;
  fs_order_segment *s = &r->segment[i];
  uint64_t address = down ? s->address + s->size - size : s->address;
  while (s->size < size) { /* takes in its neighbours; of the last one perhaps a part */
    uint32_t other = down ? s->before : s->after;
    s->size += r->segment[other].size;
    s->address = down ? r->segment[other].address : s->address;
    r->n_free--;
    if (s->size > size) {
      fs_order_segment *o = &r->segment[other];
      o->size = s->size - size;
      o->address = down ? o->address : s->address + size;
      s->size = size;
      r->n_free++;
    } else {
      drop_segment(r, other);
    }
  }
  if (s->size > size) { /* one segment is enough, and more */
    uint32_t rest = add_segment(r, i, !down);
    r->segment[rest].owner = FS_SEGMENT_FREE;
    r->segment[rest].since = s->since;
    r->segment[rest].size = s->size - size;
    r->segment[rest].address = down ? s->address : s->address + size;
    r->n_free++;
  }
  r->n_free--;
  s->address = address;
  s->size = size;
  s->since = part->since;
  s->owner = owner;
  return i;
}

/* The bytes of the free segments from one on. */
static uint64_t free_run(const fs_order_room *r, uint32_t i, bool down) {
  uint64_t sum = 0;
  for (; i != FS_NONE && r->segment[i].owner == FS_SEGMENT_FREE;
       i = down ? r->segment[i].before : r->segment[i].after) {
    sum += r->segment[i].size;
  }
  return sum;
}

uint32_t fs_order_room_take(fs_order_room *r, uint64_t size, fs_tick wanted, bool high,
                            uint32_t owner) {
  assert(size > 0);
  if (r->amounts) {
    return fs_order_amounts_take(r, size, wanted, owner);
  }
  free_part best = {.from = FS_NONE}, part;
  uint64_t run = 0; /* of the free segments from here on; 0: not known */
  for (uint32_t i = high ? r->last : r->first; i != FS_NONE;
       i = high ? r->segment[i].before : r->segment[i].after) {
    if (r->segment[i].owner != FS_SEGMENT_FREE) {
      run = 0;
      continue;
    }
    run = run == 0 ? free_run(r, i, high) : run;
    if (run >= size && part_from(r, i, size, high, &part)) {
      part.since = fs_max(part.since, wanted);
      bool better = best.from == FS_NONE || part.since < best.since ||
                    (part.since == best.since && part.left < best.left);
      best = better ? part : best;
    }
    run -= r->segment[i].size;
  }
  return best.from == FS_NONE ? FS_NONE : take_part(r, &best, size, high, owner);
}

uint32_t fs_order_room_take_lowest(fs_order_room *r, uint64_t size, uint32_t owner) {
  assert(size > 0);
  if (r->amounts) {
    return fs_order_amounts_borrow(r, size, 0, owner);
  }
  free_part part;
  for (uint32_t i = r->first; i != FS_NONE; i = r->segment[i].after) {
    if (r->segment[i].owner == FS_SEGMENT_FREE && part_from(r, i, size, false, &part)) {
      return take_part(r, &part, size, false, owner);
    }
  }
  return FS_NONE;
}

void fs_order_room_give(fs_order_room *r, uint32_t segment, fs_tick since) {
  assert(r->segment[segment].owner != FS_SEGMENT_FREE);
  if (r->amounts) {
    fs_order_amounts_give(r, segment, since);
    return;
  }
  r->segment[segment].owner = FS_SEGMENT_FREE;
  r->segment[segment].since = since;
  r->n_free++;
}
