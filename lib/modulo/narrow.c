/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from longest paths, tracks and loads.
 *
 * For a and b on one track, with holds p and q, some k has
 *
 *     start(a) + p <= start(b) + k * round <= start(a) + round - q
 *
 * where a round is a period, or, of tracks that are taken in turn, so many.
 *
 * Since path(a, b) <= start(b) - start(a) <= -path(b, a), k lies in a window.  If it is empty, the
 * two cannot share a track; if it has one k and they do share, both inequalities are put in. */
#include "modulo/cliques.h"
#include "modulo/state.h"

enum { CLIQUE_STEPS = 20000 };

fs_modulo_window fs_modulo_pair_window(const fs_modulo_state *s, uint32_t pair) {
  assert(pair < s->n_pairs);
  const fs_modulo_pair *x = &s->pair[pair];
  int64_t first = s->b->claim[x->claim_a].hold * s->scale;
  int64_t second = s->b->claim[x->claim_b].hold * s->scale;
  int64_t round = fs_modulo_round(s, x->claim_a);
  int64_t there = fs_modulo_path(s, x->a, x->b), back = fs_modulo_path(s, x->b, x->a);
  if (x->a == x->b || first + second > round) {
    return (fs_modulo_window){1, 0};
  }
  if (there == FS_MODULO_FAR || back == FS_MODULO_FAR) {
    return (fs_modulo_window){0, 0};
  }
  fs_modulo_window w = {fs_ceiling_div(first + back, round),
                        fs_floor_div(round - second - there, round)};
  if (x->given) {
    w.low = x->low > w.low ? x->low : w.low;
    w.high = x->high < w.high ? x->high : w.high;
  }
  return w;
}

bool fs_modulo_put_pair(fs_modulo_state *s, uint32_t pair, int64_t k) {
  assert(pair < s->n_pairs);
  const fs_modulo_pair *x = &s->pair[pair];
  int64_t first = s->b->claim[x->claim_a].hold * s->scale;
  int64_t second = s->b->claim[x->claim_b].hold * s->scale;
  int64_t round = fs_modulo_round(s, x->claim_a);
  return fs_modulo_set(s, s->pair0 + pair, k) &&
         fs_modulo_insert(s, x->a, x->b, first - k * round) &&
         fs_modulo_insert(s, x->b, x->a, second - (1 - k) * round) &&
         (!s->b->held_back || fs_modulo_hold_pair(s, pair));
}

/* Looks at a pair of which something has changed. */
static bool look_at_pair(fs_modulo_state *s, uint32_t pair) {
  const fs_modulo_pair *x = &s->pair[pair];
  uint64_t a = fs_modulo_domain(s, x->claim_a), b = fs_modulo_domain(s, x->claim_b);
  if (s->cell[s->pair0 + pair] != FS_MODULO_OPEN) {
    return true;
  }
  if (!x->shared && (a & b) == 0) {
    return fs_modulo_set(s, s->pair0 + pair, FS_MODULO_APART);
  }
  fs_modulo_window w = fs_modulo_pair_window(s, pair);
  bool share = x->shared || (a == b && fs_modulo_single(a));
  if (w.low > w.high) {
    return !share && (!fs_modulo_single(a) || fs_modulo_put_domain(s, x->claim_b, b & ~a)) &&
           (!fs_modulo_single(b) || fs_modulo_put_domain(s, x->claim_a, a & ~b));
  }
  return !share || w.low < w.high || fs_modulo_put_pair(s, pair, w.low);
}

/* --- loads --- */

/* Sums up to this are told exactly. */
enum { MOST_SUM = 512, SUM_BITS = 64 };

/* Adds a number to all sums that are bits of a set. */
static void add_to_sums(uint64_t *set, uint32_t words, uint32_t number) {
  uint32_t far = number / SUM_BITS, by = number % SUM_BITS;
  for (uint32_t i = words; i-- > far;) {
    uint64_t below = by > 0 && i > far ? set[i - far - 1] >> (SUM_BITS - by) : 0;
    set[i] |= set[i - far] << by | below;
  }
}

/* How much of what a track has left can be used by claims that have no track yet: the largest sum
 * of some of them. */
static int64_t usable(const fs_modulo_state *s, uint32_t g, uint32_t bit, int64_t left) {
  const fs_modulo_body *b = s->b;
  int64_t most = left / s->scale;
  if (most >= MOST_SUM) {
    return left;
  }
  uint64_t set[MOST_SUM / SUM_BITS] = {1};
  uint32_t words = (uint32_t)most / SUM_BITS + 1;
  for (uint32_t k = b->member0[g]; k < b->member0[g + 1]; k++) {
    const fs_modulo_claim *c = &b->claim[b->member[k]];
    uint64_t domain = fs_modulo_domain(s, b->member[k]);
    if (!fs_modulo_single(domain) && (domain >> bit & 1) != 0 && c->hold <= most) {
      add_to_sums(set, words, (uint32_t)c->hold);
    }
  }
  while ((set[most / SUM_BITS] >> (most % SUM_BITS) & 1) == 0) {
    most--;
  }
  return most * s->scale;
}

/* Do the claims of a group that have no track yet fit into what its tracks have left? */
static bool group_fits(const fs_modulo_state *s, uint32_t g) {
  const fs_modulo_body *b = s->b;
  int64_t rest = 0, room = 0;
  for (uint32_t k = b->member0[g]; k < b->member0[g + 1]; k++) {
    uint32_t c = b->member[k];
    rest += fs_modulo_single(fs_modulo_domain(s, c)) ? 0 : b->claim[c].hold * s->scale;
  }
  for (uint32_t t = b->track0[g]; rest > room && t < b->track0[g + 1]; t++) {
    room += usable(s, g, t - b->track0[g], s->period - s->cell[s->load0 + t]);
  }
  return rest <= room;
}

/* Takes a track that has become full from the claims that do not fit there any more. */
static bool close_track(fs_modulo_state *s, uint32_t g, uint32_t bit) {
  const fs_modulo_body *b = s->b;
  int64_t left = s->period - s->cell[s->load0 + b->track0[g] + bit];
  for (uint32_t k = b->member0[g]; k < b->member0[g + 1]; k++) {
    uint32_t c = b->member[k];
    uint64_t domain = fs_modulo_domain(s, c);
    if (!fs_modulo_single(domain) && b->claim[c].hold * s->scale > left &&
        !fs_modulo_put_domain(s, c, domain & ~(UINT64_C(1) << bit))) {
      return false;
    }
  }
  return true;
}

static bool give_track(fs_modulo_state *s, uint32_t claim, uint32_t bit) {
  const fs_modulo_claim *c = &s->b->claim[claim];
  uint32_t load = s->load0 + s->b->track0[c->group] + bit;
  if (!fs_modulo_set(s, load, s->cell[load] + c->hold * s->scale) ||
      s->cell[load] > fs_modulo_round(s, claim) || !group_fits(s, c->group)) {
    s->weight[s->n_pairs + claim]++;
    return false;
  }
  return close_track(s, c->group, bit) && (!s->b->held_back || fs_modulo_hold_claim(s, claim));
}

bool fs_modulo_begin_claim(fs_modulo_state *s, uint32_t claim) {
  assert(claim < s->b->n_claims);
  uint64_t domain = fs_modulo_domain(s, claim);
  return domain != 0 && (!fs_modulo_single(s->b->claim[claim].domain) ||
                         give_track(s, claim, (uint32_t)__builtin_ctzll(domain)));
}

bool fs_modulo_put_domain(fs_modulo_state *s, uint32_t claim, uint64_t domain) {
  assert(claim < s->b->n_claims);
  uint64_t old = fs_modulo_domain(s, claim);
  domain &= old;
  if (domain == old) {
    return true;
  }
  if (domain == 0 || !fs_modulo_set(s, s->domain0 + claim, (int64_t)domain)) {
    return false;
  }
  for (uint32_t k = s->of0[claim]; k < s->of0[claim + 1]; k++) {
    uint32_t pair = s->of[k];
    if (!s->is_waiting[pair]) {
      s->is_waiting[pair] = true;
      s->waiting[s->n_waiting++] = pair;
    }
  }
  return !fs_modulo_single(domain) || give_track(s, claim, (uint32_t)__builtin_ctzll(domain));
}

bool fs_modulo_propagate(fs_modulo_state *s) {
  assert(s->part != NULL);
  do {
    while (s->n_waiting > 0) {
      uint32_t pair = s->waiting[--s->n_waiting];
      s->is_waiting[pair] = false;
      s->steps++;
      if (!look_at_pair(s, pair)) {
        s->weight[pair]++;
        return false;
      }
    }
    if (!fs_modulo_propagate_rings(s)) {
      return false;
    }
  } while (s->n_waiting > 0);
  return true;
}

/* --- cliques --- */

/* Paths keep two starts apart: if start(b) - start(a) lies between two neighbouring multiples of
 * the period, these are the gaps. */
static void widen_gaps(const fs_modulo_state *s, uint32_t a, uint32_t b, int64_t *to,
                       int64_t *from) {
  int64_t there = fs_modulo_path(s, a, b), back = fs_modulo_path(s, b, a);
  if (there == FS_MODULO_FAR || back == FS_MODULO_FAR) {
    return;
  }
  int64_t k = fs_ceiling_div(there, s->period) - 1;
  int64_t ahead = there - k * s->period, behind = back + (k + 1) * s->period;
  if (behind > 0) {
    *to = ahead > *to ? ahead : *to;
    *from = behind > *from ? behind : *from;
  }
}

static fs_status heaviest_clique(fs_modulo_state *s, int64_t *worth) {
  FS_SCRATCH(scratch, s->ctx);
  fs_modulo_gaps g;
  fs_modulo_clique clique;
  uint64_t steps = CLIQUE_STEPS;
  FS_TRY(fs_modulo_gaps_make(&scratch, s->b, false, &g));
  for (uint32_t a = 0; a < s->n; a++) {
    for (uint32_t b = 0; b < s->n; b++) {
      g.gap[a * s->n + b] *= s->scale;
    }
    for (uint32_t b = 0; b < a; b++) {
      widen_gaps(s, a, b, &g.gap[a * s->n + b], &g.gap[b * s->n + a]);
    }
  }
  FS_TRY(fs_modulo_clique_find(&scratch, &g, &steps, &clique));
  s->steps += s->n * (CLIQUE_STEPS - steps);
  *worth = clique.worth;
  return FSCHED_OK;
}

bool fs_modulo_cliques_fit(fs_modulo_state *s) {
  assert(s->n_waiting == 0);
  int64_t worth = 0;
  if (s->n <= FS_MODULO_CLIQUE_OPS) {
    s->status = heaviest_clique(s, &worth);
  }
  return s->status == FSCHED_OK && worth <= s->period;
}
