/* SPDX-License-Identifier: Apache-2.0 */
/* The commands fsched import and fsched export. */
#include "fsched/import.h"

#include "base/files/file.h"
#include "base/text/size_text.h"
#include "cli/common/cli.h"
#include "fsched/verify.h"

/* Reads KIND, the first operand. */
static fs_status read_format(fs_cli *cli, fsched_format *out) {
  const char *word = cli->args.operand[0];
  fs_text names;
  fs_text_init(&names, cli->ctx);
  for (uint32_t k = 0; k < fsched_format_count(); k++) {
    fs_text_printf(&names, "%s%s", k == 0 ? "" : "|", fsched_format_name(k));
  }
  fs_text_add(&names, "", 1);
  if (names.failed) {
    fs_text_drop(&names);
    return FSCHED_SYSTEM;
  }
  uint32_t index = fs_choice_index(names.at, word);
  fs_status status = FSCHED_OK;
  if (index == FS_NONE) {
    status = fs_usage(cli->ctx, fs_nearest_hint(&cli->arena, names.at, word),
                      "KIND is one of %s, not '%s'", names.at, word);
  }
  *out = (fsched_format)index;
  fs_text_drop(&names);
  return status;
}

static fs_status read_capacity(fs_cli *cli, fsched_format format, uint64_t *bytes) {
  const char *text = fs_args_last(&cli->args, FS_OPTION_IMPORT_CAPACITY);
  if (text == NULL) {
    return FSCHED_OK;
  }
  static const bool takes[] = {
#define FS_FORMAT(id, name, reader, writer, capacity, ...) [FSCHED_FORMAT_##id] = capacity,
#include "import/formats.def"
#undef FS_FORMAT
  };
  if (!takes[format]) {
    return fs_usage(cli->ctx, NULL, "--capacity is for memory, not for %s",
                    fsched_format_name((uint32_t)format));
  }
  if (!fs_size_parse(text, FSCHED_MAX_SIZE, bytes) || *bytes == 0) {
    return fs_usage(cli->ctx, "sizes are like 4096, 64KiB, 2MiB, 1GiB",
                    "--capacity wants a size from 1 byte to 256 TiB, not '%s'", text);
  }
  return FSCHED_OK;
}

static const char *output_of(const fs_cli *cli) {
  const char *output = fs_args_last(&cli->args, FS_OPTION_OUTPUT);
  return output == NULL ? "-" : output;
}

/* Writes a text to the output and frees it. */
static fs_status write_text(fs_cli *cli, char *text, size_t length) {
  fs_status status = fs_file_write(cli->ctx, output_of(cli), text, length);
  fsched_text_free(cli->ctx, text, length);
  return status;
}

static fs_status import_text(fs_cli *cli, fsched_format format, const fsched_import_options *o,
                             const char *text, size_t length) {
  const char *input = cli->args.operand[1];
  fs_kind kind = fs_cli_kind(text, length);
  if (kind != FS_KIND_OTHER) {
    return fs_cli_wrong_kind(cli, fs_cli_shown(input), "an instance in another tool's format",
                             kind);
  }
  char *yaml = NULL;
  size_t n = 0;
  FS_TRY(fsched_import(cli->ctx, format, fs_cli_shown(input), text, length, o, &yaml, &n));
  return write_text(cli, yaml, n);
}

fs_status fs_cli_import(fs_cli *cli) {
  const char *input = cli->args.operand[1], *output = output_of(cli);
  fsched_format format;
  fsched_import_options o = {.size = sizeof o};
  FS_TRY(read_format(cli, &format));
  FS_TRY(read_capacity(cli, format, &o.capacity));
  FS_TRY(fs_cli_check_input(cli, input, &output, 1));
  o.graph_name = fs_cli_is_std(input) ? fsched_format_name((uint32_t)format) : NULL;
  char *text = NULL;
  size_t length = 0;
  FS_TRY(fs_file_read(cli->ctx, input, &text, &length));
  fs_status status = import_text(cli, format, &o, text, length);
  (void)fs_realloc(cli->ctx, text, length + 1, 0);
  return status;
}

/* ---- export */

typedef struct fs_export_job {
  fs_cli *cli;
  fsched_format format;
  const char *graph; /* the name of its file */
  char *bytes;       /* the schedule's file */
  size_t size;
} fs_export_job;

/* A schedule comes from anywhere, so it is verified before it is called a solution. */
static fs_status parse_schedule(const fs_export_job *job, const fsched_graph *graph,
                                fsched_schedule **out) {
  fs_cli *cli = job->cli;
  const char *name = fs_cli_shown(cli->args.operand[1]);
  fs_kind kind = fs_cli_kind(job->bytes, job->size);
  FS_TRY(kind != FS_KIND_SCHEDULE_JSON && kind != FS_KIND_OTHER
             ? fs_cli_wrong_kind(cli, name, "a schedule", kind)
             : fsched_schedule_parse(cli->ctx, graph, name, job->bytes, job->size, out));
  fs_context_subject(cli->ctx, name);
  fs_status status = fsched_verify_schedule(cli->ctx, graph, *out);
  fs_context_subject(cli->ctx, NULL);
  return status;
}

static fs_status export_of(const fs_export_job *job, const fsched_graph *graph) {
  fs_cli *cli = job->cli;
  fsched_schedule *schedule = NULL;
  char *text = NULL;
  size_t length = 0;
  fs_status status = parse_schedule(job, graph, &schedule);
  if (status == FSCHED_OK) {
    fs_context_subject(cli->ctx, fs_cli_shown(job->graph));
    status = fsched_export(cli->ctx, job->format, schedule, &text, &length);
    fs_context_subject(cli->ctx, NULL);
  }
  fsched_schedule_destroy(schedule);
  FS_TRY(status);
  return write_text(cli, text, length);
}

static fs_status check_files(fs_cli *cli, const char *graph) {
  const char *input = cli->args.operand[1], *output = output_of(cli);
  if (graph == NULL) {
    return fs_usage(cli->ctx, NULL, "export wants the graph of the schedule: --graph GRAPH");
  }
  if (fs_cli_is_std(input) && fs_cli_is_std(graph)) {
    return fs_usage(cli->ctx, NULL, "standard input can be read only once");
  }
  FS_TRY(fs_cli_check_input(cli, input, &output, 1));
  return fs_cli_check_results(cli, &output, 1);
}

static fs_status read_graph_and_export(const fs_export_job *job) {
  fsched_graph *graph = NULL;
  FS_TRY(fs_cli_read_graph(job->cli, job->graph, &graph));
  fs_status status = fs_cli_check_graph_files(job->cli, graph, output_of(job->cli));
  if (status == FSCHED_OK) {
    status = export_of(job, graph);
  }
  fsched_graph_destroy(graph);
  return status;
}

/* Reads the schedule first: its head says how the graph is read. */
fs_status fs_cli_export(fs_cli *cli) {
  fs_export_job job = {.cli = cli, .graph = fs_args_last(&cli->args, FS_OPTION_EXPORT_GRAPH)};
  FS_TRY(read_format(cli, &job.format));
  FS_TRY(check_files(cli, job.graph));
  FS_TRY(fs_file_read(cli->ctx, cli->args.operand[1], &job.bytes, &job.size));
  cli->file_effort = fsched_schedule_effort(job.bytes, job.size);
  fs_status status = read_graph_and_export(&job);
  (void)fs_realloc(cli->ctx, job.bytes, job.size + 1, 0);
  return status;
}
