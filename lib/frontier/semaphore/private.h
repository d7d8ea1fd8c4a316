/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a semaphore, for the files of this room and their tests only. */
#ifndef FS_SEMAPHORE_PRIVATE_H
#define FS_SEMAPHORE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "base/process.h"
#include "frontier/semaphore/page.h"
#include "fsched/semaphore.h"

/* A signal in the history: its value, and the frontier that it brought. */
typedef struct fs_past {
  uint64_t value;
  fsched_frontier known;
} fs_past;

struct fsched_semaphore {
  /* Written under the lock, read without it. */
  _Atomic uint64_t value;
  _Atomic int32_t cause;
  _Atomic uint64_t untainted;
  uint64_t end; /* once it has failed: the value it had; written before the cause */

  _Atomic uint32_t references; /* the users' */
  _Atomic uint32_t holds;      /* on the memory: one for all users together, one per batch, link,
                                * sleeper and watcher */
  fsched_context *ctx;         /* its own, for memory; under the lock */
  fs_arena arena;
  uint64_t birth; /* number of the process that made it */
  fsched_scope scope;
  uint32_t capacity;
  uint64_t initial;
  pthread_mutex_t lock;

  /* Under the lock. */
  fsched_waiter *waiters; /* heap by value of timepoints */
  uint64_t sequence;
  fs_past *past; /* ring of `limit` signals, the oldest at `oldest`; NULL for a system-wide
                  * semaphore */
  uint32_t limit, oldest, n_past;
  uint64_t forgotten; /* the highest value whose signal has left the history */
  /* All that was attached or merged; what was merged for the next signal; room for one more. */
  fsched_frontier whole, next, scratch;
  bool lossy; /* `whole` has lost entries */

  /* System-wide. */
  fs_shared shared;
  fs_walk walk; /* the signals that `whole` includes */
  pthread_t watcher;
  bool watched;
  bool released; /* by its last reference; links and the watcher may still hold the memory */
  _Atomic uint32_t stop;
};

enum { FS_IDLE, FS_PENDING, FS_CHOSEN };
/* The kind of a timepoint: a user's, a sleeping thread's, or a link's. */
enum { FS_KIND_CALL, FS_KIND_SLEEP, FS_KIND_LINK };

/* Timepoints of one semaphore that one call has released, as a heap by order of registration. */
typedef struct fs_batch {
  fsched_semaphore *s;
  fsched_waiter *chosen; /* under the lock of s */
  struct fs_batch *next;
  fsched_link *link; /* whose memory this is in, or NULL */
} fs_batch;

struct fsched_link {
  fsched_timepoint point; /* at `from` */
  fs_batch batch;         /* of `to` */
  fsched_semaphore *from, *to;
  uint64_t value, to_value;
  bool trusted; /* set when it is chosen */
  fsched_frontier known;
  _Atomic uint32_t references; /* the source's, and the handle's */
  size_t size_bytes;
  fsched_frontier_entry entry[];
};

typedef struct fs_raise {
  uint64_t value;
  const fsched_frontier *known; /* or NULL */
  bool strict, trusted, external;
} fs_raise;

/* A thread asleep in wait_many. */
typedef struct fs_sleep {
  _Atomic uint32_t turn;
} fs_sleep;

/* Whether the semaphore was inherited by fork and must not be used. */
static inline bool fs_sem_foreign(const fsched_semaphore *s) {
  return fs_process_inherited(s->birth);
}
void fs_sem_lock(fsched_semaphore *s);
void fs_sem_unlock(fsched_semaphore *s);
void fs_sem_hold(fsched_semaphore *s);
/* Drops a hold and frees the semaphore with the last one.  Requires (unchecked: a mutex does not
 * tell who holds it) that the lock is not held. */
void fs_sem_drop(fsched_semaphore *s);

/* All functions below are called under the lock, unless their comment says otherwise. */

/* FSCHED_USAGE: the raise is strict and its value is not above the present one.  FSCHED_SYSTEM: the
 * page is stuck.  Requires that `b` is a batch of `s`. */
fs_status fs_sem_raise(fsched_semaphore *s, const fs_raise *r, fs_batch *b) FS_MUST_USE;
/* Fails the semaphore for good in this process: all waiters are chosen.  False: it has failed
 * before.  Requires that `b` is a batch of `s`, and a cause. */
bool fs_sem_fail(fsched_semaphore *s, fsched_cause cause, uint64_t end, fs_batch *b);
/* Acts as fs_sem_fail, through the page where there is one.  Requires that `b` is a batch of
 * `s`. */
bool fs_sem_fail_all(fsched_semaphore *s, fsched_cause cause, fs_batch *b);
/* Adopts the changes that other processes have written to the page.  Requires that `b` is a batch
 * of `s`. */
void fs_sem_sync(fsched_semaphore *s, fs_batch *b);
/* Merges the frontier that came with the value.  Requires a frontier that can be merged into. */
void fs_sem_learn(fsched_semaphore *s, uint64_t value, fsched_frontier *into);

typedef enum fs_outcome { FS_OPEN, FS_REACHED, FS_BROKEN } fs_outcome;
/* Called with or without the lock; *cause is set when the semaphore is broken. */
fs_outcome fs_sem_outcome(const fsched_semaphore *s, uint64_t value, fsched_cause *cause);

/* Releases the waiters that `value` satisfies.  Requires that `b` is a batch of `s`. */
void fs_sem_collect(fsched_semaphore *s, uint64_t value, fs_batch *b);
/* Releases all waiters with the cause.  Requires that `b` is a batch of `s`, and a cause. */
void fs_sem_break(fsched_semaphore *s, fsched_cause cause, fs_batch *b);
/* Begins a batch of s.  Requires a semaphore. */
void fs_sem_begin(fs_batch *b, fsched_semaphore *s);
/* Entered with the lock of b->s, left without it: calls the chosen and follows links.  Requires a
 * batch that fs_sem_begin has begun. */
void fs_sem_deliver_and_unlock(fs_batch *b);
/* Puts the timepoint into the heap of those that wait.  If the value is reached already, or never
 * will be, the caller releases the timepoint at once.  Requires a timepoint that is idle. */
void fs_sem_add(fsched_semaphore *s, uint64_t value, fsched_timepoint *t, uint32_t kind);
/* Starts the thread that watches the page, if there is a page and no thread. */
fs_status fs_sem_watch(fsched_semaphore *s) FS_MUST_USE;
/* Ends the thread that watches the page.  Requires (unchecked: a mutex does not tell who holds it)
 * that the lock is not held. */
void fs_sem_unwatch(fsched_semaphore *s);

/* Called without a lock: raises or fails the link's target as its source did; link->batch then
 * holds the target's chosen waiters.  Requires a link that its source has released. */
void fs_link_relay(fsched_link *link, fsched_cause cause);
/* Requires a reference. */
void fs_link_drop(fsched_link *link);

#endif
