/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in the traces of runs: instances lie in their loop, come after what they waited for, and
 * each is shown or counted; simulated with the planned times, they are no later than planned. */
#include <stdlib.h>

#include "draw/trace_instances.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "kit/nest_gen.h"
#include "kit/turn.h"

#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 15 };
#else
enum { GRAPHS = 60 };
#endif

/* Where a slice is drawn later than it was measured, as those before it take no time. */
enum { MOVED = 999 };

/* kind 0: simulated with planned times; 1: with others; from 2 on: with so many threads and 2. */
static fsched_device *open_device(int kind, uint64_t seed) {
  fsched_device_options o = {.size = sizeof o, .kind = kind < 2 ? "sim" : "cpu", .seed = seed};
  fsched_device *device;
  o.threads = kind < 2 ? 0 : (uint32_t)kind - 2;
  o.durations = kind == 1 ? FSCHED_DURATIONS_ADVERSARIAL : FSCHED_DURATIONS_PLANNED;
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
  return device;
}

static void run_trace(const fsched_program *p, int kind, uint64_t seed, const fsched_trips *trips,
                      tr_trace *t) {
  fsched_replay_options o = {.size = sizeof o, .trace = 1, .repeat = 1 + seed % 2};
  fsched_replay_result r = {.size = sizeof r};
  o.device = open_device(kind, seed);
  o.trips = trips;
  o.n_trips = trips != NULL;
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  tr_open(t, r.trace_json, r.trace_length);
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  fsched_device_release(o.device);
}

static fsched_program *compile_text(const char *text) {
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0)};
  fsched_graph *g;
  fsched_program *p = NULL;
  if (fsched_graph_parse(ctx, "loop.yaml", text, strlen(text), NULL, &g) == FSCHED_OK) {
    (void)!fsched_compile(ctx, g, &o, NULL, &p);
    fsched_graph_destroy(g);
  }
  fsched_diag_clear(ctx);
  return p;
}

/* Checks an instance of a command against those that it has waited for; returns how many are
 * shown. */
static uint32_t check_waits(const tr_trace *t, const fs_stream *s, const tr_event *e, uint32_t c) {
  const fs_stream_loop_command *k = &s->loop_commands[c];
  const char *op = fs_stream_string(s, s->loop_ops[k->op].name), *last = strrchr(e->name, '[');
  uint64_t i = strtoull(last + 1, NULL, 10);
  uint32_t n = 0;
  for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
    const fs_stream_loop_wait *wait = &s->loop_waits[w];
    char name[256];
    (void)snprintf(name, sizeof name, "%s%.*s[%llu]",
                   fs_stream_string(s, s->loop_ops[s->loop_commands[wait->command].op].name),
                   (int)(last - e->name - (long)strlen(op)), e->name + strlen(op),
                   (unsigned long long)(i - wait->distance));
    const tr_event *before = wait->distance <= i ? tr_find(t, name) : NULL;
    if (before != NULL) {
      ck_assert_msg(before->ts + before->dur <= e->ts + MOVED, "%s before %s", e->name, name);
      n++;
    }
  }
  return n;
}

static uint32_t check_run(const fsched_program *p, int kind, uint64_t seed, bool nested) {
  const fs_stream *s = &p->view;
  uint32_t waits = 0;
  tr_trace t;
  run_trace(p, kind, seed, NULL, &t);
  tr_check_threads(&t, s, 1);
  tr_check_walk(&t, s, 1);
  for (uint32_t i = 0; i < t.n; i++) {
    const tr_event *e = &t.event[i];
    if (tr_inside(e) && strcmp(e->cat, "hidden") != 0) {
      uint32_t c = tr_command_of(s, e, 1);
      ck_assert_msg(c != FS_NONE, "'%s' on a queue that is not its own", e->name);
      waits += check_waits(&t, s, e, c);
      ck_assert_msg(kind != 0 || e->ts <= 1000 * e->start + MOVED, "'%s' is late", e->name);
    }
  }
  if (!nested && s->n_loops == 1) {
    tr_check_number(&t, s, s->loops[0].trip);
  }
  tr_close(&t);
  return waits;
}

static void check_random(int kind, void (*generate)(uint64_t, fs_text *), bool nested) {
  uint32_t waits = 0, n = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = fs_turn() * GRAPHS + k;
    fs_text text;
    fs_text_init(&text, ctx);
    generate(seed, &text);
    fs_text_add(&text, "", 1);
    fsched_program *p = compile_text(text.at);
    if (p != NULL && p->view.n_loops > 0) {
      waits += check_run(p, kind, seed, nested);
      n++;
    }
    fsched_program_destroy(p);
    fs_text_drop(&text);
  }
  ck_assert_uint_gt(n, GRAPHS / 5);
  ck_assert_uint_gt(waits, GRAPHS);
}

START_TEST(random_loops)
{ check_random(_i, fs_loop_gen, false); }
END_TEST

START_TEST(random_nests)
{ check_random(_i, fs_nest_gen, true); }
END_TEST

/* A load of 2 ticks and a use of 3, with two slots: use i starts at 2 + 3 i, and load i, from the
 * second on, with use i - 1. */
static const char form[] =
    "fsched: 1\n"
    "target:\n"
    "  queues: [{name: a, class: a}, {name: b, class: b}]\n"
    "  memories: [{name: m, capacity: 64}]\n"
    "ops:\n"
    "  - loop: l\n"
    "    trip: {param: n, min: 0, max: 20011}\n"
    "    buffers: {r: {depth: 2}}\n"
    "    ops:\n"
    "      - {name: load, on: a, time: 2, args: [{out: r, size: 8}]}\n"
    "      - {name: use, on: b, time: 3, args: [{in: r}]}\n";

/* The loop runs as often as this invocation says, and its ends are those of that. */
START_TEST(as_often_as_given)
{
  static const uint64_t trips[] = {0, 1, 2, 9, 100, 20011};
  fsched_program *p = compile_text(form);
  ck_assert_ptr_nonnull(p);
  for (size_t k = 0; k < sizeof trips / sizeof trips[0]; k++) {
    fsched_trips given = {"n", trips[k]};
    uint32_t uses = 0;
    tr_trace t;
    run_trace(p, _i, 1, &given, &t);
    tr_check_walk(&t, &p->view, 1);
    tr_check_number(&t, &p->view, trips[k]);
    for (uint32_t x = 0; x < t.n; x++) {
      const tr_event *e = &t.event[x];
      uint64_t i = strchr(e->name, '[') == NULL ? 0 : strtoull(strchr(e->name, '[') + 1, NULL, 10);
      bool load = strncmp(e->name, "load[", 5) == 0, use = strncmp(e->name, "use[", 4) == 0;
      if (_i == 0 && (load || use)) {
        ck_assert_uint_eq(e->dur, load ? 2000 : 3000);
        ck_assert_uint_eq(e->ts, 1000 * (use ? 2 + 3 * i : i == 0 ? 0 : 2 + 3 * (i - 1)));
      }
      uses += use;
    }
    ck_assert_uint_ge(uses, fs_min(trips[k], 6));
    ck_assert_uint_le(uses, 20);
    char last[32];
    (void)snprintf(last, sizeof last, "use[%llu]", (unsigned long long)(trips[k] - 1));
    ck_assert(trips[k] == 0 || tr_find(&t, last) != NULL);
    tr_close(&t);
  }
  fsched_program_destroy(p);
}
END_TEST

/* Instances are held back one by one. */
START_TEST(paced)
{
  enum { PACE = 20000 };
  fsched_program *p = compile_text(form);
  fsched_trips given = {"n", 9};
  uint32_t n = 0;
  ck_assert_ptr_nonnull(p);
  fsched_replay_options o = {.size = sizeof o, .trace = 1, .pace_ns = PACE};
  fsched_replay_result r = {.size = sizeof r};
  o.device = open_device(_i, 1);
  o.trips = &given;
  o.n_trips = 1;
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  tr_trace t;
  tr_open(&t, r.trace_json, r.trace_length);
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  for (uint32_t x = 0; x < t.n; x++) {
    const tr_event *e = &t.event[x];
    if (tr_inside(e) && strcmp(e->cat, "hidden") != 0) {
      ck_assert_uint_ge(e->dur, (strncmp(e->name, "load", 4) == 0 ? 2 : 3) * PACE);
      n++;
    }
  }
  tr_check_number(&t, &p->view, given.trips);
  ck_assert_uint_ge(n, 10);
  tr_close(&t);
  fsched_device_release(o.device);
  fsched_program_destroy(p);
}
END_TEST

FS_SUITE(run_trace, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 5, random_loops, random_nests, as_often_as_given);
  FS_LOOPS(t, 2, 5, paced);
}
