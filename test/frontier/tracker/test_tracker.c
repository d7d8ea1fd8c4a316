/* SPDX-License-Identifier: Apache-2.0 */
/* The frontier tracker: a plain model, reentrant callbacks, failures, threads. */
#include <stdlib.h>

#include "frontier/tracker/private.h"
#include "frontier/tracker/tracker_stress.h"
#include "fsched/tracker.h"
#include "kit/gen.h"
#include "kit/golden.h"
#include "kit/suite.h"
#include "kit/turn.h"

static fsched_tracker *make(uint32_t axes, bool fenced) {
  fsched_tracker_options o = {.size = sizeof o, .max_axes = axes};
  fsched_tracker *t;
  ck_assert_int_eq(fsched_tracker_create(&o, &t), FSCHED_OK);
  if (fenced) {
    fs_tracker_use_fences(t);
  }
  return t;
}

static fsched_tracked *add(fsched_tracker *t, fsched_axis axis) {
  fsched_tracked *a = NULL;
  ck_assert_int_eq(fsched_tracker_register(t, axis, &a), FSCHED_OK);
  ck_assert_ptr_eq(fsched_tracker_find(t, axis), a);
  return a;
}

/* One thread against a plain model: lists searched from end to end. */

enum { MODEL_AXES = 5, MODEL_WAITERS = 200, MODEL_FRONTIER = 4 };

typedef struct thing {
  fsched_waiter w;
  fsched_frontier_entry entry[MODEL_FRONTIER];
  fsched_frontier f;
  uint64_t sequence; /* 0: it is not waiting */
  struct tracker_model *m;
} thing;

typedef struct tracker_event {
  const thing *x;
  fsched_cause cause;
} tracker_event;

typedef struct tracker_model {
  fsched_tracker *t;
  fsched_tracked *axis[MODEL_AXES];
  uint64_t epoch[MODEL_AXES];
  fsched_cause cause[MODEL_AXES]; /* of axes that have ended */
  bool retired[MODEL_AXES];
  uint64_t sequence;
  thing thing[MODEL_WAITERS];
  tracker_event seen[MODEL_WAITERS], wanted[MODEL_WAITERS];
  uint32_t n_seen, n_wanted;
  uint64_t callbacks;
} tracker_model;

static void model_called(fsched_waiter *w, fsched_cause cause) {
  thing *x = w->user;
  ck_assert_uint_lt(x->m->n_seen, MODEL_WAITERS);
  x->m->seen[x->m->n_seen++] = (tracker_event){x, cause};
  x->m->callbacks++;
}

/* Whether it must be called, and with which cause: a failure counts before a retirement, then the
 * lowest axis. */
static bool model_due(const tracker_model *m, const thing *x, fsched_cause *cause) {
  bool reached = true;
  const fsched_cause none = FSCHED_CAUSE_NONE;
  fsched_cause failed = none;
  fsched_cause retired = none;
  for (uint32_t i = 0; i < x->f.n; i++) {
    uint64_t axis = x->entry[i].axis;
    if (m->epoch[axis] >= x->entry[i].epoch) {
      continue;
    }
    reached = false;
    fsched_cause *first = m->retired[axis] ? &retired : &failed;
    *first = *first == none ? m->cause[axis] : *first;
  }
  *cause = failed != none ? failed : retired;
  return reached || *cause != none;
}

/* Collects all waiters that are due now, in order of registration. */
static void model_collect(tracker_model *m) {
  m->n_wanted = 0;
  for (;;) {
    thing *next = NULL;
    fsched_cause cause;
    for (uint32_t i = 0; i < MODEL_WAITERS; i++) {
      thing *x = &m->thing[i];
      fsched_cause c;
      if (x->sequence > 0 && (next == NULL || x->sequence < next->sequence) &&
          model_due(m, x, &c)) {
        next = x;
        cause = c;
      }
    }
    if (next == NULL) {
      return;
    }
    next->sequence = 0;
    m->wanted[m->n_wanted++] = (tracker_event){next, cause};
  }
}

static void model_compare(tracker_model *m) {
  model_collect(m);
  ck_assert_uint_eq(m->n_seen, m->n_wanted);
  for (uint32_t i = 0; i < m->n_seen; i++) {
    ck_assert_ptr_eq(m->seen[i].x, m->wanted[i].x);
    ck_assert_int_eq(m->seen[i].cause, m->wanted[i].cause);
  }
  m->n_seen = 0;
}

static void model_wait(tracker_model *m, thing *x, fs_rng *r) {
  x->f = (fsched_frontier){.entry = x->entry, .capacity = MODEL_FRONTIER};
  for (uint32_t i = 0; i < MODEL_AXES && x->f.n < MODEL_FRONTIER; i++) {
    if (fs_rng_one_in(r, 2)) {
      uint64_t epoch = m->epoch[i] + fs_rng_below(r, 20);
      x->entry[x->f.n++] = (fsched_frontier_entry){i, epoch + (epoch == 0)};
    }
  }
  int pending;
  ck_assert_int_eq(fsched_tracker_wait(m->t, &x->f, &x->w, &pending), FSCHED_OK);
  x->sequence = ++m->sequence;
  ck_assert_int_eq(pending, m->n_seen == 0);
  ck_assert_int_eq(fsched_tracker_satisfied(m->t, &x->f),
                   m->n_seen == 1 && m->seen[0].cause == FSCHED_CAUSE_NONE);
}

static void model_step(tracker_model *m, fs_rng *r, uint32_t ends_one_in) {
  thing *x = &m->thing[fs_rng_below(r, MODEL_WAITERS)];
  uint32_t axis = fs_rng_below(r, MODEL_AXES);
  uint32_t what = fs_rng_below(r, 8);
  uint32_t called = 0;
  if (fs_rng_one_in(r, ends_one_in)) {
    bool retire = fs_rng_one_in(r, 2);
    fsched_cause cause = 1 + (fsched_cause)fs_rng_below(r, 9);
    called = retire ? fsched_tracker_retire(m->axis[axis], cause)
                    : fsched_tracker_fail(m->axis[axis], cause);
    if (m->cause[axis] == FSCHED_CAUSE_NONE) {
      m->cause[axis] = cause;
      m->retired[axis] = retire;
    }
  } else if (what == 0) {
    bool waiting = x->sequence > 0;
    ck_assert_int_eq(fsched_tracker_cancel(m->t, &x->w), waiting);
    x->sequence = 0;
  } else if (what < 3) {
    uint64_t epoch = m->epoch[axis] + fs_rng_below(r, 8);
    called = fsched_tracker_advance(m->axis[axis], epoch);
    m->epoch[axis] = m->cause[axis] == FSCHED_CAUSE_NONE ? epoch : m->epoch[axis];
  } else if (x->sequence == 0) {
    model_wait(m, x, r);
    called = m->n_seen;
  }
  ck_assert_uint_eq(called, m->n_seen);
  model_compare(m);
}

static void model_run(uint64_t seed, bool fenced) {
  static tracker_model m;
  m = (tracker_model){.t = make(MODEL_AXES, fenced)};
  fs_rng r = {seed};
  for (uint32_t i = 0; i < MODEL_AXES; i++) {
    m.axis[i] = add(m.t, i);
  }
  for (uint32_t i = 0; i < MODEL_WAITERS; i++) {
    m.thing[i].m = &m;
    m.thing[i].w.callback = model_called;
    m.thing[i].w.user = &m.thing[i];
  }
  for (uint32_t i = 0; i < 3000; i++) {
    model_step(&m, &r, 600);
    if (i % 64 == 0) {
      uint32_t axis = fs_rng_below(&r, MODEL_AXES);
      ck_assert(fsched_tracker_reached(m.axis[axis], m.epoch[axis]));
      ck_assert(!fsched_tracker_reached(m.axis[axis], m.epoch[axis] + 1));
    }
  }
  fs_assert_seen(m.callbacks, 200);
  fsched_tracker_destroy(m.t);
  uint32_t left = 0;
  for (uint32_t i = 0; i < MODEL_WAITERS; i++) {
    left += m.thing[i].sequence > 0;
  }
  ck_assert_uint_eq(m.n_seen, left);
  for (uint32_t i = 0; i < left; i++) {
    ck_assert_int_eq(m.seen[i].cause, FSCHED_CAUSE_CANCELLED);
    ck_assert(i == 0 || m.seen[i - 1].x->sequence < m.seen[i].x->sequence);
  }
}

START_TEST(random_against_model)
{
  for (uint64_t i = 0, seed = fs_turn() * 12; i < 12; i++, seed++) {
    model_run(seed, seed % 2 == 1);
  }
}
END_TEST

/* Callbacks that call the tracker */

typedef struct tracker_actor {
  fsched_waiter w;
  fsched_frontier_entry entry[2];
  fsched_tracker *t;
  fsched_tracked *axis; /* to advance, by `to` */
  uint64_t to;
  struct tracker_actor *victim; /* to cancel */
  int cancelled;
  uint32_t again; /* how often it waits anew, for the next epoch */
  char *log;      /* names in order */
  char name;
} tracker_actor;

static void act(fsched_waiter *w, fsched_cause cause);

static void actor_wait(tracker_actor *x, uint64_t epoch) {
  x->w.callback = act;
  x->w.user = x;
  x->entry[0].epoch = epoch;
  fsched_frontier f = {.entry = x->entry, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_tracker_wait(x->t, &f, &x->w, NULL), FSCHED_OK);
}

static void act(fsched_waiter *w, fsched_cause cause) {
  tracker_actor *x = w->user;
  size_t n = strlen(x->log);
  x->log[n] = cause == FSCHED_CAUSE_NONE ? x->name : '!';
  x->log[n + 1] = '\0';
  ck_assert_int_eq(fsched_tracker_cancel(x->t, w), 0); /* it has begun */
  if (x->victim != NULL) {
    x->cancelled = fsched_tracker_cancel(x->t, &x->victim->w);
  }
  if (x->again > 0) {
    x->again--;
    actor_wait(x, x->entry[0].epoch + 1);
  }
  if (x->axis != NULL) {
    (void)fsched_tracker_advance(x->axis, x->to);
  }
}

static tracker_actor *stage(tracker_actor *x, fsched_tracker *t, char *log, char name,
                            fsched_axis axis) {
  *x = (tracker_actor){.t = t, .log = log, .name = name, .entry[0].axis = axis};
  return x;
}

START_TEST(callbacks_call_the_tracker)
{
  fsched_tracker *t = make(2, _i == 1);
  fsched_tracked *zero = add(t, 0);
  fsched_tracked *one = add(t, 1);
  char log[64] = "";
  tracker_actor a, b, c, d;
  /* a cancels c, chosen by the same advance, and advances the other axis, for which d waits; b
   * waits anew three times. */
  stage(&a, t, log, 'a', 0)->victim = &c;
  a.axis = one;
  a.to = 5;
  stage(&b, t, log, 'b', 0)->again = 3;
  actor_wait(&a, 9);
  actor_wait(&b, 7);
  actor_wait(stage(&c, t, log, 'c', 0), 8);
  actor_wait(stage(&d, t, log, 'd', 1), 5);
  ck_assert_uint_eq(fsched_tracker_advance(zero, 10), 3);
  ck_assert_str_eq(log, "abbbbd"); /* what a callback lets go comes last */
  ck_assert_int_eq(a.cancelled, 1);
  ck_assert_int_eq(fsched_tracker_cancel(t, &c.w), 0);
  /* The writer goes on advancing from a callback of its own axis. */
  log[0] = '\0';
  stage(&a, t, log, 'a', 0)->axis = zero;
  a.to = 20;
  actor_wait(&a, 11);
  actor_wait(stage(&c, t, log, 'c', 0), 11);
  actor_wait(stage(&d, t, log, 'd', 0), 20);
  ck_assert_uint_eq(fsched_tracker_advance(zero, 11), 3);
  ck_assert_str_eq(log, "acd");
  fsched_tracker_destroy(t);
}
END_TEST

/* A callback may free its waiter. */
static void free_waiter(fsched_waiter *w, fsched_cause cause) {
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  ++*(int *)w->user;
  free(w);
}

START_TEST(callbacks_free_their_waiters)
{
  fsched_tracker *t = make(1, false);
  fsched_tracked *a = add(t, 0);
  fsched_frontier_entry e[50];
  int n = 0;
  for (uint32_t i = 0; i < 50; i++) {
    fsched_waiter *w = calloc(1, sizeof *w);
    w->callback = free_waiter;
    w->user = &n;
    e[i] = (fsched_frontier_entry){0, 1 + i * 7 % 10};
    fsched_frontier f = {.entry = &e[i], .n = 1, .capacity = 1};
    ck_assert_int_eq(fsched_tracker_wait(t, &f, w, NULL), FSCHED_OK);
  }
  ck_assert_uint_eq(fsched_tracker_advance(a, 5), 25);
  ck_assert_uint_eq(fsched_tracker_advance(a, 10), 25);
  ck_assert_int_eq(n, 50);
  fsched_tracker_destroy(t);
}
END_TEST

/* Failures */

START_TEST(failures_win)
{
  fsched_tracker *t = make(3, _i == 1);
  fsched_tracked *axis[3] = {add(t, 0), add(t, 1), add(t, 2)};
  char log[64] = "";
  tracker_actor a, b;
  stage(&a, t, log, 'a', 0);
  actor_wait(&a, 5);
  stage(&b, t, log, 'b', 1);
  actor_wait(&b, 5);
  ck_assert_uint_eq(fsched_tracker_advance(axis[1], 4), 0);
  ck_assert_uint_eq(fsched_tracker_retire(axis[1], 0), 1);
  ck_assert_int_eq(b.w.inner.cause, FSCHED_CAUSE_RETIRED);
  ck_assert_uint_eq(fsched_tracker_fail(axis[2], 0), 0);
  /* What was reached stays reached; what comes later has no effect; the first end counts. */
  ck_assert_uint_eq(fsched_tracker_advance(axis[1], 9), 0);
  ck_assert_uint_eq(fsched_tracker_fail(axis[1], 7), 0);
  ck_assert(fsched_tracker_reached(axis[1], 4));
  ck_assert(!fsched_tracker_reached(axis[1], 5));
  log[0] = '\0';
  actor_wait(&b, 4);
  ck_assert_str_eq(log, "b");
  /* The failed axis is behind one that is not reached yet; then a failed axis counts before a
   * retired one. */
  fsched_frontier_entry e[] = {{0, 9}, {1, 5}, {2, 1}};
  fsched_frontier f = {.entry = e, .n = 3, .capacity = 3};
  int pending = 1;
  ck_assert_int_eq(fsched_tracker_wait(t, &f, &b.w, &pending), FSCHED_OK);
  ck_assert_int_eq(pending, 0);
  ck_assert_int_eq(b.w.inner.cause, FSCHED_CAUSE_SYSTEM);
  f.n = 2;
  ck_assert_int_eq(fsched_tracker_wait(t, &f, &b.w, &pending), FSCHED_OK);
  ck_assert_int_eq(b.w.inner.cause, FSCHED_CAUSE_RETIRED);
  ck_assert_str_eq(log, "b!!");
  log[0] = '\0';
  ck_assert_uint_eq(fsched_tracker_advance(axis[0], 5), 1);
  ck_assert_str_eq(log, "a");
  fsched_tracker_destroy(t);
}
END_TEST

/* What is refused */

START_TEST(refusals)
{
  fsched_tracker *t = make(2, false);
  fsched_tracked *a = add(t, UINT64_MAX);
  char log[64] = "";
  tracker_actor x;
  stage(&x, t, log, 'x', UINT64_MAX);
  x.w.callback = act;
  x.w.user = &x;
  fsched_frontier_entry e[] = {{5, 1}, {4, 1}};
  int pending = 7;
  fsched_frontier f = {.entry = e, .n = 1, .capacity = 2};
  ck_assert_int_eq(fsched_tracker_wait(t, &f, &x.w, &pending), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(fsched_tracker_find(t, 5));
  ck_assert(!fsched_tracker_satisfied(t, &f));
  f.n = 2;
  ck_assert_int_eq(fsched_tracker_wait(t, &f, &x.w, &pending), FSCHED_BAD_INPUT);
  f = (fsched_frontier){.entry = x.entry, .capacity = 2, .tainted = 1};
  ck_assert_int_eq(fsched_tracker_wait(t, &f, &x.w, &pending), FSCHED_BAD_INPUT);
  ck_assert(!fsched_tracker_satisfied(t, &f));
  f.tainted = 0;
  x.w.callback = NULL;
  ck_assert_int_eq(fsched_tracker_wait(t, &f, &x.w, &pending), FSCHED_USAGE);
  ck_assert_int_eq(pending, 7);
  ck_assert_str_eq(log, "");
  ck_assert_int_eq(fsched_tracker_cancel(t, &x.w), 0); /* never waited */
  actor_wait(&x, 3);
  f = (fsched_frontier){.entry = x.entry, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_tracker_wait(t, &f, &x.w, &pending), FSCHED_USAGE); /* pending */
  ck_assert_uint_eq(fsched_tracker_advance(a, UINT64_MAX), 1);
  ck_assert(fsched_tracker_reached(a, UINT64_MAX));
  fsched_tracker_destroy(t);
  fsched_tracker_destroy(NULL);
  ck_assert_int_eq(fsched_tracker_create(NULL, &t), FSCHED_USAGE);
  fsched_tracker_options o = {.size = 8};
  ck_assert_int_eq(fsched_tracker_create(&o, &t), FSCHED_USAGE);
  ck_assert_ptr_null(t);
}
END_TEST

/* During destroy it is called with CANCELLED, and cannot wait anew. */
static void wait_again(fsched_waiter *w, fsched_cause cause) {
  ck_assert_int_eq(cause, FSCHED_CAUSE_CANCELLED);
  fsched_frontier f = {.entry = NULL};
  ck_assert_int_eq(fsched_tracker_wait(w->user, &f, w, NULL), FSCHED_USAGE);
  w->callback = NULL;
}

START_TEST(destroy_cancels)
{
  fsched_tracker *t = make(1, false);
  (void)add(t, 3);
  fsched_waiter w = {.callback = wait_again, .user = t};
  fsched_frontier_entry e = {3, 1};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_tracker_wait(t, &f, &w, NULL), FSCHED_OK);
  fsched_tracker_destroy(t);
  ck_assert_ptr_null(w.callback);
}
END_TEST

START_TEST(no_memory)
{
  fsched_status status = FSCHED_SYSTEM;
  for (long n = 0; status != FSCHED_OK; n++) {
    ck_assert_int_lt(n, 20);
    fs_budget budget = {.left = n};
    fsched_tracker_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget, .max_axes = 100};
    fsched_tracker *t;
    status = fsched_tracker_create(&o, &t);
    ck_assert_int_eq(status == FSCHED_OK, t != NULL);
    fsched_tracker_destroy(t);
    ck_assert_int_eq(budget.blocks, 0);
  }
}
END_TEST

START_TEST(many_axes)
{
  enum { MANY = 1000 };
  fsched_tracker *t = make(MANY, false);
  fsched_tracked *a;
  for (uint64_t i = 0; i < MANY; i++) {
    a = add(t, i << 56 | i << 24);
    ck_assert_uint_eq((uintptr_t)a % FS_TRACKED_ALIGN, 0);
  }
  ck_assert_int_eq(fsched_tracker_register(t, 77, &a), FSCHED_INFEASIBLE);
  ck_assert_int_eq(fsched_tracker_register(t, 0, &a), FSCHED_USAGE);
  fsched_tracker_destroy(t);
}
END_TEST

/* Threads */

static void assert_faultless(const fs_stress_result *r) {
  ck_assert_uint_eq(r->lost, 0);
  ck_assert_uint_eq(r->doubled, 0);
  ck_assert_uint_eq(r->untruthful, 0);
}

START_TEST(threads)
{
  fs_stress_result r;
  ck_assert_int_eq(fs_tracker_stress(150000, 2 + (uint32_t)_i, 5 + fs_turn(), _i == 1, &r),
                   FSCHED_OK);
  assert_faultless(&r);
  fs_assert_seen(r.callbacks, 100);
  fs_assert_seen(r.ends, 0);
}
END_TEST

START_TEST(duel)
{
  fs_stress_result r;
  ck_assert_int_eq(fs_tracker_duel(40000, 3 + fs_turn(), _i == 1, &r), FSCHED_OK);
  assert_faultless(&r);
}
END_TEST

/* Waiters meet at an axis on their way; each of them must be looked at again. */
START_TEST(batches)
{
  fs_stress_result r;
  ck_assert_int_eq(fs_tracker_batches(100000, 7 + fs_turn(), &r), FSCHED_OK);
  assert_faultless(&r);
  fs_assert_seen(r.cancels, 100);
}
END_TEST

/* A wait needs a fence only where it makes a new least epoch. */
START_TEST(fences_when_lower)
{
  fsched_tracker *t = make(2, false);
  fsched_tracked *zero = add(t, 0);
  fsched_tracked *one = add(t, 1);
  char log[64] = "";
  tracker_actor x[5];
  static const struct {
    fsched_axis axis;
    uint64_t epoch, fences;
  } waits[] = {{0, 10, 1}, {0, 12, 1}, {0, 10, 1}, {0, 9, 2}, {1, 50, 3}};
  for (uint32_t i = 0; i < 5; i++) {
    actor_wait(stage(&x[i], t, log, 'x', waits[i].axis), waits[i].epoch);
    ck_assert_uint_eq(t->fences, waits[i].fences);
  }
  ck_assert_uint_eq(fsched_tracker_advance(zero, 12), 4);
  ck_assert_uint_eq(t->fences, 3);
  ck_assert_uint_eq(fsched_tracker_fail(one, 7), 1);
  ck_assert_uint_eq(t->fences, 4);
  fsched_tracker_destroy(t);
}
END_TEST

/* Acts as a writer whose store becomes visible just at the fence, and which read `wanted` before
 * it. */
static bool fence_with_a_store(fsched_tracker *t) {
  atomic_store(&fsched_tracker_find(t, t->fences)->epoch, 5);
  return true;
}

START_TEST(second_look)
{
  fsched_tracker *t = make(3, false);
  for (uint32_t i = 1; i <= 3; i++) {
    (void)add(t, i);
  }
  t->fence = fence_with_a_store;
  char log[64] = "";
  tracker_actor x;
  stage(&x, t, log, 'x', 1);
  actor_wait(&x, 5); /* the first fence is for axis 1 */
  ck_assert_str_eq(log, "x");
  /* It stands at axis 2, and moves from there to axis 3, with a fence for each. */
  stage(&x, t, log, 'y', 2);
  x.w.callback = act;
  x.w.user = &x;
  x.entry[1] = (fsched_frontier_entry){3, 5};
  x.entry[0].epoch = 5;
  fsched_frontier f = {.entry = x.entry, .n = 2, .capacity = 2};
  int pending = 1;
  ck_assert_int_eq(fsched_tracker_wait(t, &f, &x.w, &pending), FSCHED_OK);
  ck_assert_int_eq(pending, 0);
  ck_assert_str_eq(log, "xy");
  ck_assert_uint_eq(t->fences, 3);
  fsched_tracker_destroy(t);
}
END_TEST

/* The store to axis 2 becomes visible at the fence of the first of three that move on there; all
 * three have to find it. */
START_TEST(second_look_of_a_batch)
{
  fsched_tracker *t = make(2, false);
  fsched_tracked *one = add(t, 1);
  (void)add(t, 2);
  char log[64] = "";
  tracker_actor x[3];
  for (uint32_t i = 0; i < 3; i++) {
    stage(&x[i], t, log, (char)('a' + i), 1);
    x[i].w.callback = act;
    x[i].w.user = &x[i];
    x[i].entry[0].epoch = 1;
    x[i].entry[1] = (fsched_frontier_entry){2, 5 - (i == 2)};
    fsched_frontier f = {.entry = x[i].entry, .n = 2, .capacity = 2};
    ck_assert_int_eq(fsched_tracker_wait(t, &f, &x[i].w, NULL), FSCHED_OK);
  }
  ck_assert_uint_eq(t->fences, 1);
  t->fence = fence_with_a_store;
  ck_assert_uint_eq(fsched_tracker_advance(one, 1), 3);
  ck_assert_str_eq(log, "abc");
  ck_assert_uint_eq(t->fences, 2);
  fsched_tracker_destroy(t);
}
END_TEST

static bool refused(fsched_tracker *t) {
  (void)t;
  return false;
}

/* Where the kernel refuses fences after all, a waiter that could sleep for ever is called. */
START_TEST(no_fence_to_be_had)
{
  fsched_tracker *t = make(1, false);
  fsched_tracked *a = add(t, 0);
  char log[64] = "";
  tracker_actor x, y, z;
  actor_wait(stage(&x, t, log, 'x', 0), 5);
  t->fence = refused;
  actor_wait(stage(&y, t, log, 'y', 0), 6); /* this needs no fence */
  ck_assert_str_eq(log, "");
  actor_wait(stage(&z, t, log, 'z', 0), 4);
  ck_assert_str_eq(log, "!");
  ck_assert_int_eq(z.w.inner.cause, FSCHED_CAUSE_SYSTEM);
  ck_assert_uint_eq(fsched_tracker_advance(a, 5), 1);
  ck_assert_str_eq(log, "!x");
  fsched_tracker_destroy(t);
}
END_TEST

FS_SUITE(tracker, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 30);
  FS_TESTS(t, random_against_model, callbacks_free_their_waiters, refusals, destroy_cancels,
           no_memory, many_axes, batches, fences_when_lower, second_look, second_look_of_a_batch,
           no_fence_to_be_had);
  FS_LOOPS(t, 0, 2, callbacks_call_the_tracker, failures_win, duel);
  FS_LOOPS(t, 0, 3, threads);
}
