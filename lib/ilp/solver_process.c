/* SPDX-License-Identifier: Apache-2.0 */
/* posix_spawn, as a program with threads may call it at any time: nothing of this process runs in
 * the new one.  The leader of the group stays unreaped until its group has been killed, so that the
 * group's number cannot be that of another. */
#include "ilp/solver_process.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the directory */

static char *joined(fs_arena *arena, const char *dir, const char *name) {
  size_t n = strlen(dir), k = strlen(name);
  char *path = fs_arena_alloc(arena, n + k + 2);
  if (path != NULL) {
    memcpy(path, dir, n);
    path[n] = '/';
    memcpy(path + n + 1, name, k + 1);
  }
  return path;
}

fs_status fs_work_dir_make(fs_arena *arena, fs_work_dir *d, int *error) {
  const char *top = getenv("TMPDIR");
  top = top == NULL || *top == '\0' ? "/tmp" : top;
  *d = (fs_work_dir){arena, NULL};
  char *path = joined(arena, top, "fsched-solver-XXXXXX");
  if (path == NULL) {
    return FSCHED_SYSTEM;
  }
  d->path = mkdtemp(path);
  *error = d->path == NULL ? errno : 0;
  return FSCHED_OK;
}

static int write_all(int fd, const char *text, size_t length) {
  while (length > 0) {
    ssize_t n = write(fd, text, length);
    if (n < 0 && errno != EINTR) {
      return errno;
    }
    size_t done = n < 0 ? 0 : (size_t)n;
    text += done;
    length -= done;
  }
  return 0;
}

fs_status fs_work_dir_write(const fs_work_dir *d, const char *name, const char *text, size_t length,
                            char **path, int *error) {
  *path = joined(d->arena, d->path, name);
  if (*path == NULL) {
    return FSCHED_SYSTEM;
  }
  int fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  *error = fd < 0 ? errno : write_all(fd, text, length);
  if (fd >= 0 && close(fd) != 0 && *error == 0) {
    *error = errno;
  }
  return FSCHED_OK;
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
  (void)st, (void)kind, (void)ftw;
  (void)remove(path);
  return 0;
}

void fs_work_dir_remove(fs_work_dir *d) {
  if (d->path != NULL) {
    (void)nftw(d->path, drop, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    d->path = NULL;
  }
}

/* ---- the process */

static void shut(int *fd) {
  if (*fd >= 0) {
    (void)close(*fd);
    *fd = -1;
  }
}

/* A pipe whose ends are not standard files, even if this process has none; its end for reading
 * does not block. */
static int pipe_above(int *from, int *to) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return errno;
  }
  *from = fcntl(ends[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  *to = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = *from < 0 || *to < 0 || fcntl(*from, F_SETFL, O_NONBLOCK) != 0 ? errno : 0;
  (void)close(ends[0]);
  (void)close(ends[1]);
  return error;
}

static int set_attributes(posix_spawnattr_t *a) {
  sigset_t all, none;
  (void)sigfillset(&all);
  (void)sigemptyset(&none);
  int error = posix_spawnattr_setflags(
      a, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  error = error != 0 ? error : posix_spawnattr_setpgroup(a, 0);
  error = error != 0 ? error : posix_spawnattr_setsigdefault(a, &all);
  return error != 0 ? error : posix_spawnattr_setsigmask(a, &none);
}

static int set_files(posix_spawn_file_actions_t *f, int out, int err) {
  int error = posix_spawn_file_actions_addopen(f, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  error = error != 0 ? error : posix_spawn_file_actions_adddup2(f, out, STDOUT_FILENO);
  error = error != 0 ? error : posix_spawn_file_actions_adddup2(f, err, STDERR_FILENO);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
  error = error != 0 ? error : posix_spawn_file_actions_addclosefrom_np(f, STDERR_FILENO + 1);
#endif
#endif
  return error;
}

static int spawn(pid_t *pid, char **argv, int out, int err) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&files);
  if (error != 0) {
    return error;
  }
  error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    error = set_attributes(&attributes);
    error = error != 0 ? error : set_files(&files, out, err);
    error = error != 0 ? error : posix_spawnp(pid, argv[0], &files, &attributes, argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
  }
  (void)posix_spawn_file_actions_destroy(&files);
  return error;
}

int fs_process_start(fs_process *p, char **argv) {
  *p = (fs_process){.pid = -1, .out = -1, .err = -1};
  int out = -1, err = -1;
  int error = pipe_above(&p->out, &out);
  error = error != 0 ? error : pipe_above(&p->err, &err);
  error = error != 0 ? error : spawn(&p->pid, argv, out, err);
  shut(&out);
  shut(&err);
  if (error != 0) {
    p->pid = -1;
    fs_process_release(p);
  }
  return error;
}

bool fs_process_ended(const fs_process *p) {
  siginfo_t info = {0};
  int r;
  do {
    r = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT);
  } while (r != 0 && errno == EINTR);
  return r != 0 || info.si_pid != 0;
}

void fs_process_end(fs_process *p) {
  if (p->pid < 0) {
    return;
  }
  (void)kill(-p->pid, SIGKILL);
  pid_t r;
  do {
    r = waitpid(p->pid, &p->status, 0);
  } while (r < 0 && errno == EINTR);
  p->known = r >= 0;
  p->pid = -1;
}

void fs_process_release(fs_process *p) {
  fs_process_end(p);
  shut(&p->out);
  shut(&p->err);
}
