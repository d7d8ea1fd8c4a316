/* SPDX-License-Identifier: Apache-2.0 */
/* The removal needs no recursion and no allocation.  Each round descends into the first directory
 * that is not empty, and so on, removing what it can on the way, until it has emptied one; then the
 * next round begins at the top.  A round that removes nothing is the last. */
#include "ilp/solver/guardian_tree.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static bool is_dots(const char *name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* Opens the directory `name` in `at`; -1: it is none, or on another file system. */
static int go_down(int at, const char *name) {
  struct stat here, there;
  int below = openat(at, name, FOLDER);
  if (below >= 0 &&
      (fstat(at, &here) != 0 || fstat(below, &there) != 0 || here.st_dev != there.st_dev)) {
    (void)close(below);
    return -1;
  }
  return below;
}

/* Removes the entries that can be removed; returns the first directory that is not empty, or -1. */
static int drop_entries(int at, const char *entries, long n, bool *any) {
  for (long i = 0; i < n;) {
    const struct dirent64 *e = (const void *)(entries + i);
    i += e->d_reclen;
    if (is_dots(e->d_name)) {
      continue;
    }
    if (unlinkat(at, e->d_name, 0) == 0 || unlinkat(at, e->d_name, AT_REMOVEDIR) == 0) {
      *any = true;
      continue;
    }
    int below = go_down(at, e->d_name);
    if (below >= 0) {
      return below;
    }
  }
  return -1;
}

static bool drop_round(const char *path) {
  _Alignas(struct dirent64) char entries[4096];
  bool any = false;
  int at = open(path, FOLDER);
  while (at >= 0) {
    long n = syscall(SYS_getdents64, at, entries, sizeof entries);
    int below = n <= 0 ? -1 : drop_entries(at, entries, n, &any);
    if (n <= 0 || below >= 0) {
      (void)close(at);
      at = below;
    }
  }
  return any;
}

void fs_tree_remove(const char *path) {
  assert(path != NULL && path[0] != '\0');
  while (rmdir(path) != 0 && drop_round(path)) {
  }
}
