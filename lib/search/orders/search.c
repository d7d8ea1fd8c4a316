/* SPDX-License-Identifier: Apache-2.0 */
#include "search/orders/search.h"

#include "base/random.h"
#include "base/saturate.h"

enum {
  STRIDE = 16,       /* places from one saved state to the next, or more: */
  SAVED = 1 << 25,   /* bytes of saved states of an order */
  LOOK = 24,         /* places behind a change at which its gain is looked at, and again */
  SLACK = 4,         /* usual ops that an order may have lost there, and still gain later */
  STAGES = 192,      /* of a cycle, each a 64th colder */
  FIRST_LENGTH = 24, /* neighbours in each stage of the first cycle */
  NEAR = 8,          /* places between two ops that are brought together at random, or: */
  FAR = 60,
  VOLUMES = 12,     /* neighbours per op in the cycle of volumes */
  VOLUME_SHARE = 8, /* of the work of a schedule, for a volume */
  FLIPS = 3,        /* versions that change ends at once */
  /* Reserves, in FS_ORDER_PARTS: the least by amounts, where addresses are found sooner if much
   * is free, the most, between those that a cycle begins with, and neighbours for each change by up
   * to so much. */
  LEAST_RESERVE = 12,
  MOST_RESERVE = 28,
  RESERVE_STEP = 4,
  RESERVE_EVERY = 64,
  RESERVE_CHANGE = 3,
  /* Addresses of a search by amounts: the least parts, what is given up at once, tries, and what
   * one counts, in decoded orders. */
  LEAST_PARTS = 36,
  PARTS_STEP = 3,
  PLACE_TRIES = 4,
  PLACE_WORK = 48
};

static uint32_t below(fs_order_search *o, uint32_t n) { return fs_random_below(&o->random, n); }

static uint32_t least_reserve(const fs_order_search *o) { return o->parts > 0 ? LEAST_RESERVE : 0; }

static fs_status init_decoded(const fs_order_search *o, fs_decoded_order *x, fs_arena *arena) {
  const fsched_graph *g = o->d.g;
  FS_TRY(fs_new(arena, &x->order, g->n_ops));
  FS_TRY(fs_new(arena, &x->saved, ((size_t)(g->n_ops - 1) / o->stride + 1) * o->d.block_size));
  FS_TRY(fs_new(arena, &x->reached, g->n_ops));
  return fs_new(arena, &x->returned, g->n_args);
}

/* The time of an op, and of what it has to do with copies, in the mean. */
static uint64_t usual_cost(const fsched_graph *g) {
  uint64_t sum = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    sum = fs_add_most(sum, g->op_time[op]);
  }
  return 2 * sum / g->n_ops + 1;
}

fs_status fs_order_search_init(fs_order_search *o, const fsched_graph *g, uint64_t seed,
                               bool amounts, fs_arena *arena) {
  assert(fs_decoder_knows(g));
  *o = (fs_order_search){.random = seed, .best_makespan = FS_TICK_NONE, .usual = usual_cost(g)};
  FS_TRY(fs_decoder_init(&o->d, g, arena));
  if (amounts) {
    o->parts = FS_ORDER_PARTS;
    fs_decoder_use_amounts(&o->d, o->parts);
  }
  o->d.reserve = least_reserve(o);
  FS_TRY(fs_volume_init(&o->volume, &o->d, arena));
  size_t most = fs_max(1, SAVED / o->d.block_size);
  o->stride = (uint32_t)fs_max(STRIDE, g->n_ops / most + 1);
  FS_TRY(init_decoded(o, &o->now, arena));
  FS_TRY(init_decoded(o, &o->other, arena));
  FS_TRY(fs_new_zero(arena, &o->seen, g->n_ops));
  FS_TRY(fs_new(arena, &o->moved, g->n_ops));
  FS_TRY(fs_new(arena, &o->best, g->n_ops));
  return fs_new(arena, &o->best_opposite, g->n_versions);
}

/* ---- costs */

static uint64_t cost_so_far(const fs_order_search *o) {
  return 2 * o->d.run->makespan + o->d.run->copy_time;
}

static void keep_best(fs_order_search *o, const uint32_t *order) {
  const fsched_graph *g = o->d.g;
  if (o->d.run->makespan < o->best_makespan) {
    o->best_makespan = o->d.run->makespan;
    memcpy(o->best, order, g->n_ops * sizeof *order);
    memcpy(o->best_opposite, o->d.opposite, g->n_versions * sizeof *o->best_opposite);
    o->best_reserve = o->d.reserve;
  }
}

/* Decodes the order as a whole; false: it has no schedule. */
static bool decode_whole(fs_order_search *o, fs_decoded_order *x) {
  const fsched_graph *g = o->d.g;
  x->cost = UINT64_MAX;
  fs_decoder_begin(&o->d, x->order);
  for (uint32_t k = 0; k < g->n_ops; k++) {
    if (k % o->stride == 0) {
      fs_decoder_save(&o->d, x->saved + k / o->stride * o->d.block_size);
    }
    x->reached[k] = cost_so_far(o);
    o->work++;
    if (!fs_decoder_step(&o->d, k)) {
      return false;
    }
  }
  fs_decoder_finish(&o->d);
  x->cost = cost_so_far(o);
  x->n_returned = o->d.run->n_returns;
  memcpy(x->returned, o->d.returned, x->n_returned * sizeof *x->returned);
  keep_best(o, x->order);
  return true;
}

/* May the neighbour, which differs from the present order in places `from` to `to`, cost at most
 * `most`? */
static bool promises(fs_order_search *o, uint32_t from, uint32_t to, uint64_t most) {
  const fsched_graph *g = o->d.g;
  uint64_t gain =
      most - o->now.cost + SLACK * o->usual; /* of the cost so far, to be lost at most */
  uint32_t first = from / o->stride;
  fs_decoder_resume(&o->d, o->other.order, o->now.saved + first * o->d.block_size);
  for (uint32_t k = first * o->stride; k < g->n_ops; k++) {
    if (k > to && (k - to) % LOOK == 0 && cost_so_far(o) > o->now.reached[k] + gain) {
      return false;
    }
    o->work++;
    if (!fs_decoder_step(&o->d, k)) {
      return false;
    }
  }
  fs_decoder_finish(&o->d);
  return cost_so_far(o) <= most;
}

/* ---- neighbours */

/* The op at `to`, and what of its ancestors lies behind `from`, go right behind `from`. */
static void pull_up(fs_order_search *o, uint32_t from, uint32_t to) {
  const fsched_graph *g = o->d.g;
  uint32_t *order = o->other.order, n = 0, turn = ++o->turn;
  o->seen[order[to]] = turn;
  for (uint32_t k = to; k > from; k--) {
    for (uint32_t i = g->pred0[order[k]]; o->seen[order[k]] == turn && i < g->pred0[order[k] + 1];
         i++) {
      o->seen[g->pred[i]] = turn;
    }
  }
  for (int rest = 0; rest < 2; rest++) {
    for (uint32_t k = from + 1; k <= to; k++) {
      if ((o->seen[order[k]] != turn) == rest) {
        o->moved[n++] = order[k];
      }
    }
  }
  memcpy(order + from + 1, o->moved, n * sizeof *order);
}

/* The op at `from`, and what of its descendants lies before `to`, go right before `to`. */
static void push_down(fs_order_search *o, uint32_t from, uint32_t to) {
  const fsched_graph *g = o->d.g;
  uint32_t *order = o->other.order, n = 0, turn = ++o->turn;
  o->seen[order[from]] = turn;
  for (uint32_t k = from; k < to; k++) {
    for (uint32_t i = g->succ0[order[k]]; o->seen[order[k]] == turn && i < g->succ0[order[k] + 1];
         i++) {
      o->seen[g->succ[i]] = turn;
    }
  }
  for (int moved = 0; moved < 2; moved++) {
    for (uint32_t k = from; k < to; k++) {
      if ((o->seen[order[k]] == turn) == moved) {
        o->moved[n++] = order[k];
      }
    }
  }
  memcpy(order + from, o->moved, n * sizeof *order);
}

/* The two places of the order that the neighbour brings together. */
static fs_order_return choose_places(fs_order_search *o) {
  uint32_t n = o->d.g->n_ops, r = below(o, 10);
  if (r < 6 && o->now.n_returned > 0) {
    return o->now.returned[below(o, o->now.n_returned)];
  }
  uint32_t from = below(o, n - 1), far = 1 + below(o, r < 8 ? NEAR : FAR);
  return (fs_order_return){from, (uint32_t)fs_min(n - 1, (uint64_t)from + far)};
}

/* Versions of some op change ends; returns how many, in moved[]. */
static uint32_t choose_flips(fs_order_search *o, uint32_t at) {
  const fs_decoder *d = &o->d;
  uint32_t op = o->now.order[at], n = 0, touches = d->touch0[op + 1] - d->touch0[op];
  for (uint32_t i = 1 + below(o, FLIPS); i > 0 && touches > 0; i--) {
    o->moved[n++] = d->touch[d->touch0[op] + below(o, touches)].version;
  }
  return n;
}

static void flip_all(fs_order_search *o, const uint32_t *version, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    o->d.opposite[version[i]] ^= 1;
  }
}

/* A cost above the present one that is accepted: exponentially distributed, -log2 of a random
 * number by its leading zeros and the bits behind them. */
static uint64_t allowed_cost(fs_order_search *o) {
  uint64_t r = fs_random_next(&o->random) | 1;
  uint64_t zeros = (uint64_t)__builtin_clzll(r);
  uint64_t bits = zeros > 55 ? 0 : (r << zeros >> 55) & 255;
  return o->temperature * (zeros * 256 + 255 - bits) >> 16;
}

/* Another reserve, near the present one. */
static uint32_t change_reserve(fs_order_search *o) {
  uint32_t more = 1 + below(o, RESERVE_CHANGE), now = o->d.reserve, least = least_reserve(o);
  return below(o, 2) ? (uint32_t)fs_min(MOST_RESERVE, now + more)
                     : now - (uint32_t)fs_min(now - least, more);
}

static void exchange_orders(fs_order_search *o) {
  fs_decoded_order old = o->now;
  o->now = o->other;
  o->other = old;
}

static void copy_order(fs_order_search *o) {
  memcpy(o->other.order, o->now.order, o->d.g->n_ops * sizeof *o->now.order);
}

static fs_order_return move_ops(fs_order_search *o) {
  fs_order_return at = choose_places(o);
  (below(o, 2) ? pull_up : push_down)(o, at.from, at.to);
  return at;
}

static void measure_volume(fs_order_search *o, fs_decoded_order *x) {
  fs_volume_run(&o->volume, x->order);
  x->cost = o->volume.copy_time;
  x->n_returned = o->volume.n_returned;
  o->work += 1 + o->d.g->n_ops / VOLUME_SHARE;
}

static void try_volume(fs_order_search *o) {
  uint64_t most = o->now.cost + allowed_cost(o);
  copy_order(o);
  (void)move_ops(o);
  measure_volume(o, &o->other);
  if (o->other.cost <= most) {
    memcpy(o->other.returned, o->volume.returned, o->other.n_returned * sizeof *o->other.returned);
    exchange_orders(o);
  }
}

static void try_schedule(fs_order_search *o) {
  uint32_t version[FLIPS], n_flips = 0, reserve = o->d.reserve;
  uint64_t most = o->now.cost + allowed_cost(o);
  fs_order_return at;
  copy_order(o);
  if (below(o, RESERVE_EVERY) == 0) {
    at.from = at.to = 0;
    o->d.reserve = change_reserve(o);
  } else if (o->parts == 0 && below(o, 5) == 0) {
    at.from = at.to = below(o, o->d.g->n_ops);
    n_flips = choose_flips(o, at.from);
    memcpy(version, o->moved, n_flips * sizeof *version);
    flip_all(o, version, n_flips);
  } else {
    at = move_ops(o);
  }
  if (promises(o, at.from, at.to, most) && decode_whole(o, &o->other) && o->other.cost <= most) {
    exchange_orders(o);
  } else {
    flip_all(o, version, n_flips);
    o->d.reserve = reserve;
  }
}

/* ---- cycles */

/* Finds the reserve of the present order, which is decoded with it. */
static bool find_reserve(fs_order_search *o) {
  uint32_t best = o->d.reserve;
  bool any = decode_whole(o, &o->now);
  uint64_t least = o->now.cost;
  uint32_t reserve = least_reserve(o);
  for (; reserve <= MOST_RESERVE; reserve += RESERVE_STEP) {
    o->d.reserve = reserve;
    if (decode_whole(o, &o->now) && o->now.cost < least) {
      best = reserve;
      least = o->now.cost;
      any = true;
    }
  }
  o->d.reserve = best;
  return any && decode_whole(o, &o->now);
}

/* Volumes are worth a cycle where the present order copies more than it must. */
static void begin_volumes(fs_order_search *o) {
  const fsched_graph *g = o->d.g;
  measure_volume(o, &o->now);
  memcpy(o->now.returned, o->volume.returned, o->now.n_returned * sizeof *o->now.returned);
  o->coarse = true;
  o->stage = 0;
  o->length = o->left =
      o->now.cost > o->volume.least ? (uint64_t)VOLUMES * g->n_ops / STAGES + 1 : 1;
  o->temperature = o->usual * 256;
}

static void begin_cycle(fs_order_search *o, bool from_best) {
  o->length = from_best ? 2 * o->length : FIRST_LENGTH;
  o->left = o->length;
  o->stage = 0;
  o->temperature = o->usual * 256 * 3 / (from_best ? 16 : 8);
  if (from_best) {
    memcpy(o->d.opposite, o->best_opposite, o->d.g->n_versions * sizeof *o->d.opposite);
    memcpy(o->now.order, o->best, o->d.g->n_ops * sizeof *o->best);
    o->d.reserve = o->best_reserve;
  }
  if (!find_reserve(o)) {
    memcpy(o->now.order, o->best, o->d.g->n_ops * sizeof *o->best);
    o->d.reserve = o->best_reserve;
    (void)decode_whole(o, &o->now);
  }
}

static void next_stage(fs_order_search *o) {
  o->left = o->length;
  o->temperature -= o->temperature / 64;
  bool least = o->coarse && o->now.cost <= o->volume.least;
  if (++o->stage == STAGES || least) {
    bool coarse = o->coarse;
    o->coarse = false;
    begin_cycle(o, !coarse);
  }
}

void fs_order_search_offer(fs_order_search *o, const uint32_t *order) {
  assert(order != NULL);
  memcpy(o->other.order, order, o->d.g->n_ops * sizeof *order);
  if (decode_whole(o, &o->other) && (!o->any || o->other.cost < o->now.cost)) {
    exchange_orders(o);
    o->any = true;
  }
}

void fs_order_search_run(fs_order_search *o, uint64_t work, fs_tick bound, bool (*stop)(void *),
                         void *user) {
  assert(stop != NULL);
  uint64_t end = o->work + work;
  if (o->any && o->length == 0) {
    if (o->parts > 0) {
      begin_volumes(o);
    } else {
      begin_cycle(o, false);
    }
  }
  while (o->any && o->work < end && o->best_makespan > bound && !stop(user)) {
    (o->coarse ? try_volume : try_schedule)(o);
    if (--o->left == 0) {
      next_stage(o);
    }
  }
}

/* The best order takes so many parts of the memories, and the search goes on from it. */
static void take_parts(fs_order_search *o, uint32_t parts) {
  o->parts = parts;
  fs_decoder_use_amounts(&o->d, parts);
  memcpy(o->now.order, o->best, o->d.g->n_ops * sizeof *o->best);
  o->best_makespan = FS_TICK_NONE;
  (void)decode_whole(o, &o->now);
}

/* Looks for addresses of the best order with fewer and fewer parts. */
static fs_status place_best(fs_order_search *o, fsched_context *ctx, fs_tick known,
                            fs_schedule **out) {
  uint32_t parts = o->parts, before = parts;
  for (uint32_t tries = 0; *out == NULL && tries < PLACE_TRIES && parts >= LEAST_PARTS; tries++) {
    fs_decoder_use_amounts(&o->d, parts);
    o->work += o->d.g->n_ops;
    if (!fs_decoder_run(&o->d, o->best) || o->d.run->makespan >= known) {
      break;
    }
    o->work += (uint64_t)PLACE_WORK * o->d.g->n_ops;
    FS_TRY(fs_decoder_schedule(&o->d, ctx, o->best, out));
    parts -= *out == NULL ? PARTS_STEP : 0;
  }
  parts = *out != NULL ? (uint32_t)fs_min(parts + 1, FS_ORDER_PARTS)
                       : (uint32_t)fs_max(before - PARTS_STEP, LEAST_PARTS);
  take_parts(o, parts);
  return FSCHED_OK;
}

fs_status fs_order_search_schedule(fs_order_search *o, fsched_context *ctx, fs_tick known,
                                   fs_schedule **out) {
  assert(o->d.s == NULL);
  *out = NULL;
  if (o->best_makespan >= known || (o->coarse && o->parts > 0)) {
    return FSCHED_OK;
  }
  FS_SCRATCH(arena, ctx);
  uint8_t *now;
  uint32_t reserve = o->d.reserve;
  size_t n = o->d.g->n_versions * sizeof *now;
  FS_TRY(fs_new(&arena, &now, o->d.g->n_versions));
  memcpy(now, o->d.opposite, n);
  memcpy(o->d.opposite, o->best_opposite, n);
  o->d.reserve = o->best_reserve;
  fs_status status =
      o->parts > 0 ? place_best(o, ctx, known, out) : fs_decoder_schedule(&o->d, ctx, o->best, out);
  memcpy(o->d.opposite, now, n);
  o->d.reserve = o->parts > 0 ? o->best_reserve : reserve;
  return status;
}
