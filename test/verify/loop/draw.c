/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/loop/draw.h"

#include "verify/loop/brute.h"

typedef struct loop_drawer {
  fs_rng rng;
  fs_loop_draw *d;
  bool wild;
  uint32_t ii, careless; /* one wait in so many is forgotten or late; 0: none */
  uint32_t time[FS_DRAW_MEMBERS];
  uint32_t on[FS_DRAW_MEMBERS][FS_DRAW_COPIES]; /* set of queues */
  bool slow[FS_DRAW_MEMBERS];
  uint32_t n_waits, target[FS_DRAW_WAITS], at[FS_DRAW_WAITS], distance[FS_DRAW_WAITS];
} loop_drawer;

static uint32_t below(loop_drawer *w, uint32_t n) { return fs_rng_below(&w->rng, n); }

static void draw_ops(loop_drawer *w) {
  fs_loop_draw *d = w->d;
  d->r.copies = fs_rng_one_in(&w->rng, 2) ? 1 : 1 + below(w, FS_DRAW_COPIES);
  d->rules.n_members = 1 + below(w, FS_DRAW_MEMBERS);
  d->r.n_queues = 1 + below(w, FS_DRAW_QUEUES);
  w->ii = 1 + below(w, 4);
  bool alike = fs_rng_one_in(&w->rng, 2), any_slow = fs_rng_one_in(&w->rng, 2);
  for (uint32_t m = 0; m < d->rules.n_members; m++) {
    w->time[m] = below(w, 3 * w->ii);
    w->slow[m] = any_slow && fs_rng_one_in(&w->rng, 3);
    for (uint32_t c = 0; c < d->r.copies; c++) {
      w->on[m][c] = fs_rng_one_in(&w->rng, 6) ? 1 + below(w, (1u << d->r.n_queues) - 1)
                                              : 1u << below(w, d->r.n_queues);
      w->on[m][c] = alike ? w->on[m][0] : w->on[m][c];
    }
  }
}

/* Puts commands into a queue by their time in the period; ties go to the lower member. */
static void draw_queue(loop_drawer *w, uint32_t q) {
  fs_loop_draw *d = w->d;
  uint32_t u = d->r.copies, period = u * w->ii, key[FS_DRAW_COMMANDS];
  for (uint32_t k = 0; k < d->rules.n_members * u; k++) {
    uint32_t m = k / u, c = k % u, start = w->time[m] + c * w->ii;
    if ((w->on[m][c] >> q & 1) == 0) {
      continue;
    }
    uint32_t at = d->r.n_commands++, place = w->wild ? below(w, period) : start % period;
    for (; at > d->command0[q] && key[at - 1] > place; at--) {
      d->command[at] = d->command[at - 1];
      key[at] = key[at - 1];
    }
    key[at] = place;
    d->command[at] = (fs_rolled_command){.member = m,
                                         .copy = c,
                                         .shift = w->wild ? below(w, 3) : start / period,
                                         .slow = w->slow[m]};
  }
}

static uint32_t command_of(loop_drawer *w, uint32_t member, uint32_t copy) {
  uint32_t found = FS_NONE, n = 0;
  for (uint32_t c = 0; c < w->d->r.n_commands; c++) {
    if (w->d->command[c].member == member && w->d->command[c].copy == copy && below(w, ++n) == 0) {
      found = c;
    }
  }
  return found;
}

/* Makes `to` wait for `from`. */
static void add_waits(loop_drawer *w, uint32_t from, uint32_t to, int64_t distance) {
  uint32_t u = w->d->r.copies;
  for (uint32_t copy = 0; copy < u; copy++) {
    int64_t far = distance;
    if (w->careless > 0 && fs_rng_one_in(&w->rng, w->careless)) {
      far += (int64_t)below(w, 3) - 1;
      if (fs_rng_one_in(&w->rng, 2)) {
        continue;
      }
    }
    if (far >= 0) {
      uint32_t of = (uint32_t)((copy + 16 * u - (uint32_t)far) % u), k = w->n_waits++;
      w->target[k] = command_of(w, from, of);
      w->at[k] = command_of(w, to, copy);
      w->distance[k] = (uint32_t)far;
    }
  }
}

/* The least distance at which the times have `from` over before `to`. */
static int64_t distance_of(const loop_drawer *w, uint32_t from, uint32_t to) {
  int64_t late = (int64_t)w->time[from] + 1 - (int64_t)w->time[to] + 64 * w->ii;
  return (late + w->ii - 1) / w->ii - 64;
}

static void draw_order(loop_drawer *w) {
  uint32_t from = below(w, w->d->rules.n_members), to = below(w, w->d->rules.n_members);
  int64_t least = distance_of(w, from, to), distance = least > 0 ? least : 0;
  if (distance > 3) {
    return;
  }
  distance += below(w, 2);
  w->d->order[w->d->rules.n_orders++] = (fs_loop_order){from, to, (uint32_t)distance};
  add_waits(w, from, to, distance - (distance > least ? below(w, 2) : 0));
}

static void draw_ring(loop_drawer *w) {
  fs_rolled_loop *r = &w->d->r;
  fs_rolled_ring ring = {below(w, w->d->rules.n_members), 1, 0, 0};
  if (r->n_rings > 0) {
    ring.reader0 = r->ring[r->n_rings - 1].reader0 + r->ring[r->n_rings - 1].n_readers;
  }
  fs_rolled_reader *reader = &r->reader[ring.reader0];
  for (uint32_t k = below(w, 4); k > 0; k--) {
    uint32_t m = below(w, w->d->rules.n_members);
    int64_t least = distance_of(w, ring.writer, m),
            back = (least > 0 ? least : 0) + below(w, 3) / 2;
    int64_t need = back + (m == ring.writer ? 0 : distance_of(w, m, ring.writer));
    if (back <= 3 && need <= 5) {
      reader[ring.n_readers++] = (fs_rolled_reader){m, (uint32_t)back};
      ring.depth = need > ring.depth ? (uint32_t)need : ring.depth;
    }
  }
  ring.depth += ring.depth < 5 && fs_rng_one_in(&w->rng, 4);
  ring.depth -= ring.depth > 1 && fs_rng_one_in(&w->rng, 12);
  add_waits(w, ring.writer, ring.writer, ring.depth);
  for (uint32_t k = 0; k < ring.n_readers; k++) {
    int64_t left = (int64_t)ring.depth - reader[k].back;
    add_waits(w, ring.writer, reader[k].member, reader[k].back);
    if (reader[k].member != ring.writer || left > 0) {
      add_waits(w, reader[k].member, ring.writer, left);
    }
  }
  r->ring[r->n_rings++] = ring;
}

static void draw_lane(loop_drawer *w) {
  fs_loop_draw *d = w->d;
  uint32_t a = below(w, d->rules.n_members), b = below(w, d->rules.n_members);
  d->lane[0] = a;
  d->lane[1] = b;
  d->lane0[1] = 2;
  d->rules.n_lanes = 1;
  add_waits(w, a, b, distance_of(w, a, b));
  add_waits(w, b, a, distance_of(w, b, a));
  add_waits(w, a, a, 1);
  add_waits(w, b, b, 1);
}

static void draw_wild_waits(loop_drawer *w) {
  for (uint32_t k = below(w, 4); k > 0; k--) {
    uint32_t from = below(w, w->d->rules.n_members), to = below(w, w->d->rules.n_members);
    add_waits(w, from, to, w->wild ? below(w, 4) : distance_of(w, from, to) + below(w, 2));
  }
}

/* Waits in the order of their commands. */
static void sort_waits(loop_drawer *w) {
  fs_loop_draw *d = w->d;
  for (uint32_t c = 0; c < d->r.n_commands; c++) {
    d->command[c].wait0 = d->r.n_waits;
    for (uint32_t k = 0; k < w->n_waits; k++) {
      if (w->at[k] == c) {
        d->wait[d->r.n_waits++] = (fs_rolled_wait){w->target[k], w->distance[k]};
        d->command[c].n_waits++;
      }
    }
  }
}

/* How many trips show what happens after prologue, epilogue and depths. */
static uint32_t trips_of(const fs_loop_draw *d) {
  uint32_t distance = 0, depth = 0, shift = 0;
  for (uint32_t k = 0; k < d->r.n_waits; k++) {
    distance = d->wait[k].distance > distance ? d->wait[k].distance : distance;
  }
  for (uint32_t k = 0; k < d->r.n_rings; k++) {
    depth = d->ring[k].depth > depth ? d->ring[k].depth : depth;
  }
  for (uint32_t k = 0; k < d->r.n_commands; k++) {
    shift = d->command[k].shift > shift ? d->command[k].shift : shift;
  }
  uint32_t trips = 2 * distance + 3 * depth + d->r.copies * (shift + 1) + 4;
  return trips < FS_BRUTE_TRIPS ? trips : FS_BRUTE_TRIPS;
}

void fs_loop_draw_any(uint64_t seed, fs_loop_draw *d) {
  static const uint32_t careless[] = {0, 0, 3, 12, 40};
  loop_drawer w = {.rng = {seed}, .d = d};
  memset(d, 0, sizeof *d);
  d->r.queue = d->queue;
  d->r.command0 = d->command0;
  d->r.command = d->command;
  d->r.wait = d->wait;
  d->r.ring = d->ring;
  d->r.reader = d->reader;
  d->rules.order = d->order;
  d->rules.lane0 = d->lane0;
  d->rules.lane = d->lane;
  w.wild = fs_rng_one_in(&w.rng, 6);
  w.careless = careless[below(&w, 5)];
  draw_ops(&w);
  for (uint32_t q = 0; q < d->r.n_queues; q++) {
    d->queue[q] = 2 * q;
    draw_queue(&w, q);
    d->command0[q + 1] = d->r.n_commands;
  }
  for (uint32_t k = below(&w, 4); k > 0; k--) {
    draw_order(&w);
  }
  for (uint32_t k = below(&w, 3); k > 0; k--) {
    draw_ring(&w);
  }
  if (fs_rng_one_in(&w.rng, 4)) {
    draw_lane(&w);
  }
  draw_wild_waits(&w);
  sort_waits(&w);
  d->trips = trips_of(d);
}
