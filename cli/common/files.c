/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether two names mean one file, in spite of links and different spellings.  An existing
 * file is identified by its device and inode; a file that does not exist yet by those of its
 * directory and its last name, after following links.  Terminals, /dev/null and the like may be
 * named several times. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "cli/common/cli.h"

typedef struct fs_identity {
  bool known;
  dev_t device;
  ino_t inode;
  const char *name; /* in the directory; "" for an existing file */
} fs_identity;

static fs_identity identity_of_new(fs_cli *cli, const char *path) {
  char behind[PATH_MAX];
  path =
      fs_file_behind(path, behind) ? fs_arena_strndup(&cli->arena, behind, strlen(behind)) : NULL;
  if (path == NULL) {
    return (fs_identity){0};
  }
  const char *slash = strrchr(path, '/');
  const char *directory = ".";
  if (slash != NULL) { /* with the slash, so that "/" is kept */
    directory = fs_arena_strndup(&cli->arena, path, (size_t)(slash - path) + 1);
  }
  struct stat st;
  if (directory == NULL || stat(directory, &st) != 0) {
    return (fs_identity){0};
  }
  return (fs_identity){true, st.st_dev, st.st_ino, slash == NULL ? path : slash + 1};
}

static fs_identity identify(fs_cli *cli, const char *path, int standard) {
  struct stat st;
  if ((fs_cli_is_std(path) ? fstat(standard, &st) : stat(path, &st)) != 0) {
    return fs_cli_is_std(path) ? (fs_identity){0} : identity_of_new(cli, path);
  }
  bool holds = S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode);
  return (fs_identity){holds, st.st_dev, st.st_ino, ""};
}

static bool is_same(const fs_identity *a, const fs_identity *b) {
  return a->known && b->known && a->device == b->device && a->inode == b->inode &&
         strcmp(a->name, b->name) == 0;
}

static fs_status check_pair(fs_cli *cli, const char *a, const char *b) {
  fs_identity of_a = identify(cli, a, STDOUT_FILENO), of_b = identify(cli, b, STDOUT_FILENO);
  if (!is_same(&of_a, &of_b) && (strcmp(a, b) != 0 || strncmp(a, "/dev/", 5) == 0)) {
    return FSCHED_OK;
  }
  const char *shown = fs_cli_is_std(a) ? b : a;
  return fs_usage(cli->ctx, NULL, "two results would be written to %s",
                  fs_cli_is_std(shown) ? "standard output" : shown);
}

fs_status fs_cli_check_outputs(fs_cli *cli, const char *const *output, size_t n) {
  assert(output != NULL || n == 0);
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) {
      FS_TRY(check_pair(cli, output[i], output[k]));
    }
  }
  return FSCHED_OK;
}

fs_status fs_cli_check_input(fs_cli *cli, const char *input, const char *const *output, size_t n) {
  assert(input != NULL && (output != NULL || n == 0));
  fs_identity of_input = identify(cli, input, STDIN_FILENO);
  for (size_t i = 0; i < n; i++) {
    fs_identity of_output = identify(cli, output[i], STDOUT_FILENO);
    if (is_same(&of_input, &of_output)) {
      return fs_usage(
          cli->ctx, "give the result another name", "a result would be written over the input %s",
          fs_cli_is_std(input) && !fs_cli_is_std(output[i]) ? output[i] : fs_cli_shown(input));
    }
  }
  return FSCHED_OK;
}

fs_status fs_cli_check_results(fs_cli *cli, const char *const *output, size_t n) {
  assert(output != NULL || n == 0);
  static const fs_option read[] = {
      FS_OPTION_GRAPH,   FS_OPTION_EXPORT_GRAPH, FS_OPTION_EXPLAIN_GRAPH, FS_OPTION_SCHEDULE,
      FS_OPTION_PROFILE, FS_OPTION_SOLUTION,     FS_OPTION_MEASURED};
  for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
    const char *input = fs_args_last(&cli->args, read[i]);
    if (input != NULL) {
      FS_TRY(fs_cli_check_input(cli, input, output, n));
    }
  }
  for (size_t i = 0; i < n && !fs_args_has(&cli->args, FS_OPTION_FORCE); i++) {
    if (fs_cli_is_source(output[i])) {
      return fs_usage(cli->ctx, "give the result another name, or add --force",
                      "a result would replace %s, which is a graph or target", output[i]);
    }
  }
  return FSCHED_OK;
}

fs_status fs_cli_check_graph_files(fs_cli *cli, const fsched_graph *graph, const char *output) {
  assert(output != NULL);
  for (uint32_t i = 0; i < fsched_graph_files(graph); i++) {
    FS_TRY(fs_cli_check_input(cli, fsched_graph_file(graph, i), &output, 1));
  }
  return FSCHED_OK;
}

bool fs_cli_is_file(const char *path) {
  assert(path != NULL);
  struct stat st;
  return !fs_cli_is_std(path) && strncmp(path, "/dev/", 5) != 0 &&
         (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

fs_status fs_cli_check_terminal(fs_cli *cli, const char *output) {
  if (fs_cli_is_std(output) && isatty(STDOUT_FILENO)) {
    return fs_usage(cli->ctx, "name a file with -o FILE",
                    "a command stream is not text, and standard output is a terminal");
  }
  return FSCHED_OK;
}

fs_status fs_cli_check_graph_option(fs_cli *cli, const char *input, const char *graph_name) {
  assert(input != NULL);
  static const struct {
    fs_option option;
    const char *hint;
  } of_graph[] = {
      {FS_OPTION_MEMORY, "a stream holds the target that it was compiled for"},
      {FS_OPTION_SET, "a stream holds the target that it was compiled for"},
      {FS_OPTION_PROFILE, "a stream holds the target that it was compiled for"},
      {FS_OPTION_UNROLL, "loops of a stream stay loops"},
      {FS_OPTION_EFFORT, "loops of a stream have their plans"},
      {FS_OPTION_SET_PARAM, "a stream takes it when it is run"},
      {FS_OPTION_UNTRUSTED, "it says what a graph may read; a stream reads no file"},
      {FS_OPTION_TARGETS, "it says where a graph's target may be"},
      {FS_OPTION_CHECK_PROOF, "a proof is about the schedules of a graph"},
  };
  for (size_t i = 0; graph_name == NULL && i < sizeof of_graph / sizeof of_graph[0]; i++) {
    if (fs_args_has(&cli->args, of_graph[i].option)) {
      return fs_usage(cli->ctx, of_graph[i].hint, "--%s needs --graph",
                      fs_option_table[of_graph[i].option].long_name);
    }
  }
  if (graph_name != NULL && fs_cli_is_std(graph_name) && fs_cli_is_std(input)) {
    return fs_usage(cli->ctx, NULL, "standard input can be read only once");
  }
  return FSCHED_OK;
}
