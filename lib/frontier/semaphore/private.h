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

/* What a signal brought; with the signals before it in the history. */
typedef struct fs_past {
  uint64_t value;
  fsched_frontier known;
} fs_past;

struct fsched_semaphore {
  /* Written under the lock, read without. */
  _Atomic uint64_t value;
  _Atomic int32_t cause;
  _Atomic uint64_t untainted;
  uint64_t end; /* once it has failed: the value it had; written before the cause */

  _Atomic uint32_t references; /* the users' */
  _Atomic uint32_t holds;      /* on the memory: one of all users, batches, links, sleepers */
  fsched_context *ctx;         /* its own, for memory; under the lock */
  fs_arena arena;
  uint64_t birth; /* of the process that has made it */
  fsched_scope scope;
  uint32_t capacity;
  uint64_t initial;
  pthread_mutex_t lock;

  /* Under the lock. */
  fsched_waiter *waiters; /* heap by value of timepoints */
  uint64_t sequence;
  fs_past *past; /* ring of `limit`, oldest at `oldest`; none for a system-wide one */
  uint32_t limit, oldest, n_past;
  uint64_t forgotten; /* the highest value whose signal has left the history */
  fsched_frontier whole, next, scratch;
  bool lossy; /* of `whole`: tainted, since when */

  /* System-wide. */
  fs_shared shared;
  fs_walk walk; /* what is in `whole` */
  pthread_t watcher;
  bool watched;
  bool released; /* by its last reference; links and the watcher may still hold the memory */
  _Atomic uint32_t stop;
};

enum { FS_IDLE, FS_PENDING, FS_CHOSEN };
/* What a timepoint is: a user's, that of a thread asleep, that of a link. */
enum { FS_KIND_CALL, FS_KIND_SLEEP, FS_KIND_LINK };

typedef struct fs_delivery fs_delivery;

/* Timepoints of one semaphore that one call has let go, as a heap by order of registration. */
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

/* Whether it was inherited by fork, and is not to be used. */
static inline bool fs_sem_foreign(const fsched_semaphore *s) {
  return fs_process_inherited(s->birth);
}
void fs_sem_lock(fsched_semaphore *s);
void fs_sem_unlock(fsched_semaphore *s);
void fs_sem_hold(fsched_semaphore *s);
/* Frees it with the last hold.  Requires (unchecked: a mutex does not tell who holds it) that
 * the lock is not held. */
void fs_sem_drop(fsched_semaphore *s);

/* All of the rest is under the lock, unless it says otherwise. */

/* FSCHED_USAGE: strict, and the value is not above.  FSCHED_SYSTEM: the page is stuck.  Requires
 * that `b` is a batch of `s`. */
fs_status fs_sem_raise(fsched_semaphore *s, const fs_raise *r, fs_batch *b) FS_MUST_USE;
/* Sticky, in this process: who waits is chosen.  False: it has failed before.  Requires that `b` is
 * a batch of `s`, and a cause. */
bool fs_sem_fail(fsched_semaphore *s, fsched_cause cause, uint64_t end, fs_batch *b);
/* fs_sem_fail, through the page where there is one.  Requires that `b` is a batch of `s`. */
bool fs_sem_fail_all(fsched_semaphore *s, fsched_cause cause, fs_batch *b);
/* Takes over what other processes have written to the page.  Requires that `b` is a batch of
 * `s`. */
void fs_sem_sync(fsched_semaphore *s, fs_batch *b);
/* Merges what the value brought.  Requires a frontier that can be merged into. */
void fs_sem_learn(fsched_semaphore *s, uint64_t value, fsched_frontier *into);

typedef enum fs_outcome { FS_OPEN, FS_REACHED, FS_BROKEN } fs_outcome;
/* With or without the lock; *cause is set when it is broken. */
fs_outcome fs_sem_outcome(const fsched_semaphore *s, uint64_t value, fsched_cause *cause);

/* Lets go whom `value` satisfies.  Requires that `b` is a batch of `s`. */
void fs_sem_collect(fsched_semaphore *s, uint64_t value, fs_batch *b);
/* Lets all go with the cause.  Requires that `b` is a batch of `s`, and a cause. */
void fs_sem_break(fsched_semaphore *s, fsched_cause cause, fs_batch *b);
/* Begins a batch of s.  Requires a semaphore. */
void fs_sem_begin(fs_batch *b, fsched_semaphore *s);
/* Entered with the lock of b->s, left without it: calls the chosen and follows links.  Requires a
 * batch that fs_sem_begin has begun. */
void fs_sem_deliver_and_unlock(fs_batch *b);
/* Puts the timepoint, which waits for a value not reached, into the heap.  Requires a timepoint
 * that is idle, and a value that is not reached. */
void fs_sem_add(fsched_semaphore *s, uint64_t value, fsched_timepoint *t, uint32_t kind);
/* Starts the thread that watches the page, if there is a page and no thread. */
fs_status fs_sem_watch(fsched_semaphore *s) FS_MUST_USE;
/* Ends it.  Requires (unchecked: a mutex does not tell who holds it) that the lock is not held. */
void fs_sem_unwatch(fsched_semaphore *s);

/* Not under a lock: what the link's source let go is done to its target, whose chosen are in
 * link->batch then.  Requires a link whose source has let it go. */
void fs_link_relay(fsched_link *link, fsched_cause cause);
/* Requires a reference. */
void fs_link_drop(fsched_link *link);

#endif
