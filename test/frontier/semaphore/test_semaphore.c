/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores in one process: histories, trust, failure, order, links. */

#include "frontier/semaphore/private.h"
#include "frontier/semaphore/semaphore_checks.h"
#include "kit/golden.h"
#include "kit/suite.h"

/* A wait for the value has to learn just this entry, or nothing (epoch 0). */
static void expect_learnt(fsched_semaphore *s, uint64_t value, fsched_axis axis, uint64_t epoch,
                          int tainted) {
  fs_room r;
  ck_assert_int_eq(fsched_semaphore_learn(s, value, fs_room_clear(&r)), FSCHED_OK);
  ck_assert_uint_eq(r.f.n, epoch > 0);
  ck_assert_int_eq(r.f.tainted, tainted);
  if (epoch > 0) {
    ck_assert_uint_eq(r.entry[0].axis, axis);
    ck_assert_uint_eq(r.entry[0].epoch, epoch);
  }
}

/* The timepoints note when they were called. */

enum { POINTS = 64 };

typedef struct log {
  uint32_t n;
  uint32_t id[POINTS];
  fsched_cause cause[POINTS];
} log_;

typedef struct noted {
  fsched_timepoint t;
  log_ *log;
  uint32_t id, calls;
} noted;

static void note(fsched_timepoint *t, fsched_cause cause) {
  noted *x = t->user;
  x->calls++;
  ck_assert_uint_lt(x->log->n, POINTS);
  x->log->id[x->log->n] = x->id;
  x->log->cause[x->log->n++] = cause;
}

static void await(fsched_semaphore *s, uint64_t value, noted *x, log_ *log, uint32_t id) {
  x->t.callback = x->t.callback == NULL ? note : x->t.callback;
  x->t.user = x;
  x->log = log;
  x->id = id;
  ck_assert_int_eq(fsched_semaphore_await(s, value, &x->t, NULL), FSCHED_OK);
}

/* Histories */

START_TEST(late_waiters_learn_their_own_value)
{
  fsched_semaphore *s = fs_sem_make(4, 8);
  fs_sem_signal(s, 3, 0, 10);
  fs_sem_signal(s, 7, 1, 20);
  ck_assert_int_eq(fsched_semaphore_signal(s, 9, NULL), FSCHED_OK);
  fs_sem_signal(s, 12, 2, 30);
  expect_learnt(s, 0, 0, 0, 0); /* no signal brought the first value */
  expect_learnt(s, 1, 0, 10, 0);
  expect_learnt(s, 3, 0, 10, 0);
  expect_learnt(s, 4, 1, 20, 0);
  expect_learnt(s, 8, 0, 0, 0);
  expect_learnt(s, 12, 2, 30, 0);
  fs_room r;
  ck_assert_int_eq(fsched_semaphore_learn(s, 13, fs_room_clear(&r)), FSCHED_INFEASIBLE);
  ck_assert_uint_eq(r.f.n, 0);
  fsched_semaphore_release(s);
}
END_TEST

START_TEST(history_is_limited)
{
  fsched_semaphore *s = fs_sem_make(4, 3);
  for (uint64_t v = 1; v <= 10; v++) {
    fs_sem_signal(s, v, v, v);
  }
  for (uint64_t v = 1; v <= 7; v++) {
    /* It is forgotten: a wait learns nothing, and never what came later. */
    expect_learnt(s, v, 0, 0, 1);
  }
  for (uint64_t v = 8; v <= 10; v++) {
    expect_learnt(s, v, v, v, 0);
  }
  fsched_semaphore_release(s);
}
END_TEST

START_TEST(pending_waiters_learn_whatever_the_history)
{
  fsched_semaphore *s = fs_sem_make(4, 1);
  log_ log = {0};
  noted x[2] = {0};
  fs_room r[2];
  for (uint32_t i = 0; i < 2; i++) {
    x[i].t.known = fs_room_clear(&r[i]);
    await(s, 1 + i, &x[i], &log, i);
  }
  fs_sem_signal(s, 1, 5, 50);
  fs_sem_signal(s, 2, 6, 60);
  fs_sem_signal(s, 3, 7, 70);
  ck_assert_uint_eq(log.n, 2);
  for (uint32_t i = 0; i < 2; i++) {
    ck_assert_uint_eq(r[i].f.n, 1);
    ck_assert_uint_eq(r[i].entry[0].axis, 5 + i);
    ck_assert_int_eq(r[i].f.tainted, 0);
  }
  fsched_semaphore_release(s);
}
END_TEST

START_TEST(published_late)
{
  fsched_semaphore *s = fs_sem_make(2, 4);
  fs_sem_signal(s, 5, 0, 1);
  fs_sem_signal(s, 8, 0, 2);
  fsched_frontier_entry e = {3, 33};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_semaphore_publish(s, 6, &f), FSCHED_OK); /* no signal of 6: whole only */
  expect_learnt(s, 6, 0, 2, 0);
  e.axis = 4;
  ck_assert_int_eq(fsched_semaphore_publish(s, 5, &f), FSCHED_OK);
  fs_room r;
  ck_assert_int_eq(fsched_semaphore_learn(s, 5, fs_room_clear(&r)), FSCHED_OK);
  ck_assert_uint_eq(r.f.n, 2);
  fsched_frontier bad = {.entry = (fsched_frontier_entry[]){{1, 0}}, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_semaphore_publish(s, 9, &bad), FSCHED_BAD_INPUT);
  ck_assert_int_eq(fsched_semaphore_signal(s, 9, &bad), FSCHED_BAD_INPUT);
  ck_assert_int_eq(fsched_semaphore_merge(s, &bad), 0);
  ck_assert_uint_eq(fsched_semaphore_value(s), 8);
  fsched_semaphore_release(s);
}
END_TEST

START_TEST(merged_goes_with_the_next_signal)
{
  fsched_semaphore *s = fs_sem_make(4, 4);
  fsched_frontier_entry e = {9, 90};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_semaphore_merge(s, &f), 1);
  fs_sem_signal(s, 1, 8, 80);
  fs_sem_signal(s, 2, 7, 70);
  fs_room r;
  ck_assert_int_eq(fsched_semaphore_learn(s, 1, fs_room_clear(&r)), FSCHED_OK);
  ck_assert_uint_eq(r.f.n, 2);
  expect_learnt(s, 2, 7, 70, 0);
  fsched_semaphore_release(s);
}
END_TEST

/* Trust */

START_TEST(outside_taints_until_our_own_signal)
{
  fsched_semaphore *s = fs_sem_make(4, 8);
  fsched_frontier_entry e = {1, 11};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_semaphore_signal_untainted(s, 5, &f), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_tainted(s, 5), 0);
  fsched_semaphore_advance_external(s, 9);
  ck_assert_uint_eq(fsched_semaphore_value(s), 9);
  ck_assert_uint_eq(fsched_semaphore_untainted(s), 5);
  ck_assert_int_eq(fsched_semaphore_tainted(s, 7), 1);
  expect_learnt(s, 7, 0, 0, 1);
  expect_learnt(s, 5, 1, 11, 0);
  fsched_semaphore_advance_external(s, 8); /* lower values change nothing */
  ck_assert_uint_eq(fsched_semaphore_value(s), 9);
  fs_sem_signal(s, 10, 1, 12); /* this is not untainted, so trust does not come back */
  ck_assert_uint_eq(fsched_semaphore_untainted(s), 5);
  e.epoch = 13;
  ck_assert_int_eq(fsched_semaphore_signal_untainted(s, 11, &f), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_tainted(s, 11), 0);
  expect_learnt(s, 11, 1, 13, 0);
  /* With or without trust, nothing is known of the signal from outside. */
  expect_learnt(s, 9, 0, 0, 1);
  f.tainted = 1;
  ck_assert_int_eq(fsched_semaphore_signal_untainted(s, 12, &f), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_tainted(s, 12), 1);
  expect_learnt(s, 12, 1, 13, 1);
  fsched_semaphore_release(s);
}
END_TEST

START_TEST(too_many_axes_taint_until_they_fit)
{
  fsched_semaphore *s = fs_sem_make(2, 8);
  fsched_frontier_entry e[3] = {{1, 5}, {2, 6}, {3, 7}};
  fsched_frontier f = {.entry = e, .n = 3, .capacity = 3};
  ck_assert_int_eq(fsched_semaphore_signal_untainted(s, 1, &f), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_tainted(s, 1), 1);
  int lossy;
  ck_assert_uint_eq(fsched_semaphore_frontier(s, NULL, 0, &lossy), 2);
  ck_assert_int_eq(lossy, 1);
  f = (fsched_frontier){.entry = &e[1], .n = 2, .capacity = 2};
  e[1] = (fsched_frontier_entry){2, 8};
  e[2] = (fsched_frontier_entry){3, 8};
  ck_assert_int_eq(fsched_semaphore_signal_untainted(s, 2, &f), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_tainted(s, 2), 0);
  fsched_semaphore_release(s);
}
END_TEST

/* Failure */

START_TEST(failure_is_sticky_and_masks_nothing)
{
  fsched_semaphore *s = fs_sem_make(4, 8);
  fs_sem_signal(s, 5, 1, 50);
  log_ log = {0};
  noted x[4] = {0};
  await(s, 9, &x[0], &log, 0);
  await(s, 7, &x[1], &log, 1);
  await(s, 8, &x[2], &log, 2);
  ck_assert_int_eq(fsched_semaphore_fail(s, 77), 1);
  ck_assert_int_eq(fsched_semaphore_fail(s, 78), 0);
  ck_assert_uint_eq(log.n, 3);
  for (uint32_t i = 0; i < 3; i++) {
    ck_assert_uint_eq(log.id[i], i); /* order of registration, not of value */
    ck_assert_int_eq(log.cause[i], 77);
  }
  fs_sem_signal(s, 20, 1, 60); /* this has no effect any more */
  ck_assert_int_eq(fsched_semaphore_reached(s, 5), 1);
  ck_assert_int_eq(fsched_semaphore_reached(s, 6), 0);
  await(s, 5, &x[3], &log, 3);
  ck_assert_int_eq(log.cause[3], FSCHED_CAUSE_NONE);
  await(s, 6, &x[3], &log, 3);
  ck_assert_int_eq(log.cause[4], 77);
  expect_learnt(s, 5, 1, 50, 0);
  fs_room r;
  ck_assert_int_eq(fsched_semaphore_learn(s, 6, fs_room_clear(&r)), FSCHED_INFEASIBLE);
  fsched_semaphore_release(s);
}
END_TEST

START_TEST(destroying_cancels)
{
  fsched_semaphore *s = fs_sem_make(0, 0);
  log_ log = {0};
  noted x[3] = {0};
  fsched_semaphore_retain(s);
  for (uint32_t i = 0; i < 3; i++) {
    await(s, 10 - i, &x[i], &log, i);
  }
  fsched_semaphore_release(s);
  ck_assert_uint_eq(log.n, 0);
  fsched_semaphore_release(s);
  ck_assert_uint_eq(log.n, 3);
  for (uint32_t i = 0; i < 3; i++) {
    ck_assert_uint_eq(log.id[i], i);
    ck_assert_int_eq(log.cause[i], FSCHED_CAUSE_CANCELLED);
  }
  fsched_semaphore_release(NULL);
}
END_TEST

/* Callbacks */

typedef struct reentrant {
  noted x;
  fsched_semaphore *s;
  noted *victim;
  int cancelled;
} reentrant;

/* Signals its own semaphore, cancels a timepoint that was chosen together with it, and waits
 * anew. */
static void reenter(fsched_timepoint *t, fsched_cause cause) {
  reentrant *r = t->user;
  note(t, cause);
  if (r->x.calls == 1) {
    r->cancelled = fsched_semaphore_cancel(r->s, &r->victim->t);
    ck_assert_int_eq(fsched_semaphore_await(r->s, 5, t, NULL), FSCHED_OK);
    ck_assert_int_eq(fsched_semaphore_signal(r->s, 5, NULL), FSCHED_OK);
  }
}

START_TEST(callbacks_may_do_all)
{
  reentrant r = {.s = fs_sem_make(0, 0)};
  noted y[3] = {0};
  log_ log = {0};
  r.victim = &y[1];
  r.x.t.callback = reenter;
  await(r.s, 3, &y[0], &log, 10);
  r.x.t.user = &r;
  r.x.log = &log;
  r.x.id = 1;
  ck_assert_int_eq(fsched_semaphore_await(r.s, 1, &r.x.t, NULL), FSCHED_OK);
  await(r.s, 2, &y[1], &log, 11);
  await(r.s, 2, &y[2], &log, 12);
  ck_assert_int_eq(fsched_semaphore_signal(r.s, 4, NULL), FSCHED_OK);
  static const uint32_t wanted[] = {10, 1, 1, 12};
  ck_assert_uint_eq(log.n, 4);
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_uint_eq(log.id[i], wanted[i]);
  }
  ck_assert_int_eq(r.cancelled, 1);
  ck_assert_uint_eq(y[1].calls, 0);
  ck_assert_int_eq(fsched_semaphore_cancel(r.s, &y[1].t), 0);
  fsched_semaphore_release(r.s);
}
END_TEST

static void release_it(fsched_timepoint *t, fsched_cause cause) {
  noted *x = t->user;
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  x->calls++;
  fsched_semaphore_release((fsched_semaphore *)(void *)x->log);
}

START_TEST(callback_may_destroy)
{
  fsched_semaphore *s = fs_sem_make(0, 0);
  log_ log = {0};
  noted x = {0};
  noted y[2] = {0};
  x.t.callback = release_it;
  await(s, 1, &x, (log_ *)(void *)s, 0);
  await(s, 1, &y[0], &log, 1);
  await(s, 2, &y[1], &log, 2);
  ck_assert_int_eq(fsched_semaphore_signal(s, 1, NULL), FSCHED_OK);
  ck_assert_uint_eq(x.calls, 1);
  ck_assert_int_eq(log.cause[0], FSCHED_CAUSE_CANCELLED); /* 2, by the release */
  ck_assert_uint_eq(log.id[0], 2);
  ck_assert_int_eq(log.cause[1], FSCHED_CAUSE_NONE); /* 1 was reached before */
  ck_assert_uint_eq(log.n, 2);
}
END_TEST

enum { NESTED = 2000 };

typedef struct nested {
  fsched_timepoint t;
  fsched_semaphore *next, *last;
} nested;

/* What it lets go has been called when its own call returns. */
static void signal_next(fsched_timepoint *t, fsched_cause cause) {
  const nested *x = t->user;
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  fs_sem_signal(x->next, 1, 1, 1);
  ck_assert_uint_eq(fsched_semaphore_value(x->last), 1);
}

START_TEST(callbacks_nest)
{
  static fsched_semaphore *s[NESTED + 1];
  static nested x[NESTED];
  for (uint32_t i = 0; i <= NESTED; i++) {
    s[i] = fs_sem_make(1, 1);
  }
  for (uint32_t i = 0; i < NESTED; i++) {
    x[i] = (nested){.t = {.callback = signal_next, .user = &x[i]}, .next = s[i + 1]};
    x[i].last = s[NESTED];
    ck_assert_int_eq(fsched_semaphore_await(s[i], 1, &x[i].t, NULL), FSCHED_OK);
  }
  fs_sem_signal(s[0], 1, 1, 1);
  for (uint32_t i = 0; i <= NESTED; i++) {
    ck_assert_uint_eq(fsched_semaphore_value(s[i]), 1);
    fsched_semaphore_release(s[i]);
  }
}
END_TEST

START_TEST(misuse)
{
  fsched_semaphore *s = fs_sem_make(0, 0);
  fsched_timepoint none = {0};
  ck_assert_int_eq(fsched_semaphore_await(s, 0, &none, NULL), FSCHED_USAGE);
  noted x = {0};
  log_ log = {0};
  await(s, 5, &x, &log, 0);
  ck_assert_int_eq(fsched_semaphore_await(s, 6, &x.t, NULL), FSCHED_USAGE);
  fsched_wait_result r;
  fsched_wait_point nobody = {0};
  ck_assert_int_eq(fsched_semaphore_wait_many(&nobody, 1, FSCHED_WAIT_ALL, 0, &r), FSCHED_USAGE);
  ck_assert_int_eq(fsched_semaphore_wait_many(NULL, 0, FSCHED_WAIT_ANY, 0, &r), FSCHED_USAGE);
  ck_assert_int_eq(fsched_semaphore_wait_many(NULL, 0, (fsched_wait_mode)9, 0, &r), FSCHED_USAGE);
  int fd;
  ck_assert_int_eq(fsched_semaphore_export(s, &fd), FSCHED_USAGE);
  fsched_semaphore_release(s);
  fsched_semaphore_options bad[] = {{.size = 8},
                                    {.size = sizeof *bad, .frontier_capacity = 1025},
                                    {.size = sizeof *bad, .history_limit = 65537},
                                    {.size = sizeof *bad, .scope = (fsched_scope)6}};
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_int_eq(fsched_semaphore_create(&bad[i], &s), FSCHED_USAGE);
    ck_assert_ptr_null(s);
  }
}
END_TEST

START_TEST(scopes)
{
  for (int i = FSCHED_SCOPE_DEFAULT; i <= FSCHED_SCOPE_SYSTEM; i++) {
    fsched_semaphore_options o = {.size = sizeof o, .scope = (fsched_scope)i, .initial = 3};
    fsched_semaphore *s;
    ck_assert_int_eq(fsched_semaphore_create(&o, &s), FSCHED_OK);
    ck_assert_int_eq(fsched_semaphore_scope(s), i == 0 ? FSCHED_SCOPE_PROCESS : i);
    log_ log = {0};
    noted x = {0};
    fs_room r;
    x.t.known = fs_room_clear(&r);
    await(s, 4, &x, &log, 0);
    fs_sem_signal(s, 4, 1, 2);
    ck_assert_uint_eq(log.n, 1);
    ck_assert_uint_eq(r.f.n, 1);
    ck_assert_uint_eq(fsched_semaphore_value(s), 4);
    int fd = -1;
    ck_assert_int_eq(fsched_semaphore_export(s, &fd),
                     i == FSCHED_SCOPE_SYSTEM ? FSCHED_OK : FSCHED_USAGE);
    ck_assert_int_eq(fd >= 0, i == FSCHED_SCOPE_SYSTEM);
    fsched_semaphore_release(s);
  }
}
END_TEST

/* Links */

enum { CHAIN = 10000 };

START_TEST(long_chain)
{
  static fsched_semaphore *s[CHAIN + 1];
  for (uint32_t i = 0; i <= CHAIN; i++) {
    s[i] = fs_sem_make(1, 1);
  }
  for (uint32_t i = 0; i < CHAIN; i++) {
    ck_assert_int_eq(fsched_semaphore_link(s[i], i + 1, s[i + 1], i + 2, NULL), FSCHED_OK);
  }
  fs_sem_signal(s[0], 1, 7, 77);
  ck_assert_uint_eq(fsched_semaphore_value(s[CHAIN]), CHAIN + 1);
  expect_learnt(s[CHAIN], CHAIN + 1, 7, 77, 0);
  for (uint32_t i = 0; i < CHAIN; i++) {
    ck_assert_int_eq(fsched_semaphore_link(s[i], CHAIN + 2, s[i + 1], CHAIN + 2, NULL), FSCHED_OK);
  }
  fsched_semaphore_release(s[0]); /* this makes them all fail */
  ck_assert_int_eq(fsched_semaphore_cause(s[CHAIN]), FSCHED_CAUSE_CANCELLED);
  for (uint32_t i = 1; i <= CHAIN; i++) {
    fsched_semaphore_release(s[i]);
  }
}
END_TEST

START_TEST(links)
{
  fsched_semaphore *a = fs_sem_make(4, 4);
  fsched_semaphore *b = fs_sem_make(4, 4);
  fsched_link *l[3];
  /* Trust passes along a link; a link that is removed in time does nothing; a link to a value that
   * was reached acts at once. */
  ck_assert_int_eq(fsched_semaphore_link(a, 1, b, 10, &l[0]), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_link(a, 1, b, 20, &l[1]), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_unlink(l[1]), 1);
  fsched_frontier_entry e = {1, 5};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_semaphore_signal_untainted(a, 1, &f), FSCHED_OK);
  ck_assert_uint_eq(fsched_semaphore_value(b), 10);
  ck_assert_uint_eq(fsched_semaphore_untainted(b), 10);
  expect_learnt(b, 10, 1, 5, 0);
  ck_assert_int_eq(fsched_semaphore_unlink(l[0]), 0);
  fsched_semaphore_advance_external(a, 2);
  ck_assert_int_eq(fsched_semaphore_link(a, 2, b, 11, NULL), FSCHED_OK);
  ck_assert_uint_eq(fsched_semaphore_value(b), 11);
  ck_assert_uint_eq(fsched_semaphore_untainted(b), 10);
  expect_learnt(b, 11, 0, 0, 1);
  /* The two links form a circle: each publishes to the other, once. */
  ck_assert_int_eq(fsched_semaphore_link(a, 3, b, 12, NULL), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_link(b, 12, a, 4, NULL), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_link(a, 4, a, 6, NULL), FSCHED_OK);
  fs_sem_signal(a, 3, 1, 6);
  ck_assert_uint_eq(fsched_semaphore_untainted(b), 10); /* a signal that nobody vouched for */
  ck_assert_uint_eq(fsched_semaphore_value(a), 6);
  expect_learnt(a, 6, 1, 6, 0);
  /* A source fails; a target is destroyed; a link's handle outlives both. */
  ck_assert_int_eq(fsched_semaphore_link(b, 100, a, 100, &l[0]), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_link(a, 100, b, 100, &l[1]), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_link(a, 101, b, 101, &l[2]), FSCHED_OK);
  fsched_semaphore_release(a);
  ck_assert_int_eq(fsched_semaphore_cause(b), FSCHED_CAUSE_CANCELLED);
  fsched_semaphore_release(b);
  for (uint32_t i = 0; i < 3; i++) {
    ck_assert_int_eq(fsched_semaphore_unlink(l[i]), 0);
  }
  ck_assert_int_eq(fsched_semaphore_unlink(NULL), 0);
}
END_TEST

/* Memory */

START_TEST(allocation_fails)
{
  bool made = false;
  for (long n = 0; !made; n++) {
    ck_assert_int_lt(n, 40);
    fs_budget budget = {.left = n};
    fsched_semaphore_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    o.scope = n % 2 == 0 ? FSCHED_SCOPE_PROCESS : FSCHED_SCOPE_SYSTEM;
    fsched_semaphore *s;
    fsched_status status = fsched_semaphore_create(&o, &s);
    made = status == FSCHED_OK && o.scope == FSCHED_SCOPE_PROCESS;
    ck_assert(status == FSCHED_OK || (status == FSCHED_SYSTEM && s == NULL));
    if (s != NULL) {
      budget.left = 0;
      fsched_link *link;
      ck_assert_int_eq(fsched_semaphore_link(s, 1, s, 2, &link), FSCHED_SYSTEM);
      ck_assert_ptr_null(link);
      budget.left = 1;
      ck_assert_int_eq(fsched_semaphore_link(s, 1, s, 2, &link), FSCHED_OK);
      fs_sem_signal(s, 1, 1, 1); /* this allocates nothing */
      ck_assert_uint_eq(fsched_semaphore_value(s), 2);
      ck_assert_int_eq(fsched_semaphore_unlink(link), 0);
      budget.left = 1;
      ck_assert_int_eq(fsched_semaphore_link(s, 9, s, 10, &link), FSCHED_OK);
      ck_assert_int_eq(fsched_semaphore_unlink(link), 1);
      fsched_semaphore_release(s);
    }
    ck_assert_int_eq(budget.blocks, 0);
  }
}
END_TEST

FS_SUITE(semaphore, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, late_waiters_learn_their_own_value, history_is_limited,
           pending_waiters_learn_whatever_the_history, published_late,
           merged_goes_with_the_next_signal, outside_taints_until_our_own_signal,
           too_many_axes_taint_until_they_fit, failure_is_sticky_and_masks_nothing,
           destroying_cancels, callbacks_may_do_all, callback_may_destroy, callbacks_nest, misuse,
           scopes, long_chain, links, allocation_fails);
}
