/* SPDX-License-Identifier: Apache-2.0 */
/* A solver's process and the directory that it works in. */
#ifndef FS_ILP_SOLVER_PROCESS_H
#define FS_ILP_SOLVER_PROCESS_H

#include "base/mem.h"
#include "ilp/solver/guardian.h"

/* A directory of its own that nobody else may read.  It is removed when this
 * process ends, too, however it does. */
typedef struct fs_work_dir {
  fs_arena *arena;
  char *path; /* NULL: none */
  fs_guardian guardian;
} fs_work_dir;
/* The k-th place where it may be: TMPDIR or else /tmp, and, where there is no room, others; NULL
 * behind the last. */
const char *fs_work_dir_place(uint32_t k);
/* *error: what errno says, or 0.  Paths are in the arena; errors: FSCHED_SYSTEM for memory alone.
 */
fs_status fs_work_dir_make(fs_arena *arena, const char *place, fs_work_dir *d,
                           int *error) FS_MUST_USE;
/* Requires a directory that was made. */
fs_status fs_work_dir_write(const fs_work_dir *d, const char *name, const char *text, size_t length,
                            char **path, int *error) FS_MUST_USE;
/* With all that is in it. */
void fs_work_dir_remove(fs_work_dir *d);

typedef struct fs_process {
  fs_guardian guardian;
  int out, err; /* pipes from it, not blocking, or -1 */
  bool ended;   /* by itself, or killed */
  bool known;   /* `status` is: its guardian was not killed */
  int status;   /* of waitpid */
} fs_process;
/* Runs argv[0], looked for in PATH, in a group of its own, with standard input from /dev/null,
 * plain signals and no other open files.  0, or what errno says.  Requires a program. */
int fs_process_start(fs_process *p, const fs_work_dir *dir, char **argv);
/* It has ended by itself; what it wrote may still be in the pipes. */
bool fs_process_ended(fs_process *p);
/* Kills it and all that it has started, if there is anything, and takes the status. */
void fs_process_end(fs_process *p);
/* Closes the pipes, too. */
void fs_process_release(fs_process *p);

#endif
