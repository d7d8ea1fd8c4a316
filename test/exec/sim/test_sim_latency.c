/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that are complete later than their queues go on.
 *
 * Random graphs with such ops are compiled for each kind of sync, verified and run with planned,
 * random and adversarial durations: every digest and every output must be that of the sequential
 * evaluation, and no command may begin later than planned when all take their planned times.  A
 * stream that lacks a wait, be it one for the command's own axis, or a sync, must go wrong if the
 * verifier says that it was needed. */
#include "exec/sim/sim_kit.h"
#include "fsched/verify.h"
#include "kit/mutate/mutate.h"
#include "kit/quick.h"
#include "kit/resync.h"
#include "kit/suite.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 40, INVOCATIONS = 3, STREAMS = 6 };
#else
enum { GRAPHS = 160, INVOCATIONS = 4, STREAMS = 16 };
#endif
/* This is in percent of the streams that lack a wait. */
enum { LEAST_CAUGHT = 97 };

static fs_conformance sim;
static conf c;

static fsched_program *compile(const fs_gen_params *params) {
  fsched_graph *g;
  fsched_program *p;
  fsched_compile_options o = fs_quick;
  o.verify = 1;
  o.barriers = params->sync == FSCHED_SYNC_BARRIER ? FSCHED_BARRIERS_AUTO : 0;
  conf_ok(&c, fs_gen_graph(c.ctx, params, &g), "generate");
  ck_assert_msg(fsched_compile(c.ctx, g, &o, NULL, &p) == FSCHED_OK, "seed %llu: %s",
                (unsigned long long)params->seed,
                fsched_diag_count(c.ctx) == 0 ? "" : fsched_diag_get(c.ctx, 0)->message);
  fsched_graph_destroy(g);
  return p;
}

static fs_gen_params any(uint64_t seed, fsched_sync sync) {
  fs_gen_params p = seed % 3 == 0 ? fs_gen_odd(seed, 40) : fs_gen_any(seed, 40);
  p.members = p.gangs;
  p.sync = sync;
  p.counting = sync == FSCHED_SYNC_BLOCK && seed % 2 == 0;
  p.latencies = true;
  return p;
}

static uint32_t own_waits(const fs_stream *s) {
  uint32_t n = 0;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      const fs_stream_command *k = &s->commands[s->queues[q].command0 + i];
      for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
        n += s->waits[w].axis == q;
      }
    }
  }
  return n;
}

/* With planned durations each command begins when it is planned to, or before. */
static void check_plan(const rig *r) {
  const fs_stream *s = r->s;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    ck_assert_uint_le(r->record.begin[i], s->commands[i].start * 1000);
    ck_assert_uint_le(r->record.end[i], s->commands[i].end * 1000);
  }
}

enum { DURATIONS = FSCHED_DURATIONS_ADVERSARIAL + 1 };
static const fsched_sync kinds[] = {FSCHED_SYNC_TIMELINE, FSCHED_SYNC_BARRIER, FSCHED_SYNC_BLOCK};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The loop's number is the kind of durations and the kind of sync. */
START_TEST(right_for_all_durations)
{
  uint32_t waits = 0;
  fsched_durations durations = (fsched_durations)(_i % DURATIONS);
  fsched_sync sync = kinds[_i / DURATIONS];
  sim_open(&c, &sim, durations, (uint64_t)_i);
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    rig r;
    fs_gen_params params = any(seed, sync);
    fsched_program *p = compile(&params);
    waits += own_waits(&p->view);
    rig_open(&r, &c, &p->view, (rig_options){.timed = true});
    for (uint32_t k = 0; k < (durations == FSCHED_DURATIONS_PLANNED ? 1 : INVOCATIONS); k++) {
      rig_run(&r, k);
    }
    if (durations == FSCHED_DURATIONS_PLANNED) {
      check_plan(&r);
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
  conf_close(&c);
  ck_assert(sync != FSCHED_SYNC_TIMELINE || waits > GRAPHS); /* for commands of the same queue */
}
END_TEST

/* ---- plans */

static uint64_t lower_bound; /* of the last graph */

/* The bound of a queue counts its times, and the end of the last latency; it is met here. */
static const char three_loads[] =
    "fsched: 1\ntarget: {queues: [{name: a}]}\nops:\n"
    " - {name: l, time: 1, latency: 9}\n - {name: m, time: 1, latency: 9}\n"
    " - {name: n, time: 1, latency: 9}\n";

/* Compiles a graph, of which all is verified, and returns the planned start of the op. */
static uint64_t start_of(const char *text, const char *name) {
  fsched_graph *g;
  fsched_program *p;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  conf_ok(&c, fsched_graph_parse(c.ctx, "graph", text, strlen(text), NULL, &g), "read");
  conf_ok(&c, fsched_compile(c.ctx, g, &o, NULL, &p), "compile");
  uint64_t start = UINT64_MAX;
  lower_bound = p->view.meta->lower_bound;
  for (uint32_t i = 0; i < p->view.n_commands; i++) {
    const fs_stream_command *k = &p->view.commands[i];
    bool it = strcmp(fs_command_target_name(&p->view, k), name) == 0;
    start = it && fs_command_has_op(k) ? k->start : start;
  }
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  return start;
}

static const char four_queues[] =
    "fsched: 1\ntarget:\n  queues: [{name: a}, {name: b}, {name: c}]\n"
    "  resources: [{name: r, capacity: 2}]\nops:\n";

static uint64_t start_in(const char *ops, const char *name) {
  char text[2048];
  (void)snprintf(text, sizeof text, "%s%s", four_queues, ops);
  return start_of(text, name);
}

START_TEST(plans_count_what_is_held_back)
{
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  (void)start_of(three_loads, "l");
  ck_assert_uint_eq(lower_bound, 11);
  /* A reader on the same queue waits for the latency, what comes between goes on. */
  ck_assert_uint_eq(
      start_in(" - {name: load, on: a, time: 1, latency: 9, args: [{out: x, size: 1}]}\n"
               " - {name: other, on: a, time: 2}\n"
               " - {name: read, on: a, args: [{in: x}]}\n",
               "read"),
      9);
  /* Quick ops of the queue go on behind a slow one, as queue order tells their ends there. */
  ck_assert_uint_eq(start_in(" - {name: load, on: a, time: 1, latency: 90, start: 0}\n"
                             " - {name: first, on: a, time: 2, args: [{out: x, size: 1}]}\n"
                             " - {name: second, on: a, args: [{in: x}, {out: y, size: 1}]}\n"
                             " - {name: third, on: a, args: [{in: y}]}\n",
                             "third"),
                    4);
  /* A quick op behind a slow one is over for other queues when the slow one is. */
  ck_assert_uint_eq(start_in(" - {name: load, on: a, time: 1, latency: 9, start: 0}\n"
                             " - {name: quick, on: a, start: 1, args: [{out: x, size: 1}]}\n"
                             " - {name: next, on: b, args: [{in: x}]}\n",
                             "next"),
                    9);
  /* The unit of `held` is not free before the slow op ahead of it ends: `user` takes that of
   * `short`, though it is free later by the ends alone. */
  ck_assert_uint_eq(start_in(" - {name: load, on: a, time: 1, latency: 20}\n"
                             " - {name: held, on: a, time: 1, after: [gate], uses: {r: 1}}\n"
                             " - {name: gate, on: b, time: 1}\n"
                             " - {name: short, on: b, time: 3, after: [gate], uses: {r: 1}}\n"
                             " - {name: wait, on: c, time: 4}\n"
                             " - {name: user, on: c, after: [wait], uses: {r: 1}}\n",
                             "user"),
                    4);
  conf_close(&c);
}
END_TEST

static const char with_barriers[] =
    "fsched: 1\ntarget:\n  queues: [{name: a}, {name: b}, {name: c}]\n"
    "  resources: [{name: r, capacity: 1}]\n  sync: barrier\n"
    "  barriers: {count: 8, slots: 4}\nops:\n";

/* Barriers tell of an end behind a slow op that still runs, so it is not held back: what follows
 * it, or takes the unit that it had, is planned so, and runs so. */
START_TEST(barriers_hold_no_end_back)
{
  static const char *const ops[] = {
      " - {name: load, on: a, time: 1, latency: 9}\n"
      " - {name: quick, on: a, args: [{out: x, size: 1}]}\n"
      " - {name: next, on: b, args: [{in: x}]}\n",
      " - {name: load, on: a, time: 1, latency: 9}\n"
      " - {name: quick, on: a, uses: {r: 1}, args: [{out: x, size: 1}]}\n"
      " - {name: next, on: b, uses: {r: 1}}\n"
      " - {name: first, on: b, after: [next]}\n"};
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  for (uint32_t i = 0; i < 2; i++) {
    char text[2048];
    (void)snprintf(text, sizeof text, "%s%s", with_barriers, ops[i]);
    ck_assert_uint_le(start_of(text, "next"), 2);
    ck_assert_uint_eq(lower_bound, 9);
  }
  conf_close(&c);
}
END_TEST

/* ---- streams that lack a wait */

START_TEST(missing_waits_are_found)
{
  sim_counts n = {0};
  uint32_t own = 0;
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, 0);
  for (uint64_t seed = 1; seed <= STREAMS; seed++) {
    fs_gen_params params = sim_params(seed);
    params.gangs = seed % 3 == 0;
    params.latencies = true;
    fsched_program *p = compile(&params);
    uint32_t invocations = 4 * p->view.n_commands;
    bool by_guard;
    if (p->view.n_commands <= 64) {
      ck_assert(!sim_goes_wrong(&c, p, invocations, &by_guard));
      n.dropped += p->view.n_waits;
      for (uint32_t w = 0; w < p->view.n_waits; w++) {
        uint32_t before = own_waits(&p->view);
        fsched_program *mutant = sim_drop_wait(p, w);
        bool is_own = own_waits(&mutant->view) < before;
        own += is_own;
        /* Each wait is needed, since the verifier finds none that the others give. */
        ck_assert(fsched_verify_program(c.ctx, mutant, NULL) == FSCHED_WRONG);
        fsched_diag_clear(c.ctx);
        sim_judge(&c, mutant, invocations, &n);
        fs_mutant_free(mutant);
      }
    }
    fsched_program_destroy(p);
  }
  conf_close(&c);
  ck_assert_uint_gt(own, STREAMS / 2);
  sim_check_counts(&n, 4 * STREAMS, LEAST_CAUGHT);
}
END_TEST

/* Of each program, each wait for a barrier, or each sync, is taken away in turn. */
START_TEST(missing_syncs_are_found)
{
  sim_counts n = {0};
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, 0);
  for (uint64_t seed = 1; seed <= STREAMS; seed++) {
    fs_gen_params params = sim_params(seed);
    params.gangs = seed % 3 == 0;
    params.latencies = true;
    params.sync = kinds[_i];
    params.counting = params.sync == FSCHED_SYNC_BLOCK && seed % 2 == 0;
    fsched_program *p = compile(&params);
    uint32_t invocations = 4 * p->view.n_commands;
    bool by_guard;
    if (p->view.n_commands <= 64) {
      ck_assert(!sim_goes_wrong(&c, p, invocations, &by_guard));
      uint32_t all = p->view.n_stops + p->view.n_barrier_waits;
      n.dropped += all;
      for (uint32_t i = 0; i < all; i++) {
        fsched_program *mutant = fs_resync_drop(c.ctx, &p->view, i);
        sim_judge(&c, mutant, invocations, &n);
        fsched_program_destroy(mutant);
      }
    }
    fsched_program_destroy(p);
  }
  conf_close(&c);
  sim_check_counts(&n, 2 * STREAMS, LEAST_CAUGHT);
}
END_TEST

/* ---- one queue, where queue order says nothing of the end of a load */

/* A reader on the queue of a slow op is behind a sync for it: without that one it reads too early,
 * which the verifier refuses. */
START_TEST(readers_of_the_same_queue_are_held_back)
{
  static const char head[] = "fsched: 1\ntarget: {sync: ",
                    text[] =
                        ", queues: [{name: a}]}\nops:\n"
                        " - {name: load, on: a, time: 1, latency: 9, args: [{out: x, size: 8}]}\n"
                        " - {name: other, on: a, time: 2}\n"
                        " - {name: read, on: a, args: [{in: x}, {out: y, size: 8}]}\n";
  char all[512];
  (void)snprintf(all, sizeof all, "%s%s%s", head,
                 kinds[_i] == FSCHED_SYNC_BLOCK ? "block" : "barrier", text);
  fsched_graph *g;
  fsched_program *p;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  o.barriers = kinds[_i] == FSCHED_SYNC_BARRIER ? 2 : 0;
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, 0);
  conf_ok(&c, fsched_graph_parse(c.ctx, "graph", all, strlen(all), NULL, &g), "read");
  conf_ok(&c, fsched_compile(c.ctx, g, &o, NULL, &p), "compile");
  bool by_guard;
  ck_assert_uint_eq(p->view.commands[2].start, 9);
  ck_assert(!sim_goes_wrong(&c, p, 20, &by_guard));
  fsched_program *mutant = fs_resync_drop(c.ctx, &p->view, 0);
  ck_assert_int_eq(fsched_verify_program(c.ctx, mutant, NULL), FSCHED_WRONG);
  ck_assert(sim_goes_wrong(&c, mutant, 20, &by_guard));
  fsched_program_destroy(mutant);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_diag_clear(c.ctx);
  conf_close(&c);
}
END_TEST

/* Two slow readers of one queue are over in any order, so whoever takes the places of what they
 * read waits for a barrier of both: of one buffer, or of one each. */
START_TEST(all_slow_readers_are_waited_for)
{
  static const char head[] =
      "fsched: 1\ntarget: {sync: barrier, barriers: {count: 8}, queues: [{name: a}, {name: b}],\n"
      "  memories: [{name: m, capacity: 8}, {name: d}]}\nops:\n";
  static const char *const reads[] = {
      " - {name: w, on: a, args: [{out: x, size: 8, memory: m}]}\n"
      " - {name: r1, on: a, time: 1, latency: 9, args: [{in: x}, {out: p, size: 1, memory: d}]}\n"
      " - {name: r2, on: a, time: 1, latency: 3, args: [{in: x}, {out: q, size: 1, memory: d}]}\n",
      " - {name: w, on: a, args: [{out: x, size: 4, memory: m}, {out: z, size: 4, memory: m}]}\n"
      " - {name: r1, on: a, time: 1, latency: 9, args: [{in: x}, {out: p, size: 1, memory: d}]}\n"
      " - {name: r2, on: a, time: 1, latency: 3, args: [{in: z}, {out: q, size: 1, memory: d}]}\n"};
  char text[1024];
  bool by_guard;
  fsched_graph *g;
  fsched_program *p;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  (void)snprintf(text, sizeof text,
                 "%s%s - {name: v, on: b, args: [{out: y, size: 8, memory: m}]}\n", head,
                 reads[_i]);
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, 0);
  conf_ok(&c, fsched_graph_parse(c.ctx, "graph", text, strlen(text), NULL, &g), "read");
  conf_ok(&c, fsched_compile(c.ctx, g, &o, NULL, &p), "compile");
  ck_assert_uint_eq(p->view.n_barrier_updates, 2);
  ck_assert(!sim_goes_wrong(&c, p, 20, &by_guard));
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  conf_close(&c);
}
END_TEST

/* Given content holds all of its bytes until its last reader is over, also where that is slow and a
 * quick one of the same bytes follows it on the queue. */
START_TEST(given_content_is_held)
{
  static const char text[] =
      "fsched: 1\ntarget: {queues: [{name: a}], memories: [{name: m, capacity: 8}, {name: d}]}\n"
      "buffers: [{name: x, size: 8, memory: m, io: input}]\nops:\n"
      " - {name: slow, latency: 9, args: [{in: x, at: [0, 4]}, {out: p, size: 1, memory: d}]}\n"
      " - {name: quick, args: [{in: x, at: [0, 4]}, {out: q, size: 1, memory: d}]}\n"
      " - {name: c, after: [quick], args: [{out: y, size: 4, memory: m}]}\n"
      " - {name: e, after: [quick], args: [{out: z, size: 4, memory: m}]}\n";
  fsched_graph *g;
  fsched_program *p;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  conf_ok(&c, fsched_graph_parse(c.ctx, "graph", text, sizeof text - 1, NULL, &g), "read");
  conf_ok(&c, fsched_compile(c.ctx, g, &o, NULL, &p), "compile");
  ck_assert_uint_eq(p->view.n_waits, 1);
  ck_assert_uint_eq(own_waits(&p->view), 1);
  fsched_program *mutant = sim_drop_wait(p, 0);
  ck_assert_int_eq(fsched_verify_program(c.ctx, mutant, NULL), FSCHED_WRONG);
  bool held = false;
  for (uint32_t i = 0; i < fsched_diag_count(c.ctx); i++) {
    held = held || strstr(fsched_diag_get(c.ctx, i)->message, "share the place of given") != NULL;
  }
  ck_assert(held);
  fs_mutant_free(mutant);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_diag_clear(c.ctx);
  conf_close(&c);
}
END_TEST

FS_SUITE(sim_latency, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 60);
  FS_LOOPS(t, 0, DURATIONS * KINDS, right_for_all_durations);
  FS_LOOPS(t, 0, 2, all_slow_readers_are_waited_for);
  FS_LOOPS(t, 1, KINDS, missing_syncs_are_found, readers_of_the_same_queue_are_held_back);
  FS_TESTS(t, given_content_is_held, plans_count_what_is_held_back, barriers_hold_no_end_back,
           missing_waits_are_found);
}
