/* SPDX-License-Identifier: Apache-2.0 */
/* A solver's process and the directory that it works in. */
#ifndef FS_ILP_SOLVER_PROCESS_H
#define FS_ILP_SOLVER_PROCESS_H

#include <sys/types.h>

#include "mem.h"

/* A directory of its own below TMPDIR, or /tmp, that nobody else may read. */
typedef struct fs_work_dir {
  fs_arena *arena;
  char *path; /* NULL: none */
} fs_work_dir;
/* *error: what errno says, or 0.  Paths are in the arena; errors: FSCHED_SYSTEM for memory alone.
 */
fs_status fs_work_dir_make(fs_arena *arena, fs_work_dir *d, int *error) FS_MUST_USE;
fs_status fs_work_dir_write(const fs_work_dir *d, const char *name, const char *text, size_t length,
                            char **path, int *error) FS_MUST_USE;
/* With all that is in it. */
void fs_work_dir_remove(fs_work_dir *d);

typedef struct fs_process {
  pid_t pid;    /* also of its group; -1: none, or gone */
  int out, err; /* pipes from it, not blocking, or -1 */
  bool known;   /* `status` is: else somebody else has it, as where the host ignores SIGCHLD */
  int status;   /* of waitpid */
} fs_process;
/* Runs argv[0], looked for in PATH, in a group of its own, with standard input from /dev/null,
 * plain signals and no other open files.  0, or what errno says. */
int fs_process_start(fs_process *p, char **argv);
/* It has ended by itself; what it wrote may still be in the pipes. */
bool fs_process_ended(const fs_process *p);
/* Kills the group, if there is one, and takes the status. */
void fs_process_end(fs_process *p);
/* Closes the pipes, too. */
void fs_process_release(fs_process *p);

#endif
