/* SPDX-License-Identifier: Apache-2.0 */
/* What `fsched run` is asked for, from the command line: run/options.c; the files of inputs and
 * outputs: run/files.c. */
#ifndef FS_CLI_RUN_H
#define FS_CLI_RUN_H

#include "cli/common/cli.h"
#include "fsched/replay.h"

/* A NAME=FILE */
typedef struct fs_run_file {
  const char *name, *path;
  uint8_t *data;
  uint64_t bytes;
} fs_run_file;

typedef struct fs_run {
  const char *input; /* the program's file */
  fsched_device_options device;
  fsched_replay_options replay;
  const char *trace, *profile, *measured; /* paths; NULL */
  fs_run_file *file;                      /* inputs, then outputs */
  uint32_t n_inputs, n_files;
  fsched_binding *bindings;
  fsched_parameter *parameters;
} fs_run;

/* Reads all options; nothing of the program is needed.  Errors: FSCHED_USAGE, reported. */
fs_status fs_run_read_options(fs_cli *cli, fs_run *run) FS_MUST_USE;
/* --pace without a number: as long as the program's time unit says. */
void fs_run_set_pace(const fs_cli *cli, const fsched_program *program, fs_run *run);

/* Reads the input files and makes room for the outputs, of the sizes that the program gives.
 * Errors: FSCHED_USAGE for names, those of files. */
fs_status fs_run_read_files(fs_cli *cli, const fsched_program *program, fs_run *run) FS_MUST_USE;
fs_status fs_run_write_files(fs_cli *cli, const fs_run *run) FS_MUST_USE;

#endif
