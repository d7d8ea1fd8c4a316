/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses by a learner: rectangles are items, an address is the start of one, its size the time
 * that it takes, and the capacity the makespan.  Those that are there at one moment take turns.
 *
 *      moment      t1   t2                             t1: a, b take turns; t2: b, c
 *      address  |  aaaa bbbb cc        becomes         starts of a, b, c
 *
 * Two that may share a place are one rectangle, or, where both fit side by side, two: all such
 * choices are asked for.  A placement upside down is one, too, so one pair has its order given. */
#include "search/learning/learner.h"
#include "search/spill/private.h"

enum { MOST_RECTANGLES = 128, MOST_CHOICES = 4 };

typedef struct deciding {
  const fs_placement *q;
  fs_arena *arena;
  uint32_t *leader;     /* per rectangle: of those that are one with it, the one of the least id */
  uint32_t *item;       /* per leader */
  uint32_t n;           /* items, each of one leader */
  uint32_t *of_item;    /* leaders */
  fs_tick *begin, *end; /* per item */
  uint32_t *choice;     /* pairs that need not be one */
  uint32_t n_choices;
  uint64_t *conflicts; /* left */
} deciding;

/* Lists the pairs of which both may fit beside all that is there with both for sure. */
static fs_status list_choices(deciding *d) {
  const fs_placement *q = d->q;
  FS_TRY(fs_new(d->arena, &d->choice, q->n_pairs));
  for (uint32_t k = 0; k < q->n_pairs; k++) {
    uint32_t a = q->pair_a[k], b = q->pair_b[k];
    fs_tick t = fs_max(q->begin[a], q->begin[b]);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < q->n; i++) {
      sum += q->begin[i] <= t && t < q->end[i] ? q->size[i] : 0;
    }
    for (uint32_t o = 0; o < q->n_pairs; o++) { /* that may share then */
      uint32_t x = q->pair_a[o], y = q->pair_b[o];
      bool there = q->begin[x] <= t && t < q->end[x] && q->begin[y] <= t && t < q->end[y];
      sum -= o != k && there ? fs_min(sum, q->size[x]) : 0;
    }
    if (sum <= q->capacity) {
      d->choice[d->n_choices++] = k;
    }
  }
  return FSCHED_OK;
}

static uint32_t leader_of(const deciding *d, uint32_t i) {
  while (d->leader[i] != i) {
    i = d->leader[i];
  }
  return i;
}

/* Makes items of the rectangles, where the choices that have a bit in `apart` are two. */
static void make_items(deciding *d, uint32_t apart) {
  const fs_placement *q = d->q;
  for (uint32_t i = 0; i < q->n; i++) {
    d->leader[i] = i;
  }
  for (uint32_t k = 0, next = 0; k < q->n_pairs; k++) {
    bool chosen = next < d->n_choices && d->choice[next] == k;
    uint32_t a = leader_of(d, q->pair_a[k]), b = leader_of(d, q->pair_b[k]);
    if (!chosen || (apart >> next & 1) == 0) {
      d->leader[fs_max(a, b)] = fs_min(a, b);
    }
    next += chosen;
  }
  d->n = 0;
  for (uint32_t i = 0; i < q->n; i++) {
    uint32_t leader = leader_of(d, i);
    if (leader == i) {
      d->item[i] = d->n;
      d->of_item[d->n] = i;
      d->begin[d->n] = q->begin[i];
      d->end[d->n++] = q->end[i];
    }
    uint32_t item = d->item[leader];
    d->begin[item] = fs_min(d->begin[item], q->begin[i]);
    d->end[item] = fs_max(d->end[item], q->end[i]);
  }
}

static bool is_pair(const fs_placement *q, uint32_t a, uint32_t b) {
  bool pair = false;
  for (uint32_t k = 0; k < q->n_pairs; k++) {
    pair = pair || (q->pair_a[k] == a && q->pair_b[k] == b) ||
           (q->pair_a[k] == b && q->pair_b[k] == a);
  }
  return pair;
}

/* Is some item of two that are there at one time, and may not share? */
static bool is_crowded(const deciding *d) {
  const fs_placement *q = d->q;
  bool crowded = false;
  for (uint32_t i = 0; i < q->n; i++) {
    for (uint32_t k = 0; k < i; k++) {
      bool meet = q->begin[i] < q->end[k] && q->begin[k] < q->end[i];
      crowded = crowded || (meet && leader_of(d, i) == leader_of(d, k) && !is_pair(q, i, k));
    }
  }
  return crowded;
}

static bool is_there(const deciding *d, uint32_t item, fs_tick t) {
  return d->begin[item] <= t && t < d->end[item];
}

/* Is what is there at the begin of an item not all there at a later begin? */
static bool is_largest(const deciding *d, uint32_t item) {
  fs_tick t = d->begin[item], end = FS_TICK_NONE;
  bool largest = true;
  for (uint32_t i = 0; i < d->n; i++) {
    end = is_there(d, i, t) ? fs_min(end, d->end[i]) : end;
  }
  for (uint32_t i = 0; i < d->n && largest; i++) {
    largest = (d->begin[i] <= t || d->begin[i] >= end) && (d->begin[i] != t || i >= item);
  }
  return largest;
}

/* Gives each item the moments at which it is there, as amounts. */
static fs_status make_moments(const deciding *d, fs_problem *p) {
  fs_tick *moment;
  FS_TRY(fs_new(d->arena, &moment, d->n));
  for (uint32_t i = 0; i < d->n; i++) {
    if (is_largest(d, i)) {
      moment[p->n_amounts++] = d->begin[i];
    }
  }
  FS_TRY(fs_new(d->arena, &p->amount_capacity, p->n_amounts));
  FS_TRY(fs_new(d->arena, &p->use0, (size_t)d->n + 1));
  FS_TRY(fs_new(d->arena, &p->use, (size_t)d->n * p->n_amounts));
  FS_TRY(fs_new(d->arena, &p->use_amount, (size_t)d->n * p->n_amounts));
  for (uint32_t k = 0; k < p->n_amounts; k++) {
    p->amount_capacity[k] = 1;
  }
  p->use0[0] = 0;
  for (uint32_t i = 0, n = 0; i < d->n; i++) {
    for (uint32_t k = 0; k < p->n_amounts; k++) {
      if (is_there(d, i, moment[k])) {
        p->use_amount[n] = 1;
        p->use[n++] = k;
      }
    }
    p->use0[i + 1] = n;
  }
  return FSCHED_OK;
}

/* The two largest that are there at one time have an order; *first: FS_NONE where none are. */
static void find_order(const deciding *d, uint32_t *first, uint32_t *second) {
  uint64_t most = 0;
  *first = *second = FS_NONE;
  for (uint32_t i = 0; i < d->n; i++) {
    for (uint32_t k = i + 1; k < d->n; k++) {
      uint64_t sum = d->q->size[d->of_item[i]] + d->q->size[d->of_item[k]];
      if (sum > most && d->begin[i] < d->end[k] && d->begin[k] < d->end[i]) {
        most = sum;
        *first = i;
        *second = k;
      }
    }
  }
}

static fs_status make_edges(const deciding *d, fs_problem *p) {
  uint32_t first, second;
  find_order(d, &first, &second);
  p->n_edges = first != FS_NONE;
  FS_TRY(fs_new_zero(d->arena, &p->pred0, (size_t)d->n + 1));
  FS_TRY(fs_new_zero(d->arena, &p->succ0, (size_t)d->n + 1));
  FS_TRY(fs_new(d->arena, &p->pred, 1));
  FS_TRY(fs_new(d->arena, &p->succ, 1));
  FS_TRY(fs_new(d->arena, &p->topo, d->n));
  for (uint32_t i = 0; i < d->n; i++) { /* the first of the two has the lesser id */
    p->topo[i] = i;
    p->succ0[i + 1] = p->n_edges > 0 && i >= first;
    p->pred0[i + 1] = p->n_edges > 0 && i >= second;
  }
  if (p->n_edges > 0) {
    p->succ[0] = second;
    p->pred[0] = first;
  }
  return FSCHED_OK;
}

static fs_status make_form(const deciding *d, fs_problem *p) {
  uint8_t *gang;
  p->n_items = d->n;
  p->exact = true;
  p->horizon = d->q->capacity;
  FS_TRY(fs_new(d->arena, &p->time, d->n));
  FS_TRY(fs_new_zero(d->arena, &p->head, d->n));
  FS_TRY(fs_new_zero(d->arena, &p->tail, d->n));
  FS_TRY(fs_new_zero(d->arena, &p->path, d->n));
  FS_TRY(fs_new_zero(d->arena, &p->choice0, (size_t)d->n + 1));
  FS_TRY(fs_new(d->arena, &gang, d->n));
  memset(gang, 1, d->n);
  p->gang = gang;
  for (uint32_t i = 0; i < d->n; i++) {
    p->time[i] = p->tail[i] = d->q->size[d->of_item[i]];
  }
  FS_TRY(make_moments(d, p));
  return make_edges(d, p);
}

static bool stops(void *user) {
  const fs_placement *q = user;
  return q->stop != NULL && q->stop(q->user);
}

static fs_status ask_learner(deciding *d, fs_learner *l, uint64_t *address, fs_decision *exists) {
  fs_placement q = *d->q;
  fs_learned found = fs_learner_limit(l, q.capacity)
                         ? fs_learner_search(l, *d->conflicts, stops, &q)
                         : FS_LEARNED_NONE;
  *d->conflicts -= fs_min(*d->conflicts, l->conflicts);
  *exists =
      found == FS_LEARNED_NOTHING ? fs_not_decided() : fs_decided_by(found == FS_LEARNED_SCHEDULE);
  for (uint32_t i = 0; i < q.n && exists->is == FS_YES; i++) {
    address[i] = fs_learner_start(l, d->item[leader_of(d, i)]);
  }
  return l->status;
}

static fs_status ask_choice(deciding *d, fsched_context *ctx, uint32_t apart, uint64_t *address,
                            uint64_t *work, fs_decision *exists) {
  FS_SCRATCH(arena, ctx);
  fs_arena *outer = d->arena;
  fs_problem p = {.ctx = ctx};
  fs_learner l = {0};
  make_items(d, apart);
  *exists = fs_decided_by(false);
  if (is_crowded(d)) {
    return FSCHED_OK;
  }
  d->arena = &arena;
  fs_status status = make_form(d, &p);
  if (status == FSCHED_OK && !fs_learner_knows(&p)) { /* too many bytes */
    *exists = fs_not_decided();
  } else if (status == FSCHED_OK) {
    status = fs_learner_init(&l, &p, &arena);
    if (status == FSCHED_OK) {
      status = ask_learner(d, &l, address, exists);
    }
    *work += l.work;
    fs_learner_release(&l);
  }
  d->arena = outer;
  return status;
}

fs_status fs_spills_decide(fsched_context *ctx, const fs_placement *q, uint64_t *conflicts,
                           uint64_t *work, uint64_t *address, fs_decision *exists) {
  assert(q->given == NULL);
  FS_SCRATCH(arena, ctx);
  deciding d = {.q = q, .arena = &arena, .conflicts = conflicts};
  *exists = fs_not_decided();
  if (q->n == 0 || q->n > MOST_RECTANGLES) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&arena, &d.leader, q->n));
  FS_TRY(fs_new(&arena, &d.item, q->n));
  FS_TRY(fs_new(&arena, &d.of_item, q->n));
  FS_TRY(fs_new(&arena, &d.begin, q->n));
  FS_TRY(fs_new(&arena, &d.end, q->n));
  FS_TRY(list_choices(&d));
  bool all = d.n_choices <= MOST_CHOICES;
  for (uint32_t apart = 0; apart < 1u << (all ? d.n_choices : 0) && *conflicts > 0; apart++) {
    fs_decision one;
    FS_TRY(ask_choice(&d, ctx, apart, address, work, &one));
    if (one.is == FS_YES) {
      *exists = one;
      return FSCHED_OK;
    }
    all = all && one.is == FS_NO;
  }
  *exists = all && *conflicts > 0 ? fs_decided_by(false) : fs_not_decided();
  return FSCHED_OK;
}
