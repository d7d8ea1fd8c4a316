/* SPDX-License-Identifier: Apache-2.0 */
/* Which versions leave: those of the stretch of neighbouring segments that is large enough and
 * costs least, the sum over its versions of the time of copies per distance to the next use.
 * O(segments^2) at worst; a stretch has few. */
#include "search/orders/decoder.h"

enum { SCALE = 4096 };

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

bool fs_decoder_make_room(fs_decoder *d, uint32_t memory, uint64_t size, uint32_t at) {
  assert(d->room[memory].segment != NULL && size > 0);
  const fs_order_room *r = &d->room[memory];
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
