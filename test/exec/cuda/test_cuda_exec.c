/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of execution on CUDA: content that comes late, results that come early, several slots,
 * shutdown, and how often the driver is called. */
#include "exec/context/exec_kit.h"

#include "exec/cuda/cuda_case.h"

static void open_device(const char *kind, uint64_t seed) {
  fsched_device_options o = {.size = sizeof o, .kind = kind, .modules = "test/cuda_modules"};
  if (!cuda_is_real()) {
    fake.reset(&(fake_cuda_controls){.seed = seed});
    o.driver = fake.path;
  }
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
}

static const char *kind_of(int loop) { return loop % 2 == 0 ? "cuda" : "cuda-graph"; }

static const char two_ways[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}]}\n"
    "buffers:\n"
    "  - {name: x, size: 24, io: input}\n"
    "  - {name: y, size: 40, io: input}\n"
    "  - {name: fx, size: 48, io: output}\n"
    "  - {name: fy, size: 56, io: output}\n"
    "ops:\n"
    "  - {name: f, args: [{in: x}, {out: fx}]}\n"
    "  - {name: g, args: [{in: y}, {out: fy}]}\n";

typedef struct io {
  uint8_t x[24], y[40], fx[48], fy[56];
} io;

/* Invokes with all four buffers bound; y waits for `late`, and fx signals `early`; NULL: neither
 * does. */
static void invoke(fsched_entry *entry, io *data, fsched_fence *late, fsched_fence *early,
                   fsched_fence *end) {
  fsched_binding bindings[] = {
      {.buffer = "x", .data = data->x, .bytes = sizeof data->x},
      {.buffer = "y", .data = data->y, .bytes = sizeof data->y, .wait = late},
      {.buffer = "fx", .data = data->fx, .bytes = sizeof data->fx, .signal = early},
      {.buffer = "fy", .data = data->fy, .bytes = sizeof data->fy}};
  fsched_invocation v = {.size = sizeof v, .signal = end, .bindings = bindings, .n_bindings = 4};
  ck_fs(ctx, fsched_invoke(ctx, entry, &v));
}

static void fill(io *data, uint8_t value) { memset(data, value, sizeof *data); }

/* fx is there and signalled before y is; the result of y comes from the content that y has when its
 * fence is reached. */
START_TEST(early_and_late)
{
  open_device("cuda", (uint64_t)_i);
  fsched_program *program = kit_compile(ctx, two_ways);
  fsched_exec *x = kit_exec(ctx, device, NULL, 2);
  fsched_entry *entry = kit_load(ctx, x, program);
  fsched_semaphore *t = kit_timeline(), *early = kit_timeline(), *end = kit_timeline();
  fsched_fence *may = kit_fence(ctx, t, 1), *told = kit_fence(ctx, early, 1);
  fsched_fence *over = kit_fence(ctx, end, 1), *again = kit_fence(ctx, end, 2);
  io one, two;
  fill(&one, 1), fill(&two, 1);
  one.y[0] = 77; /* this content does not count */
  invoke(entry, &one, may, told, over);
  ck_assert_int_eq(kit_await(early, 1), FSCHED_CAUSE_NONE);
  ck_assert_int_eq(fsched_fence_wait(over, 0), FSCHED_CAUSE_TIMEOUT);
  one.y[0] = 1;
  kit_publish(t, 1);
  ck_assert_int_eq(kit_await(end, 1), FSCHED_CAUSE_NONE);
  invoke(entry, &two, NULL, NULL, again);
  ck_assert_int_eq(kit_await(end, 2), FSCHED_CAUSE_NONE);
  ck_assert_mem_eq(one.fx, two.fx, sizeof one.fx);
  ck_assert_mem_eq(one.fy, two.fy, sizeof one.fy);
  ck_assert_uint_ne(one.fx[0] + one.fx[1] * 256u, one.fy[0] + one.fy[1] * 256u);
  fsched_exec_destroy(x);
  fsched_program_destroy(program);
  fsched_fence *fences[] = {may, told, over, again};
  for (int i = 0; i < 4; i++) {
    fsched_fence_release(fences[i]);
  }
  fsched_semaphore_release(t), fsched_semaphore_release(early), fsched_semaphore_release(end);
}
END_TEST

/* Content never comes: the report says which op waits, and the invocation fails; the next one does
 * not. */
START_TEST(content_that_never_comes)
{
  open_device(kind_of(_i), (uint64_t)_i);
  fsched_program *program = kit_compile(ctx, two_ways);
  fsched_exec *x = kit_exec(ctx, device, NULL, 2);
  fsched_entry *entry = kit_load(ctx, x, program);
  fsched_semaphore *t = kit_timeline(), *end = kit_timeline(), *end2 = kit_timeline();
  fsched_fence *never = kit_fence(ctx, t, 1), *over = kit_fence(ctx, end, 1);
  fsched_fence *over2 = kit_fence(ctx, end2, 1);
  io data;
  fill(&data, 3);
  fsched_cause cause;
  invoke(entry, &data, never, NULL, over);
  ck_assert_int_eq(fsched_exec_wait(ctx, x, over, KIT_LIMIT, 1000000, &cause), FSCHED_REPLAY);
  ck_assert_int_eq(cause, FSCHED_CAUSE_TIMEOUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-stuck");
  const char *message = fsched_diag_get(ctx, 0)->message;
  ck_assert_msg(strstr(message,
                       "(op 'g'): it waits for the content of 'y', whose fence has not "
                       "been signalled") != NULL,
                "%s", message);
  fsched_exec_reset(x);
  invoke(entry, &data, NULL, NULL, over2);
  ck_assert_int_eq(kit_await(end2, 1), FSCHED_CAUSE_NONE);
  kit_publish(t, 1);
  fsched_exec_destroy(x);
  fsched_program_destroy(program);
  fsched_fence_release(never), fsched_fence_release(over), fsched_fence_release(over2);
  fsched_semaphore_release(t), fsched_semaphore_release(end), fsched_semaphore_release(end2);
}
END_TEST

/* The fence of an input fails with a cause of the caller's, and so does the invocation. */
START_TEST(content_that_fails)
{
  open_device(kind_of(_i), (uint64_t)_i);
  fsched_program *program = kit_compile(ctx, two_ways);
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *entry = kit_load(ctx, x, program);
  fsched_semaphore *t = kit_timeline(), *end = kit_timeline();
  fsched_fence *late = kit_fence(ctx, t, 1), *over = kit_fence(ctx, end, 1);
  io data;
  fill(&data, 3);
  invoke(entry, &data, late, NULL, over);
  fsched_fence_fail(late, 42);
  ck_assert_int_eq(fsched_fence_wait(over, KIT_LIMIT), 42);
  fsched_exec_destroy(x);
  fsched_program_destroy(program);
  fsched_fence_release(late), fsched_fence_release(over);
  fsched_semaphore_release(t), fsched_semaphore_release(end);
}
END_TEST

static void count_callback(void *user, fsched_cause cause) {
  (void)cause;
  atomic_fetch_add((_Atomic uint32_t *)user, 1);
}

/* Shutdown comes while one invocation waits for content, some run, and some have not started. */
START_TEST(shutdown)
{
  enum { INVOCATIONS = 20 };
  _Atomic uint32_t calls = 0;
  open_device(kind_of(_i), (uint64_t)_i);
  fsched_program *program = kit_compile(ctx, two_ways);
  fsched_exec *x = kit_exec(ctx, device, NULL, 3);
  fsched_entry *entry = kit_load(ctx, x, program);
  fsched_semaphore *t = kit_timeline(), *end = kit_timeline();
  fsched_fence *never = kit_fence(ctx, t, 1), *over = kit_fence(ctx, end, 1);
  io data;
  fill(&data, 5);
  invoke(entry, &data, never, NULL, over);
  for (uint32_t i = 0; i < INVOCATIONS; i++) {
    fsched_invocation v = {.size = sizeof v, .callback = count_callback, .user = (void *)&calls};
    ck_fs(ctx, fsched_invoke(ctx, entry, &v));
  }
  fsched_exec_destroy(x);
  ck_assert_uint_eq(calls, INVOCATIONS);
  ck_assert_int_eq(fsched_fence_wait(over, 0), FSCHED_CAUSE_CANCELLED);
  fsched_program_destroy(program);
  fsched_fence_release(never), fsched_fence_release(over);
  fsched_semaphore_release(t), fsched_semaphore_release(end);
}
END_TEST

static void run_many(fsched_exec *x, fsched_entry *entry, uint32_t invocations) {
  kit_count count;
  kit_count_open(&count);
  fsched_fence *over;
  for (uint32_t i = 0; i < invocations; i++) {
    over = kit_fence(ctx, count.timeline, i + 1);
    fsched_invocation v = {.size = sizeof v, .signal = over};
    ck_fs(ctx, fsched_invoke(ctx, entry, &v));
    ck_fs(ctx, fsched_exec_wait(ctx, x, over, KIT_LIMIT, KIT_LIMIT, NULL));
    fsched_fence_release(over);
  }
  kit_count_close(&count);
}

static const char chain[] =
    "fsched: 1\n"
    "target: {queues: [{name: p, class: a}, {name: q, class: b}]}\n"
    "buffers: [{name: d, size: 8, io: output}]\n"
    "ops:\n"
    "  - {name: one, on: a, args: [{out: a, size: 8}], kernel: {module: kernels.ptx, function: "
    "none}}\n"
    "  - {name: two, on: a, args: [{inout: a}], kernel: {module: kernels.ptx, function: none}}\n"
    "  - {name: three, on: b, args: [{in: a}, {out: d}]}\n"
    "  - {name: four, on: b, args: [{inout: d}]}\n";

/* Modules are loaded once for all slots and contexts of a program, a graph is launched once for an
 * invocation, and a stream waits for another only where the program does. */
START_TEST(calls_of_the_driver)
{
  bool graph = _i % 2 != 0;
  open_device(kind_of(_i), (uint64_t)_i);
  fsched_program *program = kit_compile(ctx, chain);
  fsched_exec *x = kit_exec(ctx, device, NULL, 3), *y = kit_exec(ctx, device, NULL, 2);
  fsched_entry *ex = kit_load(ctx, x, program), *ey = kit_load(ctx, y, program);
  ck_assert_uint_eq(fake.calls("cuModuleLoadDataEx"), 2);
  ck_assert_uint_eq(fake.calls("cuGraphInstantiateWithFlags"), graph ? 5 : 0);
  uint64_t allocations = fake.calls("cuMemAlloc"), events = fake.calls("cuEventCreate");
  uint64_t found = fake.calls("cuModuleGetFunction");
  run_many(x, ex, 5);
  run_many(y, ey, 2);
  ck_assert_uint_eq(fake.calls("cuGraphLaunch"), graph ? 7 : 0);
  ck_assert_uint_eq(fake.calls("cuGraphAddKernelNode"), graph ? 5 * 4 : 0);
  ck_assert_uint_eq(fake.calls("cuLaunchKernel"), graph ? 0 : 7 * 4);
  /* one from two to three, and one for the end of the second lane */
  ck_assert_uint_eq(fake.calls("cuStreamWaitEvent"), graph ? 0 : 7 * 2);
  /* one behind each op, as there are kernels of a module, and one at the end */
  ck_assert_uint_eq(fake.calls("cuEventRecord"), graph ? 7 : 7 * (4 + 1));
  ck_assert_uint_eq(fake.calls("cuGraphAddEventRecordNode"), graph ? 5 * 4 : 0);
  ck_assert_uint_eq(fake.calls("cuEventSynchronize") + fake.calls("cuStreamSynchronize"), 0);
  /* No memory is allocated while something may run. */
  ck_assert_uint_eq(fake.calls("cuMemAlloc"), allocations);
  ck_assert_uint_eq(fake.calls("cuEventCreate"), events);
  ck_assert_uint_eq(fake.calls("cuModuleGetFunction"), found);
  fsched_exec_destroy(x), fsched_exec_destroy(y);
  fsched_program_destroy(program);
}
END_TEST

START_TEST(auto_takes_it)
{
  fake.reset(&(fake_cuda_controls){0});
  fsched_device_options o = {.size = sizeof o, .kind = "auto", .driver = fake.path};
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
  ck_assert_str_eq(fsched_device_kind(device), "cuda");
  ck_assert_str_eq(fsched_device_note(device),
                   "Fake device 0, compute capability 9.0, driver for CUDA 13.0");
  fsched_device_release(device);
  fake.reset(&(fake_cuda_controls){.devices = -1});
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
  ck_assert_str_eq(fsched_device_kind(device), "cpu");
  ck_assert_ptr_nonnull(strstr(fsched_device_note(device), "the CUDA driver finds no device"));
  o.kind = "cuda-graph";
  fsched_device *none;
  kit_refused(ctx, fsched_device_create(ctx, &o, &none), FSCHED_SYSTEM, "device",
              "the CUDA driver finds no device");
}
END_TEST

FS_SUITE(cuda_exec, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_cuda(t);
  FS_LOOPS(t, 0, 4, early_and_late, content_that_never_comes, content_that_fails);
  FS_LOOPS(t, 0, 8, shutdown);
  if (!cuda_is_real()) {
    FS_LOOPS(t, 0, 2, calls_of_the_driver);
    FS_TESTS(t, auto_takes_it);
  }
}
