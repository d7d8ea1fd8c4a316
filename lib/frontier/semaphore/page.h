/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a system-wide semaphore in memory shared between processes.
 *
 * Nothing in the page is trusted: sizes are checked and copied when it is mapped, an entry is
 * checked each time it is read, and every loop over the page is bounded.  Wherever a process stops,
 * it cannot keep another waiting for long: readers give up after some milliseconds, writers after a
 * second. */
#ifndef FS_SEMAPHORE_PAGE_H
#define FS_SEMAPHORE_PAGE_H

#include "base/base.h"
#include "base/futex.h"
#include "fsched/cause.h"
#include "fsched/frontier.h"

enum { FS_PAGE_MAX_CAPACITY = 1024, FS_PAGE_MAX_SLOTS = 65536 };

typedef struct fs_page fs_page;

/* The view of one process. */
typedef struct fs_shared {
  fs_page *page; /* NULL: not shared */
  size_t size_bytes;
  int fd;
  uint32_t capacity, slots;
  uint64_t initial;
} fs_shared;

/* A signal: the values from and to which it raised the semaphore, and its frontier. */
typedef struct fs_shared_signal {
  uint64_t previous, value;
  bool trusted;
  fsched_frontier known; /* entries are the caller's */
} fs_shared_signal;

typedef enum fs_change {
  FS_CHANGED,
  FS_NO_CHANGE, /* no change was needed, or there was nothing to change */
  FS_STUCK      /* others have kept changing the page, or stopped in the middle of a change */
} fs_change;

/* FSCHED_SYSTEM when there is no descriptor or memory.  Requires sizes above 0 and within the
 * bounds. */
fs_status fs_shared_create(fs_shared *h, uint64_t initial, uint32_t capacity,
                           uint32_t slots) FS_MUST_USE;
/* FSCHED_BAD_INPUT when `fd` is no such page.  `fd` stays the caller's. */
fs_status fs_shared_open(fs_shared *h, int fd) FS_MUST_USE;
void fs_shared_close(fs_shared *h);
/* A descriptor of the caller's own.  Requires a page. */
fs_status fs_shared_dup(const fs_shared *h, int *fd) FS_MUST_USE;

/* Requires a page. */
uint64_t fs_shared_value(const fs_shared *h);
/* FS_NO_CHANGE: the page's value is `signal->value` or more already.  Else the signal is written,
 * then the value is raised, then sleepers are woken.  Requires a page, and a frontier that it has
 * room for. */
fs_change fs_shared_raise(const fs_shared *h, const fs_shared_signal *signal) FS_MUST_USE;
/* Merges `more->known` into the signal of exactly `more->value`.  FS_NO_CHANGE: that signal is not,
 * or no longer, there.  `room` is for its entries.  Requires a page, and room for what a slot
 * holds. */
fs_change fs_shared_amend(const fs_shared *h, const fs_shared_signal *more,
                          fsched_frontier *room) FS_MUST_USE;
/* The signal that reached `value`: out->previous < value <= out->value, with a valid frontier.
 * False: that signal is not, or no longer, there.  Requires room in out->known for what a slot
 * holds.  O(signals since), at most O(slots). */
bool fs_shared_find(const fs_shared *h, uint64_t value, fs_shared_signal *out) FS_MUST_USE;

/* A walk along the signals: the last one that it has met. */
typedef struct fs_walk {
  uint64_t ticket, value;
  uint64_t amended; /* the number of amendments of signals at its start */
  bool patient;     /* waits briefly, once, for a missing signal */
} fs_walk;
/* Goes on with a walk, from the oldest signal if any was amended since.  Requires a page. */
void fs_shared_resume(const fs_shared *h, fs_walk *w, bool patient);
/* The next signal up to `value`, in the order of values; *gap: signals before it (or before
 * `value`) are missing.  False: there are no more.  A whole walk is O(signals since), at most
 * O(slots).  Requires room for what a slot holds. */
bool fs_shared_next(const fs_shared *h, fs_walk *w, uint64_t value, fs_shared_signal *out,
                    bool *gap) FS_MUST_USE;
/* Whether a frontier was lost, as the page had no signal of exactly the value to which it was to be
 * attached.  Requires a page. */
bool fs_shared_lossy(const fs_shared *h);

/* Only the first failure counts; false when there was one already.  Requires a page, and a
 * cause. */
bool fs_shared_fail(const fs_shared *h, fsched_cause cause);
/* FSCHED_CAUSE_NONE, or the cause; *end: the value at that time.  Requires a page. */
fsched_cause fs_shared_cause(const fs_shared *h, uint64_t *end);

/* Sleeping: read the turn, look at the page, sleep while the turn is the same.  A change of the
 * page, in whatever process, changes the turn after it; as its process can die in between, a sleep
 * is short.  Requires a page. */
uint32_t fs_shared_turn(const fs_shared *h);
/* Requires a page. */
void fs_shared_sleep(const fs_shared *h, uint32_t turn, uint64_t timeout_ns);
/* Requires a page. */
void fs_shared_wake(const fs_shared *h);

#endif
