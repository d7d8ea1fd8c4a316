/* SPDX-License-Identifier: Apache-2.0 */
/* The child writes to a pipe: one byte for the kind of its answer ('t' text, 'm' out of memory, 'f'
 * the message of another fault), the text or message, and a NUL.  Without the NUL, the child has
 * not come to its end. */
#include "draw/dot/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"

static bool put_bytes(int fd, const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t k = write(fd, bytes, n);
    if (k < 0 && errno != EINTR) {
      return false;
    }
    bytes += k < 0 ? 0 : k;
    n -= k < 0 ? 0 : (size_t)k;
  }
  return true;
}

/* Undoes what the parent does at signals, as it is not meant for the child, and lets the child die
 * without a core file. */
static void become_child(void) {
  static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGSEGV, SIGBUS, SIGABRT};
  const struct rlimit none = {0, 0};
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
    (void)signal(usual[i], SIG_DFL);
  }
  (void)setrlimit(RLIMIT_CORE, &none);
}

static void run_child(fsched_context *ctx, fs_apart_fn make, void *user, int fd) {
  become_child();
  fs_text text;
  fs_text_init(&text, ctx);
  fs_text_add(&text, "t", 1);
  fs_status status = make(user, &text);
  if (status == FSCHED_OK && !text.failed) {
    (void)(put_bytes(fd, text.at, text.n) && put_bytes(fd, "", 1));
    return;
  }
  uint32_t n = fsched_diag_count(ctx);
  const fsched_diag *last = n == 0 ? NULL : fsched_diag_get(ctx, n - 1);
  if (last == NULL || strcmp(last->code, fs_diag_code_name(FS_DIAG_OUT_OF_MEMORY)) == 0) {
    (void)put_bytes(fd, "m", 2);
  } else {
    (void)(put_bytes(fd, "f", 1) && put_bytes(fd, last->message, strlen(last->message) + 1));
  }
}

/* Reads everything from the pipe.  Returns false when out of memory (reported); the child must be
 * ended then. */
static bool get(int fd, fs_text *all) {
  char block[1 << 14];
  ssize_t n;
  while ((n = read(fd, block, sizeof block)) != 0 && !all->failed) {
    if (n > 0) {
      fs_text_add(all, block, (size_t)n);
    } else if (errno != EINTR) {
      break;
    }
  }
  return !all->failed;
}

static fs_status judge(fsched_context *ctx, const fs_text *all, fs_text *out) {
  if (all->n < 2 || all->at[all->n - 1] != '\0' || all->at[0] == 'm') {
    return fs_no_memory(ctx, all->n);
  }
  if (all->at[0] == 'f') {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_INTERNAL, FS_NOWHERE, NULL, "%s", all->at + 1);
  }
  fs_text_add(out, all->at + 1, all->n - 2);
  return out->failed ? FSCHED_SYSTEM : FSCHED_OK;
}

static fs_status hear_child(fsched_context *ctx, pid_t pid, int fd, fs_text *out) {
  fs_text all;
  fs_text_init(&all, ctx);
  bool heard = get(fd, &all);
  (void)close(fd); /* a child that still writes ends by this */
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
  }
  fs_status status = heard ? judge(ctx, &all, out) : FSCHED_SYSTEM;
  fs_text_drop(&all);
  return status;
}

fs_status fs_apart_run(fsched_context *ctx, fs_apart_fn make, void *user, fs_text *out) {
  assert(make != NULL && out != NULL);
  int end[2];
  pid_t pid = -1;
  if (pipe2(end, O_CLOEXEC) == 0) {
    pid = fork();
    if (pid == 0) {
      run_child(ctx, make, user, end[1]);
      _exit(0);
    }
    int error = errno;
    (void)close(end[1]);
    if (pid < 0) {
      (void)close(end[0]);
      errno = error;
    }
  }
  if (pid < 0) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                   "no process to draw the picture: %s", strerror(errno));
  }
  return hear_child(ctx, pid, end[0], out);
}
