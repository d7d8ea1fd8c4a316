/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that write over all of a version, in memories with and without a store: before that its place
 * may be another's.  The same graph is made a second time with a buffer of its own for each such
 * op, and with the orders said by `after`: what has no version to hold has the same least makespan.
 */
#include <stdio.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/handle.h"
#include "search/damaged_proof.h"

#include "kit/context.h"

enum { OPS = 7, CELLS = 3, DAMAGES = 60 };

/* What an op does with a cell. */
typedef enum cell_use { CELL_NONE, CELL_READ, CELL_CHANGE, CELL_PART, CELL_OVER } cell_use;

typedef struct rest_case {
  bool store, counted;
  uint32_t n, queue[OPS], time[OPS], size[CELLS], capacity;
  cell_use use[OPS][CELLS];
  bool given[CELLS], kept[CELLS]; /* the first content is an input, the last one an output */
} rest_case;

static void draw(rest_case *x, uint64_t seed, bool keeps) {
  fs_rng r = {seed};
  uint32_t most = 0, sum = 0;
  bool begun[CELLS] = {false};
  *x = (rest_case){.n = 4 + fs_rng_below(&r, OPS - 3)};
  for (uint32_t c = 0; c < CELLS; c++) {
    x->size[c] = 1 + fs_rng_below(&r, 6);
    x->kept[c] = keeps && fs_rng_one_in(&r, 3);
    x->given[c] = begun[c] = keeps && !x->kept[c] && fs_rng_one_in(&r, 3);
    sum += x->size[c];
  }
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t need = 0;
    x->queue[i] = fs_rng_below(&r, 2);
    x->time[i] = 1 + fs_rng_below(&r, 6);
    for (uint32_t c = 0; c < CELLS; c++) {
      if (fs_rng_one_in(&r, 2)) {
        x->use[i][c] = begun[c] ? (cell_use)(CELL_READ + fs_rng_below(&r, 4)) : CELL_OVER;
        begun[c] = true;
        need += x->size[c];
      }
    }
    most = need > most ? need : most;
  }
  for (uint32_t c = 0; c < CELLS; c++) {
    x->kept[c] = x->kept[c] && begun[c];
  }
  x->capacity = most + fs_rng_below(&r, sum - most + 1);
}

static const char *tag_of(cell_use use, bool begins) {
  return use == CELL_READ ? "in" : use == CELL_CHANGE ? "inout" : begins ? "out" : "out_existing";
}

/* Writes the orders that an op of its own buffer keeps: it comes behind all others of the cell. */
static void put_after(fs_text *t, const rest_case *x, uint32_t op) {
  bool any = false;
  for (uint32_t c = 0; c < CELLS; c++) {
    for (uint32_t i = 0; i < op; i++) {
      if (x->use[op][c] == CELL_OVER && x->use[i][c] != CELL_NONE) {
        fs_text_printf(t, "%so%u", any ? ", " : ", after: [", i);
        any = true;
      }
    }
  }
  fs_text_puts(t, any ? "]" : "");
}

/* Writes the graph; `apart`: with a buffer for each op that writes over all of a cell. */
static void put_graph(fs_text *t, const rest_case *x, bool apart) {
  uint32_t at[CELLS] = {0}, last[CELLS] = {0};
  for (uint32_t i = 0; i < x->n; i++) {
    for (uint32_t c = 0; c < CELLS; c++) {
      last[c] = apart && x->use[i][c] == CELL_OVER ? i : last[c];
    }
  }
  fs_text_printf(
      t,
      "fsched: 1\ntarget:\n  queues: [{name: q0}, {name: q1}]\n"
      "  memories: [{name: m, capacity: %u%s%s}%s]\nbuffers:\n",
      x->capacity, x->counted ? ", placement: counted" : "",
      x->store ? ", backing: far, spill: {on: q1, write: {fixed: 2}, read: {fixed: 1}}" : "",
      x->store ? ", {name: far}" : "");
  for (uint32_t c = 0; c < CELLS; c++) {
    for (uint32_t i = 0; i < (apart ? x->n : 1); i++) {
      bool given = x->given[c] && i == 0;
      const char *io = given ? ", io: input" : x->kept[c] && i == last[c] ? ", io: output" : "";
      if (apart ? x->use[i][c] == CELL_OVER || given : i == 0) {
        fs_text_printf(t, "  - {name: c%u_%u, size: %u%s}\n", c, i, x->size[c], io);
      }
    }
  }
  fs_text_puts(t, "ops:\n");
  bool begun[CELLS];
  memcpy(begun, x->given, sizeof begun);
  for (uint32_t i = 0; i < x->n; i++) {
    fs_text_printf(t, "  - {name: o%u, on: q%u, time: %u", i, x->queue[i], x->time[i]);
    if (apart) {
      put_after(t, x, i);
    }
    fs_text_puts(t, ", args: [");
    for (uint32_t c = 0, n = 0; c < CELLS; c++) {
      cell_use use = x->use[i][c];
      if (use == CELL_NONE) {
        continue;
      }
      bool over = use == CELL_OVER, begins = over && (apart || !begun[c]);
      at[c] = apart && over ? i : at[c];
      begun[c] = true;
      fs_text_printf(t, "%s{%s: c%u_%u%s}", n++ > 0 ? ", " : "", tag_of(use, begins), c, at[c],
                     use == CELL_PART ? ", at: [0, 1]" : "");
    }
    fs_text_puts(t, "]}\n");
  }
}

static bool is_said(const char *what) {
  bool said = false;
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    said = said || strstr(fsched_diag_get(ctx, i)->message, what) != NULL;
  }
  return said;
}

typedef struct rest_result {
  bool legal, none; /* none: it was proven that there is no schedule */
  fs_tick makespan, bound;
} rest_result;

static rest_result solve(const rest_case *x, bool apart, fsched_refine refine) {
  fs_text t;
  fsched_graph *g;
  fsched_schedule *found = NULL;
  fsched_program *p = NULL;
  rest_result out = {false, false, 0, 0};
  fsched_compile_options o = {.size = sizeof o, .verify = 1, .refine = refine, .node_limit = 4000};
  fsched_diag_clear(ctx);
  fs_text_init(&t, ctx);
  put_graph(&t, x, apart);
  ck_fs(ctx, fsched_graph_parse(ctx, "t", t.at, t.n, NULL, &g));
  fs_status status = fsched_compile(ctx, g, &o, &found, &p);
  if (status == FSCHED_OK) {
    out = (rest_result){.legal = true,
                        .makespan = fsched_schedule_makespan(found),
                        .bound = fsched_schedule_lower_bound(found)};
    fsched_replay_options run = {.size = sizeof run, .check = 1};
    fsched_replay_result result = {.size = sizeof result};
    ck_fs(ctx, fsched_verify_program(ctx, p, g));
    ck_fs(ctx, fsched_replay(ctx, p, &run, &result));
    fsched_program_destroy(p);
    fsched_schedule_destroy(found);
  } else {
    ck_assert_int_eq(status, FSCHED_INFEASIBLE);
    out.none = is_said("proven that there is no schedule");
  }
  fsched_graph_destroy(g);
  fs_text_drop(&t);
  return out;
}

/* Whatever is claimed of one holds for the other. */
static void compare(uint64_t seed, int kind, fsched_refine refine, uint32_t *proven,
                    uint32_t *shorter) {
  rest_case x;
  draw(&x, seed, kind % 2 == 1);
  x.store = kind / 2 % 2 == 1;
  x.counted = kind / 4 == 1;
  rest_result plain = solve(&x, false, FSCHED_REFINE_NONE), own = solve(&x, false, refine);
  rest_result apart = solve(&x, true, FSCHED_REFINE_SEARCH);
  for (uint32_t k = 0; k < 2; k++) {
    const rest_result *one = k == 0 ? &own : &plain;
    if (one->legal && apart.legal) {
      ck_assert_msg(one->bound <= apart.makespan && apart.bound <= one->makespan,
                    "seed %llu: %llu to %llu, but %llu to %llu", (unsigned long long)seed,
                    (unsigned long long)one->bound, (unsigned long long)one->makespan,
                    (unsigned long long)apart.bound, (unsigned long long)apart.makespan);
    }
    ck_assert_msg(!(one->none && apart.legal) && !(apart.none && one->legal), "seed %llu",
                  (unsigned long long)seed);
  }
  *proven += own.legal && own.bound == own.makespan && apart.bound == apart.makespan;
  *shorter += own.legal && (!plain.legal || own.makespan < plain.makespan);
}

START_TEST(as_buffers_apart)
{
  uint32_t proven = 0, shorter = 0;
  for (uint64_t i = 0; i < 60; i++) {
    compare(fs_turn() << 16 | (uint64_t)_i << 8 | i, _i, FSCHED_REFINE_SEARCH, &proven, &shorter);
  }
  fs_assert_seen(proven, 40);
  fs_assert_seen(shorter, 2);
}
END_TEST

/* What proofs show holds of the other graph, and one that claims more is refused. */
START_TEST(proofs)
{
  uint32_t proven = 0, damaged = 0, more = 0;
  for (uint64_t i = 0; i < 40; i++) {
    uint64_t seed = fs_turn() << 16 | (uint64_t)_i << 8 | i, shown;
    fs_rng r = {seed};
    fs_text t;
    rest_case x;
    draw(&x, seed, _i % 2 == 1);
    x.store = _i / 2 % 2 == 1;
    x.counted = _i / 4 == 1;
    rest_result apart = solve(&x, true, FSCHED_REFINE_SEARCH);
    rest_result own = solve(&x, false, FSCHED_REFINE_SEARCH);
    fsched_diag_clear(ctx);
    if (!own.legal || !apart.legal || own.bound < own.makespan) {
      continue;
    }
    fsched_graph *g;
    fs_text_init(&t, ctx);
    put_graph(&t, &x, false);
    ck_fs(ctx, fsched_graph_parse(ctx, "t", t.at, t.n, NULL, &g));
    fs_written_proof p = fs_write_proof(g, 0, 4000);
    ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
    ck_assert_uint_eq(shown, p.bound);
    ck_assert_msg(shown <= apart.makespan, "seed %llu: %llu, but %llu", (unsigned long long)seed,
                  (unsigned long long)shown, (unsigned long long)apart.makespan);
    proven++;
    more += shown == own.makespan;
    damaged += shown == apart.makespan ? fs_claim_more(g, &p, &r, DAMAGES) : 0;
    fsched_text_free(ctx, p.text, p.n);
    fsched_graph_destroy(g);
    fs_text_drop(&t);
  }
  fs_assert_seen(proven, 15);
  fs_assert_seen(more, 12);
  fs_assert_seen(damaged, 15 * DAMAGES / 8);
}
END_TEST

/* The integer programs claim no more. */
START_TEST(by_programs)
{
  uint32_t proven = 0, shorter = 0;
  for (uint64_t i = 0; i < 20; i++) {
    compare(fs_turn() << 16 | (uint64_t)_i << 8 | i, _i, FSCHED_REFINE_ILP, &proven, &shorter);
  }
  fs_assert_seen(proven, 4);
}
END_TEST

/* B has read `a` when P needs its place, and D writes over all of it: in 14 ticks. */
START_TEST(place_for_another)
{
  static const char text[] =
      "fsched: 1\ntarget:\n  queues: [{name: q0}, {name: q1}]\n"
      "  memories: [{name: m, capacity: 100}, {name: ddr}]\nbuffers:\n"
      "  - {name: a, size: 60, memory: m}\n  - {name: b, size: 60, memory: m}\n"
      "  - {name: x, size: 8, memory: ddr, io: output}\n"
      "  - {name: y, size: 8, memory: ddr, io: output}\nops:\n"
      "  - {name: A, on: q0, time: 1, args: [{out: a}]}\n"
      "  - {name: B, on: q0, time: 1, args: [{in: a}, {out: x}]}\n"
      "  - {name: P, on: q1, time: 10, args: [{out: b}]}\n"
      "  - {name: W, on: q0, time: 10, after: [B], args: []}\n"
      "  - {name: D, on: q0, time: 1, after: [W], args: [{out_existing: a}]}\n"
      "  - {name: E, on: q0, time: 1, args: [{in: a}, {out: y}]}\n";
  static const fsched_refine refines[] = {FSCHED_REFINE_NONE, FSCHED_REFINE_SEARCH,
                                          FSCHED_REFINE_ILP};
  fsched_graph *g;
  fsched_schedule *found;
  fsched_compile_options o = {.size = sizeof o, .verify = 1, .refine = refines[_i]};
  ck_fs(ctx, fsched_graph_parse(ctx, "t", text, strlen(text), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &o, &found, NULL));
  ck_assert_uint_le(fsched_schedule_lower_bound(found), 14);
  ck_assert(refines[_i] != FSCHED_REFINE_SEARCH || fsched_schedule_makespan(found) == 14);
  fsched_schedule_destroy(found);
  fsched_graph_destroy(g);
}
END_TEST

/* What a state begins with is put in its place for each run, which may be another's before the end:
 * in a counted memory, too. */
START_TEST(first_of_state)
{
  static const char text[] =
      "fsched: 1\ntarget:\n  queues: [{name: q0}]\n  memories: [{name: m, capacity: 10%s}]\n"
      "buffers: [{name: s, size: 6, io: state}]\nops:\n"
      "  - {name: a, on: q0, time: 1, args: [{in: s}]}\n"
      "  - {name: b, on: q0, time: 1, after: [a], args: [{out: s}]}\n";
  fsched_graph *g;
  fsched_schedule *found;
  char graph[sizeof text + 32];
  fsched_program *p;
  fsched_compile_options o = {.size = sizeof o,
                              .verify = 1,
                              .refine = _i % 2 == 0 ? FSCHED_REFINE_NONE : FSCHED_REFINE_SEARCH};
  fsched_replay_options run = {.size = sizeof run, .check = 1, .repeat = 3};
  fsched_replay_result result = {.size = sizeof result};
  (void)snprintf(graph, sizeof graph, text, _i < 2 ? "" : ", placement: counted");
  ck_fs(ctx, fsched_graph_parse(ctx, "t", graph, strlen(graph), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &o, &found, &p));
  ck_assert_uint_eq(fsched_schedule_makespan(found), 2);
  ck_fs(ctx, fsched_verify_program(ctx, p, g));
  ck_fs(ctx, fsched_replay(ctx, p, &run, &result));
  fsched_program_destroy(p);
  fsched_schedule_destroy(found);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(search_rests, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_LOOPS(t, 0, 8, as_buffers_apart);
  FS_LOOPS(t, 0, 8, by_programs, proofs);
  FS_LOOPS(t, 0, 3, place_for_another);
  FS_LOOPS(t, 0, 4, first_of_state);
}
