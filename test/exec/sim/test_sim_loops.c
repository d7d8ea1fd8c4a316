/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops in virtual time.
 *
 * With planned durations the simulation is never later than the plan.  A stream whose loop waits
 * for less than it has to goes wrong for some durations, and a replay shows it: nothing else holds
 * the simulation back than what the stream says. */
#include <stdlib.h>

#include "exec/sim/sim_kit.h"
#include "fsched/verify.h"
#include "kit/mutate/mutate.h"
#include "kit/nest_gen.h"
#include "kit/quick.h"
#include "kit/turn.h"

#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 30, INVOCATIONS = 60 };
#else
enum { GRAPHS = 150, INVOCATIONS = 60 };
#endif
/* This is in percent of the streams that wait for less than they have to, with waits and with
 * syncs: there the verifier also wants what a loop is too short for. */
static const uint32_t least_caught[] = {85, 85, 40, 40, 75};

static fs_conformance sim;
static conf c;

/* NULL: the graph is not one that compiles with its loops. */
static fsched_program *compile(const char *text) {
  fsched_read_options o = {.size = sizeof o};
  fsched_graph *g;
  fsched_program *p = NULL;
  if (fsched_graph_parse(c.ctx, "loop", text, strlen(text), &o, &g) == FSCHED_OK) {
    if (fsched_compile(c.ctx, g, &fs_quick, NULL, &p) != FSCHED_OK) {
      p = NULL;
    }
    fsched_graph_destroy(g);
  }
  fsched_diag_clear(c.ctx);
  return p;
}

typedef void (*generator)(uint64_t seed, fs_text *t);
static const generator generators[] = {
    fs_loop_gen,        fs_nest_gen,          fs_loop_gen_syncs,   fs_nest_gen_syncs,
    fs_nest_gen_joined, fs_loop_gen_barriers, fs_nest_gen_barriers};
enum { GENERATORS = sizeof generators / sizeof *generators };

/* Leaves out of the text what begins so, up to the bracket that closes it. */
static void leave_out(char *text, const char *begin, char bracket) {
  for (char *at = strstr(text, begin); at != NULL; at = strstr(at, begin)) {
    char *end = strchr(at, bracket);
    ck_assert_ptr_nonnull(end);
    memmove(at, end + 1, strlen(end + 1) + 1);
  }
}

/* `bytes`: whatever orders ops shows in bytes. */
static fsched_program *compile_random(int kind, uint64_t seed, bool bytes) {
  fs_text t;
  fs_text_init(&t, ctx);
  generators[kind](seed, &t);
  fs_text_add(&t, "", 1);
  ck_assert(!t.failed);
  if (bytes) {
    leave_out(t.at, ", after: [", ']');
    leave_out(t.at, ", uses: {", '}');
  }
  fsched_program *p = compile(t.at);
  fs_text_drop(&t);
  if (p != NULL && p->view.n_loops == 0) {
    fsched_program_destroy(p);
    p = NULL;
  }
  return p;
}

START_TEST(never_later_than_planned)
{
  uint32_t n = 0;
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = fs_turn() * GRAPHS + k;
    fsched_program *p = compile_random(_i, seed, false);
    if (p == NULL) {
      continue;
    }
    rig r;
    rig_open(&r, &c, &p->view, (rig_options){.timed = true});
    rig_run(&r, seed);
    for (uint32_t i = 0; i < p->view.n_commands; i++) {
      ck_assert_msg(r.record.begin[i] <= p->view.commands[i].start * 1000 &&
                        r.record.end[i] <= p->view.commands[i].end * 1000,
                    "seed %llu: command %u in [%llu, %llu), planned in [%llu, %llu)",
                    (unsigned long long)seed, i, (unsigned long long)r.record.begin[i] / 1000,
                    (unsigned long long)r.record.end[i] / 1000,
                    (unsigned long long)p->view.commands[i].start,
                    (unsigned long long)p->view.commands[i].end);
    }
    rig_close(&r);
    fsched_program_destroy(p);
    n++;
  }
  conf_close(&c);
  fs_assert_seen(n, GRAPHS / 4);
}
END_TEST

/* One change by which the loops wait for less; whether there was one. */
static bool weaken(fsched_program *p, fs_rng *rng) {
  fs_stream *s = &p->view;
  if (fs_sync_has_stops(s->meta->sync)) {
    fs_stream_stop *stops = (fs_stream_stop *)(uintptr_t)s->loop_stops;
    uint32_t i = s->n_loop_stops == 0 ? 0 : fs_rng_below(rng, s->n_loop_stops);
    if (s->n_loop_stops == 0 || stops[i].queue == FS_NONE) {
      return false;
    }
    stops[i].keep++;
    return true;
  }
  if (s->n_loop_waits == 0) {
    return false;
  }
  fs_stream_loop_wait *w =
      (fs_stream_loop_wait *)(uintptr_t)&s->loop_waits[fs_rng_below(rng, s->n_loop_waits)];
  for (uint32_t i = 0; i < s->n_loops; i++) {
    const fs_stream_loop_queue *q = &s->loop_queues[s->loops[i].queue0];
    if (q->command0 <= w->command) {
      w->distance += s->loops[i].copies; /* that of the last one which begins before it */
    }
  }
  return true;
}

START_TEST(weaker_waits_are_caught)
{
  sim_counts n = {0};
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, fs_turn());
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() + 500) * GRAPHS + k;
    fs_rng rng = {seed};
    fsched_program *p = compile_random(_i, seed, true);
    for (uint32_t i = 0; i < 3 && p != NULL; i++) {
      fsched_program *q = fs_mutant_copy(p);
      if (weaken(q, &rng)) {
        fs_mutant_repair(q);
        n.dropped++;
        sim_judge(&c, q, INVOCATIONS, &n);
      }
      fs_mutant_free(q);
    }
    fsched_program_destroy(p);
  }
  conf_close(&c);
  sim_check_counts(&n, GRAPHS / 15, least_caught[_i]);
}
END_TEST

/* Two loops on the same two queues, which share no bytes, and an op of each queue behind them. */
static const char one_behind_the_other[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}], memories: [{name: m}]}\n"
    "ops:\n"
    "- loop: first\n"
    "  trip: 3\n"
    "  buffers: {a: {depth: 3}}\n"
    "  ops:\n"
    "  - {name: load, on: p, time: 4, args: [{out: a, size: 8}]}\n"
    "  - {name: use, on: q, time: 4, args: [{in: a}, {out_existing: x, size: 8}]}\n"
    "- loop: second\n"
    "  trip: 3\n"
    "  buffers: {b: {depth: 3}}\n"
    "  ops:\n"
    "  - {name: get, on: p, time: 4, args: [{out: b, size: 8}]}\n"
    "  - {name: put, on: q, time: 4, args: [{in: b}, {out_existing: y, size: 8}]}\n"
    "- {name: last_p, on: p, time: 1, args: [{out: s, size: 8}]}\n"
    "- {name: last_q, on: q, time: 1, after: [second], args: [{out: t, size: 8}]}\n";

/* No queue waits for the other at the begin or end of a loop: p needs 12 ticks for each loop, and q
 * is 4 behind it.  It is planned so. */
START_TEST(queues_enter_and_leave_on_their_own)
{
  static const uint64_t begin[2][3] = {{0, 12, 24}, {0, 16, 28}};
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  fsched_program *p = compile(one_behind_the_other);
  const fs_stream *s = &p->view;
  ck_assert_uint_eq(s->n_loops, 2);
  rig r;
  rig_open(&r, &c, s, (rig_options){.timed = true});
  rig_run(&r, 1);
  for (uint32_t q = 0; q < 2; q++) {
    ck_assert_uint_eq(s->queues[q].n_commands, 3);
    for (uint32_t i = 0; i < 3; i++) {
      uint32_t at = s->queues[q].command0 + i;
      ck_assert_uint_eq(r.record.begin[at], begin[q][i] * 1000);
      ck_assert_uint_eq(s->commands[at].start, begin[q][i] + (at == s->queues[1].command0 ? 4 : 0));
    }
  }
  ck_assert_uint_eq(r.record.end[s->n_commands - 1], 29000);
  rig_close(&r);
  fsched_program_destroy(p);
  conf_close(&c);
}
END_TEST

/* An op that is complete long after its queue goes on, and its reader, on one queue.  `trip` 0: no
 * loop. */
static fsched_program *compile_slow(uint64_t trip, uint64_t depth) {
  char text[1024];
  static const char body[] =
      "- {name: load, on: q, time: 1, latency: 9, args: [{in: x, at: {length: 64}}, "
      "{out: a, size: 64}]}\n";
  static const char stepping[] =
      "  - {name: load, on: q, time: 1, latency: 9, args: [{in: x, at: {length: 64, step: 64}}, "
      "{out: a, size: 64}]}\n"
      "  - {name: use, on: q, time: 2, args: [{in: a}, {out_existing: y, at: {length: 64, step: "
      "64}}]}\n";
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget: {queues: [{name: q}], memories: [{name: m}]}\n"
                 "buffers:\n- {name: x, size: 4096, io: input}\n"
                 "- {name: y, size: 4096, io: output}\n"
                 "ops:\n- {name: init, on: q, args: [{out: y}]}\n"
                 "%s%s",
                 trip == 0 ? body : "- loop: l\n",
                 trip == 0 ? "- {name: use, on: q, time: 2, args: [{in: a}, {out_existing: y, at: "
                             "{length: 64}}]}\n"
                           : "");
  if (trip > 0) {
    size_t n = strlen(text);
    (void)snprintf(text + n, sizeof text - n,
                   "  trip: %llu\n  buffers: {a: {depth: %llu}}\n  ops:\n%s",
                   (unsigned long long)trip, (unsigned long long)depth, stepping);
  }
  return compile(text);
}

/* The wait that a reader has for an op of its own queue; FS_NONE: none. */
static uint32_t own_wait(const fs_stream *s) {
  for (uint32_t i = 0; i < s->n_loop_commands; i++) {
    const fs_stream_loop_command *k = &s->loop_commands[i];
    const char *name = fs_stream_string(s, s->loop_ops[k->op].name);
    if (strcmp(name, "use") == 0 && k->n_waits > 0) {
      return k->wait0;
    }
  }
  return FS_NONE;
}

static void check_slow(const fsched_program *p, uint64_t seed) {
  rig r;
  rig_open(&r, &c, &p->view, (rig_options){.timed = true});
  for (uint32_t k = 0; k < INVOCATIONS; k++) {
    rig_run(&r, seed + k);
  }
  rig_close(&r);
}

/* The order of a queue says when commands start, not that they are over. */
START_TEST(reader_on_the_queue_of_a_slow_op)
{
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, fs_turn());
  fsched_program *p = compile_slow(0, 0), *q;
  bool by_guard;
  ck_assert_uint_eq(p->view.n_waits, 1);
  ck_assert_uint_eq(p->view.waits[0].axis, 0);
  check_slow(p, 1);
  q = sim_drop_wait(p, 0);
  ck_assert_int_eq(fsched_verify_program(c.ctx, q, NULL), FSCHED_WRONG);
  ck_assert(sim_goes_wrong(&c, q, INVOCATIONS, &by_guard));
  fsched_diag_clear(c.ctx);
  fs_mutant_free(q);
  fsched_program_destroy(p);
  for (uint64_t depth = 1; depth <= 12; depth++) {
    p = compile_slow(20, depth);
    uint32_t wait = own_wait(&p->view);
    ck_assert(p->view.n_loops == 1 && wait != FS_NONE);
    ck_assert_uint_eq(p->view.loop_waits[wait].distance, 0);
    check_slow(p, depth);
    q = fs_mutant_copy(p);
    ((fs_stream_loop_wait *)(uintptr_t)q->view.loop_waits)[wait].distance = 1;
    ck_assert_int_eq(fsched_verify_program(c.ctx, q, NULL), FSCHED_WRONG);
    ck_assert_msg(sim_goes_wrong(&c, q, INVOCATIONS, &by_guard), "depth %llu",
                  (unsigned long long)depth);
    fsched_diag_clear(c.ctx);
    fs_mutant_free(q);
    fsched_program_destroy(p);
  }
  conf_close(&c);
}
END_TEST

FS_SUITE(sim_loops, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, GENERATORS, never_later_than_planned);
  FS_LOOPS(t, 0, (int)(sizeof least_caught / sizeof *least_caught), weaker_waits_are_caught);
  FS_TESTS(t, queues_enter_and_leave_on_their_own, reader_on_the_queue_of_a_slow_op);
}
