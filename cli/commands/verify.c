/* SPDX-License-Identifier: Apache-2.0 */
/* The command fsched verify: for a schedule, whose JSON begins with a brace, a proof, which begins
 * with its form, or a stream.  An input that is none of these is treated as a damaged stream.  With
 * a schedule there may be a proof of its lower bound. */
#include "fsched/verify.h"

#include "base/clock.h"
#include "base/files/file.h"
#include "base/text/columns.h"
#include "cli/common/cli.h"
#include "cli/common/progress.h"
#include "cli/common/times.h"
#include "model/handle.h"

/* Adds the time since *at, and sets *at to the current time. */
static void lap(fs_times *times, const char *name, const char *what, uint64_t *at) {
  uint64_t now = fs_now_ns();
  fs_times_add(times, name, what, now - *at);
  *at = now;
}

typedef enum verify_kind { VERIFY_STREAM, VERIFY_SCHEDULE, VERIFY_PROOF } verify_kind;

/* A file that is to be verified, and what was found. */
typedef struct verify_job {
  fs_cli *cli;
  const fsched_graph *graph;
  const char *name, *proof_name; /* as messages show them; proof_name: NULL: there is no proof */
  char *bytes, *proof;
  size_t size, proof_size;
  fs_times times;
  const char *subject; /* what the check has come to: the file or the proof */
  verify_kind kind;
  uint64_t bound, makespan; /* with a proof: what it shows; of the schedule */
  uint64_t *peak, *extent;  /* per memory, the same of bytes; 0: nothing is shown */
  fs_arena arena;           /* holds them */
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

/* The bytes that the schedule takes of each memory. */
static fs_status measure_schedule(verify_job *j, const fs_schedule *s) {
  const fs_target *t = &j->graph->target;
  uint64_t *peak;
  FS_TRY(fs_new_zero(&j->arena, &j->extent, t->n_memories));
  FS_TRY(fs_new_zero(&j->arena, &peak, t->n_memories));
  FS_TRY(fs_schedule_peaks(j->cli->ctx, s, peak));
  fs_schedule_extents(s, j->extent);
  for (uint32_t m = 0; m < t->n_memories; m++) {
    j->extent[m] = fs_placement_has_addresses(t->memory[m].placement) ? j->extent[m] : peak[m];
  }
  return FSCHED_OK;
}

/* Compares what the proof shows of bytes with what the schedule takes. */
static fs_status compare_peaks(verify_job *j, const fs_schedule *s) {
  FS_TRY(measure_schedule(j, s));
  for (uint32_t m = 0; m < j->graph->target.n_memories; m++) {
    if (j->peak[m] > j->extent[m]) {
      return fs_fail(j->cli->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_BOUND, FS_NOWHERE, NULL,
                     "it shows that no schedule takes less than %llu of %s, but %s takes %llu",
                     (unsigned long long)j->peak[m], j->graph->target.memory[m].name, j->name,
                     (unsigned long long)j->extent[m]);
    }
  }
  return FSCHED_OK;
}

/* Compares what the proof shows with what the schedule claims, and is.  One that is of bytes alone
 * says nothing of the makespan. */
static fs_status compare_bounds(verify_job *j, const fsched_schedule *s) {
  uint64_t claimed = fsched_schedule_lower_bound(s);
  j->makespan = fsched_schedule_makespan(s);
  if (j->bound == FSCHED_NO_SCHEDULE) {
    return fs_fail(j->cli->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_BOUND, FS_NOWHERE, NULL,
                   "it shows that there is no schedule, but %s is one", j->name);
  }
  if (j->bound > 0 && j->bound < claimed) {
    return fs_fail(j->cli->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_BOUND, FS_NOWHERE, NULL,
                   "it shows that no schedule ends before %llu, and %s claims that of %llu",
                   (unsigned long long)j->bound, j->name, (unsigned long long)claimed);
  }
  if (j->bound > j->makespan) {
    return fs_fail(j->cli->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_BOUND, FS_NOWHERE, NULL,
                   "it shows that no schedule ends before %llu, but %s ends at %llu",
                   (unsigned long long)j->bound, j->name, (unsigned long long)j->makespan);
  }
  return compare_peaks(j, s->schedule);
}

/* Checks the proof, which is about the graph. */
static fs_status check_proof(verify_job *j, const char *text, size_t length) {
  uint64_t at = fs_now_ns();
  FS_TRY(fs_new_zero(&j->arena, &j->peak, j->graph->target.n_memories));
  j->subject = j->proof_name;
  fs_context_subject(j->cli->ctx, j->subject);
  fs_status status =
      fsched_verify_proofs(j->cli->ctx, j->graph, text, length, j->proof_name, &j->bound, j->peak);
  lap(&j->times, "proof", "The check of the proof.", &at);
  return status;
}

static fs_status verify_proof(verify_job *j, const fsched_schedule *s) {
  FS_TRY(check_proof(j, j->proof, j->proof_size));
  return compare_bounds(j, s);
}

/* The file is a proof, without a schedule. */
static fs_status verify_alone(verify_job *j) {
  if (j->graph == NULL) {
    return fs_usage(j->cli->ctx, "a proof is about the schedules of a graph",
                    "%s is a proof, and to verify it needs --graph", j->name);
  }
  if (j->proof_name != NULL) {
    return fs_usage(j->cli->ctx, "a proof is about schedules",
                    "--proof needs a schedule, and %s is a proof", j->name);
  }
  j->proof_name = j->name;
  return check_proof(j, j->bytes, j->size);
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

/* What a proof shows, and whether the schedule can be no better. */
static void json_proof(const verify_job *j, fs_text *t) {
  fs_text_puts(t, ", \"proof\": {\"file\": ");
  fs_text_json_string(t, j->proof_name);
  if (j->bound == FSCHED_NO_SCHEDULE) {
    fs_text_puts(t, ", \"none\": true");
  } else if (j->bound > 0) {
    fs_text_printf(t, ", \"bound\": %llu", (unsigned long long)j->bound);
  }
  if (j->kind == VERIFY_SCHEDULE && j->bound > 0) {
    fs_text_printf(t, ", \"optimal\": %s", j->bound == j->makespan ? "true" : "false");
  }
  const char *separator = ", \"peaks\": [";
  for (uint32_t m = 0; m < j->graph->target.n_memories; m++) {
    if (j->peak[m] > 0) {
      fs_text_puts(t, separator);
      separator = ", ";
      fs_text_puts(t, "{\"memory\": ");
      fs_text_json_string(t, j->graph->target.memory[m].name);
      fs_text_printf(t, ", \"bytes\": %llu", (unsigned long long)j->peak[m]);
      if (j->kind == VERIFY_SCHEDULE) {
        fs_text_printf(t, ", \"optimal\": %s", j->peak[m] == j->extent[m] ? "true" : "false");
      }
      fs_text_puts(t, "}");
    }
  }
  fs_text_puts(t, strcmp(separator, ", ") == 0 ? "]}" : "}");
}

/* Writes {"fsched_verify": 1, "file": ..., "kind": ..., "ok": ..., "violations": [...]}. */
static void json_result(const verify_job *j, fs_text *t, bool ok) {
  static const char *const kinds[] = {
      [VERIFY_STREAM] = "stream", [VERIFY_SCHEDULE] = "schedule", [VERIFY_PROOF] = "proof"};
  const fsched_context *ctx = j->cli->ctx;
  fs_text_puts(t, "{\"fsched_verify\": 1, \"file\": ");
  fs_text_json_string(t, j->name);
  fs_text_printf(t, ", \"kind\": \"%s\", \"ok\": %s, \"violations\": [", kinds[j->kind],
                 ok ? "true" : "false");
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
    json_proof(j, t);
  }
  fs_text_puts(t, "}\n");
}

static void text_of_bound(const verify_job *j, fs_text *t) {
  if (j->bound == 0) {
    return;
  }
  fs_text_puts(t, j->proof_name);
  if (j->bound == FSCHED_NO_SCHEDULE) {
    fs_text_puts(t, ": there is no schedule\n");
    return;
  }
  fs_text_printf(t, ": no schedule ends before %llu", (unsigned long long)j->bound);
  if (j->kind == VERIFY_SCHEDULE && j->bound == j->makespan) {
    fs_text_puts(t, ": the schedule is optimal");
  } else if (j->kind == VERIFY_SCHEDULE) {
    fs_text_printf(t, "; the schedule ends at %llu", (unsigned long long)j->makespan);
  }
  fs_text_puts(t, "\n");
}

static void text_of_peaks(const verify_job *j, fs_text *t) {
  for (uint32_t m = 0; m < j->graph->target.n_memories; m++) {
    if (j->peak[m] == 0) {
      continue;
    }
    fs_text_printf(t, "%s: no schedule takes less than %llu of ", j->proof_name,
                   (unsigned long long)j->peak[m]);
    fs_text_visible(t, j->graph->target.memory[m].name);
    if (j->kind == VERIFY_SCHEDULE && j->peak[m] == j->extent[m]) {
      fs_text_puts(t, ": the schedule takes the least");
    } else if (j->kind == VERIFY_SCHEDULE) {
      fs_text_printf(t, "; the schedule takes %llu", (unsigned long long)j->extent[m]);
    }
    fs_text_puts(t, "\n");
  }
}

static void text_result(const verify_job *j, fs_text *t) {
  if (j->kind != VERIFY_PROOF) {
    fs_text_printf(t, "%s: verified\n", j->name);
  }
  if (j->proof_name != NULL) {
    text_of_bound(j, t);
    text_of_peaks(j, t);
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

static verify_kind kind_of(const verify_job *j) {
  static const char proof[] = "fsched-proof ";
  bool program = fs_cli_kind(j->bytes, j->size) == FS_KIND_PROGRAM_JSON;
  return j->size >= sizeof proof - 1 && memcmp(j->bytes, proof, sizeof proof - 1) == 0
             ? VERIFY_PROOF
         : is_json(j->bytes, j->size) && !program ? VERIFY_SCHEDULE
                                                  : VERIFY_STREAM;
}

static fs_status verify_kind_of_file(verify_job *j) {
  switch (j->kind) {
    case VERIFY_STREAM:
      return verify_program(j);
    case VERIFY_SCHEDULE:
      return verify_schedule(j);
    case VERIFY_PROOF:
      return verify_alone(j);
  }
  return FSCHED_OK;
}

static fs_status verify_file(verify_job *j) {
  fs_context_subject(j->cli->ctx, j->subject);
  j->kind = kind_of(j);
  fs_status status = verify_kind_of_file(j);
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
  fs_arena_init(&j.arena, cli->ctx);
  fs_status status = read_and_verify(&j, input, graph_name, proof);
  fs_arena_release(&j.arena);
  (void)fs_realloc(cli->ctx, j.bytes, j.size + 1, 0);
  (void)fs_realloc(cli->ctx, j.proof, j.proof_size + 1, 0);
  return status;
}
