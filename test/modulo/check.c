/* SPDX-License-Identifier: Apache-2.0 */
/* Runs some hundred iterations.  Everything is said of commands, which are ops of iterations:
 * command it * n + op.  What is before the first iteration is over. */
#include <check.h>
#include <stdlib.h>

#include "base/radix.h"
#include "modulo/brute.h"

enum { ITERATIONS = 240, HALF = ITERATIONS / 2 };

typedef struct plan_run {
  const fs_modulo_problem *p;
  const fs_modulo_plan *plan;
  uint64_t n;       /* commands */
  uint64_t *order;  /* by planned start */
  int64_t *start;   /* per command */
  uint64_t *queues; /* per op of a copy: a set */
  uint64_t *lanes;  /* the same, lanes of all resources */
} plan_run;

static uint64_t row_of(const plan_run *r, uint64_t command) {
  uint64_t it = command / r->p->n;
  return it % r->plan->copies * r->p->n + command % r->p->n;
}

static int64_t planned(const plan_run *r, uint64_t command) {
  int64_t turns = (int64_t)(command / r->p->n / r->plan->copies);
  return (r->plan->start[row_of(r, command)] + turns * r->plan->period) / r->plan->scale;
}

static void fill_tracks(plan_run *r) {
  const fs_modulo_problem *p = r->p;
  uint64_t rows = (uint64_t)r->plan->copies * p->n;
  r->queues = calloc(rows, sizeof *r->queues);
  r->lanes = calloc(rows, sizeof *r->lanes);
  for (uint64_t x = 0; x < rows; x++) {
    uint64_t i = x % p->n;
    bool gang = p->gang != NULL && p->gang[i], eligible = false;
    for (uint32_t k = p->eligible0[i]; k < p->eligible0[i + 1]; k++) {
      eligible |= p->eligible[k] == r->plan->queue[x];
      r->queues[x] |= gang ? UINT64_C(1) << p->eligible[k] : 0;
    }
    ck_assert(eligible);
    r->queues[x] |= UINT64_C(1) << r->plan->queue[x];
    uint32_t at = r->plan->lane0[x];
    for (uint32_t k = p->use0 == NULL ? 0 : p->use0[i]; p->use0 != NULL && k < p->use0[i + 1];
         k++) {
      uint32_t first = 0;
      for (uint32_t m = 0; m < p->use[k].resource; m++) {
        first += p->lanes[m];
      }
      for (uint32_t c = 0; c < p->use[k].amount; c++, at++) {
        ck_assert_uint_lt(r->plan->lane[at], p->lanes[p->use[k].resource]);
        r->lanes[x] |= UINT64_C(1) << (first + r->plan->lane[at]);
      }
    }
    ck_assert_uint_eq(at, r->plan->lane0[x + 1]);
    ck_assert_uint_eq(r->plan->lane0[x + 1] - r->plan->lane0[x],
                      (unsigned)__builtin_popcountll(r->lanes[x]));
  }
}

static void sort_commands(plan_run *r) {
  r->n = (uint64_t)ITERATIONS * r->p->n;
  r->order = calloc(2 * r->n, sizeof *r->order);
  for (uint64_t c = 0; c < r->n; c++) {
    r->order[c] = (uint64_t)planned(r, c) << 24 | c;
  }
  fs_radix_sort_block(r->order, r->n);
  for (uint64_t c = 0; c < r->n; c++) {
    r->order[c] &= 0xffffff;
  }
}

static int64_t end_of(const plan_run *r, uint64_t c) {
  return r->start[c] + (int64_t)r->p->latency[c % r->p->n];
}

/* When a wait for a command is over. */
static int64_t wait_end(const plan_run *r, const uint64_t *over, uint64_t c, uint64_t to) {
  uint64_t i = c % r->p->n, mine = r->queues[row_of(r, c)];
  bool needs = (mine & r->queues[row_of(r, to)]) == 0 || r->p->latency[i] > r->p->time[i];
  return needs && r->p->held_back ? (int64_t)over[c] : end_of(r, c);
}

typedef struct run_state {
  int64_t free_queue[64], held[64]; /* per queue: last start + time; latest end so far */
  uint64_t last_lane[64];           /* per lane: the last command + 1 */
  uint64_t *over; /* per command: when all before it on its queues, and it, are over */
} run_state;

static void raise_start(int64_t *start, int64_t least) { *start = least > *start ? least : *start; }

/* The earliest start of a command, once those before it are known. */
static int64_t earliest(const plan_run *r, const run_state *s, uint64_t c) {
  const fs_modulo_problem *p = r->p;
  uint64_t i = c % p->n, it = c / p->n, row = row_of(r, c);
  int64_t start = 0;
  for (uint32_t q = 0; q < 64; q++) {
    raise_start(&start, (r->queues[row] >> q & 1) != 0 ? s->free_queue[q] : 0);
  }
  for (uint32_t k = 0; k < 64; k++) {
    if ((r->lanes[row] >> k & 1) != 0 && s->last_lane[k] != 0) {
      raise_start(&start, wait_end(r, s->over, s->last_lane[k] - 1, c));
    }
  }
  for (uint32_t e = 0; e < p->n_edges; e++) {
    if (p->edge[e].to == i && p->edge[e].distance <= it) {
      uint64_t from = (it - p->edge[e].distance) * p->n + p->edge[e].from;
      raise_start(&start, wait_end(r, s->over, from, c));
    }
  }
  for (uint32_t x = 0; x < p->n_rings; x++) {
    if (p->ring[x].writer != i) {
      continue;
    }
    int64_t old = (int64_t)it - r->plan->depth[x]; /* the version that is overwritten */
    for (uint32_t k = p->reader0[x]; k < p->reader0[x + 1]; k++) {
      int64_t at = old + p->reader[k].back;
      if (at >= 0 && at < ITERATIONS) {
        uint64_t from = (uint64_t)at * p->n + p->reader[k].op;
        raise_start(&start, wait_end(r, s->over, from, c));
      }
    }
    for (uint32_t k = p->reader0[x], g = p->ring[x].every; k < p->reader0[x + 1] && g > 1; k++) {
      int64_t at = old + g - 1 + p->reader[k].back;
      if (old % g == 0 && at >= 0) {
        uint64_t from = (uint64_t)at * p->n + p->reader[k].op;
        raise_start(&start, wait_end(r, s->over, from, c));
      }
    }
    if (old >= 0) {
      raise_start(&start, wait_end(r, s->over, (uint64_t)old * p->n + i, c));
    }
    /* What is there on entry is read by then; and all iterations of a copy wait alike. */
    bool waits = p->ring[x].in_place && (old + 1) % (int64_t)r->plan->copies == 0;
    int64_t most = r->plan->depth[x] - 1;
    int64_t n = old == -1 || most < r->plan->copies ? most : r->plan->copies;
    for (int64_t back = 1; waits && back <= n && back <= (int64_t)it; back++) {
      raise_start(&start, wait_end(r, s->over, (it - (uint64_t)back) * p->n + i, c));
    }
  }
  return start;
}

static void run_command(plan_run *r, run_state *s, uint64_t c) {
  uint64_t row = row_of(r, c), i = c % r->p->n;
  r->start[c] = earliest(r, s, c);
  int64_t over = end_of(r, c);
  for (uint32_t q = 0; q < 64; q++) {
    if ((r->queues[row] >> q & 1) != 0) {
      s->free_queue[q] = r->start[c] + (int64_t)r->p->time[i];
      s->held[q] = end_of(r, c) > s->held[q] ? end_of(r, c) : s->held[q];
      over = s->held[q] > over ? s->held[q] : over;
    }
  }
  for (uint32_t k = 0; k < 64; k++) {
    s->last_lane[k] = (r->lanes[row] >> k & 1) != 0 ? c + 1 : s->last_lane[k];
  }
  s->over[c] = (uint64_t)over;
}

/* Commands that start as soon as they can are never late, and take the interval in the long run. */
static void check_run(plan_run *r) {
  run_state s = {.over = calloc(r->n, sizeof *s.over)};
  int64_t most = 0, total = 0;
  for (uint64_t k = 0; k < r->n; k++) {
    uint64_t c = r->order[k];
    run_command(r, &s, c);
    if (r->start[c] > planned(r, c)) {
      ck_abort_msg("op %u of iteration %u starts at %ld, not at %ld", (unsigned)(c % r->p->n),
                   (unsigned)(c / r->p->n), (long)r->start[c], (long)planned(r, c));
    }
  }
  for (uint32_t i = 0; i < r->p->n; i++) {
    uint64_t late = (uint64_t)(ITERATIONS - 1) * r->p->n + i;
    int64_t grown = r->start[late] - r->start[late - (uint64_t)HALF * r->p->n];
    most = grown > most ? grown : most;
    total += (int64_t)r->p->latency[i];
  }
  int64_t least = (HALF - 1) * r->plan->ii.num / r->plan->ii.den - total * r->plan->copies;
  ck_assert_msg(most >= least, "%d iterations take %ld, not %ld", HALF, (long)most, (long)least);
  free(s.over);
}

/* Where a writer shares a queue with a reader of its iteration, as many of its later iterations
 * start before that as the ring says. */
static void check_ahead(const plan_run *r) {
  const fs_modulo_problem *p = r->p;
  for (uint32_t x = 0; x < p->n_rings; x++) {
    for (uint32_t k = p->reader0[x]; p->ring[x].ahead > 0 && k < p->reader0[x + 1]; k++) {
      for (uint64_t it = 0; it < HALF && p->reader[k].back == 0; it++) {
        uint64_t reader = it * p->n + p->reader[k].op;
        uint64_t last = (it + p->ring[x].ahead - 1) * p->n + p->ring[x].writer;
        uint64_t own = r->queues[row_of(r, reader)];
        if (p->reader[k].op == p->ring[x].writer) {
          break;
        }
        ck_assert((own & r->queues[row_of(r, last)]) == 0 || planned(r, last) < planned(r, reader));
        ck_assert((own & r->queues[row_of(r, last + p->n)]) == 0 ||
                  planned(r, last + p->n) > planned(r, reader));
      }
    }
  }
}

static void check_memory(const fs_modulo_problem *p, const fs_modulo_plan *plan) {
  for (uint32_t m = 0; m < p->n_memories; m++) {
    uint64_t bytes = 0;
    for (uint32_t x = 0; x < p->n_rings; x++) {
      bytes += p->ring[x].memory == m ? p->ring[x].size * plan->depth[x] : 0;
      ck_assert(p->ring[x].depth == 0 || p->ring[x].depth == plan->depth[x]);
      ck_assert(p->ring[x].most == 0 || p->ring[x].depth != 0 || plan->depth[x] <= p->ring[x].most);
    }
    ck_assert_uint_eq(bytes, plan->bytes[m]);
    ck_assert_uint_le(bytes, p->capacity[m]);
  }
}

/* What is at a bound is proven. */
static void check_claim(const fs_modulo_plan *plan) {
  const fs_modulo_ratio *a = &plan->bounds.resource, *b = &plan->bounds.recurrence;
  bool at_bound = (plan->ii.num == a->num && plan->ii.den == a->den) ||
                  (plan->ii.num == b->num && plan->ii.den == b->den);
  ck_assert(plan->proven || !at_bound);
}

void fs_modulo_check(const fs_modulo_problem *p, const fs_modulo_plan *plan) {
  plan_run r = {.p = p, .plan = plan};
  ck_assert_int_eq(plan->found.is, FS_YES);
  ck_assert_int_eq(plan->period * plan->ii.den, plan->ii.num * plan->scale * plan->copies);
  fill_tracks(&r);
  sort_commands(&r);
  r.start = calloc(r.n, sizeof *r.start);
  check_run(&r);
  check_ahead(&r);
  check_memory(p, plan);
  check_claim(plan);
  free(r.start);
  free(r.order);
  free(r.queues);
  free(r.lanes);
}
