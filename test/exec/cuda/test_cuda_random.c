/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs, compiled, verified and replayed on CUDA: every byte and every op's digest must be
 * that of a sequential evaluation, in whatever order the driver executes. */
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/quick.h"
#include "model/stream/stream.h"

#include "exec/cuda/cuda_case.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 9 };
#else
enum { GRAPHS = 12 };
#endif

static fsched_replay_result total;

static void assert_ok(fsched_status status, uint64_t seed, const char *what) {
  ck_assert_msg(status == FSCHED_OK, "seed %llu, %s: status %d: %s", (unsigned long long)seed, what,
                status, fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
}

static void compile_and_replay(uint64_t seed, const fs_gen_params *params, const char *kind,
                               fsched_replay_options o) {
  fsched_graph *graph;
  fsched_program *program;
  fsched_replay_result r = {.size = sizeof r};
  fsched_device_options d = {.size = sizeof d, .kind = kind};
  if (!cuda_is_real()) {
    fake.reset(&(fake_cuda_controls){.seed = seed});
    d.driver = fake.path;
  }
  assert_ok(fs_gen_graph(ctx, params, &graph), seed, "generate");
  fsched_compile_options c = {.size = sizeof c, .effort = FS_QUICK};
  c.barriers = params->sync == FSCHED_SYNC_BARRIER ? FSCHED_BARRIERS_AUTO : 0;
  assert_ok(fsched_compile(ctx, graph, &c, NULL, &program), seed, "compile");
  assert_ok(fsched_verify_program(ctx, program, graph), seed, "verify");
  assert_ok(fsched_device_create(ctx, &d, &o.device), seed, "device");
  o.size = sizeof o;
  o.check = program->view.n_races == 0;
  assert_ok(fsched_replay(ctx, program, &o, &r), seed, "replay");
  fsched_device_release(o.device);
  if (!cuda_is_real()) {
    cuda_fake_clean(&fake);
  }
  total.checked_ops += r.checked_ops;
  total.checked_bytes += r.checked_bytes;
  total.commands += r.commands;
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  fsched_program_destroy(program);
  fsched_graph_destroy(graph);
}

static const char *kind_of(int loop) { return loop == 0 ? "cuda" : "cuda-graph"; }

START_TEST(any_graph)
{
  total = (fsched_replay_result){0};
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    fs_gen_params params = fs_gen_any(seed, 60);
    params.members = params.gangs;
    params.views = params.ats;
    compile_and_replay(seed, &params, kind_of(_i),
                       (fsched_replay_options){.repeat = 1 + seed % 3, .trace = seed % 5 == 0});
  }
  ck_assert_uint_gt(total.checked_ops, GRAPHS);
  ck_assert_uint_gt(total.checked_bytes, GRAPHS);
}
END_TEST

/* Each graph uses everything that touches memory at once, with room for little more than one op,
 * and several slots; every other one has a pool. */
START_TEST(tight_memory)
{
  total = (fsched_replay_result){0};
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    fs_gen_params params = fs_gen_tight(seed, 50);
    params.members = params.gangs;
    params.views = params.ats;
    compile_and_replay(seed, &params, kind_of(_i),
                       (fsched_replay_options){
                           .repeat = 3, .in_flight = 2, .pool_bytes = seed % 2 == 0 ? 1 << 20 : 0});
  }
  ck_assert_uint_gt(total.commands, total.checked_ops); /* there were spills */
}
END_TEST

/* These graphs have gangs, ops and buffers of size and time 0, counted memories and the like, with
 * every kind of sync and both kinds of hazards, as long as nothing races. */
START_TEST(odd_graphs)
{
  static const fsched_sync sync[] = {FSCHED_SYNC_TIMELINE, FSCHED_SYNC_BARRIER, FSCHED_SYNC_BLOCK};
  total = (fsched_replay_result){0};
  for (uint64_t seed = 1; seed <= 4 * GRAPHS; seed++) {
    fs_gen_params params = fs_gen_odd(seed, 25);
    params.members = params.gangs;
    params.views = params.ats;
    params.sync = sync[seed % 3];
    params.raw = seed % 2 == 0;
    compile_and_replay(
        seed, &params, kind_of(_i),
        (fsched_replay_options){.repeat = 1 + seed % 3, .in_flight = 1 + seed % 4 / 2});
  }
  ck_assert_uint_gt(total.checked_ops, GRAPHS);
  ck_assert_uint_gt(total.checked_bytes, GRAPHS);
}
END_TEST

FS_SUITE(cuda_random, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_cuda(t);
  FS_LOOPS(t, 0, 2, any_graph, tight_memory, odd_graphs);
}
