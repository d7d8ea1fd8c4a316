/* SPDX-License-Identifier: Apache-2.0 */
/* Gangs on any queues of a class: what the schedule chooses, its bounds against all schedules there
 * are, its file, and what the verifiers refuse. */
#include "fsched/compile.h"
#include "fsched/program.h"
#include "fsched/verify.h"
#include "ilp/solver_kit.h"
#include "kit/exhaust.h"
#include "kit/gen.h"
#include "kit/mutate/mutate.h"
#include "kit/oracle/oracle.h"
#include "model/handle.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

enum { STEPS = 4000000, SEARCH_NODES = 400 };

static fsched_schedule *schedule_of(const fsched_graph *g) {
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  return s;
}

/* The queues of an op, a bit for each. */
static uint64_t queues_of(const fs_schedule *s, uint32_t op) {
  uint32_t n;
  const uint32_t *queue = fs_item_queues(s, op, &n);
  uint64_t bits = 0;
  for (uint32_t i = 0; i < n; i++) {
    bits |= UINT64_C(1) << queue[i];
  }
  return bits;
}

static const char four[] =
    "fsched: 1\nname: g\ntarget:\n  queues: [{name: a}, {name: d, class: copy}, {name: b},"
    " {name: c}, {name: e}]\n";

static fsched_graph *parse_ops(const char *ops) {
  char text[1024];
  (void)snprintf(text, sizeof text, "%s%s", four, ops);
  return fs_parse(text);
}

/* Two pairs of the four queues run at once, whichever they are; three do not. */
START_TEST(free_queues_are_taken)
{
  fsched_graph *g = parse_ops(
      "ops:\n"
      "  - {name: x, on: {class: compute, count: 2}, time: 5}\n"
      "  - {name: y, on: {class: compute, count: 2}, time: 5}\n"
      "  - {name: z, on: {class: compute, count: 2}, time: 5}\n");
  fsched_schedule *h = schedule_of(g);
  const fs_schedule *s = h->schedule;
  ck_assert_uint_eq(s->makespan, 10);
  ck_assert_uint_eq(s->start[0] + s->start[1] + s->start[2], 5);
  for (uint32_t op = 0; op < 3; op++) {
    uint64_t own = queues_of(s, op);
    ck_assert_int_eq(__builtin_popcountll(own), 2);
    ck_assert_uint_eq(own & ~UINT64_C(0x1d), 0); /* a, b, c, e */
  }
  ck_assert_uint_eq(fsched_schedule_lower_bound(h), 8); /* 30 ticks on 4 queues */
  fsched_schedule_destroy(h);
  fsched_graph_destroy(g);
}
END_TEST

/* Gangs of three of the four queues run one after the other, which work alone does not show: it
 * would be 45 ticks on 4 queues. */
START_TEST(idle_queues_count_in_the_bound)
{
  fsched_graph *g = parse_ops(
      "ops:\n"
      "  - {name: x, on: {class: compute, count: 3}, time: 5}\n"
      "  - {name: y, on: [a, b, c], time: 5}\n"
      "  - {name: z, on: {class: compute, count: 3}, time: 5}\n");
  fsched_schedule *h = schedule_of(g);
  ck_assert_uint_eq(fsched_schedule_lower_bound(h), 15);
  ck_assert_uint_eq(fsched_schedule_makespan(h), 15);
  fsched_schedule_destroy(h);
  fsched_graph_destroy(g);
}
END_TEST

/* An op in a class of one, a gang of one, and a gang of all. */
START_TEST(least_and_most)
{
  fsched_graph *g = parse_ops(
      "ops:\n"
      "  - {name: x, on: {class: copy, count: 1}, time: 3}\n"
      "  - {name: y, on: {class: compute, count: 4}, time: 3}\n"
      "  - {name: z, on: {class: compute, count: 1}, time: 3}\n");
  fsched_schedule *h = schedule_of(g);
  const fs_schedule *s = h->schedule;
  ck_assert_uint_eq(queues_of(s, 0), 2);
  ck_assert_uint_eq(queues_of(s, 1), 0x1d);
  ck_assert_int_eq(__builtin_popcountll(queues_of(s, 2)), 1);
  ck_assert_uint_eq(s->makespan, 6);
  ck_assert_uint_ne(fs_item_gang(s, 2), FS_NONE);
  fsched_schedule_destroy(h);
  fsched_graph_destroy(g);
}
END_TEST

/* A gang runs where its predecessors did, which saves waits. */
START_TEST(predecessors_queues_come_first)
{
  fsched_graph *g = parse_ops(
      "ops:\n"
      "  - {name: p, on: c, time: 2, size: 4}\n"
      "  - {name: q, on: e, time: 3, size: 4}\n"
      "  - {name: x, on: {class: compute, count: 2}, time: 1,"
      " args: [{in: p}, {in: q}]}\n");
  fsched_schedule *h = schedule_of(g);
  ck_assert_uint_eq(queues_of(h->schedule, 2), 0x18);
  fsched_schedule_destroy(h);
  fsched_graph_destroy(g);
}
END_TEST

/* Queues that an op can do without are left to those that cannot: one op, or a gang that names
 * them. */
START_TEST(wanted_queues_are_left)
{
  static const char *const on[] = {"a", "[a, b]"};
  for (uint32_t k = 0; k < 2; k++) {
    char ops[300];
    (void)snprintf(ops, sizeof ops,
                   "ops:\n"
                   "  - {name: x, on: {class: compute, count: 2}, time: 6}\n"
                   "  - {name: y, on: %s, time: 5}\n",
                   on[k]);
    fsched_graph *g = parse_ops(ops);
    fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0), .verify = 1};
    fsched_schedule *h;
    ck_fs(ctx, fsched_compile(ctx, g, &o, &h, NULL));
    ck_assert_uint_eq(h->schedule->makespan, 6);
    fsched_schedule_destroy(h);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* A gang of all queues gets its turn though single ops would keep some queue busy for ever. */
START_TEST(a_gang_gets_its_turn)
{
  char ops[4096] =
      "ops:\n  - {name: first, on: a, time: 3, size: 1}\n"
      "  - {name: x, on: {class: compute, count: 4}, time: 5, args: [{in: first}]}\n"
      "  - {name: last, on: d, time: 200, after: [x]}\n";
  size_t n = strlen(ops);
  for (int i = 0; i < 60; i++) {
    n += (size_t)snprintf(ops + n, sizeof ops - n, "  - {name: s%d, time: %d}\n", i, 64 - i);
  }
  char text[8192];
  (void)snprintf(text, sizeof text, "%s%s", four, ops);
  fsched_graph *g = fs_parse(text);
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0)}; /* one plan */
  fsched_schedule *h;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &h, NULL));
  /* The longest single op is the first on its queue; what else is begun ends no later. */
  ck_assert_uint_le(h->schedule->start[1], 64);
  fsched_schedule_destroy(h);
  fsched_graph_destroy(g);
}
END_TEST

/* A graph of 4 or 5 ops with few edges on 3 or 4 queues of one class and one of another: gangs of
 * the class, gangs of given queues, single ops, in any mix.  With a memory each op takes up to 8
 * bytes of it while it runs. */
static fsched_graph *small_graph(uint64_t seed, uint64_t capacity) {
  fs_rng r = {seed};
  uint32_t n_queues = 3 + fs_rng_below(&r, 2), n_ops = 4 + fs_rng_below(&r, 2);
  static const char *const queue[] = {"a", "b", "c", "d"};
  fsched_builder *b;
  ck_fs(ctx, fsched_builder_create(ctx, "g", &b));
  for (uint32_t q = 0; q < n_queues; q++) {
    fsched_queue_desc d = {.size = sizeof d, .name = queue[q], .queue_class = "k"};
    ck_fs(ctx, fsched_builder_queue(b, &d, NULL));
  }
  fsched_queue_desc other = {.size = sizeof other, .name = "x", .queue_class = "copy"};
  ck_fs(ctx, fsched_builder_queue(b, &other, NULL));
  fsched_memory_desc memory = {.size = sizeof memory, .name = "m", .capacity = capacity};
  if (capacity > 0) {
    ck_fs(ctx, fsched_builder_memory(b, &memory, NULL));
  }
  for (uint32_t i = 0; i < n_ops; i++) {
    char name[8];
    const char *pair[] = {queue[fs_rng_below(&r, n_queues)], "x"};
    fsched_op_desc d = {.size = sizeof d, .name = name, .on = "k", .has_time = 1};
    (void)snprintf(name, sizeof name, "o%u", i);
    d.time = fs_rng_below(&r, 4);
    switch (fs_rng_below(&r, 6)) {
      case 0:
        d.on = pair[0];
        break;
      case 1:
        d.gang = pair;
        d.n_gang = 2;
        break;
      case 2:
        break;
      default:
        d.gang_class = "k";
        d.gang_count = 1 + fs_rng_below(&r, n_queues);
    }
    ck_fs(ctx, fsched_builder_op(b, &d, NULL));
    if (capacity > 0) {
      ck_fs(ctx, fsched_builder_scratch(b, i, 0, 1 + fs_rng_below(&r, 8)));
    }
    if (i > 0 && fs_rng_one_in(&r, 3)) {
      ck_fs(ctx, fsched_builder_after(b, i, fs_rng_below(&r, i)));
    }
  }
  fsched_graph *g;
  ck_fs(ctx, fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  return g;
}

typedef struct class_totals {
  uint32_t open, optimal, best, improved;
} class_totals;

/* No schedule is shorter than the bound, and none that is found is shorter than the best. */
static void check_small(uint64_t seed, uint64_t capacity, fsched_refine refine, const char *solver,
                        class_totals *t) {
  fsched_graph *g = small_graph(seed, capacity);
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  fsched_schedule *s, *list;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &list, NULL));
  uint64_t before = fsched_schedule_makespan(list);
  o.refine = refine;
  o.node_limit = refine == FSCHED_REFINE_SEARCH ? SEARCH_NODES : 0;
  o.solver_cmd = solver;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  const char *fault = fs_oracle_schedule(s->schedule);
  ck_assert_msg(fault == NULL, "seed %d: %s", (int)seed, fault);
  fs_exhaust e = fs_exhaust_search(g, 0, before, STEPS);
  ck_assert_msg(e.known && e.found, "seed %d: %d", (int)seed, e.known);
  ck_assert_msg(fsched_schedule_lower_bound(s) <= e.best, "seed %d: bound %d, best %d", (int)seed,
                (int)fsched_schedule_lower_bound(s), (int)e.best);
  ck_assert_msg(fsched_schedule_makespan(s) >= e.best, "seed %d", (int)seed);
  ck_assert(s->schedule->status != FS_SCHEDULE_OPTIMAL || s->schedule->makespan == e.best);
  t->open += g->gangs_open;
  t->optimal += g->gangs_open && s->schedule->status == FS_SCHEDULE_OPTIMAL;
  t->best += g->gangs_open && s->schedule->makespan == e.best;
  t->improved += fsched_schedule_makespan(s) < before;
  fsched_schedule_destroy(list);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

START_TEST(bounds_hold_for_all_schedules)
{
  class_totals t = {0};
  for (uint64_t seed = 1; seed <= 300; seed++) {
    check_small(seed, 0, FSCHED_REFINE_NONE, NULL, &t);
  }
  ck_assert_uint_gt(t.open, 200);
  ck_assert_uint_gt(t.optimal, t.open * 2 / 3);
  ck_assert_uint_gt(t.best, t.open * 9 / 10);
  ck_assert_uint_lt(t.optimal, t.open); /* not all bounds are reached */
}
END_TEST

/* The models keep the queues that were chosen, and claim nothing about others. */
START_TEST(refined_claims_hold)
{
  char solver[4096];
  class_totals t = {0};
  if (fs_test_solver(solver) == NULL) {
    return;
  }
  for (uint64_t seed = 1; seed <= 300; seed++) {
    check_small(seed, 0, FSCHED_REFINE_ILP, solver, &t);
  }
  ck_assert_uint_gt(t.open, 200);
  ck_assert_uint_gt(t.improved, 0);
}
END_TEST

/* What the search proves of sets of queues holds for all schedules, and is proven of nearly all. */
START_TEST(searched_bounds_hold)
{
  class_totals t = {0};
  for (uint64_t seed = 1; seed <= 600; seed++) {
    check_small(seed, 0, FSCHED_REFINE_SEARCH, NULL, &t);
  }
  ck_assert_uint_gt(t.open, 400);
  ck_assert_uint_gt(t.optimal, t.open * 49 / 50);
}
END_TEST

/* Beside a memory with room for all, and a short one, of which only bounds are known. */
START_TEST(searched_bounds_hold_in_memory)
{
  class_totals roomy = {0}, tight = {0};
  for (uint64_t seed = 1; seed <= 300; seed++) {
    check_small(seed, 40, FSCHED_REFINE_SEARCH, NULL, &roomy);
    check_small(seed, 10, FSCHED_REFINE_SEARCH, NULL, &tight);
  }
  ck_assert_uint_gt(roomy.open, 200);
  ck_assert_uint_gt(roomy.optimal, roomy.open * 49 / 50);
  ck_assert_uint_gt(tight.optimal, tight.open * 9 / 10);
}
END_TEST

/* The file names the queues that were chosen. */
START_TEST(files_keep_the_choice)
{
  uint32_t open = 0;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    fs_gen_params p = fs_gen_any(seed, 40);
    p.gangs = p.class_gangs = true;
    fsched_graph *g;
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    fsched_schedule *s = schedule_of(g), *read;
    char *text;
    size_t n;
    ck_fs(ctx, fsched_schedule_json(ctx, s, &text, &n));
    ck_fs(ctx, fsched_schedule_parse(ctx, g, "s.json", text, n, &read));
    ck_fs(ctx, fsched_verify_schedule(ctx, g, read));
    for (uint32_t op = 0; op < g->n_ops; op++) {
      ck_assert_uint_eq(queues_of(s->schedule, op), queues_of(read->schedule, op));
    }
    open += g->gangs_open;
    fsched_text_free(ctx, text, n);
    fsched_schedule_destroy(read);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(open, 30);
}
END_TEST

/* --- what is refused --- */

static fsched_graph *one_gang(void) {
  return parse_ops(
      "ops:\n  - {name: x, on: {class: compute, count: 2}, time: 5, size: 8}\n"
      "  - {name: y, on: a, args: [{in: x}]}\n");
}

/* What the verifier says of a schedule whose gang has these queues; NULL: nothing. */
static const char *verdict_on(const fsched_graph *g, const uint32_t *queue, uint32_t n) {
  fsched_schedule *h = schedule_of(g);
  fs_schedule *s = h->schedule;
  uint32_t member0[] = {0, n, n};
  ck_fs(ctx, fs_schedule_set_gangs(s, member0, queue));
  s->queue[0] = queue[0];
  fsched_diag_clear(ctx);
  const char *code =
      fs_verify_schedule(ctx, g, s, NULL) == FSCHED_OK ? NULL : fsched_diag_get(ctx, 0)->code;
  fsched_schedule_destroy(h);
  return code;
}

START_TEST(wrong_queues_of_schedules_are_refused)
{
  fsched_graph *g = one_gang();
  static const uint32_t right[] = {0, 3}, other_class[] = {0, 1}, twice[] = {0, 0},
                        three[] = {0, 2, 3}, turned[] = {3, 0};
  ck_assert_ptr_null(verdict_on(g, right, 2));
  ck_assert_str_eq(verdict_on(g, other_class, 2), "verify-queue");
  ck_assert_str_eq(verdict_on(g, twice, 2), "verify-queue");
  ck_assert_str_eq(verdict_on(g, right, 1), "verify-queue");
  ck_assert_str_eq(verdict_on(g, three, 3), "verify-queue");
  ck_assert_str_eq(verdict_on(g, turned, 2), "verify-queue");
  fsched_schedule *h = schedule_of(g);
  static const uint32_t none[] = {0, 0, 0};
  ck_fs(ctx, fs_schedule_set_gangs(h->schedule, none, right)); /* on one queue alone */
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fs_verify_schedule(ctx, g, h->schedule, NULL), FSCHED_WRONG);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "verify-queue");
  fsched_schedule_destroy(h);
  fsched_graph_destroy(g);
}
END_TEST

/* A stream of another graph, whose gang has queues of its own choice, against the graph; `chosen`:
 * the stream says that they could be others of their class. */
static bool stream_accepted(const fsched_graph *g, const char *on, bool chosen) {
  char ops[256];
  (void)snprintf(ops, sizeof ops,
                 "ops:\n  - {name: x, on: %s, time: 5, size: 8}\n"
                 "  - {name: y, on: a, args: [{in: x}]}\n",
                 on);
  fsched_graph *other = parse_ops(ops);
  fsched_program *p;
  ck_fs(ctx, fsched_compile(ctx, other, NULL, NULL, &p));
  fsched_diag_clear(ctx);
  fsched_program *copy = fs_mutant_copy(p);
  fs_stream_op *x = (fs_stream_op *)(uintptr_t)copy->view.ops;
  x->by_class = chosen;
  bool ok = fsched_verify_program(ctx, copy, g) == FSCHED_OK;
  fs_mutant_free(copy);
  if (!ok) {
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "verify-graph");
  }
  fsched_program_destroy(p);
  fsched_graph_destroy(other);
  return ok;
}

START_TEST(wrong_queues_of_streams_are_refused)
{
  fsched_graph *g = one_gang();
  ck_assert(stream_accepted(g, "[a, e]", true));
  ck_assert(!stream_accepted(g, "[a, e]", false));
  ck_assert(stream_accepted(g, "[b, c]", true));
  ck_assert(stream_accepted(g, "{class: compute, count: 2}", true));
  ck_assert(!stream_accepted(g, "{class: compute, count: 2}", false));
  ck_assert(!stream_accepted(g, "[a, d]", true));
  ck_assert(!stream_accepted(g, "[a]", true));
  ck_assert(!stream_accepted(g, "a", true));
  ck_assert(!stream_accepted(g, "[a, b, c]", true));
  fsched_graph_destroy(g);
}
END_TEST

static bool file_accepted(const fsched_graph *g, const char *queues) {
  fsched_schedule *s = schedule_of(g), *read = NULL;
  char *text, changed[4096];
  size_t n;
  ck_fs(ctx, fsched_schedule_json(ctx, s, &text, &n));
  const char *at = strstr(text, "\"queues\": ["), *end = strchr(at, ']');
  (void)snprintf(changed, sizeof changed, "%.*s\"queues\": [%s%.*s", (int)(at - text), text, queues,
                 (int)(text + n - end), end);
  fsched_diag_clear(ctx);
  bool ok = fsched_schedule_parse(ctx, g, "s", changed, strlen(changed), &read) == FSCHED_OK;
  if (!ok) {
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "schedule-value");
  }
  fsched_text_free(ctx, text, n);
  fsched_schedule_destroy(read);
  fsched_schedule_destroy(s);
  return ok;
}

START_TEST(wrong_queues_of_files_are_refused)
{
  fsched_graph *g = one_gang();
  ck_assert(file_accepted(g, "\"e\", \"b\""));
  ck_assert(!file_accepted(g, "\"e\", \"d\""));
  ck_assert(!file_accepted(g, "\"e\", \"e\""));
  ck_assert(!file_accepted(g, "\"e\""));
  ck_assert(!file_accepted(g, "\"a\", \"b\", \"c\""));
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(class_gangs, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, free_queues_are_taken, idle_queues_count_in_the_bound, least_and_most,
           predecessors_queues_come_first, wanted_queues_are_left, a_gang_gets_its_turn,
           bounds_hold_for_all_schedules, refined_claims_hold, searched_bounds_hold,
           searched_bounds_hold_in_memory, files_keep_the_choice,
           wrong_queues_of_schedules_are_refused, wrong_queues_of_streams_are_refused,
           wrong_queues_of_files_are_refused);
}
