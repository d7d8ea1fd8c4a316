/* SPDX-License-Identifier: Apache-2.0 */
/* The states that an explorer has seen, by hashes of 128 bits, and the steps between them. */
#ifndef FS_TEST_STATE_SPACE_H
#define FS_TEST_STATE_SPACE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct state_space {
  uint64_t (*seen)[3]; /* a hash set, with the number of each state */
  size_t n, size;
  uint32_t (*edge)[2]; /* from, to */
  size_t n_edges, most_edges;
  uint8_t *ends; /* per state: whether it is an end, or leads to one */
} state_space;

static inline void mix_hash(uint64_t hash[2], const void *bytes, size_t n) {
  const char *p = bytes;
  for (size_t i = 0; i + 8 <= n; i += 8) {
    uint64_t word;
    memcpy(&word, p + i, sizeof word);
    hash[0] = (hash[0] ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    hash[0] ^= hash[0] >> 29;
    hash[1] = (hash[1] + word) * UINT64_C(0xC2B2AE3D27D4EB4F);
    hash[1] ^= hash[1] >> 31;
  }
}

/* The slot of a state in the hash set, or the free slot where it belongs. */
static inline uint64_t *state_place(const state_space *x, const uint64_t hash[2]) {
  size_t i = (hash[0] >> 7) & (x->size - 1);
  while (x->seen[i][0] != 0 && (x->seen[i][0] != hash[0] || x->seen[i][1] != hash[1])) {
    i = (i + 1) & (x->size - 1);
  }
  return x->seen[i];
}

static inline void grow_states(state_space *x) {
  state_space old = *x;
  x->size = x->size == 0 ? 1 << 12 : x->size * 4;
  x->seen = calloc(x->size, sizeof *x->seen);
  x->ends = realloc(x->ends, x->size);
  ck_assert(x->seen != NULL && x->ends != NULL);
  for (size_t i = 0; i < old.size; i++) {
    if (old.seen[i][0] != 0) {
      memcpy(state_place(x, old.seen[i]), old.seen[i], sizeof *old.seen);
    }
  }
  free(old.seen);
}

/* Inserts a world and finds its number; returns whether it is new. */
static inline bool insert_state(state_space *x, const uint64_t hash[2], uint32_t *number) {
  if (x->n * 2 >= x->size) {
    grow_states(x);
  }
  uint64_t *at = state_place(x, hash);
  bool is_new = at[0] == 0;
  if (is_new) {
    at[0] = hash[0];
    at[1] = hash[1];
    at[2] = x->n++;
    x->ends[at[2]] = 0;
  }
  *number = (uint32_t)at[2];
  return is_new;
}

static inline void add_edge(state_space *x, uint32_t from, uint32_t to) {
  if (x->n_edges == x->most_edges) {
    x->most_edges = x->most_edges == 0 ? 1 << 12 : 2 * x->most_edges;
    x->edge = realloc(x->edge, x->most_edges * sizeof *x->edge);
    ck_assert_ptr_nonnull(x->edge);
  }
  x->edge[x->n_edges][0] = from;
  x->edge[x->n_edges++][1] = to;
}

/* Counts the worlds from which no run ends, though some thread can always go on.  A world that
 * leads to one that leads to an end does so too; this is repeated until nothing changes.  Edges are
 * walked from the last on, as most lead to a later state. */
static inline uint64_t count_astray(state_space *x) {
  uint64_t astray = 0;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = x->n_edges; i > 0; i--) {
      const uint32_t *e = x->edge[i - 1];
      bool leads = x->ends[e[1]] && !x->ends[e[0]];
      x->ends[e[0]] |= x->ends[e[1]];
      more = more || leads;
    }
  }
  for (size_t i = 0; i < x->n; i++) {
    astray += !x->ends[i];
  }
  return astray;
}

static inline void drop_states(state_space *x) {
  free(x->seen);
  free(x->edge);
  free(x->ends);
}

#endif
