/* SPDX-License-Identifier: Apache-2.0 */
#include "search/crew/crew.h"

#include <time.h>

enum { IDLE_NS = 100000000 };

fs_status fs_crew_init(fs_crew *c, uint32_t n, fs_arena *arena) {
  assert(n > 0);
  pthread_condattr_t attr;
  *c = (fs_crew){.n = n};
  FS_TRY(fs_new_zero(arena, &c->member, n));
  if (pthread_mutex_init(&c->lock, NULL) != 0) {
    return fs_no_memory(arena->ctx, sizeof c->lock);
  }
  bool made = pthread_condattr_init(&attr) == 0;
  if (made) {
    made = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(&c->news, &attr) == 0;
    (void)pthread_condattr_destroy(&attr);
  }
  if (!made) {
    (void)pthread_mutex_destroy(&c->lock);
    return fs_no_memory(arena->ctx, sizeof c->news);
  }
  return FSCHED_OK;
}

void fs_crew_release(fs_crew *c) {
  for (uint32_t m = 0; m < c->n; m++) {
    for (uint32_t k = 0; k < FS_CREW_WORDS; k++) {
      fs_schedule_destroy(c->member[m].word[k].schedule);
    }
  }
  (void)pthread_cond_destroy(&c->news);
  (void)pthread_mutex_destroy(&c->lock);
}

/* The place of the word is nobody else's until it counts as said. */
void fs_crew_say(fs_crew *c, uint32_t member, const fs_crew_word *word, bool last) {
  assert(member < c->n && !c->member[member].ended);
  fs_crew_member *m = &c->member[member];
  fs_crew_word *place = &m->word[m->said % FS_CREW_WORDS];
  fs_schedule_destroy(place->schedule);
  *place = *word;
  (void)pthread_mutex_lock(&c->lock);
  m->said++;
  m->ended = last;
  (void)pthread_cond_broadcast(&c->news);
  (void)pthread_mutex_unlock(&c->lock);
}

/* Waits a while for news; the lock is held, but while `idle` is called. */
static void wait_a_while(fs_crew *c, void (*idle)(void *user), void *user) {
  struct timespec until;
  (void)clock_gettime(CLOCK_MONOTONIC, &until);
  uint64_t ns = (uint64_t)until.tv_nsec + IDLE_NS;
  until.tv_sec += (time_t)(ns / 1000000000);
  until.tv_nsec = (long)(ns % 1000000000);
  (void)pthread_cond_timedwait(&c->news, &c->lock, &until);
  if (idle != NULL) {
    (void)pthread_mutex_unlock(&c->lock);
    idle(user);
    (void)pthread_mutex_lock(&c->lock);
  }
}

bool fs_crew_hear(fs_crew *c, uint32_t member, uint64_t round, fs_crew_word *word,
                  void (*idle)(void *user), void *user) {
  assert(member < c->n);
  fs_crew_member *m = &c->member[member];
  (void)pthread_mutex_lock(&c->lock);
  while (m->said <= round && !m->ended && !fs_crew_abandoned(c)) {
    wait_a_while(c, idle, user);
  }
  bool heard = m->said > round || m->ended;
  if (heard) {
    *word = m->word[(m->said > round ? round : m->said - 1) % FS_CREW_WORDS];
  }
  (void)pthread_mutex_unlock(&c->lock);
  return heard;
}

static bool all_ended(const fs_crew *c) {
  uint32_t m = 0;
  while (m < c->n && c->member[m].ended) {
    m++;
  }
  return m == c->n;
}

void fs_crew_await(fs_crew *c, void (*idle)(void *user), void *user) {
  (void)pthread_mutex_lock(&c->lock);
  while (!all_ended(c) && !fs_crew_abandoned(c)) {
    wait_a_while(c, idle, user);
  }
  (void)pthread_mutex_unlock(&c->lock);
}

void fs_crew_abandon(fs_crew *c) {
  (void)pthread_mutex_lock(&c->lock);
  __atomic_store_n(&c->abandoned, true, __ATOMIC_RELAXED);
  (void)pthread_cond_broadcast(&c->news);
  (void)pthread_mutex_unlock(&c->lock);
}
