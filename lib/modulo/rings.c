/* SPDX-License-Identifier: Apache-2.0 */
/* Rings whose depth is open.  A path from the writer to the end of a reader is a life that the ring
 * has at least, so it has a least depth; what the others then leave of a memory gives the largest;
 * and that is an arc from each reader to the writer.  As other arcs, it does not matter between ops
 * of different parts (paths.c). */
#include "base/saturate.h"
#include "modulo/state.h"

static const fs_modulo_ring *ring_of(const fs_modulo_state *s, uint32_t open) {
  return &s->b->p->ring[s->b->open[open]];
}

/* So many iterations later than each one of an op, another op starts when it is over. */
static bool insert_distance(fs_modulo_state *s, uint32_t from, uint32_t to, int64_t distance) {
  if (s->part[from] != s->part[to]) {
    return true;
  }
  for (uint32_t c = 0; c < s->b->copies; c++) {
    int64_t turns;
    uint32_t node = fs_modulo_node(s->b, to, c + distance, &turns);
    int64_t weight = s->b->latency[from] * s->scale - fs_modulo_lasting(s, turns);
    if (!fs_modulo_insert(s, c * s->b->p->n + from, node, weight)) {
      return false;
    }
  }
  return true;
}

static bool insert_depth(fs_modulo_state *s, uint32_t open, int64_t depth) {
  const fs_modulo_problem *p = s->b->p;
  uint32_t ring = s->b->open[open], writer = p->ring[ring].writer;
  bool fits = insert_distance(s, writer, writer, depth);
  for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1] && fits; k++) {
    fits = insert_distance(s, p->reader[k].op, writer, depth - p->reader[k].back);
  }
  return fits;
}

bool fs_modulo_put_depth(fs_modulo_state *s, uint32_t open, int64_t low, int64_t high) {
  assert(open < s->b->n_open);
  int64_t old_low = s->cell[s->low0 + open], old_high = s->cell[s->high0 + open];
  if (low > high) {
    return false;
  }
  s->rings_wait |= low > old_low;
  if (low > old_low && !fs_modulo_set(s, s->low0 + open, low)) {
    return false;
  }
  if (high >= old_high || high > FS_MODULO_DEPTHS) {
    return true;
  }
  s->rings_wait = true;
  return fs_modulo_set(s, s->high0 + open, high) && insert_depth(s, open, high) &&
         (!s->b->held_back || fs_modulo_hold_ring(s, open));
}

/* The least number of iterations by which a start of `to` comes later than one of `from`, so that
 * the latter may be over: at one less some iteration could not.  Copies of one op are of one part.
 */
static int64_t least_distance(const fs_modulo_state *s, uint32_t from, uint32_t to) {
  uint32_t u = s->b->copies, n = s->b->p->n;
  int64_t least = INT64_MIN;
  for (uint32_t c = 0; c < u && s->part[from] == s->part[to]; c++) {
    for (uint32_t copy = 0; copy < u; copy++) {
      int64_t path = fs_modulo_path(s, copy * n + to, c * n + from);
      if (path != FS_MODULO_FAR) {
        int64_t turns = fs_ceiling_div(path + s->b->latency[from] * s->scale, s->period);
        int64_t distance = (turns - 1) * u + copy - c + 1;
        least = distance > least ? distance : least;
      }
    }
  }
  return least;
}

/* The least depth that paths allow. */
static int64_t least_depth(const fs_modulo_state *s, uint32_t open) {
  const fs_modulo_problem *p = s->b->p;
  uint32_t ring = s->b->open[open], writer = p->ring[ring].writer;
  int64_t least = s->cell[s->low0 + open], own = least_distance(s, writer, writer);
  least = own > least ? own : least;
  for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
    int64_t distance = least_distance(s, p->reader[k].op, writer);
    if (distance != INT64_MIN && distance + p->reader[k].back > least) {
      least = distance + p->reader[k].back;
    }
  }
  return least;
}

/* Bytes of the open rings of a memory, or of all (FS_NONE), at their least or largest depths. */
static uint64_t bytes_of(const fs_modulo_state *s, uint32_t memory, uint32_t depth0) {
  uint64_t bytes = 0;
  for (uint32_t r = 0; r < s->b->n_open; r++) {
    const fs_modulo_ring *ring = ring_of(s, r);
    if (ring->memory != FS_NONE && (memory == FS_NONE || ring->memory == memory)) {
      uint64_t depth = (uint64_t)s->cell[depth0 + r];
      bytes = fs_add_most(bytes, fs_multiply_most(depth, ring->size));
    }
  }
  return bytes;
}

/* What is left of a memory for open rings; FS_NONE: what the question allows them in all. */
static uint64_t room_of(const fs_modulo_state *s, uint32_t memory) {
  if (memory == FS_NONE) {
    return s->q->bytes;
  }
  return s->q->memory ? s->room[memory] : FS_UNBOUNDED;
}

/* Limits the depths of the rings of a memory, or of all. */
static bool limit_depths(fs_modulo_state *s, uint32_t memory) {
  uint64_t room = room_of(s, memory);
  if (room == FS_UNBOUNDED) {
    return true;
  }
  uint64_t least = bytes_of(s, memory, s->low0);
  if (least > room) {
    return false;
  }
  for (uint32_t r = 0; r < s->b->n_open; r++) {
    const fs_modulo_ring *ring = ring_of(s, r);
    if (ring->memory == FS_NONE || (memory != FS_NONE && ring->memory != memory) ||
        ring->size == 0) {
      continue;
    }
    int64_t low = s->cell[s->low0 + r];
    uint64_t more = fs_min((room - least) / ring->size, FS_MODULO_DEPTHS);
    if (!fs_modulo_put_depth(s, r, low, low + (int64_t)more)) {
      return false;
    }
  }
  return true;
}

bool fs_modulo_propagate_rings(fs_modulo_state *s) {
  const fs_modulo_body *b = s->b;
  while (s->rings_wait && b->n_open > 0) {
    s->rings_wait = false;
    for (uint32_t r = 0; r < b->n_open; r++) {
      if (!fs_modulo_put_depth(s, r, least_depth(s, r), s->cell[s->high0 + r])) {
        s->weight[s->n_pairs + b->n_claims + r]++;
        return false;
      }
    }
    for (uint32_t m = 0; m < b->p->n_memories; m++) {
      if (!limit_depths(s, m)) {
        return false;
      }
    }
    if (!limit_depths(s, FS_NONE)) {
      return false;
    }
  }
  return true;
}

bool fs_modulo_depths_fit(const fs_modulo_state *s) {
  for (uint32_t m = 0; s->b->n_open > 0 && m < s->b->p->n_memories; m++) {
    if (room_of(s, m) != FS_UNBOUNDED && bytes_of(s, m, s->high0) > room_of(s, m)) {
      return false;
    }
  }
  return s->q->bytes == FS_UNBOUNDED || bytes_of(s, FS_NONE, s->high0) <= s->q->bytes;
}
