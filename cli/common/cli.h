/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share.  A command returns its exit status after reporting to the context; main
 * prints the reports at the end, if the command has not done so before. */
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
  bool parsed; /* the command line was understood, and args is what it says */
  bool quiet, verbose;
  bool lost;                        /* a kernel that was given up may still run */
  fsched_profile_use profile;       /* what --profile has given the graph */
  uint32_t n_reported, n_errors;    /* reports that are printed, and errors among them */
  struct fs_cli_progress *progress; /* NULL: nobody wants to know */
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

/* The help of one command, or of the whole program (FS_CMD_COUNT).  Requires a command of the
 * table, or FS_CMD_COUNT. */
void fs_help_text(fs_text *t, fs_cmd command);
void fs_version_text(fs_text *t);

/* Prints on standard error what has been reported since the last call; what a command says of its
 * success comes after it. */
void fs_cli_reports(fs_cli *cli);
/* The reports of a stream or schedule that is wrong, then a verdict, unless -q.  reports.c */
void fs_cli_refuted(fs_cli *cli, const char *name);
/* Writes a growing text to standard output and frees it. */
fs_status fs_cli_print(fsched_context *ctx, fs_text *t) FS_MUST_USE;
/* `path` with `suffix` in place of its own `old` (or any, when NULL), in the arena; a path without
 * it gets the suffix at its end.  NULL: no memory.  Requires a path and a suffix. */
const char *fs_cli_with_suffix(fs_cli *cli, const char *path, const char *old, const char *suffix);
/* Requires a path. */
bool fs_cli_is_std(const char *path); /* "-" */
/* What messages and results call an input: "<stdin>" for "-".  Requires a path. */
const char *fs_cli_shown(const char *input);
/* --format json */
bool fs_cli_json(const fs_cli *cli);
/* --memory, --set and --profile.  Requires a path. */
fs_status fs_cli_read_graph(fs_cli *cli, const char *path, fsched_graph **out) FS_MUST_USE;
/* Requires a name. */
fs_status fs_cli_parse_graph(fs_cli *cli, const char *name, const char *text, size_t length,
                             fsched_graph **out) FS_MUST_USE;

/* Opens a device.  Threads that its driver makes take no signals: those come to this thread, which
 * holds them back where a file would be left behind (files/replace.h). */
fs_status fs_cli_create_device(fs_cli *cli, const fsched_device_options *options,
                               fsched_device **out) FS_MUST_USE;

/* files.c.  Errors: FSCHED_USAGE, reported. */
/* No two results may go to one file.  Requires n outputs, of which some may be NULL. */
fs_status fs_cli_check_outputs(fs_cli *cli, const char *const *output, size_t n) FS_MUST_USE;
/* No result may take the place of what is read.  Requires an input, and n outputs. */
fs_status fs_cli_check_input(fs_cli *cli, const char *input, const char *const *output,
                             size_t n) FS_MUST_USE;
/* Nor that of a file that the graph was read from, its target included.  Requires an output. */
fs_status fs_cli_check_graph_files(fs_cli *cli, const fsched_graph *graph,
                                   const char *output) FS_MUST_USE;
/* Is it, or would it become, a plain file, rather than "-", a device or a pipe?  Requires a
 * path. */
bool fs_cli_is_file(const char *path);
/* A command stream is not for a terminal. */
fs_status fs_cli_check_terminal(fs_cli *cli, const char *output) FS_MUST_USE;

/* kind.c: what a file seems to be. */
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
/* Reports that a file is not what is wanted, with the hint that its kind gives. */
fs_status fs_cli_wrong_kind(fs_cli *cli, const char *name, const char *wanted,
                            fs_kind kind) FS_MUST_USE;
/* fsched_program_load and _open, after a look at the kind. */
fs_status fs_cli_load_program(fs_cli *cli, const char *name, const char *bytes, size_t size,
                              fsched_program **out) FS_MUST_USE;
/* Reports a file that is plainly something else than a graph.  Requires a path. */
fs_status fs_cli_check_graph(fs_cli *cli, const char *path) FS_MUST_USE;
/* The same for a profile. */
fs_status fs_cli_check_profile_kind(fs_cli *cli, const char *path) FS_MUST_USE;
/* Requires a path. */
fs_status fs_cli_open_program(fs_cli *cli, const char *path, fsched_program **out) FS_MUST_USE;

/* Commands that read the program of their first operand and write a text of it to --output. */
typedef fs_status (*fs_text_of_program)(fs_cli *cli, const fsched_program *program, char **text,
                                        size_t *length);
/* Requires an operand. */
fs_status fs_cli_write_of_program(fs_cli *cli, fs_text_of_program make) FS_MUST_USE;

#endif
