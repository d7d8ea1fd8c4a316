/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs, compiled and replayed: every byte and every op's digest must be that of a
 * sequential evaluation, whatever the threads' timing. */
#include <stdlib.h>

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "kit/gen.h"

#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 60 };
#else
enum { GRAPHS = 300 };
#endif

static void assert_ok(fs_status status, uint64_t seed, const char *what) {
  ck_assert_msg(status == FSCHED_OK, "seed %llu, %s: status %d: %s", (unsigned long long)seed, what,
                status, fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
}

/* Compiles and replays a graph; also adds up how many ops and bytes were compared. */
static void compile_and_replay(uint64_t seed, const fs_gen_params *params,
                               const fsched_replay_options *options, fsched_replay_result *total) {
  fsched_graph *graph;
  fsched_program *program;
  fsched_replay_result r = {.size = sizeof r};
  assert_ok(fs_gen_graph(ctx, params, &graph), seed, "generate");
  assert_ok(fsched_compile(ctx, graph, NULL, NULL, &program), seed, "compile");
  assert_ok(fsched_replay_cpu(ctx, program, options, &r), seed, "replay");
  ck_assert_int_eq(r.trace_json != NULL, options->trace != 0);
  total->checked_ops += r.checked_ops;
  total->checked_bytes += r.checked_bytes;
  total->commands += r.commands;
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  fsched_program_destroy(program);
  fsched_graph_destroy(graph);
}

START_TEST(any_graph)
{
  fsched_replay_result total = {0};
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    fs_gen_params params = fs_gen_any(seed, 60);
    params.views = params.ats;
    params.class_gangs = seed % 3 == 0;
    params.members = params.gangs;
    params.latencies = seed % 4 == 0;
    fsched_replay_options o = {
        .size = sizeof o, .check = 1, .repeat = 1 + seed % 3, .trace = seed % 5 == 0};
    o.threads = (uint32_t)(seed % 4); /* 0: one for each queue */
    compile_and_replay(seed, &params, &o, &total);
  }
  ck_assert_uint_gt(total.checked_ops, GRAPHS);
  ck_assert_uint_gt(total.checked_bytes, GRAPHS);
}
END_TEST

/* Each graph uses everything that touches memory at once, with room for little more than one op. */
START_TEST(tight_memory)
{
  fsched_replay_result total = {0};
  for (uint64_t seed = 1; seed <= GRAPHS / 3; seed++) {
    fs_gen_params params = fs_gen_tight(seed, 100);
    params.members = params.gangs;
    fsched_replay_options o = {.size = sizeof o, .check = 1, .repeat = 2};
    compile_and_replay(seed, &params, &o, &total);
  }
  ck_assert_uint_gt(total.commands, total.checked_ops); /* there were spills */
}
END_TEST

/* One program runs in many invocations, so that rare interleavings have a chance. */
START_TEST(many_invocations)
{
  fsched_replay_result total = {0};
  for (uint64_t seed = 1; seed <= 3; seed++) {
    fs_gen_params params = {.seed = seed,
                            .n_ops = 60,
                            .n_queues = 4,
                            .n_memories = 1,
                            .backing = true,
                            .inouts = true,
                            .io = true,
                            .gangs = true,
                            .members = seed % 2 == 0};
    fsched_replay_options o = {.size = sizeof o, .check = 1, .repeat = GRAPHS};
    compile_and_replay(seed, &params, &o, &total);
  }
}
END_TEST

FS_SUITE(replay_random, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, any_graph, tight_memory, many_invocations);
}
