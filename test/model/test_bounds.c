/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds compared with the optimum: serial scheduling in every order makes every active
 * schedule of small random graphs, and none may end before the bound.  Where bounds are known to be
 * tight they have to be. */
#include <stdio.h>
#include <string.h>

#include "kit/gen.h"
#include "model/bounds/bounds.h"
#include "model/handle.h"

#include "kit/context.h"

enum { MAX_OPS = 6, HORIZON = 64 };

typedef struct bounds_search {
  const fsched_graph *g;
  fs_tick start[MAX_OPS];
  uint64_t power[HORIZON]; /* units of resource 0 in use */
  uint32_t running[HORIZON];
  uint8_t busy[8][HORIZON]; /* which queues are busy */
  fs_tick best;
} bounds_search;

static bool fits(const bounds_search *s, uint32_t op, uint32_t queue, fs_tick t) {
  const fsched_graph *g = s->g;
  uint64_t amount = g->op_use0[op] < g->op_use0[op + 1] ? g->use_amount[g->op_use0[op]] : 0;
  for (fs_tick u = t; u < t + g->op_time[op]; u++) {
    if (s->busy[queue][u] || s->power[u] + amount > g->target.resource_capacity[0] ||
        (g->target.concurrency != 0 && s->running[u] >= g->target.concurrency)) {
      return false;
    }
  }
  return true;
}

static void put(bounds_search *s, uint32_t op, uint32_t queue, fs_tick t, int sign) {
  const fsched_graph *g = s->g;
  uint64_t amount = g->op_use0[op] < g->op_use0[op + 1] ? g->use_amount[g->op_use0[op]] : 0;
  for (fs_tick u = t; u < t + g->op_time[op]; u++) {
    s->busy[queue][u] = sign > 0;
    s->power[u] += sign > 0 ? amount : (uint64_t)0 - amount;
    s->running[u] += sign > 0 ? 1 : (uint32_t)-1;
  }
}

/* Places each of the remaining ops whose predecessors are placed, at its earliest time on each
 * queue. */
static void explore(bounds_search *s, uint32_t done, fs_tick end) {
  const fsched_graph *g = s->g;
  if (done == (1u << g->n_ops) - 1) {
    s->best = fs_min(s->best, end);
    return;
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    fs_tick ready = 0;
    bool possible = !(done >> op & 1);
    for (uint32_t p = g->pred0[op]; possible && p < g->pred0[op + 1]; p++) {
      possible = done >> g->pred[p] & 1;
      ready = fs_max(ready, s->start[g->pred[p]] + g->op_time[g->pred[p]]);
    }
    uint32_t d = g->op_domain[op];
    for (uint32_t i = g->target.domain_queue0[d]; possible && i < g->target.domain_queue0[d + 1];
         i++) {
      uint32_t queue = g->target.domain_queue[i];
      fs_tick t = ready;
      while (!fits(s, op, queue, t)) {
        t++;
      }
      s->start[op] = t;
      put(s, op, queue, t, 1);
      explore(s, done | 1u << op, fs_max(end, t + g->op_time[op]));
      put(s, op, queue, t, -1);
    }
  }
}

static fsched_graph *random_graph(uint64_t seed) {
  fs_rng rng = {seed};
  fsched_builder *b;
  uint32_t id;
  ck_assert_int_eq(fsched_builder_create(ctx, "small", &b), FSCHED_OK);
  for (uint32_t q = 0, n = 1 + fs_rng_below(&rng, 3); q < n; q++) {
    char name[8];
    (void)snprintf(name, sizeof name, "q%u", (unsigned char)q);
    fsched_queue_desc desc = {
        .size = sizeof desc, .name = name, .queue_class = q == 2 ? "other" : "compute"};
    ck_assert_int_eq(fsched_builder_queue(b, &desc, &id), FSCHED_OK);
  }
  ck_assert_int_eq(fsched_builder_resource(b, "power", 5, &id), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_concurrency(b, fs_rng_below(&rng, 3)), FSCHED_OK);
  uint32_t n_ops = 2 + fs_rng_below(&rng, MAX_OPS - 2);
  for (uint32_t op = 0; op < n_ops; op++) {
    char name[8];
    (void)snprintf(name, sizeof name, "o%u", (unsigned char)op);
    fsched_op_desc desc = {
        .size = sizeof desc, .name = name, .has_time = 1, .time = fs_rng_below(&rng, 5)};
    ck_assert_int_eq(fsched_builder_op(b, &desc, &id), FSCHED_OK);
    for (uint32_t before = 0; before < op; before++) {
      if (fs_rng_one_in(&rng, 3)) {
        ck_assert_int_eq(fsched_builder_after(b, op, before), FSCHED_OK);
      }
    }
    if (fs_rng_one_in(&rng, 2)) {
      ck_assert_int_eq(fsched_builder_use(b, op, 0, 1 + fs_rng_below(&rng, 5)), FSCHED_OK);
    }
  }
  fsched_graph *g;
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_OK);
  fsched_builder_destroy(b);
  return g;
}

START_TEST(never_above_the_optimum)
{
  unsigned tight = 0, compiled_tight = 0;
  for (uint64_t seed = 0; seed < 150; seed++) {
    fsched_graph *g = random_graph(seed);
    fs_lower_bounds bound;
    ck_assert_int_eq(fs_graph_lower_bounds(ctx, g, &bound), FSCHED_OK);
    bounds_search s = {.g = g, .best = UINT64_MAX};
    explore(&s, 0, 0);
    ck_assert_msg(bound.all <= s.best, "seed %llu: bound %llu, optimum %llu",
                  (unsigned long long)seed, (unsigned long long)bound.all,
                  (unsigned long long)s.best);
    fsched_schedule *schedule;
    ck_assert_int_eq(fsched_compile(ctx, g, NULL, &schedule, NULL), FSCHED_OK);
    ck_assert_uint_ge(schedule->schedule->makespan, s.best);
    tight += bound.all == s.best;
    compiled_tight += schedule->schedule->makespan == s.best;
    fsched_schedule_destroy(schedule);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_ge(tight, 135);
  ck_assert_uint_ge(compiled_tight, 145);
}
END_TEST

static fs_tick bound_of(const char *text) {
  fsched_graph *g = fs_parse(text);
  fs_lower_bounds bound;
  ck_assert_int_eq(fs_graph_lower_bounds(ctx, g, &bound), FSCHED_OK);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return bound.all;
}

START_TEST(known_bounds)
{
  /* There are a head of 2, four ops of 3 on two queues, and a tail of 5. */
  ck_assert_uint_eq(
      bound_of("fsched: 1\nname: f\n"
               "target: {queues: [{name: a}, {name: b}, {name: c, class: x}]}\n"
               "ops:\n  - {name: h, on: x, time: 2}\n"
               "  - {name: p, time: 3, after: [h]}\n  - {name: q, time: 3, after: [h]}\n"
               "  - {name: r, time: 3, after: [h]}\n  - {name: s, time: 3, after: [h]}\n"
               "  - {name: t, on: x, time: 5, after: [p, q, r, s]}\n"),
      2 + 6 + 5);
  /* Two such parts in series: neither the path nor the work alone gives this bound. */
  ck_assert_uint_eq(bound_of("fsched: 1\nname: f\ntarget: {queues: [{name: a}, {name: b}]}\n"
                             "ops:\n  - {name: p, time: 4}\n  - {name: q, time: 4}\n"
                             "  - {name: r, time: 4}\n  - {name: cut, after: [p, q, r]}\n"
                             "  - {name: s, time: 4, after: [cut]}\n"
                             "  - {name: t, time: 4, after: [cut]}\n"
                             "  - {name: u, time: 4, after: [cut]}\n"),
                    6 + 1 + 6);
  /* Some copies cannot be avoided: 4 reads of 3 ticks, and a write of 2 after the last op. */
  ck_assert_uint_eq(
      bound_of("fsched: 1\nname: f\ntarget:\n  queues: [{name: a}, {name: d, class: dma}]\n"
               "  memories:\n    - {name: m, capacity: 100, backing: store,\n"
               "       spill: {on: dma, write: {fixed: 2}, read: {fixed: 3}}}\n"
               "    - {name: store}\n"
               "buffers: [{name: i, size: 1, io: input}, {name: j, size: 1, io: input}, "
               "{name: k, size: 1, io: constant}, {name: l, size: 1, io: input}, "
               "{name: o, size: 1, io: output}]\n"
               "ops: [{name: x, args: [{in: i}, {in: j}, {in: k}, {in: l}, {out: o}]}]\n"),
      4 * 3 + 1 + 2);
}
END_TEST

FS_SUITE(bounds, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, never_above_the_optimum, known_bounds);
}
