/* SPDX-License-Identifier: Apache-2.0 */
/* Phases are the earliest: longest paths, by rounds over all orders, until nothing changes.  In a
 * phase a node comes when all are placed that must come before it there, the one first that the
 * plan starts first. */
#include "modulo/phases.h"

#include "base/context.h"

#define PLACED UINT32_MAX

typedef struct phaser {
  const fs_modulo_problem *p;
  const fs_modulo_plan *plan;
  const fs_modulo_edge *want;
  uint32_t n, n_wants, k; /* n: nodes, copy * ops + op */
  bool *full;             /* per order: a full sync has to say it */
  uint64_t *phase;        /* per node */
} phaser;

static const uint32_t *queues_of(const phaser *x, uint32_t node, uint32_t *n) {
  const fs_modulo_problem *p = x->p;
  uint32_t op = node % p->n;
  bool gang = p->gang != NULL && p->gang[op];
  *n = gang ? p->eligible0[op + 1] - p->eligible0[op] : 1;
  return gang ? p->eligible + p->eligible0[op] : &x->plan->queue[node];
}

static bool share_queue(const phaser *x, uint32_t a, uint32_t b) {
  uint32_t n, m;
  const uint32_t *q = queues_of(x, a, &n), *r = queues_of(x, b, &m);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < m; k++) {
      if (q[i] == r[k]) {
        return true;
      }
    }
  }
  return false;
}

static void find_full(const phaser *x, const bool *counting) {
  for (uint32_t w = 0; w < x->n_wants; w++) {
    uint32_t n, op = x->want[w].from % x->p->n;
    const uint32_t *queue = queues_of(x, x->want[w].from, &n);
    bool counted = counting != NULL && counting[queue[0]];
    bool slow = x->p->latency[op] > x->p->time[op];
    x->full[w] = !counted && (slow || !share_queue(x, x->want[w].from, x->want[w].to));
  }
}

/* How many steps after its first node an order's second one comes. */
static uint64_t steps_of(const phaser *x, const fs_modulo_edge *e) {
  int64_t copies = (int64_t)(e->from / x->p->n) - (int64_t)(e->to / x->p->n);
  int64_t iterations = (int64_t)e->distance + copies;
  assert(iterations >= 0 && iterations % x->plan->copies == 0);
  return (uint64_t)iterations / x->plan->copies;
}

/* Raises phases in one round; whether any changed. */
static bool raise_phases(const phaser *x) {
  bool changed = false;
  for (uint32_t w = 0; w < x->n_wants; w++) {
    const fs_modulo_edge *e = &x->want[w];
    uint64_t least = x->phase[e->from] + x->full[w], later = x->k * steps_of(x, e);
    if (x->phase[e->to] + later < least) {
      x->phase[e->to] = least - later;
      changed = true;
    }
  }
  return changed;
}

static bool find_phases(const phaser *x) {
  uint32_t rounds = 0;
  while (rounds <= x->n && raise_phases(x)) {
    rounds++;
  }
  return rounds <= x->n;
}

/* The phase of a step. */
static uint64_t part_of(const phaser *x, uint32_t node) { return x->phase[node] % x->k; }

/* Whether an order is one of nodes in the same phase. */
static bool is_within(const phaser *x, const fs_modulo_edge *e) {
  return x->phase[e->to] + x->k * steps_of(x, e) == x->phase[e->from] && e->from != e->to;
}

static bool comes_before(const phaser *x, uint32_t a, uint32_t b) {
  uint64_t p = part_of(x, a), q = part_of(x, b);
  if (p != q) {
    return p < q;
  }
  int64_t period = x->plan->period, s = x->plan->start[a] % period, t = x->plan->start[b] % period;
  return s != t ? s < t : a < b;
}

/* Gives places: first those of the first phase.  `need` is, per node, how many orders of nodes that
 * have no place yet hold it; PLACED if it has one. */
static void place_ops(const phaser *x, uint32_t *need, fs_modulo_plan *to) {
  uint32_t n = x->n;
  for (uint32_t w = 0; w < x->n_wants; w++) {
    need[x->want[w].to] += is_within(x, &x->want[w]);
  }
  for (uint32_t at = 0; at < n; at++) {
    uint32_t best = FS_NONE;
    for (uint32_t i = 0; i < n; i++) {
      best = need[i] == 0 && (best == FS_NONE || comes_before(x, i, best)) ? i : best;
    }
    assert(best != FS_NONE);
    need[best] = PLACED;
    for (uint32_t w = 0; w < x->n_wants; w++) {
      need[x->want[w].to] -= x->want[w].from == best && is_within(x, &x->want[w]);
    }
    to->shift[best] = (uint32_t)(x->phase[best] / x->k);
    to->start[best] = (int64_t)to->shift[best] * n + at;
  }
  to->period = n;
}

fs_status fs_modulo_phase(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                          const fs_modulo_plan *plan, const fs_modulo_edge *want, uint32_t n_wants,
                          const bool *counting, uint32_t k, uint64_t *phase, fs_modulo_plan *to,
                          bool *possible) {
  assert(plan->copies > 0 && k > 0 && k <= FS_PHASES_MOST);
  uint32_t *need;
  uint32_t nodes = plan->copies * p->n;
  phaser x = {.p = p, .plan = plan, .want = want, .n = nodes, .n_wants = n_wants, .k = k};
  FS_SCRATCH(scratch, ctx);
  FS_TRY(fs_new(&scratch, &x.full, n_wants));
  FS_TRY(fs_new_zero(&scratch, &x.phase, nodes));
  FS_TRY(fs_new_zero(&scratch, &need, nodes));
  *to = *plan;
  FS_TRY(fs_new(arena, &to->start, nodes));
  FS_TRY(fs_new(arena, &to->shift, nodes));
  find_full(&x, counting);
  *possible = find_phases(&x);
  if (*possible) {
    place_ops(&x, need, to);
  }
  if (phase != NULL) {
    memcpy(phase, x.phase, nodes * sizeof *phase);
  }
  return FSCHED_OK;
}
