/* SPDX-License-Identifier: Apache-2.0 */
/* Depfiles (-MD, -MF, -MT, -MQ, -MP): rules for make or ninja that list all files read. */
#ifndef FS_DEPFILE_H
#define FS_DEPFILE_H

#include "cli/common/cli.h"

/* Whether it is a file; standard input has a name in brackets.  Requires a name. */
bool fs_depfile_is_file(const char *graph_file);
/* Finds the path of the depfile of a compilation to `output`, in the arena; NULL: none is wanted.
 * Errors: FSCHED_USAGE, reported, if it has no name, or if its options are given without it. */
fs_status fs_depfile_name(fs_cli *cli, const char *output, const char **path) FS_MUST_USE;
/* Writes `targets: files of the graph` to `path`.  The targets are those of -MT and -MQ, or else
 * the results that are files, in their order, without `path` itself.  With -MP, an empty rule
 * follows for every file but the graph.  `solution` is another file that was read, or NULL.
 * Requires a path.  Errors: FSCHED_USAGE if there is no target, or for a name that no depfile can
 * hold; FSCHED_SYSTEM. */
fs_status fs_depfile_write(fs_cli *cli, const char *path, const char *const *result,
                           size_t n_results, const fsched_graph *graph,
                           const char *solution) FS_MUST_USE;

#endif
