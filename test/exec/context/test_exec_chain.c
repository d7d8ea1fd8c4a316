/* SPDX-License-Identifier: Apache-2.0 */
/* Chains whose length users choose: each link lets the next one go, in a thread whose stack is as
 * small as that of the library's threads.  What a callback may rely on holds in the middle of a
 * chain, too. */
#include "exec/context/exec_case.h"

enum { STACK = 256 << 10, LINKS = KIT_SLOW ? 20000 : 100000, TIMELINES = 5000 };

/* Runs `function` in a thread with a small stack, and waits for its end. */
static void in_small_thread(void *(*function)(void *), void *argument) {
  pthread_attr_t small;
  pthread_t thread;
  ck_assert_int_eq(pthread_attr_init(&small), 0);
  ck_assert_int_eq(pthread_attr_setstacksize(&small, STACK), 0);
  ck_assert_int_eq(pthread_create(&thread, &small, function, argument), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  (void)pthread_attr_destroy(&small);
}

static void *publish_first(void *timeline) {
  kit_publish(timeline, 1);
  return NULL;
}

static void *fail_first(void *timeline) {
  (void)fsched_semaphore_fail(timeline, 9);
  return NULL;
}

static fsched_pool *make_pool(uint64_t bytes) {
  fsched_pool *p;
  ck_fs(ctx, fsched_pool_create(ctx, device, bytes, &p));
  return p;
}

/* Allocation i waits for value i of the timeline and signals i + 1; 0 waits for nothing. */
static fsched_allocation *alloc(fsched_pool *p, uint64_t i) {
  fsched_fence *wait = i == 0 ? NULL : kit_fence(ctx, line, i),
               *signal = kit_fence(ctx, line, i + 1);
  fsched_allocation *a;
  ck_fs(ctx, fsched_pool_alloc(ctx, p, 256, wait, signal, &a));
  fsched_fence_release(wait);
  fsched_fence_release(signal);
  return a;
}

static void give_at(fsched_allocation *a, uint64_t value) {
  fsched_fence *wait = kit_fence(ctx, line, value);
  ck_fs(ctx, fsched_pool_free(ctx, a, wait));
  fsched_fence_release(wait);
}

START_TEST(allocations_that_wait_for_one_another)
{
  static fsched_allocation *a[LINKS + 1];
  uint64_t n = _i == 0 ? 1000 : LINKS;
  fsched_pool *p = make_pool((n + 1) * 256);
  for (uint64_t i = 1; i <= n; i++) {
    a[i] = alloc(p, i);
  }
  in_small_thread(publish_first, line);
  ck_assert_uint_eq(fsched_semaphore_value(line), n + 1);
  for (uint64_t i = 1; i <= n; i++) {
    ck_assert_ptr_nonnull(fsched_allocation_data(a[i]));
  }
  fsched_pool_destroy(p);
}
END_TEST

/* All allocations queue for the same bytes: each is freed as soon as it is there, which serves the
 * next one. */
START_TEST(frees_that_serve_one_another)
{
  fsched_pool *p = make_pool(256);
  fsched_allocation *first = alloc(p, 0);
  for (uint64_t i = 1; i <= LINKS; i++) {
    fsched_fence *signal = kit_fence(ctx, line, i + 2);
    fsched_allocation *a;
    ck_fs(ctx, fsched_pool_alloc(ctx, p, 1, NULL, signal, &a));
    fsched_fence_release(signal);
    give_at(a, i + 2);
  }
  fsched_semaphore *go = kit_timeline();
  fsched_fence *wait = kit_fence(ctx, go, 1);
  ck_fs(ctx, fsched_pool_free(ctx, first, wait));
  fsched_fence_release(wait);
  in_small_thread(publish_first, go);
  ck_assert_uint_eq(fsched_semaphore_value(line), LINKS + 2);
  fsched_pool_stats stats = {.size = sizeof stats};
  fsched_pool_get_stats(p, &stats);
  ck_assert_uint_eq(stats.used, 0);
  ck_assert_uint_eq(stats.served, LINKS + 1);
  fsched_semaphore_release(go);
  fsched_pool_destroy(p);
}
END_TEST

/* The chain waits for an invocation, so the library's own thread lets it go. */
START_TEST(invocation_lets_a_chain_go)
{
  fsched_program *program = kit_compile(ctx, KIT_ONE("add"));
  fsched_pool *p = make_pool((LINKS + 1) * 256);
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, program);
  for (uint64_t i = 1; i <= LINKS; i++) {
    (void)alloc(p, i);
  }
  fsched_fence *signal = kit_fence(ctx, line, 1), *last = kit_fence(ctx, line, LINKS + 1);
  ck_fs(ctx,
        fsched_invoke(ctx, e,
                      &(fsched_invocation){.size = sizeof(fsched_invocation), .signal = signal}));
  ck_assert_int_eq(fsched_fence_wait(last, KIT_LIMIT), FSCHED_CAUSE_NONE);
  fsched_fence_release(signal);
  fsched_fence_release(last);
  fsched_exec_destroy(x);
  fsched_pool_destroy(p);
  fsched_program_destroy(program);
}
END_TEST

/* Failures */

typedef struct failures {
  fsched_semaphore *timeline[TIMELINES + 1];
  _Atomic uint32_t told;
} failures;

static void tell(void *user, fsched_cause cause) {
  failures *f = user;
  ck_assert_int_eq(cause, 9);
  atomic_fetch_add(&f->told, 1);
}

/* Two contexts take turns: invocation i waits for timeline i, with its input or as a whole, and
 * signals timeline i + 1. */
START_TEST(failures_pass_along_a_chain)
{
  static failures f;
  static uint64_t in;
  fsched_semaphore_options small = {
      .size = sizeof small, .frontier_capacity = 1, .history_limit = 1};
  fsched_program *program = kit_compile(ctx, KIT_ONE("add"));
  fsched_exec *x[2] = {kit_exec(ctx, device, NULL, 1), kit_exec(ctx, device, NULL, 1)};
  fsched_entry *e[2] = {kit_load(ctx, x[0], program), kit_load(ctx, x[1], program)};
  atomic_init(&f.told, 0);
  for (uint32_t i = 0; i <= TIMELINES; i++) {
    ck_assert_int_eq(fsched_semaphore_create(&small, &f.timeline[i]), FSCHED_OK);
  }
  for (uint32_t i = 0; i < TIMELINES; i++) {
    fsched_fence *wait = kit_fence(ctx, f.timeline[i], 1);
    fsched_fence *signal = kit_fence(ctx, f.timeline[i + 1], 1);
    bool whole = _i == 0 || (_i == 2 && i % 3 == 0);
    fsched_binding b = {
        .buffer = "in", .data = &in, .bytes = sizeof in, .wait = whole ? NULL : wait};
    fsched_invocation v = {.size = sizeof v,
                           .wait = whole ? wait : NULL,
                           .signal = signal,
                           .bindings = &b,
                           .n_bindings = 1,
                           .callback = tell,
                           .user = &f};
    ck_fs(ctx, fsched_invoke(ctx, e[i % 2], &v));
    fsched_fence_release(wait);
    fsched_fence_release(signal);
  }
  in_small_thread(fail_first, f.timeline[0]);
  ck_assert_int_eq(kit_await(f.timeline[TIMELINES], 1), 9);
  fsched_exec_destroy(x[0]);
  fsched_exec_destroy(x[1]);
  ck_assert_uint_eq(f.told, TIMELINES);
  for (uint32_t i = 0; i <= TIMELINES; i++) {
    fsched_semaphore_release(f.timeline[i]);
  }
  fsched_program_destroy(program);
}
END_TEST

/* Invocations that have a slot wait for memory, and each gives it back as soon as it has it, since
 * their context is being destroyed. */
static void *destroy_exec(void *x) {
  fsched_exec_destroy(x);
  return NULL;
}

START_TEST(memory_is_handed_on_at_shutdown)
{
  enum { MANY = KIT_SLOW ? 200 : 1000 };
  fsched_program *program = kit_compile(ctx, KIT_ONE("add"));
  fsched_pool *p = make_pool(512);
  fsched_exec *x = kit_exec(ctx, device, p, MANY);
  fsched_entry *e = kit_load(ctx, x, program);
  fsched_allocation *hold;
  ck_fs(ctx, fsched_pool_alloc(ctx, p, 512, NULL, NULL, &hold));
  for (uint32_t i = 0; i < MANY; i++) {
    ck_fs(ctx, fsched_invoke(ctx, e, NULL));
  }
  fsched_pool_stats stats = {.size = sizeof stats};
  fsched_pool_get_stats(p, &stats);
  ck_assert_uint_eq(stats.waiting, MANY);
  ck_fs(ctx, fsched_pool_free(ctx, hold, NULL));
  in_small_thread(destroy_exec, x);
  fsched_pool_destroy(p);
  fsched_program_destroy(program);
}
END_TEST

/* What callbacks rely on */

typedef struct witness {
  fsched_timepoint t;
  fsched_fence *signal, *wait; /* the fence to signal, and then the one to wait for */
  fsched_allocation *allocation;
  fsched_exec *victim;
  bool there;
} witness;

/* Everything that its own call lets go has come when the call returns, also along chains. */
static void signal_and_look(fsched_timepoint *t, fsched_cause cause) {
  witness *w = t->user;
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  ck_fs(ctx, fsched_fence_signal(w->signal));
  w->there = fsched_allocation_data(w->allocation) != NULL;
}

START_TEST(own_calls_are_complete)
{
  fsched_pool *p = make_pool(4096);
  fsched_semaphore *own = kit_timeline();
  fsched_fence *go = kit_fence(ctx, own, 1);
  witness w = {.signal = go};
  for (uint64_t i = 1; i <= 4; i++) {
    (void)alloc(p, i);
  }
  ck_fs(ctx, fsched_pool_alloc(ctx, p, 256, go, NULL, &w.allocation));
  w.t.callback = signal_and_look;
  w.t.user = &w;
  /* This is in the middle of the chain. */
  ck_assert_int_eq(fsched_semaphore_await(line, 3, &w.t, NULL), FSCHED_OK);
  kit_publish(line, 1);
  ck_assert(w.there);
  ck_assert_uint_eq(fsched_semaphore_value(line), 5);
  fsched_fence_release(go);
  fsched_semaphore_release(own);
  fsched_pool_destroy(p);
}
END_TEST

/* A callback may wait for what the call that it runs in has let go before. */
static void wait_for_others(fsched_timepoint *t, fsched_cause cause) {
  witness *w = t->user;
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  if (w->victim != NULL) {
    fsched_exec_destroy(w->victim);
    w->there = true;
  } else {
    w->there = fsched_fence_wait(w->wait, KIT_LIMIT) == FSCHED_CAUSE_NONE;
  }
}

START_TEST(callbacks_may_wait_for_others)
{
  fsched_program *program = kit_compile(ctx, KIT_ONE("add"));
  fsched_pool *p = make_pool(4096);
  fsched_exec *x = kit_exec(ctx, device, p, 1);
  fsched_entry *e = kit_load(ctx, x, program);
  fsched_fence *amid = kit_fence(ctx, line, 3), *over = kit_fence(ctx, end, 1);
  witness w = {.wait = over, .victim = _i == 0 ? NULL : x};
  for (uint64_t i = 1; i <= 4; i++) {
    (void)alloc(p, i);
  }
  ck_fs(ctx, fsched_invoke(ctx, e,
                           &(fsched_invocation){
                               .size = sizeof(fsched_invocation), .wait = amid, .signal = over}));
  w.t.callback = wait_for_others;
  w.t.user = &w;
  ck_assert_int_eq(fsched_semaphore_await(line, 3, &w.t, NULL), FSCHED_OK);
  kit_publish(line, 1);
  ck_assert(w.there);
  ck_assert_uint_eq(fsched_semaphore_value(line), 5);
  if (_i == 0) {
    fsched_exec_destroy(x);
  }
  fsched_fence_release(amid);
  fsched_fence_release(over);
  fsched_pool_destroy(p);
  fsched_program_destroy(program);
}
END_TEST

FS_SUITE(exec_chain, s) {
  TCase *t = fs_case(s, fs_test_device);
  FS_LOOPS(t, 0, 2, allocations_that_wait_for_one_another, callbacks_may_wait_for_others);
  FS_TESTS(t, frees_that_serve_one_another, invocation_lets_a_chain_go,
           memory_is_handed_on_at_shutdown, own_calls_are_complete);
  FS_LOOPS(t, 0, 3, failures_pass_along_a_chain);
}
