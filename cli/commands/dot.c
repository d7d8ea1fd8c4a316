/* SPDX-License-Identifier: Apache-2.0 */
/* The command fsched dot: draws a graph, a graph with its schedule, or a program. */
#include "draw/dot/dot.h"
#include "compile/synchronise.h"

#include "base/files/file.h"
#include "cli/common/cli.h"
#include "fsched/verify.h"
#include "model/handle.h"
#include "model/stream/stream.h"

typedef struct fs_dot_job {
  fs_cli *cli;
  const char *input, *output, *schedule; /* schedule: the file's name, or NULL */
  char *text;                            /* what is in it */
  size_t length;
  fs_dot_options options;
} fs_dot_job;

static fs_status finish_dot(const fs_dot_job *job, fs_status status, char *text, size_t length) {
  fsched_context *ctx = job->cli->ctx;
  FS_TRY(status);
  status = fs_file_write(ctx, job->output, text, length);
  fsched_text_free(ctx, text, length);
  return status;
}

/* Refuses --barrier-nodes for a program without barriers, instead of silently drawing none. */
static fs_status check_barriers(const fs_dot_job *job, const fsched_program *program) {
  fs_sync_kind sync = fs_stream_sync(&program->view);
  if (!job->options.barriers || fs_sync_has_barriers(sync)) {
    return FSCHED_OK;
  }
  return fs_usage(job->cli->ctx, "what makes a command wait is drawn without it",
                  "--barrier-nodes is for programs with barriers, and %s has %s",
                  fs_cli_shown(job->input), fs_sync_has_stops(sync) ? "syncs" : "waits");
}

static fs_status draw_program(const fs_dot_job *job, const char *bytes, size_t size) {
  fs_cli *cli = job->cli;
  static const fs_option of_graphs[] = {FS_OPTION_SCHEDULE, FS_OPTION_MEMORY,  FS_OPTION_SET,
                                        FS_OPTION_PROFILE,  FS_OPTION_BUFFERS, FS_OPTION_EFFORT};
  for (size_t i = 0; i < sizeof of_graphs / sizeof of_graphs[0]; i++) {
    if (fs_args_has(&cli->args, of_graphs[i])) {
      return fs_usage(cli->ctx, "a program holds its schedule and its target",
                      "--%s is for graphs, and %s is a program",
                      fs_option_table[of_graphs[i]].long_name, fs_cli_shown(job->input));
    }
  }
  fsched_program *program = NULL;
  FS_TRY(fs_cli_load_program(cli, fs_cli_shown(job->input), bytes, size, &program));
  char *text = NULL;
  size_t length = 0;
  fs_status status = check_barriers(job, program);
  if (status == FSCHED_OK) {
    status = fs_dot_program(cli->ctx, program, &job->options, &text, &length);
  }
  fsched_program_destroy(program);
  return finish_dot(job, status, text, length);
}

/* A schedule comes from anywhere, so it is verified before control edges and waits are found. */
static fs_status parse_schedule(const fs_dot_job *job, const fsched_graph *graph,
                                fsched_schedule **out) {
  fsched_context *ctx = job->cli->ctx;
  FS_TRY(
      fsched_schedule_parse(ctx, graph, fs_cli_shown(job->schedule), job->text, job->length, out));
  FS_TRY(fsched_verify_schedule(ctx, graph, *out));
  return fs_schedule_synchronise(*out);
}

static fs_status draw_graph(const fs_dot_job *job, const char *bytes, size_t size) {
  fsched_context *ctx = job->cli->ctx;
  fsched_graph *graph = NULL;
  fsched_schedule *schedule = NULL;
  char *text = NULL;
  size_t length = 0;
  FS_TRY(fs_cli_parse_graph(job->cli, fs_cli_shown(job->input), bytes, size, &graph));
  fs_status status = fs_cli_check_graph_files(job->cli, graph, job->output);
  if (status != FSCHED_OK) {
    /* nothing is drawn */
  } else if (job->schedule == NULL) {
    status = fs_dot_graph(ctx, graph, &job->options, &text, &length);
  } else if ((status = parse_schedule(job, graph, &schedule)) == FSCHED_OK) {
    status = fs_dot_schedule(ctx, schedule->sync, &job->options, &text, &length);
  }
  fsched_schedule_destroy(schedule);
  fsched_graph_destroy(graph);
  return finish_dot(job, status, text, length);
}

/* Reads the schedule first: its head says how the graph is read. */
static fs_status read_and_draw(fs_dot_job *job, const char *bytes, size_t size) {
  fsched_context *ctx = job->cli->ctx;
  if (job->options.barriers) {
    return fs_usage(ctx, "compile the graph, and draw the program",
                    "--barrier-nodes is for programs, and %s is none", fs_cli_shown(job->input));
  }
  if (job->schedule != NULL) {
    FS_TRY(fs_file_read(ctx, job->schedule, &job->text, &job->length));
    job->cli->file_effort = fsched_schedule_effort(job->text, job->length);
  }
  fs_status status = draw_graph(job, bytes, size);
  (void)fs_realloc(ctx, job->text, job->length + 1, 0);
  return status;
}

static fs_status draw_file(fs_dot_job *job, const char *bytes, size_t size) {
  fs_kind kind = fs_cli_kind(bytes, size);
  if (kind == FS_KIND_STREAM || (kind == FS_KIND_OTHER && memchr(bytes, 0, size) != NULL)) {
    return draw_program(job, bytes, size);
  }
  if (kind != FS_KIND_GRAPH && kind != FS_KIND_OTHER) {
    return fs_cli_wrong_kind(job->cli, fs_cli_shown(job->input), "a graph or an fsched program",
                             kind);
  }
  return read_and_draw(job, bytes, size);
}

static fs_status check_files(const fs_dot_job *job) {
  fs_cli *cli = job->cli;
  FS_TRY(fs_cli_check_input(cli, job->input, &job->output, 1));
  FS_TRY(fs_cli_check_results(cli, &job->output, 1));
  if (job->schedule == NULL) {
    return FSCHED_OK;
  }
  if (job->options.buffers) {
    return fs_usage(cli->ctx, "a schedule shows what is loaded and stored",
                    "--buffers is for graphs without --schedule");
  }
  if (fs_cli_is_std(job->input) && fs_cli_is_std(job->schedule)) {
    return fs_usage(cli->ctx, NULL, "standard input can be read only once");
  }
  return FSCHED_OK;
}

static void read_options(fs_cli *cli, fs_dot_options *o) {
  const char *collapse = fs_args_last(&cli->args, FS_OPTION_COLLAPSE);
  const char *names = fs_args_last(&cli->args, FS_OPTION_NAMES);
  *o = (fs_dot_options){.size = sizeof *o};
  if (collapse != NULL) { /* in the order of fs_dot_collapse */
    o->collapse =
        (fs_dot_collapse)fs_choice_index(fs_option_table[FS_OPTION_COLLAPSE].argument, collapse);
  }
  o->buffers = fs_args_has(&cli->args, FS_OPTION_BUFFERS);
  o->barriers = fs_args_has(&cli->args, FS_OPTION_BARRIER_NODES);
  o->full_names = names != NULL && strcmp(names, "full") == 0;
}

fs_status fs_cli_dot(fs_cli *cli) {
  const char *output = fs_args_last(&cli->args, FS_OPTION_OUTPUT);
  fs_dot_job job = {.cli = cli,
                    .input = cli->args.operand[0],
                    .output = output == NULL ? "-" : output,
                    .schedule = fs_args_last(&cli->args, FS_OPTION_SCHEDULE)};
  read_options(cli, &job.options);
  FS_TRY(check_files(&job));
  char *bytes = NULL;
  size_t size = 0;
  FS_TRY(fs_file_read(cli->ctx, job.input, &bytes, &size));
  fs_status status = draw_file(&job, bytes, size);
  (void)fs_realloc(cli->ctx, bytes, size + 1, 0);
  return status;
}
