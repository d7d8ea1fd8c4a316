/* SPDX-License-Identifier: Apache-2.0 */
/* Placement in parts: sets of rectangles that no overlap of lifetimes connects are placed
 * independently.  Times are doubled, [b, e) to [2b + 1, 2e) and an instant t to [2t, 2t + 1), so
 * that an instant overlaps lifetimes that enclose it and equal instants; of several instants at one
 * time only the largest is placed, and the others get its address.
 *
 * Where conflicts are too many to be listed, the rectangles are placed by begin, each at the best
 * of the gaps between those that live then. */
#include <stdlib.h>

#include "base/group.h"
#include "placement/private.h"

typedef struct placed_item {
  uint64_t begin, end, size;
  uint32_t id;
  uint32_t pinned; /* in a pair, or given: not merged */
} placed_item;

typedef struct placing {
  fsched_context *ctx;
  const fs_placement *p;
  fs_arena *arena;
  uint64_t *address;
  uint32_t n;      /* number of rectangles that are placed */
  placed_item *at; /* by begin */
  uint64_t *size, *begin, *end, *given;
  uint32_t *slot;         /* per rectangle: its index in at[], or FS_NONE */
  uint32_t *leader;       /* per rectangle: the one whose address it gets, or FS_NONE */
  uint32_t *pair0, *pair; /* CSR per slot: slots it may share with */
  uint64_t bound, nodes;
  bool lowest, exact;
  bool found, refuted; /* refuted: one part cannot be within the capacity */
} placing;

static int by_begin(const void *a, const void *b) {
  const placed_item *x = a, *y = b;
  if (x->begin != y->begin) {
    return x->begin < y->begin ? -1 : 1;
  }
  if (x->end != y->end) {
    return x->end < y->end ? -1 : 1;
  }
  if (x->pinned != y->pinned) {
    return x->pinned < y->pinned ? -1 : 1;
  }
  if (x->size != y->size) {
    return x->size > y->size ? -1 : 1;
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

static bool has_address(const fs_placement *p, uint32_t i) {
  assert(i < p->n);
  return p->given != NULL && p->given[i] != FS_UNBOUNDED;
}

/* May the two rectangles of a pair share during all of the time when both live? */
static bool pair_holds(const fs_placement *p, uint32_t k) {
  assert(k < p->n_pairs);
  uint32_t a = p->pair_a[k], b = p->pair_b[k];
  return p->size[a] == p->size[b] && fs_max(p->begin[a], p->begin[b]) >= p->pair_from[k] &&
         fs_min(p->end[a], p->end[b]) <= p->pair_to[k];
}

/* ---- rectangles that are placed */

static fs_status list_items(placing *l) {
  const fs_placement *p = l->p;
  uint8_t *paired;
  FS_TRY(fs_new_zero(l->arena, &paired, p->n));
  FS_TRY(fs_new(l->arena, &l->at, p->n));
  FS_TRY(fs_new_none(l->arena, &l->slot, p->n));
  FS_TRY(fs_new_none(l->arena, &l->leader, p->n));
  for (uint32_t k = 0; k < p->n_pairs; k++) {
    paired[p->pair_a[k]] = paired[p->pair_b[k]] = 1;
  }
  for (uint32_t i = 0; i < p->n; i++) {
    bool instant = p->begin[i] == p->end[i];
    assert(p->begin[i] <= p->end[i]);
    l->address[i] = has_address(p, i) ? p->given[i] : 0;
    if (p->size[i] > 0) {
      l->at[l->n++] = (placed_item){.begin = 2 * p->begin[i] + !instant,
                                    .end = 2 * p->end[i] + instant,
                                    .size = p->size[i],
                                    .id = i,
                                    .pinned = paired[i] || has_address(p, i)};
    }
  }
  if (l->n > 1) {
    qsort(l->at, l->n, sizeof *l->at, by_begin);
  }
  return FSCHED_OK;
}

/* Lets items that live at the same instant only share the address of the largest of them. */
static void merge_instants(placing *l) {
  uint32_t n = 0;
  l->exact = true;
  for (uint32_t i = 0; i < l->n; i++) {
    const placed_item *x = &l->at[i];
    bool instant = x->end == x->begin + 1 && x->begin % 2 == 0;
    bool same = instant && n > 0 && l->at[n - 1].begin == x->begin && l->at[n - 1].end == x->end;
    if (same && !x->pinned && !l->at[n - 1].pinned) {
      l->leader[x->id] = l->at[n - 1].id;
      continue;
    }
    l->exact = l->exact && !same; /* they are kept apart, although they need not be */
    l->slot[x->id] = n;
    l->at[n++] = *x;
  }
  l->n = n;
}

static fs_status file_items(placing *l) {
  FS_TRY(fs_new(l->arena, &l->size, l->n));
  FS_TRY(fs_new(l->arena, &l->begin, l->n));
  FS_TRY(fs_new(l->arena, &l->end, l->n));
  FS_TRY(fs_new(l->arena, &l->given, l->n));
  for (uint32_t i = 0; i < l->n; i++) {
    uint32_t id = l->at[i].id;
    l->size[i] = l->at[i].size;
    l->begin[i] = l->at[i].begin;
    l->end[i] = l->at[i].end;
    l->given[i] = has_address(l->p, id) ? l->p->given[id] : FS_UNBOUNDED;
  }
  return FSCHED_OK;
}

static fs_status list_pairs(placing *l) {
  const fs_placement *p = l->p;
  uint32_t *fill;
  FS_TRY(fs_new_zero(l->arena, &l->pair0, (size_t)l->n + 2));
  FS_TRY(fs_new(l->arena, &l->pair, 2 * (size_t)p->n_pairs));
  for (int pass = 0; pass < 2; pass++) {
    fill = l->pair0 + (pass == 0 ? 2 : 1);
    for (uint32_t k = 0; k < p->n_pairs; k++) {
      uint32_t a = l->slot[p->pair_a[k]], b = l->slot[p->pair_b[k]];
      if (a == FS_NONE || b == FS_NONE || !pair_holds(p, k)) {
        continue;
      }
      if (pass == 1) {
        l->pair[fill[a]] = b;
        l->pair[fill[b]] = a;
      }
      fill[a]++;
      fill[b]++;
    }
    if (pass == 0) {
      fs_group_sum(l->pair0, l->n);
    }
  }
  return FSCHED_OK;
}

/* ---- bound */

static bool is_instant(const placing *l, uint32_t i) {
  return l->begin[i] % 2 == 0 && l->end[i] == l->begin[i] + 1;
}

typedef struct size_change {
  uint64_t time, size;
  bool begins;
} size_change;

/* Changes that compare equal are equal in every member. */
static int by_time(const void *a, const void *b) {
  const size_change *x = a, *y = b;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  if (x->begins != y->begins) {
    return x->begins < y->begins ? -1 : 1;
  }
  return (x->size > y->size) - (x->size < y->size);
}

/* Of two rectangles that may share, only the first to begin counts while both live. */
static uint64_t counted_from(const placing *l, uint32_t i) {
  assert(i < l->n);
  uint64_t from = l->begin[i];
  for (uint32_t k = l->pair0[i]; k < l->pair0[i + 1]; k++) {
    uint32_t other = l->pair[k];
    if (other < i) { /* by begin */
      from = fs_max(from, fs_min(l->end[i], l->end[other]));
    }
  }
  return from;
}

static fs_status find_bound(placing *l) {
  size_change *at;
  uint64_t live = 0, most = 0;
  uint32_t n = 0;
  FS_TRY(fs_new(l->arena, &at, 2 * (size_t)l->n));
  for (uint32_t i = 0; i < l->n; i++) {
    uint64_t from = counted_from(l, i), size = l->size[i];
    bool same =
        i > 0 && is_instant(l, i) && l->begin[i] == l->begin[i - 1] && l->end[i] == l->end[i - 1];
    size -= same ? fs_min(size, most) : 0; /* of instants at one time the largest counts */
    most = same ? fs_max(most, l->size[i]) : l->size[i];
    l->bound = l->given[i] == FS_UNBOUNDED ? l->bound : fs_max(l->bound, l->given[i] + l->size[i]);
    if (from < l->end[i] && size > 0) {
      at[n++] = (size_change){from, size, true};
      at[n++] = (size_change){l->end[i], size, false};
    }
  }
  if (n > 1) {
    qsort(at, n, sizeof *at, by_time);
  }
  for (uint32_t i = 0; i < n; i++) {
    live = at[i].begins ? live + at[i].size : live - at[i].size;
    l->bound = fs_max(l->bound, live);
  }
  return FSCHED_OK;
}

static fs_status prepare_placing(placing *l) {
  FS_TRY(list_items(l));
  merge_instants(l);
  FS_TRY(file_items(l));
  FS_TRY(list_pairs(l));
  return find_bound(l);
}

static fs_status bound_all(placing *l) {
  FS_TRY(fs_new(l->arena, &l->address, l->p->n));
  return prepare_placing(l);
}

fs_status fs_placement_bound(fsched_context *ctx, const fs_placement *p, uint64_t *bound) {
  assert(p->n == 0 || (p->size != NULL && p->begin[0] <= p->end[0]));
  FS_SCRATCH(arena, ctx);
  placing l = {.ctx = ctx, .p = p, .arena = &arena};
  fs_status status = bound_all(&l);
  *bound = l.bound;
  return status;
}

/* ---- parts */

static bool may_share(const placing *l, uint32_t a, uint32_t b) {
  for (uint32_t k = l->pair0[a]; k < l->pair0[a + 1]; k++) {
    if (l->pair[k] == b) {
      return true;
    }
  }
  return false;
}

/* Conflicts of the slots [first, first + n), which are sorted by begin. */
static fs_status list_conflicts(const placing *l, fs_parcel *c, uint32_t first, bool *listed) {
  uint64_t total = 0, most = fs_limits_of(c->ctx)->conflicts;
  FS_TRY(fs_new_zero(c->arena, &c->other0, (size_t)c->n + 2));
  for (uint32_t i = 0; i < c->n && total <= most; i++) {
    for (uint32_t k = i + 1; k < c->n && c->begin[k] < c->end[i]; k++) {
      c->other0[i + 2]++;
      c->other0[k + 2]++;
      total += 2;
    }
  }
  *listed = total <= most;
  if (!*listed) {
    c->other0 = NULL;
    return FSCHED_OK;
  }
  FS_TRY(fs_new(c->arena, &c->other, total));
  FS_TRY(fs_new(c->arena, &c->together, total));
  fs_group_sum(c->other0, c->n);
  uint32_t *next = c->other0 + 1;
  for (uint32_t i = 0; i < c->n; i++) {
    for (uint32_t k = i + 1; k < c->n && c->begin[k] < c->end[i]; k++) {
      uint8_t together = may_share(l, first + i, first + k);
      c->any_together = c->any_together || together;
      c->together[next[i]] = c->together[next[k]] = together;
      c->other[next[i]++] = k;
      c->other[next[k]++] = i;
    }
  }
  return FSCHED_OK;
}

static bool is_stopped(const fs_parcel *c) { return c->stop != NULL && c->stop(c->user); }

static bool is_plain(const fs_parcel *c) { return !c->any_given && !c->any_together; }

/* Asks whether there is a placement within `most`, with a share of the nodes; *nodes: those that
 * are left, none if the search has to stop. */
static fs_status ask_part(const fs_parcel *c, uint64_t most, uint64_t share, uint64_t *nodes,
                          uint64_t *address, fs_decision *fits) {
  uint64_t left = share;
  FS_TRY(is_plain(c) ? fs_parcel_niches(c, most, &left, address, fits)
                     : fs_parcel_search(c, most, &left, address, fits));
  *nodes = is_stopped(c) ? 0 : *nodes - (share - left);
  return FSCHED_OK;
}

static uint64_t peak_of(const fs_parcel *c, const uint64_t *address) {
  uint64_t peak = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    peak = fs_max(peak, address[i] + c->size[i]);
  }
  return peak;
}

/* Searches a part: for any placement within the capacity, or for the lowest one.  That is asked for
 * in rounds, with more nodes from round to round: at the bound, then halfway between what is known
 * and what was asked for in vain. */
static fs_status search_part(placing *l, const fs_parcel *c, uint64_t *address, uint64_t *peak,
                             bool *proven) {
  const uint64_t capacity = l->p->capacity, wanted = l->lowest ? 0 : capacity;
  uint64_t *trial, bound = l->bound; /* no peak is below the bound */
  uint64_t nodes = c->n <= fs_limits_of(c->ctx)->search_rectangles ? l->nodes : 0;
  uint64_t share = fs_ceil_div(nodes, (uint64_t)64), least = FS_UNBOUNDED;
  FS_TRY(fs_new(c->arena, &trial, c->n));
  while (*peak > fs_max(wanted, bound) && bound <= capacity && nodes > 0) {
    bool fit = *peak <= capacity;
    uint64_t known = fit ? *peak - 1 : capacity, most;
    fs_decision fits;
    if (!fit) {
      most = capacity;
      share = nodes;
    } else if (least > known) { /* a round begins */
      share = least == FS_UNBOUNDED ? share : 4 * share;
      most = least = bound;
    } else {
      most = least + (known - least) / 2;
    }
    FS_TRY(ask_part(c, most, fs_min(share, nodes), &nodes, trial, &fits));
    if (fits.is == FS_YES) {
      memcpy(address, trial, c->n * sizeof *trial);
      *peak = peak_of(c, address);
    } else {
      bound = fits.is == FS_NO ? most + 1 : bound;
      least = most + 1;
    }
    share = fit ? share : fs_ceil_div(nodes, (uint64_t)64);
    l->nodes = nodes;
  }
  *proven = *peak <= bound || bound > capacity;
  return FSCHED_OK;
}

static fs_status improve(placing *l, const fs_parcel *c, uint64_t enough, uint64_t *address,
                         uint64_t *peak) {
  uint64_t *trial, lower;
  FS_TRY(fs_new(l->arena, &trial, c->n));
  FS_TRY(fs_parcel_greedy(c, enough, true, trial, &lower));
  if (lower < *peak) {
    memcpy(address, trial, c->n * sizeof *trial);
    *peak = lower;
  }
  return FSCHED_OK;
}

/* A search of plain rectangles gains more in the time that greedy placements take to improve, which
 * are only for what it does not find. */
static fs_status place_listed(placing *l, const fs_parcel *c, uint64_t *address, uint64_t *peak,
                              bool *proven) {
  const uint64_t enough = l->lowest ? l->bound : l->p->capacity;
  bool later = is_plain(c) && l->nodes > 0 && c->n <= fs_limits_of(c->ctx)->search_rectangles;
  bool first = !later && !l->p->quick && !is_stopped(c);
  FS_TRY(fs_parcel_greedy(c, enough, first, address, peak));
  FS_TRY(search_part(l, c, address, peak, proven));
  return later && !l->p->quick && *peak > enough && !*proven && !is_stopped(c)
             ? improve(l, c, enough, address, peak)
             : FSCHED_OK;
}

/* Places the rectangles by begin, each at the best gap between those that live then; needs no list
 * of conflicts. */
static fs_status place_by_begin(const fs_parcel *c, uint64_t *address, uint64_t *peak) {
  uint32_t *live, n = 0; /* by address */
  *peak = 0;
  FS_TRY(fs_new(c->arena, &live, c->n));
  for (uint32_t i = 0; i < c->n; i++) {
    uint32_t kept = 0, at = 0;
    for (uint32_t k = 0; k < n; k++) {
      if (c->end[live[k]] > c->begin[i]) {
        live[kept++] = live[k];
      }
    }
    n = kept;
    uint64_t low = 0, best = FS_UNBOUNDED, gap = FS_UNBOUNDED;
    for (uint32_t k = 0; k <= n; k++) {
      uint64_t high = k < n ? address[live[k]] : FS_UNBOUNDED;
      if (high >= low && high - low >= c->size[i] && high - low < gap) {
        gap = high - low;
        best = low;
        at = k;
      }
      low = k < n ? fs_max(low, high + c->size[live[k]]) : low;
    }
    address[i] = best == FS_UNBOUNDED ? low : best;
    at = best == FS_UNBOUNDED ? n : at;
    memmove(live + at + 1, live + at, (n - at) * sizeof *live);
    live[at] = i;
    n++;
    *peak = fs_max(*peak, address[i] + c->size[i]);
  }
  return FSCHED_OK;
}

/* By begin, which is quick, then in other orders if these are not too many to be scanned. */
static fs_status place_unlisted(placing *l, const fs_parcel *c, uint64_t *address, uint64_t *peak) {
  const uint64_t enough = l->lowest ? l->bound : l->p->capacity;
  FS_TRY(place_by_begin(c, address, peak));
  bool few = c->n <= 16 * fs_limits_of(c->ctx)->scan_steps / c->n;
  return *peak > enough && few && !is_stopped(c) ? improve(l, c, enough, address, peak) : FSCHED_OK;
}

static fs_status place_part(placing *l, uint32_t first, uint32_t n, uint64_t *peak) {
  fs_parcel c = {.ctx = l->ctx,
                 .arena = l->arena,
                 .stop = l->p->stop,
                 .user = l->p->user,
                 .n = n,
                 .size = l->size + first,
                 .begin = l->begin + first,
                 .end = l->end + first,
                 .given = l->given + first,
                 .bound = l->bound};
  uint64_t *address;
  bool listed, proven = false;
  for (uint32_t i = 0; i < n; i++) {
    c.any_given = c.any_given || c.given[i] != FS_UNBOUNDED;
  }
  FS_TRY(fs_new(l->arena, &address, n));
  FS_TRY(list_conflicts(l, &c, first, &listed));
  if (listed) {
    FS_TRY(place_listed(l, &c, address, peak, &proven));
  } else if (c.any_given) {
    *peak = FS_UNBOUNDED;
  } else {
    FS_TRY(place_unlisted(l, &c, address, peak));
  }
  l->found = *peak <= l->p->capacity;
  l->refuted = proven && !l->found && l->exact;
  if (proven && l->found && l->exact) { /* the other parts need not be lower */
    l->bound = fs_max(l->bound, *peak);
  }
  for (uint32_t i = 0; i < n; i++) {
    l->address[l->at[first + i].id] = address[i];
  }
  return FSCHED_OK;
}

static fs_status place_all(placing *l, uint64_t *peak) {
  uint64_t reach = 0;
  l->found = true;
  for (uint32_t first = 0, end; first < l->n && l->found; first = end) {
    uint64_t mine;
    reach = l->end[first];
    for (end = first + 1; end < l->n && l->begin[end] < reach; end++) {
      reach = fs_max(reach, l->end[end]);
    }
    fs_arena_mark mark = fs_arena_set_mark(l->arena);
    FS_TRY(place_part(l, first, end - first, &mine));
    fs_arena_reset(l->arena, mark);
    *peak = fs_max(*peak, mine);
  }
  return FSCHED_OK;
}

static fs_status place_rects(placing *l, uint64_t *peak) {
  FS_TRY(prepare_placing(l));
  *peak = 0;
  l->refuted = l->bound > l->p->capacity;
  if (l->refuted) {
    return FSCHED_OK;
  }
  FS_TRY(place_all(l, peak));
  for (uint32_t i = 0; i < l->p->n; i++) {
    if (l->leader[i] != FS_NONE) {
      l->address[i] = l->address[l->leader[i]];
    }
  }
  return FSCHED_OK;
}

fs_status fs_placement_run(fsched_context *ctx, const fs_placement *p, bool lowest,
                           uint64_t *address, uint64_t *peak, fs_decision *exists, bool *least) {
  assert(p->n == 0 || (p->size != NULL && p->begin[0] <= p->end[0]));
  assert(p->n_pairs == 0 || (p->pair_a[0] < p->n && p->pair_b[0] < p->n));
  FS_SCRATCH(arena, ctx);
  placing l = {.ctx = ctx,
               .p = p,
               .address = address,
               .nodes = p->nodes,
               .lowest = lowest || p->capacity == FS_UNBOUNDED,
               .arena = &arena};
  fs_status status = place_rects(&l, peak);
  *exists = l.found || l.refuted ? fs_decided_by(l.found) : fs_not_decided();
  *least = l.found && *peak <= l.bound;
  return status;
}
