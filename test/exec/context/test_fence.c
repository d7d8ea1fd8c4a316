/* SPDX-License-Identifier: Apache-2.0 */
/* Fences: sets of points, host waits, and waits by callback, which threads signal, fail and cancel
 * at the same time. */
#include "exec/context/fence.h"

#include "exec/context/exec_kit.h"
#include "kit/meeting.h"
#include "kit/suite.h"

enum { MANY = 100 };

static fsched_context *ctx;
static fsched_semaphore *line[MANY];

static void set_up(void) {
  ck_assert_int_eq(fsched_context_create(NULL, &ctx), FSCHED_OK);
  for (uint32_t i = 0; i < MANY; i++) {
    line[i] = kit_timeline();
  }
}

static void tear_down(void) {
  for (uint32_t i = 0; i < MANY; i++) {
    fsched_semaphore_release(line[i]);
  }
  fsched_context_destroy(ctx);
}

/* A fence of all timelines, each at `value`. */
static fsched_fence *fence_of_all(uint64_t value) {
  fsched_fence_point p[MANY];
  fsched_fence *f;
  for (uint32_t i = 0; i < MANY; i++) {
    p[i] = (fsched_fence_point){line[i], value};
  }
  ck_fs(ctx, fsched_fence_create(ctx, p, MANY, &f));
  return f;
}

START_TEST(null_and_empty_are_reached)
{
  const fsched_fence_point *points = (const fsched_fence_point *)&ctx;
  ck_assert_int_eq(fsched_fence_wait(NULL, 0), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(fsched_fence_points(NULL, &points), 0);
  ck_assert_ptr_null(points);
  ck_assert_int_eq(fsched_fence_signal(NULL), FSCHED_OK);
  fsched_fence_fail(NULL, 7);
  fsched_fence_retain(NULL);
  fsched_fence_release(NULL);
  fsched_fence *f, *join, *nulls[3] = {NULL};
  ck_fs(ctx, fsched_fence_create(ctx, NULL, 0, &f));
  ck_assert_int_eq(fsched_fence_wait(f, 0), FSCHED_CAUSE_NONE);
  nulls[1] = f;
  ck_fs(ctx, fsched_fence_join(ctx, nulls, 3, &join));
  ck_assert_int_eq(fsched_fence_wait(join, 0), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(fsched_fence_points(join, &points), 0);
  fsched_fence_release(join);
  ck_fs(ctx, fsched_fence_join(ctx, NULL, 0, &join));
  fsched_fence_release(join);
  fsched_fence_release(f);
}
END_TEST

START_TEST(errors)
{
  fsched_fence *f = (fsched_fence *)(void *)line;
  const fsched_fence_point p[] = {{line[0], 1}, {NULL, 1}};
  kit_refused(ctx, fsched_fence_create(ctx, p, 2, &f), FSCHED_USAGE, "exec",
              "point 1 of a fence has no timeline");
  ck_assert_ptr_null(f);
  kit_refused(ctx, fsched_fence_create(ctx, NULL, 2, &f), FSCHED_USAGE, "exec",
              "a fence of 2 points was given no array of them");
  ck_assert_ptr_null(f);
  fsched_semaphore_options o = {.size = sizeof o, .scope = FSCHED_SCOPE_QUEUE};
  fsched_semaphore *local;
  ck_assert_int_eq(fsched_semaphore_create(&o, &local), FSCHED_OK);
  kit_refused(ctx, fsched_fence_create(ctx, &(fsched_fence_point){local, 1}, 1, &f), FSCHED_USAGE,
              "exec", "point 0 of a fence has a queue-local timeline");
  fsched_semaphore_release(local);
}
END_TEST

/* Of several points of one timeline the highest counts, both in a fence and in a join. */
START_TEST(highest_point_counts)
{
  const fsched_fence_point p[] = {{line[0], 3}, {line[1], 1}, {line[0], 5}, {line[0], 4}};
  const fsched_fence_point *points;
  fsched_fence *f, *g = kit_fence(ctx, line[0], 6), *join;
  ck_fs(ctx, fsched_fence_create(ctx, p, 4, &f));
  ck_assert_uint_eq(fsched_fence_points(f, &points), 2);
  ck_assert_uint_eq(points[0].value + points[1].value, 6);
  ck_fs(ctx, fsched_fence_join(ctx, (fsched_fence *[]){f, NULL, g}, 3, &join));
  ck_assert_uint_eq(fsched_fence_points(join, &points), 2);
  ck_assert_uint_eq(points[0].value + points[1].value, 7);
  kit_publish(line[1], 1);
  kit_publish(line[0], 5);
  ck_assert_int_eq(fsched_fence_wait(f, 0), FSCHED_CAUSE_NONE);
  ck_assert_int_eq(fsched_fence_wait(join, 0), FSCHED_CAUSE_TIMEOUT);
  ck_assert_int_eq(fsched_fence_signal(g), FSCHED_OK);
  ck_assert_int_eq(fsched_fence_wait(join, 0), FSCHED_CAUSE_NONE);
  fsched_fence_release(f);
  fsched_fence_release(g);
  fsched_fence_release(join);
}
END_TEST

/* A fence keeps its timelines, and a join keeps those of its parts. */
START_TEST(references)
{
  fsched_semaphore *s = kit_timeline();
  fsched_fence *f = kit_fence(ctx, s, 2), *join;
  ck_fs(ctx, fsched_fence_join(ctx, &f, 1, &join));
  fsched_semaphore_release(s);
  fsched_fence_retain(f);
  fsched_fence_release(f);
  ck_assert_int_eq(fsched_fence_signal(f), FSCHED_OK);
  fsched_fence_release(f);
  ck_assert_int_eq(fsched_fence_wait(join, 0), FSCHED_CAUSE_NONE);
  fsched_fence_release(join);
}
END_TEST

/* A signal raises a timeline and never lowers it, any number of times. */
START_TEST(signal_raises)
{
  fsched_fence *f = fence_of_all(3);
  kit_publish(line[7], 9);
  ck_assert_int_eq(fsched_fence_signal(f), FSCHED_OK);
  ck_assert_int_eq(fsched_fence_signal(f), FSCHED_OK);
  ck_assert_uint_eq(fsched_semaphore_value(line[0]), 3);
  ck_assert_uint_eq(fsched_semaphore_value(line[7]), 9);
  ck_assert_int_eq(fsched_fence_wait(f, 0), FSCHED_CAUSE_NONE);
  fsched_fence_release(f);
}
END_TEST

/* There are more points than fit on a stack.  The failure of the last ends the wait, though the
 * first is never reached; a point that was reached before its timeline failed stays reached. */
START_TEST(one_failure_ends_a_host_wait)
{
  fsched_fence *f = fence_of_all(2), *two;
  const fsched_fence_point p[] = {{line[0], 2}, {line[1], 2}};
  ck_fs(ctx, fsched_fence_create(ctx, p, 2, &two));
  ck_assert_int_eq(fsched_fence_wait(f, 1), FSCHED_CAUSE_TIMEOUT);
  kit_publish(line[MANY - 2], 2);
  (void)fsched_semaphore_fail(line[MANY - 2], 11);
  ck_assert_int_eq(fs_fence_failed(f), FSCHED_CAUSE_NONE);
  ck_assert_int_eq(fsched_fence_wait(f, 0), FSCHED_CAUSE_TIMEOUT);
  (void)fsched_semaphore_fail(line[MANY - 1], 12);
  ck_assert_int_eq(fs_fence_failed(f), 12);
  ck_assert_int_eq(fsched_fence_wait(f, FSCHED_FOREVER), 12);
  ck_assert_int_eq(fsched_fence_wait(two, 0), FSCHED_CAUSE_TIMEOUT);
  (void)fsched_semaphore_fail(line[1], 13);
  ck_assert_int_eq(fsched_fence_wait(two, FSCHED_FOREVER), 13);
  fsched_fence_fail(two, 14);
  ck_assert_int_eq(fsched_semaphore_cause(line[0]), 14);
  ck_assert_int_eq(fsched_semaphore_cause(line[1]), 13); /* the first one counts */
  fsched_fence_release(f);
  fsched_fence_release(two);
}
END_TEST

/* Waits by callback */

typedef struct fence_waiter {
  fs_fence_wait wait;
  _Atomic uint32_t calls;
  _Atomic fsched_cause cause;
} fence_waiter;

static void called(fs_fence_wait *wait, fsched_cause cause) {
  fence_waiter *w = (fence_waiter *)(void *)wait;
  atomic_store(&w->cause, cause);
  atomic_fetch_add(&w->calls, 1);
}

static void prepare(fence_waiter *w, fsched_fence *f) {
  memset(w, 0, sizeof *w);
  ck_fs(ctx, fs_fence_wait_init(ctx, fs_allocator_of(ctx), &w->wait, f));
  w->wait.callback = called;
}

START_TEST(callback_when_reached)
{
  fsched_fence *f = fence_of_all(1);
  fence_waiter w, none;
  prepare(&w, f);
  prepare(&none, NULL);
  fs_fence_wait_begin(&none.wait);
  ck_assert_uint_eq(none.calls, 1);
  fs_fence_wait_cancel(&none.wait, 5); /* this is too late */
  ck_assert_uint_eq(none.calls, 1);
  fs_fence_wait_begin(&w.wait);
  fsched_fence_release(f); /* the wait keeps it */
  for (uint32_t i = 0; i < MANY; i++) {
    ck_assert_uint_eq(w.calls, 0);
    kit_publish(line[i], 1);
  }
  ck_assert_uint_eq(w.calls, 1);
  ck_assert_int_eq(w.cause, FSCHED_CAUSE_NONE);
  fs_fence_wait_free(&w.wait);
  fs_fence_wait_free(&none.wait);
}
END_TEST

START_TEST(callback_at_the_first_failure)
{
  fsched_fence *f = fence_of_all(1);
  fence_waiter w, late;
  prepare(&w, f);
  prepare(&late, f);
  fs_fence_wait_begin(&w.wait);
  kit_publish(line[0], 1);
  (void)fsched_semaphore_fail(line[50], 8);
  ck_assert_uint_eq(w.calls, 1);
  ck_assert_int_eq(w.cause, 8);
  (void)fsched_semaphore_fail(line[51], 9);
  kit_publish(line[52], 1);
  ck_assert_uint_eq(w.calls, 1);
  fs_fence_wait_begin(&late.wait); /* after it has failed */
  ck_assert_uint_eq(late.calls, 1);
  ck_assert(late.cause == 8 || late.cause == 9);
  fs_fence_wait_free(&w.wait);
  fs_fence_wait_free(&late.wait);
  fsched_fence_release(f);
}
END_TEST

START_TEST(cancelled)
{
  fsched_fence *f = fence_of_all(1);
  fence_waiter w, early;
  prepare(&w, f);
  prepare(&early, f);
  fs_fence_wait_begin(&w.wait);
  fs_fence_wait_cancel(&w.wait, FSCHED_CAUSE_CANCELLED);
  ck_assert_uint_eq(w.calls, 1);
  ck_assert_int_eq(w.cause, FSCHED_CAUSE_CANCELLED);
  fs_fence_wait_cancel(&early.wait, 3); /* before it has begun */
  ck_assert_uint_eq(early.calls, 0);
  fs_fence_wait_begin(&early.wait);
  ck_assert_uint_eq(early.calls, 1);
  ck_assert_int_eq(early.cause, 3);
  ck_assert_int_eq(fsched_fence_signal(f), FSCHED_OK);
  ck_assert_uint_eq(w.calls, 1);
  fs_fence_wait_free(&w.wait);
  fs_fence_wait_free(&early.wait);
  fsched_fence_release(f);
}
END_TEST

/* Stress: in each round one thread begins the wait, others signal, fail or cancel, all at once. */

enum { THREADS = 4, POINTS = 3 };

typedef struct fence_round_of {
  fs_kit_meeting meeting;
  fsched_semaphore *line[POINTS];
  fence_waiter w;
  uint64_t seed;
} fence_round_of;

typedef struct fence_actor {
  fence_round_of *round;
  uint32_t index, rounds;
  pthread_t thread;
} fence_actor;

static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 31) * UINT64_C(0xD6E8FEB86659FD93);
  return x ^ x >> 29;
}

/* Does a thread's work in a round: each point is raised or failed by one of the threads, and
 * sometimes one cancels. */
static void act(fence_round_of *r, uint32_t index, uint64_t seed) {
  if (index == 0) {
    fs_fence_wait_begin(&r->w.wait);
    return;
  }
  uint64_t dice = mixed(seed * THREADS + index);
  if (dice % 8 == 0) {
    (void)fsched_semaphore_fail(r->line[index - 1], (fsched_cause)index);
  } else {
    kit_publish(r->line[index - 1], 1);
  }
  if (dice / 8 % 8 == 0) {
    fs_fence_wait_cancel(&r->w.wait, FSCHED_CAUSE_CANCELLED);
  }
}

static void *play(void *user) {
  fence_actor *a = user;
  for (uint32_t i = 0; i < a->rounds; i++) {
    fs_meet(&a->round->meeting); /* set up by the test */
    act(a->round, a->index, a->round->seed);
    fs_meet(&a->round->meeting);
  }
  return NULL;
}

/* Returns whether the outcome is one that the round allows. */
static bool is_right(const fence_round_of *r) {
  bool may_fail[POINTS + 1] = {false}, may_cancel = false, must_fail = false;
  for (uint32_t i = 1; i <= POINTS; i++) {
    uint64_t dice = mixed(r->seed * THREADS + i);
    may_fail[i] = dice % 8 == 0;
    must_fail = must_fail || may_fail[i];
    may_cancel = may_cancel || dice / 8 % 8 == 0;
  }
  fsched_cause c = r->w.cause;
  bool cause = c == FSCHED_CAUSE_NONE        ? !must_fail
               : c == FSCHED_CAUSE_CANCELLED ? may_cancel
                                             : c >= 1 && c <= POINTS && may_fail[c];
  return r->w.calls == 1 && cause;
}

START_TEST(many_threads)
{
  enum { ROUNDS = KIT_SLOW ? 300 : 3000 };
  static fence_round_of r;
  fence_actor a[THREADS];
  r.meeting = (fs_kit_meeting){.n = THREADS + 1};
  for (uint32_t i = 0; i < THREADS; i++) {
    a[i] = (fence_actor){.round = &r, .index = i, .rounds = ROUNDS};
    ck_assert_int_eq(pthread_create(&a[i].thread, NULL, play, &a[i]), 0);
  }
  for (uint32_t i = 0; i < ROUNDS; i++) {
    fsched_fence_point p[POINTS];
    for (uint32_t j = 0; j < POINTS; j++) {
      r.line[j] = kit_timeline();
      p[j] = (fsched_fence_point){r.line[j], 1};
    }
    fsched_fence *f;
    ck_fs(ctx, fsched_fence_create(ctx, p, POINTS, &f));
    prepare(&r.w, f);
    fsched_fence_release(f);
    r.seed = i + 1;
    fs_meet(&r.meeting);
    fs_meet(&r.meeting);
    if (!is_right(&r)) {
      ck_abort_msg("seed %llu: %u calls, cause %d", (unsigned long long)r.seed, r.w.calls,
                   r.w.cause);
    }
    fs_fence_wait_free(&r.w.wait);
    for (uint32_t j = 0; j < POINTS; j++) {
      fsched_semaphore_release(r.line[j]);
    }
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_join(a[i].thread, NULL), 0);
  }
}
END_TEST

START_TEST(nth_allocation_fails)
{
  fs_status status = FSCHED_SYSTEM;
  const fsched_fence_point p[] = {{line[0], 1}, {line[1], 1}};
  for (long n = 0; status != FSCHED_OK; n++) {
    fs_budget budget = {.left = n + 1};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *tight;
    fsched_fence *f = NULL, *join = NULL;
    if (fsched_context_create(&o, &tight) != FSCHED_OK) {
      continue;
    }
    status = fsched_fence_create(tight, p, 2, &f);
    status = status == FSCHED_OK ? fsched_fence_join(tight, &f, 1, &join) : status;
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    ck_assert_uint_eq(fsched_diag_errors(tight), status != FSCHED_OK);
    fsched_fence_release(f);
    fsched_fence_release(join);
    fsched_context_destroy(tight);
    ck_assert_int_eq(budget.blocks, 0);
    ck_assert_int_eq(budget.held, 0);
  }
  fs_budget budget = {.left = 1000};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *own = ctx;
  ck_assert_int_eq(fsched_context_create(&o, &ctx), FSCHED_OK);
  fsched_fence *f = fence_of_all(1);
  budget.left = 0; /* a host wait for many points needs some */
  ck_assert_int_eq(fsched_fence_wait(f, FSCHED_FOREVER), FSCHED_CAUSE_SYSTEM);
  fsched_fence_release(f);
  fsched_context_destroy(ctx);
  ctx = own;
}
END_TEST

FS_SUITE(fence, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  FS_TESTS(t, null_and_empty_are_reached, errors, highest_point_counts, references, signal_raises,
           one_failure_ends_a_host_wait, callback_when_reached, callback_at_the_first_failure,
           cancelled, many_threads, nth_allocation_fails);
}
