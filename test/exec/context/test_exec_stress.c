/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads invoke, signal, fail and allocate, and make and destroy contexts of their own, all
 * at once; at the end contexts are destroyed, with work in flight or without.  Whatever happens,
 * every invocation ends exactly once, tells its fence what it tells its callback, releases what it
 * owns once, computes what it should if it succeeds, and gives all memory back. */
#include "exec/context/exec_kit.h"
#include "kit/suite.h"

enum { THREADS = 4, ACTIONS = 40, LINES = 6, EXECS = 2, ROUNDS = KIT_SLOW ? 15 : 120 };

/* One invocation. */
typedef struct exec_stress_call {
  fsched_fence *signal;
  uint64_t in, out;
  _Atomic uint32_t calls, releases;
  _Atomic fsched_cause cause;
  bool asked, bound, owned;
  int64_t fails;
} exec_stress_call;

typedef struct exec_stress_round_of {
  fsched_device *device;
  fsched_pool *pool;
  fsched_program *program, *state;
  fsched_exec *exec[EXECS];
  fsched_entry *entry[EXECS], *with_state[EXECS];
  fsched_semaphore *line[LINES];
} exec_stress_round_of;

typedef struct exec_stress_actor {
  pthread_t thread;
  exec_stress_round_of *r;
  fsched_context *ctx;
  uint64_t seed;
  uint32_t wrong;
  uint64_t at[LINES]; /* how far it has signalled */
  exec_stress_call call[ACTIONS];
} exec_stress_actor;

static const kit_kernel kernels[] = {{"fail", kit_fail}, {"add", kit_add}, {NULL, NULL}};

static uint64_t dice(exec_stress_actor *a, uint64_t n) {
  a->seed ^= a->seed << 13;
  a->seed ^= a->seed >> 7;
  a->seed ^= a->seed << 17;
  return a->seed % n;
}

static void called(void *user, fsched_cause cause) {
  exec_stress_call *c = user;
  c->cause = cause;
  c->calls++;
}

static void released(void *user, void *data) {
  exec_stress_call *c = user;
  c->releases += data == &c->in ? 1 : 1000;
}

/* Returns NULL, or a fence of one point on a shared line, or of several points. */
static fsched_fence *some_fence(exec_stress_actor *a) {
  fsched_fence_point p[3];
  fsched_fence *f = NULL;
  uint32_t n = (uint32_t)dice(a, 4);
  for (uint32_t i = 0; i < n; i++) {
    p[i] = (fsched_fence_point){a->r->line[dice(a, LINES)], 1 + dice(a, 2 * ACTIONS / LINES)};
  }
  if (n > 0) {
    a->wrong += fsched_fence_create(a->ctx, p, n, &f) != FSCHED_OK;
  }
  return f;
}

static fsched_fence *own_fence(exec_stress_actor *a) {
  fsched_semaphore *s = NULL;
  fsched_fence *f = NULL;
  a->wrong += fsched_semaphore_create(NULL, &s) != FSCHED_OK;
  a->wrong += fsched_fence_create(a->ctx, &(fsched_fence_point){s, 1}, 1, &f) != FSCHED_OK;
  fsched_semaphore_release(s);
  return f;
}

static void invoke(exec_stress_actor *a, fsched_entry *e, exec_stress_call *c, bool bound) {
  fsched_fence *wait = some_fence(a), *late = dice(a, 3) == 0 ? some_fence(a) : NULL;
  c->fails = dice(a, 10) == 0 ? 1 + (int64_t)dice(a, 5) : 0;
  c->in = dice(a, 1000);
  c->bound = bound;
  c->owned = bound && dice(a, 2) == 0;
  c->signal = own_fence(a);
  const fsched_binding b[] = {{.buffer = "in",
                               .data = &c->in,
                               .bytes = 8,
                               .wait = late,
                               .release = c->owned ? released : NULL,
                               .release_user = c},
                              {.buffer = "out", .data = &c->out, .bytes = 8}};
  const fsched_parameter value = {"f", 1, c->fails};
  fsched_invocation v = {.size = sizeof v,
                         .wait = wait,
                         .signal = c->signal,
                         .bindings = b,
                         .n_bindings = bound ? 2 : 0,
                         .parameters = &value,
                         .n_parameters = bound,
                         .callback = called,
                         .user = c};
  c->asked = fsched_invoke(a->ctx, e, &v) == FSCHED_OK;
  a->wrong += !c->asked;
  fsched_fence_release(wait);
  fsched_fence_release(late);
}

static void allocate(exec_stress_actor *a) {
  fsched_allocation *m;
  fsched_fence *wait = some_fence(a), *end = dice(a, 2) == 0 ? some_fence(a) : NULL;
  a->wrong += fsched_pool_alloc(a->ctx, a->r->pool, 1 + dice(a, 1024), wait, NULL, &m) != FSCHED_OK;
  a->wrong += fsched_pool_free(a->ctx, m, end) != FSCHED_OK;
  fsched_fence_release(wait);
  fsched_fence_release(end);
}

static void signal_or_fail(exec_stress_actor *a) {
  uint64_t line = dice(a, LINES);
  if (dice(a, 100) == 0) {
    (void)fsched_semaphore_fail(a->r->line[line], 50 + (fsched_cause)line);
  } else {
    kit_publish(a->r->line[line], a->at[line] += 1 + dice(a, 3));
  }
}

/* Makes, uses and destroys a context while other threads work with the same pool and timelines. */
static void own_context(exec_stress_actor *a, exec_stress_call *c) {
  fsched_exec_options o = {.size = sizeof o,
                           .device = a->r->device,
                           .pool = a->r->pool,
                           .in_flight = 1 + (uint32_t)dice(a, 2)};
  fsched_exec *x = NULL;
  fsched_entry *e;
  a->wrong += fsched_exec_create(a->ctx, &o, &x) != FSCHED_OK;
  a->wrong += fsched_exec_load(a->ctx, x, a->r->program, &e) != FSCHED_OK;
  invoke(a, e, c, true);
  fsched_exec_destroy(x);
  a->wrong += c->calls != 1;
}

static void *act(void *user) {
  exec_stress_actor *a = user;
  for (uint32_t i = 0; i < ACTIONS; i++) {
    uint32_t x = (uint32_t)dice(a, EXECS);
    uint64_t what = dice(a, 16);
    if (what < 6) {
      invoke(a, a->r->entry[x], &a->call[i], true);
    } else if (what < 8) {
      invoke(a, a->r->with_state[x], &a->call[i], false);
    } else if (what < 9) {
      own_context(a, &a->call[i]);
    } else if (what < 11) {
      allocate(a);
    } else if (what < 12 && dice(a, 4) == 0) {
      fsched_exec_reset(a->r->exec[x]);
    } else {
      signal_or_fail(a);
    }
  }
  return NULL;
}

/* Checks what holds only once nothing is in flight. */
static void check(const exec_stress_actor *a, uint64_t seed) {
  for (uint32_t i = 0; i < ACTIONS; i++) {
    const exec_stress_call *c = &a->call[i];
    if (!c->asked) {
      continue;
    }
    bool once = c->calls == 1 && c->releases == c->owned;
    bool told = fsched_fence_wait(c->signal, 0) == c->cause;
    bool right = c->cause != FSCHED_CAUSE_NONE || !c->bound || c->out == c->in;
    bool failed = !c->bound || c->fails == 0 || c->cause != FSCHED_CAUSE_NONE;
    if (!once || !told || !right || !failed) {
      ck_abort_msg("seed %llu, action %u: %u calls, %u releases, cause %d, %llu of %llu",
                   (unsigned long long)seed, i, c->calls, c->releases, c->cause,
                   (unsigned long long)c->out, (unsigned long long)c->in);
    }
  }
}

static void open_round(fsched_context *ctx, exec_stress_round_of *r, bool pooled) {
  r->pool = NULL;
  ck_fs(ctx, fsched_pool_create(ctx, r->device, 4096, &r->pool));
  for (uint32_t i = 0; i < LINES; i++) {
    r->line[i] = kit_timeline();
  }
  for (uint32_t i = 0; i < EXECS; i++) {
    r->exec[i] = kit_exec(ctx, r->device, pooled ? r->pool : NULL, 1 + i);
    r->entry[i] = kit_load(ctx, r->exec[i], r->program);
    r->with_state[i] = kit_load(ctx, r->exec[i], r->state);
  }
}

static void end_lines(const exec_stress_round_of *r) {
  for (uint32_t i = 0; i < LINES; i++) {
    kit_publish(r->line[i], 1000000);
  }
}

static void await_all(const exec_stress_actor *a) {
  for (uint32_t i = 0; i < ACTIONS; i++) {
    if (a->call[i].asked) {
      ck_assert(fsched_fence_wait(a->call[i].signal, KIT_LIMIT) != FSCHED_CAUSE_TIMEOUT);
    }
  }
}

static void close_round(exec_stress_round_of *r, const exec_stress_actor *a, bool in_flight) {
  if (!in_flight) {
    end_lines(r);
    for (uint32_t i = 0; i < THREADS; i++) {
      await_all(&a[i]);
    }
  }
  for (uint32_t i = 0; i < EXECS; i++) {
    fsched_exec_destroy(r->exec[i]);
  }
  end_lines(r);
  fsched_pool_stats stats = {.size = sizeof stats};
  fsched_pool_get_stats(r->pool, &stats);
  ck_assert_uint_eq(stats.used, 0);
  ck_assert_uint_eq(stats.waiting, 0);
  ck_assert_uint_le(stats.peak, stats.bytes);
  fsched_pool_destroy(r->pool);
}

static void one_round(fsched_context *ctx, exec_stress_round_of *r, exec_stress_actor *a,
                      uint64_t seed) {
  open_round(ctx, r, seed % 3 != 0);
  for (uint32_t i = 0; i < THREADS; i++) {
    memset(&a[i], 0, sizeof a[i]);
    a[i].r = r;
    a[i].seed = (seed * THREADS + i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    ck_assert_int_eq(fsched_context_create(NULL, &a[i].ctx), FSCHED_OK);
    ck_assert_int_eq(pthread_create(&a[i].thread, NULL, act, &a[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_join(a[i].thread, NULL), 0);
    ck_assert_msg(a[i].wrong == 0, "seed %llu: %s", (unsigned long long)seed,
                  fs_test_diags(a[i].ctx));
  }
  close_round(r, a, seed % 2 == 0);
  for (uint32_t i = 0; i < THREADS; i++) {
    check(&a[i], seed);
    for (uint32_t k = 0; k < ACTIONS; k++) {
      fsched_fence_release(a[i].call[k].signal);
    }
    fsched_context_destroy(a[i].ctx);
  }
  for (uint32_t i = 0; i < LINES; i++) {
    fsched_semaphore_release(r->line[i]);
  }
}

START_TEST(all_at_once)
{
  static exec_stress_actor a[THREADS];
  fsched_context *ctx;
  exec_stress_round_of r;
  uint32_t good = 0, bad = 0;
  ck_assert_int_eq(fsched_context_create(NULL, &ctx), FSCHED_OK);
  r.device = kit_device(ctx, kernels);
  r.program = kit_compile(ctx, KIT_ONE("fail"));
  r.state = kit_compile(ctx,
                        "fsched: 1\n"
                        "buffers: [{name: s, size: 64, io: state}]\n"
                        "ops: [{name: f, args: [{inout: s}]}]\n");
  for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
    one_round(ctx, &r, a, seed);
    for (uint32_t i = 0; i < THREADS * ACTIONS; i++) {
      const exec_stress_call *c = &a[i / ACTIONS].call[i % ACTIONS];
      good += c->asked && c->cause == FSCHED_CAUSE_NONE;
      bad += c->asked && c->cause != FSCHED_CAUSE_NONE;
    }
  }
  ck_assert_uint_gt(good, ROUNDS);
  ck_assert_uint_gt(bad, ROUNDS);
  fsched_program_destroy(r.program);
  fsched_program_destroy(r.state);
  fsched_device_release(r.device);
  fsched_context_destroy(ctx);
}
END_TEST

FS_SUITE(exec_stress, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, all_at_once);
}
