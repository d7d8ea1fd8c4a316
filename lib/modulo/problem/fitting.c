/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth first: what does not fit is left by taking one slot from one ring of a memory that is
 * overfull. */
#include "modulo/problem/fitting.h"

#include "base/saturate.h"

enum { MOST_NODES = 512 };

typedef struct fitting_search {
  const fs_modulo_problem *p;
  uint32_t n;
  uint32_t *node; /* n * rings: depths */
  bool full;      /* more of them had no room */
} fitting_search;

/* The bytes of a memory at some depths, of bounded ones. */
static uint64_t bytes_of(const fs_modulo_problem *p, const uint32_t *depth, uint32_t memory) {
  uint64_t bytes = 0;
  for (uint32_t r = 0; r < p->n_rings; r++) {
    if (p->ring[r].memory == memory) {
      bytes = fs_add_most(bytes, fs_multiply_most(p->ring[r].size, depth[r]));
    }
  }
  return bytes;
}

static uint32_t overfull_memory(const fs_modulo_problem *p, const uint32_t *depth) {
  for (uint32_t m = 0; m < p->n_memories; m++) {
    if (p->capacity[m] != FS_UNBOUNDED && bytes_of(p, depth, m) > p->capacity[m]) {
      return m;
    }
  }
  return FS_NONE;
}

static bool is_below(const fs_modulo_problem *p, const uint32_t *a, const uint32_t *b) {
  bool below = true;
  for (uint32_t r = 0; r < p->n_rings && below; r++) {
    below = a[r] <= b[r];
  }
  return below;
}

/* Adds a node with one slot less of a ring, if it is new. */
static void add_node(fitting_search *s, uint32_t at, uint32_t ring) {
  const fs_modulo_problem *p = s->p;
  uint32_t *next = s->node + (size_t)s->n * p->n_rings;
  if (s->n == MOST_NODES) {
    s->full = true;
    return;
  }
  memcpy(next, s->node + (size_t)at * p->n_rings, p->n_rings * sizeof *next);
  next[ring]--;
  bool known = false;
  for (uint32_t k = at; k < s->n && !known; k++) {
    known = memcmp(s->node + (size_t)k * p->n_rings, next, p->n_rings * sizeof *next) == 0;
  }
  s->n += !known;
}

static void keep_node(fs_modulo_fitting *out, const fs_modulo_problem *p, uint32_t *depth) {
  bool known = false;
  for (uint32_t k = 0; k < out->n && !known; k++) {
    known = is_below(p, depth, out->depth[k]);
  }
  if (!known) {
    out->depth[out->n++] = depth;
  }
}

fs_status fs_modulo_fitting_depths(fs_arena *arena, const fs_modulo_problem *p,
                                   const uint32_t *from, fs_modulo_fitting *out) {
  assert(fs_modulo_deep_enough(p, from));
  fitting_search s = {p, 1, NULL, false};
  *out = (fs_modulo_fitting){.all = true};
  if (p->n_rings == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(arena, &s.node, (size_t)MOST_NODES * p->n_rings));
  memcpy(s.node, from, p->n_rings * sizeof *from);
  uint32_t at = 0;
  for (; at < s.n && out->n < FS_FITTING_MOST; at++) {
    uint32_t *depth = s.node + (size_t)at * p->n_rings, memory = overfull_memory(p, depth);
    if (memory == FS_NONE) {
      keep_node(out, p, depth);
    }
    for (uint32_t r = 0; r < p->n_rings && memory != FS_NONE; r++) {
      if (p->ring[r].memory == memory && p->ring[r].depth == 0 &&
          depth[r] > fs_modulo_least_depth(p, r)) {
        add_node(&s, at, r);
      }
    }
  }
  out->all = at == s.n && !s.full;
  for (uint32_t k = 0; k < out->n; k++) {
    for (uint32_t r = 0; r < p->n_rings; r++) {
      bool free = p->ring[r].depth == 0 && p->ring[r].most == 0 && !fs_modulo_ring_fits(p, r);
      out->depth[k][r] = free ? FS_NONE : out->depth[k][r];
    }
  }
  return FSCHED_OK;
}

void fs_modulo_fit_alone(const fs_modulo_problem *p, uint32_t *depth) {
  for (uint32_t r = 0; r < p->n_rings; r++) {
    uint32_t memory = p->ring[r].memory;
    if (!fs_modulo_ring_fits(p, r) || p->ring[r].size == 0) {
      continue;
    }
    uint64_t others = 0, least = fs_modulo_least_depth(p, r);
    for (uint32_t k = 0; k < p->n_rings; k++) {
      const fs_modulo_ring *ring = &p->ring[k];
      uint64_t slots = ring->depth != 0 ? ring->depth : fs_modulo_least_depth(p, k);
      bool here = k != r && ring->memory == memory;
      others = here ? fs_add_most(others, fs_multiply_most(ring->size, slots)) : others;
    }
    uint64_t rest = p->capacity[memory] - fs_min(others, p->capacity[memory]);
    uint64_t most = fs_max(rest / p->ring[r].size, least);
    depth[r] = (uint32_t)fs_min(depth[r], most);
  }
}
