/* SPDX-License-Identifier: Apache-2.0 */
/* Reading goes block by block, so that pipes and devices need no special case.  Writing goes to a
 * new file in the directory of the target, is flushed, and takes the target's name at the end; a
 * reader sees the old content or the new, never a part. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_FIRST = 1 << 16 };

static fs_status failed(fsched_context *ctx, const char *action, const char *path) {
  const char *standard = strcmp(action, "read") == 0 ? "standard input" : "standard output";
  return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_FILE, FS_NOWHERE, NULL, "cannot %s %s: %s", action,
                 strcmp(path, "-") == 0 ? standard : path, strerror(errno));
}

/* One more byte than the size, so that the end of a regular file is met without growing. */
static size_t first_size(int fd) {
  struct stat st;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
    return (size_t)st.st_size + 1;
  }
  return READ_FIRST;
}

static fs_status read_all(fsched_context *ctx, int fd, const char *path, char **text,
                          size_t *length) {
  size_t cap = first_size(fd);
  size_t n = 0;
  char *at = fs_realloc(ctx, NULL, 0, cap);
  if (at == NULL) {
    return FSCHED_SYSTEM;
  }
  for (;;) {
    ssize_t got = read(fd, at + n, cap - n);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      fs_status status = failed(ctx, "read", path);
      (void)fs_realloc(ctx, at, cap, 0);
      return status;
    }
    n += (size_t)got;
    if (got == 0) {
      break;
    }
    if (n == cap) {
      char *grown = fs_realloc(ctx, at, cap, cap * 2);
      if (grown == NULL) {
        (void)fs_realloc(ctx, at, cap, 0);
        return FSCHED_SYSTEM;
      }
      at = grown;
      cap *= 2;
    }
  }
  at[n] = '\0'; /* n < cap: the loop ends by a read of nothing into room that was there */
  char *exact = fs_realloc(ctx, at, cap, n + 1);
  if (exact == NULL) {
    (void)fs_realloc(ctx, at, cap, 0);
    return FSCHED_SYSTEM;
  }
  *text = exact;
  *length = n;
  return FSCHED_OK;
}

fs_status fs_file_read(fsched_context *ctx, const char *path, char **text, size_t *length) {
  if (strcmp(path, "-") == 0) {
    return read_all(ctx, STDIN_FILENO, path, text, length);
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return failed(ctx, "open", path);
  }
  fs_status status = read_all(ctx, fd, path, text, length);
  (void)close(fd);
  return status;
}

static bool write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t put = write(fd, bytes, length);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return false;
    }
    bytes += put;
    length -= (size_t)put;
  }
  return true;
}

/* What a file is made of: two blocks, the first of which may be empty. */
typedef struct content {
  const void *head, *bytes;
  size_t head_length, length;
} content;

static bool write_content(int fd, const content *c) {
  return write_all(fd, c->head, c->head_length) && write_all(fd, c->bytes, c->length);
}

/* A device, pipe or socket: there is nothing to replace. */
static fs_status write_in_place(fsched_context *ctx, const char *path, const content *c) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return failed(ctx, "open", path);
  }
  bool ok = write_content(fd, c);
  fs_status status = ok ? FSCHED_OK : failed(ctx, "write", path);
  if (close(fd) != 0 && ok) {
    status = failed(ctx, "write", path);
  }
  return status;
}

/* What a new file would get: 0666 without the umask.  The umask is the process's and cannot be
 * read without setting it, so the file is made by open() and its mode kept. */
static int make_temporary(char *path, const struct stat *old) {
  size_t n = strlen(path);
  for (unsigned attempt = 0; attempt < 1000; attempt++) {
    (void)snprintf(path + n - 8, 9, "%04x%04x", (unsigned)getpid() & 0xffffu, attempt);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && old != NULL && fchmod(fd, old->st_mode & 07777) != 0) {
      int reason = errno;
      (void)close(fd);
      (void)unlink(path);
      errno = reason;
      return -1;
    }
    if (fd >= 0 || errno != EEXIST) {
      return fd;
    }
  }
  return -1;
}

static fs_status replace(fsched_context *ctx, const char *target, const struct stat *old,
                         const content *c) {
  size_t n = strlen(target) + sizeof ".12345678";
  char *temporary = fs_realloc(ctx, NULL, 0, n);
  if (temporary == NULL) {
    return FSCHED_SYSTEM;
  }
  (void)snprintf(temporary, n, "%s.12345678", target);
  fs_status status = FSCHED_OK;
  int fd = make_temporary(temporary, old);
  if (fd < 0) {
    status = failed(ctx, "create", target);
  } else {
    bool ok = write_content(fd, c);
    int reason = errno;
    if (close(fd) != 0 && ok) {
      ok = false;
      reason = errno;
    }
    if (ok && rename(temporary, target) != 0) {
      ok = false;
      reason = errno;
    }
    if (!ok) {
      (void)unlink(temporary);
      errno = reason;
      status = failed(ctx, "write", target);
    }
  }
  (void)fs_realloc(ctx, temporary, n, 0);
  return status;
}

bool fs_file_behind(const char *path, char *out) {
  enum { MOST_LINKS = 40 };
  size_t length = strlen(path);
  if (length >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(out, path, length + 1);
  for (int links = 0; links < MOST_LINKS; links++) {
    char link[PATH_MAX];
    ssize_t n = readlink(out, link, sizeof link);
    if (n < 0) {
      return true; /* no link, or nothing there */
    }
    const char *slash = link[0] == '/' ? NULL : strrchr(out, '/');
    size_t kept = slash == NULL ? 0 : (size_t)(slash - out) + 1;
    if (kept + (size_t)n >= PATH_MAX) {
      errno = ENAMETOOLONG;
      return false;
    }
    memcpy(out + kept, link, (size_t)n);
    out[kept + (size_t)n] = '\0';
  }
  errno = ELOOP;
  return false;
}

static fs_status write_file(fsched_context *ctx, const char *path, const content *c) {
  if (strcmp(path, "-") == 0) {
    return write_content(STDOUT_FILENO, c) ? FSCHED_OK : failed(ctx, "write", path);
  }
  struct stat old;
  bool exists = stat(path, &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return failed(ctx, "write", path);
  }
  if (exists && !S_ISREG(old.st_mode)) {
    return write_in_place(ctx, path, c);
  }
  /* The file behind a link is replaced, not the link. */
  char resolved[PATH_MAX];
  if (!fs_file_behind(path, resolved)) {
    return failed(ctx, "write", path);
  }
  return replace(ctx, resolved, exists ? &old : NULL, c);
}

fs_status fs_file_write(fsched_context *ctx, const char *path, const void *bytes, size_t length) {
  return write_file(ctx, path, &(content){.bytes = bytes, .length = length});
}

fs_status fs_file_write_two(fsched_context *ctx, const char *path, const void *head,
                            size_t head_length, const void *bytes, size_t length) {
  return write_file(ctx, path, &(content){head, bytes, head_length, length});
}
