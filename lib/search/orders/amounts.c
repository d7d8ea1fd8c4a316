/* SPDX-License-Identifier: Apache-2.0 */
/* A memory by amounts: what is free is a set of parts, each free from some time on, and what is
 * taken may consist of several of them.  Of the parts that are free in time the latest ones are
 * taken, so that the early ones are left to those that come early; else the earliest ones.
 *
 * A memory may have bytes to spare, which are borrowed where nothing else is free; what is given
 * back pays for them first. */
#include "search/orders/room.h"

static bool is_free(const fs_order_room *r, uint32_t i) {
  return r->segment[i].owner == FS_SEGMENT_FREE;
}

uint64_t fs_order_room_free(const fs_order_room *r) {
  uint64_t sum = 0;
  for (uint32_t i = r->first; i != FS_NONE; i = r->segment[i].after) {
    sum += is_free(r, i) ? r->segment[i].size : 0;
  }
  return sum;
}

static void drop_part(fs_order_room *r, uint32_t i) {
  fs_order_segment *s = &r->segment[i];
  *(s->before == FS_NONE ? &r->first : &r->segment[s->before].after) = s->after;
  *(s->after == FS_NONE ? &r->last : &r->segment[s->after].before) = s->before;
  s->after = r->unused;
  r->unused = i;
}

static void join_parts(fs_order_room *r, uint32_t into, uint32_t from) {
  r->segment[into].size += r->segment[from].size;
  r->segment[into].since = fs_max(r->segment[into].since, r->segment[from].since);
  drop_part(r, from);
  r->n_free--;
}

/* Joins the two parts that are free first. */
static void join_earliest(fs_order_room *r) {
  uint32_t first = FS_NONE, second = FS_NONE;
  for (uint32_t i = r->first; i != FS_NONE; i = r->segment[i].after) {
    if (!is_free(r, i)) {
      continue;
    }
    if (first == FS_NONE || r->segment[i].since < r->segment[first].since) {
      second = first;
      first = i;
    } else if (second == FS_NONE || r->segment[i].since < r->segment[second].since) {
      second = i;
    }
  }
  assert(first != FS_NONE && second != FS_NONE);
  join_parts(r, second, first);
}

void fs_order_amounts_tidy(fs_order_room *r, fs_tick settled) {
  assert(r->amounts);
  uint32_t into = FS_NONE;
  for (uint32_t i = r->first, next; i != FS_NONE; i = next) {
    next = r->segment[i].after;
    if (!is_free(r, i) || r->segment[i].since > settled) {
      continue;
    }
    if (into == FS_NONE) {
      into = i;
    } else {
      join_parts(r, into, i);
    }
  }
  while (r->n_free > FS_ROOM_FREE) {
    join_earliest(r);
  }
}

/* The part to be taken next; FS_NONE: all is taken. */
static uint32_t next_part(const fs_order_room *r, fs_tick wanted) {
  uint32_t best = FS_NONE;
  for (uint32_t i = r->first; i != FS_NONE; i = r->segment[i].after) {
    if (!is_free(r, i)) {
      continue;
    }
    fs_tick since = r->segment[i].since, least = best == FS_NONE ? 0 : r->segment[best].since;
    bool in_time = since <= wanted;
    bool better = best == FS_NONE || (in_time ? least > wanted || since > least : since < least);
    best = better ? i : best;
  }
  return best;
}

static uint32_t append_part(fs_order_room *r) {
  assert(r->unused != FS_NONE);
  uint32_t i = r->unused;
  r->unused = r->segment[i].after;
  r->segment[i].before = r->last;
  r->segment[i].after = FS_NONE;
  *(r->last == FS_NONE ? &r->first : &r->segment[r->last].after) = i;
  r->last = i;
  return i;
}

uint32_t fs_order_amounts_take(fs_order_room *r, uint64_t size, fs_tick wanted, uint32_t owner) {
  assert(r->amounts && size > 0);
  if (fs_order_room_free(r) < size) {
    return FS_NONE;
  }
  uint64_t left = size;
  fs_tick since = 0;
  while (left > 0) {
    uint32_t i = next_part(r, fs_max(wanted, since));
    fs_order_segment *s = &r->segment[i];
    uint64_t part = fs_min(s->size, left);
    since = fs_max(since, s->since);
    s->size -= part;
    left -= part;
    if (s->size == 0) {
      drop_part(r, i);
      r->n_free--;
    }
  }
  uint32_t i = append_part(r);
  r->segment[i].address = 0;
  r->segment[i].size = size;
  r->segment[i].since = since;
  r->segment[i].owner = owner;
  return i;
}

uint32_t fs_order_amounts_borrow(fs_order_room *r, uint64_t size, fs_tick wanted, uint32_t owner) {
  uint64_t free = fs_order_room_free(r), more = size - fs_min(size, free);
  if (more > 0 && more <= r->spare) {
    uint32_t i = append_part(r);
    r->segment[i].owner = FS_SEGMENT_FREE;
    r->segment[i].size = more;
    r->segment[i].since = r->spare_since;
    r->n_free++;
    r->spare -= more;
    r->borrowed += more;
  }
  return fs_order_amounts_take(r, size, wanted, owner);
}

void fs_order_amounts_give(fs_order_room *r, uint32_t segment, fs_tick since) {
  fs_order_segment *s = &r->segment[segment];
  uint64_t back = fs_min(r->borrowed, s->size);
  r->borrowed -= back;
  r->spare += back;
  r->spare_since = back > 0 ? fs_max(r->spare_since, since) : r->spare_since;
  s->size -= back;
  s->since = since;
  s->owner = FS_SEGMENT_FREE;
  if (s->size == 0) {
    drop_part(r, segment);
  } else {
    r->n_free++;
  }
}
