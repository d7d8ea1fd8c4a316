/* SPDX-License-Identifier: Apache-2.0 */
/* The models on targets with a wait: what is proven optimal is what an exhaustive search finds, no
 * bound is above it, and no schedule starts an op within the wait.  Where there is no fsched-glpk,
 * the tests that need one are skipped, with a message. */
#include "ilp/solver_kit.h"
#include "kit/exhaust.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "model/handle.h"

#include "kit/context.h"

enum { GRAPHS = 60, STEPS = 20000000 };

typedef struct wait_totals {
  uint32_t optimal, improved, held; /* held: schedules that would be shorter without the wait */
} wait_totals;

/* Makes a graph of 3 to 5 ops, on queues of their choice, on given ones, and in gangs. */
static fsched_graph *random_graph(uint64_t seed, uint32_t *wait) {
  static const char *const places[] = {"compute", "compute", "x", "y", "z", "[x, y]", "[y, z]"};
  fs_rng rng = {seed};
  char source[2048];
  uint32_t n = 3 + fs_rng_below(&rng, 3), at;
  *wait = 1 + fs_rng_below(&rng, 3);
  at = (uint32_t)snprintf(source, sizeof source,
                          "fsched: 1\ntarget:\n  wait: %u\n  queues: [{name: x}, {name: y}, "
                          "{name: z, class: other}]\n%sops:\n",
                          *wait, fs_rng_one_in(&rng, 4) ? "  concurrency: 2\n" : "");
  for (uint32_t i = 0; i < n; i++) {
    at += (uint32_t)snprintf(source + at, sizeof source - at,
                             "  - {name: o%u, time: %u, on: %s, after: [", i, fs_rng_below(&rng, 4),
                             places[fs_rng_below(&rng, 7)]);
    const char *comma = "";
    for (uint32_t k = 0; k < i; k++) {
      if (fs_rng_one_in(&rng, 2)) {
        at += (uint32_t)snprintf(source + at, sizeof source - at, "%so%u", comma, k);
        comma = ", ";
      }
    }
    at += (uint32_t)snprintf(source + at, sizeof source - at, "]}\n");
  }
  return fs_parse(source);
}

static bool has_queue(const fs_schedule *s, uint32_t op, uint32_t queue) {
  const fsched_graph *g = s->graph;
  uint32_t gang = g->op_gang[op];
  for (uint32_t k = gang == FS_NONE ? 0 : g->gang_queue0[gang];
       gang != FS_NONE && k < g->gang_queue0[gang + 1]; k++) {
    if (g->gang_queue[k] == queue) {
      return true;
    }
  }
  return gang == FS_NONE && s->queue[op] == queue;
}

/* Does the schedule keep the wait? */
static bool keeps_wait(const fs_schedule *s, uint32_t wait) {
  const fsched_graph *g = s->graph;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      bool shared = false;
      for (uint32_t q = 0; q < s->n_queues; q++) {
        shared = shared || (has_queue(s, op, q) && has_queue(s, g->pred[e], q));
      }
      if (!shared && s->start[op] < s->end[g->pred[e]] + wait) {
        return false;
      }
    }
  }
  return true;
}

static void check_graph(uint64_t seed, const char *solver, wait_totals *t) {
  uint32_t wait;
  fsched_graph *g = random_graph(seed, &wait);
  fsched_compile_options o = {.size = sizeof o, .verify = 1, .effort = FSCHED_EFFORT(0)};
  fsched_schedule *list, *s;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &list, NULL));
  uint64_t before = fsched_schedule_makespan(list);
  o.refine = FSCHED_REFINE_ILP;
  o.solver_cmd = solver;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  fs_exhaust e = fs_exhaust_search(g, 0, before, STEPS);
  ck_assert_msg(e.known && e.found, "seed %d", (int)seed);
  ck_assert_msg(keeps_wait(s->schedule, wait), "seed %d", (int)seed);
  ck_assert_msg(fsched_schedule_lower_bound(s) <= e.best, "seed %d: bound %d, best %d", (int)seed,
                (int)fsched_schedule_lower_bound(s), (int)e.best);
  ck_assert_msg(fsched_schedule_makespan(s) == e.best, "seed %d: %d, best %d", (int)seed,
                (int)fsched_schedule_makespan(s), (int)e.best);
  t->optimal += fsched_schedule_lower_bound(s) == e.best;
  t->improved += e.best < before;
  ((fsched_graph *)g)->target.wait = 0;
  t->held += fs_exhaust_search(g, 0, e.best, STEPS).best < e.best;
  fsched_schedule_destroy(list);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

START_TEST(optimal_like_exhaustive)
{
  char solver[4096];
  wait_totals t = {0};
  if (fs_test_solver(solver) == NULL) {
    return;
  }
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    check_graph(seed, solver, &t);
  }
  ck_assert_uint_eq(t.optimal, GRAPHS);
  ck_assert_uint_gt(t.improved, 0);
  ck_assert_uint_gt(t.held, GRAPHS / 4);
}
END_TEST

/* With copies, which the exhaustive search does not know: the many plans of the list scheduler,
 * which know nothing of the models, are never below the bound, and the models never give more than
 * the plan they began with. */
START_TEST(bounds_with_copies)
{
  char solver[4096];
  uint32_t copies = 0, improved = 0;
  if (fs_test_solver(solver) == NULL) {
    return;
  }
  for (uint64_t seed = 1; seed <= 40; seed++) {
    fs_gen_params p = {.seed = seed,
                       .n_ops = 4 + (uint32_t)(seed % 4),
                       .n_queues = 4,
                       .n_classes = 1 + (uint32_t)(seed % 2),
                       .n_memories = 1,
                       .max_time = 4,
                       .max_size = 8,
                       .tightness = 1.0,
                       .backing = true,
                       .io = true,
                       .gangs = true};
    fsched_graph *g;
    fsched_schedule *one, *many, *s;
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    g->target.wait = 1 + seed % 5;
    fsched_compile_options o = {.size = sizeof o, .verify = 1, .effort = FSCHED_EFFORT(0)};
    ck_fs(ctx, fsched_compile(ctx, g, &o, &one, NULL));
    o.effort = FSCHED_EFFORT(4);
    ck_fs(ctx, fsched_compile(ctx, g, &o, &many, NULL));
    o = (fsched_compile_options){.size = sizeof o,
                                 .verify = 1,
                                 .effort = FSCHED_EFFORT(0),
                                 .refine = FSCHED_REFINE_ILP,
                                 .solver_cmd = solver,
                                 .node_limit = 300};
    ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
    ck_assert_msg(keeps_wait(s->schedule, (uint32_t)g->target.wait), "seed %d", (int)seed);
    ck_assert_msg(fsched_schedule_makespan(s) <= fsched_schedule_makespan(one), "seed %d",
                  (int)seed);
    ck_assert_msg(fsched_schedule_lower_bound(s) <= fsched_schedule_makespan(many),
                  "seed %d: bound %d, %d is possible", (int)seed,
                  (int)fsched_schedule_lower_bound(s), (int)fsched_schedule_makespan(many));
    copies += s->schedule->n_copies;
    improved += fsched_schedule_makespan(s) < fsched_schedule_makespan(one);
    fsched_schedule_destroy(one);
    fsched_schedule_destroy(many);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(copies, 40);
  ck_assert_uint_gt(improved, 0);
}
END_TEST

/* An op whose start is given does not wait, but those after it do. */
START_TEST(given_starts)
{
  char solver[4096];
  if (fs_test_solver(solver) == NULL) {
    return;
  }
  fsched_graph *g = fs_parse(
      "fsched: 1\ntarget: {wait: 3, queues: [{name: x}, {name: y}, {name: v, class: v}, {name: w, "
      "class: w}]}\nops:\n"
      "  - {name: p, on: v, time: 2}\n"
      "  - {name: q, on: w, start: 3, after: [p]}\n"
      "  - {name: r, on: v, after: [q]}\n"
      "  - {name: a, time: 2}\n"
      "  - {name: b, time: 2}\n"
      "  - {name: c, time: 4, after: [a, b]}\n");
  fsched_compile_options o = {.size = sizeof o,
                              .refine = FSCHED_REFINE_ILP,
                              .solver_cmd = solver,
                              .verify = 1,
                              .effort = FSCHED_EFFORT(0)};
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  ck_assert_uint_eq(s->schedule->refined_from, 9);
  ck_assert_uint_eq(s->schedule->start[1], 3);
  ck_assert_uint_eq(s->schedule->start[2], 7);
  ck_assert_uint_eq(fsched_schedule_makespan(s), 8);
  ck_assert_uint_eq(fsched_schedule_lower_bound(s), 8);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* A solution that starts an op within the wait breaks a row of the model. */
START_TEST(models_have_rows)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\ntarget: {wait: 2, queues: [{name: x}, {name: y}]}\n"
      "ops: [{name: a}, {name: b, time: 3}, {name: c, time: 2, after: [a, b]}]\n");
  char *text;
  size_t length;
  ck_fs(ctx, fsched_compile_model(ctx, g, NULL, FSCHED_MODEL_LP, &text, &length));
  ck_assert_ptr_nonnull(strstr(text, "wait_0_2_0_"));
  ck_assert_ptr_nonnull(strstr(text, "wait_1_2_1_"));
  fsched_text_free(ctx, text, length);
  fsched_graph_destroy(g);
}
END_TEST

/* Strips know of no wait, and without queues none can be meant; both are told.  Where syncs stop
 * everything a wait counts nothing, and nothing is refused. */
START_TEST(what_is_refused)
{
  static const struct {
    const char *target, *message; /* message: NULL for none */
    fsched_refine refine;
  } cases[] = {
      {"wait: 2, queues: [{name: x}]",
       "the strip packing model does not know the target's 'wait' of 2", FSCHED_REFINE_PACK},
      {"wait: 2", "no model knows the 'wait' of 2 of a target without queues", FSCHED_REFINE_ILP},
      {"wait: 2, queues: [{name: x}]", NULL, FSCHED_REFINE_ILP},
      {"wait: 2, sync: block", NULL, FSCHED_REFINE_PACK},
      {"wait: 0", NULL, FSCHED_REFINE_PACK}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char source[160], *text;
    size_t length;
    (void)snprintf(source, sizeof source, "fsched: 1\ntarget: {%s}\nops: [{name: a}]\n",
                   cases[i].target);
    fsched_graph *g = fs_parse(source);
    fsched_compile_options o = {.size = sizeof o, .refine = cases[i].refine};
    fsched_status status = fsched_compile_model(ctx, g, &o, FSCHED_MODEL_LP, &text, &length);
    ck_assert_int_eq(status, cases[i].message == NULL ? FSCHED_OK : FSCHED_USAGE);
    if (cases[i].message != NULL) {
      ck_assert_str_eq(fs_first_message(ctx), cases[i].message);
    } else {
      fsched_text_free(ctx, text, length);
    }
    fsched_diag_clear(ctx);
    fsched_graph_destroy(g);
  }
}
END_TEST

FS_SUITE(ilp_waits, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 300);
  FS_TESTS(t, optimal_like_exhaustive, bounds_with_copies, given_starts, models_have_rows,
           what_is_refused);
}
