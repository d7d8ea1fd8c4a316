/* SPDX-License-Identifier: Apache-2.0 */
#include "search/small_case.h"

#include <stdio.h>

#include "kit/context.h"

search_case fs_small_case(fs_rng *r, uint32_t most_ops, unsigned most_time) {
  search_case c = {.n = 2 + fs_rng_below(r, most_ops - 1)};
  c.tick = fs_rng_one_in(r, 4) ? UINT64_C(1) << 36 : 1;
  c.unit = fs_rng_one_in(r, 4) ? (UINT64_C(1) << 37) + 1 : 1;
  for (unsigned f = 0; f < FIELDS; f++) {
    c.capacity[f] = f < 2 ? 2 + fs_rng_below(r, 5) : 1 + fs_rng_below(r, 2);
  }
  for (uint32_t i = 0; i < c.n; i++) {
    c.time[i] = 1 + fs_rng_below(r, most_time);
    for (unsigned f = 0; f < 2; f++) {
      c.need[i][f] = fs_rng_one_in(r, 3) ? 0 : 1 + fs_rng_below(r, c.capacity[f]);
    }
    unsigned class = 2 + fs_rng_below(r, 2);
    c.need[i][class] = fs_rng_one_in(r, 4) ? c.capacity[class] : 1; /* all of it: a gang */
    for (uint32_t j = 0; j < i; j++) {
      c.after[i][j] = fs_rng_one_in(r, 4);
    }
  }
  return c;
}

static const char *const class_name[2] = {"x", "y"};
static const char *const queue_name[2][2] = {{"x0", "x1"}, {"y0", "y1"}};

static void add_target(const search_case *c, fsched_builder *b, uint32_t resource[2]) {
  for (unsigned k = 0; k < 2; k++) {
    for (unsigned q = 0; q < c->capacity[2 + k]; q++) {
      uint32_t id;
      fsched_queue_desc d = {
          .size = sizeof d, .name = queue_name[k][q], .queue_class = class_name[k]};
      ck_fs(ctx, fsched_builder_queue(b, &d, &id));
    }
    ck_fs(ctx,
          fsched_builder_resource(b, k == 0 ? "r0" : "r1", c->capacity[k] * c->unit, &resource[k]));
  }
}

fsched_graph *fs_small_graph(const search_case *c) {
  fsched_builder *b;
  fsched_graph *g;
  uint32_t resource[2], op[MOST_OPS];
  ck_fs(ctx, fsched_builder_create(ctx, "orders", &b));
  add_target(c, b, resource);
  for (uint32_t i = 0; i < c->n; i++) {
    char name[8];
    unsigned k = c->need[i][2] > 0 ? 0 : 1, queues = c->need[i][2 + k];
    (void)snprintf(name, sizeof name, "op%u", (unsigned)i);
    fsched_op_desc d = {.size = sizeof d, .name = name, .has_time = 1};
    d.time = c->time[i] * c->tick;
    d.on = queues == c->capacity[2 + k] && queues > 1 ? NULL : class_name[k];
    d.gang = d.on == NULL ? queue_name[k] : NULL;
    d.n_gang = d.on == NULL ? queues : 0;
    ck_fs(ctx, fsched_builder_op(b, &d, &op[i]));
    for (unsigned f = 0; f < 2; f++) {
      if (c->need[i][f] > 0) {
        ck_fs(ctx, fsched_builder_use(b, op[i], resource[f], c->need[i][f] * c->unit));
      }
    }
    for (uint32_t j = 0; j < i; j++) {
      if (c->after[i][j]) {
        ck_fs(ctx, fsched_builder_after(b, op[i], op[j]));
      }
    }
  }
  ck_fs(ctx, fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  return g;
}

/* ---- all orders, on a table of ticks */

enum { MOST_TICKS = 64 };

typedef struct search_orders {
  const search_case *c;
  unsigned used[MOST_TICKS][FIELDS], start[MOST_OPS], best;
} search_orders;

static bool has_room(const search_orders *o, uint32_t op, unsigned from) {
  for (unsigned t = from; t < from + o->c->time[op]; t++) {
    for (unsigned f = 0; f < FIELDS; f++) {
      if (o->used[t][f] + o->c->need[op][f] > o->c->capacity[f]) {
        return false;
      }
    }
  }
  return true;
}

static void occupy(search_orders *o, uint32_t op, bool put) {
  for (unsigned t = o->start[op]; t < o->start[op] + o->c->time[op]; t++) {
    for (unsigned f = 0; f < FIELDS; f++) {
      o->used[t][f] = put ? o->used[t][f] + o->c->need[op][f] : o->used[t][f] - o->c->need[op][f];
    }
  }
}

/* Tries all orders of what is left. */
static void try_orders(search_orders *o, unsigned placed, unsigned makespan) {
  if (makespan >= o->best) {
    return;
  }
  if (placed + 1 == 1U << o->c->n) {
    o->best = makespan;
    return;
  }
  for (uint32_t op = 0; op < o->c->n; op++) {
    unsigned from = 0;
    bool ready = (placed >> op & 1) == 0;
    for (uint32_t b = 0; b < op && ready; b++) {
      bool waits = o->c->after[op][b];
      ready = !waits || (placed >> b & 1) != 0;
      from = waits && o->start[b] + o->c->time[b] > from ? o->start[b] + o->c->time[b] : from;
    }
    if (!ready) {
      continue;
    }
    while (!has_room(o, op, from)) {
      from++;
    }
    o->start[op] = from;
    occupy(o, op, true);
    unsigned end = from + o->c->time[op];
    try_orders(o, placed | 1U << op, end > makespan ? end : makespan);
    o->start[op] = from;
    occupy(o, op, false);
  }
}

unsigned fs_small_least(const search_case *c) {
  search_orders o = {.c = c, .best = MOST_TICKS};
  try_orders(&o, 0, 0);
  return o.best;
}
