/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/host/child.h"

#include <unistd.h>

#include "base/process.h"
#include "fsched/fsched.h"

void fs_child_end(uint64_t birth) {
  if (fs_process_inherited(birth)) {
    _exit(FSCHED_REPLAY);
  }
}
