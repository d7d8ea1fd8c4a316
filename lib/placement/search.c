/* SPDX-License-Identifier: Apache-2.0 */
/* The search for a placement within a capacity, by branch and bound.
 *
 * In a placement with the least sum of addresses no rectangle can move down: each stands on the
 * ground or on top of another (normal positions; Herz 1972, Christofides and Whitlock 1977), or
 * shares the place of one that does.  So rectangles are placed in ascending order of their
 * addresses, each on the highest of those placed that it conflicts with.  A branch ends when
 *
 *   - at some moment the remaining rectangles do not fit above the placed ones and above the last
 *     address;
 *   - a remaining rectangle would fit below the next one placed: it could move down;
 *   - two neighbours in the order have one address, and could be swapped.
 *
 * The order of trials is that of the addresses, then of a static weight; there are several weights,
 * each with a share of the nodes, a small one at first.  The remaining rectangles split into parts
 * that time does not connect: each is solved by itself, the one with the least room first.  The
 * ideas of ascending addresses and of sums per section are those of Moffitt, MiniMalloc (ASPLOS
 * 2023). */
#include <stdlib.h>

#include "base/group.h"
#include "base/radix.h"
#include "placement/private.h"

enum { WEIGHTS = 4 };

/* What is left of a part: ids in pool[first .. first + n), ascending, and so by begin. */
typedef struct part {
  uint32_t first, n;
  uint64_t last;     /* address of what was placed before: no later one lies below */
  uint32_t previous; /* what was placed before, or FS_NONE */
  uint64_t slack;    /* room that is left at its fullest moment */
} part;

enum { LOOK = 16 }; /* nodes from one question whether to stop to the next */

typedef struct undo {
  uint64_t value;
  uint32_t at; /* index into floor[] */
} undo;

typedef struct option {
  uint64_t address, rank;
  uint32_t id;
} option;

typedef struct line_piece {
  uint64_t low, size;
} line_piece;

typedef struct place_search {
  const fs_parcel *c;
  uint64_t capacity, nodes;
  bool stopped;
  uint32_t n, n_sections;
  uint32_t *section0, *section_end;  /* per rectangle */
  uint32_t *count_begin, *count_end; /* in sums it counts only here, not where it may share */
  uint64_t *rest;                    /* per section: sum of the remaining sizes */
  uint32_t *member0, *member;        /* CSR per section: rectangles that count in its sum */
  line_piece *line;
  uint64_t *floor;   /* per remaining rectangle: the top of the placed ones with which it
                      * conflicts */
  uint64_t *address; /* FS_UNBOUNDED: left */
  uint32_t *rank;    /* per rectangle: by weight */
  uint8_t *paired;
  FS_VEC(option) option;
  FS_VEC(uint32_t) pool;  /* parts */
  FS_VEC(uint32_t) trail; /* rectangles placed, in order */
  FS_VEC(part) part;
  uint8_t *full; /* per section: 1 if it is the last one of some rectangle */
  FS_VEC(undo) undo;
} place_search;

/* Sections begin where rectangles begin.  A rectangle that ends within a section counts to the
 * section's end, which does no harm, since it lives at the section's beginning. */
static fs_status make_sections(place_search *s) {
  const fs_parcel *c = s->c;
  uint64_t *at;
  uint32_t n = 0;
  FS_TRY(fs_new(c->arena, &at, s->n));
  for (uint32_t i = 0; i < s->n; i++) {
    at[i] = c->begin[i];
  }
  qsort(at, s->n, sizeof *at, fs_compare_u64);
  for (uint32_t i = 0; i < s->n; i++) {
    if (i == 0 || at[i] != at[i - 1]) {
      at[n++] = at[i];
    }
  }
  s->n_sections = n;
  FS_TRY(fs_new(c->arena, &s->section0, s->n));
  FS_TRY(fs_new(c->arena, &s->section_end, s->n));
  FS_TRY(fs_new(c->arena, &s->count_begin, s->n));
  FS_TRY(fs_new(c->arena, &s->count_end, s->n));
  FS_TRY(fs_new_zero(c->arena, &s->paired, s->n));
  for (uint32_t i = 0; i < s->n; i++) {
    uint64_t from = c->begin[i], to = c->end[i];
    for (uint32_t k = c->other0[i]; k < c->other0[i + 1]; k++) {
      uint32_t o = c->other[k];
      s->paired[i] |= c->together[k];
      if (c->together[k] && o < i) {
        from = fs_max(from, fs_min(c->end[i], c->end[o]));
      } else if (c->together[k]) {
        to = fs_min(to, c->begin[o]);
      }
    }
    s->section0[i] = fs_parcel_first_from(at, n, c->begin[i]);
    s->section_end[i] = fs_parcel_first_from(at, n, c->end[i]);
    s->count_begin[i] = fs_parcel_first_from(at, n, from);
    s->count_end[i] = fs_parcel_first_from(at, n, to);
  }
  return FSCHED_OK;
}

static fs_status list_members(place_search *s) {
  fs_arena *arena = s->c->arena;
  FS_TRY(fs_new_zero(arena, &s->member0, (size_t)s->n_sections + 2));
  for (uint32_t i = 0; i < s->n; i++) {
    for (uint32_t k = s->count_begin[i]; k < s->count_end[i]; k++) {
      s->member0[k + 2]++;
    }
  }
  fs_group_sum(s->member0, s->n_sections);
  FS_TRY(fs_new(arena, &s->member, s->member0[s->n_sections + 1]));
  for (uint32_t i = 0; i < s->n; i++) {
    for (uint32_t k = s->count_begin[i]; k < s->count_end[i]; k++) {
      s->member[s->member0[k + 1]++] = i;
    }
  }
  FS_TRY(fs_new_zero(arena, &s->full, s->n_sections));
  for (uint32_t i = 0; i < s->n; i++) {
    s->full[s->section_end[i] - 1] = 1;
    s->full[(s->count_end[i] > s->count_begin[i] ? s->count_end[i] : s->section_end[i]) - 1] = 1;
  }
  return fs_new(arena, &s->line, s->n);
}

static fs_status make_room(place_search *s) {
  fs_arena *arena = s->c->arena;
  FS_TRY(make_sections(s));
  FS_TRY(fs_new(arena, &s->rest, s->n_sections));
  FS_TRY(list_members(s));
  FS_TRY(fs_new(arena, &s->floor, s->n));
  FS_TRY(fs_new(arena, &s->address, s->n));
  return fs_new(arena, &s->rank, s->n);
}

/* ---- weights */

typedef struct weighed_rect {
  uint64_t key[3];
  uint32_t id;
} weighed_rect;

static int by_key(const void *a, const void *b) {
  const weighed_rect *x = a, *y = b;
  for (int k = 0; k < 3; k++) {
    if (x->key[k] != y->key[k]) {
      return x->key[k] > y->key[k] ? -1 : 1;
    }
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

static uint64_t product(uint64_t a, uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Ranks the rectangles by three keys: the total of the fullest moment that they live in, their
 * length, and their area.  `order` says which key comes first. */
static fs_status rank_all(place_search *s, int order) {
  static const int orders[WEIGHTS][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 0, 1}};
  const fs_parcel *c = s->c;
  weighed_rect *at;
  fs_arena_mark mark = fs_arena_set_mark(c->arena);
  FS_TRY(fs_new(c->arena, &at, s->n));
  for (uint32_t i = 0; i < s->n; i++) {
    uint64_t value[3] = {0, c->end[i] - c->begin[i], product(c->size[i], c->end[i] - c->begin[i])};
    for (uint32_t k = s->section0[i]; k < s->section_end[i]; k++) {
      value[0] = fs_max(value[0], s->rest[k]);
    }
    at[i].id = i;
    for (int k = 0; k < 3; k++) {
      at[i].key[k] = value[orders[order][k]];
    }
  }
  qsort(at, s->n, sizeof *at, by_key);
  for (uint32_t k = 0; k < s->n; k++) {
    s->rank[at[k].id] = k;
  }
  fs_arena_reset(c->arena, mark);
  return FSCHED_OK;
}

static void clear(place_search *s) {
  const fs_parcel *c = s->c;
  memset(s->rest, 0, s->n_sections * sizeof *s->rest);
  memset(s->floor, 0, s->n * sizeof *s->floor);
  memset(s->address, 0xFF, s->n * sizeof *s->address);
  for (uint32_t i = 0; i < s->n; i++) {
    for (uint32_t k = s->count_begin[i]; k < s->count_end[i]; k++) {
      s->rest[k] += c->size[i];
    }
  }
  s->option.n = s->undo.n = s->pool.n = s->trail.n = s->part.n = 0;
}

/* ---- placing one */

static fs_status keep_value(place_search *s, uint32_t at, uint64_t value) {
  undo u = {value, at};
  return fs_vec_push(s->c->ctx, &s->undo, u);
}

static fs_status put_rect(place_search *s, uint32_t i, uint64_t address) {
  const fs_parcel *c = s->c;
  uint64_t top = address + c->size[i];
  FS_TRY(fs_vec_push(c->ctx, &s->trail, i));
  s->address[i] = address;
  for (uint32_t k = c->other0[i]; k < c->other0[i + 1]; k++) {
    uint32_t o = c->other[k];
    if (s->address[o] == FS_UNBOUNDED && s->floor[o] < top) {
      FS_TRY(keep_value(s, o, s->floor[o]));
      s->floor[o] = top;
    }
  }
  return FSCHED_OK;
}

static void take_back(place_search *s, size_t trail, size_t undos) {
  while (s->undo.n > undos) {
    undo u = s->undo.at[--s->undo.n];
    s->floor[u.at] = u.value;
  }
  while (s->trail.n > trail) {
    s->address[s->trail.at[--s->trail.n]] = FS_UNBOUNDED;
  }
}

/* A lower bound of the top at a moment: the largest sum of a floor and the remaining sizes with
 * that floor or a higher one, as if rectangles could be cut (Carlier's bound, one machine). */
static uint64_t section_top(place_search *s, uint32_t k, uint64_t last) {
  const uint32_t *member = s->member + s->member0[k];
  uint32_t n = s->member0[k + 1] - s->member0[k], left = 0;
  uint64_t highest = 0, sum = 0, top = last;
  for (uint32_t j = 0; j < n; j++) {
    uint32_t i = member[j];
    if (s->address[i] == FS_UNBOUNDED) {
      uint64_t floor = s->paired[i] ? last : fs_max(s->floor[i], last);
      highest = fs_max(highest, floor);
      sum += s->c->size[i];
      s->line[left++] = (line_piece){floor, s->c->size[i]};
    }
  }
  if (sum == 0 || highest + sum <= s->capacity) {
    return sum == 0 ? 0 : highest + sum;
  }
  for (uint32_t j = 1; j < left; j++) { /* by floor */
    line_piece x = s->line[j];
    uint32_t at = j;
    for (; at > 0 && s->line[at - 1].low > x.low; at--) {
      s->line[at] = s->line[at - 1];
    }
    s->line[at] = x;
  }
  for (uint32_t j = 0; j < left; j++) {
    top = fs_max(top, s->line[j].low) + s->line[j].size;
  }
  return top;
}

/* Is there room for the remaining rectangles of a part? */
static bool part_fits(place_search *s, part *t) {
  uint32_t next = 0; /* section */
  uint64_t top = 0;
  for (uint32_t j = 0; j < t->n; j++) {
    uint32_t i = s->pool.at[t->first + j];
    uint64_t given = s->c->given[i];
    if (given != FS_UNBOUNDED && (given < t->last || (s->floor[i] > given && !s->paired[i]))) {
      return false;
    }
    next = next > s->section0[i] ? next : s->section0[i];
    for (; next < s->section_end[i]; next++) {
      top = s->full[next] ? fs_max(top, section_top(s, next, t->last)) : top;
      if (top > s->capacity) {
        return false;
      }
    }
  }
  t->slack = s->capacity - top;
  return true;
}

/* ---- what may come next */

/* Can the rectangle share the last address with one already there? */
static bool shares_last(const place_search *s, uint32_t i, uint64_t last) {
  const fs_parcel *c = s->c;
  bool any = false;
  for (uint32_t k = c->other0[i]; k < c->other0[i + 1]; k++) {
    uint32_t o = c->other[k];
    if (s->address[o] == FS_UNBOUNDED) {
      continue;
    }
    bool same = c->together[k] && s->address[o] == last;
    if (!same && s->address[o] + c->size[o] > last) {
      return false;
    }
    any = any || same;
  }
  return any;
}

/* The order is total, since no two rectangles have the same rank. */
static int by_address(const void *a, const void *b) {
  const option *x = a, *y = b;
  if (x->address != y->address) {
    return x->address < y->address ? -1 : 1;
  }
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* From this address on nothing may come next: a rectangle would fit below, or is given there. */
static uint64_t ceiling(const place_search *s, const part *t) {
  uint64_t most = FS_UNBOUNDED;
  for (uint32_t j = 0; j < t->n; j++) {
    uint32_t i = s->pool.at[t->first + j];
    uint64_t given = s->c->given[i];
    most = fs_min(most, given == FS_UNBOUNDED ? s->floor[i] + s->c->size[i] : given + 1);
  }
  return most;
}

static fs_status list_options(place_search *s, const part *t) {
  uint64_t most = ceiling(s, t), last = t->last;
  size_t first = s->option.n;
  for (uint32_t j = 0; j < t->n; j++) {
    uint32_t i = s->pool.at[t->first + j];
    uint64_t given = s->c->given[i];
    option o = {given == FS_UNBOUNDED ? s->floor[i] : given, s->rank[i], i};
    bool swap = t->previous != FS_NONE && o.address == last && !s->paired[i] &&
                !s->paired[t->previous] && s->rank[i] < s->rank[t->previous];
    if (s->floor[i] <= o.address && o.address >= last && o.address < most && !swap) {
      FS_TRY(fs_vec_push(s->c->ctx, &s->option, o));
    }
    bool here = s->paired[i] && (given == FS_UNBOUNDED || given == last);
    if (here && s->floor[i] > last && last < most && shares_last(s, i, last)) {
      o.address = last;
      FS_TRY(fs_vec_push(s->c->ctx, &s->option, o));
    }
  }
  if (s->option.n - first > 1) {
    qsort(s->option.at + first, s->option.n - first, sizeof(option), by_address);
  }
  return FSCHED_OK;
}

/* ---- the search */

static fs_status solve_part(place_search *s, const part *t, bool *found);

/* Splits the remaining rectangles of a part, less `placed`, into parts that time does not connect,
 * and appends these to s->part.  *fit: none of them is refuted by itself. */
static fs_status split_part(place_search *s, const part *t, uint32_t placed, uint64_t address,
                            bool *fit) {
  uint64_t reach = 0;
  size_t begin = s->pool.n, first = s->part.n;
  for (uint32_t j = 0; j < t->n; j++) {
    uint32_t i = s->pool.at[t->first + j];
    if (i == placed) {
      continue;
    }
    if (s->pool.n > begin && s->c->begin[i] >= reach) {
      begin = s->pool.n;
    }
    if (s->pool.n == begin) {
      part rest = {.first = (uint32_t)begin, .last = address, .previous = placed};
      FS_TRY(fs_vec_push(s->c->ctx, &s->part, rest));
      reach = 0;
    }
    FS_TRY(fs_vec_push(s->c->ctx, &s->pool, i));
    s->part.at[s->part.n - 1].n++;
    reach = fs_max(reach, s->c->end[i]);
  }
  *fit = true;
  for (size_t k = first; k < s->part.n && *fit; k++) {
    *fit = part_fits(s, &s->part.at[k]);
  }
  return FSCHED_OK;
}

/* Solves the parts, the one with the least room first. */
static fs_status solve_parts(place_search *s, size_t first, bool *found) {
  size_t end = s->part.n;
  *found = true;
  for (size_t k = first; k < end && *found; k++) {
    size_t best = k;
    for (size_t m = k + 1; m < end; m++) {
      best = s->part.at[m].slack < s->part.at[best].slack ? m : best;
    }
    const part t = s->part.at[best];
    s->part.at[best] = s->part.at[k];
    FS_TRY(solve_part(s, &t, found));
  }
  return FSCHED_OK;
}

/* Searches depth first; *found is false when all branches are tried or the nodes are used up. */
static fs_status solve_part(place_search *s, const part *t, bool *found) {
  size_t first = s->option.n, trail = s->trail.n, undos = s->undo.n;
  size_t pool = s->pool.n, parts = s->part.n;
  *found = false;
  FS_TRY(list_options(s, t));
  size_t end = s->option.n;
  for (size_t k = first; k < end && !*found && s->nodes > 0; k++) {
    const option o = s->option.at[k];
    bool fit;
    if (o.address + s->c->size[o.id] > s->capacity) {
      continue;
    }
    s->nodes--;
    if (s->nodes % LOOK == 0 && s->c->stop != NULL && s->c->stop(s->c->user)) {
      s->stopped = true;
      s->nodes = 0;
    }
    FS_TRY(put_rect(s, o.id, o.address));
    FS_TRY(split_part(s, t, o.id, o.address, &fit));
    if (fit) {
      FS_TRY(solve_parts(s, parts, found));
    }
    s->pool.n = pool;
    s->part.n = parts;
    if (!*found) {
      take_back(s, trail, undos);
    }
  }
  s->option.n = first;
  return FSCHED_OK;
}

/* A search by one weight. */
static fs_status try_weight(place_search *s, int weight, bool *found, bool *done) {
  part all = {.n = s->n, .previous = FS_NONE};
  clear(s);
  FS_TRY(rank_all(s, weight));
  for (uint32_t i = 0; i < s->n; i++) {
    FS_TRY(fs_vec_push(s->c->ctx, &s->pool, i));
  }
  *found = false;
  *done = !part_fits(s, &all);
  if (!*done) {
    FS_TRY(solve_part(s, &all, found));
    *done = s->nodes > 0;
  }
  return FSCHED_OK;
}

static fs_status search_places(place_search *s, uint64_t *nodes, uint64_t *address, bool *found,
                               bool *done) {
  uint64_t left = *nodes, unit = fs_ceil_div(left, (uint64_t)WEIGHTS * (1 + 4 + 16));
  FS_TRY(make_room(s));
  *found = *done = false;
  for (int k = 0; left > 0 && !*found && !*done; k++) {
    int round = k / WEIGHTS;
    uint64_t share = fs_min(left, unit << 2 * (round < 2 ? round : 2));
    s->nodes = share;
    FS_TRY(try_weight(s, k % WEIGHTS, found, done));
    left = s->stopped ? 0 : left - (share - s->nodes);
  }
  *nodes = left;
  if (*found) {
    memcpy(address, s->address, s->n * sizeof *address);
  }
  return FSCHED_OK;
}

fs_status fs_parcel_search(const fs_parcel *p, uint64_t capacity, uint64_t *nodes,
                           uint64_t *address, fs_decision *fits) {
  assert(p->n > 0 && p->other0 != NULL);
  place_search s = {.c = p, .capacity = capacity, .n = p->n};
  bool found = false, done = false;
  *fits = fs_not_decided();
  fs_arena_mark mark = fs_arena_set_mark(p->arena);
  fs_status status = search_places(&s, nodes, address, &found, &done);
  fs_vec_free(p->ctx, &s.option);
  fs_vec_free(p->ctx, &s.pool);
  fs_vec_free(p->ctx, &s.trail);
  fs_vec_free(p->ctx, &s.part);
  fs_vec_free(p->ctx, &s.undo);
  fs_arena_reset(p->arena, mark);
  *fits = found || done ? fs_decided_by(found) : fs_not_decided();
  return status;
}
