/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of modules that never return on a CUDA device are named and given up, while no call of
 * the driver waits for them.  These tests need the fake driver, where `slow` hangs until it is
 * released. */
#include "exec/context/exec_kit.h"
#include "fsched/replay.h"

#include "exec/cuda/cuda_case.h"

static const uint64_t soon_ns = 20000000;

static const char *kind_of(int loop) { return loop % 2 == 0 ? "cuda" : "cuda-graph"; }

static void open_device(int loop, const fake_cuda_controls *controls) {
  fsched_device_options o = {
      .size = sizeof o, .kind = kind_of(loop), .driver = fake.path, .modules = "test/cuda_modules"};
  fake_cuda_controls c = *controls;
  c.seed = (uint64_t)loop;
  fake.reset(&c);
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
}

static void open_hanging(int loop) {
  open_device(loop, &(fake_cuda_controls){.hang = "slow", .hang_at = 1});
}

#define HEAD                                                                    \
  "fsched: 1\n"                                                                 \
  "target: {queues: [{name: p, class: a}, {name: q, class: b}]}\n"              \
  "buffers: [{name: x, size: 8, io: input}, {name: o1, size: 8, io: output},\n" \
  "          {name: o2, size: 8, io: output}]\n"                                \
  "ops:\n"
#define OP(name, class, args, function)                                                      \
  "  - {name: " name ", on: " class ", args: [" args                                         \
                                    "],\n"                                                   \
                                    "     kernel: {module: kernels.ptx, function: " function \
                                    "}}\n"

static const char one[] =
    HEAD OP("f", "a", "{out: o1}", "slow") "  - {name: g, on: b, args: [{in: x}, {out: o2}]}\n";
static const char two[] = HEAD OP("f", "a", "{out: o1}", "slow")
    OP("g", "b", "{out: o2}", "slow") "  - {name: u, on: b, args: [{in: x}, {out: t, size: 8}]}\n";
static const char behind[] = HEAD OP("f", "a", "{out: o1}", "slow")
    OP("g", "b", "{out: o2}", "none") OP("h", "b", "{inout: o1}", "slow")
        OP("k", "a", "{inout: o2}",
           "none") "  - {name: u, on: b, args: [{in: x}, {out: t, size: 8}]}\n";
static const char fine[] =
    HEAD OP("f", "a", "{out: o1}", "none") "  - {name: g, on: b, args: [{in: x}, {out: o2}]}\n";

/* Checks that just these ops are named, and how. */
static void check_named(const char *queue, const char *op) {
  char text[200];
  (void)snprintf(
      text, sizeof text,
      "queue '%s' is stuck at command 1 (op '%s'): its kernel, function 'slow' of module "
      "'kernels.ptx', has not returned for ",
      queue, op);
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    if (strstr(d->message, text) == d->message) {
      ck_assert_str_eq(d->code, "replay-stuck");
      ck_assert_ptr_nonnull(strstr(d->message, " ms, since "));
      return;
    }
  }
  ck_abort_msg("not named: %s; but: %s", text, fs_test_diags(ctx));
}

typedef struct cuda_hang_asked {
  fsched_semaphore *timeline;
  fsched_fence *fence;
  uint64_t in, out;
} cuda_hang_asked;

/* Makes an invocation with input x, which is there when `late` is reached, and output o2. */
static void ask(cuda_hang_asked *a, fsched_entry *e, fsched_fence *late) {
  a->timeline = kit_timeline();
  a->fence = kit_fence(ctx, a->timeline, 1);
  a->in = 41;
  a->out = 0;
  const fsched_binding b[] = {{.buffer = "x", .data = &a->in, .bytes = 8, .wait = late},
                              {.buffer = "o2", .data = &a->out, .bytes = 8}};
  fsched_invocation v = {.size = sizeof v, .signal = a->fence, .bindings = b, .n_bindings = 2};
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
}

static void forget(cuda_hang_asked *a) {
  fsched_fence_release(a->fence);
  fsched_semaphore_release(a->timeline);
}

static void expect_end(fsched_exec *x, const cuda_hang_asked *a, fsched_status status) {
  fsched_cause cause = FSCHED_CAUSE_NONE;
  uint64_t stuck_ns = status == FSCHED_OK ? KIT_LIMIT : soon_ns;
  fsched_status ended = fsched_exec_wait(ctx, x, a->fence, KIT_LIMIT, stuck_ns, &cause);
  ck_assert_msg(ended == status, "%d: %s", ended, fs_test_diags(ctx));
  ck_assert_int_eq(cause, status == FSCHED_OK ? FSCHED_CAUSE_NONE : FSCHED_CAUSE_TIMEOUT);
}

/* An invocation of that program ends although a kernel hangs, and everything can be given back. */
static void run_hanging(int loop, const char *text) {
  open_hanging(loop);
  fsched_program *p = kit_compile(ctx, text);
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  cuda_hang_asked a;
  ask(&a, kit_load(ctx, x, p), NULL);
  ck_assert_int_eq(fsched_device_lost(device), 0);
  expect_end(x, &a, FSCHED_REPLAY);
  ck_assert_int_eq(fsched_device_lost(device), 1);
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
  fsched_device_release(device);
  forget(&a);
}

START_TEST(one_beside_others)
{
  run_hanging(_i, one);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  check_named("p", "f");
}
END_TEST

START_TEST(two_at_once)
{
  run_hanging(_i, two);
  ck_assert_uint_eq(fsched_diag_count(ctx), 2);
  check_named("p", "f");
  check_named("q", "g");
}
END_TEST

/* Ops that wait for the hanging one, on its queue and on another, are not blamed. */
START_TEST(first_of_a_chain)
{
  run_hanging(_i, behind);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  check_named("p", "f");
}
END_TEST

/* The n-th of several invocations hangs; they run one after the other or overlap, with times and
 * without. */
START_TEST(replays)
{
  fsched_program *p = kit_compile(ctx, _i % 4 < 2 ? one : two);
  fsched_replay_options o = {.size = sizeof o,
                             .repeat = 12,
                             .in_flight = 1 + (uint32_t)_i % 3,
                             .trace = _i % 5 == 0,
                             .pool_bytes = _i % 3 == 0 ? 8192 : 0,
                             .timeout_ms = 20};
  fsched_replay_result result = {.size = sizeof result};
  open_device(_i, &(fake_cuda_controls){.hang = "slow", .hang_at = 1 + (uint64_t)_i % 7});
  o.device = device;
  ck_assert_int_eq(fsched_replay(ctx, p, &o, &result), FSCHED_REPLAY);
  ck_assert_uint_ge(fsched_diag_errors(ctx), 1);
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, "function 'slow'"));
  ck_assert_ptr_null(result.trace_json);
  fsched_device_release(device);
  fsched_program_destroy(p);
}
END_TEST

/* Another program in the same exec goes on in the slot that is left.  When none is left,
 * invocations fail, and nothing new is made on the device. */
START_TEST(others_go_on)
{
  open_hanging(_i);
  fsched_program *bad = kit_compile(ctx, one), *good = kit_compile(ctx, fine);
  fsched_exec *x = kit_exec(ctx, device, NULL, 2), *other = kit_exec(ctx, device, NULL, 1);
  fsched_entry *b = kit_load(ctx, x, bad), *g = kit_load(ctx, x, good);
  fsched_entry *o = kit_load(ctx, other, good), *none;
  fsched_pool *pool;
  cuda_hang_asked a[5];
  ask(&a[0], b, NULL);
  expect_end(x, &a[0], FSCHED_REPLAY);
  fsched_diag_clear(ctx);
  ask(&a[1], g, NULL);
  expect_end(x, &a[1], FSCHED_OK);
  ask(&a[2], o, NULL);
  expect_end(other, &a[2], FSCHED_OK);
  ck_assert_uint_eq(a[1].out, a[2].out);
  kit_refused(ctx, fsched_exec_load(ctx, x, good, &none), FSCHED_SYSTEM, "device", "was given up");
  kit_refused(ctx, fsched_pool_create(ctx, device, 4096, &pool), FSCHED_SYSTEM, "device",
              "was given up");
  ask(&a[3], b, NULL);
  expect_end(x, &a[3], FSCHED_REPLAY);
  fsched_diag_clear(ctx);
  ask(&a[4], g, NULL);
  expect_end(x, &a[4], FSCHED_REPLAY);
  fsched_exec_destroy(x), fsched_exec_destroy(other);
  fsched_device_release(device);
  fsched_program_destroy(good), fsched_program_destroy(bad);
  for (unsigned i = 0; i < 5; i++) {
    forget(&a[i]);
  }
}
END_TEST

/* A pool that has lost a slot is left behind, and so is one beside it. */
START_TEST(pools_are_left_behind)
{
  open_hanging(_i);
  fsched_program *p = kit_compile(ctx, one);
  fsched_pool *pool, *beside;
  ck_fs(ctx, fsched_pool_create(ctx, device, 4096, &pool));
  ck_fs(ctx, fsched_pool_create(ctx, device, 4096, &beside));
  fsched_exec *x = kit_exec(ctx, device, pool, 1);
  cuda_hang_asked a;
  ask(&a, kit_load(ctx, x, p), NULL);
  expect_end(x, &a, FSCHED_REPLAY);
  fsched_exec_destroy(x);
  fsched_pool_destroy(pool), fsched_pool_destroy(beside);
  fsched_device_release(device);
  fsched_program_destroy(p);
  forget(&a);
}
END_TEST

/* Graphs are made when their place in the pool is known, so a slot that makes one while the kernel
 * hangs is in a call of the driver that does not come back. */
START_TEST(calls_that_block_are_left)
{
  open_hanging(_i);
  fsched_program *bad = kit_compile(ctx, one), *good = kit_compile(ctx, fine);
  fsched_pool *pool;
  ck_fs(ctx, fsched_pool_create(ctx, device, 8192, &pool));
  fsched_exec *x = kit_exec(ctx, device, pool, 2);
  fsched_entry *b = kit_load(ctx, x, bad), *g = kit_load(ctx, x, good);
  cuda_hang_asked a[2];
  ask(&a[0], b, NULL);
  while (fake.hanging() == 0) {
    (void)fsched_fence_wait(a[0].fence, 1000000);
  }
  ask(&a[1], g, NULL);
  expect_end(x, &a[0], FSCHED_REPLAY);
  fsched_diag_clear(ctx);
  expect_end(x, &a[1], _i % 2 == 0 ? FSCHED_OK : FSCHED_REPLAY);
  fsched_exec_destroy(x);
  fsched_pool_destroy(pool);
  fsched_device_release(device);
  fsched_program_destroy(good), fsched_program_destroy(bad);
  forget(&a[0]), forget(&a[1]);
}
END_TEST

/* A kernel that returns in time is not reported, and its results are right. */
START_TEST(slow_is_no_failure)
{
  open_hanging(_i);
  fsched_program *p = kit_compile(ctx, one);
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  fsched_cause cause = 0;
  cuda_hang_asked a, again;
  ask(&a, e, NULL);
  while (fake.hanging() == 0) {
    (void)fsched_fence_wait(a.fence, 1000000);
  }
  ck_assert_int_eq(fsched_exec_wait(ctx, x, a.fence, soon_ns, FSCHED_FOREVER, &cause),
                   FSCHED_REPLAY);
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, "that run: 1"));
  fsched_diag_clear(ctx);
  fake.let_go();
  expect_end(x, &a, FSCHED_OK);
  ask(&again, e, NULL);
  expect_end(x, &again, FSCHED_OK);
  ck_assert_uint_eq(a.out, again.out);
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
  fsched_device_release(device);
  forget(&a), forget(&again);
  ck_assert_str_eq(fake.left(), "");
}
END_TEST

/* When content is late as well, the kernel is named, not the content. */
START_TEST(beside_late_content)
{
  open_hanging(0);
  fsched_program *p = kit_compile(ctx, one);
  fsched_exec *x = kit_exec(ctx, device, NULL, 2);
  fsched_semaphore *t = kit_timeline();
  fsched_fence *never = kit_fence(ctx, t, 1);
  cuda_hang_asked a;
  ask(&a, kit_load(ctx, x, p), never);
  expect_end(x, &a, FSCHED_REPLAY);
  check_named("p", "f");
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
  fsched_device_release(device);
  forget(&a);
  fsched_fence_release(never);
  fsched_semaphore_release(t);
}
END_TEST

/* An invocation that has failed already still waits for what was issued. */
START_TEST(after_another_failure)
{
  open_hanging(0);
  fsched_program *p = kit_compile(ctx, one);
  fsched_exec *x = kit_exec(ctx, device, NULL, 2);
  fsched_semaphore *t = kit_timeline();
  fsched_fence *late = kit_fence(ctx, t, 1);
  fsched_cause cause = 0;
  cuda_hang_asked a;
  ask(&a, kit_load(ctx, x, p), late);
  while (fake.hanging() == 0) {
    (void)fsched_fence_wait(a.fence, 1000000);
  }
  fsched_fence_fail(late, 42);
  ck_assert_int_eq(fsched_exec_wait(ctx, x, a.fence, KIT_LIMIT, soon_ns, &cause), FSCHED_REPLAY);
  ck_assert_int_ne(cause, FSCHED_CAUSE_NONE);
  check_named("p", "f");
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
  fsched_device_release(device);
  forget(&a);
  fsched_fence_release(late);
  fsched_semaphore_release(t);
}
END_TEST

/* More commands are queued behind it than the driver takes before a launch waits. */
START_TEST(many_behind_it)
{
  enum { OPS = 1500, LINE = 120 };
  char *text = malloc(sizeof one + (size_t)OPS * LINE);
  ck_assert_ptr_nonnull(text);
  int n = sprintf(text, "%s", one);
  for (int i = 0; i < OPS; i++) {
    n += sprintf(text + n,
                 "  - {name: n%d, on: a, args: [{inout: o1}], kernel: {module: kernels.ptx, "
                 "function: none}}\n",
                 i);
  }
  open_device(0, &(fake_cuda_controls){.hang = "slow", .hang_at = 1, .depth = 1024});
  fsched_program *p = kit_compile(ctx, text);
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  cuda_hang_asked a;
  ask(&a, kit_load(ctx, x, p), NULL);
  expect_end(x, &a, FSCHED_REPLAY);
  check_named("p", "f");
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
  fsched_device_release(device);
  forget(&a);
  free(text);
}
END_TEST

/* An op that --pace holds back does not hang, however long that is. */
START_TEST(pace_is_no_hang)
{
  open_device(_i, &(fake_cuda_controls){.hang = "fsched_pace", .hang_at = 1});
  fsched_program *p = kit_compile(ctx, one);
  fsched_exec_options o = {.size = sizeof o, .device = device, .pace_ns = UINT64_C(3600000000000)};
  fsched_exec *x;
  ck_fs(ctx, fsched_exec_create(ctx, &o, &x));
  fsched_entry *e = kit_load(ctx, x, p);
  cuda_hang_asked a;
  ask(&a, e, NULL);
  ck_assert_int_eq(fsched_exec_wait(ctx, x, a.fence, soon_ns, 1000000, NULL), FSCHED_REPLAY);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-failed");
  ck_assert_int_eq(fsched_device_lost(device), 0);
  fsched_diag_clear(ctx);
  fake.let_go();
  expect_end(x, &a, FSCHED_OK);
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
  fsched_device_release(device);
  forget(&a);
}
END_TEST

FS_SUITE(cuda_hang, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_fake_cuda(t);
  if (!cuda_is_real()) {
    FS_LOOPS(t, 0, 8, one_beside_others, two_at_once, first_of_a_chain);
    FS_LOOPS(t, 0, 24, replays);
    FS_LOOPS(t, 0, 4, others_go_on, calls_that_block_are_left, slow_is_no_failure);
    FS_LOOPS(t, 0, 2, pools_are_left_behind, pace_is_no_hang);
    FS_TESTS(t, beside_late_content, after_another_failure, many_behind_it);
  }
}
