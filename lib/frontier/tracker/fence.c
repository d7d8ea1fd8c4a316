/* SPDX-License-Identifier: Apache-2.0 */
/* membarrier(2) by number: the C library has no wrapper. */
#include "frontier/tracker/fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define FS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FS_TSAN 1
#endif
#endif

static bool command(int which) { return syscall(SYS_membarrier, which, 0, 0) == 0; }

bool fs_heavy_fence_prepare(void) {
#ifdef FS_TSAN
  return false;
#else
  return command(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
#endif
}

bool fs_heavy_fence(void) {
  return command(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
         (fs_heavy_fence_prepare() && command(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}
