/* SPDX-License-Identifier: Apache-2.0 */
/* Depth-first search over the tracks of claims, the order of pairs on a track, and the depths of
 * open rings.  What has the fewest values left for the failures it has had is decided first
 * (dom/wdeg: Boussemart, Hemery, Lecoutre, Sais: "Boosting systematic search by weighting
 * constraints", 2004). Of a pair's orders the one that leaves most room comes first, of tracks the
 * one with the least load; of tracks that are alike and free only the first is tried.
 *
 * Runs are cut off after a number of failures that grows by half each time; what has failed keeps
 * its weight.  So hard cores come to the top, and the last run, which is not cut off, proves.
 * Between them are runs that stay short, as a plan is found soon or, from a bad beginning, not at
 * all. */
#include "modulo/fixed.h"

#include "modulo/state.h"

enum {
  FIRST_RUN = 40,        /* failures */
  SHORT_RUN = 1 << 11,   /* those of every other run, at most */
  FEW_DEPTHS = 16,       /* of a ring */
  MOST_PERIOD_BITS = 44, /* a period times the largest depth is a number */
  MOST_NUMBER_BITS = 60
};

typedef enum choice_kind { CHOICE_NONE, CHOICE_PAIR, CHOICE_CLAIM, CHOICE_DEPTH } choice_kind;

typedef struct choice_point {
  choice_kind kind;
  uint32_t id;
  uint64_t size; /* values */
  uint32_t weight;
} choice_point;

/* A choice on the way down, and what is left to be tried of it. */
typedef struct search_frame {
  choice_point c;
  size_t length; /* of the trail before any value */
  fs_modulo_window orders;
  int64_t best, off; /* orders: from the best outwards; depths: the next one */
  bool below;        /* orders: that above the best at this distance has been tried */
  uint64_t tracks;
  uint64_t tried; /* of the tracks: those whose trial is over, and what is like them */
} search_frame;

typedef struct fixed_search {
  fs_modulo_state s;
  FS_VEC(search_frame) frame;
  uint64_t failures; /* that are left of this run */
  uint64_t seed;
  bool cut; /* the run was cut off */
} fixed_search;

/* --- what to decide --- */

/* Fewer values for more failures. */
static bool is_harder(const choice_point *a, const choice_point *b) {
  uint64_t x = a->size * (b->weight + 1), y = b->size * (a->weight + 1);
  return x < y;
}

static void offer_choice(choice_point *best, choice_kind kind, uint32_t id, uint64_t size,
                         uint32_t weight) {
  choice_point c = {kind, id, size, weight};
  if (best->kind == CHOICE_NONE || is_harder(&c, best)) {
    *best = c;
  }
}

/* Is nothing on a track but what has no other? */
static bool is_free(const fs_modulo_state *s, uint32_t track) {
  return s->cell[s->load0 + track] == s->b->sure[track] * s->scale;
}

/* Is a track free, and is an earlier one that is like it free, too, and open to the claim? */
static bool is_repeated(const fs_modulo_state *s, uint32_t claim, uint32_t bit) {
  const fs_modulo_body *b = s->b;
  uint32_t first = b->track0[b->claim[claim].group];
  uint64_t domain = fs_modulo_domain(s, claim);
  if (!is_free(s, first + bit)) {
    return false;
  }
  for (uint32_t t = b->alike[first + bit]; t < first + bit; t++) {
    if (b->alike[t] == b->alike[first + bit] && is_free(s, t) && (domain >> (t - first) & 1) != 0) {
      return true;
    }
  }
  return false;
}

/* The tracks of a claim's group that are free and like this one, if it is free. */
static uint64_t free_ones_like(const fs_modulo_state *s, uint32_t claim, uint32_t bit) {
  const fs_modulo_body *b = s->b;
  uint32_t g = b->claim[claim].group, first = b->track0[g];
  uint64_t out = 0;
  for (uint32_t t = first; is_free(s, first + bit) && t < b->track0[g + 1]; t++) {
    bool alike = b->alike[t] == b->alike[first + bit] && is_free(s, t);
    out |= alike ? UINT64_C(1) << (t - first) : 0;
  }
  return out;
}

static uint64_t without_repeated(const fs_modulo_state *s, uint32_t claim) {
  uint64_t domain = fs_modulo_domain(s, claim), out = 0;
  for (uint64_t left = domain; left != 0; left &= left - 1) {
    uint32_t bit = (uint32_t)__builtin_ctzll(left);
    out |= is_repeated(s, claim, bit) ? 0 : UINT64_C(1) << bit;
  }
  return out;
}

static void offer_pairs(const fs_modulo_state *s, choice_point *best) {
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    if (s->cell[s->pair0 + k] != FS_MODULO_OPEN) {
      continue;
    }
    uint64_t a = fs_modulo_domain(s, s->pair[k].claim_a);
    if (s->pair[k].shared ||
        (fs_modulo_single(a) && a == fs_modulo_domain(s, s->pair[k].claim_b))) {
      fs_modulo_window w = fs_modulo_pair_window(s, k);
      offer_choice(best, CHOICE_PAIR, k, (uint64_t)(w.high - w.low + 1), s->weight[k]);
    }
  }
}

static void offer_claims(const fs_modulo_state *s, choice_point *best) {
  for (uint32_t c = 0; c < s->b->n_claims; c++) {
    if (!fs_modulo_single(fs_modulo_domain(s, c))) {
      uint64_t size = (uint64_t)__builtin_popcountll(without_repeated(s, c));
      offer_choice(best, CHOICE_CLAIM, c, size, s->weight[s->n_pairs + c]);
    }
  }
}

static void offer_depths(const fs_modulo_state *s, choice_point *best) {
  uint32_t first = s->n_pairs + s->b->n_claims;
  for (uint32_t r = 0; r < s->b->n_open; r++) {
    uint64_t size = (uint64_t)(s->cell[s->high0 + r] - s->cell[s->low0 + r]) + 1;
    if (size > 1) {
      offer_choice(best, CHOICE_DEPTH, r, size, s->weight[first + r]);
    }
  }
}

/* Depths come before anything else where they might not fit and few are left of one: there are few
 * sets of them that do, and it is their arcs that show soonest that orders are not possible. */
static choice_point choose_point(fs_modulo_state *s) {
  choice_point best = {.kind = CHOICE_NONE};
  s->steps += s->n_pairs / 4 + s->b->n_claims;
  if (s->b->n_open > 0 && !fs_modulo_depths_fit(s)) {
    offer_depths(s, &best);
  }
  if (best.kind == CHOICE_NONE || best.size > FEW_DEPTHS) {
    offer_pairs(s, &best);
    offer_claims(s, &best);
  }
  return best;
}

/* --- values --- */

/* How far the starts of a pair can be moved against each other in an order. */
static int64_t order_room(const fs_modulo_state *s, uint32_t pair, int64_t k) {
  const fs_modulo_pair *x = &s->pair[pair];
  int64_t round = fs_modulo_round(s, x->claim_a);
  int64_t first = s->b->claim[x->claim_a].hold * s->scale - k * round;
  int64_t last = (1 - k) * round - s->b->claim[x->claim_b].hold * s->scale;
  int64_t low = fs_modulo_path(s, x->a, x->b), high = -fs_modulo_path(s, x->b, x->a);
  return (last < high ? last : high) - (first > low ? first : low);
}

static bool draw_one_in(fixed_search *x, uint32_t n) {
  x->seed = x->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (x->seed >> 33) % n == 0;
}

/* Gives a claim a track.  Claims of one op that may take the same tracks can change places, so what
 * has been tried for one of them needs no trial for the others. */
static bool put_track(fs_modulo_state *s, search_frame *f, uint32_t track) {
  const fs_modulo_body *b = s->b;
  uint32_t op = b->claim[f->c.id].op, group = b->claim[f->c.id].group;
  uint64_t domain = fs_modulo_domain(s, f->c.id);
  for (uint32_t c = b->claim0[op]; c < b->claim0[op + 1]; c++) {
    if (c != f->c.id && b->claim[c].group == group && fs_modulo_domain(s, c) == domain &&
        !fs_modulo_put_domain(s, c, domain & ~f->tried)) {
      return false;
    }
  }
  f->tried |= UINT64_C(1) << track | free_ones_like(s, f->c.id, track);
  return fs_modulo_put_domain(s, f->c.id, UINT64_C(1) << track);
}

/* Puts in one value; false: it contradicts what is known. */
static bool put_value(fixed_search *x, search_frame *f, int64_t value) {
  fs_modulo_state *s = &x->s;
  const choice_point *c = &f->c;
  switch (c->kind) {
    case CHOICE_NONE:
      break;
    case CHOICE_PAIR:
      return fs_modulo_put_pair(s, c->id, value);
    case CHOICE_CLAIM:
      return put_track(s, f, (uint32_t)value);
    case CHOICE_DEPTH:
      return fs_modulo_put_depth(s, c->id, value, value);
  }
  return false;
}

static bool is_over(const fixed_search *x) { return x->cut || x->s.status != FSCHED_OK; }

/* Orders of a pair are tried from the one with most room outwards. */
static void begin_orders(fixed_search *x, search_frame *f) {
  fs_modulo_window w = fs_modulo_pair_window(&x->s, f->c.id);
  int64_t best = w.low;
  for (int64_t k = w.low + 1; k <= w.high && k < w.low + 64; k++) {
    int64_t more = order_room(&x->s, f->c.id, k) - order_room(&x->s, f->c.id, best);
    best = more > 0 ? k : best;
  }
  if (draw_one_in(x, 16)) {
    best = best > w.low ? best - 1 : best < w.high ? best + 1 : best;
  }
  f->orders = w;
  f->best = best;
}

static bool next_order(search_frame *f, int64_t *value) {
  const fs_modulo_window *w = &f->orders;
  while (f->best - f->off >= w->low || f->best + f->off <= w->high) {
    bool below = f->below;
    *value = below ? f->best - f->off : f->best + f->off;
    f->off += below || f->off == 0;
    f->below = !below && *value != f->best;
    if (*value >= w->low && *value <= w->high) {
      return true;
    }
  }
  return false;
}

/* Of tracks the one with the least load comes first. */
static bool next_track(const fs_modulo_state *s, search_frame *f, int64_t *value) {
  uint32_t first = s->b->track0[s->b->claim[f->c.id].group], best = FS_NONE;
  for (uint64_t rest = f->tracks; rest != 0; rest &= rest - 1) {
    uint32_t bit = (uint32_t)__builtin_ctzll(rest);
    if (best == FS_NONE || s->cell[s->load0 + first + bit] < s->cell[s->load0 + first + best]) {
      best = bit;
    }
  }
  if (best == FS_NONE) {
    return false;
  }
  f->tracks &= ~(UINT64_C(1) << best);
  *value = best;
  return true;
}

static bool next_value(fixed_search *x, search_frame *f, int64_t *value) {
  switch (f->c.kind) {
    case CHOICE_NONE:
      break;
    case CHOICE_PAIR:
      return next_order(f, value);
    case CHOICE_CLAIM:
      return next_track(&x->s, f, value);
    case CHOICE_DEPTH:
      *value = f->off--;
      return *value >= f->best;
  }
  return false;
}

static bool push_frame(fixed_search *x, choice_point c) {
  fs_modulo_state *s = &x->s;
  search_frame f = {.c = c, .length = s->trail.n};
  switch (c.kind) {
    case CHOICE_NONE:
      break;
    case CHOICE_PAIR:
      begin_orders(x, &f);
      break;
    case CHOICE_CLAIM:
      f.tracks = without_repeated(s, c.id);
      break;
    case CHOICE_DEPTH: /* from the largest down */
      f.best = s->cell[s->low0 + c.id];
      f.off = s->cell[s->high0 + c.id];
      if (f.off > FS_MODULO_DEPTHS) { /* all of these are one */
        f.off = f.best > FS_MODULO_DEPTHS ? f.best : FS_MODULO_DEPTHS;
      }
      break;
  }
  if (fs_vec_push(s->ctx, &x->frame, f) != FSCHED_OK) {
    s->status = FSCHED_SYSTEM;
    return false;
  }
  return true;
}

/* A choice of which nothing was left has failed. */
static void pop_frame(fixed_search *x) {
  fs_modulo_state *s = &x->s;
  const choice_point *c = &x->frame.at[--x->frame.n].c;
  uint32_t first = c->kind == CHOICE_PAIR    ? 0
                   : c->kind == CHOICE_CLAIM ? s->n_pairs
                                             : s->n_pairs + s->b->n_claims;
  s->weight[first + c->id]++;
}

/* Goes on with the next value of the last choice that has one; false: none has. */
static bool step_on(fixed_search *x) {
  while (x->frame.n > 0) {
    search_frame *f = &x->frame.at[x->frame.n - 1];
    int64_t value;
    fs_modulo_undo_to(&x->s, f->length);
    if (is_over(x) || !next_value(x, f, &value)) {
      pop_frame(x);
    } else if (put_value(x, f, value)) {
      return true;
    } else {
      x->failures -= x->failures > 0;
    }
  }
  return false;
}

/* Finds a plan below the present state; false: there is none, or the run is over.  Choices are on a
 * stack of their own, as there may be as many as pairs. */
static bool dive(fixed_search *x) {
  fs_modulo_state *s = &x->s;
  assert(x->frame.n == 0);
  do {
    if (!fs_modulo_propagate(s)) {
      x->failures -= x->failures > 0;
      continue;
    }
    choice_point c = choose_point(s);
    if (c.kind == CHOICE_NONE) {
      x->frame.n = 0;
      return true;
    }
    x->cut = x->failures == 0 || s->steps >= s->q->steps;
    (void)(!x->cut && push_frame(x, c));
  } while (step_on(x));
  return false;
}

/* --- the whole --- */

/* Looks at all pairs, and gives claims of one track that track. */
static bool begin_search(fs_modulo_state *s) {
  if (s->overfull && s->q->memory) {
    return false;
  }
  if (!fs_modulo_root(s)) {
    return false;
  }
  for (uint32_t c = 0; c < s->b->n_claims; c++) {
    if (s->b->claim[c].hold * s->scale > fs_modulo_round(s, c) || !fs_modulo_begin_claim(s, c)) {
      return false;
    }
  }
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    if (!s->is_waiting[k]) {
      s->is_waiting[k] = true;
      s->waiting[s->n_waiting++] = k;
    }
  }
  return fs_modulo_propagate(s) && fs_modulo_cliques_fit(s);
}

static void read_choice(const fs_modulo_state *s, fs_modulo_choice *out) {
  const fs_modulo_body *b = s->b;
  out->period = s->q->period;
  for (uint32_t i = 0; i < b->n; i++) {
    out->start[i] = FS_MODULO_FAR;
    for (uint32_t j = 0; j < b->n; j++) {
      int64_t path = fs_modulo_path(s, j, i);
      out->start[i] = path > out->start[i] ? path : out->start[i];
    }
    out->part[i] = s->part[i];
  }
  for (uint32_t c = 0; c < b->n_claims; c++) {
    out->track[c] = (uint32_t)__builtin_ctzll(fs_modulo_domain(s, c));
  }
  for (uint32_t r = 0; r < b->n_open; r++) {
    int64_t high = s->cell[s->high0 + r];
    out->depth[r] = high > FS_MODULO_DEPTHS ? FS_NONE : (uint32_t)high;
  }
}

static void run_searches(fixed_search *x, fs_modulo_choice *out, fs_decision *found) {
  fs_modulo_state *s = &x->s;
  size_t root = s->trail.n;
  uint64_t most = FIRST_RUN;
  for (uint32_t run = 0; s->steps < s->q->steps; run++) {
    most += run % 2 == 0 ? most / 2 : 0;
    x->failures = run % 2 == 0 ? most : fs_min(most, SHORT_RUN);
    x->cut = false;
    if (dive(x)) {
      read_choice(s, out);
      *found = fs_decided_by(true);
      return;
    }
    fs_modulo_undo_to(s, root);
    if (s->status != FSCHED_OK) {
      return;
    }
    if (!x->cut) {
      *found = fs_decided_by(false);
      return;
    }
  }
}

static bool numbers_fit(const fs_modulo_body *b, const fs_modulo_question *q) {
  return b->total <= (INT64_C(1) << MOST_NUMBER_BITS) / q->period.den &&
         q->period.num >> MOST_PERIOD_BITS == 0 &&
         b->distances + b->n <= (INT64_C(1) << MOST_NUMBER_BITS) / q->period.num;
}

fs_status fs_modulo_fixed(fsched_context *ctx, const fs_modulo_body *b, const fs_modulo_question *q,
                          fs_modulo_choice *out, fs_decision *found, uint64_t *steps) {
  assert(q->period.num > 0 && q->period.den > 0);
  assert(out->start != NULL);
  fixed_search x = {.seed = 1};
  *found = fs_not_decided();
  if (!numbers_fit(b, q)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_state_make(ctx, b, q, &x.s));
  if (begin_search(&x.s)) {
    run_searches(&x, out, found);
  } else if (x.s.status == FSCHED_OK) {
    *found = fs_decided_by(false);
  }
  *steps += x.s.steps;
  fs_vec_free(ctx, &x.frame);
  fs_modulo_state_drop(&x.s);
  return x.s.status;
}

fs_status fs_modulo_choice_new(fs_arena *arena, const fs_modulo_body *b, fs_modulo_choice *out) {
  FS_TRY(fs_new_zero(arena, &out->start, b->n));
  FS_TRY(fs_new_zero(arena, &out->track, b->n_claims));
  FS_TRY(fs_new_zero(arena, &out->part, b->n));
  return fs_new_none(arena, &out->depth, b->n_open);
}

void fs_modulo_choice_copy(const fs_modulo_body *b, fs_modulo_choice *to,
                           const fs_modulo_choice *from) {
  assert(to->start != NULL && from->start != NULL);
  to->period = from->period;
  memcpy(to->start, from->start, b->n * sizeof *to->start);
  memcpy(to->track, from->track, b->n_claims * sizeof *to->track);
  memcpy(to->part, from->part, b->n * sizeof *to->part);
  if (b->n_open > 0) {
    memcpy(to->depth, from->depth, b->n_open * sizeof *to->depth);
  }
}
