/* SPDX-License-Identifier: Apache-2.0 */
/* After split_process() a guardian makes system calls only: no allocation, no lock, no stdio.  All
 * that it needs is prepared before. */
#include "ilp/solver/guardian.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "ilp/solver/guardian_tree.h"

enum { LOOK_MS = 1000, SUFFIX = 6 };

/* What a guardian holds. */
typedef struct post {
  int line, report; /* its ends of the pipes */
  int keep;         /* line of another guardian, or -1 */
  pid_t host;
} post;

/* ---- in this process */

static void shut(int *fd) {
  if (*fd >= 0) {
    (void)close(*fd);
    *fd = -1;
  }
}

int fs_pipe_above(int *from, int *to) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return errno;
  }
  *from = fcntl(ends[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  *to = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = *from < 0 || *to < 0 ? errno : 0;
  (void)close(ends[0]);
  (void)close(ends[1]);
  return error;
}

/* Copies this process.  Waits and handlers for the host's other children notice nothing of the
 * copy, as its end sends no signal.  All arguments are 0, so that their order, which differs
 * between machines, does not matter. */
static pid_t split_process(void) { return (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L); }

/* ---- in a guardian */

static void sort(int *at, int n) {
  for (int i = 1; i < n; i++) {
    for (int k = i; k > 0 && at[k - 1] > at[k]; k--) {
      int x = at[k];
      at[k] = at[k - 1];
      at[k - 1] = x;
    }
  }
}

/* Ends the guardian without running any exit handler of its host. */
static _Noreturn void leave_guardian(void) {
  for (;;) {
    (void)syscall(SYS_exit_group, 0);
  }
}

static void nothing(int number) { (void)number; }

/* Gives the guardian a process group that no terminal reaches, default signal handlers, and no open
 * files but those of its post and `more`. */
static void settle_process(const post *p, const int *more, int n_more) {
  int keep[5] = {p->line, p->report}, n = 2;
  for (int i = 0; i < n_more; i++) {
    keep[n++] = more[i];
  }
  if (p->keep >= 0) {
    keep[n++] = p->keep;
  }
  (void)setpgid(0, 0);
  for (int number = 1; number < NSIG; number++) {
    struct sigaction a = {.sa_handler = number == SIGCHLD ? nothing : SIG_DFL};
    (void)sigaction(number, &a, NULL);
  }
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= STDERR_FILENO; fd++) {
    (void)(null < 0 ? close(fd) : dup2(null, fd));
  }
  sort(keep, n);
  fs_descriptors_close_others(keep, n);
}

static void say(int fd, const void *bytes, size_t n) {
  while (write(fd, bytes, n) < 0 && errno == EINTR) {
  }
}

/* Waits for a while.  Has every process closed the other end of the line? */
static bool line_ended(const post *p, const sigset_t *mask) {
  struct pollfd line = {p->line, POLLIN, 0};
  struct timespec most = {LOOK_MS / 1000, 0};
  char byte;
  int n = ppoll(&line, 1, &most, mask);
  if (n > 0) {
    return read(p->line, &byte, 1) == 0;
  }
  return n == 0 && getppid() != p->host; /* a child of the host may hold the line for ever */
}

static _Noreturn void guard_directory(const post *p, char *path, size_t length) {
  sigset_t all;
  settle_process(p, NULL, 0);
  (void)sigfillset(&all);
  int error = mkdtemp(path) == NULL ? errno : 0;
  say(p->report, &error, sizeof error);
  say(p->report, path + length - SUFFIX, SUFFIX);
  (void)close(p->report);
  while (error == 0 && !line_ended(p, &all)) {
  }
  if (error == 0) {
    fs_tree_remove(path);
  }
  leave_guardian();
}

/* Kills the present children; false: it cannot list them. */
static bool kill_children(void) {
  char text[4096];
  int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  pid_t pid = 0;
  ssize_t n;
  if (fd < 0) {
    return false;
  }
  while ((n = read(fd, text, sizeof text)) > 0) {
    for (ssize_t i = 0; i < n; i++) {
      if (text[i] >= '0' && text[i] <= '9') {
        pid = pid * 10 + (text[i] - '0');
      } else if (pid > 0) {
        (void)kill(pid, SIGKILL);
        pid = 0;
      }
    }
  }
  if (pid > 0) {
    (void)kill(pid, SIGKILL);
  }
  (void)close(fd);
  return true;
}

/* Kills the program and all its descendants.  The children of a killed process become children of
 * the guardian, so this goes on until there are none.  The program is reaped only after its group
 * has been killed, so no other group can have the group's number. */
static void kill_all(pid_t program, bool *said, int report) {
  int status;
  (void)kill(-program, SIGKILL);
  for (bool leader = false;;) {
    bool seen = kill_children();
    if (leader && !seen) {
      return;
    }
    pid_t pid = waitpid(seen ? -1 : program, &status, __WALL);
    if (pid < 0 && errno != EINTR) {
      return;
    }
    leader = leader || pid == program;
    if (pid == program && !*said) {
      *said = true;
      say(report, &status, sizeof status);
    }
  }
}

/* Has the program ended?  *status is as waitpid gives it; the program stays unreaped. */
static bool has_ended(pid_t program, int *status) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)program, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return false;
  }
  *status = info.si_code == CLD_EXITED ? (info.si_status & 0xFF) << 8 : info.si_status & 0x7F;
  return true;
}

static _Noreturn void guard_program(const post *p, const fs_guarded_program *program) {
  const int pipes[] = {program->out, program->err};
  sigset_t but_child;
  pid_t pid = -1;
  int status;
  bool said = false;
  settle_process(p, pipes, 2);
  (void)sigfillset(&but_child);
  (void)sigdelset(&but_child, SIGCHLD);
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
  int error = posix_spawnp(&pid, program->argv[0], program->files, program->attributes,
                           program->argv, environ);
  (void)close(program->out);
  (void)close(program->err);
  say(p->report, &error, sizeof error);
  if (error != 0) {
    leave_guardian();
  }
  while (!line_ended(p, &but_child)) {
    if (!said && has_ended(pid, &status)) {
      said = true;
      say(p->report, &status, sizeof status);
    }
  }
  if (!said && has_ended(pid, &status)) {
    said = true;
    say(p->report, &status, sizeof status);
  }
  kill_all(pid, &said, p->report);
  leave_guardian();
}

/* ---- starting a guardian */

typedef struct ends {
  int line_from, line_to, report_from, report_to;
} ends;

static void shut_all(ends *e) {
  shut(&e->line_from);
  shut(&e->line_to);
  shut(&e->report_from);
  shut(&e->report_to);
}

/* Reads exactly n bytes; false: there are none. */
static bool hear(int fd, void *bytes, size_t n) {
  ssize_t got;
  do {
    got = read(fd, bytes, n);
  } while (got < 0 && errno == EINTR);
  return got == (ssize_t)n;
}

/* Starts a guardian with all signals blocked, so that no handler of the host runs in the copy. */
static int start_program(fs_guardian *g, char *path, const fs_guarded_program *program) {
  ends e = {-1, -1, -1, -1};
  sigset_t all, old;
  size_t length = path == NULL ? 0 : strlen(path);
  *g = (fs_guardian){-1, -1, -1};
  int error = fs_pipe_above(&e.line_from, &e.line_to);
  error = error != 0 ? error : fs_pipe_above(&e.report_from, &e.report_to);
  post p = {e.line_from, e.report_to, program == NULL ? -1 : program->directory_line, getpid()};
  if (error == 0) {
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    g->pid = split_process();
    if (g->pid == 0) {
      if (program == NULL) {
        guard_directory(&p, path, length);
      }
      guard_program(&p, program);
    }
    error = g->pid < 0 ? errno : 0;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
  }
  if (error != 0) {
    g->pid = -1;
    shut_all(&e);
    return error;
  }
  shut(&e.line_from);
  shut(&e.report_to);
  g->line = e.line_to;
  g->report = e.report_from;
  return hear(g->report, &error, sizeof error) ? error : EIO;
}

int fs_guard_directory(fs_guardian *g, char *template) {
  assert(strlen(template) >= 6);
  char suffix[SUFFIX];
  int error = start_program(g, template, NULL);
  if (error == 0 && hear(g->report, suffix, SUFFIX)) {
    memcpy(template + strlen(template) - SUFFIX, suffix, SUFFIX);
  } else {
    error = error == 0 ? EIO : error;
    fs_guardian_release(g);
  }
  shut(&g->report);
  return error;
}

int fs_guard_program(fs_guardian *g, const fs_guarded_program *p) {
  assert(p->argv != NULL && p->argv[0] != NULL);
  int error = start_program(g, NULL, p);
  if (error == 0 && fcntl(g->report, F_SETFL, O_NONBLOCK) != 0) {
    error = errno;
  }
  if (error != 0) {
    fs_guardian_release(g);
  }
  return error;
}

bool fs_guardian_reports(fs_guardian *g, bool *known, int *status) {
  int said;
  if (g->report < 0) {
    return true;
  }
  ssize_t n = read(g->report, &said, sizeof said);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
    return false;
  }
  shut(&g->report);
  *known = n == (ssize_t)sizeof said;
  *status = *known ? said : 0;
  return true;
}

void fs_guardian_end(fs_guardian *g) {
  shut(&g->line);
  if (g->pid > 0) {
    while (waitpid(g->pid, NULL, __WALL) < 0 && errno == EINTR) {
    }
    g->pid = -1;
  }
}

void fs_guardian_release(fs_guardian *g) {
  fs_guardian_end(g);
  shut(&g->report);
}
