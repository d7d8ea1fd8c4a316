/* SPDX-License-Identifier: Apache-2.0 */
#include "search/strip/strip.h"

#include "base/random.h"

enum {
  GROWTH = 20,     /* each share of rectangles is larger by this part */
  WIDEST = 1 << 12 /* units, up to which sums of widths are looked at */
};

/* A part of the skyline: nothing can lie lower there. */
typedef struct strip_segment {
  uint64_t x, width, y;
} strip_segment;

/* Rectangles of one size. */
typedef struct strip_kind {
  uint64_t width, height;
  uint32_t left, first; /* how many are left, and the first of them in item[] */
} strip_kind;

typedef struct strip_put {
  uint32_t kind;
  uint64_t x, y;
} strip_put;

typedef struct strip_run {
  const fs_strip_search *o;
  uint64_t unit, width, height, spare; /* widths in units; the area that may be lost */
  uint32_t n_kinds, n, n_put;
  strip_kind *kind;
  uint32_t *item;  /* by kind */
  uint32_t *count; /* per kind */
  uint32_t *order; /* kinds, in the order of trials */
  uint64_t *rank;  /* per kind */
  strip_put *put;
  strip_segment *segment; /* a stack of skylines */
  uint64_t *sums;         /* a bit per width */
  uint64_t placed, share, random;
  bool over;
} strip_run;

/* ---- which problems are strips */

static bool plain_queues(const fs_problem *p) {
  bool plain = p->n_classes == 1 && p->class_size[0] >= p->n_items;
  for (uint32_t i = 0; i < p->n_items && plain; i++) {
    plain = p->gang[i] == 0 && p->time[i] > 0 && p->head[i] == 0;
  }
  return plain;
}

static bool is_own(const fs_problem *p, uint32_t r, uint32_t item) {
  return p->res_begin0[r + 1] - p->res_begin0[r] == 1 && p->res_begin[p->res_begin0[r]] == item &&
         p->res_end0[r + 1] - p->res_end0[r] == 1 && p->res_end[p->res_end0[r]] == item &&
         !p->res_to_end[r];
}

bool fs_strip_knows(const fs_problem *p) {
  assert(p->graph != NULL);
  const fs_target *t = &p->graph->target;
  bool strip = p->n_items > 0 && p->n_items <= FS_STRIP_MOST && p->n_items == p->graph->n_ops &&
               p->n_edges == 0 && p->use0[p->n_items] == 0 && p->n_coincide == 0 && p->wait == 0 &&
               p->fixed == NULL && p->exact && plain_queues(p);
  for (uint32_t r = 0; r < p->n_residencies && strip; r++) {
    const fs_memory *m = &t->memory[p->res_memory[r]];
    uint32_t item = p->res_begin_item[r];
    strip = p->res_memory[r] == p->res_memory[0] && item != FS_NONE && is_own(p, r, item) &&
            fs_placement_has_addresses(m->placement) && !fs_placement_is_stack(m->placement) &&
            (r == 0 || item > p->res_begin_item[r - 1]); /* one each */
  }
  return strip && p->n_residencies > 0;
}

/* ---- kinds */

static uint32_t kind_of(strip_run *s, uint64_t width, uint64_t height) {
  uint32_t k = 0;
  while (k < s->n_kinds && (s->kind[k].width != width || s->kind[k].height != height)) {
    k++;
  }
  if (k == s->n_kinds) {
    s->kind[s->n_kinds++] = (strip_kind){.width = width, .height = height};
  }
  return k;
}

/* Residencies become rectangles; their numbers are in item[], by kind. */
static fs_status make_kinds(strip_run *s, fs_arena *arena) {
  const fs_problem *p = s->o->problem;
  uint32_t *of, next = 0;
  s->n = p->n_residencies;
  FS_TRY(fs_new(arena, &of, s->n));
  FS_TRY(fs_new(arena, &s->kind, s->n));
  FS_TRY(fs_new(arena, &s->item, s->n));
  for (uint32_t r = 0; r < s->n; r++) {
    s->unit = fs_common_divisor(p->res_size[r], s->unit);
  }
  s->unit = s->unit == 0 ? 1 : s->unit;
  for (uint32_t r = 0; r < s->n; r++) {
    of[r] = kind_of(s, p->res_size[r] / s->unit, p->time[p->res_begin_item[r]]);
    s->kind[of[r]].left++;
  }
  for (uint32_t k = 0; k < s->n_kinds; k++) {
    s->kind[k].first = next;
    next += s->kind[k].left;
    s->kind[k].left = 0;
  }
  for (uint32_t r = 0; r < s->n; r++) {
    strip_kind *k = &s->kind[of[r]];
    s->item[k->first + k->left++] = r;
  }
  return FSCHED_OK;
}

/* *fits: the area is enough, and each rectangle fits by itself. */
static fs_status prepare(strip_run *s, fs_arena *arena, bool *fits) {
  const fs_problem *p = s->o->problem;
  uint64_t capacity = p->graph->target.memory[p->res_memory[0]].capacity;
  FS_TRY(make_kinds(s, arena));
  s->height = s->o->height;
  s->width = capacity / s->unit;
  bool large = s->width > UINT32_MAX || s->height > UINT32_MAX;
  *fits = !large;
  s->spare = large ? 0 : s->width * s->height;
  for (uint32_t k = 0; k < s->n_kinds && *fits; k++) {
    const strip_kind *x = &s->kind[k];
    *fits = x->width <= s->width && x->height <= s->height;
    for (uint32_t j = 0; j < x->left && *fits; j++) {
      uint64_t area = x->width * x->height;
      *fits = area <= s->spare;
      s->spare -= *fits ? area : 0;
    }
  }
  FS_TRY(fs_new(arena, &s->count, s->n_kinds));
  FS_TRY(fs_new(arena, &s->order, s->n_kinds));
  FS_TRY(fs_new(arena, &s->rank, s->n_kinds));
  FS_TRY(fs_new(arena, &s->put, s->n));
  FS_TRY(fs_new(arena, &s->sums, WIDEST / 64 + 1));
  return fs_new(arena, &s->segment, (2 * (size_t)s->n + 3) * (s->n + 2));
}

/* ---- a gap */

static void add_sums(uint64_t *sums, uint32_t words, uint64_t width) {
  uint32_t shift = (uint32_t)(width / 64), bits = width % 64;
  for (uint32_t i = words; i-- > shift;) {
    uint64_t v = sums[i - shift] << bits;
    if (bits > 0 && i > shift) {
      v |= sums[i - shift - 1] >> (64 - bits);
    }
    sums[i] |= v;
  }
}

/* The most of a gap that what is left can fill side by side, and *lowest, the least height of what
 * fits. */
static uint64_t most_filled(strip_run *s, const strip_segment *gap, uint64_t *lowest) {
  bool summed = gap->width < WIDEST;
  uint32_t words = summed ? (uint32_t)gap->width / 64 + 1 : 0;
  uint64_t filled = 0;
  *lowest = FS_UNBOUNDED;
  memset(s->sums, 0, words * sizeof *s->sums);
  s->sums[0] = 1;
  for (uint32_t k = 0; k < s->n_kinds; k++) {
    const strip_kind *x = &s->kind[k];
    if (s->count[k] == 0 || x->width > gap->width || x->height > s->height - gap->y) {
      continue;
    }
    *lowest = fs_min(*lowest, x->height);
    for (uint64_t j = 0; j < s->count[k] && j * x->width <= gap->width && summed; j++) {
      add_sums(s->sums, words, x->width);
    }
    filled = gap->width; /* for what is not summed */
  }
  if (summed && filled > 0) {
    while ((s->sums[filled / 64] >> filled % 64 & 1) == 0) {
      filled--;
    }
  }
  return filled;
}

static void add_segment(strip_segment *to, uint32_t *n, strip_segment x) {
  if (x.width == 0) {
    return;
  }
  if (*n > 0 && to[*n - 1].y == x.y) {
    to[*n - 1].width += x.width;
  } else {
    to[(*n)++] = x;
  }
}

/* The skyline with one segment replaced by two (of which one may be empty), behind the old one. */
static uint32_t replace(const strip_segment *old, uint32_t n, uint32_t at, strip_segment left,
                        strip_segment right) {
  strip_segment *to = (strip_segment *)(old + n);
  uint32_t made = 0;
  for (uint32_t k = 0; k < at; k++) {
    add_segment(to, &made, old[k]);
  }
  add_segment(to, &made, left);
  add_segment(to, &made, right);
  for (uint32_t k = at + 1; k < n; k++) {
    add_segment(to, &made, old[k]);
  }
  return made;
}

/* ---- the search */

static bool place_rest(strip_run *s, const strip_segment *line, uint32_t n, uint64_t spare);

static bool is_stopped(const strip_run *s) { return s->o->stop != NULL && s->o->stop(s->o->user); }

static bool spend(strip_run *s) {
  s->placed++;
  s->over = s->over || s->placed >= s->share || (s->placed % FS_STRIP_NODE == 0 && is_stopped(s));
  return !s->over;
}

/* Places each kind in turn at an end of the gap. */
static bool try_kinds(strip_run *s, const strip_segment *line, uint32_t n, uint32_t at, bool left,
                      uint64_t spare) {
  const strip_segment gap = line[at];
  for (uint32_t j = 0; j < s->n_kinds && !s->over; j++) {
    uint32_t k = s->order[j];
    const strip_kind *x = &s->kind[k];
    if (s->count[k] == 0 || x->width > gap.width || x->height > s->height - gap.y || !spend(s)) {
      continue;
    }
    uint64_t from = left ? gap.x : gap.x + gap.width - x->width;
    strip_segment top = {from, x->width, gap.y + x->height};
    strip_segment rest = {left ? gap.x + x->width : gap.x, gap.width - x->width, gap.y};
    s->put[s->n_put++] = (strip_put){k, from, gap.y};
    s->count[k]--;
    uint32_t made = replace(line, n, at, left ? top : rest, left ? rest : top);
    if (place_rest(s, line + n, made, spare)) {
      return true;
    }
    s->count[k]++;
    s->n_put--;
  }
  return false;
}

/* Fills the lowest gap, or leaves it as it is up to its lower wall. */
static bool place_rest(strip_run *s, const strip_segment *line, uint32_t n, uint64_t spare) {
  uint32_t at = 0;
  uint64_t lowest;
  if (s->n_put == s->n) {
    return true;
  }
  for (uint32_t k = 1; k < n; k++) {
    at = line[k].y < line[at].y ? k : at;
  }
  const strip_segment gap = line[at];
  uint64_t left = at > 0 ? line[at - 1].y : FS_UNBOUNDED;
  uint64_t right = at + 1 < n ? line[at + 1].y : FS_UNBOUNDED;
  uint64_t wall = fs_min(fs_min(left, right), s->height), step = wall - gap.y;
  uint64_t filled = most_filled(s, &gap, &lowest);
  if ((gap.width - filled) * fs_min(step, lowest) > spare) {
    return false;
  }
  if (filled > 0 && try_kinds(s, line, n, at, left >= right, spare)) {
    return true;
  }
  if (s->over || wall == s->height || gap.width * step > spare || !spend(s)) {
    return false;
  }
  strip_segment raised = {gap.x, gap.width, wall}, none = {0};
  uint32_t made = replace(line, n, at, raised, none);
  return place_rest(s, line + n, made, spare - gap.width * step);
}

/* Orders the kinds by width or height, by chance up to 40 % more or less. */
static void order_kinds(strip_run *s, bool by_height) {
  for (uint32_t k = 0; k < s->n_kinds; k++) {
    uint64_t size = by_height ? s->kind[k].height : s->kind[k].width;
    uint32_t at = k;
    s->rank[k] = size * (600 + fs_random_below(&s->random, 800));
    for (; at > 0 && s->rank[s->order[at - 1]] < s->rank[k]; at--) {
      s->order[at] = s->order[at - 1];
    }
    s->order[at] = k;
  }
}

static bool search_once(strip_run *s, bool by_height) {
  s->placed = 0;
  s->n_put = 0;
  s->over = false;
  for (uint32_t k = 0; k < s->n_kinds; k++) {
    s->count[k] = s->kind[k].left;
  }
  order_kinds(s, by_height);
  s->segment[0] = (strip_segment){0, s->width, 0};
  return place_rest(s, s->segment, 1, s->spare);
}

static fs_status take_answer(strip_run *s, fs_arena *arena, fs_answer *answer) {
  const fs_problem *p = s->o->problem;
  *answer = (fs_answer){0};
  FS_TRY(fs_new_zero(arena, &answer->start, p->n_items));
  FS_TRY(fs_new_zero(arena, &answer->address, p->n_residencies));
  for (uint32_t k = 0; k < s->n_put; k++) {
    strip_kind *x = &s->kind[s->put[k].kind];
    uint32_t r = s->item[x->first + --x->left], item = p->res_begin_item[r];
    answer->start[item] = s->put[k].y;
    answer->address[r] = s->put[k].x * s->unit;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    answer->makespan = fs_max(answer->makespan, answer->start[i] + p->time[i]);
  }
  return FSCHED_OK;
}

fs_status fs_strip_run(const fs_strip_search *o, fs_arena *arena, fs_answer *answer,
                       uint64_t *nodes, bool *found) {
  assert(fs_strip_knows(o->problem));
  strip_run s = {.o = o, .random = o->seed};
  uint64_t used = 0, share = FS_STRIP_NODE;
  bool fits;
  *found = false;
  FS_TRY(prepare(&s, arena, &fits));
  for (uint32_t turn = 0; fits && !*found && used < o->nodes; turn++) {
    if (is_stopped(&s)) {
      break;
    }
    s.share = fs_min(share, (o->nodes - used) * FS_STRIP_NODE);
    *found = search_once(&s, turn % 2 == 1);
    used += fs_ceil_div(s.placed, (uint64_t)FS_STRIP_NODE);
    if (!*found && !s.over) {
      break; /* no other order finds one */
    }
    share += share / GROWTH;
  }
  *nodes += fs_max(used, (uint64_t)1);
  return *found ? take_answer(&s, arena, answer) : FSCHED_OK;
}
