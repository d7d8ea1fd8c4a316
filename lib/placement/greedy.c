/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy placements: rectangles in some order, each at the lowest address where it fits, or in the
 * smallest gap; a rectangle that may share the place of another does so where no third is in the
 * way.
 *
 * After the plain orders (by size, area, length, conflicts, begin) the best is improved: rectangles
 * that reach the peak move to earlier places in the order (the squeaky wheel; Joslin and Clements
 * 1999), a limited number of times. */
#include <stdlib.h>

#include "placement/private.h"

enum { ORDERS = 8, ROUNDS = 400 };

typedef struct address_span {
  uint64_t low, high;
} address_span;

typedef struct greedy {
  const fs_parcel *c;
  uint64_t *address; /* FS_UNBOUNDED: not placed yet */
  uint64_t *best;
  uint64_t *weight; /* per rectangle: those with a larger weight come earlier */
  uint32_t *order;
  address_span *taken;
  uint64_t peak, steps, most_steps;
} greedy;

typedef struct weighed_parcel {
  uint64_t given, weight, size;
  uint32_t id;
} weighed_parcel;

static int by_weight(const void *a, const void *b) {
  const weighed_parcel *x = a, *y = b;
  if (x->given != y->given) {
    return x->given > y->given ? -1 : 1;
  }
  if (x->weight != y->weight) {
    return x->weight > y->weight ? -1 : 1;
  }
  if (x->size != y->size) {
    return x->size > y->size ? -1 : 1;
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

static fs_status sort_order(greedy *g) {
  weighed_parcel *at;
  fs_arena_mark mark = fs_arena_set_mark(g->c->arena);
  FS_TRY(fs_new(g->c->arena, &at, g->c->n));
  for (uint32_t i = 0; i < g->c->n; i++) {
    at[i] = (weighed_parcel){g->c->given[i] != FS_UNBOUNDED, g->weight[i], g->c->size[i], i};
  }
  qsort(at, g->c->n, sizeof *at, by_weight);
  for (uint32_t i = 0; i < g->c->n; i++) {
    g->order[i] = at[i].id;
  }
  fs_arena_reset(g->c->arena, mark);
  return FSCHED_OK;
}

/* Entries that compare equal are equal in every member. */
static int by_low(const void *a, const void *b) {
  const address_span *x = a, *y = b;
  return x->low != y->low ? (x->low < y->low ? -1 : 1) : (x->high > y->high) - (x->high < y->high);
}

/* Lists the places that conflict with rectangle i, by address.  Of the rectangles that i may share
 * a place with, only `except` is left out. */
static uint32_t list_taken(greedy *g, uint32_t i, uint32_t except) {
  assert(i < g->c->n && except != i);
  const fs_parcel *c = g->c;
  uint32_t n = 0;
  for (uint32_t k = c->other0[i]; k < c->other0[i + 1]; k++) {
    uint32_t o = c->other[k];
    if (g->address[o] != FS_UNBOUNDED && o != except) {
      g->taken[n++] = (address_span){g->address[o], g->address[o] + c->size[o]};
    }
  }
  if (n > 1) {
    qsort(g->taken, n, sizeof *g->taken, by_low);
  }
  g->steps += c->other0[i + 1] - c->other0[i] + 2 * (uint64_t)n;
  return n;
}

/* An address that i may share with a rectangle placed before, and that is free of all others. */
static uint64_t shared_place(greedy *g, uint32_t i) {
  const fs_parcel *c = g->c;
  uint64_t best = FS_UNBOUNDED;
  for (uint32_t k = c->other0[i]; k < c->other0[i + 1]; k++) {
    uint64_t low = g->address[c->other[k]];
    bool free = c->together[k] && low < best;
    for (uint32_t m = c->other0[i]; free && m < c->other0[i + 1]; m++) {
      uint32_t o = c->other[m];
      bool same = c->together[m] && g->address[o] == low;
      free = same || g->address[o] == FS_UNBOUNDED || g->address[o] + c->size[o] <= low ||
             g->address[o] >= low + c->size[i];
    }
    best = free ? low : best;
  }
  return best;
}

static uint64_t find_place(greedy *g, uint32_t i, bool tight) {
  assert(i < g->c->n);
  uint64_t low = 0, gap = FS_UNBOUNDED, best = FS_UNBOUNDED, size = g->c->size[i];
  uint64_t shared = shared_place(g, i);
  if (shared != FS_UNBOUNDED) {
    return shared;
  }
  uint32_t n = list_taken(g, i, FS_NONE);
  for (uint32_t k = 0; k < n; k++) {
    const address_span *s = &g->taken[k];
    if (s->low >= low && s->low - low >= size && s->low - low < gap) {
      best = low;
      gap = s->low - low;
      if (!tight) {
        return best;
      }
    }
    low = fs_max(low, s->high);
  }
  return best == FS_UNBOUNDED ? low : best;
}

/* May rectangle i lie at its given address? */
static bool may_lie(greedy *g, uint32_t i, uint64_t low) {
  assert(g->c->given[i] == low);
  const fs_parcel *c = g->c;
  for (uint32_t k = c->other0[i]; k < c->other0[i + 1]; k++) {
    uint64_t at = g->address[c->other[k]];
    bool apart = at == FS_UNBOUNDED || at + c->size[c->other[k]] <= low || at >= low + c->size[i];
    if (!apart && !(c->together[k] && at == low)) {
      return false;
    }
  }
  return true;
}

/* Makes one placement in the present order, and keeps it if it is the best so far.  *peak is the
 * peak of this placement. */
static void place_all(greedy *g, bool tight, uint64_t *peak) {
  const fs_parcel *c = g->c;
  *peak = 0;
  memset(g->address, 0xFF, c->n * sizeof *g->address);
  for (uint32_t k = 0; k < c->n; k++) {
    uint32_t i = g->order[k];
    bool given = c->given[i] != FS_UNBOUNDED;
    if (given && !may_lie(g, i, c->given[i])) {
      *peak = FS_UNBOUNDED;
      return;
    }
    g->address[i] = given ? c->given[i] : find_place(g, i, tight);
    *peak = fs_max(*peak, g->address[i] + c->size[i]);
  }
  if (*peak < g->peak) {
    g->peak = *peak;
    memcpy(g->best, g->address, c->n * sizeof *g->best);
  }
}

static uint64_t product(uint64_t a, uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static void weigh(greedy *g, int order) {
  const fs_parcel *c = g->c;
  for (uint32_t i = 0; i < c->n; i++) {
    uint64_t length = c->end[i] - c->begin[i], near = 0;
    for (uint32_t k = c->other0[i]; k < c->other0[i + 1] && order / 2 == 3; k++) {
      near += c->size[c->other[k]];
    }
    g->weight[i] = order / 2 == 0   ? c->size[i]
                   : order / 2 == 1 ? product(c->size[i], length)
                   : order / 2 == 2 ? length
                   : order == 6     ? near
                                    : FS_UNBOUNDED - c->begin[i];
  }
}

/* Lets the next round place rectangles earlier that reach the peak, or exceed the bound, in this
 * one. */
static void raise_weights(greedy *g, uint64_t peak) {
  const fs_parcel *c = g->c;
  uint32_t *rank = g->order; /* order[] is made anew afterwards */
  for (uint32_t k = 0; k < c->n; k++) {
    g->weight[rank[k]] = (uint64_t)(c->n - k) * 16;
  }
  for (uint32_t i = 0; i < c->n; i++) {
    if (g->address[i] + c->size[i] == peak) {
      g->weight[i] += (uint64_t)c->n * 4 + 24;
    } else if (g->address[i] + c->size[i] > g->c->bound) {
      g->weight[i] += 40;
    }
  }
}

static fs_status place_greedily(greedy *g, uint64_t enough) {
  uint64_t peak;
  for (int order = 0; order < ORDERS && g->peak > enough && g->steps < g->most_steps; order++) {
    weigh(g, order);
    FS_TRY(sort_order(g));
    for (int tight = 0; tight < 2 && g->peak > enough; tight++) {
      place_all(g, tight, &peak);
    }
  }
  weigh(g, 2);
  FS_TRY(sort_order(g));
  for (uint32_t round = 0; round < ROUNDS && g->peak > enough && g->steps < g->most_steps;
       round++) {
    place_all(g, round % 2, &peak);
    if (peak == FS_UNBOUNDED) {
      break;
    }
    raise_weights(g, peak);
    FS_TRY(sort_order(g));
  }
  return FSCHED_OK;
}

fs_status fs_parcel_greedy(const fs_parcel *p, uint64_t enough, uint64_t *address, uint64_t *peak) {
  assert(p->n > 0 && p->other0 != NULL);
  greedy g = {.c = p, .best = address, .peak = FS_UNBOUNDED};
  g.most_steps = fs_limits_of(p->ctx)->greedy_steps;
  memset(address, 0, p->n * sizeof *address);
  FS_TRY(fs_new(p->arena, &g.address, p->n));
  FS_TRY(fs_new(p->arena, &g.weight, p->n));
  FS_TRY(fs_new(p->arena, &g.order, p->n));
  FS_TRY(fs_new(p->arena, &g.taken, p->n));
  FS_TRY(place_greedily(&g, enough));
  *peak = g.peak;
  return FSCHED_OK;
}
