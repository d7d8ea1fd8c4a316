/* SPDX-License-Identifier: Apache-2.0 */
/* The frontier tracker with axes that come and go, and with chains of callbacks. */
#include <pthread.h>
#include <stdlib.h>

#include "frontier/tracker/private.h"
#include "fsched/tracker.h"
#include "kit/gen.h"
#include "kit/golden.h"
#include "kit/suite.h"

static fsched_tracker *make(uint32_t axes) {
  fsched_tracker_options o = {.size = sizeof o, .max_axes = axes};
  fsched_tracker *t;
  ck_assert_int_eq(fsched_tracker_create(&o, &t), FSCHED_OK);
  return t;
}

static fsched_tracked *add(fsched_tracker *t, fsched_axis axis) {
  fsched_tracked *a = NULL;
  ck_assert_int_eq(fsched_tracker_register(t, axis, &a), FSCHED_OK);
  return a;
}

static void count(fsched_waiter *w, fsched_cause cause) {
  uint32_t *counts = w->user; /* counts of waiters that were called with success and without */
  counts[cause != FSCHED_CAUSE_NONE]++;
}

static fsched_status wait_for(fsched_tracker *t, fsched_waiter *w, fsched_frontier_entry *e,
                              uint32_t n) {
  fsched_frontier f = {.entry = e, .n = n, .capacity = n};
  return fsched_tracker_wait(t, &f, w, NULL);
}

/* Giving axes back */

/* One axis stays, and many live for a short time; these cost no memory. */
START_TEST(room_is_given_back)
{
  enum { ROUNDS = 20000 };
  fs_budget budget = {.left = 100};
  fsched_tracker_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget, .max_axes = 2};
  fsched_tracker *t;
  ck_assert_int_eq(fsched_tracker_create(&o, &t), FSCHED_OK);
  long left = budget.left;
  fsched_tracked *stays = add(t, 7);
  uint32_t counts[2] = {0, 0};
  for (uint64_t i = 1; i <= ROUNDS; i++) {
    fsched_axis axis = i << 40 | i;
    fsched_tracked *a = add(t, axis);
    fsched_waiter w = {.callback = count, .user = counts};
    fsched_frontier_entry e[2] = {{7, i}, {axis, 3}};
    ck_assert_int_eq(wait_for(t, &w, e, 2), FSCHED_OK);
    (void)fsched_tracker_advance(a, 3);
    ck_assert_uint_eq(fsched_tracker_retire(a, 0), 0);
    ck_assert_int_eq(fsched_tracker_forget(a), FSCHED_OK);
    ck_assert_ptr_null(fsched_tracker_find(t, axis));
    /* The waiter stands at the axis that stays; the other one has been reached. */
    ck_assert_uint_eq(fsched_tracker_advance(stays, i), 1);
    ck_assert_ptr_eq(fsched_tracker_find(t, 7), stays);
  }
  ck_assert_uint_eq(counts[0], ROUNDS);
  ck_assert_uint_eq(t->n_axes, 2);
  ck_assert_int_eq(budget.left, left);
  fsched_tracker_destroy(t);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

START_TEST(forgotten_is_as_never_registered)
{
  fsched_tracker *t = make(1);
  fsched_tracked *a = add(t, 5);
  fsched_tracked *b;
  uint32_t counts[2] = {0, 0};
  fsched_waiter w = {.callback = count, .user = counts};
  fsched_frontier_entry e = {5, 9};
  ck_assert_int_eq(fsched_tracker_forget(a), FSCHED_USAGE); /* it is alive */
  ck_assert_int_eq(wait_for(t, &w, &e, 1), FSCHED_OK);
  (void)fsched_tracker_advance(a, 4);
  ck_assert_uint_eq(fsched_tracker_fail(a, 3), 1);
  ck_assert_int_eq(fsched_tracker_register(t, 6, &b), FSCHED_INFEASIBLE);
  ck_assert_int_eq(wait_for(t, &w, &e, 1), FSCHED_OK); /* still known, as failed */
  ck_assert_uint_eq(counts[1], 2);
  ck_assert_int_eq(fsched_tracker_forget(a), FSCHED_OK);
  ck_assert_int_eq(wait_for(t, &w, &e, 1), FSCHED_BAD_INPUT);
  b = add(t, 6);
  /* Nothing is left of the other axis. */
  e = (fsched_frontier_entry){6, 1};
  ck_assert(!fsched_tracker_reached(b, 1));
  ck_assert_int_eq(wait_for(t, &w, &e, 1), FSCHED_OK);
  ck_assert_uint_eq(fsched_tracker_advance(b, 1), 1);
  ck_assert_uint_eq(counts[0], 1);
  fsched_tracker_destroy(t);
}
END_TEST

/* Axes come and go at random, many with the same home in the table. */
START_TEST(table_after_many_moves)
{
  enum { AXES = 48, NAMES = 256 };
  fsched_tracker *t = make(AXES);
  fsched_tracked *known[NAMES] = {NULL};
  uint32_t n = 0;
  fs_rng r = {1};
  for (uint32_t step = 0; step < 20000; step++) {
    uint32_t name = fs_rng_below(&r, NAMES);
    fsched_axis axis = name / 8 + ((uint64_t)(name % 8) << 60); /* not in the hash' low bits */
    if (known[name] != NULL) {
      (void)fsched_tracker_retire(known[name], 0);
      ck_assert_int_eq(fsched_tracker_forget(known[name]), FSCHED_OK);
      known[name] = NULL;
      n--;
    } else if (n < AXES) {
      known[name] = add(t, axis);
      n++;
    }
    for (uint32_t i = 0; i < NAMES; i++) {
      if (fsched_tracker_find(t, i / 8 + ((uint64_t)(i % 8) << 60)) != known[i]) {
        ck_abort_msg("step %u: axis %u", step, i);
      }
    }
  }
  ck_assert_uint_eq(t->n_axes, AXES);
  fsched_tracker_destroy(t);
}
END_TEST

typedef struct churn {
  fsched_tracker *t;
  fsched_axis axis;
  fsched_tracked *stays;
  _Atomic uint32_t stop, missed;
} churn;

/* A registered axis is found, whatever moves meanwhile. */
static void *look_for_it(void *user) {
  churn *c = user;
  while (atomic_load(&c->stop) == 0) {
    atomic_fetch_add(&c->missed, fsched_tracker_find(c->t, c->axis) != c->stays);
  }
  return NULL;
}

/* Returns the i-th of the axes that have one home in the table. */
static fsched_axis neighbour(uint64_t i) {
  uint64_t inverse = 1; /* of the hash's factor: each step doubles the number of right bits */
  for (uint32_t bits = 1; bits < 64; bits *= 2) {
    inverse *= 2 - 0x9e3779b97f4a7c15u * inverse;
  }
  return inverse * i;
}

START_TEST(found_while_others_go)
{
  enum { AXES = 64, ROUNDS = 40000 };
  churn c = {.t = make(AXES), .axis = neighbour(AXES)};
  fs_tracker_use_fences(c.t); /* this makes ending an axis quicker */
  fsched_tracked *other[AXES - 1];
  for (uint32_t i = 0; i < AXES - 1; i++) {
    other[i] = add(c.t, neighbour(i));
  }
  c.stays = add(c.t, c.axis);
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, look_for_it, &c), 0);
  for (uint64_t i = 1; i <= ROUNDS; i++) {
    uint32_t which = i % (AXES - 1); /* everything behind it moves */
    (void)fsched_tracker_retire(other[which], 0);
    ck_assert_int_eq(fsched_tracker_forget(other[which]), FSCHED_OK);
    other[which] = add(c.t, neighbour(AXES + i));
  }
  atomic_store(&c.stop, 1);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_uint_eq(atomic_load(&c.missed), 0);
  fsched_tracker_destroy(c.t);
}
END_TEST

/* Chains */

/* A failure looks at all that wait, so that chain is shorter. */
enum { ADVANCES = 100000, FAILURES = 5000, STACK = 128 << 10 };

typedef struct chained {
  fsched_waiter w;
  fsched_frontier_entry entry;
  fsched_tracked *next; /* NULL at the end */
  uint64_t *calls;
} chained;

typedef struct chain {
  fsched_tracker *t;
  fsched_tracked *first;
  chained *at;
  uint64_t calls;
  uint32_t counted;
  bool fail;
} chain;

static void pass_on(fsched_waiter *w, fsched_cause cause) {
  chained *c = w->user;
  ++*c->calls;
  if (c->next != NULL) { /* only the outermost call counts */
    uint32_t n = cause == FSCHED_CAUSE_NONE ? fsched_tracker_advance(c->next, 1)
                                            : fsched_tracker_fail(c->next, cause);
    if (n != 0) {
      ck_abort_msg("called in a callback");
    }
  }
}

static void *run_chain(void *user) {
  chain *c = user;
  c->counted = c->fail ? fsched_tracker_fail(c->first, 9) : fsched_tracker_advance(c->first, 1);
  return NULL;
}

/* Each callback advances (or fails) the next axis, on a stack with no room for that many calls. */
START_TEST(chain_needs_no_stack)
{
  uint32_t n = _i == 1 ? FAILURES : ADVANCES;
  chain c = {.t = make(n), .fail = _i == 1};
  c.at = calloc(n, sizeof *c.at);
  ck_assert_ptr_nonnull(c.at);
  for (uint32_t i = 0; i < n; i++) {
    fsched_tracked *a = add(c.t, i);
    c.first = i == 0 ? a : c.first;
    if (i > 0) {
      c.at[i - 1].next = a;
    }
    c.at[i].w = (fsched_waiter){.callback = pass_on, .user = &c.at[i]};
    c.at[i].calls = &c.calls;
    c.at[i].entry = (fsched_frontier_entry){i, 1};
    ck_assert_int_eq(wait_for(c.t, &c.at[i].w, &c.at[i].entry, 1), FSCHED_OK);
  }
  pthread_attr_t small;
  pthread_t thread;
  ck_assert_int_eq(pthread_attr_init(&small), 0);
  ck_assert_int_eq(pthread_attr_setstacksize(&small, STACK), 0);
  ck_assert_int_eq(pthread_create(&thread, &small, run_chain, &c), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_uint_eq(c.calls, n);
  ck_assert_uint_eq(c.counted, n);
  (void)pthread_attr_destroy(&small);
  fsched_tracker_destroy(c.t);
  free(c.at);
}
END_TEST

/* What a callback has let go can be cancelled until its turn comes; another tracker's waiters are
 * called at once. */

typedef struct tracker_axes_actor {
  fsched_waiter w;
  fsched_tracked *to;
  fsched_tracker *tracker;
  fsched_waiter *victim;
  uint32_t called, cancelled;
  uint32_t *order;
} tracker_axes_actor;

static void act(fsched_waiter *w, fsched_cause cause) {
  tracker_axes_actor *x = w->user;
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  x->called = ++*x->order;
  if (x->to != NULL) {
    (void)fsched_tracker_advance(x->to, 1);
  }
  if (x->victim != NULL) {
    x->cancelled = (uint32_t)fsched_tracker_cancel(x->tracker, x->victim);
  }
}

START_TEST(passed_on)
{
  fsched_tracker *t[2] = {make(2), make(1)};
  fsched_tracked *a[3] = {add(t[0], 0), add(t[0], 1), add(t[1], 0)};
  uint32_t order = 0;
  tracker_axes_actor x[5];
  /* Waiter 0 lets 2 and 3 go, and cancels 3; waiter 1 lets 4 of the other tracker go. */
  static const uint32_t at[5] = {0, 0, 1, 1, 2};
  fsched_frontier_entry e[5];
  for (uint32_t i = 0; i < 5; i++) {
    fsched_tracker *of = t[at[i] / 2];
    x[i] =
        (tracker_axes_actor){.w = {.callback = act, .user = &x[i]}, .tracker = of, .order = &order};
    e[i] = (fsched_frontier_entry){at[i] % 2, 1};
    ck_assert_int_eq(wait_for(of, &x[i].w, &e[i], 1), FSCHED_OK);
  }
  x[0].to = a[1];
  x[0].victim = &x[3].w;
  x[1].to = a[2];
  ck_assert_uint_eq(fsched_tracker_advance(a[0], 1), 3);
  ck_assert_uint_eq(x[0].called, 1);
  ck_assert_uint_eq(x[1].called, 2);
  ck_assert_uint_eq(x[4].called, 3);
  ck_assert_uint_eq(x[2].called, 4);
  ck_assert_uint_eq(x[3].called, 0);
  ck_assert_uint_eq(x[0].cancelled, 1);
  fsched_tracker_destroy(t[0]);
  fsched_tracker_destroy(t[1]);
}
END_TEST

/* Waiters that are passed on come in the order of their registration, whatever order the heap
 * has. */
START_TEST(passed_on_in_order)
{
  enum { N = 9 };
  fsched_tracker *t = make(2);
  fsched_tracked *a[2] = {add(t, 0), add(t, 1)};
  uint32_t order = 0;
  tracker_axes_actor x[N];
  fsched_frontier_entry e[N];
  for (uint32_t i = 0; i < N; i++) {
    x[i] =
        (tracker_axes_actor){.w = {.callback = act, .user = &x[i]}, .tracker = t, .order = &order};
    e[i] = (fsched_frontier_entry){i > 0, 1};
    ck_assert_int_eq(wait_for(t, &x[i].w, &e[i], 1), FSCHED_OK);
  }
  x[0].to = a[1];
  ck_assert_uint_eq(fsched_tracker_advance(a[0], 1), N);
  for (uint32_t i = 0; i < N; i++) {
    ck_assert_uint_eq(x[i].called, i + 1);
  }
  fsched_tracker_destroy(t);
}
END_TEST

FS_SUITE(tracker_axes, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, room_is_given_back, forgotten_is_as_never_registered, table_after_many_moves,
           found_while_others_go, passed_on, passed_on_in_order);
  FS_LOOPS(t, 0, 2, chain_needs_no_stack);
}
