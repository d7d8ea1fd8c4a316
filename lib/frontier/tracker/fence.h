/* SPDX-License-Identifier: Apache-2.0 */
/* A fence paid for by one side: membarrier(2), private and expedited.
 *
 * While fs_heavy_fence runs, every running thread of this process executes a full memory barrier at
 * some moment; a thread that does not run has executed one when it was switched away.  So a
 * frequent side can do with a compiler barrier between its store and its load, if the rare side
 * puts this between its own. */
#ifndef FS_TRACKER_FENCE_H
#define FS_TRACKER_FENCE_H

#include "base/base.h"

/* Registers this process with the kernel, any number of times.  False: not to be had here (or the
 * thread sanitizer, which knows nothing of it, watches); both sides must then be sequentially
 * consistent. */
bool fs_heavy_fence_prepare(void);
/* Requires (unchecked: the kernel refuses it then) that fs_heavy_fence_prepare has returned true.
 * False: the kernel refuses after all. */
bool fs_heavy_fence(void) FS_MUST_USE;

#endif
