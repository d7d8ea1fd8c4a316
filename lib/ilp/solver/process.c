/* SPDX-License-Identifier: Apache-2.0 */
/* A guardian (guardian.h) starts the solver, and ends the solver and all that it has started when
 * this process asks for it or is gone.  Another guardian removes the directory after that. */
#include "ilp/solver/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
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

const char *fs_work_dir_place(uint32_t k) {
  static const char *const others[] = {"/tmp", "/dev/shm", "/var/tmp", NULL};
  const char *top = getenv("TMPDIR");
  return k > 0 ? others[k - 1] : top == NULL || *top == '\0' ? "/tmp" : top;
}

fs_status fs_work_dir_make(fs_arena *arena, const char *place, fs_work_dir *d, int *error) {
  *d = (fs_work_dir){.arena = arena, .guardian = {-1, -1, -1}};
  char *path = joined(arena, place, "fsched-solver-XXXXXX");
  if (path == NULL) {
    return FSCHED_SYSTEM;
  }
  *error = fs_guard_directory(&d->guardian, path);
  d->path = *error == 0 ? path : NULL;
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
  assert(d->path != NULL);
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

void fs_work_dir_remove(fs_work_dir *d) {
  if (d->path != NULL) {
    fs_guardian_release(&d->guardian);
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

static int spawn(fs_process *p, char **argv, int out, int err, const fs_work_dir *dir) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  fs_guarded_program program = {argv, &files, &attributes, dir->guardian.line, out, err};
  int error = posix_spawn_file_actions_init(&files);
  if (error != 0) {
    return error;
  }
  error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    error = set_attributes(&attributes);
    error = error != 0 ? error : set_files(&files, out, err);
    error = error != 0 ? error : fs_guard_program(&p->guardian, &program);
    (void)posix_spawnattr_destroy(&attributes);
  }
  (void)posix_spawn_file_actions_destroy(&files);
  return error;
}

static int unblock(int fd) { return fcntl(fd, F_SETFL, O_NONBLOCK) != 0 ? errno : 0; }

int fs_process_start(fs_process *p, const fs_work_dir *dir, char **argv) {
  assert(argv != NULL && argv[0] != NULL);
  *p = (fs_process){.guardian = {-1, -1, -1}, .out = -1, .err = -1};
  int out = -1, err = -1;
  int error = fs_pipe_above(&p->out, &out);
  error = error != 0 ? error : fs_pipe_above(&p->err, &err);
  error = error != 0 ? error : unblock(p->out);
  error = error != 0 ? error : unblock(p->err);
  error = error != 0 ? error : spawn(p, argv, out, err, dir);
  shut(&out);
  shut(&err);
  if (error != 0) {
    fs_process_release(p);
  }
  return error;
}

bool fs_process_ended(fs_process *p) {
  p->ended = p->ended || fs_guardian_reports(&p->guardian, &p->known, &p->status);
  return p->ended;
}

void fs_process_end(fs_process *p) {
  if (p->guardian.pid > 0) {
    fs_guardian_end(&p->guardian);
    (void)fs_process_ended(p);
  }
}

void fs_process_release(fs_process *p) {
  fs_process_end(p);
  fs_guardian_release(&p->guardian);
  shut(&p->out);
  shut(&p->err);
}
