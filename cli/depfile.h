/* SPDX-License-Identifier: Apache-2.0 */
/* Depfiles (-MD, -MF): a rule for make or ninja that names every file that was read. */
#ifndef FS_DEPFILE_H
#define FS_DEPFILE_H

#include "cli.h"

/* Is it a file (standard input has a name in brackets)? */
bool fs_depfile_is_file(const char *graph_file);
/* Writes `target: the graph's files` to `path`. */
fs_status fs_depfile_write(fs_cli *cli, const char *path, const char *target,
                           const fsched_graph *graph) FS_MUST_USE;

#endif
