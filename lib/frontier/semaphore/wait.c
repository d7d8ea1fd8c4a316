/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores: waiters, and how they are released.
 *
 * Waiting timepoints are in a heap by value, so a signal looks only at those that it releases.
 * Under the lock these are chosen: they learn the frontier that came with the value, and move to a
 * heap by order of registration, the batch, which lies on the stack of the call.  Each is taken off
 * it under the lock and called without; until then cancel can take it off as well.
 *
 * A link is not a callback but a further step: the call that released it raises or fails its
 * target, whose chosen waiters form a batch in the link's own memory, queued behind the other
 * batches.  So one loop follows chains and trees of links of any size.  A thread asleep in
 * wait_many is neither of these: under the lock its futex word is changed and the thread is woken,
 * so it is in no batch, and none of its memory is touched once it has taken its timepoints back.
 *
 * wait_many decides by looking at all its points, not by which of them woke it, so that its answer
 * does not depend on which came first. */
#include "fsched/semaphore.h"

#include "base/clock.h"
#include "base/steps.h"
#include "frontier/semaphore/private.h"
#include "frontier/tracker/heap.h"

typedef fsched_timepoint point;

static point *point_of(fsched_waiter *w) {
  return (point *)(void *)((unsigned char *)w - offsetof(point, inner.node));
}

static fsched_link *link_of(point *t) {
  return (fsched_link *)(void *)((unsigned char *)t - offsetof(fsched_link, point));
}

/* Choosing */

static void choose(fsched_semaphore *s, fsched_waiter *w, fsched_cause cause, fs_batch *b) {
  assert(b->s == s && w->inner.state == FS_PENDING);
  point *t = point_of(w);
  uint64_t value = w->inner.epoch;
  if (cause == FSCHED_CAUSE_NONE && t->known != NULL) {
    fs_sem_learn(s, value, t->known);
    t->inner.learnt = 1;
  }
  if (t->inner.kind == FS_KIND_SLEEP) {
    fs_sleep *sleep = t->user;
    w->inner.state = FS_IDLE;
    atomic_fetch_add(&sleep->turn, 1);
    fs_futex_wake_all(&sleep->turn);
    return;
  }
  if (t->inner.kind == FS_KIND_LINK) {
    link_of(t)->trusted = value <= atomic_load(&s->untainted);
  }
  w->inner.state = FS_CHOSEN;
  w->inner.cause = cause;
  w->inner.epoch = w->inner.sequence;
  t->inner.batch = b;
  fs_waiters_add(&b->chosen, w);
}

void fs_sem_collect(fsched_semaphore *s, uint64_t value, fs_batch *b) {
  assert(b->s == s);
  while (s->waiters != NULL && s->waiters->inner.epoch <= value) {
    fsched_waiter *w = s->waiters;
    fs_waiters_remove(&s->waiters, w);
    choose(s, w, FSCHED_CAUSE_NONE, b);
  }
}

void fs_sem_break(fsched_semaphore *s, fsched_cause cause, fs_batch *b) {
  assert(b->s == s && cause != FSCHED_CAUSE_NONE);
  for (fsched_waiter *w; (w = s->waiters) != NULL;) {
    fs_waiters_remove(&s->waiters, w);
    choose(s, w, cause, b);
  }
}

void fs_sem_add(fsched_semaphore *s, uint64_t value, point *t, uint32_t kind) {
  assert(t->inner.node.inner.state == FS_IDLE && kind <= FS_KIND_LINK);
  fsched_waiter *w = &t->inner.node;
  w->inner.epoch = value;
  w->inner.sequence = s->sequence++;
  w->inner.state = FS_PENDING;
  t->inner.kind = kind;
  t->inner.learnt = 0;
  fs_waiters_add(&s->waiters, w);
}

/* Takes a timepoint out of the heap or the batch.  False: it is idle. */
static bool remove_point(fsched_semaphore *s, point *t) {
  fsched_waiter *w = &t->inner.node;
  if (w->inner.state == FS_IDLE) {
    return false;
  }
  fs_batch *b = t->inner.batch;
  fs_waiters_remove(w->inner.state == FS_PENDING ? &s->waiters : &b->chosen, w);
  w->inner.state = FS_IDLE;
  return true;
}

/* Delivering */

static void call(point *t, fsched_cause cause) {
  fs_steps here;
  fs_steps_enter(&here);
  t->callback(t, cause);
  fs_steps_leave(&here);
}

void fs_sem_begin(fs_batch *b, fsched_semaphore *s) {
  assert(s != NULL);
  *b = (fs_batch){.s = s};
}

/* Takes the next waiter, under the lock; *more: whether others are left. */
static fsched_waiter *take_waiter(fs_batch *b, bool *more) {
  fsched_waiter *w = b->chosen;
  if (w != NULL) {
    fs_waiters_remove(&b->chosen, w);
    w->inner.state = FS_IDLE;
  }
  *more = b->chosen != NULL;
  return w;
}

/* Calls the chosen of one batch; batches of links go behind `last`.  The lock is not held. */
static void call_batch(fs_batch *b, fs_batch **last) {
  for (bool more = true; more;) {
    fs_sem_lock(b->s);
    fsched_waiter *w = take_waiter(b, &more);
    fsched_cause cause = w == NULL ? FSCHED_CAUSE_NONE : w->inner.cause;
    fs_sem_unlock(b->s);
    if (w == NULL) {
      break; /* cancelled */
    }
    point *t = point_of(w);
    if (t->inner.kind == FS_KIND_LINK) {
      fsched_link *link = link_of(t);
      fs_link_relay(link, cause);
      (*last)->next = &link->batch;
      *last = &link->batch;
    } else {
      call(t, cause);
    }
  }
}

static void deliver(fs_batch *first) {
  fs_batch *last = first;
  for (fs_batch *b = first; b != NULL;) {
    call_batch(b, &last);
    fs_batch *next = b->next;
    if (b->link != NULL) {
      fs_link_drop(b->link);
    }
    b = next;
  }
}

void fs_sem_deliver_and_unlock(fs_batch *b) {
  assert(b->s != NULL);
  fsched_semaphore *s = b->s;
  if (b->chosen == NULL) {
    fs_sem_unlock(s);
    return;
  }
  fs_sem_hold(s); /* a callback may release it */
  fs_sem_unlock(s);
  deliver(b);
  fs_sem_drop(s);
}

/* Waiting */

/* Whether the callback is to be called at once: the value is reached or broken.  Called under the
 * lock, unless the timepoint wants no frontier. */
static bool decided(fsched_semaphore *s, uint64_t value, point *t, fsched_cause *cause) {
  fs_outcome outcome = fs_sem_outcome(s, value, cause);
  if (outcome == FS_REACHED) {
    *cause = FSCHED_CAUSE_NONE;
    if (t->known != NULL) {
      fs_sem_learn(s, value, t->known);
    }
  }
  return outcome != FS_OPEN;
}

fsched_status fsched_semaphore_await(fsched_semaphore *s, uint64_t value, point *t, int *pending) {
  if (t->callback == NULL || t->inner.node.inner.state != FS_IDLE || fs_sem_foreign(s)) {
    return FSCHED_USAGE;
  }
  fsched_cause cause;
  bool now = t->known == NULL && decided(s, value, t, &cause);
  fs_status status = FSCHED_OK;
  if (!now) {
    fs_batch b;
    fs_sem_begin(&b, s);
    fs_sem_lock(s);
    if (s->shared.page != NULL) {
      fs_sem_sync(s, &b);
    }
    now = decided(s, value, t, &cause);
    status = now ? FSCHED_OK : fs_sem_watch(s);
    if (!now && status == FSCHED_OK) {
      fs_sem_add(s, value, t, FS_KIND_CALL);
    }
    if (pending != NULL && status == FSCHED_OK) {
      *pending = !now;
    }
    fs_sem_deliver_and_unlock(&b);
  } else if (pending != NULL) {
    *pending = 0;
  }
  if (now) {
    call(t, cause);
  }
  return status;
}

int fsched_semaphore_cancel(fsched_semaphore *s, point *t) {
  if (fs_sem_foreign(s)) {
    return 0;
  }
  fs_sem_lock(s);
  bool removed = remove_point(s, t);
  fs_sem_unlock(s);
  return removed;
}

/* Several at once */

typedef struct many {
  fsched_wait_point *point;
  uint32_t n;
  fsched_wait_mode mode;
  fsched_wait_result *result;
  uint64_t timeout_ns, begin_ns;
  fs_sleep sleep;
} many;

/* Whether the wait is decided by the present state of its points. */
static bool look_at_points(const many *m) {
  fsched_wait_result r = {FSCHED_CAUSE_NONE, FSCHED_NONE};
  bool open = false;
  for (uint32_t i = 0; i < m->n; i++) {
    fsched_cause cause;
    fs_outcome outcome = fs_sem_outcome(m->point[i].semaphore, m->point[i].value, &cause);
    if (outcome == FS_REACHED && m->mode == FSCHED_WAIT_ANY) {
      *m->result = (fsched_wait_result){FSCHED_CAUSE_NONE, i};
      return true;
    }
    if (outcome == FS_BROKEN && r.cause == FSCHED_CAUSE_NONE) {
      r = (fsched_wait_result){cause, i};
    }
    open |= outcome == FS_OPEN;
  }
  if (r.cause == FSCHED_CAUSE_NONE && open) {
    return false;
  }
  *m->result = r;
  return true;
}

/* The time left; 0 when there is none. */
static uint64_t left(const many *m) {
  if (m->timeout_ns == FSCHED_FOREVER) {
    return FSCHED_FOREVER;
  }
  uint64_t passed = fs_now_ns() - m->begin_ns;
  return passed < m->timeout_ns ? m->timeout_ns - passed : 0;
}

/* The one system-wide semaphore to which all points belong; NULL when there is none. */
static fsched_semaphore *only_shared(const many *m) {
  fsched_semaphore *s = m->n == 0 ? NULL : m->point[0].semaphore;
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->point[i].semaphore != s || s->shared.page == NULL) {
      return NULL;
    }
  }
  return s;
}

static bool time_out(const many *m) {
  *m->result = (fsched_wait_result){FSCHED_CAUSE_TIMEOUT, FSCHED_NONE};
  return true;
}

/* Sleeps on the page: a change of it, in this process or another, wakes all sleepers. */
static void wait_on_page(many *m, fsched_semaphore *s) {
  for (bool done = false; !done;) {
    uint32_t turn = fs_shared_turn(&s->shared);
    fsched_semaphore_poll(s);
    done = look_at_points(m);
    uint64_t ns = done ? 0 : left(m);
    if (!done && ns == 0) {
      done = time_out(m);
    } else if (!done) {
      fs_shared_sleep(&s->shared, turn, ns);
    }
  }
}

/* Leaves a timepoint at each point that is open. */
static fs_status leave_points(many *m) {
  for (uint32_t i = 0; i < m->n; i++) {
    fsched_wait_point *p = &m->point[i];
    fsched_semaphore *s = p->semaphore;
    p->inner.user = &m->sleep;
    p->inner.known = p->known;
    fs_batch b;
    fs_sem_begin(&b, s);
    fs_sem_lock(s);
    if (s->shared.page != NULL) {
      fs_sem_sync(s, &b);
    }
    fsched_cause cause;
    bool open = fs_sem_outcome(s, p->value, &cause) == FS_OPEN;
    fs_status status = open ? fs_sem_watch(s) : FSCHED_OK;
    if (open && status == FSCHED_OK) {
      fs_sem_add(s, p->value, &p->inner, FS_KIND_SLEEP);
    }
    fs_sem_deliver_and_unlock(&b);
    FS_TRY(status);
  }
  return FSCHED_OK;
}

static fs_status wait_on_points(many *m) {
  fs_status status = leave_points(m);
  for (bool done = status != FSCHED_OK; !done;) {
    uint32_t turn = atomic_load(&m->sleep.turn);
    done = look_at_points(m);
    uint64_t ns = done ? 0 : left(m);
    if (!done && ns == 0) {
      done = time_out(m);
    } else if (!done) {
      fs_futex_wait(&m->sleep.turn, turn, ns);
    }
  }
  for (uint32_t i = 0; i < m->n; i++) {
    (void)fsched_semaphore_cancel(m->point[i].semaphore, &m->point[i].inner);
  }
  return status;
}

/* Learns the frontiers of the points that did not learn theirs when they were chosen. */
static void learn_points(const many *m) {
  bool any = m->mode == FSCHED_WAIT_ANY;
  for (uint32_t i = 0; i < m->n; i++) {
    fsched_wait_point *p = &m->point[i];
    if (p->known != NULL && !p->inner.inner.learnt && (!any || i == m->result->index)) {
      fs_sem_lock(p->semaphore);
      fs_sem_learn(p->semaphore, p->value, p->known);
      fs_sem_unlock(p->semaphore);
    }
  }
}

static fs_status check_points(const fsched_wait_point *points, uint32_t n, fsched_wait_mode mode) {
  if ((mode != FSCHED_WAIT_ANY && mode != FSCHED_WAIT_ALL) || (mode == FSCHED_WAIT_ANY && n == 0)) {
    return FSCHED_USAGE;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (points[i].semaphore == NULL || fs_sem_foreign(points[i].semaphore) ||
        points[i].inner.inner.node.inner.state != FS_IDLE) {
      return FSCHED_USAGE;
    }
  }
  return FSCHED_OK;
}

static fs_status wait_held(many *m) {
  fsched_semaphore *s = only_shared(m);
  if (m->timeout_ns != 0) {
    fs_steps_help();
  }
  if (s != NULL) {
    wait_on_page(m, s);
    return FSCHED_OK;
  }
  for (uint32_t i = 0; i < m->n; i++) {
    fsched_semaphore_poll(m->point[i].semaphore);
  }
  if (look_at_points(m) || (m->timeout_ns == 0 && time_out(m))) {
    return FSCHED_OK;
  }
  return wait_on_points(m);
}

fsched_status fsched_semaphore_wait_many(fsched_wait_point *points, uint32_t n,
                                         fsched_wait_mode mode, uint64_t timeout_ns,
                                         fsched_wait_result *result) {
  FS_TRY(check_points(points, n, mode));
  many m = {.point = points, .n = n, .mode = mode, .result = result, .timeout_ns = timeout_ns};
  bool timed = timeout_ns != FSCHED_FOREVER && timeout_ns != 0;
  m.begin_ns = timed ? fs_now_ns() : 0;
  for (uint32_t i = 0; i < n; i++) {
    points[i].inner.inner.learnt = 0;
    fs_sem_hold(points[i].semaphore);
  }
  fs_status status = wait_held(&m);
  if (status == FSCHED_OK && result->cause == FSCHED_CAUSE_NONE) {
    learn_points(&m);
  }
  for (uint32_t i = 0; i < n; i++) {
    fs_sem_drop(points[i].semaphore);
  }
  return status;
}
