/* SPDX-License-Identifier: Apache-2.0 */
/* Loops on CUDA: byte for byte what their unrolling writes, in whatever order the driver executes,
 * with as many events for any number of trips. */
#include <string.h>

#include "exec/loops/loop_maker.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "kit/chain_gen.h"
#include "kit/nest_gen.h"
#include "kit/turn.h"
#include "model/stream/stream.h"

#include "exec/cuda/cuda_case.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 20, SOME = 20 };
#else
enum { GRAPHS = 100, SOME = 40 };
#endif

typedef struct cuda_loop_output {
  uint8_t y[FS_LOOP_GEN_Y], z[FS_LOOP_GEN_Z];
} cuda_loop_output;

/* What a graph's parameter is; NULL: it has none. */
static const char *set_param;
static fsched_trips trips;

static fsched_status compile_loop(const char *text, bool unroll, fsched_program **out) {
  fsched_read_options o = {.size = sizeof o, .unroll = unroll};
  o.params = &set_param;
  o.n_params = unroll && set_param != NULL;
  fsched_compile_options c = {.size = sizeof c, .effort = FSCHED_EFFORT(0), .verify = 1};
  fsched_graph *g;
  *out = NULL;
  fsched_status status = fsched_graph_parse(ctx, "loop.yaml", text, strlen(text), &o, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &c, NULL, out);
    fsched_graph_destroy(g);
  }
  return status;
}

static bool has_param(const fsched_program *p) {
  bool found = false;
  for (uint32_t l = 0; l < p->view.n_loops; l++) {
    found = found || p->view.loops[l].param != FS_NONE;
  }
  return found;
}

static void replay_with(uint64_t seed, const fsched_program *p, fsched_replay_options o,
                        cuda_loop_output *out) {
  fsched_binding binding[] = {{.buffer = "y", .data = out->y, .bytes = sizeof out->y},
                              {.buffer = "z", .data = out->z, .bytes = sizeof out->z}};
  fsched_replay_result r = {.size = sizeof r};
  memset(out, 0, sizeof *out);
  o.size = sizeof o;
  o.check = 1;
  o.trips = &trips;
  o.n_trips = set_param != NULL && has_param(p);
  o.bindings = binding;
  o.n_bindings = 2;
  fsched_status status = fsched_replay(ctx, p, &o, &r);
  ck_assert_msg(status == FSCHED_OK, "seed %lu: %s", (unsigned long)seed,
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
  ck_assert_uint_gt(r.checked_ops, 0);
  fsched_text_free(ctx, r.trace_json, r.trace_length);
}

static const char *const kinds[] = {"cuda", "cuda-graph"};
static int kind; /* of the test at hand */

static fsched_device *cuda_for_loops(uint64_t seed) {
  fsched_device_options d = {.size = sizeof d, .kind = kinds[kind]};
  fsched_device *on;
  if (!cuda_is_real()) {
    fake.reset(&(fake_cuda_controls){.seed = seed});
    d.driver = fake.path;
  }
  ck_fs(ctx, fsched_device_create(ctx, &d, &on));
  return on;
}

/* The fake driver's memory has other bytes for another seed. */
static void run_loop_on_cuda(uint64_t seed, const fsched_program *p, cuda_loop_output *out) {
  fsched_device *on = cuda_for_loops(seed);
  replay_with(seed, p,
              (fsched_replay_options){.device = on,
                                      .repeat = 1 + seed % 3,
                                      .in_flight = 1 + seed % 2,
                                      .trace = seed % 5 == 0,
                                      .pace_ns = seed % 7 == 0,
                                      .pool_bytes = seed % 4 == 0 ? 1 << 22 : 0},
              out);
  fsched_device_release(on);
  if (!cuda_is_real()) {
    cuda_fake_clean(&fake);
  }
}

enum { LOOKS = 3 };

/* Bytes that the unrolled program does not write differ from one of its runs to another, and are
 * left out. */
static void must_write(uint64_t seed, const fsched_program *flat, const cuda_loop_output *got) {
  cuda_loop_output want, look[LOOKS];
  replay_with(seed, flat, (fsched_replay_options){0}, &want);
  for (uint64_t i = 0; i < LOOKS; i++) {
    run_loop_on_cuda(seed + i + 1, flat, &look[i]);
  }
  const uint8_t *w = (const uint8_t *)&want, *g = (const uint8_t *)got;
  for (size_t i = 0; i < sizeof want; i++) {
    bool written = true;
    for (uint32_t k = 0; k < LOOKS; k++) {
      written = written && ((const uint8_t *)&look[k])[i] == w[i];
    }
    ck_assert_msg(!written || w[i] == g[i], "seed %lu: other bytes", (unsigned long)seed);
  }
}

/* Whether the graph is right as a loop and unrolled; then both must do the same. */
static uint32_t n_groups; /* of the test at hand */

/* The ops in loops whose members have args of their own. */
static uint32_t count_groups(const fsched_program *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->view.n_loop_ops; i++) {
    n += p->view.loop_ops[i].n_members > 1;
  }
  return n;
}

static bool same_as_unrolled(uint64_t seed, const char *text) {
  fsched_program *flat, *loop = NULL;
  cuda_loop_output got;
  bool right =
      compile_loop(text, true, &flat) == FSCHED_OK && compile_loop(text, false, &loop) == FSCHED_OK;
  n_groups += right ? count_groups(loop) : 0;
  if (right) {
    run_loop_on_cuda(seed, loop, &got);
    if (!cuda_is_real()) {
      must_write(seed, flat, &got);
    }
  }
  fsched_program_destroy(loop);
  fsched_program_destroy(flat);
  fsched_diag_clear(ctx);
  return right;
}

static uint32_t count_right(uint64_t part, void (*generate)(uint64_t, fs_text *), uint64_t n) {
  uint32_t right = 0;
  for (uint64_t k = 0; k < n; k++) {
    uint64_t seed = (fs_turn() * 10 + part) * GRAPHS + k;
    fs_text t;
    fs_text_init(&t, ctx);
    generate(seed, &t);
    fs_text_add(&t, "", 1);
    ck_assert(!t.failed);
    right += same_as_unrolled(seed, t.at);
    fs_text_drop(&t);
  }
  return right;
}

/* Lets the first loop of a graph take its trips from a parameter, from 0 to as many as it had. */
static void put_param(fs_text *t, uint64_t seed) {
  static const char key[] = "trip: ";
  char *at = strstr(t->at, key), *end;
  ck_assert_ptr_nonnull(at);
  uint64_t most = strtoull(at + sizeof key - 1, &end, 10);
  fs_text out;
  fs_text_init(&out, ctx);
  fs_text_add(&out, t->at, (size_t)(at - t->at));
  fs_text_printf(&out, "trip: {param: p, min: 0, max: %llu}%s", (unsigned long long)most, end);
  fs_text_add(&out, "", 1);
  fs_text_drop(t);
  *t = out;
  trips = (fsched_trips){"p", seed % (most + 1)};
}

static uint32_t count_with_trips(uint64_t part, void (*generate)(uint64_t, fs_text *), uint64_t n) {
  char set[32];
  uint32_t right = 0;
  for (uint64_t k = 0; k < n; k++) {
    uint64_t seed = (fs_turn() * 10 + part) * GRAPHS + k;
    fs_text t;
    fs_text_init(&t, ctx);
    generate(seed, &t);
    fs_text_add(&t, "", 1);
    put_param(&t, seed);
    ck_assert(!t.failed);
    (void)snprintf(set, sizeof set, "p=%llu", (unsigned long long)trips.trips);
    set_param = set;
    right += same_as_unrolled(seed, t.at);
    set_param = NULL;
    fs_text_drop(&t);
  }
  return right;
}

START_TEST(trips_on_a_device)
{
  kind = 0;
  fs_assert_seen(count_with_trips(4, fs_loop_gen, GRAPHS), GRAPHS / 10);
  fs_assert_seen(count_with_trips(5, fs_nest_gen, GRAPHS), GRAPHS / 20);
  fs_assert_seen(count_with_trips(6, fs_loop_gen_barriers, GRAPHS), GRAPHS / 25);
}
END_TEST

START_TEST(loops_on_a_device)
{
  kind = _i;
  fs_assert_seen(count_right(2 * (uint64_t)_i, fs_loop_gen, GRAPHS), GRAPHS / 4);
}
END_TEST

START_TEST(nests_on_a_device)
{
  kind = _i;
  fs_assert_seen(count_right(2 * (uint64_t)_i + 1, fs_nest_gen, GRAPHS), GRAPHS / 10);
}
END_TEST

/* Members with args of their own, each beside the others. */
START_TEST(members_on_a_device)
{
  uint64_t part = 40 + 4 * (uint64_t)_i;
  kind = _i;
  fs_assert_seen(count_right(part, fs_loop_gen_gangs, GRAPHS), GRAPHS / 8);
  fs_assert_seen(count_right(part + 1, fs_nest_gen_gangs, SOME), SOME / 10);
  fs_assert_seen(n_groups, GRAPHS / 5);
  if (_i == 0) {
    fs_assert_seen(count_with_trips(part + 2, fs_loop_gen_gangs, SOME), SOME / 8);
    fs_assert_seen(count_with_trips(part + 3, fs_nest_gen_gangs, SOME), SOME / 16);
  }
}
END_TEST

/* Values that return to their slots when a run is over. */
START_TEST(chains_on_a_device)
{
  kind = _i;
  fs_assert_seen(count_right(30 + (uint64_t)_i, fs_chain_gen, SOME), SOME / 4);
}
END_TEST

/* Barriers and syncs of loops are what their waits say; the queues of joined runs do not meet. */
START_TEST(syncs_on_a_device)
{
  uint64_t part = 20 + 4 * (uint64_t)_i;
  kind = _i;
  fs_assert_seen(count_right(part, fs_loop_gen_barriers, SOME), SOME / 4);
  fs_assert_seen(count_right(part + 1, fs_nest_gen_barriers, SOME), SOME / 10);
  fs_assert_seen(count_right(part + 2, fs_loop_gen_syncs, SOME), SOME / 4);
  fs_assert_seen(count_right(part + 3, fs_nest_gen_syncs, SOME), SOME / 10);
  fs_assert_seen(count_right(part, fs_nest_gen_joined, SOME), SOME / 4);
  fs_assert_seen(count_right(part + 3, fs_nest_gen_joined_barriers, SOME), SOME / 4);
}
END_TEST

/* A load and a use on two queues, in a ring of three slots. */
static fsched_program *compile_ring(uint32_t trip) {
  char text[600];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\nname: n\n"
                 "target:\n  queues: [{name: a, class: a}, {name: b, class: b}]\n"
                 "  memories: [{name: m, capacity: 64KiB}]\n"
                 "buffers: [{name: y, size: %u, io: output}, {name: z, size: 64, io: output}]\n"
                 "ops:\n  - loop: L\n    trip: %u\n    buffers: {t: {depth: 3}}\n    ops:\n"
                 "      - {name: load, on: a, args: [{out: t, size: 64}]}\n"
                 "      - {name: use, on: b, args: [{in: t}, {out_existing: y}]}\n"
                 "  - {name: end, on: b, args: [{out: z, size: 64}]}\n",
                 FS_LOOP_GEN_Y, trip);
  fsched_program *p;
  ck_fs(ctx, compile_loop(text, false, &p));
  ck_assert_uint_eq(p->view.n_loops, 1);
  return p;
}

static uint64_t events_for(uint32_t trip) {
  cuda_loop_output out;
  fsched_program *p = compile_ring(trip);
  fsched_device *on = cuda_for_loops(trip);
  replay_with(trip, p, (fsched_replay_options){.device = on}, &out);
  uint64_t events = fake.calls("cuEventCreate");
  ck_assert_uint_ge(fake.calls("cuLaunchKernel"), 2 * (uint64_t)trip);
  fsched_device_release(on);
  fsched_program_destroy(p);
  cuda_fake_clean(&fake);
  return events;
}

START_TEST(events_for_any_trips)
{
  uint64_t few = events_for(5);
  fs_assert_seen(few, 0);
  ck_assert_uint_eq(events_for(2000), few);
}
END_TEST

static uint64_t launches_with(uint64_t pace_ns) {
  cuda_loop_output out;
  fsched_program *p = compile_ring(7);
  fsched_device *on = cuda_for_loops(7);
  replay_with(7, p, (fsched_replay_options){.device = on, .pace_ns = pace_ns}, &out);
  uint64_t launches = fake.calls(kind == 0 ? "cuLaunchKernel" : "cuGraphAddKernelNode");
  fsched_device_release(on);
  fsched_program_destroy(p);
  cuda_fake_clean(&fake);
  return launches;
}

/* Each instance of each op is held back, and the op behind the loop; the loop as such is not.  A
 * graph is made ahead, and once more with digests. */
START_TEST(each_instance_is_paced)
{
  kind = _i;
  ck_assert_uint_eq(launches_with(1) - launches_with(0), (2 * 7 + 1) * (1 + (uint64_t)kind));
}
END_TEST

static fsched_status load_ring(uint32_t trip) {
  fsched_program *p = compile_ring(trip);
  fsched_device *on = cuda_for_loops(trip);
  fsched_exec_options o = {.size = sizeof o, .device = on};
  fsched_exec *x;
  fsched_entry *e;
  ck_fs(ctx, fsched_exec_create(ctx, &o, &x));
  fsched_status status = fsched_exec_load(ctx, x, p, &e);
  fsched_exec_destroy(x);
  fsched_device_release(on);
  fsched_program_destroy(p);
  return status;
}

/* A graph has 16384 instances at most. */
START_TEST(limit_of_graphs)
{
  kind = 1;
  ck_assert_int_eq(load_ring(1), FSCHED_OK);
  ck_assert_int_eq(load_ring(8192), FSCHED_OK);
  ck_assert_int_eq(load_ring(8193), FSCHED_USAGE);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "unsupported");
  ck_assert_str_eq(
      fsched_diag_get(ctx, 0)->message,
      "a CUDA graph has nodes for each iteration of each op in a loop, here 16386, and "
      "at most 16384");
  fsched_diag_clear(ctx);
  ck_assert_int_eq(load_ring(UINT32_MAX), FSCHED_USAGE);
}
END_TEST

/* How many there are has to be known when it is made. */
START_TEST(graphs_of_parameters)
{
  static lm_maker l;
  lm_init(&l, ctx, 1);
  (void)mk_queue(&l.m, "p");
  uint32_t sum = lm_buffer(&l, "sum", 16, true), loop = lm_loop(&l, "L", 4, 1);
  mk_arg(&l.m, FSCHED_INOUT, sum);
  (void)lm_op(&l, "A", FS_NONE);
  lm_arg(&l, FSCHED_INOUT, sum, 0, 16, 0);
  lm_plan_in_turn(&l, 1);
  (void)mk_run(&l.m, 0, l.loops[loop].op);
  const fs_stream_param param = {.least = 4, .most = 9, .name = mk_string(&l.m, "n")};
  l.m.program.view.params = &param;
  l.m.program.view.n_params = 1;
  l.loops[loop].param = 0;
  l.loops[loop].most = 9;
  lm_seal(&l);
  kind = 1;
  fsched_device *on = cuda_for_loops(1);
  fsched_replay_options o = {.size = sizeof o, .device = on};
  ck_assert_int_eq(fsched_replay(ctx, &l.m.program, &o, NULL), FSCHED_USAGE);
  ck_assert_str_eq(
      fsched_diag_get(ctx, 0)->message,
      "a CUDA graph has nodes for each iteration, and those of loop 'L' are as many as "
      "its parameter 'n' says at each invocation");
  l.loops[loop].param = FS_NONE;
  ck_fs(ctx, fsched_replay(ctx, &l.m.program, &o, NULL));
  fsched_device_release(on);
}
END_TEST

FS_SUITE(cuda_loops, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_cuda(t);
  FS_LOOPS(t, 0, 2, loops_on_a_device, nests_on_a_device, members_on_a_device, chains_on_a_device,
           syncs_on_a_device);
  FS_TESTS(t, trips_on_a_device, graphs_of_parameters, limit_of_graphs);
  if (!cuda_is_real()) {
    FS_TESTS(t, events_for_any_trips);
    FS_LOOPS(t, 0, 2, each_instance_is_paced);
  }
}
