/* SPDX-License-Identifier: Apache-2.0 */
/* The search for a placement within a capacity, from the ground up, niche by niche.
 *
 * Time is cut into columns: the sets of rectangles that live together, of which no other holds all.
 * In a placement with the least sum of addresses each rectangle stands on the ground or on another
 * (normal positions; Herz 1972, Christofides and Whitlock 1977).  What is placed so far forms a
 * skyline: a top for each column.  A rectangle's floor is the highest top of its columns.  Columns
 * whose lowest rectangles have one top everywhere below them are ready: what can still come to lie
 * at that top is known.  Of one such column a branch is made for each rectangle that starts there,
 * and one for none of them, which raises the top to the next address at which anything can lie (the
 * niches of Cote, Dell'Amico and Iori 2014 for strips, but of any column in place of the lowest).
 *
 *   - A top rises to the lowest floor of what is left there, and a branch ends where the top and
 *     all that is left, or floors and what lies on them as if it could be cut (Carlier's bound, one
 *     machine), exceed the capacity.
 *   - What time does not connect any more is solved by itself, the one with the least room first.
 *   - The column that could not be filled last comes next, or what has to lie below it (last
 *     conflicts; Lecoutre, Sais, Tabary and Vidal 2009); otherwise the one that failed most often
 *     (Boussemart, Hemery, Lecoutre and Sais 2004), lately above all.  A column with one choice
 *     comes before all others.
 *   - The search begins anew after a number of nodes that grows slowly, with other random choices
 *     of what is tried first; without a limit of nodes it is complete. */
#include <stdlib.h>

#include "base/group.h"
#include "base/radix.h"
#include "base/random.h"
#include "placement/private.h"

enum {
  FIRST_SHARE = 500, /* nodes until the first new beginning */
  GROWTH = 200,      /* each share is larger by this part, or by one */
  LOOK = 16,         /* nodes from one question whether to stop to the next */
  FORGET = 2         /* this part of the weights is lost at a new beginning */
};

typedef struct niche_option {
  uint64_t key; /* larger ones come first */
  uint32_t id;
} niche_option;

typedef struct niche_part {
  uint32_t first, n;           /* ids: left[first .. first + n), ascending, and so by begin */
  uint32_t low, high;          /* columns */
  uint64_t slack;              /* the least room of a column */
  uint32_t touched0, touched1; /* columns that changed: touched[touched0 .. touched1) */
} niche_part;

typedef struct niche_change {
  uint64_t top, ground;
  uint32_t column;
} niche_change;

typedef struct niche_rise {
  uint64_t floor;
  uint32_t id;
} niche_rise;

typedef struct niche_piece {
  uint64_t floor, size;
} niche_piece;

typedef struct niches {
  const fs_parcel *c;
  uint64_t capacity, nodes, random;
  bool stopped, tight_first;
  uint32_t n, n_columns;
  uint32_t *low, *high;       /* columns of each rectangle: [low, high) */
  uint32_t *twin;             /* the one before of the same size and columns, or FS_NONE */
  uint32_t *member0, *member; /* CSR per column: rectangles */
  uint64_t *top;              /* per column: nothing that is left can lie lower */
  uint64_t *ground;           /* per column: the top of the highest that is placed */
  uint64_t *rest;             /* per column: sum of the sizes that are left */
  uint64_t *sum;              /* per column: sum of all sizes */
  uint64_t *weight;           /* per column: failures */
  uint32_t last;              /* the column that failed last, or FS_NONE */
  uint64_t *mark, stamp;      /* per column: the stamp when it was touched */
  uint64_t *floor;            /* per rectangle that is left: the highest top of its columns */
  uint64_t *address;          /* per rectangle; FS_UNBOUNDED: left */
  niche_piece *piece;
  FS_VEC(uint32_t) left;
  FS_VEC(niche_option) option;
  FS_VEC(niche_part) part;
  FS_VEC(uint32_t) placed;
  FS_VEC(uint32_t) touched;
  FS_VEC(niche_change) change;
  FS_VEC(niche_rise) rise;
} niches;

enum { FAILURE = 1 << 20 }; /* weight of one */

/* ---- columns */

/* Columns begin where rectangles begin, if one ends before the next begins.  at[]: their times. */
static fs_status find_columns(niches *s, uint64_t *at) {
  const fs_parcel *c = s->c;
  uint64_t *end;
  uint32_t n = 0, ended = 0;
  FS_TRY(fs_new(c->arena, &end, s->n));
  for (uint32_t i = 0; i < s->n; i++) {
    at[i] = c->begin[i];
    end[i] = c->end[i];
  }
  qsort(at, s->n, sizeof *at, fs_compare_u64);
  qsort(end, s->n, sizeof *end, fs_compare_u64);
  for (uint32_t i = 0; i < s->n; i++) {
    uint64_t begin = at[i], next = i + 1 < s->n ? at[i + 1] : FS_UNBOUNDED;
    uint32_t before = ended;
    while (ended < s->n && end[ended] <= next) {
      ended++;
    }
    if (ended > before) {
      at[n++] = begin;
    }
  }
  s->n_columns = n;
  return FSCHED_OK;
}

static fs_status make_columns(niches *s) {
  const fs_parcel *c = s->c;
  uint64_t *at;
  FS_TRY(fs_new(c->arena, &at, s->n));
  FS_TRY(find_columns(s, at));
  FS_TRY(fs_new(c->arena, &s->low, s->n));
  FS_TRY(fs_new(c->arena, &s->high, s->n));
  FS_TRY(fs_new_zero(c->arena, &s->sum, s->n_columns));
  FS_TRY(fs_new_zero(c->arena, &s->member0, (size_t)s->n_columns + 2));
  for (uint32_t i = 0; i < s->n; i++) {
    s->low[i] = fs_parcel_first_from(at, s->n_columns, c->begin[i]);
    s->high[i] = fs_parcel_first_from(at, s->n_columns, c->end[i]);
    assert(s->low[i] < s->high[i]);
    for (uint32_t k = s->low[i]; k < s->high[i]; k++) {
      s->sum[k] += c->size[i];
      s->member0[k + 2]++;
    }
  }
  fs_group_sum(s->member0, s->n_columns);
  FS_TRY(fs_new(c->arena, &s->member, s->member0[s->n_columns + 1]));
  for (uint32_t i = 0; i < s->n; i++) {
    for (uint32_t k = s->low[i]; k < s->high[i]; k++) {
      s->member[s->member0[k + 1]++] = i;
    }
  }
  return FSCHED_OK;
}

/* Rectangles of the same columns begin in the same column. */
static fs_status find_twins(niches *s) {
  FS_TRY(fs_new_none(s->c->arena, &s->twin, s->n));
  for (uint32_t i = 0; i < s->n; i++) {
    const uint32_t low = s->low[i];
    for (uint32_t k = s->member0[low]; k < s->member0[low + 1] && s->member[k] < i; k++) {
      uint32_t j = s->member[k];
      bool same = s->low[j] == low && s->high[j] == s->high[i] && s->c->size[j] == s->c->size[i];
      s->twin[i] = same ? j : s->twin[i];
    }
  }
  return FSCHED_OK;
}

static fs_status make_room(niches *s) {
  fs_arena *arena = s->c->arena;
  FS_TRY(make_columns(s));
  FS_TRY(find_twins(s));
  FS_TRY(fs_new(arena, &s->top, s->n_columns));
  FS_TRY(fs_new(arena, &s->ground, s->n_columns));
  FS_TRY(fs_new(arena, &s->rest, s->n_columns));
  FS_TRY(fs_new_zero(arena, &s->weight, s->n_columns));
  FS_TRY(fs_new_zero(arena, &s->mark, s->n_columns));
  FS_TRY(fs_new(arena, &s->floor, s->n));
  FS_TRY(fs_new(arena, &s->piece, s->n));
  return fs_new(arena, &s->address, s->n);
}

static void clear(niches *s) {
  memset(s->top, 0, s->n_columns * sizeof *s->top);
  memset(s->ground, 0, s->n_columns * sizeof *s->ground);
  memset(s->floor, 0, s->n * sizeof *s->floor);
  memset(s->address, 0xFF, s->n * sizeof *s->address);
  memcpy(s->rest, s->sum, s->n_columns * sizeof *s->rest);
  s->left.n = s->option.n = s->part.n = s->placed.n = s->touched.n = s->change.n = s->rise.n = 0;
  s->last = FS_NONE;
}

/* ---- changes of the skyline */

static bool is_left(const niches *s, uint32_t i) { return s->address[i] == FS_UNBOUNDED; }

static uint64_t room(const niches *s, uint32_t k) {
  assert(s->top[k] + s->rest[k] <= s->capacity);
  return s->capacity - s->top[k] - s->rest[k];
}

static bool refuse(niches *s, uint32_t column) {
  s->weight[column] += FAILURE;
  s->last = column;
  return false;
}

static fs_status set_top(niches *s, uint32_t column, uint64_t top) {
  niche_change old = {s->top[column], s->ground[column], column};
  s->top[column] = top;
  return fs_vec_push(s->c->ctx, &s->change, old);
}

static fs_status touch_columns(niches *s, uint32_t low, uint32_t high) {
  for (uint32_t k = low; k < high; k++) {
    if (s->mark[k] != s->stamp) {
      s->mark[k] = s->stamp;
      FS_TRY(fs_vec_push(s->c->ctx, &s->touched, k));
    }
  }
  return FSCHED_OK;
}

static fs_status raise_floor(niches *s, uint32_t i, uint64_t floor) {
  if (!is_left(s, i) || s->floor[i] >= floor) {
    return FSCHED_OK;
  }
  niche_rise old = {s->floor[i], i};
  s->floor[i] = floor;
  FS_TRY(touch_columns(s, s->low[i], s->high[i]));
  return fs_vec_push(s->c->ctx, &s->rise, old);
}

/* Nothing starts in the column below an address. */
static fs_status raise_column(niches *s, uint32_t column, uint64_t top) {
  s->stamp++;
  FS_TRY(set_top(s, column, top));
  FS_TRY(touch_columns(s, column, column + 1));
  for (uint32_t k = s->member0[column]; k < s->member0[column + 1]; k++) {
    FS_TRY(raise_floor(s, s->member[k], top));
  }
  return FSCHED_OK;
}

static fs_status place(niches *s, uint32_t i, uint64_t address) {
  const fs_parcel *c = s->c;
  uint64_t top = address + c->size[i];
  assert(is_left(s, i));
  s->stamp++;
  FS_TRY(fs_vec_push(c->ctx, &s->placed, i));
  s->address[i] = address;
  for (uint32_t k = s->low[i]; k < s->high[i]; k++) {
    s->rest[k] -= c->size[i];
  }
  FS_TRY(touch_columns(s, s->low[i], s->high[i]));
  for (uint32_t k = s->low[i]; k < s->high[i]; k++) {
    FS_TRY(set_top(s, k, top));
    s->ground[k] = top;
  }
  for (uint32_t k = c->other0[i]; k < c->other0[i + 1]; k++) {
    FS_TRY(raise_floor(s, c->other[k], top));
  }
  return FSCHED_OK;
}

/* Where the search was when it had placed, changed and raised so many. */
typedef struct niche_point {
  size_t placed, changes, rises, touched;
} niche_point;

static niche_point point_of(const niches *s) {
  return (niche_point){s->placed.n, s->change.n, s->rise.n, s->touched.n};
}

static void take_back(niches *s, niche_point to) {
  while (s->change.n > to.changes) {
    niche_change old = s->change.at[--s->change.n];
    s->top[old.column] = old.top;
    s->ground[old.column] = old.ground;
  }
  while (s->rise.n > to.rises) {
    niche_rise old = s->rise.at[--s->rise.n];
    s->floor[old.id] = old.floor;
  }
  while (s->placed.n > to.placed) {
    uint32_t i = s->placed.at[--s->placed.n];
    s->address[i] = FS_UNBOUNDED;
    for (uint32_t k = s->low[i]; k < s->high[i]; k++) {
      s->rest[k] += s->c->size[i];
    }
  }
  s->touched.n = to.touched;
}

/* ---- bounds */

/* The top of a column if what is left could be cut: by floors, each on what is below. */
static uint64_t cut_top(niches *s, uint32_t column) {
  uint32_t n = 0;
  uint64_t top = 0;
  for (uint32_t k = s->member0[column]; k < s->member0[column + 1]; k++) {
    uint32_t i = s->member[k], at = n;
    if (!is_left(s, i)) {
      continue;
    }
    for (n++; at > 0 && s->piece[at - 1].floor > s->floor[i]; at--) {
      s->piece[at] = s->piece[at - 1];
    }
    s->piece[at] = (niche_piece){s->floor[i], s->c->size[i]};
  }
  for (uint32_t k = 0; k < n; k++) {
    top = fs_max(top, s->piece[k].floor) + s->piece[k].size;
  }
  return top;
}

/* Raises a top to the lowest floor of what is left there, which raises no floor.  *fits: the column
 * is not refuted. */
static fs_status tighten(niches *s, uint32_t column, bool *fits) {
  uint64_t lowest = FS_UNBOUNDED, highest = 0, rest = s->rest[column];
  *fits = true;
  if (rest == 0) {
    return FSCHED_OK;
  }
  for (uint32_t k = s->member0[column]; k < s->member0[column + 1]; k++) {
    uint32_t i = s->member[k];
    if (is_left(s, i)) {
      lowest = fs_min(lowest, s->floor[i]);
      highest = fs_max(highest, s->floor[i]);
    }
  }
  if (lowest > s->top[column]) {
    FS_TRY(set_top(s, column, lowest));
  }
  bool over = lowest + rest > s->capacity ||
              (highest + rest > s->capacity && cut_top(s, column) > s->capacity);
  *fits = !over || refuse(s, column);
  return FSCHED_OK;
}

static fs_status tighten_all(niches *s, uint32_t first, uint32_t end, bool *fit) {
  *fit = true;
  for (uint32_t k = first; k < end && *fit; k++) {
    FS_TRY(tighten(s, s->touched.at[k], fit));
  }
  return FSCHED_OK;
}

/* ---- choice of a column */

/* Can rectangle i lie at its floor, standing on something?  *level: nothing can come below.  Of
 * equal ones the first comes first. */
static bool can_start(const niches *s, uint32_t i, bool *level) {
  uint64_t floor = s->floor[i];
  bool stands = false;
  *level = true;
  for (uint32_t k = s->low[i]; k < s->high[i]; k++) {
    if (s->top[k] != floor) {
      *level = false;
      return false;
    }
    stands = stands || s->ground[k] == floor;
  }
  return stands && (s->twin[i] == FS_NONE || !is_left(s, s->twin[i]));
}

/* The lowest address above its top at which anything can lie in a column that is ready: on what
 * is placed, or on something that does not live then. */
static uint64_t next_top(const niches *s, const niche_part *t, uint32_t column) {
  uint64_t top = s->top[column], next = FS_UNBOUNDED;
  uint32_t low = column, high = column;
  for (uint32_t k = s->member0[column]; k < s->member0[column + 1]; k++) {
    uint32_t i = s->member[k];
    if (is_left(s, i) && s->floor[i] > top) {
      next = fs_min(next, s->floor[i]);
    } else if (is_left(s, i)) {
      low = s->low[i] < low ? s->low[i] : low;
      high = s->high[i] > high ? s->high[i] : high;
    }
  }
  for (uint32_t k = 0; k < t->n; k++) {
    uint32_t i = s->left.at[t->first + k];
    bool other = s->high[i] <= column || s->low[i] > column;
    if (other && s->low[i] < high && s->high[i] > low) {
      next = fs_min(next, s->floor[i] + s->c->size[i]);
    }
  }
  return next;
}

/* The top that a column gets if nothing starts there; 0: then it cannot be filled. */
static uint64_t risen_top(const niches *s, const niche_part *t, uint32_t column) {
  uint64_t next = room(s, column) == 0 ? FS_UNBOUNDED : next_top(s, t, column);
  return next != FS_UNBOUNDED && next + s->rest[column] <= s->capacity ? next : 0;
}

/* Is a column ready: can nothing that lies at its top wait for what lies below?  *choices: how many
 * can start there; with more than `most` it is not asked on. */
static bool is_ready(const niches *s, uint32_t column, uint32_t most, uint32_t *choices) {
  *choices = 0;
  for (uint32_t k = s->member0[column]; k < s->member0[column + 1] && *choices <= most; k++) {
    uint32_t i = s->member[k];
    bool level = true;
    if (is_left(s, i) && s->floor[i] == s->top[column]) {
      *choices += can_start(s, i, &level);
    }
    if (!level) {
      return false;
    }
  }
  return true;
}

static uint32_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/* The lowest column, the nearest of several, among those that have to be filled before `column` is
 * ready: of what may start there. */
static uint32_t lower_column(const niches *s, uint32_t column) {
  uint32_t best = column;
  for (uint32_t k = s->member0[column]; k < s->member0[column + 1]; k++) {
    uint32_t i = s->member[k];
    for (uint32_t c = s->low[i]; is_left(s, i) && s->floor[i] == s->top[column] && c < s->high[i];
         c++) {
      bool near = best != column && distance(c, column) < distance(best, column);
      bool lower = s->top[c] < s->top[best] || (near && s->top[c] == s->top[best]);
      best = lower ? c : best;
    }
  }
  assert(s->top[best] < s->top[column]);
  return best;
}

/* Of the columns that changed, one that can be filled in no way (*none), or the one with a single
 * way that failed most often. */
static uint32_t find_forced(niches *s, const niche_part *t, bool *none) {
  uint32_t forced = FS_NONE;
  *none = false;
  for (uint32_t j = t->touched0; j < t->touched1 && !*none; j++) {
    uint32_t k = s->touched.at[j], choices;
    bool mine = k >= t->low && k < t->high && s->rest[k] > 0;
    if (!mine || !is_ready(s, k, 1, &choices) || choices > 1) {
      continue;
    }
    choices += risen_top(s, t, k) > 0;
    *none = choices == 0 && !refuse(s, k);
    bool better = forced == FS_NONE || s->weight[k] > s->weight[forced];
    forced = choices == 1 && better ? k : forced;
  }
  return forced;
}

/* The column that comes next; FS_NONE: one can be filled in no way. */
static uint32_t choose_column(niches *s, const niche_part *t) {
  uint32_t best = FS_NONE, choices;
  bool none;
  uint32_t forced = find_forced(s, t, &none);
  if (none || forced != FS_NONE) {
    return none ? FS_NONE : forced;
  }
  if (s->last != FS_NONE && s->last >= t->low && s->last < t->high && s->rest[s->last] > 0) {
    best = s->last;
  }
  for (uint32_t k = t->low; k < t->high && (best == FS_NONE || best != s->last); k++) {
    bool better =
        s->rest[k] > 0 && (best == FS_NONE || s->weight[k] > s->weight[best] ||
                           (s->weight[k] == s->weight[best] && room(s, k) < room(s, best)));
    best = better ? k : best;
  }
  while (!is_ready(s, best, s->n, &choices)) {
    best = lower_column(s, best);
  }
  return best;
}

/* ---- the search */

static int by_key(const void *a, const void *b) {
  const niche_option *x = a, *y = b;
  if (x->key != y->key) {
    return x->key > y->key ? -1 : 1;
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Wide ones come first, and before all where a column has no room left, at times. */
static fs_status list_options(niches *s, uint32_t column) {
  size_t first = s->option.n;
  for (uint32_t k = s->member0[column]; k < s->member0[column + 1]; k++) {
    uint32_t i = s->member[k];
    bool level, tight = false;
    if (!is_left(s, i) || s->floor[i] != s->top[column] || !can_start(s, i, &level)) {
      continue;
    }
    for (uint32_t c = s->low[i]; s->tight_first && !tight && c < s->high[i]; c++) {
      tight = room(s, c) == 0;
    }
    uint64_t width = s->high[i] - s->low[i];
    niche_option o = {width * (7000 + 6 * (uint64_t)fs_random_below(&s->random, 1000)), i};
    o.key += tight ? UINT64_C(1) << 62 : 0;
    FS_TRY(fs_vec_push(s->c->ctx, &s->option, o));
  }
  if (s->option.n - first > 1) {
    qsort(s->option.at + first, s->option.n - first, sizeof(niche_option), by_key);
  }
  return FSCHED_OK;
}

static void count_node(niches *s) {
  s->nodes--;
  if (s->nodes % LOOK == 0 && s->c->stop != NULL && s->c->stop(s->c->user)) {
    s->stopped = true;
    s->nodes = 0;
  }
}

static fs_status solve_left(niches *s, const niche_part *all, bool *found);

/* Places one, and solves what is left of the part. */
static fs_status try_option(niches *s, const niche_part *t, uint32_t i, uint64_t address,
                            bool *found) {
  niche_part rest = {.first = (uint32_t)s->left.n, .touched0 = (uint32_t)s->touched.n};
  for (uint32_t k = 0; k < t->n; k++) {
    uint32_t other = s->left.at[t->first + k];
    if (other != i) {
      FS_TRY(fs_vec_push(s->c->ctx, &s->left, other));
    }
  }
  rest.n = (uint32_t)s->left.n - rest.first;
  FS_TRY(place(s, i, address));
  rest.touched1 = (uint32_t)s->touched.n;
  FS_TRY(solve_left(s, &rest, found));
  s->left.n = rest.first;
  return FSCHED_OK;
}

/* Searches depth first; *found is false when all branches are tried or the nodes are used up. */
static fs_status solve_part(niches *s, niche_part t, bool *found) {
  const niche_point here = point_of(s);
  const size_t first = s->option.n;
  uint32_t column = choose_column(s, &t);
  *found = false;
  if (column == FS_NONE) {
    return FSCHED_OK;
  }
  const uint64_t top = s->top[column];
  const uint64_t next = risen_top(s, &t, column);
  FS_TRY(list_options(s, column));
  const size_t end = s->option.n;
  for (size_t k = first; k < end && s->nodes > 0; k++) {
    count_node(s);
    FS_TRY(try_option(s, &t, s->option.at[k].id, top, found));
    if (*found) {
      break;
    }
    take_back(s, here);
  }
  s->option.n = first;
  if (!*found && next > 0 && s->nodes > 0) {
    count_node(s);
    t.touched0 = (uint32_t)s->touched.n;
    FS_TRY(raise_column(s, column, next));
    t.touched1 = (uint32_t)s->touched.n;
    FS_TRY(solve_left(s, &t, found));
    if (!*found) {
      take_back(s, here);
    }
  }
  return FSCHED_OK;
}

/* Splits what is left into parts that time does not connect. */
static fs_status split(niches *s, const niche_part *all) {
  for (uint32_t k = 0; k < all->n; k++) {
    uint32_t i = s->left.at[all->first + k];
    niche_part *last = k > 0 ? &s->part.at[s->part.n - 1] : NULL;
    if (last != NULL && s->low[i] < last->high) {
      last->n++;
      last->high = s->high[i] > last->high ? s->high[i] : last->high;
    } else {
      niche_part t = {.first = all->first + k,
                      .n = 1,
                      .low = s->low[i],
                      .high = s->high[i],
                      .slack = FS_UNBOUNDED,
                      .touched0 = all->touched0,
                      .touched1 = all->touched1};
      FS_TRY(fs_vec_push(s->c->ctx, &s->part, t));
    }
  }
  return FSCHED_OK;
}

/* Solves a list of rectangles, the part with the least room first. */
static fs_status solve_left(niches *s, const niche_part *all, bool *found) {
  const size_t first = s->part.n;
  *found = true;
  FS_TRY(tighten_all(s, all->touched0, all->touched1, found));
  if (*found) {
    FS_TRY(split(s, all));
  }
  const size_t end = s->part.n;
  for (size_t k = first; k < end; k++) {
    niche_part *t = &s->part.at[k];
    for (uint32_t c = t->low; c < t->high; c++) {
      t->slack = s->rest[c] > 0 ? fs_min(t->slack, room(s, c)) : t->slack;
    }
  }
  for (size_t k = first; k < end && *found; k++) {
    size_t best = k;
    for (size_t m = k + 1; m < end; m++) {
      best = s->part.at[m].slack < s->part.at[best].slack ? m : best;
    }
    const niche_part t = s->part.at[best];
    s->part.at[best] = s->part.at[k];
    FS_TRY(solve_part(s, t, found));
  }
  s->part.n = first;
  return FSCHED_OK;
}

/* One beginning.  *done: all branches were tried. */
static fs_status search_once(niches *s, bool *found, bool *done) {
  niche_part all = {.n = s->n, .touched1 = s->n_columns};
  clear(s);
  s->stamp++;
  FS_TRY(touch_columns(s, 0, s->n_columns));
  for (uint32_t i = 0; i < s->n; i++) {
    FS_TRY(fs_vec_push(s->c->ctx, &s->left, i));
  }
  FS_TRY(solve_left(s, &all, found));
  *done = !*found && s->nodes > 0;
  return FSCHED_OK;
}

static fs_status search_niches(niches *s, uint64_t *nodes, uint64_t *address, bool *found,
                               bool *done) {
  uint64_t left = *nodes, share = fs_max(FIRST_SHARE, 2 * (uint64_t)s->n);
  FS_TRY(make_room(s));
  *found = *done = false;
  for (uint32_t turn = 0; left > 0 && !*found && !*done; turn++) {
    const uint64_t given = fs_min(left, share);
    s->nodes = given;
    s->tight_first = turn % 2 == 1;
    FS_TRY(search_once(s, found, done));
    left = s->stopped ? 0 : left - (given - s->nodes);
    share += share / GROWTH + 1;
    for (uint32_t k = 0; k < s->n_columns; k++) {
      s->weight[k] -= s->weight[k] / FORGET;
    }
  }
  *nodes = left;
  if (*found) {
    memcpy(address, s->address, s->n * sizeof *address);
  }
  return FSCHED_OK;
}

fs_status fs_parcel_niches(const fs_parcel *p, uint64_t capacity, uint64_t *nodes,
                           uint64_t *address, fs_decision *fits) {
  assert(p->n > 0 && !p->any_given && !p->any_together);
  niches s = {.c = p, .capacity = capacity, .n = p->n};
  bool found = false, done = false;
  fs_arena_mark mark = fs_arena_set_mark(p->arena);
  fs_status status = search_niches(&s, nodes, address, &found, &done);
  fs_vec_free(p->ctx, &s.left);
  fs_vec_free(p->ctx, &s.option);
  fs_vec_free(p->ctx, &s.part);
  fs_vec_free(p->ctx, &s.placed);
  fs_vec_free(p->ctx, &s.touched);
  fs_vec_free(p->ctx, &s.change);
  fs_vec_free(p->ctx, &s.rise);
  fs_arena_reset(p->arena, mark);
  *fits = found || done ? fs_decided_by(found) : fs_not_decided();
  return status;
}
