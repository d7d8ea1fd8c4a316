/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of the CUDA driver fails in turn: there is always a diagnostic, and never a crash, a
 * hang, or something that is not given back.  Only the fake driver can do this. */
#include "base/context.h"
#include "kit/budget.h"

#include "kit/replay_kit.h"

#include "exec/cuda/cuda_case.h"

static const char *const kinds[] = {"cuda", "cuda-graph"};

/* Does a whole replay, from opening the device to its end; diagnostics stay in the context. */
static fs_status replay_all(fsched_context *c, const char *kind, const fsched_replay_options *how) {
  fsched_device_options o = {
      .size = sizeof o, .kind = kind, .driver = fake.path, .modules = "test/cuda_modules"};
  fsched_replay_options r = *how;
  fsched_replay_result done = {.size = sizeof done};
  r.size = sizeof r;
  fs_status status = fsched_device_create(c, &o, &r.device);
  if (status == FSCHED_OK) {
    status = fsched_replay(c, &m->program, &r, &done);
  }
  fsched_device_release(r.device);
  fsched_text_free(c, done.trace_json, done.trace_length);
  return status;
}

/* Runs without a failure, and then lets one later call fail each time. */
static void fail_each_call(const char *kind, const fsched_replay_options *how, unsigned error) {
  fake.reset(&(fake_cuda_controls){0});
  ck_assert_int_eq(replay_all(ctx, kind, how), FSCHED_OK);
  uint64_t calls = fake.calls("*"), failed = 0;
  cuda_fake_clean(&fake);
  for (uint64_t n = 1; n <= calls; n++) {
    fake.reset(&(fake_cuda_controls){.fail = "*", .fail_at = n, .fail_with = error, .seed = n});
    fsched_diag_clear(ctx);
    fs_status status = replay_all(ctx, kind, how);
    failed += status != FSCHED_OK;
    if (status != FSCHED_OK && fsched_diag_errors(ctx) == 0) {
      ck_abort_msg("call %llu: status %d without a diagnostic", (unsigned long long)n, status);
    }
    if (fake.fault()[0] != '\0' || fake.left()[0] != '\0') {
      ck_abort_msg("call %llu: %s; left: %s", (unsigned long long)n, fake.fault(), fake.left());
    }
  }
  ck_assert_uint_gt(failed, calls / 3);
}

START_TEST(each_call_of_a_replay)
{
  make_spill(m);
  m->memories[0].backing = 1;
  fail_each_call(kinds[_i], &(fsched_replay_options){.check = 1, .repeat = 2}, 999);
}
END_TEST

START_TEST(each_call_with_everything)
{
  (void)make_gang(m);
  (void)mk_op(m, "of a module"), mk_kernel(m, NULL), mk_arg(m, FSCHED_OUT, 4);
  m->kernels[0].module = mk_string(m, "kernels.ptx");
  m->kernels[0].function = mk_string(m, "none");
  m->kernels[0].grid[0] = m->kernels[0].grid[1] = m->kernels[0].grid[2] = 1;
  m->kernels[0].block[0] = m->kernels[0].block[1] = m->kernels[0].block[2] = 1;
  (void)mk_run(m, 2, 5);
  fail_each_call(kinds[_i],
                 &(fsched_replay_options){
                     .trace = 1, .pace_ns = 1, .repeat = 3, .in_flight = 2, .pool_bytes = 4096},
                 2);
}
END_TEST

/* Whichever command fails while it runs, all later calls report it, as after a fault of a
 * kernel. */
START_TEST(each_command)
{
  make_ping_pong(m, 6, 2);
  fsched_replay_options twice = {.check = 1, .repeat = 2};
  fake.reset(&(fake_cuda_controls){0});
  ck_assert_int_eq(replay_all(ctx, kinds[_i], &twice), FSCHED_OK);
  uint64_t commands = fake.executed();
  ck_assert_uint_gt(commands, 12);
  for (uint64_t n = 1; n <= commands; n++) {
    fake.reset(&(fake_cuda_controls){.execution_at = n, .execution_with = 719, .seed = n});
    fsched_diag_clear(ctx);
    ck_assert_int_ne(replay_all(ctx, kinds[_i], &twice), FSCHED_OK);
    ck_assert_uint_gt(fsched_diag_errors(ctx), 0);
    const char *message = fsched_diag_get(ctx, 0)->message;
    ck_assert_msg(strstr(message, "CUDA_ERROR_LAUNCH_FAILED (719)") != NULL, "%s", message);
    cuda_fake_clean(&fake);
  }
}
END_TEST

/* A kernel touches memory that is not its own. */
START_TEST(a_wild_kernel)
{
  uint32_t mem = mk_memory(m, "hbm", 100), q = mk_queue(m, "q");
  uint32_t y = (mk_buffer(m, "y", 8, FSCHED_IO_OUTPUT), mk_version(m, mem, 0));
  mk_kept(m, y, mem, 0);
  (void)mk_op(m, "wild"), mk_kernel(m, NULL), mk_arg(m, FSCHED_OUT, y), (void)mk_run(m, q, 0);
  m->kernels[0].module = mk_string(m, "kernels.ptx");
  m->kernels[0].function = mk_string(m, "wild");
  for (int i = 0; i < 3; i++) {
    m->kernels[0].grid[i] = m->kernels[0].block[i] = 1;
  }
  fake.reset(&(fake_cuda_controls){0});
  ck_assert_int_eq(replay_all(ctx, kinds[_i], &(fsched_replay_options){.repeat = 2}),
                   FSCHED_REPLAY);
  const char *message = fsched_diag_get(ctx, 0)->message;
  ck_assert_msg(strstr(message, "CUDA_ERROR_ILLEGAL_ADDRESS (700)") != NULL, "%s", message);
  ck_assert_ptr_nonnull(strstr(fake.fault(), "'wild'"));
  ck_assert_str_eq(fake.left(), "");
  fake.reset(&(fake_cuda_controls){0});
}
END_TEST

START_TEST(too_little_memory)
{
  make_ping_pong(m, 3, 1);
  m->memories[0].extent = 100000;
  fake.reset(&(fake_cuda_controls){.memory = 50000});
  ck_assert_int_eq(replay_all(ctx, kinds[_i], &(fsched_replay_options){0}), FSCHED_SYSTEM);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-memory");
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                   "Fake device 0 refuses 100096 bytes of its memory");
  fsched_diag_clear(ctx);
  fake.reset(&(fake_cuda_controls){.memory = 50000});
  ck_assert_int_eq(replay_all(ctx, kinds[_i], &(fsched_replay_options){.pool_bytes = 200000}),
                   FSCHED_SYSTEM);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                   "Fake device 0 refuses a pool of 200192 bytes");
  fsched_diag_clear(ctx);
  fake.reset(&(fake_cuda_controls){0});
  ck_assert_int_eq(replay_all(ctx, kinds[_i], &(fsched_replay_options){.memory_limit_log2 = 10}),
                   FSCHED_OK);
  cuda_fake_clean(&fake);
}
END_TEST

/* Any allocation of the host may fail. */
START_TEST(out_of_memory)
{
  for (long left = 0;; left++) {
    fs_budget budget = {.left = left};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *tight;
    if (fsched_context_create(&o, &tight) != FSCHED_OK) {
      continue;
    }
    mk_init(m, tight);
    make_ping_pong(m, 4, 2);
    fake.reset(&(fake_cuda_controls){0});
    fs_status status = replay_all(tight, kinds[_i], &(fsched_replay_options){.repeat = 2});
    bool said = fsched_diag_errors(tight) > 0;
    fsched_context_destroy(tight);
    ck_assert_int_eq(budget.blocks, 0);
    cuda_fake_clean(&fake);
    if (status == FSCHED_OK) {
      ck_assert_int_gt(left, 10);
      return;
    }
    ck_assert(said);
  }
}
END_TEST

FS_SUITE(cuda_failures, s) {
  TCase *t = fs_case(s, fs_test_maker);
  tcase_set_timeout(t, 30);
  fs_test_fake_cuda(t);
  if (!cuda_is_real()) {
    FS_LOOPS(t, 0, 2, each_call_of_a_replay, each_call_with_everything, each_command, a_wild_kernel,
             too_little_memory, out_of_memory);
  }
}
