/* SPDX-License-Identifier: Apache-2.0 */
/* Tabu search: against all orders of small shops, tried one by one without any graph; heads and
 * tails against longest paths that are found from scratch after each move; job shops of known
 * makespans. */
#include "search/tabu/tabu.h"

#include <stdio.h>

#include "kit/gen.h"
#include "kit/turn.h"

#include "kit/context.h"

enum { MOST = 40, SMALL = 9, QUEUES = 3 };

/* Ops take turns on queues, or have one that suits all; after: [i][j]: i comes after j, j < i. */
typedef struct tabu_shop {
  uint32_t n;
  uint64_t time[MOST], wait;
  uint32_t queue[MOST];
  bool after[MOST][MOST];
} tabu_shop;

static tabu_shop random_shop(fs_rng *r, uint32_t most) {
  tabu_shop c = {.n = most / 2 + fs_rng_below(r, most / 2 + 1)};
  unsigned zeros = fs_rng_below(r, 3), after = (2 + fs_rng_below(r, 4)) * (most / SMALL);
  uint64_t unit = fs_rng_one_in(r, 4) ? UINT64_C(1) << 36 : 1;
  c.wait = fs_rng_one_in(r, 3) ? unit * (1 + fs_rng_below(r, 3)) : 0;
  for (uint32_t i = 0; i < c.n; i++) {
    c.time[i] = zeros == 2 && fs_rng_one_in(r, 3) ? 0 : unit * (1 + fs_rng_below(r, 9));
    c.queue[i] = fs_rng_below(r, QUEUES);
    for (uint32_t j = 0; j < i; j++) {
      c.after[i][j] = fs_rng_one_in(r, after);
    }
  }
  return c;
}

static fsched_graph *shop_graph(const tabu_shop *c) {
  char text[20000];
  int at = snprintf(text, sizeof text,
                    "fsched: 1\ntarget: {queues: [{name: q0}, {name: q1}, {name: q2}], wait: "
                    "%llu}\nops:\n",
                    (unsigned long long)c->wait);
  for (uint32_t i = 0; i < c->n; i++) {
    at += snprintf(text + at, sizeof text - (size_t)at, "  - {name: op%u, on: q%u, time: %llu",
                   (unsigned)i, (unsigned)c->queue[i], (unsigned long long)c->time[i]);
    const char *mark = ", after: [";
    for (uint32_t j = 0; j < i; j++) {
      if (c->after[i][j]) {
        at += snprintf(text + at, sizeof text - (size_t)at, "%sop%u", mark, (unsigned)j);
        mark = ", ";
      }
    }
    at += snprintf(text + at, sizeof text - (size_t)at, "%s}\n",
                   *mark == ',' && mark[2] == 'a' ? "" : "]");
  }
  return fs_parse(text);
}

/* ---- all orders */

typedef struct tabu_orders {
  const tabu_shop *c;
  uint64_t end[MOST], free[QUEUES], best;
} tabu_orders;

static void try_orders(tabu_orders *o, unsigned placed, uint64_t makespan) {
  const tabu_shop *c = o->c;
  if (makespan >= o->best) {
    return;
  }
  if (placed + 1 == 1U << c->n) {
    o->best = makespan;
    return;
  }
  for (uint32_t i = 0; i < c->n; i++) {
    uint64_t from = o->free[c->queue[i]], was = from;
    bool ready = (placed >> i & 1) == 0;
    for (uint32_t j = 0; j < i && ready; j++) {
      if (c->after[i][j]) {
        uint64_t end = o->end[j] + (c->queue[i] == c->queue[j] ? 0 : c->wait);
        ready = (placed >> j & 1) != 0;
        from = end > from ? end : from;
      }
    }
    if (ready) {
      o->end[i] = o->free[c->queue[i]] = from + c->time[i];
      try_orders(o, placed | 1U << i, o->end[i] > makespan ? o->end[i] : makespan);
      o->free[c->queue[i]] = was;
    }
  }
}

static uint64_t least_makespan(const tabu_shop *c) {
  tabu_orders o = {.c = c, .best = UINT64_MAX};
  try_orders(&o, 0, 0);
  return o.best;
}

/* The starts keep all that the shop asks, and the makespan is theirs. */
static bool is_schedule(const tabu_shop *c, const fs_tick *start, fs_tick makespan) {
  fs_tick last = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    last = fs_max(last, start[i] + c->time[i]);
    for (uint32_t j = 0; j < i; j++) {
      bool same = c->queue[i] == c->queue[j];
      bool apart = start[i] >= start[j] + c->time[j] || start[j] >= start[i] + c->time[i];
      bool behind = start[i] >= start[j] + c->time[j] + (same ? 0 : c->wait);
      if ((same && !apart) || (c->after[i][j] && !behind)) {
        return false;
      }
    }
  }
  return last == makespan;
}

static fs_problem *make_problem(const fsched_graph *g) {
  fs_problem *p;
  ck_fs(ctx, fs_problem_from_graph(ctx, g, UINT64_C(1) << 50, 0, &p));
  ck_assert_ptr_nonnull(p);
  return p;
}

START_TEST(as_all_orders)
{
  enum { CASES = 400 };
  unsigned moved = 0;
  for (uint64_t i = 0; i < CASES; i++) {
    uint64_t seed = fs_turn() << 16 | i;
    fs_rng r = {seed};
    tabu_shop c = random_shop(&r, SMALL);
    uint64_t least = least_makespan(&c);
    fsched_graph *g = shop_graph(&c);
    fs_problem *p = make_problem(g);
    fs_tabu t;
    ck_assert(fs_tabu_knows(p));
    ck_fs(ctx, fs_tabu_init(&t, p, i, &own_arena));
    fs_tabu_run(&t, 1, 0, NULL, NULL);
    moved += t.best_makespan > least;
    fs_tabu_run(&t, 2000, 0, NULL, NULL);
    ck_assert_msg(t.best_makespan == least, "seed %llu: %llu where %llu is least",
                  (unsigned long long)seed, (unsigned long long)t.best_makespan,
                  (unsigned long long)least);
    ck_assert_msg(is_schedule(&c, t.best_start, least), "seed %llu", (unsigned long long)seed);
    fs_problem_destroy(p);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(moved, CASES / 40);
}
END_TEST

/* ---- the graph after each move */

static fs_tick lag(const fs_problem *p, uint32_t a, uint32_t b) {
  return p->choice[p->choice0[a]] == p->choice[p->choice0[b]] ? 0 : p->wait;
}

/* Raises starts over orders and queues until nothing changes; false: something goes in a circle. */
static bool find_starts(const fs_problem *p, const fs_tabu_graph *g, fs_tick *start) {
  bool changed = true;
  memset(start, 0, p->n_items * sizeof *start);
  for (uint32_t round = 0; changed && round <= p->n_items; round++) {
    changed = false;
    for (uint32_t i = 0; i < p->n_items; i++) {
      uint32_t before = g->node[i].before;
      fs_tick from = before == g->n ? 0 : start[before] + p->time[before];
      for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
        uint32_t b = p->pred[e];
        from = fs_max(from, start[b] + p->time[b] + lag(p, b, i));
      }
      changed = changed || from > start[i];
      start[i] = fs_max(start[i], from);
    }
  }
  return !changed;
}

static void find_ends(const fs_problem *p, const fs_tabu_graph *g, fs_tick *tail) {
  for (uint32_t i = 0; i < p->n_items; i++) {
    tail[i] = p->time[i];
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < p->n_items; i++) {
      uint32_t after = g->node[i].after;
      fs_tick rest = after == g->n ? 0 : tail[after];
      for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
        rest = fs_max(rest, tail[p->succ[e]] + lag(p, i, p->succ[e]));
      }
      changed = changed || p->time[i] + rest > tail[i];
      tail[i] = fs_max(tail[i], p->time[i] + rest);
    }
  }
}

static void judge_graph(const fs_problem *p, const fs_tabu_graph *g) {
  fs_tick *start, *tail, makespan = 0;
  uint64_t mark = 0;
  fs_arena_mark before = fs_arena_set_mark(&own_arena);
  ck_fs(ctx, fs_new(&own_arena, &start, p->n_items));
  ck_fs(ctx, fs_new(&own_arena, &tail, p->n_items));
  ck_assert(find_starts(p, g, start));
  find_ends(p, g, tail);
  for (uint32_t i = 0; i < g->n; i++) {
    const fs_tabu_node *x = &g->node[i];
    ck_assert_uint_eq(x->head, start[i]);
    ck_assert_uint_eq(x->tail, tail[i]);
    ck_assert_uint_eq(g->order[x->place], i);
    ck_assert(x->before == g->n ||
              (g->node[x->before].after == i && g->node[x->before].rank + 1 == x->rank &&
               g->node[x->before].place < x->place));
    for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
      ck_assert_uint_lt(g->node[p->pred[e]].place, x->place);
    }
    makespan = fs_max(makespan, start[i] + p->time[i]);
    mark += fs_tabu_mark(i, x->rank);
  }
  ck_assert_uint_eq(g->makespan, makespan);
  ck_assert_uint_eq(g->mark, mark);
  fs_arena_reset(&own_arena, before);
}

/* A move of any two items of a queue, which may close a cycle. */
static void move_at_random(fs_tabu *t, const fs_problem *p, fs_rng *r, unsigned *made,
                           unsigned *none) {
  fs_tabu_graph *g = &t->g;
  uint32_t u = fs_rng_below(r, g->n), v = u;
  for (uint32_t far = 1 + fs_rng_below(r, 6); far > 0 && g->node[v].after != g->n; far--) {
    v = g->node[v].after;
  }
  if (u == v) {
    return;
  }
  fs_tabu_move m = {.u = u, .v = v, .forward = fs_rng_one_in(r, 2)};
  bool moved = fs_tabu_graph_move(g, &m);
  *made += moved;
  *none += !moved;
  judge_graph(p, g);
}

START_TEST(heads_and_tails)
{
  unsigned made = 0, none = 0;
  for (uint64_t i = 0; i < 30; i++) {
    fs_rng r = {fs_turn() << 16 | i};
    tabu_shop c = random_shop(&r, MOST);
    fsched_graph *g = shop_graph(&c);
    fs_problem *p = make_problem(g);
    fs_tabu t;
    ck_fs(ctx, fs_tabu_init(&t, p, i, &own_arena));
    fs_tabu_graph_take(&t.g, p->topo);
    judge_graph(p, &t.g);
    for (unsigned k = 0; k < 60; k++) {
      move_at_random(&t, p, &r, &made, &none);
    }
    for (unsigned k = 0; k < 60; k++) {
      fs_tabu_run(&t, 1, 0, NULL, NULL);
      judge_graph(p, &t.g);
    }
    fs_problem_destroy(p);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(made, 300);
  fs_assert_seen(none, 30);
}
END_TEST

/* ---- known shops */

static fsched_graph *shop_of(const unsigned *pair, unsigned jobs, unsigned machines) {
  fsched_builder *b;
  fsched_graph *g;
  ck_fs(ctx, fsched_builder_create(ctx, "shop", &b));
  for (unsigned m = 0; m < machines; m++) {
    char name[16];
    uint32_t id;
    (void)snprintf(name, sizeof name, "m%u", m);
    fsched_queue_desc d = {.size = sizeof d, .name = name};
    ck_fs(ctx, fsched_builder_queue(b, &d, &id));
  }
  for (unsigned k = 0; k < jobs * machines; k++) {
    char name[24], on[16];
    uint32_t id;
    (void)snprintf(name, sizeof name, "op%u", k);
    (void)snprintf(on, sizeof on, "m%u", pair[2 * k]);
    fsched_op_desc d = {
        .size = sizeof d, .name = name, .has_time = 1, .time = pair[2 * k + 1], .on = on};
    ck_fs(ctx, fsched_builder_op(b, &d, &id));
    if (k % machines > 0) {
      ck_fs(ctx, fsched_builder_after(b, id, id - 1));
    }
  }
  ck_fs(ctx, fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  return g;
}

static fs_tick best_of_shop(const unsigned *pair, unsigned jobs, unsigned machines, uint64_t moves,
                            fs_tick bound) {
  fsched_graph *g = shop_of(pair, jobs, machines);
  fs_problem *p = make_problem(g);
  fs_tabu t;
  ck_fs(ctx, fs_tabu_init(&t, p, 0, &own_arena));
  fs_tabu_run(&t, moves, bound, NULL, NULL);
  fs_tick found = t.best_makespan;
  fs_problem_destroy(p);
  fsched_graph_destroy(g);
  return found;
}

/* Fisher, Thompson (1963): 6 jobs, 10 jobs; their least makespans are 55 and 930. */
static const unsigned ft06[] = {2, 1,  0, 3,  1, 6, 3, 7, 5, 3, 4, 6, 1, 8,  2, 5, 4, 10,
                                5, 10, 0, 10, 3, 4, 2, 5, 3, 4, 5, 8, 0, 9,  1, 1, 4, 7,
                                1, 5,  0, 5,  2, 5, 3, 3, 4, 8, 5, 9, 2, 9,  1, 3, 4, 5,
                                5, 4,  0, 3,  3, 1, 1, 3, 3, 3, 5, 9, 0, 10, 4, 4, 2, 1};
static const unsigned ft10[] = {
    0, 29, 1, 78, 2, 9,  3, 36, 4, 49, 5, 11, 6, 62, 7, 56, 8, 44, 9, 21,  //
    0, 43, 2, 90, 4, 75, 9, 11, 3, 69, 1, 28, 6, 46, 5, 46, 7, 72, 8, 30,  //
    1, 91, 0, 85, 3, 39, 2, 74, 8, 90, 5, 10, 7, 12, 6, 89, 9, 45, 4, 33,  //
    1, 81, 2, 95, 0, 71, 4, 99, 6, 9,  8, 52, 7, 85, 3, 98, 9, 22, 5, 43,  //
    2, 14, 0, 6,  1, 22, 5, 61, 3, 26, 4, 69, 8, 21, 7, 49, 9, 72, 6, 53,  //
    2, 84, 1, 2,  5, 52, 3, 95, 8, 48, 9, 72, 0, 47, 6, 65, 4, 6,  7, 25,  //
    1, 46, 0, 37, 3, 61, 2, 13, 6, 32, 5, 21, 9, 32, 8, 89, 7, 30, 4, 55,  //
    2, 31, 0, 86, 1, 46, 5, 74, 4, 32, 6, 88, 8, 19, 9, 48, 7, 36, 3, 79,  //
    0, 76, 1, 69, 3, 76, 5, 51, 2, 85, 9, 11, 6, 40, 7, 89, 4, 26, 8, 74,  //
    1, 85, 0, 13, 2, 61, 6, 7,  8, 64, 9, 76, 5, 47, 3, 52, 4, 90, 7, 45};

START_TEST(known_shops)
{
  ck_assert_uint_eq(best_of_shop(ft06, 6, 6, 20000, 0), 55);
  ck_assert_uint_eq(best_of_shop(ft10, 10, 10, 1000000, 930), 930);
}
END_TEST

/* ---- limits */

static void run_in_parts(const fs_problem *p, uint64_t part, uint64_t parts, fs_tabu *t) {
  ck_fs(ctx, fs_tabu_init(t, p, 7, &own_arena));
  for (uint64_t k = 0; k < parts; k++) {
    fs_tabu_run(t, part, 0, NULL, NULL);
  }
}

/* A function of its seed: the same moves each time, in whatever parts. */
START_TEST(same_each_time)
{
  fsched_graph *g = shop_of(ft10, 10, 10);
  fs_problem *p = make_problem(g);
  fs_tabu one, many;
  run_in_parts(p, 30000, 1, &one);
  run_in_parts(p, 100, 300, &many);
  ck_assert_uint_eq(one.moves, many.moves);
  ck_assert_uint_eq(one.best_makespan, many.best_makespan);
  ck_assert_mem_eq(one.best_start, many.best_start, p->n_items * sizeof *one.best_start);
  ck_assert_mem_eq(one.g.order, many.g.order, p->n_items * sizeof *one.g.order);
  fs_problem_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

static bool stop_now(void *user) {
  (*(unsigned *)user)++;
  return true;
}

START_TEST(stops)
{
  fsched_graph *g = shop_of(ft10, 10, 10);
  fs_problem *p = make_problem(g);
  fs_tabu t;
  unsigned asked = 0;
  ck_fs(ctx, fs_tabu_init(&t, p, 0, &own_arena));
  fs_tabu_run(&t, UINT64_MAX / 2, 0, stop_now, &asked);
  ck_assert_uint_eq(asked, 1);
  ck_assert_uint_le(t.moves, 1000);
  ck_assert_uint_ne(t.best_makespan, FS_TICK_NONE);
  fs_problem_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

static bool is_known(const char *text) {
  fsched_graph *g = fs_parse(text);
  fs_problem *p = make_problem(g);
  bool known = fs_tabu_knows(p);
  fs_problem_destroy(p);
  fsched_graph_destroy(g);
  return known;
}

/* What is more than turns on one queue each, and orders, is not for it. */
START_TEST(knows_its_problems)
{
  ck_assert(
      is_known("fsched: 1\ntarget: {queues: [{name: a}, {name: b}]}\n"
               "ops: [{name: x, on: a, time: 3}, {name: y, on: b, time: 0, after: [x]}]\n"));
  ck_assert(is_known("fsched: 1\nops: [{name: x, time: 3}, {name: y, time: 2, after: [x]}]\n"));
  ck_assert(
      is_known("fsched: 1\ntarget: {resources: [{name: r, capacity: 2}]}\n"
               "ops: [{name: x, time: 3, uses: {r: 1}}, {name: y, time: 2, uses: {r: 1}}]\n"));
  ck_assert(
      !is_known("fsched: 1\ntarget: {resources: [{name: r, capacity: 2}]}\n"
                "ops: [{name: x, time: 3, uses: {r: 2}}, {name: y, time: 2, uses: {r: 1}}]\n"));
  ck_assert(
      !is_known("fsched: 1\ntarget: {queues: [{name: a}, {name: b}]}\n"
                "ops: [{name: x, time: 3}, {name: y, time: 2}, {name: z, time: 2}]\n"));
  ck_assert(
      !is_known("fsched: 1\ntarget: {queues: [{name: a}, {name: b}]}\n"
                "ops: [{name: x, on: [a, b], time: 3}, {name: y, on: a, time: 2}]\n"));
  ck_assert(
      !is_known("fsched: 1\ntarget: {concurrency: 2}\n"
                "ops: [{name: x, time: 3}, {name: y, time: 2}, {name: z, time: 2}]\n"));
}
END_TEST

FS_SUITE(tabu, s) {
  TCase *t = fs_case(s, fs_test_arena);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, as_all_orders, heads_and_tails, known_shops, same_each_time, stops,
           knows_its_problems);
}
