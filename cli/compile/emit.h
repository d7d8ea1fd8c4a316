/* SPDX-License-Identifier: Apache-2.0 */
/* --emit KIND=FILE of fsched compile: further results beside the command stream. */
#ifndef FS_EMIT_H
#define FS_EMIT_H

#include "cli/common/cli.h"
#include "fsched/compile.h"

/* "schedule|table|...", from emit.def. */
extern const char *const fs_emit_kinds;

typedef struct fs_emit {
  uint32_t kind; /* row of emit.def */
  const char *path;
  const char *header, *symbol; /* of C; header NULL: none is written */
  char *text;                  /* made before anything is compiled; else NULL */
  size_t length;
} fs_emit;

/* What results are made from. */
typedef struct fs_emit_source {
  const fsched_graph *graph;
  const fsched_compile_options *options;
  const fsched_schedule *schedule; /* NULL before it is compiled, the program too */
  const fsched_program *program;
} fs_emit_source;

/* The --emit options in their order, in the arena.  Errors: FSCHED_USAGE, reported. */
fs_status fs_emit_parse(fs_cli *cli, fs_emit **emit, size_t *n) FS_MUST_USE;
/* Makes what is asked for and needs the graph and the options alone.  To be released with
 * fs_emit_drop. */
fs_status fs_emit_before(fs_cli *cli, fs_emit *emit, size_t n,
                         const fs_emit_source *source) FS_MUST_USE;
void fs_emit_drop(fs_cli *cli, fs_emit *emit, size_t n);
/* Makes one result and writes it.  Requires an emission with a path. */
fs_status fs_emit_write(fs_cli *cli, const fs_emit *emit, const fs_emit_source *source) FS_MUST_USE;

#endif
