/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/host/machine_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define UNKNOWN UINT64_MAX

/* Reads the beginning of a file, as text; false: it cannot be read. */
static bool read_start(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
  if (fd >= 0) {
    (void)close(fd);
  }
  text[n < 0 ? 0 : n] = '\0';
  return n >= 0;
}

/* A number in decimal at the begin of a text; UNKNOWN for anything else ("max"). */
static uint64_t number_at(const char *text) {
  uint64_t value = 0;
  text += strspn(text, " \t");
  if (*text < '0' || *text > '9') {
    return UNKNOWN;
  }
  for (; *text >= '0' && *text <= '9'; text++) {
    value = value > UINT64_MAX / 16 ? UINT64_MAX / 16 : value * 10 + (uint64_t)(*text - '0');
  }
  return value;
}

static uint64_t physical(const char *root) {
  char path[PATH_MAX], text[4096];
  (void)snprintf(path, sizeof path, "%s/proc/meminfo", root);
  const char *at = read_start(path, text, sizeof text) ? strstr(text, "MemTotal:") : NULL;
  uint64_t kib = at == NULL ? UNKNOWN : number_at(at + sizeof "MemTotal:" - 1);
  return kib > UINT64_MAX / 1024 ? UNKNOWN : kib * 1024;
}

/* The least limit of a group and of the groups above it; shortens `group` on the way. */
static uint64_t least_up(const char *root, const char *mount, char *group, const char *file) {
  uint64_t least = UNKNOWN;
  for (;;) {
    char path[PATH_MAX], text[64];
    int n = snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", root, mount, group, file);
    if (n > 0 && (size_t)n < sizeof path && read_start(path, text, sizeof text)) {
      least = fs_min(least, number_at(text));
    }
    char *slash = strrchr(group, '/');
    if (slash == NULL) {
      return least;
    }
    *slash = '\0';
  }
}

/* The least limit of all groups of the process.  Lines are ID:CONTROLLERS:GROUP; version 2 has one
 * line, "0::GROUP". */
static uint64_t of_groups(const char *root) {
  char path[PATH_MAX], text[8192];
  uint64_t least = UNKNOWN;
  (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  if (!read_start(path, text, sizeof text)) {
    return UNKNOWN;
  }
  for (char *line = text, *next; line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL) {
      *next++ = '\0';
    }
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL) {
      continue;
    }
    *group++ = '\0';
    if (controllers[1] == '\0') {
      least = fs_min(least, least_up(root, "", group, "memory.max"));
    } else if (strstr(controllers + 1, "memory") != NULL) {
      least = fs_min(least, least_up(root, "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

static uint64_t own_limit(int resource) {
  struct rlimit limit;
  return getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
             ? UNKNOWN
             : (uint64_t)limit.rlim_cur;
}

uint64_t fs_machine_memory_at(const char *root) {
  uint64_t least = fs_min(physical(root), of_groups(root));
  least = fs_min(least, fs_min(own_limit(RLIMIT_AS), own_limit(RLIMIT_DATA)));
  return least == UNKNOWN ? UINT64_C(1) << 36 : least;
}

uint64_t fs_machine_memory(void) { return fs_machine_memory_at(""); }
