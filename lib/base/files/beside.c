/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/beside.h"

#include <unistd.h>

enum { NAME_ROOM = 256 };

bool fs_file_beside(const char *name, char path[FS_BESIDE_PATH]) {
  assert(strlen(name) < NAME_ROOM);
  ssize_t room = FS_BESIDE_PATH - NAME_ROOM, n = readlink("/proc/self/exe", path, (size_t)room);
  if (n == room) {
    return false; /* it may be cut */
  }
  while (n > 0 && path[n - 1] != '/') {
    n--;
  }
  if (n <= 0) {
    return false;
  }
  memcpy(path + n, name, strlen(name) + 1);
  return access(path, X_OK) == 0;
}
