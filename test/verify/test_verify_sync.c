/* SPDX-License-Identifier: Apache-2.0 */
/* The program verifier on machines with barriers or with stops, with hand-made programs for each of
 * its messages.  Random ones are in test_verify_circles.c and test_mutation.c. */
#include <stdio.h>
#include <stdlib.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/mutate/mutate.h"
#include "model/sync.h"

#include "kit/context.h"

#define REC(p, id, type) ((type *)(uintptr_t)(p)->view.id)

static bool reported(const char *code, const char *message) {
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    if (strcmp(d->code, code) == 0 && strstr(d->message, message) != NULL) {
      return true;
    }
  }
  return false;
}

/* --- programs by hand --- */

typedef struct barrier_text {
  const char *producers, *consumers; /* names of ops, of one letter each */
  uint32_t physical, use;
  uint32_t slots; /* 0: what each op demands */
} barrier_text;

typedef struct stop_text {
  uint32_t at, queue, keep;
} stop_text;

typedef struct program_text {
  const char *graph;
  const barrier_text *barriers; /* ends with one whose physical is FS_NONE */
  uint32_t count, slots;
  const char *issue;      /* names of ops, one letter a command, in order */
  const stop_text *stops; /* ends with one whose `at` is FS_NONE */
} program_text;

static void *room(fsched_program *p, const void *old, size_t size) {
  free((void *)(uintptr_t)old);
  (void)p;
  return calloc(256, size);
}

static bool names(const fsched_program *p, const char *ops, uint32_t command) {
  const fs_stream *s = &p->view;
  return strchr(ops, s->strings[s->ops[s->commands[command].target].name]) != NULL;
}

static void put_barriers(fsched_program *p, const program_text *t) {
  fs_stream *s = &p->view;
  fs_stream_command *c = REC(p, commands, fs_stream_command);
  s->barriers = room(p, s->barriers, sizeof *s->barriers);
  s->barrier_waits = room(p, s->barrier_waits, sizeof *s->barrier_waits);
  s->barrier_updates = room(p, s->barrier_updates, sizeof *s->barrier_updates);
  REC(p, meta, fs_stream_meta)->sync = FS_SYNC_BARRIER;
  REC(p, meta, fs_stream_meta)->barrier_count = t->count;
  REC(p, meta, fs_stream_meta)->barrier_slots = t->slots;
  for (const barrier_text *b = t->barriers; b->physical != FS_NONE; b++) {
    REC(p, barriers, fs_stream_barrier)
    [s->n_barriers++] = (fs_stream_barrier){b->physical, b->use, 0, 0};
  }
  for (uint32_t i = 0; i < s->n_commands; i++) {
    c[i].barrier_wait0 = s->n_barrier_waits;
    c[i].barrier_update0 = s->n_barrier_updates;
    for (uint32_t b = 0; b < s->n_barriers; b++) {
      if (names(p, t->barriers[b].consumers, i)) {
        REC(p, barrier_waits, uint32_t)[s->n_barrier_waits++] = b;
        REC(p, barriers, fs_stream_barrier)[b].n_consumers++;
      }
      if (names(p, t->barriers[b].producers, i)) {
        uint32_t slots = t->barriers[b].slots;
        slots = slots == 0 ? s->ops[c[i].target].slots : slots;
        REC(p, barrier_updates, fs_stream_update)
        [s->n_barrier_updates++] = (fs_stream_update){b, slots};
        REC(p, barriers, fs_stream_barrier)[b].n_producers++;
      }
    }
    c[i].n_barrier_waits = s->n_barrier_waits - c[i].barrier_wait0;
    c[i].n_barrier_updates = s->n_barrier_updates - c[i].barrier_update0;
  }
}

static void put_stops(fsched_program *p, const program_text *t) {
  fs_stream *s = &p->view;
  s->stops = room(p, s->stops, sizeof *s->stops);
  REC(p, meta, fs_stream_meta)->sync = FS_SYNC_BLOCK;
  for (const stop_text *x = t->stops; x->at != FS_NONE; x++) {
    REC(p, stops, fs_stream_stop)
    [s->n_stops++] = (fs_stream_stop){x->at, x->queue, x->keep, 0};
  }
  uint64_t taken = 0;
  for (uint32_t at = 0; t->issue[at] != '\0'; at++) {
    char op[2] = {t->issue[at], '\0'};
    uint32_t i = 0;
    while (!names(p, op, i) || (taken >> i & 1)) {
      ck_assert_uint_lt(++i, s->n_commands);
    }
    taken |= (uint64_t)1 << i;
    REC(p, commands, fs_stream_command)[i].issue = at;
  }
}

/* The graph is compiled with timelines, and its waits are removed; frontiers are those of the new
 * syncs. */
static fsched_program *make(const program_text *t) {
  fsched_graph *g;
  fsched_program *p;
  if (fsched_graph_parse(ctx, "g", t->graph, strlen(t->graph), NULL, &g) != FSCHED_OK ||
      fsched_compile(ctx, g, NULL, NULL, &p) != FSCHED_OK) {
    ck_abort_msg("%s", fs_first_message(ctx));
  }
  fsched_program *copy = fs_mutant_copy(p);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  copy->view.n_waits = 0;
  for (uint32_t i = 0; i < copy->view.n_commands; i++) {
    REC(copy, commands, fs_stream_command)[i].n_waits = 0;
    REC(copy, commands, fs_stream_command)[i].wait0 = 0;
  }
  if (t->barriers != NULL) {
    put_barriers(copy, t);
  } else {
    put_stops(copy, t);
  }
  fs_mutant_repair(copy);
  return copy;
}

/* Expects the code and message; code NULL: the program is right. */
static void expect_of(const fsched_program *p, const char *code, const char *message) {
  fsched_diag_clear(ctx);
  fs_status status = fsched_verify_program(ctx, p, NULL);
  if (code == NULL) {
    ck_assert_msg(status == FSCHED_OK, "%s", fs_first_message(ctx));
  } else {
    ck_assert_int_eq(status, FSCHED_WRONG);
    ck_assert_msg(reported(code, message), "%s: %s", fsched_diag_get(ctx, 0)->code,
                  fs_first_message(ctx));
  }
}

static void expect(const program_text *t, const char *code, const char *message) {
  fsched_program *p = make(t);
  expect_of(p, code, message);
  fs_mutant_free(p);
  fsched_diag_clear(ctx);
}

#define END_BARRIERS \
  { "", "", FS_NONE, 0, 0 }
#define BARRIERS(...) \
  (const barrier_text[]) { __VA_ARGS__, END_BARRIERS }
#define STOPS(...)                 \
  (const stop_text[]) {            \
    __VA_ARGS__, { FS_NONE, 0, 0 } \
  }

/* A case has a graph, barriers, their number, and slots. */
#define CASE(...) (&(const program_text){__VA_ARGS__, NULL, NULL})

/* Every op is on a queue of its own. */
#define OWN_QUEUES "target: {queues: [{name: u}, {name: v}, {name: w}, {name: x}]}\n"
static const char line[] = "fsched: 1\nname: g\n" OWN_QUEUES
                           "ops: [{name: u, on: u}, {name: v, on: v, after: [u]},\n"
                           "  {name: w, on: w, after: [v]}, {name: x, on: x, after: [w]}]\n";

/* --- barriers --- */

START_TEST(test_star)
{
  static const char star[] =
      "fsched: 1\nname: star\ntarget: {queues: [{name: a}, {name: b}, {name: c}, {name: d},\n"
      "  {name: e}, {name: f}]}\n"
      "ops: [{name: u, on: a}, {name: 0, on: a, after: [u]}, {name: 1, on: a, after: [u]},\n"
      "  {name: 2, on: b, after: [u]}, {name: 3, on: b, after: [u]}, {name: 4, on: c, after: "
      "[u]},\n"
      "  {name: 5, on: c, after: [u]}, {name: 6, on: d, after: [u]}, {name: 7, on: d, after: "
      "[u]},\n"
      "  {name: 8, on: e, after: [u]}, {name: 9, on: f, after: [u]}]\n";
  /* Ten leaves may run at once and need no barrier. */
  expect(CASE(star, BARRIERS({"u", "0123456789", 0, 0, 0}), 4, FS_NONE), NULL, NULL);
}
END_TEST

START_TEST(test_consecutive_owners)
{
  static const char graph[] =
      "fsched: 1\nname: g\ntarget: {queues: [{name: u}, {name: v}, {name: y}, {name: z}]}\n"
      "ops: [{name: u, on: u}, {name: v, on: v, after: [u]}, {name: y, on: y, after: [v]},\n"
      "  {name: z, on: z, after: [y]}, {name: w, on: y, after: [u, y]}]\n";
  expect(CASE(graph, BARRIERS({"u", "vw", 0, 0, 0}, {"v", "y", 1, 0, 0}, {"y", "z", 2, 0, 0}), 3,
              FS_NONE),
         NULL, NULL);
  expect(CASE(graph, BARRIERS({"u", "vw", 0, 0, 0}, {"v", "y", 1, 0, 0}, {"y", "z", 0, 1, 0}), 2,
              FS_NONE),
         "verify-deadlock",
         "command 1 of y (op y) updates barrier 2, which is not mapped: physical 0 holds barrier 0 "
         "until command 2 of y (op w) has started");
  expect(CASE(graph, BARRIERS({"u", "vw", 0, 0, 0}, {"v", "y", 1, 0, 0}, {"y", "z", 1, 1, 0}), 2,
              FS_NONE),
         "verify-deadlock",
         "command 1 of y (op y) updates barrier 2, which is not mapped: physical 1 holds barrier 1 "
         "until the command itself has started");
}
END_TEST

START_TEST(test_shared_in_a_row)
{
  expect(CASE(line, BARRIERS({"uw", "vx", 0, 0, 0}, {"v", "w", 1, 0, 0}), 2, FS_NONE),
         "verify-deadlock",
         "command 1 of v (op v) waits for barrier 0 (physical 0), which waits for command 1 of w "
         "(op w)");
  expect(CASE(line, BARRIERS({"u", "v", 0, 0, 0}, {"v", "w", 1, 0, 0}, {"w", "x", 0, 1, 0}), 2,
              FS_NONE),
         NULL, NULL);
}
END_TEST

START_TEST(test_a_barrier_is_not_there)
{
  const barrier_text two[] = {
      {"u", "v", 0, 0, 0}, {"v", "w", 1, 0, 0}, {"w", "x", 0, 1, 0}, END_BARRIERS};
  expect(CASE(line, two, 1, FS_NONE), "verify-barrier",
         "barrier 1 is physical barrier 1, but these are numbered 0 to 0");
  expect(CASE(line, two, FS_NONE, FS_NONE), NULL, NULL);
  expect(CASE(line, BARRIERS({"u", "v", 0, 0, 0}, {"v", "w", 1, 0, 0}, {"w", "x", 0, 2, 0}), 2,
              FS_NONE),
         "verify-barrier", "barrier 2 is use 2 of physical barrier 0, where use 1 comes next");
  expect(CASE(line, BARRIERS({"u", "v", 0, 0, 0}, {"v", "w", 1, 0, 0}, {"w", "x", 0, 0, 0}), 2,
              FS_NONE),
         "verify-barrier", "barrier 2 is use 0 of physical barrier 0, where use 1 comes next");
  expect(CASE(line,
              BARRIERS({"u", "v", 0, 0, 0}, {"v", "w", 1, 0, 0}, {"w", "x", 0, 1, 0},
                       {"x", "", 2, 0, 0}),
              3, FS_NONE),
         "verify-barrier", "barrier 3 has no consumers, so its physical barrier is never free");
  expect(CASE(line,
              BARRIERS({"u", "v", 0, 0, 0}, {"v", "w", 1, 0, 0}, {"w", "x", 0, 1, 0},
                       {"", "x", 2, 0, 0}),
              3, FS_NONE),
         "verify-barrier", "barrier 3 has no producers");
}
END_TEST

START_TEST(test_a_barrier_miscounts)
{
  fsched_program *p = make(CASE(
      line, BARRIERS({"u", "v", 0, 0, 0}, {"v", "w", 1, 0, 0}, {"w", "x", 0, 1, 0}), 2, FS_NONE));
  REC(p, barriers, fs_stream_barrier)[1].n_producers = 2;
  expect_of(p, "verify-barrier", "barrier 1 says 2 producers and 1 consumers, but has 1 and 1");
  REC(p, barriers, fs_stream_barrier)[1].n_producers = 1;
  REC(p, barriers, fs_stream_barrier)[2].n_consumers = 0;
  expect_of(p, "verify-barrier", "barrier 2 says 1 producers and 0 consumers, but has 1 and 1");
  REC(p, barriers, fs_stream_barrier)[2].n_consumers = 1;
  REC(p, barrier_waits, uint32_t)[0] = 3;
  expect_of(p, "verify-shape", "commands refer to barriers that are not there");
  REC(p, barrier_waits, uint32_t)[0] = 0;
  expect_of(p, NULL, NULL);
  fs_mutant_free(p);
}
END_TEST

START_TEST(test_a_wait_is_missing)
{
  expect(CASE(line, BARRIERS({"u", "v", 0, 0, 0}, {"v", "w", 1, 0, 0}), 2, FS_NONE), "verify-edge",
         "op x depends on op w and is not ordered after command 1 of w (op w)");
  /* x waits on this barrier for another op than it should. */
  expect(CASE(line, BARRIERS({"u", "vx", 0, 0, 0}, {"v", "w", 1, 0, 0}), 2, FS_NONE), "verify-edge",
         "op x depends on op w and is not ordered after command 1 of w (op w)");
}
END_TEST

/* u demands three slots where a barrier has two. */
START_TEST(test_slots)
{
  static const char graph[] =
      "fsched: 1\nname: g\n" OWN_QUEUES
      "ops: [{name: u, on: u}, {name: v, on: v, after: [u]}, {name: w, on: w}, {name: x, on: x}]\n";
  const struct {
    barrier_text first, second;
    uint32_t demand, limit;
    const char *code, *message;
  } cases[] = {
      {{"u", "v", 0, 0, 2}, {"u", "v", 1, 0, 1}, 3, 2, NULL, NULL},
      {{"u", "v", 0, 0, 3}, {"u", "v", 1, 0, 3}, 3, 3, NULL, NULL},
      {{"u", "v", 0, 0, 3},
       {"w", "v", 1, 0, 1},
       3,
       2,
       "verify-slots",
       "the producers of barrier 0 take 3 slots, and a barrier has 2"},
      {{"u", "v", 0, 0, 2},
       {"w", "v", 1, 0, 1},
       3,
       2,
       "verify-slots",
       "command 1 of u (op u) takes 2 slots where its op demands 3"},
      {{"uw", "v", 0, 0, 2},
       {"u", "v", 1, 0, 2},
       2,
       3,
       "verify-slots",
       "the producers of barrier 0 take 4 slots, and a barrier has 3"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fsched_program *p =
        make(CASE(graph, BARRIERS(cases[i].first, cases[i].second), 2, cases[i].limit));
    REC(p, ops, fs_stream_op)[0].slots = cases[i].demand;
    fs_mutant_repair(p);
    expect_of(p, cases[i].code, cases[i].message);
    fs_mutant_free(p);
  }
  fsched_program *p = make(CASE(graph, BARRIERS({"u", "v", 0, 0, 0}, {"u", "v", 1, 0, 0}), 2, 2));
  REC(p, barrier_updates, fs_stream_update)[1].slots = 0;
  expect_of(p, "verify-slots",
            "command 1 of u (op u) takes no slot of barrier 1, which it updates");
  fs_mutant_free(p);
}
END_TEST

/* That a barrier is mapped shows that others have begun; a frontier may not rely on that. */
START_TEST(test_frontiers)
{
  static const char graph[] =
      "fsched: 1\nname: g\n" OWN_QUEUES
      "ops: [{name: u, on: u}, {name: v, on: v, after: [u]}, {name: w, on: w, start: 1},\n"
      "  {name: x, on: x, after: [w]}]\n";
  const program_text text = {
      graph, BARRIERS({"u", "v", 0, 0, 0}, {"w", "x", 0, 1, 0}), 1, FS_NONE, NULL, NULL};
  fsched_program *p = make(&text);
  expect_of(p, NULL, NULL);
  uint32_t w = p->view.queues[2].command0;
  fs_stream_command *c = &REC(p, commands, fs_stream_command)[w];
  ck_assert_uint_eq(c->n_frontier, 1);
  fs_stream_wait *f = malloc((p->view.n_frontiers + 2) * sizeof *f);
  memcpy(f, p->view.frontiers, p->view.n_frontiers * sizeof *f);
  f[p->view.n_frontiers] = (fs_stream_wait){0, 1}; /* u is over before v, and so before w starts */
  f[p->view.n_frontiers + 1] = (fs_stream_wait){2, 1};
  free((void *)(uintptr_t)p->view.frontiers);
  p->view.frontiers = f;
  c->frontier0 = p->view.n_frontiers;
  c->n_frontier = 2;
  p->view.n_frontiers += 2;
  expect_of(p, "verify-frontier",
            "the frontier of command 1 of w (op w) names what is not known to be complete");
  fs_mutant_free(p);
  p = make(&text);
  c = &REC(p, commands, fs_stream_command)[p->view.queues[1].command0];
  c->n_frontier--; /* v knows of u */
  c->frontier0++;
  expect_of(p, "verify-frontier",
            "the frontier of command 1 of v (op v) leaves something out and is not tainted");
  fs_mutant_free(p);
}
END_TEST

START_TEST(test_planned_times_of_barriers)
{
  static const char graph[] =
      "fsched: 1\nname: g\n" OWN_QUEUES
      "ops: [{name: u, on: u}, {name: v, on: v, after: [u]}, {name: w, on: w},\n"
      "  {name: x, on: x, after: [w], time: 7}]\n";
  expect(CASE(graph, BARRIERS({"u", "v", 0, 0, 0}, {"w", "x", 0, 1, 0}), 1, FS_NONE), "verify-plan",
         "command 1 of w (op w) is planned before the start of command 1 of v (op v), which frees "
         "physical barrier 0 for it");
  expect(CASE(graph, BARRIERS({"u", "v", 0, 0, 0}, {"w", "x", 1, 0, 0}), 2, FS_NONE), NULL, NULL);
  expect(CASE(graph, BARRIERS({"u", "vw", 0, 0, 0}, {"w", "x", 1, 0, 0}), 2, FS_NONE),
         "verify-plan",
         "command 1 of w (op w) is planned before the end of command 1 of u (op u), for which it "
         "waits");
}
END_TEST

/* A gang starts as one: its members can neither wait for each other nor for each other's start. */
START_TEST(test_gangs_at_barriers)
{
  static const char graph[] =
      "fsched: 1\nname: g\n" OWN_QUEUES
      "ops: [{name: u, on: u}, {name: v, on: [v, w], after: [u]}, {name: x, on: x, after: [v]}]\n";
  const program_text text = {
      graph, BARRIERS({"u", "v", 0, 0, 0}, {"v", "x", 1, 0, 0}), 2, FS_NONE, NULL, NULL};
  fsched_program *p = make(&text);
  expect_of(p, NULL, NULL);
  uint32_t first = p->view.queues[1].command0, second = p->view.queues[2].command0;
  REC(p, barriers, fs_stream_barrier)[1].physical = 0;
  REC(p, barriers, fs_stream_barrier)[1].use = 1;
  expect_of(p, "verify-deadlock", "physical 0 holds barrier 0 until");
  /* The first member alone waits, the second alone updates. */
  REC(p, commands, fs_stream_command)[second].n_barrier_waits = 0;
  REC(p, barriers, fs_stream_barrier)[0].n_consumers = 1;
  REC(p, commands, fs_stream_command)[first].n_barrier_updates = 0;
  REC(p, barriers, fs_stream_barrier)[1].n_producers = 1;
  expect_of(p, "verify-deadlock",
            "command 1 of w (op v) updates barrier 1, which is not mapped: physical 0 holds "
            "barrier 0 until command 1 of v (op v) has started");
  expect_of(p, "verify-deadlock", "command 1 of v (op v) waits for the other members of its gang");
  REC(p, barriers, fs_stream_barrier)[1].physical = 1;
  REC(p, barriers, fs_stream_barrier)[1].use = 0;
  fs_mutant_repair(p);
  /* The second member does not wait for u, and nobody waits for the first. */
  expect_of(p, "verify-edge", "op v depends on op u and is not ordered after");
  expect_of(p, "verify-edge", "op x depends on op v and is not ordered after");
  fs_mutant_free(p);
}
END_TEST

START_TEST(test_syncs_of_another_kind)
{
  const program_text text = {
      line, BARRIERS({"u", "v", 0, 0, 0}, {"v", "w", 1, 0, 0}, {"w", "x", 0, 1, 0}),
      2,    FS_NONE,
      NULL, NULL};
  fsched_program *p = make(&text);
  REC(p, commands, fs_stream_command)[0].signal = 1;
  expect_of(p, "verify-signal", "command 1 of u (op u) signals, but nobody waits");
  REC(p, commands, fs_stream_command)[0].signal = 0;
  REC(p, meta, fs_stream_meta)->sync = FS_SYNC_TIMELINE;
  expect_of(p, "verify-sync", "the target has timelines alone, and the program uses another sync");
  REC(p, meta, fs_stream_meta)->sync = 3;
  expect_of(p, "verify-sync", "there is no sync of kind 3");
  REC(p, meta, fs_stream_meta)->sync = FS_SYNC_BARRIER;
  REC(p, waits, fs_stream_wait)[0] = (fs_stream_wait){0, 1};
  p->view.n_waits = 1;
  REC(p, commands, fs_stream_command)[p->view.queues[1].command0].n_waits = 1;
  expect_of(p, "verify-sync", "the target has barriers alone, and the program uses another sync");
  fs_mutant_free(p);
}
END_TEST

/* --- stops --- */

/* A copy queue runs two loads ahead of the ops that use them. */
static const char loads[] =
    "fsched: 1\nname: g\ntarget: {queues: [{name: copy}, {name: work}]}\n"
    "ops: [{name: a, on: copy}, {name: b, on: copy, after: [a]}, {name: x, on: work, after: [a], "
    "start: 2},\n"
    "  {name: y, on: work, after: [b]}]\n";

static fsched_program *make_counting(const program_text *t) {
  fsched_program *p = make(t);
  REC(p, queues, fs_stream_queue)[0].counting = 1;
  return p;
}

START_TEST(test_stops)
{
  const struct {
    const char *issue;
    const stop_text *stops;
    const char *code, *message;
  } cases[] = {
      {"abxy", STOPS({2, FS_NONE, 0}), NULL, NULL},
      {"abxy", STOPS({2, 0, 0}), NULL, NULL},
      {"abxy", STOPS({2, 0, 1}, {3, 0, 0}), NULL, NULL},
      {"axby", STOPS({1, FS_NONE, 0}, {3, FS_NONE, 0}), NULL, NULL},
      {"abxy", STOPS({2, 0, 1}, {3, 0, 1}), "verify-edge",
       "op y depends on op b and is not ordered after command 2 of copy (op b)"},
      {"abxy", STOPS({2, 0, 2}, {3, 0, 0}), "verify-edge",
       "op x depends on op a and is not ordered after command 1 of copy (op a)"},
      {"abxy", STOPS({3, FS_NONE, 0}), "verify-edge",
       "op x depends on op a and is not ordered after command 1 of copy (op a)"},
      {"abxy", STOPS({2, 1, 0}), "verify-stop",
       "sync 0 lets 0 commands of work go on, which does not count"},
      {"abxy", STOPS({2, FS_NONE, 0}, {2, FS_NONE, 0}), "verify-stop", "sync 1 is out of order"},
      {"abxy", STOPS({2, 0, 0}, {2, FS_NONE, 0}), "verify-stop", "sync 1 is out of order"},
      {"abxy", STOPS({3, 0, 0}, {2, 0, 0}), "verify-stop", "sync 1 is out of order"},
      {"abxy", STOPS({4, FS_NONE, 0}), "verify-stop", "sync 0 is out of order, or before or of"},
      {"abxy", STOPS({2, 2, 0}), "verify-stop", "sync 0 is out of order, or before or of"},
      {"abxy", STOPS({2, FS_NONE, 1}), "verify-stop", "sync 0 is out of order, or before or of"},
      {"baxy", STOPS({2, FS_NONE, 0}), "verify-stop",
       "command 2 of copy (op b) is issued before the command before it on its queue"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const program_text t = {loads, NULL, 0, 0, cases[i].issue, cases[i].stops};
    fsched_program *p = make_counting(&t);
    expect_of(p, cases[i].code, cases[i].message);
    fs_mutant_free(p);
  }
  const program_text t = {loads, NULL, 0, 0, "abxy", STOPS({2, FS_NONE, 0})};
  fsched_program *p = make_counting(&t);
  REC(p, commands, fs_stream_command)[3].issue = 2;
  expect_of(p, "verify-stop",
            "command 2 of work (op y) is issued at 2, which is taken or behind the end");
  REC(p, commands, fs_stream_command)[3].issue = 3;
  REC(p, commands, fs_stream_command)[2].start = 0;
  REC(p, commands, fs_stream_command)[2].end = 1;
  expect_of(p, "verify-plan",
            "command 1 of work (op x) is planned before the end of command 2 of copy (op b), for "
            "which a sync before it waits");
  fs_mutant_free(p);
}
END_TEST

/* A stop waits for a member of a gang, which waits for a member behind the stop. */
START_TEST(test_gangs_at_stops)
{
  static const char graph[] =
      "fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}]}\n"
      "ops: [{name: a, on: p}, {name: g, on: [p, q]}, {name: h, on: [p, q]}]\n";
  const struct {
    const char *issue;
    const stop_text *stops;
    const char *code, *message;
  } cases[] = {
      {"agghh", STOPS({1, FS_NONE, 0}), NULL, NULL},
      {"aghgh", STOPS({1, FS_NONE, 0}), NULL, NULL}, /* commands of p, then those of q */
      {"agghh", STOPS({2, FS_NONE, 0}), "verify-deadlock",
       "the sync before command 1 of q (op g) waits for command 2 of p (op g), which cannot start"},
      {"agghh", STOPS({2, FS_NONE, 0}), "verify-deadlock",
       "command 2 of p (op g) waits for the other members of its gang"},
      {"agghh", STOPS({2, 0, 0}), "verify-deadlock", "the sync before command 1 of q (op g)"},
      {"agghh", STOPS({2, 0, 1}), NULL, NULL}, /* the member may be issued behind the stop */
      {"agghh", STOPS({4, FS_NONE, 0}), "verify-deadlock", "the sync before command 2 of q (op h)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const program_text t = {graph, NULL, 0, 0, cases[i].issue, cases[i].stops};
    fsched_program *p = make_counting(&t);
    expect_of(p, cases[i].code, cases[i].message);
    fs_mutant_free(p);
  }
}
END_TEST

/* --- against the graph --- */

START_TEST(test_graph)
{
  static const char text[] =
      "fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}],\n"
      "  memories: [{name: m, capacity: 8}]}\n"
      "ops: [{name: a, on: p, size: 4}, {name: b, on: q, args: [{in: a}]}]\n";
  const program_text t = {text, BARRIERS({"a", "b", 0, 0, 0}), 1, FS_NONE, NULL, NULL};
  fsched_graph *g = fs_parse(text);
  fsched_program *p = make(&t);
  /* Barriers are chosen by the compiler, so this graph fits. */
  ck_assert_msg(fsched_verify_program(ctx, p, g) == FSCHED_OK, "%s", fs_first_message(ctx));
  REC(p, ops, fs_stream_op)[1].slots = 2;
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_WRONG);
  ck_assert(reported("verify-graph", "not the graph's: slots of op 'b'"));
  REC(p, ops, fs_stream_op)[1].slots = 1;
  REC(p, queues, fs_stream_queue)[1].counting = 1;
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_WRONG);
  ck_assert(reported("verify-graph", "queue 'q': counting 1 in the program, 0 in the graph"));
  REC(p, queues, fs_stream_queue)[1].counting = 0;
  REC(p, queues, fs_stream_queue)[1].host = 1;
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_WRONG);
  ck_assert(reported("verify-graph", "queue 'q': host 1 in the program, 0 in the graph"));
  REC(p, queues, fs_stream_queue)[1].host = 0;
  REC(p, memories, fs_stream_memory)[0].host = 1;
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_WRONG);
  ck_assert(reported("verify-graph", "memory 'm': host 1 in the program, 0 in the graph"));
  REC(p, memories, fs_stream_memory)[0].host = 0;
  REC(p, memories, fs_stream_memory)[0].stack = 1;
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_WRONG);
  ck_assert(reported("verify-graph",
                     "memory 'm': placement 'stack' in the program, 'contiguous' in the graph"));
  REC(p, memories, fs_stream_memory)[0].stack = 0;
  ((fsched_graph *)(uintptr_t)g)->target.barrier_slots = 5;
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_WRONG);
  ck_assert(reported("verify-graph",
                     "graph 'g': barriers.slots unbounded in the program, 5 in the graph"));
  fs_mutant_free(p);
  const program_text stops = {text, NULL, 0, 0, "ab", STOPS({1, FS_NONE, 0})};
  p = make(&stops);
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_WRONG);
  ck_assert(
      reported("verify-graph", "graph 'g': sync 'block' in the program, 'timeline' in the graph"));
  fs_mutant_free(p);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(verify_sync, s) {
  TCase *t = fs_case(s, fs_test_many_errors);
  FS_TESTS(t, test_star, test_consecutive_owners, test_shared_in_a_row, test_a_barrier_is_not_there,
           test_a_barrier_miscounts, test_a_wait_is_missing, test_slots, test_frontiers,
           test_planned_times_of_barriers, test_gangs_at_barriers, test_syncs_of_another_kind,
           test_stops, test_gangs_at_stops, test_graph);
}
