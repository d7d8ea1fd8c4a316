/* SPDX-License-Identifier: Apache-2.0 */
/* The program verifier: its own derivation compared with the graph's edges, gangs, races, compiled
 * programs of all kinds, and memory that runs out at every allocation. test_mutation.c shows what
 * each rule refuses. */
#include <stdio.h>
#include <stdlib.h>
#include "kit/quick.h"

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/mutate/mutate.h"
#include "model/handle.h"
#include "verify/map.h"
#include "verify/overlap.h"
#include "verify/stream/stream.h"

#include "kit/context.h"

static bool has_code(const char *code) {
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    if (strcmp(fsched_diag_get(ctx, i)->code, code) == 0) {
      return true;
    }
  }
  return false;
}

/* --- the map against an array --- */

START_TEST(test_map)
{
  enum { N = 600 };
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  for (uint64_t seed = 1; seed <= 30; seed++) {
    fs_rng rng = {seed};
    fs_vmap map = {0};
    uint32_t want[N];
    memset(want, 0xFF, sizeof want);
    for (uint32_t i = 0; i < 400; i++) {
      uint64_t lo = fs_rng_below(&rng, N - 1), hi = lo + 1 + fs_rng_below(&rng, (uint32_t)(N - lo));
      hi = fs_min(hi, fs_rng_one_in(&rng, 3) ? N : lo + 1 + fs_rng_below(&rng, 4));
      hi = fs_min(hi, N);
      fs_vmap_cursor at;
      bool fresh;
      ck_assert_int_eq(fs_vmap_cut(&arena, &map, hi, &at, &fresh), FSCHED_OK);
      ck_assert_int_eq(fs_vmap_cut(&arena, &map, lo, &at, &fresh), FSCHED_OK);
      fs_vmap_clear_inside(&map, lo, hi);
      fs_vmap_at(&map, fs_vmap_find(&map, lo))->value = i;
      for (uint64_t k = lo; k < hi; k++) {
        want[k] = i;
      }
      for (uint64_t k = 0; k < N; k += 1 + fs_rng_below(&rng, 9)) {
        ck_assert_uint_eq(fs_vmap_at(&map, fs_vmap_find(&map, k))->value, want[k]);
      }
    }
  }
  fs_arena_release(&arena);
}
END_TEST

/* --- predecessors --- */

static int compare_ids(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static void compare_edges(const fsched_graph *g, const fsched_program *p, uint64_t seed) {
  fs_vs v = {.ctx = ctx, .s = &p->view};
  fs_arena_init(&v.arena, ctx);
  ck_assert_int_eq(fs_vs_shape(&v), FSCHED_OK);
  ck_assert_int_eq(fs_vs_deps(&v), FSCHED_OK);
  for (uint32_t o = 0; o < g->n_ops; o++) {
    uint32_t n = v.pred0[o + 1] - v.pred0[o];
    ck_assert_msg(n == g->pred0[o + 1] - g->pred0[o],
                  "seed %llu: op %s has %u predecessors, not %u", (unsigned long long)seed,
                  g->op_name[o], n, g->pred0[o + 1] - g->pred0[o]);
    if (n > 1) {
      qsort(v.pred.at + v.pred0[o], n, sizeof *v.pred.at, compare_ids);
    }
    for (uint32_t i = 0; i < n; i++) {
      ck_assert_uint_eq(v.pred.at[v.pred0[o] + i], g->pred[g->pred0[o] + i]);
    }
  }
  fs_vec_free(ctx, &v.pred);
  fs_arena_release(&v.arena);
}

START_TEST(test_edges)
{
  for (uint64_t seed = 1; seed <= 200; seed++) {
    fs_gen_params params = fs_gen_any(seed, 40);
    params.raw = seed % 2 == 0;
    params.inouts = params.ats = params.versions = true;
    fsched_graph *g = NULL;
    fsched_program *p = NULL;
    ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
    if (fsched_compile(ctx, g, &fs_quick, NULL, &p) == FSCHED_OK) {
      compare_edges(g, p, seed);
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}
END_TEST

/* --- compiled programs --- */

static void check_compiled(const fs_gen_params *params) {
  fsched_graph *g = NULL;
  fsched_program *p = NULL;
  ck_assert_int_eq(fs_gen_graph(ctx, params, &g), FSCHED_OK);
  if (fsched_compile(ctx, g, &fs_quick, NULL, &p) == FSCHED_OK) {
    fsched_diag_clear(ctx);
    ck_assert_msg(fsched_verify_program(ctx, p, g) == FSCHED_OK, "seed %llu: %s",
                  (unsigned long long)params->seed, fsched_diag_get(ctx, 0)->message);
    ck_assert_int_eq(fsched_verify_program(ctx, p, NULL), FSCHED_OK);
  }
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(test_compiled)
{
  for (uint64_t seed = 1; seed <= 300; seed++) {
    fs_gen_params params = fs_gen_any(seed, seed % 10 == 0 ? 150 : 15);
    params.views = params.ats;
    params.class_gangs = seed % 3 == 0;
    params.members = params.gangs;
    params.raw = seed % 4 == 1;
    check_compiled(&params);
  }
  const fs_gen_params wide = {.seed = 1, .n_ops = 3000, .window = 3000, .io = true};
  check_compiled(&wide); /* without queues there are as many as ops that run at once */
}
END_TEST

/* --- gangs --- */

/* Replaces the wait on the collective axis by one on a single member. */
START_TEST(test_one_member_is_not_the_gang)
{
  static const char text[] =
      "fsched: 1\nname: g\ntarget:\n  queues: [{name: p}, {name: q}, {name: r}]\n"
      "ops:\n  - {name: a, on: [p, q], args: [{out: x, size: 4}]}\n"
      "  - {name: b, on: r, args: [{in: x}]}\n";
  fsched_graph *g = fs_parse(text);
  fsched_program *p;
  ck_assert_int_eq(fsched_compile(ctx, g, &fs_quick, NULL, &p), FSCHED_OK);
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_OK);
  ck_assert_uint_eq(p->view.n_waits, 1);
  ck_assert_uint_eq(p->view.waits[0].axis, 3);
  fsched_program *copy = fs_mutant_copy(p);
  ((fs_stream_wait *)(uintptr_t)copy->view.waits)->axis = 0;
  fs_mutant_repair(copy);
  ck_assert_int_eq(fsched_verify_program(ctx, copy, g), FSCHED_WRONG);
  ck_assert(has_code("verify-edge") && has_code("verify-conflict"));
  ck_assert(!has_code("verify-frontier") && !has_code("verify-signal"));
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* --- races --- */

START_TEST(test_races)
{
  static const char text[] =
      "fsched: 1\nname: g\nhazards: raw\ntarget:\n  queues: [{name: p}, {name: q}]\n"
      "buffers: [{name: x, size: 4}, {name: y, size: 4}]\n"
      "ops:\n  - {name: a, on: p, args: [{out_existing: x}]}\n"
      "  - {name: b, on: q, args: [{out_existing: x}]}\n"
      "  - {name: c, on: q, args: [{out: y}]}\n";
  fsched_graph *g = fs_parse(text);
  fsched_program *p;
  ck_assert_int_eq(fsched_compile(ctx, g, &fs_quick, NULL, &p), FSCHED_OK);
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_OK);
  ck_assert_uint_eq(p->view.n_races, 1);
  fsched_program *copy = fs_mutant_copy(p);
  copy->view.n_races = 0;
  ck_assert_int_eq(fsched_verify_program(ctx, copy, g), FSCHED_WRONG);
  ck_assert(has_code("verify-race") && has_code("verify-conflict"));
  fs_mutant_free(copy);
  fsched_diag_clear(ctx);
  copy = fs_mutant_copy(p);
  ((fs_stream_race *)(uintptr_t)copy->view.races)->op_a = 2;
  ck_assert_int_eq(fsched_verify_program(ctx, copy, g), FSCHED_WRONG);
  ck_assert(has_code("verify-race"));
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* --- what the messages say --- */

static bool has_message(const char *text) {
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    if (strcmp(fsched_diag_get(ctx, i)->message, text) == 0) {
      return true;
    }
  }
  return false;
}

/* The first graph's program is verified against each of the other graphs. */
START_TEST(test_what_differs)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}], memories: [{name: m, "
       "capacity: 8}]}\nops: [{name: a, on: p, size: 4}, {name: b, on: q, args: [{in: a}]}]\n",
       NULL},
      {"fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}], memories: [{name: m}]}\n"
       "ops: [{name: a, on: p, size: 4}, {name: b, on: q, args: [{in: a}]}]\n",
       "not the graph's: memory 'm': capacity 8 in the program, unbounded in the graph"},
      {"fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q, class: c}], memories: [{name: "
       "m, capacity: 8}]}\nops: [{name: a, on: p, size: 4}, {name: b, on: q, args: [{in: a}]}]\n",
       "not the graph's: queue 'q': class 'compute' in the program, 'c' in the graph"},
      {"fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}], memories: [{name: m, "
       "capacity: 8}]}\nops: [{name: a, on: p, size: 4}]\n",
       "not the graph's: graph 'g': ops 2 in the program, 1 in the graph"},
      {"fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}], memories: [{name: m, "
       "capacity: 8}]}\nops: [{name: a, on: p, time: 2, size: 4}, {name: b, on: q, args: [{in: "
       "a}]}]\n",
       "not the graph's: time of op 'a'"},
  };
  fsched_graph *g = fs_parse(cases[0].text);
  fsched_program *p;
  ck_assert_int_eq(fsched_compile(ctx, g, &fs_quick, NULL, &p), FSCHED_OK);
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_OK);
  for (size_t i = 1; i < sizeof cases / sizeof cases[0]; i++) {
    fsched_graph *other = fs_parse(cases[i].text);
    ck_assert_int_eq(fsched_verify_program(ctx, p, other), FSCHED_WRONG);
    ck_assert_msg(has_message(cases[i].message), "%s", fsched_diag_get(ctx, 0)->message);
    fsched_diag_clear(ctx);
    fsched_graph_destroy(other);
  }
  fsched_program *copy = fs_mutant_copy(p);
  ((fs_stream_command *)(uintptr_t)copy->view.commands)->scope = FS_SCOPE_SYSTEM;
  ck_assert_int_eq(fsched_verify_program(ctx, copy, NULL), FSCHED_WRONG);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "verify-scope");
  ck_assert_msg(strstr(fsched_diag_get(ctx, 0)->message,
                       "has scope 'system'; who waits for it needs 'device'") != NULL,
                "%s", fsched_diag_get(ctx, 0)->message);
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(test_schedule_messages)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}]}\n"
      "ops: [{name: a, on: p, time: 7}, {name: b, on: q, after: [a]}]\n");
  fsched_schedule *s;
  ck_assert_int_eq(fsched_compile(ctx, g, &fs_quick, &s, NULL), FSCHED_OK);
  s->schedule->lower_bound = s->schedule->makespan + 1;
  ck_assert_int_eq(fsched_verify_schedule(ctx, g, s), FSCHED_WRONG);
  ck_assert(
      has_message("makespan 8, lower bound 9 and status 'optimal', but the last item ends at 8"));
  s->schedule->lower_bound = s->schedule->makespan;
  s->schedule->start[1] = 5;
  s->schedule->end[1] = 6;
  ck_assert_int_eq(fsched_verify_schedule(ctx, g, s), FSCHED_WRONG);
  ck_assert(has_message("op b at 5 starts before the end at 7 of op a at 0"));
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* A schedule that comes with control edges keeps them. */
START_TEST(test_control_edges)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}], "
      "concurrency: 1}\n"
      "ops: [{name: a, on: p, time: 7}, {name: b, on: q}]\n");
  fsched_schedule *s;
  ck_assert_int_eq(fsched_compile(ctx, g, &fs_quick, &s, NULL), FSCHED_OK);
  ck_assert_uint_eq(s->sync->n_control, 1);
  ck_assert_int_eq(fsched_verify_schedule(ctx, g, s), FSCHED_OK);
  uint32_t from = s->sync->control_from[0];
  s->sync->control_from[0] = s->sync->control_to[0];
  s->sync->control_to[0] = from;
  ck_assert_int_eq(fsched_verify_schedule(ctx, g, s), FSCHED_WRONG);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "verify-precedence");
  ck_assert_msg(has_message("op a at 0 starts before the end at 8 of op b at 7, to which a "
                            "control edge ties it"),
                "%s", fsched_diag_get(ctx, 0)->message);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* --- overlaps within a command --- */

static bool some_may(void *x, const fs_stream_place *a, const fs_stream_place *b) {
  (void)x;
  return (a->version + b->version) % 3 == 0;
}

/* Whether a pair is wrong, by the definition. */
static bool is_wrong_pair(const fs_stream_place *a, const fs_stream_place *b) {
  bool memory = a->space == FS_SPACE_MEMORY;
  bool fine = memory && ((a->version == b->version && a->version != FS_NONE) ||
                         ((a->mode | b->mode) & FS_MODE_W) == 0);
  return a->space == b->space && a->index == b->index && a->address < b->address + b->size &&
         b->address < a->address + a->size && a->size > 0 && b->size > 0 && !fine &&
         !some_may(NULL, a, b);
}

static fs_stream_place any_place(fs_rng *rng) {
  static const uint32_t space[] = {FS_SPACE_MEMORY, FS_SPACE_MEMORY, FS_SPACE_COUNTED};
  static const uint32_t modes[] = {FS_MODE_R, FS_MODE_R, FS_MODE_W, FS_MODE_RW};
  return (fs_stream_place){.space = (uint8_t)space[fs_rng_below(rng, 3)],
                           .index = fs_rng_below(rng, 2),
                           .address = fs_rng_below(rng, 24),
                           .size = fs_rng_below(rng, 9),
                           .version = fs_rng_one_in(rng, 9) ? FS_NONE : fs_rng_below(rng, 4),
                           .mode = (uint8_t)modes[fs_rng_below(rng, 4)]};
}

START_TEST(test_overlaps)
{
  enum { MOST = 9 };
  fs_stream_place place[MOST];
  const fs_stream_place *sorted[MOST], *open[MOST], *a, *b;
  fs_voverlap o = {.sorted = sorted, .open = open};
  fs_rng rng = {1};
  uint32_t found = 0;
  for (uint32_t round = 0; round < 100000; round++) {
    uint32_t n = fs_rng_below(&rng, MOST + 1);
    bool wrong = false;
    for (uint32_t i = 0; i < n; i++) {
      place[i] = any_place(&rng);
      for (uint32_t k = 0; k < i; k++) {
        wrong = wrong || is_wrong_pair(&place[k], &place[i]);
      }
    }
    ck_assert_int_eq(fs_voverlap_find(&o, place, n, some_may, NULL, &a, &b), wrong);
    ck_assert(!wrong || (a->address <= b->address && is_wrong_pair(a, b)));
    found += wrong;
  }
  ck_assert(found > 10000 && found < 90000);
}
END_TEST

/* --- out of memory --- */

START_TEST(test_out_of_memory)
{
  fs_budget f = {.left = 1 << 30};
  const fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &f};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  fs_gen_params params = fs_gen_any(3, 60);
  params.n_memories = 2;
  params.gangs = params.ats = params.inouts = params.io = params.raw = true;
  fsched_graph *g;
  fsched_schedule *s;
  fsched_program *p;
  ck_assert_int_eq(fs_gen_graph(own, &params, &g), FSCHED_OK);
  ck_assert_int_eq(fsched_compile(own, g, &fs_quick, &s, &p), FSCHED_OK);
  fs_status schedule = FSCHED_SYSTEM, program = FSCHED_SYSTEM;
  for (long n = 0; schedule != FSCHED_OK || program != FSCHED_OK; n++) {
    long before = f.held;
    f.left = n;
    schedule = fsched_verify_schedule(own, g, s);
    f.left = n;
    program = fsched_verify_program(own, p, g);
    f.left = 1 << 30;
    ck_assert(schedule == FSCHED_OK || schedule == FSCHED_SYSTEM);
    ck_assert(program == FSCHED_OK || program == FSCHED_SYSTEM);
    ck_assert_int_eq(f.held, before);
    fsched_diag_clear(own);
  }
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_context_destroy(own);
  ck_assert_int_eq(f.held, 0);
}
END_TEST

FS_SUITE(verify_stream, s) {
  TCase *t = fs_case(s, fs_test_many_errors);
  FS_TESTS(t, test_map, test_edges, test_one_member_is_not_the_gang, test_races, test_what_differs,
           test_schedule_messages, test_control_edges, test_overlaps, test_out_of_memory,
           test_compiled);
}
