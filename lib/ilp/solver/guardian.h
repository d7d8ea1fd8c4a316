/* SPDX-License-Identifier: Apache-2.0 */
/* Guardians: small processes that clean up behind this one, however it ends.
 *
 * Each holds one end of a pipe, its line.  When nobody holds the other end any more, because it was
 * closed here or because this process is gone, by SIGKILL too, it does what it is there for and
 * ends: one removes a directory, one kills a program with all that the program has started.
 *
 *     this process ---line---> guardian of the directory      removes it
 *          |                        ^
 *          +-------line---> guardian of the program (holds that line, too)
 *                                +--- program --- whatever it starts
 *
 * The guardian of the program is the parent of the program and of what loses its parent below, so
 * that leaving the group or the session does not help.  Where the system has no subreapers, or no
 * /proc, it is the process group that is killed.
 *
 * They are copies of this process that run nothing but system calls: other threads may hold any
 * lock.  No SIGCHLD is sent for them, and waitpid(-1) does not find them, so that a host's handling
 * of its own children is left alone. */
#ifndef FS_ILP_GUARDIAN_H
#define FS_ILP_GUARDIAN_H

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct fs_guardian {
  pid_t pid;  /* -1: none */
  int line;   /* to be closed */
  int report; /* what it says; for a program not blocking.  -1: none */
} fs_guardian;

/* Makes a directory from a template of mkdtemp, and guards it.  0, or what errno says.  Requires a
 * template of mkdtemp. */
int fs_guard_directory(fs_guardian *g, char *template);

typedef struct fs_guarded_program {
  char **argv; /* argv[0] is looked for in PATH */
  const posix_spawn_file_actions_t *files;
  const posix_spawnattr_t *attributes;
  int directory_line; /* of the directory that it works in; -1: none */
  int out, err;       /* what `files` makes its standard output and error */
} fs_guarded_program;
/* Starts a program.  0, or what errno says.  Requires a program. */
int fs_guard_program(fs_guardian *g, const fs_guarded_program *p);
/* Has the program ended by itself?  Then *known says whether *status, of waitpid, is. */
bool fs_guardian_reports(fs_guardian *g, bool *known, int *status);

/* Lets it do its work, and waits for its end.  What it said before can still be read. */
void fs_guardian_end(fs_guardian *g);
void fs_guardian_release(fs_guardian *g);

/* A pipe whose ends are no standard files, even if this process has none.  0, or what errno says.
 */
int fs_pipe_above(int *from, int *to);

#endif
