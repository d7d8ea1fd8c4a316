/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops, on the host's back ends: what they compute, how they fail, and what is
 * said of those that do not end. */
#include <stdlib.h>

#include "base/futex.h"
#include "exec/conformance/conformance_kit.h"
#include "exec/host/loops.h"
#include "exec/loops/loop_maker.h"

#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SEEDS = 40 };
#else
enum { SEEDS = 300 };
#endif

static fs_conformance device;
static conf c;
static rig r;
static lm_maker l;

/* ---- kernels of the test: mix, but for one instance, which fails or hangs */

static char bad_name[32], opens_name[32]; /* where that has run, what hangs may end */
static _Atomic int answer;
static _Atomic uint32_t hanging, go; /* instances that hang; they may end */

static int kernel(const fsched_kernel_call *call) {
  if (strcmp(call->op, bad_name) == 0) {
    if (atomic_load(&answer) != 0) {
      return atomic_load(&answer);
    }
    atomic_fetch_add(&hanging, 1);
    while (atomic_load(&go) == 0) {
      fs_futex_wait(&go, 0, UINT64_MAX);
    }
  }
  fs_builtin_run(FS_BUILTIN_MIX, call);
  if (strcmp(call->op, opens_name) == 0) {
    atomic_store(&go, 1);
    fs_futex_wake_all(&go);
  }
  return 0;
}

static fsched_kernel_fn find(void *user, const char *module, const char *function) {
  (void)user, (void)module, (void)function;
  return kernel;
}

static void set_find(void *user, fsched_device_options *o) {
  (void)user;
  o->find = find;
}

static void open_device(const char *kind, uint32_t threads, fsched_durations durations) {
  device = (fs_conformance){
      .device = {.kind = kind, .threads = threads, .durations = durations, .seed = 3},
      .before = set_find};
  conf_open(&c, &device);
}

/* ---- results */

/* Compares the bytes and digests with the interpreter's. */
static void check_result(uint64_t seed) {
  static lm_result want;
  const fs_stream *s = r.s;
  const void *given[MK_MANY] = {NULL};
  for (uint32_t i = 0; i < r.io.n_given; i++) {
    given[r.io.given[i].version] = r.given[i];
  }
  lm_interpret(s, given, &want);
  for (uint32_t i = 0; i < r.io.n_kept; i++) {
    uint32_t v = r.io.kept[i].version;
    for (uint64_t b = want.begin[v]; b < want.end[v]; b++) {
      if (((const uint8_t *)r.kept[i])[b] != want.bytes[v][b]) {
        ck_abort_msg("seed %llu: byte %llu of '%s' is wrong", (unsigned long long)seed,
                     (unsigned long long)b,
                     fs_stream_string(s, s->buffers[s->versions[v].buffer].name));
      }
    }
  }
  for (uint32_t op = 0; op < s->n_ops; op++) {
    ck_assert_msg(r.record.digest[op] == want.digest[op], "seed %llu: digest of '%s'",
                  (unsigned long long)seed, fs_stream_string(s, s->ops[op].name));
  }
  lm_result_free(s, &want);
}

static void run_seed(uint64_t seed) {
  lm_random(&l, c.ctx, seed);
  rig_open(&r, &c, &l.m.program.view, (rig_options){.timed = true});
  for (uint64_t k = 1; k <= 3; k++) {
    rig_fill(&r, seed * 10 + k);
    rig_start(&r);
    fsched_cause cause = rig_await(&r);
    ck_assert_msg(cause == FSCHED_CAUSE_NONE, "seed %llu: cause %d: %s", (unsigned long long)seed,
                  (int)cause, r.failed);
    check_result(seed);
    rig_check(&r);
  }
  rig_close(&r);
}

static void run_seeds(const char *kind, uint32_t threads, fsched_durations durations) {
  open_device(kind, threads, durations);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    run_seed(seed + 1000 * threads);
  }
  conf_close(&c);
}

START_TEST(random_loops_in_virtual_time)
{
  run_seeds("sim", 0, FSCHED_DURATIONS_PLANNED);
  run_seeds("sim", 0, FSCHED_DURATIONS_ADVERSARIAL);
}
END_TEST

START_TEST(random_loops_on_threads)
{ run_seeds("cpu", (uint32_t)_i, FSCHED_DURATIONS_PLANNED); }
END_TEST

/* Several invocations at once; the last one is compared. */
START_TEST(several_in_flight)
{
  for (uint32_t threads = 0; threads < 3; threads++) {
    open_device("cpu", threads, FSCHED_DURATIONS_PLANNED);
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
      lm_random(&l, c.ctx, seed + 5000);
      fsched_replay_options o = {
          .size = sizeof o, .device = c.device, .in_flight = 3, .repeat = 20, .check = 1};
      conf_ok(&c, fsched_replay(c.ctx, &l.m.program, &o, NULL), "replay");
    }
    conf_close(&c);
  }
}
END_TEST

/* Waits and publishes happen without kernels, and with a pace each instance takes its time: those
 * of a command run one after the other. */
START_TEST(empty_and_paced)
{
  for (uint32_t threads = 0; threads < 3; threads++) {
    open_device("cpu", threads, FSCHED_DURATIONS_PLANNED);
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
      lm_random(&l, c.ctx, seed + 6000);
      const fs_stream *s = &l.m.program.view;
      uint64_t least = fs_ceil_div(s->loops[0].trip, s->loops[0].copies) * 20000;
      for (uint32_t i = 0; i < s->n_loop_ops; i++) {
        l.ops[i].time = l.ops[i].latency = 20;
      }
      fsched_replay_result result = {.size = sizeof result};
      fsched_replay_options o = {.size = sizeof o,
                                 .device = c.device,
                                 .repeat = 3,
                                 .pace_ns = seed % 2 * 1000,
                                 .trace = 1,
                                 .empty_kernels = seed % 4 < 2};
      conf_ok(&c, fsched_replay(c.ctx, &l.m.program, &o, &result), "replay");
      ck_assert_uint_ge(result.minimum_ns, seed % 2 * least);
      free(result.trace_json);
    }
    conf_close(&c);
  }
}
END_TEST

/* ---- what goes wrong */

/* A loop of two ops on two queues, or on one: B reads what A makes, and keeps a sum. */
static void make_two(uint64_t trip, uint32_t n_queues) {
  lm_init(&l, c.ctx, 1);
  (void)mk_queue(&l.m, "p");
  if (n_queues > 1) {
    (void)mk_queue(&l.m, "q");
    (void)mk_collective(&l.m, "all", 2);
  }
  uint32_t sum = lm_buffer(&l, "sum", 16, true);
  uint32_t loop = lm_loop(&l, "L", trip, 1), kernel = lm_kernel(&l);
  mk_arg(&l.m, FSCHED_INOUT, sum);
  uint32_t ring = lm_ring(&l, "a", 8, 8, 2, false, 0);
  (void)lm_op(&l, "A", FS_NONE);
  lm_ring_arg(&l, FSCHED_OUT, ring, 0, 8, 0);
  (void)lm_op(&l, "B", kernel);
  lm_ring_arg(&l, FSCHED_IN, ring, 0, 8, 0);
  lm_arg(&l, FSCHED_INOUT, sum, 0, 16, 0);
  lm_plan_in_turn(&l, n_queues);
  for (uint32_t q = 0; q < n_queues; q++) {
    fs_stream_command *k = mk_run(&l.m, q, l.loops[loop].op);
    if (n_queues > 1) {
      mk_gang(k, 2, 1);
    }
  }
  lm_seal(&l);
}

START_TEST(kernel_fails_in_an_iteration)
{
  static const char *const kinds[] = {"sim", "cpu", "cpu", "cpu", "dynamic"};
  open_device(kinds[_i], (uint32_t)_i % 3, FSCHED_DURATIONS_PLANNED);
  make_two(1000, 1 + (uint32_t)_i % 2);
  rig_open(&r, &c, &l.m.program.view, (rig_options){0});
  for (uint32_t k = 0; k < 20; k++) {
    (void)snprintf(bad_name, sizeof bad_name, "B[%u]", k * k);
    atomic_store(&answer, 42);
    rig_fill(&r, k);
    rig_start(&r);
    ck_assert_int_eq(rig_await(&r), 42);
    ck_assert_uint_eq(r.n_failed, 1);
    char text[64];
    (void)snprintf(text, sizeof text, "op '%s': its kernel failed", bad_name);
    ck_assert_str_eq(r.failed, text);
    bad_name[0] = '\0';
    rig_run(&r, k);
    check_result(k);
  }
  rig_close(&r);
  conf_close(&c);
}
END_TEST

/* Waits until the watchdog would see that the invocation gets on. */
static void await_moves(void) {
  bool idle = true;
  uint64_t first = c.backend->progress(r.instance, &idle), now = first;
  while (idle && now == first) {
    now = c.backend->progress(r.instance, &idle);
  }
}

/* An invocation that is poisoned at any time ends, long before its last iteration. */
START_TEST(poisoned_at_any_time)
{
  static const char *const kinds[] = {"sim", "cpu", "cpu", "cpu", "dynamic"};
  open_device(kinds[_i], (uint32_t)_i % 3, FSCHED_DURATIONS_PLANNED);
  make_two(UINT64_C(1) << 40, 1 + (uint32_t)_i % 2);
  rig_open(&r, &c, &l.m.program.view, (rig_options){0});
  for (int k = 1; k <= 20; k++) {
    rig_fill(&r, (uint64_t)k);
    rig_start(&r);
    for (int i = 0; i < k * k * 100; i++) {
      fs_pause();
    }
    await_moves();
    rig_poison(&r, k);
    ck_assert_int_eq(rig_await(&r), k);
  }
  rig_close(&r);
  conf_close(&c);
}
END_TEST

/* A loop on two queues, of which the second has an op before it and the first one behind it. */
static void make_between(void) {
  lm_init(&l, c.ctx, 1);
  (void)mk_queue(&l.m, "p");
  (void)mk_queue(&l.m, "q");
  (void)mk_collective(&l.m, "all", 2);
  uint32_t sum = lm_buffer(&l, "sum", 16, true);
  uint32_t pre = mk_op(&l.m, "pre");
  mk_kernel(&l.m, NULL);
  uint32_t loop = lm_loop(&l, "L", 4, 1), kernel = lm_kernel(&l);
  mk_arg(&l.m, FSCHED_INOUT, sum);
  uint32_t ring = lm_ring(&l, "a", 8, 8, 4, false, 0);
  (void)lm_op(&l, "A", kernel);
  lm_ring_arg(&l, FSCHED_OUT, ring, 0, 8, 0);
  (void)lm_op(&l, "B", kernel);
  lm_ring_arg(&l, FSCHED_IN, ring, 0, 8, 0);
  lm_arg(&l, FSCHED_INOUT, sum, 0, 16, 0);
  lm_plan_in_turn(&l, 2);
  uint32_t post = mk_op(&l.m, "post");
  mk_kernel(&l.m, NULL);
  mk_gang(mk_run(&l.m, 0, l.loops[loop].op), 2, 1);
  (void)mk_run(&l.m, 0, post);
  (void)mk_run(&l.m, 1, pre);
  mk_gang(mk_run(&l.m, 1, l.loops[loop].op), 2, 1);
  lm_seal(&l);
}

/* The first queue has all of its part over before the second comes to the loop, and goes on behind
 * it before the second leaves. */
START_TEST(queues_enter_and_leave_on_their_own)
{
  static const char *const hangs[] = {"pre", "B[0]"}, *const opens[] = {"A[3]", "post"};
  open_device("cpu", 0, FSCHED_DURATIONS_PLANNED);
  make_between();
  for (int k = 0; k < 10; k++) {
    atomic_store(&go, 0);
    (void)snprintf(bad_name, sizeof bad_name, "%s", hangs[_i]);
    (void)snprintf(opens_name, sizeof opens_name, "%s", opens[_i]);
    fsched_replay_options o = {
        .size = sizeof o, .device = c.device, .repeat = 3, .check = 1, .timeout_ms = 20000};
    conf_ok(&c, fsched_replay(c.ctx, &l.m.program, &o, NULL), "replay");
  }
  ck_assert_uint_ge(atomic_load(&hanging), 10);
  conf_close(&c);
}
END_TEST

static void replay_is_stuck(const char *text) {
  fsched_replay_options o = {.size = sizeof o, .device = c.device, .timeout_ms = 50};
  fsched_diag_clear(c.ctx);
  ck_assert_int_eq(fsched_replay(c.ctx, &l.m.program, &o, NULL), FSCHED_REPLAY);
  ck_assert_str_eq(fsched_diag_get(c.ctx, 0)->code, "replay-stuck");
  const char *message = fsched_diag_get(c.ctx, 0)->message;
  ck_assert_msg(strstr(message, text) != NULL, "'%s' lacks '%s'", message, text);
}

START_TEST(hanging_kernel_is_given_up)
{
  static const char *const kinds[] = {"sim", "cpu", "cpu", "cpu", "dynamic"};
  open_device(kinds[_i], (uint32_t)_i % 3, FSCHED_DURATIONS_PLANNED);
  make_two(20, 2);
  (void)snprintf(bad_name, sizeof bad_name, "B[7]");
  replay_is_stuck(
      "queue 'q' is stuck at command 1 (op 'L', iteration 7 of 'B'): its kernel, function "
      "'f' of module 'kernels.so', has not returned for");
  ck_assert_uint_eq(atomic_load(&hanging), 1);
  conf_close(&c);
}
END_TEST

/* A signal is missing, at once or in a later iteration. */
START_TEST(stuck_in_a_loop)
{
  open_device(_i == 3 ? "sim" : "cpu", (uint32_t)_i, FSCHED_DURATIONS_PLANNED);
  make_two(20, 2);
  l.commands[0].signal = 0;
  replay_is_stuck("queue 'q' is stuck at command 1 (op 'L'): its 'B[0]' waits for 'A[0]' of 'p'");
  ck_assert_str_eq(fsched_diag_get(c.ctx, 1)->message,
                   "queue 'p' is stuck at command 1 (op 'L'): its 'A[2]' waits for 'B[0]' of 'q'");
  make_two(2, 2);
  l.commands[0].signal = 0;
  replay_is_stuck("queue 'q' is stuck at command 1 (op 'L'): its 'B[0]' waits for 'A[0]' of 'p'");
  ck_assert_ptr_null(fsched_diag_get(c.ctx, 1)); /* 'p' has left the loop */
  make_two(20, 2);
  l.waits[l.commands[0].wait0].distance = 0; /* each waits for the other */
  replay_is_stuck("queue 'p' is stuck at command 1 (op 'L'): its 'A[0]' waits for 'B[0]' of 'q'");
  conf_close(&c);
}
END_TEST

START_TEST(nth_allocation_fails)
{
  static const char *const kinds[] = {"sim", "cpu"};
  open_device(kinds[_i], 0, FSCHED_DURATIONS_PLANNED);
  for (uint64_t seed = 1; seed <= 4; seed++) {
    lm_random(&l, c.ctx, seed);
    conf_fail_allocations(&c, &l.m.program.view);
  }
  conf_close(&c);
}
END_TEST

FS_SUITE(exec_loops, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, random_loops_in_virtual_time);
  FS_LOOPS(t, 0, 4, random_loops_on_threads);
  FS_TESTS(t, several_in_flight, empty_and_paced);
  FS_LOOPS(t, 0, 4, kernel_fails_in_an_iteration, poisoned_at_any_time);
  FS_LOOPS(t, 0, 5, hanging_kernel_is_given_up);
  FS_LOOPS(t, 0, 4, stuck_in_a_loop);
  FS_LOOPS(t, 0, 2, queues_enter_and_leave_on_their_own);
  FS_LOOPS(t, 0, 2, nth_allocation_fails);
}
