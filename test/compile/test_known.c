/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds, windows, models and searches on graphs with a known best schedule: no bound may be above
 * it, no window may leave it out, every exact model must have it as a point, and nothing may call
 * it impossible.  This holds on both sides of every limit (limit.h): limits are made small one by
 * one and all together, until there is an instance in which that changed something.
 *
 * FSCHED_KNOWN=N in the environment asks for N instances, and for a table of what was tried. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "compile/known_look.h"
#include "fsched/compile.h"
#include "fsched/program.h"
#include "fsched/verify.h"
#include "ilp/solver_kit.h"
#include "kit/golden_case.h"
#include "kit/turn.h"
#include "model/bounds/bounds.h"
#include "model/handle.h"

#include "kit/context.h"

enum {
#define FS_LIMIT(name, most, what) LIMIT_##name,
#include "base/limits.def"
#undef FS_LIMIT
  LIMITS,
  PER_LIMIT = 12, /* instances of each limit, and more until one meets it */
  MOST_TRIED = 4000,
  MOST_OPS = 14,
  MOST_TICKS = 2000,
  MOST_CELLS = 20000
};

static const char *const limit_name[LIMITS] = {
#define FS_LIMIT(name, most, what) #name,
#include "base/limits.def"
#undef FS_LIMIT
};

/* ---- limits */

static uint64_t *limit_at(fs_limits *l, uint32_t limit) { return (uint64_t *)l + limit; }

/* Draws a small limit: from 1 to a few times what is usual here. */
static uint64_t small(fs_rng *r, uint64_t usual) {
  static const uint64_t most[] = {3, 12, 60, 400, 3000};
  uint64_t n = most[fs_rng_below(r, sizeof most / sizeof *most)];
  return 1 + fs_rng_below(r, (uint32_t)fs_min(n, usual));
}

typedef struct known_tally {
  uint64_t within, beyond;
} known_tally;

/* Limits of the refinement as a whole: only the part with the solver below meets them. */
static bool refined_alone(uint32_t limit) {
  return limit == LIMIT_probes || limit == LIMIT_searches || limit == LIMIT_forbid_rounds ||
         limit == LIMIT_settle_nodes || limit == LIMIT_settle_rectangles ||
         limit == LIMIT_settle_first_nodes;
}

/* No bound depends on it: suites loop_races and spread have graphs on both sides. */
static bool lists_alone(uint32_t limit) {
  return limit == LIMIT_race_instances || limit == LIMIT_spread_steps;
}

/* Sets the usual limits, except that models of many ticks are not made: the limits that are met
 * first would hide the one that is tested. */
static void usual_ones(fs_limits *l, uint32_t limit) {
  *l = fs_limits_usual;
  l->time_ticks = l->spill_horizon = MOST_TICKS;
  l->time_cells = MOST_CELLS;
  l->starts = limit == LIMIT_few_items ? 1 : l->starts;
  l->greedy_steps = limit == LIMIT_place_nodes || limit == LIMIT_spill_place_nodes ||
                            limit == LIMIT_search_rectangles || limit == LIMIT_settle_nodes ||
                            limit == LIMIT_settle_rectangles || limit == LIMIT_settle_first_nodes
                        ? 1
                        : l->greedy_steps;
  l->search_rectangles = limit == LIMIT_scan_steps ? 1 : l->search_rectangles;
  l->settle_nodes = limit == LIMIT_settle_rectangles ? 1 : l->settle_nodes;
  l->place_nodes = limit == LIMIT_greedy_steps ? 1 : l->place_nodes;
}

static void small_ones(fs_limits *l, uint32_t limit, uint64_t seed) {
  fs_rng r = {seed * 0x9e3779b97f4a7c15u + 1};
  usual_ones(l, limit);
  for (uint32_t i = 0; i < LIMITS; i++) {
    if (i == limit || limit == LIMITS) {
      *limit_at(l, i) = small(&r, i == limit && refined_alone(i) ? 3 : *limit_at(l, i));
    }
  }
}

/* Chooses instances, and a check, by which the limit can be met. */
static fs_known_look *look_for(uint32_t limit, uint64_t seed, fs_known_params *p) {
  *p = fs_known_any(seed, MOST_OPS);
  switch (limit) {
    case LIMIT_search_rectangles:
    case LIMIT_greedy_steps:
    case LIMIT_scan_steps:
    case LIMIT_place_nodes:
      *p = (fs_known_params){.seed = p->seed, .strip = true, .tick = p->tick, .unit = p->unit};
      p->n_ops = 10 + (uint32_t)(seed % 60);
      return fs_known_look_places;
    case LIMIT_spill_place_nodes:
      *p = (fs_known_params){.seed = p->seed, .strip = true, .store = true, .tick = 1, .unit = 1};
      p->n_ops = 15 + (uint32_t)(seed % 6);
      return fs_known_look_spills;
    case LIMIT_spilling_ops:
      *p = (fs_known_params){.seed = p->seed, .strip = true, .store = true, .tick = 1, .unit = 1};
      p->n_ops = 4 + (uint32_t)(seed % 6);
      return fs_known_look_copies;
    case LIMIT_starts:
    case LIMIT_few_items:
    case LIMIT_pack_spans:
      p->tick = fs_min(p->tick, 7);
      return fs_known_look_attempts;
    case LIMIT_inplace_search:
    case LIMIT_inplace_steps:
      return fs_known_look_inplace;
    default:
      return fs_known_look_all;
  }
}

/* Checks one limit, or (LIMITS) all at once. */
static void check_limit(uint32_t limit, uint64_t seed, known_tally *n) {
  fs_limits usual, less;
  fs_known_case *k = malloc(sizeof *k);
  fs_known_params p;
  fs_known_look *look = look_for(limit, seed, &p);
  usual_ones(&usual, limit);
  small_ones(&less, limit, seed);
  ck_fs(ctx, fs_known_make(ctx, &p, k));
  fs_limits_set(ctx, &usual);
  uint64_t first = look(ctx, k, seed, "none");
  fs_limits_set(ctx, &less);
  bool same = first == look(ctx, k, seed, limit == LIMITS ? "all" : limit_name[limit]);
  n->within += same;
  n->beyond += !same;
  fsched_graph_destroy(k->g);
  fsched_diag_clear(ctx);
  free(k);
}

static uint64_t wanted(void) {
  const char *text = getenv("FSCHED_KNOWN");
  uint64_t n = text == NULL ? 0 : strtoull(text, NULL, 10);
  return n == 0 ? PER_LIMIT : n / (LIMITS + 1) + 1;
}

/* Returns the seed of the i-th instance of a limit: those that are asked for vary with the turn,
 * and those that are searched for one that meets the limit are always the same. */
static uint64_t seed_of(uint32_t limit, uint64_t prime, uint64_t i, uint64_t by_turns) {
  uint64_t turn = i < by_turns ? fs_turn() : 0;
  return turn << 32 | ((uint64_t)limit * prime + i);
}

static void put_tally(uint32_t limit, const known_tally *n) {
  if (getenv("FSCHED_KNOWN") != NULL) {
    (void)printf("%-20s within %6llu, beyond %6llu\n", limit == LIMITS ? "all" : limit_name[limit],
                 (unsigned long long)n->within, (unsigned long long)n->beyond);
  }
}

START_TEST(small_limits)
{
  uint32_t limit = (uint32_t)_i;
  known_tally n = {0};
  bool alone = refined_alone(limit) || lists_alone(limit);
  for (uint64_t i = 0; i < wanted() || (!alone && n.beyond == 0 && i < MOST_TRIED); i++) {
    check_limit(limit, seed_of(limit, 1000003, i, wanted()), &n);
  }
  if (!alone) {
    put_tally(limit, &n);
    ck_assert_msg(n.beyond > 0, "limit %s: no instance meets it", limit_name[limit % LIMITS]);
  }
}
END_TEST

/* ---- the limits as they are */

START_TEST(usual_limits)
{
  static const uint32_t n_ops[] = {255, 256, 257, 300};
  fs_known_case *k = malloc(sizeof *k);
  fs_known_params p = {.seed = fs_turn() << 32 | (uint64_t)_i, .strip = true, .tick = 1, .unit = 1};
  p.n_ops = n_ops[_i];
  ck_fs(ctx, fs_known_make(ctx, &p, k));
  ck_assert_uint_eq(k->n_ops, p.n_ops);
  (void)fs_known_look_strip(ctx, k, p.seed, "none");
  fsched_graph_destroy(k->g);
  free(k);
}
END_TEST

/* ---- the public interface, with the solver */

static uint64_t mix(uint64_t sign, uint64_t value) { return (sign ^ value) * 0x100000001b3u; }

/* Where all starts are given, the least extent is known as well. */
static uint64_t check_extent(const fs_known_case *k, const fsched_schedule *s) {
  uint64_t bound[2] = {0}, extent[2] = {0};
  ck_assert_uint_le(k->g->target.n_memories, 2);
  ck_fs(ctx, fs_memory_lower_bounds(ctx, k->g, bound));
  fs_schedule_extents(s->schedule, extent);
  ck_assert_msg(!k->p.all_fixed || (bound[0] <= k->capacity && k->capacity <= extent[0]),
                "extent %llu, bound %llu, least %llu", (unsigned long long)extent[0],
                (unsigned long long)bound[0], (unsigned long long)k->capacity);
  return extent[0];
}

static uint64_t refine(const fs_known_case *k, fsched_refine how, const char *solver,
                       uint64_t seed) {
  fsched_compile_options o = {.size = sizeof o, .refine = how, .solver_cmd = solver};
  fsched_schedule *s;
  fsched_program *program;
  o.node_limit = k->p.all_fixed ? 0 : k->p.jigsaw ? 1000 : 20;
  fs_status status = fsched_compile(ctx, k->g, &o, &s, &program);
  /* Starts are given, and the solution that was found breaks them. */
  if (status == FSCHED_INFEASIBLE) {
    ck_assert_msg(strncmp(fs_test_diags(ctx), "no schedule was found", 21) == 0, "%s",
                  fs_test_diags(ctx));
    ck_assert(k->p.fixed || k->p.buffers || k->p.jigsaw || (k->p.all_fixed && !k->p.roomy));
    return 0;
  }
  ck_fs(ctx, status);
  ck_assert_msg(
      s->schedule->lower_bound <= k->makespan && s->schedule->makespan >= s->schedule->lower_bound,
      "seed %llu, refine %d: bound %llu, but %llu is known", (unsigned long long)seed, how,
      (unsigned long long)s->schedule->lower_bound, (unsigned long long)k->makespan);
  ck_fs(ctx, fsched_verify_schedule(ctx, k->g, s));
  uint64_t sign =
      mix(mix(s->schedule->makespan, s->schedule->lower_bound), s->schedule->search_nodes);
  sign = mix(sign, check_extent(k, s));
  fsched_program_destroy(program);
  fsched_schedule_destroy(s);
  return sign;
}

static fs_known_params refined_params(uint32_t limit, uint64_t seed) {
  fs_known_params p = fs_known_any(seed, 8);
  p.tick = fs_min(p.tick, 7);
  if (limit == LIMIT_settle_nodes || limit == LIMIT_settle_rectangles ||
      limit == LIMIT_settle_first_nodes) {
    p = (fs_known_params){.seed = p.seed, .strip = true, .tick = 1, .unit = 1};
    p.all_fixed = true;
    p.roomy = limit != LIMIT_settle_first_nodes;
    p.n_ops = 6 + (uint32_t)(seed % 9);
  } else if (limit == LIMIT_forbid_rounds) {
    p = (fs_known_params){.seed = p.seed, .strip = true, .jigsaw = true, .unit = p.unit};
    p.tick = 1 + seed % 3;
  } else if (limit == LIMIT_probes || limit == LIMIT_searches) {
    p = (fs_known_params){.seed = p.seed, .alike = true, .tick = 1, .unit = 1};
    p.n_queues = 2 + (uint32_t)(seed % 2);
    p.n_ops = 2 + (uint32_t)(seed % 5);
    p.length = 2 + seed % 7;
  }
  return p;
}

/* Models are chosen and tried in turn, with small limits. */
static void check_refined(uint64_t seed, const char *solver, uint32_t limit, known_tally *n) {
  fs_limits usual, less;
  uint64_t sign[2] = {0, 0};
  fs_known_case *k = malloc(sizeof *k);
  fs_known_params p = refined_params(limit, seed);
  usual_ones(&usual, limit);
  small_ones(&less, limit, seed);
  ck_fs(ctx, fs_known_make(ctx, &p, k));
  for (int i = refined_alone(limit) ? 0 : 1; i < 2; i++) {
    fs_limits_set(ctx, i == 0 ? &usual : &less);
    bool plain = limit == LIMIT_settle_first_nodes; /* a refinement would search on its own */
    sign[i] =
        mix(sign[i], refine(k, plain ? FSCHED_REFINE_NONE : FSCHED_REFINE_PACK, solver, seed));
    sign[i] = mix(sign[i], refine(k, plain ? FSCHED_REFINE_NONE : FSCHED_REFINE_ILP, solver, seed));
  }
  n->within += sign[0] == sign[1];
  n->beyond += sign[0] != sign[1];
  fsched_graph_destroy(k->g);
  fsched_diag_clear(ctx);
  free(k);
}

START_TEST(refined)
{
  char path[4096];
  const char *solver = fs_test_solver(path);
  uint32_t limit = (uint32_t)_i;
  known_tally n = {0};
  bool alone = refined_alone(limit);
  uint64_t least = (wanted() + 5) / 6;
  for (uint64_t i = 0; solver != NULL && (i < least || (alone && n.beyond == 0 && i < MOST_TRIED));
       i++) {
    check_refined(seed_of(limit, 1000033, i, least), solver, limit, &n);
  }
  if (alone && solver != NULL) {
    put_tally(limit, &n);
    ck_assert_msg(n.beyond > 0, "limit %s: no instance meets it", limit_name[limit]);
  }
}
END_TEST

/* ---- a refinement without a limit of time ends */

/* Counts the runs of a solver that always answers that there is no schedule so short. */
static uint64_t count_searches(uint64_t probes, uint64_t searches) {
  static const char text[] =
      "fsched: 1\ntarget:\n  queues: [{name: p}, {name: q}, {name: r}]\n"
      "  resources: [{name: power, capacity: 4}]\nops:\n"
      "  - {name: a, time: 2, uses: {power: 2}}\n  - {name: b, time: 2, uses: {power: 1}}\n"
      "  - {name: c, time: 6, uses: {power: 2}}\n  - {name: d, time: 1, uses: {power: 2}}\n"
      "  - {name: e, time: 3, uses: {power: 2}, after: [d]}\n"
      "  - {name: f, time: 1, uses: {power: 2}, after: [b]}\n"
      "  - {name: g, time: 5, uses: {power: 3}}\n  - {name: h, time: 4, uses: {power: 1}}\n"
      "  - {name: i, time: 4, uses: {power: 3}, after: [b]}\n"
      "  - {name: j, time: 6, uses: {power: 2}, after: [e]}\n";
  char path[] = "/tmp/fsched-known-XXXXXX", command[200];
  int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  (void)snprintf(command, sizeof command,
                 "sh -c 'echo >>%s; [ \"$1\" = --start ] && exit 9; echo status infeasible' sh",
                 path);
  fs_limits limits = fs_limits_usual;
  limits.probes = probes;
  limits.searches = searches;
  fsched_schedule *s;
  fsched_compile_options o = {.size = sizeof o,
                              .refine = FSCHED_REFINE_ILP,
                              .solver_cmd = command,
                              .effort = FSCHED_EFFORT(0)};
  fs_limits_set(ctx, &limits);
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  uint64_t n = (uint64_t)lseek(fd, 0, SEEK_END);
  ck_assert_int_eq(close(fd), 0);
  ck_assert_int_eq(unlink(path), 0);
  return n;
}

START_TEST(limits_of_work)
{
  uint64_t all = count_searches(100, 1000);
  ck_assert_uint_ge(all, 2); /* two makespans are asked for */
  /* One makespan, and then the best one, with a start. */
  ck_assert_uint_eq(count_searches(1, 1000), 2);
  ck_assert_uint_eq(count_searches(100, 1), 1);
}
END_TEST

FS_SUITE(known, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, getenv("FSCHED_KNOWN") == NULL ? 60 : 36000);
  FS_LOOPS(t, 0, LIMITS + 1, small_limits, refined);
  FS_LOOPS(t, 0, 4, usual_limits);
  FS_TESTS(t, limits_of_work);
}
