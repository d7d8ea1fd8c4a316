/* SPDX-License-Identifier: Apache-2.0 */
/* Odd graphs (gen.h) are compiled for every kind of sync.  The programs pass the compiler's own
 * verifier and a judge that tries all interleavings (oracle.h), and are replayed with planned and
 * hostile durations.
 *
 * The loop's number is the kind: timelines, 1 to N barriers, the least number of them, syncs; then
 * the same with raw hazards.  The judge does not know raw hazards; without races a replay is still
 * equal, and with some it is not compared. */
#include <stdlib.h>

#include "base/context.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/mutate/mutate.h"
#include "kit/oracle/oracle.h"
#include "model/handle.h"
#include "model/stream/stream.h"

#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 60 };
#else
enum { GRAPHS = 400 };
#endif
enum { TIMELINE, BOUNDED, AUTO, BLOCK, KINDS, MAX_STATES = 200000, MOST_BARRIERS = 8 };

typedef struct sync_random_tally {
  uint32_t programs, refused, judged, too_large, split, raced;
} sync_random_tally;

static void expect(bool right, uint64_t seed, int kind, const char *what) {
  if (!right) {
    ck_abort_msg("seed %llu, kind %d: %s: %s", (unsigned long long)seed, kind, what,
                 fs_test_diags(ctx));
  }
}

/* Counts updates of commands that fill more than one barrier. */
static uint32_t count_split(const fs_stream *s) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    n += s->commands[c].n_barrier_updates > 1;
  }
  return n;
}

/* Replays a program; where it has races, a comparison is refused. */
static fs_status replay(const fsched_program *p, const char *kind, fsched_durations durations,
                        uint64_t seed, uint32_t repeat) {
  fsched_device_options d = {.size = sizeof d, .kind = kind, .durations = durations, .seed = seed};
  fsched_device *device;
  FS_TRY(fsched_device_create(ctx, &d, &device));
  fsched_replay_options o = {
      .size = sizeof o, .repeat = repeat, .timeout_ms = 60000, .device = device};
  o.check = p->view.n_races == 0;
  fs_status status = fsched_replay(ctx, p, &o, NULL);
  fsched_device_release(device);
  return status;
}

static void judge(const fsched_program *p, uint64_t seed, int kind, sync_random_tally *t) {
  if (p->view.meta[0].hazards == FSCHED_HAZARDS_RAW) {
    return;
  }
  fs_oracle_verdict verdict = fs_oracle_program(&p->view, MAX_STATES);
  t->too_large += verdict == FS_ORACLE_TOO_LARGE;
  t->judged += verdict == FS_ORACLE_RIGHT;
  expect(verdict == FS_ORACLE_RIGHT || verdict == FS_ORACLE_TOO_LARGE, seed, kind,
         fs_oracle_name(verdict));
}

static void try_program(const fsched_graph *g, uint64_t seed, int kind, uint32_t barriers,
                        sync_random_tally *t) {
  fsched_compile_options o = {.size = sizeof o, .barriers = barriers};
  fsched_schedule *s;
  fsched_program *p;
  fs_status status = fsched_compile(ctx, g, &o, &s, &p);
  if (status == FSCHED_INFEASIBLE) {
    expect(kind != AUTO, seed, kind, "refused");
    t->refused++;
    fsched_diag_clear(ctx);
    return;
  }
  expect(status == FSCHED_OK, seed, kind, "compile");
  expect(fsched_verify_schedule(ctx, g, s) == FSCHED_OK, seed, kind, "verify the schedule");
  expect(fsched_verify_program(ctx, p, g) == FSCHED_OK, seed, kind, "verify");
  judge(p, seed, kind, t);
  expect(replay(p, "cpu", FSCHED_DURATIONS_PLANNED, seed, 2) == FSCHED_OK, seed, kind, "cpu");
  for (fsched_durations d = FSCHED_DURATIONS_PLANNED; d <= FSCHED_DURATIONS_ADVERSARIAL; d++) {
    expect(replay(p, "sim", d, seed, 4) == FSCHED_OK, seed, kind, "sim");
  }
  t->programs++;
  t->split += count_split(&p->view);
  t->raced += p->view.n_races > 0;
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
}

static void try_graph(const fs_gen_params *params, int kind, sync_random_tally *t) {
  fsched_graph *g;
  fs_rng r = {params->seed};
  expect(fs_gen_graph(ctx, params, &g) == FSCHED_OK, params->seed, kind, "generate");
  uint32_t bound = 1 + fs_rng_below(&r, MOST_BARRIERS);
  try_program(g, params->seed, kind,
              kind == BOUNDED ? bound
              : kind == AUTO  ? FSCHED_BARRIERS_AUTO
                              : 0,
              t);
  fsched_graph_destroy(g);
}

static sync_random_tally try_graphs(int kind, bool raw, uint32_t max_ops) {
  static const fsched_sync sync[] = {FSCHED_SYNC_TIMELINE, FSCHED_SYNC_BARRIER, FSCHED_SYNC_BARRIER,
                                     FSCHED_SYNC_BLOCK};
  sync_random_tally t = {0};
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    fs_gen_params p = fs_gen_odd(seed, max_ops);
    p.sync = sync[kind];
    p.raw = raw;
    p.latencies = seed % 2 == 0;
    p.latencies = seed % 2 == 0 && p.sync != FSCHED_SYNC_BARRIER;
    try_graph(&p, kind, &t);
  }
  return t;
}

START_TEST(small_odd_graphs)
{
  int kind = _i % KINDS;
  bool raw = _i >= KINDS;
  sync_random_tally t = try_graphs(kind, raw, 6);
  ck_assert_uint_gt(t.programs, GRAPHS / 2);
  ck_assert(raw || t.judged > t.programs / 2);
  ck_assert(t.split > 0 || kind == TIMELINE || kind == BLOCK);
}
END_TEST

START_TEST(odd_graphs)
{
  int kind = _i % KINDS;
  bool raw = _i >= KINDS;
  sync_random_tally t = try_graphs(kind, raw, 40);
  ck_assert_uint_gt(t.programs, GRAPHS / 2);
  ck_assert(t.split > GRAPHS / 4 || kind == TIMELINE || kind == BLOCK);
  ck_assert(raw == (t.raced > 0) && t.raced < t.programs);
}
END_TEST

/* --- units of a counted memory --- */

static void drop_wait(fsched_program *p, uint32_t command) {
  fs_stream_command *c = (fs_stream_command *)(uintptr_t)p->view.commands;
  fs_stream_wait *w = (fs_stream_wait *)(uintptr_t)p->view.waits;
  uint32_t at = c[command].wait0;
  memmove(w + at, w + at + 1, (p->view.n_waits - at - 1) * sizeof *w);
  for (uint32_t i = 0; i < p->view.n_commands; i++) {
    c[i].wait0 -= c[i].wait0 > at;
  }
  c[command].n_waits--;
  p->view.n_waits--;
}

static bool said(const char *code) {
  bool found = false;
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    found = found || strcmp(fsched_diag_get(ctx, i)->code, code) == 0;
  }
  return found;
}

/* Two ops that write different bytes of a version take all of its units: without the wait between
 * them the verifier refuses, and so does the judge. */
START_TEST(units_are_ordered)
{
  static const char text[] =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: p}, {name: q}]\n"
      "  memories: [{name: m, capacity: 16, placement: counted}]\n"
      "buffers: [{name: x, size: 8, memory: m}]\n"
      "ops:\n"
      "  - {name: a, on: p, args: [{out_existing: x, at: [0, 4]}]}\n"
      "  - {name: b, on: q, args: [{out_existing: x, at: [4, 4]}]}\n"
      "  - {name: c, on: q, args: [{in: x, at: [4, 4]}]}\n"
      "  - {name: d, on: p, args: [{in: x, at: [0, 4]}]}\n";
  fsched_program *p;
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  ck_fs(ctx, fsched_verify_program(ctx, p, g));
  /* b waits for a, and d for b; nothing waits for c, which reads. */
  ck_assert_uint_eq(p->view.n_waits, 2);
  for (uint32_t c = 0; c < p->view.n_commands; c++) {
    if (p->view.commands[c].n_waits > 0) {
      fsched_program *copy = fs_mutant_copy(p);
      drop_wait(copy, c);
      fs_mutant_repair(copy);
      ck_assert_int_eq(fsched_verify_program(ctx, copy, g), FSCHED_WRONG);
      ck_assert(said("verify-conflict") && said("verify-edge"));
      ck_assert_int_eq(fs_oracle_program(&copy->view, MAX_STATES), FS_ORACLE_CONFLICT);
      fsched_diag_clear(ctx);
      fs_mutant_free(copy);
    }
  }
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* --- content that is overwritten first --- */

#define STATE_TARGET                                                                            \
  "fsched: 1\n"                                                                                 \
  "target:\n"                                                                                   \
  "  queues: [{name: p}, {name: q}, {name: dma, class: copy}]\n"                                \
  "  memories:\n"                                                                               \
  "    - {name: m, capacity: 16, backing: ddr, spill: {on: copy, write: {fixed: 5, rate: 0},\n" \
  "       read: {fixed: 5, rate: 0}}}\n"                                                        \
  "    - {name: ddr}\n"

/* Checks makespan, lower bound and loads of the text's programs with each kind of sync. */
static void expect_loads(const char *text, uint64_t makespan, uint32_t loads) {
  for (int kind = TIMELINE; kind < KINDS; kind++) {
    fsched_schedule *s;
    fsched_program *p;
    fsched_graph *g = fs_parse(text);
    g->target.sync = kind == BLOCK ? FS_SYNC_BLOCK : FS_SYNC_TIMELINE;
    fsched_compile_options o = {.size = sizeof o, .verify = 1};
    o.barriers = kind == BOUNDED ? 2 : kind == AUTO ? FSCHED_BARRIERS_AUTO : 0;
    ck_fs(ctx, fsched_compile(ctx, g, &o, &s, &p));
    uint32_t reads = 0;
    for (uint32_t c = 0; c < s->schedule->n_copies; c++) {
      reads += s->schedule->copy_kind[c] == FS_SPILL_READ;
    }
    ck_assert_uint_eq(reads, loads);
    ck_assert_uint_eq(s->schedule->makespan, makespan);
    ck_assert_uint_eq(s->schedule->lower_bound, makespan);
    ck_assert_int_eq(fs_oracle_program(&p->view, MAX_STATES), FS_ORACLE_RIGHT);
    ck_fs(ctx, replay(p, "cpu", FSCHED_DURATIONS_PLANNED, 1, 3)); /* state is passed on */
    fsched_program_destroy(p);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
}

START_TEST(overwritten_is_not_loaded)
{
  expect_loads(STATE_TARGET
               "buffers: [{name: x, size: 8, memory: m, io: state}]\n"
               "ops: [{name: a, on: p, time: 3, args: [{out_existing: x}]}]\n",
               8, 0);
  expect_loads(STATE_TARGET
               "buffers: [{name: x, size: 8, memory: m, io: state}]\n"
               "ops: [{name: a, on: p, time: 3, args: [{out_existing: x, at: [0, 8]}]}]\n",
               8, 0);
  expect_loads(STATE_TARGET
               "buffers: [{name: x, size: 8, memory: m, io: input}]\n"
               "ops:\n"
               "  - {name: a, on: p, time: 3, args: [{out_existing: x}]}\n"
               "  - {name: b, on: q, time: 2, args: [{in: x}]}\n",
               5, 0);
  expect_loads(STATE_TARGET
               "buffers: [{name: x, size: 8, memory: m, io: state}]\n"
               "ops: [{name: a, on: p, time: 3, args: [{out: x}]}]\n",
               8, 0);
}
END_TEST

/* Part of the content is not overwritten, or the same op reads it. */
START_TEST(what_is_read_is_loaded)
{
  expect_loads(STATE_TARGET
               "buffers: [{name: x, size: 8, memory: m, io: state}]\n"
               "ops: [{name: a, on: p, time: 3, args: [{out_existing: x, at: [0, 7]}]}]\n",
               13, 1);
  expect_loads(STATE_TARGET
               "buffers: [{name: x, size: 8, memory: m, io: state}]\n"
               "ops: [{name: a, on: p, time: 3, args: [{inout: x}]}]\n",
               13, 1);
  expect_loads(STATE_TARGET
               "buffers: [{name: x, size: 8, memory: m, io: state}]\n"
               "ops:\n"
               "  - {name: a, on: p, time: 1, args: [{in: x, at: [0, 1]}]}\n"
               "  - {name: b, on: p, time: 2, args: [{out_existing: x}]}\n",
               13, 1);
}
END_TEST

FS_SUITE(sync_random, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_LOOPS(t, 0, 2 * KINDS, small_odd_graphs, odd_graphs);
  FS_TESTS(t, units_are_ordered, overwritten_is_not_loaded, what_is_read_is_loaded);
}
