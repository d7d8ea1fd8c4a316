/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that the learner chooses: on tiny graphs the least makespan, which a search through all
 * states of the memory finds too; on others what the integer programs prove, and a schedule that
 * the verifier accepts. */
#include <stdio.h>
#include <string.h>

#include "ilp/spill_search.h"
#include "kit/exhaust.h"
#include "kit/fail_each.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/handle.h"
#include "search/spill/spill.h"
#include "search/tiny_spills.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

typedef struct least_found {
  bool known, proven;
  fs_tick least;
  uint64_t conflicts, refused;
} least_found;

/* Searches from a horizon down to the proof that nothing is shorter. */
static least_found solve(const fsched_graph *g, fs_tick horizon, uint64_t conflicts) {
  fs_arena own;
  fs_problem *p;
  fs_spills s = {0};
  least_found out = {.least = horizon + 1};
  fs_arena_init(&own, ctx);
  ck_fs(ctx, fs_problem_spilling(ctx, g, horizon, 0, &p));
  out.known = p != NULL && fs_spills_know(p);
  if (out.known) {
    ck_fs(ctx, fs_spills_init(&s, p, &own));
    while (!out.proven && s.l.conflicts < conflicts) {
      fs_spill_turn turn = {
          .conflicts = conflicts - s.l.conflicts, .work = UINT64_MAX, .best = out.least};
      ck_fs(ctx, fs_spills_run(&s, &turn));
      out.proven = turn.none;
      if (turn.found != NULL) {
        ck_assert_uint_lt(turn.found->makespan, out.least);
        ck_fs(ctx, fs_verify_schedule(ctx, g, turn.found, NULL));
        out.least = turn.found->makespan;
        fs_schedule_destroy(turn.found);
      }
    }
    out.conflicts = s.l.conflicts;
    out.refused = s.refused;
  }
  fs_spills_release(&s);
  fs_problem_destroy(p);
  fs_arena_release(&own);
  return out;
}

START_TEST(as_all_states)
{
  static tiny_script script;
  uint32_t known = 0;
  for (uint64_t i = 0; i < 100; i++) {
    uint64_t seed = fs_turn() << 16 | i;
    uint32_t states;
    fsched_graph *g = fs_tiny_graph(&script, seed);
    fs_tick least = g == NULL ? FS_TICK_NONE : fs_spill_search(g, &states);
    if (least != FS_TICK_NONE) {
      least_found s = solve(g, 4 * least, 100000);
      ck_assert_msg(!s.known || (s.proven && s.least == least),
                    "seed %llu: %llu, but %llu is least, after %llu conflicts\n%s",
                    (unsigned long long)seed, (unsigned long long)s.least,
                    (unsigned long long)least, (unsigned long long)s.conflicts, script.text);
      known += s.known;
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, 40);
}
END_TEST

/* A graph whose short memories have no store. */
static fs_gen_params storeless(uint64_t seed) {
  fs_rng state = {seed}, *r = &state;
  fs_gen_params p = {.seed = seed,
                     .n_ops = 2 + fs_rng_below(r, 4),
                     .n_queues = fs_rng_below(r, 4),
                     .n_memories = 1 + fs_rng_one_in(r, 3),
                     .align = 1 + (uint64_t)fs_rng_one_in(r, 5),
                     .max_size = 4,
                     .max_time = 3,
                     .window = 3,
                     .short_share = 0.3 + 0.1 * fs_rng_below(r, 5),
                     .counted = fs_rng_one_in(r, 3),
                     .gangs = fs_rng_one_in(r, 3),
                     .scratch = fs_rng_one_in(r, 3),
                     .inplace = fs_rng_one_in(r, 2),
                     .resources = fs_rng_one_in(r, 4),
                     .inouts = fs_rng_one_in(r, 2),
                     .ats = fs_rng_one_in(r, 4),
                     .io = fs_rng_one_in(r, 2),
                     .states = fs_rng_one_in(r, 4),
                     .versions = fs_rng_one_in(r, 3),
                     .afters = fs_rng_one_in(r, 4)};
  return p;
}

/* Memories without a store: the least makespan, or that there is none, as found by trying every
 * start, queue and address. */
START_TEST(as_all_schedules)
{
  uint32_t known = 0, none = 0, waits = 0;
  for (uint64_t i = 0; i < 400; i++) {
    uint64_t seed = (fs_turn() * 8 + (uint64_t)_i) << 16 | i;
    fs_gen_params params = storeless(seed);
    fsched_graph *g;
    fs_tick sum = 0;
    fsched_status status = fs_gen_graph(ctx, &params, &g);
    if (status == FSCHED_INFEASIBLE) { /* some op does not fit */
      fsched_diag_clear(ctx);
      continue;
    }
    ck_fs(ctx, status);
    for (uint32_t op = 0; op < g->n_ops; op++) {
      sum += g->op_time[op];
    }
    least_found s = solve(g, sum, 100000);
    fs_exhaust e = {0};
    if (s.known) {
      e = fs_exhaust_search(g, 0, sum, 200000);
    }
    if (e.known) {
      fs_tick least = e.found ? e.best : sum + 1;
      ck_assert_msg(s.proven && s.least == least, "seed %llu: %llu, but %llu is least",
                    (unsigned long long)seed, (unsigned long long)s.least,
                    (unsigned long long)least);
      known++;
      none += !e.found;
      waits += e.found && e.best > 0 && s.conflicts > 0;
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, 40);
  fs_assert_seen(none, 2);
  fs_assert_seen(waits, 1);
}
END_TEST

/* Whole searches of graphs without short memories, where some op chooses among queues that
 * are not alike: they prove the least makespan. */
START_TEST(choices_of_queues)
{
  uint32_t known = 0, waits = 0;
  for (uint64_t i = 0; i < 300; i++) {
    fs_rng r = {(fs_turn() * 8 + (uint64_t)_i) << 16 | i};
    fs_gen_params params = {.seed = r.state,
                            .n_ops = 4 + fs_rng_below(&r, 3),
                            .n_queues = 3 + fs_rng_below(&r, 2),
                            .n_classes = 1,
                            .max_time = 3,
                            .window = 6,
                            .gangs = fs_rng_one_in(&r, 3)};
    fsched_graph *g;
    fs_tick sum = 0;
    ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
    for (uint32_t op = 0; op < g->n_ops; op++) {
      sum += g->op_time[op];
    }
    fs_exhaust e = fs_exhaust_search(g, 0, sum, 200000);
    if (e.known) {
      fsched_schedule *s;
      fsched_compile_options o = {.size = sizeof o,
                                  .verify = 1,
                                  .effort = 1,
                                  .refine = FSCHED_REFINE_SEARCH,
                                  .node_limit = 20000};
      ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
      ck_assert_msg(s->schedule->makespan == e.best && s->schedule->lower_bound == e.best,
                    "seed %llu: %llu and %llu, but %llu is least", (unsigned long long)params.seed,
                    (unsigned long long)s->schedule->makespan,
                    (unsigned long long)s->schedule->lower_bound, (unsigned long long)e.best);
      waits += s->schedule->search_nodes > 0;
      known++;
      fsched_schedule_destroy(s);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, 40);
  fs_assert_seen(waits, 5);
}
END_TEST

/* Eight buffers that fill 6 at all times, and fit in no way: two copies of one of them make it
 * possible, which takes no more time if they are short.  GLPK proves the same least makespans with
 * `--refine ilp`. */
static const struct {
  const char *placement;
  unsigned copy;
  fs_tick least;
} eight[] = {{"counted", 3, 6}, {"contiguous", 1, 6}, {"contiguous", 2, 8}, {"contiguous", 3, 10}};

START_TEST(places_matter)
{
  char text[TINY_TEXT];
  fsched_graph *g;
  unsigned copy = eight[_i].copy;
  (void)snprintf(
      text, sizeof text,
      "fsched: 1\nname: eight\ntarget:\n  queues: [{name: q}, {name: c, class: copy}]\n  "
      "memories:\n"
      "    - {name: m, capacity: 6, placement: %s, backing: far, spill: {on: copy, "
      "write: {fixed: %u}, read: {fixed: %u}}}\n    - {name: far}\n"
      "buffers: [{name: a, size: 4}, {name: b, size: 2}, {name: c, size: 3}, {name: d, size: 1}, "
      "{name: e, size: 1}, {name: f, size: 2}, {name: g, size: 3}, {name: h, size: 4}]\nops:\n"
      "  - {name: t0, on: q, time: 1, args: [{out: a}, {out: b}]}\n"
      "  - {name: t1, on: q, time: 1, after: [t0], args: [{out: c}, {out: d}]}\n"
      "  - {name: t2, on: q, time: 1, after: [t1], args: [{out: e}, {out: f}]}\n"
      "  - {name: t3, on: q, time: 1, after: [t2], args: [{in: b}, {in: e}]}\n"
      "  - {name: t4, on: q, time: 1, after: [t3], args: [{in: d}, {out: g}]}\n"
      "  - {name: t5, on: q, time: 1, after: [t4], args: [{in: f}, {out: h}]}\n",
      eight[_i].placement, copy, copy);
  ck_fs(ctx, fsched_graph_parse(ctx, "t", text, strlen(text), NULL, &g));
  least_found s = solve(g, 40, 100000);
  ck_assert(s.known && s.proven);
  ck_assert_uint_eq(s.least, eight[_i].least);
  ck_assert((s.refused == 0) == (eight[_i].placement[2] == 'u'));
  fsched_graph_destroy(g);
}
END_TEST

/* What is overwritten as a whole leaves memory unwritten: 9 ticks, and no refinement claims more.
 */
START_TEST(overwritten)
{
  static const char text[] =
      "fsched: 1\ntarget:\n  queues: [{name: q}, {name: dma, class: copy}]\n  memories:\n"
      "    - {name: s, capacity: 7, backing: ddr, spill: {on: compute, write: {fixed: 1}, "
      "read: {fixed: 1}}}\n    - {name: ddr}\n"
      "buffers: [{name: a, size: 4}, {name: b, size: 1}, {name: c, size: 1}, "
      "{name: d, size: 4, io: output}]\nops:\n"
      "  - {name: o0, on: q, time: 2, args: [{out: a}, {out: b}]}\n"
      "  - {name: o1, on: q, time: 2, args: [{in: b}, {out: c}, {out: d}], inplace: {c: b}}\n"
      "  - {name: o2, on: q, time: 2, args: [{in: c}, {out_existing: a}]}\n"
      "  - {name: o3, on: q, time: 2, args: [{in: a}, {out: e, size: 1}]}\n";
  static const fsched_refine refines[] = {FSCHED_REFINE_SEARCH, FSCHED_REFINE_ILP};
  fsched_graph *g;
  fsched_schedule *found;
  fsched_compile_options o = {.size = sizeof o, .verify = 1, .refine = refines[_i]};
  ck_fs(ctx, fsched_graph_parse(ctx, "t", text, strlen(text), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &o, &found, NULL));
  ck_assert_uint_le(fsched_schedule_lower_bound(found), 9);
  ck_assert(refines[_i] != FSCHED_REFINE_SEARCH || fsched_schedule_makespan(found) == 9);
  fsched_schedule_destroy(found);
  fsched_graph_destroy(g);
}
END_TEST

/* R has read x when u overwrites a part of it, and nobody wants the rest any more: x need not be
 * read again, so a schedule of 14 ticks is right, and no refinement claims more. */
START_TEST(overwritten_in_part)
{
  static const char text[] =
      "fsched: 1\ntarget:\n  queues: [{name: q}, {name: d, class: copy}]\n  memories:\n"
      "    - {name: m, capacity: 2, backing: far, spill: {on: copy, write: {fixed: 1}, "
      "read: {fixed: 10}}}\n    - {name: far}\n"
      "buffers: [{name: x, size: 2, io: input}, {name: y, size: 2}]\nops:\n"
      "  - {name: R, on: q, time: 1, args: [{in: x}]}\n"
      "  - {name: Y, on: q, time: 1, args: [{out: y}], after: [R]}\n"
      "  - {name: u, on: q, time: 1, args: [{out_existing: x, at: [0, 1]}], after: [Y]}\n"
      "  - {name: T, on: q, time: 1, args: [{in: x, at: [0, 1]}]}\n";
  fsched_graph *g;
  fsched_schedule *found;
  fsched_compile_options o = {.size = sizeof o,
                              .verify = 1,
                              .refine = _i == 0 ? FSCHED_REFINE_SEARCH : FSCHED_REFINE_ILP,
                              .node_limit = 200};
  ck_fs(ctx, fsched_graph_parse(ctx, "t", text, strlen(text), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &o, &found, NULL));
  ck_assert_uint_le(fsched_schedule_lower_bound(found), 14);
  fsched_schedule_destroy(found);
  fsched_graph_destroy(g);
}
END_TEST

/* Graphs of all that the generator knows: what is found is right, and no bound or schedule of
 * others contradicts a proof. */
START_TEST(any_graph)
{
  uint32_t known = 0, proven = 0, shorter = 0;
  for (uint64_t i = 0; i < 90; i++) {
    uint64_t seed = fs_turn() << 16 | i;
    fs_gen_params params = i % 3 == 0   ? fs_gen_any(seed, 8)
                           : i % 3 == 1 ? fs_gen_odd(seed, 8)
                                        : fs_gen_tight(seed, 4 + (uint32_t)(seed % 5));
    fsched_graph *g;
    fsched_schedule *list;
    fsched_compile_options o = {.size = sizeof o};
    ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
    ck_fs(ctx, fsched_compile(ctx, g, &o, &list, NULL));
    fs_tick makespan = list->schedule->makespan;
    least_found s = solve(g, makespan, 1000);
    if (s.known && s.proven) {
      ck_assert_msg(s.least <= makespan && s.least >= list->schedule->lower_bound,
                    "seed %llu: %llu, but %llu to %llu", (unsigned long long)seed,
                    (unsigned long long)s.least, (unsigned long long)list->schedule->lower_bound,
                    (unsigned long long)makespan);
    }
    known += s.known;
    proven += s.proven;
    shorter += s.known && s.least < makespan;
    fsched_schedule_destroy(list);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, 40);
  fs_assert_seen(proven, 38);
  fs_assert_seen(shorter, 3);
}
END_TEST

/* Where something was given up, the end of the search proves nothing, and it does not go on. */
START_TEST(given_up)
{
  fs_gen_params params = fs_gen_tight(3, 6);
  fsched_graph *g;
  fs_problem *p;
  fs_arena own;
  fs_spills s;
  fs_tick least = 1000;
  fs_arena_init(&own, ctx);
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  ck_fs(ctx, fs_problem_spilling(ctx, g, least, 1, &p));
  ck_assert(p != NULL && fs_spills_know(p));
  ck_fs(ctx, fs_spills_init(&s, p, &own));
  s.exact = false;
  while (!s.ended) {
    fs_spill_turn turn = {.conflicts = 1000, .work = UINT64_MAX, .best = least};
    ck_fs(ctx, fs_spills_run(&s, &turn));
    ck_assert(!turn.none);
    least = turn.found == NULL ? least : turn.found->makespan;
    fs_schedule_destroy(turn.found);
  }
  uint64_t conflicts = s.l.conflicts;
  fs_spill_turn again = {.conflicts = 1000, .work = UINT64_MAX, .best = least};
  ck_fs(ctx, fs_spills_run(&s, &again));
  ck_assert(!again.none && again.found == NULL && s.l.conflicts == conflicts);
  ck_assert_uint_eq(least, solve(g, 1000, 100000).least);
  fs_spills_release(&s);
  fs_problem_destroy(p);
  fs_arena_release(&own);
  fsched_graph_destroy(g);
}
END_TEST

/* A search with a little memory. */
static fsched_status search_with(fsched_context *own, fs_budget *budget, long left) {
  fs_gen_params params = fs_gen_tight(3, 6);
  fsched_graph *g;
  fs_problem *p = NULL;
  fs_spills s = {0};
  fs_arena arena;
  fs_spill_turn turn = {.conflicts = 20, .work = UINT64_MAX, .best = 1000};
  ck_assert_int_eq(fs_gen_graph(own, &params, &g), FSCHED_OK);
  budget->left = left;
  fs_arena_init(&arena, own);
  fs_status status = fs_problem_spilling(own, g, 1000, 1, &p);
  ck_assert((p == NULL) == (status != FSCHED_OK));
  if (p != NULL) {
    status = fs_spills_init(&s, p, &arena);
    status = status == FSCHED_OK ? fs_spills_run(&s, &turn) : status;
  }
  fs_schedule_destroy(turn.found);
  fs_spills_release(&s);
  fs_problem_destroy(p);
  fs_arena_release(&arena);
  fsched_graph_destroy(g);
  return status;
}

START_TEST(without_memory)
{ fs_fail_each(search_with, 7); }
END_TEST

FS_SUITE(search_spill, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, as_all_states, any_graph, given_up, without_memory);
  FS_LOOPS(t, 0, 2, overwritten, overwritten_in_part);
  FS_LOOPS(t, 0, 3, as_all_schedules, choices_of_queues);
  FS_LOOPS(t, 0, sizeof eight / sizeof eight[0], places_matter);
}
