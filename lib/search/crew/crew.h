/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of a search tell each other.
 *
 * Each member of a crew works in rounds, which it counts by its work, and says a word at the end of
 * each: what it knows then.  At the end of round r it hears what the others said at the end of
 * round r - FS_CREW_LAG, and waits for it where they are not that far:
 *
 *      member 0   | 0 | 1 | 2 | 3 |            with a lag of 2, at the end of its round 3 it
 *      member 1   |  0  |  1  |  2  |          hears what was said at the end of round 1
 *
 * So what a member hears, and when by its own count, does not depend on how fast any thread is. The
 * lag lets a thread that is late for a few rounds catch up before the others wait for it.  A member
 * that has ended says a last word, which stands for all of its further rounds.
 *
 * Threads: each member is one thread; the schedule of a word belongs to the member that says it,
 * and others read it until they say their next word but FS_CREW_LAG. */
#ifndef FS_SEARCH_CREW_H
#define FS_SEARCH_CREW_H

#include <pthread.h>

#include "model/schedule.h"

enum {
  FS_CREW_LAG = 4,
  /* A member hears its round r - lag when all others have said that word, so they have heard all
   * of twice the lag before. */
  FS_CREW_WORDS = 2 * FS_CREW_LAG + 2
};

typedef struct fs_crew_word {
  fs_tick makespan, bound; /* FS_TICK_NONE: no schedule is known */
  uint64_t nodes;          /* so far */
  fs_schedule *schedule;   /* NULL: as it was said before, or heard from others */
} fs_crew_word;

typedef struct fs_crew_member {
  uint64_t said; /* words so far */
  bool ended;    /* the last one of them is for ever */
  fs_crew_word word[FS_CREW_WORDS];
} fs_crew_member;

typedef struct fs_crew {
  pthread_mutex_t lock;
  pthread_cond_t news; /* somebody has said a word */
  uint32_t n;
  fs_crew_member *member;
  bool abandoned; /* by fs_crew_abandon; atomic */
} fs_crew;

/* Makes a crew of n members, 1 or more, in the arena. */
fs_status fs_crew_init(fs_crew *c, uint32_t n, fs_arena *arena) FS_MUST_USE;
/* Requires (unchecked: a crew knows no threads) that none uses it any more. */
void fs_crew_release(fs_crew *c);
/* The member says a word, whose schedule belongs to the crew from now on; `last`: its last one.
 * Requires a member that has not ended. */
void fs_crew_say(fs_crew *c, uint32_t member, const fs_crew_word *word, bool last);
/* What the member said at the end of its round, or at its end if it ended before.  While the
 * caller waits, `idle` is called at least every tenth of a second, if it is not NULL.  False: the
 * crew is abandoned. */
bool fs_crew_hear(fs_crew *c, uint32_t member, uint64_t round, fs_crew_word *word,
                  void (*idle)(void *user), void *user);
/* Waits until all members have ended, or the crew is abandoned. */
void fs_crew_await(fs_crew *c, void (*idle)(void *user), void *user);
/* Nobody waits for any word from now on, and all are to end. */
void fs_crew_abandon(fs_crew *c);
static inline bool fs_crew_abandoned(const fs_crew *c) {
  return __atomic_load_n(&c->abandoned, __ATOMIC_RELAXED);
}

#endif
