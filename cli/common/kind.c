/* SPDX-License-Identifier: Apache-2.0 */
/* Detects files of the wrong kind.  Everything that fsched reads or writes shows its kind in its
 * first lines.  So for a graph given to run, or a listing given to asm, the message names the
 * command that takes it. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "cli/common/cli.h"
#include "model/stream/stream.h"

#define PROGRAM_KEY "\"fsched_program\":"
#define SCHEDULE_KEY "\"fsched_schedule\":"
#define PROFILE_KEY "\"fsched_profile\":"
enum { LOOKED_AT = 4096, MAGIC_SIZE = sizeof FS_STREAM_MAGIC - 1 };

static bool begins(const char *text, size_t n, const char *word) {
  size_t length = strlen(word);
  return n >= length && memcmp(text, word, length) == 0;
}

/* Whether a line of the text begins with the word. */
static bool has_line(const char *text, size_t n, const char *word) {
  const char *end = text + n;
  for (const char *p = text; p != NULL && p < end; p = memchr(p, '\n', (size_t)(end - p))) {
    p += *p == '\n';
    if (begins(p, (size_t)(end - p), word)) {
      return true;
    }
  }
  return false;
}

fs_kind fs_cli_kind(const char *text, size_t n) {
  assert(text != NULL || n == 0);
  n = n < LOOKED_AT ? n : LOOKED_AT;
  if (begins(text, n, FS_STREAM_MAGIC)) {
    return FS_KIND_STREAM;
  }
  if (has_line(text, n, "fsched:")) {
    return FS_KIND_GRAPH;
  }
  if (begins(text, n, "{") && memmem(text, n, PROGRAM_KEY, sizeof PROGRAM_KEY - 1) != NULL) {
    return FS_KIND_PROGRAM_JSON;
  }
  if (begins(text, n, "{") && memmem(text, n, SCHEDULE_KEY, sizeof SCHEDULE_KEY - 1) != NULL) {
    return FS_KIND_SCHEDULE_JSON;
  }
  if (begins(text, n, "{") && memmem(text, n, PROFILE_KEY, sizeof PROFILE_KEY - 1) != NULL) {
    return FS_KIND_PROFILE_JSON;
  }
  return begins(text, n, "program ") && has_line(text, n, "makespan ") ? FS_KIND_LISTING
                                                                       : FS_KIND_OTHER;
}

fs_status fs_cli_wrong_kind(fs_cli *cli, const char *name, const char *wanted, fs_kind kind) {
  static const char *const hints[] = {
      [FS_KIND_OTHER] = NULL,
      [FS_KIND_STREAM] = "fsched dis --format json makes its JSON form",
      [FS_KIND_GRAPH] = "this is a graph: fsched compile makes a command stream of it",
      [FS_KIND_PROGRAM_JSON] = "this is its JSON form: fsched asm makes a command stream of it",
      [FS_KIND_SCHEDULE_JSON] =
          "this is a schedule: verify takes it with --graph GRAPH, and dot "
          "takes its graph with --schedule",
      [FS_KIND_PROFILE_JSON] = "this is a profile: compile takes it beside its graph, --profile",
      [FS_KIND_LISTING] = "this is the listing for people: asm wants that of dis --format json",
  };
  fs_pos pos = FS_NOWHERE;
  FS_TRY(fs_context_add_file(cli->ctx, name, "", 0, &pos.file));
  return fs_fail(cli->ctx, FSCHED_BAD_INPUT, FS_DIAG_STREAM_MAGIC, pos, hints[kind],
                 "this is not %s", wanted);
}

fs_status fs_cli_load_program(fs_cli *cli, const char *name, const char *bytes, size_t size,
                              fsched_program **out) {
  fs_kind kind = fs_cli_kind(bytes, size);
  if (kind != FS_KIND_STREAM && kind != FS_KIND_OTHER) {
    return fs_cli_wrong_kind(cli, name, "an fsched program", kind);
  }
  return fsched_program_load(cli->ctx, name, bytes, size, out);
}

/* Reads the first LOOKED_AT bytes of a regular file, none if it cannot be opened.  False if the
 * file is not regular: such a file may be readable only once. */
static bool head_of_file(const char *path, char *text, size_t *n) {
  struct stat st;
  *n = 0;
  bool is_regular = stat(path, &st) == 0 && S_ISREG(st.st_mode);
  int fd = is_regular ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    ssize_t got = read(fd, text, LOOKED_AT);
    *n = got > 0 ? (size_t)got : 0;
    (void)close(fd);
  }
  return is_regular;
}

static fs_kind kind_of_file(const char *path, bool *is_regular) {
  char text[LOOKED_AT];
  size_t n;
  *is_regular = head_of_file(path, text, &n);
  return fs_cli_kind(text, n);
}

/* The first key of a mapping in YAML, or in JSON, without its quotation mark: the first character
 * that belongs neither to a comment, a directive or the line that begins a document, nor to blank
 * space or brackets.  NULL if there is none. */
static const char *first_key(const char *text, const char *end) {
  for (const char *p = text; p != NULL && p < end; p++) {
    if (*p == '#' || *p == '%' || begins(p, (size_t)(end - p), "---")) {
      p = memchr(p, '\n', (size_t)(end - p));
    } else if (memchr(" \t\r\n{\"'", *p, 7) == NULL) {
      return p;
    }
    if (p == NULL) {
      break;
    }
  }
  return NULL;
}

/* Whether the text begins as a graph or target, in YAML or JSON: with one of their keys.  Other
 * texts may have such words further below. */
static bool is_source(const char *text, size_t n) {
  static const char *const keys[] = {"fsched",      "time_unit", "queues", "memories",
                                     "resources",   "launch",    "wait",   "barriers",
                                     "concurrency", "frontier",  "sync",   "sync_cost"};
  fs_kind kind = fs_cli_kind(text, n);
  if (kind != FS_KIND_OTHER) {
    return kind == FS_KIND_GRAPH;
  }
  const char *end = text + n, *key = first_key(text, end);
  for (size_t i = 0; key != NULL && i < sizeof keys / sizeof keys[0]; i++) {
    size_t length = strlen(keys[i]), left = (size_t)(end - key);
    if (begins(key, left, keys[i]) && left > length && strchr(":\"' ", key[length]) != NULL &&
        key[length] != '\0') {
      return true;
    }
  }
  return false;
}

bool fs_cli_is_source(const char *path) {
  assert(path != NULL);
  char text[LOOKED_AT];
  size_t n = 0;
  return !fs_cli_is_std(path) && head_of_file(path, text, &n) && is_source(text, n);
}

fs_status fs_cli_check_graph(fs_cli *cli, const char *path) {
  assert(path != NULL);
  static const char *const hints[] = {
      [FS_KIND_STREAM] = "this is a command stream: run replays it, dis shows it, dot draws it",
      [FS_KIND_PROGRAM_JSON] = "this is a command stream in JSON: asm makes a program of it",
      [FS_KIND_SCHEDULE_JSON] = "this is a schedule: verify and dot take it beside its graph",
      [FS_KIND_PROFILE_JSON] = "this is a profile: compile takes it with --profile",
      [FS_KIND_LISTING] = "this is the listing of a command stream",
  };
  bool is_regular = false;
  fs_kind kind = fs_cli_is_std(path) ? FS_KIND_OTHER : kind_of_file(path, &is_regular);
  if (kind == FS_KIND_OTHER || kind == FS_KIND_GRAPH) {
    return FSCHED_OK;
  }
  fs_pos pos = FS_NOWHERE;
  FS_TRY(fs_context_add_file(cli->ctx, path, "", 0, &pos.file));
  return fs_fail(cli->ctx, FSCHED_BAD_INPUT, FS_DIAG_MISSING_KEY, pos, hints[kind],
                 "this is not a graph file");
}

fs_status fs_cli_check_profile_kind(fs_cli *cli, const char *path) {
  bool is_regular = false;
  fs_kind kind = fs_cli_is_std(path) ? FS_KIND_OTHER : kind_of_file(path, &is_regular);
  return kind == FS_KIND_OTHER || kind == FS_KIND_PROFILE_JSON
             ? FSCHED_OK
             : fs_cli_wrong_kind(cli, path, "a profile", kind);
}

fs_status fs_cli_open_program(fs_cli *cli, const char *path, fsched_program **out) {
  assert(path != NULL);
  bool is_regular = false;
  fs_kind kind = fs_cli_is_std(path) ? FS_KIND_OTHER : kind_of_file(path, &is_regular);
  if (kind != FS_KIND_STREAM && kind != FS_KIND_OTHER) {
    return fs_cli_wrong_kind(cli, path, "an fsched program", kind);
  }
  if (is_regular) {
    return fs_args_has(&cli->args, FS_OPTION_MAP) ? fsched_program_map(cli->ctx, path, out)
                                                  : fsched_program_open(cli->ctx, path, out);
  }
  char *bytes = NULL;
  size_t size = 0;
  FS_TRY(fs_file_read(cli->ctx, path, &bytes, &size));
  fs_status status = fs_cli_load_program(cli, fs_cli_shown(path), bytes, size, out);
  (void)fs_realloc(cli->ctx, bytes, size + 1, 0);
  return status;
}
