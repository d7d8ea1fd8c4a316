/* SPDX-License-Identifier: Apache-2.0 */
/* short_of SHORT.so MOST [FILE]... -- COMMAND... runs COMMAND, which has to succeed and write the
 * files, once as it is, and then again and again with the n-th request for memory failing, for
 * every n, or for MOST of them, equally far apart (0: all).  Each n is tried alone, and once with
 * all requests that follow (not with SHORT_ONCE).  SHORT_TURN shifts the choice.
 *
 * A run that is short of memory ends within its time, by itself, with status 0, 5 or 6 (a replay
 * that failed), and with a message unless the status is 0.  A file is then as it was written
 * before, or, after a failure, missing; and nothing else is left in this directory or in TMPDIR. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 120, MOST_FILES = 16 };

typedef struct short_of_bytes {
  char *at;
  size_t n;
  bool there;
} short_of_bytes;

typedef struct job {
  const char *preload;
  char *const *command;
  char *const *file;
  unsigned n_files;
  short_of_bytes want[MOST_FILES];
  unsigned left; /* entries that the directories had before */
} job;

static void give_up(const char *what) {
  perror(what);
  exit(2);
}

static short_of_bytes read_file(const char *path) {
  short_of_bytes b = {NULL, 0, false};
  struct stat s;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return b;
  }
  if (fstat(fd, &s) != 0 || (b.at = malloc((size_t)s.st_size + 1)) == NULL) {
    give_up(path);
  }
  for (ssize_t k;
       b.n < (size_t)s.st_size && (k = read(fd, b.at + b.n, (size_t)s.st_size - b.n)) > 0;) {
    b.n += (size_t)k;
  }
  (void)close(fd);
  b.at[b.n] = '\0';
  b.there = true;
  return b;
}

static unsigned entries(const char *path) {
  unsigned n = 0;
  DIR *d = opendir(path);
  if (d == NULL) {
    give_up(path);
  }
  while (readdir(d) != NULL) {
    n++;
  }
  (void)closedir(d);
  return n;
}

static unsigned everything(const job *j) {
  unsigned n = entries(".") + entries("temporary");
  for (unsigned i = 0; i < j->n_files; i++) {
    n -= access(j->file[i], F_OK) == 0;
  }
  return n;
}

/* Becomes the command: the child never returns, and gets its orders through its environment. */
static void become(const job *j, unsigned long long at, bool on) {
  char number[32];
  (void)snprintf(number, sizeof number, "%llu", at);
  int out = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int err = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int in = open("/dev/null", O_RDONLY);
  if (out < 0 || err < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) {
    _exit(126);
  }
  (void)setenv("SHORT_AT", number, 1);
  (void)setenv("TMPDIR", "temporary", 1);
  (void)setenv("LD_PRELOAD", j->preload, 1);
  if (on) {
    (void)setenv("SHORT_ON", "1", 1);
  }
  if (at == 0) {
    (void)setenv("SHORT_COUNT", "count", 1);
  }
  (void)execv(j->command[0], j->command);
  _exit(127);
}

/* Returns the status as wait gives it, which is SIGALRM when the run took too long. */
static int run(const job *j, unsigned long long at, bool on) {
  for (unsigned i = 0; i < j->n_files; i++) {
    (void)unlink(j->file[i]);
  }
  pid_t pid = fork();
  if (pid < 0) {
    give_up("fork");
  }
  if (pid == 0) {
    (void)alarm(LIMIT_SECONDS);
    become(j, at, on);
  }
  int status;
  if (waitpid(pid, &status, 0) != pid) {
    give_up("waitpid");
  }
  return status;
}

static const char *files_fault(const job *j, bool done) {
  const char *fault = NULL;
  for (unsigned i = 0; i < j->n_files && fault == NULL; i++) {
    short_of_bytes b = read_file(j->file[i]);
    if (!b.there) {
      fault = done ? "a file is missing" : NULL;
    } else if (b.n != j->want[i].n || memcmp(b.at, j->want[i].at, b.n) != 0) {
      fault = "a file is not as it must be";
    }
    free(b.at);
  }
  return fault;
}

/* Returns NULL when the run was as promised. */
static const char *fault_of(const job *j, int status) {
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM ? "no end" : strsignal(WTERMSIG(status));
  }
  int code = WEXITSTATUS(status);
  if (code != 0 && code != 5 && code != 6) {
    return "a status that says something else";
  }
  struct stat s;
  if (code != 0 && (stat("stderr", &s) != 0 || s.st_size == 0)) {
    return "no message";
  }
  if (everything(j) != j->left) {
    return "something is left";
  }
  return files_fault(j, code == 0);
}

static void show(const job *j, unsigned long long at, bool on, const char *fault, int status) {
  printf("FAIL request %llu%s: %s (status %d):", at, on ? " and all that follow" : "", fault,
         WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  for (char *const *word = j->command; *word != NULL; word++) {
    printf(" %s", *word);
  }
  short_of_bytes b = read_file("stderr");
  printf("\n%.300s", b.there ? b.at : "");
  free(b.at);
  (void)fflush(stdout);
}

static unsigned long long count_requests(job *j) {
  int status = run(j, 0, false);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    show(j, 0, false, "the command fails anyway", status);
    exit(1);
  }
  for (unsigned i = 0; i < j->n_files; i++) {
    j->want[i] = read_file(j->file[i]);
    if (!j->want[i].there) {
      give_up(j->file[i]);
    }
  }
  short_of_bytes count = read_file("count");
  j->left = everything(j);
  return count.there ? strtoull(count.at, NULL, 10) : 0;
}

int main(int argc, char **argv) {
  int split = 1;
  while (split < argc && strcmp(argv[split], "--") != 0) {
    split++;
  }
  if (split < 3 || split + 1 >= argc || split - 3 > MOST_FILES) {
    (void)fprintf(stderr, "usage: short_of SHORT.so MOST [FILE]... -- COMMAND...\n");
    return 2;
  }
  job j = {.preload = argv[1], .command = argv + split + 1, .file = argv + 3};
  j.n_files = (unsigned)(split - 3);
  unsigned long long most = strtoull(argv[2], NULL, 10), failed = 0, passed = 0;
  const char *turn = getenv("SHORT_TURN");
  int modes = getenv("SHORT_ONCE") == NULL ? 2 : 1;
  (void)mkdir("temporary", 0700);
  unsigned long long total = count_requests(&j), step = most == 0 ? 1 : (total + most - 1) / most;
  step = step == 0 ? 1 : step;
  unsigned long long first = 1 + (turn == NULL ? 0 : strtoull(turn, NULL, 10) % step);
  for (unsigned long long at = first; at <= total; at += step) {
    for (int on = 0; on < modes; on++) {
      int status = run(&j, at, on != 0);
      const char *fault = fault_of(&j, status);
      if (fault != NULL && failed < 5) {
        show(&j, at, on != 0, fault, status);
      }
      *(fault == NULL ? &passed : &failed) += 1;
    }
  }
  printf("%llu requests; %llu passed, %llu failed\n", total, passed, failed);
  return passed > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
