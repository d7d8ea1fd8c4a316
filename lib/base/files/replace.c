/* SPDX-License-Identifier: Apache-2.0 */
/* All names are looked up from the open directory, so that a path or a name may be as long as the
 * system allows: the temporary file beside the target has a short name of its own. */
#include "base/files/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { BLOCK = 1 << 23, MOST_LINKS = 40, MOST_ATTEMPTS = 1000, BESIDE = 32 };

/* A name in an open directory. */
typedef struct file_place {
  int dir;
  char name[PATH_MAX];
} file_place;

/* The signals that are blocked: all but those that a fault of the program raises. */
typedef struct held_signals {
  sigset_t old;
  bool held;
} held_signals;

bool fs_file_put(int fd, const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    ssize_t put = write(fd, at, length);
    if (put < 0 && errno != EINTR) {
      return false;
    }
    at += put > 0 ? put : 0;
    length -= put > 0 ? (size_t)put : 0;
  }
  return true;
}

/* Signals */

static void hold_signals(held_signals *h) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  sigset_t set;
  sigfillset(&set);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    sigdelset(&set, faults[i]);
  }
  h->held = pthread_sigmask(SIG_BLOCK, &set, &h->old) == 0;
}

/* Pending signals take their effect here. */
static void let_signals_go(held_signals *h) {
  if (h->held) {
    int reason = errno;
    (void)pthread_sigmask(SIG_SETMASK, &h->old, NULL);
    errno = reason;
    h->held = false;
  }
}

/* Is a signal pending that the caller had not blocked and that ends the process? */
static bool signal_waits(const held_signals *h) {
  static const int ends[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGALRM,   SIGUSR1,
                             SIGUSR2, SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM, SIGPIPE};
  sigset_t waiting;
  if (!h->held || sigpending(&waiting) != 0) {
    return false;
  }
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    struct sigaction action;
    if (sigismember(&waiting, ends[i]) == 1 && sigismember(&h->old, ends[i]) == 0 &&
        sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
      return true;
    }
  }
  return false;
}

static bool put_watching(int fd, const void *bytes, size_t length, const held_signals *h) {
  const char *at = bytes;
  while (length > 0) {
    size_t n = fs_min(length, BLOCK);
    if (signal_waits(h)) {
      errno = EINTR;
      return false;
    }
    if (!fs_file_put(fd, at, n)) {
      return false;
    }
    at += n;
    length -= n;
  }
  return true;
}

/* Places */

/* Goes on from the directory `from`, which is closed, to that of `path`; its last part is the name.
 */
static bool step_into(file_place *p, int from, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *last = slash == NULL ? path : slash + 1;
  char directory[PATH_MAX] = ".";
  bool ok = strlen(path) < sizeof directory && *last != '\0';
  errno = *last == '\0' ? EISDIR : ENAMETOOLONG;
  if (ok && slash != NULL) { /* with its slash, so that "/" stays "/" */
    memcpy(directory, path, (size_t)(slash - path) + 1);
    directory[slash - path + 1] = '\0';
  }
  if (ok) {
    memmove(p->name, last, strlen(last) + 1);
    p->dir = openat(from, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->dir < 0 && errno == EACCES) { /* a directory that is writable but not readable */
      p->dir = openat(from, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    ok = p->dir >= 0;
  }
  if (from >= 0) {
    int reason = errno;
    (void)close(from);
    errno = reason;
  }
  return ok;
}

/* Finds the place behind symbolic links in the last part. */
static bool find_place(file_place *p, const char *target) {
  if (!step_into(p, AT_FDCWD, target)) {
    return false;
  }
  for (int links = 0; links < MOST_LINKS; links++) {
    char link[PATH_MAX];
    ssize_t n = readlinkat(p->dir, p->name, link, sizeof link - 1);
    if (n < 0) {
      return true; /* no link, or nothing there */
    }
    link[n] = '\0';
    if (!step_into(p, p->dir, link)) {
      return false;
    }
  }
  (void)close(p->dir);
  errno = ELOOP;
  return false;
}

/* New files */

/* A new file gets mode 0666 without the bits of the umask.  The umask belongs to the process and
 * cannot be read without setting it, so open() sets the mode, and the mode of an old file is then
 * set explicitly. */
static int made(int fd, const struct stat *old) {
  if (fd >= 0 && old != NULL && fchmod(fd, old->st_mode & 07777) != 0) {
    int reason = errno;
    (void)close(fd);
    errno = reason;
    return -1;
  }
  return fd;
}

static void name_beside(char *name, unsigned attempt) {
  (void)snprintf(name, BESIDE, ".fsched-%x-%x", (unsigned)getpid(), attempt);
}

static int make_named(const file_place *p, const struct stat *old, char *name) {
  for (unsigned attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    name_beside(name, attempt);
    int fd = openat(p->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) {
      continue;
    }
    int kept = made(fd, old);
    if (fd >= 0 && kept < 0) {
      int reason = errno;
      (void)unlinkat(p->dir, name, 0);
      errno = reason;
    }
    return kept;
  }
  return -1;
}

/* Flushes an open file if `durable`. */
static bool finish_file(int fd, bool durable) { return !durable || fsync(fd) == 0; }

static bool close_new(int fd, bool ok) {
  int reason = errno;
  bool closed = close(fd) == 0;
  errno = ok ? errno : reason;
  return ok && closed;
}

static bool flush_directory(const file_place *p, bool durable) {
  if (!durable || fsync(p->dir) == 0) {
    return true;
  }
  /* Not every file system can flush directories, and not every directory can be read. */
  return errno == EINVAL || errno == EBADF || errno == ENOTSUP || errno == EROFS;
}

/* Writes to a named file from the start.  Requires: signals are blocked. */
static bool replace_named(const file_place *p, const struct stat *old, const fs_file_content *c,
                          bool durable, const held_signals *h) {
  char name[BESIDE];
  int fd = make_named(p, old, name);
  if (fd < 0) {
    return false;
  }
  bool ok = put_watching(fd, c->head, c->head_length, h) &&
            put_watching(fd, c->bytes, c->length, h) && finish_file(fd, durable);
  ok = close_new(fd, ok);
  if (ok && signal_waits(h)) {
    ok = false;
    errno = EINTR;
  }
  ok = ok && renameat(p->dir, name, p->dir, p->name) == 0;
  if (!ok) {
    int reason = errno;
    (void)unlinkat(p->dir, name, 0);
    errno = reason;
  }
  return ok;
}

static bool link_beside(int fd, const file_place *p, char *name) {
  char self[BESIDE];
  (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
  for (unsigned attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    name_beside(name, attempt);
    if (linkat(AT_FDCWD, self, p->dir, name, AT_SYMLINK_FOLLOW) == 0) {
      return true;
    }
    if (errno != EEXIST) {
      return false;
    }
  }
  return false;
}

static bool give_name(int fd, const file_place *p, bool is_new) {
  char name[BESIDE];
  (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  if (is_new && linkat(AT_FDCWD, name, p->dir, p->name, AT_SYMLINK_FOLLOW) == 0) {
    return true;
  }
  if (is_new && errno != EEXIST) { /* EEXIST: another process made the file first */
    return false;
  }
  if (!link_beside(fd, p, name)) {
    return false;
  }
  if (renameat(p->dir, name, p->dir, p->name) == 0) {
    return true;
  }
  int reason = errno;
  (void)unlinkat(p->dir, name, 0);
  errno = reason;
  return false;
}

/* Writes to a file without a name first.  *possible is false when the system or its file system
 * lacks such files. */
static bool replace_unnamed(const file_place *p, const struct stat *old, const fs_file_content *c,
                            bool durable, bool *possible) {
  held_signals h = {.held = false};
  int made_fd = openat(p->dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  *possible = made_fd >= 0;
  int fd = made(made_fd, old);
  if (fd < 0) {
    return false;
  }
  bool ok = fs_file_put(fd, c->head, c->head_length) && fs_file_put(fd, c->bytes, c->length) &&
            finish_file(fd, durable);
  if (ok) {
    hold_signals(&h);
    ok = give_name(fd, p, old == NULL);
    *possible = ok; /* there may be no /proc to link from */
  }
  ok = close_new(fd, ok);
  let_signals_go(&h);
  return ok;
}

static bool replace_at(const file_place *p, const struct stat *old, const fs_file_content *c,
                       bool durable) {
  bool possible;
  bool ok = replace_unnamed(p, old, c, durable, &possible);
  if (!possible) {
    held_signals h;
    hold_signals(&h);
    ok = replace_named(p, old, c, durable, &h);
    let_signals_go(&h);
  }
  return ok && flush_directory(p, durable);
}

bool fs_file_replace(const char *target, const struct stat *old, const fs_file_content *c,
                     bool durable) {
  file_place p;
  if (!find_place(&p, target)) {
    return false;
  }
  bool ok = replace_at(&p, old, c, durable);
  int reason = errno;
  (void)close(p.dir);
  errno = reason;
  return ok;
}
