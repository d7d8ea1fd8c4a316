/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that the search writes, against the checker, which shares nothing with it, and against all
 * orders of small graphs: each proof is accepted and shows the bound that the schedule has, no
 * bound is above the least makespan, and no damaged proof shows one. */
#include <stdio.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "ilp/spill_search.h"
#include "kit/exhaust.h"
#include "kit/fail_each.h"
#include "kit/turn.h"
#include "search/small_case.h"
#include "search/tiny_spills.h"
#include "verify/proof/written_proof.h"

#include "kit/context.h"

enum { CASES = 120, DAMAGED = 25, DAMAGES = 40, LARGE = 12, RESOURCES = 4 };

/* Few nodes leave bounds that no search was needed for. */
START_TEST(small_proofs)
{
  unsigned proven = 0, others = 0;
  for (unsigned k = 0; k < CASES; k++) {
    uint64_t seed = fs_turn() << 16 | k, shown;
    fs_rng r = {seed};
    search_case c = fs_small_case(&r, MOST_OPS, 6);
    uint64_t least = fs_small_least(&c) * c.tick;
    fsched_graph *g = fs_small_graph(&c);
    if (least > 0) {
      fs_written_proof p = fs_write_proof(g, k, k % 3 == 0 ? 1 : 2000);
      fsched_status status = fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown);
      ck_assert_msg(status == FSCHED_OK, "seed %llu: %s\n%s", (unsigned long long)seed,
                    fsched_diag_get(ctx, 0)->message, p.text);
      ck_assert_uint_eq(shown, p.bound);
      ck_assert_uint_le(shown, least);
      proven += shown == p.makespan;
      others += shown < p.makespan;
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(proven, CASES / 2);
  fs_assert_seen(others, 0);
}
END_TEST

/* Memories that are short make no schedule shorter; some copies are in every one. */
START_TEST(short_memories)
{
  static tiny_script script;
  unsigned known = 0, proven = 0, copies = 0;
  for (unsigned k = 0; k < CASES; k++) {
    uint32_t states;
    uint64_t seed = fs_turn() << 16 | k, shown;
    fsched_graph *g = fs_tiny_graph(&script, seed);
    fs_tick least = g == NULL ? FS_TICK_NONE : fs_spill_search(g, &states);
    if (least != FS_TICK_NONE) {
      fs_written_proof p = fs_write_proof(g, k, 400);
      ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
      ck_assert_uint_eq(shown, p.bound);
      ck_assert_msg(shown <= least && p.makespan >= least, "seed %llu: %llu to %llu, not %llu\n%s",
                    (unsigned long long)seed, (unsigned long long)shown,
                    (unsigned long long)p.makespan, (unsigned long long)least, script.text);
      known++;
      proven += shown == least;
      copies += strstr(p.text, "\nread ") != NULL || strstr(p.text, "\nwrite ") != NULL;
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, CASES * 3 / 4);
  fs_assert_seen(proven, CASES / 4);
  fs_assert_seen(copies, CASES / 2);
}
END_TEST

/* Ops that hold memory while they run, as scratch or as a buffer of their own, of which few fit
 * beside each other. */
static fsched_graph *draw_held(fs_rng *r) {
  fs_text t;
  char *text;
  size_t n;
  fs_text_init(&t, ctx);
  fs_text_printf(&t, "fsched: 1\nname: s\ntarget:\n  memories:\n    - {name: m, capacity: %u",
                 (unsigned)(5 + fs_rng_below(r, 3)));
  fs_text_puts(&t, fs_rng_one_in(r, 2) ? ", placement: counted}\nops:\n" : "}\nops:\n");
  for (unsigned op = 0, ops = 3 + fs_rng_below(r, 3); op < ops; op++) {
    unsigned size = 1 + fs_rng_below(r, 4);
    fs_text_printf(&t, "  - {name: o%u, time: %u", op, (unsigned)(1 + fs_rng_below(r, 3)));
    if (fs_rng_one_in(r, 3)) {
      fs_text_printf(&t, ", args: [{out: b%u, memory: m, size: %u}]", op, size);
    } else {
      fs_text_printf(&t, ", scratch: {m: %u}", size);
    }
    if (op > 0 && fs_rng_one_in(r, 4)) {
      fs_text_printf(&t, ", after: [o%u]", op - 1);
    }
    fs_text_puts(&t, "}\n");
  }
  ck_fs(ctx, fs_text_take(&t, &text, &n));
  fsched_graph *g = fs_parse(text);
  fsched_text_free(ctx, text, n);
  return g;
}

START_TEST(held_memory)
{
  unsigned proven = 0, sets = 0;
  for (unsigned k = 0; k < CASES; k++) {
    fs_rng r = {fs_turn() << 16 | k};
    fsched_graph *g = draw_held(&r);
    fs_exhaust e = fs_exhaust_search(g, 0, 15, UINT64_C(1) << 26);
    uint64_t shown;
    ck_assert(e.known && e.found);
    fs_written_proof p = fs_write_proof(g, k, 400);
    ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
    ck_assert_uint_eq(shown, p.bound);
    ck_assert_msg(shown <= e.best && p.makespan >= e.best, "seed %u", k);
    proven += shown == e.best;
    sets += strstr(p.text, "\nset memory 0\n") != NULL;
    fsched_text_free(ctx, p.text, p.n);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(proven, CASES / 2);
  fs_assert_seen(sets, CASES / 2);
}
END_TEST

/* All kinds of ops and args, of one class of queues or more. */
START_TEST(any_graphs)
{
  for (unsigned k = 0; k < CASES / 2; k++) {
    fs_gen_params params = fs_gen_any(fs_turn() << 16 | k, 40);
    fsched_graph *g;
    uint64_t shown;
    params.class_gangs = false;
    params.zero_times = k % 2 == 0;
    ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
    fs_tick times = 0;
    for (uint32_t op = 0; op < g->n_ops; op++) {
      times += g->op_time[op];
    }
    if (times > 0) {
      fs_written_proof p = fs_write_proof(g, k, 100);
      ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
      ck_assert_uint_eq(shown, p.bound);
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_graph_destroy(g);
  }
}
END_TEST

/* A project in which each op needs up to half of several resources. */
static fsched_graph *draw_project(fs_rng *r, uint32_t n) {
  fs_text t;
  fsched_graph *g;
  fs_text_init(&t, ctx);
  fs_text_printf(&t, "fsched: 1\nname: project\ntarget:\n  resources:\n");
  for (uint32_t k = 0; k < RESOURCES; k++) {
    fs_text_printf(&t, "    - {name: r%u, capacity: %u}\n", k, 12 + fs_rng_below(r, 6));
  }
  fs_text_printf(&t, "ops:\n");
  for (uint32_t i = 0; i < n; i++) {
    fs_text_printf(&t, "  - {name: o%u, time: %u, uses: {", i, 1 + fs_rng_below(r, 10));
    for (uint32_t k = 0; k < RESOURCES; k++) {
      fs_text_printf(&t, "%sr%u: %u", k == 0 ? "" : ", ", k, fs_rng_below(r, 10));
    }
    fs_text_printf(&t, i == 0 ? "}}\n" : "}, after: [o%u]}\n",
                   i - 1 - fs_rng_below(r, fs_min(i, 9)));
  }
  ck_assert(!t.failed);
  ck_fs(ctx, fsched_graph_parse(ctx, "g", t.at, t.n, NULL, &g));
  fs_text_drop(&t);
  return g;
}

/* Where the search does not come to its end it shows more than what follows without a search. */
START_TEST(limits_from_below)
{
  unsigned raised = 0;
  for (unsigned k = 0; k < LARGE; k++) {
    fs_rng r = {fs_turn() << 16 | k};
    fsched_graph *g = draw_project(&r, 50 + k);
    uint64_t shown;
    fs_written_proof root = fs_write_proof(g, k, 1), p = fs_write_proof(g, k, 2500);
    ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
    ck_assert_uint_eq(shown, p.bound);
    ck_assert_uint_ge(shown, root.bound);
    raised += shown > root.bound && shown < p.makespan;
    fsched_text_free(ctx, root.text, root.n);
    fsched_text_free(ctx, p.text, p.n);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(raised, 0);
}
END_TEST

/* ---- damages */

static size_t begin_of_line(const fs_written_proof *p, size_t at) {
  while (at > 0 && p->text[at - 1] != '\n') {
    at--;
  }
  return at;
}

/* Changes a byte, or leaves a line out; the end is never damaged so that less is claimed. */
static void damage(const fs_written_proof *p, fs_rng *r, fs_text *t) {
  size_t at = fs_rng_below(r, (uint32_t)p->n), line = begin_of_line(p, at);
  const char *end = memchr(p->text + at, '\n', p->n - at);
  ck_assert_ptr_nonnull(end);
  if (fs_rng_one_in(r, 4)) {
    fs_text_add(t, p->text, line);
    fs_text_add(t, end + 1, p->n - (size_t)(end + 1 - p->text));
    return;
  }
  static const char bytes[] = "0123456789<>=@:poxtzsefbld ";
  fs_text_add(t, p->text, at);
  fs_text_add(t, &bytes[fs_rng_below(r, sizeof bytes - 1)], 1);
  fs_text_add(t, p->text + at + 1, p->n - at - 1);
}

/* Returns how many damaged proofs are refused; the others show no more than the least makespan. */
static unsigned damage_all(const fsched_graph *g, uint64_t least, fs_rng *r) {
  unsigned refused = 0;
  fs_written_proof p = fs_write_proof(g, r->state, 2000);
  for (unsigned i = 0; i < DAMAGES; i++) {
    uint64_t shown;
    fs_text t;
    fs_text_init(&t, ctx);
    damage(&p, r, &t);
    if (fsched_verify_proof(ctx, g, t.at, t.n, "p", &shown) == FSCHED_OK) {
      ck_assert_msg(shown <= least, "%llu is above %llu:\n%.*s", (unsigned long long)shown,
                    (unsigned long long)least, (int)t.n, t.at);
    } else {
      refused++;
    }
    fsched_diag_clear(ctx);
    fs_text_drop(&t);
  }
  fsched_text_free(ctx, p.text, p.n);
  return refused;
}

START_TEST(damaged_proofs)
{
  unsigned refused = 0;
  for (unsigned k = 0; k < DAMAGED; k++) {
    fs_rng r = {fs_turn() << 16 | k};
    search_case c = fs_small_case(&r, MOST_OPS, 6);
    uint64_t least = fs_small_least(&c) * c.tick;
    fsched_graph *g = fs_small_graph(&c);
    refused += least > 0 ? damage_all(g, least, &r) : 0;
    fsched_graph_destroy(g);
  }
  fs_assert_seen(refused, DAMAGED * DAMAGES / 4);
}
END_TEST

START_TEST(damaged_copies)
{
  static tiny_script script;
  unsigned refused = 0;
  for (unsigned k = 0; k < 2 * DAMAGED; k++) {
    uint32_t states;
    fs_rng r = {fs_turn() << 16 | k};
    fsched_graph *g = fs_tiny_graph(&script, r.state);
    fs_tick least = g == NULL ? FS_TICK_NONE : fs_spill_search(g, &states);
    refused += least != FS_TICK_NONE ? damage_all(g, least, &r) : 0;
    fsched_graph_destroy(g);
  }
  fs_assert_seen(refused, DAMAGED * DAMAGES / 4);
}
END_TEST

/* ---- memory */

static const char shop[] =
    "fsched: 1\nname: shop\n"
    "target: {queues: [{name: m}, {name: n}], concurrency: 2}\n"
    "ops:\n"
    "  - {name: a, on: m, time: 3}\n"
    "  - {name: b, on: n, time: 2, after: [a]}\n"
    "  - {name: c, on: n, time: 4}\n"
    "  - {name: d, on: m, time: 2, after: [c]}\n"
    "  - {name: e, on: m, time: 2}\n";

static const char unlike[] =
    "fsched: 1\nname: unlike\n"
    "target: {queues: [{name: m, class: c}, {name: n, class: c}, {name: o, class: d}]}\n"
    "ops:\n"
    "  - {name: a, on: m, time: 3}\n"
    "  - {name: b, on: c, time: 2, after: [a]}\n"
    "  - {name: c, on: c, time: 4}\n"
    "  - {name: d, on: [n, o], time: 2, after: [c]}\n";

static const char given[] =
    "fsched: 1\nname: given\n"
    "target: {queues: [{name: m}, {name: n}], memories: [{name: k, capacity: 9}]}\n"
    "ops:\n"
    "  - {name: a, on: m, time: 3, start: 0, args: [{out: x, size: 4, memory: k}]}\n"
    "  - {name: b, on: n, time: 2, latency: 3, start: 3, scratch: {k: 5}}\n"
    "  - {name: c, on: m, time: 4, start: 5, args: [{in: x}]}\n";

static const char rooms[] =
    "fsched: 1\nname: rooms\n"
    "target:\n  queues: [{name: m}, {name: d, class: copy}]\n  memories:\n"
    "    - {name: s, capacity: 5, backing: far, spill: {on: copy, write: {fixed: 2}, "
    "read: {fixed: 2}}}\n    - {name: far}\n"
    "buffers: [{name: x, size: 3}, {name: y, size: 2}, {name: z, size: 3}]\nops:\n"
    "  - {name: a, on: m, time: 2, args: [{out: x}]}\n"
    "  - {name: b, on: m, time: 2, args: [{out: y}], after: [a]}\n"
    "  - {name: c, on: m, time: 2, args: [{in: y}, {out: z}], after: [b]}\n"
    "  - {name: d, on: m, time: 2, args: [{in: x}], after: [c]}\n";

/* A proof is whole, or there is none. */
static fsched_status prove_text(fsched_context *own, fs_budget *budget, long left,
                                const char *graph) {
  fsched_graph *g, *again;
  ck_assert_int_eq(fsched_graph_parse(own, "g", graph, strlen(graph), NULL, &g), FSCHED_OK);
  char *text = NULL;
  size_t n = 0;
  fsched_compile_options o = {.size = sizeof o,
                              .refine = FSCHED_REFINE_SEARCH,
                              .node_limit = 30,
                              .proof = &text,
                              .proof_length = &n};
  fsched_schedule *s = NULL;
  budget->left = left;
  fsched_status status = fsched_compile(own, g, &o, &s, NULL);
  if (status == FSCHED_OK) {
    uint64_t shown;
    ck_fs(ctx, fsched_graph_parse(ctx, "g", graph, strlen(graph), NULL, &again));
    ck_fs(ctx, fsched_verify_proof(ctx, again, text, n, "p", &shown));
    ck_assert_uint_eq(shown, fsched_schedule_lower_bound(s));
    fsched_graph_destroy(again);
  } else {
    ck_assert_ptr_null(text);
  }
  fsched_text_free(own, text, n);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  return status;
}

static fsched_status prove_shop(fsched_context *own, fs_budget *budget, long left) {
  return prove_text(own, budget, left, shop);
}

static fsched_status prove_unlike(fsched_context *own, fs_budget *budget, long left) {
  return prove_text(own, budget, left, unlike);
}

static fsched_status prove_given(fsched_context *own, fs_budget *budget, long left) {
  return prove_text(own, budget, left, given);
}

/* Its copies are open: c waits until x has left, and d until it has come back. */
static fsched_status prove_rooms(fsched_context *own, fs_budget *budget, long left) {
  return prove_text(own, budget, left, rooms);
}

START_TEST(without_memory)
{
  fs_fail_each(prove_shop, 5);
  fs_fail_each(prove_given, 5);
  fs_fail_each(prove_unlike, 5);
  fs_fail_each(prove_rooms, 5);
}
END_TEST

/* ---- options */

START_TEST(asked_in_vain)
{
  fs_rng r = {1};
  search_case c = fs_small_case(&r, MOST_OPS, 6);
  fsched_graph *g = fs_small_graph(&c);
  char *text = NULL;
  size_t n = 7;
  fsched_compile_options o = {.size = sizeof o, .refine = FSCHED_REFINE_SEARCH, .proof = &text};
  ck_assert_int_eq(fsched_compile(ctx, g, &o, NULL, NULL), FSCHED_USAGE);
  o.proof_length = &n;
  o.refine = FSCHED_REFINE_NONE;
  ck_assert_int_eq(fsched_compile(ctx, g, &o, NULL, NULL), FSCHED_USAGE);
  o.refine = FSCHED_REFINE_ILP;
  ck_assert_int_eq(fsched_compile(ctx, g, &o, NULL, NULL), FSCHED_USAGE);
  ck_assert_ptr_null(text);
  ck_assert_uint_eq(fsched_diag_count(ctx), 3);
  fsched_diag_clear(ctx);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(search_proof, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, small_proofs, short_memories, held_memory, any_graphs, limits_from_below,
           damaged_proofs, damaged_copies, without_memory, asked_in_vain);
}
