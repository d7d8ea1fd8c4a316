/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the host are threads of their own beside the streams of a CUDA device: who runs what,
 * that waits in both directions hold whatever the driver does, and what is left after failures. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/context.h"
#include "draw/trace_instances.h"
#include "exec/context/exec_kit.h"
#include "fsched/replay.h"
#include "kit/turn.h"
#include "model/stream/stream.h"

#include "exec/cuda/cuda_case.h"

/* Iterations of long loops; in how many steps a device fails; how many calls of each function do.
 */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { TRIPS = 200, DEVICE_STEP = 40, CALLS = 2 };
#else
enum { TRIPS = 1500, DEVICE_STEP = 7, CALLS = 6 };
#endif

#define TARGET                                                                        \
  "fsched: 1\n"                                                                       \
  "target: {queues: [{name: d, class: dev}, {name: h, class: cpu, host: true},\n"     \
  "                  {name: h2, class: cpu2, host: true}],\n"                         \
  "         memories: [{name: dm, capacity: 4KiB}, {name: hm, capacity: 4KiB, host: " \
  "true}]}\n"
#define ADD ", kernel: {module: m, function: add}}\n"

/* There and back again: d, h, h2, d. */
static const char there_and_back[] = TARGET
    "buffers: [{name: in, size: 8, io: input, memory: hm},\n"
    "          {name: out, size: 8, io: output, memory: hm}]\n"
    "ops:\n"
    "  - {name: a, on: dev, args: [{in: in}, {out: x, size: 8, memory: hm}]}\n"
    "  - {name: b, on: cpu, args: [{in: x}, {out: y, size: 8, memory: hm}]" ADD
    "  - {name: c, on: cpu2, args: [{in: y}, {out: z, size: 8, memory: hm}]" ADD
    "  - {name: e, on: dev, args: [{in: z}, {out: w, size: 8, memory: hm}]}\n"
    "  - {name: f, on: cpu, args: [{in: w}, {out: out}]" ADD;

/* A pipeline through a device and two threads, with rings between all of them, as often as a
 * parameter says, and a sum that goes from one iteration to the next. */
static const char pipeline[] = TARGET
    "buffers: [{name: in, size: 8, io: input, memory: hm},\n"
    "          {name: sum, size: 8, io: output, memory: hm},\n"
    "          {name: back, size: 8, io: output, memory: dm}]\n"
    "ops:\n"
    "  - {name: z, on: cpu2, args: [{in: in}, {out: sum}]" ADD
    "  - {name: y0, on: dev, args: [{in: in}, {out: back}]}\n"
    "  - loop: L\n    trip: {param: n, min: 0, max: 2000}\n"
    "    buffers: {x: {depth: 3}, y: {depth: 2}}\n    ops:\n"
    "      - {name: a, on: dev, args: [{in: in}, {inout: back}, {out: x, size: 8, memory: hm}]}\n"
    "      - {name: b, on: cpu, args: [{in: x}, {out: y, size: 8, memory: hm}]" ADD
    "      - {name: c, on: cpu2, args: [{in: y}, {inout: sum}]" ADD
    "      - {name: e, on: dev, args: [{in: x}, {out: w, size: 8, memory: dm}]}\n";

/* Who runs the function, by op. */
enum { OPS = 3, SEEN = 8 };
static struct {
  pthread_mutex_t lock;
  pthread_t by[OPS][SEEN];
  uint32_t n[OPS];
  uint64_t calls, fails_at, hangs_at;
  bool hangs;
  char failed[64]; /* what is said of the one that has failed */
  pthread_t failing;
  uint64_t behind; /* calls in its thread since then */
  pthread_cond_t go_on;
} runs = {.lock = PTHREAD_MUTEX_INITIALIZER, .go_on = PTHREAD_COND_INITIALIZER};

static void note_thread(const char *op) {
  uint32_t o = op[0] == 'b' ? 0 : op[0] == 'c' ? 1 : 2, i = 0;
  while (i < runs.n[o] && !pthread_equal(runs.by[o][i], pthread_self())) {
    i++;
  }
  if (i == runs.n[o] && i < SEEN) {
    runs.by[o][runs.n[o]++] = pthread_self();
  }
}

/* The last arg gets three times the first, and what an inout had before. */
static int add(const fsched_kernel_call *call) {
  uint64_t from, to = 0;
  const fsched_kernel_arg *last = &call->args[call->n_args - 1];
  memcpy(&from, call->args[0].data, sizeof from);
  if (last->tag == FSCHED_INOUT) {
    memcpy(&to, last->data, sizeof to);
  }
  to += 3 * from + 1;
  memcpy(last->data, &to, sizeof to);
  pthread_mutex_lock(&runs.lock);
  note_thread(call->op);
  uint64_t number = ++runs.calls;
  while (number == runs.hangs_at || (number > runs.hangs_at && runs.hangs)) {
    runs.hangs = true;
    pthread_cond_wait(&runs.go_on, &runs.lock);
  }
  runs.behind += runs.fails_at > 0 && number > runs.fails_at &&
                 pthread_equal(runs.failing, pthread_self()) != 0;
  if (number == runs.fails_at) {
    runs.failing = pthread_self();
    (void)snprintf(runs.failed, sizeof runs.failed, "op '%s': its kernel failed", call->op);
  }
  int answer = number == runs.fails_at ? 77 : 0;
  pthread_mutex_unlock(&runs.lock);
  return answer;
}

static fsched_kernel_fn find_add(void *user, const char *module, const char *function) {
  (void)user;
  return strcmp(module, "m") == 0 && strcmp(function, "add") == 0 ? add : NULL;
}

/* The drivers: one as it should be; one that runs all streams as one; one of two channels that
 * takes few launches; and two without words. */
enum { DRIVERS = 5 };
static fake_cuda_controls driver_of(int i) {
  fake_cuda_controls c = {.seed = fs_turn() * 100 + (uint64_t)i};
  c.channels = i % DRIVERS == 1 ? 1 : i % DRIVERS == 2 ? 2 : 0;
  c.depth = i % DRIVERS == 2 ? 4 : 0;
  c.lacks = i % DRIVERS == 3   ? "cuStreamWaitValue64"
            : i % DRIVERS == 4 ? "cuStreamWriteValue64"
                               : NULL;
  return c;
}

static bool has_words(int i) { return i % DRIVERS < 3; }

static void open_cuda(fake_cuda_controls c) {
  fsched_device_options o = {
      .size = sizeof o, .kind = "cuda", .driver = fake.path, .find = find_add};
  runs.calls = runs.fails_at = runs.hangs_at = runs.behind = 0;
  memset(runs.n, 0, sizeof runs.n);
  fake.reset(&c);
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
}

static void close_cuda(void) {
  fsched_device_release(device);
  device = NULL;
  cuda_fake_clean(&fake);
}

static uint32_t count_threads(void) {
  DIR *d = opendir("/proc/self/task");
  uint32_t n = 0;
  ck_assert_ptr_nonnull(d);
  while (readdir(d) != NULL) {
    n++;
  }
  (void)closedir(d);
  return n;
}

/* Threads that were joined may be seen for a while.  The thread sanitizer has some of its own. */
static void expect_threads(uint32_t n) {
#if defined(__SANITIZE_THREAD__)
  (void)n;
#else
  while (count_threads() != n) {
    (void)sched_yield();
  }
#endif
}

/* Each queue has one thread in each slot, which runs all that is its own and nothing else; no
 * stream stands for it. */
START_TEST(a_thread_each)
{
  fsched_program *p = kit_compile(ctx, there_and_back);
  uint32_t slots = 1 + (uint32_t)_i / DRIVERS;
  open_cuda(driver_of(_i));
  fsched_replay_options o = {.size = sizeof o, .device = device, .repeat = 8, .in_flight = slots};
  ck_fs(ctx, fsched_replay(ctx, p, &o, NULL));
  ck_assert_uint_eq(runs.calls, 3 * 8);
  for (uint32_t op = 0; op < OPS; op++) {
    ck_assert_uint_ge(runs.n[op], 1);
    ck_assert_uint_le(runs.n[op], slots);
    for (uint32_t i = 0; i < runs.n[op]; i++) {
      ck_assert(!pthread_equal(runs.by[op][i], pthread_self()));
      for (uint32_t j = 0; op != 1 && j < runs.n[1]; j++) {
        ck_assert(!pthread_equal(runs.by[op][i], runs.by[1][j]));
      }
    }
  }
  ck_assert(slots > 1 || pthread_equal(runs.by[0][0], runs.by[2][0]));
  ck_assert_uint_eq(fake.calls("cuStreamCreate"), slots * 3); /* its lane, in and out */
  if (has_words(_i)) {
    ck_assert_uint_eq(fake.calls("cuLaunchHostFunc"), 0);
    ck_assert_uint_gt(fake.calls("cuStreamWriteValue64"), 0);
    ck_assert_uint_gt(fake.calls("cuStreamWaitValue64"), 0);
  } else {
    ck_assert_uint_gt(fake.calls("cuLaunchHostFunc"), 0);
  }
  close_cuda();
  fsched_program_destroy(p);
}
END_TEST

/* In a trace what a thread runs takes at least the time that it was planned to take, and begins
 * when what it waits for on another thread is over.  (The device of these tests has a clock of its
 * own, so where a thread waits for that, the trace lets it begin later.) */
START_TEST(times)
{
  static const uint64_t pace = 200000;
  fsched_program *p = kit_compile(ctx, there_and_back);
  fsched_replay_result r = {.size = sizeof r};
  tr_trace t;
  open_cuda(driver_of(_i));
  fsched_replay_options o = {.size = sizeof o, .device = device, .trace = 1, .pace_ns = pace};
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  tr_open(&t, r.trace_json, r.trace_length);
  const tr_event *b = tr_find(&t, "b"), *c = tr_find(&t, "c");
  ck_assert(b != NULL && c != NULL);
  ck_assert_uint_ge(c->dur, pace);
  ck_assert_uint_ge(c->ts, b->ts + b->dur);
  tr_close(&t);
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  close_cuda();
  fsched_program_destroy(p);
}
END_TEST

typedef struct pipeline_state {
  uint64_t in, sum, back;
} pipeline_state;

/* Replays the pipeline on `on`, whose trips are given; returns what it has left. */
static pipeline_state run_pipeline(const fsched_program *p, fsched_device *on, uint64_t trips,
                                   uint32_t in_flight) {
  pipeline_state v = {.in = 5};
  fsched_binding b[] = {{.buffer = "in", .data = &v.in, .bytes = 8},
                        {.buffer = "sum", .data = &v.sum, .bytes = 8},
                        {.buffer = "back", .data = &v.back, .bytes = 8}};
  fsched_trips given = {"n", trips};
  fsched_replay_options o = {.size = sizeof o,
                             .device = on,
                             .repeat = 3,
                             .in_flight = in_flight,
                             .bindings = b,
                             .n_bindings = 3,
                             .trips = &given,
                             .n_trips = 1};
  ck_fs(ctx, fsched_replay(ctx, p, &o, NULL));
  return v;
}

/* Loops that run longer than records and steps there are leave what threads of a CPU leave. */
START_TEST(long_loops)
{
  static const uint64_t trips[] = {0, 1, 2, 127, TRIPS};
  fsched_program *p = kit_compile(ctx, pipeline);
  fsched_device *cpu;
  fsched_device_options c = {.size = sizeof c, .kind = "cpu", .find = find_add};
  ck_assert_uint_eq(p->view.n_loops, 1);
  ck_fs(ctx, fsched_device_create(ctx, &c, &cpu));
  for (size_t k = 0; k < sizeof trips / sizeof trips[0]; k++) {
    pipeline_state like = run_pipeline(p, cpu, trips[k], 1);
    open_cuda(driver_of(_i));
    pipeline_state is = run_pipeline(p, device, trips[k], 1 + (uint32_t)_i % 3);
    ck_assert_uint_eq(runs.calls, 3 * (1 + 2 * trips[k]));
    ck_assert_uint_eq(is.sum, like.sum);
    ck_assert_uint_eq(is.back, like.back);
    ck_assert(trips[k] == 0 || is.sum != 16);
    close_cuda();
  }
  fsched_device_release(cpu);
  fsched_program_destroy(p);
}
END_TEST

/* One invocation of the pipeline. */
typedef struct pipeline_run {
  fsched_semaphore *timeline;
  fsched_fence *end;
  pipeline_state v;
} pipeline_run;

static void invoke(pipeline_run *r, fsched_entry *e, uint64_t trips, fsched_fence *late) {
  fsched_trips given = {"n", trips};
  *r = (pipeline_run){.timeline = kit_timeline(), .v = {.in = 5}};
  r->end = kit_fence(ctx, r->timeline, 1);
  fsched_binding b[] = {{.buffer = "in", .data = &r->v.in, .bytes = 8, .wait = late},
                        {.buffer = "sum", .data = &r->v.sum, .bytes = 8},
                        {.buffer = "back", .data = &r->v.back, .bytes = 8}};
  fsched_invocation v = {.size = sizeof v,
                         .signal = r->end,
                         .bindings = b,
                         .n_bindings = 3,
                         .trips = &given,
                         .n_trips = 1};
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
}

static void forget(pipeline_run *r) {
  fsched_fence_release(r->end);
  fsched_semaphore_release(r->timeline);
}

/* A function that fails in some iteration fails its invocation, by its op; no function begins
 * behind it on its queue, and the next invocation is right. */
START_TEST(failure)
{
  static const uint64_t at[] = {1, 2, 301, 2 * TRIPS + 1};
  fsched_program *p = kit_compile(ctx, pipeline);
  for (size_t k = 0; k < sizeof at / sizeof at[0]; k++) {
    open_cuda(driver_of(_i));
    runs.fails_at = at[k];
    fsched_exec *x = kit_exec(ctx, device, NULL, 1);
    fsched_entry *e = kit_load(ctx, x, p);
    pipeline_run r;
    fsched_cause cause;
    invoke(&r, e, TRIPS, NULL);
    ck_assert_int_eq(fsched_exec_wait(ctx, x, r.end, KIT_LIMIT, KIT_LIMIT, &cause), FSCHED_REPLAY);
    ck_assert_int_eq(cause, 77);
    ck_assert_ptr_nonnull(strstr(fs_test_diags(ctx), runs.failed));
    ck_assert_uint_eq(runs.behind, 0);
    ck_assert_uint_le(runs.calls, at[k] + 8); /* as far as the other thread may be ahead */
    runs.fails_at = 0;
    forget(&r);
    fsched_exec_reset(x);
    fsched_diag_clear(ctx);
    invoke(&r, e, 10, NULL);
    ck_fs(ctx, fsched_exec_wait(ctx, x, r.end, KIT_LIMIT, KIT_LIMIT, &cause));
    forget(&r);
    fsched_exec_destroy(x);
    close_cuda();
  }
  fsched_program_destroy(p);
}
END_TEST

/* Whatever command of the device fails, and with it the device, nobody waits for ever. */
START_TEST(the_device_fails)
{
  fsched_program *p = kit_compile(ctx, pipeline);
  uint32_t before = count_threads(), failed = 0;
  fsched_trips given = {"n", 40};
  for (uint64_t k = 1; k < 240; k += DEVICE_STEP) {
    fake_cuda_controls c = driver_of(_i);
    c.execution_at = k;
    c.execution_with = 700;
    open_cuda(c);
    fsched_replay_options o = {.size = sizeof o,
                               .device = device,
                               .repeat = 2,
                               .in_flight = 1 + k % 2,
                               .trips = &given,
                               .n_trips = 1};
    fs_status status = fsched_replay(ctx, p, &o, NULL);
    failed += status != FSCHED_OK;
    ck_assert(status == FSCHED_OK || strstr(fs_test_diags(ctx), "CUDA_ERROR_ILLEGAL_ADDRESS"));
    fsched_diag_clear(ctx);
    fsched_device_release(device);
    device = NULL;
    ck_assert_str_eq(fake.left(), "");
    expect_threads(before);
  }
  ck_assert_uint_gt(failed, 120 / DEVICE_STEP);
  fsched_program_destroy(p);
}
END_TEST

/* Replays the pipeline on a new device of that driver; diagnostics stay. */
static fs_status replay_with(const fsched_program *p, const fake_cuda_controls *c) {
  fsched_device_options d = {
      .size = sizeof d, .kind = "cuda", .driver = fake.path, .find = find_add};
  fsched_trips given = {"n", 3};
  fsched_replay_result r = {.size = sizeof r};
  fsched_replay_options o = {.size = sizeof o,
                             .repeat = 2,
                             .in_flight = 2,
                             .trace = 1,
                             .pace_ns = 1,
                             .pool_bytes = 16384,
                             .trips = &given,
                             .n_trips = 1};
  fake.reset(c);
  fs_status status = fsched_device_create(ctx, &d, &o.device);
  if (status == FSCHED_OK) {
    status = fsched_replay(ctx, p, &o, &r);
  }
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  fsched_device_release(o.device);
  return status;
}

/* Calls of each function of the driver fail in turn. */
START_TEST(each_call_fails)
{
  enum { FUNCTIONS = 128 };
  fsched_program *p = kit_compile(ctx, pipeline);
  fake_cuda_controls c = driver_of(_i);
  uint32_t before = count_threads(), failed = 0;
  uint64_t calls[FUNCTIONS];
  const char *name;
  ck_fs(ctx, replay_with(p, &c));
  for (uint32_t f = 0; (name = fake.function(f)) != NULL; f++) {
    ck_assert_uint_lt(f, FUNCTIONS);
    calls[f] = fake.calls(name);
  }
  for (uint32_t f = 0; (name = fake.function(f)) != NULL; f++) {
    for (uint64_t n = 1; n <= calls[f]; n += 1 + calls[f] / CALLS) {
      c.fail = name;
      c.fail_at = n;
      c.fail_with = 999;
      c.seed = n;
      fs_status status = replay_with(p, &c);
      failed += status != FSCHED_OK;
      ck_assert_msg(status == FSCHED_OK || fsched_diag_errors(ctx) > 0, "%s: no reason", name);
      fsched_diag_clear(ctx);
      cuda_fake_clean(&fake);
      expect_threads(before);
    }
  }
  ck_assert_uint_gt(failed, 20);
  fsched_program_destroy(p);
}
END_TEST

/* An invocation whose content fails ends beside one whose function runs meanwhile. */
START_TEST(content_that_fails)
{
  fsched_program *p = kit_compile(ctx, pipeline);
  open_cuda(driver_of(_i));
  fsched_exec *x = kit_exec(ctx, device, NULL, 2);
  fsched_entry *e = kit_load(ctx, x, p);
  fsched_semaphore *late = kit_timeline();
  fsched_fence *there = kit_fence(ctx, late, 1);
  pipeline_run with, without;
  invoke(&with, e, 100, NULL);
  ck_assert_int_eq(fsched_fence_wait(with.end, KIT_LIMIT), FSCHED_CAUSE_NONE);
  invoke(&without, e, 100, there);
  fsched_fence_fail(there, 91);
  ck_assert_int_eq(fsched_fence_wait(without.end, KIT_LIMIT), 91);
  forget(&with), forget(&without);
  fsched_exec_destroy(x);
  fsched_fence_release(there);
  fsched_semaphore_release(late);
  close_cuda();
  fsched_program_destroy(p);
}
END_TEST

/* A function that does not return is named, with its iteration, and given up; other slots go on
 * until they need the device. */
START_TEST(hanging)
{
  static const uint64_t at[] = {1, 2, 700};
  fsched_program *p = kit_compile(ctx, pipeline);
  open_cuda(driver_of(_i));
  runs.hangs_at = at[_i / DRIVERS];
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  pipeline_run r;
  fsched_cause cause;
  invoke(&r, kit_load(ctx, x, p), 500, NULL);
  ck_assert_int_eq(fsched_exec_wait(ctx, x, r.end, KIT_LIMIT, 20000000, &cause), FSCHED_REPLAY);
  ck_assert_int_eq(cause, FSCHED_CAUSE_TIMEOUT);
  ck_assert_ptr_nonnull(
      strstr(fs_test_diags(ctx), "its kernel, function 'add' of module 'm', has not returned"));
  ck_assert_ptr_nonnull(strstr(fs_test_diags(ctx), "(op 'L', iteration "));
  ck_assert_int_eq(fsched_device_lost(device), 1);
  fsched_exec_destroy(x);
  forget(&r);
  fsched_program_destroy(p);
  fsched_device_release(device);
  device = NULL;
  pthread_mutex_lock(&runs.lock); /* should it return later, nothing comes of it */
  runs.hangs = false;
  runs.hangs_at = 0;
  pthread_cond_broadcast(&runs.go_on);
  pthread_mutex_unlock(&runs.lock);
  ck_assert_str_eq(fake.fault(), "");
}
END_TEST

FS_SUITE(cuda_threads, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_fake_cuda(t);
  if (!cuda_is_real()) {
    FS_LOOPS(t, 0, 2 * DRIVERS, a_thread_each);
    FS_LOOPS(t, 0, DRIVERS, long_loops, failure, the_device_fails, each_call_fails);
    FS_LOOPS(t, 0, DRIVERS, times, content_that_fails);
    FS_LOOPS(t, 0, 3 * DRIVERS, hanging);
  }
}
