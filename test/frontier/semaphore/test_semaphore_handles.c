/* SPDX-License-Identifier: Apache-2.0 */
/* Two handles of one system-wide semaphore, as two processes would have them, used at once. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "frontier/semaphore/semaphore_checks.h"
#include "fsched/semaphore.h"
#include "kit/suite.h"

enum { RACES = 3000, FAILURES = 300, HISTORY = 16 };

typedef struct semaphore_handles_both {
  fsched_semaphore *s[2];
  _Atomic uint32_t arrived; /* of two threads, each time they meet */
  bool won[RACES + 1];      /* whether handle 0 won */
  _Atomic uint64_t told;    /* the highest value that was found to be reached */
} semaphore_handles_both;

static fsched_semaphore *create(void) {
  fsched_semaphore_options o = {
      .size = sizeof o, .scope = FSCHED_SCOPE_SYSTEM, .history_limit = HISTORY};
  fsched_semaphore *s;
  ck_assert_int_eq(fsched_semaphore_create(&o, &s), FSCHED_OK);
  return s;
}

/* The two threads come together for the n-th time, simultaneously if there are two processors. */
static void meet(semaphore_handles_both *b, uint32_t n) {
  enum { SPINS = 20000 };
  atomic_fetch_add(&b->arrived, 1);
  for (uint32_t spins = 0; atomic_load(&b->arrived) < 2 * n; spins++) {
    if (spins > SPINS) {
      (void)sched_yield();
    }
  }
}

/* Handle 0 signals 3r with {1: r}, handle 1 signals 3r + 1 with {2: r}. */
static bool race(semaphore_handles_both *b, uint32_t who, uint32_t r) {
  fsched_frontier_entry e = {who + 1, r};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  meet(b, 2 * r - 1);
  bool won = fsched_semaphore_signal(b->s[who], 3 * (uint64_t)r + who, &f) == FSCHED_OK;
  if (who == 0) {
    b->won[r] = won;
  }
  meet(b, 2 * r);
  return won;
}

static void *race_all(void *user) {
  for (uint32_t r = 1; r <= RACES; r++) {
    (void)race(user, 1, r);
  }
  return NULL;
}

/* Value 3r was reached by the first one to signal; a wait for it learns that one's frontier
 * alone. */
START_TEST(only_the_winner_is_learnt)
{
  static semaphore_handles_both b;
  b.s[0] = create();
  b.s[1] = fs_sem_another(b.s[0]);
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, race_all, &b), 0);
  for (uint32_t r = 1; r <= RACES; r++) {
    uint64_t winner = race(&b, 0, r) ? 1 : 2;
    fs_room room;
    fsched_frontier *f = fs_room_clear(&room);
    ck_assert_int_eq(fsched_semaphore_learn(b.s[0], 3 * (uint64_t)r, f), FSCHED_OK);
    ck_assert(f->tainted || f->n == 1);
    if (f->n == 1) {
      ck_assert_uint_eq(room.entry[0].axis, winner);
      ck_assert_uint_eq(room.entry[0].epoch, r);
    }
  }
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  fsched_semaphore_release(b.s[1]);
  fsched_semaphore_release(b.s[0]);
}
END_TEST

static void *fail_it(void *user) {
  semaphore_handles_both *b = user;
  meet(b, 1);
  while (atomic_load(&b->told) < 3) {
    (void)sched_yield();
  }
  ck_assert_int_eq(fsched_semaphore_fail(b->s[1], 42), 1); /* this is the first failure */
  return NULL;
}

/* A value that was once found to be reached stays so, also for those who ask after the failure. */
START_TEST(reached_stays_reached)
{
  for (int round = 0; round < FAILURES; round++) {
    semaphore_handles_both b = {.s = {create()}};
    b.s[1] = fs_sem_another(b.s[0]);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_it, &b), 0);
    meet(&b, 1);
    uint64_t value = 1;
    for (bool reached = true; reached; value++) {
      ck_assert_int_eq(fsched_semaphore_signal(b.s[0], value, NULL), FSCHED_OK);
      reached = fsched_semaphore_reached(b.s[0], value);
      atomic_store(&b.told, reached ? value : value - 1);
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    fsched_semaphore *late = fs_sem_another(b.s[0]);
    ck_assert(fsched_semaphore_reached(late, atomic_load(&b.told)));
    ck_assert(!fsched_semaphore_reached(late, value - 1));
    fsched_semaphore_release(late);
    fsched_semaphore_release(b.s[1]);
    fsched_semaphore_release(b.s[0]);
  }
}
END_TEST

typedef struct crossed {
  fsched_semaphore *other;
  _Atomic uint32_t *inside, *done;
} crossed;

static void release_other(fsched_timepoint *t, fsched_cause cause) {
  (void)cause;
  crossed *c = t->user;
  atomic_fetch_add(c->inside, 1);
  while (atomic_load(c->inside) < 2) {
    (void)sched_yield();
  }
  fsched_semaphore_release(c->other);
  atomic_fetch_add(c->done, 1);
}

/* Two watching threads, each in a callback that releases the semaphore of the other. */
START_TEST(watchers_release_each_other)
{
  _Atomic uint32_t inside = 0;
  _Atomic uint32_t done = 0;
  fsched_semaphore *s[2] = {create(), create()};
  fsched_semaphore *far[2] = {fs_sem_another(s[0]), fs_sem_another(s[1])};
  crossed c[2];
  fsched_timepoint t[2];
  for (int i = 0; i < 2; i++) {
    int pending;
    c[i] = (crossed){s[1 - i], &inside, &done};
    t[i] = (fsched_timepoint){.callback = release_other, .user = &c[i]};
    ck_assert_int_eq(fsched_semaphore_await(s[i], 1, &t[i], &pending), FSCHED_OK);
  }
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(fsched_semaphore_signal(far[i], 1, NULL), FSCHED_OK);
  }
  while (atomic_load(&done) < 2) {
    (void)sched_yield();
  }
  fsched_semaphore_release(far[0]);
  fsched_semaphore_release(far[1]);
}
END_TEST

typedef struct waits {
  fsched_semaphore *linked;
  _Atomic uint32_t inside;
  fsched_cause cause;
} waits;

static void wait_for_linked(fsched_timepoint *t, fsched_cause cause) {
  (void)cause;
  waits *w = t->user;
  atomic_store(&w->inside, 1);
  fsched_wait_point p = {.semaphore = w->linked, .value = 1};
  fsched_wait_result r;
  ck_assert_int_eq(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r),
                   FSCHED_OK);
  w->cause = r.cause;
}

/* The watching thread is in a callback that waits for what the release cancels. */
START_TEST(release_cancels_before_it_waits)
{
  fsched_semaphore *s = create();
  fsched_semaphore *far = fs_sem_another(s);
  waits w = {.linked = fs_sem_make(1, 1)};
  fsched_timepoint t = {.callback = wait_for_linked, .user = &w};
  ck_assert_int_eq(fsched_semaphore_link(s, 9, w.linked, 1, NULL), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_await(s, 1, &t, NULL), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_signal(far, 1, NULL), FSCHED_OK);
  while (atomic_load(&w.inside) == 0) {
    (void)sched_yield();
  }
  fsched_semaphore_release(s); /* this waits for the callback */
  ck_assert_int_eq(w.cause, FSCHED_CAUSE_CANCELLED);
  fsched_semaphore_release(far);
  fsched_semaphore_release(w.linked);
}
END_TEST

/* A link to a semaphore that is destroyed in this process does nothing, also to those who still
 * have the semaphore. */
START_TEST(link_to_destroyed)
{
  fsched_semaphore *from = fs_sem_make(4, 4);
  fsched_semaphore *to = create();
  fsched_semaphore *far = fs_sem_another(to);
  ck_assert_int_eq(fsched_semaphore_link(from, 1, to, 7, NULL), FSCHED_OK);
  fsched_semaphore_release(to);
  fs_sem_signal(from, 1, 1, 1);
  ck_assert_uint_eq(fsched_semaphore_value(far), 0);
  fsched_semaphore_release(from);
  fsched_semaphore_release(far);
}
END_TEST

FS_SUITE(semaphore_handles, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, only_the_winner_is_learnt, reached_stays_reached, watchers_release_each_other,
           release_cancels_before_it_waits, link_to_destroyed);
}
