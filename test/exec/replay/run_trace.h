/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in the traces of runs: instances lie in their loop, come after what they waited for, and
 * each is shown or counted. */
#ifndef FS_TEST_RUN_TRACE_H
#define FS_TEST_RUN_TRACE_H

#include <stdlib.h>

#include "draw/trace_instances.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "kit/nest_gen.h"
#include "kit/turn.h"

#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { TRACE_GRAPHS = 15 };
#else
enum { TRACE_GRAPHS = 60 };
#endif

/* Where a slice is drawn later than it was measured, as those before it take no time. */
enum { MOVED = 999 };

static inline void run_trace(const fsched_program *p, fsched_device *device, uint64_t seed,
                             const fsched_trips *trips, tr_trace *t) {
  fsched_replay_options o = {.size = sizeof o, .trace = 1, .repeat = 1 + seed % 2};
  fsched_replay_result r = {.size = sizeof r};
  o.device = device;
  o.trips = trips;
  o.n_trips = trips != NULL;
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  tr_open(t, r.trace_json, r.trace_length);
  fsched_text_free(ctx, r.trace_json, r.trace_length);
}

static inline fsched_program *compile_text(const char *text) {
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

/* The instance of a command of loops on its queue; NULL: it is not shown. */
static inline const tr_event *instance_on(const tr_trace *t, const fs_stream *s, uint32_t c,
                                          const char *name) {
  uint32_t q = 0;
  while (c - s->loop_queues[q].command0 >= s->loop_queues[q].n_commands) {
    q++;
  }
  for (uint32_t i = 0; i < t->n; i++) {
    const tr_event *e = &t->event[i];
    if (e->phase == 'X' && strcmp(e->name, name) == 0 &&
        tr_queue(e, s, 1) == s->loop_queues[q].queue) {
      return e;
    }
  }
  return NULL;
}

/* Checks an instance of a command against those that it has waited for; returns how many are
 * shown. */
static inline uint32_t check_waits(const tr_trace *t, const fs_stream *s, const tr_event *e,
                                   uint32_t c) {
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
    const tr_event *before = wait->distance <= i ? instance_on(t, s, wait->command, name) : NULL;
    if (before != NULL) {
      ck_assert_msg(before->ts + before->dur <= e->ts + MOVED, "%s before %s", e->name, name);
      n++;
    }
  }
  return n;
}

/* `planned`: it is simulated with the planned times. */
static inline uint32_t check_run(const fsched_program *p, fsched_device *device, uint64_t seed,
                                 bool nested, bool planned) {
  const fs_stream *s = &p->view;
  uint32_t waits = 0;
  tr_trace t;
  run_trace(p, device, seed, NULL, &t);
  tr_check_threads(&t, s, 1);
  tr_check_walk(&t, s, 1);
  for (uint32_t i = 0; i < t.n; i++) {
    const tr_event *e = &t.event[i];
    if (tr_inside(e) && strcmp(e->cat, "hidden") != 0) {
      uint32_t c = tr_command_of(s, e, 1);
      ck_assert_msg(c != FS_NONE, "'%s' on a queue that is not its own", e->name);
      waits += check_waits(&t, s, e, c);
      ck_assert_msg(!planned || e->ts <= 1000 * e->start + MOVED, "'%s' is late", e->name);
    }
  }
  if (!nested && s->n_loops == 1) {
    tr_check_number(&t, s, s->loops[0].trip);
  }
  tr_close(&t);
  return waits;
}

/* Checks traces of TRACE_GRAPHS random graphs on devices of a kind, which `open` opens and `close`
 * releases. */
static inline void check_random(int kind, fsched_device *(*open)(int kind, uint64_t seed),
                                void (*close)(fsched_device *device),
                                void (*generate)(uint64_t, fs_text *), bool nested) {
  uint32_t waits = 0, n = 0;
  for (uint64_t k = 0; k < TRACE_GRAPHS; k++) {
    uint64_t seed = fs_turn() * TRACE_GRAPHS + k;
    fs_text text;
    fs_text_init(&text, ctx);
    generate(seed, &text);
    fs_text_add(&text, "", 1);
    fsched_program *p = compile_text(text.at);
    if (p != NULL && p->view.n_loops > 0) {
      fsched_device *device = open(kind, seed);
      waits += check_run(p, device, seed, nested, kind == 0);
      close(device);
      n++;
    }
    fsched_program_destroy(p);
    fs_text_drop(&text);
  }
  fs_assert_seen(n, TRACE_GRAPHS / 5);
  fs_assert_seen(waits, TRACE_GRAPHS);
}

#endif
