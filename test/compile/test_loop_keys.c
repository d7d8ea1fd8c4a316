/* SPDX-License-Identifier: Apache-2.0 */
/* What is given of a ring besides its depth, in loops that stay loops: how many slots are given
 * back at once, and how far loads run ahead on a queue that they share with their uses. */
#include <stdio.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/quick.h"
#include "kit/shared_facts.h"
#include "model/stream/stream.h"

#include "kit/context.h"
#include "kit/gen.h"

enum { MOST = 12 };

typedef struct key_case {
  uint64_t n, depth, every;  /* depth 0: auto */
  const char *prefetch, *on; /* on: the queue of loads; uses have mma */
  uint64_t latency;          /* of a load, which takes its queue for 4 ticks */
  uint64_t distance;         /* use i uses load i - distance */
} key_case;

static fs_status compile_for(const char *text, uint32_t effort, fsched_program **p) {
  fsched_read_options o = {.size = sizeof o, .effort = effort};
  fsched_graph *g;
  *p = NULL;
  fs_status status = fsched_graph_parse(ctx, "keys", text, strlen(text), &o, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &fs_quick, NULL, p);
    fsched_graph_destroy(g);
  }
  return status;
}

static fs_status compile_text(const char *text, fsched_program **p) {
  return compile_for(text, FS_QUICK, p);
}

static fs_status compile_keys(const key_case *x, fsched_program **p) {
  char text[1024], depth[32] = "auto", distance[48] = "";
  if (x->depth > 0) {
    (void)snprintf(depth, sizeof depth, "%llu", (unsigned long long)x->depth);
  }
  if (x->distance > 0) {
    (void)snprintf(distance, sizeof distance, ", distance: %llu", (unsigned long long)x->distance);
  }
  (void)snprintf(
      text, sizeof text,
      "fsched: 1\ntarget:\n  queues: [{name: dma}, {name: mma}]\n  memories: [{name: m}]\n"
      "buffers: [{name: y, size: 64, io: output}]\n"
      "ops:\n- {name: init, on: mma, args: [{out: y}, {out: x, size: 64}]}\n"
      "- loop: l\n  trip: %llu\n"
      "  buffers: {x: {depth: %s, every: %llu, prefetch: %s}}\n  ops:\n"
      "  - {name: load, on: %s, time: 4, latency: %llu, args: [{out: x}]}\n"
      "  - {name: use, on: mma, time: 2, args: [{in: x%s}, {inout: y}]}\n",
      (unsigned long long)x->n, depth, (unsigned long long)x->every, x->prefetch, x->on,
      (unsigned long long)x->latency, distance);
  return compile_text(text, p);
}

static bool is_named(const fs_stream *s, const fs_stream_loop_command *c, const char *name) {
  return strcmp(fs_stream_string(s, s->loop_ops[c->op].name), name) == 0;
}

/* How many waits the iterations of an op execute for another; each is for iteration i - distance,
 * where i % every == rest. */
static uint64_t executed(const fs_stream *s, const char *to, const char *from, uint64_t distance,
                         uint64_t every, uint64_t rest) {
  uint64_t n = 0;
  for (uint32_t k = 0; k < s->n_loop_commands; k++) {
    const fs_stream_loop_command *c = &s->loop_commands[k];
    for (uint32_t w = c->wait0; is_named(s, c, to) && w < c->wait0 + c->n_waits; w++) {
      const fs_stream_loop_wait *x = &s->loop_waits[w];
      ck_assert(is_named(s, &s->loop_commands[x->command], from));
      ck_assert_uint_eq(x->distance, distance);
      ck_assert_uint_eq(c->copy % every, rest % every);
      for (uint64_t i = c->copy; i < s->loops[0].trip; i += s->loops[0].copies) {
        n += i >= x->distance;
      }
    }
  }
  return n;
}

static void replay(const fsched_program *p) {
  fsched_replay_options o = {.size = sizeof o, .check = 1};
  fsched_replay_result r = {.size = sizeof r};
  ck_fs(ctx, fsched_verify_program(ctx, p, NULL));
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
}

/* Use i waits for load i, and load l for use l - D + g - 1, where l - D is a multiple of g. */
START_TEST(empty_waits)
{
  uint64_t n = (uint64_t)_i;
  for (uint64_t depth = 1; depth <= MOST; depth += 1 + depth / 4) {
    for (uint64_t every = 1; every <= depth; every++) {
      key_case x = {n, depth, every, "auto", "dma", 4, 0};
      fsched_program *p;
      ck_fs(ctx, compile_keys(&x, &p));
      uint64_t empty = n > depth ? (n - depth + every - 1) / every : 0;
      if (n > depth) {
        ck_assert_uint_eq(executed(&p->view, "use", "load", 0, 1, 0), n);
        ck_assert_uint_eq(executed(&p->view, "load", "use", depth - every + 1, every, depth),
                          empty);
      }
      replay(p);
      fsched_program_destroy(p);
    }
  }
}
END_TEST

/* Checks the waits of loads for uses: load l waits for what reads the last of the slots that are
 * given back with its own. */
static void check_returns(const fs_stream *s, const key_case *x, uint64_t depth, uint64_t every) {
  uint64_t n = 0, distance = depth + 1 - every - x->distance;
  for (uint64_t l = depth % every; l < x->n; l += every) {
    n += l >= distance;
  }
  ck_assert_uint_eq(executed(s, "load", "use", distance, every, depth), n);
  ck_assert_uint_eq(executed(s, "use", "load", x->distance, 1, 0), x->n - x->distance);
}

/* Values of earlier iterations: fewer slots can be given back at once, as more are in use. */
START_TEST(empty_waits_of_carried)
{
  uint64_t n = (uint64_t)_i, distance = 1 + n % 3;
  for (uint64_t depth = distance + 1; depth <= MOST; depth += 1 + depth / 4) {
    for (uint64_t every = 1; every <= depth; every++) {
      key_case x = {n, depth, every, "auto", "dma", 4, distance};
      fsched_program *p;
      ck_fs(ctx, compile_keys(&x, &p));
      if (n > depth) {
        check_returns(&p->view, &x, depth, every < depth - distance ? every : depth - distance);
      }
      replay(p);
      fsched_program_destroy(p);
    }
  }
}
END_TEST

/* Depths that are chosen are enough for what is given back at once. */
START_TEST(empty_waits_of_open)
{
  uint64_t every = 2 + (uint64_t)_i / 3;
  for (uint64_t n = 0; n <= 4 * MOST; n += 1 + n / 4) {
    key_case x = {n, 0, every, "auto", "dma", 4, (uint64_t)_i % 3};
    fsched_program *p;
    ck_fs(ctx, compile_keys(&x, &p));
    if (n > every + x.distance) {
      uint64_t depth = p->view.rings[0].depth;
      ck_assert_uint_ge(depth, every + x.distance);
      ck_assert_uint_lt(depth, 4 * every);
      if (n > depth) {
        check_returns(&p->view, &x, depth, every);
      }
    }
    replay(p);
    fsched_program_destroy(p);
  }
}
END_TEST

/* On one queue, load i + P stands before use i and behind use i - 1; what has no iteration is left
 * out, at both ends. */
static void check_order(const fs_stream *s, uint64_t prefetch) {
  uint64_t loads = 0, uses = 0, trip = s->loops[0].trip;
  const fs_stream_loop_command *c = s->loop_commands;
  ck_assert(s->n_loops == 1 && s->n_loop_queues == 1 && s->n_loop_commands == 2);
  ck_assert_uint_eq(s->loops[0].copies, 1);
  for (uint64_t t = 0; loads + uses < 2 * trip; t++) {
    for (uint32_t k = 0; k < 2; k++) {
      if (t < c[k].shift || t - c[k].shift >= trip) {
        continue;
      }
      uint64_t i = t - c[k].shift;
      if (is_named(s, &c[k], "load")) {
        ck_assert_uint_eq(i, loads);
        loads++;
      } else {
        ck_assert_uint_eq(i, uses);
        ck_assert_uint_eq(loads, i + prefetch + 1 < trip ? i + prefetch + 1 : trip);
        uses++;
      }
    }
  }
}

static void prefetch_on_one(uint64_t n, uint64_t depth, int64_t prefetch, uint64_t latency) {
  char text[32];
  (void)snprintf(text, sizeof text, "%lld", (long long)prefetch);
  key_case x = {n, depth, 1, text, "mma", latency, 0};
  fsched_program *p;
  ck_fs(ctx, compile_keys(&x, &p));
  if (n > 0) {
    check_order(&p->view, (uint64_t)(prefetch < 0 ? (int64_t)depth + prefetch : prefetch));
  }
  replay(p);
  fsched_program_destroy(p);
}

START_TEST(prefetches)
{
  for (uint64_t depth = 1; depth <= 5; depth++) {
    for (int64_t prefetch = -(int64_t)depth; prefetch < (int64_t)depth; prefetch++) {
      prefetch_on_one((uint64_t)_i, depth, prefetch, 4);
      prefetch_on_one((uint64_t)_i, depth, prefetch, 9);
    }
  }
}
END_TEST

START_TEST(trip_facts)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  char line[4096];
  int rows = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    unsigned long long n, depth, prefetch;
    if (sscanf(line, "trip N=%llu D=%llu P=%llu", &n, &depth, &prefetch) == 3 ||
        sscanf(line, "loop N=%llu D=%llu P=%llu", &n, &depth, &prefetch) == 3) {
      prefetch_on_one(n, depth, (int64_t)prefetch, 4);
      rows++;
    }
  }
  if (file != NULL) {
    (void)fclose(file);
    ck_assert_int_eq(rows, 24);
  }
}
END_TEST

/* An open depth becomes one that the prefetch takes. */
START_TEST(prefetch_and_open_depth)
{
  fsched_program *p;
  ck_fs(ctx, compile_text("fsched: 1\ntarget: {queues: [{name: q}], memories: [{name: m}]}\n"
                          "ops:\n- loop: l\n  trip: 9\n  buffers: {x: {prefetch: 3}}\n"
                          "  ops:\n  - {name: load, args: [{out: x, size: 64}]}\n"
                          "  - {name: use, args: [{in: x}]}\n",
                          &p));
  check_order(&p->view, 3);
  ck_assert_uint_eq(p->view.rings[0].depth, 4);
  replay(p);
  fsched_program_destroy(p);
}
END_TEST

/* The op that begins values reads those of iterations before: it does not wait for itself. */
START_TEST(writer_reads_what_is_given_back)
{
  static const char text[] =
      "fsched: 1\ntarget: {queues: [{name: q0}, {name: q1}], memories: [{name: m}]}\n"
      "buffers: [{name: y, size: 4000, io: output}, {name: z, size: 8, io: output}]\n"
      "ops:\n- {name: init, on: q0, args: [{out: y}, {out: s, size: 8}]}\n"
      "- loop: l\n  trip: 13\n"
      "  buffers: {r: {depth: 5, every: 3}, s: {depth: auto, every: 2}}\n  ops:\n"
      "  - {name: load, on: q0, time: 6, args: [{out: r, size: 64}]}\n"
      "  - {name: next, on: q0, args: [{in: s, distance: 2}, {out: s},\n"
      "     {out_existing: y, at: {offset: 1000, length: 100, step: [-50]}}]}\n"
      "  - {name: use, on: q1, time: 3, args: [{out_existing: z}]}\n"
      "  - {name: up, on: q1, args: [{inout: y, at: {length: 100, step: [200]}}]}\n"
      "  - {name: over, on: q1, time: 7,\n"
      "     args: [{out_existing: y, at: {offset: 64, length: 184, step: [16]}}]}\n";
  fsched_program *p;
  ck_fs(ctx, compile_for(text, FSCHED_EFFORT(0), &p));
  ck_fs(ctx, fsched_verify_program(ctx, p, NULL));
  replay(p);
  fsched_program_destroy(p);
  fsched_diag_clear(ctx); /* it warns of steps that differ */
}
END_TEST

static void must_refuse(const char *text, const char *why) {
  fsched_program *p;
  ck_assert_int_ne(compile_text(text, &p), FSCHED_OK);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "unsupported");
  ck_assert_msg(strstr(fsched_diag_get(ctx, 0)->message, why) != NULL, "%s",
                fsched_diag_get(ctx, 0)->message);
  fsched_diag_clear(ctx);
}

#define HEAD                                                               \
  "fsched: 1\ntarget: {queues: [{name: q}], memories: [{name: m}]}\n"      \
  "ops:\n- {name: init, args: [{out: x, size: 64}, {out: y, size: 64}]}\n" \
  "- loop: l\n  trip: 100000\n  buffers: "

START_TEST(what_cannot_be)
{
  must_refuse(HEAD
              "{x: {depth: 2, prefetch: 1}}\n  ops:\n"
              "  - {name: load, args: [{in: y}, {out: x}]}\n"
              "  - {name: use, args: [{in: x}, {out_existing: y}]}\n",
              "no order of its ops keeps a prefetch");
  must_refuse(HEAD
              "{x: {depth: 65, every: 65}}\n  ops:\n"
              "  - {name: load, args: [{out: x}]}\n  - {name: use, args: [{in: x}]}\n",
              "more than 64 copies");
}
END_TEST

static uint64_t makespan_for(const char *text, uint32_t effort) {
  fsched_program *p;
  ck_fs(ctx, compile_for(text, effort, &p));
  uint64_t makespan = p->view.meta->makespan;
  fsched_program_destroy(p);
  return makespan;
}

/* Ops of many lengths on three queues, each behind one or two others: more copies of the body share
 * the work more evenly, if there is time to find them. */
START_TEST(more_effort)
{
  char text[4096];
  int better = 0;
  for (uint32_t seed = 0; seed < 6; seed++) {
    fs_rng rng = {seed};
    int n = snprintf(text, sizeof text,
                     "fsched: 1\ntarget: {queues: [{name: p}, {name: q}, {name: r}], memories: "
                     "[{name: m}]}\nops:\n- loop: l\n  trip: 100000\n  ops:\n");
    for (uint32_t op = 0; op < 24; op++) {
      uint32_t time = 3 + fs_rng_below(&rng, 17), from = fs_rng_below(&rng, op + 1);
      n += snprintf(text + n, sizeof text - (size_t)n,
                    "  - {name: o%u, time: %u, args: [{out: b%u, size: 64}", op, time, op);
      n += from == op ? 0 : snprintf(text + n, sizeof text - (size_t)n, ", {in: b%u}", from);
      n += snprintf(text + n, sizeof text - (size_t)n, "]}\n");
    }
    uint64_t low = makespan_for(text, FSCHED_EFFORT(0)), usual = makespan_for(text, 0);
    uint64_t high = makespan_for(text, FSCHED_EFFORT(6));
    ck_assert(usual == makespan_for(text, FSCHED_EFFORT(FSCHED_EFFORT_USUAL)));
    ck_assert(high <= usual + 1000 && usual <= low + 1000); /* but for both ends */
    better += high + 1000 < low;
  }
  ck_assert_int_ge(better, 2);
}
END_TEST

START_TEST(too_much_effort)
{
  fsched_program *p;
  ck_assert_int_eq(
      compile_for("fsched: 1\nops:\n- {name: a}\n", FSCHED_EFFORT(FSCHED_EFFORT_MOST + 1), &p),
      FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "bad-argument");
  fsched_diag_clear(ctx);
}
END_TEST

FS_SUITE(loop_keys, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, MOST + 1, empty_waits, empty_waits_of_carried, prefetches);
  FS_LOOPS(t, 0, 15, empty_waits_of_open);
  FS_TESTS(t, trip_facts, prefetch_and_open_depth, writer_reads_what_is_given_back, what_cannot_be,
           more_effort, too_much_effort);
}
