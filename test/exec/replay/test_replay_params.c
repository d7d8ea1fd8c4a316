/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that take their trips from a parameter, compiled once: with each number of trips in their
 * range, byte for byte what the graph's unrolling for that number writes. */
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "kit/loop_gen.h"
#include "kit/nest_gen.h"
#include "kit/turn.h"

#include "codegen/stream_kit.h"
#include "exec/replay/outputs.h"
#include "kit/context.h"
#include "kit/gen.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 25, LEAST = GRAPHS / 12, MOST = GRAPHS / 3 }; /* few: wide limits */
#else
enum { GRAPHS = 120, LEAST = GRAPHS / 6, MOST = GRAPHS / 5 };
#endif
enum { PARAMS = 2, TRIED = 4 };

typedef struct param_range {
  uint64_t least, most;
  bool used;
} param_range;

typedef struct param_case {
  uint64_t seed;
  fs_rng rng;
  fs_text text;
  param_range range[PARAMS];
  fsched_trips trips[PARAMS];
  char set[PARAMS][32];
  const char *params[PARAMS];
  uint32_t n;
} param_case;

typedef struct param_counts {
  uint32_t right, refused, unsupported, too_large;
} param_counts;

static const char *const names[PARAMS] = {"p0", "p1"};

/* Lets a loop of so many trips take them from a parameter. */
static void put_param(param_case *c, fs_text *out, uint64_t trip) {
  uint32_t k = (uint32_t)fs_rng_below(&c->rng, PARAMS);
  uint64_t least = fs_rng_one_in(&c->rng, 2) ? 0 : fs_rng_below(&c->rng, trip + 1);
  param_range *r = &c->range[k];
  fs_text_printf(out, "{param: %s, min: %llu, max: %llu}", names[k], (unsigned long long)least,
                 (unsigned long long)trip);
  r->least = r->used && r->least > least ? r->least : least;
  r->most = r->used && r->most < trip ? r->most : trip;
  r->used = true;
}

/* Gives loops of a graph parameters, three of four. */
static void give_params(param_case *c) {
  static const char trip[] = "trip: ";
  fs_text out;
  fs_text_init(&out, ctx);
  for (const char *p = c->text.at; *p != '\0'; p++) {
    if (strncmp(p, trip, sizeof trip - 1) != 0 || fs_rng_one_in(&c->rng, 4)) {
      fs_text_add(&out, p, 1);
      continue;
    }
    char *end;
    uint64_t n = strtoull(p + sizeof trip - 1, &end, 10);
    fs_text_puts(&out, trip);
    put_param(c, &out, n);
    p = end - 1;
  }
  fs_text_add(&out, "", 1);
  fs_text_drop(&c->text);
  c->text = out;
  ck_assert(!out.failed);
}

/* Chooses numbers of trips: the least, the most, or others. */
static void choose_trips(param_case *c, uint32_t turn) {
  c->n = 0;
  for (uint32_t k = 0; k < PARAMS; k++) {
    const param_range *r = &c->range[k];
    if (!r->used) {
      continue;
    }
    uint64_t n = turn == 0   ? r->least
                 : turn == 1 ? r->most
                             : r->least + fs_rng_below(&c->rng, r->most - r->least + 1);
    (void)snprintf(c->set[c->n], sizeof c->set[0], "%s=%llu", names[k], (unsigned long long)n);
    c->params[c->n] = c->set[c->n];
    c->trips[c->n++] = (fsched_trips){names[k], n};
  }
}

/* The loader takes what was compiled. */
static void reload(const param_case *c, fsched_program **p) {
  fsched_program *loaded;
  size_t size;
  const void *bytes = fsched_program_bytes(*p, &size);
  fs_status status = fsched_program_load(ctx, "loop.fsb", bytes, size, &loaded);
  ck_assert_msg(status == FSCHED_OK, "seed %lu: %s", (unsigned long)c->seed,
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
  fsched_program_destroy(*p);
  *p = loaded;
}

/* The program tells the parameters of the graph's loops, with the ranges that these share. */
static void check_ranges(const param_case *c, const fsched_program *p) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < PARAMS; k++) {
    n += c->range[k].used;
  }
  ck_assert_uint_eq(fsched_program_params(p), n);
  for (uint32_t i = 0; i < n; i++) {
    fsched_param_range got = fsched_program_param(p, i);
    uint32_t k = 0;
    while (k < PARAMS && !(c->range[k].used && strcmp(names[k], got.name) == 0)) {
      k++;
    }
    ck_assert_uint_lt(k, PARAMS);
    ck_assert_uint_eq(got.min, c->range[k].least);
    ck_assert_uint_eq(got.max, c->range[k].most);
  }
}

static fs_status compile(const param_case *c, bool unroll, fsched_program **out) {
  fsched_read_options o = {.size = sizeof o, .unroll = unroll};
  fsched_compile_options k = {.size = sizeof k, .effort = FSCHED_EFFORT(0), .verify = 1};
  fsched_graph *g;
  *out = NULL;
  if (unroll) {
    o.params = c->params;
    o.n_params = c->n;
  }
  fs_status status = fsched_graph_parse(ctx, "loop.yaml", c->text.at, strlen(c->text.at), &o, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &k, NULL, out);
    fsched_graph_destroy(g);
  }
  if (status == FSCHED_OK) {
    reload(c, out);
  }
  return status;
}

/* All parameters are known, also those whose loops never run; n: 0 if they have their values. */
static fs_outputs replay(const param_case *c, const fsched_program *p, uint32_t n,
                         fsched_device *device) {
  fs_outputs out = fs_outputs_of(p);
  fsched_replay_options o = {.size = sizeof o, .check = 1, .device = device};
  o.threads = (uint32_t)(c->seed % 3);
  o.bindings = out.at;
  o.n_bindings = out.n;
  o.repeat = 1 + c->seed % 3;
  o.trips = c->trips;
  o.n_trips = n;
  fs_status status = fsched_replay(ctx, p, &o, NULL);
  ck_assert_msg(status == FSCHED_OK, "seed %lu: %s", (unsigned long)c->seed,
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
  return out;
}

/* Compares runs with the chosen trips with those of the unrolled graph, which must be there. */
static void compare(const param_case *c, const fsched_program *loop) {
  fsched_program *flat;
  static const char depth[] = "the depth of", state[] = "the given content of state";
  fsched_diag_clear(ctx);
  fs_status status = compile(c, true, &flat);
  const char *why = status == FSCHED_BAD_INPUT ? fsched_diag_get(ctx, 0)->message : "";
  if (strncmp(why, depth, sizeof depth - 1) == 0 || strncmp(why, state, sizeof state - 1) == 0) {
    return; /* slots that are given order ops of an unrolled graph more than those of a loop; and a
             * state has one place there, here several */
  }
  ck_assert_msg(status == FSCHED_OK, "seed %lu, %s %s: unrolled it is refused: %s",
                (unsigned long)c->seed, c->n > 0 ? c->set[0] : "", c->n > 1 ? c->set[1] : "",
                fsched_diag_get(ctx, 0)->message);
  fs_outputs want = replay(c, flat, 0, NULL), got = replay(c, loop, c->n, NULL);
  ck_assert_msg(fs_outputs_same(&want, &got), "seed %lu: other bytes on threads",
                (unsigned long)c->seed);
  fsched_device_options o = {.size = sizeof o, .kind = "sim"};
  fsched_device *device;
  o.durations = FSCHED_DURATIONS_ADVERSARIAL;
  o.seed = c->seed;
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
  fs_outputs_drop(&got);
  got = replay(c, loop, c->n, device);
  ck_assert_msg(fs_outputs_same(&want, &got), "seed %lu: other bytes in simulation",
                (unsigned long)c->seed);
  fs_outputs_drop(&want);
  fs_outputs_drop(&got);
  fsched_device_release(device);
  fsched_program_destroy(flat);
}

static bool is_unsupported(void) {
  bool found = false;
  for (size_t i = 0; i < fsched_diag_count(ctx) && !found; i++) {
    found = strcmp(fsched_diag_get(ctx, i)->code, "unsupported") == 0;
  }
  return found;
}

/* Whether some unrolling is refused: with the fewest trips, or the most. */
static bool is_impossible(param_case *c) {
  bool refused = false;
  for (uint32_t turn = 0; turn < 2 && !refused; turn++) {
    fsched_program *flat;
    choose_trips(c, turn);
    refused = compile(c, true, &flat) != FSCHED_OK;
    fsched_program_destroy(flat);
  }
  return refused;
}

static void judge(param_case *c, param_counts *counts) {
  fsched_program *loop;
  if (compile(c, false, &loop) != FSCHED_OK) {
    bool unsupported = is_unsupported(), refused = is_impossible(c);
    counts->refused += refused;
    counts->unsupported += unsupported && !refused;
    counts->too_large += !unsupported && !refused;
    return;
  }
  check_ranges(c, loop);
  for (uint32_t turn = 0; turn < TRIED; turn++) {
    choose_trips(c, turn);
    compare(c, loop);
  }
  fsched_program_destroy(loop);
  counts->right++;
}

static param_counts judge_all(uint64_t part, void (*generate)(uint64_t, fs_text *)) {
  param_counts counts = {0};
  for (uint64_t k = 0; k < GRAPHS; k++) {
    param_case c = {.seed = (fs_turn() * 10 + part) * GRAPHS + k};
    c.rng.state = c.seed;
    fs_text_init(&c.text, ctx);
    generate(c.seed, &c.text);
    fs_text_add(&c.text, "", 1);
    give_params(&c);
    judge(&c, &counts);
    fs_text_drop(&c.text);
    fsched_diag_clear(ctx);
  }
  return counts;
}

START_TEST(single_loops)
{
  param_counts counts = judge_all((uint64_t)_i, fs_loop_gen);
  fs_assert_seen(counts.right, LEAST);
  ck_assert_uint_lt(counts.unsupported, MOST);
  ck_assert_uint_lt(counts.too_large, MOST);
}
END_TEST

START_TEST(nests)
{
  param_counts counts = judge_all(4 + (uint64_t)_i, fs_nest_gen);
  fs_assert_seen(counts.right, LEAST);
  ck_assert_uint_lt(counts.unsupported, MOST);
  ck_assert_uint_lt(counts.too_large, MOST);
}
END_TEST

START_TEST(joined_nests)
{
  param_counts counts = judge_all(20 + (uint64_t)_i, fs_nest_gen_joined);
  fs_assert_seen(counts.right, LEAST);
}
END_TEST

START_TEST(joined_barred_nests)
{
  param_counts counts = judge_all(24 + (uint64_t)_i, fs_nest_gen_joined_barriers);
  fs_assert_seen(counts.right, LEAST);
}
END_TEST

static void keep_loops(uint64_t seed, fs_text *t) {
  fs_loop_gen(seed, t);
  fs_loop_gen_keep(seed, t);
}
static void keep_nests(uint64_t seed, fs_text *t) {
  fs_nest_gen(seed, t);
  fs_loop_gen_keep(seed, t);
}

/* Values of slots that are given, or kept, or both. */
START_TEST(kept_loops)
{
  param_counts counts = judge_all(12 + (uint64_t)_i, keep_loops);
  fs_assert_seen(counts.right, LEAST);
  ck_assert_uint_lt(counts.unsupported, MOST);
}
END_TEST

START_TEST(kept_nests)
{
  param_counts counts = judge_all(14 + (uint64_t)_i, keep_nests);
  fs_assert_seen(counts.right, LEAST);
  ck_assert_uint_lt(counts.unsupported, MOST);
}
END_TEST

START_TEST(single_loops_with_syncs)
{
  param_counts counts = judge_all(8 + (uint64_t)_i, fs_loop_gen_syncs);
  fs_assert_seen(counts.right, LEAST);
  ck_assert_uint_lt(counts.unsupported, MOST);
  ck_assert_uint_lt(counts.too_large, MOST);
}
END_TEST

START_TEST(nests_with_syncs)
{
  param_counts counts = judge_all(10 + (uint64_t)_i, fs_nest_gen_syncs);
  fs_assert_seen(counts.right, LEAST);
  ck_assert_uint_lt(counts.unsupported, MOST);
  ck_assert_uint_lt(counts.too_large, MOST);
}
END_TEST

/* A value that is used behind loops which may not run; the first word is the trips of the loop
 * around it, the second those of the ring's. */
static const char passed[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}]}\n"
    "buffers: [{name: y, size: 4000, io: output}, {name: z, size: 64, io: output}]\n"
    "ops:\n"
    "  - {name: begin, on: p, args: [{out: s, size: 64}, {out: y}, {out: z}]}\n"
    "  - loop: outer\n"
    "    trip: {param: p0, min: 0, max: %d}\n"
    "    ops:\n"
    "      - {name: show, on: q, args: [{in: s}, {inout: y, at: [0, 64]}]}\n"
    "      - loop: inner\n"
    "        trip: %s\n"
    "        ops: [{name: step, on: q, args: [{in: s, distance: 1}, {out: s}]}]\n"
    "  - {name: last, on: p, args: [{in: s}, {inout: z}]}\n";

/* The same in a loop that begins the value. */
static const char passed_again[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}]}\n"
    "buffers: [{name: y, size: 4000, io: output}, {name: z, size: 64, io: output}]\n"
    "ops:\n"
    "  - {name: first, on: p, args: [{out: y}, {out: z}]}\n"
    "  - loop: all\n"
    "    trip: 3\n"
    "    ops:\n"
    "      - {name: begin, on: p, args: [{out: s, size: 64}]}\n"
    "      - loop: outer\n"
    "        trip: {param: p0, min: 0, max: %d}\n"
    "        ops:\n"
    "          - {name: show, on: q, args: [{in: s}, {out: t, size: 8}]}\n"
    "          - {name: put, on: p, args: [{in: t}, {inout: y, at: [0, 64]}]}\n"
    "          - loop: inner\n"
    "            trip: %s\n"
    "            ops: [{name: step, on: q, args: [{in: s, distance: 1}, {out: s}]}]\n"
    "      - {name: last, on: p, args: [{in: s}, {inout: z}]}\n";

static const struct {
  const char *text, *inner;
  int most;
} passes[] = {
    {passed, "{param: p1, min: 0, max: 7}", 9},
    {passed, "{param: p1, min: 1, max: 7}", 9},
    {passed, "3", 1},
    {passed, "4", 5},
    {passed_again, "{param: p1, min: 0, max: 7}", 9},
    {passed_again, "3", 1},
};

START_TEST(values_used_behind_loops_that_do_not_run)
{
  param_case c = {.seed = fs_turn()};
  fsched_program *loop;
  bool one = passes[_i].inner[0] != '{';
  c.rng.state = c.seed;
  c.range[0] = (param_range){0, (uint64_t)passes[_i].most, true};
  c.range[1] = (param_range){!one && passes[_i].inner[17] == '1', 7, !one};
  fs_text_init(&c.text, ctx);
  fs_text_printf(&c.text, passes[_i].text, passes[_i].most, passes[_i].inner);
  fs_text_add(&c.text, "", 1);
  ck_fs(ctx, compile(&c, false, &loop));
  for (uint32_t turn = 0; turn < TRIED; turn++) {
    choose_trips(&c, turn);
    compare(&c, loop);
  }
  fsched_program_destroy(loop);
  fs_text_drop(&c.text);
}
END_TEST

START_TEST(barred_loops)
{
  param_counts counts = judge_all(2 + (uint64_t)_i, fs_loop_gen_barriers);
  fs_assert_seen(counts.right, LEAST);
  ck_assert_uint_lt(counts.unsupported, MOST);
  ck_assert_uint_lt(counts.too_large, MOST);
}
END_TEST

START_TEST(barred_nests)
{
  param_counts counts = judge_all(6 + (uint64_t)_i, fs_nest_gen_barriers);
  fs_assert_seen(counts.right, LEAST);
  ck_assert_uint_lt(counts.unsupported, MOST);
  ck_assert_uint_lt(counts.too_large, MOST);
}
END_TEST

FS_SUITE(replay_params, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 2, joined_nests, joined_barred_nests, single_loops, nests, barred_loops,
           barred_nests, single_loops_with_syncs, nests_with_syncs, kept_loops, kept_nests);
  FS_LOOPS(t, 0, sizeof passes / sizeof *passes, values_used_behind_loops_that_do_not_run);
}
