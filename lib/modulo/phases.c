/* SPDX-License-Identifier: Apache-2.0 */
/* Phases are the earliest: longest paths, by rounds over all orders, until nothing changes.  In a
 * phase an op comes when all are placed that must come before it there, the one first that the plan
 * starts first. */
#include "modulo/phases.h"

#include "base/context.h"

#define PLACED UINT32_MAX

typedef struct phaser {
  const fs_modulo_problem *p;
  const fs_modulo_plan *plan;
  const fs_modulo_edge *want;
  uint32_t n_wants, k;
  bool *full;      /* per order: a full sync has to say it */
  uint64_t *phase; /* per op */
} phaser;

static const uint32_t *queues_of(const phaser *x, uint32_t op, uint32_t *n) {
  const fs_modulo_problem *p = x->p;
  bool gang = p->gang != NULL && p->gang[op];
  *n = gang ? p->eligible0[op + 1] - p->eligible0[op] : 1;
  return gang ? p->eligible + p->eligible0[op] : &x->plan->queue[op];
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
    uint32_t n;
    const uint32_t *queue = queues_of(x, x->want[w].from, &n);
    bool counted = counting != NULL && counting[queue[0]];
    bool slow = x->p->latency[x->want[w].from] > x->p->time[x->want[w].from];
    x->full[w] = !counted && (slow || !share_queue(x, x->want[w].from, x->want[w].to));
  }
}

/* Raises phases in one round; whether any changed. */
static bool raise_phases(const phaser *x) {
  bool changed = false;
  for (uint32_t w = 0; w < x->n_wants; w++) {
    const fs_modulo_edge *e = &x->want[w];
    uint64_t least = x->phase[e->from] + x->full[w];
    if (x->phase[e->to] + (uint64_t)x->k * e->distance < least) {
      x->phase[e->to] = least - (uint64_t)x->k * e->distance;
      changed = true;
    }
  }
  return changed;
}

static bool find_phases(const phaser *x) {
  uint32_t rounds = 0;
  while (rounds <= x->p->n && raise_phases(x)) {
    rounds++;
  }
  return rounds <= x->p->n;
}

/* The phase of a step. */
static uint64_t part_of(const phaser *x, uint32_t op) { return x->phase[op] % x->k; }

/* Whether an order is one of ops in the same phase. */
static bool is_within(const phaser *x, const fs_modulo_edge *e) {
  return x->phase[e->to] + (uint64_t)x->k * e->distance == x->phase[e->from] && e->from != e->to;
}

static bool comes_before(const phaser *x, uint32_t a, uint32_t b) {
  uint64_t p = part_of(x, a), q = part_of(x, b);
  if (p != q) {
    return p < q;
  }
  int64_t period = x->plan->period, s = x->plan->start[a] % period, t = x->plan->start[b] % period;
  return s != t ? s < t : a < b;
}

/* Gives places: first those of the first phase.  `need` is, per op, how many orders of ops that
 * have no place yet hold it; PLACED if it has one. */
static void place_ops(const phaser *x, uint32_t *need, fs_modulo_plan *to) {
  uint32_t n = x->p->n;
  for (uint32_t w = 0; w < x->n_wants; w++) {
    need[x->want[w].to] += is_within(x, &x->want[w]);
  }
  for (uint32_t at = 0; at < n; at++) {
    uint32_t best = FS_NONE;
    for (uint32_t op = 0; op < n; op++) {
      best = need[op] == 0 && (best == FS_NONE || comes_before(x, op, best)) ? op : best;
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
  assert(plan->copies == 1 && k > 0 && k <= FS_PHASES_MOST);
  uint32_t *need;
  phaser x = {.p = p, .plan = plan, .want = want, .n_wants = n_wants, .k = k};
  FS_SCRATCH(scratch, ctx);
  FS_TRY(fs_new(&scratch, &x.full, n_wants));
  FS_TRY(fs_new_zero(&scratch, &x.phase, p->n));
  FS_TRY(fs_new_zero(&scratch, &need, p->n));
  *to = *plan;
  FS_TRY(fs_new(arena, &to->start, p->n));
  FS_TRY(fs_new(arena, &to->shift, p->n));
  find_full(&x, counting);
  *possible = find_phases(&x);
  if (*possible) {
    place_ops(&x, need, to);
  }
  if (phase != NULL) {
    memcpy(phase, x.phase, p->n * sizeof *phase);
  }
  return FSCHED_OK;
}
