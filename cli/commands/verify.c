/* SPDX-License-Identifier: Apache-2.0 */
/* The command fsched verify: for a schedule, whose JSON begins with a brace, or a stream.  An input
 * that is neither is treated as a damaged stream.  With a schedule there may be a proof of its
 * lower bound. */
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

/* A file that is to be verified, and what was found. */
typedef struct verify_job {
  fs_cli *cli;
  const fsched_graph *graph;
  const char *name, *proof_name; /* as messages show them; proof_name: NULL: there is no proof */
  char *bytes, *proof;
  size_t size, proof_size;
  fs_times times;
  const char *subject; /* what the check has come to: the file or the proof */
  bool stream;
  uint64_t bound, makespan; /* with a proof: what it shows; of the schedule */
} verify_job;

static fs_status verify_program(verify_job *j) {
  if (j->proof_name != NULL) {
    return fs_usage(j->cli->ctx, "a proof is about schedules",
                    "--proof needs a schedule, and %s is a stream", j->name);
  }
  fsched_program *program = NULL;
  uint64_t at = fs_now_ns();
  FS_TRY(fs_cli_load_program(j->cli, j->name, j->bytes, j->size, &program));
  lap(&j->times, "load", "The stream.", &at);
  fs_status status = fsched_verify_program(j->cli->ctx, program, j->graph);
  lap(&j->times, "verify", "The check.", &at);
  fsched_program_destroy(program);
  return status;
}

/* Compares what the proof shows with what the schedule claims, and is. */
static fs_status compare_bounds(verify_job *j, const fsched_schedule *s) {
  uint64_t claimed = fsched_schedule_lower_bound(s);
  j->makespan = fsched_schedule_makespan(s);
  if (j->bound < claimed) {
    return fs_fail(j->cli->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_BOUND, FS_NOWHERE, NULL,
                   "it shows that no schedule ends before %llu, and %s claims that of %llu",
                   (unsigned long long)j->bound, j->name, (unsigned long long)claimed);
  }
  if (j->bound > j->makespan) {
    return fs_fail(j->cli->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_BOUND, FS_NOWHERE, NULL,
                   "it shows that no schedule ends before %llu, but %s ends at %llu",
                   (unsigned long long)j->bound, j->name, (unsigned long long)j->makespan);
  }
  return FSCHED_OK;
}

static fs_status verify_proof(verify_job *j, const fsched_schedule *s) {
  uint64_t at = fs_now_ns();
  j->subject = j->proof_name;
  fs_context_subject(j->cli->ctx, j->subject);
  fs_status status =
      fsched_verify_proof(j->cli->ctx, j->graph, j->proof, j->proof_size, j->proof_name, &j->bound);
  lap(&j->times, "proof", "The check of the proof.", &at);
  return status == FSCHED_OK ? compare_bounds(j, s) : status;
}

static fs_status verify_schedule(verify_job *j) {
  if (j->graph == NULL) {
    return fs_usage(j->cli->ctx, "a command stream can be verified alone",
                    "%s is a schedule, and to verify it needs --graph", j->name);
  }
  fsched_schedule *schedule = NULL;
  uint64_t at = fs_now_ns();
  FS_TRY(fsched_schedule_parse(j->cli->ctx, j->graph, j->name, j->bytes, j->size, &schedule));
  lap(&j->times, "load", "The schedule.", &at);
  fs_status status = fsched_verify_schedule(j->cli->ctx, j->graph, schedule);
  lap(&j->times, "verify", "The check.", &at);
  if (status == FSCHED_OK && j->proof_name != NULL) {
    status = verify_proof(j, schedule);
  }
  fsched_schedule_destroy(schedule);
  return status;
}

/* Writes {"fsched_verify": 1, "file": ..., "kind": ..., "ok": ..., "violations": [...]}. */
static void json_result(const verify_job *j, fs_text *t, bool ok) {
  const fsched_context *ctx = j->cli->ctx;
  fs_text_puts(t, "{\"fsched_verify\": 1, \"file\": ");
  fs_text_json_string(t, j->name);
  fs_text_printf(t, ", \"kind\": \"%s\", \"ok\": %s, \"violations\": [",
                 j->stream ? "stream" : "schedule", ok ? "true" : "false");
  uint32_t shown = 0;
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    if (d->severity == FSCHED_ERROR) {
      fs_text_puts(t, shown++ == 0 ? "\n  {\"code\": " : ",\n  {\"code\": ");
      fs_text_json_string(t, d->code);
      fs_text_puts(t, ", \"message\": ");
      fs_text_json_string(t, d->message);
      fs_text_puts(t, "}");
    }
  }
  fs_text_puts(t, shown == 0 ? "]" : "\n]");
  if (fsched_diag_errors(ctx) > shown) {
    fs_text_printf(t, ", \"not_shown\": %u", fsched_diag_errors(ctx) - shown);
  }
  if (ok && j->proof_name != NULL) {
    fs_text_puts(t, ", \"proof\": {\"file\": ");
    fs_text_json_string(t, j->proof_name);
    fs_text_printf(t, ", \"bound\": %llu, \"optimal\": %s}", (unsigned long long)j->bound,
                   j->bound == j->makespan ? "true" : "false");
  }
  fs_text_puts(t, "}\n");
}

static void text_result(const verify_job *j, fs_text *t) {
  fs_text_printf(t, "%s: verified\n", j->name);
  if (j->proof_name != NULL && j->bound == j->makespan) {
    fs_text_printf(t, "%s: no schedule ends before %llu: the schedule is optimal\n", j->proof_name,
                   (unsigned long long)j->bound);
  } else if (j->proof_name != NULL) {
    fs_text_printf(t, "%s: no schedule ends before %llu; the schedule ends at %llu\n",
                   j->proof_name, (unsigned long long)j->bound, (unsigned long long)j->makespan);
  }
}

static fs_status print_result(const verify_job *j, bool ok) {
  bool json = fs_cli_json(j->cli);
  if (!json && j->cli->quiet) {
    return FSCHED_OK;
  }
  fs_text t;
  fs_text_init(&t, j->cli->ctx);
  if (json) {
    json_result(j, &t, ok);
  } else if (ok) {
    text_result(j, &t);
  } else {
    fs_text_drop(&t);
    fs_cli_refuted(j->cli, j->subject);
    return FSCHED_OK;
  }
  return fs_cli_print(j->cli->ctx, &t);
}

static bool is_json(const char *bytes, size_t size) {
  size_t i = 0;
  while (i < size && strchr(" \t\r\n", bytes[i]) != NULL && bytes[i] != '\0') {
    i++;
  }
  return i < size && bytes[i] == '{';
}

static fs_status verify_file(verify_job *j) {
  fs_context_subject(j->cli->ctx, j->subject);
  j->stream = !is_json(j->bytes, j->size) || fs_cli_kind(j->bytes, j->size) == FS_KIND_PROGRAM_JSON;
  fs_status status = j->stream ? verify_program(j) : verify_schedule(j);
  fs_context_subject(j->cli->ctx, NULL);
  fs_cli_progress_clear(j->cli);
  if (status == FSCHED_OK || status == FSCHED_WRONG) {
    fs_cli_reports(j->cli);
    FS_TRY(print_result(j, status == FSCHED_OK));
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

/* Refuses a proof where it cannot be read. */
static fs_status check_proof_option(fs_cli *cli, const char *proof) {
  const char *graph = fs_args_last(&cli->args, FS_OPTION_GRAPH);
  if (proof != NULL && fs_cli_is_std(proof) &&
      (fs_cli_is_std(cli->args.operand[0]) || (graph != NULL && fs_cli_is_std(graph)))) {
    return fs_usage(cli->ctx, NULL, "standard input can be read only once");
  }
  return FSCHED_OK;
}

/* Reads the file and the proof. */
static fs_status read_files(verify_job *j, const char *input, const char *proof) {
  uint64_t at = fs_now_ns();
  FS_TRY(fs_file_read(j->cli->ctx, input, &j->bytes, &j->size));
  if (proof != NULL) {
    FS_TRY(fs_file_read(j->cli->ctx, proof, &j->proof, &j->proof_size));
    j->proof_name = fs_cli_shown(proof);
  }
  j->name = j->subject = fs_cli_shown(input);
  lap(&j->times, "read", proof == NULL ? "The file." : "The files.", &at);
  return FSCHED_OK;
}

static fs_status read_and_verify(verify_job *j, const char *input, const char *graph_name,
                                 const char *proof) {
  fsched_graph *graph = NULL;
  fs_status status = FSCHED_OK;
  FS_TRY(read_files(j, input, proof));
  uint64_t at = fs_now_ns();
  if (graph_name != NULL) {
    j->cli->file_effort =
        is_json(j->bytes, j->size) ? fsched_schedule_effort(j->bytes, j->size) : 0;
    status = fs_cli_read_graph(j->cli, graph_name, &graph);
    lap(&j->times, "graph", "The graph file.", &at);
  }
  if (status == FSCHED_OK) {
    j->graph = graph;
    status = verify_file(j);
    print_times(j->cli, &j->times);
  }
  fsched_graph_destroy(graph);
  return status;
}

fs_status fs_cli_verify(fs_cli *cli) {
  const char *input = cli->args.operand[0];
  const char *graph_name = fs_args_last(&cli->args, FS_OPTION_GRAPH);
  const char *proof = fs_args_last(&cli->args, FS_OPTION_CHECK_PROOF);
  FS_TRY(fs_cli_check_graph_option(cli, input, graph_name));
  FS_TRY(check_proof_option(cli, proof));
  verify_job j = {.cli = cli};
  fs_status status = read_and_verify(&j, input, graph_name, proof);
  (void)fs_realloc(cli->ctx, j.bytes, j.size + 1, 0);
  (void)fs_realloc(cli->ctx, j.proof, j.proof_size + 1, 0);
  return status;
}
