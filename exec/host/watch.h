/* SPDX-License-Identifier: Apache-2.0 */
/* Detects that an instance is stuck: all looks during the timeout found it idle, with the same
 * `moves`. */
#ifndef FS_EXEC_WATCH_H
#define FS_EXEC_WATCH_H

#include "base/base.h"

typedef struct fs_watch {
  uint64_t moves;
  uint64_t since_ns;
  bool idle;
} fs_watch;

static inline bool fs_watch_stuck(fs_watch *watch, uint64_t moves, bool idle, uint64_t now_ns,
                                  uint64_t timeout_ns) {
  if (!idle || !watch->idle || moves != watch->moves) {
    *watch = (fs_watch){.moves = moves, .since_ns = now_ns, .idle = idle};
    return false;
  }
  return now_ns - watch->since_ns >= timeout_ns;
}

#endif
