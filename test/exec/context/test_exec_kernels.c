/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that never return are named and given up, and do not harm others; kernels may also return
 * twice, the second time in a child process. */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "exec/context/exec_kit.h"
#include "fsched/replay.h"

#include "kit/context.h"

static _Atomic int enough; /* lets kernels return after all */
static _Atomic uint32_t inside;

static int hang(const fsched_kernel_call *call) {
  (void)atomic_fetch_add(&inside, 1);
  while (!atomic_load(&enough)) {
    fs_pause();
  }
  return kit_add(call);
}

static const uint64_t soon_ns = 20000000;
static _Atomic uint64_t late_ns; /* when `late` begins to hang; its first call hangs at once */

/* A call that returns takes a while, so that the watchdog gets to look. */
static int late(const fsched_kernel_call *call) {
  uint64_t now = fs_now_ns(), until = now + 30000000;
  if (atomic_fetch_add(&inside, 1) == 0 || now >= atomic_load(&late_ns)) {
    return hang(call);
  }
  while (fs_now_ns() < until) {
    fs_pause();
  }
  return kit_add(call);
}

static _Atomic int child_status; /* of waitpid */

static int twice(const fsched_kernel_call *call) {
  pid_t pid = fork();
  int status = -1;
  if (pid > 0) {
    (void)waitpid(pid, &status, 0);
    atomic_store(&child_status, status);
  }
  return kit_add(call);
}

static const kit_kernel kernels[] = {
    {"hang", hang}, {"late", late}, {"add", kit_add}, {"twice", twice}, {NULL, NULL}};

/* Kinds of devices that call functions of this process. */
static const struct {
  const char *kind;
  uint32_t threads;
} machines[] = {{"cpu", 0}, {"cpu", 1}, {"sim", 0}};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static fsched_device *open_machine(int i) {
  fsched_device_options o = {.size = sizeof o,
                             .kind = machines[i].kind,
                             .threads = machines[i].threads,
                             .find = kit_find,
                             .find_user = (void *)kernels};
  fsched_device *d;
  ck_fs(ctx, fsched_device_create(ctx, &o, &d));
  return d;
}

static fsched_cause wait_for(fsched_exec *x, fsched_fence *f, fsched_status status) {
  fsched_cause cause = FSCHED_CAUSE_NONE;
  uint64_t stuck_ns = status == FSCHED_OK ? KIT_LIMIT : soon_ns;
  ck_assert_int_eq(fsched_exec_wait(ctx, x, f, KIT_LIMIT, stuck_ns, &cause), status);
  return cause;
}

typedef struct exec_kernels_asked {
  fsched_semaphore *timeline;
  fsched_fence *fence;
  uint64_t in, out;
} exec_kernels_asked;

static void ask(exec_kernels_asked *a, fsched_entry *e) {
  a->timeline = kit_timeline();
  a->fence = kit_fence(ctx, a->timeline, 1);
  a->in = 41;
  a->out = 0;
  const fsched_binding b[] = {{.buffer = "in", .data = &a->in, .bytes = 8},
                              {.buffer = "out", .data = &a->out, .bytes = 8}};
  fsched_invocation v = {.size = sizeof v, .signal = a->fence, .bindings = b, .n_bindings = 2};
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
}

static void forget(exec_kernels_asked *a) {
  fsched_fence_release(a->fence);
  fsched_semaphore_release(a->timeline);
}

/* Another program in the same exec goes on in the slot that is left.  When none is left,
 * invocations fail rather than wait for ever, and the exec can be destroyed while the kernel
 * runs. */
START_TEST(kernel_is_given_up)
{
  fsched_device *device = open_machine(_i);
  fsched_program *bad = kit_compile(ctx, KIT_ONE("hang")), *good = kit_compile(ctx, KIT_ONE("add"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 2);
  fsched_entry *b = kit_load(ctx, x, bad), *g = kit_load(ctx, x, good);
  exec_kernels_asked a[4];
  ask(&a[0], b);
  ck_assert_int_eq(wait_for(x, a[0].fence, FSCHED_REPLAY), FSCHED_CAUSE_TIMEOUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const char *said = fsched_diag_get(ctx, 0)->message;
  ck_assert_msg(strstr(said,
                       "(op 'f'): its kernel, function 'hang' of module 'kit', has not "
                       "returned for ") != NULL &&
                    strstr(said, "since ") != NULL && strncmp(said, "queue '", 7) == 0,
                "'%s'", said);
  fsched_diag_clear(ctx);
  char text[200];
  (void)fsched_exec_failure(x, text, sizeof text);
  ck_assert_ptr_nonnull(strstr(text, "function 'hang'"));
  ask(&a[1], g);
  ck_assert_int_eq(wait_for(x, a[1].fence, FSCHED_OK), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(a[1].out, 42);
  ask(&a[2], b);
  ck_assert_int_eq(wait_for(x, a[2].fence, FSCHED_REPLAY), FSCHED_CAUSE_TIMEOUT);
  fsched_diag_clear(ctx);
  ask(&a[3], g);
  ck_assert_int_eq(wait_for(x, a[3].fence, FSCHED_REPLAY), FSCHED_CAUSE_TIMEOUT);
  fsched_diag_clear(ctx);
  ck_assert_uint_eq(atomic_load(&inside), 2);
  fsched_exec_destroy(x);
  fsched_device_release(device);
  for (unsigned i = 0; i < 4; i++) {
    forget(&a[i]);
  }
  ck_assert_uint_eq(a[0].out, 0);
  fsched_program_destroy(good), fsched_program_destroy(bad);
}
END_TEST

/* The pool's memory is left behind, too. */
START_TEST(pool_is_left_behind)
{
  fsched_device *device = open_machine(_i);
  fsched_program *p = kit_compile(ctx, KIT_ONE("hang"));
  fsched_pool *pool;
  ck_fs(ctx, fsched_pool_create(ctx, device, 4096, &pool));
  fsched_exec *x = kit_exec(ctx, device, pool, 1);
  exec_kernels_asked a;
  ask(&a, kit_load(ctx, x, p));
  ck_assert_int_eq(wait_for(x, a.fence, FSCHED_REPLAY), FSCHED_CAUSE_TIMEOUT);
  fsched_exec_destroy(x);
  fsched_pool_destroy(pool);
  fsched_device_release(device);
  atomic_store(&enough, 1); /* it writes to what is still there */
  forget(&a);
  fsched_program_destroy(p);
}
END_TEST

/* A busy machine may take longer to begin a kernel than the waits below. */
static void await_calls(uint32_t n) {
  while (atomic_load(&inside) < n) {
    (void)sched_yield();
  }
}

/* A kernel that returns in time is not reported. */
START_TEST(slow_kernel_is_no_failure)
{
  fsched_device *device = open_machine(_i);
  fsched_program *p = kit_compile(ctx, KIT_ONE("hang"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  for (int i = 0; i < 3; i++) {
    exec_kernels_asked a;
    fsched_cause cause = 0;
    atomic_store(&enough, 0);
    ask(&a, e);
    await_calls((uint32_t)i + 1);
    ck_assert_int_eq(fsched_exec_wait(ctx, x, a.fence, soon_ns, FSCHED_FOREVER, &cause),
                     FSCHED_REPLAY);
    ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, "that run: 1"));
    ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 1)->message, "function 'hang'"));
    fsched_diag_clear(ctx);
    atomic_store(&enough, 1);
    ck_assert_int_eq(wait_for(x, a.fence, FSCHED_OK), FSCHED_CAUSE_NONE);
    ck_assert_uint_eq(a.out, 42);
    forget(&a);
  }
  fsched_exec_destroy(x);
  fsched_device_release(device);
  fsched_program_destroy(p);
}
END_TEST

/* In a replay one kernel hangs, and another begins to hang before the first is given up: the replay
 * still ends, and both are named. */
START_TEST(replay_ends_with_several)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("late"));
  fsched_replay_options o = {.size = sizeof o,
                             .device = open_machine(_i),
                             .repeat = 1000000000,
                             .in_flight = 2,
                             .timeout_ms = 100};
  fsched_replay_result result = {.size = sizeof result};
  atomic_store(&late_ns, fs_now_ns() + 70000000);
  ck_assert_int_eq(fsched_replay(ctx, p, &o, &result), FSCHED_REPLAY);
  fsched_device_release(o.device);
  ck_assert_uint_ge(fsched_diag_errors(ctx), 1);
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, "function 'late'"));
  fsched_program_destroy(p);
}
END_TEST

/* The child process has only the kernel's thread, and ends there; `user` is told in the child
 * before that. */
static void leave_mark(void *user, const fsched_kernel_run *run) {
  const int *fd = user;
  if (run == NULL) {
    (void)!write(*fd, "x", 1);
  }
}

static void run_twice(int machine, int *told) {
  fsched_device_options o = {.size = sizeof o,
                             .kind = machines[machine].kind,
                             .threads = machines[machine].threads,
                             .find = kit_find,
                             .find_user = (void *)kernels,
                             .kernel_runs = told == NULL ? NULL : leave_mark,
                             .runs_user = told};
  fsched_program *p = kit_compile(ctx, KIT_ONE("twice"));
  fsched_replay_options r = {.size = sizeof r, .check = 1};
  fsched_replay_result result = {.size = sizeof result};
  ck_fs(ctx, fsched_device_create(ctx, &o, &r.device));
  atomic_store(&child_status, -1);
  ck_fs(ctx, fsched_replay(ctx, p, &r, &result));
  int status = atomic_load(&child_status);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == FSCHED_REPLAY, "status %d", status);
  fsched_device_release(r.device);
  fsched_program_destroy(p);
}

START_TEST(child_of_kernel_ends)
{
  int pipes[2];
  char marks[8];
  ck_assert_int_eq(pipe(pipes), 0);
  run_twice(_i, NULL);
  run_twice(_i, &pipes[1]);
  ck_assert_int_eq(close(pipes[1]), 0);
  ck_assert_int_eq((int)read(pipes[0], marks, sizeof marks), 4); /* that of the comparison, too */
  ck_assert_int_eq(close(pipes[0]), 0);
}
END_TEST

/* The sanitizers' own run time is not safe in the child of a process with threads. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FORKING = 0 };
#else
enum { FORKING = MACHINES };
#endif

FS_SUITE(exec_kernels, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, MACHINES, kernel_is_given_up, pool_is_left_behind, slow_kernel_is_no_failure,
           replay_ends_with_several);
  FS_LOOPS(t, 0, FORKING, child_of_kernel_ends);
}
