/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a system-wide semaphore in memory shared between processes.
 *
 * Nothing in the page is trusted: sizes are checked and copied when it is mapped, an entry is
 * checked each time it is read, and every loop over the page is bounded.  No process can keep
 * another one waiting, wherever it stops: there is no lock. */
#ifndef FS_SEMAPHORE_PAGE_H
#define FS_SEMAPHORE_PAGE_H

#include "base.h"
#include "fsched/cause.h"
#include "fsched/frontier.h"
#include "futex.h"

enum { FS_PAGE_MAX_CAPACITY = 1024, FS_PAGE_MAX_SLOTS = 65536 };

typedef struct fs_page fs_page;

/* One process' view. */
typedef struct fs_shared {
  fs_page *page; /* NULL: not shared */
  size_t size_bytes;
  int fd;
  uint32_t capacity, slots;
  uint64_t initial;
} fs_shared;

/* A signal: what it raised the value from and to, and what it brought. */
typedef struct fs_shared_signal {
  uint64_t previous, value;
  bool trusted;
  fsched_frontier known; /* entries are the caller's */
} fs_shared_signal;

/* FSCHED_SYSTEM: no descriptor or memory. */
fs_status fs_shared_create(fs_shared *h, uint64_t initial, uint32_t capacity,
                           uint32_t slots) FS_MUST_USE;
/* FSCHED_BAD_INPUT: no such page.  `fd` stays the caller's. */
fs_status fs_shared_open(fs_shared *h, int fd) FS_MUST_USE;
void fs_shared_close(fs_shared *h);
/* A descriptor of the caller's own. */
fs_status fs_shared_dup(const fs_shared *h, int *fd) FS_MUST_USE;

uint64_t fs_shared_value(const fs_shared *h);
/* False: the page's value is `signal->value` or more already.  Else the signal is written, then the
 * value raised, then who sleeps woken. */
bool fs_shared_raise(const fs_shared *h, const fs_shared_signal *signal);
/* Writes one more entry for a value that is reached; a reader takes the newest. */
void fs_shared_amend(const fs_shared *h, const fs_shared_signal *signal);
/* The signal that reached `value`: previous < value <= signal->value.  The frontier is valid and at
 * most `capacity` entries of this page, which `out->known` has room for.  False: it is not (or no
 * longer) there.  O(slots). */
bool fs_shared_find(const fs_shared *h, uint64_t value, fs_shared_signal *out);

/* The first failure counts; false: there was one already. */
bool fs_shared_fail(const fs_shared *h, fsched_cause cause);
/* FSCHED_CAUSE_NONE, or the cause; *end: the value at that time. */
fsched_cause fs_shared_cause(const fs_shared *h, uint64_t *end);

/* Sleeping: read the turn, look at the page, sleep while the turn is the same.  A change of the
 * page, in whatever process, changes the turn after it. */
uint32_t fs_shared_turn(const fs_shared *h);
void fs_shared_sleep(const fs_shared *h, uint32_t turn, uint64_t timeout_ns);
void fs_shared_wake(const fs_shared *h);

#endif
