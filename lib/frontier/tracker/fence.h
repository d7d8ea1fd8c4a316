/* SPDX-License-Identifier: Apache-2.0 */
/* An asymmetric fence, of which one side pays the cost: membarrier(2), private and expedited.
 *
 * While fs_heavy_fence runs, every running thread of this process executes a full memory barrier at
 * some moment; a thread that does not run has executed one when it was switched away.  So the
 * frequent side needs only a compiler barrier between its store and its load, if the rare side puts
 * this fence between its own. */
#ifndef FS_TRACKER_FENCE_H
#define FS_TRACKER_FENCE_H

#include "base/base.h"

/* Registers this process with the kernel, any number of times.  False: the call is not available
 * (or the thread sanitizer, which does not model it, is active); both sides must then be
 * sequentially consistent. */
bool fs_heavy_fence_prepare(void);
/* Requires (unchecked: the kernel refuses otherwise) that fs_heavy_fence_prepare has returned true;
 * if the kernel refuses all the same, the process is registered again, once.  False: the kernel
 * still refuses. */
bool fs_heavy_fence(void) FS_MUST_USE;

#endif
