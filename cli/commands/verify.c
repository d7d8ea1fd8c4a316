/* SPDX-License-Identifier: Apache-2.0 */
/* The command fsched verify: for a schedule, whose JSON begins with a brace, or a stream.  An input
 * that is neither is treated as a damaged stream. */
#include "fsched/verify.h"

#include "base/clock.h"
#include "base/files/file.h"
#include "cli/common/cli.h"
#include "cli/common/progress.h"
#include "cli/common/times.h"

/* Adds the time since *at, and sets *at to the current time. */
static void lap(fs_times *times, const char *name, const char *what, uint64_t *at) {
  uint64_t now = fs_now_ns();
  fs_times_add(times, name, what, now - *at);
  *at = now;
}

static fs_status verify_program(fs_cli *cli, const char *name, const char *bytes, size_t size,
                                const fsched_graph *graph, fs_times *times) {
  fsched_program *program = NULL;
  uint64_t at = fs_now_ns();
  FS_TRY(fs_cli_load_program(cli, name, bytes, size, &program));
  lap(times, "load", "The stream.", &at);
  fs_status status = fsched_verify_program(cli->ctx, program, graph);
  lap(times, "verify", "The check.", &at);
  fsched_program_destroy(program);
  return status;
}

static fs_status verify_schedule(fs_cli *cli, const char *name, const char *text, size_t length,
                                 const fsched_graph *graph, fs_times *times) {
  if (graph == NULL) {
    return fs_usage(cli->ctx, "a command stream can be verified alone",
                    "%s is a schedule, and to verify it needs --graph", name);
  }
  fsched_schedule *schedule = NULL;
  uint64_t at = fs_now_ns();
  FS_TRY(fsched_schedule_parse(cli->ctx, graph, name, text, length, &schedule));
  lap(times, "load", "The schedule.", &at);
  fs_status status = fsched_verify_schedule(cli->ctx, graph, schedule);
  lap(times, "verify", "The check.", &at);
  fsched_schedule_destroy(schedule);
  return status;
}

/* Writes {"fsched_verify": 1, "file": ..., "kind": ..., "ok": ..., "violations": [...]}. */
static void json_result(const fs_cli *cli, fs_text *t, const char *name, const char *kind,
                        bool ok) {
  fs_text_puts(t, "{\"fsched_verify\": 1, \"file\": ");
  fs_text_json_string(t, name);
  fs_text_printf(t, ", \"kind\": \"%s\", \"ok\": %s, \"violations\": [", kind,
                 ok ? "true" : "false");
  uint32_t shown = 0;
  for (uint32_t i = 0; i < fsched_diag_count(cli->ctx); i++) {
    const fsched_diag *d = fsched_diag_get(cli->ctx, i);
    if (d->severity == FSCHED_ERROR) {
      fs_text_puts(t, shown++ == 0 ? "\n  {\"code\": " : ",\n  {\"code\": ");
      fs_text_json_string(t, d->code);
      fs_text_puts(t, ", \"message\": ");
      fs_text_json_string(t, d->message);
      fs_text_puts(t, "}");
    }
  }
  fs_text_puts(t, shown == 0 ? "]" : "\n]");
  if (fsched_diag_errors(cli->ctx) > shown) {
    fs_text_printf(t, ", \"not_shown\": %u", fsched_diag_errors(cli->ctx) - shown);
  }
  fs_text_puts(t, "}\n");
}

static fs_status print_result(fs_cli *cli, const char *name, const char *kind, bool ok) {
  bool json = fs_cli_json(cli);
  if (!json && cli->quiet) {
    return FSCHED_OK;
  }
  fs_text t;
  fs_text_init(&t, cli->ctx);
  if (json) {
    json_result(cli, &t, name, kind, ok);
  } else if (ok) {
    fs_text_printf(&t, "%s: verified\n", name);
  } else {
    fs_text_drop(&t);
    fs_cli_refuted(cli, name);
    return FSCHED_OK;
  }
  return fs_cli_print(cli->ctx, &t);
}

static bool is_json(const char *bytes, size_t size) {
  size_t i = 0;
  while (i < size && strchr(" \t\r\n", bytes[i]) != NULL && bytes[i] != '\0') {
    i++;
  }
  return i < size && bytes[i] == '{';
}

static fs_status verify_file(fs_cli *cli, const char *name, const char *bytes, size_t size,
                             const fsched_graph *graph, fs_times *times) {
  fs_context_subject(cli->ctx, name);
  bool stream = !is_json(bytes, size) || fs_cli_kind(bytes, size) == FS_KIND_PROGRAM_JSON;
  fs_status status = stream ? verify_program(cli, name, bytes, size, graph, times)
                            : verify_schedule(cli, name, bytes, size, graph, times);
  fs_context_subject(cli->ctx, NULL);
  fs_cli_progress_clear(cli);
  if (status == FSCHED_OK || status == FSCHED_WRONG) {
    fs_cli_reports(cli);
    FS_TRY(print_result(cli, name, stream ? "stream" : "schedule", status == FSCHED_OK));
  }
  return status;
}

static void print_times(const fs_cli *cli, const fs_times *times) {
  fs_text t;
  fs_text_init(&t, cli->ctx);
  if (fs_args_has(&cli->args, FS_OPTION_TIME_REPORT)) {
    fs_times_put(times, fs_cli_diagnostics_json(cli), &t);
  }
  fs_cli_say(&t);
}

fs_status fs_cli_verify(fs_cli *cli) {
  const char *input = cli->args.operand[0];
  const char *graph_name = fs_args_last(&cli->args, FS_OPTION_GRAPH);
  FS_TRY(fs_cli_check_graph_option(cli, input, graph_name));
  char *bytes = NULL;
  size_t size = 0;
  fs_times times = {0};
  uint64_t at = fs_now_ns();
  FS_TRY(fs_file_read(cli->ctx, input, &bytes, &size));
  lap(&times, "read", "The file.", &at);
  fsched_graph *graph = NULL;
  fs_status status = FSCHED_OK;
  if (graph_name != NULL) {
    status = fs_cli_read_graph(cli, graph_name, &graph);
    lap(&times, "graph", "The graph file.", &at);
  }
  if (status == FSCHED_OK) {
    status = verify_file(cli, fs_cli_shown(input), bytes, size, graph, &times);
    print_times(cli, &times);
  }
  fsched_graph_destroy(graph);
  (void)fs_realloc(cli->ctx, bytes, size + 1, 0);
  return status;
}
