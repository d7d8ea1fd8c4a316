/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a tracker, for the files of this room and their tests only. */
#ifndef FS_TRACKER_PRIVATE_H
#define FS_TRACKER_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "fsched/tracker.h"

/* The hardware fetches lines in pairs. */
enum { FS_TRACKED_ALIGN = 128 };

typedef enum fs_life {
  FS_ALIVE,
  FS_ENDING, /* by a thread that holds the lock */
  FS_FAILED,
  FS_RETIRED
} fs_life;

struct fsched_tracked {
  /* The writer's line. */
  _Alignas(FS_TRACKED_ALIGN) _Atomic uint64_t epoch;
  /* An advance to this epoch or above takes the lock.  Never above the least epoch in the heap. */
  _Atomic uint64_t wanted;
  _Atomic uint32_t life;
  bool fenced; /* both sides are sequentially consistent: no membarrier here */
  fsched_tracker *tracker;
  /* Used under the lock, except the axis, which searches of the table read. */
  _Alignas(64) _Atomic fsched_axis axis;
  fsched_tracked *next_free; /* list of axes given back */
  fsched_waiter *waiters;    /* heap of the waiters whose entry `at` is this axis */
  bool lowered;              /* `wanted` was lowered, and no fence has come since */
  uint64_t end;              /* once it has ended: the epoch it had reached */
  fsched_cause cause;
};

typedef fsched_tracked *_Atomic fs_tracked_slot;

struct fsched_tracker {
  fsched_context *ctx; /* its own, for memory */
  fs_arena arena;
  fs_tracked_slot *table;    /* open addressing, never more than half full */
  uint32_t shift;            /* of the hash: 64 - log2 of the table's size */
  _Atomic uint64_t moves;    /* odd: an axis is being taken out of the table */
  uint32_t n_axes, max_axes; /* n_axes: the most in use at one time */
  fsched_tracked *axis, *free;
  bool fenced;
  pthread_mutex_t lock;
  /* Under the lock. */
  fsched_waiter_link pending; /* in no order */
  uint64_t sequence;
  uint64_t fences;                  /* the number of fences so far */
  bool (*fence)(fsched_tracker *t); /* the waiters' side; tests put their own here */
  bool closing;
};

/* Makes both sides sequentially consistent, as on systems without membarrier.  Requires that no
 * axis was registered. */
void fs_tracker_use_fences(fsched_tracker *t);
/* The slow half of advancing: calls the waiters that the axis' epoch releases and returns their
 * number.  Requires an axis of a tracker. */
uint32_t fs_tracker_deliver(fsched_tracked *a);
/* Accepts no more waits, and calls all waiters with FSCHED_CAUSE_CANCELLED.  Requires that the
 * tracker was not closed before. */
void fs_tracker_close(fsched_tracker *t);

#endif
