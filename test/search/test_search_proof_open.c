/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that the search writes of graphs whose memories are short, with open copies: what the
 * search proves they show; no schedule of other seeds is shorter, nor one that a search through all
 * states finds; and no damaged proof shows a time more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "ilp/spill_search.h"
#include "kit/exhaust.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/handle.h"
#include "search/damaged_proof.h"
#include "search/tiny_spills.h"

#include "kit/context.h"

enum { GRAPHS = 80, SEEDS = 6, TINY = 80, DAMAGES = 120 };

static bool is_open(const fs_written_proof *p) {
  return p->n > 0 && strstr(p->text, "\nopen\n") != NULL;
}

static fs_gen_params draw_short(uint64_t seed, bool store) {
  fs_rng r = {seed};
  return (fs_gen_params){.seed = seed,
                         .n_ops = 3 + fs_rng_below(&r, 10),
                         .n_queues = 1 + fs_rng_below(&r, 4),
                         .n_classes = 1 + fs_rng_below(&r, 2),
                         .n_memories = 1 + fs_rng_below(&r, 2),
                         .max_size = 100,
                         .window = 4 << fs_rng_below(&r, 3),
                         .tightness = 1 + 0.5 * fs_rng_below(&r, 3),
                         .backing = store,
                         .short_share = store ? 0 : 0.4 + 0.1 * fs_rng_below(&r, 5),
                         .counted = fs_rng_one_in(&r, 3),
                         .io = true,
                         .inouts = fs_rng_one_in(&r, 2),
                         .ats = fs_rng_one_in(&r, 4),
                         .versions = fs_rng_one_in(&r, 3),
                         .inplace = fs_rng_one_in(&r, 2),
                         .scratch = fs_rng_one_in(&r, 4),
                         .gangs = fs_rng_one_in(&r, 4)};
}

static fsched_schedule *compile_with(const fsched_graph *g, uint64_t seed, fsched_refine refine) {
  fsched_schedule *s = NULL;
  fsched_compile_options o = {
      .size = sizeof o, .seed = seed, .refine = refine, .node_limit = 4000, .verify = 1};
  fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
  ck_assert(status == FSCHED_OK || status == FSCHED_INFEASIBLE);
  fsched_diag_clear(ctx);
  return s;
}

/* No schedule of the list scheduler is shorter than what is shown. */
static void compare_schedules(const fsched_graph *g, uint64_t shown) {
  for (uint64_t k = 0; k < SEEDS; k++) {
    fsched_schedule *s = compile_with(g, k, FSCHED_REFINE_NONE);
    ck_assert(s == NULL || fsched_schedule_makespan(s) >= shown);
    fsched_schedule_destroy(s);
  }
}

START_TEST(optimal_ones)
{
  unsigned optimal = 0, proven = 0, open = 0;
  for (unsigned k = 0; k < GRAPHS; k++) {
    uint64_t seed = fs_turn() << 16 | k, shown;
    fs_gen_params params = draw_short(seed, _i == 0);
    fsched_graph *g;
    fsched_status status = fs_gen_graph(ctx, &params, &g);
    fsched_diag_clear(ctx);
    fsched_schedule *s = status == FSCHED_OK ? compile_with(g, k, FSCHED_REFINE_SEARCH) : NULL;
    if (s != NULL) {
      fs_written_proof p = fs_write_proof(g, k, 4000);
      ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
      ck_assert_uint_eq(shown, p.bound);
      ck_assert_uint_le(shown, p.makespan);
      compare_schedules(g, shown);
      bool best = fsched_schedule_makespan(s) == fsched_schedule_lower_bound(s);
      ck_assert_uint_le(shown, fsched_schedule_makespan(s));
      ck_assert(!best || p.makespan >= fsched_schedule_makespan(s));
      optimal += best;
      proven += best && shown == fsched_schedule_makespan(s);
      open += is_open(&p);
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_schedule_destroy(s);
    fsched_graph_destroy(status == FSCHED_OK ? g : NULL);
  }
  fs_assert_seen(open, _i == 0 ? 12 : 3);
  fs_assert_seen(optimal, GRAPHS / 3);
  fs_assert_seen(10 * proven, 9 * optimal);
}
END_TEST

/* The bound of this graph was asked of a problem without a learner, in turns that did nothing. */
START_TEST(ends_by_its_nodes)
{
  enum { SEED = 27 };
  fs_gen_params params = draw_short(UINT64_C(3) << 16 | SEED, true);
  fsched_graph *g;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  fsched_schedule *s = compile_with(g, SEED, FSCHED_REFINE_SEARCH);
  ck_assert_ptr_nonnull(s);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Brute force knows the least makespan of these. */
START_TEST(least_makespans)
{
  static tiny_script script;
  unsigned known = 0, proven = 0, open = 0, steps = 0;
  for (unsigned k = 0; k < TINY; k++) {
    uint32_t states;
    uint64_t seed = (fs_turn() * 2 + (uint64_t)_i) << 16 | k, shown;
    fs_rng r = {seed};
    fsched_graph *g = fs_tiny_graph(&script, seed);
    fs_tick least = g == NULL ? FS_TICK_NONE : fs_spill_search(g, &states);
    if (least != FS_TICK_NONE) {
      fs_written_proof p = fs_write_proof(g, k, 2000);
      ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
      ck_assert_uint_eq(shown, p.bound);
      ck_assert_msg(shown <= least, "seed %llu", (unsigned long long)seed);
      known++;
      proven += shown == least;
      open += is_open(&p);
      steps += is_open(&p) && shown == least ? fs_claim_more(g, &p, &r, DAMAGES) : 0;
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, TINY * 3 / 4);
  fs_assert_seen(100 * proven, 97 * known);
  fs_assert_seen(open, TINY / 6);
  fs_assert_seen(steps, TINY * DAMAGES / 8);
}
END_TEST

/* Eight buffers that fill 6 at all times, and fit in no way, so that one of them is copied: GLPK
 * proves the same least makespans.  The proof says that there are no addresses. */
START_TEST(no_addresses)
{
  static const struct {
    unsigned copy;
    uint64_t least;
  } eight[] = {{2, 8}, {3, 10}};
  char text[TINY_TEXT];
  fsched_graph *g;
  uint64_t shown;
  fs_rng r = {fs_turn()};
  (void)snprintf(
      text, sizeof text,
      "fsched: 1\nname: eight\ntarget:\n  queues: [{name: q}, {name: c, class: copy}]\n  "
      "memories:\n"
      "    - {name: m, capacity: 6, backing: far, spill: {on: copy, write: {fixed: %u}, "
      "read: {fixed: %u}}}\n    - {name: far}\n"
      "buffers: [{name: a, size: 4}, {name: b, size: 2}, {name: c, size: 3}, {name: d, size: 1}, "
      "{name: e, size: 1}, {name: f, size: 2}, {name: g, size: 3}, {name: h, size: 4}]\nops:\n"
      "  - {name: t0, on: q, time: 1, args: [{out: a}, {out: b}]}\n"
      "  - {name: t1, on: q, time: 1, after: [t0], args: [{out: c}, {out: d}]}\n"
      "  - {name: t2, on: q, time: 1, after: [t1], args: [{out: e}, {out: f}]}\n"
      "  - {name: t3, on: q, time: 1, after: [t2], args: [{in: b}, {in: e}]}\n"
      "  - {name: t4, on: q, time: 1, after: [t3], args: [{in: d}, {out: g}]}\n"
      "  - {name: t5, on: q, time: 1, after: [t4], args: [{in: f}, {out: h}]}\n",
      eight[_i].copy, eight[_i].copy);
  ck_fs(ctx, fsched_graph_parse(ctx, "t", text, strlen(text), NULL, &g));
  fs_written_proof p = fs_write_proof(g, 0, 20000);
  ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
  ck_assert_uint_eq(p.makespan, eight[_i].least);
  ck_assert_uint_eq(shown, eight[_i].least);
  ck_assert_ptr_nonnull(strstr(p.text, "\nn 0 "));
  (void)fs_claim_more(g, &p, &r, DAMAGES);
  fsched_text_free(ctx, p.text, p.n);
  fsched_graph_destroy(g);
}
END_TEST

/* Copies may run on any queue of a class on which an op has its own: where it is known that they
 * run on some, they are known to be there. */
START_TEST(queues_of_copies)
{
  static const char *const texts[] = {
      "target: {queues: [{name: q0}, {name: q1}, {name: q2}], memories: [{name: m, capacity: 10, "
      "backing: h, spill: {on: compute, read: {fixed: 2}, write: {fixed: 1}}}, {name: h}]}\n"
      "buffers: [{name: b0, size: 4, memory: m, io: output}, "
      "{name: b2, size: 5, memory: m, io: input}]\nops:\n"
      "  - {name: o0, on: q2, time: 2, args: [{out: b0}]}\n"
      "  - {name: o2, on: compute, time: 1, args: [{out: b0}]}\n"
      "  - {name: o3, on: compute, time: 1, args: [{in: b2}]}\n",
      "target: {queues: [{name: q0}, {name: q1}, {name: q2}], memories: [{name: m, capacity: 12, "
      "align: 4, backing: h, spill: {on: compute, read: {fixed: 1}, write: {fixed: 1}}, "
      "placement: counted}, {name: h}], concurrency: 2}\n"
      "buffers: [{name: b0, size: 4, memory: m, io: input}, {name: b1, size: 4, memory: m}, "
      "{name: b2, size: 4, memory: m, io: state}, {name: b3, size: 5, memory: m}, "
      "{name: b4, size: 4, memory: m}, {name: b5, size: 4, memory: m}]\nops:\n"
      "  - {name: o0, on: compute, time: 1, args: [{out: b4}]}\n"
      "  - {name: o1, on: compute, time: 1, args: [{inout: b0}, {out: b3}], after: [o0]}\n"
      "  - {name: o2, on: compute, time: 3, args: [{out: b4}, {out: b5}]}\n"
      "  - {name: o3, on: q1, time: 2, args: [{in: b3}], after: [o2]}\n"
      "  - {name: o4, on: q1, time: 1, args: [{out_existing: b3, at: [0, 2]}]}\n"
      "  - {name: o5, on: compute, time: 1, args: [{out: b1}]}\n"};
  char text[TINY_TEXT];
  fsched_graph *g;
  uint64_t shown;
  (void)snprintf(text, sizeof text, "fsched: 1\nname: queues\n%s", texts[_i]);
  ck_fs(ctx, fsched_graph_parse(ctx, "t", text, strlen(text), NULL, &g));
  fs_written_proof p = fs_write_proof(g, 0, 20000);
  ck_assert_ptr_nonnull(strstr(p.text, "\non "));
  ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
  ck_assert_uint_eq(shown, p.makespan);
  fsched_text_free(ctx, p.text, p.n);
  fsched_graph_destroy(g);
}
END_TEST

/* Damages of larger proofs. */
START_TEST(larger_damages)
{
  unsigned steps = 0;
  for (unsigned k = 0; k < GRAPHS; k++) {
    fs_rng r = {fs_turn() << 16 | k};
    fs_gen_params params = draw_short(r.state, k % 2 == 0);
    fsched_graph *g;
    fsched_status status = fs_gen_graph(ctx, &params, &g);
    fsched_diag_clear(ctx);
    fsched_schedule *s = status == FSCHED_OK ? compile_with(g, 0, FSCHED_REFINE_NONE) : NULL;
    if (s != NULL) {
      fs_written_proof p = fs_write_proof(g, k, 1000);
      bool best = p.bound == p.makespan && is_open(&p) && p.n < 200000;
      steps += best ? fs_claim_more(g, &p, &r, DAMAGES) : 0;
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_schedule_destroy(s);
    fsched_graph_destroy(status == FSCHED_OK ? g : NULL);
  }
  fs_assert_seen(steps, 500);
}
END_TEST

FS_SUITE(search_proof_open, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 240);
  FS_LOOPS(t, 0, 2, optimal_ones, least_makespans, no_addresses, queues_of_copies);
  FS_TESTS(t, ends_by_its_nodes, larger_damages);
}
