/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of modules in loops on CUDA: they get each iteration's addresses and values; one that
 * never returns is named with its iteration, and so are instances that wait for each other. */
#include "exec/context/exec_kit.h"
#include "exec/loops/loop_maker.h"
#include "fsched/replay.h"
#include "model/stream/stream.h"

#include "exec/cuda/cuda_case.h"

enum { TRIP = 5, WORDS = 12 };

#define HEAD                                                       \
  "fsched: 1\n"                                                    \
  "target: {queues: [{name: p, class: a}, {name: q, class: b}],\n" \
  "  memories: [{name: m, capacity: 4KiB}]}\n"                     \
  "buffers: [{name: in, size: 240, io: input, memory: m},\n"       \
  "          {name: out, size: 240, io: output, memory: m}]\n"     \
  "ops:\n"
#define KERNEL(function) \
  "kernel: {module: kernels.ptx, function: " function ", block: [12, 1, 1], shared: 48}"

/* Tile i of `out` is tile i of `in`, each word times 3 plus its place, backwards. */
static const char tiles[] = HEAD
    "  - loop: L\n    trip: 5\n    buffers: {t: {depth: 2}}\n    ops:\n"
    "      - {name: scale, on: a, args: [{in: in, at: {length: 48, step: 48}},\n"
    "         {out: t, size: 48}, {value: 3}], " KERNEL("scale") "}\n"
    "      - {name: reverse, on: b, args: [{in: t},\n"
    "         {out_existing: out, at: {length: 48, step: 48}}], " KERNEL("reverse") "}\n";

/* The same in rows of one tile, the last one first. */
static const char nested[] = HEAD
    "  - loop: L\n    trip: 5\n    ops:\n"
    "      - loop: M\n        trip: 1\n        buffers: {t: {depth: 2}}\n        ops:\n"
    "          - {name: scale, on: a, args: [{in: in, at: {offset: 192, length: 48, step: [-48, 0]}},\n"
    "             {out: t, size: 48}, {value: 3}], " KERNEL("scale") "}\n"
    "          - {name: reverse, on: b, args: [{in: t},\n"
    "             {out_existing: out, at: {offset: 192, length: 48, step: [-48, 0]}}], " KERNEL(
        "reverse") "}\n";

static const char *kind_of(int kind) { return kind % 2 == 0 ? "cuda" : "cuda-graph"; }

static void open_device(int kind, const fake_cuda_controls *controls) {
  fsched_device_options o = {
      .size = sizeof o, .kind = kind_of(kind), .modules = "test/cuda_modules"};
  if (!cuda_is_real()) {
    fake.reset(controls);
    o.driver = fake.path;
  }
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
}

START_TEST(each_iteration)
{
  uint32_t in[TRIP * WORDS], out[TRIP * WORDS];
  fsched_binding b[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                        {.buffer = "out", .data = out, .bytes = sizeof out}};
  fsched_replay_options o = {.size = sizeof o,
                             .bindings = b,
                             .n_bindings = 2,
                             .repeat = 3,
                             .in_flight = 2,
                             .trace = _i % 8 >= 4,
                             .pool_bytes = _i % 4 < 2 ? 0 : 32768};
  fsched_replay_result r = {.size = sizeof r};
  fsched_program *p = kit_compile(ctx, _i % 3 == 0 ? nested : tiles);
  ck_assert_uint_gt(p->view.n_loops, 0);
  for (uint32_t i = 0; i < TRIP * WORDS; i++) {
    in[i] = 1000 + 7 * i;
  }
  memset(out, 0, sizeof out);
  open_device(_i, &(fake_cuda_controls){.seed = (uint64_t)_i});
  o.device = device;
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  for (uint32_t i = 0; i < TRIP; i++) {
    for (uint32_t k = 0; k < WORDS; k++) {
      ck_assert_uint_eq(out[i * WORDS + WORDS - 1 - k], in[i * WORDS + k] * 3 + k);
    }
  }
  fsched_program_destroy(p);
}
END_TEST

/* What is wrong with a kernel of an op in a loop is told as with any other one. */
START_TEST(refused_kernels)
{
  static const char *const bad[][3] = {
      {"function: scale", "function: nothing",
       "op 'scale': module 'kernels.ptx' has no function 'nothing'"},
      {"function: scale", "function: reverse",
       "op 'scale': 'reverse' has fewer parameters than the op has args, which are 3"},
      {"module: kernels.ptx", "module: nowhere.ptx",
       "op 'scale': cannot open module 'nowhere.ptx' in 'test/cuda_modules': No such file"},
      {"block: [12, 1, 1]", "block: [1025, 1, 1]",
       "op 'scale': the device takes grids up to 2147483647 x 65535 x 65535 and blocks up to 1024 "
       "x "
       "1024 x 64"}};
  char text[sizeof tiles + 40];
  const char *at = strstr(tiles, bad[_i / 2][0]);
  ck_assert_ptr_nonnull(at);
  (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - tiles), tiles, bad[_i / 2][1],
                 at + strlen(bad[_i / 2][0]));
  fsched_program *p = kit_compile(ctx, text);
  open_device(_i, &(fake_cuda_controls){0});
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e;
  ck_assert_int_eq(fsched_exec_load(ctx, x, p, &e), FSCHED_REPLAY);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-kernel");
  ck_assert_msg(strstr(fsched_diag_get(ctx, 0)->message, bad[_i / 2][2]) != NULL, "%s",
                fsched_diag_get(ctx, 0)->message);
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
}
END_TEST

/* ---- kernels that hang: with the fake driver alone */

#define SLOW "kernel: {module: kernels.ptx, function: slow}"

static const char slow_one[] = HEAD
    "  - loop: L\n    trip: 20\n    buffers: {t: {depth: 2}}\n    ops:\n"
    "      - {name: A, on: a, args: [{out: t, size: 8}]}\n"
    "      - {name: B, on: b, args: [{inout: t}], " SLOW
    "}\n"
    "  - {name: end, on: b, args: [{out: out}]}\n";

static const char slow_inside[] = HEAD
    "  - loop: L\n    trip: 20\n    ops:\n"
    "      - {name: first, on: a, args: [{out: u, size: 8}]}\n"
    "      - loop: M\n        trip: 3\n        buffers: {t: {depth: 2}}\n        ops:\n"
    "          - {name: A, on: a, args: [{out: t, size: 8}]}\n"
    "          - {name: B, on: b, args: [{inout: t}], " SLOW
    "}\n"
    "  - {name: end, on: b, args: [{out: out}]}\n";

/* On both queues, one beside the other. */
static const char slow_two[] = HEAD
    "  - loop: L\n    trip: 20\n    ops:\n"
    "      - {name: A, on: a, args: [{out: t, size: 8}], " SLOW
    "}\n"
    "      - {name: B, on: b, args: [{out: u, size: 8}], " SLOW
    "}\n"
    "  - {name: end, on: b, args: [{out: out}]}\n";

/* The program's replay ends as it hangs from the n-th such kernel on.  Nothing can be given back.
 */
static void hang(int kind, const char *text, uint64_t n, const fsched_replay_options *how) {
  fsched_program *p = kit_compile(ctx, text);
  fsched_replay_options o = *how;
  fake.reset(&(fake_cuda_controls){.hang = "slow", .hang_at = n, .depth = 1024, .seed = n});
  fsched_device_options d = {
      .size = sizeof d, .kind = kind_of(kind), .driver = fake.path, .modules = "test/cuda_modules"};
  ck_fs(ctx, fsched_device_create(ctx, &d, &o.device));
  o.size = sizeof o;
  o.timeout_ms = 20;
  ck_assert_int_eq(fsched_replay(ctx, p, &o, NULL), FSCHED_REPLAY);
  fsched_device_release(o.device);
  fsched_program_destroy(p);
}

static void check_named(const char *start) {
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    const char *message = fsched_diag_get(ctx, i)->message;
    if (strncmp(message, start, strlen(start)) == 0) {
      ck_assert_str_eq(fsched_diag_get(ctx, i)->code, "replay-stuck");
      return;
    }
  }
  ck_abort_msg("not named: %s; but: %s", start, fs_test_diags(ctx));
}

/* Ops that need nothing of a loop may run before a queue's first instance of it. */
#define IN_LOOP(queue, command, where)                                          \
  "queue '" queue "' is stuck at command " command " (op 'L', iteration " where \
  "): its kernel, function "                                                    \
  "'slow' of module 'kernels.ptx', has not returned for "

START_TEST(iteration_is_named)
{
  hang(_i, slow_one, 8, &(fsched_replay_options){0});
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  check_named(IN_LOOP("q", "2", "7 of 'B'"));
}
END_TEST

START_TEST(iterations_of_a_nest_are_named)
{
  hang(_i, slow_inside, 3 * 6 + 2, &(fsched_replay_options){0});
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  check_named(IN_LOOP("q", "2", "6.1 of 'B'"));
}
END_TEST

START_TEST(two_are_named)
{
  hang(_i, slow_two, 1, &(fsched_replay_options){0});
  ck_assert_uint_eq(fsched_diag_count(ctx), 2);
  check_named(IN_LOOP("p", "1", "0 of 'A'"));
  check_named(IN_LOOP("q", "1", "0 of 'B'"));
}
END_TEST

/* In any of several invocations, which may overlap; a loop that is much longer than what may be on
 * its way at once. */
START_TEST(hangs_at_any_time)
{
  char longer[sizeof slow_one + 1];
  const char *trip = strstr(slow_one, "trip: 20");
  (void)snprintf(longer, sizeof longer, "%.*strip: 900%s", (int)(trip - slow_one), slow_one,
                 trip + strlen("trip: 20"));
  uint64_t n = 1 + (uint64_t)_i * 137;
  hang(_i, longer, n, &(fsched_replay_options){.repeat = 4, .in_flight = 1 + (uint32_t)_i % 3});
  check_named("queue 'q' is stuck at command 2 (op 'L', iteration ");
}
END_TEST

/* With --pace an instance is held back before its kernel begins, and that is no hang. */
START_TEST(pace_is_no_hang)
{
  fsched_program *p = kit_compile(ctx, slow_one);
  fake.reset(&(fake_cuda_controls){.hang = "fsched_pace", .hang_at = 4});
  fsched_device_options d = {
      .size = sizeof d, .kind = kind_of(_i), .driver = fake.path, .modules = "test/cuda_modules"};
  ck_fs(ctx, fsched_device_create(ctx, &d, &device));
  fsched_exec_options o = {.size = sizeof o, .device = device, .pace_ns = 1000};
  fsched_exec *x;
  ck_fs(ctx, fsched_exec_create(ctx, &o, &x));
  fsched_semaphore *t = kit_timeline();
  fsched_fence *end = kit_fence(ctx, t, 1);
  fsched_invocation v = {.size = sizeof v, .signal = end};
  ck_fs(ctx, fsched_invoke(ctx, kit_load(ctx, x, p), &v));
  while (fake.hanging() == 0) {
    (void)fsched_fence_wait(end, 1000000);
  }
  ck_assert_int_eq(fsched_exec_wait(ctx, x, end, 20000000, 1000000, NULL), FSCHED_REPLAY);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-failed");
  ck_assert_int_eq(fsched_device_lost(device), 0);
  fake.let_go();
  fsched_diag_clear(ctx);
  ck_fs(ctx, fsched_exec_wait(ctx, x, end, KIT_LIMIT, KIT_LIMIT, NULL));
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
  fsched_device_release(device);
  device = NULL;
  fsched_fence_release(end);
  fsched_semaphore_release(t);
  cuda_fake_clean(&fake);
}
END_TEST

/* ---- instances that wait for each other, in streams that verify would refuse */

static lm_maker l;

/* Ops A and B on two queues; each iteration of B reads what A makes, in a ring of two slots. */
static void make_two(uint64_t trip) {
  lm_init(&l, ctx, 1);
  (void)mk_queue(&l.m, "p"), (void)mk_queue(&l.m, "q");
  (void)mk_collective(&l.m, "all", 2);
  uint32_t sum = lm_buffer(&l, "sum", 16, true);
  uint32_t loop = lm_loop(&l, "L", trip, 1);
  mk_arg(&l.m, FSCHED_INOUT, sum);
  uint32_t ring = lm_ring(&l, "a", 8, 8, 2, false, 0);
  (void)lm_op(&l, "A", FS_NONE);
  lm_ring_arg(&l, FSCHED_OUT, ring, 0, 8, 0);
  (void)lm_op(&l, "B", FS_NONE);
  lm_ring_arg(&l, FSCHED_IN, ring, 0, 8, 0);
  lm_arg(&l, FSCHED_INOUT, sum, 0, 16, 0);
  lm_plan_in_turn(&l, 2);
  for (uint32_t q = 0; q < 2; q++) {
    mk_gang(mk_run(&l.m, q, l.loops[loop].op), 2, 1);
  }
  lm_seal(&l);
}

START_TEST(deadlock_is_named)
{
  open_device(_i, &(fake_cuda_controls){0});
  fsched_replay_options o = {.size = sizeof o, .device = device};
  make_two(20);
  ck_fs(ctx, fsched_replay(ctx, &l.m.program, &o, NULL));
  l.waits[l.commands[0].wait0].distance = 0; /* each waits for the other */
  kit_refused(ctx, fsched_replay(ctx, &l.m.program, &o, NULL), FSCHED_REPLAY,
              _i == 0 ? "replay-failed" : "replay-stuck",
              "queue 'p' can never go on in op 'L': its 'A[0]' waits for 'B[0]'");
}
END_TEST

FS_SUITE(cuda_loop_modules, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_cuda(t);
  FS_LOOPS(t, 0, 12, each_iteration);
  FS_LOOPS(t, 0, 8, refused_kernels);
  FS_LOOPS(t, 0, 2, deadlock_is_named);
  TCase *h = fs_case(s, fs_test_context);
  fs_test_fake_cuda(h);
  if (!cuda_is_real()) {
    FS_LOOPS(h, 0, 2, iteration_is_named, iterations_of_a_nest_are_named, two_are_named,
             pace_is_no_hang);
    FS_LOOPS(h, 0, 12, hangs_at_any_time);
  }
}
