/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores: waiting for several at once, and what a sleeper learns. */
#include <pthread.h>

#include "frontier/semaphore/private.h"
#include "frontier/semaphore/semaphore_checks.h"
#include "kit/suite.h"

static fsched_wait_result wait_two(fsched_semaphore *a, uint64_t av, fsched_semaphore *b,
                                   uint64_t bv, fsched_wait_mode mode, uint64_t ns) {
  fsched_wait_point p[2] = {{.semaphore = a, .value = av}, {.semaphore = b, .value = bv}};
  fsched_wait_result r = {99, 99};
  ck_assert_int_eq(fsched_semaphore_wait_many(p, 2, mode, ns, &r), FSCHED_OK);
  return r;
}

static void expect_result(fsched_wait_result r, fsched_cause cause, uint32_t index) {
  ck_assert_int_eq(r.cause, cause);
  ck_assert_uint_eq(r.index, index);
}

START_TEST(wait_many_results)
{
  fsched_semaphore *a = fs_sem_make(0, 0);
  fsched_semaphore *b = fs_sem_make(0, 0);
  fs_sem_signal(a, 5, 1, 1);
  fsched_wait_mode all = FSCHED_WAIT_ALL;
  fsched_wait_mode any = FSCHED_WAIT_ANY;
  uint32_t none = FSCHED_NONE;
  expect_result(wait_two(a, 5, b, 1, all, 0), FSCHED_CAUSE_TIMEOUT, none);
  expect_result(wait_two(a, 5, b, 1, all, 1000), FSCHED_CAUSE_TIMEOUT, none);
  expect_result(wait_two(a, 6, b, 1, any, 1000), FSCHED_CAUSE_TIMEOUT, none);
  expect_result(wait_two(b, 1, a, 5, any, 0), FSCHED_CAUSE_NONE, 1);
  expect_result(wait_two(a, 4, a, 5, any, 0), FSCHED_CAUSE_NONE, 0);
  expect_result(wait_two(a, 4, a, 5, all, FSCHED_FOREVER), FSCHED_CAUSE_NONE, none);
  ck_assert_int_eq(fsched_semaphore_fail(b, 9), 1);
  expect_result(wait_two(a, 5, b, 1, all, FSCHED_FOREVER), 9, 1);
  expect_result(wait_two(a, 6, b, 1, all, FSCHED_FOREVER), 9, 1);
  expect_result(wait_two(b, 1, a, 5, any, 0), FSCHED_CAUSE_NONE, 1);
  expect_result(wait_two(a, 6, b, 1, any, 0), 9, 1);
  expect_result(wait_two(a, 5, b, 0, all, 0), FSCHED_CAUSE_NONE, none);
  ck_assert_int_eq(fsched_semaphore_fail(a, 8), 1); /* the later one: the lowest index counts */
  expect_result(wait_two(a, 6, b, 1, all, FSCHED_FOREVER), 8, 0);
  expect_result(wait_two(a, 6, b, 1, any, FSCHED_FOREVER), 8, 0);
  expect_result(wait_two(b, 1, a, 6, any, FSCHED_FOREVER), 9, 0);
  fsched_wait_result r;
  ck_assert_int_eq(fsched_semaphore_wait_many(NULL, 0, all, 0, &r), FSCHED_OK);
  expect_result(r, FSCHED_CAUSE_NONE, none);
  fsched_semaphore_release(a);
  fsched_semaphore_release(b);
}
END_TEST

START_TEST(any_learns_of_what_came)
{
  fsched_semaphore *a = fs_sem_make(0, 0);
  fs_sem_signal(a, 1, 3, 4);
  fs_room r[2];
  fsched_wait_point p[2] = {{.semaphore = a, .value = 2, .known = fs_room_clear(&r[0])},
                            {.semaphore = a, .value = 1, .known = fs_room_clear(&r[1])}};
  fsched_wait_result result;
  ck_assert_int_eq(fsched_semaphore_wait_many(p, 2, FSCHED_WAIT_ANY, 0, &result), FSCHED_OK);
  expect_result(result, FSCHED_CAUSE_NONE, 1);
  ck_assert_uint_eq(r[0].f.n, 0);
  ck_assert_int_eq(r[0].f.tainted, 0);
  ck_assert_uint_eq(r[1].f.n, 1);
  fsched_semaphore_release(a);
}
END_TEST

static void *signal_when_awaited(void *user) {
  fsched_semaphore *s = user;
  for (bool awaited = false; !awaited;) {
    fs_sem_lock(s);
    awaited = s->waiters != NULL;
    fs_sem_unlock(s);
  }
  for (uint64_t v = 1; v <= 6; v++) {
    fs_sem_signal(s, v, v, 10 * v);
  }
  return NULL;
}

/* The history has dropped the value before the sleeper can look. */
START_TEST(sleeper_learns_whatever_the_history)
{
  for (uint32_t round = 0; round < 50; round++) {
    fsched_semaphore *s = fs_sem_make(4, 1);
    fs_room r;
    fsched_wait_point p = {.semaphore = s, .value = 3, .known = fs_room_clear(&r)};
    fsched_wait_result result;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, signal_when_awaited, s), 0);
    ck_assert_int_eq(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &result),
                     FSCHED_OK);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(r.f.n, 1);
    ck_assert_uint_eq(r.entry[0].axis, 3);
    ck_assert_int_eq(r.f.tainted, 0);
    fsched_semaphore_release(s);
  }
}
END_TEST

typedef struct later {
  fsched_semaphore *a, *b;
  fsched_cause fail;
} later;

/* Signals while the other thread sleeps, or before; the later value brings more. */
static void *signal_later(void *user) {
  later *l = user;
  for (uint64_t v = 1; v <= 6; v++) {
    fs_sem_signal(l->a, v, v, 10 * v);
  }
  if (l->fail != FSCHED_CAUSE_NONE) {
    (void)fsched_semaphore_fail(l->b, l->fail);
  } else {
    fs_sem_signal(l->b, 1, 20, 200);
  }
  return NULL;
}

START_TEST(wait_many_learns)
{
  for (uint32_t round = 0; round < 200; round++) {
    later l = {fs_sem_make(4, 8), fs_sem_make(4, 8), round % 2 == 1 ? 5 : FSCHED_CAUSE_NONE};
    fs_room r[3];
    fsched_wait_point p[3] = {{.semaphore = l.a, .value = 3, .known = fs_room_clear(&r[0])},
                              {.semaphore = l.b, .value = 1, .known = fs_room_clear(&r[1])},
                              {.semaphore = l.a, .value = 5, .known = fs_room_clear(&r[2])}};
    pthread_t thread;
    fsched_wait_result result;
    ck_assert_int_eq(pthread_create(&thread, NULL, signal_later, &l), 0);
    ck_assert_int_eq(fsched_semaphore_wait_many(p, 3, FSCHED_WAIT_ALL, FSCHED_FOREVER, &result),
                     FSCHED_OK);
    if (l.fail != FSCHED_CAUSE_NONE) {
      expect_result(result, 5, 1);
    } else {
      expect_result(result, FSCHED_CAUSE_NONE, FSCHED_NONE);
      static const fsched_axis wanted[] = {3, 20, 5};
      for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(r[i].f.n, 1);
        ck_assert_uint_eq(r[i].entry[0].axis, wanted[i]);
      }
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    fsched_semaphore_release(l.a);
    fsched_semaphore_release(l.b);
  }
}
END_TEST

static void *release_later(void *user) {
  fsched_semaphore_release(user);
  return NULL;
}

START_TEST(destroyed_under_a_sleeper)
{
  for (uint32_t round = 0; round < 200; round++) {
    fsched_semaphore_options o = {.size = sizeof o};
    o.scope = round % 2 == 0 ? FSCHED_SCOPE_DEFAULT : FSCHED_SCOPE_SYSTEM;
    fsched_semaphore *a;
    ck_assert_int_eq(fsched_semaphore_create(&o, &a), FSCHED_OK);
    fsched_wait_point p = {.semaphore = a, .value = 1};
    fsched_wait_result r;
    pthread_t thread;
    fs_sem_hold(a); /* this reference is the call's own, as the thread may be quicker */
    ck_assert_int_eq(pthread_create(&thread, NULL, release_later, a), 0);
    ck_assert_int_eq(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ANY, FSCHED_FOREVER, &r),
                     FSCHED_OK);
    expect_result(r, FSCHED_CAUSE_CANCELLED, 0);
    fs_sem_drop(a);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
  }
}
END_TEST

FS_SUITE(semaphore_many, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, wait_many_results, any_learns_of_what_came, sleeper_learns_whatever_the_history,
           wait_many_learns, destroyed_under_a_sleeper);
}
