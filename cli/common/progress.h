/* SPDX-License-Identifier: Apache-2.0 */
/* --progress: shows on standard error how far long work has come.  On a terminal it is one line,
 * which is redrawn at most ten times a second and erased in the end; otherwise a line of text for
 * each tenth of the work, or of JSON with --diagnostics json. */
#ifndef FS_CLI_PROGRESS_H
#define FS_CLI_PROGRESS_H

#include "cli/common/cli.h"
#include "fsched/compile.h"

/* Does nothing without --progress, or with -q. */
fs_status fs_cli_progress_start(fs_cli *cli) FS_MUST_USE;
/* Shows a refinement's state: "refine makespan 52, bound 49, gap 5.8 %, 1200 nodes, 3.4 s". */
void fs_cli_progress_refine(struct fs_cli_progress *p, const fsched_refine_state *state);
/* Erases the line; called before anything else is written where it may stand. */
void fs_cli_progress_clear(fs_cli *cli);

#endif
