/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores under several threads at once, with every callback counted, in all scopes but the
 * queue-local one. */
#include <pthread.h>
#include <stdatomic.h>

#include "frontier/semaphore/semaphore_stress.h"
#include "fsched/semaphore.h"
#include "kit/gen.h"
#include "kit/suite.h"

enum { THREADS = 4, SEMAPHORES = 3, POINTS = 32, ROUNDS = 12, STEPS = 600 };

typedef struct semaphore_threads_counted {
  fsched_timepoint t;
  fsched_semaphore *s;
  uint64_t value;
  bool waiting; /* as far as its thread knows */
  bool cancelled;
  fsched_frontier_entry entry[4];
  fsched_frontier known;
  _Atomic uint32_t calls;
  _Atomic int32_t cause;
} semaphore_threads_counted;

typedef struct semaphore_threads_worker {
  fsched_semaphore *s[SEMAPHORES];
  semaphore_threads_counted point[POINTS];
  fs_rng rng;
  uint32_t id;
} semaphore_threads_worker;

static void count(fsched_timepoint *t, fsched_cause cause) {
  semaphore_threads_counted *c = t->user;
  atomic_store(&c->cause, cause);
  (void)atomic_fetch_add(&c->calls, 1);
}

/* Every signal brings {value: value}, so the frontier tells whose signal it was. */
static void raise_one(semaphore_threads_worker *w, fsched_semaphore *s) {
  uint64_t value = fsched_semaphore_value(s) + 1 + fs_rng_below(&w->rng, 3);
  fsched_frontier_entry e = {value, value};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  (void)!fsched_semaphore_signal(s, value, &f); /* another one may have been quicker */
}

/* Links go to the last semaphore only; there anything may have been forwarded. */
static void check_learnt(const semaphore_threads_worker *w, const semaphore_threads_counted *c) {
  if (c->s == w->s[SEMAPHORES - 1]) {
    return;
  }
  ck_assert_uint_le(c->known.n, 1);
  if (c->known.n == 1) { /* one of the steps that a signal can take at a time */
    ck_assert_uint_eq(c->entry[0].axis, c->entry[0].epoch);
    ck_assert_uint_ge(c->entry[0].epoch, c->value);
    ck_assert_uint_le(c->entry[0].epoch, c->value + 2);
  }
}

/* Settles the timepoint's fate: called exactly once, or cancelled and never called. */
static void settle(const semaphore_threads_worker *w, semaphore_threads_counted *c) {
  if (!c->waiting) {
    return;
  }
  bool cancelled = fsched_semaphore_cancel(c->s, &c->t) != 0;
  if (cancelled) {
    ck_assert_uint_eq(atomic_load(&c->calls), 0);
  } else {
    while (atomic_load(&c->calls) == 0) { /* it has begun in another thread */
    }
    ck_assert_uint_eq(atomic_load(&c->calls), 1);
    if (atomic_load(&c->cause) == FSCHED_CAUSE_NONE) {
      ck_assert_int_eq(fsched_semaphore_reached(c->s, c->value), 1);
      check_learnt(w, c);
    }
  }
  c->waiting = false;
}

static void wait_one(semaphore_threads_worker *w, semaphore_threads_counted *c) {
  settle(w, c);
  c->s = w->s[fs_rng_below(&w->rng, SEMAPHORES)];
  c->value = fsched_semaphore_value(c->s) + fs_rng_below(&w->rng, 8);
  c->known = (fsched_frontier){.entry = c->entry, .capacity = 4};
  c->t.callback = count;
  c->t.user = c;
  c->t.known = fs_rng_one_in(&w->rng, 2) ? &c->known : NULL;
  atomic_store(&c->calls, 0);
  c->waiting = true;
  ck_assert_int_eq(fsched_semaphore_await(c->s, c->value, &c->t, NULL), FSCHED_OK);
}

static void wait_several(semaphore_threads_worker *w) {
  fsched_wait_point p[3] = {0};
  for (uint32_t i = 0; i < 3; i++) {
    p[i].semaphore = w->s[fs_rng_below(&w->rng, SEMAPHORES)];
    p[i].value = fsched_semaphore_value(p[i].semaphore) + fs_rng_below(&w->rng, 3);
  }
  fsched_wait_mode mode = fs_rng_one_in(&w->rng, 2) ? FSCHED_WAIT_ANY : FSCHED_WAIT_ALL;
  fsched_wait_result r;
  uint64_t ns = fs_rng_below(&w->rng, 2) * 20000;
  ck_assert_int_eq(fsched_semaphore_wait_many(p, 3, mode, ns, &r), FSCHED_OK);
  if (r.cause == FSCHED_CAUSE_NONE && mode == FSCHED_WAIT_ANY) {
    ck_assert_int_eq(fsched_semaphore_reached(p[r.index].semaphore, p[r.index].value), 1);
  }
}

static void link_two(semaphore_threads_worker *w) {
  fsched_semaphore *from = w->s[fs_rng_below(&w->rng, SEMAPHORES - 1)];
  fsched_semaphore *to = w->s[SEMAPHORES - 1];
  uint64_t value = fsched_semaphore_value(from) + fs_rng_below(&w->rng, 3);
  uint64_t to_value = fsched_semaphore_value(to) + fs_rng_below(&w->rng, 2);
  fsched_link *link;
  bool keep = fs_rng_one_in(&w->rng, 2);
  ck_assert_int_eq(fsched_semaphore_link(from, value, to, to_value, keep ? &link : NULL),
                   FSCHED_OK);
  if (keep) {
    raise_one(w, from);
    (void)fsched_semaphore_unlink(link);
  }
}

static void *work(void *user) {
  semaphore_threads_worker *w = user;
  for (uint32_t i = 0; i < STEPS; i++) {
    switch (fs_rng_below(&w->rng, 8)) {
      case 0:
        wait_several(w);
        break;
      case 1:
        link_two(w);
        break;
      case 2:
        settle(w, &w->point[fs_rng_below(&w->rng, POINTS)]);
        break;
      case 3:
      case 4:
        wait_one(w, &w->point[fs_rng_below(&w->rng, POINTS)]);
        break;
      default:
        raise_one(w, w->s[fs_rng_below(&w->rng, SEMAPHORES)]);
    }
  }
  if (w->id == 0) {
    (void)fsched_semaphore_fail(w->s[0], 7);
  }
  for (uint32_t i = 0; i < SEMAPHORES; i++) {
    fsched_semaphore_release(w->s[i]);
  }
  return NULL;
}

/* Everything is quiet and destroyed, so nobody may be left waiting. */
static void check_all_called(semaphore_threads_worker *w) {
  for (uint32_t i = 0; i < POINTS; i++) {
    const semaphore_threads_counted *c = &w->point[i];
    if (c->waiting) {
      ck_assert_uint_eq(atomic_load(&c->calls), 1);
    }
  }
}

static void stress(uint64_t seed, const fsched_scope *scopes) {
  static semaphore_threads_worker w[THREADS];
  memset(w, 0, sizeof w);
  fsched_semaphore_options o = {.size = sizeof o, .history_limit = 256};
  for (uint32_t i = 0; i < SEMAPHORES; i++) {
    o.scope = scopes[i];
    ck_assert_int_eq(fsched_semaphore_create(&o, &w[0].s[i]), FSCHED_OK);
    for (uint32_t k = 1; k < THREADS; k++) {
      w[k].s[i] = w[0].s[i];
      fsched_semaphore_retain(w[k].s[i]);
    }
  }
  pthread_t thread[THREADS];
  for (uint32_t k = 0; k < THREADS; k++) {
    w[k].rng = (fs_rng){seed * THREADS + k};
    w[k].id = k;
    ck_assert_int_eq(pthread_create(&thread[k], NULL, work, &w[k]), 0);
  }
  for (uint32_t k = 0; k < THREADS; k++) {
    ck_assert_int_eq(pthread_join(thread[k], NULL), 0);
  }
  for (uint32_t k = 0; k < THREADS; k++) {
    check_all_called(&w[k]);
  }
}

START_TEST(local)
{
  static const fsched_scope scopes[] = {FSCHED_SCOPE_PROCESS, FSCHED_SCOPE_DEVICE,
                                        FSCHED_SCOPE_DEVICE_GROUP};
  for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
    stress(seed, scopes);
  }
}
END_TEST

START_TEST(mixed_with_system_wide)
{
  static const fsched_scope scopes[] = {FSCHED_SCOPE_PROCESS, FSCHED_SCOPE_SYSTEM,
                                        FSCHED_SCOPE_SYSTEM};
  for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
    stress(100 + seed, scopes);
  }
}
END_TEST

/* Two threads signal each other in turn; each turn learns exactly its own frontier. */

enum { TURNS = 2000 };

typedef struct semaphore_threads_pair {
  fsched_semaphore *s[2];
} semaphore_threads_pair;

static void hand(fsched_semaphore *mine, fsched_semaphore *other, uint64_t turn, bool first) {
  fsched_frontier_entry e = {turn, 1};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  if (first) {
    ck_assert_int_eq(fsched_semaphore_signal(mine, turn, &f), FSCHED_OK);
  }
  fsched_frontier_entry at[2];
  fsched_frontier known = {.entry = at, .capacity = 2};
  fsched_wait_point p = {.semaphore = other, .value = turn, .known = &known};
  fsched_wait_result r;
  ck_assert_int_eq(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r),
                   FSCHED_OK);
  ck_assert_int_eq(r.cause, FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(known.n, 1);
  ck_assert_uint_eq(at[0].axis, turn);
  if (!first) {
    ck_assert_int_eq(fsched_semaphore_signal(mine, turn, &f), FSCHED_OK);
  }
}

static void *second(void *user) {
  semaphore_threads_pair *p = user;
  for (uint64_t i = 1; i <= TURNS; i++) {
    hand(p->s[1], p->s[0], i, false);
  }
  return NULL;
}

START_TEST(to_and_fro)
{
  for (int scope = FSCHED_SCOPE_PROCESS; scope <= FSCHED_SCOPE_SYSTEM; scope++) {
    fsched_semaphore_options o = {.size = sizeof o, .scope = (fsched_scope)scope};
    semaphore_threads_pair p;
    ck_assert_int_eq(fsched_semaphore_create(&o, &p.s[0]), FSCHED_OK);
    ck_assert_int_eq(fsched_semaphore_create(&o, &p.s[1]), FSCHED_OK);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, second, &p), 0);
    for (uint64_t i = 1; i <= TURNS; i++) {
      hand(p.s[0], p.s[1], i, true);
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    fsched_semaphore_release(p.s[0]);
    fsched_semaphore_release(p.s[1]);
  }
}
END_TEST

/* All of these run together, and every callback is counted. */

static const fsched_scope shared_scopes[] = {FSCHED_SCOPE_PROCESS, FSCHED_SCOPE_SYSTEM};

static void assert_faultless(const fs_sem_stress_result *r) {
  ck_assert_uint_eq(r->lost, 0);
  ck_assert_uint_eq(r->doubled, 0);
  ck_assert_uint_eq(r->untruthful, 0);
}

START_TEST(all_at_once)
{
  fs_sem_stress_result r;
  ck_assert_int_eq(fs_semaphore_stress(60000, 3, 5, shared_scopes[_i], &r), FSCHED_OK);
  assert_faultless(&r);
  ck_assert_uint_gt(r.callbacks, 5000);
  ck_assert_uint_gt(r.failures, 0);
}
END_TEST

START_TEST(duel_of_two)
{
  fs_sem_stress_result r;
  ck_assert_int_eq(fs_semaphore_duel(5000, 3, shared_scopes[_i], &r), FSCHED_OK);
  assert_faultless(&r);
}
END_TEST

FS_SUITE(semaphore_threads, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, local, mixed_with_system_wide, to_and_fro);
  FS_LOOPS(t, 0, 2, all_at_once, duel_of_two);
}
