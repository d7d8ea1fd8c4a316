/* SPDX-License-Identifier: Apache-2.0 */
/* Which versions leave: those of the stretch of neighbouring segments that is large enough and
 * costs least, the sum over its versions of the time of copies per distance to the next use.
 * O(segments^2) at worst; a stretch has few.
 *
 * By amounts, and for what is to stay free, those that cost least per byte. */
#include "base/saturate.h"
#include "search/orders/decoder.h"

enum { SCALE = 4096, BYTE_SCALE = 1024 };

/* A write that has to be made anyway costs nothing. */
static uint64_t cost_of(const fs_decoder *d, uint32_t v, uint32_t at) {
  const fs_order_version *x = &d->version[v];
  const fs_order_state *s = &d->state[v];
  uint32_t next = fs_decoder_next_use(d, v);
  bool pays = s->dirty && !(x->kept && s->writers_left == 0);
  fs_tick time = (pays ? x->write : 0) + (next < d->g->n_ops ? x->read : 0);
  assert(next > at);
  return time * SCALE / (next - at) + 1;
}

/* Is the segment free, or could it be? */
static bool may_go(const fs_decoder *d, const fs_order_segment *s, uint32_t at, uint64_t *cost) {
  *cost = 0;
  if (s->owner == FS_SEGMENT_FREE) {
    return true;
  }
  if (s->owner == FS_SEGMENT_SCRATCH || d->state[s->owner].turn == at + 1) {
    return false;
  }
  *cost = cost_of(d, s->owner, at);
  return true;
}

/* The version that leaves at least cost per byte; FS_NONE: none may. */
static uint32_t least_per_byte(const fs_decoder *d, const fs_order_room *r, uint32_t at) {
  uint32_t best = FS_NONE;
  uint64_t least = UINT64_MAX, cost;
  for (uint32_t i = r->first; i != FS_NONE; i = r->segment[i].after) {
    const fs_order_segment *s = &r->segment[i];
    if (s->owner == FS_SEGMENT_FREE || !may_go(d, s, at, &cost)) {
      continue;
    }
    cost = fs_multiply_most(cost, BYTE_SCALE) / s->size;
    if (cost < least) {
      least = cost;
      best = s->owner;
    }
  }
  return best;
}

bool fs_decoder_free_bytes(fs_decoder *d, uint32_t memory, uint64_t size, uint32_t at) {
  assert(d->room[memory].segment != NULL);
  const fs_order_room *r = &d->room[memory];
  uint64_t free = fs_order_room_free(r);
  while (free < size) {
    uint32_t v = least_per_byte(d, r, at);
    if (v == FS_NONE) {
      return false;
    }
    free += d->version[v].size;
    fs_decoder_expel(d, v);
  }
  return true;
}

bool fs_decoder_make_room(fs_decoder *d, uint32_t memory, uint64_t size, uint32_t at) {
  assert(d->room[memory].segment != NULL && size > 0);
  const fs_order_room *r = &d->room[memory];
  if (r->amounts) {
    return fs_decoder_free_bytes(d, memory, size, at);
  }
  uint64_t least = UINT64_MAX, cost;
  uint32_t first = FS_NONE, last = FS_NONE;
  for (uint32_t i = r->first; i != FS_NONE; i = r->segment[i].after) {
    uint64_t sum = 0, bytes = 0;
    for (uint32_t k = i; k != FS_NONE && may_go(d, &r->segment[k], at, &cost);
         k = r->segment[k].after) {
      sum += cost;
      bytes += r->segment[k].size;
      if (sum >= least || bytes >= size) {
        if (sum < least) {
          least = sum;
          first = i;
          last = k;
        }
        break;
      }
    }
  }
  for (uint32_t i = first, next; i != FS_NONE; i = next) {
    next = i == last ? FS_NONE : r->segment[i].after;
    if (r->segment[i].owner != FS_SEGMENT_FREE) {
      fs_decoder_expel(d, r->segment[i].owner);
    }
  }
  return first != FS_NONE;
}
