/* SPDX-License-Identifier: Apache-2.0 */
/* All depths; then ops get their queues and lanes one after the other, and for each earlier op on a
 * common track every number of periods between the two is tried.  What has a cycle that is too long
 * is left.  Ops that nothing connects are tried with 0 periods alone: one side can be moved by
 * whole ones. */
#include "modulo/brute.h"

#include <check.h>

enum { OPS = FS_BRUTE_OPS, EDGES = 128, FAR = 4, NO_PATH = -1000000000, MOST_DEPTH = 12 };

typedef struct trial_edge {
  uint32_t from, to;
  int64_t weight, distance;
} trial_edge;

/* Longest paths at the interval that is wished for. */
typedef struct trial_paths {
  int64_t at[OPS][OPS];
} trial_paths;

typedef struct modulo_trial {
  const fs_modulo_problem *p;
  const fs_brute_wish *wish;
  uint32_t depth[OPS];
  uint32_t n_waits; /* edges and rings */
  trial_edge wait[EDGES];
  uint64_t queue[OPS], lane[OPS]; /* sets of tracks; lanes of all resources */
  int64_t k[OPS][OPS];            /* b starts so many periods later next after a */
  bool lane_k[OPS][OPS];          /* they share a lane */
} modulo_trial;

/* Adds a path; false: a cycle is too long. */
static bool add_path(const modulo_trial *b, trial_paths *t, uint32_t from, uint32_t to,
                     int64_t length) {
  uint32_t n = b->p->n;
  int64_t least = b->wish->less ? 0 : 1; /* of a cycle that is too long */
  if (from == to) {
    return length < least;
  }
  if (t->at[from][to] >= length) {
    return true;
  }
  if (t->at[to][from] > NO_PATH && t->at[to][from] + length >= least) {
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    int64_t before = i == from ? 0 : t->at[i][from];
    for (uint32_t j = 0; j < n && before > NO_PATH; j++) {
      int64_t behind = j == to ? 0 : t->at[to][j];
      int64_t path = before + length + behind;
      if (behind > NO_PATH && i != j && path > t->at[i][j]) {
        t->at[i][j] = path;
      }
    }
  }
  return true;
}

static bool add_edge(const modulo_trial *b, trial_paths *t, uint32_t from, uint32_t to,
                     uint64_t weight, int64_t distance) {
  const fs_modulo_ratio *ii = &b->wish->ii;
  return add_path(b, t, from, to, (int64_t)weight * ii->den - distance * ii->num);
}

/* `to` waits for a, so for all before a on its queues. */
static bool hold_back(const modulo_trial *b, trial_paths *t, uint32_t a, uint32_t to,
                      int64_t distance) {
  bool waits = b->p->latency[a] > b->p->time[a] || (b->queue[a] & b->queue[to]) == 0;
  for (uint32_t x = 0; x < b->p->n && waits; x++) {
    if (x != a && (b->queue[x] & b->queue[a]) != 0 &&
        !add_edge(b, t, x, to, b->p->latency[x], distance + 1 - b->k[a][x])) {
      return false;
    }
  }
  return true;
}

static bool hold_all_back(const modulo_trial *b, trial_paths *t) {
  for (uint32_t e = 0; e < b->n_waits; e++) {
    if (!hold_back(b, t, b->wait[e].from, b->wait[e].to, b->wait[e].distance)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < b->p->n; i++) {
    if (b->lane[i] != 0 && !hold_back(b, t, i, i, 1)) {
      return false;
    }
    for (uint32_t j = 0; j < b->p->n; j++) {
      if (b->lane_k[i][j] && !hold_back(b, t, i, j, b->k[i][j])) {
        return false;
      }
    }
  }
  return true;
}

static bool are_connected(const modulo_trial *b, const trial_paths *t, uint32_t i, uint32_t j) {
  uint32_t seen = 1u << i;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t c = 0; c < b->p->n * b->p->n; c++) {
      uint32_t from = c / b->p->n, to = c % b->p->n;
      if (t->at[from][to] > NO_PATH && (seen >> from & 1) != (seen >> to & 1)) {
        seen |= 1u << from | 1u << to;
        more = true;
      }
    }
  }
  return (seen >> j & 1) != 0;
}

static bool place_op(modulo_trial *b, const trial_paths *t, uint32_t i);

/* Whether rings let op i start k periods later next after j, on a common queue. */
static bool is_ahead(const modulo_trial *b, uint32_t j, uint32_t i, int64_t k) {
  const fs_modulo_problem *p = b->p;
  for (uint32_t r = 0; r < p->n_rings; r++) {
    const fs_modulo_ring *ring = &p->ring[r];
    for (uint32_t x = p->reader0[r]; ring->ahead > 0 && x < p->reader0[r + 1]; x++) {
      uint32_t op = p->reader[x].op;
      bool first = ring->writer == j && op == i, second = ring->writer == i && op == j;
      if (p->reader[x].back == 0 &&
          ((first && k != 1 - (int64_t)ring->ahead) || (second && k != (int64_t)ring->ahead))) {
        return false;
      }
    }
  }
  return true;
}

/* Copies of an op on one queue have their turns in the order of iterations, if that is wished for.
 */
static bool is_in_turn(const modulo_trial *b, uint32_t j, uint32_t i, int64_t k) {
  const fs_brute_wish *w = b->wish;
  return w->turns == NULL || j % w->ops != i % w->ops || !w->turns[i % w->ops] || k == 0;
}

/* Tries all orders of op i and j, j + 1, ... before it. */
static bool order_ops(modulo_trial *b, const trial_paths *t, uint32_t i, uint32_t j) {
  const fs_modulo_problem *p = b->p;
  while (j < i && (b->queue[i] & b->queue[j]) == 0 && (b->lane[i] & b->lane[j]) == 0) {
    j++;
  }
  if (j == i) {
    return place_op(b, t, i + 1);
  }
  bool lane = (b->lane[i] & b->lane[j]) != 0, found = false;
  int64_t far = are_connected(b, t, i, j) ? FAR : 0;
  b->lane_k[i][j] = b->lane_k[j][i] = lane;
  for (int64_t k = -far; k <= far && !found; k++) {
    trial_paths next = *t;
    b->k[j][i] = k;
    b->k[i][j] = 1 - k;
    found =
        ((b->queue[i] & b->queue[j]) == 0 || (is_ahead(b, j, i, k) && is_in_turn(b, j, i, k))) &&
        add_edge(b, &next, j, i, lane ? p->latency[j] : p->time[j], k) &&
        add_edge(b, &next, i, j, lane ? p->latency[i] : p->time[i], 1 - k) &&
        order_ops(b, &next, i, j + 1);
  }
  b->lane_k[i][j] = b->lane_k[j][i] = false;
  return found;
}

/* The lanes of a set that has them in order: those that nothing took before are the lowest.  Lanes
 * of a resource are all alike. */
static bool is_first_of_alike(const modulo_trial *b, uint32_t i, uint64_t set, uint32_t first,
                              uint32_t lanes) {
  uint64_t taken = 0;
  for (uint32_t j = 0; j <= i; j++) {
    taken |= b->lane[j] >> first & ((UINT64_C(1) << lanes) - 1);
  }
  taken |= set;
  return (taken & (taken + 1)) == 0;
}

/* Tries all sets of lanes for the use u of an op, and those behind it. */
static bool choose_lanes(modulo_trial *b, const trial_paths *t, uint32_t i, uint32_t u) {
  const fs_modulo_problem *p = b->p;
  if (p->use0 == NULL || u == p->use0[i + 1]) {
    return order_ops(b, t, i, 0);
  }
  uint32_t first = 0, lanes = p->lanes[p->use[u].resource];
  for (uint32_t r = 0; r < p->use[u].resource; r++) {
    first += p->lanes[r];
  }
  uint64_t before = b->lane[i];
  bool found = false;
  for (uint64_t set = 0; set < UINT64_C(1) << lanes && !found; set++) {
    b->lane[i] = before;
    if ((uint32_t)__builtin_popcountll(set) == p->use[u].amount &&
        is_first_of_alike(b, i, set, first, lanes)) {
      b->lane[i] = before | set << first;
      found = choose_lanes(b, t, i, u + 1);
    }
  }
  b->lane[i] = before;
  return found;
}

static bool place_op(modulo_trial *b, const trial_paths *t, uint32_t i) {
  const fs_modulo_problem *p = b->p;
  if (i == p->n) {
    trial_paths held = *t;
    return !p->held_back || hold_all_back(b, &held);
  }
  uint32_t begin = p->eligible0[i], end = p->eligible0[i + 1];
  uint64_t all = 0;
  for (uint32_t k = begin; k < end; k++) {
    all |= UINT64_C(1) << p->eligible[k];
  }
  bool gang = p->gang != NULL && p->gang[i], found = false;
  b->lane[i] = 0;
  for (uint32_t k = begin; k < (gang ? begin + 1 : end) && !found; k++) {
    b->queue[i] = gang ? all : UINT64_C(1) << p->eligible[k];
    found = choose_lanes(b, t, i, p->use0 == NULL ? 0 : p->use0[i]);
  }
  return found;
}

static bool add_wait(modulo_trial *b, trial_paths *t, uint32_t from, uint32_t to,
                     int64_t distance) {
  ck_assert_uint_lt(b->n_waits, EDGES);
  b->wait[b->n_waits++] = (trial_edge){from, to, 0, distance};
  return add_edge(b, t, from, to, b->p->latency[from], distance);
}

static bool add_rings(modulo_trial *b, trial_paths *t) {
  const fs_modulo_problem *p = b->p;
  for (uint32_t r = 0; r < p->n_rings; r++) {
    uint32_t writer = p->ring[r].writer;
    if (!add_wait(b, t, writer, writer, b->depth[r])) {
      return false;
    }
    for (uint32_t k = p->reader0[r]; k < p->reader0[r + 1]; k++) {
      int64_t distance = (int64_t)b->depth[r] - p->reader[k].back;
      if (!add_wait(b, t, p->reader[k].op, writer, distance)) {
        return false;
      }
    }
  }
  return true;
}

/* Tries all choices with these depths. */
static bool try_depths(modulo_trial *b) {
  const fs_modulo_problem *p = b->p;
  trial_paths t;
  for (uint32_t c = 0; c < OPS * OPS; c++) {
    t.at[c / OPS][c % OPS] = NO_PATH;
  }
  b->n_waits = 0;
  for (uint32_t e = 0; e < p->n_edges; e++) {
    if (!add_wait(b, &t, p->edge[e].from, p->edge[e].to, p->edge[e].distance)) {
      return false;
    }
  }
  if (!add_rings(b, &t)) {
    return false;
  }
  for (uint32_t i = 0; i < p->n; i++) {
    bool lanes = p->use0 != NULL && p->use0[i + 1] > p->use0[i];
    if (!add_edge(b, &t, i, i, lanes ? p->latency[i] : p->time[i], 1)) {
      return false;
    }
    for (uint32_t j = 0; j < p->n && b->wish->makespan >= 0; j++) {
      int64_t late = (int64_t)p->latency[i] * b->wish->ii.den - b->wish->makespan;
      if (!add_path(b, &t, i, j, late)) {
        return false;
      }
    }
  }
  return place_op(b, &t, 0);
}

static bool bytes_fit(const modulo_trial *b) {
  const fs_modulo_problem *p = b->p;
  uint64_t bytes = 0;
  for (uint32_t r = 0; r < p->n_rings; r++) {
    bytes += p->ring[r].memory != FS_NONE ? b->depth[r] * p->ring[r].size : 0;
  }
  return (p->n_memories == 0 || bytes <= p->capacity[0]) && bytes <= b->wish->bytes;
}

/* Tries all depths of ring r and those behind it. */
static bool choose_depths(modulo_trial *b, uint32_t r) {
  const fs_modulo_problem *p = b->p;
  if (!bytes_fit(b)) { /* of the rings so far; the others have depth 0 */
    return false;
  }
  if (r == p->n_rings) {
    return try_depths(b);
  }
  bool open = p->ring[r].depth == 0, found = false;
  uint32_t most = p->ring[r].most != 0 ? p->ring[r].most : MOST_DEPTH;
  for (b->depth[r] = open ? fs_modulo_least_depth(p, r) : p->ring[r].depth; !found; b->depth[r]++) {
    if ((open && b->depth[r] > most) || (!open && b->depth[r] > p->ring[r].depth)) {
      break;
    }
    found = choose_depths(b, r + 1);
  }
  b->depth[r] = 0;
  return found;
}

bool fs_modulo_brute(const fs_modulo_problem *p, const fs_brute_wish *wish) {
  ck_assert_uint_le(p->n, OPS);
  modulo_trial b = {.p = p, .wish = wish};
  return choose_depths(&b, 0);
}
