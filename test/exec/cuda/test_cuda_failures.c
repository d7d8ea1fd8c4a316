/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of the CUDA driver fails in turn: there is always a diagnostic, and never a crash, a
 * hang, or something that is not given back.  Only the fake driver can do this. */
#include "base/context.h"
#include "exec/context/exec_kit.h"
#include "kit/budget.h"

#include "kit/replay_kit.h"

#include "exec/cuda/cuda_case.h"

static const char *const kinds[] = {"cuda", "cuda-graph"};

/* Does a whole replay, from opening the device to its end; diagnostics stay in the context. */
static fs_status replay_program(fsched_context *c, const fsched_program *program, const char *kind,
                                const fsched_replay_options *how) {
  fsched_device_options o = {
      .size = sizeof o, .kind = kind, .driver = fake.path, .modules = "test/cuda_modules"};
  fsched_replay_options r = *how;
  fsched_replay_result done = {.size = sizeof done};
  r.size = sizeof r;
  fs_status status = fsched_device_create(c, &o, &r.device);
  if (status == FSCHED_OK) {
    status = fsched_replay(c, program, &r, &done);
  }
  fsched_device_release(r.device);
  fsched_text_free(c, done.trace_json, done.trace_length);
  return status;
}

static fs_status replay_all(fsched_context *c, const char *kind, const fsched_replay_options *how) {
  return replay_program(c, &m->program, kind, how);
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

/* A ring on two queues, a kernel of a module, and a loop in the loop. */
static const char loops[] =
    "fsched: 1\n"
    "target: {queues: [{name: p, class: a}, {name: q, class: b}],\n"
    "  memories: [{name: m, capacity: 4KiB}]}\n"
    "buffers: [{name: x, size: 64, io: input, memory: m}, {name: y, size: 64, io: output, memory: "
    "m}]\n"
    "ops:\n"
    "  - loop: L\n    trip: 2\n    buffers: {t: {depth: 1}}\n    ops:\n"
    "      - {name: A, on: a, args: [{in: x, at: {length: 16, step: 16}}, {out: t, size: 8}]}\n"
    "      - loop: M\n        trip: 2\n        ops:\n"
    "          - {name: C, on: a, args: [{out: u, size: 8}]}\n"
    "          - {name: D, on: b, args: [{inout: u}], kernel: {module: kernels.ptx, function: "
    "none}}\n"
    "      - {name: B, on: b, args: [{in: t}, {out_existing: y, at: {length: 16, step: 16}}]}\n"
    "  - {name: end, on: b, args: [{in: x}, {out: v, size: 8}]}\n";

/* Of each function that is called often, some calls fail. */
static uint64_t step_of(uint64_t calls) { return 1 + calls / 12; }

/* Lets calls of each function fail, one in each replay. */
static void fail_calls_of_loops(const fsched_program *p, const char *kind,
                                const fsched_replay_options *how) {
  uint64_t failed = 0;
  const char *name;
  for (uint32_t f = 0; (name = fake.function(f)) != NULL; f++) {
    fake.reset(&(fake_cuda_controls){0});
    ck_assert_int_eq(replay_program(ctx, p, kind, how), FSCHED_OK);
    uint64_t calls = fake.calls(name);
    cuda_fake_clean(&fake);
    for (uint64_t n = 1; n <= calls; n += step_of(calls)) {
      fake.reset(&(fake_cuda_controls){.fail = name, .fail_at = n, .fail_with = 999, .seed = n});
      fsched_diag_clear(ctx);
      fs_status status = replay_program(ctx, p, kind, how);
      failed += status != FSCHED_OK;
      ck_assert_msg(status == FSCHED_OK || fsched_diag_errors(ctx) > 0, "%s: no diagnostic", name);
      cuda_fake_clean(&fake);
    }
  }
  ck_assert_uint_gt(failed, 20);
}

START_TEST(each_call_of_loops)
{
  fsched_program *p = kit_compile(ctx, loops);
  ck_assert_uint_eq(p->view.n_loops, 2);
  fail_calls_of_loops(p, kinds[_i], &(fsched_replay_options){0});
  fail_calls_of_loops(
      p, kinds[_i],
      &(fsched_replay_options){.trace = 1, .pace_ns = 1, .repeat = 2, .pool_bytes = 8192});
  fsched_program_destroy(p);
}
END_TEST

enum { WRITTEN = 2 * 16 }; /* bytes of y */

/* A slot with loops, after some of its invocations. */
typedef struct slot_run {
  fsched_device *on;
  fsched_exec *x;
  fsched_entry *e;
  uint8_t in[64], out[64];
} slot_run;

static void open_slot(slot_run *s, const fsched_program *p, const char *kind,
                      const fake_cuda_controls *controls) {
  *s = (slot_run){0};
  fsched_device_options o = {
      .size = sizeof o, .kind = kind, .driver = fake.path, .modules = "test/cuda_modules"};
  fake.reset(controls);
  ck_fs(ctx, fsched_device_create(ctx, &o, &s->on));
  s->x = kit_exec(ctx, s->on, NULL, 1);
  s->e = kit_load(ctx, s->x, p);
}

static fsched_cause invoke_slot(slot_run *s) {
  const fsched_binding b[] = {{.buffer = "x", .data = s->in, .bytes = sizeof s->in},
                              {.buffer = "y", .data = s->out, .bytes = sizeof s->out}};
  fsched_semaphore *t = kit_timeline(); /* fails with its invocation */
  fsched_fence *end = kit_fence(ctx, t, 1);
  fsched_invocation v = {.size = sizeof v, .signal = end, .bindings = b, .n_bindings = 2};
  memset(s->in, 5, sizeof s->in);
  memset(s->out, 0, sizeof s->out);
  ck_fs(ctx, fsched_invoke(ctx, s->e, &v));
  fsched_cause cause = FSCHED_CAUSE_NONE;
  fsched_status status = fsched_exec_wait(ctx, s->x, end, KIT_LIMIT, KIT_LIMIT, &cause);
  ck_assert(status == FSCHED_OK || cause != FSCHED_CAUSE_NONE);
  fsched_fence_release(end);
  fsched_semaphore_release(t);
  return cause;
}

static void close_slot(slot_run *s) {
  fsched_exec_destroy(s->x);
  fsched_device_release(s->on);
  cuda_fake_clean(&fake);
}

/* Whichever call of an invocation fails, the error names it, and the slot's next invocation is
 * right. */
START_TEST(slot_after_a_failure)
{
  fsched_program *p = kit_compile(ctx, loops);
  slot_run s;
  uint8_t want[sizeof s.out];
  open_slot(&s, p, kinds[_i], &(fake_cuda_controls){0});
  uint64_t first = fake.calls("*") + 1, failed = 0;
  ck_assert_int_eq(invoke_slot(&s), FSCHED_CAUSE_NONE);
  uint64_t last = fake.calls("*");
  memcpy(want, s.out, sizeof want);
  close_slot(&s);
  for (uint64_t n = first; n <= last; n += 1 + KIT_SLOW) {
    open_slot(&s, p, kinds[_i],
              &(fake_cuda_controls){.fail = "*", .fail_at = n, .fail_with = 999, .seed = n});
    for (uint32_t k = 0, bad = 0; k < 3; k++) {
      if (invoke_slot(&s) == FSCHED_CAUSE_NONE) {
        ck_assert_mem_eq(s.out, want, WRITTEN);
        continue;
      }
      const char *message = fsched_diag_get(ctx, 0)->message;
      ck_assert_msg(strstr(message, ": CUDA_ERROR_UNKNOWN (999)") != NULL, "call %llu: %s",
                    (unsigned long long)n, message);
      ck_assert_uint_eq(bad++, 0); /* how often the driver is asked how far it is may vary */
      fsched_diag_clear(ctx);
      fsched_exec_reset(s.x);
      failed++;
    }
    close_slot(&s);
  }
  ck_assert_uint_gt(failed, (last - first) / 2 / (1 + KIT_SLOW));
  fsched_program_destroy(p);
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
  TCase *l = fs_case(s, fs_test_maker);
  tcase_set_timeout(l, 120);
  fs_test_fake_cuda(l);
  if (!cuda_is_real()) {
    FS_LOOPS(l, 0, 2, each_call_of_loops, slot_after_a_failure);
  }
}
