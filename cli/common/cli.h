/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share.  A command reports to the context and returns its exit status; main
 * prints the reports at the end, unless the command has printed them. */
#ifndef FS_CLI_H
#define FS_CLI_H

#include "cli/common/args.h"
#include "fsched/exec.h"
#include "fsched/graph.h"
#include "fsched/profile.h"
#include "fsched/program.h"

typedef struct fs_cli {
  fsched_context *ctx;
  fs_arena arena; /* lives as long as the command */
  fs_args args;
  bool parsed; /* the command line was parsed into args */
  bool quiet, verbose;
  bool lost;                        /* a kernel that was given up may still run */
  fsched_profile_use profile;       /* what --profile changed in the graph */
  uint32_t file_effort;             /* of the schedule beside a graph: without --effort; or 0 */
  uint32_t n_reported, n_errors;    /* reports printed so far, and errors among them */
  struct fs_cli_progress *progress; /* NULL: progress is not shown */
} fs_cli;

fs_status fs_cli_compile(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_run(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_verify(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_dis(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_asm(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_dot(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_explain(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_calibrate(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_import(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_export(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_help(fs_cli *cli) FS_MUST_USE;

/* Writes the help of one command, or of the whole program (FS_CMD_COUNT).  Requires a command of
 * the table, or FS_CMD_COUNT. */
void fs_help_text(fs_text *t, fs_cmd command);
void fs_version_text(fs_text *t);

/* Prints the reports made since the last call on standard error; messages about a command's success
 * are printed after them. */
void fs_cli_reports(fs_cli *cli);
/* Prints the reports on a wrong stream or schedule, then a verdict (unless -q).  See reports.c. */
void fs_cli_refuted(fs_cli *cli, const char *name);
/* Whether --diagnostics json is given: then standard error gets nothing but objects of JSON, one a
 * line. */
bool fs_cli_diagnostics_json(const fs_cli *cli);
/* Writes a growing text to standard error and frees it. */
void fs_cli_say(fs_text *t);
/* For -v: adds a line for a file that was written; none for "-".  Requires a path. */
void fs_cli_put_wrote(const fs_cli *cli, fs_text *t, const char *path);
/* Writes a growing text to standard output and frees it. */
fs_status fs_cli_print(fsched_context *ctx, fs_text *t) FS_MUST_USE;
/* `path` with its suffix `old` (NULL: any suffix) replaced by `suffix`, in the arena; a path
 * without that suffix gets `suffix` appended.  NULL: out of memory.  Requires a path and a
 * suffix. */
const char *fs_cli_with_suffix(fs_cli *cli, const char *path, const char *old, const char *suffix);
/* Requires a path. */
bool fs_cli_is_std(const char *path); /* "-" */
/* The name of an input in messages and results: "<stdin>" for "-".  Requires a path. */
const char *fs_cli_shown(const char *input);
/* Reads --tick, in picoseconds; 0 if it is not given. */
fs_status fs_cli_tick(fs_cli *cli, uint64_t *ps) FS_MUST_USE;
/* Reads --effort: FSCHED_EFFORT(level); if it is not given, that of the schedule beside the graph,
 * or 0, the usual one. */
fs_status fs_cli_effort(fs_cli *cli, uint32_t *effort) FS_MUST_USE;
/* Whether --format json is given. */
bool fs_cli_json(const fs_cli *cli);
/* Reads a graph with --memory, --set and --profile applied.  Requires a path. */
fs_status fs_cli_read_graph(fs_cli *cli, const char *path, fsched_graph **out) FS_MUST_USE;
/* Requires a name. */
fs_status fs_cli_parse_graph(fs_cli *cli, const char *name, const char *text, size_t length,
                             fsched_graph **out) FS_MUST_USE;
/* The same, for a run that does not use a plan, with fsched_read_options.most_at_once.  Requires a
 * name. */
fs_status fs_cli_parse_unplanned(fs_cli *cli, const char *name, const char *text, size_t length,
                                 uint32_t most_at_once, fsched_graph **out) FS_MUST_USE;

/* Opens a device.  Threads that its driver starts block all signals, which are so delivered to this
 * thread; it holds them back while they would leave a file behind (files/replace.h). */
fs_status fs_cli_create_device(fs_cli *cli, const fsched_device_options *options,
                               fsched_device **out) FS_MUST_USE;

/* ---- files.c.  Errors: FSCHED_USAGE, reported. */
/* Checks that no two results go to one file.  Requires n outputs, of which some may be NULL. */
fs_status fs_cli_check_outputs(fs_cli *cli, const char *const *output, size_t n) FS_MUST_USE;
/* Checks that no result replaces an input.  Requires an input, and n outputs. */
fs_status fs_cli_check_input(fs_cli *cli, const char *input, const char *const *output,
                             size_t n) FS_MUST_USE;
/* Checks that no result replaces a file that an option names for reading, nor, without --force, one
 * that begins as a graph or target.  Requires n outputs. */
fs_status fs_cli_check_results(fs_cli *cli, const char *const *output, size_t n) FS_MUST_USE;
/* Refuses what cannot go with the value of --graph, NULL where that is not given, of a command that
 * reads a stream or a schedule: options for the graph's target without a graph, and standard input
 * twice. */
fs_status fs_cli_check_graph_option(fs_cli *cli, const char *input,
                                    const char *graph_name) FS_MUST_USE;
/* Checks that the output replaces no file that the graph was read from, its target included.
 * Requires an output. */
fs_status fs_cli_check_graph_files(fs_cli *cli, const fsched_graph *graph,
                                   const char *output) FS_MUST_USE;
/* Whether a path is, or would become, a plain file, rather than "-", a device or a pipe.  Requires
 * a path. */
bool fs_cli_is_file(const char *path);
/* Checks that no command stream is written to a terminal. */
fs_status fs_cli_check_terminal(fs_cli *cli, const char *output) FS_MUST_USE;

/* ---- kind.c: the kind that a file seems to have. */
typedef enum fs_kind {
  FS_KIND_OTHER,
  FS_KIND_STREAM,
  FS_KIND_GRAPH,
  FS_KIND_PROGRAM_JSON,
  FS_KIND_SCHEDULE_JSON,
  FS_KIND_PROFILE_JSON,
  FS_KIND_LISTING
} fs_kind;
/* Requires a text, unless it has no bytes. */
fs_kind fs_cli_kind(const char *text, size_t n);
/* Whether an existing file begins as a graph or target does.  Requires a path. */
bool fs_cli_is_source(const char *path);
/* Reports that a file is not of the wanted kind, with a hint that depends on its kind. */
fs_status fs_cli_wrong_kind(fs_cli *cli, const char *name, const char *wanted,
                            fs_kind kind) FS_MUST_USE;
/* Checks the kind, then does what fsched_program_load does. */
fs_status fs_cli_load_program(fs_cli *cli, const char *name, const char *bytes, size_t size,
                              fsched_program **out) FS_MUST_USE;
/* Reports a file that is clearly not a graph.  Requires a path. */
fs_status fs_cli_check_graph(fs_cli *cli, const char *path) FS_MUST_USE;
/* Reports a file that is clearly not a profile. */
fs_status fs_cli_check_profile_kind(fs_cli *cli, const char *path) FS_MUST_USE;
/* Opens a program, unless its file is of another kind; maps it with --map.  Requires a path. */
fs_status fs_cli_open_program(fs_cli *cli, const char *path, fsched_program **out) FS_MUST_USE;

/* For commands that read the program of their first operand and write text of it to --output. */
typedef fs_status (*fs_text_of_program)(fs_cli *cli, const fsched_program *program, char **text,
                                        size_t *length);
/* Requires an operand. */
fs_status fs_cli_write_of_program(fs_cli *cli, fs_text_of_program make) FS_MUST_USE;

#endif
