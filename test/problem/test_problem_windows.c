/* SPDX-License-Identifier: Apache-2.0 */
/* Windows: every schedule of small problems lies inside of them (all starts are tried, and those
 * outside must be refuted by the verifier), bounds are never above a schedule, and known bounds are
 * reached. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/budget.h"
#include "kit/gen.h"
#include "listsched/listsched.h"
#include "model/bounds/bounds.h"
#include "problem/problem.h"

#include "kit/context.h"

/* All vectors of starts that respect the orders, in topological order. */
typedef struct all_starts {
  fs_problem *p;
  fs_tick *start;
  const fs_tick *head, *tail; /* the windows that are tested */
  bool possible;
  fs_tick horizon, least; /* least: the makespan of a schedule */
  uint32_t vectors, outside, schedules;
} all_starts;

static bool is_schedule(all_starts *a) {
  fs_answer answer = {.start = a->start};
  fs_schedule *s;
  const char *why;
  ck_assert_int_eq(fs_answer_schedule(a->p, &answer, &s, &why), FSCHED_OK);
  bool is = s != NULL;
  fs_schedule_destroy(s);
  return is;
}

static void judge(all_starts *a, unsigned long seed) {
  const fs_problem *p = a->p;
  bool inside = a->possible;
  fs_tick makespan = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    inside =
        inside && a->start[i] >= a->head[i] && a->start[i] + p->time[i] + a->tail[i] <= a->horizon;
    makespan = a->start[i] + p->time[i] > makespan ? a->start[i] + p->time[i] : makespan;
  }
  a->vectors++;
  a->outside += !inside;
  if ((!inside || makespan < a->least) && is_schedule(a)) {
    a->schedules++;
    a->least = makespan < a->least ? makespan : a->least;
    if (!inside) {
      for (uint32_t i = 0; i < p->n_items; i++) {
        printf("item %u at %lu, time %lu, head %lu tail %lu\n", i, (unsigned long)a->start[i],
               (unsigned long)p->time[i], (unsigned long)a->head[i], (unsigned long)a->tail[i]);
      }
      ck_abort_msg("seed %lu, horizon %lu: a schedule outside of the windows", seed,
                   (unsigned long)a->horizon);
    }
  }
}

static void try_starts(all_starts *a, uint32_t k, unsigned long seed) {
  const fs_problem *p = a->p;
  if (k == p->n_items) {
    judge(a, seed);
    return;
  }
  uint32_t i = p->topo[k];
  fs_tick first = 0;
  for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
    fs_tick end = a->start[p->pred[e]] + p->time[p->pred[e]];
    first = end > first ? end : first;
  }
  for (fs_tick t = first; t + p->time[i] <= a->horizon; t++) {
    a->start[i] = t;
    try_starts(a, k + 1, seed);
  }
}

static fs_gen_params small_params(unsigned long seed) {
  fs_gen_params q = fs_gen_any(seed, 5);
  fs_rng r = {seed};
  q.n_ops = 3 + fs_rng_below(&r, 3);
  q.max_time = 1 + fs_rng_below(&r, 3);
  q.max_size = 6;
  q.resources = !fs_rng_one_in(&r, 3);
  return q;
}

/* Are there few enough vectors to try all? */
static bool few(const fs_problem *p, fs_tick horizon) {
  double n = 1;
  for (uint32_t i = 0; i < p->n_items; i++) {
    n *= (double)(horizon + 1) - (double)(p->head[i] + p->time[i] + p->tail[i]);
  }
  return p->n_items <= 9 && n <= 3000;
}

typedef struct problem_windows_totals {
  uint32_t problems, outside, refuted, raised, schedules;
} problem_windows_totals;

/* Checks the windows within a horizon. */
static void check_windows(fs_problem *p, fs_tick horizon, unsigned long seed,
                          problem_windows_totals *n) {
  if (!few(p, horizon)) {
    return;
  }
  fs_tick head[16], tail[16], start[16], bound;
  memcpy(head, p->head, p->n_items * sizeof *head);
  memcpy(tail, p->tail, p->n_items * sizeof *tail);
  all_starts a = {.p = p, .start = start, .horizon = horizon, .least = FS_TICK_NONE};
  p->horizon = horizon;
  ck_assert_int_eq(fs_problem_destructive_bound(p, &bound), FSCHED_OK);
  ck_assert_mem_eq(head, p->head, p->n_items * sizeof *head);
  fs_decision possible;
  ck_assert_int_eq(fs_problem_tighten(p, &possible), FSCHED_OK);
  a.possible = possible.is != FS_NO;
  a.head = p->head;
  a.tail = p->tail;
  try_starts(&a, 0, seed);
  if (a.least < bound) {
    ck_abort_msg("seed %lu: bound %lu, schedule %lu", seed, (unsigned long)bound,
                 (unsigned long)a.least);
  }
  n->problems++;
  n->outside += a.outside;
  n->refuted += !a.possible;
  n->schedules += a.schedules;
  for (uint32_t i = 0; i < p->n_items && a.possible; i++) {
    n->raised += p->head[i] > head[i] || p->tail[i] > tail[i];
  }
  memcpy(p->head, head, p->n_items * sizeof *head);
  memcpy(p->tail, tail, p->n_items * sizeof *tail);
}

static void check_seed(unsigned long seed, problem_windows_totals *n) {
  fs_gen_params q = small_params(seed);
  fsched_graph *g;
  fs_schedule *s = NULL;
  fs_listsched_options o = {0};
  ck_assert_int_eq(fs_gen_graph(ctx, &q, &g), FSCHED_OK);
  if (fs_listsched_run(ctx, g, &o, &s) == FSCHED_OK && s->n_items <= 9) {
    fs_problem *p[2];
    ck_assert_int_eq(fs_problem_from_graph(ctx, g, s->makespan, 0, &p[0]), FSCHED_OK);
    ck_assert_int_eq(fs_problem_from_schedule(ctx, s, &p[1]), FSCHED_OK);
    for (int k = 0; k < 2; k++) {
      if (p[k] != NULL) {
        p[k]->lower_bound = 0;
        check_windows(p[k], s->makespan, seed, n);
        check_windows(p[k], s->makespan > 0 ? s->makespan - 1 : 0, seed, n);
      }
      fs_problem_destroy(p[k]);
    }
  }
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(nothing_is_cut_off)
{
  problem_windows_totals n = {0};
  for (unsigned long seed = 1; seed <= 800; seed++) {
    check_seed(seed, &n);
  }
  ck_assert_uint_gt(n.problems, 500);
  ck_assert_uint_gt(n.outside, 3000);
  ck_assert_uint_gt(n.refuted, 100);
  ck_assert_uint_gt(n.raised, 200);
  ck_assert_uint_gt(n.schedules, 200);
}
END_TEST

/* ---- known bounds */

static fs_tick bound_of(const char *text, fs_tick horizon) {
  fsched_graph *g = fs_parse(text);
  fs_problem *p;
  fs_tick bound;
  ck_assert_int_eq(fs_problem_from_graph(ctx, g, horizon, 0, &p), FSCHED_OK);
  ck_assert_ptr_nonnull(p);
  ck_assert_int_eq(fs_problem_destructive_bound(p, &bound), FSCHED_OK);
  fs_problem_destroy(p);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return bound;
}

START_TEST(known_bounds)
{
  /* Work alone gives 8, but two of the three cannot run beside each other. */
  ck_assert_uint_eq(bound_of("fsched: 1\nname: f\n"
                             "target: {resources: [{name: r, capacity: 3}]}\n"
                             "ops: [{name: a, time: 4, uses: {r: 2}}, {name: b, time: 4, uses: "
                             "{r: 2}}, {name: c, time: 4, uses: {r: 2}}]\n",
                             30),
                    12);
  /* A queue lies between what must come before and after. */
  ck_assert_uint_eq(
      bound_of("fsched: 1\nname: f\ntarget: {queues: [{name: q}, {name: x, class: k}, {name: y, "
               "class: k}]}\n"
               "ops: [{name: a, on: k, time: 2}, {name: b, on: k, time: 2},\n"
               "  {name: c, on: q, time: 3, after: [a]}, {name: d, on: q, time: 3, after: [b]},\n"
               "  {name: e, on: k, time: 5, after: [c]}, {name: f, on: k, time: 5, after: [d]}]\n",
               40),
      13);
  /* The memory holds only one of the two intermediate buffers. */
  ck_assert_uint_eq(
      bound_of("fsched: 1\nname: f\ntarget: {memories: [{name: m, capacity: 10}]}\n"
               "ops: [{name: a, size: 6, time: 2}, {name: b, size: 6, time: 2},\n"
               "  {name: c, time: 3, args: [{in: a}]}, {name: d, time: 3, args: [{in: b}]}]\n",
               40),
      10);
  /* A given start does not mislead the rules. */
  ck_assert_uint_eq(bound_of("fsched: 1\nname: f\ntarget: {queues: [{name: q}]}\n"
                             "ops: [{name: a, time: 4, start: 2}, {name: b, time: 3}]\n",
                             20),
                    9);
}
END_TEST

/* Spills could help where memory is short, so the bound ignores that memory. */
START_TEST(spills_are_not_excluded)
{
  static const char text[] =
      "fsched: 1\nname: f\ntarget:\n"
      "  memories: [{name: m, capacity: 10, backing: s, spill: {on: compute, write: {fixed: 0, "
      "rate: 0}, read: {fixed: 0, rate: 0}}}, {name: s}]\n"
      "ops: [{name: a, size: 6, time: 2}, {name: b, size: 6, time: 2},\n"
      "  {name: c, time: 3, args: [{in: a}]}, {name: d, time: 3, args: [{in: b}]}]\n";
  ck_assert_uint_lt(bound_of(text, 40), 10);
}
END_TEST

/* Instances are like those of project scheduling, with 30 jobs and four resources.  The bound is
 * the same every time, and never too high. */
START_TEST(projects)
{
  uint32_t above = 0, met = 0;
  for (unsigned long seed = 1; seed <= 6; seed++) {
    char text[16384];
    int n = snprintf(text, sizeof text,
                     "fsched: 1\nname: p\ntarget: {resources: [{name: r0, "
                     "capacity: 12}, {name: r1, capacity: 13}]}\nops:\n");
    fs_rng r = {seed};
    for (uint32_t i = 0; i < 24; i++) {
      uint32_t need = 2 + fs_rng_below(&r, 9), resource = fs_rng_below(&r, 2);
      n += snprintf(text + n, sizeof text - (size_t)n, "  - {name: j%u, time: %u, uses: {r%u: %u}",
                    i, 1 + fs_rng_below(&r, 9), resource, need);
      n += i < 6 ? snprintf(text + n, sizeof text - (size_t)n, "}\n")
                 : snprintf(text + n, sizeof text - (size_t)n, ", after: [j%u]}\n",
                            i - 1 - fs_rng_below(&r, 6));
    }
    fsched_graph *g = fs_parse(text);
    fs_lower_bounds simple;
    fs_listsched_options o = {.effort = FSCHED_EFFORT_USUAL};
    fs_schedule *s;
    fs_problem *p;
    fs_tick bound, again;
    ck_assert_int_eq(fs_graph_lower_bounds(ctx, g, &simple), FSCHED_OK);
    ck_assert_int_eq(fs_listsched_run(ctx, g, &o, &s), FSCHED_OK);
    ck_assert_int_eq(fs_problem_from_graph(ctx, g, s->makespan, simple.all, &p), FSCHED_OK);
    ck_assert(p->exact);
    ck_assert_int_eq(fs_problem_destructive_bound(p, &bound), FSCHED_OK);
    ck_assert_int_eq(fs_problem_destructive_bound(p, &again), FSCHED_OK);
    ck_assert_uint_eq(bound, again);
    ck_assert_uint_le(bound, s->makespan);
    ck_assert_uint_ge(bound, simple.all);
    above += bound > simple.all;
    met += bound == s->makespan;
    fs_problem_destroy(p);
    fs_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_ge(above, 2);
  ck_assert_uint_ge(met, 2);
}
END_TEST

START_TEST(memory_fails_cleanly)
{
  fs_gen_params q = fs_gen_any(11, 8);
  for (long left = 1, last = 0;; left++) {
    fs_budget budget = {.left = 100000000};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    fsched_graph *g;
    fs_problem *p;
    fs_decision possible;
    fs_tick bound;
    ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
    ck_assert_int_eq(fs_gen_graph(own, &q, &g), FSCHED_OK);
    ck_assert_int_eq(fs_problem_from_graph(own, g, 60, 0, &p), FSCHED_OK);
    ck_assert_ptr_nonnull(p);
    budget.left = left;
    fs_status status = fs_problem_tighten(p, &possible);
    status = status == FSCHED_OK ? fs_problem_destructive_bound(p, &bound) : status;
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    fs_problem_destroy(p);
    fsched_graph_destroy(g);
    fsched_context_destroy(own);
    ck_assert_int_eq(budget.blocks, 0);
    last += status != FSCHED_OK;
    if (status == FSCHED_OK) {
      ck_assert_int_gt(last, 3);
      break;
    }
  }
}
END_TEST

FS_SUITE(problem_windows, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 180);
  FS_TESTS(t, nothing_is_cut_off, known_bounds, spills_are_not_excluded, projects,
           memory_fails_cleanly);
}
