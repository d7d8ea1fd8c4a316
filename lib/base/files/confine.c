/* SPDX-License-Identifier: Apache-2.0 */
/* Real paths, with all links resolved, are compared: the file's path must begin with the
 * directory's. */
#include "base/files/confine.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

fs_confined fs_confine_name(const char *name) {
  if (name[0] == '/') {
    return FS_CONFINED_NAME;
  }
  for (const char *part = name; part != NULL; part = strchr(part, '/')) {
    part += *part == '/';
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) {
      return FS_CONFINED_NAME;
    }
  }
  return FS_CONFINED;
}

static bool lies_in(const char *path, const char *directory) {
  size_t n = strlen(directory);
  n -= n > 0 && directory[n - 1] == '/'; /* the root directory */
  return strncmp(path, directory, n) == 0 && path[n] == '/';
}

fs_confined fs_confine_path(const char *directory, const char *path, char *real) {
  char base[PATH_MAX];
  struct stat s;
  if (realpath(directory, base) == NULL || realpath(path, real) == NULL || stat(real, &s) != 0) {
    return FS_CONFINED_SYSTEM;
  }
  return !lies_in(real, base)  ? FS_CONFINED_LINK
         : !S_ISREG(s.st_mode) ? FS_CONFINED_KIND
                               : FS_CONFINED;
}
