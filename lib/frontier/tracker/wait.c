/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker's calls that register or release waiters.
 *
 * A waiter is in the heap of the axis of its entry `at`; all entries before are reached.  When that
 * axis reaches the entry it moves on to the next one not reached, or is chosen to be called.
 * Moving may lower another axis' `wanted`, so all waiters that moved to such an axis, including
 * those that came after it was lowered, are checked again after one heavy fence (tracker.c), until
 * none moves.
 *
 * The chosen ones are sorted into the order of registration and are in a list on the stack of the
 * call that chose them or, if a callback made that call, behind those on the stack of the call that
 * runs the callback.  Each is taken off it under the lock and called without; until then cancel can
 * take it off as well.  So callbacks that advance are a loop, not a recursion.  The end of an axis
 * walks all pending waiters: this is rare, and also finds waiters with earlier entries not yet
 * reached. */
#include "base/context.h"
#include "frontier/tracker/heap.h"
#include "frontier/tracker/private.h"
#include "fsched/tracker.h"

typedef fsched_waiter waiter;
typedef fsched_waiter_link link;

enum { IDLE, PENDING, CHOSEN };

/* Lists */

static waiter *waiter_of(link *l) {
  return (waiter *)(void *)((unsigned char *)l - offsetof(waiter, inner.link));
}

static void list_init(link *list) { list->next = list->previous = list; }

static void list_add(link *list, waiter *w) {
  link *l = &w->inner.link;
  l->next = list;
  l->previous = list->previous;
  list->previous->next = l;
  list->previous = l;
}

static void list_remove(waiter *w) {
  link *l = &w->inner.link;
  l->next->previous = l->previous;
  l->previous->next = l->next;
}

/* Takes the first waiter off; NULL when there is none. */
static waiter *list_take(link *list) {
  if (list->next == list) {
    return NULL;
  }
  waiter *w = waiter_of(list->next);
  list_remove(w);
  return w;
}

/* Merges the ascending list `from` into the ascending list `into`. */
static void list_merge(link *into, link *from) {
  link *at = into->next;
  while (from->next != from) {
    waiter *w = waiter_of(from->next);
    if (at != into && waiter_of(at)->inner.sequence < w->inner.sequence) {
      at = at->next;
    } else {
      list_remove(w);
      list_add(at, w);
    }
  }
}

/* Sorts into the order of registration: runs[i] holds 2^i waiters or none.  O(n log n). */
static void list_sort(link *list) {
  enum { RUNS = 40 };
  link runs[RUNS];
  uint32_t used = 0;
  link run;
  for (waiter *w; (w = list_take(list)) != NULL;) {
    list_init(&run);
    list_add(&run, w);
    uint32_t i = 0;
    for (; i < used && runs[i].next != &runs[i]; i++) {
      list_merge(&run, &runs[i]);
    }
    if (i == used) {
      assert(used < RUNS);
      list_init(&runs[used++]);
    }
    list_merge(&runs[i], &run);
  }
  for (uint32_t i = 0; i < used; i++) {
    list_merge(list, &runs[i]);
  }
}

/* Axes; all functions below are called under the lock unless their comment says otherwise. */

static bool alive(const fsched_tracked *a) { return atomic_load(&a->life) == FS_ALIVE; }

static bool epoch_reached(const fsched_tracked *a, uint64_t epoch) {
  return epoch <= (alive(a) ? atomic_load(&a->epoch) : a->end);
}

/* Publishes the least epoch that the heap wants.  An ended axis keeps its 0. */
static void raise_wanted(fsched_tracked *a) {
  if (alive(a)) {
    atomic_store(&a->wanted, a->waiters == NULL ? UINT64_MAX : a->waiters->inner.epoch);
  }
}

static bool fence(fsched_tracker *t) {
  t->fences++;
  return t->fence(t);
}

static void leave_axis(waiter *w) {
  fs_waiters_remove(&w->inner.on->waiters, w);
  raise_wanted(w->inner.on);
}

static void choose(link *chosen, waiter *w, fsched_cause cause) {
  assert(w->inner.state != CHOSEN);
  w->inner.cause = cause;
  w->inner.state = CHOSEN;
  list_add(chosen, w);
}

/* Moves a waiter from the entry `at` to the first one not reached, into that axis' heap, or chooses
 * it.  Returns whether the axis must be fenced and looked at again.  An axis that has been given
 * back had reached what the waiter wants, or the waiter would have been chosen when it ended. */
static bool move_on(fsched_tracker *t, waiter *w, link *chosen) {
  assert(w->inner.at <= w->inner.n);
  for (; w->inner.at < w->inner.n; w->inner.at++) {
    fsched_frontier_entry e = w->inner.entry[w->inner.at];
    fsched_tracked *a = fsched_tracker_find(t, e.axis);
    if (a == NULL || epoch_reached(a, e.epoch)) {
      continue;
    }
    if (!alive(a)) {
      choose(chosen, w, a->cause);
      return false;
    }
    w->inner.on = a;
    w->inner.epoch = e.epoch;
    w->inner.state = PENDING;
    fs_waiters_add(&a->waiters, w);
    if (e.epoch < atomic_load(&a->wanted)) {
      atomic_store(&a->wanted, e.epoch);
      a->lowered = true;
    }
    if (!a->lowered) {
      list_add(&t->pending, w);
    }
    return a->lowered;
  }
  choose(chosen, w, FSCHED_CAUSE_NONE);
  return false;
}

/* Takes waiters that are in no axis' heap to the next axis that each waits for, until every one is
 * pending or chosen. */
static void settle_waiters(fsched_tracker *t, link *moving, link *chosen) {
  while (moving->next != moving) {
    link parked;
    list_init(&parked);
    for (waiter *w; (w = list_take(moving)) != NULL;) {
      if (move_on(t, w, chosen)) {
        list_add(&parked, w);
      }
    }
    bool fenced = parked.next == &parked || fence(t);
    for (waiter *w; (w = list_take(&parked)) != NULL;) {
      w->inner.on->lowered = false;
      if (!fenced) { /* the waiter could sleep for ever */
        leave_axis(w);
        choose(chosen, w, FSCHED_CAUSE_SYSTEM);
      } else if (epoch_reached(w->inner.on, w->inner.epoch)) {
        leave_axis(w);
        list_add(moving, w);
      } else {
        list_add(&t->pending, w);
      }
    }
  }
}

/* Takes off the axis the waiters that an epoch lets move on. */
static void collect_waiters(fsched_tracked *a, uint64_t epoch, link *moving) {
  while (a->waiters != NULL && a->waiters->inner.epoch <= epoch) {
    waiter *w = a->waiters;
    fs_waiters_remove(&a->waiters, w);
    list_remove(w);
    list_add(moving, w);
  }
  raise_wanted(a);
}

/* A call that is calling callbacks, on its stack. */
typedef struct delivery {
  fsched_tracker *tracker;
  link chosen; /* those still to be called, in order */
  struct delivery *outer;
} delivery;

/* The calls that this thread is inside of, innermost first. */
static _Thread_local delivery *innermost;

static delivery *find_delivery(const fsched_tracker *t) {
  delivery *d = innermost;
  while (d != NULL && d->tracker != t) {
    d = d->outer;
  }
  return d;
}

static void list_append(link *list, link *more) {
  for (waiter *w; (w = list_take(more)) != NULL;) {
    list_add(list, w);
  }
}

/* Calls the chosen in order and returns their number.  Entered with the lock, left without it. */
static uint32_t call_and_unlock(fsched_tracker *t, link *chosen) {
  uint32_t n = 0;
  delivery d = {.tracker = t, .outer = innermost};
  list_init(&d.chosen);
  list_sort(chosen);
  list_append(&d.chosen, chosen);
  innermost = &d;
  for (waiter *w; (w = list_take(&d.chosen)) != NULL; n++) {
    fsched_cause cause = w->inner.cause;
    w->inner.state = IDLE;
    (void)pthread_mutex_unlock(&t->lock);
    w->callback(w, cause);
    (void)pthread_mutex_lock(&t->lock);
  }
  innermost = d.outer;
  (void)pthread_mutex_unlock(&t->lock);
  return n;
}

/* The same, but a call from a callback leaves that to the call that runs the callback. */
static uint32_t pass_on_and_unlock(fsched_tracker *t, link *chosen) {
  delivery *d = find_delivery(t);
  if (d == NULL) {
    return call_and_unlock(t, chosen);
  }
  list_sort(chosen);
  list_append(&d->chosen, chosen);
  (void)pthread_mutex_unlock(&t->lock);
  return 0;
}

uint32_t fs_tracker_deliver(fsched_tracked *a) {
  assert(a->tracker != NULL);
  fsched_tracker *t = a->tracker;
  link moving, chosen;
  list_init(&moving);
  list_init(&chosen);
  (void)pthread_mutex_lock(&t->lock);
  collect_waiters(a, alive(a) ? atomic_load(&a->epoch) : a->end, &moving);
  settle_waiters(t, &moving, &chosen);
  return pass_on_and_unlock(t, &chosen);
}

/* Ending */

/* Does the waiter want more of the axis than it has reached? */
static bool wants_more(const waiter *w, const fsched_tracked *a) {
  fsched_axis axis = atomic_load(&a->axis);
  uint32_t low = w->inner.at;
  uint32_t high = w->inner.n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (w->inner.entry[middle].axis < axis) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < w->inner.n && w->inner.entry[low].axis == axis && w->inner.entry[low].epoch > a->end;
}

static void end_axis(fsched_tracked *a, fs_life life, fsched_cause cause, link *chosen) {
  assert(life == FS_FAILED || life == FS_RETIRED);
  fsched_tracker *t = a->tracker;
  atomic_store(&a->life, FS_ENDING);
  atomic_store(&a->wanted, 0);
  (void)!fence(t); /* if it fails, an advance at this moment may count as a later one */
  a->end = atomic_load(&a->epoch);
  a->cause = cause;
  atomic_store(&a->life, (uint32_t)life);
  for (link *l = t->pending.next; l != &t->pending;) {
    waiter *w = waiter_of(l);
    l = l->next;
    if (wants_more(w, a)) {
      leave_axis(w);
      list_remove(w);
      choose(chosen, w, cause);
    }
  }
  link moving;
  list_init(&moving);
  collect_waiters(a, a->end, &moving);
  settle_waiters(t, &moving, chosen);
}

static uint32_t end(fsched_tracked *a, fs_life life, fsched_cause cause) {
  link chosen;
  list_init(&chosen);
  (void)pthread_mutex_lock(&a->tracker->lock);
  if (alive(a)) {
    end_axis(a, life, cause, &chosen);
  }
  return pass_on_and_unlock(a->tracker, &chosen);
}

uint32_t fsched_tracker_fail(fsched_tracked *a, fsched_cause cause) {
  return end(a, FS_FAILED, cause == FSCHED_CAUSE_NONE ? FSCHED_CAUSE_SYSTEM : cause);
}

uint32_t fsched_tracker_retire(fsched_tracked *a, fsched_cause cause) {
  return end(a, FS_RETIRED, cause == FSCHED_CAUSE_NONE ? FSCHED_CAUSE_RETIRED : cause);
}

void fs_tracker_close(fsched_tracker *t) {
  assert(!t->closing);
  link chosen;
  list_init(&chosen);
  (void)pthread_mutex_lock(&t->lock);
  t->closing = true;
  for (waiter *w; (w = list_take(&t->pending)) != NULL;) {
    leave_axis(w);
    choose(&chosen, w, FSCHED_CAUSE_CANCELLED);
  }
  (void)call_and_unlock(t, &chosen);
}

/* Waiting */

/* The cause for which the frontier cannot be reached any more, or FSCHED_CAUSE_NONE. */
static fsched_cause find_cause(const fsched_tracker *t, const fsched_frontier *f) {
  fsched_cause cause = FSCHED_CAUSE_NONE;
  for (uint32_t i = 0; i < f->n; i++) {
    const fsched_tracked *a = fsched_tracker_find(t, f->entry[i].axis);
    if (alive(a) || f->entry[i].epoch <= a->end) {
      continue;
    }
    if (atomic_load(&a->life) == FS_FAILED) {
      return a->cause;
    }
    cause = cause == FSCHED_CAUSE_NONE ? a->cause : cause;
  }
  return cause;
}

static fs_status check_wait(const fsched_tracker *t, const fsched_frontier *f, const waiter *w) {
  if (t->closing || w->callback == NULL || w->inner.state != IDLE) {
    return FSCHED_USAGE;
  }
  for (uint32_t i = 0; i < f->n; i++) {
    if (fsched_tracker_find(t, f->entry[i].axis) == NULL) {
      return FSCHED_BAD_INPUT;
    }
  }
  return FSCHED_OK;
}

static void begin(fsched_tracker *t, const fsched_frontier *f, waiter *w, link *chosen) {
  w->inner.tracker = t;
  w->inner.entry = f->entry;
  w->inner.n = f->n;
  w->inner.at = 0;
  w->inner.sequence = t->sequence++;
  fsched_cause cause = find_cause(t, f);
  if (cause != FSCHED_CAUSE_NONE) {
    choose(chosen, w, cause);
    return;
  }
  link moving;
  list_init(&moving);
  list_add(&moving, w);
  settle_waiters(t, &moving, chosen);
}

fsched_status fsched_tracker_wait(fsched_tracker *t, const fsched_frontier *f, fsched_waiter *w,
                                  int *pending) {
  if (f->tainted || fsched_frontier_validate(f) != FSCHED_OK) {
    return FSCHED_BAD_INPUT;
  }
  (void)pthread_mutex_lock(&t->lock);
  fs_status status = check_wait(t, f, w);
  if (status != FSCHED_OK) {
    (void)pthread_mutex_unlock(&t->lock);
    return status;
  }
  link chosen;
  list_init(&chosen);
  begin(t, f, w, &chosen);
  if (pending != NULL) {
    *pending = chosen.next == &chosen;
  }
  (void)call_and_unlock(t, &chosen);
  return FSCHED_OK;
}

int fsched_tracker_cancel(fsched_tracker *t, fsched_waiter *w) {
  (void)pthread_mutex_lock(&t->lock);
  int state = (int)w->inner.state;
  if (state != IDLE) {
    assert(w->inner.tracker == t);
    if (state == PENDING) {
      leave_axis(w);
    }
    list_remove(w);
    w->inner.state = IDLE;
  }
  (void)pthread_mutex_unlock(&t->lock);
  return state != IDLE;
}
