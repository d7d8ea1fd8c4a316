/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs in place in loops that stay loops: a chain of values, of which each may take the place of
 * the one before, or may not; the bytes are those of the unrolled graph, and the loop fits where it
 * has to, and into no byte less. */
#include <string.h>

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/quick.h"
#include "kit/turn.h"

#include "codegen/stream_kit.h"
#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 40 };
#else
enum { GRAPHS = 200 };
#endif
enum { VALUE = 8, STAGES = 5, TRIPS = 6 };

/* What a value does with the one before it. */
typedef enum chain_kind {
  PAIR_NONE,      /* nothing is said of places */
  PAIR_PLAIN,     /* it takes its place */
  PAIR_LATER,     /* ... which is used once more */
  PAIR_ORDERED,   /* ... after another op has used that, and handed something on */
  PAIR_UNORDERED, /* ... which another op uses whenever it likes */
  PAIR_CARRIED,   /* ... and uses what it was in the iteration before */
  PAIR_KINDS
} chain_kind;

typedef struct chain_case {
  uint64_t capacity; /* that the loop needs in any case */
  uint32_t shared;   /* values that take the place of others */
  bool param;        /* the trips are one, 0 to 6 */
  fs_text text;
} chain_case;

typedef struct chain_output {
  uint8_t y[VALUE * TRIPS], z[VALUE * STAGES];
} chain_output;

static const char *queue_of(fs_rng *rng) { return fs_rng_one_in(rng, 2) ? "q0" : "q1"; }

/* The op that makes value i of the one before, with those beside it. */
static void put_stage(fs_text *t, fs_rng *rng, uint32_t i, chain_kind kind) {
  if (kind == PAIR_ORDERED || kind == PAIR_UNORDERED) {
    fs_text_printf(t, "          - {name: r%u, on: %s, args: [{in: v%u}, ", i, queue_of(rng),
                   i - 1);
    if (kind == PAIR_ORDERED) {
      fs_text_printf(t, "{out: t%u, size: 8, memory: ddr}]}\n", i);
    } else {
      fs_text_printf(t, "{out_existing: z, at: [%u, 8]}]}\n", VALUE * i);
    }
  }
  fs_text_printf(t, "          - {name: s%u, on: %s, time: %u, args: [{in: v%u}, ", i,
                 queue_of(rng), 1 + (uint32_t)fs_rng_below(rng, 4), i - 1);
  if (kind == PAIR_ORDERED) {
    fs_text_printf(t, "{in: t%u}, ", i);
  } else if (kind == PAIR_CARRIED) {
    fs_text_printf(t, "{in: v%u, distance: 1}, ", i);
  }
  fs_text_printf(t, "{out: v%u}]", i);
  if (kind != PAIR_NONE) {
    fs_text_printf(t, ", inplace: {v%u: v%u}", i, i - 1);
  }
  fs_text_puts(t, "}\n");
  if (kind == PAIR_LATER) {
    fs_text_printf(
        t, "          - {name: u%u, on: %s, args: [{in: v%u}, {out_existing: z, at: [%u, 8]}]}\n",
        i, queue_of(rng), i - 1, VALUE * i);
  }
}

/* What keeps pairs from sharing places where they need not. */
typedef enum chain_way {
  CHAIN_FREE,    /* nothing */
  CHAIN_DEPTH,   /* each value has two slots */
  CHAIN_BARRIERS /* the target's */
} chain_way;

/* Makes a graph with room for `spare` bytes more than it needs. */
static chain_case make_case(uint64_t seed, chain_way way, int64_t spare) {
  chain_case c = {.capacity = VALUE};
  fs_rng rng = {seed};
  chain_kind kind[STAGES];
  uint32_t n = 1 + (uint32_t)fs_rng_below(&rng, STAGES - 1);
  bool carried = false; /* by the last value */
  for (uint32_t i = 1; i <= n; i++) {
    kind[i] = (chain_kind)fs_rng_below(&rng, PAIR_KINDS);
    if (kind[i] == PAIR_CARRIED && way == CHAIN_DEPTH) {
      kind[i] = PAIR_PLAIN;
    }
    bool shares = kind[i] == PAIR_PLAIN || kind[i] == PAIR_ORDERED || kind[i] == PAIR_CARRIED;
    shares = shares && !carried;
    carried = kind[i] == PAIR_CARRIED;
    c.shared += shares;
    /* What is carried takes a slot more, as it is still used when the next one begins. */
    c.capacity += (uint64_t)VALUE * (!shares + carried);
  }
  c.capacity *= way == CHAIN_DEPTH ? 2 : 1;
  fs_text_init(&c.text, ctx);
  fs_text *t = &c.text;
  fs_text_printf(t,
                 "fsched: 1\ntarget:\n  queues: [{name: q0}, {name: q1}]\n"
                 "%s  memories: [{name: ddr}, {name: m, capacity: %6llu}]\nbuffers:\n"
                 "  - {name: x, size: 48, memory: ddr, io: input}\n"
                 "  - {name: y, size: 48, memory: ddr, io: output}\n"
                 "  - {name: z, size: 40, memory: ddr, io: output}\n",
                 way == CHAIN_BARRIERS ? "  sync: barrier\n  barriers: {count: auto}\n"
                 : seed % 3 == 0       ? "  sync: block\n"
                                       : "",
                 (unsigned long long)(c.capacity + (uint64_t)spare));
  for (uint32_t i = 0; i <= n; i++) {
    fs_text_printf(t, "  - {name: v%u, size: 8, memory: m}\n", i);
  }
  fs_text_puts(t, "ops:\n  - {name: init, on: q0, args: [{out: z}, {out: y}]}\n");
  for (uint32_t i = 1; i <= n; i++) {
    if (kind[i] == PAIR_CARRIED) {
      fs_text_printf(t, "  - {name: e%u, on: q0, args: [{out: v%u}]}\n", i, i);
    }
  }
  bool behind = fs_rng_one_in(&rng, 2), nested = fs_rng_one_in(&rng, 3) && way != CHAIN_DEPTH;
  c.param = !behind && fs_rng_one_in(&rng, 2);
  fs_text_puts(t, nested ? "  - loop: N\n    trip: 2\n    ops:\n" : "");
  const char *in = nested ? "      " : "  ", *trip = c.param ? "{param: n, min: 0, max: 6}" : "6";
  fs_text_printf(t, "%s- loop: L\n%s  trip: %s\n", in, in, trip);
  for (uint32_t i = 0; i <= n && way == CHAIN_DEPTH; i++) {
    fs_text_printf(t, "%s%s%sv%u: {depth: 2}", i == 0 ? in : "", i == 0 ? "  buffers: {" : "",
                   i == 0 ? "" : ", ", i);
  }
  fs_text_printf(t, "%s%s  ops:\n", way == CHAIN_DEPTH ? "}\n" : "", in);
  fs_text_printf(
      t,
      "          - {name: load, on: %s, time: 2, args: [{in: x, at: {length: 8, step: %s}}, "
      "{out: v0}]}\n",
      queue_of(&rng), nested ? "[0, 8]" : "8");
  for (uint32_t i = 1; i <= n; i++) {
    put_stage(t, &rng, i, kind[i]);
  }
  fs_text_printf(t,
                 "          - {name: store, on: %s, time: 2, args: [{in: v%u}, {out_existing: y, "
                 "at: {length: 8, step: %s}}]}\n",
                 queue_of(&rng), n, nested ? "[0, 8]" : "8");
  if (behind) {
    fs_text_printf(t, "  - {name: fin, on: q0, args: [{in: v%u}, {out_existing: z, at: [0, 8]}]}\n",
                   n);
  }
  fs_text_add(t, "", 1);
  ck_assert(!t->failed);
  return c;
}

/* `set`: of an unrolled graph; NULL: it has no parameter. */
static fs_status compile(const char *text, bool unroll, const char *set, fsched_program **out) {
  fsched_read_options o = {.size = sizeof o, .unroll = unroll};
  fsched_compile_options k = {.size = sizeof k, .effort = FS_QUICK, .verify = 1};
  o.params = &set;
  o.n_params = unroll && set != NULL;
  fsched_graph *g;
  *out = NULL;
  fs_status status = fsched_graph_parse(ctx, "pairs.yaml", text, strlen(text), &o, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &k, NULL, out);
    fsched_graph_destroy(g);
  }
  return status;
}

static void must_compile(const char *text, bool unroll, const char *set, fsched_program **out) {
  fs_status status = compile(text, unroll, set, out);
  ck_assert_msg(status == FSCHED_OK, "status %d: %s, in\n%s", status, fs_first_message(ctx), text);
}

static void replay(const char *text, const fsched_program *p, const char *kind,
                   const fsched_trips *trips, chain_output *out) {
  fsched_binding binding[] = {{.buffer = "y", .data = out->y, .bytes = sizeof out->y},
                              {.buffer = "z", .data = out->z, .bytes = sizeof out->z}};
  fsched_device_options d = {.size = sizeof d, .kind = kind};
  d.durations = FSCHED_DURATIONS_ADVERSARIAL;
  fsched_device *device;
  ck_fs(ctx, fsched_device_create(ctx, &d, &device));
  fsched_replay_options o = {.size = sizeof o, .check = 1, .device = device};
  fsched_replay_result r = {.size = sizeof r};
  o.bindings = binding;
  o.n_bindings = 2;
  o.trips = trips;
  o.n_trips = trips != NULL;
  memset(out, 0, sizeof *out);
  fs_status status = fsched_replay(ctx, p, &o, &r);
  ck_assert_msg(status == FSCHED_OK, "on %s: %s, in\n%s", kind, fs_first_message(ctx), text);
  fsched_device_release(device);
}

/* How many ops of the loop begin a value over another one. */
static uint32_t n_shared(const fsched_program *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->view.n_loop_args; i++) {
    n += p->view.loop_args[i].begins;
  }
  return n;
}

/* Compares the loop with its unrolling. */
static void compare(uint64_t seed, chain_case *c) {
  fsched_program *flat, *loop;
  chain_output want, got;
  char set[16];
  fsched_trips trips = {"n", seed % (TRIPS + 1)};
  (void)snprintf(set, sizeof set, "n=%u", (unsigned)trips.trips);
  must_compile(c->text.at, false, NULL, &loop);
  ck_assert_uint_gt(loop->view.n_loops, 0);
  ck_assert_msg(n_shared(loop) == c->shared, "%u, and not %u, in\n%s", n_shared(loop), c->shared,
                c->text.at);
  /* The order in which it is listed may need more. */
  memcpy(strstr(c->text.at, "capacity: ") + strlen("capacity: "), "999999", 6);
  must_compile(c->text.at, true, c->param ? set : NULL, &flat);
  replay(c->text.at, flat, "cpu", NULL, &want);
  for (int kind = 0; kind < 2; kind++) {
    replay(c->text.at, loop, kind == 0 ? "cpu" : "sim", c->param ? &trips : NULL, &got);
    ck_assert_msg(memcmp(&want, &got, sizeof want) == 0, "other bytes, in\n%s", c->text.at);
  }
  fsched_program_destroy(flat);
  fsched_program_destroy(loop);
}

START_TEST(as_unrolled)
{
  uint32_t shared = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = fs_turn() * GRAPHS + k;
    chain_case c = make_case(seed, CHAIN_FREE, (int64_t)(VALUE * (seed % 5)));
    compare(seed, &c);
    shared += c.shared;
    fs_text_drop(&c.text);
    fsched_diag_clear(ctx);
  }
  fs_assert_seen(shared, GRAPHS / 2);
}
END_TEST

/* Depths that are given, or barriers, keep them apart, but where nothing else fits. */
START_TEST(where_it_is_needed)
{
  uint32_t shared = 0;
  for (uint64_t k = 0; k < GRAPHS / 2; k++) {
    uint64_t seed = fs_turn() * GRAPHS + k;
    chain_way way = k % 2 == 0 ? CHAIN_DEPTH : CHAIN_BARRIERS;
    for (int room = 0; room < 2; room++) {
      chain_case c = make_case(seed, way, room * 4096);
      shared += c.shared;
      c.shared = room == 0 ? c.shared : 0;
      compare(seed, &c);
      fs_text_drop(&c.text);
      fsched_diag_clear(ctx);
    }
  }
  fs_assert_seen(shared, GRAPHS / 4);
}
END_TEST

START_TEST(into_no_byte_less)
{
  for (uint64_t k = 0; k < GRAPHS / 2; k++) {
    chain_case c = make_case(fs_turn() * GRAPHS + k, (chain_way)(k % 3), -1);
    fsched_program *p;
    fs_status status = compile(c.text.at, false, NULL, &p);
    ck_assert_msg(status == FSCHED_INFEASIBLE, "status %d, in\n%s", status, c.text.at);
    fs_text_drop(&c.text);
    fsched_diag_clear(ctx);
  }
}
END_TEST

FS_SUITE(replay_pairs, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, as_unrolled, where_it_is_needed, into_no_byte_less);
}
