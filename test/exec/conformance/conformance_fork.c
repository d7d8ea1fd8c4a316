/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance after a fork: in the child process everything that the parent has made is refused,
 * quietly and at once, whatever the parent's threads are doing; what the child makes for itself
 * works; and the parent goes on.
 *
 * The child's exit status tells which promise was not kept.  A child that hangs is ended by an
 * alarm, which the parent sees. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/conformance/conformance_kit.h"

enum { SECONDS = 20, LIMIT_MS = 60000 };

typedef struct family {
  const conf *c;
  fsched_pool *pool;
  fsched_allocation *allocation;
  fsched_exec *x;
  fsched_entry *e;
  fsched_semaphore *go, *end;
  fsched_fence *start, *signal;
} family;

static fsched_fence *fence(const conf *c, fsched_semaphore *s, uint64_t value) {
  fsched_fence *f;
  conf_ok(c, fsched_fence_create(c->ctx, &(fsched_fence_point){s, value}, 1, &f), "fence");
  return f;
}

/* Opens three invocations: one is over, one waits, and one may be running. */
static void open_family(family *f, const conf *c) {
  *f = (family){.c = c};
  conf_ok(c, fsched_pool_create(c->ctx, c->device, 1 << 20, &f->pool), "pool");
  conf_ok(c, fsched_pool_alloc(c->ctx, f->pool, 256, NULL, NULL, &f->allocation), "alloc");
  fsched_exec_options o = {.size = sizeof o, .device = c->device, .pool = f->pool, .in_flight = 2};
  conf_ok(c, fsched_exec_create(c->ctx, &o, &f->x), "exec");
  conf_ok(c, fsched_exec_load(c->ctx, f->x, &c->m->program, &f->e), "load");
  ck_assert_int_eq(fsched_semaphore_create(NULL, &f->go), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_create(NULL, &f->end), FSCHED_OK);
  f->start = fence(c, f->go, 1);
  f->signal = fence(c, f->end, 1);
  fsched_invocation waits = {.size = sizeof waits, .wait = f->start, .signal = f->signal};
  fsched_invocation runs = {.size = sizeof runs};
  conf_ok(c, fsched_invoke(c->ctx, f->e, &waits), "invoke");
  conf_ok(c, fsched_invoke(c->ctx, f->e, &runs), "invoke");
}

static void close_family(family *f) {
  conf_ok(f->c, fsched_fence_signal(f->start), "signal");
  conf_ok(f->c,
          fsched_exec_wait(f->c->ctx, f->x, f->signal, LIMIT_MS * UINT64_C(1000000), FSCHED_FOREVER,
                           NULL),
          "wait");
  fsched_exec_destroy(f->x);
  conf_ok(f->c, fsched_pool_free(f->c->ctx, f->allocation, NULL), "free");
  fsched_pool_destroy(f->pool);
  fsched_fence_release(f->start);
  fsched_fence_release(f->signal);
  fsched_semaphore_release(f->go);
  fsched_semaphore_release(f->end);
}

/* Whether the call was refused with exactly one error, which says why. */
static bool is_refused(fsched_context *ctx, fsched_status status) {
  bool said = status == FSCHED_USAGE && fsched_diag_errors(ctx) == 1 &&
              strstr(fsched_diag_get(ctx, 0)->message, "in its child") != NULL;
  fsched_diag_clear(ctx);
  return said;
}

static int first_wrong(const bool *wrong, int n, int base) {
  for (int i = 0; i < n; i++) {
    if (wrong[i]) {
      return base + i;
    }
  }
  return 0;
}

static int use_objects(const family *f, fsched_context *ctx) {
  fsched_exec_options o = {.size = sizeof o, .device = f->c->device};
  fsched_exec *x;
  fsched_pool *pool;
  fsched_entry *e;
  fsched_allocation *a;
  fsched_cause cause = FSCHED_CAUSE_NONE;
  uint64_t word = 0;
  fsched_replay_options r = {.size = sizeof r, .device = f->c->device};
  fsched_replay_result result = {.size = sizeof result};
  const fsched_program *p = &f->c->m->program;
  const bool wrong[] = {
      !is_refused(ctx, fsched_exec_create(ctx, &o, &x)) || x != NULL,
      !is_refused(ctx, fsched_pool_create(ctx, f->c->device, 1, &pool)) || pool != NULL,
      !is_refused(ctx, fsched_exec_load(ctx, f->x, p, &e)) || e != NULL,
      !is_refused(ctx, fsched_invoke(ctx, f->e, NULL)),
      !is_refused(ctx, fsched_exec_wait(ctx, f->x, f->signal, 1, 1, &cause)),
      cause != FSCHED_CAUSE_SYSTEM,
      !is_refused(ctx, fsched_exec_read_state(ctx, f->x, "s", &word, sizeof word)),
      !is_refused(ctx, fsched_exec_write_state(ctx, f->x, "s", &word, sizeof word)),
      !is_refused(ctx, fsched_pool_alloc(ctx, f->pool, 1, NULL, NULL, &a)) || a != NULL,
      !is_refused(ctx, fsched_pool_free(ctx, f->allocation, NULL)),
      !is_refused(ctx, fsched_replay(ctx, p, &r, &result)),
      fsched_exec_failure(f->x, NULL, 0) != 0};
  return first_wrong(wrong, (int)(sizeof wrong / sizeof *wrong), 10);
}

static int use_fences(const family *f) {
  fsched_frontier none = {0};
  fsched_pool_stats stats = {.size = sizeof stats, .bytes = 1};
  fsched_pool_get_stats(f->pool, &stats);
  fsched_exec_reset(f->x);
  fsched_fence_fail(f->start, 9);
  fsched_fence_fail(f->signal, 9);
  const bool wrong[] = {fsched_fence_signal(f->start) != FSCHED_USAGE,
                        fsched_fence_publish(f->start, &none) != FSCHED_USAGE,
                        fsched_fence_learn(f->start, &none) == FSCHED_OK,
                        fsched_fence_wait(f->signal, FSCHED_FOREVER) != FSCHED_CAUSE_SYSTEM,
                        stats.bytes != 0,
                        fsched_semaphore_cause(f->go) != FSCHED_CAUSE_NONE,
                        fsched_semaphore_value(f->go) != 0,
                        strcmp(fsched_device_kind(f->c->device), f->c->options.kind) != 0};
  return first_wrong(wrong, (int)(sizeof wrong / sizeof *wrong), 30);
}

/* Uses a device that the child makes for itself, where there can be one. */
static int use_own(const family *f, fsched_context *ctx) {
  fsched_replay_options r = {.size = sizeof r, .check = 1, .timeout_ms = LIMIT_MS};
  fsched_replay_result result = {.size = sizeof result};
  fsched_device_options o = f->c->options;
  if (!f->c->on_host) {
    return 0;
  }
  if (fsched_device_create(ctx, &o, &r.device) != FSCHED_OK) {
    return 50;
  }
  int wrong = fsched_replay(ctx, &f->c->m->program, &r, &result) == FSCHED_OK ? 0 : 51;
  fsched_device_release(r.device);
  return wrong;
}

/* Does the child's work, and returns its exit status. */
static int be_child(family *f) {
  (void)signal(SIGALRM, SIG_DFL);
  (void)alarm(SECONDS);
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return 1;
  }
  int wrong = use_objects(f, ctx);
  wrong = wrong == 0 ? use_fences(f) : wrong;
  wrong = wrong == 0 ? use_own(f, ctx) : wrong;
  fsched_exec_destroy(f->x);
  fsched_pool_destroy(f->pool);
  fsched_fence_release(f->start);
  fsched_fence_release(f->signal);
  fsched_semaphore_release(f->go);
  fsched_semaphore_release(f->end);
  fsched_device_release(f->c->device);
  fsched_context_destroy(ctx);
  return wrong;
}

CONFORMS(a_child_is_refused) {
  enum { TIMES = 4 };
  family f;
  make_ping_pong(c->m, 6, 2);
  open_family(&f, c);
  for (int i = 0; i < TIMES; i++) {
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
      _exit(be_child(&f));
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "the child was ended by signal %d", WTERMSIG(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
  }
  close_family(&f);
}

/* The sanitizers' own run time is not safe in the child of a process with threads. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
void fs_conformance_fork(TCase *t, int i) {
  (void)t, (void)i;
  (void)a_child_is_refused;
}
#else
void fs_conformance_fork(TCase *t, int i) { FS_LOOPS(t, i, i + 1, a_child_is_refused); }
#endif
