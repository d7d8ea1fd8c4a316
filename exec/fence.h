/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a fence without a thread: one callback when it is reached or has failed. */
#ifndef FS_EXEC_FENCE_H
#define FS_EXEC_FENCE_H

#include <stdatomic.h>

#include "fsched/exec.h"
#include "mem.h"

struct fsched_fence {
  fs_allocator allocator;
  _Atomic uint32_t references;
  uint32_t n, room;
  fsched_fence_point points[];
};

/* One that waits.  It stays in place until its callback has begun. */
typedef struct fs_fence_wait fs_fence_wait;
struct fs_fence_wait {
  void (*callback)(fs_fence_wait *wait, fsched_cause cause);
  _Atomic uint32_t left;      /* points that have not arrived, and who begins or cancels */
  _Atomic fsched_cause cause; /* the first failure that was met */
  fsched_timepoint *timepoints;
  uint32_t n;
  fs_allocator allocator;
  fsched_fence *fence;
};

/* Allocates for the fence's points; NULL is a fence without any.  The callback must be set. */
fs_status fs_fence_wait_init(fsched_context *ctx, fs_allocator allocator, fs_fence_wait *wait,
                             fsched_fence *fence) FS_MUST_USE;
/* Begins to wait: the callback comes exactly once, perhaps before this returns. */
void fs_fence_wait_begin(fs_fence_wait *wait);
/* Gives up, if the callback is not on its way already: it comes with this cause.  The wait must not
 * go meanwhile.  May call it. */
void fs_fence_wait_cancel(fs_fence_wait *wait, fsched_cause cause);
/* Once the callback has come, or before begin. */
void fs_fence_wait_free(fs_fence_wait *wait);

/* Why it will never be reached, if that is known; a look costs O(points). */
fsched_cause fs_fence_failed(const fsched_fence *fence);
/* Signals with none, else fails; NULL is ignored. */
void fs_fence_settle(fsched_fence *fence, fsched_cause cause);

#endif
