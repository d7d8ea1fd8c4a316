/* SPDX-License-Identifier: Apache-2.0 */
/* Random operations on one semaphore against a plain model: lists searched from end to end. */

#include "fsched/semaphore.h"
#include "kit/gen.h"
#include "kit/suite.h"

enum { SEEDS = 200, STEPS = 150, WAITERS = 24, HISTORY = 5, FIRST = 3 };

typedef struct semaphore_model_waiter {
  fsched_timepoint t;
  struct semaphore_model_model *m;
  uint64_t value;
  uint32_t sequence; /* 0: idle */
  fsched_frontier_entry entry[2];
  fsched_frontier known;
} semaphore_model_waiter;

typedef struct semaphore_model_model {
  fsched_semaphore *s;
  struct {
    uint64_t value, epoch; /* 0: no frontier */
    bool outside;
  } signal[STEPS];
  uint32_t n;
  uint64_t value, end, mark, epoch;
  fsched_cause cause;
  uint32_t sequence;
  semaphore_model_waiter w[WAITERS];
  struct {
    semaphore_model_waiter *w;
    fsched_cause cause;
  } called[WAITERS];
  uint32_t n_called;
} semaphore_model_model;

static void called(fsched_timepoint *t, fsched_cause cause) {
  semaphore_model_waiter *w = t->user;
  w->m->called[w->m->n_called].w = w;
  w->m->called[w->m->n_called++].cause = cause;
}

/* The frontier that a wait for the value learns. */
static void check_learnt(const semaphore_model_model *m, uint64_t value, const fsched_frontier *f) {
  uint32_t i = 0;
  while (i < m->n && m->signal[i].value < value) {
    i++;
  }
  bool brought = value > FIRST;
  bool forgotten = brought && m->n - i > HISTORY;
  uint64_t epoch = brought && !forgotten ? m->signal[i].epoch : 0;
  ck_assert_int_eq(f->tainted, forgotten || (brought && m->signal[i].outside));
  ck_assert_uint_eq(f->n, epoch != 0);
  ck_assert_uint_eq(epoch, f->n == 0 ? 0 : f->entry[0].epoch);
}

static bool due(const semaphore_model_model *m, const semaphore_model_waiter *w,
                fsched_cause *cause) {
  bool reached = w->value <= (m->cause == FSCHED_CAUSE_NONE ? m->value : m->end);
  *cause = reached ? FSCHED_CAUSE_NONE : m->cause;
  return reached || m->cause != FSCHED_CAUSE_NONE;
}

/* Checks who was called by the last operation, in order. */
static void check_called(semaphore_model_model *m) {
  uint32_t n = 0;
  for (;;) {
    semaphore_model_waiter *next = NULL;
    fsched_cause cause = FSCHED_CAUSE_NONE;
    for (uint32_t i = 0; i < WAITERS; i++) {
      semaphore_model_waiter *w = &m->w[i];
      fsched_cause c;
      if (w->sequence != 0 && (next == NULL || w->sequence < next->sequence) && due(m, w, &c)) {
        next = w;
        cause = c;
      }
    }
    if (next == NULL) {
      break;
    }
    ck_assert_uint_lt(n, m->n_called);
    ck_assert_ptr_eq(m->called[n].w, next);
    ck_assert_int_eq(m->called[n++].cause, cause);
    if (cause == FSCHED_CAUSE_NONE) {
      check_learnt(m, next->value, &next->known);
    }
    next->sequence = 0;
  }
  ck_assert_uint_eq(n, m->n_called);
  m->n_called = 0;
}

static void raise_model(semaphore_model_model *m, uint64_t value, uint64_t epoch, bool outside) {
  if (value > m->value) {
    m->signal[m->n].value = m->value = value;
    m->signal[m->n].epoch = epoch;
    m->signal[m->n++].outside = outside;
    return;
  }
  for (uint32_t i = 0; i < m->n && !outside; i++) { /* for the present value or an earlier one */
    if (m->signal[i].value == value && m->n - i <= HISTORY) {
      m->signal[i].epoch = epoch != 0 ? epoch : m->signal[i].epoch;
    }
  }
}

static void raise_one(semaphore_model_model *m, fs_rng *r) {
  uint64_t value = m->value + 3 - fs_rng_below(r, 6);
  fsched_frontier_entry e = {1, ++m->epoch};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  bool bare = fs_rng_one_in(r, 4);
  const fsched_frontier *known = bare ? NULL : &f;
  fsched_status wanted = value > m->value ? FSCHED_OK : FSCHED_USAGE;
  uint32_t kind = fs_rng_below(r, 4);
  if (kind == 0) {
    raise_model(m, value, 0, true);
    fsched_semaphore_advance_external(m->s, value);
  } else if (kind == 1) {
    raise_model(m, value, bare ? 0 : e.epoch, false);
    m->mark = value > m->mark ? value : m->mark;
    ck_assert_int_eq(fsched_semaphore_publish(m->s, value, known), FSCHED_OK);
  } else {
    if (wanted == FSCHED_OK) {
      raise_model(m, value, bare ? 0 : e.epoch, false);
      m->mark = kind == 2 ? value : m->mark;
    }
    ck_assert_int_eq(kind == 2 ? fsched_semaphore_signal_untainted(m->s, value, known)
                               : fsched_semaphore_signal(m->s, value, known),
                     wanted);
  }
}

static void wait_one(semaphore_model_model *m, fs_rng *r) {
  semaphore_model_waiter *w = &m->w[fs_rng_below(r, WAITERS)];
  if (w->sequence != 0) {
    ck_assert_int_eq(fsched_semaphore_cancel(m->s, &w->t), 1);
    w->sequence = 0;
    return;
  }
  ck_assert_int_eq(fsched_semaphore_cancel(m->s, &w->t), 0);
  w->m = m;
  w->known = (fsched_frontier){.entry = w->entry, .capacity = 2};
  w->t.callback = called;
  w->t.user = w;
  w->t.known = &w->known;
  w->value = m->value + 6 - fs_rng_below(r, 9);
  w->sequence = ++m->sequence;
  ck_assert_int_eq(fsched_semaphore_await(m->s, w->value, &w->t, NULL), FSCHED_OK);
}

static void check_reading(const semaphore_model_model *m, fs_rng *r) {
  uint64_t value = m->value + 2 - fs_rng_below(r, 5);
  uint64_t reached = m->cause == FSCHED_CAUSE_NONE ? m->value : m->end;
  ck_assert_uint_eq(fsched_semaphore_value(m->s), m->value);
  ck_assert_uint_eq(fsched_semaphore_untainted(m->s), m->mark);
  ck_assert_int_eq(fsched_semaphore_cause(m->s), m->cause);
  ck_assert_int_eq(fsched_semaphore_reached(m->s, value), value <= reached);
  ck_assert_int_eq(fsched_semaphore_tainted(m->s, value), value > m->mark);
  fsched_frontier_entry e[2];
  fsched_frontier f = {.entry = e, .capacity = 2};
  fsched_status status = fsched_semaphore_learn(m->s, value, &f);
  ck_assert_int_eq(status, value <= reached ? FSCHED_OK : FSCHED_INFEASIBLE);
  if (status == FSCHED_OK) {
    check_learnt(m, value, &f);
  }
}

static void run(uint64_t seed, fsched_scope scope) {
  static semaphore_model_model m;
  fs_rng r = {seed};
  m = (semaphore_model_model){.value = FIRST, .mark = FIRST};
  fsched_semaphore_options o = {
      .size = sizeof o, .initial = FIRST, .history_limit = HISTORY, .scope = scope};
  ck_assert_int_eq(fsched_semaphore_create(&o, &m.s), FSCHED_OK);
  for (uint32_t i = 0; i < STEPS; i++) {
    uint32_t what = fs_rng_below(&r, 100);
    if (what < 45) {
      wait_one(&m, &r);
    } else if (what < 98) {
      raise_one(&m, &r);
    } else if (what == 98) {
      uint64_t to = m.value - fs_rng_below(&r, 3);
      m.mark = to < m.mark ? to : m.mark;
      ck_assert_uint_eq(fsched_semaphore_taint_above(m.s, to), m.mark);
    } else if (m.cause == FSCHED_CAUSE_NONE) {
      m.cause = 5;
      m.end = m.value;
      ck_assert_int_eq(fsched_semaphore_fail(m.s, 5), 1);
    }
    check_called(&m);
    check_reading(&m, &r);
  }
  fsched_semaphore_release(m.s);
  if (m.cause == FSCHED_CAUSE_NONE) {
    m.cause = FSCHED_CAUSE_CANCELLED;
    m.end = m.value;
  }
  check_called(&m);
}

START_TEST(against_the_model)
{
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    run(seed, seed % 2 == 0 ? FSCHED_SCOPE_PROCESS : FSCHED_SCOPE_QUEUE);
  }
}
END_TEST

FS_SUITE(semaphore_model, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, against_the_model);
}
