/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of items in short memories without a store: what is taken, against a table of ticks; which
 * orders fit, against sums of what versions hold; passes, by schedules that the verifier accepts;
 * no makespan below the least one by all starts, queues and addresses. */
#include <string.h>

#include "fsched/compile.h"
#include "kit/exhaust.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/handle.h"
#include "search/generation/anneal.h"
#include "search/plant.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

enum { TICKS = 40, CHANGES = 12, MOST_ITEMS = 64 };

/* ---- levels */

static uint64_t highest(const uint64_t *level, fs_tick from, fs_tick to) {
  uint64_t most = 0;
  for (fs_tick t = from; t < to; t++) {
    most = fs_max(most, level[t]);
  }
  return most;
}

/* The first start from t on at which no level is above `most` up to the end. */
static fs_tick first_start(const uint64_t *level, fs_tick t, fs_tick time, uint64_t most) {
  while (highest(level, t, time == FS_TICK_NONE ? TICKS : fs_max(t + time, t + 1)) > most) {
    t++;
  }
  return t;
}

START_TEST(levels_as_on_a_table)
{
  for (uint64_t i = 0; i < 300; i++) {
    fs_rng state = {fs_turn() << 16 | i}, *r = &state;
    fs_memory_levels l;
    uint64_t level[4 * TICKS] = {0};
    ck_fs(ctx, fs_levels_init(&l, 1000, 2 * CHANGES, &own_arena));
    fs_levels_reset(&l, 7);
    for (fs_tick t = 0; t < 4 * TICKS; t++) {
      level[t] = 7;
    }
    for (int c = 0; c < CHANGES; c++) {
      fs_tick from = fs_rng_below(r, TICKS), to = from + fs_rng_below(r, TICKS - (uint32_t)from);
      uint64_t amount = 1 + fs_rng_below(r, 50);
      bool ever = fs_rng_one_in(r, 3);
      fs_levels_add(&l, from, ever ? FS_TICK_NONE : to, (int64_t)amount);
      for (fs_tick t = from; t < (ever ? 4 * TICKS : to); t++) {
        level[t] += amount;
      }
    }
    uint64_t last = level[4 * TICKS - 1], most = last + fs_rng_below(r, 100);
    ck_assert(fs_levels_ever(&l, last) && (last == 0 || !fs_levels_ever(&l, last - 1)));
    for (fs_tick t = 0; t < TICKS; t++) {
      fs_tick time = fs_rng_below(r, 9);
      ck_assert_uint_eq(fs_levels_for_ever(&l, t, most), first_start(level, t, FS_TICK_NONE, most));
      ck_assert_uint_eq(fs_levels_for(&l, t, time, most), first_start(level, t, time, most));
    }
  }
}
END_TEST

/* ---- passes */

/* A graph whose short memories have no store. */
static fs_gen_params draw(uint64_t seed, uint32_t n_ops) {
  fs_rng state = {seed}, *r = &state;
  return (fs_gen_params){.seed = seed,
                         .n_ops = n_ops,
                         .n_queues = 1 + fs_rng_below(r, 4),
                         .n_classes = 1 + fs_rng_below(r, 2),
                         .n_memories = 1 + fs_rng_below(r, 2),
                         .align = fs_rng_one_in(r, 3) ? 16 : 1,
                         .max_size = 100,
                         .window = 4 + fs_rng_below(r, 8),
                         .short_share = 2,
                         .near = true,
                         .io = fs_rng_one_in(r, 2),
                         .inouts = fs_rng_one_in(r, 2),
                         .inplace = fs_rng_one_in(r, 2),
                         .scratch = fs_rng_one_in(r, 2),
                         .resources = fs_rng_one_in(r, 3),
                         .versions = fs_rng_one_in(r, 3),
                         .afters = fs_rng_one_in(r, 3)};
}

static fsched_graph *plant(uint64_t seed, uint32_t n_ops, double part, bool counted) {
  fs_gen_params params = draw(seed, n_ops);
  fsched_graph *g;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  ck_fs(ctx, fs_plant(ctx, g, part));
  for (uint32_t m = 0; m < g->target.n_memories && counted; m++) {
    g->target.memory[m].placement = FSCHED_COUNTED;
  }
  return g;
}

/* A linear extension at random. */
static void draw_order(const fs_problem *p, fs_rng *r, uint32_t *order) {
  bool done[MOST_ITEMS] = {false};
  for (uint32_t k = 0; k < p->n_items; k++) {
    uint32_t item = FS_NONE, n = 0;
    for (uint32_t i = 0; i < p->n_items; i++) {
      bool ready = !done[i];
      for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
        ready = ready && done[p->pred[e]];
      }
      item = ready && fs_rng_below(r, ++n) == 0 ? i : item;
    }
    done[order[k] = item] = true;
  }
}

/* What the residencies of a memory hold while the item at place k of the order runs alone. */
static uint64_t held_at(const fs_problem *p, const uint32_t *place, uint32_t k, uint32_t memory) {
  uint64_t sum = 0;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint32_t from = p->n_items, to = 0;
    for (uint32_t i = p->res_begin0[r]; i < p->res_begin0[r + 1]; i++) {
      from = (uint32_t)fs_min(from, place[p->res_begin[i]]);
      to = (uint32_t)fs_max(to, place[p->res_begin[i]] + 1);
    }
    for (uint32_t i = p->res_end0[r]; i < p->res_end0[r + 1]; i++) {
      to = (uint32_t)fs_max(to, place[p->res_end[i]] + 1);
    }
    from = p->res_begin0[r] == p->res_begin0[r + 1] ? 0 : from;
    to = p->res_to_end[r] ? p->n_items : to;
    sum += p->res_memory[r] == memory && from <= k && k < to ? p->res_size[r] : 0;
  }
  return sum;
}

static bool order_fits(const fs_problem *p, const uint32_t *order) {
  uint32_t place[MOST_ITEMS];
  for (uint32_t k = 0; k < p->n_items; k++) {
    place[order[k]] = k;
  }
  for (uint32_t m = 0; m < p->graph->target.n_memories; m++) {
    const fs_memory *memory = &p->graph->target.memory[m];
    for (uint32_t k = 0; k < p->n_items && fs_memory_bounded(memory); k++) {
      if (held_at(p, place, k, m) > (memory->capacity & ~(memory->align - 1))) {
        return false;
      }
    }
  }
  return true;
}

/* The verifier, which checks all that queues, amounts and memories hold, accepts the starts. */
static void check_starts(fs_problem *p, const fs_passed *x, uint64_t seed) {
  fs_schedule *s;
  const char *why = NULL;
  fs_answer answer = {.start = x->start, .makespan = x->makespan};
  ck_fs(ctx, fs_answer_schedule(p, &answer, &s, &why));
  ck_assert_msg(s != NULL, "seed %llu: %s", (unsigned long long)seed, why);
  ck_assert_uint_eq(s->makespan, x->makespan);
  fs_schedule_destroy(s);
}

typedef struct order_counts {
  uint32_t fit, none, shorter, sure;
} order_counts;

/* Counted memories: an order that fits has a schedule, which is no longer after it was justified.
 */
static void check_order(fs_problem *p, fs_lives *l, fs_rng *r, uint64_t seed, order_counts *n) {
  uint32_t order[MOST_ITEMS];
  fs_passed first, back, last;
  ck_fs(ctx, fs_passed_init(l->passes.form, &own_arena, &first));
  ck_fs(ctx, fs_passed_init(l->passes.form, &own_arena, &back));
  ck_fs(ctx, fs_passed_init(l->passes.form, &own_arena, &last));
  draw_order(p, r, order);
  bool fits = order_fits(p, order);
  ck_assert_msg(fs_lives_fit(l, order) == fits, "seed %llu", (unsigned long long)seed);
  bool found = fs_lives_pass(l, false, order, &first);
  ck_assert_msg(found || !fits, "seed %llu", (unsigned long long)seed);
  n->fit += fits;
  n->none += !fits;
  if (found) {
    ck_assert(order_fits(p, order)); /* that in which they were placed */
    check_starts(p, &first, seed);
    fs_pass_turn(&l->passes, &first, order);
    ck_assert_msg(fs_lives_pass(l, true, order, &back), "seed %llu", (unsigned long long)seed);
    fs_pass_turn(&l->passes, &back, order);
    ck_assert_msg(fs_lives_pass(l, false, order, &last), "seed %llu", (unsigned long long)seed);
    check_starts(p, &last, seed);
    bool one_way = l->passes.form->way0[p->n_items] == p->n_items;
    ck_assert_msg(!one_way || last.makespan <= first.makespan, "seed %llu: %llu, then %llu",
                  (unsigned long long)seed, (unsigned long long)first.makespan,
                  (unsigned long long)last.makespan);
    n->sure += one_way;
    n->shorter += last.makespan < first.makespan;
  }
}

START_TEST(orders_that_fit_have_schedules)
{
  order_counts n = {0};
  for (uint64_t i = 0; i < 40; i++) {
    uint64_t seed = (fs_turn() * 4 + (uint64_t)_i) << 16 | i;
    fs_rng r = {seed};
    fsched_graph *g = plant(seed, 6 + fs_rng_below(&r, 30), 0.1 * (double)(i % 5), true);
    fs_problem *p;
    fs_packed_form form;
    fs_lives l;
    ck_fs(ctx, fs_problem_from_graph(ctx, g, FS_TICK_NONE / 8, 0, &p));
    if (p != NULL && fs_lives_know(p)) {
      ck_fs(ctx, fs_form_make(p, &own_arena, &form));
      ck_fs(ctx, fs_lives_init(&l, &form, &own_arena));
      for (int k = 0; k < 20; k++) {
        check_order(p, &l, &r, seed, &n);
      }
    }
    fs_problem_destroy(p);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(n.fit, 50);
  fs_assert_seen(n.none, 50);
  fs_assert_seen(n.shorter, 20);
  fs_assert_seen(n.sure, 20);
}
END_TEST

/* ---- orders that are annealed */

/* Begins with the list scheduler's schedule; false: it has copies that the problem does not know.
 */
static bool offer_list(const fsched_graph *g, fs_problem *p, fs_annealing *a) {
  fsched_schedule *s = NULL;
  fs_answer *known = NULL;
  uint64_t address[MOST_ITEMS] = {0};
  uint32_t order[MOST_ITEMS];
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0)};
  fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
  ck_assert(status == FSCHED_OK || status == FSCHED_INFEASIBLE);
  if (s != NULL) {
    ck_fs(ctx, fs_answer_of_schedule(p, s->schedule, &known));
  }
  if (known != NULL) {
    fs_passed starts = {.start = known->start, .makespan = known->makespan};
    memcpy(order, p->topo, p->n_items * sizeof *order);
    fs_pass_by_start(&a->lives.passes, &starts, order);
    for (uint32_t k = 0; k < a->lives.n_lives; k++) {
      address[k] = known->address[a->lives.life[k].residency];
    }
    ck_fs(ctx, fs_annealing_offer(a, &starts, order, address));
  }
  fsched_schedule_destroy(s);
  fsched_diag_clear(ctx);
  return known != NULL;
}

/* The best starts and their addresses are a schedule. */
static void check_best(fs_problem *p, const fs_annealing *a, uint64_t seed) {
  uint64_t address[MOST_ITEMS] = {0};
  fs_schedule *s;
  const char *why = NULL;
  for (uint32_t k = 0; k < a->lives.n_lives; k++) {
    address[a->lives.life[k].residency] = a->address[k];
  }
  fs_answer answer = {
      .start = a->best.passed.start, .makespan = a->best.passed.makespan, .address = address};
  ck_fs(ctx, fs_answer_schedule(p, &answer, &s, &why));
  ck_assert_msg(s != NULL, "seed %llu: %s", (unsigned long long)seed, why);
  fs_schedule_destroy(s);
}

/* No best is below the least makespan, as found by trying every start, queue and address, and most
 * are it. */
START_TEST(best_as_of_all_schedules)
{
  uint32_t known = 0, least = 0, more = 0, shorter = 0;
  for (uint64_t i = 0; i < 300; i++) {
    uint64_t seed = (fs_turn() * 2 + (uint64_t)_i) << 16 | i;
    fs_rng r = {seed};
    fs_gen_params params = draw(seed, 3 + fs_rng_below(&r, 3));
    params.n_memories = 1;
    params.max_size = 5;
    params.max_time = 3;
    params.align = 1;
    fsched_graph *g;
    fs_problem *p;
    fs_packed_form form;
    fs_annealing a;
    ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
    ck_fs(ctx, fs_plant(ctx, g, 0.1 * (double)(i % 5)));
    ck_fs(ctx, fs_problem_from_graph(ctx, g, FS_TICK_NONE / 8, 0, &p));
    if (p != NULL && fs_lives_know(p)) {
      ck_fs(ctx, fs_form_make(p, &own_arena, &form));
      ck_fs(ctx, fs_annealing_init(&a, &form, seed, &own_arena));
      bool any = offer_list(g, p, &a);
      fs_tick first = a.best.passed.makespan;
      for (int k = 0; k < 200 && any; k++) {
        ck_fs(ctx, fs_annealing_step(&a));
      }
      fs_exhaust e = any ? fs_exhaust_search(g, 0, first, 200000) : (fs_exhaust){0};
      if (any) {
        check_best(p, &a, seed);
      }
      if (e.known) {
        ck_assert_msg(e.found && a.best.passed.makespan >= e.best, "seed %llu",
                      (unsigned long long)seed);
        known++;
        least += a.best.passed.makespan == e.best;
        more += first > e.best;
        shorter += a.best.passed.makespan < first;
      }
    }
    fs_problem_destroy(p);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, 30);
  fs_assert_seen(least, known - known / 10);
  fs_assert_seen(more, 0);
  fs_assert_seen(shorter, more / 2);
}
END_TEST

/* ---- the whole search */

static fs_tick compiled(const fsched_graph *g, uint64_t nodes, uint32_t jobs) {
  fsched_compile_options o = {.size = sizeof o,
                              .verify = 1,
                              .refine = FSCHED_REFINE_SEARCH,
                              .node_limit = nodes,
                              .jobs = jobs,
                              .seed = 3};
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  fs_tick makespan = s->schedule->makespan;
  fsched_schedule_destroy(s);
  return makespan;
}

/* Schedules of more ops than the solver proves become shorter, and are the same for the same seed,
 * nodes and jobs. */
START_TEST(schedules_become_shorter)
{
  uint32_t shorter = 0;
  for (uint64_t i = 0; i < 4; i++) {
    uint64_t seed = (fs_turn() * 2 + (uint64_t)_i) << 16 | i;
    fsched_graph *g = plant(seed, 80, 0.1 * (double)(1 + i), _i != 0);
    fs_tick list = compiled(g, 1, 1);
    fs_tick found = compiled(g, 800, 1);
    ck_assert_uint_le(found, list);
    ck_assert_uint_eq(found, compiled(g, 800, 1));
    fs_tick two = compiled(g, 800, 2);
    ck_assert_uint_le(two, list);
    ck_assert_uint_eq(two, compiled(g, 800, 2));
    shorter += found < list;
    fsched_graph_destroy(g);
  }
  fs_assert_seen(shorter, 0);
}
END_TEST

FS_SUITE(lives, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_TESTS(t, levels_as_on_a_table);
  FS_LOOPS(t, 0, 4, orders_that_fit_have_schedules);
  FS_LOOPS(t, 0, 2, best_as_of_all_schedules, schedules_become_shorter);
}
