/* SPDX-License-Identifier: Apache-2.0 */
#include "frontier/tracker/tracker_stress.h"

#include <pthread.h>

#include "frontier/tracker/private.h"
#include "kit/gen.h"
#include "kit/meeting.h"

/* The size of a round, and how many rounds one tracker serves. */
enum { THREADS = 8, WAITERS = 48, SHOTS = 64, ROUND = 512, ROUNDS = 40, FRONTIER = 4 };

struct tracker_stress_stress;

typedef struct tracker_stress_subject {
  fsched_waiter w;
  fsched_frontier_entry entry[FRONTIER];
  fsched_frontier f;
  _Atomic uint32_t calls, cancels;
  _Atomic int32_t cause;
  bool waiting; /* only its owner uses this */
  struct tracker_stress_stress *s;
} tracker_stress_subject;

typedef struct tracker_stress_worker {
  struct tracker_stress_stress *s;
  fs_rng rng;
  uint32_t index;
  uint64_t epoch, done;
  fs_stress_result r;
  tracker_stress_subject subject[WAITERS];
} tracker_stress_worker;

typedef struct tracker_stress_stress {
  fsched_tracker *t;
  fs_kit_meeting start, stop;
  uint32_t n;
  fsched_tracked *axis[THREADS + SHOTS]; /* one for each thread, then those that end early */
  _Atomic uint32_t shot;                 /* how many of them have been chosen to end */
  _Atomic uint32_t random;               /* for callbacks, which run anywhere */
  tracker_stress_worker worker[THREADS];
} tracker_stress_stress;

static void called(fsched_waiter *w, fsched_cause cause) {
  tracker_stress_subject *x = w->user;
  tracker_stress_stress *s = x->s;
  atomic_store(&x->cause, cause);
  atomic_fetch_add(&x->calls, 1);
  uint32_t r = atomic_fetch_add_explicit(&s->random, 0x9e3779b9u, memory_order_relaxed);
  if (r >> 29 == 0) {
    tracker_stress_subject *other = &s->worker[(r >> 8) % s->n].subject[(r >> 16) % WAITERS];
    atomic_fetch_add(&other->cancels, (uint32_t)fsched_tracker_cancel(s->t, &other->w));
  }
}

static void pick_frontier(tracker_stress_worker *k, tracker_stress_subject *x) {
  tracker_stress_stress *s = k->s;
  uint64_t axes = 0; /* by index in s->axis, in ascending order of the axes */
  uint32_t n = 1 + fs_rng_below(&k->rng, FRONTIER);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t shots = fs_rng_one_in(&k->rng, 16) ? SHOTS / 2 : 0;
    axes |= (uint64_t)1 << fs_rng_below(&k->rng, s->n + shots);
  }
  x->f = (fsched_frontier){.entry = x->entry, .capacity = FRONTIER};
  for (uint32_t i = 0; i < s->n + SHOTS / 2; i++) {
    if ((axes >> i & 1) == 0) {
      continue;
    }
    /* The epoch is near what the writer is about to reach. */
    uint64_t epoch = i < s->n ? atomic_load(&s->axis[i]->epoch) + fs_rng_below(&k->rng, 6) : 1;
    x->entry[x->f.n++] = (fsched_frontier_entry){i, epoch + (epoch == 0)};
  }
}

static void wait_once(tracker_stress_worker *k, tracker_stress_subject *x) {
  pick_frontier(k, x);
  atomic_store(&x->calls, 0);
  atomic_store(&x->cancels, 0);
  x->waiting = true;
  int pending;
  k->r.untruthful += fsched_tracker_wait(k->s->t, &x->f, &x->w, &pending) != FSCHED_OK;
  k->r.waits++;
}

static void operate(tracker_stress_worker *k) {
  tracker_stress_stress *s = k->s;
  uint32_t r = fs_rng_below(&k->rng, 64);
  tracker_stress_subject *x = &k->subject[fs_rng_below(&k->rng, WAITERS)];
  if (r == 0 && fs_rng_one_in(&k->rng, 16)) {
    uint32_t shot = atomic_fetch_add(&s->shot, 1);
    if (shot < SHOTS / 2) {
      fsched_tracked *a = s->axis[s->n + shot];
      k->r.callbacks += shot % 2 ? fsched_tracker_fail(a, 7) : fsched_tracker_retire(a, 7);
      k->r.ends++;
    }
  } else if (r < 32) {
    k->r.callbacks += fsched_tracker_advance(s->axis[k->index], ++k->epoch);
    k->r.advances++;
  } else if (!x->waiting) {
    wait_once(k, x);
  } else if (r < 36) {
    atomic_fetch_add(&x->cancels, (uint32_t)fsched_tracker_cancel(s->t, &x->w));
    k->r.cancels++;
  }
  k->done++;
}

/* All threads are quiet. */
static void judge(tracker_stress_worker *k, tracker_stress_subject *x) {
  tracker_stress_stress *s = k->s;
  bool reached = true;
  bool ended = false;
  for (uint32_t i = 0; i < x->f.n; i++) {
    const fsched_tracked *a = s->axis[x->entry[i].axis];
    bool here = fsched_tracker_reached(a, x->entry[i].epoch);
    reached = reached && here;
    ended = ended || (!here && atomic_load(&a->life) != FS_ALIVE);
  }
  uint32_t calls = atomic_load(&x->calls);
  uint32_t cancels = atomic_load(&x->cancels);
  k->r.lost += (reached || ended) && calls + cancels == 0;
  k->r.doubled += calls + cancels > 1;
  k->r.untruthful += calls > 0 && !((reached && atomic_load(&x->cause) == 0) ||
                                    (ended && atomic_load(&x->cause) == 7));
}

static void judge_all(tracker_stress_worker *k) {
  for (uint32_t i = 0; i < WAITERS; i++) {
    tracker_stress_subject *x = &k->subject[i];
    if (x->waiting) {
      judge(k, x);
      x->waiting = atomic_load(&x->calls) + atomic_load(&x->cancels) == 0;
    }
  }
}

static void *work(void *argument) {
  tracker_stress_worker *k = argument;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    fs_meet(&k->s->start);
    for (uint32_t i = 0; i < ROUND; i++) {
      operate(k);
    }
    fs_meet(&k->s->stop);
    judge_all(k);
  }
  return NULL;
}

static fs_status make_tracker(uint32_t axes, bool fenced, fsched_tracker **t,
                              fsched_tracked **axis) {
  fsched_tracker_options o = {.size = sizeof o, .max_axes = axes};
  FS_TRY(fsched_tracker_create(&o, t));
  if (fenced) {
    fs_tracker_use_fences(*t);
  }
  for (uint32_t i = 0; i < axes; i++) {
    FS_TRY(fsched_tracker_register(*t, i, &axis[i]));
  }
  return FSCHED_OK;
}

static void set_up(tracker_stress_stress *s, uint32_t threads, fs_rng *rng) {
  s->n = threads;
  s->start.n = s->stop.n = threads;
  for (uint32_t i = 0; i < threads; i++) {
    tracker_stress_worker *k = &s->worker[i];
    k->s = s;
    k->index = i;
    k->rng.state = fs_rng_next(rng);
    for (uint32_t j = 0; j < WAITERS; j++) {
      k->subject[j].s = s;
      k->subject[j].w.callback = called;
      k->subject[j].w.user = &k->subject[j];
    }
  }
}

static fs_status run_threads(void *(*main)(void *), void *const *argument, uint32_t n) {
  pthread_t thread[THREADS];
  for (uint32_t i = 0; i < n; i++) {
    if (pthread_create(&thread[i], NULL, main, argument[i]) != 0) {
      return FSCHED_SYSTEM; /* the others hang in their meeting, so the caller gives up */
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    (void)pthread_join(thread[i], NULL);
  }
  return FSCHED_OK;
}

/* Checks that destroy cancels what is left, once. */
static void tear_down(tracker_stress_stress *s, fs_stress_result *out) {
  fsched_tracker_destroy(s->t);
  for (uint32_t i = 0; i < s->n; i++) {
    tracker_stress_worker *k = &s->worker[i];
    for (uint32_t j = 0; j < WAITERS; j++) {
      tracker_stress_subject *x = &k->subject[j];
      uint32_t n = atomic_load(&x->calls) + atomic_load(&x->cancels);
      out->lost += x->waiting && n == 0;
      out->doubled += x->waiting && n > 1;
    }
    out->advances += k->r.advances;
    out->waits += k->r.waits;
    out->cancels += k->r.cancels;
    out->ends += k->r.ends;
    out->callbacks += k->r.callbacks;
    out->lost += k->r.lost;
    out->doubled += k->r.doubled;
    out->untruthful += k->r.untruthful;
  }
}

fs_status fs_tracker_stress(uint64_t operations, uint32_t threads, uint64_t seed, bool fenced,
                            fs_stress_result *out) {
  fs_rng rng = {seed};
  *out = (fs_stress_result){0};
  assert(threads <= THREADS);
  while (out->advances + out->waits + out->cancels + out->ends < operations) {
    tracker_stress_stress s = {.n = 0};
    set_up(&s, threads, &rng);
    FS_TRY(make_tracker(threads + SHOTS, fenced, &s.t, s.axis));
    void *argument[THREADS];
    for (uint32_t i = 0; i < threads; i++) {
      argument[i] = &s.worker[i];
    }
    FS_TRY(run_threads(work, argument, threads));
    tear_down(&s, out);
  }
  return FSCHED_OK;
}

/* A duel of two threads */

typedef struct tracker_stress_duel {
  fsched_tracked *axis;
  fsched_tracker *t;
  fs_kit_meeting start, stop;
  uint64_t rounds, seed;
  fs_stress_result *out; /* that of the waiting thread */
  uint64_t calls, failures;
} tracker_stress_duel;

static void count(fsched_waiter *w, fsched_cause cause) {
  tracker_stress_duel *d = w->user;
  d->calls++; /* the two calls that may run this are over when it is read */
  d->failures += cause != FSCHED_CAUSE_NONE;
}

static void hesitate(fs_rng *r, uint32_t limit) {
  for (volatile uint32_t i = fs_rng_below(r, limit); i > 0; i--) {
  }
}

static void *advance(void *argument) {
  tracker_stress_duel *d = argument;
  fs_rng r = {d->seed};
  for (uint64_t i = 1; i <= d->rounds; i++) {
    fs_meet(&d->start);
    hesitate(&r, 1024);
    (void)fsched_tracker_advance(d->axis, i);
    fs_meet(&d->stop);
  }
  return NULL;
}

static void *await(void *argument) {
  tracker_stress_duel *d = argument;
  fs_rng r = {d->seed + 1};
  fsched_waiter w = {.callback = count, .user = d};
  fs_stress_result *out = d->out;
  for (uint64_t i = 1; i <= d->rounds; i++) {
    d->calls = d->failures = 0;
    fsched_frontier_entry e = {0, i};
    fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
    fs_meet(&d->start);
    hesitate(&r, 64);
    out->untruthful += fsched_tracker_wait(d->t, &f, &w, NULL) != FSCHED_OK;
    fs_meet(&d->stop);
    out->lost += d->calls == 0;
    out->doubled += d->calls > 1;
    out->untruthful += d->failures;
    if (d->calls == 0) {
      (void)fsched_tracker_cancel(d->t, &w);
    }
  }
  return NULL;
}

fs_status fs_tracker_duel(uint64_t rounds, uint64_t seed, bool fenced, fs_stress_result *out) {
  *out = (fs_stress_result){.advances = rounds, .waits = rounds};
  tracker_stress_duel d = {.rounds = rounds, .seed = seed, .out = out, .start.n = 2, .stop.n = 2};
  FS_TRY(make_tracker(1, fenced, &d.t, &d.axis));
  pthread_t other;
  if (pthread_create(&other, NULL, advance, &d) != 0) {
    return FSCHED_SYSTEM;
  }
  (void)await(&d);
  (void)pthread_join(other, NULL);
  fsched_tracker_destroy(d.t);
  return FSCHED_OK;
}

/* Batches */

enum { BATCH = 6 };

typedef struct batch {
  fsched_tracker *t;
  fsched_tracked *x, *y;
  fs_kit_meeting start, stop;
  uint64_t rounds, seed;
  struct {
    fsched_waiter w;
    fsched_frontier_entry entry[2];
    _Atomic uint32_t calls, failures;
  } member[BATCH];
} batch;

static void count_member(fsched_waiter *w, fsched_cause cause) {
  batch *b = w->user;
  for (uint32_t i = 0; i < BATCH; i++) {
    if (w == &b->member[i].w) {
      atomic_fetch_add(&b->member[i].calls, 1);
      atomic_fetch_add(&b->member[i].failures, cause != FSCHED_CAUSE_NONE);
    }
  }
}

/* Is the writer of Y, and does nothing else, so that its store may be late. */
static void *advance_y(void *argument) {
  batch *b = argument;
  fs_rng r = {b->seed};
  for (uint64_t i = 1; i <= b->rounds; i++) {
    fs_meet(&b->start);
    hesitate(&r, 256);
    (void)fsched_tracker_advance(b->y, i);
    fs_meet(&b->stop);
  }
  return NULL;
}

/* Registers the waiters in an order that the round chooses; one in three waits for Y alone. */
static uint32_t register_batch(batch *b, uint64_t round, fs_rng *r) {
  uint32_t faults = 0;
  uint32_t alone = fs_rng_below(r, 3 * BATCH), first = fs_rng_below(r, BATCH);
  for (uint32_t k = 0; k < BATCH; k++) {
    uint32_t i = (first + k) % BATCH;
    uint32_t n = i == alone ? 1 : 2;
    b->member[i].entry[0] = (fsched_frontier_entry){0, round};
    b->member[i].entry[1] = (fsched_frontier_entry){1, round};
    fsched_frontier f = {.entry = b->member[i].entry + 2 - n, .n = n, .capacity = n};
    atomic_store(&b->member[i].calls, 0);
    atomic_store(&b->member[i].failures, 0);
    faults += fsched_tracker_wait(b->t, &f, &b->member[i].w, NULL) != FSCHED_OK;
  }
  return faults;
}

static void judge_batch(batch *b, uint32_t cancelled, fs_stress_result *out) {
  for (uint32_t i = 0; i < BATCH; i++) {
    uint32_t calls = atomic_load(&b->member[i].calls) + (cancelled == i);
    out->lost += calls == 0;
    out->doubled += calls > 1;
    out->untruthful += atomic_load(&b->member[i].failures);
    if (calls == 0) {
      (void)fsched_tracker_cancel(b->t, &b->member[i].w);
    }
  }
}

static void run_batches(batch *b, fs_stress_result *out) {
  fs_rng r = {b->seed + 1};
  for (uint64_t i = 1; i <= b->rounds; i++) {
    out->untruthful += register_batch(b, i, &r);
    fs_meet(&b->start);
    hesitate(&r, 256);
    uint32_t victim = fs_rng_below(&r, 4 * BATCH), cancelled = BATCH;
    if (victim < BATCH && fsched_tracker_cancel(b->t, &b->member[victim].w)) {
      cancelled = victim;
    }
    (void)fsched_tracker_advance(b->x, i);
    fs_meet(&b->stop);
    out->cancels += cancelled < BATCH;
    judge_batch(b, cancelled, out);
  }
}

fs_status fs_tracker_batches(uint64_t rounds, uint64_t seed, fs_stress_result *out) {
  *out = (fs_stress_result){.advances = 2 * rounds, .waits = BATCH * rounds};
  batch b = {.rounds = rounds, .seed = seed, .start.n = 2, .stop.n = 2};
  fsched_tracked *axis[2];
  FS_TRY(make_tracker(2, false, &b.t, axis));
  b.x = axis[0];
  b.y = axis[1];
  for (uint32_t i = 0; i < BATCH; i++) {
    b.member[i].w.callback = count_member;
    b.member[i].w.user = &b;
  }
  pthread_t other;
  if (pthread_create(&other, NULL, advance_y, &b) != 0) {
    return FSCHED_SYSTEM;
  }
  run_batches(&b, out);
  (void)pthread_join(other, NULL);
  fsched_tracker_destroy(b.t);
  return FSCHED_OK;
}
