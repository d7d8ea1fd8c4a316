/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one rule with all names on one line, as ninja accepts no other form.  Names are written so
 * that make and ninja read them alike.  A name that one of the two cannot read at all (ninja one
 * with a semicolon) is left unchanged, as compilers do; where the two differ (a backslash before
 * "#"), make's reading is used. */
#include "cli/compile/depfile.h"

#include "base/files/file.h"
#include "fsched/compile.h"

bool fs_depfile_is_file(const char *graph_file) {
  assert(graph_file != NULL);
  return !fs_cli_is_std(graph_file) && graph_file[0] != '<';
}

static fs_status check_alone(fs_cli *cli) {
  static const struct {
    fs_option option;
    const char *name;
  } further[] = {{FS_OPTION_DEPS_TARGET, "-MT"},
                 {FS_OPTION_DEPS_QUOTED, "-MQ"},
                 {FS_OPTION_DEPS_PHONY, "-MP"}};
  for (size_t i = 0; i < sizeof further / sizeof further[0]; i++) {
    if (fs_args_has(&cli->args, further[i].option)) {
      return fs_usage(cli->ctx, NULL, "%s needs -MD or -MF: no depfile is asked for",
                      further[i].name);
    }
  }
  return FSCHED_OK;
}

fs_status fs_depfile_name(fs_cli *cli, const char *output, const char **path) {
  *path = fs_args_last(&cli->args, FS_OPTION_DEPS_FILE);
  if (*path != NULL) {
    return FSCHED_OK;
  }
  if (!fs_args_has(&cli->args, FS_OPTION_DEPS)) {
    return check_alone(cli);
  }
  if (!fs_cli_is_file(output)) {
    return fs_usage(cli->ctx, "name the depfile with -MF FILE",
                    "-MD has no name to go by when the output is %s",
                    fs_cli_is_std(output) ? "standard output" : output);
  }
  *path = fs_cli_with_suffix(cli, output, NULL, ".d");
  return *path == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* Writes a name for make and ninja.  Backslashes stand for themselves, except before a space or
 * "#", where each must be doubled.  A colon that is not the last character belongs to the name for
 * both only after a backslash. */
static void put_name(fs_text *t, const char *name) {
  size_t slashes = 0;
  for (; *name != '\0'; name++) {
    if (*name == ' ' || *name == '\t' || *name == '#') {
      for (; slashes > 0; slashes--) {
        fs_text_puts(t, "\\");
      }
      fs_text_puts(t, "\\");
    } else if (*name == '$') {
      fs_text_puts(t, "$");
    } else if (*name == ':' && name[1] != '\0') {
      fs_text_puts(t, "\\");
    }
    slashes = *name == '\\' ? slashes + 1 : 0;
    fs_text_add(t, name, 1);
  }
}

/* Writes a name, after a blank unless it is the first on its line. */
static fs_status put_next(fs_cli *cli, fs_text *t, const char *name) {
  if (strpbrk(name, "\n\r") != NULL) {
    return fs_usage(cli->ctx, NULL, "a name with a line break cannot stand in a depfile");
  }
  fs_text_puts(t, t->n == 0 || t->at[t->n - 1] == '\n' ? "" : " ");
  put_name(t, name);
  return FSCHED_OK;
}

/* Writes the targets of -MT unchanged and those of -MQ escaped, as compilers do, in their order. */
static fs_status put_given_targets(fs_cli *cli, fs_text *t) {
  for (uint32_t i = 0; i < cli->args.n_given; i++) {
    const fs_given *given = &cli->args.given[i];
    if (given->option == FS_OPTION_DEPS_QUOTED) {
      FS_TRY(put_next(cli, t, given->value));
    } else if (given->option == FS_OPTION_DEPS_TARGET) {
      fs_text_puts(t, t->n == 0 ? "" : " ");
      fs_text_puts(t, given->value);
    }
  }
  return FSCHED_OK;
}

static fs_status put_targets(fs_cli *cli, fs_text *t, const char *path, const char *const *result,
                             size_t n_results) {
  FS_TRY(put_given_targets(cli, t));
  bool given = t->n > 0;
  for (size_t i = 0; i < n_results && !given; i++) {
    if (result[i] != path && fs_cli_is_file(result[i])) {
      FS_TRY(put_next(cli, t, result[i]));
    }
  }
  if (t->n == 0 && !t->failed) {
    return fs_usage(cli->ctx, "name one with -MT TARGET",
                    "the depfile has no target: no result is a file");
  }
  return FSCHED_OK;
}

static fs_status put_rules(fs_cli *cli, fs_text *t, const fsched_graph *graph,
                           const char *solution) {
  uint32_t n_files = fsched_graph_files(graph), n = n_files + (solution != NULL);
  fs_text_puts(t, ":");
  for (uint32_t i = 0; i < n; i++) {
    const char *name = i < n_files ? fsched_graph_file(graph, i) : solution;
    if (fs_depfile_is_file(name)) {
      FS_TRY(put_next(cli, t, name));
    }
  }
  fs_text_puts(t, "\n");
  bool phony = fs_args_has(&cli->args, FS_OPTION_DEPS_PHONY);
  for (uint32_t i = 1; phony && i < n; i++) { /* the first file is the graph */
    const char *name = i < n_files ? fsched_graph_file(graph, i) : solution;
    if (fs_depfile_is_file(name)) {
      FS_TRY(put_next(cli, t, name));
      fs_text_puts(t, ":\n");
    }
  }
  return FSCHED_OK;
}

fs_status fs_depfile_write(fs_cli *cli, const char *path, const char *const *result,
                           size_t n_results, const fsched_graph *graph, const char *solution) {
  assert(path != NULL && (result != NULL || n_results == 0));
  fs_text t;
  fs_text_init(&t, cli->ctx);
  fs_status status = put_targets(cli, &t, path, result, n_results);
  if (status == FSCHED_OK) {
    status = put_rules(cli, &t, graph, solution);
  }
  if (status != FSCHED_OK) {
    fs_text_drop(&t);
    return status;
  }
  char *text = NULL;
  size_t length = 0;
  FS_TRY(fs_text_take(&t, &text, &length));
  status = fs_file_write(cli->ctx, path, text, length);
  fsched_text_free(cli->ctx, text, length);
  return status;
}
