/* SPDX-License-Identifier: Apache-2.0 */
/* Guardians: small processes that clean up behind this one, however it ends.
 *
 * Each holds one end of a pipe, its line.  When no process holds the other end any more, because it
 * was closed here or because this process is gone (killed by SIGKILL, too), the guardian does its
 * work and ends: one kind removes a directory, the other kills a program with all that the program
 * has started.
 *
 *     this process ---line---> guardian of the directory      removes it
 *          |                        ^
 *          +-------line---> guardian of the program (holds that line, too)
 *                                +--- program --- whatever it starts
 *
 * The guardian of the program is the parent of the program and of all orphans below it, so that
 * processes that leave the group or the session are killed, too.  Where the system has no
 * subreapers, or no /proc, only the process group is killed.
 *
 * Guardians are copies of this process that run nothing but system calls, since other threads may
 * hold any lock.  No SIGCHLD is sent for them, and waitpid(-1) does not find them, so that a host's
 * handling of its own children is left alone. */
#ifndef FS_ILP_GUARDIAN_H
#define FS_ILP_GUARDIAN_H

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct fs_guardian {
  pid_t pid;  /* -1: none */
  int line;   /* this process's end, closed to let the guardian do its work */
  int report; /* pipe of what it reports; of a program's guardian not blocking.  -1: none */
} fs_guardian;

/* Makes a directory from a template of mkdtemp, and guards it.  Returns 0 or an errno.  Requires a
 * template of mkdtemp. */
int fs_guard_directory(fs_guardian *g, char *template);

typedef struct fs_guarded_program {
  char **argv; /* argv[0] is searched in PATH */
  const posix_spawn_file_actions_t *files;
  const posix_spawnattr_t *attributes;
  int directory_line; /* line of the guardian of its working directory; -1: none */
  int out, err;       /* pipe ends that `files` makes its standard output and error */
} fs_guarded_program;
/* Starts a program.  Returns 0 or an errno.  Requires a program. */
int fs_guard_program(fs_guardian *g, const fs_guarded_program *p);
/* Has the program ended by itself?  Then *known says whether its *status (of waitpid) is known. */
bool fs_guardian_reports(fs_guardian *g, bool *known, int *status);

/* Lets the guardian do its work, and waits for its end.  Earlier reports can still be read. */
void fs_guardian_end(fs_guardian *g);
void fs_guardian_release(fs_guardian *g);

/* Makes a pipe whose ends are no standard files (0 to 2), even if this process has those closed.
 * Returns 0 or an errno. */
int fs_pipe_above(int *from, int *to);

#endif
