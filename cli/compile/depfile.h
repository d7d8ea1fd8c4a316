/* SPDX-License-Identifier: Apache-2.0 */
/* Depfiles (-MD, -MF, -MT, -MQ, -MP): rules for make or ninja that name every file that was read.
 */
#ifndef FS_DEPFILE_H
#define FS_DEPFILE_H

#include "cli/common/cli.h"

/* Is it a file (standard input has a name in brackets)?  Requires a name. */
bool fs_depfile_is_file(const char *graph_file);
/* Where the depfile of a compilation to `output` goes, in the arena; NULL: none is asked for.
 * Errors: FSCHED_USAGE, reported, when it has no name, or when its options are given without it. */
fs_status fs_depfile_name(fs_cli *cli, const char *output, const char **path) FS_MUST_USE;
/* Writes `targets: the graph's files` to `path`.  The targets are those of -MT and -MQ, or else the
 * results that are files, in their order; `path` itself is passed over.  With -MP an empty rule for
 * every file but the graph follows.  `solution` is one more file that was read, or NULL.  Requires
 * a path.  Errors: FSCHED_USAGE when there is no target, or for a name that no depfile can hold;
 * FSCHED_SYSTEM. */
fs_status fs_depfile_write(fs_cli *cli, const char *path, const char *const *result,
                           size_t n_results, const fsched_graph *graph,
                           const char *solution) FS_MUST_USE;

#endif
