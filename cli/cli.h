/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share.  A command returns its exit status after reporting to the context; main
 * prints the reports at the end. */
#ifndef FS_CLI_H
#define FS_CLI_H

#include "args.h"
#include "fsched/graph.h"

typedef struct fs_cli {
  fsched_context *ctx;
  fs_arena arena; /* lives as long as the command */
  fs_args args;
  bool quiet, verbose;
} fs_cli;

fs_status fs_cli_compile(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_run(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_verify(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_dis(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_asm(fs_cli *cli) FS_MUST_USE;
fs_status fs_cli_help(fs_cli *cli) FS_MUST_USE;

/* The help of one command, or of the whole program (FS_CMD_COUNT). */
void fs_help_text(fs_text *t, fs_cmd command);
void fs_version_text(fs_text *t);

/* Writes a growing text to standard output and frees it. */
fs_status fs_cli_print(fsched_context *ctx, fs_text *t) FS_MUST_USE;
/* `path` with `suffix` in place of its own `old` (or any, when NULL), in the arena; a path without
 * it gets the suffix at its end.  NULL: no memory. */
const char *fs_cli_with_suffix(fs_cli *cli, const char *path, const char *old, const char *suffix);
bool fs_cli_is_std(const char *path); /* "-" */
/* --format json */
bool fs_cli_json(const fs_cli *cli);
/* --memory and --set */
fs_status fs_cli_read_graph(fs_cli *cli, const char *path, fsched_graph **out) FS_MUST_USE;

#endif
