/* SPDX-License-Identifier: Apache-2.0 */
/* Refinement by strip packing models, compared with an exhaustive search on random graphs that
 * cannot spill: it finds the same makespan and claims that it is optimal.  This needs GLPK. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fsched/verify.h"
#include "ilp/pack/model.h"
#include "ilp/solver/solver.h"
#include "kit/exhaust.h"
#include "kit/gen.h"
#include "kit/golden.h"
#include "model/handle.h"

#include "kit/context.h"

/* The solver that was built with the tests, or NULL if there is none. */
static const char *solver(void) {
  static const char name[] = "../fsched-glpk";
  static char path[4096 + sizeof name];
  ssize_t n = readlink("/proc/self/exe", path, 4096);
  while (n > 0 && path[n - 1] != '/') {
    n--;
  }
  memcpy(path + (n < 0 ? 0 : n), name, sizeof name);
  if (access(path, X_OK) != 0) {
    (void)fprintf(stderr, "skipped: no fsched-glpk was built\n");
    return NULL;
  }
  return path;
}

/* --- random graphs --- */

typedef struct ilp_pack_graphs_maker {
  fsched_builder *b;
  fs_rng rng;
  uint32_t n_ops, n_queues, n_memories;
  uint32_t buffer[FS_EXHAUST_OPS]; /* the buffer that each op writes; FS_NONE: none */
  uint32_t bytes[FS_EXHAUST_OPS];
  bool zero;
} ilp_pack_graphs_maker;

static void add_target(ilp_pack_graphs_maker *k) {
  uint32_t id;
  k->n_queues = fs_rng_below(&k->rng, 4);
  for (uint32_t q = 0; q < k->n_queues; q++) {
    static const char *const name[] = {"q0", "q1", "q2"};
    fsched_queue_desc desc = {
        .size = sizeof desc, .name = name[q], .queue_class = q == 2 ? "other" : "compute"};
    ck_assert_int_eq(fsched_builder_queue(k->b, &desc, &id), FSCHED_OK);
  }
  k->n_memories = 1 + fs_rng_below(&k->rng, 2);
  for (uint32_t m = 0; m < k->n_memories; m++) {
    bool counted = m == 1 ? true : fs_rng_one_in(&k->rng, 6);
    fsched_memory_desc desc = {.size = sizeof desc,
                               .name = m == 0 ? "m0" : "m1",
                               .capacity = 5 + fs_rng_below(&k->rng, 4),
                               .placement = counted ? FSCHED_COUNTED : FSCHED_CONTIGUOUS};
    ck_assert_int_eq(fsched_builder_memory(k->b, &desc, &id), FSCHED_OK);
  }
  ck_assert_int_eq(fsched_builder_resource(k->b, "power", 4, &id), FSCHED_OK);
  if (fs_rng_one_in(&k->rng, 3)) {
    ck_assert_int_eq(fsched_builder_concurrency(k->b, 2), FSCHED_OK);
  }
}

static void add_arg(ilp_pack_graphs_maker *k, uint32_t op, fsched_tag tag, uint32_t buffer) {
  fsched_arg_desc desc = {.size = sizeof desc, .tag = tag, .buffer = buffer};
  ck_assert_int_eq(fsched_builder_arg(k->b, op, &desc), FSCHED_OK);
}

/* Adds what the op reads, and perhaps writes over; its own buffer may take the place of an
 * input. */
static void add_args(ilp_pack_graphs_maker *k, uint32_t op) {
  uint32_t out = k->buffer[op];
  bool in_place = false;
  for (uint32_t before = op > 3 ? op - 3 : 0; before < op; before++) {
    uint32_t in = k->buffer[before];
    if (in == FS_NONE || !fs_rng_one_in(&k->rng, 2)) {
      continue;
    }
    bool over = fs_rng_one_in(&k->rng, 8);
    add_arg(k, op, over ? FSCHED_INOUT : FSCHED_IN, in);
    if (!over && out != FS_NONE && !in_place && k->bytes[op] == k->bytes[before] &&
        fs_rng_one_in(&k->rng, 2)) {
      in_place = true;
      add_arg(k, op, FSCHED_OUT, out);
      ck_assert_int_eq(fsched_builder_inplace(k->b, op, out, in), FSCHED_OK);
    }
  }
  if (out != FS_NONE && !in_place) {
    add_arg(k, op, FSCHED_OUT, out);
  }
}

static void add_op(ilp_pack_graphs_maker *k, uint32_t op) {
  static const char *const both[] = {"q0", "q1"};
  static const char *const name[] = {"o0", "o1", "o2", "o3", "o4", "o5", "o6", "o7"};
  static const char *const buffer[] = {"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"};
  uint32_t id;
  fsched_op_desc desc = {.size = sizeof desc, .name = name[op], .has_time = 1};
  desc.time = k->zero && fs_rng_one_in(&k->rng, 4) ? 0 : 1 + fs_rng_below(&k->rng, 3);
  if (k->n_queues >= 2 && fs_rng_one_in(&k->rng, 6)) {
    desc.gang = both;
    desc.n_gang = 2;
  } else if (k->n_queues > 0) {
    desc.on = fs_rng_one_in(&k->rng, 4) ? "q0" : k->n_queues == 3 && op % 3 == 0 ? "q2" : NULL;
  }
  k->buffer[op] = FS_NONE;
  if (!fs_rng_one_in(&k->rng, 4)) {
    k->bytes[op] = fs_rng_below(&k->rng, 4) + (fs_rng_one_in(&k->rng, 4) ? 0 : 1);
    fsched_buffer_desc b = {.size = sizeof b,
                            .name = buffer[op],
                            .bytes = k->bytes[op],
                            .memory = k->n_memories == 2 && fs_rng_one_in(&k->rng, 3) ? "m1" : "m0",
                            .io = fs_rng_one_in(&k->rng, 12) ? FSCHED_IO_OUTPUT : FSCHED_IO_NONE};
    ck_assert_int_eq(fsched_builder_buffer(k->b, &b, &k->buffer[op]), FSCHED_OK);
  }
  ck_assert_int_eq(fsched_builder_op(k->b, &desc, &id), FSCHED_OK);
  add_args(k, op);
  if (op > 0 && fs_rng_one_in(&k->rng, 6)) {
    ck_assert_int_eq(fsched_builder_after(k->b, op, fs_rng_below(&k->rng, op)), FSCHED_OK);
  }
  if (fs_rng_one_in(&k->rng, 3)) {
    ck_assert_int_eq(fsched_builder_use(k->b, op, 0, 1 + fs_rng_below(&k->rng, 3)), FSCHED_OK);
  }
  if (fs_rng_one_in(&k->rng, 3)) {
    uint32_t memory = fs_rng_below(&k->rng, k->n_memories);
    ck_assert_int_eq(fsched_builder_scratch(k->b, op, memory, 1 + fs_rng_below(&k->rng, 3)),
                     FSCHED_OK);
  }
}

/* Returns NULL where some op can never run. */
static fsched_graph *random_graph(uint64_t seed) {
  ilp_pack_graphs_maker k = {.rng = {seed}};
  fsched_graph *g = NULL;
  ck_assert_int_eq(fsched_builder_create(ctx, "small", &k.b), FSCHED_OK);
  k.zero = fs_rng_one_in(&k.rng, 4);
  k.n_ops = seed % 8 == 0 ? 8 : seed % 8 == 1 ? 7 : 4 + fs_rng_below(&k.rng, 3);
  add_target(&k);
  for (uint32_t op = 0; op < k.n_ops; op++) {
    add_op(&k, op);
  }
  fs_status status = fsched_builder_finish(k.b, &g);
  if (status != FSCHED_OK && status != FSCHED_INFEASIBLE) {
    ck_abort_msg("seed %llu: %s", (unsigned long long)seed, fsched_diag_get(ctx, 0)->message);
  }
  fsched_builder_destroy(k.b);
  return g;
}

static fsched_schedule *compiled(const fsched_graph *g, const char *command, uint64_t seed) {
  fsched_compile_options o = {.size = sizeof o,
                              .refine = command == NULL ? FSCHED_REFINE_NONE : FSCHED_REFINE_PACK,
                              .solver_cmd = command,
                              .node_limit = 100000,
                              .verify = 1};
  fsched_schedule *s = NULL;
  fs_status status = fsched_compile(ctx, g, &o, &s, NULL);
  if (status != FSCHED_OK && status != FSCHED_INFEASIBLE) {
    ck_abort_msg("seed %llu: %s", (unsigned long long)seed,
                 fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "?");
  }
  return s;
}

/* --- the model alone, without a schedule to start from and without bounds --- */

static void solve_model(fs_problem *p, const char *command, uint64_t seed, fs_tick best) {
  fs_pack_options o = {0};
  fs_pack_model *t;
  ck_assert_int_eq(fs_pack_model_build(p, &o, &t), FSCHED_OK);
  const fs_model *m = fs_pack_model_of(t);
  int64_t *value = calloc(m->var.n + 1, sizeof *value);
  fs_solver_options run = {.command = command, .node_limit = 100000};
  fs_solver_result result;
  fs_answer *a;
  fs_schedule *s;
  const char *why = NULL;
  ck_assert_int_eq(fs_solver_run(p->ctx, m, &run, false, value, &result), FSCHED_OK);
  if (result.status != FS_SOLVER_OPTIMAL || result.objective != (int64_t)best) {
    ck_abort_msg("seed %llu: status %d, %lld, the search has %llu %s", (unsigned long long)seed,
                 (int)result.status, (long long)result.objective, (unsigned long long)best,
                 result.reason);
  }
  ck_assert_int_eq(fs_pack_model_answer(t, p, value, &a), FSCHED_OK);
  ck_assert_int_eq(fs_answer_schedule(p, a, &s, &why), FSCHED_OK);
  /* Ops without length that start at one time may need another order than their addresses do, as
   * the model looks at pairs of them. */
  bool instants = false;
  for (uint32_t i = 0; i < p->n_items; i++) {
    instants = instants || p->time[i] == 0;
  }
  if (s == NULL ? !instants : s->makespan != best) {
    ck_abort_msg("seed %llu: no schedule: %s", (unsigned long long)seed, why);
  }
  fs_schedule_destroy(s);
  bool fits;
  ck_assert_int_eq(fs_pack_model_point(t, a, value, &fits), FSCHED_OK);
  if (!fits || fs_model_objective(m, value) != (int64_t)best) {
    uint64_t broken = fs_model_broken(m, value);
    ck_abort_msg("seed %llu: the answer is no point: %s", (unsigned long long)seed,
                 broken < m->row.n ? m->row.at[broken].name : "bounds");
  }
  free(value);
  fs_pack_model_destroy(t);
}

static void check_model(const fsched_graph *g, const char *command, uint64_t seed, fs_tick best) {
  fs_problem *p;
  fs_decision possible;
  ck_assert_int_eq(fs_problem_from_graph(g->ctx, g, best + seed % 4, 0, &p), FSCHED_OK);
  ck_assert_ptr_nonnull(p);
  if (seed % 3 != 0) {
    ck_assert_int_eq(fs_problem_tighten(p, &possible), FSCHED_OK);
    ck_assert_int_ne(possible.is, FS_NO);
  }
  solve_model(p, command, seed, best);
  fs_problem_destroy(p);
}

enum { WANTED = 200, STEPS = 1000000 };

typedef struct ilp_pack_graphs_tally {
  uint32_t checked, improved, largest;
} ilp_pack_graphs_tally;

static void check_graph(uint64_t seed, const char *command, ilp_pack_graphs_tally *n) {
  fsched_graph *g = random_graph(seed);
  fsched_schedule *s = g == NULL ? NULL : compiled(g, NULL, seed);
  if (s != NULL) {
    fs_exhaust best = fs_exhaust_search(g, 0, s->schedule->makespan, STEPS);
    fsched_schedule *t = best.known ? compiled(g, command, seed) : NULL;
    if (best.known && !best.found) {
      ck_abort_msg("seed %llu: the schedule of %llu was not found by the search",
                   (unsigned long long)seed, (unsigned long long)s->schedule->makespan);
    }
    if (t != NULL) {
      if (t->schedule->makespan != best.best || t->schedule->status != FS_SCHEDULE_OPTIMAL) {
        ck_abort_msg("seed %llu: %llu, bound %llu, heuristic %llu; the search has %llu; %s",
                     (unsigned long long)seed, (unsigned long long)t->schedule->makespan,
                     (unsigned long long)t->schedule->lower_bound,
                     (unsigned long long)s->schedule->makespan, (unsigned long long)best.best,
                     fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
      }
      if (n->checked % 2 == 0) {
        check_model(g, command, seed, best.best);
      }
      n->checked++;
      n->improved += t->schedule->makespan < s->schedule->makespan;
      n->largest += g->n_ops == 8;
    }
    fsched_schedule_destroy(t);
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(equal_to_exhaustive_search)
{
  const char *command = solver();
  ilp_pack_graphs_tally n = {0};
  for (uint64_t seed = 0; command != NULL && n.checked < WANTED; seed++) {
    check_graph(seed, command, &n);
  }
  if (command != NULL) { /* otherwise the runs would prove little */
    ck_assert_uint_ge(n.improved, 10);
    ck_assert_uint_ge(n.largest, 10);
  }
}
END_TEST

/* --- strips that can be filled --- */

typedef struct ilp_pack_graphs_rectangle {
  uint32_t time, size;
} ilp_pack_graphs_rectangle;

enum { STRIP = 20, PIECES = 10 };

/* Cuts a square into pieces, always the largest one, from side to side. */
static fsched_graph *cut_strip(uint64_t seed) {
  fs_rng rng = {seed};
  ilp_pack_graphs_rectangle at[PIECES] = {{STRIP, STRIP}};
  fsched_builder *b;
  fsched_graph *g;
  uint32_t id;
  for (uint32_t n = 1; n < PIECES; n++) {
    uint32_t k = 0;
    for (uint32_t i = 1; i < n; i++) {
      k = at[i].time * at[i].size > at[k].time * at[k].size ? i : k;
    }
    bool across = at[k].time > at[k].size;
    uint32_t *side = across ? &at[k].time : &at[k].size;
    uint32_t cut = 1 + fs_rng_below(&rng, *side - 1);
    at[n] = at[k];
    *(across ? &at[n].time : &at[n].size) = cut;
    *side -= cut;
  }
  fsched_memory_desc m = {.size = sizeof m, .name = "strip", .capacity = STRIP};
  ck_assert_int_eq(fsched_builder_create(ctx, "cut", &b), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_memory(b, &m, &id), FSCHED_OK);
  for (uint32_t i = 0; i < PIECES; i++) {
    char name[8];
    (void)snprintf(name, sizeof name, "r%u", (unsigned char)i);
    fsched_op_desc op = {.size = sizeof op, .name = name, .has_time = 1, .time = at[i].time};
    ck_assert_int_eq(fsched_builder_op(b, &op, &id), FSCHED_OK);
    ck_assert_int_eq(fsched_builder_scratch(b, i, 0, at[i].size), FSCHED_OK);
  }
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_OK);
  fsched_builder_destroy(b);
  return g;
}

/* Solves a strip whose height is its area divided by its width, so that the pieces have to fill
 * it. */
static void fill_strip(const fsched_graph *g, const char *command, bool positions, uint64_t seed) {
  fs_problem *p;
  fs_pack_model *t;
  fs_pack_options o = {.positions = positions};
  fs_solver_options run = {.command = command, .node_limit = 200000};
  fs_solver_result result;
  fs_answer *a;
  fs_schedule *s;
  const char *why;
  ck_assert_int_eq(fs_problem_from_graph(ctx, g, STRIP, STRIP, &p), FSCHED_OK);
  ck_assert(fs_problem_is_strip(p));
  ck_assert_int_eq(fs_pack_model_build(p, &o, &t), FSCHED_OK);
  int64_t *value = calloc(fs_pack_model_of(t)->var.n, sizeof *value);
  ck_assert_int_eq(fs_solver_run(ctx, fs_pack_model_of(t), &run, false, value, &result), FSCHED_OK);
  if (result.status != FS_SOLVER_OPTIMAL || result.objective != STRIP) {
    ck_abort_msg("seed %llu, positions %d: status %d after %llu nodes: %s",
                 (unsigned long long)seed, (int)positions, (int)result.status,
                 (unsigned long long)result.nodes, result.reason);
  }
  ck_assert_int_eq(fs_pack_model_answer(t, p, value, &a), FSCHED_OK);
  ck_assert_int_eq(fs_answer_schedule(p, a, &s, &why), FSCHED_OK);
  ck_assert_msg(s != NULL, "%s", why);
  ck_assert_uint_eq(s->makespan, STRIP);
  fs_schedule_destroy(s);
  free(value);
  fs_pack_model_destroy(t);
  fs_problem_destroy(p);
}

START_TEST(strips_that_can_be_filled)
{
  const char *command = solver();
  for (uint64_t seed = 0; command != NULL && seed < 12; seed++) {
    fsched_graph *g = cut_strip(seed);
    fill_strip(g, command, false, seed);
    fill_strip(g, command, true, seed);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}
END_TEST

FS_SUITE(ilp_pack_graphs, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 240);
  FS_TESTS(t, equal_to_exhaustive_search, strips_that_can_be_filled);
}
