/* SPDX-License-Identifier: Apache-2.0 */
/* The model with spills: figure 10 in four readings, tiny graphs compared with a search through all
 * states (spill_search.h), list schedules as points, and what is refused.  Tests that need a solver
 * are skipped, with a message, where there is no fsched-glpk. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kit/quick.h"

#include "fsched/verify.h"
#include "ilp/solver/solver.h"
#include "ilp/spill/model.h"
#include "ilp/spill_search.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "model/handle.h"
#include "placement/placement_kit.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

enum { TERMS = 1000000, ROUNDS = 40 };

static fsched_graph *parse(const char *text) {
  fsched_graph *g;
  fs_status status = fsched_graph_parse(ctx, "t", text, strlen(text), NULL, &g);
  if (status != FSCHED_OK) {
    ck_abort_msg("%s\n%s", fsched_diag_get(ctx, 0)->message, text);
  }
  return g;
}

static fsched_schedule *compile(const fsched_graph *g) {
  fsched_schedule *s;
  ck_assert_int_eq(fsched_compile(ctx, g, &fs_quick, &s, NULL), FSCHED_OK);
  return s;
}

/* Finds fsched-glpk in the folder above this program's. */
static bool helper(char path[4096]) {
  ssize_t n = readlink("/proc/self/exe", path, 4000);
  for (int up = 0; up < 2 && n > 0; up++) {
    do {
      n--;
    } while (n > 0 && path[n] != '/');
  }
  if (n >= 0) {
    (void)snprintf(path + n, 32, "/fsched-glpk");
  }
  if (n < 0 || access(path, X_OK) != 0) {
    printf("ilp_spill: no fsched-glpk, skipped\n");
    return false;
  }
  return true;
}

/* ---- solving */

typedef struct solved {
  int64_t objective; /* that of the last round */
  fs_schedule *s;    /* NULL: none was found, or the rounds were used up */
  bool optimal, proven;
  uint32_t rounds; /* points without addresses so far */
} solved;

/* Solves, and forbids points for which there are no addresses.  Begins at a start when `from` is
 * given. */
static solved solve(fsched_context *own, fs_spill_model *m, const fsched_schedule *from,
                    uint64_t nodes) {
  char path[4096];
  solved r = {.proven = true};
  fs_solver_result result = {0};
  ck_assert(helper(path));
  fs_solver_options o = {.command = path, .node_limit = nodes};
  for (bool more = true; more && r.s == NULL && r.rounds < ROUNDS;) {
    const fs_model *model = fs_spill_model_of(m);
    int64_t *value = calloc(model->var.n + 1, sizeof *value);
    bool start = false;
    fs_decision exists;
    if (from != NULL) {
      ck_assert_int_eq(fs_spill_model_point(m, from->schedule, value, &start), FSCHED_OK);
    }
    ck_assert_int_eq(fs_solver_run(own, model, &o, start, value, &result), FSCHED_OK);
    ck_assert_msg(result.status != FS_SOLVER_FAILED, "%s", result.reason);
    more = result.found;
    r.objective = result.objective;
    r.optimal = result.status == FS_SOLVER_OPTIMAL;
    if (result.found) {
      ck_assert_uint_eq(fs_model_broken(model, value), FS_NONE);
      ck_assert_int_eq(fs_spill_model_schedule(m, value, &r.s, &exists), FSCHED_OK);
    }
    if (result.found && r.s == NULL) {
      r.rounds++;
      r.proven = r.proven && exists.is == FS_NO;
      ck_assert_int_eq(fs_spill_model_forbid(m, value), FSCHED_OK);
    }
    free(value);
  }
  return r;
}

/* ---- figure 10 */

static fsched_graph *figure_10(bool serial, bool stored) {
  char text[2048];
  const char *copy = serial ? "dpu" : "copy";
  (void)snprintf(text, sizeof text,
                 "fsched: 1\nname: figure-10\ntarget:\n  queues: [{name: dpu}%s]\n  memories:\n"
                 "    - {name: cmx, capacity: 10, backing: ddr, spill: {on: %s, write: {fixed: 1}, "
                 "read: {fixed: 1}}}\n    - {name: ddr}\n"
                 "buffers: [{name: C, size: 4%s}]\n"
                 "ops:\n  - {name: A_in, on: %s, size: 5}\n"
                 "  - {name: A, on: dpu, size: 5, args: [{in: A_in}]}\n"
                 "  - {name: B_in, on: %s, size: 4}\n"
                 "  - {name: B, on: dpu, size: 1, args: [{in: A}, {in: B_in}]}\n"
                 "  - {name: C, on: dpu, args: [{in: A_in}, {in: B}, {out: C}]}\n",
                 serial ? "" : ", {name: dma, class: copy}", copy, stored ? ", io: output" : "",
                 copy, copy);
  return parse(text);
}

/* The optimum is found without a start, within a horizon that leaves room for much worse. */
START_TEST(figure_10_in_four_readings)
{
  static const struct {
    bool serial, stored;
    int64_t optimum;
  } reading[] = {{true, true, 8}, {false, true, 7}, {true, false, 7}, {false, false, 6}};
  char path[4096];
  if (!helper(path)) {
    return;
  }
  for (size_t i = 0; i < sizeof reading / sizeof reading[0]; i++) {
    fsched_graph *g = figure_10(reading[i].serial, reading[i].stored);
    fs_spill_model *m;
    uint32_t states;
    ck_assert_int_eq(fs_spill_model_build(ctx, g, 11, TERMS, &m), FSCHED_OK);
    ck_assert_ptr_nonnull(m);
    solved r = solve(ctx, m, NULL, 0);
    ck_assert(r.optimal && r.s != NULL);
    ck_assert_int_eq(r.objective, reading[i].optimum);
    ck_assert_uint_eq(r.s->makespan, (fs_tick)reading[i].optimum);
    ck_assert_int_eq(fs_verify_schedule(ctx, g, r.s, NULL), FSCHED_OK);
    ck_assert_uint_eq(fs_spill_search(g, &states), (fs_tick)reading[i].optimum);
    fs_schedule_destroy(r.s);
    fs_spill_model_destroy(m);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}
END_TEST

/* ---- tiny graphs */

typedef struct ilp_spill_script {
  char text[4096];
  size_t n;
} ilp_spill_script;

static void add(ilp_spill_script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(ilp_spill_script *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  s->n += (size_t)vsnprintf(s->text + s->n, sizeof s->text - s->n, format, args);
  va_end(args);
  ck_assert_uint_lt(s->n, sizeof s->text);
}

/* Makes inputs i0.. and the ops' outputs b0..; op k reads one or two earlier buffers, and now and
 * then modifies one of them instead. */
static void tiny_ops(ilp_spill_script *s, fs_rng *rng, uint32_t n_ops, uint32_t n_in,
                     uint32_t scratch) {
  add(s, "ops:\n");
  for (uint32_t k = 0; k < n_ops; k++) {
    uint32_t have = n_in + k, a = have == 0 ? 0 : fs_rng_below(rng, have);
    uint32_t time = 1 + fs_rng_below(rng, 3);
    add(s, "  - {name: o%u, on: %s, time: %u, args: [", k,
        fs_rng_one_in(rng, 4) ? "copy" : "compute", time);
    if (have > 0 && (k > 0 || fs_rng_one_in(rng, 2))) {
      uint32_t b = fs_rng_below(rng, have);
      add(s, "{%s: %c%u}, ", fs_rng_one_in(rng, 5) ? "inout" : "in", a < n_in ? 'i' : 'b',
          a < n_in ? a : a - n_in);
      if (b != a && fs_rng_one_in(rng, 2)) {
        add(s, "{in: %c%u}, ", b < n_in ? 'i' : 'b', b < n_in ? b : b - n_in);
      }
    }
    add(s, "{out: b%u}]", k);
    if (scratch > 0 && fs_rng_one_in(rng, 3)) {
      add(s, ", scratch: {m: %u}", 1 + fs_rng_below(rng, scratch));
    }
    add(s, "}\n");
  }
}

typedef enum ilp_spill_form {
  COUNTED,
  CONTIGUOUS,
  BOUNDED_STORE
} ilp_spill_form; /* the last one is also tried with counted memory */

static void tiny_script(ilp_spill_script *s, uint64_t seed, ilp_spill_form f) {
  fs_rng rng = {seed};
  uint32_t n_in = fs_rng_below(&rng, 3), n_ops = 3 + fs_rng_below(&rng, n_in == 0 ? 3 : 2);
  n_ops = n_ops + n_in > 6 ? 6 - n_in : n_ops;
  n_ops = n_ops > 5 ? 5 : n_ops;
  s->n = 0;
  add(s, "fsched: 1\nname: tiny\ntarget:\n  queues: [{name: q}%s, {name: d, class: copy}]\n",
      fs_rng_one_in(&rng, 3) ? ", {name: r}" : "");
  const char *on = fs_rng_one_in(&rng, 4) ? "compute" : "copy";
  add(s, "  memories:\n    - {name: m, capacity: %u, placement: %s, backing: far, spill: {on: %s, ",
      6 + fs_rng_below(&rng, 5), f == CONTIGUOUS ? "contiguous" : "counted", on);
  add(s, "write: {fixed: %u}, ", 1 + fs_rng_below(&rng, 2));
  add(s, "read: {fixed: %u}}}\n", 1 + fs_rng_below(&rng, 2));
  if (f == BOUNDED_STORE) {
    add(s, "    - {name: far, capacity: %u, placement: counted}\n", 4 + fs_rng_below(&rng, 8));
  } else {
    add(s, "    - {name: far}\n");
  }
  add(s, "buffers:\n");
  for (uint32_t i = 0; i < n_in; i++) {
    const char *io = fs_rng_one_in(&rng, 3) ? "state" : "input";
    add(s, "  - {name: i%u, size: %u, io: %s}\n", i, 1 + fs_rng_below(&rng, 4), io);
  }
  for (uint32_t k = 0; k < n_ops; k++) {
    bool out = k + 1 == n_ops || fs_rng_one_in(&rng, 5);
    add(s, "  - {name: b%u, size: %u%s}\n", k, 1 + fs_rng_below(&rng, 4),
        out ? ", io: output" : "");
  }
  tiny_ops(s, &rng, n_ops, n_in, f == CONTIGUOUS ? 0 : 2);
}

typedef struct ilp_spill_tally {
  unsigned done, spilling, improved, forbidden, skipped, unknown;
} ilp_spill_tally;

/* For one graph, the model's optimum is that of the search; for contiguous memories this holds once
 * points without addresses are forbidden. */
static void tiny_case(uint64_t seed, ilp_spill_form f, ilp_spill_tally *sum) {
  ilp_spill_script text;
  uint32_t states;
  tiny_script(&text, seed, f);
  fsched_context *own = fs_new_context();
  fsched_graph *g;
  fsched_schedule *s = NULL;
  if (fsched_graph_parse(own, "t", text.text, text.n, NULL, &g) != FSCHED_OK) {
    sum->skipped++; /* an op does not fit */
    fsched_context_destroy(own);
    return;
  }
  fs_status status = fsched_compile(own, g, &fs_quick, &s, NULL);
  if (status != FSCHED_OK) {
    ck_assert(status == FSCHED_INFEASIBLE && f == BOUNDED_STORE);
    sum->skipped++;
    fsched_graph_destroy(g);
    fsched_context_destroy(own);
    return;
  }
  fs_tick best = fs_spill_search(g, &states);
  fs_spill_model *m;
  ck_assert_int_eq(fs_spill_model_build(own, g, s->schedule->makespan, TERMS, &m), FSCHED_OK);
  if (m == NULL || best == FS_TICK_NONE) {
    ck_assert_msg(m != NULL, "seed %llu: no model", (unsigned long long)seed);
    sum->unknown++;
  } else {
    solved r = solve(own, m, s, 0);
    ck_assert_msg(r.proven && r.optimal && r.s != NULL && (fs_tick)r.objective == best &&
                      r.s->makespan == best,
                  "seed %llu: %lld (%s), the search %llu, the list %llu, rounds %u\n%s",
                  (unsigned long long)seed, (long long)r.objective,
                  r.s == NULL ? "no schedule" : "found", (unsigned long long)best,
                  (unsigned long long)s->schedule->makespan, r.rounds, text.text);
    ck_assert_int_eq(fs_verify_schedule(own, g, r.s, NULL), FSCHED_OK);
    sum->done++;
    sum->spilling += r.s->n_copies > 0;
    sum->improved += best < s->schedule->makespan;
    sum->forbidden += r.rounds > 0;
    fs_schedule_destroy(r.s);
  }
  fs_spill_model_destroy(m);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_context_destroy(own);
}

static void tiny_cases(uint64_t first, uint64_t n, ilp_spill_form f, ilp_spill_tally *sum) {
  char path[4096];
  for (uint64_t seed = first; seed < first + n && helper(path); seed++) {
    tiny_case(seed, f, sum);
  }
  if (getenv("VERBOSE") != NULL) {
    printf("done %u spilling %u improved %u forbidden %u skipped %u unknown %u\n", sum->done,
           sum->spilling, sum->improved, sum->forbidden, sum->skipped, sum->unknown);
  }
}

START_TEST(optimum_of_tiny_counted_graphs)
{
  ilp_spill_tally sum = {0};
  tiny_cases(0, 200, COUNTED, &sum);
}
END_TEST

START_TEST(optimum_of_tiny_contiguous_graphs)
{
  ilp_spill_tally sum = {0};
  tiny_cases(1000, 90, CONTIGUOUS, &sum);
}
END_TEST

START_TEST(optimum_with_a_bounded_store)
{
  ilp_spill_tally sum = {0};
  tiny_cases(2000, 90, BOUNDED_STORE, &sum);
}
END_TEST

/* ---- amounts fit, addresses do not */

enum { RECTANGLES = 12, CAPACITY = 8, LAST = 10 };
/* Size, begin and end: there are at most 8 bytes at any time, but no addresses within 8. */
static const unsigned rectangle[RECTANGLES][3] = {{1, 2, 5}, {1, 3, 6},  {3, 6, 8}, {3, 1, 2},
                                                  {1, 4, 7}, {2, 8, 10}, {1, 2, 7}, {2, 0, 4},
                                                  {3, 0, 4}, {2, 7, 10}, {3, 6, 8}, {1, 8, 10}};

/* Makes an op for each rectangle, with a given start except for `open`. */
static fsched_graph *rectangles(uint32_t open) {
  ilp_spill_script s = {.n = 0};
  add(&s, "fsched: 1\nname: r\ntarget: {memories: [{name: m, capacity: %d}]}\nops:\n", CAPACITY);
  for (uint32_t i = 0; i < RECTANGLES; i++) {
    const unsigned *r = rectangle[i];
    add(&s, "  - {name: r%u, time: %u, size: %u", i, r[2] - r[1], r[0]);
    if (i != open) {
      add(&s, ", start: %u", r[1]);
    }
    add(&s, "}\n");
  }
  return parse(s.text);
}

/* The least makespan with rectangle `open` at any start; 0: there is none up to the horizon. */
static fs_tick by_hand(uint32_t open, fs_tick horizon) {
  uint64_t size[RECTANGLES], address[RECTANGLES], peak;
  fs_tick begin[RECTANGLES], end[RECTANGLES], least = 0;
  for (uint32_t i = 0; i < RECTANGLES; i++) {
    size[i] = rectangle[i][0];
    begin[i] = rectangle[i][1];
    end[i] = rectangle[i][2];
  }
  fs_tick time = open < RECTANGLES ? end[open] - begin[open] : 0;
  for (fs_tick at = 0; at + time <= horizon; at++) {
    if (open < RECTANGLES) {
      begin[open] = at;
      end[open] = at + time;
    }
    const fs_placement p = {.n = RECTANGLES,
                            .size = size,
                            .begin = begin,
                            .end = end,
                            .capacity = CAPACITY,
                            .nodes = 100000};
    bool found, proven;
    ck_assert_int_eq(fs_test_place(ctx, &p, false, address, &peak, &found, &proven), FSCHED_OK);
    ck_assert(found || proven);
    fs_tick makespan = at + time > LAST ? at + time : LAST;
    least = found && (least == 0 || makespan < least) ? makespan : least;
  }
  return least;
}

/* Points without addresses are ruled out, and no others are. */
START_TEST(forbidden_until_there_are_addresses)
{
  char path[4096];
  unsigned none = 0, some = 0;
  for (uint32_t open = 0; open <= RECTANGLES && helper(path); open++) {
    fsched_graph *g = rectangles(open);
    fs_spill_model *m;
    fs_tick least = by_hand(open, 12);
    ck_assert_int_eq(fs_spill_model_build(ctx, g, 12, TERMS, &m), FSCHED_OK);
    ck_assert_ptr_nonnull(m);
    solved r = solve(ctx, m, NULL, 0);
    ck_assert(r.proven && r.rounds < ROUNDS);
    ck_assert(least == 0 ? r.s == NULL : r.s != NULL && r.optimal && r.s->makespan == least);
    none += least == 0;
    some += r.s != NULL && r.rounds > 0;
    if (getenv("VERBOSE") != NULL) {
      printf("open %u: least %u, rounds %u\n", open, (unsigned)least, r.rounds);
    }
    fs_schedule_destroy(r.s);
    fs_spill_model_destroy(m);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert(!helper(path) || (none > 0 && some > 0));
}
END_TEST

/* ---- list schedules as points, and back; no solver */

/* The schedule that comes back is right, and not longer. */
static void come_back(fsched_graph *g, uint64_t seed, ilp_spill_tally *sum) {
  fsched_schedule *s = NULL;
  fs_schedule *back = NULL;
  fs_spill_model *m = NULL;
  bool fits = false;
  fs_decision exists;
  ck_assert_int_eq(fsched_compile(ctx, g, &fs_quick, &s, NULL), FSCHED_OK);
  ck_assert_int_eq(fs_spill_model_build(ctx, g, s->schedule->makespan, 4 * TERMS, &m), FSCHED_OK);
  if (m == NULL) {
    sum->skipped++;
  } else {
    const fs_model *model = fs_spill_model_of(m);
    int64_t *value = calloc(model->var.n + 1, sizeof *value);
    ck_assert_int_eq(fs_spill_model_point(m, s->schedule, value, &fits), FSCHED_OK);
    ck_assert_msg(fits, "seed %llu: the list schedule is no point", (unsigned long long)seed);
    ck_assert_int_eq(fs_spill_model_schedule(m, value, &back, &exists), FSCHED_OK);
    ck_assert_msg(back != NULL || exists.is != FS_NO, "seed %llu: no addresses",
                  (unsigned long long)seed);
    sum->unknown += back == NULL;
    if (back != NULL) {
      ck_assert_uint_le(back->makespan, s->schedule->makespan);
      ck_assert_int_le((int64_t)back->makespan, fs_model_objective(model, value));
      ck_assert_int_eq(fs_verify_schedule(ctx, g, back, NULL), FSCHED_OK);
      sum->spilling += back->n_copies > 0;
    }
    sum->done++;
    free(value);
  }
  fs_schedule_destroy(back);
  fs_spill_model_destroy(m);
  fsched_schedule_destroy(s);
}

START_TEST(list_schedules_are_points)
{
  ilp_spill_tally any = {0}, tight = {0};
  for (uint64_t seed = 0; seed < 200; seed++) {
    fs_gen_params p = seed % 2 == 0 ? fs_gen_any(seed, 20) : fs_gen_tight(seed, 3 + seed % 18);
    p.zero_times = false;
    p.max_time = 1 + seed % 4;
    fsched_graph *g;
    ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
    come_back(g, seed, seed % 2 == 0 ? &any : &tight);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  if (getenv("VERBOSE") != NULL) {
    printf("any: %u, %u spilling, %u skipped, %u not back; tight: %u, %u, %u, %u\n", any.done,
           any.spilling, any.skipped, any.unknown, tight.done, tight.spilling, tight.skipped,
           tight.unknown);
  }
  ck_assert_uint_ge(any.done, 75);
  ck_assert_uint_ge(tight.done, 75);
  ck_assert_uint_le(any.unknown + tight.unknown, 4);
}
END_TEST

/* ---- what there is no model for, and what there is */

static bool has_model(const char *text, fs_tick horizon, size_t terms) {
  fsched_graph *g = parse(text);
  fs_spill_model *m;
  ck_assert_int_eq(fs_spill_model_build(ctx, g, horizon, terms, &m), FSCHED_OK);
  bool yes = m != NULL;
  fs_spill_model_destroy(m);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return yes;
}

#define TARGET(spill)                                                                 \
  "fsched: 1\nname: t\ntarget:\n  queues: [{name: q}, {name: d, class: copy}]\n"      \
  "  memories:\n    - {name: m, capacity: 10, backing: far, spill: {on: copy, " spill \
  "}}\n"                                                                              \
  "    - {name: far}\n"
#define ONE TARGET("write: {fixed: 1}, read: {fixed: 1}")

START_TEST(what_is_refused)
{
  static const char plain[] = ONE "ops:\n  - {name: a, time: 4, size: 3}\n";
  ck_assert(has_model(plain, 4, TERMS));
  ck_assert(!has_model(plain, 3, TERMS));   /* no schedule is that short */
  ck_assert(!has_model(plain, 4000, 1000)); /* too large */
  ck_assert(!has_model(plain, (fs_tick)1 << 40, TERMS));
  ck_assert(!has_model(ONE "ops:\n  - {name: a, time: 0, size: 3}\n", 4, TERMS));
  ck_assert(!has_model(ONE "ops:\n  - {name: a, time: 0, scratch: {m: 3}}\n", 4, TERMS));
  ck_assert(has_model(ONE "ops:\n  - {name: a, time: 0}\n  - {name: b, size: 1}\n", 4, TERMS));
  ck_assert(!has_model(
      TARGET("write: {fixed: 1}, read: {fixed: 0}") "ops:\n  - {name: a, size: 3}\n", 4, TERMS));
  ck_assert(!has_model(ONE "hazards: raw\nbuffers: [{name: x, size: 1}]\n"
                           "ops:\n  - {name: a, args: [{out: x}]}\n"
                           "  - {name: b, args: [{out_existing: x}]}\n",
                       4, TERMS));
  ilp_spill_script many = {.n = 0};
  add(&many, "%sops:\n", ONE);
  for (uint32_t op = 0; op <= fs_limits_usual.spill_ops; op++) {
    add(&many, "  - {name: o%u}\n", op);
  }
  ck_assert(!has_model(many.text, 30, TERMS));
}
END_TEST

/* Where durations have a common divisor, the model is as small as that of the quotients, and its
 * objective is in ticks. */
START_TEST(units)
{
  static const char text[] = TARGET("write: {fixed: 400}, read: {fixed: 200}")
      "buffers: [{name: b, size: 3, io: output}]\n"
      "ops:\n  - {name: a, time: 600, size: 3}\n  - {name: c, time: 400, args: [{in: a}, {out: b}]}\n";
  fsched_graph *g = parse(text);
  fsched_schedule *s = compile(g);
  fs_schedule *back;
  fs_spill_model *m;
  bool fits;
  fs_decision exists;
  ck_assert_uint_eq(s->schedule->makespan, 1400);
  ck_assert_int_eq(fs_spill_model_build(ctx, g, 1900, TERMS, &m), FSCHED_OK);
  const fs_model *model = fs_spill_model_of(m);
  ck_assert_uint_lt(model->var.n, 80);
  int64_t *value = calloc(model->var.n, sizeof *value);
  ck_assert_int_eq(fs_spill_model_point(m, s->schedule, value, &fits), FSCHED_OK);
  ck_assert(fits);
  ck_assert_int_eq(fs_model_objective(model, value), 1400);
  ck_assert_int_eq(fs_spill_model_schedule(m, value, &back, &exists), FSCHED_OK);
  ck_assert_uint_eq(back->makespan, 1400);
  ck_assert_uint_eq(back->start[1], 600);
  free(value);
  fs_schedule_destroy(back);
  fs_spill_model_destroy(m);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- memory runs out */

static fs_status everything(fsched_context *own, const fsched_graph *g, const fsched_schedule *s) {
  fs_spill_model *m = NULL;
  fs_schedule *back = NULL;
  bool fits = false;
  fs_decision exists;
  fs_status status = fs_spill_model_build(own, g, s->schedule->makespan, TERMS, &m);
  if (status != FSCHED_OK) {
    ck_assert_ptr_null(m);
    return status;
  }
  int64_t *value = calloc(fs_spill_model_of(m)->var.n, sizeof *value);
  status = fs_spill_model_point(m, s->schedule, value, &fits);
  status = status == FSCHED_OK ? fs_spill_model_schedule(m, value, &back, &exists) : status;
  status = status == FSCHED_OK ? fs_spill_model_forbid(m, value) : status;
  if (status == FSCHED_OK) {
    ck_assert(fits && back != NULL);
    /* This point is ruled out. */
    ck_assert_uint_ne(fs_model_broken(fs_spill_model_of(m), value), FS_NONE);
  }
  free(value);
  fs_schedule_destroy(back);
  fs_spill_model_destroy(m);
  return status;
}

START_TEST(out_of_memory)
{
  fs_status status = FSCHED_SYSTEM;
  fsched_graph *g = figure_10(false, true);
  fsched_schedule *s = compile(g);
  for (long n = 0; status != FSCHED_OK; n++) {
    fs_budget budget = {.left = n};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *small;
    status = fsched_context_create(&o, &small);
    if (status == FSCHED_OK) {
      status = everything(small, g, s);
      ck_assert(status == FSCHED_OK || (status == FSCHED_SYSTEM && budget.left < 0));
      ck_assert(status == FSCHED_OK || fsched_diag_errors(small) > 0);
      fsched_context_destroy(small);
    }
    ck_assert_int_eq(budget.blocks, 0);
    ck_assert_int_lt(n, 100000);
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(ilp_spill, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 600);
  FS_TESTS(t, figure_10_in_four_readings, optimum_of_tiny_counted_graphs,
           optimum_of_tiny_contiguous_graphs, optimum_with_a_bounded_store,
           forbidden_until_there_are_addresses, list_schedules_are_points, what_is_refused, units,
           out_of_memory);
}
