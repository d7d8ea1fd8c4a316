/* SPDX-License-Identifier: Apache-2.0 */
#include "frontier/semaphore/semaphore_stress.h"

#include <pthread.h>

#include "base/base.h"
#include "kit/gen.h"
#include "kit/meeting.h"

/* The size of a round, and how many rounds one set of semaphores serves. */
enum { THREADS = 8, SEMAPHORES = 3, POINTS = 48, ROUND = 512, ROUNDS = 40, STEP = 2, SHOT = 7 };
enum { SHORT_NS = 2000, HISTORY = 4096 };
/* a minute: a thread that sleeps so long has lost its wake-up. */
static const uint64_t forever_ns = 60000000000;

struct semaphore_stress_stress;

typedef struct semaphore_stress_subject {
  fsched_timepoint t;
  fsched_semaphore *s;
  uint64_t value;
  fsched_frontier_entry entry[2];
  fsched_frontier known;
  _Atomic uint32_t calls, cancels;
  _Atomic fsched_cause cause;
  bool waiting; /* only its owner uses this */
  struct semaphore_stress_stress *world;
} semaphore_stress_subject;

typedef struct semaphore_stress_worker {
  struct semaphore_stress_stress *world;
  fs_rng rng;
  uint32_t index;
  fs_sem_stress_result r;
  semaphore_stress_subject subject[POINTS];
} semaphore_stress_worker;

typedef struct semaphore_stress_stress {
  fsched_semaphore *s[SEMAPHORES];
  fs_kit_meeting start, stop;
  uint32_t n;
  _Atomic uint32_t random;  /* for callbacks, which run anywhere */
  _Atomic uint32_t closing; /* no semaphore can be relied on */
  _Atomic uint64_t callbacks;
  semaphore_stress_worker worker[THREADS];
} semaphore_stress_stress;

static void called(fsched_timepoint *t, fsched_cause cause) {
  semaphore_stress_subject *x = t->user;
  semaphore_stress_stress *w = x->world;
  uint32_t r = atomic_fetch_add_explicit(&w->random, 0x9e3779b9u, memory_order_relaxed);
  atomic_store(&x->cause, cause);
  atomic_fetch_add(&w->callbacks, 1);
  atomic_fetch_add(&x->calls, 1); /* the last access: after it the owner may use it again */
  if (r >> 29 == 0 && atomic_load(&w->closing) == 0) {
    semaphore_stress_subject *other = &w->worker[(r >> 8) % w->n].subject[(r >> 16) % POINTS];
    atomic_fetch_add(&other->cancels, (uint32_t)fsched_semaphore_cancel(other->s, &other->t));
  }
}

/* Every signal brings {value: value} and goes at most STEP up, so the entry tells which signal it
 * came from. */
static bool learnt_well(const semaphore_stress_subject *x) {
  if (x->known.n == 0) {
    return x->known.tainted; /* the history has forgotten it */
  }
  uint64_t epoch = x->entry[0].epoch;
  return x->known.n == 1 && x->entry[0].axis == epoch && epoch >= x->value &&
         epoch - x->value < STEP;
}

static bool settled(const semaphore_stress_subject *x) {
  return atomic_load(&x->calls) + atomic_load(&x->cancels) > 0;
}

/* Judges a timepoint whose fate is settled. */
static void judge(semaphore_stress_worker *k, semaphore_stress_subject *x) {
  uint32_t calls = atomic_load(&x->calls);
  k->r.doubled += calls + atomic_load(&x->cancels) > 1;
  if (calls > 0) {
    bool reached = fsched_semaphore_reached(x->s, x->value);
    fsched_cause cause = atomic_load(&x->cause);
    bool right = reached ? cause == FSCHED_CAUSE_NONE && learnt_well(x) : cause == SHOT;
    k->r.untruthful += !right;
  }
}

/* All threads are quiet, so every timepoint that had to be called has been. */
static void judge_all(semaphore_stress_worker *k) {
  for (uint32_t i = 0; i < POINTS; i++) {
    semaphore_stress_subject *x = &k->subject[i];
    if (x->waiting && settled(x)) {
      judge(k, x);
      x->waiting = false;
    } else if (x->waiting) {
      k->r.lost += fsched_semaphore_reached(x->s, x->value) ||
                   fsched_semaphore_cause(x->s) != FSCHED_CAUSE_NONE;
    }
  }
}

static void raise_one(semaphore_stress_worker *k) {
  fsched_semaphore *s = k->world->s[fs_rng_below(&k->rng, SEMAPHORES)];
  uint64_t value = fsched_semaphore_value(s) + 1 + fs_rng_below(&k->rng, STEP);
  fsched_frontier_entry e = {value, value};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  fsched_status status = fsched_semaphore_signal_untainted(s, value, &f);
  k->r.untruthful += status != FSCHED_OK && status != FSCHED_USAGE; /* others may be quicker */
  k->r.signals++;
}

static void wait_one(semaphore_stress_worker *k, semaphore_stress_subject *x) {
  x->value = fsched_semaphore_value(x->s) + fs_rng_below(&k->rng, 4);
  x->value += x->value == 0;
  x->known = (fsched_frontier){.entry = x->entry, .capacity = 2};
  atomic_store(&x->calls, 0);
  atomic_store(&x->cancels, 0);
  x->waiting = true;
  k->r.untruthful += fsched_semaphore_await(x->s, x->value, &x->t, NULL) != FSCHED_OK;
  k->r.waits++;
}

static void wait_many(semaphore_stress_worker *k) {
  fsched_wait_point p[3] = {0};
  for (uint32_t i = 0; i < 3; i++) {
    p[i].semaphore = k->world->s[fs_rng_below(&k->rng, SEMAPHORES)];
    p[i].value = fsched_semaphore_value(p[i].semaphore) + fs_rng_below(&k->rng, 3);
  }
  bool any = fs_rng_one_in(&k->rng, 2);
  uint64_t ns = fs_rng_below(&k->rng, 2) * SHORT_NS;
  fsched_wait_result r;
  bool right = fsched_semaphore_wait_many(p, 3, any ? FSCHED_WAIT_ANY : FSCHED_WAIT_ALL, ns, &r) ==
                   FSCHED_OK &&
               (r.cause == FSCHED_CAUSE_NONE || r.cause == FSCHED_CAUSE_TIMEOUT || r.cause == SHOT);
  for (uint32_t i = 0; right && r.cause == FSCHED_CAUSE_NONE && i < 3; i++) {
    right = (any && i != r.index) || fsched_semaphore_reached(p[i].semaphore, p[i].value);
  }
  k->r.untruthful += !right;
  k->r.many++;
}

static void operate(semaphore_stress_worker *k) {
  uint32_t r = fs_rng_below(&k->rng, 64);
  semaphore_stress_subject *x = &k->subject[fs_rng_below(&k->rng, POINTS)];
  if (r == 0 && fs_rng_one_in(&k->rng, 128)) {
    k->r.failures += (uint64_t)fsched_semaphore_fail(k->world->s[0], SHOT);
  } else if (r < 28) {
    raise_one(k);
  } else if (r < 32) {
    wait_many(k);
  } else if (x->waiting && settled(x)) {
    judge(k, x);
    wait_one(k, x);
  } else if (!x->waiting) {
    wait_one(k, x);
  } else {
    atomic_fetch_add(&x->cancels, (uint32_t)fsched_semaphore_cancel(x->s, &x->t));
    k->r.cancels++;
  }
}

static void *work(void *argument) {
  semaphore_stress_worker *k = argument;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    fs_meet(&k->world->start);
    for (uint32_t i = 0; i < ROUND; i++) {
      operate(k);
    }
    fs_meet(&k->world->stop);
    judge_all(k);
  }
  return NULL;
}

static fs_status make(fsched_scope scope, fsched_semaphore **s) {
  fsched_semaphore_options o = {
      .size = sizeof o, .scope = scope, .frontier_capacity = 2, .history_limit = HISTORY};
  return fsched_semaphore_create(&o, s);
}

static fs_status set_up(semaphore_stress_stress *w, uint32_t threads, fsched_scope scope,
                        fs_rng *rng) {
  w->n = threads;
  w->start.n = w->stop.n = threads;
  for (uint32_t i = 0; i < SEMAPHORES; i++) {
    FS_TRY(make(scope, &w->s[i]));
  }
  for (uint32_t i = 0; i < threads; i++) {
    semaphore_stress_worker *k = &w->worker[i];
    k->world = w;
    k->index = i;
    k->rng.state = fs_rng_next(rng);
    for (uint32_t j = 0; j < POINTS; j++) {
      semaphore_stress_subject *x = &k->subject[j];
      *x = (semaphore_stress_subject){.world = w, .s = w->s[j % SEMAPHORES]};
      x->t = (fsched_timepoint){.callback = called, .user = x, .known = &x->known};
    }
  }
  return FSCHED_OK;
}

/* Checks that the release cancels what is left, once. */
static void tear_down(semaphore_stress_stress *w, fs_sem_stress_result *out) {
  atomic_store(&w->closing, 1);
  for (uint32_t i = 0; i < SEMAPHORES; i++) {
    fsched_semaphore_release(w->s[i]);
  }
  out->callbacks += atomic_load(&w->callbacks);
  for (uint32_t i = 0; i < w->n; i++) {
    semaphore_stress_worker *k = &w->worker[i];
    for (uint32_t j = 0; j < POINTS; j++) {
      const semaphore_stress_subject *x = &k->subject[j];
      uint32_t n = atomic_load(&x->calls) + atomic_load(&x->cancels);
      out->lost += x->waiting && n == 0;
      out->doubled += x->waiting && n > 1;
    }
    out->signals += k->r.signals;
    out->waits += k->r.waits;
    out->cancels += k->r.cancels;
    out->many += k->r.many;
    out->failures += k->r.failures;
    out->lost += k->r.lost;
    out->doubled += k->r.doubled;
    out->untruthful += k->r.untruthful;
  }
}

fsched_status fs_semaphore_stress(uint64_t operations, uint32_t threads, uint64_t seed,
                                  fsched_scope scope, fs_sem_stress_result *out) {
  fs_rng rng = {seed};
  *out = (fs_sem_stress_result){0};
  assert(threads <= THREADS);
  while (out->signals + out->waits + out->cancels + out->many < operations) {
    semaphore_stress_stress w = {.n = 0};
    pthread_t thread[THREADS];
    FS_TRY(set_up(&w, threads, scope, &rng));
    for (uint32_t i = 0; i < threads; i++) {
      if (pthread_create(&thread[i], NULL, work, &w.worker[i]) != 0) {
        return FSCHED_SYSTEM; /* the others hang in their meeting, so the caller gives up */
      }
    }
    for (uint32_t i = 0; i < threads; i++) {
      (void)pthread_join(thread[i], NULL);
    }
    tear_down(&w, out);
  }
  return FSCHED_OK;
}

/* A duel of two threads */

typedef struct semaphore_stress_duel {
  fsched_semaphore *s[2];
  fs_kit_meeting start, stop;
  uint64_t rounds, seed;
  fs_sem_stress_result *out; /* that of the waiting thread */
  _Atomic uint64_t calls, failures;
} semaphore_stress_duel;

static void count(fsched_timepoint *t, fsched_cause cause) {
  semaphore_stress_duel *d = t->user;
  atomic_fetch_add(&d->failures, cause != FSCHED_CAUSE_NONE);
  atomic_fetch_add(&d->calls, 1);
}

static void hesitate(fs_rng *r, uint32_t limit) {
  for (volatile uint32_t i = fs_rng_below(r, limit); i > 0; i--) {
  }
}

static void *signal_all(void *argument) {
  semaphore_stress_duel *d = argument;
  fs_rng r = {d->seed};
  uint64_t bad = 0;
  for (uint64_t i = 1; i <= d->rounds; i++) {
    fs_meet(&d->start);
    hesitate(&r, 1024);
    bad += fsched_semaphore_signal(d->s[i % 2], i, NULL) != FSCHED_OK;
    bad += fsched_semaphore_signal(d->s[(i + 1) % 2], i, NULL) != FSCHED_OK;
    fs_meet(&d->stop);
  }
  atomic_fetch_add(&d->failures, bad);
  return NULL;
}

static void wait_both(semaphore_stress_duel *d, uint64_t value, bool any) {
  fsched_wait_point p[2] = {{.semaphore = d->s[0], .value = value},
                            {.semaphore = d->s[1], .value = value}};
  fsched_wait_result r;
  fsched_status status =
      fsched_semaphore_wait_many(p, 2, any ? FSCHED_WAIT_ANY : FSCHED_WAIT_ALL, forever_ns, &r);
  bool lost = status == FSCHED_OK && r.cause == FSCHED_CAUSE_TIMEOUT;
  d->out->lost += lost;
  d->out->untruthful += !lost && (status != FSCHED_OK || r.cause != FSCHED_CAUSE_NONE);
}

/* Judges the callback of round `value`.  Both calls are over, so it has come, unless a thread that
 * watches the page calls it: then it is on its way. */
static void judge_call(semaphore_stress_duel *d, fsched_timepoint *t) {
  if (atomic_load(&d->calls) == 0 && fsched_semaphore_cancel(d->s[0], t)) {
    d->out->lost++;
    return;
  }
  while (atomic_load(&d->calls) == 0) {
    (void)sched_yield();
  }
  d->out->doubled += atomic_load(&d->calls) > 1;
}

static void *await_all(void *argument) {
  semaphore_stress_duel *d = argument;
  fs_rng r = {d->seed + 1};
  fsched_timepoint t = {.callback = count, .user = d};
  for (uint64_t i = 1; i <= d->rounds; i++) {
    uint32_t how = fs_rng_below(&r, 3);
    atomic_store(&d->calls, 0);
    fs_meet(&d->start);
    hesitate(&r, 64);
    if (how == 0) {
      d->out->untruthful += fsched_semaphore_await(d->s[0], i, &t, NULL) != FSCHED_OK;
    } else {
      wait_both(d, i, how == 1);
    }
    fs_meet(&d->stop);
    if (how == 0) {
      judge_call(d, &t);
    }
  }
  return NULL;
}

fsched_status fs_semaphore_duel(uint64_t rounds, uint64_t seed, fsched_scope scope,
                                fs_sem_stress_result *out) {
  *out = (fs_sem_stress_result){.signals = 2 * rounds, .waits = rounds};
  semaphore_stress_duel d = {.rounds = rounds, .seed = seed, .out = out, .start.n = 2, .stop.n = 2};
  for (uint32_t i = 0; i < 2; i++) {
    FS_TRY(make(scope, &d.s[i]));
  }
  pthread_t other;
  if (pthread_create(&other, NULL, signal_all, &d) != 0) {
    return FSCHED_SYSTEM;
  }
  (void)await_all(&d);
  (void)pthread_join(other, NULL);
  for (uint32_t i = 0; i < 2; i++) {
    fsched_semaphore_release(d.s[i]);
  }
  out->untruthful += atomic_load(&d.failures);
  return FSCHED_OK;
}
