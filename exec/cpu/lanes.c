/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: a thread that has several lanes.
 *
 *   at the begin all lanes are ready
 *   while one has steps left:  go on with the first that is ready, until it is parked or
 *                              at its end; if none is ready, sleep until the bell rings
 *
 * A lane is in one place at a time: it runs, is ready, is parked on a timeline, waits for the end
 * of its pace, or lies in the inbox, where only the thread that has taken it off a timeline puts
 * it. */
#include "exec/cpu/cpu.h"

#include "base/clock.h"

static fs_cpu_lane *lane_of(fs_parked *waiter) {
  return (fs_cpu_lane *)(void *)((char *)waiter - offsetof(fs_cpu_lane, waiter));
}

static void ring(fs_worker *w) {
  if (atomic_load(&w->asleep) != 0) {
    atomic_fetch_add(&w->bell, 1);
    fs_futex_wake_all(&w->bell);
  }
}

/* Wakes all threads and lanes, whatever they wait for; paced lanes wait for the bell alone. */
static void wake_all(fs_instance *x) {
  for (uint32_t i = 0; i < x->n_timelines; i++) {
    fs_timeline_wake(&x->timeline[i]);
    fs_timeline_wake_parked(&x->timeline[i]);
  }
  for (uint32_t i = 0; i < x->n_workers; i++) {
    ring(&x->worker[i]);
  }
}

void fs_cpu_poison(fs_instance *x, fsched_cause cause) {
  assert(cause != FSCHED_CAUSE_NONE);
  fsched_cause none = FSCHED_CAUSE_NONE;
  (void)atomic_compare_exchange_strong(&x->cause, &none, cause);
  atomic_store(&x->poisoned, 1);
  fs_futex_wake_all(&x->poisoned);
  wake_all(x);
}

/* Called by any thread that publishes, without locks.  The lane's worker may go on before this
 * returns, but it cannot be destroyed: the publisher is a worker at work, or holds the core's
 * lock. */
static void wake_lane(fs_parked *waiter) {
  fs_cpu_lane *lane = lane_of(waiter), *latest;
  fs_worker *w = lane->worker;
  latest = atomic_load(&w->inbox);
  do {
    lane->next = latest;
  } while (!atomic_compare_exchange_weak(&w->inbox, &latest, lane));
  ring(w);
}

/* Tells the watchdog what the lane, which belongs to this thread, waits for. */
static void say_blocked(fs_cpu_lane *l, uint32_t at, uint32_t axis, uint64_t value) {
  atomic_store_explicit(&l->at, at, memory_order_relaxed);
  atomic_store_explicit(&l->axis, axis, memory_order_relaxed);
  atomic_store_explicit(&l->value, value, memory_order_relaxed);
  atomic_fetch_add(&l->blocked, 1);
}

bool fs_cpu_park(fs_cpu_lane *l, fs_timeline *t, uint64_t value, uint32_t axis) {
  FS_ASSERT_SLOW(axis < l->worker->instance->n_timelines);
  say_blocked(l, l->step, axis, value);
  l->waiter.value = value;
  l->waiter.wake = wake_lane;
  if (fs_timeline_park(t, &l->waiter, &l->worker->instance->poisoned)) {
    return true; /* it may be running already */
  }
  atomic_fetch_add(&l->blocked, 1);
  return false;
}

void fs_cpu_park_paced(fs_cpu_lane *l) {
  l->waiter.value = l->end_ns;
  fs_parked_add(&l->worker->paced, &l->waiter);
}

static void make_ready(fs_worker *w, fs_cpu_lane *l) {
  l->next = NULL;
  *(w->ready == NULL ? &w->ready : &w->last_ready->next) = l;
  w->last_ready = l;
}

/* Makes the lanes in the inbox ready in the order in which they came. */
static void empty_inbox(fs_worker *w) {
  fs_cpu_lane *latest = atomic_exchange(&w->inbox, NULL), *first = NULL;
  while (latest != NULL) {
    fs_cpu_lane *before = latest->next;
    latest->next = first;
    first = latest;
    latest = before;
  }
  while (first != NULL) {
    fs_cpu_lane *after = first->next;
    atomic_fetch_add(&first->blocked, 1);
    make_ready(w, first);
    first = after;
  }
}

static bool is_poisoned(const fs_instance *x) { return atomic_load(&x->poisoned) != 0; }

/* Makes those lanes ready whose commands have taken the least time that the pace asks for. */
static void end_paces(fs_worker *w) {
  while (w->paced != NULL && (w->paced->value <= fs_now_ns() || is_poisoned(w->instance))) {
    make_ready(w, lane_of(fs_parked_take(&w->paced)));
  }
}

static bool has_news(const fs_worker *w) {
  return atomic_load(&w->inbox) != NULL || (w->paced != NULL && is_poisoned(w->instance));
}

static bool spin_for_news(const fs_worker *w) {
  for (uint32_t i = 0; i < w->instance->spins; i++) {
    if (atomic_load_explicit(&w->inbox, memory_order_relaxed) != NULL) {
      return true;
    }
    fs_pause();
  }
  return false;
}

/* Waits until a lane may have become ready. */
static void await_bell(fs_worker *w) {
  if (spin_for_news(w)) {
    return;
  }
  uint32_t turn = atomic_load(&w->bell);
  atomic_store(&w->asleep, 1);
  if (!has_news(w)) {
    uint64_t now = fs_now_ns(), until = w->paced == NULL ? UINT64_MAX : w->paced->value;
    uint64_t left = until == UINT64_MAX ? UINT64_MAX : until > now ? until - now : 0;
    fs_futex_wait(&w->bell, turn, left);
  }
  atomic_store(&w->asleep, 0);
}

static fs_cpu_lane *take_ready(fs_worker *w) {
  for (;;) {
    empty_inbox(w);
    end_paces(w);
    if (w->ready != NULL) {
      fs_cpu_lane *l = w->ready;
      w->ready = l->next;
      return l;
    }
    await_bell(w);
  }
}

void fs_cpu_begin(fs_cpu_lane *l) {
  atomic_fetch_add(&l->blocked, 1);
  l->part = FS_PART_WAITS;
  l->step = l->next_wait = 0;
}

void fs_cpu_rest(fs_cpu_lane *l, uint64_t k) {
  say_blocked(l, FS_NONE, l->worker->instance->stream->n_axes, k + 2);
}

void fs_cpu_run_lanes(fs_worker *w, uint64_t k) {
  assert(w->n_lanes > 0);
  for (uint32_t i = 0; i < w->n_lanes; i++) {
    fs_cpu_lane *l = w->lane + (size_t)i * w->instance->n_workers;
    fs_cpu_begin(l);
    make_ready(w, l);
  }
  for (uint32_t left = w->n_lanes; left > 0;) {
    fs_cpu_lane *l = take_ready(w);
    if (fs_cpu_go_on(l, k)) {
      fs_cpu_rest(l, k);
      left--;
    }
  }
}
