/* SPDX-License-Identifier: Apache-2.0 */
/* The program verifier on random programs for machines with barriers or with stops: it finds a
 * deadlock exactly where the relation of pairs has a circle; it accepts programs as they are
 * compiled, as the judge does; and memory runs out at every allocation. */
#include <stdio.h>
#include <stdlib.h>
#include "kit/quick.h"

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/mutate/mutate.h"
#include "kit/oracle/oracle.h"
#include "model/graph.h"
#include "verify/resync_mutant.h"

#include "kit/context.h"

static bool deadlock(void) {
  bool found = false;
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    found = found || strcmp(fsched_diag_get(ctx, i)->code, "verify-deadlock") == 0;
  }
  return found;
}

/* --- deadlock is a circle --- */

typedef struct verify_circles_tally {
  uint32_t stuck, free;
} verify_circles_tally;

static void judge(fsched_program *copy, uint64_t seed, verify_circles_tally *t) {
  bool circle = fs_oracle_circle(&copy->view);
  fsched_diag_clear(ctx);
  fs_status status = fsched_verify_program(ctx, copy, NULL);
  ck_assert(status == FSCHED_OK || status == FSCHED_WRONG);
  if (deadlock() != circle) {
    ck_abort_msg("seed %llu: a circle: %d, but %s", (unsigned long long)seed, circle,
                 fs_first_message(ctx));
  }
  t->stuck += circle;
  t->free += !circle;
}

/* Stops out of order are not followed, and a barrier that nobody waits for is refused as such. */
static bool can_walk(const fs_stream *s) {
  bool ok = true;
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    ok = ok && s->barriers[b].n_consumers > 0;
  }
  for (uint32_t i = 0; i < s->n_stops; i++) {
    const fs_stream_stop *x = &s->stops[i];
    ok = ok && x->at < s->n_commands && (x->queue != FS_NONE || x->keep == 0) &&
         (i == 0 || x[-1].at < x->at || (x[-1].at == x->at && x[-1].queue + 1 < x->queue + 1));
  }
  return ok;
}

/* Mutates records so that each is valid, whatever the program then means. */
static void mutate_for_circles(const fsched_program *p, uint64_t seed, fs_rng *rng,
                               verify_circles_tally *t) {
  static const fs_program_mutation barrier[] = {FS_MUTATE_BARRIER_OTHER, FS_MUTATE_PHYSICAL,
                                                FS_MUTATE_BARRIER_OTHER, FS_MUTATE_PHYSICAL};
  static const fs_program_mutation block[] = {FS_MUTATE_STOP_AT, FS_MUTATE_KEEP, FS_MUTATE_STOP_AT,
                                              FS_MUTATE_DROP_STOP};
  bool stops = p->view.meta[0].sync == FS_SYNC_BLOCK;
  for (uint32_t i = 0; i < 12; i++) {
    fsched_program *copy = fs_mutant_copy(p);
    for (uint32_t k = 0; k <= i % 3; k++) {
      (void)fs_mutate_program(copy, (stops ? block : barrier)[fs_rng_below(rng, 4)], rng);
    }
    if (can_walk(&copy->view)) {
      judge(copy, seed, t);
    }
    fs_mutant_free(copy);
  }
}

static void circles(fs_sync_kind kind, verify_circles_tally *t) {
  for (uint64_t seed = 1; seed <= 250; seed++) {
    fs_gen_params params = fs_gen_any(seed, 14);
    params.n_queues = 3 + (uint32_t)(seed % 4);
    params.gangs = seed % 2 == 0 || kind == FS_SYNC_BLOCK;
    fsched_graph *g = NULL;
    fsched_program *p = NULL;
    ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
    if (fsched_compile(ctx, g, &fs_quick, NULL, &p) == FSCHED_OK && p->view.n_commands <= 64) {
      fsched_program *made = fs_resync_mutant(ctx, &p->view, kind, seed);
      fs_rng rng = {seed};
      judge(made, seed, t);
      ck_assert_msg(fsched_diag_errors(ctx) == 0, "seed %llu: %s", (unsigned long long)seed,
                    fs_first_message(ctx));
      mutate_for_circles(made, seed, &rng, t);
      fs_mutant_free(made);
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}

START_TEST(test_circles_of_barriers)
{
  verify_circles_tally t = {0};
  circles(FS_SYNC_BARRIER, &t);
  ck_assert_msg(t.stuck > 200 && t.free > 200, "%u stuck, %u not", t.stuck, t.free);
}
END_TEST

START_TEST(test_circles_of_stops)
{
  verify_circles_tally t = {0};
  circles(FS_SYNC_BLOCK, &t);
  ck_assert_msg(t.stuck > 20 && t.free > 200, "%u stuck, %u not", t.stuck, t.free);
}
END_TEST

/* --- programs as they are compiled --- */

/* Makes the target like the graph's own, with syncs of its own kind. */
static void set_target(fsched_graph *g, fs_sync_kind kind, fs_rng *rng) {
  g->target.sync = kind;
  g->target.barrier_count = kind == FS_SYNC_BARRIER ? FS_BARRIERS_AUTO : 0;
  g->target.barrier_slots = kind == FS_SYNC_BARRIER ? 1 + fs_rng_below(rng, 8) : 0;
  for (uint32_t q = 0; q < g->target.n_queues && kind == FS_SYNC_BLOCK; q++) {
    g->target.queue[q].counting = fs_rng_one_in(rng, 2);
  }
}

/* Returns 1 if there is such a program. */
static uint32_t compile_one(fsched_graph *g, fs_sync_kind kind, uint64_t seed, fs_rng *rng) {
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK};
  fsched_schedule *s = NULL;
  fsched_program *p = NULL;
  o.barriers = kind == FS_SYNC_BARRIER && seed % 3 != 0 ? 2 + fs_rng_below(rng, 7) : 0;
  fs_status status = fsched_compile(ctx, g, &o, &s, &p);
  if (status == FSCHED_OK) {
    fsched_diag_clear(ctx);
    fs_oracle_verdict verdict = fs_oracle_program(&p->view, 500);
    ck_assert_uint_eq(p->view.meta[0].sync, kind);
    if (fsched_verify_schedule(ctx, g, s) != FSCHED_OK ||
        fsched_verify_program(ctx, p, g) != FSCHED_OK ||
        (verdict != FS_ORACLE_RIGHT && verdict != FS_ORACLE_TOO_LARGE)) {
      ck_abort_msg("kind %d, seed %llu: %s, %s", (int)kind, (unsigned long long)seed,
                   fs_first_message(ctx), fs_oracle_name(verdict));
    }
  } else {
    ck_assert_msg(status == FSCHED_INFEASIBLE, "seed %llu: %s", (unsigned long long)seed,
                  fs_first_message(ctx));
  }
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  return status == FSCHED_OK;
}

static uint32_t compile_some(fs_sync_kind kind, uint64_t seeds) {
  uint32_t made = 0;
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    fs_gen_params params = fs_gen_any(seed, seed % 4 == 0 ? 100 : 12);
    params.n_queues = seed % 5 == 0 ? params.n_queues : 2 + (uint32_t)(seed % 6);
    fs_rng rng = {seed};
    fsched_graph *g = NULL;
    ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
    set_target(g, kind, &rng);
    made += compile_one(g, kind, seed, &rng);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  return made;
}

START_TEST(test_compiled_barriers)
{ ck_assert_uint_gt(compile_some(FS_SYNC_BARRIER, 200), 150); }
END_TEST

START_TEST(test_compiled_stops)
{ ck_assert_uint_gt(compile_some(FS_SYNC_BLOCK, 200), 190); }
END_TEST

/* --- out of memory --- */

START_TEST(test_out_of_memory)
{
  fs_budget f = {.left = 1 << 30};
  const fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &f};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  fs_gen_params params = fs_gen_any(3, 30);
  params.n_queues = 4;
  params.gangs = true;
  fsched_graph *g;
  fsched_program *p;
  ck_assert_int_eq(fs_gen_graph(own, &params, &g), FSCHED_OK);
  ck_assert_int_eq(fsched_compile(own, g, &fs_quick, NULL, &p), FSCHED_OK);
  ck_assert_uint_le(p->view.n_commands, 64);
  for (int kind = FS_SYNC_BARRIER; kind <= FS_SYNC_BLOCK; kind++) {
    fsched_program *made = fs_resync_mutant(own, &p->view, (fs_sync_kind)kind, 7);
    fs_status status = FSCHED_SYSTEM;
    for (long n = 0; status != FSCHED_OK; n++) {
      long before = f.held;
      f.left = n;
      status = fsched_verify_program(own, made, NULL);
      f.left = 1 << 30;
      ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
      ck_assert_int_eq(f.held, before);
      fsched_diag_clear(own);
    }
    fs_mutant_free(made);
  }
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_context_destroy(own);
  ck_assert_int_eq(f.held, 0);
}
END_TEST

FS_SUITE(verify_circles, s) {
  TCase *t = fs_case(s, fs_test_many_errors);
  FS_TESTS(t, test_circles_of_barriers, test_circles_of_stops, test_compiled_barriers,
           test_compiled_stops, test_out_of_memory);
}
