/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of `fsched run` from the command line (run/options.c), and its files of inputs and
 * outputs (run/files.c). */
#ifndef FS_CLI_RUN_H
#define FS_CLI_RUN_H

#include "cli/common/cli.h"
#include "fsched/replay.h"

/* A file given as NAME=FILE. */
typedef struct fs_run_file {
  const char *name, *path;
  uint8_t *data;
  uint64_t bytes;
} fs_run_file;

typedef struct fs_run {
  const char *input; /* the program's file */
  fsched_device_options device;
  fsched_replay_options replay;
  const char *trace, *profile, *measured; /* paths, or NULL */
  fs_run_file *file;                      /* inputs, then outputs */
  uint32_t n_inputs, n_files;
  uint64_t tick_ps; /* length of a tick; 0: nothing says it */
  fsched_binding *bindings;
  fsched_parameter *parameters;
  fsched_trips *trips;
} fs_run;

/* Reads all options, without the program.  Errors: FSCHED_USAGE, reported. */
fs_status fs_run_read_options(fs_cli *cli, fs_run *run) FS_MUST_USE;
/* Finds the length of a tick, by the options or the program's time unit, and sets the pace.
 * Errors: FSCHED_USAGE for --pace where nothing says how long a tick is. */
fs_status fs_run_set_tick(fs_cli *cli, const fsched_program *program, fs_run *run) FS_MUST_USE;

/* Reads the input files, and makes room for the outputs, of the sizes that the program gives.
 * Errors: FSCHED_USAGE for unknown names, and the errors of reading files. */
fs_status fs_run_read_files(fs_cli *cli, const fsched_program *program, fs_run *run) FS_MUST_USE;
fs_status fs_run_write_files(fs_cli *cli, const fs_run *run) FS_MUST_USE;

#endif
