/* SPDX-License-Identifier: Apache-2.0 */
/* --dump-after PASS[=FILE] of fsched compile, and --print-passes. */
#ifndef FS_CLI_DUMP_H
#define FS_CLI_DUMP_H

#include "cli/common/cli.h"
#include "fsched/compile.h"

typedef struct fs_dump {
  uint64_t passes;  /* one bit per pass */
  const char *path; /* NULL: standard error, right after the pass */
  fs_text text;     /* for the file, which is written with the other results */
} fs_dump;

typedef struct fs_dumps {
  fs_cli *cli;
  fs_dump *at;
  size_t n;
  const char *graph; /* the graph's name, for the headings */
} fs_dumps;

/* Errors: FSCHED_USAGE, reported. */
fs_status fs_dumps_parse(fs_cli *cli, fs_dumps *out) FS_MUST_USE;
/* Sets the options by which the compiler fills the dumps. */
void fs_dumps_ask(fs_dumps *dumps, fsched_compile_options *o);
fs_status fs_dumps_write(fs_dumps *dumps) FS_MUST_USE;
void fs_dumps_drop(fs_dumps *dumps);

fs_status fs_cli_print_passes(fs_cli *cli) FS_MUST_USE;

#endif
