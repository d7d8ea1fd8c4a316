/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a fence without a thread: one callback when it is reached or has failed. */
#ifndef FS_EXEC_FENCE_H
#define FS_EXEC_FENCE_H

#include <stdatomic.h>

#include "base/mem.h"
#include "base/steps.h"
#include "fsched/exec.h"

struct fsched_fence {
  fs_allocator allocator;
  _Atomic uint32_t references;
  uint32_t n, room;
  fsched_fence_point points[];
};

/* A point that is waited for, and the frontier that it brings. */
typedef struct fs_fence_part {
  fsched_timepoint timepoint;
  fsched_frontier known;
} fs_fence_part;

/* A waiter for a fence.  It must stay in place until its callback, which is a step (steps.h), has
 * begun. */
typedef struct fs_fence_wait fs_fence_wait;
struct fs_fence_wait {
  void (*callback)(fs_fence_wait *wait, fsched_cause cause);
  _Atomic uint32_t left;      /* points that have not arrived, plus calls that begin or cancel */
  _Atomic fsched_cause cause; /* the first failure that was met */
  fs_fence_part *parts;
  uint32_t n, capacity;
  fs_allocator allocator;
  fsched_fence *fence;
  fs_step step;
};

/* Allocates room for the fence's points; NULL is a fence without points. */
fs_status fs_fence_wait_init(fsched_context *ctx, fs_allocator allocator, fs_fence_wait *wait,
                             fsched_fence *fence) FS_MUST_USE;
/* The same, and room for the frontier that each point brings, up to `capacity` entries each. */
fs_status fs_fence_wait_init_learning(fsched_context *ctx, fs_allocator allocator,
                                      fs_fence_wait *wait, fsched_fence *fence,
                                      uint32_t capacity) FS_MUST_USE;
/* Begins to wait: the callback comes exactly once, perhaps before this returns; when this is called
 * in a step, after that step.  Requires a callback. */
void fs_fence_wait_begin(fs_fence_wait *wait);
/* Gives up, unless the callback is on its way already: the callback comes with this cause, perhaps
 * from within this call.  The wait must not be freed meanwhile.  Requires a cause. */
void fs_fence_wait_cancel(fs_fence_wait *wait, fsched_cause cause);
/* After the callback has come without a cause: merges the frontiers that the points have brought,
 * each as it was when the point was reached. */
void fs_fence_wait_learnt(const fs_fence_wait *wait, fsched_frontier *into);
/* Frees it, before begin or after the callback has come. */
void fs_fence_wait_free(fs_fence_wait *wait);

/* The cause why the fence will never be reached, if it has failed.  O(points). */
fsched_cause fs_fence_failed(const fsched_fence *fence);
/* Whether settling the fence makes the semaphore reach the value, or fail.  Requires a semaphore.
 * O(log points). */
bool fs_fence_promises(const fsched_fence *fence, const fsched_semaphore *s, uint64_t value);
/* Without a cause, signals the fence and publishes `known`; with one, fails it.  NULL is
 * ignored. */
void fs_fence_settle(fsched_fence *fence, fsched_cause cause, const fsched_frontier *known);

#endif
