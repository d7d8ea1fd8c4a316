/* SPDX-License-Identifier: Apache-2.0 */
/* A solver's process and the directory that it works in. */
#ifndef FS_ILP_SOLVER_PROCESS_H
#define FS_ILP_SOLVER_PROCESS_H

#include "base/mem.h"
#include "ilp/solver/guardian.h"

/* A directory for one solver that no other user may read.  It is also removed when this process
 * ends, in whatever way. */
typedef struct fs_work_dir {
  fs_arena *arena;
  char *path; /* NULL: no directory */
  fs_guardian guardian;
} fs_work_dir;
/* The k-th place for the directory: TMPDIR or else /tmp, then others to try when a place has no
 * room; NULL behind the last. */
const char *fs_work_dir_place(uint32_t k);
/* *error is 0 or an errno.  Paths are in the arena; errors: FSCHED_SYSTEM for memory alone. */
fs_status fs_work_dir_make(fs_arena *arena, const char *place, fs_work_dir *d,
                           int *error) FS_MUST_USE;
/* Requires a directory that was made. */
fs_status fs_work_dir_write(const fs_work_dir *d, const char *name, const char *text, size_t length,
                            char **path, int *error) FS_MUST_USE;
/* Removes the directory with all that is in it. */
void fs_work_dir_remove(fs_work_dir *d);

typedef struct fs_process {
  fs_guardian guardian;
  int out, err; /* pipes from the program, not blocking, or -1 */
  bool ended;   /* the program has ended by itself or was killed */
  bool known;   /* `status` is known; it is not when the guardian was killed */
  int status;   /* of waitpid */
} fs_process;
/* Runs argv[0], searched in PATH, in a process group of its own, with standard input from
 * /dev/null, default signals and no other open files.  Returns 0 or an errno.  Requires a
 * program. */
int fs_process_start(fs_process *p, const fs_work_dir *dir, char **argv);
/* Has the program ended by itself?  Its output may still be in the pipes. */
bool fs_process_ended(fs_process *p);
/* Kills the program and all that it has started, if anything is left, and takes the status. */
void fs_process_end(fs_process *p);
/* Also closes the pipes. */
void fs_process_release(fs_process *p);

#endif
