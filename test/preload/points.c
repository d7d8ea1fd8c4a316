/* SPDX-License-Identifier: Apache-2.0 */
/* This library stands before the C library (LD_PRELOAD) and watches the points at which a program
 * changes files: every call of open that makes a file, write, fsync, link, rename and unlink.
 *
 *   POINTS_LOG=FILE        gets a line for each point: its name, what it is of, and the result
 *   POINTS_SIGNAL=NUMBER   raises that signal at point POINTS_AT=N, counted from 1
 *   POINTS_AFTER=1         raises it after the N-th call, not before it
 *   POINTS_FAIL=NAME:ERRNO lets every call of that name fail so; open:E is for those that make a
 *                          file, tmpfile:E for those that make one without a name; it may be a
 *                          list, with commas
 *   POINTS_RANDOM=N        lets getrandom give bytes of that value
 *
 * The library's own work uses system calls directly, and is no point. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int point; /* the process has only one thread when it writes */

static void say(const char *name, const char *what, long result) {
  const char *path = getenv("POINTS_LOG");
  char line[5000];
  int n = snprintf(line, sizeof line, "%s %s %ld\n", name, what, result);
  long fd = path == NULL || n < 0
                ? -1
                : syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd >= 0) {
    (void)!syscall(SYS_write, fd, line, (size_t)n);
    (void)syscall(SYS_close, fd);
  }
}

static void raise_at(int after) {
  const char *number = getenv("POINTS_SIGNAL"), *at = getenv("POINTS_AT");
  point += !after;
  if (number != NULL && at != NULL && atoi(at) == point &&
      after == (getenv("POINTS_AFTER") != NULL)) {
    (void)kill(getpid(), atoi(number));
  }
}

/* The errno that calls of this name are to fail with, or 0. */
static int failure(const char *name) {
  const char *at = getenv("POINTS_FAIL");
  size_t n = strlen(name);
  for (; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
    if (strncmp(at, name, n) == 0 && at[n] == ':') {
      return atoi(at + n + 1);
    }
  }
  return 0;
}

/* What a descriptor refers to: "file" for plain files and directories, else "other". */
static const char *what_is(int fd) {
  char link[64], to[16];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, to, sizeof to);
  return n > 0 && to[0] == '/' && strncmp(to, "/dev/", 5) != 0 ? "file" : "other";
}

#define POINT(name, what, call)                   \
  do {                                            \
    int wrong = failure(name);                    \
    raise_at(0);                                  \
    long result = wrong == 0 ? (long)(call) : -1; \
    int reason = wrong == 0 ? errno : wrong;      \
    say(name, what, result);                      \
    raise_at(1);                                  \
    errno = reason;                               \
    return result;                                \
  } while (0)

/* Finds the next definition of a function; through a union, as ISO C has no such conversion. */
#define NEXT(type, name) \
  union {                \
    void *symbol;        \
    type;                \
  } next = {dlsym(RTLD_NEXT, name)}

static int is_making(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}
static const char *making_name(int flags) {
  return (flags & O_TMPFILE) == O_TMPFILE ? "tmpfile" : "open";
}

int openat(int dir, const char *path, int flags, ...) {
  NEXT(int (*call)(int, const char *, int, mode_t), "openat");
  va_list args;
  va_start(args, flags);
  mode_t mode = is_making(flags) ? va_arg(args, mode_t) : 0;
  va_end(args);
  if (!is_making(flags)) {
    return next.call(dir, path, flags, mode);
  }
  POINT(making_name(flags), path, next.call(dir, path, flags, mode));
}

int open(const char *path, int flags, ...) {
  NEXT(int (*call)(const char *, int, mode_t), "open");
  va_list args;
  va_start(args, flags);
  mode_t mode = is_making(flags) ? va_arg(args, mode_t) : 0;
  va_end(args);
  if (!is_making(flags)) {
    return next.call(path, flags, mode);
  }
  POINT(making_name(flags), path, next.call(path, flags, mode));
}

ssize_t write(int fd, const void *bytes, size_t n) {
  NEXT(ssize_t(*call)(int, const void *, size_t), "write");
  POINT("write", what_is(fd), next.call(fd, bytes, n));
}

/* Nothing is flushed, so that no test waits for a disk. */
int fsync(int fd) { POINT("fsync", what_is(fd), fcntl(fd, F_GETFD) < 0 ? -1 : 0); }

int rename(const char *from, const char *to) {
  NEXT(int (*call)(const char *, const char *), "rename");
  POINT("rename", to, next.call(from, to));
}

int renameat(int a, const char *from, int b, const char *to) {
  NEXT(int (*call)(int, const char *, int, const char *), "renameat");
  POINT("rename", to, next.call(a, from, b, to));
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
  NEXT(int (*call)(int, const char *, int, const char *, int), "linkat");
  POINT("link", to, next.call(a, from, b, to, flags));
}

int unlink(const char *path) {
  NEXT(int (*call)(const char *), "unlink");
  POINT("unlink", path, next.call(path));
}

int unlinkat(int dir, const char *path, int flags) {
  NEXT(int (*call)(int, const char *, int), "unlinkat");
  POINT("unlink", path, next.call(dir, path, flags));
}

ssize_t getrandom(void *out, size_t n, unsigned flags) {
  const char *value = getenv("POINTS_RANDOM");
  int wrong = failure("getrandom");
  if (wrong != 0) {
    errno = wrong;
    return -1;
  }
  if (value == NULL) {
    return syscall(SYS_getrandom, out, n, flags);
  }
  memset(out, atoi(value), n);
  return (ssize_t)n;
}
