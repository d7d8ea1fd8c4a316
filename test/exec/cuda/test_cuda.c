/* SPDX-License-Identifier: Apache-2.0 */
/* Replay on CUDA, by streams and by graphs: on the fake driver, in several orders of execution
 * each, or on a real one. */
#include "base/context.h"

#include "kit/replay_kit.h"

#include "exec/cuda/cuda_case.h"

/* There are two back ends, with four orders each. */
enum { LOOPS = 8 };

static void open_device(int loop, const fake_cuda_controls *controls) {
  fsched_device_options o = {.size = sizeof o,
                             .kind = loop % 2 == 0 ? "cuda" : "cuda-graph",
                             .modules = "test/cuda_modules"};
  fake_cuda_controls c = controls == NULL ? (fake_cuda_controls){0} : *controls;
  c.seed = (uint64_t)loop / 2;
  if (!cuda_is_real()) {
    fake.reset(&c);
    o.driver = fake.path;
  }
  ck_assert_int_eq(fsched_device_create(ctx, &o, &device), FSCHED_OK);
  options.device = device;
}

START_TEST(ping_pong)
{
  open_device(_i, NULL);
  make_ping_pong(m, 20, 2);
  options.repeat = 3;
  assert_ok();
  ck_assert_uint_eq(result.commands, 20);
  ck_assert_uint_eq(result.checked_ops, 20);
  ck_assert_uint_eq(result.checked_bytes, m->buffers[20].size);
}
END_TEST

START_TEST(spill)
{
  open_device(_i, NULL);
  make_spill(m);
  m->memories[0].backing = 1;
  options.repeat = 3;
  assert_ok();
  ck_assert_uint_eq(result.checked_ops, 3);
}
END_TEST

START_TEST(gang)
{
  open_device(_i, NULL);
  (void)make_gang(m);
  options.repeat = 3;
  assert_ok();
  ck_assert_uint_eq(result.checked_ops, 5);
}
END_TEST

/* Sets a kernel of a module for the last op. */
static fs_stream_kernel *module_kernel(const char *module, const char *function, uint32_t grid,
                                       uint32_t block, uint64_t shared) {
  fs_stream *v = &m->program.view;
  fs_stream_kernel *k = &m->kernels[v->n_kernels];
  *k = (fs_stream_kernel){.shared_bytes = shared,
                          .builtin = FS_NONE,
                          .module = mk_string(m, module),
                          .function = mk_string(m, function),
                          .params = FS_NONE,
                          .grid = {grid, 1, 1},
                          .block = {block, 1, 1}};
  m->ops[v->n_ops - 1].kernel = v->n_kernels++;
  return k;
}

enum { WORDS = 96 };

/* in -> scale -> x -> reverse -> out, on two queues. */
static void make_modules(void) {
  uint32_t mem = mk_memory(m, "hbm", 4096);
  uint32_t a = mk_queue(m, "a"), b = mk_queue(m, "b");
  uint32_t in = (mk_buffer(m, "in", 4 * WORDS, FSCHED_IO_INPUT), mk_version(m, mem, 256));
  uint32_t x = (mk_buffer(m, "x", 4 * WORDS, FSCHED_IO_NONE), mk_version(m, mem, 1024));
  uint32_t out = (mk_buffer(m, "out", 4 * WORDS, FSCHED_IO_OUTPUT), mk_version(m, mem, 2048));
  mk_given(m, in, mem, 256), mk_kept(m, out, mem, 2048);
  (void)mk_op(m, "scale"), mk_arg(m, FSCHED_IN, in), mk_arg(m, FSCHED_OUT, x), mk_value(m, 3);
  (void)module_kernel("kernels.ptx", "scale", 3, WORDS / 3, 0);
  (void)mk_op(m, "reverse"), mk_arg(m, FSCHED_IN, x), mk_arg(m, FSCHED_OUT, out);
  (void)module_kernel("kernels.ptx", "reverse", 1, WORDS, (uint64_t)4 * WORDS);
  (void)mk_run(m, a, 0);
  (void)mk_run(m, b, 1), mk_wait(m, a, 1);
}

START_TEST(kernels_of_modules)
{
  uint32_t in[WORDS], out[WORDS];
  open_device(_i, NULL);
  make_modules();
  for (uint32_t i = 0; i < WORDS; i++) {
    in[i] = 1000 + 7 * i;
  }
  fsched_binding bindings[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                               {.buffer = "out", .data = out, .bytes = sizeof out}};
  options.bindings = bindings;
  options.n_bindings = 2;
  options.check = 0;
  options.repeat = 2;
  assert_ok();
  for (uint32_t i = 0; i < WORDS; i++) {
    ck_assert_uint_eq(out[WORDS - 1 - i], in[i] * 3 + i);
  }
  fsched_parameter factor = {.op = "scale", .arg = 2, .value = 5};
  options.parameters = &factor;
  options.n_parameters = 1;
  assert_ok();
  for (uint32_t i = 0; i < WORDS; i++) {
    ck_assert_uint_eq(out[WORDS - 1 - i], in[i] * 5 + i);
  }
}
END_TEST

/* Checks the status, and that the first diagnostic of that code contains this text. */
static void refused(fs_status status, const char *code, const char *text) {
  fsched_diag_clear(ctx);
  ck_assert_int_eq(replay(), status);
  assert_diag(code, text);
}

START_TEST(kernels_that_are_refused)
{
  open_device(_i, NULL);
  make_modules();
  options.check = 0;
  fs_stream_kernel *k = &m->kernels[0];
  fs_stream_kernel good = *k;
  k->function = mk_string(m, "nothing");
  refused(FSCHED_REPLAY, "replay-kernel",
          "op 'scale': module 'kernels.ptx' has no function 'nothing'");
  k->function = mk_string(m, "reverse");
  refused(FSCHED_REPLAY, "replay-kernel",
          "'reverse' has fewer parameters than the op has args, which are 3");
  k->function = mk_string(m, "wide");
  refused(FSCHED_REPLAY, "replay-kernel", "parameter 1 of 'wide' has 16 bytes");
  *k = good;
  k->module = mk_string(m, "nowhere.ptx");
  refused(FSCHED_REPLAY, "replay-kernel",
          "op 'scale': cannot open module 'nowhere.ptx' in 'test/cuda_modules': No such file");
  k->module = mk_string(m, "kernels");
  ck_assert_int_eq(replay(), FSCHED_OK);
  k->module = mk_string(m, "broken.ptx");
  refused(FSCHED_REPLAY, "replay-kernel",
          "module 'broken.ptx' cannot be loaded: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218)");
  *k = good;
  k->block[0] = 1025;
  refused(FSCHED_REPLAY, "replay-kernel", "blocks up to 1024 x 1024 x 64");
  k->block[1] = k->block[0] = 512;
  refused(FSCHED_REPLAY, "replay-kernel", "a block of 262144 threads, the device takes 1024");
  *k = good;
  k->shared_bytes = 1 << 20;
  refused(FSCHED_REPLAY, "replay-kernel", "1048576 bytes of shared memory");
  *k = good;
  k->shared_bytes = 100000; /* more than is allowed without asking */
  ck_assert_int_eq(replay(), FSCHED_OK);
  options.check = 1;
  ck_assert_int_ne(replay(), FSCHED_OK);
}
END_TEST

/* A block of parameters is the last one, by value; each kernel has its own. */
START_TEST(blocks_of_parameters)
{
  uint32_t out[2][3] = {{0}};
  open_device(_i, NULL);
  uint32_t mem = mk_memory(m, "hbm", 4096), q = mk_queue(m, "q");
  static const char *const names[] = {"first", "second"}, *const ops[] = {"a", "b"};
  static const char *const blocks[] = {"010000000200000003000000040000000500000006000000",
                                       "ff00000000000000000000000001000000000000efbeadde"};
  fsched_binding bindings[2];
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t y = (mk_buffer(m, names[k], 12, FSCHED_IO_OUTPUT), mk_version(m, mem, 256 * k));
    mk_kept(m, y, mem, 256 * k);
    (void)mk_op(m, ops[k]), mk_arg(m, FSCHED_OUT, y);
    module_kernel("kernels.ptx", "stamp", 1, 1, 0)->params = mk_string(m, blocks[k]);
    (void)mk_run(m, q, k);
    bindings[k] = (fsched_binding){.buffer = names[k], .data = out[k], .bytes = 12};
  }
  options.bindings = bindings;
  options.n_bindings = 2;
  options.check = 0;
  options.repeat = 2;
  assert_ok();
  static const uint32_t want[2][3] = {{1, 4, 6}, {255, 256, 0xdeadbeef}};
  ck_assert_mem_eq(out, want, sizeof want);
  m->kernels[1].params = mk_string(m, "00");
  refused(FSCHED_REPLAY, "replay-kernel",
          "the last parameter of 'stamp' has 24 bytes, the kernel's 'params' 1");
  m->kernels[1].params = FS_NONE;
  refused(FSCHED_REPLAY, "replay-kernel", "parameter 1 of 'stamp' has 24 bytes");
  m->kernels[1].params = mk_string(m, blocks[0]);
  m->kernels[1].function = mk_string(m, "none");
  refused(FSCHED_REPLAY, "replay-kernel",
          "'none' has fewer parameters than the op has args, which are 1, and its 'params'");
}
END_TEST

/* Two kernels share one function: its limit of shared memory is set for the larger one, whichever
 * comes first. */
START_TEST(function_with_two_limits)
{
  static const uint64_t shared[][2] = {{100000, 60000}, {60000, 100000}, {100000, 384}};
  open_device(_i, NULL);
  options.check = 0;
  for (unsigned i = 0; i < 3; i++) {
    mk_init(m, ctx);
    uint32_t mem = mk_memory(m, "hbm", 4096), q = mk_queue(m, "q");
    uint32_t in = (mk_buffer(m, "in", 4 * WORDS, FSCHED_IO_INPUT), mk_version(m, mem, 256));
    uint32_t x = (mk_buffer(m, "x", 4 * WORDS, FSCHED_IO_NONE), mk_version(m, mem, 1024));
    uint32_t out = (mk_buffer(m, "out", 4 * WORDS, FSCHED_IO_OUTPUT), mk_version(m, mem, 2048));
    mk_given(m, in, mem, 256), mk_kept(m, out, mem, 2048);
    (void)mk_op(m, "there"), mk_arg(m, FSCHED_IN, in), mk_arg(m, FSCHED_OUT, x);
    (void)module_kernel("kernels.ptx", "reverse", 1, WORDS, shared[i][0]);
    (void)mk_op(m, "back"), mk_arg(m, FSCHED_IN, x), mk_arg(m, FSCHED_OUT, out);
    (void)module_kernel("kernels.ptx", "reverse", 1, WORDS, shared[i][1]);
    (void)mk_run(m, q, 0), (void)mk_run(m, q, 1);
    ck_assert_int_eq(replay(), FSCHED_OK);
  }
}
END_TEST

START_TEST(state_is_carried)
{
  open_device(_i, NULL);
  make_state_swap(m);
  for (options.repeat = 1; options.repeat <= 3; options.repeat++) {
    assert_ok();
    ck_assert_uint_eq(result.checked_bytes, 16);
  }
}
END_TEST

START_TEST(traced_and_paced)
{
  open_device(_i, NULL);
  (void)make_gang(m);
  for (uint32_t c = 0; c < m->program.view.n_commands; c++) {
    m->commands[c].start = 0;
    m->commands[c].end = 10;
  }
  options.trace = 1;
  options.pace_ns = 1000;
  assert_ok();
  ck_assert_ptr_nonnull(strstr(result.trace_json, "measured"));
  ck_assert_uint_gt(result.minimum_ns, 0);
}
END_TEST

START_TEST(commands_alone)
{
  open_device(_i, NULL);
  make_ping_pong(m, 30, 3);
  options.check = 0;
  options.empty_kernels = 1;
  options.repeat = 3;
  assert_ok();
  ck_assert_uint_eq(result.commands, 30);
}
END_TEST

START_TEST(nothing_to_do)
{
  open_device(_i, NULL);
  (void)mk_queue(m, "q");
  options.trace = 1;
  assert_ok();
  ck_assert_uint_eq(result.commands, 0);
}
END_TEST

/* Several slots take memory from a pool that has room for two. */
START_TEST(slots_in_a_pool)
{
  open_device(_i, NULL);
  make_ping_pong(m, 9, 3);
  options.repeat = 12;
  options.in_flight = 3;
  options.pool_bytes = 2 * 1024 + 512;
  assert_ok();
  ck_assert_uint_le(result.pool_peak, options.pool_bytes);
}
END_TEST

START_TEST(copy_and_nop)
{
  open_device(_i, NULL);
  uint32_t mem = mk_memory(m, "hbm", 100), q = mk_queue(m, "q");
  uint32_t a = (mk_buffer(m, "a", 10, FSCHED_IO_INPUT), mk_version(m, mem, 3));
  uint32_t b = (mk_buffer(m, "b", 20, FSCHED_IO_OUTPUT), mk_version(m, mem, 13));
  mk_given(m, a, mem, 3), mk_kept(m, b, mem, 13);
  (void)mk_op(m, "move"), mk_arg(m, FSCHED_IN, a), mk_arg(m, FSCHED_OUT, b), mk_kernel(m, "copy");
  (void)mk_op(m, "nothing"), mk_arg(m, FSCHED_IN, b), mk_kernel(m, "nop");
  (void)mk_run(m, q, 0), (void)mk_run(m, q, 1);
  assert_ok();
  ck_assert_uint_eq(result.checked_ops, 1);
  ck_assert_uint_eq(result.checked_bytes, 20);
  m->args[1].tag = FSCHED_IN;
  refused(FSCHED_REPLAY, "replay-kernel", "op 'move': the built-in kernel 'copy' wants one `in`");
}
END_TEST

/* Scratch that lies over data that are read later is detected. */
START_TEST(scratch_shows)
{
  open_device(_i, NULL);
  uint32_t mem = mk_memory(m, "hbm", 200), q = mk_queue(m, "q");
  uint32_t a = (mk_buffer(m, "a", 50, FSCHED_IO_NONE), mk_version(m, mem, 0));
  uint32_t b = (mk_buffer(m, "b", 20, FSCHED_IO_NONE), mk_version(m, mem, 60));
  uint32_t c = (mk_buffer(m, "c", 20, FSCHED_IO_OUTPUT), mk_version(m, mem, 90));
  mk_kept(m, c, mem, 90);
  (void)mk_op(m, "makes a"), mk_arg(m, FSCHED_OUT, a);
  (void)mk_op(m, "has scratch"), mk_arg(m, FSCHED_OUT, b), mk_scratch(m, mem, 150, 7);
  (void)mk_op(m, "reads a"), mk_arg(m, FSCHED_IN, a), mk_arg(m, FSCHED_OUT, c);
  (void)mk_run(m, q, 0), (void)mk_run(m, q, 1), (void)mk_run(m, q, 2);
  assert_ok();
  m->places[2].address = 45;
  refused(FSCHED_REPLAY, "replay-differs", "op 'reads a' wrote something else");
}
END_TEST

/* The content is made from a name, then bound, then made from the name again. */
START_TEST(content_changes)
{
  open_device(_i, NULL);
  make_ping_pong(m, 3, 1);
  fsched_exec *x;
  fsched_entry *entry;
  uint8_t in[61] = {9}, out[4][33 + 6];
  uint32_t size = (uint32_t)m->buffers[3].size;
  fsched_exec_options o = {.size = sizeof o, .device = device};
  ck_assert_int_eq(fsched_exec_create(ctx, &o, &x), FSCHED_OK);
  ck_assert_int_eq(fsched_exec_load(ctx, x, &m->program, &entry), FSCHED_OK);
  for (uint32_t i = 0; i < 4; i++) {
    fsched_semaphore *t;
    fsched_fence *end;
    ck_assert_int_eq(fsched_semaphore_create(NULL, &t), FSCHED_OK);
    ck_assert_int_eq(fsched_fence_create(ctx, &(fsched_fence_point){t, 1}, 1, &end), FSCHED_OK);
    fsched_binding b[] = {{.buffer = "b2", .data = out[i], .bytes = size},
                          {.buffer = "in", .data = in, .bytes = sizeof in}};
    fsched_invocation v = {
        .size = sizeof v, .signal = end, .bindings = b, .n_bindings = i == 2 ? 2 : 1};
    ck_assert_int_eq(fsched_invoke(ctx, entry, &v), FSCHED_OK);
    ck_assert_int_eq(fsched_fence_wait(end, UINT64_C(60000000000)), FSCHED_CAUSE_NONE);
    ck_assert_int_eq(memcmp(out[0], out[i], size) == 0, i != 2);
    fsched_fence_release(end);
    fsched_semaphore_release(t);
  }
  fsched_exec_destroy(x);
}
END_TEST

/* Memory from a pool lies where there is room; this test makes sure that it is not at the same
 * place twice. */
START_TEST(memory_that_moves)
{
  open_device(_i, NULL);
  make_ping_pong(m, 5, 2);
  fsched_pool *pool;
  fsched_exec *x;
  fsched_entry *entry;
  fsched_allocation *taken[2];
  uint8_t out[2][33 + 6];
  uint32_t size = (uint32_t)m->buffers[5].size;
  ck_assert_int_eq(fsched_pool_create(ctx, device, 8192, &pool), FSCHED_OK);
  fsched_exec_options o = {.size = sizeof o, .device = device, .pool = pool};
  ck_assert_int_eq(fsched_exec_create(ctx, &o, &x), FSCHED_OK);
  ck_assert_int_eq(fsched_exec_load(ctx, x, &m->program, &entry), FSCHED_OK);
  for (uint32_t i = 0; i < 4; i++) {
    fsched_semaphore *t;
    fsched_fence *end;
    ck_assert_int_eq(fsched_semaphore_create(NULL, &t), FSCHED_OK);
    ck_assert_int_eq(fsched_fence_create(ctx, &(fsched_fence_point){t, 1}, 1, &end), FSCHED_OK);
    fsched_binding b = {.buffer = "b4", .data = out[i % 2], .bytes = size};
    fsched_invocation v = {.size = sizeof v, .signal = end, .bindings = &b, .n_bindings = 1};
    memset(out[i % 2], (int)i, size);
    ck_assert_int_eq(fsched_invoke(ctx, entry, &v), FSCHED_OK);
    ck_assert_int_eq(fsched_fence_wait(end, UINT64_C(60000000000)), FSCHED_CAUSE_NONE);
    ck_assert(i == 0 || memcmp(out[0], out[1], size) == 0);
    for (uint32_t j = 0; i == 2 && j < 2; j++) { /* back to the first place */
      ck_assert_int_eq(fsched_pool_free(ctx, taken[j], NULL), FSCHED_OK);
    }
    if (i < 2) {
      ck_assert_int_eq(fsched_pool_alloc(ctx, pool, 700, NULL, NULL, &taken[i]), FSCHED_OK);
    }
    fsched_fence_release(end);
    fsched_semaphore_release(t);
  }
  if (!cuda_is_real()) { /* the number of calls, and a graph for each of the places */
    /* Such a call could not be interrupted. */
    ck_assert_uint_eq(fake.calls("cuStreamSynchronize"), 0);
    ck_assert_uint_eq(fake.calls("cuGraphInstantiateWithFlags"), _i % 2 == 0 ? 0 : 3);
  }
  fsched_exec_destroy(x);
  fsched_pool_destroy(pool);
}
END_TEST

/* This is the oldest driver that is accepted. */
START_TEST(an_old_driver)
{
  open_device(_i, &(fake_cuda_controls){.version = 12000});
  make_modules();
  options.check = 0;
  assert_ok();
}
END_TEST

/* These commands can never run. */
START_TEST(a_deadlock_is_found)
{
  open_device(_i, NULL);
  make_ping_pong(m, 4, 2);
  m->waits[0] = (fs_stream_wait){1, 2}; /* b's last command, which waits for a's */
  m->commands[1].wait0 = 0;
  refused(FSCHED_REPLAY, "replay-stuck", "can never reach command 2 (op 'op2'): the commands wait");
}
END_TEST

FS_SUITE(cuda, s) {
  TCase *t = fs_case(s, fs_test_replay);
  fs_test_cuda(t);
  FS_LOOPS(t, 0, LOOPS, ping_pong, spill, gang, kernels_of_modules, state_is_carried,
           traced_and_paced, commands_alone, slots_in_a_pool, content_changes, memory_that_moves);
  FS_LOOPS(t, 0, 2, kernels_that_are_refused, blocks_of_parameters, function_with_two_limits,
           nothing_to_do, copy_and_nop, scratch_shows, a_deadlock_is_found);
  FS_LOOPS(t, 0, cuda_is_real() ? 0 : 2, an_old_driver);
}
