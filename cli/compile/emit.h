/* SPDX-License-Identifier: Apache-2.0 */
/* --emit KIND=FILE of fsched compile: further results besides the command stream. */
#ifndef FS_EMIT_H
#define FS_EMIT_H

#include "cli/common/cli.h"
#include "fsched/compile.h"

typedef struct fs_emit {
  uint32_t kind; /* row of emit.def */
  const char *path;
  const char *header, *symbol; /* of C sources; header NULL: none is written */
  char *text;                  /* text made before anything is compiled; otherwise NULL */
  size_t length;
} fs_emit;

/* The structures from which results are made. */
typedef struct fs_emit_source {
  const fsched_graph *graph;
  const fsched_compile_options *options;
  const fsched_schedule *schedule; /* NULL before compilation, as is the program */
  const fsched_program *program;
} fs_emit_source;

/* Parses the --emit options in their order, into the arena.  Errors: FSCHED_USAGE, reported. */
fs_status fs_emit_parse(fs_cli *cli, fs_emit **emit, size_t *n) FS_MUST_USE;
/* Makes those results that need only the graph and the options.  They are released with
 * fs_emit_drop. */
fs_status fs_emit_before(fs_cli *cli, fs_emit *emit, size_t n,
                         const fs_emit_source *source) FS_MUST_USE;
void fs_emit_drop(fs_cli *cli, fs_emit *emit, size_t n);
/* Makes one result and writes it.  Requires an emission with a path. */
fs_status fs_emit_write(fs_cli *cli, const fs_emit *emit, const fs_emit_source *source) FS_MUST_USE;

#endif
