/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/process/children.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

extern char **environ;

bool fs_child_can_fork(void) {
  DIR *d = opendir("/proc/self/task");
  if (d == NULL) {
    return false;
  }
  int n = 0;
  for (const struct dirent *e = readdir(d); e != NULL && n < 2; e = readdir(d)) {
    n += e->d_name[0] != '.';
  }
  (void)closedir(d);
  return n == 1;
}

static int reap_by_pid(pid_t pid, int error) {
  (void)kill(pid, SIGKILL);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
  }
  return error;
}

static int take_child(pid_t pid, fs_worker_child *out) {
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) {
    return reap_by_pid(pid, errno);
  }
  *out = (fs_worker_child){pid, fd};
  return 0;
}

int fs_child_fork(fsched_context *ctx, const fs_worker_post *post, const fs_opened_kernels *kernels,
                  fs_worker_child *out) {
  *out = (fs_worker_child){.pidfd = -1};
  pid_t pid = fork();
  if (pid < 0) {
    return errno;
  }
  if (pid == 0) {
    fs_opened_kernels own = *kernels;
    own.birth = fs_process_birth();
    if (!fs_worker_settle(post)) {
      _exit(FS_WORKER_UNREADY);
    }
    fs_worker_serve(ctx, post, &own);
  }
  return take_child(pid, out);
}

int fs_child_spawn(const fs_worker_post *post, const char *program, fs_worker_child *out) {
  *out = (fs_worker_child){.pidfd = -1};
  assert(post->mapping.fd > FS_WORKER_BELL_FD && post->bell > FS_WORKER_BELL_FD);
  char worker[16], host[24], name[] = "fsched-worker";
  char *argv[] = {name, worker, host, NULL};
  (void)snprintf(worker, sizeof worker, "%u", post->worker);
  (void)snprintf(host, sizeof host, "%lld", (long long)post->host);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  sigset_t none, all;
  (void)sigemptyset(&none);
  (void)sigfillset(&all);
  if (posix_spawn_file_actions_init(&actions) != 0) {
    return ENOMEM;
  }
  if (posix_spawnattr_init(&attr) != 0) {
    (void)posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  pid_t pid;
  int error = posix_spawn_file_actions_adddup2(&actions, post->mapping.fd, FS_WORKER_MAPPING_FD);
  error = error != 0 ? error
                     : posix_spawn_file_actions_adddup2(&actions, post->bell, FS_WORKER_BELL_FD);
  error = error != 0 ? error : posix_spawnattr_setsigmask(&attr, &none);
  error = error != 0 ? error : posix_spawnattr_setsigdefault(&attr, &all);
  error = error != 0
              ? error
              : posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  error = error != 0 ? error : posix_spawnp(&pid, program, &actions, &attr, argv, environ);
  (void)posix_spawnattr_destroy(&attr);
  (void)posix_spawn_file_actions_destroy(&actions);
  return error != 0 ? error : take_child(pid, out);
}

void fs_child_reap(fs_worker_child *c, char *text, size_t room) {
  assert(c->pidfd >= 0);
  siginfo_t info = {0};
  int n;
  do {
    n = waitid((idtype_t)P_PIDFD, (id_t)c->pidfd, &info, WEXITED);
  } while (n < 0 && errno == EINTR);
  if (n < 0) { /* where the application lets its children vanish */
    (void)snprintf(text, room, "has ended");
  } else if (info.si_code == CLD_EXITED) {
    (void)snprintf(text, room, "has exited with status %d", info.si_status);
  } else {
    (void)snprintf(text, room, "has been killed by signal %d", info.si_status);
  }
  (void)close(c->pidfd);
  *c = (fs_worker_child){.pidfd = -1};
}

void fs_child_kill(const fs_worker_child *c) {
  if (c->pidfd >= 0) {
    (void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
  }
}
