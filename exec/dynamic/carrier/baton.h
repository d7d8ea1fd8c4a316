/* SPDX-License-Identifier: Apache-2.0 */
/* A baton: one thread at a time has it, and what the others have to tell they leave as news,
 * without waiting.
 *
 *   who has news     1 leaves it      2 tries to get the baton; if somebody has it, goes on
 *   who has it       3 gives it away  4 looks whether there is news, and if so tries again
 *
 * Nothing is lost: all of this has one order (it is sequentially consistent), and if 2 fails, it is
 * before 3, so that 4 sees what 1 has left.  Whoever sleeps with the baton's news unread must have
 * tried after the last of them.
 *
 * Threads: any.  Nobody spins without a bound. */
#ifndef FS_DYNAMIC_BATON_H
#define FS_DYNAMIC_BATON_H

#include <stdatomic.h>

#include "base/base.h"

/* The first member of what is news. */
typedef struct fs_news {
  struct fs_news *next;
} fs_news;

typedef struct fs_baton {
  _Atomic uint32_t held;   /* 0: nobody has it; 2: somebody may sleep for it; else 1 */
  unsigned char apart[60]; /* the two are written by different threads */
  _Atomic(fs_news *) news;
  _Atomic bool returns;   /* who had it will soon come again, so news can wait a little */
  _Atomic uint32_t calls; /* for who rests */
} fs_baton;

/* Takes in the news, and may do more; called with the baton. */
typedef void fs_baton_ear(void *user);

/* Whether anybody has the baton. */
static inline bool fs_baton_held(fs_baton *t) {
  return atomic_load_explicit(&t->held, memory_order_relaxed) != 0;
}

/* Whether this thread has the baton now. */
bool fs_baton_try(fs_baton *t);
/* Waits for it. */
void fs_baton_take(fs_baton *t);
/* Calls `hear`, gives the baton away, and does all of that again if there is more news and nobody
 * else has got the baton.  Requires the baton. */
void fs_baton_leave(fs_baton *t, fs_baton_ear *hear, void *user);

/* Leaves the baton as above, sleeps until there was a call, at most timeout_ns (UINT64_MAX: no
 * limit), and has the baton again; may return early.  A call that `hear` makes counts, too. */
void fs_baton_rest(fs_baton *t, fs_baton_ear *hear, void *user, uint64_t timeout_ns);
/* Wakes who rests.  Requires the baton. */
void fs_baton_call(fs_baton *t);

/* Leaves news, which stays the baton's until it is heard. */
void fs_baton_tell(fs_baton *t, fs_news *news);
bool fs_baton_has_news(fs_baton *t);
/* All news, the oldest first.  Requires the baton. */
fs_news *fs_baton_hear(fs_baton *t);

/* A word by which a worker is given what to do: it sleeps on it, and is only woken then. */
typedef enum fs_bed_state { FS_BED_IDLE, FS_BED_ASLEEP, FS_BED_GIVEN, FS_BED_STOP } fs_bed_state;
typedef struct fs_bed {
  _Atomic uint32_t state;
} fs_bed;
/* Wakes the worker if it sleeps; `state`: FS_BED_GIVEN or FS_BED_STOP.  One thread at a time gives.
 * Requires an idle worker. */
void fs_bed_give(fs_bed *b, fs_bed_state state);
/* What was given to the worker; FS_BED_IDLE: nothing.  What the giver did before is seen. */
fs_bed_state fs_bed_look(fs_bed *b);
/* Sleeps until something is given. */
fs_bed_state fs_bed_sleep(fs_bed *b);
/* The worker, which alone calls it, is idle again.  Requires that it was given something. */
void fs_bed_clear(fs_bed *b);

#endif
