/* SPDX-License-Identifier: Apache-2.0 */
/* Replay on the CPU of streams made by hand, right and wrong ones.  The faults here are found with
 * any timing: they lie in the order within a queue or in addresses, or nothing can go on at all. */
#include "fsched/replay.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/context.h"
#include "exec/cpu/cpu.h"
#include "exec/host/watch.h"
#include "fsched/compile.h"
#include "kit/budget.h"

#include "kit/replay_kit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

START_TEST(ping_pong)
{
  make_ping_pong(m, 40, 2);
  options.repeat = 50;
  assert_ok();
  ck_assert_uint_eq(result.commands, 40);
  ck_assert_uint_eq(result.checked_ops, 40);
  ck_assert_uint_eq(result.checked_bytes, m->buffers[40].size);
  ck_assert_uint_le(result.minimum_ns, result.elapsed_ns);
  ck_assert_uint_gt(result.minimum_ns, 0);
}
END_TEST

START_TEST(more_queues_than_processors)
{
  make_ping_pong(m, 48, MK_SMALL);
  options.repeat = 20;
  assert_ok();
  options.check = 0;
  options.empty_kernels = 1;
  assert_ok();
  ck_assert_uint_eq(result.checked_ops, 0);
}
END_TEST

START_TEST(nothing_to_do)
{
  (void)mk_queue(m, "q");
  options.trace = 1;
  assert_ok();
  ck_assert_uint_eq(result.commands, 0);
  ck_assert_int_eq(fsched_replay_cpu(ctx, &m->program, NULL, NULL), FSCHED_OK);
}
END_TEST

START_TEST(spill)
{
  make_spill(m);
  options.repeat = 30;
  assert_ok();
  ck_assert_uint_eq(result.checked_ops, 3);
  ck_assert_uint_eq(result.checked_bytes, 7);
}
END_TEST

START_TEST(gang_meets)
{
  (void)make_gang(m);
  options.repeat = 100;
  options.trace = 1;
  assert_ok();
  ck_assert_uint_eq(result.checked_ops, 5);
}
END_TEST

/* Two states change places: each is kept at the address where the other is given. */
START_TEST(state_is_carried)
{
  make_state_swap(m);
  for (options.repeat = 1; options.repeat <= 3; options.repeat++) {
    assert_ok();
    ck_assert_uint_eq(result.checked_bytes, 16);
  }
}
END_TEST

START_TEST(input_is_given_again)
{
  uint32_t mem = mk_memory(m, "ddr", 20);
  uint32_t q = mk_queue(m, "q");
  uint32_t in = (mk_buffer(m, "in", 10, FSCHED_IO_INPUT), mk_version(m, mem, 0));
  uint32_t out = (mk_buffer(m, "out", 12, FSCHED_IO_OUTPUT), mk_version(m, mem, 0));
  mk_given(m, in, mem, 0);
  mk_kept(m, out, mem, 0); /* the output is in the place of its input */
  (void)mk_op(m, "op"), mk_arg(m, FSCHED_IN, in), mk_arg(m, FSCHED_OUT, out);
  (void)mk_run(m, q, 0);
  options.repeat = 3;
  assert_ok();
  ck_assert_uint_eq(result.checked_bytes, 12);
}
END_TEST

/* Nobody wrote these bytes: those of a nop's output, and those between two partial writes. */
START_TEST(undefined_bytes_are_not_compared)
{
  uint32_t mem = mk_memory(m, "ddr", 200);
  uint32_t q = mk_queue(m, "q");
  uint32_t x = (mk_buffer(m, "x", 30, FSCHED_IO_OUTPUT), mk_version(m, mem, 0));
  uint32_t y = (mk_buffer(m, "y", 30, FSCHED_IO_OUTPUT), mk_version(m, mem, 30));
  uint32_t z = (mk_buffer(m, "z", 10, FSCHED_IO_OUTPUT), mk_version(m, mem, 60));
  uint32_t w = (mk_buffer(m, "w", 20, FSCHED_IO_OUTPUT), mk_version(m, mem, 70));
  mk_kept(m, x, mem, 0), mk_kept(m, y, mem, 30), mk_kept(m, z, mem, 60), mk_kept(m, w, mem, 70);
  (void)mk_op(m, "nothing"), mk_arg(m, FSCHED_OUT, x), mk_kernel(m, "nop");
  (void)mk_op(m, "part"), mk_range(m, FSCHED_OUT_EXISTING, y, 0, 10);
  (void)mk_op(m, "part2"), mk_range(m, FSCHED_OUT_EXISTING, y, 20, 10);
  (void)mk_op(m, "reads all"), mk_arg(m, FSCHED_IN, y), mk_arg(m, FSCHED_OUT, z);
  (void)mk_op(m, "reads written"), mk_range(m, FSCHED_IN, y, 3, 7);
  mk_arg(m, FSCHED_OUT, w);
  for (uint32_t op = 0; op < 5; op++) {
    (void)mk_run(m, q, op);
  }
  assert_ok();
  ck_assert_uint_eq(result.checked_ops, 3); /* the nop and "reads all" cannot be checked */
  ck_assert_uint_eq(result.checked_bytes, 20 + 20);
}
END_TEST

START_TEST(copy_kernel)
{
  uint32_t mem = mk_memory(m, "ddr", 100);
  uint32_t q = mk_queue(m, "q");
  uint32_t a = (mk_buffer(m, "a", 10, FSCHED_IO_INPUT), mk_version(m, mem, 0));
  uint32_t b = (mk_buffer(m, "b", 20, FSCHED_IO_OUTPUT), mk_version(m, mem, 10));
  mk_given(m, a, mem, 0), mk_kept(m, b, mem, 10);
  (void)mk_op(m, "move"), mk_arg(m, FSCHED_IN, a), mk_arg(m, FSCHED_OUT, b), mk_kernel(m, "copy");
  (void)mk_run(m, q, 0);
  assert_ok();
  ck_assert_uint_eq(result.checked_bytes, 20);
  m->args[1].tag = FSCHED_IN;
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-kernel", "op 'move': the built-in kernel 'copy' wants one `in`");
}
END_TEST

START_TEST(missing_kernels)
{
  uint32_t q = mk_queue(m, "q");
  (void)mk_op(m, "one"), mk_kernel(m, "conv2d");
  (void)mk_op(m, "two"), mk_kernel(m, NULL);
  (void)mk_run(m, q, 0), (void)mk_run(m, q, 1);
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 2);
  assert_diag("replay-kernel", "op 'one': there is no built-in kernel 'conv2d'");
  options.check = 0;
  options.empty_kernels = 1;
  assert_ok();
}
END_TEST

START_TEST(races_are_refused)
{
  make_ping_pong(m, 3, 1);
  m->races[0] = (fs_stream_race){.op_a = 0, .op_b = 2, .version = 1};
  m->program.view.n_races = 1;
  ck_assert_int_eq(replay(), FSCHED_USAGE);
  assert_diag("replay-races", "it has 1");
  ck_assert_str_eq(fsched_diag_get(ctx, 1)->message,
                   "ops 'op0' and 'op2' access buffer 'b0' in no order");
  options.check = 0;
  assert_ok();
  options.check = 1;
  options.empty_kernels = 1;
  m->program.view.n_races = 0;
  ck_assert_int_eq(replay(), FSCHED_USAGE);
  assert_diag("replay-options", "nothing can be checked");
}
END_TEST

START_TEST(memory_limit)
{
  make_ping_pong(m, 3, 1);
  m->memories[0].extent = UINT64_C(1) << 50; /* more than any machine has */
  ck_assert_int_eq(replay(), FSCHED_SYSTEM);
  assert_diag("replay-memory", "needs 1125899906842624 bytes of memory, the limit is ");
  m->memories[0].extent = 1025;
  options.memory_limit_log2 = 10;
  ck_assert_int_eq(replay(), FSCHED_SYSTEM);
  m->memories[0].extent = 1024;
  assert_ok();
  (void)mk_memory(m, "huge", UINT64_MAX - 5);
  ck_assert_int_eq(replay(), FSCHED_SYSTEM);
}
END_TEST

/* ---- what --check must find */

START_TEST(wrong_order_is_found)
{
  make_ping_pong(m, 3, 1);
  fs_stream_command a = m->commands[1];
  m->commands[1] = m->commands[2];
  m->commands[2] = a;
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-differs", "op 'op2' wrote something else");
  ck_assert_uint_eq(fsched_diag_errors(ctx), 2); /* op2, and the output */
}
END_TEST

START_TEST(overlap_is_found)
{
  make_ping_pong(m, 3, 1);
  (void)mk_buffer(m, "late", 1, FSCHED_IO_OUTPUT);
  uint32_t late = mk_version(m, 0, m->place_address[1] + 20);
  (void)mk_op(m, "late"), mk_arg(m, FSCHED_OUT, late);
  (void)mk_op(m, "reader"), mk_arg(m, FSCHED_IN, 1);
  mk_kept(m, late, 0, m->place_address[late]);
  mk_arg(m, FSCHED_INOUT, 3);
  (void)mk_run(m, 0, 3), (void)mk_run(m, 0, 4);
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-differs", "op 'reader' wrote something else");
}
END_TEST

/* Scratch lies over an input, over an output, and over data that a later op reads. */
START_TEST(scratch_overlap_is_found)
{
  static const uint64_t address[] = {20, 220, 105};
  make_ping_pong(m, 3, 1);
  m->ops[1].scratch0 = 0;
  m->ops[1].n_scratches = 1;
  m->program.view.n_scratches = 1;
  m->program.view.n_queues = m->program.view.n_axes = 1;
  for (uint32_t i = 0; i < 3; i++) {
    fsched_diag_clear(ctx);
    m->program.view.n_commands = m->program.view.n_places = 0;
    m->queues[0].n_commands = 0;
    m->scratches[0] = (fs_stream_scratch){.size = 10, .memory = 0};
    m->scratch_address[0] = address[i];
    (void)mk_run(m, 0, 0), (void)mk_run(m, 0, 1), (void)mk_run(m, 0, 2);
    ck_assert_int_eq(replay(), i == 0 ? FSCHED_OK : FSCHED_REPLAY);
  }
}
END_TEST

START_TEST(lost_spill_is_found)
{
  make_spill(m);
  m->commands[5].target = 0;                     /* brings back ... */
  m->places[m->commands[5].place0].address = 61; /* ... one byte further on */
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-differs", "op 'C' wrote something else");
}
END_TEST

START_TEST(wrong_kept_place_is_found)
{
  make_ping_pong(m, 2, 1);
  m->versions[2].kept_address++;
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-differs", "bytes of buffer 'b1' differ from a sequential evaluation");
}
END_TEST

/* ---- the watchdog */

START_TEST(missing_signal_is_named)
{
  make_ping_pong(m, 6, 2);
  m->commands[1].signal = 0; /* q0, command 2, op2 */
  options.timeout_ms = 20;
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-stuck",
              "queue 'q1' is stuck at command 2 (op 'op3'): it waits for epoch 2 "
              "of 'q0', which has reached 1");
  ck_assert_int_eq(fsched_diag_get(ctx, 0)->severity, FSCHED_ERROR);
  ck_assert_int_eq(fsched_diag_get(ctx, 1)->severity, FSCHED_NOTE);
  ck_assert_uint_eq(fsched_diag_count(ctx), 2);
}
END_TEST

/* The first op in the plan waits for the second, which waits for the third, which waits in vain. */
START_TEST(blame_goes_to_the_culprit)
{
  for (uint32_t q = 0; q < 4; q++) {
    (void)mk_queue(m, q == 0 ? "a" : q == 1 ? "b" : q == 2 ? "c" : "d");
    (void)mk_op(m, q == 0 ? "A" : q == 1 ? "B" : q == 2 ? "C" : "D");
  }
  for (uint32_t q = 0; q < 4; q++) {
    fs_stream_command *c = mk_run(m, q, q);
    c->start = q;
    if (q < 3) {
      mk_wait(m, q + 1, 1);
    } else {
      c->signal = 0;
    }
  }
  options.check = 0;
  options.timeout_ms = 200; /* so that all have come to their waits */
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-stuck",
              "queue 'c' is stuck at command 1 (op 'C'): it waits for epoch 1 of "
              "'d', which has reached 0");
  ck_assert_uint_eq(fsched_diag_count(ctx), 3);
  fsched_diag_clear(ctx);
  m->waits[2].axis = 1; /* now b and c wait for each other */
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-stuck",
              "queue 'b' is stuck at command 1 (op 'B'): it waits for epoch 1 of "
              "'c', which has reached 0");
}
END_TEST

/* Two gangs meet in opposite orders on two queues, and epochs count from the invocation's
 * beginning. */
START_TEST(gangs_that_never_meet)
{
  uint32_t tp = make_gang(m);
  m->commands[1].gang_epoch = 2;
  m->commands[2].gang_epoch = 1;
  options.timeout_ms = 20;
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-stuck", "of 'tp', which has reached 0");
  ck_assert_uint_eq(fsched_diag_count(ctx), 3);
  ck_assert_uint_eq(tp, 3);
}
END_TEST

/* One member is at the gang, and the other waits in vain before it: the wait before it is to
 * blame. */
START_TEST(blame_passes_through_a_gang)
{
  (void)make_gang(m);
  m->commands[2].gang_axis = FS_NONE; /* the second gang op on one queue each */
  m->commands[5].gang_axis = FS_NONE;
  m->program.view.n_commands = 6;
  m->queues[2].n_commands = 0;
  m->program.view.n_waits = 1;
  m->waits[0] = (fs_stream_wait){.axis = 0, .epoch = 3};
  m->commands[4].wait0 = 0;
  m->commands[4].n_waits = 1;
  m->commands[5].wait0 = 1;
  options.check = 0;
  options.timeout_ms = 20;
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  /* a waits at the gang for b, and b for what a does after the gang: a ring, reported from a's
   * command */
  assert_diag("replay-stuck",
              "queue 'a' is stuck at command 2 (op 'all'): it waits for epoch 1 of "
              "'tp', which has reached 0");
  fsched_diag_clear(ctx);
  m->waits[0].epoch = 1; /* this is for a command that a has run without a signal */
  m->commands[0].signal = 0;
  ck_assert_int_eq(replay(), FSCHED_REPLAY);
  assert_diag("replay-stuck",
              "queue 'b' is stuck at command 2 (op 'all'): it waits for epoch 1 of "
              "'a', which has reached 0");
}
END_TEST

static bool stuck(fs_instance *x, uint64_t timeout_ns, fs_watch *watch) {
  bool idle;
  uint64_t moves = fs_cpu_progress(x, &idle);
  return fs_watch_stuck(watch, moves, idle, fs_now_ns(), timeout_ns);
}

/* A queue is stuck if it was so at the look before, too, in the same wait. */
START_TEST(stuck_takes_two_looks)
{
  fs_timeline timeline[2] = {{0}};
  fs_cpu_lane lane[2] = {{.axis = 0, .value = 5}, {.axis = 1, .value = 3}};
  fs_worker worker[2] = {{.lane = &lane[0], .n_lanes = 1}, {.lane = &lane[1], .n_lanes = 1}};
  fs_instance x = {.timeline = timeline, .worker = worker, .n_workers = 2, .n_lanes = 2};
  fs_watch watch = {0};
  ck_assert(!stuck(&x, 0, &watch)); /* both run */
  lane[0].blocked = 1;
  ck_assert(!stuck(&x, 0, &watch)); /* one runs */
  ck_assert(!stuck(&x, 0, &watch));
  lane[1].blocked = 7;
  ck_assert(!stuck(&x, 0, &watch));
  lane[1].blocked = 9; /* the queue has moved on to another wait */
  ck_assert(!stuck(&x, 0, &watch));
  ck_assert(!stuck(&x, UINT64_MAX, &watch));
  timeline[1].epoch = 3; /* it has not woken up yet */
  ck_assert(!stuck(&x, 0, &watch));
  timeline[1].epoch = 2;
  ck_assert(!stuck(&x, 0, &watch));
  ck_assert(stuck(&x, 0, &watch));
  /* In a kernel, which counts as a move; its queues may wait for anything. */
  worker[1].hand.count = 3;
  timeline[1].epoch = 3;
  ck_assert(!stuck(&x, 0, &watch));
  ck_assert(stuck(&x, 0, &watch));
  worker[1].hand.count = 5; /* another one */
  ck_assert(!stuck(&x, 0, &watch));
}
END_TEST

/* A paced op that takes longer than the timeout is not stuck, and neither are ops that wait for
 * it. */
START_TEST(paced_op_is_not_stuck)
{
  make_ping_pong(m, 2, 2);
  m->commands[0].end = 1000;
  options.timeout_ms = 5;
  options.pace_ns = 40000;
  options.trace = 1;
  assert_ok();
  ck_assert_uint_ge(result.elapsed_ns, 40000000);
  ck_assert_uint_ge(result.minimum_ns, 40000000);
  options.empty_kernels = 1;
  options.check = 0;
  assert_ok();
  ck_assert_uint_ge(result.elapsed_ns, 40000000);
}
END_TEST

/* ---- threads */

/* There is address space for some stacks, not for all: the threads that there are do all the
 * work. */
START_TEST(threads_run_out)
{
  struct rlimit old, tight;
  unsigned long pages = 0;
  const char *fork = getenv("CK_FORK");
  if (SANITIZED || (fork != NULL && strcmp(fork, "no") == 0)) {
    /* Sanitizers reserve most of it themselves, and a process that has run before keeps stacks. */
    return;
  }
  make_ping_pong(m, MK_SMALL, MK_SMALL);
  FILE *f = fopen("/proc/self/statm", "r");
  ck_assert_ptr_nonnull(f);
  ck_assert_int_eq(fscanf(f, "%lu", &pages), 1);
  (void)fclose(f);
  ck_assert_int_eq(getrlimit(RLIMIT_AS, &old), 0);
  tight = old;
  tight.rlim_cur = pages * 4096 + (1 << 20);
  ck_assert_int_eq(setrlimit(RLIMIT_AS, &tight), 0);
  options.check = 0;
  options.repeat = 100;
  options.empty_kernels = 1;
  fs_status status = replay();
  ck_assert_int_eq(setrlimit(RLIMIT_AS, &old), 0);
  ck_assert_int_eq(status, FSCHED_OK);
  ck_assert_uint_eq(result.commands, MK_SMALL);
}
END_TEST

START_TEST(nth_allocation_fails)
{
  (void)make_gang(m);
  uint32_t s = (mk_buffer(m, "state", 8, FSCHED_IO_STATE), mk_version(m, 0, 600));
  mk_given(m, s, 0, 600), mk_kept(m, s, 0, 600);
  options.trace = 1;
  options.repeat = 2;
  fs_status status = FSCHED_SYSTEM;
  long n = 0;
  for (; status != FSCHED_OK; n++) {
    fs_budget b = {.left = n + 1};
    fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &b};
    fsched_context *tight;
    ck_assert_int_eq(fsched_context_create(&o, &tight), FSCHED_OK);
    fsched_replay_result r = {.size = sizeof r};
    status = fsched_replay_cpu(tight, &m->program, &options, &r);
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    ck_assert_uint_eq(fsched_diag_errors(tight), status == FSCHED_OK ? 0 : 1);
    fsched_text_free(tight, r.trace_json, r.trace_length);
    fsched_context_destroy(tight);
    ck_assert_int_eq(b.held, 0);
  }
  ck_assert_int_gt(n, 10);
}
END_TEST

/* The comparison keeps a version only until its last access. */
START_TEST(dead_versions_are_freed)
{
  enum { N = 32, SIZE = 1 << 16 };
  uint32_t mem = mk_memory(m, "ddr", 2 * SIZE), q = mk_queue(m, "q");
  for (uint32_t i = 0; i < N; i++) {
    char name[8];
    (void)snprintf(name, sizeof name, "b%u", i);
    (void)mk_buffer(m, name, SIZE, FSCHED_IO_NONE);
    uint32_t v = mk_version(m, mem, i % 2 * SIZE);
    (void)mk_op(m, name);
    if (i > 0) {
      mk_arg(m, FSCHED_IN, v - 1);
    }
    mk_arg(m, FSCHED_OUT, v);
    (void)mk_run(m, q, i);
  }
  fs_budget b = {.left = LONG_MAX};
  fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &b};
  fsched_context *counted;
  ck_assert_int_eq(fsched_context_create(&o, &counted), FSCHED_OK);
  ck_assert_int_eq(fsched_replay_cpu(counted, &m->program, &options, &result), FSCHED_OK);
  ck_assert_uint_eq(result.checked_ops, N);
  fsched_context_destroy(counted);
  ck_assert_int_lt(b.peak, 4 * SIZE);
}
END_TEST

/* ---- the trace */

/* The value of a key in the line at *p, as a number. */
static double number_after(const char *line, const char *key) {
  const char *at = strstr(line, key);
  ck_assert_ptr_nonnull(at);
  return strtod(at + strlen(key), NULL);
}

START_TEST(trace_has_tracks_slices_and_arrows)
{
  (void)make_gang(m);
  options.trace = 1;
  options.repeat = 2;
  assert_ok();
  uint32_t slices = 0, starts = 0, ends = 0;
  double free_from[MK_SMALL] = {0};
  for (char *line = strtok(result.trace_json, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (strstr(line, "\"ph\":\"X\"") != NULL) {
      uint32_t track = (uint32_t)number_after(line, "\"tid\":");
      double begin = number_after(line, "\"ts\":");
      ck_assert_double_ge(begin, free_from[track]);
      free_from[track] = begin + number_after(line, "\"dur\":") - 1e-4;
      slices++;
    }
    starts += strstr(line, "\"ph\":\"s\"") != NULL;
    ends += strstr(line, "\"ph\":\"f\"") != NULL;
  }
  ck_assert_uint_eq(slices, 7);
  ck_assert_uint_eq(starts, 1);
  ck_assert_uint_eq(ends, 1);
}
END_TEST

START_TEST(trace_names_copies)
{
  make_spill(m);
  options.trace = 1;
  assert_ok();
  ck_assert_ptr_nonnull(
      strstr(result.trace_json, "\"name\":\"spill_read in\",\"cat\":\"spill_read\""));
  ck_assert_ptr_nonnull(strstr(result.trace_json, "\"name\":\"spill_write z\""));
  ck_assert_ptr_nonnull(strstr(result.trace_json, "\"args\":{\"name\":\"dma\"}"));
}
END_TEST

FS_SUITE(replay, s) {
  TCase *t = fs_case(s, fs_test_replay);
  FS_TESTS(t, ping_pong, more_queues_than_processors, nothing_to_do, spill, gang_meets,
           state_is_carried, input_is_given_again, undefined_bytes_are_not_compared, copy_kernel,
           missing_kernels, races_are_refused, memory_limit, wrong_order_is_found, overlap_is_found,
           scratch_overlap_is_found, lost_spill_is_found, wrong_kept_place_is_found,
           missing_signal_is_named, blame_goes_to_the_culprit, gangs_that_never_meet,
           blame_passes_through_a_gang, stuck_takes_two_looks, paced_op_is_not_stuck,
           threads_run_out, nth_allocation_fails, dead_versions_are_freed,
           trace_has_tracks_slices_and_arrows, trace_names_copies);
}
