/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: allocations begin and end in the order of fences, in every order of events, from many
 * threads; those that wait are served strictly in turn. */
#include "exec/context/pool.h"

#include <sched.h>

#include "exec/context/exec_case.h"

static fsched_pool *pool;

static void set_up(void) { ck_fs(ctx, fsched_pool_create(ctx, device, 1024, &pool)); }
static void tear_down(void) { fsched_pool_destroy(pool); }

static fsched_pool_stats stats(void) {
  fsched_pool_stats s = {.size = sizeof s};
  fsched_pool_get_stats(pool, &s);
  return s;
}

/* Allocates, with fences at these values of `line` and `end`; 0: none. */
static fsched_allocation *alloc(uint64_t bytes, uint64_t wait, uint64_t signal) {
  fsched_fence *w = wait == 0 ? NULL : kit_fence(ctx, line, wait);
  fsched_fence *s = signal == 0 ? NULL : kit_fence(ctx, end, signal);
  fsched_allocation *a;
  ck_fs(ctx, fsched_pool_alloc(ctx, pool, bytes, w, s, &a));
  fsched_fence_release(w);
  fsched_fence_release(s);
  return a;
}

static void give(fsched_allocation *a, uint64_t wait) {
  fsched_fence *w = wait == 0 ? NULL : kit_fence(ctx, line, wait);
  ck_fs(ctx, fsched_pool_free(ctx, a, w));
  fsched_fence_release(w);
}

START_TEST(errors)
{
  fsched_pool *p = pool;
  fsched_allocation *a = (fsched_allocation *)(void *)pool;
  kit_refused(ctx, fsched_pool_create(ctx, NULL, 1, &p), FSCHED_USAGE, "exec",
              "a pool is of a device");
  ck_assert_ptr_null(p);
  kit_refused(ctx, fsched_pool_create(ctx, device, 0, &p), FSCHED_USAGE, "exec",
              "a pool has at least one byte");
  kit_refused(ctx, fsched_pool_create(ctx, device, UINT64_MAX, &p), FSCHED_USAGE, "exec",
              "not more than there can be");
  kit_refused(ctx, fsched_pool_create(ctx, device, UINT64_MAX / 4, &p), FSCHED_SYSTEM,
              "replay-memory", "the machine refuses");
  kit_refused(ctx, fsched_pool_alloc(ctx, pool, 0, NULL, NULL, &a), FSCHED_USAGE, "exec",
              "an allocation has at least one byte");
  ck_assert_ptr_null(a);
  kit_refused(ctx, fsched_pool_alloc(ctx, pool, 1025, NULL, NULL, &a), FSCHED_INFEASIBLE, "pool",
              "1280 bytes of memory are needed at once, the pool has 1024");
  kit_refused(ctx, fsched_pool_alloc(ctx, pool, UINT64_MAX, NULL, NULL, &a), FSCHED_INFEASIBLE,
              "pool", "18446744073709551615 bytes");
  fsched_pool_destroy(NULL);
}
END_TEST

/* Reservations count in multiples of 256, so the end of a pool may stay unused. */
START_TEST(sizes_are_rounded_up)
{
  fsched_pool *p;
  fsched_allocation *a;
  fsched_pool_stats s = {.size = sizeof s};
  ck_fs(ctx, fsched_pool_create(ctx, device, 1000, &p));
  kit_refused(ctx, fsched_pool_alloc(ctx, p, 769, NULL, NULL, &a), FSCHED_INFEASIBLE, "pool",
              "1024 bytes of memory are needed at once, the pool has 1000");
  ck_fs(ctx, fsched_pool_alloc(ctx, p, 600, NULL, NULL, &a));
  ck_assert_ptr_nonnull(fsched_allocation_data(a));
  fsched_pool_get_stats(p, &s);
  ck_assert_uint_eq(s.bytes, 1000);
  ck_assert_uint_eq(s.used, 768);
  ck_fs(ctx, fsched_pool_free(ctx, a, NULL));
  fsched_pool_destroy(p);
}
END_TEST

START_TEST(data_and_statistics)
{
  fsched_allocation *a = alloc(1, 0, 1), *b = alloc(300, 0, 2);
  uint8_t *p = fsched_allocation_data(a), *q = fsched_allocation_data(b);
  ck_assert_uint_eq(fsched_semaphore_value(end), 2);
  ck_assert_uint_eq((uintptr_t)p % 256, 0);
  ck_assert_uint_eq((uintptr_t)q % 256, 0);
  ck_assert(q >= p + 256 || p >= q + 512);
  memset(p, 1, 256);
  memset(q, 2, 512);
  fsched_pool_stats s = stats();
  ck_assert_uint_eq(s.bytes, 1024);
  ck_assert_uint_eq(s.used, 768);
  ck_assert_uint_eq(s.peak, 768);
  ck_assert_uint_eq(s.served, 2);
  ck_assert_uint_eq(s.waiting, 0);
  give(a, 0);
  give(b, 0);
  fsched_allocation *c = alloc(1024, 0, 0); /* the two parts are one run again */
  ck_assert_ptr_nonnull(fsched_allocation_data(c));
  s = stats();
  ck_assert_uint_eq(s.used, 1024);
  ck_assert_uint_eq(s.peak, 1024);
  struct {
    size_t size;
    uint64_t bytes, used;
  } old = {.size = sizeof old}; /* an earlier version of the struct */
  fsched_pool_get_stats(pool, (fsched_pool_stats *)(void *)&old);
  ck_assert_uint_eq(old.size, sizeof old);
  ck_assert_uint_eq(old.used, 1024);
  give(c, 0);
  ck_assert_uint_eq(stats().used, 0);
}
END_TEST

START_TEST(waits_for_its_fence)
{
  fsched_allocation *a = alloc(100, 1, 1);
  ck_assert_ptr_null(fsched_allocation_data(a));
  ck_assert_uint_eq(stats().used + stats().waiting, 0);
  ck_assert_uint_eq(fsched_semaphore_value(end), 0);
  kit_publish(line, 1);
  ck_assert_ptr_nonnull(fsched_allocation_data(a));
  ck_assert_uint_eq(fsched_semaphore_value(end), 1);
  give(a, 2);
  ck_assert_uint_eq(stats().used, 256);
  kit_publish(line, 2);
  ck_assert_uint_eq(stats().used, 0);
}
END_TEST

/* The first in the queue does not fit; the second would, but does not overtake. */
START_TEST(first_come_first_served)
{
  fsched_allocation *a = alloc(512, 0, 1), *b = alloc(256, 0, 2);
  fsched_allocation *large = alloc(768, 0, 3), *small = alloc(256, 0, 4);
  ck_assert_uint_eq(stats().waiting, 2);
  ck_assert_ptr_null(fsched_allocation_data(small));
  give(b, 0); /* 512 are free, in one run or two */
  ck_assert_uint_eq(stats().waiting, 2);
  give(a, 0);
  ck_assert_uint_eq(stats().waiting, 0);
  ck_assert_ptr_nonnull(fsched_allocation_data(large));
  ck_assert_ptr_nonnull(fsched_allocation_data(small));
  ck_assert_uint_eq(fsched_semaphore_value(end), 4);
  ck_assert_uint_eq(stats().served, 4);
  give(large, 0);
  give(small, 0);
}
END_TEST

/* An allocation that waits for the whole pool is served although others come all the time. */
START_TEST(nobody_starves)
{
  fsched_allocation *a[64];
  a[0] = alloc(256, 0, 0);
  fsched_allocation *whole = alloc(1024, 0, 1);
  for (uint32_t i = 1; i < 64; i++) {
    a[i] = alloc(256, 0, 0);
    ck_assert_ptr_null(fsched_allocation_data(a[i]));
  }
  give(a[0], 0);
  ck_assert_uint_eq(fsched_semaphore_value(end), 1);
  ck_assert_uint_eq(stats().waiting, 63);
  give(whole, 0);
  for (uint32_t i = 1; i < 64; i++) {
    ck_assert_ptr_nonnull(fsched_allocation_data(a[i])); /* in the order in which they were made */
    ck_assert(i + 4 >= 64 || fsched_allocation_data(a[i + 4]) == NULL);
    give(a[i], 0);
  }
}
END_TEST

START_TEST(wait_fails)
{
  fsched_allocation *a = alloc(100, 1, 1);
  (void)fsched_semaphore_fail(line, 17);
  ck_assert_int_eq(fsched_semaphore_cause(end), 17);
  ck_assert_ptr_null(fsched_allocation_data(a));
  ck_assert_uint_eq(stats().used + stats().served, 0);
  give(a, 2); /* a fence that has failed serves, too */
}
END_TEST

START_TEST(freed_when_the_fence_fails)
{
  fsched_allocation *a = alloc(100, 0, 1);
  give(a, 1);
  ck_assert_uint_eq(stats().used, 256);
  (void)fsched_semaphore_fail(line, 17);
  ck_assert_uint_eq(stats().used, 0);
}
END_TEST

/* An allocation is freed before its fence is reached, or while it waits for room: its signal fails,
 * and the ones behind it move up. */
START_TEST(freed_before_it_is_granted)
{
  fsched_semaphore *other = kit_timeline();
  fsched_fence *f = kit_fence(ctx, other, 1);
  fsched_allocation *a = alloc(100, 1, 1), *b, *c, *whole = alloc(1024, 0, 0);
  give(a, 0);
  ck_assert_int_eq(fsched_semaphore_cause(end), FSCHED_CAUSE_CANCELLED);
  kit_publish(line, 1);
  ck_assert_uint_eq(stats().served, 1);
  ck_fs(ctx, fsched_pool_alloc(ctx, pool, 1024, NULL, f, &b));
  c = alloc(256, 0, 0);
  fsched_allocation *d = alloc(256, 0, 0);
  ck_assert_uint_eq(stats().waiting, 3);
  give(d, 0); /* the last */
  give(whole, 0);
  ck_assert_ptr_nonnull(fsched_allocation_data(b));
  ck_assert_ptr_null(fsched_allocation_data(c));
  d = alloc(1024, 0, 0);
  give(c, 0); /* the first of two */
  ck_assert_uint_eq(stats().waiting, 1);
  give(b, 0);
  ck_assert_ptr_nonnull(fsched_allocation_data(d));
  give(d, 0);
  ck_assert_int_eq(fsched_fence_wait(f, 0), FSCHED_CAUSE_NONE);
  fsched_fence_release(f);
  fsched_semaphore_release(other);
}
END_TEST

/* Where room was freed before, the next in the queue gets it at once when the head goes. */
START_TEST(who_is_behind_moves_up)
{
  fsched_allocation *a = alloc(512, 0, 0), *large = alloc(1024, 0, 1), *small = alloc(256, 0, 0);
  ck_assert_ptr_null(fsched_allocation_data(small));
  give(large, 0);
  ck_assert_ptr_nonnull(fsched_allocation_data(small));
  ck_assert_int_eq(fsched_semaphore_cause(end), FSCHED_CAUSE_CANCELLED);
  give(small, 0);
  give(a, 0);
}
END_TEST

/* The four events come in every order; each fence is reached or fails. */
enum { WAIT, FREE, FREED, ROOM, EVENTS };

typedef struct course {
  fsched_semaphore *line[3]; /* of wait, signal, and free's wait */
  fsched_fence *fence[3];
  fsched_allocation *whole, *a;
  bool fails[3], was[EVENTS];
  bool granted; /* what the model says */
} course;

static void settle(course *c, uint32_t i) {
  if (c->fails[i]) {
    (void)fsched_semaphore_fail(c->line[i], (fsched_cause)(5 + i));
  } else {
    kit_publish(c->line[i], 1);
  }
}

static void happen(course *c, uint32_t event) {
  c->was[event] = true;
  if (event == WAIT) {
    settle(c, 0);
  } else if (event == FREE) {
    ck_fs(ctx, fsched_pool_free(ctx, c->a, c->fence[2]));
  } else if (event == FREED) {
    settle(c, 2);
  } else {
    give(c->whole, 0);
  }
}

/* Checks what must be true after each event. */
static void check(course *c) {
  bool gone = c->was[FREE] && c->was[FREED];
  bool asked = c->was[WAIT] && !c->fails[0];
  c->granted = c->granted || (asked && c->was[ROOM] && !gone);
  fsched_cause cause = fsched_semaphore_cause(c->line[1]);
  bool reached = fsched_semaphore_value(c->line[1]) == 1;
  fsched_cause wanted = c->granted                    ? FSCHED_CAUSE_NONE
                        : c->was[WAIT] && c->fails[0] ? 5
                        : gone                        ? FSCHED_CAUSE_CANCELLED
                                                      : FSCHED_CAUSE_NONE;
  /* It was freed first. */
  wanted = cause == FSCHED_CAUSE_CANCELLED && gone && !c->granted ? cause : wanted;
  uint64_t used = (c->was[ROOM] ? 0 : 1024) + (c->granted && !gone ? 512 : 0);
  ck_assert_int_eq(reached, c->granted);
  ck_assert_int_eq(cause, wanted);
  ck_assert_uint_eq(stats().used, used);
  ck_assert_uint_eq(stats().waiting, asked && !c->was[ROOM] && !gone);
}

static void one_order(const uint32_t *order, bool no_wait, bool no_free) {
  course c = {.whole = alloc(1024, 0, 0), .fails = {no_wait, false, no_free}};
  for (uint32_t i = 0; i < 3; i++) {
    c.line[i] = kit_timeline();
    c.fence[i] = kit_fence(ctx, c.line[i], 1);
  }
  ck_fs(ctx, fsched_pool_alloc(ctx, pool, 512, c.fence[0], c.fence[1], &c.a));
  for (uint32_t i = 0; i < EVENTS; i++) {
    happen(&c, order[i]);
    check(&c);
  }
  ck_assert_uint_eq(stats().used, 0);
  for (uint32_t i = 0; i < 3; i++) {
    fsched_fence_release(c.fence[i]);
    fsched_semaphore_release(c.line[i]);
  }
}

START_TEST(every_order_of_events)
{
  for (uint32_t code = 0; code < 256; code++) {
    uint32_t order[EVENTS], seen = 0;
    for (uint32_t i = 0; i < EVENTS; i++) {
      order[i] = code >> 2 * i & 3;
      seen |= 1U << order[i];
    }
    for (uint32_t fails = 0; fails < 4 && seen == 15; fails++) {
      one_order(order, (fails & 1) != 0, (fails & 2) != 0);
    }
  }
}
END_TEST

/* Allocations at every stage, freed or not, go with the pool. */
/* Bytes that one gives back while the pool goes are granted to nobody, whatever the order of the
 * queue. */
START_TEST(nothing_is_granted_at_the_end)
{
  for (int first = 0; first < 2; first++) {
    fsched_semaphore *lines[2] = {kit_timeline(), kit_timeline()};
    fsched_fence *signal[2] = {kit_fence(ctx, lines[0], 1), kit_fence(ctx, lines[1], 1)};
    fsched_semaphore *gate = kit_timeline();
    fsched_fence *wait = kit_fence(ctx, gate, 1);
    fsched_allocation *a[2];
    for (int i = 0; i < 2; i++) { /* one of them waits at first, so that the other gets the bytes */
      ck_fs(ctx, fsched_pool_alloc(ctx, pool, 768, i == first ? wait : NULL, signal[i], &a[i]));
    }
    kit_publish(gate, 1);
    fsched_pool_destroy(pool);
    ck_assert_int_eq(fsched_fence_wait(signal[1 - first], 0), FSCHED_CAUSE_NONE);
    ck_assert_int_eq(fsched_fence_wait(signal[first], 0), FSCHED_CAUSE_CANCELLED);
    for (int i = 0; i < 2; i++) {
      fsched_fence_release(signal[i]);
      fsched_semaphore_release(lines[i]);
    }
    fsched_fence_release(wait);
    fsched_semaphore_release(gate);
    ck_fs(ctx, fsched_pool_create(ctx, device, 1024, &pool));
  }
}
END_TEST

START_TEST(destroyed_with_all_in_flight)
{
  fsched_semaphore *lines[4];
  fsched_fence *signal[4];
  fsched_allocation *a[4];
  fsched_fence *never = kit_fence(ctx, line, 1);
  for (uint32_t freed = 0; freed < 16; freed++) {
    for (uint32_t i = 0; i < 4; i++) {
      lines[i] = kit_timeline();
      signal[i] = kit_fence(ctx, lines[i], 1);
      ck_fs(ctx, fsched_pool_alloc(ctx, pool, i == 0 ? 1024 : 100, i == 3 ? never : NULL, signal[i],
                                   &a[i]));
    }
    for (uint32_t i = 0; i < 4; i++) {
      if ((freed >> i & 1) != 0) {
        ck_fs(ctx, fsched_pool_free(ctx, a[i], never));
      }
    }
    fsched_pool_destroy(pool);
    ck_assert_uint_eq(fsched_semaphore_value(lines[0]), 1);
    ck_assert_int_eq(fsched_semaphore_cause(lines[3]), FSCHED_CAUSE_CANCELLED);
    for (uint32_t i = 0; i < 4; i++) {
      ck_assert(fsched_fence_wait(signal[i], 0) != FSCHED_CAUSE_TIMEOUT);
      fsched_fence_release(signal[i]);
      fsched_semaphore_release(lines[i]);
    }
    ck_fs(ctx, fsched_pool_create(ctx, device, 1024, &pool));
  }
  fsched_fence_release(never);
}
END_TEST

/* The cancelling thread may come before the one that reserves. */
static void never_granted(fs_reservation *r, fsched_cause cause) {
  (void)cause;
  r->user = r;
}

START_TEST(cancelled_before_it_was_asked_for)
{
  fsched_allocation *a = alloc(1024, 0, 0);
  fs_reservation r[] = {{.bytes = 256, .granted = never_granted},
                        {.bytes = 256, .granted = never_granted}};
  ck_assert(!fs_pool_cancel(pool, &r[0]));
  ck_assert_int_eq(fs_pool_reserve(pool, &r[0]), FS_RESERVE_CANCELLED);
  ck_assert_int_eq(fs_reserved_cause(FS_RESERVE_CANCELLED), FSCHED_CAUSE_CANCELLED);
  ck_assert_int_eq(fs_pool_reserve(pool, &r[1]), FS_RESERVE_LATER);
  ck_assert(fs_pool_cancel(pool, &r[1]));
  ck_assert(!fs_pool_cancel(pool, &r[1]));
  give(a, 0);
  ck_assert_uint_eq(stats().served, 1);
  ck_assert(r[0].user == NULL && r[1].user == NULL);
}
END_TEST

/* A chain of stream-ordered uses is made before the first fence is signalled. */
START_TEST(chain_peaks_at_one)
{
  enum { N = 100 };
  for (uint32_t i = 0; i < N; i++) {
    fsched_fence *ready = kit_fence(ctx, end, i + 1);
    fsched_fence *wait = kit_fence(ctx, i == 0 ? line : end, i == 0 ? 1 : i);
    fsched_allocation *a;
    ck_fs(ctx, fsched_pool_alloc(ctx, pool, 1000, wait, ready, &a));
    ck_fs(ctx, fsched_pool_free(ctx, a, ready));
    fsched_fence_release(ready);
    fsched_fence_release(wait);
  }
  kit_publish(line, 1);
  ck_assert_uint_eq(fsched_semaphore_value(end), N);
  ck_assert_uint_eq(stats().served, N);
  ck_assert_uint_eq(stats().peak, 1024);
  ck_assert_uint_eq(stats().used, 0);
}
END_TEST

/* Threads allocate, write, look and free, sometimes before they have got the memory. */

enum { THREADS = 4 };
typedef struct pool_user {
  pthread_t thread;
  uint64_t seed, wrong, granted;
} pool_user;

static uint64_t next(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  return *seed ^= *seed << 17;
}

static void use(fsched_context *c, pool_user *u) {
  uint64_t bytes = 1 + next(&u->seed) % 1024, dice = next(&u->seed);
  fsched_semaphore *own = kit_timeline();
  fsched_fence *ready = kit_fence(c, own, 1), *go = kit_fence(c, own, 2);
  fsched_allocation *a;
  ck_fs(c, fsched_pool_alloc(c, pool, bytes, NULL, ready, &a));
  if (dice % 4 == 0) { /* whether it has come or not */
    ck_fs(c, fsched_pool_free(c, a, NULL));
  } else {
    u->wrong += fsched_fence_wait(ready, KIT_LIMIT) != FSCHED_CAUSE_NONE;
    uint8_t *p = fsched_allocation_data(a);
    memset(p, (int)(dice >> 8), bytes);
    (void)sched_yield();
    for (uint64_t i = 0; i < bytes; i++) {
      u->wrong += p[i] != (uint8_t)(dice >> 8);
    }
    u->granted++;
    ck_fs(c, fsched_pool_free(c, a, go));
    kit_publish(own, 2);
  }
  fsched_fence_release(ready);
  fsched_fence_release(go);
  fsched_semaphore_release(own);
}

static void *use_often(void *at) {
  enum { TIMES = KIT_SLOW ? 200 : 2000 };
  pool_user *u = at;
  fsched_context *c;
  u->wrong += fsched_context_create(NULL, &c) != FSCHED_OK;
  for (uint32_t i = 0; i < TIMES; i++) {
    use(c, u);
  }
  fsched_context_destroy(c);
  return NULL;
}

START_TEST(many_threads)
{
  pool_user u[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    u[i] = (pool_user){.seed = 1234567 + i};
    ck_assert_int_eq(pthread_create(&u[i].thread, NULL, use_often, &u[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_join(u[i].thread, NULL), 0);
    ck_assert_uint_eq(u[i].wrong, 0);
    ck_assert_uint_gt(u[i].granted, 0);
  }
  ck_assert_uint_eq(stats().used, 0);
  ck_assert_uint_le(stats().peak, 1024);
}
END_TEST

/* Signals come at the same time as the destruction of the pool whose allocation waits for them. */
static void *publish_line(void *timeline) {
  kit_publish(timeline, 1);
  return NULL;
}

START_TEST(destroyed_while_a_fence_is_signalled)
{
  for (uint32_t i = 0; i < (KIT_SLOW ? 100 : 1000); i++) {
    fsched_semaphore *ready = kit_timeline(), *over = kit_timeline();
    fsched_fence *wait = kit_fence(ctx, ready, 1), *signal = kit_fence(ctx, over, 1);
    fsched_allocation *a;
    pthread_t thread;
    ck_fs(ctx, fsched_pool_alloc(ctx, pool, 100, wait, signal, &a));
    ck_assert_int_eq(pthread_create(&thread, NULL, publish_line, ready), 0);
    if (i % 3 == 0) {
      ck_fs(ctx, fsched_pool_free(ctx, a, NULL));
    } else if (i % 3 == 1) {
      ck_assert_int_eq(fsched_fence_wait(signal, KIT_LIMIT), FSCHED_CAUSE_NONE);
      ck_fs(ctx, fsched_pool_free(ctx, a, wait));
    }
    fsched_pool_destroy(pool);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_fs(ctx, fsched_pool_create(ctx, device, 1024, &pool));
    fsched_fence_release(wait);
    fsched_fence_release(signal);
    fsched_semaphore_release(ready);
    fsched_semaphore_release(over);
  }
}
END_TEST

START_TEST(nth_allocation_fails)
{
  fsched_status status = FSCHED_SYSTEM;
  for (long n = 0; status != FSCHED_OK; n++) {
    fs_budget budget = {.left = n + 1};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *tight;
    fsched_device *d = NULL;
    fsched_pool *p = NULL;
    fsched_allocation *a = NULL;
    if (fsched_context_create(&o, &tight) != FSCHED_OK) {
      continue;
    }
    fsched_fence *f = kit_fence(ctx, line, 1);
    status = fsched_device_create(tight, NULL, &d);
    status = status == FSCHED_OK ? fsched_pool_create(tight, d, 4096, &p) : status;
    status = status == FSCHED_OK ? fsched_pool_alloc(tight, p, 9, f, NULL, &a) : status;
    status = status == FSCHED_OK ? fsched_pool_free(tight, a, f) : status;
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    ck_assert_uint_eq(fsched_diag_errors(tight), status != FSCHED_OK);
    fsched_fence_release(f);
    fsched_pool_destroy(p);
    fsched_device_release(d);
    fsched_context_destroy(tight);
    ck_assert_int_eq(budget.blocks, 0);
    ck_assert_int_eq(budget.held, 0);
  }
}
END_TEST

FS_SUITE(pool, s) {
  TCase *t = fs_case(s, fs_test_device);
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  FS_TESTS(t, errors, sizes_are_rounded_up, data_and_statistics, waits_for_its_fence,
           first_come_first_served, nobody_starves, wait_fails, freed_when_the_fence_fails,
           freed_before_it_is_granted, who_is_behind_moves_up, every_order_of_events,
           nothing_is_granted_at_the_end, destroyed_with_all_in_flight,
           cancelled_before_it_was_asked_for, chain_peaks_at_one, many_threads,
           destroyed_while_a_fence_is_signalled, nth_allocation_fails);
}
