/* SPDX-License-Identifier: Apache-2.0 */
/* Refinement through the library: options, models, news, stops by the caller, and solvers that
 * fail. */
#include "fsched/verify.h"
#include "ilp/solver_kit.h"
#include "kit/golden_case.h"

#include "kit/context.h"

static const char text[] =
    "fsched: 1\n"
    "name: g\n"
    "target:\n"
    "  queues: [{name: p}, {name: q}, {name: r}]\n"
    "  resources: [{name: power, capacity: 4}]\n"
    "ops:\n"
    "  - {name: a, time: 2, uses: {power: 2}}\n"
    "  - {name: b, time: 2, uses: {power: 1}}\n"
    "  - {name: c, time: 6, uses: {power: 2}}\n"
    "  - {name: d, time: 1, uses: {power: 2}}\n"
    "  - {name: e, time: 3, uses: {power: 2}, after: [d]}\n"
    "  - {name: f, time: 1, uses: {power: 2}, after: [b]}\n"
    "  - {name: g, time: 5, uses: {power: 3}}\n"
    "  - {name: h, time: 4, uses: {power: 1}}\n"
    "  - {name: i, time: 4, uses: {power: 3}, after: [b]}\n"
    "  - {name: j, time: 6, uses: {power: 2}, after: [e]}\n";
enum { LIST = 21, BEST = 19 }; /* the heuristic's makespan, and that of an exhaustive search */

static fsched_graph *graph;
static char solver[4096];

static void set_up(void) {
  fs_test_begin();
  graph = fs_parse(text);
}

static void tear_down(void) {
  fsched_graph_destroy(graph);
  fs_test_end();
}

static fsched_compile_options options(fsched_refine refine) {
  return (fsched_compile_options){.size = sizeof(fsched_compile_options),
                                  .refine = refine,
                                  .solver_cmd = "./no-such-solver",
                                  .verify = 1,
                                  .effort = FSCHED_EFFORT(0)};
}

static uint64_t makespan(const fsched_compile_options *o) {
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, graph, o, &s, NULL));
  uint64_t m = fsched_schedule_makespan(s);
  ck_assert_uint_le(fsched_schedule_lower_bound(s), BEST);
  fsched_schedule_destroy(s);
  return m;
}

static void check_usage(const fsched_compile_options *o, const char *says) {
  fsched_schedule *s;
  ck_assert_int_eq(fsched_compile(ctx, graph, o, &s, NULL), FSCHED_USAGE);
  ck_assert_str_eq(fs_test_diags(ctx), says);
  fsched_diag_clear(ctx);
}

START_TEST(bad_options)
{
  fsched_compile_options o = options((fsched_refine)5);
  check_usage(&o, "'refine' is 5, no fsched_refine");
  o = options(FSCHED_REFINE_ILP);
  o.time_limit_ms = FSCHED_MOST_TIME_LIMIT_MS + 1;
  check_usage(&o, "'time_limit_ms' is above FSCHED_MOST_TIME_LIMIT_MS");
  o = options(FSCHED_REFINE_NONE);
  o.solution = "x 1\n";
  o.solution_length = 4;
  check_usage(&o, "'solution' is set, and 'refine' says of no model");
  char *model = NULL;
  size_t length = 0;
  o = options(FSCHED_REFINE_NONE);
  ck_assert_int_eq(fsched_compile_model(ctx, graph, &o, (fsched_model_format)2, &model, &length),
                   FSCHED_USAGE);
  ck_assert_str_eq(fs_test_diags(ctx), "'format' is 2, no fsched_model_format");
}
END_TEST

/* Without a solver the result is the heuristic's schedule, with a warning that can be made an
 * error. */
START_TEST(no_solver)
{
  for (int refine = FSCHED_REFINE_NONE; refine <= FSCHED_REFINE_PACK; refine++) {
    fsched_compile_options o = options((fsched_refine)refine);
    ck_assert_uint_eq(makespan(&o), LIST);
    ck_assert_uint_eq(fsched_diag_count(ctx), refine != FSCHED_REFINE_NONE);
    if (refine != FSCHED_REFINE_NONE) {
      ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "refine");
    }
    fsched_diag_clear(ctx);
  }
  ck_fs(ctx, fsched_warning_set(ctx, "refine", FSCHED_WARNING_AS_ERROR));
  fsched_compile_options o = options(FSCHED_REFINE_ILP);
  fsched_schedule *s;
  ck_assert_int_eq(fsched_compile(ctx, graph, &o, &s, NULL), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(s);
}
END_TEST

START_TEST(stopped)
{
  volatile int stop = 1;
  fsched_compile_options o = options(FSCHED_REFINE_ILP);
  o.stop = &stop;
  ck_assert_uint_eq(makespan(&o), LIST);
  ck_assert_uint_eq(fsched_diag_count(ctx), 0); /* a stop is no error */
}
END_TEST

/* The text of a model is the same each time; LP and MPS are two texts of one model. */
START_TEST(models)
{
  for (int refine = FSCHED_REFINE_ILP; refine <= FSCHED_REFINE_PACK; refine++) {
    char *one, *two, *mps;
    size_t n_one, n_two, n_mps;
    fsched_compile_options o = options((fsched_refine)refine);
    ck_fs(ctx, fsched_compile_model(ctx, graph, &o, FSCHED_MODEL_LP, &one, &n_one));
    ck_fs(ctx, fsched_compile_model(ctx, graph, &o, FSCHED_MODEL_LP, &two, &n_two));
    ck_fs(ctx, fsched_compile_model(ctx, graph, &o, FSCHED_MODEL_MPS, &mps, &n_mps));
    ck_assert_uint_eq(n_one, n_two);
    ck_assert_int_eq(memcmp(one, two, n_one), 0);
    ck_assert_ptr_nonnull(strstr(one, "\nSubject To\n"));
    ck_assert_ptr_nonnull(strstr(mps, "\nROWS\n"));
    ck_assert_ptr_nonnull(strstr(mps, "ENDATA\n"));
    fsched_text_free(ctx, one, n_one);
    fsched_text_free(ctx, two, n_two);
    fsched_text_free(ctx, mps, n_mps);
  }
}
END_TEST

typedef struct heard {
  unsigned times;
  uint64_t incumbent, bound;
} heard;

static void listen(void *user, const fsched_refine_state *state) {
  heard *h = user;
  ck_assert_uint_ge(state->size, sizeof *state);
  ck_assert_uint_le(state->incumbent, h->times == 0 ? LIST : h->incumbent);
  ck_assert_uint_ge(state->bound, h->bound);
  ck_assert_uint_le(state->bound, BEST);
  *h = (heard){h->times + 1, state->incumbent, state->bound};
}

START_TEST(optimum)
{
  for (int refine = FSCHED_REFINE_ILP; refine <= FSCHED_REFINE_PACK; refine++) {
    heard h = {0};
    fsched_compile_options o = options((fsched_refine)refine);
    o.solver_cmd = fs_test_solver(solver);
    o.refine_news = listen;
    o.refine_user = &h;
    if (o.solver_cmd == NULL) {
      return;
    }
    uint64_t found = makespan(&o);
    ck_assert_uint_eq(fsched_diag_count(ctx), 0);
    ck_assert_uint_le(found, LIST);
    ck_assert(refine == FSCHED_REFINE_PACK || found == BEST);
    ck_assert_uint_gt(h.times, 0);
    ck_assert_uint_eq(h.incumbent, found);
  }
}
END_TEST

/* With precedence alone the bound is reached, so no solver is needed, and none is run. */
START_TEST(nothing_to_gain)
{
  static const char chain[] =
      "fsched: 1\nname: c\nops:\n  - {name: a, time: 2}\n"
      "  - {name: b, time: 3, after: [a]}\n";
  fsched_schedule *s;
  fsched_compile_options o = options(FSCHED_REFINE_ILP);
  fsched_graph *g = fs_parse(chain);
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  ck_assert_uint_eq(fsched_schedule_makespan(s), 5);
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

static fsched_status refine_once(fsched_context *c, const void *user) {
  const fsched_graph *g = user;
  fsched_compile_options o = options(FSCHED_REFINE_ILP);
  fsched_schedule *s;
  fsched_status status = fsched_compile(c, g, &o, &s, NULL);
  fsched_schedule_destroy(s);
  return status;
}

START_TEST(out_of_memory)
{
  static const char small[] =
      "fsched: 1\nname: c\ntarget:\n  resources: [{name: r, capacity: 2}]\n"
      "ops:\n  - {name: a, time: 2, uses: {r: 1}}\n"
      "  - {name: b, time: 3, uses: {r: 2}}\n"
      "  - {name: c, time: 2, uses: {r: 1}}\n"
      "  - {name: d, time: 1, uses: {r: 1}, after: [b]}\n";
  fs_budget budget;
  fsched_context *c = fs_budget_context(&budget);
  fsched_graph *g;
  ck_fs(c, fsched_graph_parse(c, "c", small, sizeof small - 1, NULL, &g));
  fs_fail_each_allocation(c, &budget, refine_once, g);
  fsched_graph_destroy(g);
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

FS_SUITE(refine, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  FS_TESTS(t, bad_options, no_solver, stopped, models, optimum, nothing_to_gain, out_of_memory);
}
