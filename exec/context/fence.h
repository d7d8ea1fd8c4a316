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

/* A point that is waited for, and what it brings. */
typedef struct fs_fence_part {
  fsched_timepoint timepoint;
  fsched_frontier known;
} fs_fence_part;

/* One that waits.  It stays in place until its callback has begun, which is a step (steps.h). */
typedef struct fs_fence_wait fs_fence_wait;
struct fs_fence_wait {
  void (*callback)(fs_fence_wait *wait, fsched_cause cause);
  _Atomic uint32_t left;      /* points that have not arrived, and who begins or cancels */
  _Atomic fsched_cause cause; /* the first failure that was met */
  fs_fence_part *parts;
  uint32_t n, capacity;
  fs_allocator allocator;
  fsched_fence *fence;
  fs_step step;
};

/* Allocates for the fence's points; NULL is a fence without any. */
fs_status fs_fence_wait_init(fsched_context *ctx, fs_allocator allocator, fs_fence_wait *wait,
                             fsched_fence *fence) FS_MUST_USE;
/* The same for who wants to know what every point brings, up to `capacity` entries of each. */
fs_status fs_fence_wait_init_learning(fsched_context *ctx, fs_allocator allocator,
                                      fs_fence_wait *wait, fsched_fence *fence,
                                      uint32_t capacity) FS_MUST_USE;
/* Begins to wait: the callback comes exactly once, perhaps before this returns; in a step, after
 * it.  Requires a callback. */
void fs_fence_wait_begin(fs_fence_wait *wait);
/* Gives up, if the callback is not on its way already: it comes with this cause.  The wait must not
 * go meanwhile.  May call it.  Requires a cause. */
void fs_fence_wait_cancel(fs_fence_wait *wait, fsched_cause cause);
/* Once the callback has come with no cause: merges what the points have brought, as it was when
 * each was reached. */
void fs_fence_wait_learnt(const fs_fence_wait *wait, fsched_frontier *into);
/* Once the callback has come, or before begin. */
void fs_fence_wait_free(fs_fence_wait *wait);

/* Why it will never be reached, if that is known; a look costs O(points). */
fsched_cause fs_fence_failed(const fsched_fence *fence);
/* Whether settling it brings the value about, or a failure.  Requires a semaphore.  O(log
 * points). */
bool fs_fence_promises(const fsched_fence *fence, const fsched_semaphore *s, uint64_t value);
/* Publishes `known` with none, else fails; NULL is ignored. */
void fs_fence_settle(fsched_fence *fence, fsched_cause cause, const fsched_frontier *known);

#endif
