/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a refinement, its progress, and its reaction to signals. */
#ifndef FS_CLI_REFINE_H
#define FS_CLI_REFINE_H

#include <pthread.h>
#include <signal.h>

#include "cli/common/progress.h"

typedef struct fs_cli_refinement {
  const char *path; /* of --solution, or NULL */
  char *solution;   /* its text, from fs_file_read */
  size_t solution_length;
  volatile int stop; /* set by the first signal */
  int signal;        /* number of that signal */
  bool watching;
  pthread_t thread;
  sigset_t watched, mask; /* signals watched; signals blocked before */
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool taken, over; /* under the lock: the thread has taken a signal; it is to end */
} fs_cli_refinement;

/* Checks and reads --refine and the options that go with it.  Errors: FSCHED_USAGE. */
fs_status fs_cli_refine_options(fs_cli *cli, fsched_compile_options *o) FS_MUST_USE;
/* Reads --solution, and lets the first signal end the refinement.  A second signal ends the
 * program, and SIGTERM and SIGHUP also end it in fs_cli_refine_end, once the solver is gone.  `r`
 * must not move before that. */
fs_status fs_cli_refine_begin(fs_cli *cli, fsched_compile_options *o,
                              fs_cli_refinement *r) FS_MUST_USE;
void fs_cli_refine_end(fs_cli *cli, fs_cli_refinement *r);

#endif
