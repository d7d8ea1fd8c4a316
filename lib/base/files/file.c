/* SPDX-License-Identifier: Apache-2.0 */
/* Reading goes block by block, so that pipes and devices need no special case.  A plain file is
 * replaced, so that a reader sees the old content or the new, never a part. */
#include "base/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/replace.h"

enum { READ_FIRST = 1 << 16 };

static fs_status failed(fsched_context *ctx, const char *action, const char *path) {
  const char *standard = strcmp(action, "read") == 0 ? "standard input" : "standard output";
  return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_FILE, FS_NOWHERE, NULL, "cannot %s %s: %s", action,
                 strcmp(path, "-") == 0 ? standard : path, strerror(errno));
}

/* One byte more than the size, so that reading meets the end of a regular file without growing the
 * block. */
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
  at[n] = '\0'; /* n < cap: the loop ends with an empty read into room that was left */
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

static bool write_content(int fd, const fs_file_content *c) {
  return fs_file_put(fd, c->head, c->head_length) && fs_file_put(fd, c->bytes, c->length);
}

/* Writes to a device, pipe or socket, which cannot be replaced. */
static fs_status write_in_place(fsched_context *ctx, const char *path, const fs_file_content *c) {
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

static fs_status write_file(fsched_context *ctx, const char *path, const fs_file_content *c) {
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
  return fs_file_replace(path, exists ? &old : NULL, c, fs_context_durable(ctx))
             ? FSCHED_OK
             : failed(ctx, "write", path);
}

fs_status fs_file_write(fsched_context *ctx, const char *path, const void *bytes, size_t length) {
  return write_file(ctx, path, &(fs_file_content){.bytes = bytes, .length = length});
}

fs_status fs_file_write_two(fsched_context *ctx, const char *path, const void *head,
                            size_t head_length, const void *bytes, size_t length) {
  return write_file(ctx, path, &(fs_file_content){head, bytes, head_length, length});
}
