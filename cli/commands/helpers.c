/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/columns.h"
#include "ilp/solver/solver.h"

extern char **environ;

/* Starts words[0] with a pipe from its standard output, *out; -1: it cannot be started. */
static pid_t start_helper(char **words, int *out) {
  int ends[2];
  pid_t pid = -1;
  posix_spawn_file_actions_t actions;
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return -1;
  }
  if (posix_spawn_file_actions_init(&actions) == 0) {
    bool ready =
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
    if (!ready || posix_spawnp(&pid, words[0], &actions, NULL, words, environ) != 0) {
      pid = -1;
    }
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  (void)close(ends[1]);
  *out = ends[0];
  if (pid < 0) {
    (void)close(ends[0]);
  }
  return pid;
}

/* Writes the first two lines, which are the versions of the helper and of its library. */
static void put_lines(fs_text *t, FILE *from) {
  char line[128];
  for (int k = 0; k < 2 && fgets(line, sizeof line, from) != NULL; k++) {
    line[strcspn(line, "\n")] = '\0';
    fs_text_puts(t, k == 0 ? "" : ", ");
    fs_text_visible(t, line);
  }
}

static bool put_version(fs_text *t, char **words) {
  int out, status = -1;
  pid_t pid = start_helper(words, &out);
  if (pid < 0) {
    return false;
  }
  fs_text version;
  fs_text_init(&version, t->ctx);
  FILE *from = fdopen(out, "r");
  if (from != NULL) {
    put_lines(&version, from);
    (void)fclose(from);
  } else {
    (void)close(out);
  }
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && version.n > 0;
  if (good) {
    fs_text_add(t, version.at, version.n);
  }
  fs_text_drop(&version);
  return good;
}

void fs_helpers_version(fs_text *t) {
  FS_SCRATCH(arena, t->ctx);
  const char *command = fs_solver_default(&arena);
  char version_option[] = "--version";
  char **words = NULL;
  size_t n = 0;
  bool said =
      command != NULL && fs_solver_words(&arena, command, 1, &words, &n) == FSCHED_OK && n > 0;
  if (said) {
    words[n] = version_option;
    said = put_version(t, words);
  }
  if (!said) {
    fs_text_puts(t, "no fsched-glpk");
  }
}
