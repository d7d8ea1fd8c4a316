/* SPDX-License-Identifier: Apache-2.0 */
/* FS_BATON_STEP stands before each access of a word that threads share: a test that tries all
 * orders of these accesses defines it, and its own way to sleep. */
#include "exec/dynamic/carrier/baton.h"

#include "base/futex.h"

#ifndef FS_BATON_STEP
#define FS_BATON_STEP(word) ((void)0)
#define FS_BATON_SLEEP(word, value, timeout_ns) fs_futex_wait((word), (value), (timeout_ns))
#define FS_BATON_WAKE(word) fs_futex_wake_all(word)
#define FS_BATON_LOOKS \
  100 /* how often a thread looks whether the baton is free, before it sleeps */
#endif

bool fs_baton_try(fs_baton *t) {
  uint32_t nobody = 0;
  FS_BATON_STEP(&t->held);
  return atomic_compare_exchange_strong(&t->held, &nobody, 1);
}

void fs_baton_take(fs_baton *t) {
  for (int i = 0; i < FS_BATON_LOOKS; i++) {
    FS_BATON_STEP(&t->held);
    if (atomic_load_explicit(&t->held, memory_order_relaxed) == 0 && fs_baton_try(t)) {
      return;
    }
    fs_pause();
  }
  for (;;) {
    FS_BATON_STEP(&t->held);
    if (atomic_exchange(&t->held, 2) == 0) {
      return;
    }
    FS_BATON_SLEEP(&t->held, 2, UINT64_MAX);
  }
}

static void give_baton(fs_baton *t) {
  FS_BATON_STEP(&t->held);
  if (atomic_exchange(&t->held, 0) == 2) {
    FS_BATON_WAKE(&t->held);
  }
}

void fs_baton_leave(fs_baton *t, fs_baton_ear *hear, void *user) {
  assert(fs_baton_held(t));
  do {
    hear(user);
    give_baton(t);
  } while (fs_baton_has_news(t) && fs_baton_try(t));
}

void fs_baton_rest(fs_baton *t, fs_baton_ear *hear, void *user, uint64_t timeout_ns) {
  assert(fs_baton_held(t));
  FS_BATON_STEP(&t->calls);
  uint32_t seen = atomic_load(&t->calls);
  fs_baton_leave(t, hear, user);
  FS_BATON_SLEEP(&t->calls, seen, timeout_ns);
  fs_baton_take(t);
}

void fs_baton_call(fs_baton *t) {
  assert(fs_baton_held(t));
  FS_BATON_STEP(&t->calls);
  (void)atomic_fetch_add(&t->calls, 1);
  FS_BATON_WAKE(&t->calls);
}

void fs_baton_tell(fs_baton *t, fs_news *news) {
  FS_BATON_STEP(&t->news);
  news->next = atomic_load_explicit(&t->news, memory_order_relaxed);
  do {
    FS_BATON_STEP(&t->news);
  } while (!atomic_compare_exchange_weak(&t->news, &news->next, news));
}

bool fs_baton_has_news(fs_baton *t) {
  FS_BATON_STEP(&t->news);
  return atomic_load(&t->news) != NULL;
}

fs_news *fs_baton_hear(fs_baton *t) {
  assert(fs_baton_held(t));
  FS_BATON_STEP(&t->news);
  if (atomic_load_explicit(&t->news, memory_order_relaxed) == NULL) {
    return NULL; /* what comes from now on is seen when the baton has been given away */
  }
  FS_BATON_STEP(&t->news);
  fs_news *last = atomic_exchange(&t->news, NULL), *first = NULL;
  while (last != NULL) {
    fs_news *before = last->next;
    last->next = first;
    first = last;
    last = before;
  }
  return first;
}

void fs_bed_give(fs_bed *b, fs_bed_state state) {
  assert(atomic_load_explicit(&b->state, memory_order_relaxed) <= FS_BED_ASLEEP);
  FS_BATON_STEP(&b->state);
  if (atomic_exchange(&b->state, state) == FS_BED_ASLEEP) {
    FS_BATON_WAKE(&b->state);
  }
}

fs_bed_state fs_bed_look(fs_bed *b) {
  FS_BATON_STEP(&b->state);
  return (fs_bed_state)atomic_load_explicit(&b->state, memory_order_acquire);
}

fs_bed_state fs_bed_sleep(fs_bed *b) {
  uint32_t state = FS_BED_IDLE;
  FS_BATON_STEP(&b->state);
  if (!atomic_compare_exchange_strong(&b->state, &state, FS_BED_ASLEEP)) {
    return (fs_bed_state)state;
  }
  do {
    FS_BATON_SLEEP(&b->state, FS_BED_ASLEEP, UINT64_MAX);
    state = fs_bed_look(b);
  } while (state == FS_BED_ASLEEP);
  return (fs_bed_state)state;
}

void fs_bed_clear(fs_bed *b) {
  assert(atomic_load_explicit(&b->state, memory_order_relaxed) == FS_BED_GIVEN);
  atomic_store_explicit(&b->state, FS_BED_IDLE, memory_order_relaxed);
}
