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

enum { BY_SIZE, BY_AREA, BY_LENGTH, BY_CONFLICTS, BY_BEGIN, ORDERS };
enum { ROUNDS = 400, LOOK = 64 }; /* rectangles from one question whether to stop to the next */

typedef struct address_span {
  uint64_t low, high;
} address_span;

/* A rectangle that is placed. */
typedef struct placed_span {
  uint64_t low, high;  /* addresses */
  uint64_t begin, end; /* times */
} placed_span;

typedef struct greedy {
  const fs_parcel *c;
  uint64_t *address; /* FS_UNBOUNDED: not placed yet */
  uint64_t *best;
  uint64_t *weight; /* per rectangle: those with a larger weight come earlier */
  uint32_t *order;
  address_span *taken;
  placed_span *placed; /* all that are placed, by address; NULL: conflicts are few, and sorted */
  uint32_t n_placed;
  uint64_t peak, steps, most_steps;
} greedy;

enum { SCANS = 8 }; /* of this many placed ones are looked at in the time that one is sorted */

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

static uint32_t list_placed(greedy *g, uint32_t i) {
  const uint64_t begin = g->c->begin[i], end = g->c->end[i];
  uint32_t n = 0;
  for (uint32_t k = 0; k < g->n_placed; k++) {
    const placed_span *x = &g->placed[k];
    g->taken[n] = (address_span){x->low, x->high};
    n += x->begin < end && begin < x->end;
  }
  g->steps += g->n_placed / SCANS + 1;
  return n;
}

/* Lists the places that conflict with rectangle i, by address. */
static uint32_t list_taken(greedy *g, uint32_t i) {
  assert(i < g->c->n);
  const fs_parcel *c = g->c;
  uint32_t n = 0;
  if (g->placed != NULL) {
    return list_placed(g, i);
  }
  for (uint32_t k = c->other0[i]; k < c->other0[i + 1]; k++) {
    uint32_t o = c->other[k];
    if (g->address[o] != FS_UNBOUNDED) {
      g->taken[n++] = (address_span){g->address[o], g->address[o] + c->size[o]};
    }
  }
  if (n > 1) {
    qsort(g->taken, n, sizeof *g->taken, by_low);
  }
  g->steps += c->other0[i + 1] - c->other0[i] + 2 * (uint64_t)n;
  return n;
}

static void keep_placed(greedy *g, uint32_t i) {
  const fs_parcel *c = g->c;
  uint64_t low = g->address[i];
  uint32_t first = 0, last = g->n_placed;
  while (first < last) {
    uint32_t middle = first + (last - first) / 2;
    if (g->placed[middle].low < low) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  memmove(g->placed + first + 1, g->placed + first, (g->n_placed - first) * sizeof *g->placed);
  g->placed[first] = (placed_span){low, low + c->size[i], c->begin[i], c->end[i]};
  g->n_placed++;
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
  uint64_t shared = g->c->any_together ? shared_place(g, i) : FS_UNBOUNDED;
  if (shared != FS_UNBOUNDED) {
    return shared;
  }
  uint32_t n = list_taken(g, i);
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

/* Is another placement known, and an end wanted? */
static bool is_stopped(const greedy *g) {
  return g->peak != FS_UNBOUNDED && g->c->stop != NULL && g->c->stop(g->c->user);
}

/* Makes one placement in the present order, and keeps it if it is the best so far.  *peak is the
 * peak of this placement; FS_UNBOUNDED: there is none, or it was stopped. */
static void place_all(greedy *g, bool tight, uint64_t *peak) {
  const fs_parcel *c = g->c;
  *peak = 0;
  g->n_placed = 0;
  memset(g->address, 0xFF, c->n * sizeof *g->address);
  for (uint32_t k = 0; k < c->n; k++) {
    uint32_t i = g->order[k];
    bool given = c->given[i] != FS_UNBOUNDED;
    if ((given && !may_lie(g, i, c->given[i])) || (k % LOOK == 0 && is_stopped(g))) {
      *peak = FS_UNBOUNDED;
      return;
    }
    g->address[i] = given ? c->given[i] : find_place(g, i, tight);
    *peak = fs_max(*peak, g->address[i] + c->size[i]);
    if (g->placed != NULL) {
      keep_placed(g, i);
    }
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
    for (uint32_t k = 0; order == BY_CONFLICTS && k < c->other0[i + 1] - c->other0[i]; k++) {
      near += c->size[c->other[c->other0[i] + k]];
    }
    g->weight[i] = order == BY_SIZE        ? c->size[i]
                   : order == BY_AREA      ? product(c->size[i], length)
                   : order == BY_LENGTH    ? length
                   : order == BY_CONFLICTS ? near
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

static fs_status place_greedily(greedy *g, uint64_t enough, bool improve) {
  uint64_t peak;
  for (int order = 0; order < ORDERS && g->peak > enough && g->steps < g->most_steps; order++) {
    if (order == BY_CONFLICTS && g->c->other0 == NULL) {
      continue;
    }
    weigh(g, order);
    FS_TRY(sort_order(g));
    for (int tight = 0; tight < 2 && g->peak > enough; tight++) {
      place_all(g, tight, &peak);
    }
  }
  weigh(g, BY_AREA);
  FS_TRY(sort_order(g));
  for (uint32_t round = 0;
       improve && round < ROUNDS && g->peak > enough && g->steps < g->most_steps; round++) {
    place_all(g, round % 2, &peak);
    if (peak == FS_UNBOUNDED) {
      break;
    }
    raise_weights(g, peak);
    FS_TRY(sort_order(g));
  }
  return FSCHED_OK;
}

fs_status fs_parcel_greedy(const fs_parcel *p, uint64_t enough, bool improve, uint64_t *address,
                           uint64_t *peak) {
  assert(p->n > 0 && (p->other0 != NULL || (!p->any_given && !p->any_together)));
  greedy g = {.c = p, .best = address, .peak = FS_UNBOUNDED};
  const fs_limits *limits = fs_limits_of(p->ctx);
  g.most_steps = p->n <= limits->search_rectangles ? limits->greedy_steps : limits->scan_steps;
  if (p->other0 == NULL || p->other0[p->n] / p->n > p->n / SCANS) {
    FS_TRY(fs_new(p->arena, &g.placed, (size_t)p->n + 1));
  }
  memset(address, 0, p->n * sizeof *address);
  FS_TRY(fs_new(p->arena, &g.address, p->n));
  FS_TRY(fs_new(p->arena, &g.weight, p->n));
  FS_TRY(fs_new(p->arena, &g.order, p->n));
  FS_TRY(fs_new(p->arena, &g.taken, (size_t)p->n + 1));
  FS_TRY(place_greedily(&g, enough, improve));
  *peak = g.peak;
  return FSCHED_OK;
}
